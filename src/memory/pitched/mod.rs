//! Device memory in rows with padding: owned and borrowed.

mod buffer;
mod view;

pub use self::buffer::PitchedBuffer;
pub(crate) use self::view::filled_rows;
pub use self::view::{Pitched, PitchedMut};
