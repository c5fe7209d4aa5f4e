//! The settings, their default values, and their installation.

use super::environment::SettingsError;
use crate::exec;
use core::fmt;
use cuprum_sys::Version;
use std::sync::OnceLock;
use std::time::Duration;

/// Determines when queued operations run.
///
/// # Example
/// ```
/// use cuprum_emulator::{Mode, Settings};
///
/// // A program that forgets to wait finds no results here, although hardware is often fast enough.
/// let settings = Settings::default().mode(Mode::Deferred);
/// settings.install()?;
/// # Ok::<(), cuprum_emulator::AlreadyInUse>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Mode {
    /// Runs operations within the call that queues them, in the order of the calls. Deterministic.
    /// Functions of the program, and graphs with such, run on a thread of the driver, because they
    /// may wait for the caller; the call waits for up to 100 ms until they end.
    #[default]
    Eager,
    /// Runs operations on a thread of the driver while the host continues.
    Async,
    /// Runs operations when the host waits, callbacks also after a delay. Reveals missing waits.
    Deferred,
    /// Runs operations at random times, in a random order among the possible ones, and copies in
    /// parts. The seed determines the order as long as one thread calls the driver. Operations run
    /// in driver calls of all kinds, at the latest in a wait for them.
    Shuffled(u64),
}

/// Misuse of the driver's functions that is reported in addition to the returned code.
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
    /// Reports nothing.
    Off,
    /// Reports calls that no program makes on purpose: double frees, uses of destroyed handles,
    /// copies beyond an allocation, addresses truncated to 32 bits, objects of another context,
    /// launches that no device can run.
    #[default]
    Certain,
    /// Also reports launches that exceed their kernel's limits, which programs may try on purpose.
    All,
}

/// The emulator's settings. A process has one emulator, whose settings the first use fixes.
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
/// | `CUPRUM_EMULATOR_EXECUTION` | `automatic`, `vector`, `plain`, and with the feature `compile` `compiled`, `quads`, `octets`, `warps` | `automatic` |
/// | `CUPRUM_EMULATOR_WORKERS` | a number; `0` for one per core | `0` |
/// | `CUPRUM_EMULATOR_REPORTS` | `0`, `1` | `1` |
///
/// Memory accesses are always checked: out of bounds, freed, misaligned, null, host memory. No
/// setting turns this off, because such an access would be an access to the emulator's own memory.
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

pub(super) const MAX_DEVICES: u32 = 16;

/// Maximum number of multiprocessors per device.
pub(super) const MAX_MULTIPROCESSORS: u32 = 1024;

/// Default memory of one device, in bytes.
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

/// The emulator is already in use, so its settings can no longer change.
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
#[expect(clippy::exhaustive_structs, reason = "an error that says all by its name")]
pub struct AlreadyInUse;

impl fmt::Display for AlreadyInUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the emulator is in use already; install its settings before the first call")
    }
}

impl std::error::Error for AlreadyInUse {}

static INSTALLED: OnceLock<Result<Settings, SettingsError>> = OnceLock::new();

impl Settings {
    /// Sets the CUDA version that the driver reports. Functions of newer versions are absent.
    #[must_use]
    pub fn driver_version(mut self, major: u32, minor: u32) -> Self {
        self.driver_version = Version::new(major, minor);
        self
    }

    /// Sets the compute capability of each device.
    #[must_use]
    pub fn compute_capability(mut self, major: u32, minor: u32) -> Self {
        self.compute_capability = (major, minor);
        self
    }

