//! The error names the call that first reported the fault. The software device reports the thread
//! and the line.

use std::error::Error;

use cuprum::context::PrimaryContext;
use cuprum::{Buffer, Driver, InOut, LaunchConfig, Module, Stream};

const N: usize = 1000;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let context = PrimaryContext::retain(Driver::init(cuprum_emulator::library())?.device(0)?)?;
    context.enter_as(|cx| {
        let module = Module::load_ptx(cx, include_str!("../../../kernels/faults.ptx"))?;
        let write = module.function("oob_write")?.bind::<(InOut<u32>, u64, u32)>()?;
        let (stream, mut out) = (Stream::default_in(cx), Buffer::<u32>::zeroed(cx, N)?);
        // SAFETY: none: the index is out of bounds. The software device stops the kernel.
        unsafe { write.launch(cx, &stream, LaunchConfig::new(1, 32), (&mut out, N as u64, 7u32)) }?;
        if let Err(error) = stream.synchronize(cx) {
            println!("the wait: {error}");
        }
        if let Err(error) = Buffer::<u32>::alloc(cx, 4) {
            println!("the allocation: {error}");
        }
        println!("{}", cuprum_emulator::last_fault().ok_or("no report")?);
        Ok(())
    })
}
