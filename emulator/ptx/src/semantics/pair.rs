//! Operations on two values in one register.

use super::each::Each;
use super::format::FloatFormat;
use super::half::{Bf16, F16};
use super::{Lane, Pure};
use core::marker::PhantomData;

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
        impl Packed for $ty {
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

packed! {
    F16, |bits| F16(bits), |value| value.0;
    Bf16, |bits| Bf16(bits), |value| value.0;
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

/// An operation on both halves of a register.
pub(crate) struct Both<O>(PhantomData<O>);

impl<O: Pure<D = ()>> Pure for Both<O>
where
    O::Out: Packed,
    O::A: Packed,
    O::B: Packed,
    O::C: Packed,
{
    type Out = <O::Out as Packed>::Whole;
    type A = <O::A as Packed>::Whole;
    type B = <O::B as Packed>::Whole;
    type C = <O::C as Packed>::Whole;
    type D = ();
    const IN_ROWS: bool = O::IN_ROWS && !Self::RARE;
    /// Common kernels only have pairs of half precision.
    const RARE: bool = O::RARE || !matches!(O::Out::FORMAT, Some(FloatFormat::F16 | FloatFormat::Bf16));
    const EACH: Each = Each::halves::<O>(<O::Out as Packed>::BITS);
    const FORMATS: [Option<FloatFormat>; 5] = O::FORMATS;
    #[inline(always)]
    fn eval(a: Self::A, b: Self::B, c: Self::C, (): ()) -> Self::Out {
        let low = O::eval(O::A::low(a), O::B::low(b), O::C::low(c), ());
        let high = O::eval(O::A::high(a), O::B::high(b), O::C::high(c), ());
        O::Out::join(low, high)
    }
}
