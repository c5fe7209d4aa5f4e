//! Drivers that lack functions: each function that the program calls in turn, and all functions
//! newer than a version. An error reports a missing function by its name and both versions; the
//! rest works, and nothing leaks.
//!
//! The tests run in children, because work of other threads spoils a capture of the program.

use std::collections::BTreeSet;

use cuprum::sys::{FnId, StreamMode, Version};

use crate::amount;
use crate::child::in_child;
use crate::program::{self, Outcome, Step};
use crate::tracer::{Backing, Build, Session, emulator};

/// Outcome of a run of the program.
struct Outcomes {
    steps: Vec<Step>,
    session: Session,
}

/// Runs the program over a driver, on a thread of its own. A panic is one of the test's.
fn run(build: Build<'_>) -> Outcomes {
    let library = build.library().expect("it loads");
    let session = Session::watched();
    let steps =
        std::thread::scope(|scope| scope.spawn(|| program::run(library, &session)).join().expect("no panic"));
    Outcomes { steps, session }
}

/// The functions that a run of the whole program calls.
fn called() -> BTreeSet<FnId> {
    let whole = run(Build::of(Backing::Emulator));
    let calls: BTreeSet<_> = whole.session.log().iter().map(|call| call.function).collect();
    assert!(calls.len() > 50, "{calls:?}");
    calls
}

/// Functions without which an object cannot be freed, or a thread's stack cannot be restored. A
/// context that may be on top under a forgotten token is not destroyed if the driver does not
/// report the current context.
fn frees(function: FnId) -> bool {
    let name = function.to_string();
    let ends = [
        "cuCtxGetCurrent",
        "cuCtxPopCurrent",
        "cuCtxDestroy",
        "cuDevicePrimaryCtxRelease",
        "cuMemFree",
        "cuMemRelease",
        "cuMemUnmap",
        "cuMemAddressFree",
        // Before it unmaps, the safe layer waits.
        "cuCtxSynchronize",
        "cuMemHostUnregister",
        "cuModuleUnload",
        "cuLibraryUnload",
    ];
    ends.iter().any(|end| name.starts_with(end)) || name.contains("Destroy")
}

/// The mistake in the error of a failed step.
fn misreport(step: &Step, lacking: &dyn Fn(FnId) -> bool, version: Version) -> Option<String> {
    let Outcome::Failed(error, text) = &step.outcome else { return None };
    let fine = error.is_some_and(|error| error.code() == cuprum::Error::UNRESOLVED && lacking(error.call()))
        && {
            let call = error.map(|error| error.call());
            let names = call.map(|call| (call.to_string(), call.symbol().since.to_string()));
            names.is_some_and(|(name, since)| {
                text.contains(&name) && text.contains(&since) && text.contains(&version.to_string())
            })
        };
    (!fine).then(|| format!("{}: {text}", step.name))
}

/// The driver's version, as the emulator says it. It opens the emulator for that, which is not for
/// every step.
fn newest() -> Version {
    emulator(StreamMode::Legacy).version()
}

#[test]
fn a_driver_that_lacks_one_function_says_so_and_does_the_rest() {
    let name = concat!(module_path!(), "::a_driver_that_lacks_one_function_says_so_and_does_the_rest");
    in_child(name, || lack_each(0));
}

/// The other half of the functions, concurrently with the first.
#[test]
fn a_driver_that_lacks_one_of_the_others_says_so_too() {
    let name = concat!(module_path!(), "::a_driver_that_lacks_one_of_the_others_says_so_too");
    in_child(name, || lack_each(1));
}

