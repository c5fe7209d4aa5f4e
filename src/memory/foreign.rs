//! Device memory allocated by other code.

use std::marker::PhantomData;
use std::mem;
use std::ops::RangeBounds;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use cuprum_sys::{CUdeviceptr, FnId};

use super::elements::elements;
use super::{DeviceData, MemoryError, Slice, SliceMut, bytes_of};
use crate::context::{Beside, ContextRef, Current, KeptContext};
use crate::error::Error;
use crate::raw::keep::Near;

/// A function that returns memory to the code that allocated it.
type Release<'ctx> = Box<dyn FnOnce(&ContextRef, CUdeviceptr) -> Result<(), Error> + Send + 'ctx>;

/// `len` elements of device memory that this crate has not allocated: memory of [other
/// code](ForeignBuffer::from_raw), with or without a function that releases it, an allocation of
/// [another process](ForeignBuffer::open_ipc), or memory of [another
/// API](crate::external::ExternalMemory::map).
///
/// It lends [slices](Slice), like every kind of memory, and is a kernel argument. Drop works on any
/// thread: it makes the context current, and calls the release function, or unmaps or closes the
/// memory. A panic in the function is caught, and an error is [swallowed](crate::swallowed). In a
/// forked child, or if the context cannot be made current, the function is neither called nor
/// dropped.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::sys::{CUmemAttach_flags, call};
/// use cuprum::context::PrimaryContext;
/// use cuprum::memory::ForeignBuffer;
///
/// let context = PrimaryContext::retain(driver.device(0)?)?;
/// let sum = context.enter(|cx| {
///     let (fns, mut address) = (driver.library().fns(), 0);
///     // SAFETY: the out-parameter outlives the call.
///     let made = unsafe { call!(fns, cuMemAllocManaged(&raw mut address, 4 * 4, CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0)) };
///     cx.context().check(made)?;
///     // SAFETY: four numbers without other users, which are freed once.
///     let mut numbers = unsafe {
///         ForeignBuffer::<u32>::with_release(cx, address, 4, move |context, address| {
///             // SAFETY: the memory is not used again.
///             context.check(unsafe { call!(fns, cuMemFree_v2(address)) })
///         })
///     }?;
///     cx.copy(&mut numbers, &[1, 2, 3, 4])?;
///     Ok(numbers.as_slice().to_vec(cx)?.iter().sum::<u32>())
/// })?;
/// assert_eq!(sum, 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ForeignBuffer<'ctx, T: DeviceData> {
    address: CUdeviceptr,
    len: usize,
    /// Only taken, never borrowed, so threads can share the whole.
    release: Mutex<Option<Release<'ctx>>>,
    context: KeptContext<'ctx>,
    _elements: PhantomData<T>,
}

elements! {
    ForeignBuffer(this): this.address, of this.context, this.len;
    as_raw: "Address of the first element in device memory.", context: "The context in which the memory is used."
}

impl<'ctx, T: DeviceData> ForeignBuffer<'ctx, T> {
    /// Borrows memory of other code, which keeps ownership. Neither this nor drop makes a driver
    /// call.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`].
    ///
    /// # Safety
    /// 1. At `address`, a multiple of `T`'s alignment, there are `len` elements of `T` in memory
    ///    that the context of `cx` can access and the driver can copy. Their bytes are valid values
    ///    of `T`.
    /// 2. They exist as long as this value, and until work queued through it is complete: copies
    ///    within the device, and fills, do not wait.
    /// 3. Meanwhile, accesses by other code that conflict with accesses through this value are
    ///    ordered by a stream, an event or a wait.
    #[inline]
    pub unsafe fn from_raw(
        cx: &Current<'_, 'ctx>,
        address: CUdeviceptr,
        len: usize,
    ) -> Result<Self, MemoryError> {
        Self::new(cx, address, len, None)
    }

