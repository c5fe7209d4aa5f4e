//! Loads and stores of whole warps.
//!
//! Lanes mostly read neighboring elements, or all the same one. Each half of a warp is examined by itself, since
//! blocks with rows of 16 threads are common. One check then covers the half, and the data is copied at once. Accesses
//! that fit none of this, miss the region found last, or are not allowed, are left to the plain mode.

use crate::semantics::LANES;
use crate::semantics::rows::{Extension, for_each_level};
use core::mem::MaybeUninit;

pub(in crate::exec) const HALF: usize = LANES / 2;
/// Most elements of an access that are handled here.
pub(in crate::exec) const MOST_ELEMENTS: usize = 4;

/// Form of a lane's address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) enum Source {
    /// A row of 32-bit addresses.
    Narrow,
    /// A row of 64-bit addresses.
    Wide,
    /// A row of 32-bit indices, signed or not, times the bytes of the access, plus a base that is the same in all
    /// lanes.
    Indexed { base: u32, signed: bool },
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
    /// The registers have 64 bits.
    pub(in crate::exec) wide: bool,
    pub(in crate::exec) signed: bool,
}

/// Memory that an access may go to: a range of addresses and the bytes behind it.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Window {
    pub(in crate::exec) base: u64,
    pub(in crate::exec) len: u64,
    pub(in crate::exec) host: *mut u8,
}

impl Window {
    /// Place of these bytes on the host, if all of them lie inside and the first is aligned to `align`.
    #[inline(always)]
    pub(in crate::exec) fn place(&self, address: u64, bytes: u64, align: u64) -> Option<*mut u8> {
        let offset = address.wrapping_sub(self.base);
        let inside = offset < self.len && bytes <= self.len - offset && address & (align - 1) == 0;
        if inside { Some(self.host.wrapping_add(offset as usize)) } else { None }
    }
}

/// Places of the lanes of half a warp.
#[derive(Clone, Copy)]
enum Spread {
    /// All to the element here.
    Uniform(*mut u8),
    /// To consecutive elements from here on.
    Consecutive(*mut u8),
    /// Each elsewhere, all of them allowed.
    Scattered,
}

/// Runs a load or store for the lanes of a mask; `false`, with nothing changed, if the plain mode has to.
pub(in crate::exec) type AccessFn = unsafe fn(*mut u32, &Access, &Window, u32) -> bool;

for_each_level! {
    /// Loads, by level.
    loads[T: Element<C>, C: Copy]: AccessFn = load::<T, C>(file: *mut u32, access: &Access, window: &Window, mask: u32) -> bool
}

for_each_level! {
    /// Stores, by level.
    stores[T: Element<C>, C: Copy]: AccessFn = store::<T, C>(file: *mut u32, access: &Access, window: &Window, mask: u32) -> bool
}

/// # Safety
/// `row` is the access's address row.
#[inline(always)]
unsafe fn address_of(file: *const u32, access: &Access, lane: usize) -> u64 {
    let row = file.wrapping_add(access.address as usize);
    let base = match access.source {
        // SAFETY: the row has 32 cells of this width.
        Source::Narrow => unsafe { *row.wrapping_add(lane) }.into(),
        // SAFETY: as above.
        Source::Wide => unsafe { *row.cast::<u64>().wrapping_add(lane) },
        Source::Indexed { base, signed } => {
            // SAFETY: the base is a double row.
            let base = unsafe { *file.wrapping_add(base as usize).cast::<u64>() };
            // SAFETY: as above.
            let index = unsafe { *row.wrapping_add(lane) };
            let index = if signed { index as i32 as u64 } else { index.into() };
            base.wrapping_add(index.wrapping_mul((access.bytes * access.elements).into()))
        }
    };
    base.wrapping_add(access.offset)
}

/// Tests whether 16 cells are all the same, and whether each is the one before plus `step`.
macro_rules! progression {
    ($name:ident, $cell:ty) => {
        #[inline(always)]
        fn $name(cells: &[$cell; HALF], step: $cell) -> (bool, bool) {
            let (mut change, mut deviation) = (0, 0);
            for (lane, cell) in cells.iter().enumerate() {
                let distance = cell.wrapping_sub(cells[0]);
                change |= distance;
                deviation |= distance ^ step.wrapping_mul(lane as $cell);
            }
            (change == 0, deviation == 0)
        }
    };
}
progression!(progression_narrow, u32);
progression!(progression_wide, u64);

