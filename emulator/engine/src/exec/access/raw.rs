//! Bytes of memory as numbers: read and written plainly, atomically, or updated atomically.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

#[inline]
pub(super) fn sign_extend(raw: u64, bytes: u32) -> u64 {
    let unused = 64 - 8 * bytes.min(8);
    ((raw << unused) as i64 >> unused) as u64
}

/// # Safety
/// `at` points at that many readable bytes.
#[inline]
pub(in crate::exec) unsafe fn read(at: *mut u8, bytes: u32, strong: bool) -> u64 {
    if strong && at.align_offset(bytes as usize) == 0 {
        // SAFETY: readable, as the caller says, and aligned.
        return unsafe { load_atomic(at, bytes) };
    }
    let mut raw = [0u8; 8];
    // SAFETY: readable, as the caller says; `raw` has 8 bytes, and no access has more.
    unsafe { std::ptr::copy_nonoverlapping(at, raw.as_mut_ptr(), bytes.min(8) as usize) };
    u64::from_le_bytes(raw)
}

/// # Safety
/// `at` points at that many readable bytes and is aligned to as many.
unsafe fn load_atomic(at: *mut u8, bytes: u32) -> u64 {
    match bytes {
        // SAFETY: as the caller says.
        1 => unsafe { AtomicU8::from_ptr(at) }.load(Ordering::SeqCst).into(),
        // SAFETY: as the caller says.
        2 => unsafe { AtomicU16::from_ptr(at.cast()) }.load(Ordering::SeqCst).into(),
        // SAFETY: as the caller says.
        4 => unsafe { AtomicU32::from_ptr(at.cast()) }.load(Ordering::SeqCst).into(),
        // SAFETY: as the caller says.
        _ => unsafe { AtomicU64::from_ptr(at.cast()) }.load(Ordering::SeqCst),
    }
}

/// # Safety
/// `at` points at that many writable bytes.
#[inline]
pub(super) unsafe fn write(at: *mut u8, bytes: u32, value: u64, strong: bool) {
    if strong && at.align_offset(bytes as usize) == 0 {
        match bytes {
            // SAFETY: writable, as the caller says, and aligned.
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
    // SAFETY: writable, as the caller says; no access has more than 8 bytes.
    unsafe { std::ptr::copy_nonoverlapping(raw.as_ptr(), at, bytes.min(8) as usize) };
}

/// Replaces a value by the result of `change`, atomically for all threads, and returns the old one.
///
/// # Safety
/// `at` points at that many bytes of memory that is only shared through atomics, and is aligned to as many.
pub(in crate::exec) unsafe fn update(at: *mut u8, bytes: u32, change: impl Fn(u64) -> u64) -> u64 {
    let order = Ordering::SeqCst;
    match bytes {
        2 => {
            // SAFETY: as the caller says.
            let cell = unsafe { AtomicU16::from_ptr(at.cast()) };
            let old = cell.fetch_update(order, order, |old| Some(change(old.into()) as u16));
            old.unwrap_or_else(|old| old).into()
        }
        4 => {
            // SAFETY: as the caller says.
            let cell = unsafe { AtomicU32::from_ptr(at.cast()) };
            let old = cell.fetch_update(order, order, |old| Some(change(old.into()) as u32));
            old.unwrap_or_else(|old| old).into()
        }
        _ => {
            // SAFETY: as the caller says.
            let cell = unsafe { AtomicU64::from_ptr(at.cast()) };
            let old = cell.fetch_update(order, order, |old| Some(change(old)));
            old.unwrap_or_else(|old| old)
        }
    }
}
