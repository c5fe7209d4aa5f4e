//! Shadow of memory for the checks that are off by default: the bytes that were ever written, and their last
//! accesses.
//!
//! # Races
//!
//! Two accesses race if they touch the same bytes, at least one writes, they are by different threads, neither happens
//! before the other (module [`clocks`](super::clocks)), and they are not both strong (atomic, volatile or with a memory
//! order) within the scope of both. One access happens before another by:
//!
//! - barriers of the block (`bar.arrive` included) and in memory (`mbarrier`);
//! - warp-level instructions (`bar.warp.sync`, shuffles, votes and the like) for the lanes that take part. PTX promises
//!   that of `bar.warp.sync` alone; programs expect it of the others, which are not reported;
//! - a fence or a release, then a strong write, then a strong read of the value written, or of one that atomics made of
//!   it. The reader need not have a fence, though PTX asks for one: kernels that hand out tickets often leave it out,
//!   and get away with it. So a missing acquire is not found; a missing release is.
//!
//! Not reported: two writes of the same value, which many kernels do on purpose; and, unless asked for
//! ([`ExecOptions::check_atomic_reads`](crate::exec::ExecOptions::check_atomic_reads)), plain reads of memory that
//! others change by atomic instructions, as in the loop around `atom.cas` that begins with a plain read: hardware reads
//! a whole word. Plain writes beside atomic instructions are reported, and so are plain reads beside strong stores.
//! Lanes of a warp count as threads like any other: communication between lanes without `bar.warp.sync` or a similar
//! instruction is reported, even though lanes run in step here.
//!
//! One schedule shows one order of events; finding a race on the path of another order may need another seed. For
//! each word only the last writes and a limited number of reads are remembered, which can hide a race and never makes
//! one up. `cp.async` counts as done by the thread that issues it, at once: a copy that nobody waits for is not found.
//! Accesses of the host, of bulk copies and of textures are not watched.

use super::clocks::{ByAddress, Past, Publications};
use crate::program::memory::{Order, Scope};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Part of an access in a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) struct Touch {
    pub(in crate::exec) write: bool,
    pub(in crate::exec) order: Order,
    /// It makes the new value from the old one.
    pub(in crate::exec) update: bool,
    /// By an atomic instruction.
    pub(in crate::exec) atomic: bool,
    /// It writes the value that is there already.
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
    /// Moment of the warp's clock.
    pub(in crate::exec) moment: u32,
    pub(in crate::exec) pc: u32,
    /// One bit per byte of the word.
    pub(in crate::exec) bytes: u8,
    pub(in crate::exec) write: bool,
    pub(in crate::exec) order: Order,
    pub(in crate::exec) atomic: bool,
}

impl Trace {
    fn differs_in_lanes_only(&self, other: &Trace) -> bool {
        *self == Trace { lanes: self.lanes, ..*other }
    }