    /// Sets the memory of each device, in bytes. The host provides it as it is used.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = bytes;
        self
    }

    /// Sets the number of devices, clamped to 1 to 16.
    #[must_use]
    pub fn devices(mut self, count: u32) -> Self {
        self.devices = count.clamp(1, MAX_DEVICES);
        self
    }

    /// Sets the number of multiprocessors that each device reports, up to 1024; 0, the default,
    /// means one per core. It limits cooperative launches. [`Settings::workers`] sets the number of
    /// blocks that run at once.
    #[must_use]
    pub fn multiprocessors(mut self, count: u32) -> Self {
        self.multiprocessors = count.min(MAX_MULTIPROCESSORS);
        self
    }

    /// Sets the devices that the driver shows, and their order: a list as in
    /// `CUDA_VISIBLE_DEVICES`, of numbers or UUIDs (`GPU-` and enough digits to be unique). The
    /// first invalid entry ends the list.
    ///
    /// The variable itself applies only to `libcuda.so.1`. It is used to hide GPUs, and a program
    /// that embeds the emulator then still needs it.
    #[must_use]
    pub fn visible_devices(mut self, list: &str) -> Self {
        self.visible_devices = Some(list.to_owned());
        self
    }

    /// Sets when the operations of a stream run.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets whether a kernel is stopped when it reads uninitialized global, shared or local memory,
    /// or uses an uninitialized register. Default: no.
    #[must_use]
    pub fn check_init(mut self, yes: bool) -> Self {
        self.check_init = yes;
        self
    }

    /// Sets whether a kernel is stopped when threads access the same shared or global memory
    /// without an order. Default: no. One worker then runs all blocks.
    ///
    /// Two accesses of different threads are reported if at least one is a write and they are not
    /// both strong (atomic, volatile or with a memory order) within each other's scope. Not
    /// reported are two writes of the same value, and plain reads with atomic instructions, for
    /// which [`Settings::check_atomic_reads`] exists.
    #[must_use]
    pub fn check_races(mut self, yes: bool) -> Self {
        self.check_races = yes;
        self
    }

    /// With [`Settings::check_races`]: sets whether a kernel is also stopped when a thread plainly
    /// reads memory that another thread changes by an atomic instruction. Default: no. PTX calls
    /// this a race, but hardware reads whole words, and the usual loop around a compare-and-swap
    /// begins with a plain read.
    #[must_use]
    pub fn check_atomic_reads(mut self, yes: bool) -> Self {
        self.check_atomic_reads = yes;
        self
    }

    /// Sets whether a kernel is stopped for undefined behavior at barriers or at warp-level
    /// instructions. Default: no. States in which no thread can run are always reported.
    #[must_use]
    pub fn check_barriers(mut self, yes: bool) -> Self {
        self.check_barriers = yes;
        self
    }

    /// Sets whether a kernel is stopped when it stores a NaN that it computed from numbers, such as
    /// 0 / 0 or the root of a negative number. The report names the instruction that computed it,
    /// and its operands. Default: no.
    ///
    /// Code for special cases may compute a NaN and then not use it, which is not reported. Neither
    /// are NaNs from memory, from parameters or from a constant.
    #[must_use]
    pub fn check_nans(mut self, yes: bool) -> Self {
        self.check_nans = yes;
        self
    }

    /// Sets whether the message hook receives [`Message::Unordered`](crate::Message::Unordered) for
    /// operations that access the same bytes, at least one of them writing, without an order by a
    /// stream, an event or a wait of the host. Default: no. Nothing is stopped. The reports are the
    /// same in all modes.
    #[must_use]
    pub fn check_order(mut self, yes: bool) -> Self {
        self.check_order = yes;
        self
    }

    /// Sets whether the message hook receives the leaks of a context when it ends, and the leaks
    /// when the process ends. Default: no. [`leaks`](crate::leaks) returns them in any case.
    #[must_use]
    pub fn check_leaks(mut self, yes: bool) -> Self {
        self.check_leaks = yes;
        self
    }

    /// Sets which misuse of the API the message hook receives as
    /// [`Message::Misuse`](crate::Message::Misuse): once per call site, with the stack of the
    /// client. Default: [`ApiCheck::Certain`]. The results of the calls do not change.
    #[must_use]
    pub fn check_api(mut self, which: ApiCheck) -> Self {
        self.check_api = which;
        self
    }

    /// Sets whether a finding of `check_init`, `check_races`, `check_barriers` or `check_nans` ends
    /// the launch and its context, like a fault. Default: yes, because otherwise a program without
    /// a message hook would not notice it.
    ///
    /// If not, the launch continues, and the message hook receives each finding once per kind and
    /// line of a kernel, up to 1000. `cuprum run`, `cuda-software` and the plugin for pytest set
    /// this to no, because their exit code shows that there were findings.
    #[must_use]
    pub fn fail_fast(mut self, yes: bool) -> Self {
        self.fail_fast = yes;
        self
    }

    /// Sets the maximum number of warp instructions of a launch. A launch that exceeds it fails
    /// with `CUDA_ERROR_LAUNCH_TIMEOUT`, and so does a `WHILE` node of a graph that runs its body
    /// more often. Default: no limit.
    #[must_use]
    pub fn instruction_budget(mut self, instructions: u64) -> Self {
        self.instruction_budget = Some(instructions);
        self
    }

    /// Sets the maximum duration of a launch, and of all runs of the body of a `WHILE` node of a
    /// graph. A longer one fails with `CUDA_ERROR_LAUNCH_TIMEOUT`. Default: no limit.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// Runs blocks and warps in a random order given by this seed, to reveal dependences on the
    /// order. One worker then runs all blocks, so the same seed always gives the same order.
    /// Default: blocks and warps in the order of their numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the mode of execution. Default: [`exec::Execution::Automatic`].
    #[must_use]
    pub fn execution(mut self, mode: exec::Execution) -> Self {
        self.execution = mode;
        self
    }

    /// Sets the number of threads that run the blocks of a launch, including the calling one; 0,
    /// the default, means one per core.
    #[must_use]
    pub fn workers(mut self, count: usize) -> Self {
        self.workers = count;
        self
    }

    /// Sets whether the message hook receives messages other than leaks, missing orders between
    /// streams and invalid settings, and whether a host access to a device address is reported: on
    /// standard error, by a handler of `SIGSEGV` (Linux). Default: yes.
    /// [`last_fault`](crate::last_fault) returns the latest fault in any case.
    #[must_use]
    pub fn reports(mut self, yes: bool) -> Self {
        self.reports = yes;
        self
    }

    /// Makes these the settings of this process's emulator, in place of the environment's.
    ///
    /// # Errors
    ///
    /// [`AlreadyInUse`] if the emulator has already been used.
    pub fn install(self) -> Result<(), AlreadyInUse> {
        INSTALLED.set(Ok(self)).map_err(|_| AlreadyInUse)
    }

    /// Returns the settings in force, which no longer change.
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
