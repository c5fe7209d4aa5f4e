//! Replaces the registers of an instruction.
//!
//! As in [`effects`](super::effects), no match here has a wildcard.

use super::bulk::{BulkCopy, Extent, MapOp};
use super::instruction::{BarrierKind, Call, Callee, Collective, Instruction, Op};
use super::matrix::Matrix;
use super::memory::{AsyncCopy, MemoryBarrier, MemoryBarrierAction};
use super::texture::{LevelOperand, ObjectOp, ObjectPlace, SurfaceAction};
use super::warp_group::{GroupOp, LeftFactor};
use crate::semantics::Register;

/// Calls `change` with each register that an instruction names, even unused operands.
pub(super) fn registers(instruction: &mut Instruction, change: &mut dyn FnMut(&mut Register)) {
    match &mut instruction.op {
        Op::Pure { out, sources, .. } => {
            change(out);
            sources.iter_mut().for_each(change);
        }
        Op::Test { sources, .. } => sources.iter_mut().for_each(change),
        Op::Select { out, a, b, .. } => [out, a, b].into_iter().for_each(change),
        Op::Video { out, sources, .. } => {
            change(out);
            sources.iter_mut().for_each(change);
        }
        Op::Carry(carry) => {
            change(&mut carry.out);
            carry.sources.iter_mut().for_each(change);
        }
        Op::Load(access) | Op::Store(access) => {
            change(&mut access.address.base);
            access.registers.iter_mut().for_each(change);
        }
        Op::Atomic(atomic) => {
            change(&mut atomic.address.base);
            atomic.operands.iter_mut().chain(&mut atomic.out).for_each(change);
        }
        Op::AsyncCopy(copy) => of_async_copy(copy, change),
        Op::BulkCopy(copy) => of_bulk_copy(copy, change),
        Op::Map(op) => of_map(op, change),
        Op::WarpGroup(op) => of_warp_group(op, change),
        Op::MemoryBarrier(barrier) => of_barrier(barrier, change),
        Op::Matrix(matrix) => of_matrix(matrix, change),
        Op::Object(op) => of_object(op, change),
        Op::Alloca { out, size, .. } => [out, size].into_iter().for_each(change),
        Op::StackRestore { pointer: register, .. }
        | Op::BranchIndexed { index: register, .. }
        | Op::LocalAddress { out: register, .. }
        | Op::Clock { out: register, .. }
        | Op::ActiveMask { out: register }
        | Op::StackSave { out: register, .. } => change(register),
        Op::Call(call) => of_call(call, change),
        Op::Barrier { kind, id, count, .. } => {
            std::iter::once(id).chain(count).for_each(&mut *change);
            of_barrier_kind(kind, change);
        }
        Op::Collective { operation, members } => {
            change(members);
            of_collective(operation, change);
        }
        Op::Logic { .. } | Op::Branch { .. } | Op::Return | Op::Exit | Op::Trap => {}
        Op::ClusterBarrier { .. } | Op::Fence(_) | Op::Yield | Op::BulkGroup(_) => {}
    }
}

fn of_async_copy(copy: &mut AsyncCopy, change: &mut dyn FnMut(&mut Register)) {
    let addresses = [&mut copy.to.base, &mut copy.from.base];
    addresses.into_iter().chain(&mut copy.source_bytes).for_each(change);
}

fn of_barrier_kind(kind: &mut BarrierKind, change: &mut dyn FnMut(&mut Register)) {
    match kind {
        BarrierKind::CountOnes { out, .. } => change(out),
        BarrierKind::Sync | BarrierKind::Arrive | BarrierKind::Combine { .. } => {}
    }
}

fn of_bulk_copy(copy: &mut BulkCopy, change: &mut dyn FnMut(&mut Register)) {
    let BulkCopy { to, from, extent, multicast, told, .. } = copy;
    let told = told.iter_mut().map(|barrier| &mut barrier.base);
    [&mut to.base, &mut from.base].into_iter().chain(multicast).chain(told).for_each(&mut *change);
    match extent {
        Extent::Bytes(bytes) => change(bytes),
        Extent::Tensor { coordinates, offsets, .. } => coordinates.iter_mut().chain(offsets).for_each(change),
    }
}

fn of_map(op: &mut MapOp, change: &mut dyn FnMut(&mut Register)) {
    match op {
        MapOp::Replace { address, value, .. } => [&mut address.base, value].into_iter().for_each(change),
        MapOp::Copy { to, from, .. } => [&mut to.base, &mut from.base].into_iter().for_each(change),
    }
}

