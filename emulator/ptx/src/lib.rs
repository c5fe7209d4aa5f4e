#![doc = include_str!("../README.md")]
//!
//! # Rooms
//!
//! Each room uses only rooms above it in this list; the test `arrows` checks the `use` lines.
//!
//! - `ordered`: a map with ordered keys. `semantics`: the result of each operation. They use
//!   nothing else of the crate.
//! - [`ptx`]: translates text to a syntax tree.
//! - [`program`]: translates the syntax tree to instructions. It is independent of their execution.
//!
//! Items that this page does not list are public only for `cuprum-engine`, which runs the
//! instructions.
//! They may change in any version.

/// False in a build with `opt-level = 0`, in which kernels run many times slower.
#[doc(hidden)]
pub const IS_OPTIMIZED: bool = !cfg!(unoptimized);

#[doc(hidden)]
pub mod ordered;
pub mod program;
pub mod ptx;
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "an operation is a type without values")]
pub mod semantics;