    /// Takes ownership of memory, with a function that releases it. No driver call.
    ///
    /// The function receives the context, for [`ContextRef::check`], and the address. It is called
    /// exactly once, even if `len` is 0. If this method fails, it is not called.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`].
    ///
    /// # Safety
    /// Same as [`from_raw`](ForeignBuffer::from_raw), until `release` is called. Earlier work may
    /// still be running then, so `release` must wait for it, or free with a call that waits, such
    /// as `cuMemFree`.
    pub unsafe fn with_release(
        cx: &Current<'_, 'ctx>,
        address: CUdeviceptr,
        len: usize,
        release: impl FnOnce(&ContextRef, CUdeviceptr) -> Result<(), Error> + Send + 'ctx,
    ) -> Result<Self, MemoryError> {
        Self::new(cx, address, len, Some(Box::new(release)))
    }

    fn new(
        cx: &Current<'_, 'ctx>,
        address: CUdeviceptr,
        len: usize,
        release: Option<Release<'ctx>>,
    ) -> Result<Self, MemoryError> {
        bytes_of::<T>(len)?;
        // Other code may have queued work on the memory there.
        cx.context().default_stream().note();
        Ok(Self { address, len, release: Mutex::new(release), context: cx.keep(), _elements: PhantomData })
    }

    /// Takes ownership of memory that a call of this crate has just made, with the call that ends
    /// it.
    pub(crate) fn owning(
        context: Near<'ctx, ContextRef>,
        address: CUdeviceptr,
        len: usize,
        release: impl FnOnce(&ContextRef, CUdeviceptr) -> Result<(), Error> + Send + 'ctx,
    ) -> Self {
        let release: Option<Release<'ctx>> = Some(Box::new(release));
        let context = KeptContext::new(context);
        Self { address, len, release: Mutex::new(release), context, _elements: PhantomData }
    }

    pub(super) const fn set_len(&mut self, len: usize) {
        self.len = len;
    }

    /// Releases the memory and returns the error that `Drop` would swallow. The function is called
    /// once. If it frees during a capture by other code, that capture becomes invalid, unless it
    /// was [announced](crate::graph::ForeignCaptures) before; otherwise the function must retry.
    ///
    /// # Errors
    /// The errors of the function and of [`ContextRef::with_current`]; none without a function.
    ///
    /// Driver: `cuIpcCloseMemHandle`, CUDA 4.1+, for memory of another process, and `cuMemFree_v2`,
    /// CUDA 3.2+, for memory of another API; the calls of [`ContextRef::with_current`]: unless a
    /// token has made the context current, `cuCtxGetCurrent`, `cuCtxPushCurrent_v2` and
    /// `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias("cuIpcCloseMemHandle", "cuMemFree_v2", "cuCtxGetCurrent"))]
    #[doc(alias("cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"))]
    #[inline]
    pub fn close(mut self) -> Result<(), Error> {
        self.release()
    }

    fn release(&mut self) -> Result<(), Error> {
        let mut release = self.release.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let (context, address) = (&self.context, self.address);
        if release.is_none() {
            return Ok(());
        }
        let beside = Beside::captures(context.library());
        let released = context.check_kept(FnId::cuMemFree_v2).and_then(|()| {
            context.with_current(|| release.take().map_or(Ok(()), |release| release(context, address)))
        });
        drop(beside);
        // Not called: in a forked child, without the context, or while the memory is in use, its
        // captured values may not be used.
        mem::forget(release);
        // The driver is shutting down, and has freed everything.
        released.or_else(|error| if error.is_deinitialized() { Ok(()) } else { Err(error) })
    }
}

impl<T: DeviceData> Drop for ForeignBuffer<'_, T> {
    fn drop(&mut self) {
        match catch_unwind(AssertUnwindSafe(|| self.release())) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.context.swallow(error),
            // The panic hook has reported the panic; dropping the payload could panic again.
            Err(payload) => mem::forget(payload),
        }
    }
}
