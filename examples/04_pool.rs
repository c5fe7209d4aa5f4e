//! A pool of four threads that divide the work, each with its own stream.
//!
//! ```text
//! cargo run --release --example 04_pool
//! ```

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cuprum::context::PrimaryContext;
use cuprum::{Buffer, Current, Driver, In, InOut, Kernel, LaunchConfig, Module, Stream};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
type Saxpy = Kernel<'static, (u32, f32, In<f32>, InOut<f32>)>;

/// Uploads a part, doubles it on a stream, and downloads it.
fn doubled(cx: &Current<'_, 'static>, stream: &Stream<'_>, kernel: &Saxpy, part: &[f32]) -> Result<Vec<f32>> {
    let (x, mut y) = (Buffer::from_slice(cx, part)?, Buffer::from_slice(cx, part)?);
    let (n, mut host) = (part.len(), vec![0.0; part.len()]);
    cx.scope_as(stream, |scope| -> Result<()> {
        let (x, y) = (scope.lend(&x)?, scope.lend(&mut y)?);
        // SAFETY: saxpy touches n elements of each, which are lent to its stream.
        unsafe { kernel.launch(cx, stream, LaunchConfig::for_elements(n, 256), (n as u32, 1.0, x, &y)) }?;
        Ok(scope.read(&mut host, &y)?)
    })?;
    Ok(host)
}

fn main() -> Result<()> {
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?.share();
    let module = context.enter(|cx| Ok(Module::load_ptx(cx, include_str!("../kernels/saxpy.ptx"))?))?.share();
    let kernel: Saxpy = module.kernel("saxpy")?;

    // A thread enters the context once, and then takes parts until none are left.
    let (next, results) = (AtomicUsize::new(0), Mutex::new([0.0; 16]));
    let work = || -> Result<()> {
        context.enter_as(|cx| {
            let stream = Stream::non_blocking(cx)?;
            while let part @ ..16 = next.fetch_add(1, Ordering::Relaxed) {
                let host = doubled(cx, &stream, &kernel, &vec![part as f32; 1000])?;
                assert_eq!(host, [2.0 * part as f32; 1000]);
                results.lock().map_err(|_| "a thread panicked")?[part] = host[0];
            }
            Ok(())
        })
    };
    thread::scope(|threads| {
        let lanes = [(); 4].map(|()| threads.spawn(work));
        lanes.into_iter().try_for_each(|lane| lane.join().map_err(|_| "a thread panicked")?)
    })?;
    println!("{:?} from four threads", results.into_inner().map_err(|_| "a thread panicked")?);
    Ok(())
}
