//! Managed memory, which the driver moves between the host and devices at one address.

mod buffer;
mod range;

pub use self::buffer::ManagedBuffer;
pub use self::range::{Advice, ManagedInfo, ManagedRange, ManagedRangeMut};
