//! Atomic operations.

use super::place::place_of;
use super::raw::sign_extend;
use super::{Request, lane_address, update};
use crate::exec::block::rows::Rows;
use crate::exec::block::{Block, Issue, Stop};
use crate::program::memory::{Atomic, AtomicOperation};
use crate::program::types::Type;
use crate::semantics::{Pure, Register, Width, float, half, lanes_of};
use std::sync::{Mutex, PoisonError};

pub(in crate::exec) fn atomic(block: &mut Block<'_, '_>, issue: Issue, atomic: &Atomic) -> Result<(), Stop> {
    let bytes = atomic.ty.bytes();
    if bytes == 16 {
        return atomic_wide(block, issue, atomic);
    }
    let width = if bytes == 8 { Width::Double } else { Width::Single };
    for lane in lanes_of(issue.active) {
        let request = |block: &Block<'_, '_>, lane| {
            let address = lane_address(block, issue.warp, &atomic.address, lane);
            let request = match atomic.operation {
                AtomicOperation::Exchange => Request::write(atomic.space, address, bytes, atomic.cache),
                _ => Request::update(atomic.space, address, bytes, atomic.cache),
            };
            request.atomically(atomic.order)
        };
        let place = place_of(block, issue.at(lane), issue.active, request)?;
        let rows = &block.warps[issue.warp].rows;
        let [a, b] = atomic.operands.map(|operand| rows.get_wide(operand, width, lane));
        let change = |old: u64| apply(atomic.operation, atomic.ty, place.global, old, a, b);
        // SAFETY: `place` checked that the bytes lie in live memory, and are aligned.
        let old = unsafe { update(place.host, bytes, change) };
        if let Some(out) = atomic.out {
            block.warps[issue.warp].rows.set_wide(out, width, lane, old);
        }
    }
    Ok(())
}

/// Exchanges of 128 bits, whose registers are pairs of double rows. They are atomic among each other.
fn atomic_wide(block: &mut Block<'_, '_>, issue: Issue, atomic: &Atomic) -> Result<(), Stop> {
    static TURN: Mutex<()> = Mutex::new(());
    for lane in lanes_of(issue.active) {
        let request = |block: &Block<'_, '_>, lane| {
            let address = lane_address(block, issue.warp, &atomic.address, lane);
            Request::update(atomic.space, address, 16, atomic.cache).atomically(atomic.order)
        };
        let place = place_of(block, issue.at(lane), issue.active, request)?;
        let rows = &mut block.warps[issue.warp].rows;
        let both = |rows: &Rows, register: Register| {
            [register, Register(register.0 + 2)].map(|half| rows.get_wide(half, Width::Double, lane))
        };
        let [a, b] = atomic.operands.map(|operand| both(rows, operand));
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let halves = place.host.cast::<[u64; 2]>();
        // SAFETY: `place` checked that 16 bytes lie in live memory.
        let old = unsafe { halves.read_unaligned() };
        let new = match atomic.operation {
            AtomicOperation::CompareExchange if old != a => old,
            AtomicOperation::CompareExchange => b,
            _ => a,
        };
        // SAFETY: as above; writing was checked too.
        unsafe { halves.write_unaligned(new) };
        drop(turn);
        if let Some(out) = atomic.out {
            rows.set_wide(out, Width::Double, lane, old[0]);
            rows.set_wide(Register(out.0 + 2), Width::Double, lane, old[1]);
        }
    }
    Ok(())
}

/// The new value of an atomic operation; `b` is the second operand of `cas`. In global memory, sums
/// of single precision flush subnormal numbers, and a NaN stays as it is.
pub(in crate::exec) fn apply(
    operation: AtomicOperation,
    ty: Type,
    global: bool,
    old: u64,
    a: u64,
    b: u64,
) -> u64 {
    let mask = u64::MAX >> (64 - 8 * ty.bytes());
    let (old, a) = (old & mask, a & mask);
    let signed = |x: u64| sign_extend(x, ty.bytes()) as i64;
    match operation {
        AtomicOperation::Add => add(ty, global, old, a) & mask,
        AtomicOperation::Min | AtomicOperation::Max if ty.is_float() => {
            u64::from(extremum(operation == AtomicOperation::Max, ty, old as u32, a as u32)) & mask
        }
        AtomicOperation::Exchange => a,
        AtomicOperation::CompareExchange => {
            if old == a {
                b
            } else {
                old
            }
        }
        AtomicOperation::Min if ty.is_signed() => signed(old).min(signed(a)) as u64,
        AtomicOperation::Max if ty.is_signed() => signed(old).max(signed(a)) as u64,
        AtomicOperation::Min => old.min(a),
        AtomicOperation::Max => old.max(a),
        AtomicOperation::And => old & a,
        AtomicOperation::Or => old | a,
        AtomicOperation::Xor => old ^ a,
        AtomicOperation::Increment => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
        AtomicOperation::Decrement => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
    }
}

/// The sum; its bits beyond the type do not count.
fn add(ty: Type, global: bool, old: u64, a: u64) -> u64 {
    match ty {
        Type::F32 => {
            let (x, y) = (f32::from_bits(old as u32), f32::from_bits(a as u32));
            let sum = match global {
                true => float::AddF32::<{ float::NEAREST }, true, false>::eval(x, y, (), ()),
                false => float::AddF32::<{ float::NEAREST }, false, false>::eval(x, y, (), ()),
            };
            sum.to_bits().into()
        }
        Type::F64 => {
            let (x, y) = (f64::from_bits(old), f64::from_bits(a));
            match (global, y.is_nan(), x.is_nan()) {
                // Global memory's own adder passes a NaN as it is.
                (true, true, _) => a,
                (true, _, true) => old,
                _ => float::AddF64::<{ float::NEAREST }>::eval(y, x, (), ()).to_bits(),
            }
        }
        Type::F16 | Type::F16x2 => {
            half::Both::<half::Add<half::F16, false, false>>::eval(old as u32, a as u32, (), ()).into()
        }
        Type::Bf16 | Type::Bf16x2 => {
            half::Both::<half::Add<half::Bf16, false, false>>::eval(old as u32, a as u32, (), ()).into()
        }
        _ => old.wrapping_add(a),
    }
}

/// Minimum or maximum of numbers of half precision, or of each half of a pair.
fn extremum(max: bool, ty: Type, x: u32, y: u32) -> u32 {
    match (matches!(ty, Type::F16 | Type::F16x2), max) {
        (true, false) => half::Both::<half::Min<half::F16, false, false, false>>::eval(x, y, (), ()),
        (true, true) => half::Both::<half::Max<half::F16, false, false, false>>::eval(x, y, (), ()),
        (false, false) => half::Both::<half::Min<half::Bf16, false, false, false>>::eval(x, y, (), ()),
        (false, true) => half::Both::<half::Max<half::Bf16, false, false, false>>::eval(x, y, (), ()),
    }
}
