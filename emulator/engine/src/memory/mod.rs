//! The device's address space: allocations, their bytes, and freed allocations.
//!
//! Device addresses are in a range of the process that is reserved without access (module `space`),
//! so a host access to a device pointer faults immediately, as on hardware. The bytes are
//! elsewhere, except for memory with the same address on the host (managed, pinned).
//!
//! * Addresses are assigned in ascending order with a gap after each allocation. They are the same
//!   in every run, and an overflow never reaches the neighbor.
//! * A freed range is not reused until the whole range has been used once. A use after free is
//!   therefore always detected, and the report can name the allocation ([`FreedLog`]).
//! * Kernels read a [`Map`], an immutable snapshot that keeps the bytes of all its regions alive,
//!   so a concurrent free cannot remove memory of a running kernel.

mod backing;
mod external;
mod ipc;
mod kind;
mod lock;
mod map;
mod memory;
mod nearest;
mod neighbor;
#[cfg(all(unix, not(miri)))]
mod pages;
mod physical;
mod pool_file;
mod ranges;
mod region;
mod regions;
mod request;
mod shadow;
mod shared;
mod space;
mod windows;
mod writers;

pub use external::{ExternalMemory, ExternalSemaphore};
pub use ipc::HandleError;
pub use kind::RegionKind;
pub use map::{FreedLog, Map};
pub use memory::{GUARD, Memory};
pub use neighbor::{Neighbor, Position};
pub use physical::Physical;
pub use pool_file::PoolFile;
pub use ranges::Ranges;
pub use region::Region;
pub use request::{AllocError, FreeError, GRANULARITY, Request};
pub use shadow::ValidBits;
pub use shared::EventSlot;
pub use space::HostAccess;
pub use windows::Windows;
pub use writers::Writer;

#[cfg(test)]
mod tests;
