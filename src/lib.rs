//! Safe layer over the CUDA driver API.

mod context;
mod device;
mod driver;
mod error;
mod event;
mod function;
mod global;
mod launch;
mod memory;
mod module;
pub mod not_wrapped;
mod ptx;
mod scope;
mod stream;
pub mod swallowed;

pub use cuprum_sys as sys;
pub use cuprum_sys::{Library, LoadError, Version};

pub use crate::context::{
    Context, ContextFlags, ContextRef, ContextStack, Current, ForeignContext, Limit, MemoryInfo,
    PrimaryContext, PrimaryState, StackTaken,
};
pub use crate::device::{ComputeCapability, Device};
pub use crate::driver::{Driver, DriverError};
pub use crate::error::Error;
pub use crate::event::{Event, EventFlags};
pub use crate::function::Function;
pub use crate::global::Global;
pub use crate::launch::{
    Argument, Arguments, BindError, Dim3, In, InOut, Kernel, LaunchConfig, LaunchError, Parameter, Signature,
};
pub use crate::memory::{Buffer, DeviceAddress, DeviceData, Fill, MemoryError, Slice, SliceMut};
pub use crate::module::{Module, ModuleError};
pub use crate::scope::{Lent, Scope};
pub use crate::stream::{Stream, StreamKind};

/// The README's example, compiled and run with the other examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
