//! Calls a kernel with host memory, like a function: one call uploads, launches and downloads.

use std::error::Error;

use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::launch::{HostIn, HostInOut, HostOut};
use cuprum::memory::PinnedFlags;
use cuprum::{Driver, In, InOut, LaunchConfig, Module, PinnedBuffer, Stream};

const LEN: usize = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?;
    let stream = Stream::new(&cx)?;
    let config = LaunchConfig::for_elements(LEN, 256);

    // A kernel is bound once and called any number of times.
    let module = Module::load_ptx(&cx, include_str!("../kernels/vector_add.ptx"))?;
    let add = module.function("vector_add")?.bind::<(In<f32>, In<f32>, InOut<f32>, u32)>()?;
    let (a, b, mut sums) = (vec![1.5f32; LEN], vec![2.0; LEN], vec![0.0; LEN]);
    // SAFETY: vector_add(a, b, sums, n) touches n elements of each.
    unsafe { add.call(&cx, &stream, config, (HostIn(&a), HostIn(&b), HostOut(&mut sums), LEN as u32)) }?;
    assert_eq!(sums, [3.5; LEN]);

    // Page-locked memory, copied in both directions: the stream copies it without blocking the
    // host.
    let module = Module::load_ptx(&cx, include_str!("../kernels/saxpy.ptx"))?;
    let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
    let mut y = PinnedBuffer::from_slice(&cx, &sums, PinnedFlags::empty())?;
    let arguments = (LEN as u32, 2.0, HostIn(&a), HostInOut(&mut y));
    // SAFETY: saxpy(n, alpha, x, y) touches n elements of each.
    unsafe { saxpy.call(&cx, &stream, config, arguments) }?;
    assert_eq!(y[..], [6.5; LEN]);
    println!("{LEN} sums and {LEN} products, every one right");
    Ok(())
}
