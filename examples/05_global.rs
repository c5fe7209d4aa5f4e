//! A global context that is created on first use, on any thread, by functions that take plain
//! slices.
//!
//! ```text
//! cargo run --release --example 05_global
//! ```

use std::sync::LazyLock;

use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::{Buffer, ContextRef, Driver, In, InOut, Kernel, LaunchConfig, Module, Shared, Stream};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

struct Gpu {
    context: Shared<ContextRef>,
    saxpy: Kernel<'static, (u32, f32, In<f32>, InOut<f32>)>,
}

/// A failure is also kept, so every caller gets the same one.
static GPU: LazyLock<std::result::Result<Gpu, String>> =
    LazyLock::new(|| Gpu::new().map_err(|error| error.to_string()));

impl Gpu {
    fn new() -> Result<Self> {
        let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
        println!("{choice}");
        let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?.share();
        let module = context.enter(|cx| Ok(Module::load_ptx(cx, include_str!("../kernels/saxpy.ptx"))?))?;
        Ok(Self { saxpy: module.share().kernel("saxpy")?, context })
    }
}

/// Adds `alpha` times x to y. Enters the context for this call, with any context current in the
/// caller.
fn saxpy(alpha: f32, x: &[f32], y: &mut [f32]) -> Result<()> {
    let Gpu { context, saxpy } = GPU.as_ref().map_err(String::as_str)?;
    let n = x.len().min(y.len());
    context.enter_as(|cx| {
        let (device_x, mut device_y) = (Buffer::from_slice(cx, &x[..n])?, Buffer::from_slice(cx, &y[..n])?);
        let (stream, config) = (Stream::default_in(cx), LaunchConfig::for_elements(n, 256));
        // SAFETY: saxpy touches n elements of each; the copy comes after it on the same stream.
        unsafe { saxpy.launch(cx, &stream, config, (n as u32, alpha, &device_x, &mut device_y)) }?;
        Ok(cx.copy(&mut y[..n], &device_y)?)
    })
}

fn main() -> Result<()> {
    let one = |alpha| -> Result<[f32; 2]> {
        let mut y = [0.5, 1.5];
        saxpy(alpha, &[1.0, 2.0], &mut y).map(|()| y)
    };
    for thread in [1.0, 2.0, 3.0].map(|alpha| std::thread::spawn(move || one(alpha))) {
        println!("{:?}", thread.join().map_err(|_| "a thread panicked")??);
    }
    let mut stack = ContextStack::take()?;
    let _cx = stack.push(&GPU.as_ref().map_err(String::as_str)?.context)?;
    println!("{:?} with a context on the stack", one(5.0)?);
    Ok(())
}
