//! Settings: the device that the emulator poses as, and its checks.

mod environment;

use core::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use cuprum_sys::Version;

use crate::exec;

pub use environment::SettingsError;

/// Time at which the operations that are pushed to streams run.
///
/// # Example
/// ```
/// use cuprum_emulator::{Mode, Settings};
///
/// // A program that forgets to wait finds nothing here, where hardware would often have been fast enough.
/// let settings = Settings::default().mode(Mode::Deferred);
/// settings.install()?;
/// # Ok::<(), cuprum_emulator::AlreadyInUse>(())
/// ```
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
    /// all kinds, at the latest in a wait for them.
    Shuffled(u64),
}

/// Misuse of the driver's functions that is reported in addition to the code that they return.
///
/// # Example
/// ```
/// use cuprum_emulator::{ApiCheck, Settings};
///
/// // An autotuner tries launches that do not fit; here each is a mistake.
/// let settings = Settings::default().check_api(ApiCheck::All);
/// assert_ne!(settings, Settings::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum ApiCheck {
    /// None.
    Off,
    /// Calls that no program makes on purpose: freeing memory twice, using a handle after it was destroyed, copies beyond an
    /// allocation, addresses cut to 32 bits, objects of another context, launches that no device can run.
    #[default]
    Certain,
    /// Also launches that ask for more than their kernel allows, which programs may try on purpose.
    All,
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
/// | `CUPRUM_EMULATOR_MULTIPROCESSORS` | `1` to `1024`; `0` for one per core | `0` |
/// | `CUPRUM_EMULATOR_MODE` | `eager`, `async`, `deferred`, `shuffled` or, with a seed, `shuffled:7` | `eager` |
/// | `CUPRUM_EMULATOR_INITCHECK` | `0`, `1` | `0` |
/// | `CUPRUM_EMULATOR_RACECHECK` | `0`, `1` | `0` |
/// | `CUPRUM_EMULATOR_RACECHECK_ATOMIC_READS` | `0`, `1` | `0` |
/// | `CUPRUM_EMULATOR_SYNCCHECK` | `0`, `1` | `0` |
/// | `CUPRUM_EMULATOR_NANCHECK` | `0`, `1` | `0` |
/// | `CUPRUM_EMULATOR_STREAMCHECK` | `0`, `1` | `0` |
/// | `CUPRUM_EMULATOR_LEAKCHECK` | `0`, `1` | `0` |
/// | `CUPRUM_EMULATOR_APICHECK` | `0`, `certain`, `1` | `certain` |
/// | `CUPRUM_EMULATOR_FAIL_FAST` | `0`, `1` | `1` |
/// | `CUPRUM_EMULATOR_BUDGET` | warp instructions of a launch | no limit |
/// | `CUPRUM_EMULATOR_TIME_LIMIT` | seconds of a launch, such as `2.5` | no limit |
/// | `CUPRUM_EMULATOR_SEED` | a number | no shuffling |
/// | `CUPRUM_EMULATOR_EXECUTION` | `vector`, `plain` | `vector` |
/// | `CUPRUM_EMULATOR_WORKERS` | a number; `0` for one per core | `0` |
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
    pub(crate) multiprocessors: u32,
    pub(crate) mode: Mode,
    pub(crate) visible_devices: Option<String>,
    pub(crate) check_init: bool,
    pub(crate) check_races: bool,
    pub(crate) check_atomic_reads: bool,
    pub(crate) check_barriers: bool,
    pub(crate) check_nans: bool,
    pub(crate) check_order: bool,
    pub(crate) check_leaks: bool,
    pub(crate) check_api: ApiCheck,
    pub(crate) fail_fast: bool,
    pub(crate) instruction_budget: Option<u64>,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) seed: Option<u64>,
    pub(crate) execution: exec::Execution,
    pub(crate) workers: usize,
    pub(crate) reports: bool,
}

/// Most devices that can be asked for.
const MAX_DEVICES: u32 = 16;

/// Most multiprocessors that a device can report.
const MAX_MULTIPROCESSORS: u32 = 1024;

/// Memory of one device by default, in bytes.
const DEFAULT_MEMORY: u64 = 4 << 30;

impl Default for Settings {
    fn default() -> Self {
        Self {
            driver_version: Version::new(13, 5),
            compute_capability: (9, 0),
            memory_bytes: DEFAULT_MEMORY,
            devices: 1,
            multiprocessors: 0,
            mode: Mode::default(),
            visible_devices: None,
            check_init: false,
            check_races: false,
            check_atomic_reads: false,
            check_barriers: false,
            check_nans: false,
            check_order: false,
            check_leaks: false,
            check_api: ApiCheck::default(),
            fail_fast: true,
            instruction_budget: None,
            time_limit: None,
            seed: None,
            execution: exec::Execution::default(),
            workers: 0,
            reports: true,
        }
    }
}

