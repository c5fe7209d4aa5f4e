//! Blends of two rows under a mask.

use crate::semantics::LANES;
use crate::semantics::rows::{CHUNK, for_each_level};

/// Rows of a blend, as offsets in cells: the destination, the row of the lanes in the mask, and the
/// row of the others.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Blend {
    pub(in crate::exec) to: u32,
    pub(in crate::exec) yes: u32,
    pub(in crate::exec) no: u32,
}

/// Combines lanes of two rows in each register file, by a mask for each.
pub(in crate::exec) type BlendRows = unsafe fn(&[*mut u32], &Blend, &[u32]);

for_each_level! {
    pub(super) blends[C: Copy]: BlendRows = blend::<C>(files: &[*mut u32], rows: &Blend, masks: &[u32])
}

/// # Safety
/// The files contain the rows, which have 32 cells of type `C`.
#[inline(always)]
unsafe fn blend<C: Copy>(files: &[*mut u32], rows: &Blend, masks: &[u32]) {
    for (file, mask) in files.iter().zip(masks) {
        let (to, yes) = (file.wrapping_add(rows.to as usize), file.wrapping_add(rows.yes as usize));
        let no = file.wrapping_add(rows.no as usize);
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
}
