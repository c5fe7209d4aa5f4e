//! The record of written bytes of shared and local memory, for the check of uninitialized reads.
//!
//! Each byte of the record is 1 if the byte of memory is written. An access whose bytes are not all
//! written leaves the frequent code, and `access::place` reports it.

use super::backend::{IntCC, Kind, Val, int_type};
use super::writer::Writer;

/// Offsets and sizes of the parts of an access that one instruction tests or marks.
fn parts(bytes: u32) -> impl Iterator<Item = (i32, u32)> {
    (0..bytes).step_by(8).map(move |at| (at as i32, bytes.min(8)))
}

/// True if all bytes at this position of a record are 1.
pub(super) fn all(w: &mut Writer<'_, '_>, record: Val, bytes: u32) -> Val {
    let mut found = None;
    for (offset, size) in parts(bytes) {
        let part = w.e.load(int_type(size), Kind::State, record, offset);
        found = Some(match found {
            Some(before) => w.e.band(before, part),
            None => part,
        });
    }
    let (ty, ones) = (int_type(bytes.min(8)), ones(bytes));
    let ones = w.e.int(ty, ones);
    let found = found.unwrap_or(ones);
    w.e.icmp(IntCC::Equal, found, ones)
}

/// Sets all bytes at this position of a record to 1.
pub(super) fn mark(w: &mut Writer<'_, '_>, record: Val, bytes: u32) {
    let value = ones(bytes);
    for (offset, size) in parts(bytes) {
        let value = w.e.int(int_type(size), value);
        w.e.store(Kind::State, value, record, offset);
    }
}

fn ones(bytes: u32) -> u64 {
    0x0101_0101_0101_0101 >> (64 - 8 * bytes.min(8))
}
