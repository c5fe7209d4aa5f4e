//! A pool of page-locked memory that keeps freed blocks.

use std::ptr;

use cuprum_sys::FnId;

use super::caching::{Blocks, Parts, PinnedLease, PoolCounters, SizeClass, is_no_room};
use super::{DeviceData, MemoryError, PinnedBuffer, PinnedFlags, bytes_of};
use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::raw::call::forked;
use crate::raw::debug::debug;
use crate::raw::owner::context;

/// A pool of page-locked memory that keeps freed blocks. The next buffer of the same size class
/// needs no driver call; an allocation of page-locked memory takes the driver hundreds of
/// microseconds.
///
/// It is a handle: its clones and its buffers share the pool. When the last of them is dropped, the
/// memory is returned to the driver. It can be used on any thread.
///
/// No stream uses a buffer that returns to the pool: scopes and requests have waited for it, and a
/// buffer that could not be waited for is [lost](PinnedBuffer#when-it-is-lost) and never reused. So
/// any stream can use a block next.
///
/// Blocks have sixteen sizes per power of two, and at least 512 bytes. If the driver has no memory
/// left, held blocks are freed, the largest first, until the allocation succeeds.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::PinnedFlags;
/// use cuprum::pool::PinnedPool;
///
/// let pool = PinnedPool::new(&cx, PinnedFlags::empty());
/// for round in 0..3u32 {
///     let staging = pool.from_slice(&cx, &[round; 1000])?; // from the driver only in the first round
///     assert_eq!(staging[999], round);
/// }
/// assert_eq!(pool.counters().held_blocks, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct PinnedPool<'p> {
    pool: Parts<'p, Blocks>,
    flags: PinnedFlags,
}

impl<'p> PinnedPool<'p> {
    /// Makes an empty pool. No driver call.
    #[inline]
    pub fn new(cx: &Current<'_, 'p>, flags: PinnedFlags) -> Self {
        Self { pool: Parts::new(cx.keep()), flags: flags & PinnedFlags::all() }
    }

    context!(|this| this.pool.context());

