//! Loads and stores of whole warps.
//!
//! Lanes mostly read neighboring elements, or all the same one. Each half of a warp is examined
//! separately, because blocks with rows of 16 threads are common. One check then covers the half,
//! and the data is copied at once. Other access patterns, misses of the cached region, and invalid
//! accesses are delegated to the plain mode.

use super::growth::HALF;
use super::growth::Half;
use crate::semantics::LANES;
use crate::semantics::rows::for_each_level;

/// Maximum number of elements of an access handled here.
pub(in crate::exec) const MOST_ELEMENTS: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Source {
    Narrow,
    Wide,
    /// A row of 32-bit indices, signed or not, times the access's size, plus a base for all lanes.
    Indexed {
        base: u32,
        signed: bool,
    },
}

/// A load or store, ready to run. Registers are offsets in cells.
#[derive(Clone, Debug)]
pub(in crate::exec) struct Access {
    pub(in crate::exec) source: Source,
    pub(in crate::exec) address: u32,
    pub(in crate::exec) offset: u64,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub(in crate::exec) bytes: u32,
    pub(in crate::exec) elements: u32,
    pub(in crate::exec) registers: [u32; MOST_ELEMENTS],
    pub(in crate::exec) wide: bool,
    /// The sign bit of an element if the sign is extended; otherwise 0.
    pub(in crate::exec) sign: u32,
}

impl Access {
    /// Returns the address of a lane.
    ///
    /// # Safety
    /// `file` contains the rows of the access.
    pub(in crate::exec) unsafe fn place(&self, file: *const u32, lane: usize) -> u64 {
        let row = file.wrapping_add(self.address as usize);
        let (wide, narrow) = (row.cast::<u64>().wrapping_add(lane), row.wrapping_add(lane));
        let number = match self.source {
            // SAFETY: a lane of a double row.
            Source::Wide => unsafe { *wide },
            // SAFETY: a lane of a row.
            Source::Narrow => unsafe { *narrow }.into(),
            Source::Indexed { base, signed } => {
                // SAFETY: the base is a double row, with the same number in all lanes.
                let base = unsafe { *file.wrapping_add(base as usize).cast::<u64>() };
                // SAFETY: a lane of a row.
                let index = unsafe { *narrow };
                let index = if signed { index as i32 as u64 } else { index.into() };
                base.wrapping_add(index << (self.bytes * self.elements).trailing_zeros())
            }
        };
        number.wrapping_add(self.offset)
    }
}

/// A range of addresses, and the bytes that they refer to.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Window {
    pub(in crate::exec) base: u64,
    pub(in crate::exec) len: u64,
    pub(in crate::exec) host: *mut u8,
}

impl Window {
    /// True if all these bytes from `offset` are inside and the first is aligned to `align`.
    #[inline(always)]
    fn holds(&self, offset: i64, bytes: i64, align: i64) -> bool {
        let offset = offset as u64;
        let aligned = self.base.wrapping_add(offset) & (align as u64 - 1) == 0;
        (offset < self.len) & (bytes as u64 <= self.len.wrapping_sub(offset)) & aligned
    }

    /// True if `bytes` bytes at the offset of each lane of a mask are inside and aligned to their
    /// number. Checks all lanes at once by the signs and the bits set in any of their numbers.
    #[inline(always)]
    fn holds_all(&self, offsets: &[i64; LANES], mask: u32, bytes: u64) -> bool {
        let Some(room) = self.len.checked_sub(bytes).and_then(|room| i64::try_from(room).ok()) else {
            return false;
        };
        let base = self.base as i64;
        // An offset is negative, or the room after it, if it is outside. No number wraps around
        // unless the offset is negative.
        let (mut signs, mut bits) = (0, 0);
        if mask == u32::MAX {
            for offset in offsets {
                signs |= offset | room.wrapping_sub(*offset);
                bits |= base.wrapping_add(*offset);
            }
        } else {
            for (lane, offset) in offsets.iter().enumerate() {
                let active = 0i64.wrapping_sub(i64::from(mask >> lane & 1));
                signs |= (offset | room.wrapping_sub(*offset)) & active;
                bits |= base.wrapping_add(*offset) & active;
            }
        }
        signs >= 0 && bits as u64 & (bytes - 1) == 0
    }

