//! Copies and fills on the default stream: one verb for each, between places of any kind.

mod current;
pub(crate) mod kind;
mod pairs;
mod place;

pub use self::place::{Peer, Source, Target};
