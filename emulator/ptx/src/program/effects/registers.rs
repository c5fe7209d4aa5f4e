//! Registers and predicates that an instruction reads and writes, and its course.

use super::operands::{barrier_reads, bulk_reads, collective_reads, map_reads, matrix_reads, object_reads};
use crate::program::bulk::MapOp;
use crate::program::instruction::{BarrierKind, Callee, Collective, Condition, Instruction, Op};
use crate::program::matrix::Matrix;
use crate::program::memory::{AsyncCopy, MemoryBarrierAction};
use crate::program::texture::{ObjectOp, Sampled, SurfaceAction};
use crate::program::types::Type;
use crate::program::warp_group::GroupOp;
use crate::semantics::{Predicate, Register, Width};

/// The carry flag of additions.
pub const CARRY: Predicate = Predicate(1);

fn wide_parts(register: Register) -> [Register; 2] {
    [register, Register(register.0 + 2)]
}

/// Calls `visit` with each register that an instruction reads. A call reads the parameters that it
/// copies to the callee. No instruction reads the parameters that a return copies back.
pub fn reads(instruction: &Instruction, visit: &mut dyn FnMut(Register)) {
    let mut all = |registers: &[Register]| registers.iter().copied().for_each(&mut *visit);
    match &instruction.op {
        Op::Pure { info, sources, .. } => {
            let used = sources.iter().zip(info.sources).filter(|(_, width)| *width != Width::None);
            used.for_each(|(source, _)| visit(*source));
        }
        Op::Test { sources, .. } => all(sources),
        Op::Select { a, b, .. } => all(&[*a, *b]),
        Op::Video { sources, .. } => all(sources),
        Op::Carry(carry) => all(&carry.sources),
        Op::Load(access) => all(&[access.address.base]),
        Op::Store(access) => {
            all(&[access.address.base]);
            all(&access.registers);
        }
        Op::Atomic(atomic) => {
            all(&[atomic.address.base]);
            match atomic.ty {
                Type::B128 => atomic.operands.iter().for_each(|operand| all(&wide_parts(*operand))),
                _ => all(&atomic.operands),
            }
        }
        Op::AsyncCopy(copy) => {
            let AsyncCopy { to, from, source_bytes, .. } = &**copy;
            all(&[to.base, from.base]);
            source_bytes.iter().for_each(|bytes| all(&[*bytes]));
        }
        Op::BulkCopy(copy) => bulk_reads(copy, visit),
        Op::Map(op) => map_reads(op, visit),
        Op::MemoryBarrier(barrier) => barrier_reads(barrier, visit),
        Op::Matrix(matrix) => matrix_reads(matrix, visit),
        Op::WarpGroup(op) => match &**op {
            GroupOp::Product(product) => product.sources().chain(product.d.iter().copied()).for_each(visit),
            GroupOp::Commit | GroupOp::Wait { .. } => {}
        },
        Op::Object(op) => object_reads(op, visit),
        Op::Alloca { size, .. } => all(&[*size]),
        Op::StackRestore { pointer, .. } => all(&[*pointer]),
        Op::BranchIndexed { index, .. } => all(&[*index]),
        Op::Call(call) => {
            if let Callee::Indirect(register) = call.callee {
                all(&[register]);
            }
            all(&call.arguments);
        }
        Op::Barrier { id, count, .. } => {
            all(&[*id]);
            count.iter().for_each(|count| all(&[*count]));
        }
        Op::Collective { operation, members } => {
            all(&[*members]);
            collective_reads(operation, visit);
        }
        Op::Logic { .. } | Op::LocalAddress { .. } | Op::Clock { .. } | Op::ActiveMask { .. } => {}
        Op::Branch { .. } | Op::Return | Op::Exit | Op::Trap | Op::ClusterBarrier { .. } => {}
        Op::Fence(_) | Op::Yield | Op::StackSave { .. } | Op::BulkGroup(_) => {}
    }
}

