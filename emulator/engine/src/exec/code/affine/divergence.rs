//! Registers that lanes change while others wait.

use super::expr::UNIFORM;
use super::find::{Finder, Known};
use crate::exec::code::uses::visit_writes;
use crate::program::effects;
use crate::program::instruction::{Condition, Op};
use crate::semantics::{Predicate, Register};

impl Finder<'_> {
    /// Counts examined instructions. Returns `None` after too many.
    fn look(&mut self, instructions: usize) -> Option<()> {
        self.looks = self.looks.checked_sub(instructions)?;
        Some(())
    }

    /// Assigns rows to registers that some lanes write while others wait with a different value.
    /// Returns `None` if this takes too long.
    pub(super) fn reject_divergent(&mut self) -> Option<()> {
        let uniform = self.uniform_predicates()?;
        for block in 0..self.blocks.count() {
            let Some(last) = self.kernel.code.get(self.blocks.range(block).end - 1) else { continue };
            let diverges = match &last.op {
                Op::Branch { .. } => !uniform[last.guard.predicate.0 as usize],
                Op::BranchIndexed { .. } => true,
                _ => false,
            };
            let ways = self.blocks.successors(block);
            for (index, one) in ways.iter().enumerate().filter(|_| diverges) {
                for other in &ways[index + 1..] {
                    let (one, other) = (*one, *other);
                    let earlier = self.blocks.rank(one) < self.blocks.rank(other);
                    let (first, second) = if earlier { (one, other) } else { (other, one) };
                    // The first lanes run until they reach or pass the others, which then catch up.
                    for meeting in self.reject_written(first, second)? {
                        if meeting != second {
                            self.reject_written(second, meeting)?;
                        }
                    }
                }
            }
        }
        Some(())
    }

    /// Rejects registers that are live at the start of the block `waiting` and written on the paths
    /// from `from` to blocks not before it. Returns these blocks; `None` if it takes long.
    fn reject_written(&mut self, from: usize, waiting: usize) -> Option<Vec<usize>> {
        let limit = self.blocks.rank(waiting);
        let place = self.blocks.range(waiting).start as u32;
        let mut beyond = Vec::new();
        self.searches += 1;
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            self.look(1)?;
            if std::mem::replace(&mut self.seen[block], self.searches) == self.searches {
                continue;
            }
            if self.blocks.rank(block) >= limit {
                beyond.push(block);
                continue;
            }
            self.look(self.blocks.range(block).len())?;
            for pc in self.blocks.range(block) {
                let (liveness, rejected) = (self.liveness, &mut self.rejected);
                visit_writes(&self.kernel.code[pc], &mut |out, _| {
                    if liveness.needs(place, out) {
                        rejected.insert(out);
                    }
                });
            }
            open.extend(self.blocks.successors(block));
        }
        Some(beyond)
    }

    /// Returns the predicates that are equal in all running lanes; `None` if that takes too long.
    fn uniform_predicates(&mut self) -> Option<Vec<bool>> {
        let mut uniform = vec![true; self.kernel.predicates as usize];
        let mut changed = true;
        while changed {
            changed = false;
            self.look(self.kernel.code.len())?;
            let is_uniform = |register: &Register| {
                matches!(self.known.get(register), Some(Known::Shaped { shape: UNIFORM, .. }))
            };
            for instruction in &self.kernel.code {
                let holds = |condition: &Condition| uniform[condition.predicate.0 as usize];
                let (outs, same): (Vec<Predicate>, bool) = match &instruction.op {
                    Op::Test { out, inverse, sources, combine, .. } => {
                        let combined = combine.as_ref().is_none_or(|(_, condition)| holds(condition));
                        (
                            std::iter::once(*out).chain(*inverse).collect(),
                            sources.iter().all(is_uniform) && combined && holds(&instruction.guard),
                        )
                    }
                    Op::Logic { out, a, b, .. } => {
                        (vec![*out], holds(a) && holds(b) && holds(&instruction.guard))
                    }
                    _ => {
                        let mut outs = Vec::new();
                        effects::predicates(instruction, &mut |out| outs.push(out));
                        (outs, false)
                    }
                };
                for out in outs {
                    changed |= uniform[out.0 as usize] && !same;
                    uniform[out.0 as usize] &= same;
                }
            }
        }
        Some(uniform)
    }
}
