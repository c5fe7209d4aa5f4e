//! Options of `cuprum run`, and the software device's variables that they set.

use std::ffi::OsString;

use crate::arguments::{Arguments, Usage};

const CHECKS: &[(&str, &str)] = &[
    ("--initcheck", "CUPRUM_EMULATOR_INITCHECK"),
    ("--racecheck", "CUPRUM_EMULATOR_RACECHECK"),
    ("--racecheck-atomic-reads", "CUPRUM_EMULATOR_RACECHECK_ATOMIC_READS"),
    ("--synccheck", "CUPRUM_EMULATOR_SYNCCHECK"),
    ("--streamcheck", "CUPRUM_EMULATOR_STREAMCHECK"),
    ("--leakcheck", "CUPRUM_EMULATOR_LEAKCHECK"),
    ("--apicheck", "CUPRUM_EMULATOR_APICHECK"),
    ("--nancheck", "CUPRUM_EMULATOR_NANCHECK"),
    ("--fail-fast", "CUPRUM_EMULATOR_FAIL_FAST"),
];

/// The variable that makes findings of checks end a launch.
pub(super) const FAIL_FAST: &str = "CUPRUM_EMULATOR_FAIL_FAST";

/// Options that `--all-checks` omits: they report many intended accesses, or are not checks.
const NOT_OF_ALL: &[&str] = &["--racecheck-atomic-reads", "--nancheck", "--fail-fast"];

/// Options with a value, which the software device parses and validates.
const VALUES: &[(&str, &str)] = &[
    ("--mode", "CUPRUM_EMULATOR_MODE"),
    ("--seed", "CUPRUM_EMULATOR_SEED"),
    ("--budget", "CUPRUM_EMULATOR_BUDGET"),
    ("--time-limit", "CUPRUM_EMULATOR_TIME_LIMIT"),
    ("--devices", "CUPRUM_EMULATOR_DEVICES"),
    ("--multiprocessors", "CUPRUM_EMULATOR_MULTIPROCESSORS"),
    ("--memory", "CUPRUM_EMULATOR_MEMORY"),
    ("--capability", "CUPRUM_EMULATOR_COMPUTE_CAPABILITY"),
    ("--driver-version", "CUPRUM_EMULATOR_DRIVER_VERSION"),
    ("--workers", "CUPRUM_EMULATOR_WORKERS"),
];

/// Checks that need the accesses of one worker, in order.
const ONE_WORKER: &[&str] = &["--racecheck", "--racecheck-atomic-reads"];

pub(super) fn variables(arguments: &mut Arguments) -> Result<Vec<(&'static str, OsString)>, Usage> {
    let (mut variables, mut needs_one) = (Vec::new(), false);
    let all = arguments.flag("--all-checks");
    for (option, variable) in CHECKS {
        let by_all = all && !NOT_OF_ALL.contains(option);
        if arguments.flag(option) || by_all {
            variables.push((*variable, "1".into()));
            needs_one |= ONE_WORKER.contains(option);
        }
    }
    for (option, variable) in VALUES {
        if let Some(value) = arguments.value(option)? {
            needs_one &= *option != "--workers";
            variables.push((*variable, value));
        }
    }
    if needs_one {
        variables.push(("CUPRUM_EMULATOR_WORKERS", "1".into()));
    }
    Ok(variables)
}

pub(super) const TIME_LIMIT: &str = "CUPRUM_EMULATOR_TIME_LIMIT";
const USUAL_LIMIT: &str = "300";

