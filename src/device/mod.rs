//! Devices and their properties.

mod capability;
mod choice;
mod choice_error;
mod device;
mod peer;
mod resource;
mod support;
mod visibility;

pub use self::capability::ComputeCapability;
pub use self::choice::DEVICE_VARIABLE;
pub use self::choice_error::ChoiceError;
pub use self::device::Device;
pub(crate) use self::resource::describe;
pub use self::resource::{DeviceResource, GroupFlags, ResourceKind, SmGroup, SplitFlags};
pub use self::visibility::Visibility;
