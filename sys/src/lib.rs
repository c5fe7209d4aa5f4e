#![doc = include_str!("../README.md")]
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

#[macro_use]
mod macros;

pub mod constants;
pub mod enums;
mod error;
mod fns;
mod fork;
pub mod left_out;
mod library;
mod loader;
mod result;
pub mod structs;
mod table;
pub mod types;
mod version;

pub use constants::*;
pub use enums::*;
pub use error::{Attempt, LoadError, MissingFunction, Refusal, TooOld};
pub use fns::{FnId, Fns};
pub use library::Library;
pub use loader::{DRIVER_VARIABLE, OpenOptions};
pub use structs::*;
pub use table::{StreamMode, Symbol};
pub use types::*;
pub use version::Version;
