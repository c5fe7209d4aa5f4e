//! The error of loading a driver.

use cuprum_sys::LoadError;

#[cfg(doc)]
use super::Driver;
use crate::error::Error;

/// Error of [`Driver::load`].
///
/// ```
/// use cuprum::driver::DriverError;
/// use cuprum::Driver;
///
/// match Driver::load() {
///     Ok(driver) => println!("CUDA {}", driver.version()),
///     Err(DriverError::Load(error)) => println!("no driver on this machine: {error}"),
///     Err(DriverError::Init(error)) => println!("a driver that cannot start: {error}"),
///     Err(error) => println!("{error}"),
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// No driver library could be loaded. The error lists the paths tried, with the linker's
    /// messages.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The library refused to initialize, for example because there is no device.
    #[error(transparent)]
    Init(#[from] Error),
}