/// Calls `visit` with each register that an instruction writes, including the results of a call.
pub fn writes(instruction: &Instruction, visit: &mut dyn FnMut(Register, Width)) {
    match &instruction.op {
        Op::Pure { info, out, .. } => visit(*out, info.out),
        Op::Select { width, out, .. } => visit(*out, *width),
        Op::Video { out, .. } => visit(*out, Width::Single),
        Op::Carry(carry) => visit(carry.out, carry.width),
        Op::Load(access) => access.registers.iter().for_each(|register| visit(*register, access.width)),
        Op::Atomic(atomic) => match (atomic.out, atomic.ty.bytes()) {
            (None, _) => {}
            (Some(out), 16) => wide_parts(out).into_iter().for_each(|half| visit(half, Width::Double)),
            (Some(out), 8) => visit(out, Width::Double),
            (Some(out), _) => visit(out, Width::Single),
        },
        Op::MemoryBarrier(barrier) => match barrier.action {
            MemoryBarrierAction::Arrive { out, .. } => {
                out.into_iter().for_each(|out| visit(out, Width::Double));
            }
            MemoryBarrierAction::Init { .. }
            | MemoryBarrierAction::Invalidate
            | MemoryBarrierAction::Transactions { .. }
            | MemoryBarrierAction::Test { .. } => {}
        },
        Op::Matrix(matrix) => matrix_writes(matrix, visit),
        Op::WarpGroup(op) => match &**op {
            GroupOp::Product(product) => product.d.iter().for_each(|d| visit(*d, Width::Single)),
            GroupOp::Commit | GroupOp::Wait { .. } => {}
        },
        Op::Object(op) => object_writes(op, visit),
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
        Op::Barrier {
            kind: BarrierKind::Sync | BarrierKind::Arrive | BarrierKind::Combine { .. }, ..
        } => {}
        Op::Test { .. } | Op::Logic { .. } | Op::Store(_) | Op::Branch { .. } => {}
        Op::AsyncCopy(_) | Op::BulkCopy(_) | Op::BulkGroup(_) | Op::ClusterBarrier { .. } | Op::Map(_) => {}
        Op::BranchIndexed { .. } | Op::Return | Op::Exit | Op::Trap => {}
        Op::Fence(_) | Op::Yield | Op::StackRestore { .. } => {}
    }
}

fn object_writes(op: &ObjectOp, visit: &mut dyn FnMut(Register, Width)) {
    match op {
        ObjectOp::Sample(sample) => {
            let width = match sample.result {
                Sampled::Words | Sampled::Halves | Sampled::HalfPairs => Width::Single,
            };
            sample.out.iter().for_each(|out| visit(*out, width));
        }
        ObjectOp::Access(access) => match &access.action {
            SurfaceAction::Load(out) => out.iter().for_each(|out| visit(*out, access.width)),
            SurfaceAction::Store(_) | SurfaceAction::StoreConverted(_) | SurfaceAction::Reduce { .. } => {}
        },
        ObjectOp::Query { out, .. } => visit(*out, Width::Single),
        ObjectOp::IsKind { .. } => {}
    }
}

fn matrix_writes(matrix: &Matrix, visit: &mut dyn FnMut(Register, Width)) {
    let width = |ty: crate::program::matrix::Element| match ty.bits() {
        64 => Width::Double,
        _ => Width::Single,
    };
    match matrix {
        Matrix::Product(product) => {
            product.d.iter().for_each(|register| visit(*register, width(product.types[3])));
        }
        Matrix::Move(access) if !access.store => {
            access.registers.iter().for_each(|register| visit(*register, width(access.ty)));
        }
        Matrix::Rows(rows) if !rows.store => {
            rows.registers.iter().for_each(|register| visit(*register, Width::Single));
        }
        Matrix::Move(_) | Matrix::Rows(_) => {}
        Matrix::Transpose { out, .. } => visit(*out, Width::Single),
    }
}

