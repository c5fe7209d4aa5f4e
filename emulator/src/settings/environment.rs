//! Settings from environment variables.

use core::fmt;
use std::time::Duration;

use cuprum_sys::{Version, environment};

use crate::exec;

use super::{ApiCheck, MAX_DEVICES, MAX_MULTIPROCESSORS, Mode, Settings};

/// An invalid value of a setting.
///
/// # Example
/// ```
/// use cuprum_emulator::Settings;
///
/// match Settings::from_env() {
///     Ok(settings) => println!("{settings}"),
///     // Names the variable, its value, and the valid values.
///     Err(error) => eprintln!("{error}"),
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    variable: &'static str,
    value: String,
    wanted: &'static str,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variable, value, wanted } = self;
        write!(f, "{variable}={value}: expected {wanted}")
    }
}

impl std::error::Error for SettingsError {}

impl Settings {
    /// Reads the settings from the environment, with defaults for variables that are not set.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] names the first invalid variable.
    pub fn from_env() -> Result<Self, SettingsError> {
        Self::from_lookup(|name| environment::variable(name)?.into_string().ok())
    }
}

/// Defines the environment variables: the field that each sets, its values, and their parser.
macro_rules! variables {
    ($($field:ident: $name:literal, $wanted:literal, $parse:expr;)*) => {
        #[cfg(test)]
        const VARIABLES: &[&str] = &[$($name),*];

        impl Settings {
            fn from_lookup(lookup: impl Fn(&'static str) -> Option<String>) -> Result<Self, SettingsError> {
                let mut settings = Self::default();
                $(
                    if let Some(value) = parse(lookup($name), $name, $wanted, $parse)? {
                        settings.$field = value;
                    }
                )*
                Ok(settings)
            }
        }
    };
}

variables! {
    driver_version: "CUPRUM_EMULATOR_DRIVER_VERSION", "a CUDA version such as 12.4 or 12040", parse_version;
    compute_capability: "CUPRUM_EMULATOR_COMPUTE_CAPABILITY", "a compute capability such as 9.0", |text| {
        parse_pair(text).filter(|&(major, minor)| major >= 5 && minor < 10)
    };
    memory_bytes: "CUPRUM_EMULATOR_MEMORY", "a number of bytes such as 512M or 4G", parse_bytes;
    devices: "CUPRUM_EMULATOR_DEVICES", "a number from 1 to 16", |text| {
        text.parse().ok().filter(|count| (1..=MAX_DEVICES).contains(count))
    };
    multiprocessors: "CUPRUM_EMULATOR_MULTIPROCESSORS", "a number from 1 to 1024, or 0 for one per core", |text| {
        text.parse().ok().filter(|&count| count <= MAX_MULTIPROCESSORS)
    };
    mode: "CUPRUM_EMULATOR_MODE", "eager, async, deferred, shuffled or shuffled:SEED", |text| match text {
        "eager" => Some(Mode::Eager),
        "async" => Some(Mode::Async),
        "deferred" => Some(Mode::Deferred),
        "shuffled" => Some(Mode::Shuffled(0)),
        _ => text.strip_prefix("shuffled:")?.parse().ok().map(Mode::Shuffled),
    };
    check_init: "CUPRUM_EMULATOR_INITCHECK", "0 or 1", parse_switch;
    check_races: "CUPRUM_EMULATOR_RACECHECK", "0 or 1", parse_switch;
    check_atomic_reads: "CUPRUM_EMULATOR_RACECHECK_ATOMIC_READS", "0 or 1", parse_switch;
    check_barriers: "CUPRUM_EMULATOR_SYNCCHECK", "0 or 1", parse_switch;
    check_nans: "CUPRUM_EMULATOR_NANCHECK", "0 or 1", parse_switch;
    check_order: "CUPRUM_EMULATOR_STREAMCHECK", "0 or 1", parse_switch;
    check_leaks: "CUPRUM_EMULATOR_LEAKCHECK", "0 or 1", parse_switch;
    check_api: "CUPRUM_EMULATOR_APICHECK", "0, certain or 1", |text| match text {
        "0" => Some(ApiCheck::Off),
        "certain" => Some(ApiCheck::Certain),
        "1" => Some(ApiCheck::All),
        _ => None,
    };
    fail_fast: "CUPRUM_EMULATOR_FAIL_FAST", "0 or 1", parse_switch;
    instruction_budget: "CUPRUM_EMULATOR_BUDGET", "a number of instructions above 0", |text| {
        text.parse().ok().filter(|&budget| budget > 0).map(Some)
    };
    time_limit: "CUPRUM_EMULATOR_TIME_LIMIT", "a number of seconds above 0 such as 2.5", |text| {
        let limit = Duration::try_from_secs_f64(text.parse().ok()?).ok()?;
        (!limit.is_zero()).then_some(Some(limit))
    };
    seed: "CUPRUM_EMULATOR_SEED", "a number", |text| text.parse().ok().map(Some);
    execution: "CUPRUM_EMULATOR_EXECUTION", "automatic, vector, plain, compiled, quads, octets or warps", |text| match text {
        "automatic" => Some(exec::Execution::Automatic),
        "vector" => Some(exec::Execution::Vector),
        "plain" => Some(exec::Execution::Plain),
        "compiled" => Some(exec::Execution::Compiled),
        "quads" => Some(exec::Execution::Quads),
        "octets" => Some(exec::Execution::Octets),
        "warps" => Some(exec::Execution::Warps),
        _ => None,
    };
    workers: "CUPRUM_EMULATOR_WORKERS", "a number of threads, or 0 for one per core", |text| text.parse().ok();
    reports: "CUPRUM_EMULATOR_REPORTS", "0 or 1", parse_switch;
}

/// Returns the value of a variable; `None` if it is not set or empty.
fn parse<T>(
    value: Option<String>,
    variable: &'static str,
    wanted: &'static str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, SettingsError> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    match parse(value.trim()) {
        Some(parsed) => Ok(Some(parsed)),
        None => Err(SettingsError { variable, value, wanted }),
    }
}

