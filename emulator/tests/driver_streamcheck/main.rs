//! The check of stream order: all modes report planted bugs alike, and not their correct twins.
//!
//! Each mode runs all cases in a process, which prints a line for each case and its reports.

mod bench;
mod cases;
mod host;
mod others;

use std::collections::BTreeMap;
use std::process::Command;

use bench::Bench;

/// A planted bug, and its correct twin.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Bench, bool),
    /// Parts of the report; empty if only the twin is a case.
    pub(crate) says: &'static [&'static str],
}

fn cases() -> impl Iterator<Item = &'static Case> {
    cases::CASES.iter().chain(others::CASES)
}

const MODES: &[&str] =
    &["eager", "async", "deferred", "shuffled:1", "shuffled:2", "shuffled:3", "shuffled:4"];

/// True where the system reports accesses of the program itself.
const HOST: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

fn cases_of(mode: &str) -> impl Iterator<Item = &'static Case> {
    cases().chain(host::CASES.iter().filter(move |_| HOST && mode == "eager"))
}

fn reports(mode: &str, variant: &str) -> BTreeMap<String, String> {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"])
        .envs([("CUPRUM_EMULATOR_STREAMCHECK", "1"), ("CUPRUM_EMULATOR_MODE", mode), ("VARIANT", variant)])
        .env("CUPRUM_EMULATOR_DEVICES", "2")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(child.status.success(), "{mode}: {said}{}", String::from_utf8_lossy(&child.stdout));
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut name = String::new();
    for line in said.lines() {
        match line.strip_prefix("case ") {
            Some(next) => name = next.to_owned(),
            None => found.entry(name.clone()).or_default().extend([line, "\n"]),
        }
    }
    found
}

#[test]
#[ignore = "run by the other tests, in processes of their own"]
fn child() {
    let twin = match std::env::var("VARIANT").as_deref() {
        Ok("bug") => false,
        Ok("twin") => true,
        other => panic!("{other:?}"),
    };
    cuprum_emulator::set_message_hook(|message| eprintln!("{message}"));
    let mode = std::env::var("CUPRUM_EMULATOR_MODE").unwrap();
    for case in cases_of(&mode) {
        if twin || !case.says.is_empty() {
            eprintln!("case {}", case.name);
            (case.run)(&Bench::new(), twin);
        }
    }
    eprintln!("case at exit");
}

/// Removes host addresses, which differ between processes.
fn without_addresses(report: &str) -> String {
    let address = |line: &str| line.split_once("at 0x").map(|(before, _)| format!("{before}at 0x..."));
    report.lines().map(|line| address(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
}

#[test]
fn the_table_of_the_readme_has_all_cases() {
    let readme = include_str!("../../README.md");
    let all = || cases().chain(host::CASES);
    for case in all() {
        let here = if case.says.is_empty() { "correct, not reported" } else { "reported" };
        let row = format!("| {} | {here} |", case.name);
        assert!(readme.contains(&row), "{row}");
    }
    let count = all().filter(|case| !case.says.is_empty()).count();
    assert!(readme.contains(&format!("plants {count} bugs")));
}

#[test]
fn planted_bugs_are_reported_alike_in_all_modes() {
    let (mut of_eager, mut wrong) = (BTreeMap::new(), Vec::new());
    for mode in MODES {
        let found = reports(mode, "bug");
        for case in cases_of(mode).filter(|case| !case.says.is_empty()) {
            let report = found.get(case.name).map_or("", |report| report);
            for part in case.says.iter().filter(|part| !report.contains(**part)) {
                wrong.push(format!("{mode}, {}: `{part}` is not in\n{report}", case.name));
            }
            let report = without_addresses(report);
            let first = of_eager.entry(case.name).or_insert_with(|| report.clone());
            if *first != report {
                wrong
                    .push(format!("{mode}, {}:\n{report} is not, as in the eager mode,\n{first}", case.name));
            }
        }
        wrong.extend(found.get("at exit").map(|report| format!("{mode}, at exit: {report}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if std::env::var_os("SHOW").is_some() {
        of_eager.values().for_each(|report| println!("{report}"));
    }
}

#[test]
fn correct_programs_are_not_reported() {
    for mode in MODES {
        assert_eq!(reports(mode, "twin"), BTreeMap::new(), "{mode}");
    }
}
