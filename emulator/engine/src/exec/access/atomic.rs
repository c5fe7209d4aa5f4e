//! Atomic operations.

use super::place::place_of;
use super::raw::{load_atomic, read, sign_extend, store_relaxed, write};
use super::{Request, lane_address, update};
use crate::exec::block::rows::Rows;
use crate::exec::block::{Block, Issue, Stop};
use crate::program::memory::{Atomic, AtomicOperation};
use crate::program::types::Type;
use crate::semantics::atomic::{add_f32, add_f64, add_halves, extrema_of_halves};
use crate::semantics::{Register, Width, lanes_of};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Threads that may write the memory of an atomic operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Writers {
    /// Threads of the block or cluster: not global memory.
    OfBlock,
    /// Threads of the launch, which has one worker.
    OfLaunch,
    Any,
}

impl Writers {
    /// Returns the writers of memory until the launch asks again whether it is alone.
    pub(in crate::exec) fn of(global: bool, is_alone: impl FnOnce() -> bool) -> Writers {
        match global {
            true if is_alone() => Writers::OfLaunch,
            true => Writers::Any,
            false => Writers::OfBlock,
        }
    }
}

/// Performs an atomic operation. Returns false if it was an exchange that changed nothing.
pub(in crate::exec) fn atomic(
    block: &mut Block<'_, '_>,
    issue: Issue,
    atomic: &Atomic,
) -> Result<bool, Stop> {
    let bytes = atomic.ty.bytes();
    if bytes == 16 {
        return atomic_wide(block, issue, atomic);
    }
    let mut changes = false;
    let width = if bytes == 8 { Width::Double } else { Width::Single };
    for lane in lanes_of(issue.active) {
        let request = |block: &Block<'_, '_>, lane| {
            let address = lane_address(block, issue.warp, &atomic.address, lane);
            let request = match atomic.operation {
                AtomicOperation::Exchange => Request::write(atomic.space, address, bytes, atomic.cache),
                _ => Request::update(atomic.space, address, bytes, atomic.cache),
            };
            request.atomically(atomic.order).returning(atomic.out.is_some())
        };
        let place = place_of(block, issue.at(lane), issue.active, request)?;
        let rows = &block.warps[issue.warp].rows;
        let operands = atomic.operands.map(|operand| rows.get_wide(operand, width, lane));
        let operation = (atomic.operation, atomic.ty);
        let writers = Writers::of(place.global, || block.launch.writer.is_alone());
        // SAFETY: `place` checked that the bytes are aligned and in live memory. Only this worker
        // accesses memory that is not global.
        let old = unsafe { change(place.host, bytes, operation, writers, operands) };
        changes |= atomic.operation.changes(old, operands);
        if let Some(out) = atomic.out {
            block.warps[issue.warp].rows.set_wide(out, width, lane, old);
        }
    }
    Ok(changes)
}

/// Exchanges 128 bits, whose registers are pairs of double rows. They are atomic among each other.
fn atomic_wide(block: &mut Block<'_, '_>, issue: Issue, atomic: &Atomic) -> Result<bool, Stop> {
    let mut changes = false;
    static TURN: Mutex<()> = Mutex::new(());
    for lane in lanes_of(issue.active) {
        let request = |block: &Block<'_, '_>, lane| {
            let address = lane_address(block, issue.warp, &atomic.address, lane);
            let request = Request::update(atomic.space, address, 16, atomic.cache);
            request.atomically(atomic.order).returning(atomic.out.is_some())
        };
        let place = place_of(block, issue.at(lane), issue.active, request)?;
        let rows = &mut block.warps[issue.warp].rows;
        let both = |rows: &Rows, register: Register| {
            [register, Register(register.0 + 2)].map(|half| rows.get_wide(half, Width::Double, lane))
        };
        let [a, b] = atomic.operands.map(|operand| both(rows, operand));
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let halves = place.host.cast::<[u64; 2]>();
        // SAFETY: `place` checked that the 16 bytes are in live memory.
        let old = unsafe { halves.read_unaligned() };
        let new = match atomic.operation {
            AtomicOperation::CompareExchange if old != a => old,
            AtomicOperation::CompareExchange => b,
            _ => a,
        };
        // SAFETY: as above; writing was checked too.
        unsafe { halves.write_unaligned(new) };
        drop(turn);
        changes |= new != old;
        if let Some(out) = atomic.out {
            rows.set_wide(out, Width::Double, lane, old[0]);
            rows.set_wide(Register(out.0 + 2), Width::Double, lane, old[1]);
        }
    }
    Ok(changes)
}