fn parse_switch(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn parse_pair(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn parse_version(text: &str) -> Option<Version> {
    match parse_pair(text) {
        Some((major, minor)) if minor < 100 => Some(Version::new(major, minor)),
        Some(_) => None,
        None => text.parse().ok().filter(|&raw| raw >= 1000).map(Version::from_raw),
    }
}

fn parse_bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'K' | b'k' => (&text[..text.len() - 1], 10),
        b'M' | b'm' => (&text[..text.len() - 1], 20),
        b'G' | b'g' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: u64 = digits.parse().ok()?;
    number.checked_mul(1 << shift).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variable: &'static str, value: &str) -> Result<Settings, SettingsError> {
        Settings::from_lookup(|name| (name == variable).then(|| value.to_owned()))
    }

    #[test]
    fn every_variable_is_read() {
        let default = Settings::default;
        let cases = [
            ("CUPRUM_EMULATOR_DRIVER_VERSION", "11.4", default().driver_version(11, 4)),
            ("CUPRUM_EMULATOR_DRIVER_VERSION", "12080", default().driver_version(12, 8)),
            ("CUPRUM_EMULATOR_COMPUTE_CAPABILITY", "7.5", default().compute_capability(7, 5)),
            ("CUPRUM_EMULATOR_MEMORY", "512M", default().memory_bytes(512 << 20)),
            ("CUPRUM_EMULATOR_DEVICES", "4", default().devices(4)),
            ("CUPRUM_EMULATOR_MULTIPROCESSORS", "132", default().multiprocessors(132)),
            ("CUPRUM_EMULATOR_MODE", "deferred", default().mode(Mode::Deferred)),
            ("CUPRUM_EMULATOR_MODE", "shuffled", default().mode(Mode::Shuffled(0))),
            ("CUPRUM_EMULATOR_MODE", "shuffled:7", default().mode(Mode::Shuffled(7))),
            ("CUPRUM_EMULATOR_MODE", "", default()),
            ("CUPRUM_EMULATOR_INITCHECK", "1", default().check_init(true)),
            ("CUPRUM_EMULATOR_RACECHECK", "1", default().check_races(true)),
            ("CUPRUM_EMULATOR_RACECHECK_ATOMIC_READS", "1", default().check_atomic_reads(true)),
            ("CUPRUM_EMULATOR_SYNCCHECK", "1", default().check_barriers(true)),
            ("CUPRUM_EMULATOR_NANCHECK", "1", default().check_nans(true)),
            ("CUPRUM_EMULATOR_STREAMCHECK", "1", default().check_order(true)),
            ("CUPRUM_EMULATOR_LEAKCHECK", "1", default().check_leaks(true)),
            ("CUPRUM_EMULATOR_APICHECK", "0", default().check_api(ApiCheck::Off)),
            ("CUPRUM_EMULATOR_APICHECK", "certain", default()),
            ("CUPRUM_EMULATOR_APICHECK", "1", default().check_api(ApiCheck::All)),
            ("CUPRUM_EMULATOR_FAIL_FAST", "0", default().fail_fast(false)),
            ("CUPRUM_EMULATOR_BUDGET", "1000000", default().instruction_budget(1_000_000)),
            ("CUPRUM_EMULATOR_TIME_LIMIT", "2.5", default().time_limit(Duration::from_millis(2500))),
            ("CUPRUM_EMULATOR_SEED", "0", default().seed(0)),
            ("CUPRUM_EMULATOR_EXECUTION", "vector", default().execution(exec::Execution::Vector)),
            ("CUPRUM_EMULATOR_EXECUTION", "plain", default().execution(exec::Execution::Plain)),
            ("CUPRUM_EMULATOR_EXECUTION", "compiled", default().execution(exec::Execution::Compiled)),
            ("CUPRUM_EMULATOR_EXECUTION", "quads", default().execution(exec::Execution::Quads)),
            ("CUPRUM_EMULATOR_EXECUTION", "octets", default().execution(exec::Execution::Octets)),
            ("CUPRUM_EMULATOR_EXECUTION", "warps", default().execution(exec::Execution::Warps)),
            ("CUPRUM_EMULATOR_WORKERS", "3", default().workers(3)),
            ("CUPRUM_EMULATOR_REPORTS", "0", default().reports(false)),
        ];
        for (variable, value, expected) in &cases {
            assert_eq!(with(variable, value).as_ref(), Ok(expected), "{variable}={value}");
        }
        for variable in VARIABLES {
            assert!(cases.iter().any(|(tested, ..)| tested == variable), "{variable}");
        }
    }

    #[test]
    fn every_variable_is_documented() {
        let readme = include_str!("../../README.md");
        let here = include_str!("options.rs");
        for variable in VARIABLES {
            assert!(readme.contains(&format!("`{variable}`")), "{variable} in README.md");
            assert!(here.contains(&format!("/// | `{variable}` |")), "{variable} in the docs of Settings");
        }
    }

    #[test]
    fn nonsense_names_the_variable() {
        for (variable, value) in [
            ("CUPRUM_EMULATOR_DRIVER_VERSION", "new"),
            ("CUPRUM_EMULATOR_COMPUTE_CAPABILITY", "90"),
            ("CUPRUM_EMULATOR_MEMORY", "99999999999G"),
            ("CUPRUM_EMULATOR_MEMORY", "0"),
            ("CUPRUM_EMULATOR_DEVICES", "17"),
            ("CUPRUM_EMULATOR_MULTIPROCESSORS", "1025"),
            ("CUPRUM_EMULATOR_MODE", "lazy"),
            ("CUPRUM_EMULATOR_MODE", "shuffled:"),
            ("CUPRUM_EMULATOR_INITCHECK", "yes"),
            ("CUPRUM_EMULATOR_APICHECK", "2"),
            ("CUPRUM_EMULATOR_FAIL_FAST", "no"),
            ("CUPRUM_EMULATOR_BUDGET", "0"),
            ("CUPRUM_EMULATOR_TIME_LIMIT", "-1"),
            ("CUPRUM_EMULATOR_TIME_LIMIT", "0"),
            ("CUPRUM_EMULATOR_SEED", "x"),
            ("CUPRUM_EMULATOR_EXECUTION", "fast"),
            ("CUPRUM_EMULATOR_WORKERS", "-1"),
        ] {
            let error = with(variable, value).unwrap_err();
            assert!(error.to_string().starts_with(&format!("{variable}={value}: ")), "{error}");
        }
    }
}
