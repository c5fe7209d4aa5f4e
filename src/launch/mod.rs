//! Launching: a kernel bound to a Rust signature, a geometry, and arguments.
//!
//! The signature is checked against the kernel once, by [`Function::bind`](crate::Function::bind). A launch then checks
//! only what may differ between launches, by a few comparisons, and calls the driver once. It allocates nothing.

mod attributes;
mod bind;
mod call;
mod config;
mod host;
mod kernel;
mod limits;
mod occupancy;
mod shared;
mod signature;
mod timed;
mod tuples;

pub(crate) use self::signature::addresses;

pub use self::attributes::LaunchAttributes;
pub use self::bind::{BindError, Mismatch};
pub use self::call::{CallArguments, CallError};
pub use self::config::{Dim3, LaunchConfig};
pub use self::host::{HostElements, HostIn, HostInOut, HostOut};
pub use self::kernel::{Kernel, LaunchError};
pub use self::occupancy::{BlockSuggestion, OccupancyFlags};
pub use self::shared::SharedKernel;
pub use self::signature::{Argument, Arguments, In, InOut, Parameter, Signature};