/// The shape of half a warp; `None` if some lane is not allowed, or the region is another one.
///
/// # Safety
/// `file` holds the rows of the access.
#[inline(always)]
unsafe fn shape(file: *const u32, access: &Access, window: &Window, half: usize) -> Option<Spread> {
    let bytes = u64::from(access.bytes * access.elements);
    let row = file.wrapping_add(access.address as usize);
    let (uniform, consecutive) = match access.source {
        Source::Wide => {
            // SAFETY: half a double row.
            let cells = unsafe { &*row.cast::<u64>().wrapping_add(half * HALF).cast::<[u64; HALF]>() };
            progression_wide(cells, bytes)
        }
        Source::Narrow | Source::Indexed { .. } => {
            // SAFETY: half a row.
            let cells = unsafe { &*row.wrapping_add(half * HALF).cast::<[u32; HALF]>() };
            let indexed = access.source != Source::Narrow;
            let (uniform, consecutive) = progression_narrow(cells, if indexed { 1 } else { bytes as u32 });
            // Indices and addresses that wrap around are no progression of addresses.
            let wraps = match access.source {
                Source::Indexed { signed: true, .. } => (cells[HALF - 1] as i32) < cells[0] as i32,
                _ => cells[HALF - 1] < cells[0],
            };
            (uniform, consecutive && !wraps)
        }
    };
    // SAFETY: as the caller says.
    let first = unsafe { address_of(file, access, half * HALF) };
    if uniform {
        return window.place(first, bytes, bytes).map(Spread::Uniform);
    }
    if consecutive {
        return window.place(first, bytes * HALF as u64, bytes).map(Spread::Consecutive);
    }
    let mut allowed = true;
    for lane in half * HALF..(half + 1) * HALF {
        // SAFETY: as the caller says.
        let address = unsafe { address_of(file, access, lane) };
        let offset = address.wrapping_sub(window.base);
        allowed &=
            (offset < window.len) & (window.len.wrapping_sub(offset) >= bytes) & (address & (bytes - 1) == 0);
    }
    allowed.then_some(Spread::Scattered)
}

/// True if all lanes of a mask are allowed.
///
/// # Safety
/// `file` holds the rows of the access.
#[inline(always)]
unsafe fn all_allowed(file: *const u32, access: &Access, window: &Window, mask: u32) -> bool {
    let bytes = u64::from(access.bytes * access.elements);
    let mut left = mask;
    while left != 0 {
        // SAFETY: as the caller says.
        let address = unsafe { address_of(file, access, left.trailing_zeros() as usize) };
        if window.place(address, bytes, bytes).is_none() {
            return false;
        }
        left &= left - 1;
    }
    true
}

/// An element in memory that goes into cells of type `C`.
pub(in crate::exec) trait Element<C>: Copy {
    fn widen(self) -> C;
    fn narrow(cell: C) -> Self;
}

macro_rules! elements {
    ($($ty:ty: $($cell:ty),*;)*) => {$($(
        impl Element<$cell> for $ty {
            #[inline(always)]
            fn widen(self) -> $cell {
                self as $cell
            }
            #[inline(always)]
            fn narrow(cell: $cell) -> Self {
                cell as $ty
            }
        }
    )*)*};
}

elements! {
    u8: u32;
    i8: u32;
    u16: u32;
    i16: u32;
    u32: u32;
    u64: u64;
}

/// Reads an element of every `stride` into half a row. Closures would not be compiled for the vector extension.
///
/// # Safety
/// That many elements can be read, and half a row written.
#[inline(always)]
pub(in crate::exec) unsafe fn read_half<T: Element<C>, C: Copy>(from: *const T, stride: usize, to: *mut C) {
    let mut values = [const { MaybeUninit::<C>::uninit() }; HALF];
    for (lane, value) in values.iter_mut().enumerate() {
        // SAFETY: as the caller says.
        value.write(unsafe { from.wrapping_add(lane * stride).read_unaligned() }.widen());
    }
    // SAFETY: as the caller says; all were just written.
    unsafe { to.cast::<[MaybeUninit<C>; HALF]>().write(values) };
}

