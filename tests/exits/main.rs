//! Every ugly way in which a process can end with objects of this crate alive.
//!
//! The program starts itself once for each case, and on the emulator once for each time at which
//! work may run. The child must end as the case says, soon, without a word on its outputs, and
//! without an error swallowed by a drop. It has a `main` of its own, because the end of `main` is
//! under test.

mod cases;
mod code;
mod held;
mod memory;
mod opened;
mod pending;
mod pooled;
mod regions;
mod threads;

use cuprum_testing::{common, itself};
use std::io::Read;
use std::process::{Child, ExitCode, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cases::{CASES, WRONG};
use common::on_gpu;
use opened::{HELPERS, OPENED};
use threads::THREADS;

/// Names the case that a child is to run.
const CASE: &str = "CUPRUM_EXITS_CASE";
/// The longest that a child may take; drivers take a second or two to start.
const LIMIT: Duration = Duration::from_secs(30);

/// Way in which a child must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Code(i32),
    Signal(i32),
}

impl Ends {
    fn of(status: ExitStatus) -> Option<Self> {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        status.code().map(Self::Code).or(signal.map(Self::Signal))
    }
}

struct Case {
    name: &'static str,
    run: fn(),
    ends: Ends,
}

/// All cases that must end as they say.
fn all() -> impl Iterator<Item = &'static Case> {
    CASES.iter().chain(THREADS).chain(OPENED)
}

/// The times at which work may run; on a GPU there is one.
fn modes() -> &'static [&'static str] {
    if on_gpu() { &["gpu"] } else { &["eager", "async", "deferred"] }
}

/// Complaint about the end of a case's child.
fn wrong_with(case: &Case, mode: &str) -> Option<String> {
    let mut command = itself::itself();
    command.env(CASE, case.name).env("CUPRUM_EMULATOR_MODE", mode);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a child");
    let Some(status) = wait(&mut child) else { return Some(format!("no end after {LIMIT:?}")) };
    let mut said = String::new();
    child.stdout.take()?.read_to_string(&mut said).expect("text");
    child.stderr.take()?.read_to_string(&mut said).expect("text");
    if Ends::of(status) != Some(case.ends) {
        return Some(format!("ended with {status} instead of {:?}\n{said}", case.ends));
    }
    // The program itself causes the message that Rust's library prints when it ends by two panics.
    let words = said.lines().filter(|line| !line.starts_with("thread caused non-unwinding panic"));
    let words: Vec<_> = words.filter(|line| !line.is_empty()).collect();
    (!words.is_empty()).then(|| format!("was not silent:\n{}", words.join("\n")))
}

/// Waits for a child as long as it may take, and ends it then.
fn wait(child: &mut Child) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("a child of ours");
    child.wait().expect("a child of ours");
    None
}

/// Runs a case as a child. Only messages of the crate are printed.
fn run_child(name: &str) {
    std::panic::set_hook(Box::new(|_| ()));
    let case = all().chain(WRONG).chain(HELPERS).find(|case| case.name == name).expect("a case");
    (case.run)();
}

/// As the harness of Rust's own tests: names that contain a word of the command line, and a last
/// line that counts.
fn main() -> ExitCode {
    if let Ok(name) = std::env::var(CASE) {
        run_child(&name);
        return ExitCode::SUCCESS;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let filters: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let chosen = |case: &&Case| filters.is_empty() || filters.iter().any(|word| case.name.contains(*word));
    let chosen: Vec<&Case> = all().filter(chosen).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        chosen.iter().for_each(|case| println!("{}: test", case.name));
        return ExitCode::SUCCESS;
    }
    println!("\nrunning {} tests", chosen.len());
    for case in WRONG {
        assert!(wrong_with(case, modes()[0]).is_some(), "{}: not seen", case.name);
    }
    let mut failed = 0;
    for case in &chosen {
        let wrong: Vec<_> = modes()
            .iter()
            .filter_map(|mode| wrong_with(case, mode).map(|what| format!("  {mode}: {what}")))
            .collect();
        println!("test {} ... {}", case.name, if wrong.is_empty() { "ok" } else { "FAILED" });
        wrong.iter().for_each(|what| println!("{what}"));
        failed += usize::from(!wrong.is_empty());
    }
    let (verdict, passed, skipped) =
        (if failed == 0 { "ok" } else { "FAILED" }, chosen.len() - failed, all().count() - chosen.len());
    println!(
        "\ntest result: {verdict}. {passed} passed; {failed} failed; 0 ignored; 0 measured; {skipped} filtered out\n"
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
