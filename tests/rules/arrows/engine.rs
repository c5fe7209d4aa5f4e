//! The rooms of the crate that runs kernels.

use super::assert_arrows;
use crate::arrows_between::{Knot, Room};

const ROOMS: &[Room<'static>] = &[
    ("served", &["served"], &[]),
    ("memory", &["memory"], &["served"]),
    ("report", &["report"], &["memory"]),
    // The contents of tensor maps.
    ("tensor", &["exec::tensor"], &[]),
    // Textures as such, and how they are sampled.
    ("texture", &["exec::texture"], &[]),
    // The bytes that a launch touches.
    ("touched", &["exec::touched"], &["memory"]),
    ("interface", &["exec::interface"], &["memory", "report", "texture", "touched"]),
    // Kernels compiled for the vector mode.
    ("code", &["exec::code"], &[]),
    // The memory of the checks.
    ("check", &["exec::check"], &[]),
    // The state of a block.
    ("block", &["exec::block"], &["memory", "report", "touched", "interface", "code", "check", "tensor"]),
    ("access", &["exec::access"], &["memory", "report", "touched", "check", "block"]),
    ("plain", &["exec::plain"], &["report", "texture", "tensor", "check", "block", "access"]),
    ("vector", &["exec::vector"], &["memory", "touched", "code", "check", "block", "access", "plain"]),
    // Kernels as machine code, with the feature `compile`.
    ("compiled", &["exec::compiled"], &["memory", "interface", "code", "check", "block", "access", "plain"]),
    ("launch", &["exec::launch"], &["memory", "report", "interface", "block", "plain", "vector", "compiled"]),
    ("exec", &["exec"], &["interface", "launch"]),
    ("lib", &["lib"], &[]),
];

const KNOTS: &[Knot<'static>] = &[];

#[test]
fn rooms_of_the_engine_use_only_those_below() {
    assert_arrows("emulator/engine/src/lib.rs", ROOMS, KNOTS);
}
