//! The rooms of the library that writes down calls.

use super::assert_arrows;
use crate::arrows_between::Room;

const ROOMS: &[Room<'static>] = &[
    ("variables", &["variables"], &[]),
    ("format", &["format"], &[]),
    ("read", &["read"], &["format"]),
    ("roles", &["roles"], &["read"]),
    ("work", &["work"], &["read", "roles"]),
    ("show", &["show"], &["read", "roles", "work"]),
    ("os", &["os"], &[]),
    ("driver", &["driver"], &["variables"]),
    ("segment", &["segment"], &["variables", "format", "os", "driver"]),
    ("extras", &["extras", "times"], &["variables", "format", "roles", "os", "driver", "segment"]),
    ("record", &["record"], &["format", "os", "driver", "segment", "extras"]),
    ("exports", &["exports"], &["driver", "record"]),
    ("lib", &["lib"], &["read", "show", "exports"]),
];

#[test]
fn rooms_of_the_tracer_use_only_those_below() {
    assert_arrows("tracer/src/lib.rs", ROOMS, &[]);
}
