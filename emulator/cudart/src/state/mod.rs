//! State of the runtime on top of the driver's: per thread, and per device.

pub(crate) mod device;
pub(crate) mod thread;
