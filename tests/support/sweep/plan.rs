//! Which runs there are.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use cuprum::sys::{CUresult, FnId};

use crate::program::{self, Step};
use crate::tracer::{Backing, Build, Injection, Pick, Session};

/// The codes: of arguments, of memory, of the driver's end, of contexts and handles, two that stay, one for
/// everything, and one that nobody knows.
const CODES: [u32; 9] = [1, 2, 4, 201, 400, 700, 719, 999, 12345];

/// All runs: each call of the program fails with each code, done and not done, once and from then on.
pub(crate) struct Plan {
    /// The calls of a run in which nothing fails.
    pub(crate) calls: Vec<FnId>,
}

/// One run.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// The call that fails first.
    pub(crate) function: FnId,
    pub(crate) injection: Injection,
}

/// The steps and calls of a run in which nothing fails.
pub(super) fn without_failures() -> (Vec<Step>, Vec<FnId>) {
    // Runs in one process meet in the primary context, which each of them resets.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let library = Build::of(Backing::Emulator).library().expect("the emulator");
    let session = Session::default();
    let steps = std::thread::scope(|scope| {
        scope.spawn(|| program::run(library, &session)).join().expect("a run without failures")
    });
    (steps, session.log().iter().map(|call| call.function).collect())
}

impl Plan {
    pub(crate) fn new() -> Self {
        // `cuInit` is called once in a process: not by the second run and those after it.
        let _first = without_failures();
        Self { calls: without_failures().1 }
    }

    pub(crate) fn len(&self) -> usize {
        self.calls.len() * CODES.len() * 4
    }

    pub(crate) fn run(&self, index: usize) -> Run {
        let (call, way) = (index % self.calls.len(), index / self.calls.len());
        let (done, lasting) = (way % 2 == 1, way / 2 % 2 == 1);
        let code = CUresult(CODES[way / 4 % CODES.len()]);
        let injection = Injection { pick: Pick::Nth(call), code, done, lasting };
        Run { function: self.calls[call], injection }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Injection { pick, code, done, lasting } = self.injection;
        let (done, lasting) =
            (if done { "done" } else { "not done" }, if lasting { "from then on" } else { "once" });
        write!(f, "{} ({pick:?}) answers {}, {done}, {lasting}", self.function, code.0)
    }
}
