//! The calls of a test's thread, and the answers to them.
//!
//! A session belongs to the threads that entered it, so that tests of one program do not hear each
//! other.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum::Error;
use cuprum::sys::{CUcontext, CUresult, FnId};

use super::asked::Asked;
use super::handles::Kind;
use super::target;
use super::watch::{Violation, Watcher};

/// Choice of the call that is to fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pick {
    /// The call of this number, counted from 0.
    Nth(usize),
    /// Each call of this function.
    Function(FnId),
}

/// A failure to inject.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Injection {
    pub pick: Pick,
    pub code: CUresult,
    /// True if the driver makes the call all the same.
    pub done: bool,
    /// True if all calls after the picked one fail as well.
    pub lasting: bool,
}

/// A call that was made.
#[derive(Clone, Copy, Debug)]
pub struct Called {
    pub function: FnId,
    pub driver: usize,
    /// Its place in the log.
    pub at: usize,
    /// The answer, if it was injected.
    pub injected: Option<CUresult>,
}

#[derive(Default)]
struct State {
    log: Vec<Called>,
    /// Failures to inject, each with whether its picked call was made. Of those that hit one call,
    /// the first counts.
    injections: Vec<(Injection, bool)>,
    /// Calls since the injections were set.
    counted: usize,
    swallowed: Vec<Error>,
    watcher: Option<Watcher>,
    /// Called with each change of the number of ranges in flight.
    on_flight: Option<fn(usize)>,
}

/// Recorded calls and chosen answers of one test.
#[derive(Clone, Default)]
pub struct Session(Arc<Mutex<State>>);

thread_local! {
    static CURRENT: RefCell<Option<Session>> = const { RefCell::new(None) };
}

impl Session {
    /// A session with a watcher.
    pub fn watched() -> Self {
        let session = Self::default();
        session.state().watcher = Some(Watcher::default());
        session
    }

