//! The registers read by operations with many operands.

use crate::program::bulk::{BulkCopy, Extent, MapOp};
use crate::program::instruction::Collective;
use crate::program::matrix::Matrix;
use crate::program::memory::{MemoryBarrier, MemoryBarrierAction};
use crate::program::texture::{LevelOperand, ObjectOp, ObjectPlace, SurfaceAction};
use crate::semantics::Register;

pub(super) fn bulk_reads(copy: &BulkCopy, visit: &mut dyn FnMut(Register)) {
    let BulkCopy { to, from, extent, multicast, told, .. } = copy;
    let told = told.map(|barrier| barrier.base);
    [to.base, from.base].into_iter().chain(*multicast).chain(told).for_each(&mut *visit);
    match extent {
        Extent::Bytes(bytes) => visit(*bytes),
        Extent::Tensor { coordinates, offsets, .. } => {
            coordinates.iter().chain(offsets).for_each(|register| visit(*register));
        }
    }
}

pub(super) fn map_reads(op: &MapOp, visit: &mut dyn FnMut(Register)) {
    match op {
        MapOp::Replace { address, value, .. } => [address.base, *value].into_iter().for_each(visit),
        MapOp::Copy { to, from, .. } => [to.base, from.base].into_iter().for_each(visit),
    }
}

pub(super) fn barrier_reads(barrier: &MemoryBarrier, visit: &mut dyn FnMut(Register)) {
    visit(barrier.address.base);
    match &barrier.action {
        MemoryBarrierAction::Init { count } => visit(*count),
        MemoryBarrierAction::Invalidate => {}
        MemoryBarrierAction::Arrive { count, transactions, .. } => {
            count.iter().chain(transactions).for_each(|register| visit(*register));
        }
        MemoryBarrierAction::Transactions { bytes, .. } => visit(*bytes),
        MemoryBarrierAction::Test { phase, .. } => visit(*phase),
    }
}

pub(super) fn collective_reads(operation: &Collective, visit: &mut dyn FnMut(Register)) {
    match operation {
        Collective::Shuffle { value, lane, clamp, .. } => {
            [value, lane, clamp].into_iter().for_each(|register| visit(*register));
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

pub(super) fn matrix_reads(matrix: &Matrix, visit: &mut dyn FnMut(Register)) {
    match matrix {
        Matrix::Product(product) => {
            let places = product.sparse.map(|sparse| sparse.places);
            let parts = [&product.a, &product.b, &product.c].into_iter().flatten().copied();
            parts.chain(places).for_each(visit);
        }
        Matrix::Move(access) => {
            visit(access.address.base);
            access.stride.iter().for_each(|stride| visit(*stride));
            access.registers.iter().filter(|_| access.store).for_each(|register| visit(*register));
        }
        Matrix::Rows(rows) => {
            visit(rows.address.base);
            rows.registers.iter().filter(|_| rows.store).for_each(|register| visit(*register));
        }
        Matrix::Transpose { value, .. } => visit(*value),
    }
}

pub(super) fn object_reads(op: &ObjectOp, visit: &mut dyn FnMut(Register)) {
    let mut place = |place: &ObjectPlace| {
        visit(place.object);
        place.layer.iter().chain(place.coordinates.iter().flatten()).for_each(|register| visit(*register));
    };
    match op {
        ObjectOp::Sample(sample) => {
            place(&sample.place);
            sample.offsets.iter().flatten().for_each(|register| visit(*register));
            match &sample.level {
                LevelOperand::Implicit | LevelOperand::Base => {}
                LevelOperand::Number(register) => visit(*register),
                LevelOperand::Gradients(x, y) => {
                    x.iter().chain(y).flatten().for_each(|register| visit(*register))
                }
            }
        }
        ObjectOp::Access(access) => {
            place(&access.place);
            match &access.action {
                SurfaceAction::Load(_) => {}
                SurfaceAction::Store(registers) | SurfaceAction::StoreConverted(registers) => {
                    registers.iter().for_each(|register| visit(*register));
                }
                SurfaceAction::Reduce { value, .. } => visit(*value),
            }
        }
        ObjectOp::Query { object, level, .. } => {
            visit(*object);
            level.iter().for_each(|level| visit(*level));
        }
        ObjectOp::IsKind { object, .. } => visit(*object),
    }
}
