//! Which registers an instruction reads and writes.

use super::super::semantics::Width;
use crate::program::Kernel;
use crate::program::instruction::{BarrierKind, Collective, Instruction, Op, Register};
use crate::program::types::Type;

/// Calls `visit` with each register that an instruction writes; `false` if that is not known.
pub(super) fn visit_writes(instruction: &Instruction, visit: &mut impl FnMut(Register, Width)) -> bool {
    match &instruction.op {
        Op::Pure { info, out, .. } => visit(*out, info.out),
        Op::Select { width, out, .. } => visit(*out, *width),
        Op::Video { out, .. } => visit(*out, Width::Single),
        Op::Carry(carry) => visit(carry.out, carry.width),
        Op::Load(access) => access.registers.iter().for_each(|register| visit(*register, access.width)),
        // Two double registers each, of which only the first is named.
        Op::Atomic(atomic) if atomic.ty == Type::B128 => return false,
        Op::Atomic(atomic) => {
            let width = if atomic.ty.bytes() == 8 { Width::Double } else { Width::Single };
            atomic.out.into_iter().for_each(|out| visit(out, width));
        }
        Op::LocalAddress { out, width, .. }
        | Op::Clock { out, width, .. }
        | Op::Alloca { out, width, .. }
        | Op::StackSave { out, width } => visit(*out, *width),
        Op::Call(call) => call.results.iter().for_each(|register| visit(*register, Width::Single)),
        Op::Barrier { kind: BarrierKind::CountOnes { out, .. }, .. } | Op::ActiveMask { out } => {
            visit(*out, Width::Single);
        }
        Op::Collective { operation, .. } => match operation {
            Collective::Shuffle { out, .. }
            | Collective::VoteBallot { out, .. }
            | Collective::MatchAny { out, .. }
            | Collective::MatchAll { out, .. }
            | Collective::Reduce { out, .. }
            | Collective::Elect { out, .. } => visit(*out, Width::Single),
            Collective::VoteAll { .. }
            | Collective::VoteAny { .. }
            | Collective::VoteUniform { .. }
            | Collective::WarpBarrier => {}
        },
        Op::Test { .. } | Op::Logic { .. } | Op::Store(_) | Op::Branch { .. } => {}
        Op::BranchIndexed { .. } | Op::Return | Op::Exit | Op::Trap | Op::Barrier { .. } => {}
        Op::Fence(_) | Op::Yield | Op::StackRestore { .. } => {}
        _ => return false,
    }
    true
}

/// Calls `visit` with each register that an instruction reads; `false` if that is not known.
pub(super) fn visit_reads(instruction: &Instruction, visit: &mut impl FnMut(Register)) -> bool {
    match &instruction.op {
        Op::Pure { info, sources, .. } => {
            let used = sources.iter().zip(info.sources).filter(|(_, width)| *width != Width::None);
            used.for_each(|(source, _)| visit(*source));
        }
        Op::Test { sources, .. } => sources.iter().copied().for_each(visit),
        Op::Select { a, b, .. } => [*a, *b].into_iter().for_each(visit),
        Op::Video { sources, .. } => sources.iter().copied().for_each(visit),
        Op::Carry(carry) => carry.sources.into_iter().for_each(visit),
        Op::Load(access) => visit(access.address.base),
        Op::Store(access) => {
            visit(access.address.base);
            access.registers.iter().copied().for_each(visit);
        }
        Op::Atomic(atomic) if atomic.ty == Type::B128 => return false,
        Op::Atomic(atomic) => {
            visit(atomic.address.base);
            atomic.operands.into_iter().for_each(visit);
        }
        Op::Alloca { size, .. } => visit(*size),
        Op::StackRestore { pointer, .. } => visit(*pointer),
        Op::Barrier { id, count, .. } => std::iter::once(*id).chain(*count).for_each(visit),
        Op::Collective { operation, members } => {
            visit(*members);
            match operation {
                Collective::Shuffle { value, lane, clamp, .. } => {
                    [*value, *lane, *clamp].into_iter().for_each(visit);
                }
                Collective::MatchAny { value, .. }
                | Collective::MatchAll { value, .. }
                | Collective::Reduce { value, .. } => visit(*value),
                Collective::VoteAll { .. }
                | Collective::VoteAny { .. }
                | Collective::VoteUniform { .. }
                | Collective::VoteBallot { .. }
                | Collective::Elect { .. }
                | Collective::WarpBarrier => {}
            }
        }
        Op::Logic { .. } | Op::LocalAddress { .. } | Op::Clock { .. } | Op::ActiveMask { .. } => {}
        Op::Branch { .. } | Op::Exit | Op::Trap | Op::Fence(_) | Op::Yield | Op::StackSave { .. } => {}
        // Calls and returns move registers around by themselves.
        _ => return false,
    }
    true
}

/// How many instructions read and write each row.
pub(super) struct Uses {
    pub(super) reads: Vec<u32>,
    pub(super) writes: Vec<u32>,
}

impl Uses {
    /// `None` where there are instructions that are not looked into.
    pub(super) fn count(kernel: &Kernel) -> Option<Uses> {
        let rows = kernel.rows as usize + 1;
        let mut uses = Uses { reads: vec![0; rows], writes: vec![0; rows] };
        let mut known = kernel.functions.is_empty();
        for instruction in &kernel.code {
            known &= visit_writes(instruction, &mut |register, width| {
                for row in rows_of(register, width) {
                    uses.writes[row] += 1;
                }
            });
            known &= visit_reads(instruction, &mut |register| uses.reads[register.0 as usize] += 1);
        }
        known.then_some(uses)
    }

    pub(super) fn written_once(&self, register: Register, width: Width) -> bool {
        rows_of(register, width).all(|row| self.writes[row] == 1)
    }
}

pub(super) fn rows_of(register: Register, width: Width) -> std::ops::Range<usize> {
    let first = register.0 as usize;
    first..first + if width == Width::Double { 2 } else { 1 }
}
