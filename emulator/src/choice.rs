//! Opens a GPU if the machine has one, and the emulator otherwise.

use core::fmt;

use cuprum_sys::{CUresult, Library, LoadError, environment};

/// Environment variable that forces one of them: `gpu` or `emulator`.
const VARIABLE: &str = "CUPRUM_DEVICE";

/// The driver that was opened, and the reason.
///
/// # Example
/// ```
/// use cuprum_emulator::{Choice, Reason};
///
/// let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
/// match &choice {
///     Choice::Emulator(Reason::NoDriver(error)) => println!("no driver on this machine: {error}"),
///     other => println!("{other}"),
/// }
/// assert!(library.version() >= cuprum_sys::Version::new(6, 5));
/// # Ok::<(), cuprum_emulator::ChoiceError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Choice {
    /// NVIDIA's driver, with at least one device.
    Gpu {
        /// Number of devices found.
        devices: u32,
    },
    /// A driver in software that the loader found in place of NVIDIA's, such as our `libcuda.so.1`.
    SoftwareLibrary {
        /// Name or path under which it was loaded.
        origin: &'static str,
        /// Number of devices found.
        devices: u32,
    },
    /// The emulator.
    Emulator(Reason),
}

/// Reason why there is no GPU.
///
/// ```
/// use cuprum_emulator::{Choice, Reason};
///
/// let choice = Choice::Emulator(Reason::NoDevice);
/// assert_eq!(choice.to_string(), "software device: the driver has no device");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The environment asks for the emulator.
    Forced,
    /// No driver could be loaded.
    NoDriver(LoadError),
    /// The driver did not start.
    InitFailed(CUresult),
    /// The driver has no device.
    NoDevice,
    /// The driver found is a driver in software.
    SoftwareLibrary {
        /// Name or path under which it was loaded.
        origin: &'static str,
    },
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gpu { devices } => write!(f, "NVIDIA driver, {devices} device(s)"),
            Self::SoftwareLibrary { origin, devices } => {
                write!(f, "software driver {origin}, {devices} device(s)")
            }
            Self::Emulator(reason) => write!(f, "software device: {reason}"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forced => write!(f, "{VARIABLE}=emulator asks for it"),
            Self::NoDriver(error) => write!(f, "{error}"),
            Self::InitFailed(code) => write!(f, "the driver's cuInit answers {code:?}"),
            Self::NoDevice => f.write_str("the driver has no device"),
            Self::SoftwareLibrary { origin } => write!(f, "{origin} is a driver in software"),
        }
    }
}

/// Reason why no driver was opened.
///
/// ```
/// match cuprum_emulator::open_driver_or_emulator() {
///     Ok((_library, choice)) => println!("{choice}"),
///     Err(cuprum_emulator::ChoiceError::NoGpu(reason)) => println!("CUPRUM_DEVICE=gpu, but {reason}"),
///     Err(error) => println!("{error}"),
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ChoiceError {
    /// The environment demands a GPU, and there is none.
    NoGpu(Reason),
    /// The environment asks for something that does not exist.
    UnknownDevice(String),
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGpu(reason) => write!(f, "{VARIABLE}=gpu demands a GPU, but {reason}"),
            Self::UnknownDevice(value) => {
                write!(f, "{VARIABLE}={value}: expected `gpu` or `emulator`")
            }
        }
    }
}

impl std::error::Error for ChoiceError {}

/// Opens the machine's driver if it loads, starts and has a device. Opens the emulator otherwise.
///
/// `CUPRUM_DEVICE=gpu` or `CUPRUM_DEVICE=emulator` in the environment forces one of them. A driver
/// in software that the system's loader finds as `libcuda.so.1` does not count as a GPU. The driver
/// is initialized in all cases. [`Library::is_software_device`] distinguishes them for any library.
///
/// The emulator writes its reports to standard error, as [`library`](crate::library) says.
///
/// # Errors
///
/// [`ChoiceError`] if a GPU is demanded and there is none, or if the variable has another value.
pub fn open_driver_or_emulator() -> Result<(Library, Choice), ChoiceError> {
    let wanted = environment::variable(VARIABLE).unwrap_or_default();
    let wanted = wanted.to_string_lossy().into_owned();
    match wanted.as_str() {
        "emulator" => Ok(emulator(Reason::Forced)),
        "gpu" => match open_driver() {
            Ok((_, Choice::SoftwareLibrary { origin, .. })) => {
                Err(ChoiceError::NoGpu(Reason::SoftwareLibrary { origin }))
            }
            opened => opened.map_err(ChoiceError::NoGpu),
        },
        "" => Ok(open_driver().unwrap_or_else(emulator)),
        _ => Err(ChoiceError::UnknownDevice(wanted)),
    }
}

fn emulator(reason: Reason) -> (Library, Choice) {
    (crate::library(), Choice::Emulator(reason))
}

fn open_driver() -> Result<(Library, Choice), Reason> {
    let library = Library::open().map_err(Reason::NoDriver)?;
    match library.init() {
        CUresult::CUDA_SUCCESS => {}
        code => return Err(Reason::InitFailed(code)),
    }
    let mut count = 0;
    // SAFETY: `count` is a valid output, and the driver is initialized.
    let result = unsafe { (library.fns().cuDeviceGetCount)(&mut count) };
    match (result, u32::try_from(count)) {
        (CUresult::CUDA_SUCCESS, Ok(devices)) if devices > 0 => {
            let origin = library.origin();
            let software = library.is_software_device();
            let choice =
                if software { Choice::SoftwareLibrary { origin, devices } } else { Choice::Gpu { devices } };
            Ok((library, choice))
        }
        _ => Err(Reason::NoDevice),
    }
}
