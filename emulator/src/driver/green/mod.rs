//! Green contexts: handles for shares of a device's multiprocessors.
//!
//! The shares are counted, split and reported like on hardware, but not enforced: a block runs on
//! any free processor. All green contexts of a device use its primary context, so they share
//! modules and memory. Each has its own handle, streams and default stream.

mod object;
mod share;

pub(crate) use self::object::install;
