//! The dependencies in each crate: the rooms from the bottom to the top, and the arrows that are
//! allowed between them.
//!
//! A new module gets a room, a new arrow a place in the table of its crate. An arrow upwards is a
//! knot: better to cut it than to list it. Each listed knot has its reason.

mod cli;
mod compile;
mod cudart;
mod cuprum;
mod dlpack;
mod driver;
mod emulator;
mod engine;
mod knots;
mod ptx;
mod reading;
mod sys;
mod tracer;

use std::path::Path;

use crate::arrows_between::{Knot, Room, complaints};

/// Compares a crate with its table; `root` is the path of its `lib.rs` in the repository.
fn assert_arrows(root: &str, rooms: &[Room<'_>], knots: &[Knot<'_>]) {
    let wrong = complaints(&Path::new(env!("CARGO_MANIFEST_DIR")).join(root), rooms, knots);
    assert!(wrong.is_empty(), "{root}: {} complaints:\n{}", wrong.len(), wrong.join("\n"));
}
