//! Reads the sources of this crate: the driver functions that its code calls, and its
//! documentation.
//!
//! It relies on properties that `cargo fmt` and the compiler ensure: items on lines of their own,
//! balanced braces, driver functions called by their C names.

mod reading;

pub use self::reading::{File, Function, Visibility, documented, each_text, files, owner_of};