    /// True if all these bytes from each offset between two are inside.
    #[inline(always)]
    fn holds_between(&self, least: u64, most: u64, bytes: u64) -> bool {
        least <= most && self.len.checked_sub(bytes).is_some_and(|room| most <= room)
    }
}

/// Finds the offsets of the lanes of a mask, and the layout of each half of the warp.
pub(in crate::exec) type LocateFn =
    unsafe fn(*const u32, &Access, &Window, u32, &mut [i64; LANES]) -> Option<[Half; 2]>;

for_each_level! {
    pub(super) locators: LocateFn = locate(file: *const u32, access: &Access, window: &Window, mask: u32, offsets: &mut [i64; LANES]) -> Option<[Half; 2]>
}

for_each_level! {
    /// Functions that find offsets in local memory, by level.
    pub(super) local_locators: LocateFn = locate_local(file: *const u32, access: &Access, window: &Window, mask: u32, offsets: &mut [i64; LANES]) -> Option<[Half; 2]>
}

/// Sets the addresses of all lanes, relative to the start of the window. Returns the address of
/// the number zero in a lane.
///
/// # Safety
/// `file` contains the rows of the access.
#[inline(always)]
unsafe fn set_offsets(file: *const u32, access: &Access, window: &Window, offsets: &mut [i64; LANES]) -> u64 {
    let row = file.wrapping_add(access.address as usize);
    let start = access.offset.wrapping_sub(window.base);
    match access.source {
        Source::Wide => {
            // SAFETY: a double row.
            let cells = unsafe { &*row.cast::<[u64; LANES]>() };
            for (offset, cell) in offsets.iter_mut().zip(cells) {
                *offset = start.wrapping_add(*cell) as i64;
            }
        }
        Source::Narrow => {
            // SAFETY: a row.
            let cells = unsafe { &*row.cast::<[u32; LANES]>() };
            for (offset, cell) in offsets.iter_mut().zip(cells) {
                *offset = start.wrapping_add((*cell).into()) as i64;
            }
        }
        Source::Indexed { base, signed } => {
            // SAFETY: the base is a double row.
            let base = unsafe { *file.wrapping_add(base as usize).cast::<u64>() };
            let start = start.wrapping_add(base);
            let shift = (access.bytes * access.elements).trailing_zeros();
            // SAFETY: a row.
            let cells = unsafe { &*row.cast::<[u32; LANES]>() };
            for (offset, cell) in offsets.iter_mut().zip(cells) {
                let index = if signed { *cell as i32 as u64 } else { (*cell).into() };
                *offset = start.wrapping_add(index << shift) as i64;
            }
            return start;
        }
    }
    start
}

/// Finds the places of the lanes of a mask, as offsets in the window. Also sets offsets of other
/// lanes. Returns `None` if an access is not allowed or is in another region.
///
/// # Safety
/// `file` contains the rows of the access.
#[inline(always)]
unsafe fn locate(
    file: *const u32,
    access: &Access,
    window: &Window,
    mask: u32,
    offsets: &mut [i64; LANES],
) -> Option<[Half; 2]> {
    // SAFETY: guaranteed by the caller.
    let start = unsafe { set_offsets(file, access, window, offsets) };
    if access.source == Source::Wide {
        return locate_wide(access, window, mask, offsets);
    }
    // SAFETY: a row, because its cells are narrow.
    let cells = unsafe { &*file.wrapping_add(access.address as usize).cast::<[u32; LANES]>() };
    locate_narrow(access, window, (mask, cells), start)
}

/// Returns the layout of the accesses at these offsets, if they are allowed.
#[inline(always)]
fn locate_wide(access: &Access, window: &Window, mask: u32, offsets: &[i64; LANES]) -> Option<[Half; 2]> {
    let bytes = i64::from(access.bytes * access.elements);
    let mut halves = [Half::Each; 2];
    let mut unknown = mask;
    if mask == u32::MAX {
        for (half, kind) in halves.iter_mut().enumerate() {
            *kind = Half::of(offsets, half, bytes);
            let count = match kind {
                Half::Same => 1,
                Half::Next => HALF as i64,
                Half::Each => continue,
            };
            if !window.holds(offsets[half * HALF], bytes * count, bytes) {
                return None;
            }
            unknown &= !(0xffff << (half * HALF));
        }
    }
    (unknown == 0 || window.holds_all(offsets, unknown, bytes as u64)).then_some(halves)
}