    /// The session of this thread.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
    }

    /// Runs `body` with this session hearing the calls of this thread.
    pub fn enter<R>(&self, body: impl FnOnce() -> R) -> R {
        struct Leave(Option<Session>);
        impl Drop for Leave {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let _leave = Leave(CURRENT.replace(Some(self.clone())));
        body()
    }

    /// Records the calls of this thread in this session until the thread ends.
    pub fn stay(&self) {
        CURRENT.set(Some(self.clone()));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calls so far.
    pub fn log(&self) -> Vec<Called> {
        self.state().log.clone()
    }

    /// Number of calls so far.
    pub fn len(&self) -> usize {
        self.state().log.len()
    }

    /// Has calls fail from now on, or no longer.
    pub fn inject(&self, injections: impl IntoIterator<Item = Injection>) {
        let mut state = self.state();
        state.injections = injections.into_iter().map(|injection| (injection, false)).collect();
        state.counted = 0;
    }

    /// Returns true if an error comes from an injected code, counted from a place in the log.
    pub fn has_injected(&self, start: usize, error: Error) -> bool {
        let picked = |call: &Called| (call.function, call.injected) == (error.call(), Some(error.code()));
        self.state().log[start..].iter().any(picked)
    }

    /// Number of errors swallowed so far.
    pub fn swallowed_len(&self) -> usize {
        self.state().swallowed.len()
    }

    /// Notes an error that the safe layer has swallowed.
    pub fn swallowed(&self, error: Error) {
        self.state().swallowed.push(error);
    }

    /// The errors swallowed so far.
    pub fn all_swallowed(&self) -> Vec<Error> {
        self.state().swallowed.clone()
    }

    /// Passes to the watcher the context that calls of this thread must meet; `None` for any.
    pub fn expect(&self, context: Option<CUcontext>) {
        let mut state = self.state();
        if let Some(watcher) = &mut state.watcher {
            watcher.expect(context.map(|context| context.0.addr() as u64));
        }
    }

    /// Reports to the watcher that a scope has returned: no host memory may be in flight any more.
    pub fn scope_ended(&self) {
        let mut state = self.state();
        if let Some(watcher) = &mut state.watcher {
            watcher.scope_ended();
        }
    }

    /// Reports to the watcher that the program may not touch host memory any more.
    pub fn lost<T>(&self, start: *const T) {
        if let Some(watcher) = &mut self.state().watcher {
            watcher.lost(start.addr() as u64);
        }
    }

    /// Complaints of the watcher.
    pub fn violations(&self) -> Vec<Violation> {
        self.state().watcher.as_ref().map_or_else(Vec::new, |watcher| watcher.violations().to_vec())
    }

    /// Handles that were made and not freed, as text.
    pub fn alive(&self) -> Vec<String> {
        self.state().watcher.as_ref().map_or_else(Vec::new, Watcher::alive)
    }

    /// The contexts that were created and not destroyed.
    pub fn live_contexts(&self) -> Vec<CUcontext> {
        let state = self.state();
        let contexts = state.watcher.as_ref().map_or_else(Vec::new, Watcher::live_contexts);
        contexts.into_iter().map(|raw| CUcontext(std::ptr::without_provenance_mut(raw as usize))).collect()
    }

    /// Pools and physical memory, which end with no context, that were not freed.
    pub fn left_without_context(&self) -> [Vec<u64>; 2] {
        let state = self.state();
        let left = |kind| state.watcher.as_ref().map_or_else(Vec::new, |watcher| watcher.left(kind));
        [Kind::Pool, Kind::Physical].map(left)
    }

    /// Takes note of a release of a device's primary context; false if nothing retains it.
    pub fn release_primary(&self, device: u64) -> bool {
        self.state().watcher.as_mut().is_some_and(|watcher| watcher.release_primary(device))
    }

    /// Calls `told` with the number of host memory ranges in flight, whenever it changes.
    pub fn on_flight(&self, told: fn(usize)) {
        self.state().on_flight = Some(told);
    }
}

impl State {
    /// The code to answer, and whether the call is passed on all the same.
    fn injected(&mut self, function: FnId) -> Option<Injection> {
        let mut failing = None;
        for (injection, reached) in &mut self.injections {
            let hit = match injection.pick {
                Pick::Nth(n) => self.counted == n,
                Pick::Function(picked) => function == picked,
            };
            let fails = hit || (injection.lasting && *reached);
            *reached |= hit;
            failing = failing.or(fails.then_some(*injection));
        }
        self.counted += 1;
        failing
    }

    fn tell_flight(&self, before: usize) {
        let now = self.in_flight();
        if let Some(told) = self.on_flight.filter(|_| now != before) {
            told(now);
        }
    }

    fn in_flight(&self) -> usize {
        self.watcher.as_ref().map_or(0, Watcher::in_flight)
    }
}

/// Traces a call: notes it, injects an answer or passes it on.
#[inline]
pub(super) fn answer(asked: &Asked<'_>, pass_on: impl FnOnce() -> CUresult) -> CUresult {
    if let Some(version) = target::posed_version(asked) {
        let to = std::ptr::with_exposed_provenance_mut::<i32>(asked.words[0] as usize);
        // SAFETY: the out-parameter of `cuDriverGetVersion`.
        unsafe { to.write(version.as_raw() as i32) };
        return CUresult::CUDA_SUCCESS;
    }
    let heard = CURRENT.try_with(|current| current.borrow().is_some());
    if heard != Ok(true) {
        return pass_on();
    }
    match Session::current() {
        Some(session) => traced(&session, asked, pass_on),
        None => pass_on(),
    }
}

fn traced(session: &Session, asked: &Asked<'_>, pass_on: impl FnOnce() -> CUresult) -> CUresult {
    let current = target::current(asked.driver);
    let injected = {
        let mut state = session.state();
        let injected = state.injected(asked.function);
        let (function, driver) = (asked.function, asked.driver);
        let at = state.log.len();
        state.log.push(Called { function, driver, at, injected: injected.map(|injection| injection.code) });
        // A call that does not reach the driver does no harm, but it is a mistake all the same.
        if let Some(watcher) = &mut state.watcher {
            watcher.before(asked, current);
        }
        injected
    };
    let done = match injected {
        Some(injection) if !injection.done => None,
        _ => Some(pass_on()),
    };
    let told = injected.map_or(done.unwrap_or(CUresult::CUDA_SUCCESS), |injection| injection.code);
    let mut state = session.state();
    let before = state.in_flight();
    if let Some(watcher) = &mut state.watcher {
        watcher.after(asked, current, done, told);
    }
    state.tell_flight(before);
    told
}

/// The calls that `body` makes on this thread, and its result. Exemptions from captures are left
/// out, because a concurrent test may be capturing.
pub fn calls_of<R>(body: impl FnOnce() -> R) -> (Vec<FnId>, R) {
    let session = Session::current().unwrap_or_default();
    let start = session.len();
    let result = session.enter(body);
    let calls = session.log()[start..].iter().map(|call| call.function).collect::<Vec<_>>();
    (calls.into_iter().filter(|&call| call != FnId::cuThreadExchangeStreamCaptureMode).collect(), result)
}

/// Runs `body` with each call of one function failing on this thread, without being done.
pub fn failing<R>(function: FnId, code: CUresult, body: impl FnOnce() -> R) -> R {
    let session = Session::current().unwrap_or_default();
    session.inject(Some(Injection { pick: Pick::Function(function), code, done: false, lasting: false }));
    let result = session.enter(body);
    session.inject(None);
    result
}
