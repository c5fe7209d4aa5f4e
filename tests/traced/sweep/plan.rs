//! Plan of the runs.

use std::collections::BTreeSet;
use std::fmt;

use cuprum::Library;
use cuprum::sys::{CUresult, FnId, Version};

use crate::amount;
use crate::program::{self, Room, Rooms, Step};
use crate::tracer::{Backing, Build, Injection, Pick, Session};

/// The codes: of arguments, of memory, of the driver's end, of contexts and handles, two that stay,
/// one for everything, and one that does not exist.
const CODES: [u32; 9] = [1, 2, 4, 201, 400, 700, 719, 999, 12345];
/// Those for drivers on which only a few methods take another way: one that stays and one that does
/// not.
const FEW_CODES: [u32; 2] = [719, 999];
/// For one that only a few functions more need.
const ONE_CODE: [u32; 1] = [999];
/// Done and not done, once and from then on.
const WAYS: usize = 4;
/// A second call that fails comes at most so many calls after the first.
const MOST_APART: usize = 60;
/// One in so many calls is the first of a pair, in a sample.
const PAIRED: usize = 4;
/// Number of second calls for each first one, where not all are tried.
const APART: usize = 6;

/// Number of second calls for each first one: all within reach if `CUPRUM_TESTS` asks for pairs:
/// half a million runs of 0.3 to 3 ms of processor time.
fn second_calls() -> usize {
    let pairs = std::env::var("CUPRUM_TESTS").is_ok_and(|amount| amount == "pairs");
    if pairs { MOST_APART } else { APART }
}

/// Runs over a driver. Each enters at most one room, because the total time grows with the square
/// of a run's length.
struct Part {
    name: &'static str,
    library: Library,
    codes: &'static [u32],
    /// Number of failures of each call.
    times: usize,
    rooms: Rooms,
    /// The calls that fail in turn, by their place in a run in which nothing fails.
    calls: Vec<(usize, FnId)>,
}

/// The parts for a driver: the steps outside all rooms, and each room.
fn parts(name: &'static str, build: Build<'_>, codes: &'static [u32]) -> Vec<Part> {
    let library = build.library().expect("the emulator");
    // `cuInit` is called once in a process: not by the second run and those after it.
    let _first = without_failures(library, Rooms::All);
    let times = if amount::all() { codes.len() * WAYS } else { 1 };
    let part = |rooms| {
        let (_, entered, calls) = without_failures(library, rooms);
        let calls = calls.into_iter().enumerate();
        let counts = |at: &usize| entered.is_empty() || entered.iter().any(|room| room.calls.contains(at));
        let calls = calls.filter(|(at, _)| counts(at)).collect();
        Part { name, library, codes, times, rooms, calls }
    };
    let (_, rooms, _) = without_failures(library, Rooms::All);
    let one = |room: &Room| part(Rooms::One(room.name));
    std::iter::once(part(Rooms::None)).chain(rooms.iter().map(one)).collect()
}

impl Part {
    /// Runs in which one call fails.
    fn single(&self) -> usize {
        self.calls.len() * self.times
    }

    /// Runs in which two calls fail.
    fn pairs(&self) -> usize {
        if amount::all() { self.calls.len() * second_calls() } else { self.calls.len() / PAIRED }
    }

    fn len(&self) -> usize {
        self.single() + self.pairs()
    }

    fn code(&self, number: usize) -> CUresult {
        CUresult(self.codes[number % self.codes.len()])
    }

    /// The call that fails first and how, and the second, by the number of the run in this part.
    fn failures(&self, index: usize) -> (FnId, Injection, Option<Injection>) {
        let injection = |at, code, done, lasting| Injection { pick: Pick::Nth(at), code, done, lasting };
        let Some(pair) = index.checked_sub(self.single()) else {
            let (call, time) = (index % self.calls.len(), index / self.calls.len());
            let (way, code) = ((time + call) % WAYS, self.code(time / WAYS + call / WAYS));
            let (at, function) = self.calls[call];
            return (function, injection(at, code, way % 2 == 1, way / 2 == 1), None);
        };
        let (call, apart) = match amount::all() {
            true => {
                let (call, number) = (pair % self.calls.len(), pair / self.calls.len());
                (call, (number * (MOST_APART / second_calls()) + call) % MOST_APART)
            }
            false => (pair * PAIRED, pair * 37 % MOST_APART),
        };
        let (at, function) = self.calls[call];
        let first = injection(at, self.code(call + apart), (call + apart) % 2 == 1, false);
        let second = injection(at + 1 + apart, self.code(call * 7 + apart / 2), apart / 2 % 2 == 1, false);
        (function, first, Some(second))
    }

