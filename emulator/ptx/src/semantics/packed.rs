//! Types of which two values fit into a register.

use super::lane::Lane;

/// A type of which two values fit into a register; or no operand.
pub trait Packed: Copy {
    type Whole: Lane;
    /// Number of bits of one value.
    const BITS: u32;
    fn low(whole: Self::Whole) -> Self;
    fn high(whole: Self::Whole) -> Self;
    fn join(low: Self, high: Self) -> Self::Whole;
}

impl Packed for () {
    type Whole = ();
    const BITS: u32 = 0;
    #[inline(always)]
    fn low((): ()) {}
    #[inline(always)]
    fn high((): ()) {}
    #[inline(always)]
    fn join((): (), (): ()) {}
}

macro_rules! packed {
    ($($ty:ty, |$bits:ident| $from:expr, |$value:ident| $to:expr;)*) => {$(
        impl $crate::semantics::packed::Packed for $ty {
            type Whole = u32;
            const BITS: u32 = 16;
            #[inline(always)]
            fn low(whole: u32) -> Self { let $bits = whole as u16; $from }
            #[inline(always)]
            fn high(whole: u32) -> Self { let $bits = (whole >> 16) as u16; $from }
            #[inline(always)]
            fn join(low: Self, high: Self) -> u32 {
                let bits = |$value: Self| -> u16 { $to };
                u32::from(bits(high)) << 16 | u32::from(bits(low))
            }
        }
    )*};
}

pub(super) use packed;

packed! {
    u16, |bits| bits, |value| value;
    i16, |bits| bits as i16, |value| value as u16;
}

impl Packed for f32 {
    type Whole = u64;
    const BITS: u32 = 32;
    #[inline(always)]
    fn low(whole: u64) -> Self {
        f32::from_bits(whole as u32)
    }
    #[inline(always)]
    fn high(whole: u64) -> Self {
        f32::from_bits((whole >> 32) as u32)
    }
    #[inline(always)]
    fn join(low: Self, high: Self) -> u64 {
        u64::from(high.to_bits()) << 32 | u64::from(low.to_bits())
    }
}
