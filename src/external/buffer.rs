//! A part of imported memory with an address.

use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{CUdeviceptr, CUresult, FnId, Fns, call};

use crate::context::ContextRef;
use crate::error::Error;
use crate::memory::{DeviceData, Slice, SliceMut};
use crate::raw::held::{Handle, Held};
use crate::raw::keep::Near;

/// A mapping by its address.
#[derive(Clone, Copy)]
struct Mapped(CUdeviceptr);

// SAFETY: the driver allows any thread to use and to free device memory.
unsafe impl Handle for Mapped {
    const NAME: &'static str = "Mapped";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller vouches that the mapping is live and not used again.
        unsafe { call!(fns, cuMemFree_v2(self.0)) }
    }
}

/// `len` elements in memory of another API, made by [`ExternalMemory::map`](super::ExternalMemory::map), which it borrows.
/// Drop takes the mapping away; the memory stays.
///
/// Example: that of [`ExternalMemory`](super::ExternalMemory), `map`.
pub struct ExternalBuffer<'m, T: DeviceData> {
    memory: Held<'m, Mapped>,
    len: usize,
    _elements: PhantomData<T>,
}

impl<'m, T: DeviceData> ExternalBuffer<'m, T> {
    pub(super) fn new(address: CUdeviceptr, len: usize, context: Near<'m, ContextRef>) -> Self {
        Self { memory: Held::new(Mapped(address), context), len, _elements: PhantomData }
    }

    /// Address of the first element in device memory.
    #[inline]
    pub const fn as_raw(&self) -> CUdeviceptr {
        self.memory.raw().0
    }

    /// The context in which it is mapped.
    pub fn context(&self) -> &ContextRef {
        self.memory.context()
    }

    /// Number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True if there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All elements, to read.
    pub fn as_slice(&self) -> Slice<'_, T> {
        Slice::new(self.as_raw(), self.len, self.memory.near())
    }

    /// All elements, to write.
    pub fn as_mut_slice(&mut self) -> SliceMut<'_, T> {
        SliceMut::new(self.as_raw(), self.len, self.memory.near())
    }

    /// Takes the mapping away and reports what `Drop` would swallow. It is gone after an error too.
    ///
    /// # Errors
    /// Whatever the driver reports.
    ///
    /// Driver: `cuMemFree_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemFree_v2")]
    pub fn close(self) -> Result<(), Error> {
        self.memory.close()
    }
}

impl<T: DeviceData> fmt::Debug for ExternalBuffer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExternalBuffer({:#x}, {} elements)", self.as_raw(), self.len)
    }
}
