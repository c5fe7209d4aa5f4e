//! Plan of the runs.

use std::collections::BTreeSet;
use std::fmt;

use cuprum::Library;
use cuprum::sys::{CUresult, FnId, Version};

use crate::program::{self, Step};
use crate::tracer::{Backing, Build, Injection, Pick, Session};

/// The codes: of arguments, of memory, of the driver's end, of contexts and handles, two that stay, one for
/// everything, and one that nobody knows.
const CODES: [u32; 9] = [1, 2, 4, 201, 400, 700, 719, 999, 12345];
/// Those for drivers on which only a few methods take another way: one that stays and one that does not.
const FEW_CODES: [u32; 2] = [719, 999];
/// For one that only a few functions more need.
const ONE_CODE: [u32; 1] = [999];
/// Done and not done, once and from then on.
const WAYS: usize = 4;

/// A driver, and the runs over it.
struct Part {
    name: &'static str,
    library: Library,
    codes: &'static [u32],
    /// The calls of a run in which nothing fails.
    calls: Vec<FnId>,
}

impl Part {
    fn new(name: &'static str, build: Build<'_>, codes: &'static [u32]) -> Self {
        let library = build.library().expect("the emulator");
        // `cuInit` is called once in a process: not by the second run and those after it.
        let _first = without_failures(library);
        Self { name, library, codes, calls: without_failures(library).1 }
    }

    fn len(&self) -> usize {
        self.calls.len() * self.codes.len() * WAYS
    }
}

/// All runs: each call of the program fails with each code, done and not done, once and from then on.
pub(crate) struct Plan {
    parts: Vec<Part>,
}

/// One run.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    driver: &'static str,
    pub(super) library: Library,
    /// The call that fails first.
    pub(crate) function: FnId,
    pub(crate) injection: Injection,
}

/// The steps and calls of a run in which nothing fails.
pub(super) fn without_failures(library: Library) -> (Vec<Step>, Vec<FnId>) {
    let session = Session::default();
    let steps = std::thread::scope(|scope| {
        scope.spawn(|| program::run(library, &session)).join().expect("a run without failures")
    });
    (steps, session.log().iter().map(|call| call.function).collect())
}

impl Plan {
    pub(crate) fn new() -> Self {
        let (emulator, per_thread) = (Build::of(Backing::Emulator), Build::of(Backing::EmulatorPerThread));
        let newest_only = &[
            FnId::cuCtxCreate_v2,
            FnId::cuEventElapsedTime,
            FnId::cuGraphAddNode_v2,
            FnId::cuLaunchHostFunc,
        ];
        let parts = vec![
            Part::new("the newest driver", emulator, &CODES),
            Part::new("a default stream for each thread", per_thread, &FEW_CODES),
            Part::new("CUDA 10.0", Build { version: Some(Version::new(10, 0)), ..emulator }, &FEW_CODES),
            Part::new("CUDA 11.2", Build { version: Some(Version::new(11, 2)), ..emulator }, &ONE_CODE),
            Part::new("CUDA 11.3", Build { version: Some(Version::new(11, 3)), ..emulator }, &ONE_CODE),
            Part::new("newest revisions only", Build { lacking: newest_only, ..emulator }, &FEW_CODES),
        ];
        Self { parts }
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(Part::len).sum()
    }

    /// The functions that fail in some run.
    pub(crate) fn functions(&self) -> BTreeSet<FnId> {
        self.parts.iter().flat_map(|part| &part.calls).copied().collect()
    }

    pub(crate) fn run(&self, mut index: usize) -> Run {
        let mut parts = self.parts.iter();
        let part = loop {
            let part = parts.next().expect("a run of the plan");
            match index.checked_sub(part.len()) {
                Some(behind) => index = behind,
                None => break part,
            }
        };
        let (call, way) = (index % part.calls.len(), index / part.calls.len());
        let (done, lasting) = (way % 2 == 1, way / 2 % 2 == 1);
        let code = CUresult(part.codes[way / WAYS]);
        let injection = Injection { pick: Pick::Nth(call), code, done, lasting };
        Run { driver: part.name, library: part.library, function: part.calls[call], injection }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { driver, function, injection, .. } = self;
        let Injection { pick, code, done, lasting } = injection;
        let done = if *done { "done" } else { "not done" };
        let lasting = if *lasting { "from then on" } else { "once" };
        write!(f, "{driver}: {function} ({pick:?}) answers {}, {done}, {lasting}", code.0)
    }
}
