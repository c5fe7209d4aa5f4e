//! The rooms of the emulator.

use super::assert_arrows;
use crate::arrows_between::{Knot, Room};

const ROOMS: &[Room<'static>] = &[
    ("served", &["served"], &[]),
    ("ordered", &["ordered"], &[]),
    ("semantics", &["semantics"], &[]),
    ("ptx", &["ptx"], &[]),
    ("memory", &["memory"], &["served", "ordered"]),
    ("report", &["report"], &["memory"]),
    ("opengl", &["opengl"], &["ordered"]),
    // What instructions are, and what each does.
    (
        "instruction",
        &[
            "program::instruction",
            "program::memory",
            "program::bulk",
            "program::matrix",
            "program::warp_group",
            "program::texture",
            "program::types",
            "program::effects",
            "program::rename",
        ],
        &["semantics", "ptx"],
    ),
    // A program: what it has, and what follows from its instructions for a kernel as a whole.
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
    // What a module declares.
    (
        "symbols",
        &["program::error", "program::symbols", "program::variables", "program::initial"],
        &["ordered", "ptx", "instruction", "kernel"],
    ),
    // A decoder is one object, written in a file for each subject.
    ("decode", &["program::decode"], &["ordered", "semantics", "ptx", "instruction", "kernel", "symbols"]),
    (
        "program",
        &["program", "program::module"],
        &["ordered", "ptx", "instruction", "kernel", "symbols", "decode"],
    ),
    // What tensor maps hold.
    ("tensor", &["exec::tensor"], &["instruction"]),
    // Textures as such, and how they are sampled.
    ("texture", &["exec::texture"], &["semantics", "instruction"]),
    ("interface", &["exec::interface"], &["kernel", "texture"]),
    // What the vector mode makes of a kernel.
    ("code", &["exec::vector::code"], &["semantics", "ptx", "instruction", "kernel"]),
    // What the checks remember.
    ("check", &["exec::check"], &["ordered", "semantics", "instruction", "kernel"]),
    // The state of a block.
    (
        "block",
        &["exec::block"],
        &["semantics", "memory", "report", "instruction", "kernel", "interface", "code", "check", "tensor"],
    ),
    ("access", &["exec::access"], &["semantics", "ptx", "report", "instruction", "check", "block"]),
    (
        "plain",
        &["exec::plain"],
        &[
            "semantics",
            "ptx",
            "report",
            "instruction",
            "kernel",
            "texture",
            "tensor",
            "check",
            "block",
            "access",
        ],
    ),
    (
        "vector",
        &["exec::vector", "exec::vector::run"],
        &["semantics", "instruction", "code", "block", "plain"],
    ),
    ("launch", &["exec::launch"], &["memory", "report", "interface", "code", "block", "plain", "vector"]),
    ("exec", &["exec"], &["memory", "report", "interface", "launch"]),
    ("settings", &["settings"], &["interface", "exec"]),
    ("message", &["message"], &["report", "settings"]),
    // `exec::launch` is a function beside the module of that name.
    (
        "driver",
        &["driver"],
        &[
            "served",
            "ordered",
            "memory",
            "report",
            "kernel",
            "symbols",
            "texture",
            "tensor",
            "interface",
            "launch",
            "exec",
            "settings",
            "message",
            "opengl",
        ],
    ),
    ("choice", &["choice"], &["message"]),
    ("lib", &["lib"], &["report", "driver", "message", "settings", "choice"]),
];

const KNOTS: &[Knot<'static>] =
    &[("choice", "lib", "it hands out the emulator as a library, as its users get it")];

#[test]
fn rooms_of_the_emulator_use_only_those_below() {
    assert_arrows("emulator/src/lib.rs", ROOMS, KNOTS);
}
