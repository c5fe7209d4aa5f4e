//! A scope lends memory to a stream, and the loan ends after a wait for the stream.

use std::error::Error;

use cuprum::context::PrimaryContext;
use cuprum::memory::PinnedFlags;
use cuprum::{Buffer, Driver, InOut, LaunchConfig, Module, PinnedBuffer, Stream};

const N: usize = 1000;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    context.enter_as(|cx| {
        let module = Module::load_ptx(cx, include_str!("../../../kernels/bugs.ptx"))?;
        let fill = module.function("off_by_one_fixed")?.bind::<(InOut<f32>, u32)>()?;
        let (stream, mut out) = (Stream::new(cx)?, Buffer::<f32>::zeroed(cx, N)?);
        let mut host = PinnedBuffer::<f32>::zeroed(cx, N, PinnedFlags::empty())?;
        cx.scope_as(&stream, |scope| -> Result<(), Box<dyn Error>> {
            let (out, host) = (scope.lend(&mut out)?, scope.lend(&mut host)?);
            // SAFETY: off_by_one_fixed(out, n) writes n elements, which are lent to the stream.
            unsafe { fill.launch(cx, &stream, LaunchConfig::for_elements(N, 256), (&out, N as u32)) }?;
            // `host.iter()` does not compile here: it is lent until the end of the scope, which
            // waits.
            scope.copy(&host, &out)?;
            Ok(())
        })?;
        println!("sum: {:.1}", host.iter().sum::<f32>());
        Ok(())
    })
}
