//! Bytes in memory that others may use meanwhile, written and read by atomic accesses, each to the widest aligned word that
//! fits. A wait for a value, a kernel with volatile accesses, or the host in page-locked memory sees each word whole, and with
//! it the work before the copy or fill.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

/// Writes `len` bytes. `word` returns those from an offset on as a number, the first byte lowest: 1, 2, 4 or 8 of them.
///
/// # Safety
/// `to` points at `len` writable bytes, which others use at the same time by atomic accesses alone.
#[inline]
pub(super) unsafe fn write(to: *mut u8, len: usize, word: impl Fn(usize, usize) -> u64) {
    fence(Ordering::Release);
    let mut at = 0;
    while at < len {
        let target = to.wrapping_add(at);
        let aligned = 1 << target.addr().trailing_zeros().min(3);
        let bytes = aligned.min(1 << (len - at).ilog2());
        if bytes < 8 {
            // SAFETY: `bytes` of the rest, and aligned to as many.
            unsafe { store(target, bytes, word(at, bytes)) };
            at += bytes;
            continue;
        }
        for _ in 0..(len - at) / 8 {
            // SAFETY: 8 bytes of the rest, aligned as the first of them.
            unsafe { store(to.wrapping_add(at), 8, word(at, 8)) };
            at += 8;
        }
    }
}

/// # Safety
/// `to` points at 1, 2, 4 or 8 writable bytes, as many as `bytes`, and is aligned to as many.
#[inline]
unsafe fn store(to: *mut u8, bytes: usize, value: u64) {
    match bytes {
        // SAFETY: as the caller says.
        1 => unsafe { AtomicU8::from_ptr(to) }.store((value as u8).to_le(), Ordering::Relaxed),
        // SAFETY: as the caller says.
        2 => unsafe { AtomicU16::from_ptr(to.cast()) }.store((value as u16).to_le(), Ordering::Relaxed),
        // SAFETY: as the caller says.
        4 => unsafe { AtomicU32::from_ptr(to.cast()) }.store((value as u32).to_le(), Ordering::Relaxed),
        // SAFETY: as the caller says.
        _ => unsafe { AtomicU64::from_ptr(to.cast()) }.store(value.to_le(), Ordering::Relaxed),
    }
}

/// Reads 1, 2, 4 or 8 bytes that others may write: whole if they are aligned, else byte by byte.
///
/// # Safety
/// `from` points at `bytes` readable and writable bytes, which others write at the same time by atomic accesses alone.
#[inline]
pub(super) unsafe fn read_shared(from: *mut u8, bytes: usize) -> u64 {
    if from.addr() % bytes != 0 {
        // SAFETY: one of the bytes.
        let byte = |at| unsafe { AtomicU8::from_ptr(from.wrapping_add(at)) }.load(Ordering::Relaxed);
        return (0..bytes).fold(0, |word, at| word | u64::from(byte(at)) << (8 * at));
    }
    match bytes {
        // SAFETY: as the caller says.
        1 => unsafe { AtomicU8::from_ptr(from) }.load(Ordering::Relaxed).into(),
        // SAFETY: as the caller says, and aligned, as was compared.
        2 => u16::from_le(unsafe { AtomicU16::from_ptr(from.cast()) }.load(Ordering::Relaxed)).into(),
        // SAFETY: as above.
        4 => u32::from_le(unsafe { AtomicU32::from_ptr(from.cast()) }.load(Ordering::Relaxed)).into(),
        // SAFETY: as above.
        _ => u64::from_le(unsafe { AtomicU64::from_ptr(from.cast()) }.load(Ordering::Relaxed)),
    }
}

/// Reads 1, 2, 4 or 8 bytes that nothing writes meanwhile, aligned or not.
///
/// # Safety
/// `from` points at `bytes` readable bytes.
#[inline]
pub(super) unsafe fn read_plain(from: *const u8, bytes: usize) -> u64 {
    let mut word = [0; 8];
    // SAFETY: as the caller says; no more than 8, apart from an array of our own.
    unsafe { from.copy_to_nonoverlapping(word.as_mut_ptr(), bytes.min(8)) };
    u64::from_le_bytes(word)
}