/// Lacks every second function, from one on, by itself; a quarter of them is a sample.
fn lack_each(first: usize) {
    let (mut wrong, newest) = (Vec::new(), newest());
    let step = if amount::all() { 2 } else { 8 };
    for &lacking in called().iter().skip(first).step_by(step) {
        // A stream whose capture cannot be ended stays so, and its context with it; no driver has
        // only half of it.
        if matches!(lacking, FnId::cuInit | FnId::cuStreamEndCapture) || on_the_stack(lacking) {
            continue;
        }
        let Outcomes { steps, session } = run(Build { lacking: &[lacking], ..Build::of(Backing::Emulator) });
        let complaints = steps.iter().filter_map(|step| misreport(step, &|call| call == lacking, newest));
        wrong.extend(complaints.map(|complaint| format!("without {lacking}: {complaint}")));
        let violations = session.violations();
        wrong.extend(violations.iter().map(|violation| format!("without {lacking}: {violation:?}")));
        if !frees(lacking) {
            wrong
                .extend(session.alive().iter().map(|left| format!("without {lacking}, left behind: {left}")));
        }
    }
    assert!(wrong.is_empty(), "{} complaints:\n{}", wrong.len(), wrong.join("\n"));
}

/// Functions that move the thread's stack of contexts.
fn on_the_stack(function: FnId) -> bool {
    matches!(function, FnId::cuCtxPushCurrent_v2 | FnId::cuCtxPopCurrent_v2)
}

#[test]
fn a_driver_that_cannot_push_or_pop_says_so() {
    in_child(concat!(module_path!(), "::a_driver_that_cannot_push_or_pop_says_so"), lack_the_stack);
}

fn lack_the_stack() {
    let (mut wrong, newest) = (Vec::new(), newest());
    for lacking in [FnId::cuCtxPushCurrent_v2, FnId::cuCtxPopCurrent_v2] {
        let Outcomes { steps, session } = run(Build { lacking: &[lacking], ..Build::of(Backing::Emulator) });
        let failed = steps
            .iter()
            .filter(|step| step.error().is_some_and(|error| error.code() == cuprum::Error::UNRESOLVED))
            .count();
        if failed == 0 {
            wrong.push(format!("nothing failed without {lacking}"));
        }
        wrong.extend(steps.iter().filter_map(|step| misreport(step, &|call| call == lacking, newest)));
        wrong
            .extend(session.violations().iter().map(|violation| format!("without {lacking}: {violation:?}")));
        wrong.extend(session.alive().iter().map(|left| format!("without {lacking}, left behind: {left}")));
    }
    assert!(wrong.is_empty(), "{} complaints:\n{}", wrong.len(), wrong.join("\n"));
}

/// One version on each side of where functions of the program came in.
const VERSIONS: [(u32, u32); 11] =
    [(4, 1), (5, 0), (5, 5), (6, 5), (7, 0), (8, 0), (9, 0), (9, 2), (11, 0), (11, 4), (12, 4)];

#[test]
fn a_driver_of_an_old_version_names_missing_functions_and_does_the_rest() {
    in_child(
        concat!(module_path!(), "::a_driver_of_an_old_version_names_missing_functions_and_does_the_rest"),
        be_old,
    );
}

fn be_old() {
    let mut wrong = Vec::new();
    for (major, minor) in VERSIONS {
        let version = Version::new(major, minor);
        let Outcomes { steps, session } =
            run(Build { version: Some(version), ..Build::of(Backing::Emulator) });
        let lacking = |call: FnId| call.symbol().since > version;
        let complaints = steps.iter().filter_map(|step| misreport(step, &lacking, version));
        wrong.extend(complaints.map(|complaint| format!("{version}: {complaint}")));
        wrong.extend(session.violations().iter().map(|violation| format!("{version}: {violation:?}")));
        wrong.extend(session.alive().iter().map(|left| format!("{version}, left behind: {left}")));
        let done = steps.iter().filter(|step| matches!(step.outcome, Outcome::Done)).count();
        // Newer drivers have ever more functions, and the oldest do a smaller part of the program.
        if done * 4 < steps.len() * 3 {
            wrong.push(format!("{version}: only {done} of {} steps were done", steps.len()));
        }
    }
    assert!(wrong.is_empty(), "{} complaints:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_driver_without_the_two_first_functions_is_none() {
    for lacking in [FnId::cuInit, FnId::cuDriverGetVersion] {
        let error = Build { lacking: &[lacking], ..Build::of(Backing::Emulator) }.library().unwrap_err();
        assert!(error.to_string().contains(&lacking.to_string()), "{error}");
    }
}
