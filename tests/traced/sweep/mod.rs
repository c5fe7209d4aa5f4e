//! Runs the program with each of its driver calls failing in turn, in every way, and collects
//! mistakes.
//!
//! Child processes make the runs because a run may abort: the parent then starts another child.
//! Each run has a thread of its own, because this crate and the driver keep state per thread.

mod child;
mod plan;
mod verdict;

use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::process::Stdio;
use std::sync::OnceLock;

pub(crate) use plan::{Plan, Run};
pub(crate) use verdict::Finding;

use crate::program::{Rooms, Step};
use crate::tracer::{Backing, Build};

/// Environment variable with a child's runs, as `first..end`.
const RUNS: &str = "CUPRUM_INJECTION_RUNS";
/// Names the part of all runs to make, as `2/8` for the second of eight; `CUPRUM_TESTS=pairs` has
/// half a million.
const PART: &str = "CUPRUM_INJECTION_PART";
/// Begins each line that a child has to say.
const MARK: &str = "@sweep ";
/// Maximum number of runs per child, because the leaks of failed calls add up in the driver.
const MOST_RUNS: usize = 10_000;
/// Number of processes that make runs at the same time.
const PROCESSES: usize = 2;

/// Complaints, by run.
pub(crate) struct Report {
    pub(crate) plan: Plan,
    pub(crate) findings: Vec<(Run, Finding)>,
}

/// The program's steps when nothing fails.
pub(crate) fn steps_without_failures() -> Vec<Step> {
    plan::without_failures(Build::of(Backing::Emulator).library().expect("the emulator"), Rooms::All).0
}

/// All runs, made once for all tests of a program. In a child it does not return.
pub(crate) fn report() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(|| {
        if let Ok(runs) = std::env::var(RUNS) {
            let bounds: Vec<usize> = runs.split("..").map(|bound| bound.parse().expect("a number")).collect();
            child::work(&Plan::new(), bounds[0]..bounds[1]);
            std::process::exit(0);
        }
        let plan = Plan::new();
        let runs = wanted(plan.len());
        println!("runs {runs:?} of {}", plan.len());
        let share = runs.len().div_ceil(PROCESSES);
        let findings = std::thread::scope(|scope| {
            let workers: Vec<_> = runs
                .clone()
                .step_by(share)
                .map(|first| {
                    let (plan, end) = (&plan, (first + share).min(runs.end));
                    scope.spawn(move || all_of(plan, first, end))
                })
                .collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
        });
        Report { plan, findings }
    })
}

/// The runs to make, of so many.
fn wanted(all: usize) -> Range<usize> {
    let Ok(part) = std::env::var(PART) else { return 0..all };
    let numbers =
        part.split_once('/').map(|(number, parts)| (number.parse::<usize>(), parts.parse::<usize>()));
    match numbers {
        Some((Ok(number), Ok(parts))) if (1..=parts).contains(&number) => {
            all * (number - 1) / parts..all * number / parts
        }
        _ => panic!("{PART} is {part}, not as 2/8"),
    }
}

/// Makes the runs `first..end`, in a new child after each that has made its share or ended before
/// its time.
fn all_of(plan: &Plan, mut first: usize, end: usize) -> Vec<(Run, Finding)> {
    let mut findings = Vec::new();
    while first < end {
        let share = end.min(first + MOST_RUNS);
        let mut child = crate::child::itself()
            .args(["--exact", "injection::nothing_panics", "--nocapture", "--include-ignored"])
            .env(RUNS, format!("{first}..{share}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a child");
        let (mut current, mut in_flight, mut began) = (first, 0, false);
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        for line in lines.map(|line| line.expect("a line")) {
            let Some((_, said)) = line.split_once(MARK) else { continue };
            began = true;
            match said.split_once(' ') {
                Some(("run", index)) => (current, in_flight) = (index.parse().expect("a run"), 0),
                Some(("flight", ranges)) => in_flight = ranges.parse().expect("a number"),
                Some(("finding", text)) => findings.push((plan.run(current), Finding::read(text))),
                _ => current = share,
            }
        }
        let status = child.wait().expect("its end");
        assert!(began, "the child made no run: {status}");
        if current == share {
            first = share;
            continue;
        }
        let text = format!("the process ended: {status}; host memory ranges in flight: {in_flight}");
        let kind = if in_flight == 0 { "Abort" } else { "AbortInFlight" };
        findings.push((plan.run(current), Finding { kind: kind.to_owned(), step: String::new(), text }));
        first = current + 1;
    }
    findings
}
