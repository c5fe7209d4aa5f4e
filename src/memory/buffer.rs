//! Owned device memory.

use std::marker::PhantomData;
use std::ops::RangeBounds;

use cuprum_sys::CUdeviceptr;

use super::elements::elements;
use super::{DeviceData, MemoryError, Slice, SliceMut, bytes_of};
use crate::context::{ContextRef, Current, context_call, entered};
use crate::raw::held::{Held, handle};
use crate::raw::owner::close;

/// An allocation by its address; 0 for none.
#[derive(Clone, Copy)]
pub(super) struct Allocation(pub(super) CUdeviceptr);

// SAFETY: the driver allows any thread to use and to free device memory.
handle!(#[inline] unsafe Allocation: "Allocation", owned if |raw| raw.0 != 0, |raw| cuMemFree_v2(raw.0));

/// `len` elements of device memory in one context, freed on drop.
///
/// The host cannot dereference it; copy it to the host to read its contents. It borrows its context
/// or holds a share of it, so the context outlives it. It can be sent to any thread and dropped
/// there.
///
/// [`Current::copy`] and [`Current::fill`] work on it, and a [scope](Current::scope) borrows it.
///
/// A buffer of zero bytes owns nothing and makes no driver calls.
///
/// # Keeping it in a struct
///
/// To keep it in a struct, make it in a [shared context](crate::Shared): it is then a
/// `Buffer<'static, T>`, which holds a share of the context. The struct may also hold the context.
/// Made in a borrowed context, it borrows the context for `'ctx`, so no struct can hold it together
/// with the context.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Buffer;
///
/// let mut numbers = Buffer::from_slice(&cx, &[1u32, 2, 3, 4])?;
/// cx.fill(&mut numbers.slice_mut(1..3).ok_or("outside")?, 0)?;
/// assert_eq!(numbers.to_vec(&cx)?, [1, 0, 0, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Buffer<'ctx, T: DeviceData> {
    memory: Held<'ctx, Allocation>,
    len: usize,
    _elements: PhantomData<T>,
}

entered!([T: DeviceData] Buffer<'ctx, T>: memory);

elements! {
    Buffer(this): this.memory.raw().0, of this.memory, this.len;
    as_raw: "Address of the first element in device memory; 0 for a buffer that owns nothing.",
    context: "The context in which the memory was allocated."
}

impl<'ctx, T: DeviceData> Buffer<'ctx, T> {
    /// Allocates `len` elements without initializing them.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuMemAlloc_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemAlloc_v2")]
    #[inline]
    pub fn alloc(cx: &Current<'_, 'ctx>, len: usize) -> Result<Self, MemoryError> {
        let bytes = bytes_of::<T>(len)?;
        let context = cx.get()?;
        let mut address = 0;
        if bytes != 0 {
            // SAFETY: `address` outlives the call, and `cx` proves a current context.
            unsafe { context_call!(&context, cuMemAlloc_v2(&raw mut address, bytes)) }?;
        }
        Ok(Self { memory: Held::new(Allocation(address), context), len, _elements: PhantomData })
    }

    /// Allocates `len` elements and sets all their bytes to zero.
    ///
    /// # Errors
    /// Same as [`alloc`](Buffer::alloc).
    ///
    /// Driver: `cuMemAlloc_v2` and `cuMemsetD8_v2`, CUDA 3.2+.
    #[doc(alias("cuMemAlloc_v2", "cuMemsetD8_v2"))]
    #[inline]
    pub fn zeroed(cx: &Current<'_, 'ctx>, len: usize) -> Result<Self, MemoryError> {
        let mut buffer = Self::alloc(cx, len)?;
        cx.fill_bytes(&mut buffer, 0)?;
        Ok(buffer)
    }

    /// Allocates a buffer of the length of `host` and copies `host` there.
    ///
    /// # Errors
    /// Same as [`alloc`](Buffer::alloc).
    ///
    /// Driver: `cuMemAlloc_v2` and `cuMemcpyHtoD_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemAlloc_v2")]
    #[inline]
    pub fn from_slice(cx: &Current<'_, 'ctx>, host: &[T]) -> Result<Self, MemoryError> {
        let mut buffer = Self::alloc(cx, host.len())?;
        cx.copy(&mut buffer, host)?;
        Ok(buffer)
    }

    /// Takes ownership of memory allocated elsewhere in the current context. No driver call.
    ///
    /// # Safety
    /// 1. `cuMemAlloc` or a similar call in the context of `cx` returned `address`, no other code
    ///    frees it, and it has at least `len` elements of `T`.
    /// 2. No other `Buffer` owns it.
    #[inline]
    pub unsafe fn from_raw(cx: &Current<'_, 'ctx>, address: CUdeviceptr, len: usize) -> Self {
        let memory = Held::new(Allocation(address), cx.near());
        Self { memory, len, _elements: PhantomData }
    }

    /// Releases ownership without freeing the memory.
    #[inline]
    pub fn into_raw(self) -> CUdeviceptr {
        self.memory.into_raw().0
    }

    /// Copies the buffer to a new vector. Blocks until the copy is complete.
    ///
    /// # Errors
    /// Same as [`Current::copy`]; [`MemoryError::TooLarge`] if the host does not have enough
    /// memory.
    ///
    /// Driver: `cuMemcpyDtoH_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoH_v2")]
    #[inline]
    pub fn to_vec(&self, cx: &Current<'_, '_>) -> Result<Vec<T>, MemoryError> {
        self.as_slice().to_vec(cx)
    }

    close!("Frees the memory", "cuMemFree_v2", "3.2", |this| this.memory.close());
}
