//! Types of values in lanes.

use super::format::FloatFormat;
use super::register::Width;

/// A type of the values in lanes.
pub trait Lane: Copy {
    const WIDTH: Width;
    /// Its format, for floating-point numbers.
    const FORMAT: Option<FloatFormat> = None;
    /// True for signed integers.
    const SIGNED: bool = false;

    /// # Safety
    /// `row` points to as many rows as `WIDTH` states, and `lane` is below 32.
    unsafe fn read(row: *const u32, lane: usize) -> Self;

    /// # Safety
    /// As for [`Lane::read`].
    unsafe fn write(self, row: *mut u32, lane: usize);

    /// Returns the value in the low bits of a lane.
    fn from_lane(bits: u64) -> Self;

    /// Returns the bits for a lane.
    fn to_lane(self) -> u64;
}

impl Lane for () {
    const WIDTH: Width = Width::None;
    #[inline(always)]
    fn from_lane(_: u64) {}
    #[inline(always)]
    fn to_lane(self) -> u64 {
        0
    }
    #[inline(always)]
    unsafe fn read(_: *const u32, _: usize) {}
    #[inline(always)]
    unsafe fn write(self, _: *mut u32, _: usize) {}
}

macro_rules! lanes {
    ($($ty:ty $(: $format:ident)?, $cell:ty, $width:ident, |$raw:ident| $from:expr, |$value:ident| $to:expr $(, $signed:expr)?;)*) => {$(
        impl Lane for $ty {
            const WIDTH: Width = Width::$width;
            $( const FORMAT: Option<FloatFormat> = Some(FloatFormat::$format); )?
            $( const SIGNED: bool = $signed; )?
            #[inline(always)]
            unsafe fn read(row: *const u32, lane: usize) -> Self {
                // SAFETY: within the rows that the caller guarantees, aligned for any cell.
                let $raw = unsafe { *row.cast::<$cell>().add(lane) };
                $from
            }
            #[inline(always)]
            unsafe fn write(self, row: *mut u32, lane: usize) {
                let $value = self;
                // SAFETY: as in `read`.
                unsafe { *row.cast::<$cell>().add(lane) = $to };
            }
            #[inline(always)]
            fn from_lane(bits: u64) -> Self {
                let $raw = bits as $cell;
                $from
            }
            #[inline(always)]
            fn to_lane(self) -> u64 {
                let $value = self;
                u64::from($to)
            }
        }
    )*};
}

lanes! {
    u8, u32, Single, |raw| raw as u8, |v| u32::from(v);
    i8, u32, Single, |raw| raw as i8, |v| v as u32, true;
    u16, u32, Single, |raw| raw as u16, |v| u32::from(v);
    i16, u32, Single, |raw| raw as i16, |v| v as u32, true;
    u32, u32, Single, |raw| raw, |v| v;
    i32, u32, Single, |raw| raw as i32, |v| v as u32, true;
    f32: F32, u32, Single, |raw| f32::from_bits(raw), |v| v.to_bits();
    u64, u64, Double, |raw| raw, |v| v;
    i64, u64, Double, |raw| raw as i64, |v| v as u64, true;
    f64: F64, u64, Double, |raw| f64::from_bits(raw), |v| v.to_bits();
}
