//! The steps of the program and their outcomes.

use std::cell::RefCell;
use std::ops::Range;

use cuprum::graph::GraphError;
use cuprum::launch::{BindError, LaunchError, Mismatch};
use cuprum::memory::RegisterError;
use cuprum::module::ModuleError;
use cuprum::stream::RequestError;
use cuprum::sys::CUresult;
use cuprum::texture::{TensorError, TextureError};
use cuprum::{AnyError, ContextRef, Error, MemoryError};

use super::capturer::Capturer;
use crate::tracer::{Called, Session};

/// Outcome of a step.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Done,
    /// With an error of the driver's, if it is one, and its text.
    Failed(Option<Error>, String),
}

/// One use of a method.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// Its calls in the session's log, including the calls of the steps inside it.
    pub(crate) calls: Range<usize>,
    /// Errors that were swallowed meanwhile.
    pub(crate) swallowed: Vec<Error>,
    pub(crate) outcome: Outcome,
    /// Code that counts as success.
    pub(crate) allowed: Option<CUresult>,
}

impl Step {
    pub(crate) fn error(&self) -> Option<Error> {
        match &self.outcome {
            Outcome::Done => None,
            Outcome::Failed(error, _) => *error,
        }
    }
}

/// The calls of each step: each belongs to the innermost one.
pub(crate) fn by_step(steps: &[Step], log: &[Called]) -> Vec<Vec<Called>> {
    let mut calls = vec![Vec::new(); steps.len()];
    for (at, call) in log.iter().enumerate() {
        // Steps are in the order in which they began, so the last one around a call is the
        // innermost.
        if let Some(step) = steps.iter().rposition(|step| step.calls.contains(&at)) {
            calls[step].push(*call);
        }
    }
    calls
}

/// The body of a scope or of `enter` that goes on as long as its steps succeed.
pub(crate) fn while_they_succeed<R>(steps: impl FnOnce() -> Option<R>) -> cuprum::Result<Option<R>> {
    Ok(steps())
}

/// An error that a method returns.
pub(crate) trait Reported: std::fmt::Display {
    fn of_driver(&self) -> Option<Error>;
}

impl Reported for Error {
    fn of_driver(&self) -> Option<Error> {
        Some(*self)
    }
}

/// Errors around one of the driver's.
macro_rules! around {
    ($($error:ident)*) => { $(
        impl Reported for $error {
            fn of_driver(&self) -> Option<Error> {
                match self {
                    Self::Driver(error) => Some(*error),
                    _ => None,
                }
            }
        }
    )* };
}

around!(Mismatch LaunchError TensorError TextureError);

impl Reported for MemoryError {
    fn of_driver(&self) -> Option<Error> {
        match self {
            Self::Driver(error) | Self::NoRoom { error, .. } => Some(*error),
            _ => None,
        }
    }
}

impl Reported for AnyError {
    fn of_driver(&self) -> Option<Error> {
        self.failed_call()
    }
}

impl Reported for BindError {
    fn of_driver(&self) -> Option<Error> {
        self.reason.of_driver()
    }
}

impl Reported for GraphError {
    fn of_driver(&self) -> Option<Error> {
        match self {
            Self::Driver(error) | Self::Update { error, .. } => Some(*error),
            _ => None,
        }
    }
}

impl<O> Reported for RegisterError<O> {
    fn of_driver(&self) -> Option<Error> {
        self.error.of_driver()
    }
}

impl<V, E: Reported> Reported for RequestError<V, E> {
    fn of_driver(&self) -> Option<Error> {
        self.error.of_driver()
    }
}

impl Reported for ModuleError {
    fn of_driver(&self) -> Option<Error> {
        match self {
            Self::Driver(error) | Self::Rejected { error, .. } => Some(*error),
            Self::NoFunction { error, .. } | Self::NoGlobal { error, .. } => Some(*error),
            Self::Link { error, .. } => Some(*error),
            Self::Input { error, .. } => error.of_driver(),
            _ => None,
        }
    }
}

/// A part of the program that needs nothing of the parts before it, and leaves nothing to those
/// after it.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    pub(crate) name: &'static str,
    /// Its calls in the session's log.
    pub(crate) calls: Range<usize>,
}

