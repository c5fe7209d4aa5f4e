//! Shared parts of the tests of all crates.
//!
//! Without features, for crates that know no safe layer: children and peers of a test, and the cases of the kernels.
//! With the feature `sys`: drivers that are files, and checks of any driver.
//! With the feature `safe`: a device and a context, drivers that record their calls, and readers of the sources.

pub mod amount;
#[cfg(all(feature = "sys", unix))]
pub mod checks;
pub mod child;
#[cfg(feature = "safe")]
pub mod common;
#[cfg(all(feature = "safe", target_os = "linux"))]
pub mod egl;
pub mod executors;
pub mod itself;
pub mod kernels;
#[cfg(target_os = "linux")]
pub mod mesa;
#[cfg(feature = "sys")]
pub mod opened;
pub mod peer;
pub mod processes;
#[cfg(feature = "safe")]
pub mod sampling;
#[cfg(feature = "safe")]
pub mod source;
#[cfg(feature = "safe")]
pub mod tracer;
