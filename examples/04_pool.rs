//! A pool of four worker threads, each with a stream of its own.
//!
//! ```text
//! cargo run --release --example 04_pool
//! ```

use std::sync::Arc;

use cuprum::{
    Buffer, Current, Driver, In, InOut, LaunchConfig, Module, PrimaryContext, SharedKernel, Stream, Worker,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Uploads a part, doubles it on a stream, and fetches it.
fn doubled(cx: &Current<'_, 'static>, stream: &Stream<'_>, kernel: &Saxpy, part: &[f32]) -> Result<Vec<f32>> {
    let (x, mut y) = (Buffer::from_slice(cx, part)?, Buffer::from_slice(cx, part)?);
    let (n, mut host) = (part.len(), vec![0.0; part.len()]);
    cx.scope(stream, |scope| -> Result<()> {
        let (x, y) = (scope.lend_shared(x.as_slice())?, scope.lend(y.as_mut_slice())?);
        // SAFETY: saxpy touches n elements of each, which are lent to its stream.
        unsafe { kernel.launch(cx, stream, LaunchConfig::for_elements(n, 256), (n as u32, 1.0, x, &y)) }?;
        Ok(y.copy_to_host(&mut host)?)
    })??;
    Ok(host)
}

type Saxpy = SharedKernel<'static, (u32, f32, In<f32>, InOut<f32>)>;

fn main() -> Result<()> {
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    println!("{choice}");
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?.share();
    let module = context.enter(|cx| Module::load_ptx(cx, include_str!("../kernels/saxpy.ptx")))??.share();
    let kernel: Arc<Saxpy> = Arc::new(module.kernel("saxpy")?);
    let lanes = (0..4).map(|_| {
        let worker = Worker::spawn(&context)?;
        let stream = Arc::new(worker.run(|cx| Stream::non_blocking(cx))??);
        Ok((worker, stream))
    });
    let lanes = lanes.collect::<Result<Vec<_>>>()?;

    let parts: Vec<Vec<f32>> = (0..16).map(|part| vec![part as f32; 1000]).collect();
    let jobs = parts.into_iter().zip(lanes.iter().cycle()).map(|(part, (worker, stream))| {
        let (stream, kernel) = (Arc::clone(stream), Arc::clone(&kernel));
        worker.submit(move |cx| doubled(cx, &stream, &kernel, &part))
    });
    // Collected first, so that all of them are under way before the first is waited for.
    let jobs = jobs.collect::<std::result::Result<Vec<_>, _>>()?;
    for (part, job) in jobs.into_iter().enumerate() {
        let host = job.wait()??;
        assert_eq!(host, [2.0 * part as f32; 1000]);
        print!("{} ", host[0]);
    }
    println!("from four threads");
    lanes.into_iter().try_for_each(|(worker, _)| Ok(worker.close()?))
}
