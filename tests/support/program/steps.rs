//! What the program did, step by step.

use std::cell::RefCell;
use std::ops::Range;

use cuprum::compile::CompileError;
use cuprum::graph::GraphError;
use cuprum::module::LinkError;
use cuprum::sys::CUresult;
use cuprum::texture::{TensorError, TextureError};
use cuprum::{
    BindError, CallError, ContextRef, Error, KernelError, LaunchError, MemoryError, Mismatch, ModuleError,
    RegisterError, RequestError, WorkerError,
};

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
    /// Its calls in the session's log, those of steps inside of it included.
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
        // Steps are in the order in which they began, so the last one around a call is the innermost.
        if let Some(step) = steps.iter().rposition(|step| step.calls.contains(&at)) {
            calls[step].push(*call);
        }
    }
    calls
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

around!(Mismatch LaunchError TensorError TextureError WorkerError);

impl Reported for MemoryError {
    fn of_driver(&self) -> Option<Error> {
        match self {
            Self::Driver(error) | Self::NoRoom { error, .. } => Some(*error),
            _ => None,
        }
    }
}

impl Reported for BindError {
    fn of_driver(&self) -> Option<Error> {
        self.reason.of_driver()
    }
}

impl Reported for CallError {
    fn of_driver(&self) -> Option<Error> {
        match self {
            Self::Memory(error) => error.of_driver(),
            Self::Launch(error) => error.of_driver(),
            _ => None,
        }
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
            _ => None,
        }
    }
}

impl Reported for LinkError {
    fn of_driver(&self) -> Option<Error> {
        match self {
            Self::Driver(error) | Self::Input { error, .. } | Self::Complete { error, .. } => Some(*error),
            _ => None,
        }
    }
}

impl Reported for CompileError {
    fn of_driver(&self) -> Option<Error> {
        match self {
            Self::Driver(error) => Some(*error),
            Self::Module(error) => error.of_driver(),
            _ => None,
        }
    }
}

impl Reported for KernelError {
    fn of_driver(&self) -> Option<Error> {
        match self {
            Self::Module(error) => error.of_driver(),
            Self::Bind(error) => error.of_driver(),
            _ => None,
        }
    }
}

/// A part of the program that needs nothing of the parts before it, and leaves nothing to those after it.
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
    /// What is in no room, and this one.
    One(&'static str),
    /// What is in no room.
    None,
}

/// Records the steps of a program.
pub(crate) struct Steps {
    session: Session,
    enters: Rooms,
    rooms: RefCell<Vec<Room>>,
    steps: RefCell<Vec<Step>>,
}

impl Steps {
    pub(super) fn new(session: &Session, enters: Rooms) -> Self {
        Self { session: session.clone(), enters, rooms: RefCell::default(), steps: RefCell::default() }
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

    /// Tells the watcher which context the calls from now on are meant for.
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
                // Nobody reads the text of an error that was asked for, and what some codes mean is looked for in files.
                let text = if self.was_injected(at, told) { String::new() } else { error.to_string() };
                self.steps.borrow_mut()[at].outcome = Outcome::Failed(told, text);
                None
            }
        }
    }

    /// A step that a device may refuse with this code, as the software device does: that is no failure.
    pub(super) fn may_refuse<R, E: Reported>(
        &self,
        name: &'static str,
        code: CUresult,
        body: impl FnOnce() -> Result<R, E>,
    ) {
        let at = self.steps.borrow().len();
        // The same code may have been injected.
        let refused = || self.session.log().last().is_some_and(|call| !call.injected);
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
        let result = body();
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
