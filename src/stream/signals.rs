//! Numbers in page-locked memory by which the host and streams report their progress to each other.

use std::ops::Deref;

use cuprum_sys::CUdeviceptr;

use super::value::StreamValue;
use crate::context::{Current, context_call};
use crate::error::Error;
use crate::memory::locked::sealed::PageLocked;
use crate::memory::{MemoryError, PinnedBuffer, PinnedFlags};
use crate::raw::debug::debug;
use crate::raw::mark::Mark;
use crate::raw::owner::context;
use crate::raw::seal::Sealed;

/// Numbers that streams [write and wait for](super::Until), and the host too: `u32` or `u64`.
///
/// They are in page-locked host memory, which devices can access. On the host they are atomics, for
/// any thread at any time. So scopes on any number of streams borrow them shared. They are not
/// freed while a scope uses them; if the wait of a scope fails, they leak, because the device may
/// still write them.
///
/// # Example
/// A stream waits for another one, and both wait for the host:
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
///     there.wait_value(&theirs, 1, Until::Equal(1))?;
///     there.write_value(&theirs, 2, 1)?;
///     here.wait_value(&ours, 0, Until::Equal(1))?;
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
    address: CUdeviceptr,
}

impl<'ctx, T: StreamValue> Signals<'ctx, T> {
    /// Allocates `len` zeros. Allocates nothing for length 0.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuMemHostAlloc`, CUDA 2.2+, and `cuMemHostGetDevicePointer_v2`, CUDA 3.2+.
    #[doc(alias("cuMemHostAlloc", "cuMemHostGetDevicePointer_v2"))]
    #[inline]
    pub fn new(cx: &Current<'_, 'ctx>, len: usize) -> Result<Self, MemoryError> {
        let memory = PinnedBuffer::<T>::zeroed(cx, len, PinnedFlags::MAPPED)?;
        let (context, mut address) = (cx.get()?, 0);
        if len != 0 {
            let host = memory.as_raw().cast();
            // SAFETY: the memory stays page-locked, and the out-parameter outlives the call.
            unsafe { context_call!(&context, cuMemHostGetDevicePointer_v2(&raw mut address, host, 0)) }?;
        }
        Ok(Self { memory, len, address })
    }

    /// Address of the first number on the device, for kernels.
    pub const fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    context!(|this| this.memory.context());

    pub(super) fn mark(&self) -> &Mark {
        self.memory.locked().mark()
    }

    /// True if the wait of a scope that used them failed, so that they are never freed. They can
    /// still be read and written.
    #[inline]
    pub fn is_lost(&self) -> bool {
        self.memory.is_lost()
    }

    /// Frees the memory and returns the error that `Drop` would swallow. [Lost](Signals::is_lost)
    /// numbers are left as they are, without a call.
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
        // SAFETY: initialized, aligned numbers, which all users access by atomics, lost or not.
        unsafe { std::slice::from_raw_parts(self.memory.as_raw().cast_const().cast(), self.len) }
    }
}

impl<T: StreamValue> Sealed for Signals<'_, T> {}

debug!([T: StreamValue] Signals<'_, T>: |this| "{:#x}, {} numbers", this.address, this.len);
