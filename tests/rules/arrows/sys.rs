//! The rooms of the function table.

use super::assert_arrows;
use crate::arrows_between::{Knot, Room};

const ROOMS: &[Room<'static>] = &[
    ("macros", &["macros"], &[]),
    ("types", &["enums", "result", "types", "structs", "constants"], &[]),
    ("version", &["version"], &[]),
    ("declare", &["declare"], &["version"]),
    ("fns", &["fns"], &["types"]),
    ("table", &["table"], &["version", "declare", "fns"]),
    ("error", &["error"], &["types", "version", "fns"]),
    ("dynamic", &["dynamic"], &[]),
    ("fork", &["fork"], &[]),
    (
        "library",
        &["library", "loader", "requirement"],
        &["types", "version", "fns", "table", "error", "dynamic", "fork"],
    ),
    ("hook", &["hook"], &["types", "fns", "table", "error", "library"]),
    ("nvrtc", &["nvrtc"], &["types", "version", "declare", "error", "dynamic"]),
    ("left_out", &["left_out"], &[]),
    ("lib", &["lib"], &["types", "version", "fns", "table", "error", "library"]),
];

const KNOTS: &[Knot<'static>] = &[
    ("fns", "table", "the list is written in the macro that makes the table from it"),
    ("table", "hook", "that macro has hooked functions made of the same list, where they are wanted"),
];

#[test]
fn rooms_of_the_table_use_only_those_below() {
    assert_arrows("sys/src/lib.rs", ROOMS, KNOTS);
}
