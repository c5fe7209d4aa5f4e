//! The last accesses to a word, and the rules by which a later access races with one.
//!
//! # Races
//!
//! Two accesses race if they access the same bytes, at least one writes, they are by different
//! threads, neither happens before the other (module [`clocks`](super::clocks)), and they are not
//! both strong (atomic, volatile or with a memory order) within the scope of both. One access
//! happens before another by:
//!
//! - barriers of the block (`bar.arrive` included) and in memory (`mbarrier`);
//! - warp-level instructions (`bar.warp.sync`, shuffles, votes and the like) for the participating
//!   lanes. PTX guarantees this only for `bar.warp.sync`; programs expect it of the others, so they
//!   are not reported;
//! - a fence or a release, then a strong write, then a strong read of the written value, or of a
//!   value that atomics computed from it. PTX also requires a fence of the reader, but kernels that
//!   hand out tickets often omit it without consequences. A missing acquire is therefore not found;
//!   a missing release is.
//!
//! Two writes of the same value are not reported, because many kernels do this on purpose. Plain
//! reads of memory that others change by atomic instructions are reported only with
//! [`ExecOptions::check_atomic_reads`](crate::exec::ExecOptions::check_atomic_reads): a loop around
//! `atom.cas` begins with such a read, and hardware reads a whole word. Plain writes with atomic
//! instructions are reported, and so are plain reads with strong stores. Lanes of a warp count as
//! different threads: communication between lanes without `bar.warp.sync` or a similar instruction
//! is reported, although lanes run in step here.
//!
//! One schedule shows one order of events; a race on the path of another order may need another
//! seed. For each word only the last writes and a limited number of reads are stored, which can
//! hide a race but never invents one. `cp.async` counts as an immediate access by the issuing
//! thread, so a missing wait for a copy is not found. Accesses of the host, of bulk copies and of
//! textures are not checked.

use super::past::Past;
use crate::program::memory::{Order, Scope};

/// Properties of an access that matter for races.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) struct Touch {
    pub(in crate::exec) write: bool,
    pub(in crate::exec) order: Order,
    /// True if it computes the new value from the old one.
    pub(in crate::exec) update: bool,
    pub(in crate::exec) atomic: bool,
    /// True if it writes the value that is already there.
    pub(in crate::exec) same: bool,
}

impl Touch {
    pub(in crate::exec) fn reads(self) -> bool {
        !self.write || self.update
    }
}

/// Lanes of a warp with the same access to some bytes of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) struct Trace {
    pub(in crate::exec) block: u64,
    pub(in crate::exec) warp: u32,
    pub(in crate::exec) lanes: u32,
    /// Time of the warp's clock.
    pub(in crate::exec) moment: u32,
    pub(in crate::exec) pc: u32,
    pub(in crate::exec) bytes: u8,
    pub(in crate::exec) write: bool,
    pub(in crate::exec) order: Order,
    pub(in crate::exec) atomic: bool,
}

impl Trace {
    #[inline]
    pub(super) fn differs_in_lanes_only(&self, other: &Trace) -> bool {
        // First by the parts that differ most often.
        self.warp == other.warp && self.pc == other.pc && *self == Trace { lanes: self.lanes, ..*other }
    }

    pub(in crate::exec) fn is_read_beside_atomic(&self, other: &Trace) -> bool {
        let reads = |trace: &Trace| !trace.write && !trace.order.is_strong();
        reads(self) && other.atomic || self.atomic && reads(other)
    }

    /// True if both are strong, each within the scope of the other.
    fn is_atomic_with(&self, other: &Trace) -> bool {
        let reaches = |order: Order| match order {
            Order::Weak => false,
            Order::Strong { scope, .. } => scope == Scope::Device || self.block == other.block,
        };
        reaches(self.order) && reaches(other.order)
    }
}

/// Maximum number of accesses stored per word.
const MOST_TRACES: usize = 64;

/// Accesses to a word that later ones may race with.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell(Vec<Trace>);

impl Cell {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds an access that races with none and is later than all others, and that ends none.
    pub(super) fn add(&mut self, trace: Trace) {
        match self.like(&trace) {
            Some(like) => like.lanes |= trace.lanes,
            None => self.0.push(trace),
        }
    }

