//! Memory shared by processes: unnamed files, which end with the last process that uses them.
//!
//! * [`SharedFile`]: such a file, passed on by its descriptor.
//! * [`Arena`]: a file from which allocations take pieces, so that an allocation needs no
//!   descriptor.
//! * [`Board`]: a file of counters, which report the state of allocations and events to other
//!   processes.
//!
//! Linux only. Elsewhere nothing can be shared, and requests fail.

mod arena;
mod board;
mod file;
mod os;

pub(super) use arena::{Arena, Piece};
pub use board::EventSlot;
pub(super) use board::{Board, Slot};
pub(in crate::memory) use file::{HEADER, Mapping, Purpose, SharedFile};
