//! Random programs in safe code: no read shows a value that the program's order does not allow.
//!
//! They make, write, read, copy, lend and drop buffers on several threads, in scopes on streams of
//! all kinds, with events and waits between; `tests/property` says which steps there are. They run
//! with both meanings of the default stream, in each of the emulator's modes, each mode in a
//! process of its own, or on the GPU that `CUPRUM_DEVICE` names.
//!
//! A program of its own, because it runs alone and for long. Concurrent programs would slow it
//! down, and it would find less.
//!
//! There are four times as many programs with `CUPRUM_TESTS=all`. `CUPRUM_PROPERTY_PROGRAMS` is the
//! number of programs in each process, `CUPRUM_PROPERTY_SEED` the seed of the first; the next one's
//! is greater by one. A failing program is shown with its seed, shortened.

mod property;

use cuprum_testing::{amount, child, common, executors, tracer};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

use child::in_children;
use cuprum::Driver;
use cuprum::sys::{CUresult, Library, StreamMode};
use property::element::Element;
use property::generate::program;
use property::run::run;
use property::shrink::{shorten, text};
use property::step::{Act, Step};
use property::work;
use tracer::{Backing, Injection, Pick};

/// Steps of a program.
const STEPS: usize = 80;
/// Programs of a process, unless asked for another number.
const PROGRAMS: u64 = 75;
/// As many on a GPU, where each context takes longer than such a program.
const PROGRAMS_ON_GPU: u64 = 40;
/// Programs of the tests that plant a mistake, in which it must be found.
const PROGRAMS_WITH_MISTAKE: u64 = 200;

/// Mode of the emulator in each process.
const MODES: &[&[(&str, &str)]] = &[
    &[("CUPRUM_EMULATOR_MODE", "eager")],
    &[("CUPRUM_EMULATOR_MODE", "deferred")],
    &[("CUPRUM_EMULATOR_MODE", "shuffled:1")],
    // Last, because an occasional failure is hard to shorten.
    &[("CUPRUM_EMULATOR_MODE", "async")],
];

/// A number in the environment.
fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text}: expected a number")),
        Err(_) => otherwise,
    }
}

/// The numbers of the programs that are run: from the one asked for on, as many as asked for.
fn seeds(usual: u64) -> Range<u64> {
    let usual = if amount::all() { usual * 4 } else { usual };
    let first = number("CUPRUM_PROPERTY_SEED", 1);
    first..first + number("CUPRUM_PROPERTY_PROGRAMS", usual)
}

/// The driver under test, with either meaning of the null stream.
fn driver(mode: StreamMode) -> Driver {
    if mode == StreamMode::Legacy {
        return common::driver();
    }
    let library = match common::on_gpu() {
        true => Library::options().per_thread_default_stream(true).open().expect("a GPU's driver"),
        false => cuprum_emulator::library_in(mode),
    };
    Driver::init(library).expect("the driver initializes")
}

/// Failure of a program. One of several threads may fail now and then only.
fn failure<T: Element>(driver: Driver, program: &[Step], seed: u64, times: u32) -> Option<String> {
    (0..times).find_map(|_| run::<T>(driver, program, seed).err())
}

/// A failure, shortened.
struct Failure {
    seed: u64,
    program: Vec<Step>,
    how: String,
}

impl Failure {
    fn find<T: Element>(driver: Driver, seed: u64, mistakes: bool) -> Option<Self> {
        let program = program::<T>(seed, STEPS, mistakes);
        let how = failure::<T>(driver, &program, seed, 1)?;
        let (program, how) = shorten::<T>(&program, how, |program| failure::<T>(driver, program, seed, 10));
        Some(Self { seed, program, how })
    }

    /// The program of a seed; the seed selects the type of its buffers.
    fn of_seed(driver: Driver, seed: u64, mistakes: bool) -> Option<Self> {
        match seed % 3 {
            0 => Self::find::<u8>(driver, seed, mistakes),
            1 => Self::find::<u16>(driver, seed, mistakes),
            _ => Self::find::<u32>(driver, seed, mistakes),
        }
    }
}

/// Runs the programs in every mode that there is.
fn check(name: &str, stream_mode: StreamMode) {
    let here: &[&[(&str, &str)]] = &[&[]];
    in_children(name, if common::on_gpu() { here } else { MODES }, || {
        let (driver, begin) = (driver(stream_mode), Instant::now());
        let usual = if common::on_gpu() { PROGRAMS_ON_GPU } else { PROGRAMS };
        let seeds = seeds(usual);
        let count = seeds.end - seeds.start;
        for seed in seeds {
            if let Some(Failure { program, how, .. }) = Failure::of_seed(driver, seed, false) {
                panic!(
                    "the program of CUPRUM_PROPERTY_SEED={seed} fails; shortened:\n{}{how}",
                    text(&program)
                );
            }
        }
        println!("{count} programs in {:?}", begin.elapsed());
    });
}

#[test]
fn with_the_legacy_default_stream() {
    check(concat!(module_path!(), "::with_the_legacy_default_stream"), StreamMode::Legacy);
}

#[test]
fn with_default_streams_of_threads() {
    check(concat!(module_path!(), "::with_default_streams_of_threads"), StreamMode::PerThread);
}

/// Steps that were never generated would never be tested.
#[test]
fn programs_do_all_that_they_can() {
    let mut counts = BTreeMap::new();
    for step in (1..=200).flat_map(|seed| program::<u8>(seed, STEPS, false)) {
        let text = format!("{:?}", step.act);
        let name = text.split(['(', ' ']).next().unwrap_or_default().to_owned();
        *counts.entry(name).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), Act::KINDS, "{counts:?}");
    assert!(counts.values().all(|&count| count >= 20), "{counts:?}");
}

