//! The rooms of the crate that exchanges tensors.

use super::assert_arrows;
use crate::arrows_between::{Knot, Room};

const ROOMS: &[Room<'static>] = &[
    ("types", &["abi", "element", "read_only"], &[]),
    ("tensor", &["tensor"], &["types"]),
    ("exchange", &["array_interface", "export", "import", "strided"], &["types", "tensor"]),
    ("lib", &["lib"], &["types", "tensor", "exchange"]),
];

const KNOTS: &[Knot<'static>] = &[];

#[test]
fn rooms_of_the_exchange_use_only_those_below() {
    assert_arrows("dlpack/src/lib.rs", ROOMS, KNOTS);
}
