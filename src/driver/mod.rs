//! A loaded and initialized driver: the only source of devices.

mod driver;
mod error;

pub use self::driver::Driver;
pub use self::error::DriverError;