/// Performs an atomic operation on memory and returns the old value.
///
/// # Safety
/// `at` points to that many writable bytes, aligned to their number, which only these writers write
/// meanwhile.
#[inline(always)]
pub(in crate::exec) unsafe fn change(
    at: *mut u8,
    bytes: u32,
    (operation, ty): (AtomicOperation, Type),
    writers: Writers,
    [a, b]: [u64; 2],
) -> u64 {
    let global = writers != Writers::OfBlock;
    match writers {
        Writers::OfBlock => {
            // SAFETY: guaranteed by the caller.
            let old = unsafe { read(at, bytes, false) };
            // SAFETY: guaranteed by the caller.
            unsafe { write(at, bytes, apply(operation, ty, global, old, a, b), false) };
            return old;
        }
        // This worker runs all threads of the launch; others only read.
        Writers::OfLaunch => {
            // SAFETY: guaranteed by the caller.
            let old = unsafe { load_atomic(at, bytes) };
            // SAFETY: guaranteed by the caller.
            unsafe { store_relaxed(at, bytes, apply(operation, ty, global, old, a, b)) };
            return old;
        }
        Writers::Any => {}
    }
    match (operation, bytes) {
        (AtomicOperation::Add, 4) if !ty.is_float() => {
            // SAFETY: guaranteed by the caller; global memory is shared through atomics only.
            unsafe { AtomicU32::from_ptr(at.cast()) }.fetch_add(a as u32, Ordering::SeqCst).into()
        }
        (AtomicOperation::Add, 8) if !ty.is_float() => {
            // SAFETY: as above.
            unsafe { AtomicU64::from_ptr(at.cast()) }.fetch_add(a, Ordering::SeqCst)
        }
        (AtomicOperation::CompareExchange, 4) => {
            // SAFETY: as above.
            let cell = unsafe { AtomicU32::from_ptr(at.cast()) };
            // An exchange that fails only reads, which takes no locked instruction.
            let seen = cell.load(Ordering::SeqCst);
            if seen != a as u32 {
                return seen.into();
            }
            let swapped = cell.compare_exchange(a as u32, b as u32, Ordering::SeqCst, Ordering::SeqCst);
            swapped.unwrap_or_else(|old| old).into()
        }
        (AtomicOperation::CompareExchange, 8) => {
            // SAFETY: as above.
            let cell = unsafe { AtomicU64::from_ptr(at.cast()) };
            let seen = cell.load(Ordering::SeqCst);
            if seen != a {
                return seen;
            }
            let swapped = cell.compare_exchange(a, b, Ordering::SeqCst, Ordering::SeqCst);
            swapped.unwrap_or_else(|old| old)
        }
        // SAFETY: as above.
        _ => unsafe { update(at, bytes, |old| apply(operation, ty, global, old, a, b)) },
    }
}

/// Returns the new value of an atomic operation; `b` is the second operand of `cas`. In global
/// memory, single-precision sums flush subnormal numbers and keep a NaN unchanged.
#[inline(always)]
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
        AtomicOperation::Add if ty.is_float() => add(ty, global, old, a) & mask,
        AtomicOperation::Add => old.wrapping_add(a) & mask,
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

/// Returns the sum of floating-point numbers. Bits beyond the type are ignored.
fn add(ty: Type, global: bool, old: u64, a: u64) -> u64 {
    match ty {
        Type::F32 => {
            let (x, y) = (f32::from_bits(old as u32), f32::from_bits(a as u32));
            add_f32(x, y, global).to_bits().into()
        }
        Type::F64 => {
            let (x, y) = (f64::from_bits(old), f64::from_bits(a));
            match (global, y.is_nan(), x.is_nan()) {
                // The adder of global memory keeps a NaN unchanged.
                (true, true, _) => a,
                (true, _, true) => old,
                _ => add_f64(y, x).to_bits(),
            }
        }
        Type::F16 | Type::F16x2 => add_halves(false, old as u32, a as u32).into(),
        _ => add_halves(true, old as u32, a as u32).into(),
    }
}

/// Returns the minimum or maximum of half-precision numbers, or of each half of a pair.
fn extremum(max: bool, ty: Type, x: u32, y: u32) -> u32 {
    extrema_of_halves(max, !matches!(ty, Type::F16 | Type::F16x2), x, y)
}
