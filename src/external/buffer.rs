//! Parts of imported memory with an address.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use cuprum_sys::{CUdeviceptr, CUresult, FnId, Fns, call};

use crate::context::ContextRef;
use crate::error::Error;
use crate::memory::elements::elements;
use crate::memory::{DeviceData, Slice, SliceMut};
use crate::raw::held::{Handle, Held};
use crate::raw::keep::Near;
use crate::stream::lend::owners;

/// A mapping by its address.
#[derive(Clone, Copy)]
struct Mapped(CUdeviceptr);

// SAFETY: the driver allows any thread to use and to free device memory.
unsafe impl Handle for Mapped {
    const NAME: &'static str = "Mapped";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller guarantees that the mapping is live and not used again.
        unsafe { call!(fns, cuMemFree_v2(self.0)) }
    }
}

/// `len` elements in memory of another API, made by
/// [`ExternalMemory::map`](super::ExternalMemory::map), which it borrows. Drop unmaps it; the
/// memory remains.
///
/// Example: see [`ExternalMemory`](super::ExternalMemory), `map`.
pub struct ExternalBuffer<'m, T: DeviceData> {
    memory: Held<'m, Mapped>,
    len: usize,
    _elements: PhantomData<T>,
}

elements! {
    ExternalBuffer(this): this.memory.raw().0, of this.memory, this.len;
    as_raw: "Address of the first element in device memory.", context: "The context in which it is mapped."
}

owners! { ExternalBuffer<'_, T>, of DeviceData, by Slice as as_slice; }
owners! { ExternalBuffer<'_, T>, of DeviceData, mutably by SliceMut as as_mut_slice; }

impl<'m, T: DeviceData> ExternalBuffer<'m, T> {
    pub(super) fn new(address: CUdeviceptr, len: usize, context: Near<'m, ContextRef>) -> Self {
        Self { memory: Held::new(Mapped(address), context), len, _elements: PhantomData }
    }

    /// Unmaps it and returns the error that `Drop` would swallow.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuMemFree_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemFree_v2")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.memory.close()
    }
}
