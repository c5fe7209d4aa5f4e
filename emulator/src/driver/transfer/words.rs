//! Atomic reads and writes of memory that others may access at the same time, each by the widest
//! aligned word that fits. A wait for a value, a kernel with volatile accesses, or the host in
//! page-locked memory therefore never sees a torn word, and a word also makes the work before the
//! copy or fill visible.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

/// Writes `len` bytes. `word(offset, count)` returns 1, 2, 4 or 8 as a little-endian number.
///
/// # Safety
/// `to` points to `len` writable bytes, which other threads access only atomically meanwhile.
#[inline]
pub(super) unsafe fn write(to: *mut u8, len: usize, word: impl Fn(usize, usize) -> u64) {
    fence(Ordering::Release);
    let mut at = 0;
    while at < len {
        let target = to.wrapping_add(at);
        let aligned = 1 << target.addr().trailing_zeros().min(3);
        let bytes = aligned.min(1 << (len - at).ilog2());
        if bytes < 8 {
            // SAFETY: `bytes` of the remaining bytes, aligned to their number.
            unsafe { store(target, bytes, word(at, bytes)) };
            at += bytes;
            continue;
        }
        for _ in 0..(len - at) / 8 {
            // SAFETY: 8 of the remaining bytes, and the first is aligned.
            unsafe { store(to.wrapping_add(at), 8, word(at, 8)) };
            at += 8;
        }
    }
}

/// # Safety
/// `to` points to `bytes` writable bytes (1, 2, 4 or 8), and is aligned to their number.
#[inline]
unsafe fn store(to: *mut u8, bytes: usize, value: u64) {
    match bytes {
        // SAFETY: guaranteed by the caller.
        1 => unsafe { AtomicU8::from_ptr(to) }.store((value as u8).to_le(), Ordering::Relaxed),
        // SAFETY: guaranteed by the caller.
        2 => unsafe { AtomicU16::from_ptr(to.cast()) }.store((value as u16).to_le(), Ordering::Relaxed),
        // SAFETY: guaranteed by the caller.
        4 => unsafe { AtomicU32::from_ptr(to.cast()) }.store((value as u32).to_le(), Ordering::Relaxed),
        // SAFETY: guaranteed by the caller.
        _ => unsafe { AtomicU64::from_ptr(to.cast()) }.store(value.to_le(), Ordering::Relaxed),
    }
}

/// Reads 1, 2, 4 or 8 bytes that other threads may write: at once if aligned, else byte by byte.
///
/// # Safety
/// `from` points to `bytes` readable and writable bytes, which others only write atomically.
#[inline]
pub(super) unsafe fn read_shared(from: *mut u8, bytes: usize) -> u64 {
    if from.addr() % bytes != 0 {
        // SAFETY: one of the bytes.
        let byte = |at| unsafe { AtomicU8::from_ptr(from.wrapping_add(at)) }.load(Ordering::Relaxed);
        return (0..bytes).fold(0, |word, at| word | u64::from(byte(at)) << (8 * at));
    }
    match bytes {
        // SAFETY: guaranteed by the caller.
        1 => unsafe { AtomicU8::from_ptr(from) }.load(Ordering::Relaxed).into(),
        // SAFETY: guaranteed by the caller, and the alignment was checked.
        2 => u16::from_le(unsafe { AtomicU16::from_ptr(from.cast()) }.load(Ordering::Relaxed)).into(),
        // SAFETY: as above.
        4 => u32::from_le(unsafe { AtomicU32::from_ptr(from.cast()) }.load(Ordering::Relaxed)).into(),
        // SAFETY: as above.
        _ => u64::from_le(unsafe { AtomicU64::from_ptr(from.cast()) }.load(Ordering::Relaxed)),
    }
}

/// Reads 1, 2, 4 or 8 bytes, aligned or not, that no thread writes meanwhile.
///
/// # Safety
/// `from` points to `bytes` readable bytes.
#[inline]
pub(super) unsafe fn read_plain(from: *const u8, bytes: usize) -> u64 {
    let mut word = [0; 8];
    // SAFETY: guaranteed by the caller; at most 8 bytes, into a separate array.
    unsafe { from.copy_to_nonoverlapping(word.as_mut_ptr(), bytes.min(8)) };
    u64::from_le_bytes(word)
}
