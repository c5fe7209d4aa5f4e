//! Page-locked host memory, with one owner at a time.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::block::Block;
use crate::memory::DeviceData;
use crate::raw::debug::debug;

/// Bytes of page-locked memory, for [uploads](super::Queue::upload) and
/// [reads](super::Queue::read). It dereferences to the bytes, and the device copies from and to it
/// in parallel with the host.
///
/// It is moved into an upload or a read. Only a successful wait returns it from a read, so the host
/// never accesses bytes that the device writes. When dropped, it returns to its pool without a
/// driver call. Memory that a device may still use is not reused before that use is complete.
///
/// Its contents are not cleared: they are unspecified bytes.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::PrimaryContext;
/// use cuprum::region::Pool;
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// let numbers = context.enter(|cx| {
///     let pool = Pool::new(cx);
///     let queue = pool.queue(cx)?;
///     let region = queue.alloc(cx, 8)?;
///     let mut staging = pool.pinned(cx, 8)?;
///     staging[..4].copy_from_slice(&1u32.to_ne_bytes());
///     staging[4..].copy_from_slice(&2u32.to_ne_bytes());
///     queue.upload(cx, &region, staging)?;
///     let bytes = queue.read(cx, &region, pool.pinned(cx, 8)?)?.wait()?;
///     Ok(bytes.elements::<u32>().expect("two numbers").to_vec())
/// })?;
/// assert_eq!(numbers, [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pinned {
    block: Arc<Block>,
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: it owns its bytes exclusively; any thread may use the block.
unsafe impl Send for Pinned {}
// SAFETY: a shared reference gives only shared references to bytes.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// The first `len` bytes of a new block, or none.
    pub(super) fn new(block: Block, start: Option<NonNull<u8>>, len: usize) -> Self {
        let (start, len) = start.map_or((NonNull::dangling(), 0), |start| (start, len));
        Self { block: Arc::new(block), start, len }
    }

    pub(super) const fn block(&self) -> &Arc<Block> {
        &self.block
    }

    pub(super) const fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Splits the memory before byte `at`. The memory returns to the pool when both parts were
    /// dropped. No driver call.
    ///
    /// # Errors
    /// The memory itself, if it has fewer than `at` bytes.
    pub fn split(self, at: usize) -> Result<(Self, Self), Self> {
        let Some(rest) = self.len.checked_sub(at) else { return Err(self) };
        // SAFETY: the offset is within the block, or its end.
        let start = unsafe { self.start.add(at) };
        let second = Self { block: Arc::clone(&self.block), start, len: rest };
        Ok((Self { len: at, ..self }, second))
    }

    /// Returns the bytes as elements, or `None` if they are not aligned for the element or not a
    /// whole number of elements.
    pub fn elements<T: DeviceData>(&self) -> Option<&[T]> {
        let len = self.len.checked_div(size_of::<T>())?;
        // The address of an empty piece is no address of memory.
        let start = if len == 0 { NonNull::dangling() } else { self.start.cast::<T>() };
        if !start.is_aligned() || len * size_of::<T>() != self.len {
            return None;
        }
        // SAFETY: this many aligned elements, borrowed like this; any bytes are a `T`.
        Some(unsafe { std::slice::from_raw_parts(start.as_ptr(), len) })
    }
}

impl Deref for Pinned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: there are this many bytes, which belong only to this piece. No device writes
        // them, because the piece is moved for that. The system initializes pages that were never
        // written.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Pinned {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, borrowed mutably; no device reads it either.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

debug!(Pinned: |this| "{:p}, {} bytes", this.start, this.len);
