//! Loads and stores of a few lanes of a warp, one after the other.

use super::access::{Access, Window};
use super::transfer::Element;
use crate::semantics::lanes_of;

/// Maximum number of lanes. By callgrind, two lanes take 160 instructions, and with functions for
/// all lanes 340; each other lane takes about 30 more here.
pub(in crate::exec) const MOST: usize = 8;

/// Loads or stores in memory that lanes of a mask, at most [`MOST`], may access so. Returns false,
/// and changes nothing, if one leaves it or is misaligned.
///
/// # Safety
/// `file` contains the rows of the access. The window is live, and writable if it `writes`.
pub(in crate::exec) unsafe fn run(
    access: &Access,
    window: &Window,
    (file, mask): (*mut u32, u32),
    writes: bool,
) -> bool {
    let bytes = u64::from(access.bytes * access.elements);
    let Some(room) = window.len.checked_sub(bytes) else { return false };
    let mut places = [std::ptr::null_mut(); MOST];
    for (place, lane) in places.iter_mut().zip(lanes_of(mask)) {
        // SAFETY: guaranteed by the caller.
        let address = unsafe { access.place(file, lane) };
        let offset = address.wrapping_sub(window.base);
        if offset > room || address & (bytes - 1) != 0 {
            return false;
        }
        *place = window.host.wrapping_add(offset as usize);
    }
    let transfer = match (access.bytes, access.wide) {
        (1, false) => transfer::<u8, u32>,
        (2, false) => transfer::<u16, u32>,
        (4, false) => transfer::<u32, u32>,
        (1, true) => transfer::<u8, u64>,
        (2, true) => transfer::<u16, u64>,
        (4, true) => transfer::<u32, u64>,
        (8, true) => transfer::<u64, u64>,
        _ => return false,
    };
    for (place, lane) in places.iter().zip(lanes_of(mask)) {
        // SAFETY: the bytes of the lane are in the window; the caller guarantees the rest.
        unsafe { transfer(access, *place, (file, lane), writes) };
    }
    true
}

/// Loads or stores the elements of a lane.
///
/// # Safety
/// `file` contains the rows of the access, of types `T` in memory and `C` in registers. The bytes
/// are readable, and writable if it `writes`.
#[inline]
unsafe fn transfer<T: Element<C>, C: Copy>(
    access: &Access,
    at: *mut u8,
    (file, lane): (*mut u32, usize),
    writes: bool,
) {
    let registers = &access.registers[..access.elements as usize];
    for (element, register) in registers.iter().enumerate() {
        let cell = file.wrapping_add(*register as usize).cast::<C>().wrapping_add(lane);
        let at = at.cast::<T>().wrapping_add(element);
        if writes {
            // SAFETY: a lane of a register of the access.
            let value = T::narrow(unsafe { cell.read() });
            // SAFETY: guaranteed by the caller.
            unsafe { at.write_unaligned(value) };
        } else {
            // SAFETY: guaranteed by the caller.
            let value = unsafe { at.read_unaligned() }.widen(access.sign);
            // SAFETY: a lane of a register of the access.
            unsafe { cell.write(value) };
        }
    }
}
