//! Runs a program in which a driver call may fail, and reports mistakes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cuprum::context::{Context, ContextFlags};
use cuprum::sys::CUresult;
use cuprum::{ContextRef, Current, Driver, Shared, Stream};

use super::act::{Act, GRAPHS, GraphAct, REQUESTS, STREAMS};
use super::set::Count;
use super::{Failed, graphs, requests};
use crate::tracer::{Injection, Session};

/// A panic that is a step of the program.
pub(super) struct Asked;

/// A run that has ended.
pub(crate) struct Outcome {
    /// Driver calls that could have failed.
    pub(crate) calls: usize,
    /// The steps that made sense where they stood, and were done.
    pub(crate) done: Vec<Act>,
    /// Description of the failure.
    pub(crate) wrong: Option<String>,
}

/// All that a program works on.
struct World {
    requests: [requests::Slot; REQUESTS],
    graphs: [graphs::Slot; GRAPHS],
    streams: [Stream<'static>; STREAMS],
    count: Count,
}

/// Runs a program in a context of its own.
pub(crate) fn run(driver: Driver, program: &[Act], injection: Option<Injection>) -> Outcome {
    let session = Session::watched();
    let device = driver.device(0).expect("a device");
    let mut made = None;
    let run = || {
        session.enter(|| {
            let context = Context::create(device, ContextFlags::empty()).expect("a context").share();
            made = Some(context.as_raw());
            session.expect(made);
            in_context(&session, context, program, injection)
        })
    };
    let (mut calls, mut done) = (0, Vec::new());
    let wrong = match catch_unwind(AssertUnwindSafe(run)) {
        Ok((counted, steps, wrong)) => {
            (calls, done) = (counted, steps);
            wrong
        }
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Some(format!("a panic: {}", text.unwrap_or_default()))
        }
    };
    let complaint = session
        .violations()
        .first()
        .map(|one| format!("{:?} in {}: {}", one.trouble, one.function, one.text));
    let must_be_gone = may_leak(&session, program, injection) == Some(false);
    let left = if must_be_gone { session.alive() } else { Vec::new() };
    let left = (!left.is_empty()).then(|| format!("left behind: {left:?}"));
    let failed = session.log().into_iter().find(|call| call.injected.is_some()).map(|call| call.function);
    session.inject(None);
    for context in session.live_contexts() {
        // SAFETY: the remains of the run are forgotten and use nothing; the emulator refuses a
        // handle that is none.
        let _: CUresult = unsafe { (driver.library().fns().cuCtxDestroy_v2)(context) };
    }
    let wrong = wrong.or(complaint).or(left);
    Outcome { calls, done, wrong: wrong.map(|how| format!("{how} ({failed:?} failed)")) }
}

/// True if objects may be left; `None` if the failing call was not reached.
fn may_leak(session: &Session, program: &[Act], injection: Option<Injection>) -> Option<bool> {
    if program.iter().any(|act| act.leaks()) {
        return Some(true);
    }
    let Some(injection) = injection else { return Some(false) };
    let failed = session.log().into_iter().find(|call| call.injected.is_some())?;
    let name = failed.function.to_string();
    // A value that the driver may have is leaked.
    let parts = ["Destroy", "Free", "Unload", "Release", "PushCurrent", "cuUserObjectCreate"];
    let stays = injection.code == CUresult::CUDA_ERROR_LAUNCH_FAILED && name.contains("Synchronize");
    Some(injection.done || stays || parts.iter().any(|part| name.contains(part)))
}

