//! The compiler warns about an unused result, and the error names the requested value and the
//! limit.

use std::error::Error;

use cuprum::context::PrimaryContext;
use cuprum::{Buffer, Driver, InOut, LaunchConfig, Module, Stream};

const N: usize = 2048;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    context.enter_as(|cx| {
        let module = Module::load_ptx(cx, include_str!("../../../kernels/bugs.ptx"))?;
        let fill = module.function("off_by_one_fixed")?.bind::<(InOut<f32>, u32)>()?;
        let (stream, mut out) = (Stream::default_in(cx), Buffer::<f32>::zeroed(cx, N)?);
        for config in [LaunchConfig::new(1, N as u32), LaunchConfig::for_elements(N, 256)] {
            // SAFETY: off_by_one_fixed(out, n) writes n elements, which exist; the copy below waits
            // for it.
            match unsafe { fill.launch(cx, &stream, config, (&mut out, N as u32)) } {
                Ok(()) => println!("sum: {:.1}", out.to_vec(cx)?.iter().sum::<f32>()),
                Err(error) => println!("not launched: {error}"),
            }
        }
        Ok(())
    })
}
