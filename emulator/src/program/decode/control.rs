//! Branches, calls, barriers, and what lanes of a warp do together.

use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::{BarrierKind, Call, Callee, Collective, Condition, Op, SystemCall};
use crate::program::memory::AtomicOperation;
use crate::program::module::ModuleSymbol;
use crate::program::types::Type;
use crate::program::{PtxError, PtxErrorKind};
use crate::ptx::{Instruction, Operand};
use crate::semantics::shuffle::ShuffleMode;
use crate::semantics::{Register, Width};

/// Threads of a warp, all of them.
const FULL: u64 = 0xffff_ffff;

impl<'s> Decoder<'_, '_, 's> {
    /// Decodes the instruction if it is about control; `false` if not.
    pub(super) fn control(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        match i.opcode {
            "bra" => {
                m.ignore(&["uni"]);
                self.operand_count(i, 1)?;
                let target = self.branch_target(self.operand(i, 0)?)?;
                self.emit(Op::Branch { target });
            }
            "brx" => return self.branch_indexed(i, m),
            "call" => return self.call(i, m),
            "ret" => {
                m.ignore(&["uni"]);
                self.operand_count(i, 0)?;
                self.leave();
            }
            "exit" => {
                self.operand_count(i, 0)?;
                self.emit(Op::Exit);
            }
            "trap" | "brkpt" => {
                self.operand_count(i, 0)?;
                self.emit(Op::Trap);
            }
            "nanosleep" => {
                m.ty()?;
                self.operand_count(i, 1)?;
                self.emit(Op::Yield);
            }
            // Whether more blocks may start early makes no difference where blocks run to their end.
            "griddepcontrol" => m.ignore(&["launch_dependents", "wait"]),
            "pmevent" => m.ignore(&["mask"]),
            "bar" | "barrier" => return self.barrier(i, m),
            "shfl" => return self.shuffle(i, m),
            "vote" => return self.vote(i, m),
            "match" => return self.match_lanes(i, m),
            "redux" => return self.reduce(i, m),
            "elect" => return self.elect(i, m),
            "activemask" => {
                m.ty()?;
                let out = self.destination(self.operand(i, 0)?, Width::Single, false)?;
                self.emit(Op::ActiveMask { out: out.row });
                self.finish(out);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn branch_target(&self, operand: &Operand<'s>) -> Decoded<u32> {
        let Operand::Name(name) = operand else {
            return Err(self.unsupported("this operand where a label belongs"));
        };
        self.label_named(name)
    }

    fn label_named(&self, name: &str) -> Decoded<u32> {
        match self.lookup(name) {
            Some(Symbol::Label(label)) => Ok(label),
            _ => Err(PtxError::at(
                self.position,
                PtxErrorKind::Unresolved,
                format!("the label `{name}` is not defined"),
            )),
        }
    }

    fn branch_indexed(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        if !m.flag("idx") {
            return Ok(false);
        }
        m.ignore(&["uni"]);
        self.operand_count(i, 2)?;
        let index = self.source(self.operand(i, 0)?, Type::U32, Width::Single)?;
        let Operand::Name(list) = self.operand(i, 1)? else { return Ok(false) };
        let Some(Symbol::Targets(names)) = self.lookup(list) else { return Err(self.undeclared(list)) };
        self.context.count(names.len(), self.position)?;
        let mut targets = Vec::new();
        for name in names {
            targets.push(self.label_named(name)?);
        }
        self.emit(Op::BranchIndexed { index, targets: targets.into() });
        Ok(true)
    }

    fn call(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        m.ignore(&["uni"]);
        let mut operands = i.operands.as_slice();
        let mut take_list = || match operands.split_first() {
            Some((Operand::List(list), rest)) => {
                operands = rest;
                list.as_slice()
            }
            _ => &[],
        };
        let results = take_list();
        let Some((Operand::Name(name), rest)) = operands.split_first() else { return Ok(false) };
        operands = rest;
        let arguments = match operands.split_first() {
            Some((Operand::List(list), _)) => list.as_slice(),
            _ => &[],
        };
        let callee = match self.lookup(name) {
            Some(Symbol::Register { register, ty }) if width_of(ty) == Width::Double => {
                for index in 0..self.context.address_taken.len() {
                    let module_index = self.context.address_taken[index];
                    if self.context.bodies[module_index as usize]
                        .is_some_and(|tree| tree.kind == crate::ptx::FunctionKind::Device)
                    {
                        self.function(module_index)?;
                    }
                }
                Callee::Indirect(register)
            }
            Some(_) => return Err(self.undeclared(name)),
            None => self.callee(name)?,
        };
        let signature = self.signature(callee);
        let arguments = self.arguments(arguments, signature)?;
        let (results, received) = self.call_results(results, signature)?;
        self.emit(Op::Call(Box::new(Call { callee, arguments, results })));
        for (symbol, first) in received {
            self.take_words(&symbol, first);
        }
        Ok(true)
    }

    fn callee(&mut self, name: &str) -> Decoded<Callee> {
        let Some(ModuleSymbol::Function(index)) = self.context.symbols.get(name) else {
            return Err(PtxError::at(
                self.position,
                PtxErrorKind::Unresolved,
                format!("`{name}` is no function"),
            ));
        };
        if self.context.bodies[*index as usize].is_none() {
            let system = match name {
                "vprintf" => Some(SystemCall::Printf),
                "__assertfail" => Some(SystemCall::Assert),
                "malloc" => Some(SystemCall::Malloc),
                "free" => Some(SystemCall::Free),
                "cudaGraphSetConditional" => Some(SystemCall::SetCondition),
                _ => None,
            };
            if let Some(system) = system {
                return Ok(Callee::System(system));
            }
        }
        self.function(*index).map(Callee::Direct)
    }

    fn barrier(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        if m.flag("warp") {
            if !m.flag("sync") {
                return Ok(false);
            }
            self.operand_count(i, 1)?;
            let members = self.source(self.operand(i, 0)?, Type::B32, Width::Single)?;
            self.emit(Op::Collective { operation: Collective::WarpBarrier, members });
            return Ok(true);
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
                _ => return Ok(false),
            };
        } else if arrive {
            kind = BarrierKind::Arrive;
        } else if !sync {
            return Ok(false);
        }
        if matches!(self.operand(i, first)?, Operand::Int(16..)) {
            return Err(m.unsupported("a barrier beyond the 16 that there are"));
        }
        let id = self.source(self.operand(i, first)?, Type::U32, Width::Single)?;
        let has_count = i.operands.len() > first + 1 + usize::from(red);
        if has_count && matches!(self.operand(i, first + 1)?, Operand::Int(count) if count % 32 != 0) {
            return Err(m.unsupported("a number of threads that is no multiple of a warp's"));
        }
        let count = match has_count {
            true => Some(self.source(self.operand(i, first + 1)?, Type::U32, Width::Single)?),
            false if arrive => return Err(m.unsupported("an arrival without the number of threads")),
            false => None,
        };
        self.operand_count(i, 2 + 2 * usize::from(red))?;
        self.emit(Op::Barrier { kind, aligned, id, count });
        if let Some(out) = out {
            self.finish(out);
        }
        Ok(true)
    }

    fn collective(&mut self, operation: Collective, members: Register) {
        self.emit(Op::Collective { operation, members });
    }

    /// The member mask: an operand with `.sync`, all lanes in the forms of old PTX.
    fn members(&mut self, i: &Instruction<'s>, sync: bool, index: usize) -> Decoded<Register> {
        if sync {
            self.operand_count(i, index + 1)?;
            self.source(self.operand(i, index)?, Type::B32, Width::Single)
        } else {
            self.operand_count(i, index)?;
            Ok(self.bits(Width::Single, FULL))
        }
    }

    fn shuffle(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let sync = m.flag("sync");
        let mode = m.pick(&[
            ("up", ShuffleMode::Up),
            ("down", ShuffleMode::Down),
            ("bfly", ShuffleMode::Butterfly),
            ("idx", ShuffleMode::Index),
        ]);
        let ty = m.ty()?;
        let Some(mode) = mode.filter(|_| sync && ty == Type::B32) else { return Ok(false) };
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
        Ok(true)
    }

    fn vote(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let sync = m.flag("sync");
        let mode = m.pick(&[("all", 0), ("any", 1), ("uni", 2), ("ballot", 3)]);
        let ty = m.ty()?;
        if !sync {
            return Ok(false);
        }
        let condition: Condition = self.condition(self.operand(i, 1)?)?;
        let members = self.members(i, sync, 2)?;
        if mode == Some(3) {
            if ty != Type::B32 {
                return Ok(false);
            }
            let out = self.destination(self.operand(i, 0)?, Width::Single, false)?;
            self.collective(Collective::VoteBallot { out: out.row, condition }, members);
            self.finish(out);
            return Ok(true);
        }
        if ty != Type::Pred {
            return Ok(false);
        }
        let out = self.predicate_out(self.operand(i, 0)?)?;
        let operation = match mode {
            Some(0) => Collective::VoteAll { out, condition },
            Some(1) => Collective::VoteAny { out, condition },
            Some(2) => Collective::VoteUniform { out, condition },
            _ => return Ok(false),
        };
        self.collective(operation, members);
        Ok(true)
    }

    fn match_lanes(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let (any, all, sync) = (m.flag("any"), m.flag("all"), m.flag("sync"));
        let ty = m.ty()?;
        if !sync || any == all || !matches!(ty, Type::B32 | Type::B64) {
            return Ok(false);
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
        Ok(true)
    }

    fn reduce(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
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
            return Ok(false);
        };
        let value = self.source(self.operand(i, 1)?, ty, Width::Single)?;
        let members = self.members(i, sync, 2)?;
        let out = self.destination(self.operand(i, 0)?, Width::Single, ty.is_signed())?;
        self.collective(
            Collective::Reduce { operation, signed: ty.is_signed(), out: out.row, value },
            members,
        );
        self.finish(out);
        Ok(true)
    }

    fn elect(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        if !m.flag("sync") {
            return Ok(false);
        }
        let Operand::Pair(out, elected) = self.operand(i, 0)? else { return Ok(false) };
        let elected = self.predicate_out(elected)?;
        let out = self.destination(out, Width::Single, false)?;
        let members = self.members(i, true, 1)?;
        self.collective(Collective::Elect { out: out.row, elected }, members);
        self.finish(out);
        Ok(true)
    }
}
