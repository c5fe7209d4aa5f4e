//! Control flow: the order in which diverged lanes should run.
//!
//! Diverged lanes reconverge at the earliest common block if the first block in reverse post-order
//! always runs first: then all paths into a block, except loops, finish before it runs.

use super::effects::{Course, course};
use super::instruction::{Condition, Instruction};

/// Returns the reverse post-order number of each instruction's block, function by function.
pub(in crate::program) fn ranks(code: &[Instruction], entries: impl Iterator<Item = u32>) -> Vec<u32> {
    let leaders = leaders(code);
    let mut block_of = vec![0u32; code.len()];
    let mut starts = Vec::new();
    for (pc, leads) in leaders.iter().enumerate() {
        if *leads {
            starts.push(pc as u32);
        }
        block_of[pc] = starts.len() as u32 - 1;
    }
    let successors: Vec<Vec<u32>> = (0..starts.len())
        .map(|block| {
            let end = starts.get(block + 1).map_or(code.len(), |next| *next as usize);
            successors(code, end - 1).into_iter().map(|pc| block_of[pc as usize]).collect()
        })
        .collect();
    let mut order = vec![u32::MAX; starts.len()];
    let mut post = Vec::new();
    let mut seen = vec![false; starts.len()];
    for entry in std::iter::once(0).chain(entries) {
        let Some(root) = block_of.get(entry as usize) else { continue };
        post_order(*root, &successors, &mut seen, &mut post);
    }
    for (rank, block) in post.iter().rev().enumerate() {
        order[*block as usize] = rank as u32;
    }
    block_of.iter().map(|block| order[*block as usize]).collect()
}

fn leaders(code: &[Instruction]) -> Vec<bool> {
    let mut leaders = vec![false; code.len()];
    let mut mark = |pc: u32| {
        if let Some(leader) = leaders.get_mut(pc as usize) {
            *leader = true;
        }
    };
    mark(0);
    for (pc, instruction) in code.iter().enumerate() {
        match course(&instruction.op) {
            Course::Next | Course::Wait => continue,
            Course::Jump(targets) => targets.iter().copied().for_each(&mut mark),
            Course::Call | Course::End => {}
        }
        mark(pc as u32 + 1);
    }
    leaders
}

/// Returns the targets of the instruction at `pc`, if it ends a block.
pub fn successors(code: &[Instruction], pc: usize) -> Vec<u32> {
    let Some(instruction) = code.get(pc) else { return Vec::new() };
    let behind = (pc + 1 < code.len()).then_some(pc as u32 + 1);
    let mut next = match course(&instruction.op) {
        Course::Next | Course::Wait | Course::Call => return behind.into_iter().collect(),
        Course::Jump(targets) => targets.to_vec(),
        Course::End => Vec::new(),
    };
    if instruction.guard != Condition::ALWAYS {
        next.extend(behind);
    }
    next
}

/// Traverses depth-first without recursion, because generated code nests deeply.
fn post_order(root: u32, successors: &[Vec<u32>], seen: &mut [bool], post: &mut Vec<u32>) {
    if std::mem::replace(&mut seen[root as usize], true) {
        return;
    }
    let mut stack = vec![(root, 0)];
    while let Some((block, next)) = stack.last_mut() {
        match successors[*block as usize].get(*next) {
            Some(successor) => {
                *next += 1;
                let successor = *successor;
                if !std::mem::replace(&mut seen[successor as usize], true) {
                    stack.push((successor, 0));
                }
            }
            None => {
                post.push(*block);
                stack.pop();
            }
        }
    }
}
