//! Free blocks by size class, and their counters.

use super::size_class::SizeClass;

/// Free blocks, one list per size class. The block freed last is reused first.
#[derive(Debug, Default)]
pub(crate) struct Bins(Vec<Vec<u64>>);

impl Bins {
    #[inline]
    pub(crate) fn take(&mut self, class: SizeClass) -> Option<u64> {
        self.0.get_mut(class.number())?.pop()
    }

    #[inline]
    pub(crate) fn put(&mut self, class: SizeClass, block: u64) {
        if self.0.len() <= class.number() {
            self.0.resize_with(class.number() + 1, Vec::new);
        }
        self.0[class.number()].push(block);
    }

    pub(crate) fn largest(&self) -> Option<SizeClass> {
        self.0.iter().rposition(|bin| !bin.is_empty()).map(SizeClass::from_number)
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (SizeClass, u64)> + use<> {
        let bins = std::mem::take(&mut self.0);
        let classes = bins.into_iter().enumerate();
        classes.flat_map(|(number, bin)| {
            bin.into_iter().map(move |block| (SizeClass::from_number(number), block))
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }
}

/// Number of blocks of a caching pool, and their bytes.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::PinnedFlags;
/// use cuprum::pool::PinnedPool;
///
/// let pool = PinnedPool::new(&cx, PinnedFlags::empty());
/// let staging = pool.from_slice(&cx, &[0u8; 1000])?;
/// assert_eq!((pool.counters().active_blocks, pool.counters().active_bytes), (1, 1000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct PoolCounters {
    /// Blocks in use.
    pub active_blocks: usize,
    /// Free blocks that the pool holds.
    pub held_blocks: usize,
    /// Requested bytes of the blocks in use.
    pub active_bytes: usize,
    /// Bytes of all blocks, rounded up to their size class.
    pub managed_bytes: usize,
}

impl PoolCounters {
    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            active_blocks: self.active_blocks + other.active_blocks,
            held_blocks: self.held_blocks + other.held_blocks,
            active_bytes: self.active_bytes + other.active_bytes,
            managed_bytes: self.managed_bytes + other.managed_bytes,
        }
    }
}

/// The counters, and whether freed blocks are held.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) counters: PoolCounters,
    /// True if freed blocks are returned to the driver.
    pub(crate) stopped: bool,
}

impl Counts {
    /// A held block is reused for `bytes` bytes.
    #[inline]
    pub(crate) fn reused(&mut self, bytes: usize) {
        self.counters.held_blocks -= 1;
        self.counters.active_blocks += 1;
        self.counters.active_bytes += bytes;
    }

    /// A held block was not reused after all.
    pub(crate) fn not_used(&mut self, bytes: usize) {
        self.counters.held_blocks += 1;
        self.counters.active_blocks -= 1;
        self.counters.active_bytes -= bytes;
    }

    /// A new block is in use for `bytes` bytes.
    pub(crate) fn grown(&mut self, class: SizeClass, bytes: usize) {
        self.counters.active_blocks += 1;
        self.counters.active_bytes += bytes;
        self.counters.managed_bytes += class.bytes();
    }

    /// A block of `bytes` requested bytes was freed. Returns true if it is to be held.
    #[inline]
    pub(crate) fn given_back(&mut self, class: SizeClass, bytes: usize) -> bool {
        self.counters.active_blocks -= 1;
        self.counters.active_bytes -= bytes;
        if self.stopped {
            self.counters.managed_bytes -= class.bytes();
        } else {
            self.counters.held_blocks += 1;
        }
        !self.stopped
    }

    /// A held block is freed.
    pub(crate) fn freed(&mut self, class: SizeClass) {
        self.counters.held_blocks -= 1;
        self.counters.managed_bytes -= class.bytes();
    }

    /// A held block was not freed after all.
    pub(crate) fn not_freed(&mut self, class: SizeClass) {
        self.counters.held_blocks += 1;
        self.counters.managed_bytes += class.bytes();
    }
}
