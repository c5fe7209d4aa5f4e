//! The rooms of the emulator.

use super::assert_arrows;
use crate::arrows_between::{Knot, Room};

const ROOMS: &[Room<'static>] = &[
    // Exports of the engine.
    ("engine", &["exec", "memory"], &[]),
    ("opengl", &["opengl"], &[]),
    ("settings", &["settings"], &["engine"]),
    ("message", &["message"], &["settings"]),
    ("client", &["client"], &[]),
    ("driver", &["driver"], &["engine", "settings", "message", "opengl", "client"]),
    ("choice", &["choice"], &[]),
    ("lib", &["lib"], &["driver", "message", "settings", "choice"]),
];

const KNOTS: &[Knot<'static>] =
    &[("choice", "lib", "it hands out the emulator as a library, as its users get it")];

#[test]
fn rooms_of_the_emulator_use_only_those_below() {
    assert_arrows("emulator/src/lib.rs", ROOMS, KNOTS);
}
