//! Reads and writes memory as numbers: plainly, atomically, or as an atomic update.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

#[inline]
pub(super) fn sign_extend(raw: u64, bytes: u32) -> u64 {
    let unused = 64 - 8 * bytes.min(8);
    ((raw << unused) as i64 >> unused) as u64
}

/// # Safety
/// `at` points to that many readable bytes.
#[inline]
pub(in crate::exec) unsafe fn read(at: *mut u8, bytes: u32, strong: bool) -> u64 {
    if strong && at.align_offset(bytes as usize) == 0 {
        // SAFETY: aligned, and readable as guaranteed by the caller.
        return unsafe { load_atomic(at, bytes) };
    }
    let mut raw = [0u8; 8];
    // SAFETY: readable as guaranteed by the caller; `raw` has 8 bytes, and no access has more.
    unsafe { std::ptr::copy_nonoverlapping(at, raw.as_mut_ptr(), bytes.min(8) as usize) };
    u64::from_le_bytes(raw)
}

/// # Safety
/// `at` points to that many readable bytes, aligned to their number.
#[inline(always)]
pub(super) unsafe fn load_atomic(at: *mut u8, bytes: u32) -> u64 {
    match bytes {
        // SAFETY: guaranteed by the caller.
        1 => unsafe { AtomicU8::from_ptr(at) }.load(Ordering::SeqCst).into(),
        // SAFETY: guaranteed by the caller.
        2 => unsafe { AtomicU16::from_ptr(at.cast()) }.load(Ordering::SeqCst).into(),
        // SAFETY: guaranteed by the caller.
        4 => unsafe { AtomicU32::from_ptr(at.cast()) }.load(Ordering::SeqCst).into(),
        // SAFETY: guaranteed by the caller.
        _ => unsafe { AtomicU64::from_ptr(at.cast()) }.load(Ordering::SeqCst),
    }
}

/// # Safety
/// `at` points to that many writable bytes.
#[inline]
pub(in crate::exec) unsafe fn write(at: *mut u8, bytes: u32, value: u64, strong: bool) {
    if strong && at.align_offset(bytes as usize) == 0 {
        match bytes {
            // SAFETY: aligned, and writable as guaranteed by the caller.
            1 => unsafe { AtomicU8::from_ptr(at) }.store(value as u8, Ordering::SeqCst),
            // SAFETY: as above.
            2 => unsafe { AtomicU16::from_ptr(at.cast()) }.store(value as u16, Ordering::SeqCst),
            // SAFETY: as above.
            4 => unsafe { AtomicU32::from_ptr(at.cast()) }.store(value as u32, Ordering::SeqCst),
            // SAFETY: as above.
            _ => unsafe { AtomicU64::from_ptr(at.cast()) }.store(value, Ordering::SeqCst),
        }
        return;
    }
    let raw = value.to_le_bytes();
    // SAFETY: writable as guaranteed by the caller; no access has more than 8 bytes.
    unsafe { std::ptr::copy_nonoverlapping(raw.as_ptr(), at, bytes.min(8) as usize) };
}

/// Writes atomically, without an order and so without a locked instruction.
///
/// # Safety
/// `at` points to that many writable bytes, aligned to their number.
#[inline(always)]
pub(super) unsafe fn store_relaxed(at: *mut u8, bytes: u32, value: u64) {
    match bytes {
        // SAFETY: guaranteed by the caller.
        1 => unsafe { AtomicU8::from_ptr(at) }.store(value as u8, Ordering::Relaxed),
        // SAFETY: guaranteed by the caller.
        2 => unsafe { AtomicU16::from_ptr(at.cast()) }.store(value as u16, Ordering::Relaxed),
        // SAFETY: guaranteed by the caller.
        4 => unsafe { AtomicU32::from_ptr(at.cast()) }.store(value as u32, Ordering::Relaxed),
        // SAFETY: guaranteed by the caller.
        _ => unsafe { AtomicU64::from_ptr(at.cast()) }.store(value, Ordering::Relaxed),
    }
}

/// Atomically replaces a value by the result of `change`, and returns the old value.
///
/// # Safety
/// `at` points to that many bytes, aligned to their number, that are only shared through atomics.
pub(in crate::exec) unsafe fn update(at: *mut u8, bytes: u32, change: impl Fn(u64) -> u64) -> u64 {
    let order = Ordering::SeqCst;
    match bytes {
        2 => {
            // SAFETY: guaranteed by the caller.
            let cell = unsafe { AtomicU16::from_ptr(at.cast()) };
            let old = cell.fetch_update(order, order, |old| Some(change(old.into()) as u16));
            old.unwrap_or_else(|old| old).into()
        }
        4 => {
            // SAFETY: guaranteed by the caller.
            let cell = unsafe { AtomicU32::from_ptr(at.cast()) };
            let old = cell.fetch_update(order, order, |old| Some(change(old.into()) as u32));
            old.unwrap_or_else(|old| old).into()
        }
        _ => {
            // SAFETY: guaranteed by the caller.
            let cell = unsafe { AtomicU64::from_ptr(at.cast()) };
            let old = cell.fetch_update(order, order, |old| Some(change(old)));
            old.unwrap_or_else(|old| old)
        }
    }
}
