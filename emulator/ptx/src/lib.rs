#![doc = include_str!("../README.md")]
//!
//! # Rooms
//!
//! Each room uses only those above it in this list (the test `arrows` of the repository reads the
//! `use` lines):
//!
//! - `ordered`: a map with ordered keys. `semantics`: results of each operation. Neither knows
//!   anything else of the crate.
//! - [`ptx`]: text to syntax tree.
//! - [`program`]: from syntax tree to instructions. It does not know how they are run.
//!
//! Items that this page does not list are public for `cuprum-engine`, which runs the instructions.
//! They may change in any version.

#[doc(hidden)]
pub mod ordered;
pub mod program;
pub mod ptx;
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "an operation is a type without values")]
pub mod semantics;
