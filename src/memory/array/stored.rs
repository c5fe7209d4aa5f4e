//! The memory of arrays, with its shape.

use cuprum_sys::{CUarray, CUmipmappedArray, CUresult, FnId, Fns, call};

use super::shape::{ArrayFlags, ArrayShape};
use crate::context::ContextRef;
use crate::memory::MemoryError;
use crate::raw::held::{Handle, Held};
use crate::raw::keep::Near;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Storage {
    Array(CUarray),
    Mipmapped(CUmipmappedArray),
}

// SAFETY: the driver allows any thread to use and to free arrays.
unsafe impl Handle for Storage {
    const NAME: &'static str = "Array";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        match self {
            // SAFETY: the caller guarantees that the array is live and not used again.
            Self::Array(raw) => unsafe { call!(fns, cuArrayDestroy(raw)) },
            // SAFETY: as above.
            Self::Mipmapped(raw) => unsafe { call!(fns, cuMipmappedArrayDestroy(raw)) },
        }
    }
}

pub(crate) struct Stored<'ctx> {
    pub(super) memory: Held<'ctx, Storage>,
    pub(super) shape: ArrayShape,
    pub(super) flags: ArrayFlags,
    pub(super) levels: u32,
}

impl<'ctx> Stored<'ctx> {
    pub(super) fn new(
        memory: Held<'ctx, Storage>,
        shape: ArrayShape,
        flags: ArrayFlags,
        levels: u32,
    ) -> Self {
        Self { memory, shape, flags: flags & ArrayFlags::all(), levels }
    }

    pub(crate) const fn raw(&self) -> Storage {
        self.memory.raw()
    }

    pub(crate) fn near(&self) -> Near<'_, ContextRef> {
        self.memory.near()
    }
}

/// Refuses a shape that the driver would misinterpret.
pub(super) fn check(shape: ArrayShape) -> Result<(), MemoryError> {
    if shape.extent().is_empty() { Err(MemoryError::EmptyArray { extent: shape.extent() }) } else { Ok(()) }
}
