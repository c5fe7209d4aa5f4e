//! The rooms of the crate that reads PTX.

use super::assert_arrows;
use crate::arrows_between::{Knot, Room};

const ROOMS: &[Room<'static>] = &[
    ("ordered", &["ordered"], &[]),
    ("semantics", &["semantics"], &[]),
    ("ptx", &["ptx"], &[]),
    // Instructions and their effects.
    (
        "instruction",
        &[
            "program::condition",
            "program::instruction",
            "program::memory",
            "program::bulk",
            "program::matrix",
            "program::sparse",
            "program::warp_group",
            "program::texture",
            "program::types",
            "program::effects",
            "program::rename",
        ],
        &["semantics", "ptx"],
    ),
    // A program: its parts, and properties of a kernel as a whole that follow from its
    // instructions.
    (
        "kernel",
        &[
            "program::kernel",
            "program::flow",
            "program::blocks",
            "program::unwritten",
            "program::reuse",
            "program::slot",
        ],
        &["ordered", "semantics", "instruction"],
    ),
    // Declarations of modules.
    (
        "symbols",
        &[
            "program::error",
            "program::newer",
            "program::symbols",
            "program::variables",
            "program::initial",
            "program::declare",
            "program::exports",
        ],
        &["ptx", "instruction", "kernel"],
    ),
    // A decoder is one object, written in a file for each subject.
    ("decode", &["program::decode"], &["ordered", "semantics", "ptx", "instruction", "kernel", "symbols"]),
    ("program", &["program", "program::module"], &["ptx", "instruction", "kernel", "symbols", "decode"]),
    ("lib", &["lib"], &[]),
];

const KNOTS: &[Knot<'static>] =
    &[("semantics", "lib", "macros for the engine as well are found at the root, wherever they are written")];

#[test]
fn rooms_of_ptx_use_only_those_below() {
    assert_arrows("emulator/ptx/src/lib.rs", ROOMS, KNOTS);
}
