//! The rooms of the crate that compiles.

use super::assert_arrows;
use crate::arrows_between::{Knot, Room};

const ROOMS: &[Room<'static>] = &[
    ("nvrtc", &["nvrtc"], &[]),
    ("types", &["architecture", "error", "log", "options", "output", "source"], &["nvrtc"]),
    ("code", &["cache", "code", "compiled", "whole"], &["types"]),
    ("engines", &["nvcc", "program"], &["nvrtc", "types", "code"]),
    ("compiler", &["compiler", "module"], &["nvrtc", "types", "code", "engines"]),
    ("lib", &["lib"], &["types", "code", "compiler"]),
];

const KNOTS: &[Knot<'static>] = &[];

#[test]
fn rooms_of_the_compiler_use_only_those_below() {
    assert_arrows("compile/src/lib.rs", ROOMS, KNOTS);
}