/// Number of calls after the beginning, the steps that were done, and the failure.
fn in_context(
    session: &Session,
    context: Shared<ContextRef>,
    program: &[Act],
    injection: Option<Injection>,
) -> (usize, Vec<Act>, Option<String>) {
    let count = Count { calls: Arc::default(), expected: Some(0), value: Arc::new(()) };
    let value = Arc::clone(&count.value);
    let streams = context
        .enter(|cx| Ok([Stream::new(cx).expect("a stream"), Stream::non_blocking(cx).expect("a stream")]));
    let (requests, graphs) = Default::default();
    let mut world = World { requests, graphs, streams: streams.expect("a context to enter"), count };
    session.inject(injection);
    let first = session.len();
    let sticky = injection.is_some_and(|one| one.code == CUresult::CUDA_ERROR_LAUNCH_FAILED);
    let (mut failed, mut steps) = (None, Vec::new());
    for (number, &act) in program.iter().enumerate() {
        let before = session.len();
        let done = context.enter_as::<cuprum::Error, _>(|cx| Ok(world.step(act, cx)));
        let injected = session.log()[before..].iter().any(|call| call.injected.is_some());
        let (answer, entered) = match done {
            Ok(answer) => (answer, true),
            Err(error) => (Err(error.into()), false),
        };
        let unknown = world.is_unknown(act);
        let excused =
            injected || unknown || (sticky && session.log().iter().any(|call| call.injected.is_some()));
        if entered && (injected || (excused && answer.is_err())) {
            world.doubt(act);
        }
        match answer {
            Err(Failed::Wrong(how)) if !injected => failed = Some(format!("step {number}, {act:?}: {how}")),
            Err(Failed::Said(how)) if !excused => failed = Some(format!("step {number}, {act:?}: {how}")),
            Ok(true) => steps.push(act),
            _ => {}
        }
        if failed.is_some() {
            break;
        }
    }
    let World { requests, graphs, streams, count } = world;
    drop((graphs, requests));
    if failed.is_none() {
        failed = look_at(&count, may_leak(session, program, injection));
    }
    drop((streams, context, count, value));
    (session.len() - first, steps, failed)
}

/// Checks the calls of functions and the drops of values after everything else is dropped.
fn look_at(count: &Count, may_leak: Option<bool>) -> Option<String> {
    let called = count.calls.load(Ordering::SeqCst);
    if count.expected.is_some_and(|calls| calls != called) {
        return Some(format!("functions of the host were called {called} times, not {:?}", count.expected));
    }
    // The driver drops values on threads of its own, in its own time.
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while may_leak == Some(false) && Arc::strong_count(&count.value) > 2 {
        if std::time::Instant::now() > patience {
            return Some("a value of a user object is left".into());
        }
        std::thread::yield_now();
    }
    None
}

impl World {
    fn step(&mut self, act: Act, cx: &Current<'_, 'static>) -> Result<bool, Failed> {
        match act {
            Act::Request(slot, act) => self.requests[slot].step(act, cx, &self.streams),
            Act::Graph(slot, GraphAct::Update) => {
                let [one, two] = &mut self.graphs;
                let (to, from) = if slot == 0 { (one, two) } else { (two, one) };
                to.update(from, cx)
            }
            Act::Graph(slot, GraphAct::Renew(value)) => self.graphs[slot].renew(cx, value, &self.count),
            Act::Graph(slot, act) => self.graphs[slot].step(act, cx, &mut self.streams, &mut self.count),
            Act::WaitForStream(stream) => {
                self.streams[stream].synchronize(cx)?;
                Ok(true)
            }
        }
    }

    /// The objects of a step are in doubt because a call in it failed.
    fn doubt(&mut self, act: Act) {
        match act {
            Act::Request(slot, _) => self.requests[slot].doubt(),
            Act::Graph(_, GraphAct::Update) => {
                self.graphs.iter_mut().for_each(|graph| graph.doubt(&mut self.count));
            }
            Act::Graph(slot, _) => self.graphs[slot].doubt(&mut self.count),
            Act::WaitForStream(_) => {}
        }
    }

    fn is_unknown(&self, act: Act) -> bool {
        match act {
            Act::Graph(_, GraphAct::Update) => self.graphs.iter().any(graphs::Slot::is_unknown),
            Act::Graph(slot, _) => self.graphs[slot].is_unknown(),
            _ => false,
        }
    }
}

/// A program that fails as well, with as few steps: none can be left out. All run on one thread.
pub(crate) fn shorten(program: &[Act], fails: impl Fn(&[Act]) -> bool) -> Vec<Act> {
    let mut program = program.to_vec();
    let (mut at, mut kept) = (0, 0);
    while kept < program.len() {
        let mut without = program.clone();
        without.remove(at);
        if fails(&without) {
            (program, kept) = (without, 0);
        } else {
            (at, kept) = (at + 1, kept + 1);
        }
        at = if at < program.len() { at } else { 0 };
    }
    program
}
