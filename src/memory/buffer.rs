//! Device memory that is owned.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use cuprum_sys::{CUdeviceptr, CUresult, FnId, Fns, call};

use super::elements::elements;
use super::{DeviceData, Fill, MemoryError, Slice, SliceMut, bytes_of};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::raw::call::context_call;
use crate::raw::held::{Handle, Held};

/// An allocation by its address; none at 0.
#[derive(Clone, Copy)]
pub(super) struct Allocation(pub(super) CUdeviceptr);

// SAFETY: the driver allows any thread to use and to free device memory.
unsafe impl Handle for Allocation {
    const NAME: &'static str = "Allocation";

    #[inline]
    fn is_owned(self) -> bool {
        self.0 != 0
    }

    #[inline]
    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller vouches that the allocation is live and not used again.
        unsafe { call!(fns, cuMemFree_v2(self.0)) }
    }
}

/// `len` elements of device memory in one context, freed on drop.
///
/// The host cannot dereference it: its contents come back by a copy. It borrows its context, so it is freed
/// before the context is destroyed. It may be sent to and dropped on any thread.
///
/// The copies here are synchronous for the host memory they touch: it can be reused when they return. On the
/// device they are ordered by the legacy default stream: after all work of ordinary streams, and before all
/// that is queued on ordinary streams later. A non-blocking stream is not part of that order, nor is any other stream
/// where the library was opened with per-thread default streams; a [scope](Current::scope) waits first in both cases.
///
/// A buffer of no elements, or of elements of no size, owns nothing: no call of the driver is made for it.
///
/// # Keeping it in a struct
///
/// In a struct it is a `Buffer<'static, T>`, made in a [`SharedContext`](crate::SharedContext), of which it has a share: it
/// may lie beside that context, or without it. In a context that is borrowed, `'ctx` is that borrow, and no struct can hold
/// both.
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::Buffer;
///
/// let mut numbers = Buffer::from_slice(&cx, &[1u32, 2, 3, 4])?;
/// numbers.slice_mut(1..3).ok_or("outside")?.fill(&cx, 0)?;
/// assert_eq!(numbers.to_vec(&cx)?, [1, 0, 0, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Buffer<'ctx, T: DeviceData> {
    memory: Held<'ctx, Allocation>,
    len: usize,
    _elements: PhantomData<T>,
}

elements! {
    Buffer(this): this.memory.raw().0, of this.memory, this.len;
    as_raw: "Address of the first element in device memory; 0 for a buffer that owns nothing.",
    context: "The context in which the memory was allocated."
}

impl<'ctx, T: DeviceData> Buffer<'ctx, T> {
    /// Allocates `len` elements whose contents are whatever the memory held.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; `CUDA_ERROR_OUT_OF_MEMORY`; the sticky errors of earlier work.
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
    /// Those of [`alloc`](Buffer::alloc).
    ///
    /// Driver: `cuMemAlloc_v2` and `cuMemsetD8_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemAlloc_v2")]
    #[doc(alias = "cuMemsetD8_v2")]
    #[inline]
    pub fn zeroed(cx: &Current<'_, 'ctx>, len: usize) -> Result<Self, MemoryError> {
        let mut buffer = Self::alloc(cx, len)?;
        buffer.as_mut_slice().set_bytes(cx, 0)?;
        Ok(buffer)
    }

    /// Allocates as many elements as `host` has and copies them there.
    ///
    /// # Errors
    /// Those of [`alloc`](Buffer::alloc).
    ///
    /// Driver: `cuMemAlloc_v2` and `cuMemcpyHtoD_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemAlloc_v2")]
    #[inline]
    pub fn from_slice(cx: &Current<'_, 'ctx>, host: &[T]) -> Result<Self, MemoryError> {
        let mut buffer = Self::alloc(cx, host.len())?;
        buffer.copy_from_host(cx, host)?;
        Ok(buffer)
    }

    /// Takes over memory that the driver allocated elsewhere, in the current context. No driver call.
    ///
    /// # Safety
    /// 1. `address` was given by `cuMemAlloc` or a similar call in the context of `cx`, nobody else frees it, and it
    ///    has at least `len` elements of `T`.
    /// 2. No other `Buffer` owns it.
    #[inline]
    pub unsafe fn from_raw(cx: &Current<'_, 'ctx>, address: CUdeviceptr, len: usize) -> Self {
        let memory = Held::new(Allocation(address), cx.near());
        Self { memory, len, _elements: PhantomData }
    }

    /// Gives up the memory without freeing it.
    #[inline]
    pub fn into_raw(self) -> CUdeviceptr {
        self.memory.into_raw().0
    }

    /// Copies `host` to the device. Returns when `host` may be reused.
    ///
    /// # Errors
    /// [`MemoryError::Length`] unless both have the same length; [`Error::is_wrong_context`]; the sticky errors
    /// of earlier work.
    ///
    /// Driver: `cuMemcpyHtoD_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyHtoD_v2")]
    #[inline]
    pub fn copy_from_host(&mut self, cx: &Current<'_, '_>, host: &[T]) -> Result<(), MemoryError> {
        self.as_mut_slice().copy_from_host(cx, host)
    }

    /// Copies the buffer to `host`. Blocks until it is there.
    ///
    /// # Errors
    /// Those of [`copy_from_host`](Buffer::copy_from_host).
    ///
    /// Driver: `cuMemcpyDtoH_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoH_v2")]
    #[inline]
    pub fn copy_to_host(&self, cx: &Current<'_, '_>, host: &mut [T]) -> Result<(), MemoryError> {
        self.as_slice().copy_to_host(cx, host)
    }

    /// Copies the buffer into a new vector. Blocks until it is there.
    ///
    /// # Errors
    /// Those of [`copy_to_host`](Buffer::copy_to_host), and [`MemoryError::TooLarge`] if the host has no room.
    ///
    /// Driver: `cuMemcpyDtoH_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoH_v2")]
    #[inline]
    pub fn to_vec(&self, cx: &Current<'_, '_>) -> Result<Vec<T>, MemoryError> {
        self.as_slice().to_vec(cx)
    }

    /// Sets every element to `value`. The host does not wait.
    ///
    /// # Errors
    /// Those of [`SliceMut::fill`].
    ///
    /// Driver: `cuMemsetD8_v2`, `cuMemsetD16_v2` or `cuMemsetD32_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemsetD8_v2")]
    #[doc(alias = "cuMemsetD16_v2")]
    #[doc(alias = "cuMemsetD32_v2")]
    #[inline]
    pub fn fill(&mut self, cx: &Current<'_, '_>, value: T) -> Result<(), MemoryError>
    where
        T: Fill,
    {
        self.as_mut_slice().fill(cx, value)
    }

    /// Sets every byte to `value`. The host does not wait.
    ///
    /// # Errors
    /// Those of [`SliceMut::set_bytes`].
    ///
    /// Driver: `cuMemsetD8_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemsetD8_v2")]
    #[inline]
    pub fn set_bytes(&mut self, cx: &Current<'_, '_>, value: u8) -> Result<(), MemoryError> {
        self.as_mut_slice().set_bytes(cx, value)
    }

    /// Frees the memory and reports the error that `Drop` would swallow. The buffer is gone after an error too: the
    /// driver may have freed it all the same, so that it must not be freed again.
    ///
    /// # Errors
    /// Whatever the driver reports.
    ///
    /// Driver: `cuMemFree_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemFree_v2")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.memory.close()
    }
}