/// The rooms that a run enters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rooms {
    All,
    /// Steps outside all rooms, and this room.
    One(&'static str),
    /// Steps outside all rooms.
    None,
}

/// Records the steps of a program.
pub(crate) struct Steps {
    session: Session,
    enters: Rooms,
    /// Captures a stream while something is freed.
    capturer: Option<Capturer>,
    rooms: RefCell<Vec<Room>>,
    steps: RefCell<Vec<Step>>,
}

impl Steps {
    pub(super) fn new(session: &Session, enters: Rooms) -> Self {
        let (session, capturer) = (session.clone(), None);
        Self { session, enters, capturer, rooms: RefCell::default(), steps: RefCell::default() }
    }

    /// Steps that free are made while another thread captures.
    pub(super) fn beside_captures(session: &Session, capturer: Capturer) -> Self {
        Self { capturer: Some(capturer), ..Self::new(session, Rooms::All) }
    }

    pub(super) fn finish(self) -> (Vec<Step>, Vec<Room>) {
        (self.steps.into_inner(), self.rooms.into_inner())
    }

    /// Runs a room, if this run enters it.
    pub(super) fn room(&self, name: &'static str, body: impl FnOnce()) {
        if !matches!(self.enters, Rooms::All) && self.enters != Rooms::One(name) {
            return;
        }
        let start = self.session.len();
        body();
        self.rooms.borrow_mut().push(Room { name, calls: start..self.session.len() });
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// Passes to the watcher the context for which the calls from now on are meant.
    pub(super) fn expect(&self, context: &ContextRef) {
        self.session.expect(Some(context.as_raw()));
    }

    /// The calls from now on are meant for no context in particular.
    pub(super) fn expect_nothing(&self) {
        self.session.expect(None);
    }

    /// A step that can fail; `None` if it did.
    pub(super) fn attempt<R, E: Reported>(
        &self,
        name: &'static str,
        body: impl FnOnce() -> Result<R, E>,
    ) -> Option<R> {
        let (at, result) = self.run(name, body);
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                let told = error.of_driver();
                // The text of an injected error is not needed, and for some codes it searches
                // files.
                let text = if self.was_injected(at, told) { String::new() } else { error.to_string() };
                self.steps.borrow_mut()[at].outcome = Outcome::Failed(told, text);
                None
            }
        }
    }

    /// A step that a device may refuse with this code, as the software device does: that is no
    /// failure.
    pub(super) fn may_refuse<R, E: Reported>(
        &self,
        name: &'static str,
        code: CUresult,
        body: impl FnOnce() -> Result<R, E>,
    ) {
        let at = self.steps.borrow().len();
        // The same code may have been injected.
        let refused = || self.session.log().last().is_some_and(|call| call.injected.is_none());
        self.attempt(name, || match body() {
            Err(error) if error.of_driver().is_some_and(|error| error.code() == code) && refused() => Ok(()),
            other => other.map(|_| ()),
        });
        self.steps.borrow_mut()[at].allowed = Some(code);
    }

    /// A step that cannot fail.
    pub(super) fn done<R>(&self, name: &'static str, body: impl FnOnce() -> R) -> R {
        self.run(name, body).1
    }

    fn run<R>(&self, name: &'static str, body: impl FnOnce() -> R) -> (usize, R) {
        let (at, start) = (self.steps.borrow().len(), self.session.len());
        let swallowed = self.session.swallowed_len();
        let step =
            Step { name, calls: start..start, swallowed: Vec::new(), outcome: Outcome::Done, allowed: None };
        self.steps.borrow_mut().push(step);
        let result = match &self.capturer {
            Some(capturer) if capturer.is_meant(name) => capturer.during_a_capture(name, body),
            _ => body(),
        };
        let step = &mut self.steps.borrow_mut()[at];
        step.calls.end = self.session.len();
        step.swallowed = self.session.all_swallowed().split_off(swallowed);
        (at, result)
    }

    /// True if an error is the answer of a call that failed because it was picked, in this step.
    fn was_injected(&self, at: usize, error: Option<Error>) -> bool {
        let start = self.steps.borrow()[at].calls.start;
        error.is_some_and(|error| self.session.has_injected(start, error))
    }
}
