//! A pool of page-locked memory that keeps what was freed.

use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;

use cuprum_sys::FnId;

use super::{
    Bins, Counts, PoolCounters, SizeClass, Stock, StockGuard, User, free_all, free_silently, is_no_room,
};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::memory::{DeviceData, MemoryError, PinnedBuffer, PinnedFlags, bytes_of};
use crate::raw::call::{context_call, forked};

/// Page-locked memory that is kept when it is freed: the next buffer of its size class takes no call of the driver, where
/// allocating page-locked memory takes the driver hundreds of microseconds.
///
/// A handle to a pool that is shared: by its clones, and by the buffers of it. When the last of them is gone, the memory goes
/// back to the driver. It may be used on any threads.
///
/// A buffer that comes back is in use by no stream: what a scope or a request was lent, it has waited for, and what could not
/// be waited for is [lost](PinnedBuffer#when-it-is-lost), here as anywhere, and never handed out again. So any stream may
/// have a block next.
///
/// Blocks are sixteen sizes per power of two, of at least 512 bytes. When the driver has no room, the blocks that are held
/// are freed, the largest first, until it has.
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::PinnedFlags;
/// use cuprum::pool::PinnedPool;
///
/// let pool = PinnedPool::new(&cx, PinnedFlags::empty());
/// for round in 0..3u32 {
///     let staging = pool.from_slice(&cx, &[round; 1000])?; // from the driver in the first round alone
///     assert_eq!(staging[999], round);
/// }
/// assert_eq!(pool.counters().held_blocks, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct PinnedPool<'p> {
    pool: User<'p, Blocks>,
    flags: PinnedFlags,
}

/// What such a pool holds.
#[derive(Default)]
struct Blocks {
    bins: Bins,
    counts: Counts,
}

/// A block in use, which goes back to its pool on drop.
pub(in crate::memory) struct PinnedLease<'p> {
    /// Taken when this is dropped.
    pool: ManuallyDrop<User<'p, Blocks>>,
    start: *mut c_void,
    class: SizeClass,
    bytes: usize,
}

// SAFETY: any thread may use and give back the block; the pool is shared between threads.
unsafe impl Send for PinnedLease<'_> {}
// SAFETY: as above; shared, it gives out an address alone.
unsafe impl Sync for PinnedLease<'_> {}

impl<'p> PinnedPool<'p> {
    /// Makes an empty pool. No driver call.
    #[inline]
    pub fn new(cx: &Current<'_, 'p>, flags: PinnedFlags) -> Self {
        Self { pool: User::new(cx.keep(), Blocks::default()), flags: flags & PinnedFlags::all() }
    }

    /// The context in which the memory is allocated.
    #[inline]
    pub fn context(&self) -> &ContextRef {
        self.pool.context()
    }

