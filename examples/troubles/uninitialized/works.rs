//! Memory that is created with its contents has no uninitialized element.

use std::error::Error;

use cuprum::context::PrimaryContext;
use cuprum::{Buffer, Driver, In, InOut, LaunchConfig, Module, Stream};

const N: u32 = 100;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    let host = context.enter(|cx| {
        let module = Module::load_ptx(cx, include_str!("../../../kernels/bugs.ptx"))?;
        let shift = module.function("uninitialized_global")?.bind::<(In<u32>, InOut<u32>, u32)>()?;
        // `from_slice` and `zeroed` fill the new memory; `Buffer::alloc` does not, as its
        // documentation says.
        let numbers = Buffer::from_slice(cx, &(0..=N).collect::<Vec<u32>>())?;
        let mut out = Buffer::<u32>::zeroed(cx, N as usize)?;
        // SAFETY: it reads n + 1 elements, which exist, and writes n; the copy below waits for it.
        unsafe {
            shift.launch(cx, &Stream::default_in(cx), LaunchConfig::new(1, 128), (&numbers, &mut out, N))
        }?;
        Ok(out.to_vec(cx)?)
    })?;
    println!("the last element: {}", host[N as usize - 1]);
    Ok(())
}
