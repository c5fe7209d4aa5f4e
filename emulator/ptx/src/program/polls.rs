//! Finds loads by which threads wait for others.

use super::instruction::Op;
use super::{Kernel, effects};
use std::ops::RangeInclusive;

/// Marks the volatile or ordered loads that a loop repeats at the same address.
pub(super) fn mark(kernel: &mut Kernel) {
    let strong = |pc: &usize| matches!(&kernel.code[*pc].op, Op::Load(access) if access.order.is_strong());
    let loads: Vec<usize> = (0..kernel.code.len()).filter(strong).collect();
    if loads.is_empty() {
        return;
    }
    let loops = loops(kernel);
    for pc in loads {
        let around = loops.iter().filter(|body| body.contains(&pc));
        let Some(inner) = around.min_by_key(|body| body.end() - body.start()) else { continue };
        let Op::Load(access) = &kernel.code[pc].op else { continue };
        let (address, mut polls) = (access.address.base, true);
        for instruction in &kernel.code[inner.clone()] {
            effects::writes(instruction, &mut |written, _| polls &= written != address);
        }
        if let Op::Load(access) = &mut kernel.code[pc].op {
            access.polls = polls;
        }
    }
}

/// Returns the positions between the target of each branch backwards and the branch.
fn loops(kernel: &Kernel) -> Vec<RangeInclusive<usize>> {
    let body = |(pc, op): (usize, &Op)| match op {
        Op::Branch { target } if *target as usize <= pc => Some(*target as usize..=pc),
        _ => None,
    };
    kernel.code.iter().map(|instruction| &instruction.op).enumerate().filter_map(body).collect()
}
