//! The rooms of the binary `cuprum`.

use super::assert_arrows;
use crate::arrows_between::{Knot, Room};

const ROOMS: &[Room<'static>] = &[
    ("texts", &["arguments", "exit", "json", "terminal"], &[]),
    ("progress", &["child", "progress", "signals"], &["texts"]),
    ("program", &["elf", "file", "program"], &["texts"]),
    ("software", &["software"], &[]),
    ("doctor", &["doctor"], &["texts", "progress", "program", "software"]),
    ("run", &["run"], &["texts", "progress", "program", "software"]),
    ("trace", &["trace"], &["texts", "progress", "program", "software"]),
    ("lib", &["lib"], &["texts", "doctor", "run", "trace"]),
];

const KNOTS: &[Knot<'static>] = &[];

#[test]
fn rooms_of_the_binary_use_only_those_below() {
    assert_arrows("cli/src/main.rs", ROOMS, KNOTS);
}
