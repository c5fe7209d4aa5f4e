//! Copies to shared memory that run aside, and the barriers in memory that wait for them.

use super::memory::{OPERATIONS, SPACES};
use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder};
use crate::program::instruction::{Condition, Op};
use crate::program::memory::{
    AsyncCopy, Atomic, AtomicOperation, BulkCopy, MemoryBarrier, MemoryBarrierAction, Order, Scope,
};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand, Space};
use crate::semantics::barrier::PendingCount;
use crate::semantics::{Width, pure};

const SCOPES: [&str; 3] = ["cta", "cluster", "gpu"];
const ORDERS: [&str; 4] = ["relaxed", "release", "acquire", "sys"];

impl<'s> Decoder<'_, '_, 's> {
    /// Decodes the instruction if it is asynchronous; `false` if not.
    pub(super) fn asynchronous(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        match i.opcode {
            "cp" if i.modifiers.contains(&"bulk") => self.bulk_copy(i, m),
            "cp" => self.async_copy(i, m),
            "st" => self.async_store(i, m),
            "red" => self.async_reduction(i, m),
            // Registers are not shared out here.
            "setmaxnreg" => {
                m.ignore(&["inc", "dec", "sync", "aligned"]);
                Ok(m.ty()? == Type::U32 && matches!(self.operand(i, 0)?, Operand::Int(_)))
            }
            "mbarrier" => self.memory_barrier(i, m),
            // A cache policy is a number that nothing here looks at.
            "createpolicy" => {
                m.ignore_prefixed(&["fractional", "range", "L2::", "cvt"]);
                m.ignore(&["global", "L2"]);
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

    /// `cp.async.bulk`, `cp.reduce.async.bulk`: also done at once, so waiting for a group of copies is nothing.
    fn bulk_copy(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        m.ignore(&["async", "bulk"]);
        if i.modifiers.contains(&"tensor") {
            return Ok(false);
        }
        let reduce = m.flag("reduce");
        if m.flag("commit_group") {
            return self.operand_count(i, 0).map(|()| true);
        }
        if m.flag("wait_group") {
            m.ignore(&["read"]);
            return self.operand_count(i, 1).map(|()| true);
        }
        if m.flag("prefetch") {
            m.ignore(&["L2", "global", "L2::cache_hint"]);
            self.address(self.operand(i, 0)?)?;
            return Ok(true);
        }
        let (Some(to_space), Some(from_space)) = (m.pick(&SPACES), m.pick(&SPACES)) else { return Ok(false) };
        let (tells, grouped) = (m.flag("mbarrier::complete_tx::bytes"), m.flag("bulk_group"));
        let (multicast, hinted) = (m.flag("multicast::cluster"), m.flag("L2::cache_hint"));
        let known = match (to_space, from_space) {
            (Space::Shared, Space::Global) => tells && !reduce,
            (Space::Shared, Space::Shared) => tells && !multicast,
            (Space::Global, Space::Shared) => grouped && !tells && !multicast,
            _ => false,
        };
        if !known {
            return Ok(false);
        }
        let operation = match reduce {
            true => {
                let Some(operation) = m.pick(&OPERATIONS) else { return Ok(false) };
                m.ignore(&["noftz"]);
                Some((operation, m.ty()?))
            }
            false => None,
        };
        let known = |(operation, ty): (AtomicOperation, Type)| is_bulk_reduction(operation, ty);
        if !operation.is_none_or(known) {
            return Ok(false);
        }
        self.operand_count(i, 3 + usize::from(tells) + usize::from(multicast) + usize::from(hinted))?;
        let to = self.address(self.operand(i, 0)?)?;
        let from = self.address(self.operand(i, 1)?)?;
        let bytes = self.source(self.operand(i, 2)?, Type::U32, Width::Single)?;
        let caches = [self.new_cache(), self.new_cache()];
        let spaces = [to_space, from_space];
        self.emit(Op::BulkCopy(Box::new(BulkCopy { to, from, spaces, bytes, operation, caches })));
        if tells {
            let action = MemoryBarrierAction::Transactions { bytes, complete: true };
            self.emit_memory_barrier(i, 3, true, action)?;
        }
        Ok(true)
    }

    /// The bytes that a barrier in memory is told of, once they are there.
    fn tell(&mut self, i: &Instruction<'s>, bytes: u32) -> Decoded<()> {
        let bytes = self.bits(Width::Single, bytes.into());
        self.emit_memory_barrier(i, 2, true, MemoryBarrierAction::Transactions { bytes, complete: true })
    }

    /// `st.async`: stores to shared memory, and tells a barrier there.
    fn async_store(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        m.ignore(&["async", "weak", "shared::cluster", "mbarrier::complete_tx::bytes"]);
        let elements = m.pick(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
        let ty = m.ty()?;
        self.operand_count(i, 3)?;
        let values = match self.operand(i, 1)? {
            Operand::Vector(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        if values.len() != elements || !matches!(ty.bytes(), 4 | 8) {
            return Ok(false);
        }
        let address = self.address(self.operand(i, 0)?)?;
        self.access(Some(Space::Shared), address, values, ty, false, Order::Weak)?;
        self.tell(i, ty.bytes() * elements as u32)?;
        Ok(true)
    }

    /// `red.async`: the same with an operation.
    fn async_reduction(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        m.ignore(&["async", "relaxed", "cluster", "shared::cluster", "mbarrier::complete_tx::bytes"]);
        let Some(operation) = m.pick(&OPERATIONS) else { return Ok(false) };
        let ty = m.ty()?;
        if !matches!(ty, Type::U32 | Type::S32 | Type::B32 | Type::U64 | Type::S64) {
            return Ok(false);
        }
        self.operand_count(i, 3)?;
        let address = self.address(self.operand(i, 0)?)?;
        let value = self.source(self.operand(i, 1)?, ty, width_of(ty))?;
        let cache = self.new_cache();
        self.emit(Op::Atomic(Box::new(Atomic {
            operation,
            ty,
            space: Some(Space::Shared),
            address,
            out: None,
            operands: [value; 2],
            order: Order::Strong { scope: Scope::Block, releases: false },
            cache,
        })));
        self.tell(i, ty.bytes())?;
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
        let shared = m.flag("shared") || m.flag("shared::cta") || m.flag("shared::cluster");
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
            _ => self.pure_instruction(i, pure::<PendingCount>(), Type::B64)?,
        }
        Ok(true)
    }
}

/// Whether `cp.reduce.async.bulk` has this operation on this type.
fn is_bulk_reduction(operation: AtomicOperation, ty: Type) -> bool {
    use AtomicOperation::*;
    use Type::*;
    match operation {
        Add => matches!(ty, U32 | S32 | U64 | F32 | F64 | F16 | Bf16),
        Min | Max => matches!(ty, U32 | S32 | U64 | S64 | F16 | Bf16),
        And | Or | Xor => matches!(ty, B32 | B64),
        Increment | Decrement => ty == U32,
        Exchange | CompareExchange => false,
    }
}
