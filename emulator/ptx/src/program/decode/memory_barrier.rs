//! `mbarrier`: barriers in shared memory.

use super::memory::SPACES;
use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder};
use crate::program::instruction::Op;
use crate::program::memory::{MemoryBarrier, MemoryBarrierAction};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand, Space};
use crate::semantics::barrier::PendingCount;
use crate::semantics::{Width, pure};

const REACHES: [&str; 3] = ["cta", "cluster", "gpu"];
const ORDERS: [&str; 4] = ["relaxed", "release", "acquire", "sys"];

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn emit_memory_barrier(
        &mut self,
        i: &Instruction<'s>,
        address: usize,
        space: Option<Space>,
        action: MemoryBarrierAction,
    ) -> Decoded<()> {
        let address = self.address(self.operand(i, address)?)?;
        let cache = self.new_cache();
        self.emit(Op::MemoryBarrier(Box::new(MemoryBarrier { space, address, action, cache })));
        Ok(())
    }

    pub(super) fn memory_barrier(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let Some(operation) = m.pick(&[
            ("init", 0),
            ("inval", 1),
            ("arrive", 2),
            ("arrive_drop", 3),
            ("test_wait", 4),
            ("try_wait", 4),
            ("expect_tx", 5),
            ("complete_tx", 6),
            ("pending_count", 7),
        ]) else {
            return Err(m.unknown());
        };
        let (expect, parity) = (m.flag("expect_tx"), m.flag("parity"));
        let incomplete = m.flag("noComplete");
        m.ignore(&REACHES);
        m.ignore(&ORDERS);
        let space = self.space_of_barrier(i, m)?;
        // The threads that wait for a barrier, and that initialize it, must be in its block.
        let reaches_others = matches!(operation, 2 | 3 | 5 | 6) && !incomplete;
        if m.ty()? != Type::B64 || !has_barriers(space, reaches_others) {
            return Err(m.unknown());
        }
        let word =
            |decoder: &mut Self, index| decoder.source(decoder.operand(i, index)?, Type::U32, Width::Single);
        match operation {
            0 => {
                self.operand_count(i, 2)?;
                let count = word(self, 1)?;
                self.emit_memory_barrier(i, 0, space, MemoryBarrierAction::Init { count })?;
            }
            1 => {
                self.operand_count(i, 1)?;
                self.emit_memory_barrier(i, 0, space, MemoryBarrierAction::Invalidate)?;
            }
            2 | 3 => self.arrive(i, space, expect, operation == 3)?,
            4 => {
                // A time limit may follow.
                self.operand_count(i, 4)?;
                let ty = if parity { Type::U32 } else { Type::B64 };
                let phase = self.source(self.operand(i, 2)?, ty, width_of(ty))?;
                let out = self.predicate_out(self.operand(i, 0)?)?;
                self.emit_memory_barrier(i, 1, space, MemoryBarrierAction::Test { out, phase, parity })?;
            }
            5 | 6 => {
                self.operand_count(i, 2)?;
                let bytes = word(self, 1)?;
                let action = MemoryBarrierAction::Transactions { bytes, complete: operation == 6 };
                self.emit_memory_barrier(i, 0, space, action)?;
            }
            _ => self.pure_instruction(i, pure::<PendingCount>(), Type::B64)?,
        }
        Ok(())
    }

    fn space_of_barrier(&self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<Option<Space>> {
        let is_place = |operand: &&Operand<'s>| matches!(operand, Operand::Memory(_) | Operand::Element(..));
        let space = m.pick(&SPACES);
        i.operands.iter().find(is_place).map_or(Ok(space), |place| self.space_of(place, space))
    }

    fn arrive(&mut self, i: &Instruction<'s>, space: Option<Space>, expect: bool, drop: bool) -> Decoded<()> {
        self.operand_count(i, 3)?;
        // The phase token is dropped for `_`, or if there is no destination.
        let token = usize::from(!matches!(self.operand(i, 0)?, Operand::Memory(_)));
        if space == Some(Space::SharedCluster) && token == 1 && *self.operand(i, 0)? != Operand::Name("_") {
            return Err(self.unsupported("the phase of a barrier of another block as a result"));
        }
        let operand = match i.operands.len() > token + 1 {
            true => Some(self.source(self.operand(i, token + 1)?, Type::U32, Width::Single)?),
            false => None,
        };
        let out = match token {
            1 => Some(self.destination(self.operand(i, 0)?, Width::Double, false)?),
            _ => None,
        };
        let (count, transactions) = if expect { (None, operand) } else { (operand, None) };
        let row = out.as_ref().map(|out| out.row);
        let action = MemoryBarrierAction::Arrive { out: row, count, transactions, drop };
        self.emit_memory_barrier(i, token, space, action)?;
        if let Some(out) = out {
            self.finish(out);
        }
        Ok(())
    }
}

/// True if a state space can have barriers for this instruction; `None` is the generic space.
fn has_barriers(space: Option<Space>, reaches_others: bool) -> bool {
    match space {
        None | Some(Space::Shared) => true,
        Some(Space::SharedCluster) => reaches_others,
        Some(_) => false,
    }
}