/// Calls `visit` with each register that is stored to memory, and the number of bytes.
pub fn stored(instruction: &Instruction, visit: &mut dyn FnMut(Register, u32)) {
    let bytes_of = |width: Width| if width == Width::Double { 8 } else { 4 };
    match &instruction.op {
        Op::Store(access) => {
            access.registers.iter().for_each(|register| visit(*register, access.bytes));
        }
        Op::Atomic(atomic) => {
            let halves =
                |operand: &Register| wide_parts(*operand).into_iter().for_each(|half| visit(half, 8));
            match atomic.ty {
                Type::B128 => atomic.operands.iter().for_each(halves),
                ty => atomic.operands.iter().for_each(|operand| visit(*operand, ty.bytes())),
            }
        }
        Op::Matrix(matrix) => match &**matrix {
            Matrix::Move(access) if access.store => {
                let bytes = (access.ty.bits() / 8).max(4);
                access.registers.iter().for_each(|register| visit(*register, bytes));
            }
            Matrix::Rows(rows) if rows.store => {
                rows.registers.iter().for_each(|register| visit(*register, 4))
            }
            Matrix::Product(_) | Matrix::Move(_) | Matrix::Rows(_) | Matrix::Transpose { .. } => {}
        },
        Op::Object(op) => match &**op {
            ObjectOp::Access(access) => match &access.action {
                SurfaceAction::Load(_) => {}
                SurfaceAction::Store(registers) | SurfaceAction::StoreConverted(registers) => {
                    registers.iter().for_each(|register| visit(*register, bytes_of(access.width)));
                }
                SurfaceAction::Reduce { ty, value, .. } => visit(*value, ty.bytes()),
            },
            ObjectOp::Sample(_) | ObjectOp::Query { .. } | ObjectOp::IsKind { .. } => {}
        },
        Op::Pure { .. } | Op::Test { .. } | Op::Logic { .. } | Op::Select { .. } | Op::Carry(_) => {}
        Op::Video { .. } | Op::Load(_) | Op::AsyncCopy(_) | Op::BulkCopy(_) | Op::MemoryBarrier(_) => {}
        Op::LocalAddress { .. } | Op::Alloca { .. } | Op::StackSave { .. } | Op::StackRestore { .. } => {}
        Op::Branch { .. } | Op::BranchIndexed { .. } | Op::Call(_) | Op::Return | Op::Exit | Op::Trap => {}
        Op::ClusterBarrier { .. } | Op::Barrier { .. } | Op::Collective { .. } | Op::ActiveMask { .. } => {}
        Op::Clock { .. } | Op::Fence(_) | Op::Yield | Op::BulkGroup(_) => {}
        Op::Map(op) => match &**op {
            MapOp::Replace { value, width, .. } => visit(*value, bytes_of(*width)),
            MapOp::Copy { .. } => {}
        },
        Op::WarpGroup(_) => {}
    }
}

