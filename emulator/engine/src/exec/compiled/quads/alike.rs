//! Costly operations of a whole warp, which it performs once if all lanes have the same operands,
//! as after a sum of all.

use super::focus::Focus;
use super::shapes::Shape;
use super::sizes::OCTET;
use crate::exec::compiled::backend::{I32, Val};
use crate::exec::compiled::vectors::vector_of;
use crate::exec::compiled::writer::Writer;
use crate::program::instruction::{Condition, Instruction, Op};
use crate::semantics::lower::Lower;

impl Writer<'_, '_> {
    /// True if an operation takes much longer than the comparison of its operands.
    pub(super) fn is_worth_a_look(&self, instruction: &Instruction, guard: Condition) -> bool {
        let Op::Pure { info, .. } = &instruction.op else { return false };
        let costly = matches!(
            info.lower,
            Lower::Elementary(..) | Lower::Directed(..) | Lower::Div | Lower::Rem | Lower::Call
        );
        costly && guard == Condition::ALWAYS && self.lane_count() > OCTET
    }

    /// Writes an operation for one lane if all have the same operands, otherwise for each focus.
    pub(super) fn once_if_same(
        &mut self,
        instruction: &Instruction,
        focuses: &[Focus],
        mut write: impl FnMut(&mut Self),
    ) {
        let Op::Pure { out, info, sources } = &instruction.op else { return };
        let read = sources.iter().zip(info.sizes[1..].iter()).filter(|(_, size)| **size != 0);
        let varying: Vec<u32> =
            read.map(|(source, _)| source.0).filter(|bit| self.shape(*bit) == Shape::Varies).collect();
        let mut differs: Option<Val> = None;
        for bit in varying {
            let vectors = self.collect(&[bit]);
            let first = self.e.first_of(vectors[0]);
            let first = self.e.bitcast(vector_of(I32), first);
            for vector in vectors {
                let bits = self.e.bitcast(vector_of(I32), vector);
                let differs_here = self.e.bxor(bits, first);
                differs = Some(differs.map_or(differs_here, |before| self.e.bor(before, differs_here)));
            }
        }
        let Some(differs) = differs else { return self.for_each(focuses, write) };
        let differs = self.e.any(differs);
        let slots = self.slots(&[out.0]).into_owned();
        let old: Vec<Val> = slots.iter().map(|slot| self.value(*slot)).collect();
        let [once, each, done] = std::array::from_fn(|_| self.e.block());
        self.e.branch(differs, (each, &[]), (once, &[]));
        self.e.go_on(once);
        self.with_focus(Focus::Lane(0), &mut write);
        if let Some(result) = self.take_result() {
            self.for_first(0, |w| w.set_focused(out.0, result));
        }
        let results: Vec<Val> = slots.iter().map(|slot| self.value(*slot)).collect();
        self.e.jump(done, &results);
        slots.iter().zip(&old).for_each(|(slot, value)| self.set_value(*slot, *value));
        self.e.go_on(each);
        self.for_each(focuses, write);
        let results: Vec<Val> = slots.iter().map(|slot| self.value(*slot)).collect();
        self.e.jump(done, &results);
        self.e.go_on(done);
        self.set_params(done, &slots);
    }
}
