//! The rooms of the emulator's driver: objects know the rooms below them, and no room below
//! `device` knows an object. `emulator/ARCHITECTURE.md` describes the contents of each.

use super::assert_arrows;
use crate::arrows_between::{Knot, Room};

const ROOMS: &[Room<'static>] = &[
    // The base of the driver; its own rooms are in a table of their own.
    ("engine", &["client", "exec", "memory", "message", "opengl", "settings"], &[]),
    ("answer", &["driver::answer"], &[]),
    ("handle", &["driver::handle"], &[]),
    ("state", &["driver::state"], &["engine", "answer", "handle"]),
    ("call", &["driver::call"], &["engine", "answer", "handle", "state"]),
    ("device", &["driver::device"], &["answer", "state", "call"]),
    ("context", &["driver::context"], &["engine", "answer", "handle", "state", "call", "device"]),
    ("data", &["driver::memory"], &["engine", "answer", "handle", "state", "call", "device", "context"]),
    (
        "stream",
        &["driver::stream"],
        &["engine", "answer", "handle", "state", "call", "device", "context", "data"],
    ),
    ("texture", &["driver::texture"], &["engine", "answer", "handle", "state", "call", "device", "context"]),
    (
        "external",
        &["driver::external"],
        &["engine", "answer", "handle", "state", "call", "context", "texture"],
    ),
    (
        "graphics",
        &["driver::graphics"],
        &["engine", "answer", "handle", "state", "call", "context", "stream", "texture"],
    ),
    (
        "transfer",
        &["driver::transfer"],
        &["answer", "state", "call", "device", "context", "data", "stream", "texture"],
    ),
    (
        "code",
        &["driver::code"],
        &["engine", "answer", "handle", "state", "call", "device", "context", "texture", "transfer"],
    ),
    (
        "graph",
        &["driver::graph"],
        &["answer", "handle", "state", "call", "context", "data", "stream", "external", "transfer", "code"],
    ),
    ("green", &["driver::green"], &["answer", "handle", "state", "call", "device", "context", "stream"]),
    ("log", &["driver::log"], &["engine", "answer", "handle", "call"]),
    ("error_text", &["driver::error_text"], &[]),
    (
        "init",
        &["driver::init"],
        &["engine", "answer", "state", "call", "device", "context", "data", "log", "error_text"],
    ),
    (
        "driver",
        &["driver"],
        &[
            "state", "call", "device", "context", "data", "stream", "texture", "external", "graphics",
            "transfer", "code", "graph", "green", "log", "init",
        ],
    ),
    ("root", &["lib", "choice"], &["engine", "driver"]),
];

const KNOTS: &[Knot<'static>] = &[];

#[test]
fn rooms_of_the_driver_use_only_those_below() {
    assert_arrows("emulator/src/lib.rs", ROOMS, KNOTS);
}
