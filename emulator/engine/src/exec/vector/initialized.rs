//! The check for reads of uninitialized memory, for whole warps.

use crate::exec::check::shadow::Written;
use crate::exec::code::HALF;
use crate::exec::code::growth::Half;
use crate::exec::code::transfer::Spread;
use crate::memory::ValidBits;
use crate::semantics::lanes_of;

/// Record of the written bytes of the memory that an access reaches.
pub(super) enum Record<'r> {
    /// Nothing is tested or recorded.
    None,
    /// A region of global memory. Without the check, reads are not tested.
    Global(&'r ValidBits, bool),
    /// Shared or local memory.
    Own(&'r mut Written),
    /// Memory of a cluster, which the plain mode tests.
    Other,
}

/// Bytes of a warp's lanes in the memory of a record.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'s> {
    /// Added to the offsets of all lanes.
    pub(super) start: u64,
    pub(super) spread: Spread<'s>,
    pub(super) active: u32,
    /// Bytes of each lane.
    pub(super) count: u64,
}

impl Bytes<'_> {
    /// Calls `visit` with the offset and the number of bytes of lanes that access neighbors or the
    /// same bytes, or of each lane, until it returns false.
    pub(super) fn all(&self, mut visit: impl FnMut(u64, u64) -> bool) -> bool {
        self.spread.halves.into_iter().enumerate().all(|(half, kind)| {
            let lanes = self.active >> (half * HALF) & 0xffff;
            let place = |lane: usize| self.start.wrapping_add_signed(self.spread.offsets[half * HALF + lane]);
            match kind {
                Half::Same if lanes != 0 => visit(place(0), self.count),
                Half::Next if lanes == 0xffff => visit(place(0), self.count * HALF as u64),
                _ => lanes_of(lanes).all(|lane| visit(place(lane), self.count)),
            }
        })
    }
}

impl Record<'_> {
    /// Records the bytes of a write, or tests the bytes of a read. An update does both. Returns
    /// false if some are not initialized; the plain mode then repeats the access and reports it.
    pub(super) fn admits(&mut self, bytes: &Bytes<'_>, [reads, writes]: [bool; 2]) -> bool {
        match self {
            Record::None => true,
            Record::Other => false,
            Record::Global(init, checked) => {
                if reads && *checked && !bytes.all(|at, count| init.all_set(at, count)) {
                    return false;
                }
                if writes {
                    bytes.all(|at, count| {
                        init.set(at, count);
                        true
                    });
                }
                true
            }
            Record::Own(written) => {
                if reads && !bytes.all(|at, count| written.all(at as usize, count as usize)) {
                    return false;
                }
                if writes {
                    bytes.all(|at, count| {
                        written.mark(at as usize, count as usize);
                        true
                    });
                }
                true
            }
        }
    }
}