    /// True if both do the same, call by call: then they go the same ways through the safe layer.
    fn calls_the_same(&self, other: &Part) -> bool {
        let functions = |part: &Part| part.calls.iter().map(|(_, function)| *function).collect::<Vec<_>>();
        self.rooms == other.rooms && functions(self) == functions(other)
    }
}

/// All runs. Each call of the program fails with each code in each way; in a sample once, in
/// another way than the call before it and with another code than four calls before. Then two calls
/// fail, once each: each call and six of the next sixty, all of them with `CUPRUM_TESTS=pairs`, and
/// in a sample some of these pairs. A room in which the program makes the same calls on an older
/// driver as on the newest is not run again.
pub(crate) struct Plan {
    parts: Vec<Part>,
}

/// One run.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    driver: &'static str,
    pub(super) library: Library,
    pub(super) rooms: Rooms,
    /// The call that fails first.
    pub(crate) function: FnId,
    pub(crate) injection: Injection,
    /// The call that fails after it, if there is one.
    pub(crate) second: Option<Injection>,
}

/// The steps, rooms and calls of a run in which nothing fails.
pub(super) fn without_failures(library: Library, rooms: Rooms) -> (Vec<Step>, Vec<Room>, Vec<FnId>) {
    let session = Session::default();
    let (steps, rooms) = std::thread::scope(|scope| {
        scope.spawn(|| program::run_in(library, &session, rooms)).join().expect("a run without failures")
    });
    (steps, rooms, session.log().iter().map(|call| call.function).collect())
}

impl Plan {
    pub(crate) fn new() -> Self {
        let (emulator, per_thread) = (Build::of(Backing::Emulator), Build::of(Backing::EmulatorPerThread));
        let newest_only = &[FnId::cuCtxCreate_v2, FnId::cuGraphAddNode_v2, FnId::cuLaunchHostFunc];
        let newest = parts("the newest driver", emulator, &CODES);
        let per_thread = parts("a default stream for each thread", per_thread, &FEW_CODES);
        let older = [
            parts("CUDA 10.0", Build { version: Some(Version::new(10, 0)), ..emulator }, &FEW_CODES),
            parts("CUDA 11.2", Build { version: Some(Version::new(11, 2)), ..emulator }, &ONE_CODE),
            parts("CUDA 11.3", Build { version: Some(Version::new(11, 3)), ..emulator }, &ONE_CODE),
            parts("CUDA 12.4", Build { version: Some(Version::new(12, 4)), ..emulator }, &ONE_CODE),
            parts("newest revisions only", Build { lacking: newest_only, ..emulator }, &FEW_CODES),
        ];
        let differs = |part: &Part| !newest.iter().any(|known| known.calls_the_same(part));
        let older: Vec<_> = older.into_iter().flatten().filter(differs).collect();
        Self { parts: newest.into_iter().chain(per_thread).chain(older).collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(Part::len).sum()
    }

    /// The functions that fail in some run.
    pub(crate) fn functions(&self) -> BTreeSet<FnId> {
        self.parts.iter().flat_map(|part| &part.calls).map(|(_, function)| *function).collect()
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
        let (function, injection, second) = part.failures(index);
        Run { driver: part.name, library: part.library, rooms: part.rooms, function, injection, second }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { driver, rooms, function, injection, second, .. } = self;
        write!(f, "{driver}, {rooms:?}: {function}")?;
        for (at, Injection { pick, code, done, lasting }) in
            std::iter::once(injection).chain(second).enumerate()
        {
            let then = if at == 0 { "" } else { ", then one" };
            let done = if *done { "done" } else { "not done" };
            let lasting = if *lasting { "from then on" } else { "once" };
            write!(f, "{then} ({pick:?}) answers {}, {done}, {lasting}", code.0)?;
        }
        Ok(())
    }
}
