//! Blends of two rows under a mask.

use crate::semantics::LANES;
use crate::semantics::rows::{CHUNK, for_each_level};

/// Combines lanes of one row, by a mask, with lanes of another: destination, rows, mask.
pub(in crate::exec) type BlendRows = unsafe fn(*mut u32, *const u32, *const u32, u32);

for_each_level! {
    pub(super) blends[C: Copy]: BlendRows = blend::<C>(to: *mut u32, yes: *const u32, no: *const u32, mask: u32)
}

/// # Safety
/// The rows have 32 cells of type `C`.
#[inline(always)]
unsafe fn blend<C: Copy>(to: *mut u32, yes: *const u32, no: *const u32, mask: u32) {
    let (to, yes, no) = (to.cast::<[C; CHUNK]>(), yes.cast::<[C; CHUNK]>(), no.cast::<[C; CHUNK]>());
    for chunk in 0..LANES / CHUNK {
        // SAFETY: guaranteed by the caller.
        let yes = unsafe { *yes.wrapping_add(chunk) };
        // SAFETY: guaranteed by the caller.
        let no = unsafe { *no.wrapping_add(chunk) };
        // A closure would not be compiled for the vector extension.
        let mut result = no;
        for (lane, cell) in result.iter_mut().enumerate() {
            *cell = if mask & 1 << (chunk * CHUNK + lane) != 0 { yes[lane] } else { *cell };
        }
        // SAFETY: guaranteed by the caller.
        unsafe { to.wrapping_add(chunk).write(result) };
    }
}
