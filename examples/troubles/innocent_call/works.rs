//! The error says that it was told before, and by which call; the software device says which thread and line it was.

use std::error::Error;

use cuprum::{Buffer, Driver, InOut, LaunchConfig, Module, PrimaryContext, Stream};

const N: usize = 1000;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    context.enter(|cx| -> Result<(), Box<dyn Error>> {
        let module = Module::load_ptx(cx, include_str!("../../../kernels/faults.ptx"))?;
        let write = module.function("oob_write")?.bind::<(InOut<u32>, u64, u32)>()?;
        let (stream, mut out) = (Stream::default_in(cx), Buffer::<u32>::zeroed(cx, N)?);
        // SAFETY: none; the index is outside, which the software device stops. Never do this on a GPU.
        unsafe { write.launch(cx, &stream, LaunchConfig::new(1, 32), (&mut out, N as u64, 7u32)) }?;
        if let Err(error) = stream.synchronize(cx) {
            println!("the wait: {error}");
        }
        if let Err(error) = Buffer::<u32>::alloc(cx, 4) {
            println!("the allocation: {error}");
        }
        println!("{}", cuprum_emulator::last_fault().ok_or("no report")?);
        Ok(())
    })?
}
