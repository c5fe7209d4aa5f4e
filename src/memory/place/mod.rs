//! Places of copies: their kinds, and the traits of each place.

pub(crate) mod kind;
mod source;

pub use self::source::{Peer, Source, Target};
