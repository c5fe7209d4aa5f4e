//! The layer between types and the function table: calls, owners of handles, lifetimes of contexts.

pub(crate) mod call;
pub(crate) mod debug;
pub(crate) mod flags;
pub(crate) mod held;
pub(crate) mod keep;
pub(crate) mod listener;
pub(crate) mod mark;
pub(crate) mod owned;
pub(crate) mod owner;
pub(crate) mod seal;
pub(crate) mod shared;
pub(crate) mod this_thread;
