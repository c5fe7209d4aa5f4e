//! The rooms of the function table.

use super::assert_arrows;
use crate::arrows_between::{Knot, Room};

const ROOMS: &[Room<'static>] = &[
    ("macros", &["macros"], &[]),
    ("fork", &["fork"], &[]),
    ("types", &["enums", "result", "types", "structs", "constants"], &["fork"]),
    ("version", &["version", "ptx_version"], &[]),
    ("declare", &["declare"], &["version"]),
    ("parameter", &["hook::parameter", "hook::value"], &[]),
    ("list", &["list"], &["declare", "parameter"]),
    ("fns", &["fns"], &["types", "list"]),
    ("export", &["export"], &[]),
    ("table", &["table"], &["version", "declare", "fns"]),
    ("error", &["error"], &["types", "version", "fns"]),
    ("dynamic", &["dynamic"], &[]),
    ("mapped", &["mapped"], &[]),
    ("environment", &["environment"], &[]),
    ("search", &["search"], &["environment"]),
    (
        "library",
        &["library", "loader", "requirement"],
        &["types", "version", "fns", "table", "error", "dynamic", "environment", "fork"],
    ),
    ("hook", &["hook"], &["types", "parameter", "fns", "table", "error", "library"]),
    ("left_out", &["left_out"], &[]),
    ("lib", &["lib"], &["types", "version", "fns", "table", "error", "mapped", "library"]),
];

const KNOTS: &[Knot<'static>] = &[
    ("macros", "lib", "macros that other crates also use name each other from the root"),
    ("export", "lib", "what it makes is in other crates, which see this one from outside"),
];

#[test]
fn rooms_of_the_table_use_only_those_below() {
    assert_arrows("sys/src/lib.rs", ROOMS, KNOTS);
}