    /// Takes `len` elements from the pool and sets all their bytes to zero; nothing for zero bytes.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; [`MemoryError::Alignment`] for an alignment greater than a page;
    /// [`MemoryError::NoRoom`]; [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: none if a block of the size class is held; otherwise `cuMemHostAlloc`, CUDA 2.2+,
    /// and if that has no room, `cuMemFreeHost`, CUDA 2.0+.
    #[doc(alias("cuMemHostAlloc", "cuMemFreeHost"))]
    pub fn zeroed<T: DeviceData>(
        &self,
        cx: &Current<'_, '_>,
        len: usize,
    ) -> Result<PinnedBuffer<'p, T>, MemoryError> {
        self.filled(cx, len, |start: *mut T| {
            // SAFETY: there are `len` elements.
            unsafe { start.write_bytes(0, len) }
        })
    }

    /// Takes a buffer of the length of `host` from the pool, and copies `host` there on the host.
    ///
    /// # Errors
    /// Same as [`zeroed`](PinnedPool::zeroed).
    ///
    /// Driver: same as [`zeroed`](PinnedPool::zeroed): `cuMemHostAlloc`, CUDA 2.2+, and
    /// `cuMemFreeHost`, CUDA 2.0+, or none.
    #[doc(alias("cuMemHostAlloc", "cuMemFreeHost"))]
    pub fn from_slice<T: DeviceData>(
        &self,
        cx: &Current<'_, '_>,
        host: &[T],
    ) -> Result<PinnedBuffer<'p, T>, MemoryError> {
        self.filled(cx, host.len(), |start: *mut T| {
            // SAFETY: there are as many elements as in `host`.
            unsafe { start.copy_from_nonoverlapping(host.as_ptr(), host.len()) }
        })
    }

    #[inline]
    fn filled<T: DeviceData>(
        &self,
        cx: &Current<'_, '_>,
        len: usize,
        fill: impl FnOnce(*mut T),
    ) -> Result<PinnedBuffer<'p, T>, MemoryError> {
        PinnedBuffer::leased(self.lease::<T>(cx, len)?, self.pool.context(), len, self.flags, fill)
    }

    /// Returns the number of blocks, and their bytes. No driver call.
    #[inline]
    pub fn counters(&self) -> PoolCounters {
        self.pool.counters()
    }

    /// Frees the held blocks.
    ///
    /// # Errors
    /// The first error of the driver. The blocks no longer exist after an error either. Exception:
    /// if a capture forbids freeing and the driver cannot exempt the thread, as before CUDA 10.1
    /// ([`Error::UNRESOLVED`]), they are kept.
    ///
    /// Driver: `cuMemFreeHost`, CUDA 2.0+, per block; during a capture
    /// `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias("cuMemFreeHost", "cuThreadExchangeStreamCaptureMode"))]
    #[inline]
    pub fn free_held(&self) -> Result<(), Error> {
        self.check_not_forked()?;
        self.pool.free_held()
    }

    /// Frees the held blocks, and from now on every block that returns to the pool.
    ///
    /// # Errors
    /// Same as [`free_held`](PinnedPool::free_held).
    ///
    /// Driver: `cuMemFreeHost`, CUDA 2.0+, per block.
    #[doc(alias = "cuMemFreeHost")]
    #[inline]
    pub fn stop_holding(&self) -> Result<(), Error> {
        self.check_not_forked()?;
        self.pool.stop_holding();
        self.pool.free_held()
    }

    /// Fails in a forked child, where no thread may wait for a lock.
    fn check_not_forked(&self) -> Result<(), Error> {
        if self.pool.forked() { Err(forked(FnId::cuMemFreeHost)) } else { Ok(()) }
    }

    /// A block for the elements; none for zero bytes.
    #[inline]
    fn lease<T: DeviceData>(
        &self,
        cx: &Current<'_, '_>,
        len: usize,
    ) -> Result<Option<PinnedLease<'p>>, MemoryError> {
        let bytes = bytes_of::<T>(len)?;
        let context = cx.of(self.context(), FnId::cuMemHostAlloc)?;
        if self.pool.forked() {
            return Err(forked(FnId::cuMemHostAlloc).into());
        }
        if bytes == 0 {
            return Ok(None);
        }
        let too_large = || MemoryError::TooLarge { len, element_bytes: size_of::<T>() };
        let class = SizeClass::of(bytes).ok_or_else(too_large)?;
        let part = self.pool.mine();
        let held = part.lock().take(class, bytes);
        match held {
            Some(block) => Ok(Some(PinnedLease::new(part, block, class, bytes))),
            None => self.grow(context, class, bytes).map(Some),
        }
    }

    /// Takes a block that another part holds, or allocates one. If there is no memory left, frees
    /// held blocks, the largest first.
    #[cold]
    #[inline(never)]
    fn grow(
        &self,
        context: &ContextRef,
        class: SizeClass,
        bytes: usize,
    ) -> Result<PinnedLease<'p>, MemoryError> {
        let part = self.pool.mine();
        let enter = |block| {
            part.lock().counts.grown(class, bytes);
            PinnedLease::new(part, block, class, bytes)
        };
        if let Some(block) = self.pool.of_others(|blocks| blocks.give_away(class)) {
            return Ok(enter(block));
        }
        loop {
            let mut start = ptr::null_mut();
            // SAFETY: `start` outlives the call, and the context is current.
            let made = unsafe {
                context_call!(context, cuMemHostAlloc(&raw mut start, class.bytes(), self.flags.bits()))
            };
            match made {
                Ok(()) => return Ok(enter(start.expose_provenance() as u64)),
                Err(error) if !is_no_room(error) => return Err(error.into()),
                Err(error) => {
                    let Some(freed) = self.pool.free_one() else {
                        let used = self.counters().active_bytes as u64;
                        return Err(MemoryError::NoRoom { bytes, used, held: 0, error });
                    };
                    freed?;
                }
            }
        }
    }
}

debug!(PinnedPool<'_>: |this, f| f.debug_tuple("PinnedPool").field(&this.counters()).finish());
