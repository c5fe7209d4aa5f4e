//! Clusters of blocks: their barrier, and addresses in the shared memory of other blocks.
//!
//! As on hardware, the upper bits of an address of shared memory are the rank of the block in the
//! cluster, and the lower bits are the offset in that block's memory, even for the block itself.

use super::memory::SPACES;
use super::modifiers::Modifiers;
use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::{Condition, Constant, Op, Special};
use crate::program::memory::RANK_SHIFT;
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand, Space};
use crate::semantics::{Register, Width, bits, integer, pure, test};

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn cluster_barrier(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ignore(&["cluster", "aligned"]);
        let Some(wait) = m.pick(&[("arrive", false), ("wait", true)]) else { return Err(m.unknown()) };
        let order =
            m.pick(&[("acquire", (true, false)), ("release", (false, true)), ("relaxed", (false, false))]);
        let releases = match order {
            Some((acquires, _)) if acquires != wait => return Err(m.unknown()),
            Some((_, releases)) => releases,
            None => !wait,
        };
        self.operand_count(i, 0)?;
        self.emit(Op::ClusterBarrier { wait, releases });
        Ok(())
    }

    /// Returns a condition that holds if the kernel or the launch states clusters.
    pub(super) fn is_explicit_cluster(&mut self) -> Condition {
        let explicit = self.constant(Width::Single, Constant::Special(Special::ExplicitCluster));
        let zero = self.bits(Width::Single, 0);
        let out = self.new_predicate();
        // The guarded instruction may be another use of the predicate.
        let guard = std::mem::replace(&mut self.guard, Condition::ALWAYS);
        let (info, sources) = (test::<integer::Lt<u32>>(), [zero, explicit]);
        self.emit(Op::Test { info, out, inverse: None, sources, combine: None });
        self.guard = guard;
        Condition { predicate: out, negated: false }
    }

    fn shared_address(&mut self, operand: &Operand<'s>, ty: Type, width: Width) -> Decoded<Register> {
        let symbol = match operand {
            Operand::Name(name) if !matches!(self.lookup(name), Some(Symbol::Register { .. })) => {
                self.symbol_address(name, 0, width)
            }
            Operand::Offset(name, offset) => self.symbol_address(name, *offset, width),
            _ => None,
        };
        match symbol {
            Some(address) => Ok(address),
            None => self.source(operand, ty, width),
        }
    }

    /// Returns an instruction's address operand as 32 bits within the window of shared memory, and
    /// true if it was a 64-bit generic address.
    fn window_address(
        &mut self,
        operand: &Operand<'s>,
        ty: Type,
        m: &mut Modifiers<'_, 's>,
    ) -> Decoded<(Register, bool)> {
        let generic = match m.pick(&SPACES) {
            None => true,
            Some(Space::SharedCluster) => false,
            Some(_) => return Err(m.unknown()),
        };
        let mut address = match ty {
            Type::U32 if !generic => self.shared_address(operand, ty, Width::Single)?,
            Type::U64 => {
                let wide = self.shared_address(operand, ty, Width::Double)?;
                let low = self.temporary(Width::Single);
                self.pure_op(pure::<bits::Low32>(), low, &[wide]);
                low
            }
            _ => return Err(m.unknown()),
        };
        if generic {
            let window = self.constant(Width::Single, Constant::Special(Special::SharedWindow));
            let offset = self.temporary(Width::Single);
            self.pure_op(pure::<integer::Sub<u32>>(), offset, &[address, window]);
            address = offset;
        }
        Ok((address, generic))
    }

    /// Decodes `mapa`: the same offset in the shared memory of another block.
    pub(super) fn map_address(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let ty = m.ty()?;
        self.operand_count(i, 3)?;
        let (address, generic) = self.window_address(self.operand(i, 1)?, ty, m)?;
        let rank = self.source(self.operand(i, 2)?, Type::U32, Width::Single)?;
        let (shift, mask) =
            (self.bits(Width::Single, RANK_SHIFT.into()), self.bits(Width::Single, (1 << RANK_SHIFT) - 1));
        let [start, offset, mapped] = [(); 3].map(|()| self.temporary(Width::Single));
        self.pure_op(pure::<bits::ShiftLeft<u32>>(), start, &[rank, shift]);
        self.pure_op(pure::<bits::And<u32>>(), offset, &[address, mask]);
        let width = if ty == Type::U64 { Width::Double } else { Width::Single };
        let out = self.destination(self.operand(i, 0)?, width, false)?;
        if width == Width::Single {
            self.pure_op(pure::<integer::Add<u32>>(), out.row, &[offset, start]);
        } else {
            let zero = self.bits(Width::Single, 0);
            self.pure_op(pure::<integer::Add<u32>>(), mapped, &[offset, start]);
            let wide = if generic { self.temporary(Width::Double) } else { out.row };
            self.pure_op(pure::<bits::Pack32>(), wide, &[mapped, zero]);
            if generic {
                let window = self.constant(Width::Double, Constant::Special(Special::SharedWindow));
                self.pure_op(pure::<integer::Add<u64>>(), out.row, &[wide, window]);
            }
        }
        self.finish(out);
        Ok(())
    }

    /// Decodes `getctarank`: the block to which an address belongs.
    pub(super) fn rank_of_address(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let ty = m.ty()?;
        self.operand_count(i, 2)?;
        let (address, _) = self.window_address(self.operand(i, 1)?, ty, m)?;
        let shift = self.bits(Width::Single, RANK_SHIFT.into());
        let out = self.destination(self.operand(i, 0)?, Width::Single, false)?;
        self.pure_op(pure::<bits::ShiftDown32>(), out.row, &[address, shift]);
        self.finish(out);
        Ok(())
    }
}
