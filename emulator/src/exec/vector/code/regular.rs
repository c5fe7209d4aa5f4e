//! Loads and stores of gangs at addresses that are regular ([`super::affine`]): one check covers a warp, and the
//! pattern of its lanes is known in advance.

use super::access::{Access, Element, Window, pick, read_half, write_half};
use super::growth::{Half, Pattern};
use super::{HALF, MOST_WARPS};
use crate::semantics::rows::{Extension, for_each_level};
use crate::semantics::{LANES, lanes_of};

/// Accesses of a gang at regular addresses.
#[derive(Debug)]
pub(in crate::exec) struct Regular<'a> {
    /// The address of the first lane of each warp.
    pub(in crate::exec) firsts: [u64; MOST_WARPS],
    pub(in crate::exec) masks: [u32; MOST_WARPS],
    pub(in crate::exec) window: Window,
    pub(in crate::exec) pattern: Pattern,
    /// Distance of the other lanes from the first, in bytes.
    pub(in crate::exec) growth: &'a [i64; LANES],
    pub(in crate::exec) least: i64,
    pub(in crate::exec) most: i64,
    /// True if loads may write to lanes that are not active.
    pub(in crate::exec) free: bool,
}

impl Regular<'_> {
    /// Place of the first lane of each warp, and the warps with lanes that are not allowed to access their places,
    /// one bit each. For these, and for those with nothing to do, the place is null.
    #[inline(always)]
    fn places(&self, bytes: u64) -> ([*mut u8; MOST_WARPS], u32) {
        let Window { base, len, host } = self.window;
        let span = (self.most - self.least) as u64 + bytes;
        let fits = span <= len && self.pattern != Pattern::Misaligned;
        let room = if fits { len - span } else { 0 };
        let mut places = [std::ptr::null_mut(); MOST_WARPS];
        let mut refused = 0;
        for (warp, place) in places.iter_mut().enumerate() {
            let first = self.firsts[warp];
            let offset = first.wrapping_add_signed(self.least).wrapping_sub(base);
            let allowed = fits & (offset <= room) & (first & (bytes - 1) == 0);
            let active = self.masks[warp] != 0;
            if allowed & active {
                *place = host.wrapping_add(first.wrapping_sub(base) as usize);
            }
            refused |= u32::from(active & !allowed) << warp;
        }
        (places, refused)
    }
}

