//! What kind of device the emulator poses as.

use core::fmt;
use std::sync::OnceLock;

use cuprum_sys::Version;

/// When the operations that are pushed to streams run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Mode {
    /// Inside of the call that pushes them, in the order of the calls. Deterministic.
    #[default]
    Eager,
    /// On a thread of the driver's own, while the host goes on.
    Async,
    /// When the host waits for them. Shows where a program forgets to wait.
    Deferred,
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
/// | `CUPRUM_EMULATOR_MODE` | `eager`, `async`, `deferred` | `eager` |
/// | `CUPRUM_EMULATOR_INITCHECK` | `0`, `1` | `0` |
///
/// ```
/// use cuprum_emulator::Settings;
///
/// let settings = Settings::default().driver_version(11, 4).devices(2);
/// assert_eq!(settings.to_string(), "CUDA 11.4, 2 devices of compute capability 9.0, 4096 MiB each");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub(crate) driver_version: Version,
    pub(crate) compute_capability: (u32, u32),
    pub(crate) memory_bytes: u64,
    pub(crate) devices: u32,
    pub(crate) mode: Mode,
    pub(crate) track_init: bool,
    pub(crate) visible_devices: Option<String>,
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
            track_init: false,
            visible_devices: None,
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

    /// Whether kernels are stopped when they read device memory that nobody wrote.
    #[must_use]
    pub fn check_initialised(mut self, yes: bool) -> Self {
        self.track_init = yes;
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

    fn from_lookup(lookup: impl Fn(&'static str) -> Option<String>) -> Result<Self, SettingsError> {
        fn parse<T>(
            value: Option<String>,
            variable: &'static str,
            wanted: &'static str,
            parse: impl Fn(&str) -> Option<T>,
        ) -> Result<Option<T>, SettingsError> {
            let Some(value) = value.filter(|value| !value.is_empty()) else {
                return Ok(None);
            };
            match parse(value.trim()) {
                Some(parsed) => Ok(Some(parsed)),
                None => Err(SettingsError { variable, value, wanted }),
            }
        }
        let mut settings = Self::default();
        macro_rules! read {
            ($field:ident, $variable:literal, $wanted:literal, $parse:expr) => {
                if let Some(value) = parse(lookup($variable), $variable, $wanted, $parse)? {
                    settings.$field = value;
                }
            };
        }
        read!(
            driver_version,
            "CUPRUM_EMULATOR_DRIVER_VERSION",
            "a CUDA version such as 12.4 or 12040",
            parse_version
        );
        read!(
            compute_capability,
            "CUPRUM_EMULATOR_COMPUTE_CAPABILITY",
            "a compute capability such as 9.0",
            |text| parse_pair(text).filter(|&(major, minor)| major >= 5 && minor < 10)
        );
        read!(memory_bytes, "CUPRUM_EMULATOR_MEMORY", "a number of bytes such as 512M or 4G", parse_bytes);
        read!(devices, "CUPRUM_EMULATOR_DEVICES", "a number from 1 to 16", |text| text
            .parse()
            .ok()
            .filter(|count| (1..=MAX_DEVICES).contains(count)));
        read!(mode, "CUPRUM_EMULATOR_MODE", "eager, async or deferred", |text| match text {
            "eager" => Some(Mode::Eager),
            "async" => Some(Mode::Async),
            "deferred" => Some(Mode::Deferred),
            _ => None,
        });
        read!(track_init, "CUPRUM_EMULATOR_INITCHECK", "0 or 1", |text| match text {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        });
        Ok(settings)
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
        let version = with("CUPRUM_EMULATOR_DRIVER_VERSION", "11.4").unwrap();
        assert_eq!(version.driver_version, Version::new(11, 4));
        let raw = with("CUPRUM_EMULATOR_DRIVER_VERSION", "12080").unwrap();
        assert_eq!(raw.driver_version, Version::new(12, 8));
        let capability = with("CUPRUM_EMULATOR_COMPUTE_CAPABILITY", "7.5").unwrap();
        assert_eq!(capability.compute_capability, (7, 5));
        let memory = with("CUPRUM_EMULATOR_MEMORY", "512M").unwrap();
        assert_eq!(memory.memory_bytes, 512 << 20);
        let devices = with("CUPRUM_EMULATOR_DEVICES", "4").unwrap();
        assert_eq!(devices.devices, 4);
        let mode = with("CUPRUM_EMULATOR_MODE", "deferred").unwrap();
        assert_eq!(mode.mode, Mode::Deferred);
        assert!(with("CUPRUM_EMULATOR_INITCHECK", "1").unwrap().track_init);
        assert_eq!(with("CUPRUM_EMULATOR_MODE", "").unwrap(), Settings::default());
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
            ("CUPRUM_EMULATOR_INITCHECK", "yes"),
        ] {
            let error = with(variable, value).unwrap_err();
            assert!(error.to_string().starts_with(&format!("{variable}={value}: ")), "{error}");
        }
    }
}
