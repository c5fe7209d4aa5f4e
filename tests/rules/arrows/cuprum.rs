//! The rooms of the safe layer.

use super::assert_arrows;
use crate::arrows_between::{Knot, Room};

const ROOMS: &[Room<'static>] = &[
    ("machine", &["diagnosis::advice", "diagnosis::machine"], &[]),
    ("error", &["error"], &["machine"]),
    ("swallowed", &["swallowed"], &["error"]),
    ("call", &["raw::call"], &["error"]),
    ("keep", &["raw", "raw::keep"], &[]),
    ("this_thread", &["raw::this_thread"], &[]),
    ("listener", &["raw::listener"], &[]),
    ("flags", &["raw::flags"], &[]),
    ("driver", &["driver", "device"], &["error", "swallowed", "flags", "call", "listener"]),
    ("diagnosis", &["diagnosis", "diagnosis::image", "diagnosis::ptx_version"], &["machine", "driver"]),
    ("context", &["context"], &["error", "swallowed", "flags", "call", "keep", "this_thread", "driver"]),
    ("held", &["raw::held", "raw::owned"], &["error", "swallowed", "call", "keep", "context"]),
    ("memory", &["memory"], &["error", "flags", "call", "keep", "driver", "context", "held"]),
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
            "this_thread",
            "driver",
            "context",
            "held",
            "memory",
            "arguments",
        ],
    ),
    ("tools", &["tools"], &["error", "call", "listener", "driver", "context", "held"]),
    ("external", &["external"], &["error", "call", "keep", "context", "held", "memory", "stream"]),
    (
        "graphics",
        &["graphics"],
        &["error", "flags", "call", "keep", "driver", "context", "held", "memory", "stream"],
    ),
    (
        "pool",
        &["pool"],
        &["error", "swallowed", "call", "keep", "held", "driver", "context", "memory", "arguments", "stream"],
    ),
    (
        "module",
        &["module"],
        &[
            "error",
            "swallowed",
            "call",
            "keep",
            "driver",
            "diagnosis",
            "context",
            "held",
            "memory",
            "arguments",
            "geometry",
            "stream",
        ],
    ),
    (
        "launch",
        &["launch"],
        &["error", "flags", "call", "keep", "context", "memory", "arguments", "geometry", "stream", "module"],
    ),
    ("worker", &["worker"], &["error", "call", "context"]),
    (
        "graph",
        &["graph"],
        &[
            "error",
            "swallowed",
            "flags",
            "call",
            "keep",
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
        &["error", "call", "keep", "this_thread", "context", "held", "memory", "arguments", "stream"],
    ),
    ("compile", &["compile"], &["error", "driver", "context", "module"]),
    ("dlpack", &["dlpack"], &["error", "context", "memory", "stream"]),
    ("trace", &["trace"], &[]),
    ("not_wrapped", &["not_wrapped"], &[]),
    (
        "lib",
        &["lib"],
        &[
            "error",
            "driver",
            "context",
            "memory",
            "arguments",
            "geometry",
            "stream",
            "module",
            "launch",
            "worker",
        ],
    ),
];

const KNOTS: &[Knot<'static>] = &[
    (
        "call",
        "context",
        "a call in a context poisons it: the macro names the type, so that nothing else is taken",
    ),
    (
        "context",
        "held",
        "a foreign context is asked for its device while it is current, as an owner is freed",
    ),
    ("arguments", "lib", "a macro that other rooms use names parameters by their public path"),
    ("module", "launch", "a shared module makes shared kernels, as users look for them there"),
];

#[test]
fn rooms_of_the_safe_layer_use_only_those_below() {
    assert_arrows("src/lib.rs", ROOMS, KNOTS);
}
