//! Faults of kernels, and leaks, as data and as text.
//!
//! A launch that fails returns one [`Fault`]: the error, its position in the grid, its line, the
//! address, and the nearest allocation. The driver turns [`Fault::code`] into the context's sticky
//! error and keeps the fault for `cuprum_emulator::last_fault`.

#![deny(clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod fault;
mod kind;
mod leak;
mod misuse;
mod unordered;

pub use fault::{Access, Fault, Related};
pub use kind::{FaultKind, Hazard};
pub use leak::{Leak, LeakKind};
pub use misuse::{Frame, Misuse};
pub use unordered::{Line, Unordered, Use, Work};
