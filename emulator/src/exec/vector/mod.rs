//! The vector mode: whole rows at a time, several warps at a time.
//!
//! A kernel is translated once into [`Steps`], which hold ready functions for the processor at hand ([`rows`],
//! [`memory`]). Warps of a block that stand at the same instruction form a [`gang`] and run each step together, so that
//! finding out what to do is paid for once. Where lanes part, the gang goes on with those that come first, each warp
//! under a mask; the others wait to be gathered into the next gang. Under a mask a whole row is still written where
//! nobody elsewhere needs the old values ([`liveness`]). Registers whose lanes
//! differ in a regular way are not computed lane by lane at all ([`affine`], [`scalar`]). Whatever is rare is left to the
//! plain mode, instruction by instruction, on the same registers.

mod affine;
mod blocks;
mod gang;
mod liveness;
mod memory;
mod registers;
mod regular;
mod rows;
mod run;
mod scalar;
mod translate;

pub(in crate::exec) use blocks::Blocks;
pub(in crate::exec) use gang::MOST_WARPS;
pub(in crate::exec) use rows::{Level, PureRows, TestRows, pure_rows, test_rows};
pub(in crate::exec) use scalar::{Scalars, reads_row};
pub(crate) use translate::{Steps, translate};
