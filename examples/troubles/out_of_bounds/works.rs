//! The kernel that stays within its buffer, and a launch whose arguments were compared with it.

use std::error::Error;

use cuprum::{Buffer, Driver, InOut, LaunchConfig, Module, PrimaryContext, Stream};

const N: usize = 1000;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    let sum = context.enter(|cx| -> Result<f32, Box<dyn Error>> {
        let module = Module::load_ptx(cx, include_str!("../../../kernels/bugs.ptx"))?;
        // Another type, or a parameter too few, is an error here, before anything runs.
        let fill = module.function("off_by_one_fixed")?.bind::<(InOut<f32>, u32)>()?;
        let mut out = Buffer::<f32>::zeroed(cx, N)?;
        // SAFETY: off_by_one_fixed(out, n) writes n elements, which is how many there are; the copy below waits for it. The
        // software device checks that: the first kernel of kernels/bugs.cu with this mistake is stopped, and named.
        unsafe {
            fill.launch(cx, &Stream::default_in(cx), LaunchConfig::for_elements(N, 256), (&mut out, N as u32))
        }?;
        Ok(out.to_vec(cx)?.iter().sum())
    })??;
    println!("sum: {sum:.1}");
    Ok(())
}
