//! Drivers that record their calls, and return the codes that a test asks for.
//!
//! Each function of the table passes through a [hook](cuprum::sys::hook) that notes its call in the
//! thread's [`Session`], answers an injected code, or passes the call on: to the emulator, or to a
//! driver that does `nothing`. From the calls, a watcher (`watch`) follows handles, current
//! contexts and host memory.

mod asked;
mod emulator;
mod flights;
mod handles;
mod nothing;
mod open;
mod others;
mod session;
mod tables;
mod target;
mod tools;
mod watch;

pub use {
    emulator::emulator,
    open::{Backing, Build},
    session::{Called, Injection, Pick, Session, calls_of, failing},
    tools::{BUSY_MILLISECONDS, OVER_BUDGET},
    watch::{Trouble, Violation},
};
