//! The storage of blocks: memory of a pool, or an owner.

use std::any::Any;

use crate::memory::caching::SizeClass;

/// Storage of a block.
pub(super) enum Storage {
    /// A region without bytes.
    Nothing,
    /// Device memory of the pool.
    Device { address: u64, class: SizeClass },
    /// Page-locked memory of the pool.
    Host { address: u64, class: SizeClass },
    /// An object that is dropped when the work that uses it is complete: adopted memory, or code.
    Kept(Box<dyn Any + Send + Sync>),
}
