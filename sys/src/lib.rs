#![doc = include_str!("../README.md")]
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "everything has its name of C"
)]

// The rooms, from the bottom to the top; each uses only those above it in this list. The safe
// layer's test `tests/rules/arrows/sys.rs` has the arrows, checks them, and states the reason for
// the one upwards.
//
// macros            macros that declare enums, handles, structs and constants
// fork              whether this process was forked since
// types             their declarations: enums and result codes, handles, structs, constants
// version           CUDA versions
// declare           macros that make a table of a list of functions
// list              macros that make a table of the list of functions, and hand it on
// fns               the one list of the driver's functions
// export            exported functions, made of it
// table             addresses, names and versions made of that list
// error             reasons why a library is no driver, or lacks something
// dynamic           opening libraries, and finding their exports
// mapped            files from which this process has mapped its code
// environment       variables of the environment, as far as they may be obeyed
// search            folders of Python's packages, for crates that look for another library there
// library loader    finding, loading, describing a driver, and requirements of programs
// hook              tables whose functions pass through code of one's own
// left_out          functions that are in no list, with reasons

#[doc(hidden)]
#[macro_use]
pub mod macros;

pub mod constants;
#[doc(hidden)]
pub mod declare;
#[doc(hidden)]
pub mod dynamic;
pub mod enums;
pub mod environment;
mod error;
mod export;
#[macro_use]
mod fns;
mod fork;
#[cfg(feature = "hook")]
pub mod hook;
pub mod left_out;
mod library;
mod list;
mod loader;
mod mapped;
mod ptx_version;
mod requirement;
mod result;
#[doc(hidden)]
pub mod search;
pub mod structs;
mod table;
pub mod types;
mod version;

pub use constants::*;
pub use enums::*;
#[doc(hidden)]
pub use error::write_attempts;
pub use error::{Attempt, LoadError, MissingFunction, MissingFunctions, Refusal, TooOld};
pub use fns::{FnId, Fns};
pub use library::Library;
pub use loader::{DRIVER_VARIABLE, OpenOptions};
#[doc(hidden)]
pub use mapped::{Mapped, mapped_at};
pub use ptx_version::{newest_ptx, toolkit_of_ptx};
pub use requirement::Requirement;
pub use structs::*;
pub use table::{StreamMode, Symbol};
pub use types::*;
pub use version::Version;
