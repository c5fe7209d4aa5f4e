//! Accesses that one check covers: by one address at constant distances, in one block of code.
//!
//! The first access of a group checks that its memory contains all of them. The others test the
//! result of this check, and search for their memory if it failed.

use super::backend::Val;
use super::support;
use crate::program::instruction::{Condition, Op};
use crate::program::{Kernel, effects};
use crate::ptx::Space;
use crate::semantics::Register;
use std::collections::HashMap;

/// Maximum distance of an access from the first of its group, in bytes.
const MOST_APART: u64 = 1 << 16;

/// Distances of the lowest and of the highest access of a group from the first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) low: i32,
    pub(super) high: i32,
}

/// The groups of a kernel.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// By the position of the first access.
    spans: HashMap<u32, Span>,
    /// By the positions of the others: the position of the first, and the distance from it.
    others: HashMap<u32, (u32, i32)>,
}

/// A group of which more accesses may follow.
struct Open {
    base: Register,
    space: Option<Space>,
    bytes: u32,
    writes: bool,
    offset: i64,
    first: u32,
}

impl Groups {
    /// Returns the span of a group that begins at a position.
    pub(super) fn span(&self, pc: u32) -> Option<Span> {
        self.spans.get(&pc).copied()
    }

    /// Returns the position of the first access of the group to which an access belongs, and the
    /// distance from it; `None` for the first itself.
    pub(super) fn first(&self, pc: u32) -> Option<(u32, i32)> {
        self.others.get(&pc).copied()
    }

    /// `leads` are the positions where blocks of machine code begin.
    pub(super) fn of(kernel: &Kernel, leads: &[bool]) -> Groups {
        let (mut groups, mut open) = (Groups::default(), Vec::<Open>::new());
        for (pc, instruction) in kernel.code.iter().enumerate() {
            if leads[pc] {
                open.clear();
            }
            if let (Op::Load(access) | Op::Store(access), Condition::ALWAYS) =
                (&instruction.op, instruction.guard)
            {
                let new = Open {
                    base: access.address.base,
                    space: access.space,
                    bytes: access.total_bytes(),
                    writes: matches!(instruction.op, Op::Store(_)),
                    offset: access.address.offset,
                    first: pc as u32,
                };
                if !support::is_stop(kernel, instruction) && !groups.add(&open, &new) {
                    open.push(new);
                }
            }
            effects::writes(instruction, &mut |register, _| open.retain(|group| group.base != register));
        }
        groups
    }

    /// Adds an access to its group. Returns false if it is the first of one.
    fn add(&mut self, open: &[Open], new: &Open) -> bool {
        let near = |group: &&Open| {
            let alike = (group.base, group.space, group.bytes, group.writes);
            let distance = new.offset.wrapping_sub(group.offset);
            alike == (new.base, new.space, new.bytes, new.writes)
                && distance.unsigned_abs() <= MOST_APART
                && distance % i64::from(new.bytes) == 0
        };
        let Some(group) = open.iter().find(near) else { return false };
        let distance = (new.offset - group.offset) as i32;
        let span = self.spans.entry(group.first).or_default();
        *span = Span { low: span.low.min(distance), high: span.high.max(distance) };
        self.others.insert(new.first, (group.first, distance));
        true
    }
}

/// A group whose first access is written: `good` if the memory contains all accesses. Their places
/// are then these origins and distances, plus an offset, plus the distance from the first access.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) good: Val,
    pub(super) origins: Vec<Val>,
    pub(super) distances: Vec<Val>,
    pub(super) offset: i32,
    /// The block in which these values are known.
    pub(super) block: u32,
}