fn of_warp_group(op: &mut GroupOp, change: &mut dyn FnMut(&mut Register)) {
    let GroupOp::Product(product) = op else { return };
    match &mut product.a {
        LeftFactor::Shared(factor) => change(&mut factor.descriptor),
        LeftFactor::Registers(registers) => registers.iter_mut().for_each(&mut *change),
    }
    let places = product.sparse.as_mut().map(|sparse| &mut sparse.places);
    std::iter::once(&mut product.b.descriptor).chain(places).chain(&mut product.d).for_each(change);
}

fn of_call(call: &mut Call, change: &mut dyn FnMut(&mut Register)) {
    if let Callee::Indirect(register) = &mut call.callee {
        change(register);
    }
    call.arguments.iter_mut().chain(&mut call.results).for_each(change);
}

fn of_barrier(barrier: &mut MemoryBarrier, change: &mut dyn FnMut(&mut Register)) {
    change(&mut barrier.address.base);
    match &mut barrier.action {
        MemoryBarrierAction::Init { count: register }
        | MemoryBarrierAction::Transactions { bytes: register, .. }
        | MemoryBarrierAction::Test { phase: register, .. } => change(register),
        MemoryBarrierAction::Invalidate => {}
        MemoryBarrierAction::Arrive { out, count, transactions, .. } => {
            out.iter_mut().chain(count).chain(transactions).for_each(change);
        }
    }
}

fn of_collective(operation: &mut Collective, change: &mut dyn FnMut(&mut Register)) {
    match operation {
        Collective::Shuffle { out, value, lane, clamp, .. } => {
            [out, value, lane, clamp].into_iter().for_each(change);
        }
        Collective::MatchAny { out, value, .. }
        | Collective::MatchAll { out, value, .. }
        | Collective::Reduce { out, value, .. } => [out, value].into_iter().for_each(change),
        Collective::VoteBallot { out, .. } | Collective::Elect { out, .. } => change(out),
        Collective::VoteAll { .. }
        | Collective::VoteAny { .. }
        | Collective::VoteUniform { .. }
        | Collective::WarpBarrier => {}
    }
}

fn of_matrix(matrix: &mut Matrix, change: &mut dyn FnMut(&mut Register)) {
    match matrix {
        Matrix::Product(product) => {
            let parts = [&mut product.a, &mut product.b, &mut product.c, &mut product.d];
            let places = product.sparse.as_mut().map(|sparse| &mut sparse.places);
            parts.into_iter().flatten().chain(places).for_each(change);
        }
        Matrix::Move(access) => {
            let address = std::iter::once(&mut access.address.base);
            address.chain(&mut access.stride).chain(&mut access.registers).for_each(change);
        }
        Matrix::Rows(rows) => {
            std::iter::once(&mut rows.address.base).chain(&mut rows.registers).for_each(change);
        }
        Matrix::Transpose { out, value } => [out, value].into_iter().for_each(change),
    }
}

fn of_object(op: &mut ObjectOp, change: &mut dyn FnMut(&mut Register)) {
    let of_place = |place: &mut ObjectPlace, change: &mut dyn FnMut(&mut Register)| {
        let object = std::iter::once(&mut place.object);
        object.chain(&mut place.layer).chain(place.coordinates.iter_mut().flatten()).for_each(change);
    };
    match op {
        ObjectOp::Sample(sample) => {
            of_place(&mut sample.place, change);
            sample.offsets.iter_mut().flatten().chain(&mut sample.out).for_each(&mut *change);
            match &mut sample.level {
                LevelOperand::Implicit | LevelOperand::Base => {}
                LevelOperand::Number(register) => change(register),
                LevelOperand::Gradients(x, y) => x.iter_mut().chain(y).flatten().for_each(change),
            }
        }
        ObjectOp::Access(access) => {
            of_place(&mut access.place, change);
            match &mut access.action {
                SurfaceAction::Load(registers)
                | SurfaceAction::Store(registers)
                | SurfaceAction::StoreConverted(registers) => registers.iter_mut().for_each(change),
                SurfaceAction::Reduce { value, .. } => change(value),
            }
        }
        ObjectOp::Query { object, level, out, .. } => {
            [object, out].into_iter().chain(level).for_each(change);
        }
        ObjectOp::IsKind { object, .. } => change(object),
    }
}
