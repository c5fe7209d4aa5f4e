//! Adds two vectors of a million floats on the GPU, or on the embedded software device if there is
//! no GPU.
//!
//! ```text
//! cargo run --release --example 01_vector_add
//! ```
//!
//! `CUPRUM_DEVICE=gpu` requires a GPU, `CUPRUM_DEVICE=emulator` requires the software device.

use std::error::Error;
use std::time::{Duration, Instant};

use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::stream::{Event, EventFlags};
use cuprum::{Buffer, Driver, In, InOut, LaunchConfig, Module, Stream};

const N: usize = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    // The system's driver if it has a device, or else the software device. The second value
    // explains the choice.
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");

    let driver = Driver::init(library)?;
    let device = driver.device(0)?;
    println!("device:         {} (compute capability {})", device.name()?, device.compute_capability()?);
    println!("driver:         CUDA {} from {}", driver.version(), library.origin());

    // A context has to be current to be used, and objects made in it cannot outlive it.
    let context = PrimaryContext::retain(device)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?;

    // The repository contains this PTX, so no compiler is needed. The driver compiles PTX for its
    // device.
    let start = Instant::now();
    let module = Module::load_ptx(&cx, include_str!("../kernels/vector_add.ptx"))?;
    let vector_add = module.function("vector_add")?.bind::<(In<f32>, In<f32>, InOut<f32>, u32)>()?;
    let load = start.elapsed();

    let a: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let b: Vec<f32> = (0..N).map(|i| (N - i) as f32 * 0.5).collect();

    let start = Instant::now();
    let device_a = Buffer::from_slice(&cx, &a)?;
    let device_b = Buffer::from_slice(&cx, &b)?;
    let mut device_c = Buffer::<f32>::zeroed(&cx, N)?;
    let copy_in = start.elapsed();

    let stream = Stream::default_in(&cx);
    let (before, after) = (Event::new(&cx, EventFlags::empty())?, Event::new(&cx, EventFlags::empty())?);
    let config = LaunchConfig::for_elements(N, 256);
    before.record(&cx, &stream)?;
    // SAFETY: the kernel takes (const float* a, const float* b, float* out, u32 n) and touches n
    // elements of each, their length. The copy below is on the same stream.
    unsafe { vector_add.launch(&cx, &stream, config, (&device_a, &device_b, &mut device_c, N as u32)) }?;
    after.record(&cx, &stream)?;
    after.synchronize()?;
    let kernel = after.elapsed_since(&before)?;

    let start = Instant::now();
    let c = device_c.to_vec(&cx)?;
    let copy_out = start.elapsed();

    for (i, ((a, b), c)) in a.iter().zip(&b).zip(&c).enumerate() {
        if a + b != *c {
            return Err(format!("element {i} is {c} and should be {}", a + b).into());
        }
    }
    println!("result:         {N} sums, every one right");
    for (what, time) in
        [("load module", load), ("allocate, copy", copy_in), ("kernel", kernel), ("copy back", copy_out)]
    {
        println!("{:<15} {:>9.3} ms", format!("{what}:"), milliseconds(time));
    }
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
