//! Choice of a device: the one that the environment names, otherwise the first that works.

use std::fmt;

use super::Device;
use crate::driver::Driver;
use crate::error::Error;

/// The environment variable that names the device to choose, by its number.
pub const DEVICE_VARIABLE: &str = "CUDA_DEVICE";

/// The variables that hide and order devices: `CUDA_VISIBLE_DEVICES` and `CUDA_DEVICE_ORDER`.
///
/// The driver reads both when it is initialized; later changes have no effect. The text form
/// explains their effect on the numbers of devices.
///
/// # Example
/// ```
/// use cuprum::device::Visibility;
///
/// let visibility = Visibility { devices: Some("1".to_owned()), order: Some("PCI_BUS_ID".to_owned()) };
/// assert!(visibility.to_string().starts_with("CUDA_VISIBLE_DEVICES=1 hides all devices but these"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visibility {
    /// The value of `CUDA_VISIBLE_DEVICES`, if set.
    pub devices: Option<String>,
    /// The value of `CUDA_DEVICE_ORDER`, if set.
    pub order: Option<String>,
}

impl Visibility {
    /// Reads the environment of this process.
    #[inline]
    pub fn from_env() -> Self {
        let read = |name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        Self { devices: read("CUDA_VISIBLE_DEVICES"), order: read("CUDA_DEVICE_ORDER") }
    }
}

impl fmt::Display for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.devices.as_deref() {
            None => f.write_str("CUDA_VISIBLE_DEVICES is not set and hides none")?,
            Some("") => f.write_str("CUDA_VISIBLE_DEVICES is set to nothing, which hides all devices")?,
            Some(list) => write!(
                f,
                "CUDA_VISIBLE_DEVICES={list} hides all devices but these, numbers them anew from 0 in this order, and \
                 hides what stands behind the first entry that is no device"
            )?,
        }
        match self.order.as_deref() {
            Some(order @ "PCI_BUS_ID") => {
                write!(f, "; with CUDA_DEVICE_ORDER={order} its numbers are those of nvidia-smi")
            }
            Some(order) => write!(f, "; with CUDA_DEVICE_ORDER={order} {FASTEST_FIRST}"),
            None => write!(f, "; without CUDA_DEVICE_ORDER {FASTEST_FIRST}"),
        }
    }
}

const FASTEST_FIRST: &str = "the fastest device is number 0, unlike in nvidia-smi (CUDA_DEVICE_ORDER=PCI_BUS_ID numbers them as it does)";

/// Why no device was chosen.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::device::ChoiceError;
/// use cuprum::sys::{CUresult, FnId};
///
/// let busy = cuprum::Error::new(CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE, FnId::cuDevicePrimaryCtxRetain).ok_or("no error")?;
/// let chosen = driver.choose_device(|_| Err::<(), _>(busy));
/// assert!(matches!(chosen, Err(ChoiceError::NoneWorks { errors, .. }) if errors[0].1 == busy));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// `CUDA_DEVICE` is not a number.
    #[error("CUDA_DEVICE={value} names no device: it is to be a number, counted from 0")]
    NotANumber {
        /// Its value.
        value: String,
    },
    /// `CUDA_DEVICE` names a device that the driver does not show.
    #[error(
        "CUDA_DEVICE={number} names no device, as the driver shows {count} of them, counted from 0: {visibility}"
    )]
    NotShown {
        /// The requested number.
        number: u32,
        /// Number of devices.
        count: u32,
        /// Variables that may hide the device.
        visibility: Visibility,
    },
    /// The driver shows no device.
    #[error("the driver shows no device: {visibility}")]
    NoDevice {
        /// Variables that may hide devices.
        visibility: Visibility,
    },
    /// No device works of those tried: the one that `CUDA_DEVICE` names, or all.
    #[error("no device works: {}; {visibility}", tried(.errors))]
    NoneWorks {
        /// The number and the error of each device tried.
        errors: Vec<(u32, Error)>,
        /// Variables that may hide other devices.
        visibility: Visibility,
    },
    /// A driver call failed.
    #[error(transparent)]
    Driver(#[from] Error),
}

fn tried(errors: &[(u32, Error)]) -> String {
    let each: Vec<_> = errors.iter().map(|(number, error)| format!("device {number}: {error}")).collect();
    each.join("; ")
}

impl Driver {
    /// Chooses a device as PyCUDA does: the device whose number is in `CUDA_DEVICE`. If the
    /// variable is unset or empty, chooses the first device for which `make` succeeds; `make`
    /// usually creates a context. A device may be in exclusive use by another process, or have no
    /// free memory.
    ///
    /// # Example
    /// ```
    /// use cuprum::context::PrimaryContext;
    /// use cuprum::Driver;
    ///
    /// let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    /// let context = Driver::init(library)?.choose_device(PrimaryContext::retain)?;
    /// println!("{}", context.device().name()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ChoiceError`], with the variables that may hide a device. A named device is the only one
    /// tried.
    pub fn choose_device<R>(self, make: impl FnMut(Device) -> Result<R, Error>) -> Result<R, ChoiceError> {
        let wanted = cuprum_sys::environment::variable(DEVICE_VARIABLE);
        let wanted = wanted.map(|value| value.to_string_lossy().into_owned());
        self.choose(wanted.as_deref(), make)
    }

    fn choose<R>(
        self,
        wanted: Option<&str>,
        mut make: impl FnMut(Device) -> Result<R, Error>,
    ) -> Result<R, ChoiceError> {
        let visibility = Visibility::from_env();
        let count = self.device_count()?;
        let numbers = match wanted {
            None if count == 0 => return Err(ChoiceError::NoDevice { visibility }),
            None => 0..count,
            Some(value) => {
                let number = value.trim().parse::<u32>();
                let number = number.map_err(|_| ChoiceError::NotANumber { value: value.to_owned() })?;
                if number >= count {
                    return Err(ChoiceError::NotShown { number, count, visibility });
                }
                number..number + 1
            }
        };
        let mut errors = Vec::new();
        for number in numbers {
            match self.device(number).and_then(&mut make) {
                Ok(made) => return Ok(made),
                Err(error) => errors.push((number, error)),
            }
        }
        Err(ChoiceError::NoneWorks { errors, visibility })
    }
}
