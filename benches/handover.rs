//! What it costs to hand a closure to a [`Worker`], beside a thread behind a raw channel that pushes and pops the context
//! by raw calls around each closure.
//!
//! The medians are printed as a table. Two drivers are measured: one that does nothing, and the device that
//! `CUPRUM_DEVICE` names, the emulator by default.
//!
//! ```text
//! cargo bench -p cuprum-benches --bench handover
//! ```

#[path = "../tests/support/common/mod.rs"]
mod common;
#[path = "../tests/support/tracer/mod.rs"]
mod tracer;

use std::hint::black_box;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cuprum::sys::{CUcontext, CUresult, call};
use cuprum::{Context, ContextFlags, Driver, Job, SharedContext, Worker};
use tracer::Backing;

/// Closures handed over before one waits.
const MANY: u32 = 256;
/// Round trips timed in one go.
const BATCH: u32 = 500;
const ROUNDS: usize = 41;

type Task = Box<dyn FnOnce() + Send>;

/// A thread behind a raw channel.
struct Raw {
    queue: Sender<Task>,
    thread: JoinHandle<()>,
}

impl Raw {
    fn spawn(context: &SharedContext) -> Self {
        let (queue, tasks) = channel::<Task>();
        let context = context.clone();
        let thread = std::thread::spawn(move || {
            let (fns, raw) = (context.driver().library().fns(), context.as_raw());
            for task in tasks {
                // SAFETY: the context is live: this thread keeps it.
                let (pushed, _) = unsafe { call!(fns, cuCtxPushCurrent_v2(raw)) };
                assert_eq!(pushed, CUresult::CUDA_SUCCESS);
                task();
                let mut popped = CUcontext::null();
                // SAFETY: the out-parameter outlives the call.
                let (answer, _) = unsafe { call!(fns, cuCtxPopCurrent_v2(&raw mut popped)) };
                assert_eq!(answer, CUresult::CUDA_SUCCESS);
            }
        });
        Self { queue, thread }
    }

    fn send(&self, task: impl FnOnce() + Send + 'static) {
        self.queue.send(Box::new(task)).expect("the thread runs");
    }

    fn run(&self) -> u32 {
        let (sender, answer) = channel();
        self.send(move || sender.send(black_box(1)).expect("somebody waits"));
        answer.recv().expect("an answer")
    }
}

/// The median time of `body`, divided by the closures it hands over.
fn median(closures: u32, mut body: impl FnMut()) -> Duration {
    body();
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            body();
            start.elapsed() / closures
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

fn measure(device: &str, driver: Driver) {
    let context = Context::create(driver.device(0).expect("a device"), ContextFlags::empty());
    let context = context.expect("a context").share();
    let (raw, worker) = (Raw::spawn(&context), Worker::spawn(&context).expect("a thread"));
    let row = |what: &str, raw: Duration, worker: Duration| {
        println!("| {what:<38} | {:>11} | {:>9} |", raw.as_nanos(), worker.as_nanos());
    };
    println!("| {:<38} | raw channel |    worker |", format!("{device} (median ns per closure)"));
    println!("|{:-<40}|------------:|----------:|", "");
    let channel_trip = median(BATCH, || (0..BATCH).for_each(|_| assert_eq!(raw.run(), 1)));
    let run = || assert_eq!(worker.run(|_| black_box(1)).expect("it runs"), 1);
    row("there and back", channel_trip, median(BATCH, || (0..BATCH).for_each(|_| run())));
    let channel_many = median(MANY, || {
        (1..MANY).for_each(|_| raw.send(|| assert_eq!(black_box(1), 1)));
        raw.run();
    });
    let submit_many = median(MANY, || {
        let jobs = (0..MANY).map(|_| worker.submit(|_| black_box(1)).expect("it is queued"));
        let jobs: Vec<Job<i32>> = jobs.collect();
        jobs.into_iter().for_each(|job| assert_eq!(job.wait().expect("it runs"), 1));
    });
    row(&format!("{MANY} handed over, then waited for"), channel_many, submit_many);
    println!();
    worker.close().expect("no panic");
    drop(raw.queue);
    raw.thread.join().expect("no panic");
}

fn main() {
    measure("fake", Backing::Nothing.driver());
    measure(if common::on_gpu() { "gpu" } else { "emulator" }, common::driver());
}
