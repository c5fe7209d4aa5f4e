//! Global variables of a module.

use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{CUdeviceptr, CUresult};

use super::ModuleError;
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::memory::{DeviceData, MemoryError, Slice, SliceMut};
use crate::raw::keep::Near;

/// A `__device__` or `__constant__` variable, as elements of `T`. It borrows its module.
///
/// Kernels may read and write it at any time, and several of these can name the same variable; so it gives
/// copies, never borrowed slices.
///
/// Example: that of [`Module`](super::Module), `global`.
pub struct Global<'m, T: DeviceData> {
    address: CUdeviceptr,
    len: usize,
    context: Near<'m, ContextRef>,
    _elements: PhantomData<T>,
}

impl<'m, T: DeviceData> Global<'m, T> {
    /// Asks for the variable of this name, which lives for `'m`, and compares its size.
    pub(super) fn find(
        context: Near<'m, ContextRef>,
        name: &str,
        ask: impl FnOnce(&ContextRef, *mut CUdeviceptr, *mut usize) -> Result<(), Error>,
    ) -> Result<Self, ModuleError> {
        let (mut address, mut bytes) = (0, 0);
        ask(&context, &raw mut address, &raw mut bytes).map_err(|error| match error.code() {
            CUresult::CUDA_ERROR_NOT_FOUND => ModuleError::NoGlobal { error, name: name.to_owned() },
            _ => error.into(),
        })?;
        let element_bytes = size_of::<T>();
        match bytes.checked_rem(element_bytes) {
            Some(0) => Ok(Self { address, len: bytes / element_bytes, context, _elements: PhantomData }),
            _ => Err(ModuleError::GlobalSize { name: name.to_owned(), bytes, element_bytes }),
        }
    }

    /// The address in device memory.
    pub const fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// The number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True if there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies `host` into the variable. Returns when `host` may be reused.
    ///
    /// # Errors
    /// Those of [`SliceMut::copy_from_host`].
    ///
    /// Driver: `cuMemcpyHtoD_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyHtoD_v2")]
    #[inline]
    pub fn copy_from_host(&self, cx: &Current<'_, '_>, host: &[T]) -> Result<(), MemoryError> {
        SliceMut::new(self.address, self.len, self.context).copy_from_host(cx, host)
    }

    /// Copies the variable to `host`. Blocks until it is there.
    ///
    /// # Errors
    /// Those of [`Slice::copy_to_host`].
    ///
    /// Driver: `cuMemcpyDtoH_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoH_v2")]
    #[inline]
    pub fn copy_to_host(&self, cx: &Current<'_, '_>, host: &mut [T]) -> Result<(), MemoryError> {
        Slice::new(self.address, self.len, self.context).copy_to_host(cx, host)
    }
}

impl<T: DeviceData> fmt::Debug for Global<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Global({:#x}, {} elements)", self.address, self.len)
    }
}
