//! Drivers that write down what they are asked, and answer what a test wants them to.
//!
//! Each function of the table passes through a [hook](cuprum::sys::hook) that notes its call in the thread's [`Session`],
//! answers an injected code, or passes the call on: to the emulator, or to a driver that does [`nothing`]. A
//! [`watcher`](watch) follows handles, current contexts and host memory behind the calls.

#![allow(dead_code, reason = "each program that includes this uses its own part")]

mod flights;
mod handles;
mod nothing;
mod open;
mod others;
mod session;
mod tables;
mod tools;
mod watch;

#[allow(unused_imports, reason = "each program that includes this uses its own part")]
pub(crate) use {
    open::{Backing, Build, emulator},
    session::{Called, Injection, Pick, Session, calls_of, failing},
    tools::{BUSY_MILLISECONDS, OVER_BUDGET},
    watch::{Trouble, Violation},
};