/// Like [`locate_wide`] for offsets from `start` that grow with a 32-bit number in each lane, of
/// which only the least and the most have to be examined.
#[inline(always)]
fn locate_narrow(
    access: &Access,
    window: &Window,
    (mask, cells): (u32, &[u32; LANES]),
    start: u64,
) -> Option<[Half; 2]> {
    let bytes = access.bytes * access.elements;
    let low = window.base.wrapping_add(start) as u32;
    let mut signed = false;
    let (mut shift, mut bits) = (bytes.trailing_zeros(), low);
    match access.source {
        Source::Indexed { signed: extended, .. } => signed = extended,
        _ => {
            (shift, bits) = (0, 0);
            for (lane, cell) in cells.iter().enumerate() {
                bits |= low.wrapping_add(*cell) & active(mask, lane);
            }
        }
    }
    // With its sign flipped, a signed number compares like an unsigned one.
    let flip = u32::from(signed) << 31;
    let place = |key: u32| {
        let cell = key ^ flip;
        let number = if signed { cell as i32 as u64 } else { cell.into() };
        start.wrapping_add(number << shift)
    };
    let mut halves = [Half::Each; 2];
    let (mut least, mut most) = (u32::MAX, 0);
    if mask == u32::MAX {
        for (half, kind) in halves.iter_mut().enumerate() {
            let ends;
            (*kind, ends) = half_of(cells, half, flip, bytes >> shift);
            (least, most) = (least.min(ends.0), most.max(ends.1));
        }
    } else {
        for (lane, cell) in cells.iter().enumerate() {
            least = least.min((cell ^ flip) | !active(mask, lane));
            most = most.max((cell ^ flip) & active(mask, lane));
        }
    }
    let inside = window.holds_between(place(least), place(most), bytes.into());
    (inside && bits & (bytes - 1) == 0).then_some(halves)
}

/// Returns a word with all bits set if the lane is in the mask, and otherwise with none.
#[inline(always)]
fn active(mask: u32, lane: usize) -> u32 {
    0u32.wrapping_sub(mask >> lane & 1)
}

/// Returns the layout of half a warp whose numbers grow by `unit` from one element to the next, and
/// the least and the most of the numbers, with `flip` applied.
#[inline(always)]
fn half_of(cells: &[u32; LANES], half: usize, flip: u32, unit: u32) -> (Half, (u32, u32)) {
    let cells = &cells[half * HALF..(half + 1) * HALF];
    let (mut least, mut most, mut deviation) = (u32::MAX, 0, 0);
    for cell in cells {
        least = least.min(cell ^ flip);
        most = most.max(cell ^ flip);
    }
    for (lane, cell) in cells.iter().enumerate() {
        deviation |= (cell ^ flip) ^ least.wrapping_add(lane as u32 * unit);
    }
    let kind = match deviation {
        _ if least == most => Half::Same,
        0 => Half::Next,
        _ => Half::Each,
    };
    (kind, (least, most))
}

/// Like [`locate`] for local memory. The window is the first lane's; the other lanes' follow it.
///
/// # Safety
/// `file` contains the rows of the access.
#[inline(always)]
unsafe fn locate_local(
    file: *const u32,
    access: &Access,
    window: &Window,
    mask: u32,
    offsets: &mut [i64; LANES],
) -> Option<[Half; 2]> {
    // SAFETY: guaranteed by the caller.
    unsafe { set_offsets(file, access, window, offsets) };
    if !window.holds_all(offsets, mask, u64::from(access.bytes * access.elements)) {
        return None;
    }
    for (lane, offset) in offsets.iter_mut().enumerate() {
        *offset = offset.wrapping_add_unsigned(lane as u64 * window.len);
    }
    Some([Half::Each; 2])
}

/// True if functions exist for elements of this size in registers of this width.
pub(in crate::exec) fn is_common(bytes: u32, wide: bool) -> bool {
    matches!(bytes, 1 | 2 | 4) || wide && bytes == 8
}
