//! Pools that keep freed blocks and reuse them without a driver call: the common part for memory of
//! the device and the host, and the blocks of the host.

mod bins;
mod free;
mod pinned;
mod size_class;
mod user;

pub use self::bins::PoolCounters;
pub(crate) use self::bins::{Bins, Counts};
pub(crate) use self::free::{free_all, free_silently, is_no_room};
pub(super) use self::pinned::{Blocks, PinnedLease};
pub(crate) use self::size_class::SizeClass;
pub(crate) use self::user::{Parts, Stock, User, is_not_freed};