/// Fills without a wait must be found, or the tests above show nothing.
fn find_mistake(name: &str, stream_mode: StreamMode) {
    let late: &[&[(&str, &str)]] = &[
        &[("CUPRUM_EMULATOR_MODE", "deferred"), ("CUPRUM_DEVICE", "emulator")],
        &[("CUPRUM_EMULATOR_MODE", "shuffled:1"), ("CUPRUM_DEVICE", "emulator")],
    ];
    in_children(name, late, || {
        let driver = driver(stream_mode);
        let found = (1..=PROGRAMS_WITH_MISTAKE).find_map(|seed| Failure::of_seed(driver, seed, true));
        let Failure { seed, program, how } = found.expect("a mistake is found");
        println!("seed {seed}, shortened:\n{}{how}", text(&program));
        assert!(program.iter().any(|step| matches!(step.act, Act::Mistake(..))), "{how}");
        // A stream, a buffer and a mistake are enough; a shuffled order may run the fill in time
        // without one step more.
        let most =
            if std::env::var("CUPRUM_EMULATOR_MODE").is_ok_and(|mode| mode == "deferred") { 3 } else { 4 };
        assert!(program.len() <= most, "{} steps", program.len());
    });
}

#[test]
fn a_mistake_with_the_legacy_default_stream_is_found() {
    find_mistake(
        concat!(module_path!(), "::a_mistake_with_the_legacy_default_stream_is_found"),
        StreamMode::Legacy,
    );
}

#[test]
fn a_mistake_with_default_streams_of_threads_is_found() {
    find_mistake(
        concat!(module_path!(), "::a_mistake_with_default_streams_of_threads_is_found"),
        StreamMode::PerThread,
    );
}

/// Programs over requests and graphs in each process, and the steps of each.
const PROGRAMS_OF_WORK: u64 = 250;
const STEPS_OF_WORK: usize = 60;
/// As many in which each call fails in turn, and their steps.
const PROGRAMS_WITH_FAILURES: u64 = 1;
const STEPS_WITH_FAILURES: usize = 40;

/// Runs a program over requests and graphs, with each of these failures.
fn check_work(driver: Driver, seed: u64, steps: usize, failures: &[Option<Injection>]) {
    let program = work::program(seed, steps);
    for &failure in failures {
        let Some(how) = work::run(driver, &program, failure).wrong else { continue };
        let fails = |program: &[work::Act]| work::run(driver, program, failure).wrong.is_some();
        // A call has its number in this program alone.
        let program = if failure.is_none() { work::shorten(&program, fails) } else { program };
        let text: String = program.iter().map(|act| format!("  {act:?}\n")).collect();
        let again = work::run(driver, &program, failure).wrong;
        panic!("CUPRUM_PROPERTY_SEED={seed} fails with {failure:?}: {how}\nshortened: {again:?}\n{text}");
    }
}

/// The driver for programs over requests and graphs: the emulator, with each call written down.
fn traced() -> Driver {
    cuprum::swallowed::set_hook(|error| {
        if let Some(session) = tracer::Session::current() {
            session.swallowed(error);
        }
    })
    .expect("the first hook");
    Backing::Emulator.driver()
}

#[test]
fn requests_and_graphs_match_the_model() {
    in_children(concat!(module_path!(), "::requests_and_graphs_match_the_model"), MODES, || {
        let (driver, begin, seeds) = (traced(), Instant::now(), seeds(PROGRAMS_OF_WORK));
        let count = seeds.end - seeds.start;
        seeds.for_each(|seed| check_work(driver, seed, STEPS_OF_WORK, &[None]));
        println!("{count} programs in {:?}", begin.elapsed());
    });
}

/// Each call fails once, done and not done, with a code that stays and one that does not.
#[test]
fn requests_and_graphs_bear_any_call_that_fails() {
    in_children(concat!(module_path!(), "::requests_and_graphs_bear_any_call_that_fails"), MODES, || {
        let (driver, begin) = (traced(), Instant::now());
        let mut runs = 0;
        for seed in seeds(PROGRAMS_WITH_FAILURES) {
            let calls = work::run(driver, &work::program(seed, STEPS_WITH_FAILURES), None).calls;
            let ways = (0..calls).flat_map(|call| {
                let codes = [CUresult::CUDA_ERROR_UNKNOWN, CUresult::CUDA_ERROR_LAUNCH_FAILED];
                codes.into_iter().flat_map(move |code| {
                    let pick = Pick::Nth(call);
                    [true, false].map(|done| Some(Injection { pick, code, done, lasting: false }))
                })
            });
            let ways: Vec<_> = ways.collect();
            check_work(driver, seed, STEPS_WITH_FAILURES, &ways);
            runs += ways.len();
        }
        println!("{runs} runs in {:?}", begin.elapsed());
    });
}

/// Programs in which each step is looked for.
const PROGRAMS_COUNTED: u64 = 1000;

/// As `programs_do_all_that_they_can`, for those over requests and graphs.
#[test]
fn programs_over_requests_and_graphs_do_all_that_they_can() {
    let name = concat!(module_path!(), "::programs_over_requests_and_graphs_do_all_that_they_can");
    in_children(name, &MODES[..1], || {
        let (driver, mut counts) = (traced(), BTreeMap::new());
        for seed in 1..=PROGRAMS_COUNTED {
            for act in work::run(driver, &work::program(seed, STEPS_OF_WORK), None).done {
                *counts.entry(act.kind()).or_insert(0) += 1;
            }
        }
        assert_eq!(counts.len(), work::Act::KINDS, "{counts:?}");
        assert!(counts.values().all(|&count| count >= 10), "{counts:?}");
        println!("{counts:?}");
    });
}