    /// True if one is a plain read and the other atomic.
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

/// Most accesses that are remembered per word.
const MOST_TRACES: usize = 64;
/// Bytes of a word.
const WORD: u64 = 4;

/// Accesses to a word that later ones may race with.
#[derive(Clone, Debug, Default)]
struct Cell(Vec<Trace>);

impl Cell {
    /// Records an access of one lane and returns an earlier one, also of one lane, that it races with.
    fn touch(&mut self, now: Trace, past: &Past, how: Compare) -> Option<Trace> {
        if !now.write {
            if let Some(like) = self.0.iter_mut().find(|earlier| earlier.differs_in_lanes_only(&now)) {
                // The other lanes of this instruction were compared with the same writes; this lane is compared here.
                like.lanes |= now.lanes;
                return self
                    .0
                    .iter()
                    .filter(|earlier| earlier.write)
                    .find_map(|write| write.clash(&now, past, how));
            }
        }
        let mut found = None;
        self.0.retain_mut(|earlier| {
            if earlier.bytes & now.bytes == 0 {
                return true;
            }
            if (earlier.write || now.write) && !(how.same && earlier.write) {
                found = found.or_else(|| earlier.clash(&now, past, how));
            }
            // An access in the past of this one need not be remembered: a later one that races with it races with this
            // one too.
            if now.write || !earlier.write && earlier.unknown_to(&now, past) == 0 {
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
    /// The lanes of this access that are not in the past of `now`.
    fn unknown_to(&self, now: &Trace, past: &Past) -> u32 {
        let unknown = past.unknown(self.block, self.warp, self.lanes, self.moment);
        let same_warp = self.block == now.block && self.warp == now.warp;
        if same_warp { unknown & !now.lanes } else { unknown }
    }

    /// One lane of this access that races with `now`.
    fn clash(&self, now: &Trace, past: &Past, how: Compare) -> Option<Trace> {
        if self.bytes & now.bytes == 0 || self.is_atomic_with(now) {
            return None;
        }
        if !how.atomic_reads && self.is_read_beside_atomic(now) {
            return None;
        }
        let lanes = self.unknown_to(now, past);
        (lanes != 0).then(|| Trace { lanes: lanes & lanes.wrapping_neg(), ..*self })
    }
}

/// Rules for comparing an access with those before it.
#[derive(Clone, Copy)]
pub(in crate::exec) struct Compare {
    /// It writes the value that is there already.
    pub(in crate::exec) same: bool,
    /// Plain reads race with atomic instructions.
    pub(in crate::exec) atomic_reads: bool,
}

/// Bytes of a memory that were written.
#[derive(Clone, Debug, Default)]
pub(in crate::exec) struct Written(Vec<bool>);

impl Written {
    pub(in crate::exec) fn clear(&mut self) {
        self.0.fill(false);
    }

    /// Marks bytes as written; the record grows with the memory.
    pub(in crate::exec) fn mark(&mut self, start: usize, bytes: usize) {
        if self.0.len() < start + bytes {
            self.0.resize(start + bytes, false);
        }
        self.0[start..start + bytes].fill(true);
    }

    pub(in crate::exec) fn all(&self, start: usize, bytes: usize) -> bool {
        self.0.get(start..start + bytes).is_some_and(|written| written.iter().all(|written| *written))
    }
}

/// Accesses to a memory, by pages, and the knowledge published through it.
#[derive(Debug, Default)]
pub(in crate::exec) struct Accesses {
    pages: ByAddress<Box<[Cell]>>,
    pub(in crate::exec) publications: Publications,
}

impl Accesses {
    const WORDS_A_PAGE: u64 = 64;

    fn cell(&mut self, word: u64) -> &mut Cell {
        let fresh = || vec![Cell::default(); Self::WORDS_A_PAGE as usize].into();
        let page = self.pages.entry(word / Self::WORDS_A_PAGE).or_insert_with(fresh);
        &mut page[(word % Self::WORDS_A_PAGE) as usize]
    }

    fn clear(&mut self) {
        self.pages.values_mut().flatten().for_each(|cell| cell.0.clear());
        self.publications.clear();
    }

    /// Records an access to bytes from `address` on and returns an earlier one that it races with.
    pub(in crate::exec) fn touch(
        &mut self,
        address: u64,
        bytes: u64,
        now: Trace,
        past: &Past,
        how: Compare,
    ) -> Option<Trace> {
        let end = address + bytes;
        let mut found = None;
        for word in address / WORD..=(end - 1) / WORD {
            let first = address.max(word * WORD) - word * WORD;
            let last = end.min((word + 1) * WORD) - word * WORD;
            let mask = (1u8 << last) - (1u8 << first);
            let race = self.cell(word).touch(Trace { bytes: mask, ..now }, past, how);
            found = found.or(race);
        }
        found
    }
}

/// Shadow of a block's shared memory.
#[derive(Debug, Default)]
pub(in crate::exec) struct Shadow {
    pub(in crate::exec) written: Written,
    pub(in crate::exec) accesses: Accesses,
    /// Knowledge of threads when they arrived at a barrier in memory.
    pub(in crate::exec) barriers: Publications,
}

impl Shadow {
    pub(in crate::exec) fn clear(&mut self) {
        self.written.clear();
        self.accesses.clear();
        self.barriers.clear();
    }
}

/// Accesses of all blocks to global memory. One worker runs all blocks while races are looked for, so nobody waits.
#[derive(Debug, Default)]
pub(in crate::exec) struct GlobalShadow(Mutex<Accesses>);

impl GlobalShadow {
    pub(in crate::exec) fn lock(&self) -> MutexGuard<'_, Accesses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets earlier accesses: the memory was allocated anew.
    pub(in crate::exec) fn forget(&self, address: u64, bytes: u64) {
        let mut accesses = self.lock();
        for word in address / WORD..(address + bytes).div_ceil(WORD) {
            accesses.cell(word).0.clear();
            accesses.publications.remove(&(word * WORD));
        }
    }
}
