//! Copies to shared memory that run aside, and the barriers in memory that wait for them.

use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder};
use crate::exec::semantics::Width;
use crate::program::instruction::{AsyncCopy, Condition, MemoryBarrier, MemoryBarrierAction, Op};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand};

const SCOPES: [&str; 3] = ["cta", "cluster", "gpu"];
const ORDERS: [&str; 4] = ["relaxed", "release", "acquire", "sys"];

impl<'s> Decoder<'_, '_, 's> {
    /// Decodes the instruction if it is asynchronous; `false` if not.
    pub(super) fn asynchronous(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        match i.opcode {
            "cp" => self.async_copy(i, m),
            "mbarrier" => self.memory_barrier(i, m),
            // A cache policy is a number that nothing here looks at.
            "createpolicy" => {
                m.ignore_prefixed(&["fractional", "range", "L2::", "cvt"]);
                m.ignore(&["global"]);
                if m.ty()? != Type::B64 {
                    return Ok(false);
                }
                let zero = self.bits(Width::Double, 0);
                let out = self.destination(self.operand(i, 0)?, Width::Double, false)?;
                self.move_op(Width::Double, out.row, zero);
                self.finish(out);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// `cp.async`: done at once, which is one of the orders that hardware may choose; so waiting is nothing.
    fn async_copy(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        if !m.flag("async") {
            return Ok(false);
        }
        if m.flag("commit_group") || m.flag("wait_all") {
            return self.operand_count(i, 0).map(|()| true);
        }
        if m.flag("wait_group") {
            return self.operand_count(i, 1).map(|()| true);
        }
        if m.flag("mbarrier") {
            return self.copies_arrive(i, m);
        }
        if m.pick(&[("ca", ()), ("cg", ())]).is_none() || !(m.flag("shared") || m.flag("shared::cta")) {
            return Ok(false);
        }
        if !m.flag("global") {
            return Ok(false);
        }
        m.ignore_prefixed(&["L2::"]);
        let Operand::Int(bytes @ (4 | 8 | 16)) = self.operand(i, 2)? else { return Ok(false) };
        let to = self.address(self.operand(i, 0)?)?;
        let from = self.address(self.operand(i, 1)?)?;
        let mut ignored = Condition { negated: true, ..Condition::ALWAYS };
        let mut source_bytes = None;
        match i.operands.get(3) {
            None => {}
            // Either how many bytes to read before zeros follow, or a predicate that says to read none; a cache policy
            // comes after them.
            Some(operand) => match self.condition(operand) {
                Ok(condition) if !matches!(operand, Operand::Int(_)) => ignored = condition,
                _ => source_bytes = Some(self.source(operand, Type::U32, Width::Single)?),
            },
        }
        let (to_cache, from_cache) = (self.new_cache(), self.new_cache());
        let copy = AsyncCopy {
            to,
            from,
            bytes: *bytes as u32,
            source_bytes,
            ignored,
            caches: [to_cache, from_cache],
        };
        self.emit(Op::AsyncCopy(Box::new(copy)));
        Ok(true)
    }

    /// `cp.async.mbarrier.arrive`: the copies are complete, so the arrival is due now. Without `.noinc` it is matched
    /// by one more that is expected, and so changes nothing.
    fn copies_arrive(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        if !m.flag("arrive") {
            return Ok(false);
        }
        let expected = m.flag("noinc");
        let shared = m.flag("shared") || m.flag("shared::cta");
        m.ty()?;
        self.operand_count(i, 1)?;
        if expected {
            let action =
                MemoryBarrierAction::Arrive { out: None, count: None, transactions: None, drop: false };
            self.emit_memory_barrier(i, 0, shared, action)?;
        }
        Ok(true)
    }

    fn emit_memory_barrier(
        &mut self,
        i: &Instruction<'s>,
        address: usize,
        shared: bool,
        action: MemoryBarrierAction,
    ) -> Decoded<()> {
        let address = self.address(self.operand(i, address)?)?;
        let cache = self.new_cache();
        self.emit(Op::MemoryBarrier(Box::new(MemoryBarrier { shared, address, action, cache })));
        Ok(())
    }

    fn memory_barrier(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
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
            return Ok(false);
        };
        let expect = m.flag("expect_tx");
        let parity = m.flag("parity");
        m.ignore(&["noComplete"]);
        m.ignore(&SCOPES);
        m.ignore(&ORDERS);
        let shared = m.flag("shared") || m.flag("shared::cta");
        let ty = m.ty()?;
        if ty != Type::B64 {
            return Ok(false);
        }
        let word =
            |decoder: &mut Self, index| decoder.source(decoder.operand(i, index)?, Type::U32, Width::Single);
        match operation {
            0 => {
                self.operand_count(i, 2)?;
                let count = word(self, 1)?;
                self.emit_memory_barrier(i, 0, shared, MemoryBarrierAction::Init { count })?;
            }
            1 => {
                self.operand_count(i, 1)?;
                self.emit_memory_barrier(i, 0, shared, MemoryBarrierAction::Invalidate)?;
            }
            2 | 3 => {
                self.operand_count(i, 3)?;
                // The phase token goes nowhere with `_`, or where there is no destination at all.
                let token = usize::from(!matches!(self.operand(i, 0)?, Operand::Memory(_)));
                let operand = match i.operands.len() > token + 1 {
                    true => Some(word(self, token + 1)?),
                    false => None,
                };
                let out = match token {
                    1 => Some(self.destination(self.operand(i, 0)?, Width::Double, false)?),
                    _ => None,
                };
                let (count, transactions) = if expect { (None, operand) } else { (operand, None) };
                let row = out.as_ref().map(|out| out.row);
                let action =
                    MemoryBarrierAction::Arrive { out: row, count, transactions, drop: operation == 3 };
                self.emit_memory_barrier(i, token, shared, action)?;
                if let Some(out) = out {
                    self.finish(out);
                }
            }
            4 => {
                // A time limit may follow.
                self.operand_count(i, 4)?;
                let ty = if parity { Type::U32 } else { Type::B64 };
                let phase = self.source(self.operand(i, 2)?, ty, width_of(ty))?;
                let out = self.predicate_out(self.operand(i, 0)?)?;
                self.emit_memory_barrier(i, 1, shared, MemoryBarrierAction::Test { out, phase, parity })?;
            }
            5 | 6 => {
                self.operand_count(i, 2)?;
                let bytes = word(self, 1)?;
                let action = MemoryBarrierAction::Transactions { bytes, complete: operation == 6 };
                self.emit_memory_barrier(i, 0, shared, action)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