/// Calls `visit` with each predicate that an instruction reads, including its guard.
pub fn conditions(instruction: &Instruction, visit: &mut dyn FnMut(Predicate)) {
    let mut read = |condition: &Condition| visit(condition.predicate);
    read(&instruction.guard);
    match &instruction.op {
        Op::Test { combine: Some((_, condition)), .. } | Op::Select { condition, .. } => read(condition),
        Op::Logic { a, b, .. } => [a, b].into_iter().for_each(read),
        Op::Carry(carry) if carry.reads => visit(CARRY),
        Op::AsyncCopy(copy) => read(&copy.ignored),
        Op::WarpGroup(op) => match &**op {
            GroupOp::Product(product) => read(&product.accumulates),
            GroupOp::Commit | GroupOp::Wait { .. } => {}
        },
        Op::Barrier { kind, .. } => match kind {
            BarrierKind::CountOnes { condition, .. } | BarrierKind::Combine { condition, .. } => {
                read(condition);
            }
            BarrierKind::Sync | BarrierKind::Arrive => {}
        },
        Op::Collective { operation, .. } => match operation {
            Collective::VoteAll { condition, .. }
            | Collective::VoteAny { condition, .. }
            | Collective::VoteUniform { condition, .. }
            | Collective::VoteBallot { condition, .. } => read(condition),
            Collective::Shuffle { .. }
            | Collective::MatchAny { .. }
            | Collective::MatchAll { .. }
            | Collective::Reduce { .. }
            | Collective::Elect { .. }
            | Collective::WarpBarrier => {}
        },
        Op::Test { combine: None, .. } | Op::Carry(_) | Op::Pure { .. } | Op::Video { .. } => {}
        Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::BulkCopy(_) | Op::MemoryBarrier(_) => {}
        Op::Matrix(_) | Op::Object(_) | Op::LocalAddress { .. } | Op::Alloca { .. } => {}
        Op::StackSave { .. } | Op::StackRestore { .. } | Op::Branch { .. } | Op::BranchIndexed { .. } => {}
        Op::Call(_) | Op::Return | Op::Exit | Op::Trap | Op::ClusterBarrier { .. } => {}
        Op::ActiveMask { .. } | Op::Clock { .. } | Op::Fence(_) | Op::Yield => {}
        Op::BulkGroup(_) | Op::Map(_) => {}
    }
}

/// Calls `visit` with each predicate that an instruction writes.
pub fn predicates(instruction: &Instruction, visit: &mut dyn FnMut(Predicate)) {
    match &instruction.op {
        Op::Test { out, inverse, .. } => std::iter::once(*out).chain(*inverse).for_each(visit),
        Op::Logic { out, .. } => visit(*out),
        Op::Carry(carry) if carry.writes => visit(CARRY),
        Op::Barrier { kind: BarrierKind::Combine { out, .. }, .. } => visit(*out),
        Op::MemoryBarrier(barrier) => match barrier.action {
            MemoryBarrierAction::Test { out, .. } => visit(out),
            MemoryBarrierAction::Init { .. }
            | MemoryBarrierAction::Invalidate
            | MemoryBarrierAction::Arrive { .. }
            | MemoryBarrierAction::Transactions { .. } => {}
        },
        Op::Collective { operation, .. } => match operation {
            Collective::Shuffle { inside: out, .. } | Collective::MatchAll { agreed: out, .. } => {
                out.iter().copied().for_each(visit);
            }
            Collective::VoteAll { out, .. }
            | Collective::VoteAny { out, .. }
            | Collective::VoteUniform { out, .. }
            | Collective::Elect { elected: out, .. } => visit(*out),
            Collective::VoteBallot { .. }
            | Collective::MatchAny { .. }
            | Collective::Reduce { .. }
            | Collective::WarpBarrier => {}
        },
        Op::Object(op) => match &**op {
            ObjectOp::Sample(sample) => sample.resident.iter().copied().for_each(visit),
            ObjectOp::IsKind { out, .. } => visit(*out),
            ObjectOp::Access(_) | ObjectOp::Query { .. } => {}
        },
        Op::Barrier {
            kind: BarrierKind::Sync | BarrierKind::Arrive | BarrierKind::CountOnes { .. }, ..
        } => {}
        Op::Carry(_) | Op::Pure { .. } | Op::Select { .. } | Op::Video { .. } | Op::Load(_) => {}
        Op::Store(_) | Op::Atomic(_) | Op::AsyncCopy(_) | Op::BulkCopy(_) | Op::Matrix(_) => {}
        Op::LocalAddress { .. } | Op::Alloca { .. } | Op::StackSave { .. } | Op::StackRestore { .. } => {}
        Op::Branch { .. } | Op::BranchIndexed { .. } | Op::Call(_) | Op::Return | Op::Exit => {}
        Op::Trap | Op::ClusterBarrier { .. } | Op::ActiveMask { .. } | Op::Clock { .. } => {}
        Op::Fence(_) | Op::Yield | Op::WarpGroup(_) | Op::BulkGroup(_) | Op::Map(_) => {}
    }
}

