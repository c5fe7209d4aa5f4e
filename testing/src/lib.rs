//! Shared parts of the tests of all crates.
//!
//! Without features, for crates that know no safe layer: children and peers of a test, libraries
//! and programs that it builds, and the cases of the kernels. With the feature `sys`: drivers that
//! are files, and checks of any driver. With the feature `engine`: memory and launches without a
//! driver. With the feature `emulator`: calls of the software device's driver functions. With the
//! feature `safe`: a device and a context, drivers that record their calls, and readers of the
//! sources.

pub mod amount;
#[cfg(target_os = "linux")]
pub mod c_programs;
#[cfg(all(feature = "sys", unix))]
pub mod checks;
pub mod child;
pub mod clock;
#[cfg(feature = "safe")]
pub mod common;
#[cfg(feature = "engine")]
pub mod device;
#[cfg(feature = "emulator")]
pub mod driver_calls;
#[cfg(all(feature = "safe", target_os = "linux"))]
pub mod egl;
pub mod executors;
pub mod hopper;
pub mod itself;
pub mod kernels;
pub mod libcuda;
pub mod lines;
#[cfg(target_os = "linux")]
pub mod mesa;
pub mod mutation;
#[cfg(feature = "sys")]
pub mod opened;
pub mod peer;
pub mod processes;
pub mod random;
#[cfg(feature = "safe")]
pub mod sampling;
#[cfg(feature = "safe")]
pub mod source;
#[cfg(feature = "safe")]
pub mod tracer;
