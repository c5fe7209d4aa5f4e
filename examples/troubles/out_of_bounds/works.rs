//! The corrected kernel, and a launch whose arguments are checked against it.

use std::error::Error;

use cuprum::context::PrimaryContext;
use cuprum::{Buffer, Driver, InOut, LaunchConfig, Module, Stream};

const N: usize = 1000;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    let sum = context.enter(|cx| {
        let module = Module::load_ptx(cx, include_str!("../../../kernels/bugs.ptx"))?;
        // A parameter of another size, or a missing one, is an error here, before anything runs.
        let fill = module.function("off_by_one_fixed")?.bind::<(InOut<f32>, u32)>()?;
        let mut out = Buffer::<f32>::zeroed(cx, N)?;
        // SAFETY: off_by_one_fixed(out, n) writes n elements, the length of the buffer; the copy
        // below waits for it.
        unsafe {
            fill.launch(cx, &Stream::default_in(cx), LaunchConfig::for_elements(N, 256), (&mut out, N as u32))
        }?;
        Ok(out.to_vec(cx)?.iter().sum::<f32>())
    })?;
    println!("sum: {sum:.1}");
    Ok(())
}
