//! Facts about registers at all blocks of a kernel, by the effects of the blocks.

use std::collections::VecDeque;

/// Maximum number of times that a block is visited, on average.
const MOST_ROUNDS: usize = 64;

/// A set of registers, by their first row, and of predicates, after all rows.
pub(super) type Set = Vec<u64>;

/// The effect of a block on a set: `(set - removed) + added`.
pub(super) struct Transfer {
    pub(super) added: Set,
    pub(super) removed: Set,
}

impl Transfer {
    /// Returns the effect of adding these elements; of nothing else.
    pub(super) fn of(added: Set) -> Transfer {
        let removed = vec![0; added.len()];
        Transfer { added, removed }
    }

    pub(super) fn add(&mut self, bit: u32) {
        put(&mut self.added, bit, true);
        put(&mut self.removed, bit, false);
    }

    pub(super) fn remove(&mut self, bit: u32) {
        put(&mut self.added, bit, false);
        put(&mut self.removed, bit, true);
    }
}

/// Returns the sets on the far side of all blocks. The set on the near side of a block is the union
/// of the sets of the blocks `from` it. `None` if that takes too many steps.
pub(super) fn solve<'a>(
    order: &[usize],
    words: usize,
    transfer: impl Fn(usize) -> Transfer,
    from: impl Fn(usize) -> &'a [usize],
    to: impl Fn(usize) -> &'a [usize],
) -> Option<Vec<u64>> {
    let transfers: Vec<Transfer> = (0..order.len()).map(transfer).collect();
    let mut sets = vec![0u64; order.len() * words];
    let mut queue: VecDeque<usize> = order.iter().copied().collect();
    let mut queued = vec![true; order.len()];
    let mut steps = order.len() * MOST_ROUNDS;
    while let Some(block) = queue.pop_front() {
        steps = steps.checked_sub(1)?;
        queued[block] = false;
        let near = union(from(block), &sets, words);
        let Transfer { added, removed } = &transfers[block];
        let known = &mut sets[block * words..(block + 1) * words];
        let mut changed = false;
        for (index, word) in known.iter_mut().enumerate() {
            let new = near[index] & !removed[index] | added[index];
            changed |= new != *word;
            *word = new;
        }
        if changed {
            for next in to(block) {
                if !std::mem::replace(&mut queued[*next], true) {
                    queue.push_back(*next);
                }
            }
        }
    }
    Some(sets)
}

pub(super) fn union(of: &[usize], sets: &[u64], words: usize) -> Set {
    let mut set = vec![0; words];
    for one in of {
        set.iter_mut().zip(&sets[one * words..(one + 1) * words]).for_each(|(to, from)| *to |= from);
    }
    set
}

pub(super) fn put(set: &mut Set, bit: u32, on: bool) {
    let word = &mut set[bit as usize / 64];
    *word = *word & !(1 << (bit % 64)) | u64::from(on) << (bit % 64);
}

pub(super) fn has(set: &Set, bit: u32) -> bool {
    set[bit as usize / 64] >> (bit % 64) & 1 != 0
}
