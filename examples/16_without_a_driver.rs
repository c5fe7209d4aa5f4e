//! An application that uses a GPU if there is one, and also runs on a machine without a driver.
//!
//! The program does not link to any CUDA library. It looks for the driver at run time.
//!
//! ```text
//! cargo run --release --example 16_without_a_driver
//! ```
use cuprum::launch::{HostIn, HostInOut};
use cuprum::{ContextRef, In, InOut, Kernel, LaunchConfig, Module, Shared, Stream};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

enum Engine {
    Gpu(Box<Gpu>),
    Cpu,
}

struct Gpu {
    context: Shared<ContextRef>,
    saxpy: Kernel<'static, (u32, f32, In<f32>, InOut<f32>)>,
}

impl Gpu {
    /// Fails if there is no driver, no device or no memory. The application does not treat this as
    /// an error.
    fn open() -> Result<Self> {
        let context = cuprum::open(0)?;
        let module = context.enter(|cx| Ok(Module::load_ptx(cx, include_str!("../kernels/saxpy.ptx"))?))?;
        Ok(Self { saxpy: module.share().kernel("saxpy")?, context })
    }
}

impl Engine {
    fn choose() -> Self {
        let gpu = Gpu::open().inspect_err(|error| println!("without a GPU: {error}"));
        gpu.map_or(Self::Cpu, |gpu| Self::Gpu(Box::new(gpu)))
    }

    fn saxpy(&self, alpha: f32, x: &[f32], y: &mut [f32]) -> Result<()> {
        let Self::Gpu(gpu) = self else {
            y.iter_mut().zip(x).for_each(|(y, x)| *y += alpha * x);
            return Ok(());
        };
        let n = x.len().min(y.len());
        let (config, x, y) = (LaunchConfig::for_elements(n, 256), HostIn(&x[..n]), HostInOut(&mut y[..n]));
        gpu.context.enter_as(|cx| {
            // SAFETY: saxpy touches n elements of each; the call waits for it.
            unsafe { gpu.saxpy.call(cx, &Stream::default_in(cx), config, (n as u32, alpha, x, y)) }?;
            Ok(())
        })
    }
}

fn main() -> Result<()> {
    let (engine, mut y) = (Engine::choose(), [2.0; 1000]);
    println!("{}", if let Engine::Gpu(_) = engine { "with a GPU" } else { "with the CPU" });
    engine.saxpy(3.0, &[1.0; 1000], &mut y).map(|()| println!("{}", y[999]))
}