    /// Returns the same read by other lanes.
    fn like(&mut self, now: &Trace) -> Option<&mut Trace> {
        self.0.iter_mut().find(|earlier| !now.write && earlier.differs_in_lanes_only(now))
    }

    /// Records an access of one lane to the whole word, if it races with none, as an access of the
    /// last of several lanes. Otherwise returns false without a change.
    #[inline]
    pub(super) fn touch_word(&mut self, now: &mut Trace, last: u32, past: &Past, how: Compare) -> bool {
        if !self.admits(now, past, how) {
            return false;
        }
        now.lanes = last;
        if now.write {
            self.0.clear();
            self.0.push(*now);
        } else {
            self.touch(*now, past, how);
        }
        true
    }

    /// True if an access of some lanes certainly races with none.
    #[inline]
    pub(super) fn admits(&self, now: &Trace, past: &Past, how: Compare) -> bool {
        let single = now.lanes.is_power_of_two();
        self.0.iter().filter(|earlier| earlier.may_clash(now, how)).all(|earlier| {
            // Of several lanes, the others race with an access of one of them.
            let own = if single { earlier.unknown_to(now, past) } else { earlier.unknown(past) };
            own == 0
        })
    }

    /// Records an access of one lane. Returns an earlier one, of one lane, with which it races. The
    /// access may be by more lanes if it races with none.
    pub(super) fn touch(&mut self, now: Trace, past: &Past, how: Compare) -> Option<Trace> {
        if let Some(like) = self.like(&now) {
            // The other lanes were compared with the same writes; this lane is compared here.
            like.lanes |= now.lanes;
            let mut writes = self.0.iter().filter(|earlier| earlier.write);
            return writes.find_map(|write| write.clash(&now, past, how));
        }
        // The other lanes join the first.
        let first = now.first_lane();
        let mut found = None;
        self.0.retain_mut(|earlier| {
            if earlier.bytes & now.bytes == 0 {
                return true;
            }
            if !(how.same && earlier.write) {
                found = found.or_else(|| earlier.clash(&now, past, how));
            }
            // An access in the past of this one is not stored, because a later access that races
            // with it also races with this one.
            if now.write || !earlier.write && earlier.unknown_to(&first, past) == 0 {
                earlier.bytes &= !now.bytes;
            }
            earlier.bytes != 0
        });
        if self.0.len() >= MOST_TRACES {
            let oldest_read = self.0.iter().position(|earlier| !earlier.write);
            self.0.remove(oldest_read.unwrap_or(0));
        }
        self.0.push(now);
        found
    }
}

impl Trace {
    /// Returns the access of the first of its lanes.
    pub(super) fn first_lane(&self) -> Trace {
        Trace { lanes: self.lanes & self.lanes.wrapping_neg(), ..*self }
    }

    /// True if both are accesses of one warp.
    pub(super) fn is_by_warp_of(&self, other: &Trace) -> bool {
        self.block == other.block && self.warp == other.warp
    }

    /// Returns the lanes of this access that are not in a past.
    pub(super) fn unknown(&self, past: &Past) -> u32 {
        past.unknown(self.block, self.warp, self.lanes, self.moment)
    }

    /// Returns the lanes of this access that do not happen before a later one.
    pub(super) fn unknown_to(&self, now: &Trace, past: &Past) -> u32 {
        if self.is_by_warp_of(now) { self.unknown(past) & !now.lanes } else { self.unknown(past) }
    }

    /// True if a later access races with this one, unless this one happens before it.
    fn may_clash(&self, now: &Trace, how: Compare) -> bool {
        self.bytes & now.bytes != 0
            && (self.write || now.write)
            && !self.is_atomic_with(now)
            && (how.atomic_reads || !self.is_read_beside_atomic(now))
    }

    /// Returns one lane of this access that races with `now`.
    fn clash(&self, now: &Trace, past: &Past, how: Compare) -> Option<Trace> {
        if !self.may_clash(now, how) {
            return None;
        }
        let lanes = self.unknown_to(now, past);
        (lanes != 0).then(|| Trace { lanes, ..*self }.first_lane())
    }
}

/// Rules for comparing an access with earlier ones.
#[derive(Clone, Copy)]
pub(in crate::exec) struct Compare {
    /// True if it writes the value that is already there.
    pub(in crate::exec) same: bool,
    pub(in crate::exec) atomic_reads: bool,
}