/// Runs loads or stores of some warps, given their register files. Returns the warps that the plain mode has to run,
/// one bit each, with nothing changed.
pub(in crate::exec) type RegularFn = unsafe fn(&[*mut u32], &Access, &Regular<'_>) -> u32;

for_each_level! {
    /// Loads from regular addresses, by level.
    regular_loads[T: Element<C>, C: Copy]: RegularFn = regular_load::<T, C>(files: &[*mut u32], access: &Access, regular: &Regular<'_>) -> u32
}

for_each_level! {
    /// Stores to regular addresses, by level.
    regular_stores[T: Element<C>, C: Copy]: RegularFn = regular_store::<T, C>(files: &[*mut u32], access: &Access, regular: &Regular<'_>) -> u32
}

/// Register files and places in memory of the warps whose lanes all take part, the others done lane by lane.
struct Whole {
    warps: [(*mut u32, *mut u8); MOST_WARPS],
    count: usize,
}

impl Whole {
    fn warps(&self) -> &[(*mut u32, *mut u8)] {
        &self.warps[..self.count]
    }
}

/// # Safety
/// The files hold the rows of the access, whose types are `T` in memory and `C` in registers; the window's bytes are
/// readable.
#[inline(always)]
unsafe fn regular_load<T: Element<C>, C: Copy>(
    files: &[*mut u32],
    access: &Access,
    regular: &Regular<'_>,
) -> u32 {
    let (places, refused) = regular.places((access.bytes * access.elements).into());
    let elements = access.elements as usize;
    let registers = &access.registers[..elements];
    let mut whole = Whole { warps: [(std::ptr::null_mut(), std::ptr::null_mut()); MOST_WARPS], count: 0 };
    for ((file, place), mask) in files.iter().zip(places).zip(regular.masks) {
        if place.is_null() {
            continue;
        }
        if (mask == u32::MAX || regular.free) && regular.pattern != Pattern::Scattered {
            whole.warps[whole.count] = (*file, place);
            whole.count += 1;
            continue;
        }
        let mask = if regular.free { u32::MAX } else { mask };
        for (element, register) in registers.iter().enumerate() {
            let to = file.wrapping_add(*register as usize).cast();
            let from = place.cast::<T>().wrapping_add(element);
            // SAFETY: the lanes lie in the window.
            unsafe { read_lanes(from, regular.growth, to, mask) };
        }
    }
    if let (Pattern::Next, [register]) = (regular.pattern, registers) {
        // In the order of the addresses, in which memory is read fastest.
        for (file, place) in whole.warps() {
            let (from, to) = (place.cast::<T>(), file.wrapping_add(*register as usize).cast::<C>());
            // SAFETY: the lanes lie in the window; half a register of the access.
            unsafe { read_half(from, 1, to) };
            // SAFETY: as above.
            unsafe { read_half(from.wrapping_add(HALF), 1, to.wrapping_add(HALF)) };
        }
        return refused;
    }
    // SAFETY: as the caller says; the warps that are whole lie in the window.
    unsafe { load_halves::<T, C>(&whole, registers, regular) };
    refused
}

/// Loads of warps whose lanes all take part, half by half.
///
/// # Safety
/// The duties of [`regular_load`]; all lanes lie in the window.
#[inline(always)]
unsafe fn load_halves<T: Element<C>, C: Copy>(whole: &Whole, registers: &[u32], regular: &Regular<'_>) {
    for (element, register) in registers.iter().enumerate() {
        for (half, kind) in regular.pattern.halves().into_iter().enumerate() {
            let to =
                |file: *mut u32| file.wrapping_add(*register as usize).cast::<C>().wrapping_add(half * HALF);
            let growth = regular.growth[half * HALF] as isize;
            let from = |place: *mut u8| place.wrapping_offset(growth).cast::<T>().wrapping_add(element);
            if kind == Half::Same {
                for (file, place) in whole.warps() {
                    // SAFETY: the lanes lie in the window.
                    let value = unsafe { from(*place).read_unaligned() }.widen();
                    // SAFETY: half a register of the access.
                    unsafe { to(*file).cast::<[C; HALF]>().write([value; HALF]) };
                }
            } else if registers.len() == 1 {
                for (file, place) in whole.warps() {
                    // SAFETY: as above.
                    unsafe { read_half(from(*place), 1, to(*file)) };
                }
            } else {
                for (file, place) in whole.warps() {
                    // SAFETY: as above.
                    unsafe { read_half(from(*place), registers.len(), to(*file)) };
                }
            }
        }
    }
}

/// # Safety
/// The duties of [`regular_load`], and the window's bytes are writable.
#[inline(always)]
unsafe fn regular_store<T: Element<C>, C: Copy>(
    files: &[*mut u32],
    access: &Access,
    regular: &Regular<'_>,
) -> u32 {
    let (places, refused) = regular.places((access.bytes * access.elements).into());
    let elements = access.elements as usize;
    let next = regular.pattern.halves() == [Half::Next; 2] && regular.pattern != Pattern::Scattered;
    for ((file, place), mask) in files.iter().zip(places).zip(regular.masks) {
        if place.is_null() {
            continue;
        }
        for (element, register) in access.registers.iter().enumerate().take(elements) {
            let from = file.wrapping_add(*register as usize).cast::<C>();
            let to = place.cast::<T>().wrapping_add(element);
            if mask != u32::MAX || !next {
                // To one place as well: the last lane wins, as in the plain mode.
                // SAFETY: the lanes lie in the window.
                unsafe { write_lanes(from, to, regular.growth, mask) };
                continue;
            }
            for half in 0..2 {
                let to = to.wrapping_byte_offset(regular.growth[half * HALF] as isize);
                let from = from.wrapping_add(half * HALF);
                if elements == 1 {
                    // SAFETY: as above; half a register of the access.
                    unsafe { write_half(from, to, 1) };
                } else {
                    // SAFETY: as above.
                    unsafe { write_half(from, to, elements) };
                }
            }
        }
    }
    refused
}

/// Reads an element for each lane of a mask, `growth` bytes further.
///
/// # Safety
/// These elements can be read, and a row written.
#[inline(always)]
unsafe fn read_lanes<T: Element<C>, C: Copy>(from: *const T, growth: &[i64; LANES], to: *mut C, mask: u32) {
    for lane in lanes_of(mask) {
        let from = from.wrapping_byte_offset(growth[lane] as isize);
        // SAFETY: as the caller says.
        let value = unsafe { from.read_unaligned() }.widen();
        // SAFETY: as the caller says.
        unsafe { to.wrapping_add(lane).write(value) };
    }
}

/// Writes an element for each lane of a mask, `growth` bytes further.
///
/// # Safety
/// These elements can be written, and a row read.
#[inline(always)]
unsafe fn write_lanes<T: Element<C>, C: Copy>(from: *const C, to: *mut T, growth: &[i64; LANES], mask: u32) {
    for lane in lanes_of(mask) {
        // SAFETY: as the caller says.
        let value = T::narrow(unsafe { from.wrapping_add(lane).read() });
        // SAFETY: as the caller says.
        unsafe { to.wrapping_byte_offset(growth[lane] as isize).write_unaligned(value) };
    }
}

/// The function for a load, or a store, of this kind; `None` if only the plain mode has one.
pub(in crate::exec) fn function(level: Extension, access: &Access, is_load: bool) -> Option<RegularFn> {
    pick!(level, access, is_load, regular_loads, regular_stores)
}
