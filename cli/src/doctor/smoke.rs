//! The smoke test: memory, a kernel, copies and their speed, on each device, in a child process.

use std::error::Error;
use std::ffi::OsStr;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::memory::PinnedFlags;
use cuprum::{Buffer, Current, Driver, In, InOut, LaunchConfig, Library, Module, PinnedBuffer, Stream};

use crate::child;

pub(crate) const OPTION: &str = "--smoke-test";

const PTX: &str = include_str!("smoke.ptx");
const THREADS: u32 = 256;

#[derive(Debug, Default)]
pub(crate) struct Smoke {
    pub(crate) device: usize,
    /// Reason of a failure, with the step.
    pub(crate) error: Option<String>,
    /// Time of a launch with its wait, in microseconds.
    pub(crate) launch: Option<f64>,
    /// Speed of copies, in 10^9 bytes per second.
    pub(crate) to_device: Option<f64>,
    pub(crate) to_host: Option<f64>,
    pub(crate) on_device: Option<f64>,
    /// Free memory at the start, in bytes.
    pub(crate) free: Option<u64>,
}

pub(crate) fn smoke(path: &OsStr, device: usize, limit: Duration) -> Smoke {
    let number = device.to_string();
    let arguments = [OsStr::new("doctor"), OsStr::new(OPTION), path, OsStr::new(&number)];
    let ended = child::run(&arguments, &[], limit);
    let number = |word: &str| ended.get(word).and_then(|text| text.parse().ok());
    let step = ended.all("step").last().unwrap_or("the start of the child");
    let told = ended.get("error").or(ended.failed.as_deref());
    let silent = ended.get("done").is_none().then_some("it did not come to its end");
    Smoke {
        device,
        error: told.or(silent).map(|error| format!("{step}: {error}")),
        launch: number("launch"),
        to_device: number("to_device"),
        to_host: number("to_host"),
        on_device: number("on_device"),
        free: ended.get("free").and_then(|text| text.parse().ok()),
    }
}

pub(crate) fn child_main(path: &OsStr, device: u32) {
    match test(path, device) {
        Ok(()) => child::tell("done", ""),
        Err(error) => child::tell("error", error),
    }
}

fn test(path: &OsStr, device: u32) -> Result<(), Box<dyn Error>> {
    child::tell("step", "opening the driver");
    let library = if path.is_empty() {
        Library::open()?
    } else {
        // SAFETY: the parent has already opened this driver in a child.
        unsafe { Library::open_from(Path::new(path)) }?
    };
    let device = Driver::init(library)?.device(device)?;
    child::tell("step", "making a context");
    let context = PrimaryContext::retain(device)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?;
    let memory = cx.memory_info()?;
    child::tell("free", memory.free);
    // In software, the processor that waits also copies the bytes.
    let most = if library.is_software_device() { 4 << 20 } else { 64 << 20 };
    let count = most.min(memory.free / 8) / size_of::<f32>();
    run(&cx, count)?;
    child::tell("step", "ending the context");
    cx.pop()?;
    Ok(())
}

fn run(cx: &Current<'_, '_>, count: usize) -> Result<(), Box<dyn Error>> {
    child::tell("step", "allocating memory");
    let bytes = count * size_of::<f32>();
    let mut host = PinnedBuffer::<f32>::zeroed(cx, count, PinnedFlags::empty())?;
    let mut x = Buffer::<f32>::zeroed(cx, count)?;
    let mut y = Buffer::<f32>::zeroed(cx, count)?;
    for (at, value) in host.iter_mut().enumerate() {
        *value = (at % 1024) as f32;
    }

    child::tell("step", "copying to the device");
    let to_device = fastest(3, || cx.copy(&mut x, &host))?;
    child::tell("to_device", speed(bytes, to_device));
    child::tell("step", "copying on the device");
    // Waits for the default stream, because the copy does not wait.
    let on_device = fastest(3, || cx.copy(&mut y, &x).and_then(|()| Ok(cx.synchronize()?)))?;
    // Each byte is read and written.
    child::tell("on_device", speed(2 * bytes, on_device));

    child::tell("step", "loading PTX");
    let module = Module::load_ptx(cx, PTX)?;
    let kernel = module.function("smoke")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
    child::tell("step", "launching a kernel");
    let stream = Stream::new(cx)?;
    let number = u32::try_from(count)?;
    let config = LaunchConfig::for_elements(count, THREADS);
    // SAFETY: the kernel accesses `number` elements of each buffer, which is their length; the
    // stream is waited for before any other use of them.
    unsafe { kernel.launch(cx, &stream, config, (number, 2.0, &x, &mut y)) }?;
    stream.synchronize(cx)?;
    let launch = fastest(20, || -> Result<(), Box<dyn Error>> {
        // SAFETY: as above, of no element.
        unsafe { kernel.launch(cx, &stream, LaunchConfig::new(1, THREADS), (0, 0.0, &x, &mut y)) }?;
        Ok(stream.synchronize(cx)?)
    })?;
    child::tell("launch", launch.as_secs_f64() * 1e6);

    child::tell("step", "copying to the host");
    let to_host = fastest(3, || cx.copy(&mut host, &y))?;
    child::tell("to_host", speed(bytes, to_host));
    child::tell("step", "comparing the results");
    let wrong = black_box(&*host).iter().enumerate().find(|(at, value)| **value != 3.0 * (at % 1024) as f32);
    match wrong {
        None => Ok(()),
        Some((at, value)) => {
            Err(format!("element {at} is {value} and should be {}", 3.0 * (at % 1024) as f32).into())
        }
    }
}

fn fastest<E>(times: u32, mut body: impl FnMut() -> Result<(), E>) -> Result<Duration, E> {
    let mut best = Duration::MAX;
    for _ in 0..times {
        let start = Instant::now();
        body()?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}

fn speed(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64() / 1e9
}
