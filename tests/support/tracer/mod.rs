//! Drivers that write down what they are asked, and answer what a test wants them to.
//!
//! Made from the one list of functions, `sys/src/fns.rs`, by a macro of its own ([`list`]). Each function notes its
//! call in the thread's [`Session`], answers an injected code, or passes the call on: to the emulator, or to a driver
//! that does [`nothing`]. A [`watcher`](watch) follows handles, current contexts and host memory behind the calls.
//!
//! A program that includes this needs one more line at its root, for the paths in `fns.rs`:
//!
//! ```ignore
//! #[path = "support/tracer/mod.rs"]
//! mod tracer;
//! use tracer::list::{enums, structs, table, types};
//! ```

#![allow(dead_code, reason = "each program that includes this uses its own part")]

mod flights;
mod handles;
pub(crate) mod list;
mod nothing;
mod open;
mod others;
mod session;
mod watch;

#[allow(unused_imports, reason = "each program that includes this uses its own part")]
pub(crate) use {
    open::{Backing, Build, emulator},
    session::{Called, Injection, Pick, Session, calls_of, failing},
    watch::{Trouble, Violation},
};
