//! The number of loops around each place of a kernel.

use crate::program::Kernel;
use crate::program::effects::{self, Course};

/// Returns the number of loops around each of `count` places, from their first and last places.
pub(super) fn around(loops: impl Iterator<Item = (usize, usize)>, count: usize) -> Vec<u32> {
    let mut changes = vec![0i64; count + 1];
    for (first, end) in loops {
        changes[first] += 1;
        changes[end + 1] -= 1;
    }
    let mut depth = 0;
    let sum = |change: &i64| {
        depth += change;
        depth as u32
    };
    changes[..count].iter().map(sum).collect()
}

/// Returns the number of loops around each instruction.
pub(super) fn of(kernel: &Kernel) -> Vec<u32> {
    around(ends(kernel), kernel.code.len())
}

/// Returns the first and the last instruction of each loop.
pub(super) fn ends(kernel: &Kernel) -> impl Iterator<Item = (usize, usize)> {
    let jumps = kernel.code.iter().enumerate().filter_map(|(pc, next)| match effects::course(&next.op) {
        Course::Jump(targets) => Some((pc, targets)),
        _ => None,
    });
    jumps.flat_map(|(pc, targets)| {
        let firsts = targets.iter().map(|target| *target as usize).filter(move |target| *target <= pc);
        firsts.map(move |first| (first, pc))
    })
}
