//! Finds loads by which threads wait for others.

use super::instruction::Op;
use super::{Kernel, effects};
use std::collections::HashSet;

/// Maximum number of instructions of a loop that is searched, so that the time grows linearly.
const MOST_INSTRUCTIONS: usize = 256;

/// Marks the volatile or ordered loads that a loop repeats at the same address.
pub(super) fn mark(kernel: &mut Kernel) {
    for end in 0..kernel.code.len() {
        let Op::Branch { target } = kernel.code[end].op else { continue };
        let first = target as usize;
        if first > end || end - first >= MOST_INSTRUCTIONS {
            continue;
        }
        let body = &mut kernel.code[first..=end];
        let mut written = HashSet::new();
        for instruction in &*body {
            effects::writes(instruction, &mut |register, _| {
                written.insert(register);
            });
        }
        for instruction in body {
            if let Op::Load(access) = &mut instruction.op {
                access.polls |= access.order.is_strong() && !written.contains(&access.address.base);
            }
        }
    }
}
