//! Barriers of a block, of a warp and of a cluster.

use super::modifiers::Modifiers;
use super::{Decoded, Decoder};
use crate::program::instruction::{BarrierKind, Collective, Op};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand};
use crate::semantics::{Register, Width};

impl<'s> Decoder<'_, '_, 's> {
    /// Returns the register with the number of threads at a barrier.
    fn count_at_barrier(&mut self, operand: &Operand<'s>, arrive: bool) -> Decoded<Register> {
        match operand {
            Operand::Int(count) if count % 32 != 0 || arrive && *count == 0 => {
                Err(self.invalid("the threads at a barrier are whole warps, and at least one arrives"))
            }
            operand => self.source(operand, Type::U32, Width::Single),
        }
    }

    pub(super) fn barrier(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if i.opcode == "barrier" && i.modifiers.first() == Some(&"cluster") {
            return self.cluster_barrier(i, m);
        }
        if m.flag("warp") {
            return self.warp_barrier(i, m);
        }
        m.ignore(&["cta"]);
        let aligned = m.flag("aligned") || i.opcode == "bar";
        let (sync, arrive, red) = (m.flag("sync"), m.flag("arrive"), m.flag("red"));
        let mut first = 0;
        let mut kind = BarrierKind::Sync;
        let mut out = None;
        if red {
            let operation = m.pick(&[("popc", 0), ("and", 1), ("or", 2)]);
            let ty = m.ty()?;
            let last = i.operands.len().saturating_sub(1);
            let condition = self.condition(self.operand(i, last.max(2))?)?;
            first = 1;
            kind = match (operation, ty) {
                (Some(0), Type::U32) => {
                    let destination = self.destination(self.operand(i, 0)?, Width::Single, false)?;
                    let row = destination.row;
                    out = Some(destination);
                    BarrierKind::CountOnes { condition, out: row }
                }
                (Some(operation @ (1 | 2)), Type::Pred) => {
                    let out = self.predicate_out(self.operand(i, 0)?)?;
                    BarrierKind::Combine { condition, out, all: operation == 1 }
                }
                _ => return Err(m.unknown()),
            };
        } else if arrive {
            kind = BarrierKind::Arrive;
        } else if !sync {
            return Err(m.unknown());
        }
        if matches!(self.operand(i, first)?, Operand::Int(16..)) {
            return Err(self.invalid("a block has 16 barriers, from 0 to 15"));
        }
        let id = self.source(self.operand(i, first)?, Type::U32, Width::Single)?;
        let has_count = i.operands.len() > first + 1 + usize::from(red);
        let count = match has_count {
            true => Some(self.count_at_barrier(self.operand(i, first + 1)?, arrive)?),
            false if arrive => {
                return Err(self.invalid("an arrival states the number of threads at the barrier"));
            }
            false => None,
        };
        self.operand_count(i, 2 + 2 * usize::from(red))?;
        self.emit(Op::Barrier { kind, aligned, id, count });
        if let Some(out) = out {
            self.finish(out);
        }
        Ok(())
    }

    fn warp_barrier(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if !m.flag("sync") {
            return Err(m.unknown());
        }
        self.operand_count(i, 1)?;
        let members = self.source(self.operand(i, 0)?, Type::B32, Width::Single)?;
        self.emit(Op::Collective { operation: Collective::WarpBarrier, members });
        Ok(())
    }
}
