//! Loads and stores of warps at known and allowed offsets.

use super::access::Access;
use super::growth::{HALF, Half};
use crate::semantics::rows::{Extension, for_each_level};
use crate::semantics::{LANES, lanes_of};
use core::mem::MaybeUninit;

#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Warp {
    pub(in crate::exec) file: *mut u32,
    /// The base of its lanes' offsets in memory.
    pub(in crate::exec) at: *mut u8,
    /// The lanes that take part.
    pub(in crate::exec) mask: u32,
}

impl Warp {
    pub(in crate::exec) const NONE: Warp =
        Warp { file: std::ptr::null_mut(), at: std::ptr::null_mut(), mask: 0 };
}

/// Offsets of the lanes of warps, the same in all of them.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Spread<'a> {
    /// Bytes from the base of the warp.
    pub(in crate::exec) offsets: &'a [i64; LANES],
    pub(in crate::exec) halves: [Half; 2],
}

/// Runs the load or store of some warps.
pub(in crate::exec) type TransferFn = unsafe fn(&Access, &[Warp], &Spread<'_>);

for_each_level! {
    loads[T: Element<C>, C: Copy]: TransferFn = load::<T, C>(access: &Access, warps: &[Warp], spread: &Spread<'_>)
}

for_each_level! {
    stores[T: Element<C>, C: Copy]: TransferFn = store::<T, C>(access: &Access, warps: &[Warp], spread: &Spread<'_>)
}

/// An element in memory that is stored in cells of type `C`.
pub(in crate::exec) trait Element<C>: Copy {
    /// Extends the sign if `sign` is the sign bit, and not if it is zero.
    fn widen(self, sign: u32) -> C;
    fn narrow(cell: C) -> Self;
}

macro_rules! elements {
    ($($ty:ty, $cell:ty, |$value:ident, $sign:pat_param| $widened:expr;)*) => {$(
        impl Element<$cell> for $ty {
            #[inline(always)]
            fn widen(self, $sign: u32) -> $cell {
                let $value = self;
                $widened
            }
            #[inline(always)]
            fn narrow(cell: $cell) -> Self {
                cell as $ty
            }
        }
    )*};
}

elements! {
    u8, u32, |value, sign| (u32::from(value) ^ sign).wrapping_sub(sign);
    u16, u32, |value, sign| (u32::from(value) ^ sign).wrapping_sub(sign);
    u32, u32, |value, _| value;
    u8, u64, |value, sign| (u64::from(value) ^ u64::from(sign)).wrapping_sub(sign.into());
    u16, u64, |value, sign| (u64::from(value) ^ u64::from(sign)).wrapping_sub(sign.into());
    u32, u64, |value, sign| (u64::from(value) ^ u64::from(sign)).wrapping_sub(sign.into());
    u64, u64, |value, _| value;
}

/// Reads an element of every `stride` into half a row. A closure would not be compiled for the
/// vector extension.
///
/// # Safety
/// That many elements are readable, and half a row is writable.
#[inline(always)]
unsafe fn read_half<T: Element<C>, C: Copy>(from: *const T, stride: usize, sign: u32, to: *mut C) {
    let mut values = [const { MaybeUninit::<C>::uninit() }; HALF];
    for (lane, value) in values.iter_mut().enumerate() {
        // SAFETY: guaranteed by the caller.
        value.write(unsafe { from.wrapping_add(lane * stride).read_unaligned() }.widen(sign));
    }
    // SAFETY: guaranteed by the caller; all values were just written.
    unsafe { to.cast::<[MaybeUninit<C>; HALF]>().write(values) };
}

/// Writes half a row to an element of every `stride`.
///
/// # Safety
/// That many elements are writable, and half a row is readable.
#[inline(always)]
unsafe fn write_half<T: Element<C>, C: Copy>(from: *const C, to: *mut T, stride: usize) {
    // SAFETY: guaranteed by the caller.
    let values = unsafe { from.cast::<[C; HALF]>().read() };
    for (lane, value) in values.iter().enumerate() {
        // SAFETY: guaranteed by the caller.
        unsafe { to.wrapping_add(lane * stride).write_unaligned(T::narrow(*value)) };
    }
}

/// Writes half a row, each element to its own offset, in the order of the lanes.
///
/// # Safety
/// These elements are writable, and half a row is readable.
#[inline(always)]
unsafe fn write_each<T: Element<C>, C: Copy>(from: *const C, at: *mut T, offsets: &[i64]) {
    // SAFETY: guaranteed by the caller.
    let values = unsafe { from.cast::<[C; HALF]>().read() };
    for (value, offset) in values.iter().zip(offsets) {
        // SAFETY: guaranteed by the caller.
        unsafe { at.wrapping_byte_offset(*offset as isize).write_unaligned(T::narrow(*value)) };
    }
}

/// Reads an element for each lane of half a warp, at its own offset.
///
/// # Safety
/// These elements are readable, and half a row is writable.
#[inline(always)]
unsafe fn read_each<T: Element<C>, C: Copy>(at: *const T, offsets: &[i64], sign: u32, to: *mut C) {
    let mut values = [const { MaybeUninit::<C>::uninit() }; HALF];
    for (value, offset) in values.iter_mut().zip(offsets) {
        let from = at.wrapping_byte_offset(*offset as isize);
        // SAFETY: guaranteed by the caller.
        value.write(unsafe { from.read_unaligned() }.widen(sign));
    }
    // SAFETY: guaranteed by the caller; all values were just written.
    unsafe { to.cast::<[MaybeUninit<C>; HALF]>().write(values) };
}

/// Reads an element for each lane of a mask, at its own offset.
///
/// # Safety
/// These elements are readable, and a row is writable.
#[inline(always)]
unsafe fn read_lanes<T: Element<C>, C: Copy>(
    at: *const T,
    offsets: &[i64; LANES],
    sign: u32,
    to: *mut C,
    lanes: u32,
) {
    for lane in lanes_of(lanes) {
        let from = at.wrapping_byte_offset(offsets[lane] as isize);
        // SAFETY: guaranteed by the caller.
        let value = unsafe { from.read_unaligned() }.widen(sign);
        // SAFETY: guaranteed by the caller.
        unsafe { to.wrapping_add(lane).write(value) };
    }
}

/// True if the lanes of a warp access consecutive elements in order, which are copied at once.
#[inline(always)]
fn is_row(warp: &Warp, spread: &Spread<'_>, registers: &[u32]) -> bool {
    warp.mask == u32::MAX && registers.len() == 1 && spread.halves == [Half::Next; 2]
}

/// Returns the layout of the accesses of half a warp, and the lanes that take part. If some lanes
/// do not, all others belong to the first half.
#[inline(always)]
fn half_of(warp: &Warp, spread: &Spread<'_>, half: usize) -> (Half, u32) {
    match warp.mask {
        u32::MAX => (spread.halves[half], 0xffff << (half * HALF)),
        _ if half == 0 => (Half::Each, warp.mask),
        _ => (Half::Each, 0),
    }
}

/// # Safety
/// The files hold the rows of the access, of types `T` in memory and `C` in registers. The places
/// of all lanes that take part are readable.
#[inline(always)]
unsafe fn load<T: Element<C>, C: Copy>(access: &Access, warps: &[Warp], spread: &Spread<'_>) {
    let registers = &access.registers[..access.elements as usize];
    let offset = |half: usize| spread.offsets[half * HALF] as isize;
    if warps.iter().all(|warp| is_row(warp, spread, registers)) {
        for warp in warps {
            let to = warp.file.wrapping_add(registers[0] as usize).cast::<C>();
            let from = |half| warp.at.wrapping_offset(offset(half)).cast::<T>();
            // SAFETY: guaranteed by the caller; half a register of the access.
            unsafe { read_half(from(0), 1, access.sign, to) };
            // SAFETY: as above.
            unsafe { read_half(from(1), 1, access.sign, to.wrapping_add(HALF)) };
        }
        return;
    }
    for half in 0..2 {
        // A single register needs no loop.
        if let [register] = registers {
            for warp in warps {
                // SAFETY: guaranteed by the caller.
                unsafe { load_half::<T, C>(access, warp, spread, half, &[*register]) };
            }
        } else {
            for warp in warps {
                // SAFETY: guaranteed by the caller.
                unsafe { load_half::<T, C>(access, warp, spread, half, registers) };
            }
        }
    }
}

/// Loads some registers of half a warp.
///
/// # Safety
/// As for [`load`].
#[inline(always)]
unsafe fn load_half<T: Element<C>, C: Copy>(
    access: &Access,
    warp: &Warp,
    spread: &Spread<'_>,
    half: usize,
    registers: &[u32],
) {
    let (kind, lanes) = half_of(warp, spread, half);
    for (element, register) in registers.iter().enumerate() {
        let to = warp.file.wrapping_add(*register as usize).cast::<C>();
        let at = warp.at.cast::<T>().wrapping_add(element);
        let lanes_of_half = half * HALF..(half + 1) * HALF;
        if kind == Half::Each && warp.mask == u32::MAX {
            // SAFETY: guaranteed by the caller; half a register of the access.
            unsafe {
                read_each(at, &spread.offsets[lanes_of_half], access.sign, to.wrapping_add(half * HALF))
            };
            continue;
        }
        if kind == Half::Each {
            // SAFETY: guaranteed by the caller.
            unsafe { read_lanes(at, spread.offsets, access.sign, to, lanes) };
            continue;
        }
        let from = at.wrapping_byte_offset(spread.offsets[half * HALF] as isize);
        let to = to.wrapping_add(half * HALF);
        if kind == Half::Same {
            // SAFETY: guaranteed by the caller.
            let value = unsafe { from.read_unaligned() }.widen(access.sign);
            // SAFETY: half a register of the access.
            unsafe { to.cast::<[C; HALF]>().write([value; HALF]) };
        } else {
            // SAFETY: guaranteed by the caller; half a register of the access.
            unsafe { read_half(from, registers.len(), access.sign, to) };
        }
    }
}

/// # Safety
/// As for [`load`], and the bytes are writable.
#[inline(always)]
unsafe fn store<T: Element<C>, C: Copy>(access: &Access, warps: &[Warp], spread: &Spread<'_>) {
    let registers = &access.registers[..access.elements as usize];
    for warp in warps {
        let offset = |half: usize| spread.offsets[half * HALF] as isize;
        if is_row(warp, spread, registers) {
            let from = warp.file.wrapping_add(registers[0] as usize).cast::<C>();
            let to = |half| warp.at.wrapping_offset(offset(half)).cast::<T>();
            // SAFETY: guaranteed by the caller; half a register of the access.
            unsafe { write_half(from, to(0), 1) };
            // SAFETY: as above.
            unsafe { write_half(from.wrapping_add(HALF), to(1), 1) };
            continue;
        }
        for half in 0..2 {
            let (kind, lanes) = half_of(warp, spread, half);
            // If all lanes write to one address, the last lane wins, as in the plain mode.
            let lanes = if kind == Half::Same { 1 << (half * HALF + HALF - 1) } else { lanes };
            for (element, register) in registers.iter().enumerate() {
                let from = warp.file.wrapping_add(*register as usize).cast::<C>();
                let at = warp.at.cast::<T>().wrapping_add(element);
                if kind == Half::Next {
                    let to = at.wrapping_byte_offset(offset(half));
                    let from = from.wrapping_add(half * HALF);
                    if registers.len() == 1 {
                        // SAFETY: guaranteed by the caller; half a register of the access.
                        unsafe { write_half(from, to, 1) };
                    } else {
                        // SAFETY: as above.
                        unsafe { write_half(from, to, registers.len()) };
                    }
                    continue;
                }
                if kind == Half::Each && warp.mask == u32::MAX {
                    let range = half * HALF..(half + 1) * HALF;
                    // SAFETY: guaranteed by the caller; half a register of the access.
                    unsafe { write_each(from.wrapping_add(half * HALF), at, &spread.offsets[range]) };
                    continue;
                }
                for lane in lanes_of(lanes) {
                    // SAFETY: a lane of a register of the access.
                    let value = T::narrow(unsafe { from.wrapping_add(lane).read() });
                    let to = at.wrapping_byte_offset(spread.offsets[lane] as isize);
                    // SAFETY: guaranteed by the caller.
                    unsafe { to.write_unaligned(value) };
                }
            }
        }
    }
}

/// Returns the function for this kind of access; `None` if only the plain mode supports it.
pub(in crate::exec) fn function(level: Extension, access: &Access, is_load: bool) -> Option<TransferFn> {
    let table = match (access.bytes, access.wide, is_load) {
        (1, false, true) => loads::<u8, u32>(),
        (2, false, true) => loads::<u16, u32>(),
        (4, false, true) => loads::<u32, u32>(),
        (1, true, true) => loads::<u8, u64>(),
        (2, true, true) => loads::<u16, u64>(),
        (4, true, true) => loads::<u32, u64>(),
        (8, true, true) => loads::<u64, u64>(),
        (1, false, false) => stores::<u8, u32>(),
        (2, false, false) => stores::<u16, u32>(),
        (4, false, false) => stores::<u32, u32>(),
        (1, true, false) => stores::<u8, u64>(),
        (2, true, false) => stores::<u16, u64>(),
        (4, true, false) => stores::<u32, u64>(),
        (8, true, false) => stores::<u64, u64>(),
        _ => return None,
    };
    Some(table[level as usize])
}
