//! Runs PTX kernels on the CPU. Internal to `cuprum-emulator`: any version may change anything.
//!
//! [`exec::launch`] takes a kernel of [`cuprum_ptx`] and runs it on [`memory`], with every access
//! checked. A launch that fails returns a [`report::Fault`]. Contexts, streams and modules are in
//! `cuprum-emulator`, which contains the driver.
//!
//! # Rooms
//!
//! Each room uses only rooms above it in this list. The repository's test `arrows` checks the `use`
//! lines.
//!
//! - `served`: the driver call that a thread is serving.
//! - [`memory`]: addresses and bytes.
//! - [`report`]: faults of kernels, in terms of these.
//! - [`exec`]: runs a program on memory; its own rooms are in its documentation.

pub mod exec;
pub mod memory;
pub mod report;
#[doc(hidden)]
pub mod served;

use cuprum_ptx::{ordered, program, ptx, semantics};
