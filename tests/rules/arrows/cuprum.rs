//! The rooms of the safe layer.

use std::path::Path;

use super::assert_arrows;
use crate::arrows_between::{Knot, Room, circles};

const ROOMS: &[Room<'static>] = &[
    ("flags", &["raw::debug", "raw::flags"], &[]),
    ("machine", &["diagnosis::advice", "diagnosis::machine"], &[]),
    ("error", &["error"], &["flags", "machine"]),
    ("swallowed", &["swallowed"], &["error"]),
    ("call", &["raw::call"], &["error"]),
    ("keep", &["raw", "raw::keep"], &["flags"]),
    ("shared", &["raw::shared"], &["flags"]),
    ("this_thread", &["raw::this_thread"], &[]),
    ("listener", &["raw::listener"], &[]),
    ("mark", &["raw::mark"], &[]),
    ("seal", &["raw::seal"], &[]),
    ("driver", &["driver", "device"], &["error", "flags", "call"]),
    ("diagnosis", &["diagnosis", "diagnosis::format", "diagnosis::image"], &["machine", "driver"]),
    (
        "context",
        &["context"],
        &["error", "swallowed", "flags", "call", "keep", "shared", "this_thread", "mark", "driver"],
    ),
    (
        "held",
        &["raw::held", "raw::owned", "raw::owner"],
        &["error", "swallowed", "flags", "call", "keep", "context"],
    ),
    (
        "memory",
        &["memory"],
        &["error", "flags", "call", "keep", "shared", "mark", "seal", "driver", "context", "held"],
    ),
    ("arguments", &["launch::signature", "launch::tuples"], &["memory"]),
    ("geometry", &["launch::config"], &[]),
    (
        "stream",
        &["stream"],
        &[
            "error",
            "flags",
            "call",
            "keep",
            "shared",
            "seal",
            "this_thread",
            "mark",
            "driver",
            "context",
            "held",
            "memory",
            "arguments",
        ],
    ),
    ("tools", &["tools"], &["error", "flags", "call", "listener", "driver", "context", "held"]),
    ("external", &["external"], &["error", "flags", "context", "held", "memory", "stream"]),
    (
        "graphics",
        &["graphics"],
        &["error", "flags", "call", "keep", "driver", "context", "held", "memory", "stream"],
    ),
    (
        "pool",
        &["pool"],
        &[
            "error",
            "swallowed",
            "flags",
            "call",
            "keep",
            "seal",
            "held",
            "driver",
            "context",
            "memory",
            "arguments",
            "stream",
        ],
    ),
    (
        "module",
        &["module"],
        &[
            "error",
            "swallowed",
            "flags",
            "call",
            "keep",
            "shared",
            "driver",
            "diagnosis",
            "context",
            "held",
            "memory",
            "geometry",
            "stream",
        ],
    ),
    (
        "launch",
        &["launch"],
        &["error", "flags", "shared", "context", "memory", "arguments", "geometry", "stream", "module"],
    ),
    (
        "graph",
        &["graph"],
        &[
            "error",
            "swallowed",
            "flags",
            "call",
            "keep",
            "shared",
            "this_thread",
            "mark",
            "seal",
            "driver",
            "context",
            "held",
            "memory",
            "arguments",
            "geometry",
            "stream",
            "external",
            "launch",
        ],
    ),
    (
        "texture",
        &["texture"],
        &["error", "flags", "keep", "shared", "seal", "context", "held", "memory", "arguments", "stream"],
    ),
    (
        "region",
        &["region"],
        &[
            "error", "flags", "call", "shared", "held", "context", "memory", "geometry", "stream", "module",
            "launch", "graph", "texture",
        ],
    ),
    (
        "any_error",
        &["any_error"],
        &[
            "error",
            "driver",
            "diagnosis",
            "context",
            "memory",
            "stream",
            "module",
            "launch",
            "graph",
            "texture",
            "region",
        ],
    ),
    ("not_wrapped", &["not_wrapped"], &[]),
    ("open", &["open"], &["shared", "driver", "context", "any_error"]),
    (
        "lib",
        &["lib"],
        &[
            "error",
            "shared",
            "driver",
            "context",
            "memory",
            "arguments",
            "geometry",
            "stream",
            "module",
            "launch",
            "any_error",
            "open",
        ],
    ),
];

const KNOTS: &[Knot<'static>] = &[
    (
        "context",
        "held",
        "a foreign context is asked for its device while it is current, as an owner is freed",
    ),
    (
        "context",
        "any_error",
        "the error that closures return in a context has a variant for each error of the crate",
    ),
    ("stream", "any_error", "the same for closures of scopes"),
    ("launch", "any_error", "a call of a kernel copies and launches, and fails by either"),
    ("arguments", "lib", "a macro that other rooms use names parameters by their public path"),
];

#[test]
fn rooms_of_the_safe_layer_use_only_those_below() {
    assert_arrows("src/lib.rs", ROOMS, KNOTS);
}

#[test]
fn files_of_each_folder_have_an_order() {
    let circles = circles(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"));
    assert!(circles.is_empty(), "files of a folder use each other in a circle:\n{}", circles.join("\n"));
}
