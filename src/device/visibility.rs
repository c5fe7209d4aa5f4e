//! The devices that a variable shows.

use std::fmt;

/// The variables that hide and order devices: `CUDA_VISIBLE_DEVICES` and `CUDA_DEVICE_ORDER`.
///
/// The driver reads both when it is initialized; later changes have no effect. The text form
/// explains their effect on the numbers of devices.
///
/// ```
/// use cuprum::device::Visibility;
///
/// let visibility = Visibility { devices: Some("1".to_owned()), order: Some("PCI_BUS_ID".to_owned()) };
/// assert!(visibility.to_string().starts_with("CUDA_VISIBLE_DEVICES=1 hides all devices but these"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the two variables that decide it")]
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
