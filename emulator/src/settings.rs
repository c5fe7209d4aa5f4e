//! What kind of device the emulator poses as, and what it checks.

use crate::exec;
use crate::exec::ExecOptions;
use core::fmt;
use cuprum_sys::Version;
use std::sync::OnceLock;
use std::time::Duration;

/// When the operations that are pushed to streams run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Mode {
    /// Inside of the call that pushes them, in the order of the calls. Deterministic.
    #[default]
    Eager,
    /// On a thread of the driver's own, while the host goes on.
    Async,
    /// When the host waits for them, and some time after a callback. Shows where a program forgets to wait.
    Deferred,
    /// At random moments, in a random order among those that nothing orders, and copies in parts. The number decides:
    /// as long as one thread calls the driver, the same number gives the same order. Operations run in driver calls of
    /// all kinds; what is waited for runs at the latest then.
    Shuffled(u64),
}

/// The emulator's settings. There is one emulator in a process, set up by the first use.
///
/// Without a call of [`Settings::install`], the environment decides:
///
/// | variable | value | default |
/// |---|---|---|
/// | `CUPRUM_EMULATOR_DRIVER_VERSION` | `12.4` or `12040` | the newest known |
/// | `CUPRUM_EMULATOR_COMPUTE_CAPABILITY` | `9.0` | `9.0` |
/// | `CUPRUM_EMULATOR_MEMORY` | bytes, or with `K`, `M`, `G` | `4G` |
/// | `CUPRUM_EMULATOR_DEVICES` | `1` to `16` | `1` |
/// | `CUPRUM_EMULATOR_MODE` | `eager`, `async`, `deferred`, `shuffled` or, with a seed, `shuffled:7` | `eager` |
/// | `CUPRUM_EMULATOR_INITCHECK` | `0`, `1` | `0` |
/// | `CUPRUM_EMULATOR_RACECHECK` | `0`, `1` | `0` |
/// | `CUPRUM_EMULATOR_RACECHECK_ATOMIC_READS` | `0`, `1` | `0` |
/// | `CUPRUM_EMULATOR_SYNCCHECK` | `0`, `1` | `0` |
/// | `CUPRUM_EMULATOR_LEAKCHECK` | `0`, `1` | `0` |
/// | `CUPRUM_EMULATOR_BUDGET` | warp instructions of a launch | no limit |
/// | `CUPRUM_EMULATOR_TIME_LIMIT` | seconds of a launch, such as `2.5` | no limit |
/// | `CUPRUM_EMULATOR_SEED` | a number | no shuffling |
/// | `CUPRUM_EMULATOR_EXECUTION` | `vector`, `plain` | `vector` |
/// | `CUPRUM_EMULATOR_WORKERS` | a number; `0` for one a core | `0` |
/// | `CUPRUM_EMULATOR_REPORTS` | `0`, `1` | `1` |
///
/// Accesses to memory are always checked: out of bounds, freed, misaligned, null, of the host. There is no setting for
/// that, since such an access would otherwise be one of the host's own.
///
/// ```
/// use cuprum_emulator::Settings;
///
/// let settings = Settings::default().driver_version(11, 4).devices(2).check_races(true);
/// assert_eq!(settings.to_string(), "CUDA 11.4, 2 devices of compute capability 9.0, 4096 MiB each");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub(crate) driver_version: Version,
    pub(crate) compute_capability: (u32, u32),
    pub(crate) memory_bytes: u64,
    pub(crate) devices: u32,
    pub(crate) mode: Mode,
    pub(crate) visible_devices: Option<String>,
    pub(crate) check_init: bool,
    pub(crate) check_races: bool,
    pub(crate) check_atomic_reads: bool,
    pub(crate) check_barriers: bool,
    pub(crate) check_leaks: bool,
    pub(crate) instruction_budget: Option<u64>,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) seed: Option<u64>,
    pub(crate) execution: exec::Mode,
    pub(crate) workers: usize,
    pub(crate) reports: bool,
}

/// The most devices that can be asked for.
const MAX_DEVICES: u32 = 16;

/// Memory of one device unless asked otherwise.
const DEFAULT_MEMORY: u64 = 4 << 30;

impl Default for Settings {
    fn default() -> Self {
        Self {
            driver_version: Version::new(13, 5),
            compute_capability: (9, 0),
            memory_bytes: DEFAULT_MEMORY,
            devices: 1,
            mode: Mode::default(),
            visible_devices: None,
            check_init: false,
            check_races: false,
            check_atomic_reads: false,
            check_barriers: false,
            check_leaks: false,
            instruction_budget: None,
            time_limit: None,
            seed: None,
            execution: exec::Mode::default(),
            workers: 0,
            reports: true,
        }
    }
}

/// A setting with a value that it cannot have.
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

