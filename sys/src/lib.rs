#![doc = include_str!("../README.md")]
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "everything has its name of C"
)]

// The rooms, from the bottom to the top; each uses only those above it in this list. The safe layer's test
// `tests/rules/arrows/sys.rs` has the arrows, checks them, and gives the reason for the one that goes the other way.
//
// macros            macros that declare enums, handles, structs and constants
// types             their declarations: enums and result codes, handles, structs, constants
// version           CUDA versions
// declare           macros that make a table of a list of functions
// fns               the one list of the driver's functions
// table             what is made of that list: addresses, names, versions
// error             why a library is no driver, or lacks something
// dynamic           opening libraries, and finding what they export
// fork              whether this process was forked since
// library loader    finding and loading a driver, what it is then, and what is required of it
// hook              tables whose functions pass through code of one's own
// nvrtc             the compiler: a list and a table of its own, finding and loading it
// left_out          functions that are in no list, with reasons

#[macro_use]
mod macros;

pub mod constants;
mod declare;
mod dynamic;
pub mod enums;
mod error;
mod fns;
mod fork;
#[cfg(feature = "hook")]
pub mod hook;
pub mod left_out;
mod library;
mod loader;
pub mod nvrtc;
mod requirement;
mod result;
pub mod structs;
mod table;
pub mod types;
mod version;

pub use constants::*;
pub use enums::*;
pub use error::{Attempt, LoadError, MissingFunction, MissingFunctions, Refusal, TooOld};
pub use fns::{FnId, Fns};
pub use library::Library;
pub use loader::{DRIVER_VARIABLE, OpenOptions};
pub use requirement::Requirement;
pub use structs::*;
pub use table::{StreamMode, Symbol};
pub use types::*;
pub use version::Version;