/// The emulator is in use already, so its settings can no longer change.
///
/// # Example
/// ```
/// use cuprum_emulator::{AlreadyInUse, Settings};
///
/// let library = cuprum_emulator::library();
/// // The first use fixed the settings.
/// assert_eq!(Settings::default().devices(2).install(), Err(AlreadyInUse));
/// assert!(library.version() > cuprum_sys::Version::new(12, 0));
/// ```
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

    /// The number of multiprocessors that each device reports, up to 1024; 0, the default, means one per core. It bounds
    /// cooperative launches. The number of blocks that run at once is another setting: [`Settings::workers`].
    #[must_use]
    pub fn multiprocessors(mut self, count: u32) -> Self {
        self.multiprocessors = count.min(MAX_MULTIPROCESSORS);
        self
    }

    /// Sets the devices that the driver shows, and their order: a list as in `CUDA_VISIBLE_DEVICES`, of numbers
    /// or UUIDs (`GPU-` and digits, as many as make it unique). The first invalid entry ends the list.
    ///
    /// The variable itself counts for `libcuda.so.1` alone: it serves to hide GPUs, and then a program with an
    /// emulator of its own wants that emulator all the more.
    #[must_use]
    pub fn visible_devices(mut self, list: &str) -> Self {
        self.visible_devices = Some(list.to_owned());
        self
    }

    /// Sets the time at which the operations of a stream run.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets whether kernels are stopped when they read memory that nobody wrote, global, shared or local, or use a
    /// register that nobody wrote. Default: no.
    #[must_use]
    pub fn check_init(mut self, yes: bool) -> Self {
        self.check_init = yes;
        self
    }

    /// Sets whether kernels are stopped when threads access the same shared or global memory and nothing orders them.
    /// Default: no. One worker runs all blocks then.
    ///
    /// Two accesses of different threads are reported, at least one of them a write, that are not both strong (atomic,
    /// volatile or with a memory order) within each other's scope. Not reported are two writes of the same value, and
    /// plain reads beside atomic instructions, for which there is [`Settings::check_atomic_reads`].
    #[must_use]
    pub fn check_races(mut self, yes: bool) -> Self {
        self.check_races = yes;
        self
    }

    /// With [`Settings::check_races`]: sets whether kernels are also stopped when a thread plainly reads memory that
    /// another one changes by an atomic instruction. Default: no. PTX calls that a race, but hardware reads whole
    /// words, and the usual loop around a compare-and-swap begins with a plain read.
    #[must_use]
    pub fn check_atomic_reads(mut self, yes: bool) -> Self {
        self.check_atomic_reads = yes;
        self
    }

    /// Sets whether kernels are stopped for behavior at barriers or at warp-level instructions that PTX leaves
    /// undefined. Default: no; states in which no thread can run are found all the same.
    #[must_use]
    pub fn check_barriers(mut self, yes: bool) -> Self {
        self.check_barriers = yes;
        self
    }

    /// Sets whether kernels are stopped when they store a NaN that they have made of numbers, as 0 / 0 or the root of a
    /// negative number does. The report names the instruction that made it, and of what. Default: no.
    ///
    /// A NaN may be made and dropped again, as in code for special cases whose result is not chosen. Not reported are
    /// NaNs that come from memory, from parameters or from a constant.
    #[must_use]
    pub fn check_nans(mut self, yes: bool) -> Self {
        self.check_nans = yes;
        self
    }

    /// Sets whether the message hook receives [`Message::Unordered`](crate::Message::Unordered) for operations that touch the
    /// same bytes, at least one of which writes, and that nothing orders: neither a stream, nor an event, nor a wait of the
    /// host. Default: no. Nothing ends; the reports are the same in all modes.
    #[must_use]
    pub fn check_order(mut self, yes: bool) -> Self {
        self.check_order = yes;
        self
    }

    /// Sets whether the message hook is told the leaks of a context when it ends, and the leaks when the process
    /// ends. Default: no; [`leaks`](crate::leaks) knows them all the same.
    #[must_use]
    pub fn check_leaks(mut self, yes: bool) -> Self {
        self.check_leaks = yes;
        self
    }

    /// Sets which misuse of the API the message hook receives as [`Message::Misuse`](crate::Message::Misuse): once per place
    /// of a call, with the stack of the client. Default: [`ApiCheck::Certain`]. The answers of the calls are the same.
    #[must_use]
    pub fn check_api(mut self, which: ApiCheck) -> Self {
        self.check_api = which;
        self
    }

    /// Sets whether a finding of `check_init`, `check_races`, `check_barriers` or `check_nans` ends the launch and its context,
    /// as a fault does. Default: yes, because a program without a message hook notices it in no other way.
    ///
    /// Without it the launch goes on, and the message hook receives each finding once per kind and line of a kernel, up to
    /// 1000. `cuprum run`, `cuda-software` and the plugin for pytest set this to no, because their exit code shows that there were findings.
    #[must_use]
    pub fn fail_fast(mut self, yes: bool) -> Self {
        self.fail_fast = yes;
        self
    }

    /// Sets the most warp instructions that a launch may execute; beyond them it fails with
    /// `CUDA_ERROR_LAUNCH_TIMEOUT`. Default: no limit.
    #[must_use]
    pub fn instruction_budget(mut self, instructions: u64) -> Self {
        self.instruction_budget = Some(instructions);
        self
    }

    /// Sets the longest time that a launch may take; beyond it, it fails with `CUDA_ERROR_LAUNCH_TIMEOUT`. Default: no
    /// limit.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// Runs blocks and warps in an order that depends on this number, to bring out dependences on the order.
    /// Default: blocks and warps in the order of their numbers. One worker runs all blocks then, so that the same
    /// number always gives the same order.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the mode of execution. Default: [`exec::Execution::Vector`].
    #[must_use]
    pub fn execution(mut self, mode: exec::Execution) -> Self {
        self.execution = mode;
        self
    }

    /// Sets the number of threads that run the blocks of a launch, the calling one included; 0, the default, means one
    /// per core.
    #[must_use]
    pub fn workers(mut self, count: usize) -> Self {
        self.workers = count;
        self
    }

    /// Sets whether the message hook is told of faults and of refused modules, and whether a host that follows an address
    /// of the device is told which allocation that is: on standard error, by a handler of `SIGSEGV` (Linux). Default: yes.
    /// [`last_fault`](crate::last_fault) knows the newest fault all the same.
    #[must_use]
    pub fn reports(mut self, yes: bool) -> Self {
        self.reports = yes;
        self
    }

    /// Makes these the settings of this process's emulator, in place of those of the environment.
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
