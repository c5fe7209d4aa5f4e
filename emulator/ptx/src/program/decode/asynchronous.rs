//! Asynchronous copies to shared memory, and the barriers in memory that wait for them.

use super::atomic::OPERATIONS;
use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder};
use crate::program::instruction::{Condition, Op};
use crate::program::memory::{AsyncCopy, Atomic, MemoryBarrierAction, Order, Scope};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand, Space};
use crate::semantics::Width;

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn copy(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if i.modifiers.contains(&"bulk") { self.bulk_copy(i, m) } else { self.async_copy(i, m) }
    }

    /// Register counts have no effect here.
    pub(super) fn set_registers(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if !self.input.features.own {
            return Err(m.for_target("sm_90a"));
        }
        let known = m.pick(&[("inc", ()), ("dec", ())]).is_some() && m.flag("sync") && m.flag("aligned");
        match (m.ty()?, self.operand(i, 0)?) {
            (Type::U32, Operand::Int(count @ 24..=256)) if known && count % 8 == 0 => Ok(()),
            _ => Err(m.unknown()),
        }
    }

    /// A cache policy is a number without effect here.
    pub(super) fn create_policy(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ignore_prefixed(&["fractional", "range", "L2::", "cvt"]);
        m.ignore(&["global", "L2"]);
        if m.ty()? != Type::B64 {
            return Err(m.unknown());
        }
        let zero = self.bits(Width::Double, 0);
        let out = self.destination(self.operand(i, 0)?, Width::Double, false)?;
        self.move_op(Width::Double, out.row, zero);
        self.finish(out);
        Ok(())
    }

    /// Decodes `cp.async`. Copies immediately, as hardware may do, so waits have no effect.
    pub(super) fn async_copy(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if !m.flag("async") {
            return Err(m.unknown());
        }
        if m.flag("commit_group") || m.flag("wait_all") {
            return self.operand_count(i, 0);
        }
        if m.flag("wait_group") {
            return self.operand_count(i, 1);
        }
        if m.flag("mbarrier") {
            return self.copies_arrive(i, m);
        }
        if m.pick(&[("ca", ()), ("cg", ())]).is_none() || !(m.flag("shared") || m.flag("shared::cta")) {
            return Err(m.unknown());
        }
        if !m.flag("global") {
            return Err(m.unknown());
        }
        m.ignore_prefixed(&["L2::"]);
        let Operand::Int(bytes @ (4 | 8 | 16)) = self.operand(i, 2)? else { return Err(m.unknown()) };
        let to = self.address(self.operand(i, 0)?)?;
        let from = self.address(self.operand(i, 1)?)?;
        let mut ignored = Condition { negated: true, ..Condition::ALWAYS };
        let mut source_bytes = None;
        match i.operands.get(3) {
            None => {}
            // Either the number of bytes to read before zeros follow, or a predicate that
            // suppresses the read; a cache policy follows.
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
        Ok(())
    }

    /// Decodes `cp.async.mbarrier.arrive`. The copies are complete, so it arrives now. Without
    /// `.noinc`, the number of expected arrivals also increases by one, so it has no effect.
    pub(super) fn copies_arrive(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if !m.flag("arrive") {
            return Err(m.unknown());
        }
        let expected = m.flag("noinc");
        let space = m.pick(&[("shared", Space::Shared), ("shared::cta", Space::Shared)]);
        m.ty()?;
        self.operand_count(i, 1)?;
        if expected {
            let action =
                MemoryBarrierAction::Arrive { out: None, count: None, transactions: None, drop: false };
            self.emit_memory_barrier(i, 0, space, action)?;
        }
        Ok(())
    }

    /// Signals a barrier in memory that bytes have arrived.
    fn tell(&mut self, i: &Instruction<'s>, bytes: u32) -> Decoded<()> {
        let bytes = self.bits(Width::Single, bytes.into());
        let action = MemoryBarrierAction::Transactions { bytes, complete: true };
        self.emit_memory_barrier(i, 2, Some(Space::SharedCluster), action)
    }

    /// Decodes `st.async`, which stores to shared memory and signals a barrier there.
    pub(super) fn async_store(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ignore(&["async", "weak", "shared::cluster", "mbarrier::complete_tx::bytes"]);
        let elements = m.pick(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
        let ty = m.ty()?;
        self.operand_count(i, 3)?;
        let values = match self.operand(i, 1)? {
            Operand::Vector(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        if values.len() != elements || !matches!(ty.bytes(), 4 | 8) {
            return Err(m.unknown());
        }
        let address = self.address(self.operand(i, 0)?)?;
        self.access(Some(Space::SharedCluster), address, values, ty, false, Order::Weak)?;
        self.tell(i, ty.bytes() * elements as u32)?;
        Ok(())
    }

    /// Decodes `red.async`, which combines instead of storing.
    pub(super) fn async_reduction(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ignore(&["async", "relaxed", "cluster", "shared::cluster", "mbarrier::complete_tx::bytes"]);
        let Some(operation) = m.pick(&OPERATIONS) else { return Err(m.unknown()) };
        let ty = m.ty()?;
        if !matches!(ty, Type::U32 | Type::S32 | Type::B32 | Type::U64 | Type::S64) {
            return Err(m.unknown());
        }
        self.operand_count(i, 3)?;
        let address = self.address(self.operand(i, 0)?)?;
        let value = self.source(self.operand(i, 1)?, ty, width_of(ty))?;
        let cache = self.new_cache();
        self.emit(Op::Atomic(Box::new(Atomic {
            operation,
            ty,
            space: Some(Space::SharedCluster),
            address,
            out: None,
            operands: [value; 2],
            order: Order::Strong { scope: Scope::Device, releases: false },
            cache,
        })));
        self.tell(i, ty.bytes())?;
        Ok(())
    }
}
