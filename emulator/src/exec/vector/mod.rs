//! The vector mode: whole rows at a time, several warps at a time.
//!
//! A kernel is translated once into [`Steps`], which hold ready functions for the processor at hand ([`rows`],
//! [`memory`]). Warps of a block that stand at the same instruction with all lanes active form a gang and run each
//! step together, so that finding out what to do is paid for once. A gang ends where its warps go different ways;
//! then each runs by itself, under a mask where its lanes have parted, and they form a gang again at the next
//! barrier. Whatever is rare is left to the plain mode, instruction by instruction, on the same registers.

mod memory;
mod registers;
mod rows;
mod run;
mod translate;

pub(in crate::exec) use rows::{Level, PureRows, TestRows, pure_rows, test_rows};
pub(in crate::exec) use run::{Gang, MOST_WARPS};
pub(crate) use translate::{Steps, translate};
