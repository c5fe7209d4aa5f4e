//! A loaded and initialized driver: the only source of devices.

#[allow(clippy::module_inception, reason = "a file is an object")]
mod driver;
mod error;

pub use self::driver::Driver;
pub use self::error::DriverError;