/// The emulator is in use already, so its settings can no longer change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlreadyInUse;

impl fmt::Display for AlreadyInUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the emulator is in use already; install its settings before the first call")
    }
}

impl std::error::Error for AlreadyInUse {}

static INSTALLED: OnceLock<Result<Settings, SettingsError>> = OnceLock::new();

impl Settings {
    /// The version of CUDA that the driver reports. Functions that came later are absent.
    #[must_use]
    pub fn driver_version(mut self, major: u32, minor: u32) -> Self {
        self.driver_version = Version::new(major, minor);
        self
    }

    /// The compute capability of each device.
    #[must_use]
    pub fn compute_capability(mut self, major: u32, minor: u32) -> Self {
        self.compute_capability = (major, minor);
        self
    }

    /// The memory of each device, in bytes. Taken from the host as it is used.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = bytes;
        self
    }

    /// The number of devices, 1 to 16; other numbers count as the nearest of those.
    #[must_use]
    pub fn devices(mut self, count: u32) -> Self {
        self.devices = count.clamp(1, MAX_DEVICES);
        self
    }

    /// Which of the devices the driver shows, and in which order: a list as in `CUDA_VISIBLE_DEVICES`, of numbers
    /// or UUIDs (`GPU-` and digits, as many as make it unique). What makes no sense ends the list.
    ///
    /// The variable itself counts for `libcuda.so.1` alone: it is there to hide GPUs, and a program that has the
    /// emulator of its own wants it all the more then.
    #[must_use]
    pub fn visible_devices(mut self, list: &str) -> Self {
        self.visible_devices = Some(list.to_owned());
        self
    }

    /// When the operations of a stream run.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Whether kernels are stopped when they read memory that nobody wrote, global, shared or local, or use a register
    /// that nobody wrote. Default: no.
    #[must_use]
    pub fn check_init(mut self, yes: bool) -> Self {
        self.check_init = yes;
        self
    }

    /// Whether kernels are stopped when threads access the same shared or global memory and nothing orders them.
    /// Default: no. One worker runs all blocks then.
    ///
    /// Reported are two accesses of different threads, at least one of them a write, that are not both strong (atomic,
    /// volatile or with a memory order) within each other's scope. Not reported are two writes of the same value, and
    /// plain reads beside atomic instructions, for which there is [`Settings::check_atomic_reads`].
    #[must_use]
    pub fn check_races(mut self, yes: bool) -> Self {
        self.check_races = yes;
        self
    }

    /// With [`Settings::check_races`]: whether kernels are also stopped when a thread reads plainly what another one
    /// changes by an atomic instruction. Default: no. PTX calls that a race, but hardware reads whole words, and the
    /// usual loop around a compare-and-swap begins so.
    #[must_use]
    pub fn check_atomic_reads(mut self, yes: bool) -> Self {
        self.check_atomic_reads = yes;
        self
    }

    /// Whether kernels are stopped when they do at barriers or at warp-level instructions what PTX leaves undefined.
    /// Default: no; what leaves no thread able to run is found all the same.
    #[must_use]
    pub fn check_barriers(mut self, yes: bool) -> Self {
        self.check_barriers = yes;
        self
    }

    /// Whether the message hook is told what a context leaves behind when it ends, and what is left when the process
    /// ends. Default: no; [`leaks`](crate::leaks) knows it all the same.
    #[must_use]
    pub fn check_leaks(mut self, yes: bool) -> Self {
        self.check_leaks = yes;
        self
    }

    /// The most warp instructions that a launch may execute; beyond them it fails with
    /// `CUDA_ERROR_LAUNCH_TIMEOUT`. Default: no limit.
    #[must_use]
    pub fn instruction_budget(mut self, instructions: u64) -> Self {
        self.instruction_budget = Some(instructions);
        self
    }

    /// The longest that a launch may take; beyond that it fails with `CUDA_ERROR_LAUNCH_TIMEOUT`. Default: no limit.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// Runs blocks and warps in an order that depends on this number, to bring out what depends on the order.
    /// Default: blocks and warps in the order of their numbers. One worker runs all blocks then, so that the same
    /// number always gives the same order.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// How instructions are executed. Default: [`exec::Mode::Vector`].
    #[must_use]
    pub fn execution(mut self, mode: exec::Mode) -> Self {
        self.execution = mode;
        self
    }

    /// Threads that run the blocks of a launch, the calling one included; 0, the default, means one for each core.
    #[must_use]
    pub fn workers(mut self, count: usize) -> Self {
        self.workers = count;
        self
    }

    /// Whether the message hook is told of faults and of refused modules. Default: yes.
    /// [`last_fault`](crate::last_fault) knows the newest fault all the same.
    #[must_use]
    pub fn reports(mut self, yes: bool) -> Self {
        self.reports = yes;
        self
    }

    /// The settings in the environment, defaults where a variable is not set.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] names the first variable that makes no sense.
    pub fn from_env() -> Result<Self, SettingsError> {
        Self::from_lookup(|variable| std::env::var(variable).ok())
    }

    /// What launches get of them, on a device of so many multiprocessors.
    pub(crate) fn exec_options(&self, multiprocessors: u32) -> ExecOptions {
        ExecOptions {
            mode: self.execution,
            workers: if self.workers == 0 { multiprocessors as usize } else { self.workers },
            budget: self.instruction_budget,
            time_limit: self.time_limit,
            check_init: self.check_init,
            check_races: self.check_races,
            check_atomic_reads: self.check_atomic_reads,
            check_barriers: self.check_barriers,
            seed: self.seed,
            multiprocessors,
        }
    }

    /// Makes these the settings of this process's emulator, in place of the environment's.
    ///
    /// # Errors
    ///
    /// [`AlreadyInUse`] if the emulator was used before.
    pub fn install(self) -> Result<(), AlreadyInUse> {
        INSTALLED.set(Ok(self)).map_err(|_| AlreadyInUse)
    }

    /// The settings in force, which no longer change.
    pub(crate) fn in_force() -> &'static Result<Self, SettingsError> {
        INSTALLED.get_or_init(Self::from_env)
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.compute_capability;
        let plural = if self.devices == 1 { "" } else { "s" };
        write!(
            f,
            "CUDA {}, {} device{plural} of compute capability {major}.{minor}, {} MiB each",
            self.driver_version,
            self.devices,
            self.memory_bytes >> 20,
        )
    }
}

