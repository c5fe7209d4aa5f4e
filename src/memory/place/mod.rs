//! Places of copies: their kinds, and the traits of each place.

pub(crate) mod kind;
mod source;

pub(crate) use self::source::place;
pub use self::source::{Peer, Source, Target};
