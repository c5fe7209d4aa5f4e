//! Collective operations of a warp: `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`.

use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder};
use crate::program::instruction::{Collective, Condition, Op};
use crate::program::memory::AtomicOperation;
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand};
use crate::semantics::shuffle::ShuffleMode;
use crate::semantics::{Register, Width};

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn active_mask(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ty()?;
        let out = self.destination(self.operand(i, 0)?, Width::Single, false)?;
        self.emit(Op::ActiveMask { out: out.row });
        self.finish(out);
        Ok(())
    }

    fn collective(&mut self, operation: Collective, members: Register) {
        self.emit(Op::Collective { operation, members });
    }

    /// Returns the member mask: an operand with `.sync`, and the active lanes in the forms of old
    /// PTX.
    fn members(&mut self, i: &Instruction<'s>, sync: bool, index: usize) -> Decoded<Register> {
        if sync {
            self.operand_count(i, index + 1)?;
            self.source(self.operand(i, index)?, Type::B32, Width::Single)
        } else {
            self.operand_count(i, index)?;
            let out = self.temporary(Width::Single);
            self.emit(Op::ActiveMask { out });
            Ok(out)
        }
    }

    /// Reads `.sync`. Fails if it is missing where PTX requires it.
    fn sync(&self, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let sync = m.flag("sync");
        if sync || self.input.features.collectives_without_sync {
            Ok(sync)
        } else {
            Err(m.for_target("sm_60` or PTX before 6.4; later ones have `.sync"))
        }
    }

    pub(super) fn shuffle(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let sync = self.sync(m)?;
        let mode = m.pick(&[
            ("up", ShuffleMode::Up),
            ("down", ShuffleMode::Down),
            ("bfly", ShuffleMode::Butterfly),
            ("idx", ShuffleMode::Index),
        ]);
        let ty = m.ty()?;
        let Some(mode) = mode.filter(|_| ty == Type::B32) else { return Err(m.unknown()) };
        self.fits(self.operand(i, 1)?, ty, false)?;
        let value = self.source(self.operand(i, 1)?, ty, Width::Single)?;
        let lane = self.source(self.operand(i, 2)?, Type::B32, Width::Single)?;
        let clamp = self.source(self.operand(i, 3)?, Type::B32, Width::Single)?;
        let members = self.members(i, sync, 4)?;
        let (out, inside) = match self.operand(i, 0)? {
            Operand::Pair(out, inside) => {
                let inside = self.predicate_out(inside)?;
                (self.destination(out, Width::Single, false)?, Some(inside))
            }
            out => (self.destination(out, Width::Single, false)?, None),
        };
        self.collective(Collective::Shuffle { mode, out: out.row, inside, value, lane, clamp }, members);
        self.finish(out);
        Ok(())
    }

    pub(super) fn vote(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let sync = self.sync(m)?;
        let mode = m.pick(&[("all", 0), ("any", 1), ("uni", 2), ("ballot", 3)]);
        let ty = m.ty()?;
        let condition: Condition = self.condition(self.operand(i, 1)?)?;
        let members = self.members(i, sync, 2)?;
        if mode == Some(3) {
            if ty != Type::B32 {
                return Err(m.unknown());
            }
            let out = self.destination(self.operand(i, 0)?, Width::Single, false)?;
            self.collective(Collective::VoteBallot { out: out.row, condition }, members);
            self.finish(out);
            return Ok(());
        }
        if ty != Type::Pred {
            return Err(m.unknown());
        }
        let out = self.predicate_out(self.operand(i, 0)?)?;
        let operation = match mode {
            Some(0) => Collective::VoteAll { out, condition },
            Some(1) => Collective::VoteAny { out, condition },
            Some(2) => Collective::VoteUniform { out, condition },
            _ => return Err(m.unknown()),
        };
        self.collective(operation, members);
        Ok(())
    }

    pub(super) fn match_lanes(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let (any, all, sync) = (m.flag("any"), m.flag("all"), m.flag("sync"));
        let ty = m.ty()?;
        if !sync || any == all || !matches!(ty, Type::B32 | Type::B64) {
            return Err(m.unknown());
        }
        let width = width_of(ty);
        let value = self.source(self.operand(i, 1)?, ty, width)?;
        let members = self.members(i, sync, 2)?;
        let (to, agreed) = match self.operand(i, 0)? {
            Operand::Pair(out, agreed) if all => (&**out, Some(self.predicate_out(agreed)?)),
            out => (out, None),
        };
        let out = self.destination(to, Width::Single, false)?;
        let operation = if all {
            Collective::MatchAll { out: out.row, agreed, value, width }
        } else {
            Collective::MatchAny { out: out.row, value, width }
        };
        self.collective(operation, members);
        self.finish(out);
        Ok(())
    }

    pub(super) fn reduce(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let sync = m.flag("sync");
        let operation = m.pick(&[
            ("add", AtomicOperation::Add),
            ("min", AtomicOperation::Min),
            ("max", AtomicOperation::Max),
            ("and", AtomicOperation::And),
            ("or", AtomicOperation::Or),
            ("xor", AtomicOperation::Xor),
        ]);
        let ty = m.ty()?;
        let Some(operation) = operation.filter(|_| sync && matches!(ty, Type::U32 | Type::S32 | Type::B32))
        else {
            return Err(m.unknown());
        };
        let value = self.source(self.operand(i, 1)?, ty, Width::Single)?;
        let members = self.members(i, sync, 2)?;
        let out = self.destination(self.operand(i, 0)?, Width::Single, ty.is_signed())?;
        self.collective(
            Collective::Reduce { operation, signed: ty.is_signed(), out: out.row, value },
            members,
        );
        self.finish(out);
        Ok(())
    }

    pub(super) fn elect(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if !m.flag("sync") {
            return Err(m.unknown());
        }
        let Operand::Pair(out, elected) = self.operand(i, 0)? else { return Err(m.unknown()) };
        let elected = self.predicate_out(elected)?;
        let out = self.destination(out, Width::Single, false)?;
        let members = self.members(i, true, 1)?;
        self.collective(Collective::Elect { out: out.row, elected }, members);
        self.finish(out);
        Ok(())
    }
}
