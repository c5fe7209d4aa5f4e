//! An application's state in a struct: context, code, kernel, stream and buffers, moved to a
//! thread, dropped in any order.
//!
//! ```text
//! cargo run --release --example 03_struct
//! ```

use cuprum::{Buffer, ContextRef, In, InOut, Kernel, LaunchConfig, Module, Result, Shared, Stream};

/// It has no lifetime: each object holds a share of the context, which ends with the last share.
struct Saxpy {
    context: Shared<ContextRef>,
    module: Shared<Module<'static>>,
    kernel: Kernel<'static, (u32, f32, In<f32>, InOut<f32>)>,
    stream: Stream<'static>,
    x: Buffer<'static, f32>,
    y: Buffer<'static, f32>,
}

impl Saxpy {
    fn new(context: Shared<ContextRef>, x: &[f32]) -> Result<Self> {
        context.enter(|cx| {
            let module = Module::load_ptx(cx, include_str!("../kernels/saxpy.ptx"))?.share();
            let (kernel, stream) = (module.kernel("saxpy")?, Stream::new(cx)?);
            let (x, y) = (Buffer::from_slice(cx, x)?, Buffer::zeroed(cx, x.len())?);
            Ok(Self { context: context.clone(), module, kernel, stream, x, y })
        })
    }

    /// Adds `alpha` times x to y.
    fn step(&mut self, alpha: f32) -> Result<Vec<f32>> {
        self.context.enter(|cx| {
            let n = self.x.len();
            let config = LaunchConfig::for_elements(n, 256);
            // SAFETY: saxpy touches n elements of each; the copy comes after it, by the default
            // stream's order.
            unsafe { self.kernel.launch(cx, &self.stream, config, (n as u32, alpha, &self.x, &mut self.y)) }?;
            Ok(self.y.to_vec(cx)?)
        })
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");
    let mut saxpy = Saxpy::new(cuprum::open_in(library, 0)?, &[1.0, 2.0, 3.0])?;
    println!("on this thread: {:?}", saxpy.step(2.0)?);
    let thread = std::thread::spawn(move || saxpy.step(1.0).map(|y| (y, saxpy)));
    let (y, saxpy) = thread.join().map_err(|_| "the thread panicked")??;
    println!("on another:     {y:?}");
    let Saxpy { context, module, kernel, stream, x, y } = saxpy;
    drop((context, module, x, stream, y, kernel));
    println!("dropped, the context first: {} errors", cuprum::swallowed::count());
    Ok(())
}