    /// Takes `len` elements from the pool and sets all their bytes to zero. Of no bytes, nothing is taken.
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`]; [`MemoryError::Alignment`] for elements aligned beyond a page; [`MemoryError::NoRoom`];
    /// [`Error::is_wrong_context`]; the sticky errors of earlier work.
    ///
    /// Driver: none where a block of the size class is held; otherwise `cuMemHostAlloc`, CUDA 2.2+, and where that has no
    /// room, `cuMemFreeHost`, CUDA 2.0+.
    #[doc(alias = "cuMemHostAlloc")]
    #[doc(alias = "cuMemFreeHost")]
    pub fn zeroed<T: DeviceData>(
        &self,
        cx: &Current<'_, '_>,
        len: usize,
    ) -> Result<PinnedBuffer<'p, T>, MemoryError> {
        PinnedBuffer::leased(
            self.lease::<T>(cx, len)?,
            self.pool.context(),
            len,
            self.flags,
            |start: *mut T| {
                // SAFETY: `len` elements lie there.
                unsafe { start.write_bytes(0, len) }
            },
        )
    }

    /// Takes as many elements as `host` has from the pool, and copies them on the host.
    ///
    /// # Errors
    /// Those of [`zeroed`](PinnedPool::zeroed).
    ///
    /// Driver: as [`zeroed`](PinnedPool::zeroed): `cuMemHostAlloc`, CUDA 2.2+, and `cuMemFreeHost`, CUDA 2.0+, or none.
    #[doc(alias = "cuMemHostAlloc")]
    #[doc(alias = "cuMemFreeHost")]
    pub fn from_slice<T: DeviceData>(
        &self,
        cx: &Current<'_, '_>,
        host: &[T],
    ) -> Result<PinnedBuffer<'p, T>, MemoryError> {
        let len = host.len();
        PinnedBuffer::leased(
            self.lease::<T>(cx, len)?,
            self.pool.context(),
            len,
            self.flags,
            |start: *mut T| {
                // SAFETY: as many elements as `host` has lie there.
                unsafe { start.copy_from_nonoverlapping(host.as_ptr(), len) }
            },
        )
    }

    /// How many blocks there are, and their bytes. No driver call.
    #[inline]
    pub fn counters(&self) -> PoolCounters {
        let blocks = if self.pool.forked() { self.pool.try_lock() } else { Some(self.pool.lock()) };
        blocks.map(|blocks| blocks.counts.counters).unwrap_or_default()
    }

    /// Gives the blocks that are held back to the driver.
    ///
    /// # Errors
    /// As the driver says, the first of them. The blocks are gone all the same.
    ///
    /// Driver: `cuMemFreeHost`, CUDA 2.0+, per block.
    #[doc(alias = "cuMemFreeHost")]
    #[inline]
    pub fn free_held(&self) -> Result<(), Error> {
        let blocks = self.lock()?.drain();
        free_all(self.context(), blocks, |block| free(self.context(), block))
    }

    /// From now on, gives blocks back to the driver as soon as they are freed, and does so with those that are held.
    ///
    /// # Errors
    /// Those of [`free_held`](PinnedPool::free_held).
    ///
    /// Driver: `cuMemFreeHost`, CUDA 2.0+, per block.
    #[doc(alias = "cuMemFreeHost")]
    #[inline]
    pub fn stop_holding(&self) -> Result<(), Error> {
        self.lock()?.counts.stopped = true;
        self.free_held()
    }

    /// Locks what is held, which nobody does in a forked child.
    fn lock(&self) -> Result<StockGuard<'_, 'p, Blocks>, Error> {
        if self.pool.forked() { Err(forked(FnId::cuMemFreeHost)) } else { Ok(self.pool.lock()) }
    }

    /// A block for so many elements; none for no bytes.
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
        let mut blocks = self.pool.lock();
        if let Some(block) = blocks.bins.take(class) {
            blocks.counts.reused(bytes);
            return Ok(Some(PinnedLease::new(blocks, block, class, bytes)));
        }
        drop(blocks);
        self.grow(context, class, bytes).map(Some)
    }

    /// A new block; as long as there is no room for it, what is held goes, the largest first.
    #[cold]
    #[inline(never)]
    fn grow(
        &self,
        context: &ContextRef,
        class: SizeClass,
        bytes: usize,
    ) -> Result<PinnedLease<'p>, MemoryError> {
        loop {
            let mut start = ptr::null_mut();
            // SAFETY: `start` outlives the call, and the context is current.
            let made = unsafe {
                context_call!(context, cuMemHostAlloc(&raw mut start, class.bytes(), self.flags.bits()))
            };
            match made {
                Ok(()) => {
                    let mut blocks = self.pool.lock();
                    blocks.counts.grown(class, bytes);
                    return Ok(PinnedLease::new(blocks, start.expose_provenance() as u64, class, bytes));
                }
                Err(error) if !is_no_room(error) => return Err(error.into()),
                Err(error) => {
                    let largest = self.pool.lock().largest();
                    let Some(block) = largest else {
                        let used = self.pool.lock().counts.counters.active_bytes as u64;
                        return Err(MemoryError::NoRoom { bytes, used, held: 0, error });
                    };
                    free(context, block)?;
                }
            }
        }
    }
}

impl Blocks {
    /// Takes all blocks that are held, to free them.
    fn drain(&mut self) -> Vec<u64> {
        let Self { bins, counts } = self;
        bins.drain().map(|(class, block)| (counts.freed(class), block).1).collect()
    }

    /// Takes the largest block that is held, to free it.
    fn largest(&mut self) -> Option<u64> {
        let class = self.bins.largest()?;
        self.counts.freed(class);
        self.bins.take(class)
    }

    /// Holds a block that comes back, unless it is to be freed: then false.
    #[inline]
    fn put(&mut self, class: SizeClass, block: u64, bytes: usize) -> bool {
        let held = self.counts.given_back(class, bytes);
        if held {
            self.bins.put(class, block);
        }
        held
    }
}

impl Stock for Blocks {
    fn end(&mut self, context: &ContextRef) {
        free_silently(context, self.drain(), |block| free(context, block));
    }
}

/// Frees a block of a pool, which nobody has, in its context, which is current.
fn free(context: &ContextRef, block: u64) -> Result<(), Error> {
    let start = ptr::with_exposed_provenance_mut(block as usize);
    // SAFETY: a block that nobody has, so that neither host nor device uses it.
    unsafe { context_call!(context, cuMemFreeHost(start)) }
}

impl<'p> PinnedLease<'p> {
    /// A block that is counted as in use.
    #[inline]
    fn new(mut blocks: StockGuard<'_, 'p, Blocks>, block: u64, class: SizeClass, bytes: usize) -> Self {
        let start = ptr::with_exposed_provenance_mut(block as usize);
        Self { pool: ManuallyDrop::new(blocks.user()), start, class, bytes }
    }

    pub(in crate::memory) const fn start(&self) -> *mut c_void {
        self.start
    }

    pub(in crate::memory) fn context(&self) -> &ContextRef {
        self.pool.context()
    }

    /// Leaves the block as it is, as the device may still write it: neither is it handed out again, nor does the context
    /// end, which would free it.
    #[cold]
    pub(in crate::memory) fn lose(self) {
        let mut this = ManuallyDrop::new(self);
        std::mem::forget(this.pool.context().clone());
        // SAFETY: taken once, out of a value that is not dropped.
        drop(unsafe { ManuallyDrop::take(&mut this.pool) });
    }
}

impl Drop for PinnedLease<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: taken once, here, as nobody uses the value any more.
        let pool = unsafe { ManuallyDrop::take(&mut self.pool) };
        if pool.forked() {
            return;
        }
        let (class, block, bytes) = (self.class, self.start.expose_provenance() as u64, self.bytes);
        if let Some(pool) = pool.leave_if(|blocks| blocks.put(class, block, bytes)) {
            let context = pool.context();
            free_silently(context, [block], |block| free(context, block));
        }
    }
}

impl fmt::Debug for PinnedPool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PinnedPool").field(&self.counters()).finish()
    }
}
