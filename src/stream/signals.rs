//! Numbers in page-locked memory by which the host and streams tell each other how far they are.

use std::fmt;
use std::ops::Deref;

use cuprum_sys::CUdeviceptr;

use super::value::StreamValue;
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::memory::locked::sealed::PageLocked;
use crate::memory::{MemoryError, PinnedBuffer, PinnedFlags};
use crate::raw::call::context_call;
use crate::raw::mark::Mark;
use crate::raw::seal::Sealed;

/// Numbers that streams [write and wait for](super::Until) while the host and other streams do too: `u32` or `u64`.
///
/// They lie in page-locked memory of the host, which devices reach. The host has them as atomics, of any thread and at any
/// time, so they are lent to scopes by a shared borrow, to any number of streams. They are not freed as long as a scope
/// has them; a scope that cannot be waited for leaves them forever, as the device may still write them.
///
/// # Example
/// A stream that waits for another one, and both for the host:
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use std::sync::atomic::Ordering;
///
/// use cuprum::stream::{Signals, Until};
/// use cuprum::{Stream};
///
/// let (first, second) = (Stream::non_blocking(&cx)?, Stream::non_blocking(&cx)?);
/// let signals = Signals::<u32>::new(&cx, 3)?;
/// cx.multi_scope(|scope| {
///     let (here, there) = (scope.on(&first)?, scope.on(&second)?);
///     let (ours, theirs) = (here.lend(&signals)?, there.lend(&signals)?);
///     there.wait_value(&theirs, 1, Until::equal(1))?;
///     there.write_value(&theirs, 2, 1)?;
///     here.wait_value(&ours, 0, Until::equal(1))?;
///     here.write_value(&ours, 1, 1)?;
///     assert_eq!(signals[2].load(Ordering::Acquire), 0);
///     signals[0].store(1, Ordering::Release);
///     Ok(())
/// })?;
/// assert_eq!(signals[2].load(Ordering::Acquire), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Signals<'ctx, T: StreamValue> {
    memory: PinnedBuffer<'ctx, T>,
    len: usize,
    /// Of the first number, for the device.
    address: CUdeviceptr,
}

impl<'ctx, T: StreamValue> Signals<'ctx, T> {
    /// Allocates `len` numbers that are zero. Of none, nothing is allocated.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; `CUDA_ERROR_OUT_OF_MEMORY`; the sticky errors of earlier work.
    ///
    /// Driver: `cuMemHostAlloc`, CUDA 2.2+, and `cuMemHostGetDevicePointer_v2`, CUDA 3.2+.
    #[doc(alias("cuMemHostAlloc", "cuMemHostGetDevicePointer_v2"))]
    #[inline]
    pub fn new(cx: &Current<'_, 'ctx>, len: usize) -> Result<Self, MemoryError> {
        let memory = PinnedBuffer::<T>::zeroed(cx, len, PinnedFlags::MAPPED)?;
        let (context, mut address) = (cx.get()?, 0);
        if len != 0 {
            let host = memory.as_raw().cast();
            // SAFETY: the memory is page-locked as long as it is there, and the out-parameter outlives the call.
            unsafe { context_call!(&context, cuMemHostGetDevicePointer_v2(&raw mut address, host, 0)) }?;
        }
        Ok(Self { memory, len, address })
    }

    /// Address of the first number in the memory of the device, for kernels.
    pub const fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// The context in which they were allocated.
    #[inline]
    pub fn context(&self) -> &ContextRef {
        self.memory.context()
    }

    pub(super) fn mark(&self) -> &Mark {
        self.memory.locked().mark()
    }

    /// True if a scope that had them could not be waited for, so that they are never freed. They can be read and written
    /// all the same.
    #[inline]
    pub fn is_lost(&self) -> bool {
        self.memory.is_lost()
    }

    /// Frees the memory and returns the error that `Drop` would swallow. Numbers that are [lost](Signals::is_lost) are left as they
    /// are, without a call.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors). The memory is gone for the program all the same.
    ///
    /// Driver: `cuMemFreeHost`, CUDA 2.0+.
    #[doc(alias = "cuMemFreeHost")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.memory.close()
    }
}

impl<T: StreamValue> Deref for Signals<'_, T> {
    type Target = [<T as StreamValue>::Atomic];

    fn deref(&self) -> &Self::Target {
        // SAFETY: so many initialized numbers, aligned, of which nobody has another reference: everybody uses atomics, lost
        // or not.
        unsafe { std::slice::from_raw_parts(self.memory.as_raw().cast_const().cast(), self.len) }
    }
}

impl<T: StreamValue> Sealed for Signals<'_, T> {}

impl<T: StreamValue> fmt::Debug for Signals<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signals({:#x}, {} numbers)", self.address, self.len)
    }
}
