//! The corrected kernel, with its barrier.

use std::error::Error;

use cuprum::context::PrimaryContext;
use cuprum::{Buffer, Driver, In, InOut, LaunchConfig, Module, Stream};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    let numbers: Vec<u32> = (0..64).collect();
    let host = context.enter(|cx| {
        let module = Module::load_ptx(cx, include_str!("../../../kernels/bugs.ptx"))?;
        let reverse = module.function("race_shared_fixed")?.bind::<(In<u32>, InOut<u32>)>()?;
        let (numbers, mut out) = (Buffer::from_slice(cx, &numbers)?, Buffer::<u32>::zeroed(cx, 64)?);
        // SAFETY: race_shared_fixed(in, out) runs in blocks of 64 threads, each with 64 elements of
        // `in` and of `out`; the copy below waits for it.
        unsafe {
            reverse.launch(cx, &Stream::default_in(cx), LaunchConfig::new(1, 64), (&numbers, &mut out))
        }?;
        Ok(out.to_vec(cx)?)
    })?;
    println!("reversed: {}", host.into_iter().rev().eq(numbers));
    Ok(())
}
