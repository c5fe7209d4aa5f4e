//! Errors of choosing a device.

use super::visibility::Visibility;
#[cfg(doc)]
use crate::driver::Driver;
use crate::error::Error;

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

pub(super) fn tried(errors: &[(u32, Error)]) -> String {
    let each: Vec<_> = errors.iter().map(|(number, error)| format!("device {number}: {error}")).collect();
    each.join("; ")
}