/// Defines the variables of the environment: which field each sets, what it takes, and how that is read.
macro_rules! variables {
    ($($field:ident: $name:literal, $wanted:literal, $parse:expr;)*) => {
        /// The names of all variables.
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
    check_leaks: "CUPRUM_EMULATOR_LEAKCHECK", "0 or 1", parse_switch;
    instruction_budget: "CUPRUM_EMULATOR_BUDGET", "a number of instructions above 0", |text| {
        text.parse().ok().filter(|&budget| budget > 0).map(Some)
    };
    time_limit: "CUPRUM_EMULATOR_TIME_LIMIT", "a number of seconds above 0 such as 2.5", |text| {
        let limit = Duration::try_from_secs_f64(text.parse().ok()?).ok()?;
        (!limit.is_zero()).then_some(Some(limit))
    };
    seed: "CUPRUM_EMULATOR_SEED", "a number", |text| text.parse().ok().map(Some);
    execution: "CUPRUM_EMULATOR_EXECUTION", "vector or plain", |text| match text {
        "vector" => Some(exec::Mode::Vector),
        "plain" => Some(exec::Mode::Plain),
        _ => None,
    };
    workers: "CUPRUM_EMULATOR_WORKERS", "a number of threads, or 0 for one a core", |text| text.parse().ok();
    reports: "CUPRUM_EMULATOR_REPORTS", "0 or 1", parse_switch;
}

/// The value of a variable; `None` if it is not set, or empty.
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
            ("CUPRUM_EMULATOR_MODE", "deferred", default().mode(Mode::Deferred)),
            ("CUPRUM_EMULATOR_MODE", "shuffled", default().mode(Mode::Shuffled(0))),
            ("CUPRUM_EMULATOR_MODE", "shuffled:7", default().mode(Mode::Shuffled(7))),
            ("CUPRUM_EMULATOR_MODE", "", default()),
            ("CUPRUM_EMULATOR_INITCHECK", "1", default().check_init(true)),
            ("CUPRUM_EMULATOR_RACECHECK", "1", default().check_races(true)),
            ("CUPRUM_EMULATOR_RACECHECK_ATOMIC_READS", "1", default().check_atomic_reads(true)),
            ("CUPRUM_EMULATOR_SYNCCHECK", "1", default().check_barriers(true)),
            ("CUPRUM_EMULATOR_LEAKCHECK", "1", default().check_leaks(true)),
            ("CUPRUM_EMULATOR_BUDGET", "1000000", default().instruction_budget(1_000_000)),
            ("CUPRUM_EMULATOR_TIME_LIMIT", "2.5", default().time_limit(Duration::from_millis(2500))),
            ("CUPRUM_EMULATOR_SEED", "0", default().seed(0)),
            ("CUPRUM_EMULATOR_EXECUTION", "plain", default().execution(exec::Mode::Plain)),
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
        let readme = include_str!("../README.md");
        let here = include_str!("settings.rs");
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
            ("CUPRUM_EMULATOR_MODE", "lazy"),
            ("CUPRUM_EMULATOR_MODE", "shuffled:"),
            ("CUPRUM_EMULATOR_INITCHECK", "yes"),
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
