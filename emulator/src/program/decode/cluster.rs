//! Clusters of blocks. Here each block is a cluster of its own; a launch with larger ones is refused.

use super::memory::SPACES;
use super::modifiers::Modifiers;
use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::{Constant, Op, Special};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand};
use crate::semantics::{Register, Width, bits, integer, pure};

/// Distance of the shared memory of two blocks of a cluster, in the addresses of the cluster, as a shift.
const BLOCK_SHIFT: u64 = 24;

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn cluster_barrier(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ignore(&["cluster", "aligned", "acquire", "release", "relaxed"]);
        let Some(wait) = m.pick(&[("arrive", false), ("wait", true)]) else { return Err(m.unknown()) };
        self.operand_count(i, 0)?;
        self.emit(Op::ClusterBarrier { wait });
        Ok(())
    }

    /// An address of shared memory, or the symbol that stands for one.
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

    /// `mapa`: the same place in the shared memory of another block. There is no other one: the address of any rank but
    /// zero lies outside of all shared memory.
    pub(super) fn map_address(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.pick(&SPACES);
        let ty = m.ty()?;
        self.operand_count(i, 3)?;
        let rank = self.source(self.operand(i, 2)?, Type::U32, Width::Single)?;
        let shift = self.bits(Width::Single, BLOCK_SHIFT);
        let distance = self.temporary(Width::Single);
        self.pure_op(pure::<bits::ShiftLeft<u32>>(), distance, &[rank, shift]);
        match ty {
            Type::U32 => {
                let address = self.shared_address(self.operand(i, 1)?, ty, Width::Single)?;
                let out = self.destination(self.operand(i, 0)?, Width::Single, false)?;
                self.pure_op(pure::<integer::Add<u32>>(), out.row, &[address, distance]);
                self.finish(out);
            }
            Type::U64 => {
                let address = self.shared_address(self.operand(i, 1)?, ty, Width::Double)?;
                let (zero, wide) = (self.bits(Width::Single, 0), self.temporary(Width::Double));
                self.pure_op(pure::<bits::Pack32>(), wide, &[distance, zero]);
                let out = self.destination(self.operand(i, 0)?, Width::Double, false)?;
                self.pure_op(pure::<integer::Add<u64>>(), out.row, &[address, wide]);
                self.finish(out);
            }
            _ => return Err(m.unknown()),
        }
        Ok(())
    }

    /// `getctarank`: the block that an address belongs to.
    pub(super) fn rank_of_address(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let generic = m.pick(&SPACES).is_none();
        let ty = m.ty()?;
        self.operand_count(i, 2)?;
        let mut address = match ty {
            Type::U32 if !generic => self.shared_address(self.operand(i, 1)?, ty, Width::Single)?,
            Type::U64 => {
                let wide = self.shared_address(self.operand(i, 1)?, ty, Width::Double)?;
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
        let shift = self.bits(Width::Single, BLOCK_SHIFT);
        let out = self.destination(self.operand(i, 0)?, Width::Single, false)?;
        self.pure_op(pure::<bits::ShiftDown32>(), out.row, &[address, shift]);
        self.finish(out);
        Ok(())
    }
}
