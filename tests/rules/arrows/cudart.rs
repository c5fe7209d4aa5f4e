//! The rooms of the runtime library.

use super::assert_arrows;
use crate::arrows_between::Room;

const ROOMS: &[Room<'static>] = &[
    // The codes of both layers, and the driver's words for them.
    ("driver", &["driver", "error"], &[]),
    ("release", &["release", "release::linked"], &[]),
    ("structs", &["structs", "properties"], &["driver"]),
    ("state", &["state"], &["driver", "structs"]),
    ("image", &["image"], &["driver", "structs"]),
    ("registry", &["registry"], &["driver", "structs", "image"]),
    ("exported", &["exported"], &["driver", "state"]),
    ("calls", &["calls"], &["driver", "release", "structs", "state", "registry", "exported"]),
    ("lib", &["lib"], &[]),
];

#[test]
fn rooms_of_the_runtime_library_use_only_those_below() {
    assert_arrows("emulator/cudart/src/lib.rs", ROOMS, &[]);
}
