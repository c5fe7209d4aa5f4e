//! Errors.

use cudarc::driver::DriverError;
use cuprum::sys::LoadError;
use cuprum::{AnyError, Error, MemoryError};

/// Error of a call of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// cudarc finds no driver. Calls of cudarc would panic.
    #[error("cudarc finds no CUDA driver: libcuda.so or libcuda.so.1 is not in the loader's path")]
    NoDriver,
    /// The library that cudarc has loaded is no driver.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// cuprum uses another driver than cudarc: open it by [`library`](crate::library), or pass it
    /// cudarc's objects only.
    #[error(
        "cuprum uses the driver {0}, and cudarc another one: open the driver by `cuprum_cudarc::library`"
    )]
    OtherDriver(&'static str),
    /// The context is not the primary one of its device, in which both crates can work.
    #[error("the context is not the primary one of its device: use `CudaContext::new` or `cuprum::open_in`")]
    NotPrimary,
    /// A stream, an event or memory belongs to another context.
    #[error("the {0} belongs to another context")]
    OtherContext(&'static str),
    /// The memory is lent to another stream than cudarc's.
    #[error("the memory is lent to another stream: the scope has to be on the stream that cudarc uses")]
    OtherStream,
    /// cudarc owns no memory of no elements.
    #[error("a buffer of no elements has no memory that cudarc could own")]
    Empty,
    /// cuprum refused.
    #[error(transparent)]
    Cuprum(#[from] Error),
    /// Memory was refused.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A call of cudarc failed.
    #[error(transparent)]
    Cudarc(#[from] DriverError),
}

impl From<BridgeError> for AnyError {
    fn from(error: BridgeError) -> Self {
        match error {
            BridgeError::Cuprum(error) => error.into(),
            BridgeError::Memory(error) => error.into(),
            BridgeError::Load(error) => error.into(),
            other => Self::other(other),
        }
    }
}