/// Writes half a row to an element of every `stride`.
///
/// # Safety
/// That many elements can be written, and half a row read.
#[inline(always)]
pub(in crate::exec) unsafe fn write_half<T: Element<C>, C: Copy>(from: *const C, to: *mut T, stride: usize) {
    // SAFETY: as the caller says.
    let values = unsafe { from.cast::<[C; HALF]>().read() };
    for (lane, value) in values.iter().enumerate() {
        // SAFETY: as the caller says.
        unsafe { to.wrapping_add(lane * stride).write_unaligned(T::narrow(*value)) };
    }
}

/// # Safety
/// `file` holds the rows of the access, whose types are `T` in memory and `C` in registers; the window's bytes are
/// readable.
#[inline(always)]
unsafe fn load<T: Element<C>, C: Copy>(file: *mut u32, access: &Access, window: &Window, mask: u32) -> bool {
    let elements = access.elements as usize;
    let register = |element: usize| file.wrapping_add(access.registers[element] as usize).cast::<C>();
    if mask != u32::MAX {
        // SAFETY: as the caller says.
        if !unsafe { all_allowed(file, access, window, mask) } {
            return false;
        }
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            // SAFETY: as the caller says; the lane was found to be allowed.
            unsafe { load_lane::<T, C>(file, access, window, lane) };
            left &= left - 1;
        }
        return true;
    }
    // SAFETY: as the caller says.
    let Some(low) = (unsafe { shape(file, access, window, 0) }) else { return false };
    // SAFETY: as the caller says.
    let Some(high) = (unsafe { shape(file, access, window, 1) }) else { return false };
    for (half, shape) in [low, high].into_iter().enumerate() {
        let lanes = half * HALF..(half + 1) * HALF;
        match shape {
            Spread::Uniform(at) => {
                for element in 0..elements {
                    // SAFETY: `place` found the bytes of all elements in the window.
                    let value = unsafe { at.cast::<T>().wrapping_add(element).read_unaligned() }.widen();
                    for lane in lanes.clone() {
                        // SAFETY: a lane of a register of the access.
                        unsafe { register(element).wrapping_add(lane).write(value) };
                    }
                }
            }
            Spread::Consecutive(at) => {
                for element in 0..elements {
                    let to = register(element).wrapping_add(half * HALF);
                    let from = at.cast::<T>().wrapping_add(element);
                    if elements == 1 {
                        // Known to be one, the stride makes the loop a copy.
                        // SAFETY: `place` found the bytes of all lanes in the window; half a register of the access.
                        unsafe { read_half(from, 1, to) };
                    } else {
                        // SAFETY: as above.
                        unsafe { read_half(from, elements, to) };
                    }
                }
            }
            Spread::Scattered => {
                for lane in lanes {
                    // SAFETY: as the caller says; the lane was found to be allowed.
                    unsafe { load_lane::<T, C>(file, access, window, lane) };
                }
            }
        }
    }
    true
}

/// # Safety
/// The duties of [`load`]; the lane is allowed.
#[inline(always)]
unsafe fn load_lane<T: Element<C>, C: Copy>(file: *mut u32, access: &Access, window: &Window, lane: usize) {
    // SAFETY: as the caller says.
    let address = unsafe { address_of(file, access, lane) };
    let at = window.host.wrapping_add(address.wrapping_sub(window.base) as usize).cast::<T>();
    for element in 0..access.elements as usize {
        // SAFETY: the lane is allowed, with all its elements.
        let value = unsafe { at.wrapping_add(element).read_unaligned() }.widen();
        let register = file.wrapping_add(access.registers[element] as usize).cast::<C>();
        // SAFETY: a lane of a register of the access.
        unsafe { register.wrapping_add(lane).write(value) };
    }
}