/// Limits the time of launches, unless an option or the environment (`is_set`) does. `none` is no
/// limit.
pub(super) fn limit_time(variables: &mut Vec<(&'static str, OsString)>, is_set: bool) {
    match variables.iter_mut().find(|set| set.0 == TIME_LIMIT) {
        // Same as unset.
        Some((_, value)) if value == "none" => value.clear(),
        Some(_) => {}
        None if is_set => {}
        None => variables.push((TIME_LIMIT, USUAL_LIMIT.into())),
    }
}

/// Lets launches continue after findings of checks, unless `--fail-fast` or the environment
/// (`is_set`) forbids it: the exit code reports them.
pub(super) fn go_on(variables: &mut Vec<(&'static str, OsString)>, is_set: bool) {
    if !is_set && variables.iter().all(|set| set.0 != FAIL_FAST) {
        variables.push((FAIL_FAST, "0".into()));
    }
}

/// The variable of the number of devices.
pub(super) const DEVICES: &str = "CUPRUM_EMULATOR_DEVICES";

/// Gives each process of a group a device, unless an option or the environment (`is_set`) sets
/// their number.
pub(super) fn devices(variables: &mut Vec<(&'static str, OsString)>, is_set: bool, processes: Option<u32>) {
    if let Some(count) = processes.filter(|_| !is_set && variables.iter().all(|set| set.0 != DEVICES)) {
        variables.push((DEVICES, count.to_string().into()));
    }
}

/// Converts the software device's message about a variable, as in `NAME=value: expected …`, to one
/// about the option that set it; `None` if none did.
pub(super) fn option_of(why: &str, variables: &[(&'static str, OsString)]) -> Option<String> {
    let (name, rest) = why.split_once('=')?;
    variables.iter().find(|set| set.0 == name)?;
    let (option, _) = CHECKS.iter().chain(VALUES).find(|known| known.1 == name)?;
    Some(format!("{option} {rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<(&'static str, OsString)> {
        let mut arguments = Arguments::new(line.split(' ').map(OsString::from));
        variables(&mut arguments).unwrap()
    }

    #[test]
    fn options_set_variables() {
        let on = |name| (name, OsString::from("1"));
        let all = of("--all-checks");
        assert_eq!(all.len(), 7, "six checks, and one worker: {all:?}");
        assert_eq!(of("--initcheck"), [on("CUPRUM_EMULATOR_INITCHECK")]);
        assert_eq!(of("--racecheck"), [on("CUPRUM_EMULATOR_RACECHECK"), on("CUPRUM_EMULATOR_WORKERS")]);
        assert_eq!(of("--racecheck --workers 2").last(), Some(&("CUPRUM_EMULATOR_WORKERS", "2".into())));
        assert_eq!(of("--mode shuffled:3"), [("CUPRUM_EMULATOR_MODE", "shuffled:3".into())]);
    }

    #[test]
    fn launches_have_a_limit_unless_an_option_or_a_variable_sets_another() {
        let limited = |line: &str, is_set| {
            let mut variables = of(line);
            limit_time(&mut variables, is_set);
            variables.into_iter().find(|set| set.0 == TIME_LIMIT).map(|set| set.1)
        };
        assert_eq!(limited("", false), Some(USUAL_LIMIT.into()));
        assert_eq!(limited("", true), None);
        assert_eq!(limited("--time-limit 2", true), Some("2".into()));
        assert_eq!(limited("--time-limit none", false), Some("".into()));
        assert!(crate::run::command::HELP.contains(&format!("(default: {USUAL_LIMIT} seconds")));
    }

    #[test]
    fn launches_go_on_with_findings_unless_an_option_or_a_variable_ends_them() {
        let set = |line: &str, is_set| {
            let mut variables = of(line);
            go_on(&mut variables, is_set);
            variables.into_iter().filter(|set| set.0 == FAIL_FAST).map(|set| set.1).collect::<Vec<_>>()
        };
        assert_eq!(set("", false), ["0"]);
        assert_eq!(set("", true), [""; 0]);
        assert_eq!(set("--fail-fast --racecheck", false), ["1"]);
    }

    #[test]
    fn what_is_wrong_with_a_variable_is_said_of_its_option() {
        let why = "CUPRUM_EMULATOR_MODE=lazy: expected eager";
        assert_eq!(option_of(why, &of("--mode lazy")).as_deref(), Some("--mode lazy: expected eager"));
        assert_eq!(option_of(why, &of("--seed 1")), None, "it is the environment's");
    }

    /// The software device reads exactly these; an option for another variable has no effect.
    #[test]
    fn variables_are_those_of_the_software_device() {
        let names = include_str!("../../../emulator/src/settings/environment.rs");
        for (option, variable) in CHECKS.iter().chain(VALUES) {
            assert!(names.contains(&format!("\"{variable}\"")), "{option} sets {variable}");
            assert!(crate::run::command::HELP.contains(option), "{option} is in the help");
        }
        let quoted = names.split('"').filter(|text| text.starts_with("CUPRUM_EMULATOR_"));
        // `run` sets the destination of reports, and the execution mode has no visible effect.
        let left = ["CUPRUM_EMULATOR_REPORTS", "CUPRUM_EMULATOR_EXECUTION"];
        for name in quoted.filter(|name| !left.contains(name)) {
            assert!(CHECKS.iter().chain(VALUES).any(|(_, known)| known == &name), "{name} has no option");
        }
    }
}
