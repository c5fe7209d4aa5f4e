//! Copies and fills on the default stream: one method for each, between places of any kind.

mod current;
pub(crate) mod kind;
mod pairs;
mod place;

pub use self::place::{Peer, Source, Target};