/// # Safety
/// `file` holds the rows of the access, whose types are `T` in memory and `C` in registers; the window's bytes are
/// writable.
#[inline(always)]
unsafe fn store<T: Element<C>, C: Copy>(file: *mut u32, access: &Access, window: &Window, mask: u32) -> bool {
    let elements = access.elements as usize;
    if mask != u32::MAX {
        // SAFETY: as the caller says.
        if !unsafe { all_allowed(file, access, window, mask) } {
            return false;
        }
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            // SAFETY: as the caller says; the lane was found to be allowed.
            unsafe { store_lane::<T, C>(file, access, window, lane) };
            left &= left - 1;
        }
        return true;
    }
    // SAFETY: as the caller says.
    let Some(low) = (unsafe { shape(file, access, window, 0) }) else { return false };
    // SAFETY: as the caller says.
    let Some(high) = (unsafe { shape(file, access, window, 1) }) else { return false };
    for (half, shape) in [low, high].into_iter().enumerate() {
        let Spread::Consecutive(at) = shape else {
            // To one place as well: the last lane wins, as in the plain mode.
            for lane in half * HALF..(half + 1) * HALF {
                // SAFETY: as the caller says; the lane was found to be allowed.
                unsafe { store_lane::<T, C>(file, access, window, lane) };
            }
            continue;
        };
        for element in 0..elements {
            let from =
                file.wrapping_add(access.registers[element] as usize).cast::<C>().wrapping_add(half * HALF);
            let to = at.cast::<T>().wrapping_add(element);
            if elements == 1 {
                // SAFETY: as in `load`.
                unsafe { write_half(from, to, 1) };
            } else {
                // SAFETY: as in `load`.
                unsafe { write_half(from, to, elements) };
            }
        }
    }
    true
}

/// # Safety
/// The duties of [`store`]; the lane is allowed.
#[inline(always)]
unsafe fn store_lane<T: Element<C>, C: Copy>(file: *mut u32, access: &Access, window: &Window, lane: usize) {
    // SAFETY: as the caller says.
    let address = unsafe { address_of(file, access, lane) };
    let at = window.host.wrapping_add(address.wrapping_sub(window.base) as usize).cast::<T>();
    for element in 0..access.elements as usize {
        let register = file.wrapping_add(access.registers[element] as usize).cast::<C>();
        // SAFETY: a lane of a register of the access.
        let value = T::narrow(unsafe { register.wrapping_add(lane).read() });
        // SAFETY: the lane is allowed, with all its elements.
        unsafe { at.wrapping_add(element).write_unaligned(value) };
    }
}

/// Picks the function for the types of an access from a table of loads or one of stores; `None` if only the plain
/// mode handles these.
macro_rules! pick {
    ($level:expr, $access:expr, $is_load:expr, $loads:ident, $stores:ident) => {
        pick!(@types $level, $access, $is_load, $loads, $stores, {
            u8, u32;
            i8, u32;
            u16, u32;
            i16, u32;
            u32, u32;
            u64, u64;
        })
    };
    (@types $level:expr, $access:expr, $is_load:expr, $loads:ident, $stores:ident, { $($ty:ty, $cell:ty;)* }) => {{
        let cell = if $access.wide { 8 } else { 4 };
        let extends_sign = $access.signed && $is_load && $access.bytes < cell;
        match ($access.bytes, extends_sign, $access.wide) {
            $((bytes, signed, wide)
                if bytes as usize == size_of::<$ty>()
                    && signed == (<$ty>::MIN != 0)
                    && wide == (size_of::<$cell>() == 8) =>
            {
                let table = if $is_load { $loads::<$ty, $cell>() } else { $stores::<$ty, $cell>() };
                Some(table[$level as usize])
            })*
            _ => None,
        }
    }};
}
pub(in crate::exec) use pick;

/// True if there are functions for elements of this size in registers of this width.
pub(in crate::exec) fn is_common(bytes: u32, wide: bool) -> bool {
    if wide { bytes == 8 } else { matches!(bytes, 1 | 2 | 4) }
}

/// The function for a load, or a store, of this kind; `None` if only the plain mode has one.
pub(in crate::exec) fn function(level: Extension, access: &Access, is_load: bool) -> Option<AccessFn> {
    pick!(level, access, is_load, loads, stores)
}