/// True if an instruction affects registers only through its operands and results, within each
/// lane. False for calls and returns, which move parameters, and for operations with more rows than
/// their operands name.
#[inline]
pub fn is_simple(op: &Op) -> bool {
    match op {
        Op::Atomic(atomic) => atomic.ty != Type::B128,
        Op::AsyncCopy(_) | Op::BulkCopy(_) | Op::MemoryBarrier(_) | Op::Matrix(_) | Op::Object(_) => false,
        Op::BranchIndexed { .. } | Op::Call(_) | Op::Return | Op::ClusterBarrier { .. } => false,
        Op::WarpGroup(_) | Op::BulkGroup(_) | Op::Map(_) => false,
        Op::Pure { .. } | Op::Test { .. } | Op::Logic { .. } | Op::Select { .. } | Op::Carry(_) => true,
        Op::Video { .. } | Op::Load(_) | Op::Store(_) | Op::LocalAddress { .. } | Op::Alloca { .. } => true,
        Op::StackSave { .. } | Op::StackRestore { .. } | Op::Branch { .. } | Op::Exit | Op::Trap => true,
        Op::Barrier { .. } | Op::Collective { .. } | Op::ActiveMask { .. } | Op::Clock { .. } => true,
        Op::Fence(_) | Op::Yield => true,
    }
}

/// Next position of the lanes for which an operation's guard holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Course<'o> {
    /// Immediately the next instruction.
    Next,
    /// The next instruction, immediately or after other lanes have arrived or taken their turn.
    Wait,
    /// These instructions.
    Jump(&'o [u32]),
    /// A function, and back.
    Call,
    /// None: the end of the function or the kernel, or a fault.
    End,
}

/// Returns the next position of lanes after an operation.
pub fn course(op: &Op) -> Course<'_> {
    match op {
        Op::Pure { .. } | Op::Test { .. } | Op::Logic { .. } | Op::Select { .. } | Op::Carry(_) => {
            Course::Next
        }
        Op::Video { .. } | Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::LocalAddress { .. } => {
            Course::Next
        }
        Op::Alloca { .. } | Op::StackSave { .. } | Op::StackRestore { .. } => Course::Next,
        Op::AsyncCopy(_) | Op::BulkCopy(_) | Op::BulkGroup(_) | Op::Object(_) => Course::Next,
        Op::Map(_) => Course::Next,
        // A test that fails ends the turn.
        Op::MemoryBarrier(barrier) => match barrier.action {
            MemoryBarrierAction::Test { .. } => Course::Wait,
            MemoryBarrierAction::Init { .. }
            | MemoryBarrierAction::Invalidate
            | MemoryBarrierAction::Arrive { .. }
            | MemoryBarrierAction::Transactions { .. } => Course::Next,
        },
        Op::WarpGroup(op) => match **op {
            GroupOp::Wait { .. } => Course::Wait,
            GroupOp::Product(_) | GroupOp::Commit => Course::Next,
        },
        Op::Matrix(_) | Op::ActiveMask { .. } | Op::Clock { .. } | Op::Fence(_) => Course::Next,
        Op::Barrier { .. } | Op::ClusterBarrier { .. } | Op::Collective { .. } | Op::Yield => Course::Wait,
        Op::Branch { target } => Course::Jump(std::slice::from_ref(target)),
        Op::BranchIndexed { targets, .. } => Course::Jump(targets),
        Op::Call(_) => Course::Call,
        Op::Return | Op::Exit | Op::Trap => Course::End,
    }
}

/// True if lanes read registers of each other.
#[inline]
pub fn exchanges(op: &Op) -> bool {
    matches!(op, Op::Collective { .. } | Op::Matrix(_) | Op::WarpGroup(_))
}
