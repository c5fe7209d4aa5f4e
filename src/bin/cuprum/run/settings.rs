//! Options of `cuprum run`, and the variables of the software device that each sets.

use std::ffi::OsString;

use crate::arguments::{Arguments, Usage};

/// Options without a value: a check is on, or off.
const CHECKS: &[(&str, &str)] = &[
    ("--initcheck", "CUPRUM_EMULATOR_INITCHECK"),
    ("--racecheck", "CUPRUM_EMULATOR_RACECHECK"),
    ("--racecheck-atomic-reads", "CUPRUM_EMULATOR_RACECHECK_ATOMIC_READS"),
    ("--synccheck", "CUPRUM_EMULATOR_SYNCCHECK"),
    ("--leakcheck", "CUPRUM_EMULATOR_LEAKCHECK"),
    ("--nancheck", "CUPRUM_EMULATOR_NANCHECK"),
];

/// Checks that tell of much that is meant so, and are asked for by their own names.
const NOT_OF_ALL: &[&str] = &["--racecheck-atomic-reads", "--nancheck"];

/// Options with a value, which the software device reads, and refuses if it makes no sense.
const VALUES: &[(&str, &str)] = &[
    ("--mode", "CUPRUM_EMULATOR_MODE"),
    ("--seed", "CUPRUM_EMULATOR_SEED"),
    ("--budget", "CUPRUM_EMULATOR_BUDGET"),
    ("--time-limit", "CUPRUM_EMULATOR_TIME_LIMIT"),
    ("--devices", "CUPRUM_EMULATOR_DEVICES"),
    ("--memory", "CUPRUM_EMULATOR_MEMORY"),
    ("--capability", "CUPRUM_EMULATOR_COMPUTE_CAPABILITY"),
    ("--driver-version", "CUPRUM_EMULATOR_DRIVER_VERSION"),
    ("--workers", "CUPRUM_EMULATOR_WORKERS"),
];

/// Checks that see what one worker does, in order.
const ONE_WORKER: &[&str] = &["--racecheck", "--racecheck-atomic-reads"];

/// The variables that the options set.
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
        assert_eq!(all.len(), 5, "four checks, and one worker: {all:?}");
        assert_eq!(of("--initcheck"), [on("CUPRUM_EMULATOR_INITCHECK")]);
        assert_eq!(of("--racecheck"), [on("CUPRUM_EMULATOR_RACECHECK"), on("CUPRUM_EMULATOR_WORKERS")]);
        assert_eq!(of("--racecheck --workers 2").last(), Some(&("CUPRUM_EMULATOR_WORKERS", "2".into())));
        assert_eq!(of("--mode shuffled:3"), [("CUPRUM_EMULATOR_MODE", "shuffled:3".into())]);
    }

    /// The software device reads these and no others: an option for a variable that is gone would do nothing.
    #[test]
    fn variables_are_those_of_the_software_device() {
        let names = include_str!("../../../../emulator/src/settings/environment.rs");
        for (option, variable) in CHECKS.iter().chain(VALUES) {
            assert!(names.contains(&format!("\"{variable}\"")), "{option} sets {variable}");
            assert!(super::super::HELP.contains(option), "{option} is in the help");
        }
        let quoted = names.split('"').filter(|text| text.starts_with("CUPRUM_EMULATOR_"));
        // Where reports go is what `run` is for, and how kernels are executed changes nothing that a program sees.
        let left = ["CUPRUM_EMULATOR_REPORTS", "CUPRUM_EMULATOR_EXECUTION"];
        for name in quoted.filter(|name| !left.contains(name)) {
            assert!(CHECKS.iter().chain(VALUES).any(|(_, known)| known == &name), "{name} has no option");
        }
    }
}
