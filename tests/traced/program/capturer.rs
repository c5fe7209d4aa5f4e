//! A thread that captures a stream while the program frees something.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use cuprum::context::{Context, ContextFlags, ForeignContext};
use cuprum::graph::CaptureMode;
use cuprum::sys::CUcontext;
use cuprum::{Driver, Library, Stream};

use crate::tracer::Backing;

/// Steps that free, close or wait to do so.
const ENDS: [&str; 5] = ["::drop", "::close", "::free_held", "::stop_holding", "::unregister"];
/// During all other steps, a stream of another context is captured, because a context cannot end
/// while one of its streams is captured.
const ELSEWHERE: [&str; 3] = ["Context::", "Current::", "Worker::"];

/// Names of steps that ran during a capture, and the results of captures that failed.
#[derive(Default)]
struct Seen {
    steps: BTreeSet<&'static str>,
    spoiled: Vec<String>,
}

/// The program's side. Handles go to the thread as numbers.
pub(super) struct Capturer {
    begin: Sender<usize>,
    begun: Receiver<()>,
    end: Sender<()>,
    ended: Receiver<Result<(), String>>,
    seen: Arc<Mutex<Seen>>,
}

/// Handles that remain after the program.
pub(super) struct Ends {
    thread: JoinHandle<()>,
    seen: Arc<Mutex<Seen>>,
}

impl Ends {
    /// The names of the steps, and the captures that were ended.
    pub(super) fn finish(self) -> (BTreeSet<&'static str>, Vec<String>) {
        self.thread.join().expect("no panic");
        let seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        (seen.steps, seen.spoiled)
    }
}

impl Capturer {
    pub(super) fn new(library: Library) -> (Self, Ends) {
        let ((begin, to_begin), (has_begun, begun)) = (channel(), channel());
        let ((end, to_end), (has_ended, ended)) = (channel(), channel());
        let body = move || capture_on_demand(library, &to_begin, &has_begun, &to_end, &has_ended);
        let (thread, seen) = (std::thread::spawn(body), Arc::<Mutex<Seen>>::default());
        (Self { begin, begun, end, ended, seen: Arc::clone(&seen) }, Ends { thread, seen })
    }

    pub(super) fn is_meant(&self, step: &str) -> bool {
        ENDS.iter().any(|end| step.ends_with(end))
    }

    /// Runs `body` while a stream of the current context is captured, or of another one if `body`
    /// may end that.
    pub(super) fn during_a_capture<R>(&self, step: &'static str, body: impl FnOnce() -> R) -> R {
        let ends_it = ELSEWHERE.iter().any(|part| step.contains(part));
        let context = if ends_it { 0 } else { Backing::Emulator.current() as usize };
        self.begin.send(context).expect("the thread");
        self.begun.recv().expect("the thread");
        let result = body();
        self.end.send(()).expect("the thread");
        let ended = self.ended.recv().expect("the thread");
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.steps.insert(step);
        seen.spoiled.extend(ended.err().map(|error| format!("{step}: {error}")));
        result
    }
}

/// Captures a stream of each context that is requested, until asked to end.
fn capture_on_demand(
    library: Library,
    to_begin: &Receiver<usize>,
    has_begun: &Sender<()>,
    to_end: &Receiver<()>,
    has_ended: &Sender<Result<(), String>>,
) {
    let driver = Driver::init(library).expect("it has been initialized");
    let own = Context::create(driver.device(0).expect("a device"), ContextFlags::empty()).expect("a context");
    for raw in to_begin {
        let raw = CUcontext(std::ptr::with_exposed_provenance_mut(raw));
        let raw = if raw.is_null() { own.as_raw() } else { raw };
        // SAFETY: the program keeps its current context, and waits until this was used.
        let context = unsafe { ForeignContext::from_raw(driver, raw) }.expect("a context");
        let captured = context.enter(|cx| {
            let mut stream = Stream::new(cx).expect("a stream");
            let captured = cx.capture(&mut stream, CaptureMode::Global, |_| {
                has_begun.send(()).expect("the program");
                to_end.recv().expect("the program");
                Ok(())
            });
            Ok(captured.map(drop))
        });
        let ended = captured.expect("it is pushed").map_err(|error| error.to_string());
        has_ended.send(ended).expect("the program");
    }
}
