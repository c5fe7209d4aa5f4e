//! Shares of device memory.

use std::ops::RangeBounds;
use std::ptr;
use std::sync::Arc;

use cuprum_sys::CUdeviceptr;

use super::block::Block;
use crate::memory::resolve;
use crate::raw::debug::debug;
use crate::raw::owner::context;

/// A counted share of an allocation of device memory, with a range of its bytes.
///
/// It is cloned, sliced and sent without a driver call, and any number of threads and queues can
/// share it: operations that race only leave unspecified bytes in device memory. Each operation
/// notes its queue in the allocation. Dropping the last share makes no driver call and does not
/// wait: the memory returns to the pool, which reuses it when no queue can still use it.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::PrimaryContext;
/// use cuprum::region::Pool;
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// let bytes = context.enter(|cx| {
///     let pool = Pool::new(cx);
///     let queue = pool.queue(cx)?;
///     let region = queue.alloc(cx, 8)?;
///     queue.fill(cx, &region, 1u8)?;
///     let half = region.slice(4..).expect("it has eight bytes");
///     drop(region); // the half keeps the memory
///     queue.fill(cx, &half, 2u8)?;
///     let read = queue.read(cx, &half, pool.pinned(cx, 4)?)?;
///     Ok(read.wait()?.to_vec())
/// })?;
/// assert_eq!(bytes, [2; 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Region {
    block: Arc<Block>,
    address: CUdeviceptr,
    len: usize,
}

impl Region {
    pub(super) fn new(block: Block, address: CUdeviceptr, len: usize) -> Self {
        Self { block: Arc::new(block), address, len }
    }

    /// Number of bytes.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// True if there are no bytes.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the address of the first byte in device memory; 0 for an allocation of no bytes.
    pub const fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    context!(|this| this.block.context());

    /// Returns a share of some of the bytes, or `None` if out of bounds. No driver call.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Option<Self> {
        let (start, len) = resolve(&range, self.len)?;
        Some(Self { block: Arc::clone(&self.block), address: self.address + start as CUdeviceptr, len })
    }

    #[inline]
    pub(super) const fn block(&self) -> &Arc<Block> {
        &self.block
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let ends_before = |one: &Self, two: &Self| one.address + one.len as CUdeviceptr <= two.address;
        ptr::eq(&*self.block, &*other.block) && !ends_before(self, other) && !ends_before(other, self)
    }
}

debug!(Region: |this| "{:#x}, {} bytes", this.address, this.len);
