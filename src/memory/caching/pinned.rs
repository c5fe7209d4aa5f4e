//! A pool of page-locked memory that keeps what was freed.

use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::FnId;

use super::{Bins, Counts, PoolCounters, SizeClass, free_all, free_silently, is_no_room};
use crate::context::{ContextRef, Current, KeptContext};
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
pub struct PinnedPool<'p>(Arc<Shared<'p>>);

struct Shared<'p> {
    context: KeptContext<'p>,
    flags: PinnedFlags,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bins: Bins,
    counts: Counts,
}

/// A block in use, which goes back to its pool on drop.
pub(in crate::memory) struct PinnedLease<'p> {
    pool: Arc<Shared<'p>>,
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
    pub fn new(cx: &Current<'_, 'p>, flags: PinnedFlags) -> Self {
        let flags = flags & PinnedFlags::all();
        Self(Arc::new(Shared { context: cx.keep(), flags, state: Mutex::default() }))
    }

    /// The context in which the memory is allocated.
    pub fn context(&self) -> &ContextRef {
        &self.0.context
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
            &self.0.context,
            len,
            self.0.flags,
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
            &self.0.context,
            len,
            self.0.flags,
            |start: *mut T| {
                // SAFETY: as many elements as `host` has lie there.
                unsafe { start.copy_from_nonoverlapping(host.as_ptr(), len) }
            },
        )
    }

    /// How many blocks there are, and their bytes. No driver call.
    pub fn counters(&self) -> PoolCounters {
        match self.0.forked() {
            false => self.0.state().counts.counters,
            true => self.0.state.try_lock().map(|state| state.counts.counters).unwrap_or_default(),
        }
    }

    /// Gives the blocks that are held back to the driver.
    ///
    /// # Errors
    /// As the driver says, the first of them. The blocks are gone all the same.
    ///
    /// Driver: `cuMemFreeHost`, CUDA 2.0+, per block.
    #[doc(alias = "cuMemFreeHost")]
    pub fn free_held(&self) -> Result<(), Error> {
        if self.0.forked() {
            return Err(forked(FnId::cuMemFreeHost));
        }
        let blocks = {
            let State { bins, counts } = &mut *self.0.state();
            bins.drain().map(|(class, block)| (counts.freed(class), block).1).collect::<Vec<_>>()
        };
        free_all(self.context(), blocks, |block| self.0.free(block))
    }

    /// From now on, gives blocks back to the driver as soon as they are freed, and does so with those that are held.
    ///
    /// # Errors
    /// Those of [`free_held`](PinnedPool::free_held).
    ///
    /// Driver: `cuMemFreeHost`, CUDA 2.0+, per block.
    #[doc(alias = "cuMemFreeHost")]
    pub fn stop_holding(&self) -> Result<(), Error> {
        if !self.0.forked() {
            self.0.state().counts.stopped = true;
        }
        self.free_held()
    }

    /// A block for so many elements; none for no bytes.
    fn lease<T: DeviceData>(
        &self,
        cx: &Current<'_, '_>,
        len: usize,
    ) -> Result<Option<PinnedLease<'p>>, MemoryError> {
        let bytes = bytes_of::<T>(len)?;
        let context = cx.of(&self.0.context, FnId::cuMemHostAlloc)?;
        if self.0.forked() {
            return Err(forked(FnId::cuMemHostAlloc).into());
        }
        if bytes == 0 {
            return Ok(None);
        }
        let too_large = MemoryError::TooLarge { len, element_bytes: size_of::<T>() };
        let class = SizeClass::of(bytes).ok_or(too_large)?;
        let start = match self.0.held(class, bytes) {
            Some(block) => block,
            None => self.0.grow(context, class, bytes)?,
        };
        let start = ptr::with_exposed_provenance_mut(start as usize);
        Ok(Some(PinnedLease { pool: Arc::clone(&self.0), start, class, bytes }))
    }
}

impl Shared<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True in a forked child, where a thread that is gone may have the lock: nobody waits for it there.
    fn forked(&self) -> bool {
        self.context.library().forked()
    }

    fn held(&self, class: SizeClass, bytes: usize) -> Option<u64> {
        let State { bins, counts } = &mut *self.state();
        let block = bins.take(class)?;
        counts.reused(bytes);
        Some(block)
    }

    /// A new block; as long as there is no room for it, what is held goes, the largest first.
    #[cold]
    fn grow(&self, context: &ContextRef, class: SizeClass, bytes: usize) -> Result<u64, MemoryError> {
        loop {
            let mut start = ptr::null_mut();
            // SAFETY: `start` outlives the call, and the context is current.
            let made = unsafe {
                context_call!(context, cuMemHostAlloc(&raw mut start, class.bytes(), self.flags.bits()))
            };
            match made {
                Ok(()) => {
                    self.state().counts.grown(class, bytes);
                    return Ok(start.expose_provenance() as u64);
                }
                Err(error) if !is_no_room(error) => return Err(error.into()),
                Err(error) => match self.largest() {
                    Some(block) => self.free(block)?,
                    None => {
                        let used = self.state().counts.counters.active_bytes as u64;
                        return Err(MemoryError::NoRoom { bytes, used, held: 0, error });
                    }
                },
            }
        }
    }

    /// Takes the largest block that is held, to free it.
    fn largest(&self) -> Option<u64> {
        let State { bins, counts } = &mut *self.state();
        let class = bins.largest()?;
        counts.freed(class);
        bins.take(class)
    }

    /// Frees a block in the current context.
    fn free(&self, block: u64) -> Result<(), Error> {
        let start = ptr::with_exposed_provenance_mut(block as usize);
        // SAFETY: a block of this pool that nobody has, so that neither host nor device uses it.
        unsafe { context_call!(&self.context, cuMemFreeHost(start)) }
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let blocks: Vec<_> = state.bins.drain().map(|(_, block)| block).collect();
        free_silently(&self.context, blocks, |block| self.free(block));
    }
}

impl PinnedLease<'_> {
    pub(in crate::memory) const fn start(&self) -> *mut c_void {
        self.start
    }

    pub(in crate::memory) fn context(&self) -> &ContextRef {
        &self.pool.context
    }

    /// Leaves the block as it is, as the device may still write it: neither is it handed out again, nor does the context
    /// end, which would free it.
    #[cold]
    pub(in crate::memory) fn lose(self) {
        let this = ManuallyDrop::new(self);
        std::mem::forget(this.pool.context.clone());
        // SAFETY: read once, out of a value that is not dropped.
        drop(unsafe { ptr::read(&raw const this.pool) });
    }
}

impl Drop for PinnedLease<'_> {
    fn drop(&mut self) {
        if self.pool.forked() {
            return;
        }
        let block = self.start.expose_provenance() as u64;
        let held = {
            let State { bins, counts } = &mut *self.pool.state();
            let held = counts.given_back(self.class, self.bytes);
            if held {
                bins.put(self.class, block);
            }
            held
        };
        if !held {
            free_silently(&self.pool.context, [block], |block| self.pool.free(block));
        }
    }
}

impl fmt::Debug for PinnedPool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PinnedPool").field(&self.counters()).finish()
    }
}
