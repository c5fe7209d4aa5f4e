//! A kernel writes one element past its buffer. On a GPU, some later call returns error 700. The
//! software device also reports the thread, the source line and the nearest allocation.
//!
//! ```text
//! cargo run --release --example 02_find_the_fault
//! ```

use std::error::Error;

use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::{Buffer, Driver, InOut, LaunchConfig, Module, Stream};

fn main() -> Result<(), Box<dyn Error>> {
    // Reports go to standard error, unless the program takes them. This one prints its own.
    cuprum_emulator::set_message_hook(|_| {});
    let driver = Driver::init(cuprum_emulator::library())?;
    let context = PrimaryContext::retain(driver.device(0)?)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?;

    let module = Module::load_ptx(&cx, include_str!("../kernels/faults.ptx"))?;
    let write = module.function("oob_write")?.bind::<(InOut<u32>, u64, u32)>()?;
    let mut out = Buffer::<u32>::zeroed(&cx, 1000)?;
    // SAFETY: index 1000 is out of bounds. The software device stops the kernel there.
    unsafe {
        write.launch(&cx, &Stream::default_in(&cx), LaunchConfig::new(4, 256), (&mut out, 1000u64, 7u32))
    }?;

    // The launch itself succeeds, as on hardware. The next call that waits reports the fault.
    let Err(error) = cx.synchronize() else { return Err("the fault went unnoticed".into()) };
    println!("{error}\n");
    // Every later call fails too, through no fault of its own, and its error says so.
    let Err(error) = Buffer::<u32>::alloc(&cx, 1) else { return Err("the context was lost".into()) };
    println!("{error}\n");
    println!("{}", cuprum_emulator::last_fault().ok_or("no report")?);
    Ok(())
}
