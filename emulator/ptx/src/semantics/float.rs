//! IEEE floating-point arithmetic, with the instruction's rounding and NVIDIA's NaN.

use super::lower::{Float, FloatRelation, Limits, Lower, LowerTest};
use super::operation::{Comparison, Test, operations};
pub(crate) use super::rounding::{DOWN, UP};
pub use super::rounding::{NEAREST, ZERO};
use super::soft;
use super::subnormal::{APART, flush, flush_nearest};
pub(crate) use tests_on_floats::*;

/// Finishes a result of arithmetic: canonical NaN, flushing and saturation.
#[inline(always)]
pub(crate) fn finish<const FTZ: bool, const SAT: bool>(x: f32) -> f32 {
    let x = flush::<FTZ>(x);
    if SAT {
        // NaN and -0 saturate to zero.
        let x = if x > 0.0 { x } else { 0.0 };
        return if x < 1.0 { x } else { 1.0 };
    }
    canonical(x)
}

/// Replaces any NaN by the canonical NaN of single precision. Operates on bits, because a compiler
/// may change which NaN a floating-point selection returns.
#[inline(always)]
pub fn canonical(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fff_ffff } else { bits })
}

#[inline(always)]
pub(crate) fn quiet(bits: u64) -> u64 {
    bits | 1 << 51
}

#[inline(always)]
pub(crate) fn is_nan64(bits: u64) -> bool {
    bits & !(1 << 63) > f64::INFINITY.to_bits()
}

/// Finishes a result of double-precision arithmetic. A NaN operand is the result, the last
/// operand's first; an invalid operation on numbers returns the negative NaN.
#[inline(always)]
fn finish64<const N: usize>(result: f64, operands: [f64; N]) -> f64 {
    let mut bits = result.to_bits();
    if is_nan64(bits) {
        bits = 0xfff8_0000_0000_0000;
        for operand in operands {
            let operand = operand.to_bits();
            bits = if is_nan64(operand) { quiet(operand) } else { bits };
        }
    }
    f64::from_bits(bits)
}

/// With `FTZ`, hardware decides whether a result is subnormal as if the exponent were unbounded. It
/// flushes results that only the coarse subnormal spacing rounds up to a normal number.
#[inline(always)]
pub(super) fn flush_rounded<const ROUND: u8, const FTZ: bool>(rounded: f32, exact: f64) -> f32 {
    const SCALE: f64 = 18446744073709551616.0;
    if FTZ && rounded.abs() <= f32::MIN_POSITIVE {
        let unbounded = f64::from(narrow::<ROUND>(exact * SCALE));
        if unbounded.abs() < f64::from(f32::MIN_POSITIVE) * SCALE {
            return 0f32.copysign(rounded);
        }
    }
    rounded
}

/// Returns the next number up, or down if not `up`. Infinity's neighbor is the largest number.
macro_rules! neighbor {
    ($name:ident, $float:ty, $bits:ty) => {
        #[inline(always)]
        fn $name(x: $float, up: bool) -> $float {
            if x == 0.0 {
                let least = <$float>::from_bits(1);
                return if up { least } else { -least };
            }
            // Away from zero increments the bits, for either sign.
            let away = up == (x > 0.0);
            let bits = x.to_bits();
            <$float>::from_bits(if away { bits + 1 } else { bits - 1 })
        }
    };
}

neighbor!(neighbor32, f32, u32);
neighbor!(neighbor64, f64, u64);

/// Rounds to single precision in the given direction.
#[inline(always)]
pub(crate) fn narrow<const ROUND: u8>(x: f64) -> f32 {
    let nearest = x as f32;
    if ROUND == NEAREST {
        return nearest;
    }
    let back = f64::from(nearest);
    let too_low = back < x;
    let too_high = back > x;
    match ROUND {
        UP if too_low => neighbor32(nearest, true),
        DOWN if too_high => neighbor32(nearest, false),
        ZERO if too_high && x > 0.0 => neighbor32(nearest, false),
        ZERO if too_low && x < 0.0 => neighbor32(nearest, true),
        _ => nearest,
    }
}

/// Returns a double-precision number that rounds like `value + error` to any shorter format.
#[inline(always)]
pub(super) fn to_odd(value: f64, error: f64) -> f64 {
    if error == 0.0 || value.to_bits() & 1 == 1 || !value.is_finite() {
        return value;
    }
    // The last bit is even and the exact value differs: a step towards that sets the bit.
    neighbor64(value, error > 0.0)
}

#[inline(always)]
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

#[inline(always)]
pub(crate) fn add_f32<const ROUND: u8, const FTZ: bool>(a: f32, b: f32) -> f32 {
    if ROUND == NEAREST {
        return a + b;
    }
    let (sum, error) = two_sum(a.into(), b.into());
    if ROUND == DOWN && sum == 0.0 && a == -b && a.is_sign_positive() != b.is_sign_positive() {
        return -0.0;
    }
    narrow::<ROUND>(to_odd(sum, error))
}

#[inline(always)]
pub(crate) fn mul_f32<const ROUND: u8, const FTZ: bool>(a: f32, b: f32) -> f32 {
    if ROUND == NEAREST {
        return if FTZ { flush_nearest(a * b, a * APART * b) } else { a * b };
    }
    let exact = f64::from(a) * f64::from(b);
    flush_rounded::<ROUND, FTZ>(narrow::<ROUND>(exact), exact)
}

#[inline(always)]
pub(crate) fn fma_f32<const ROUND: u8, const FTZ: bool>(a: f32, b: f32, c: f32) -> f32 {
    if ROUND == NEAREST {
        let result = a.mul_add(b, c);
        return if FTZ { flush_nearest(result, (a * APART).mul_add(b, c * APART)) } else { result };
    }
    let product = f64::from(a) * f64::from(b);
    let (sum, error) = two_sum(product, c.into());
    if ROUND == DOWN && sum == 0.0 && product.is_sign_positive() != c.is_sign_positive() {
        return -0.0;
    }
    let exact = to_odd(sum, error);
    flush_rounded::<ROUND, FTZ>(narrow::<ROUND>(exact), exact)
}

#[inline(always)]
pub(crate) fn div_f32<const ROUND: u8, const FTZ: bool>(a: f32, b: f32) -> f32 {
    if ROUND == NEAREST {
        return if FTZ { flush_nearest(a / b, a * APART / b) } else { a / b };
    }
    let (a, b) = (f64::from(a), f64::from(b));
    let quotient = a / b;
    if !quotient.is_finite() || quotient == 0.0 {
        return quotient as f32;
    }
    let rest = (-quotient).mul_add(b, a);
    let exact = to_odd(quotient, if b > 0.0 { rest } else { -rest });
    flush_rounded::<ROUND, FTZ>(narrow::<ROUND>(exact), exact)
}

#[inline(always)]
pub(crate) fn sqrt_f32<const ROUND: u8, const FTZ: bool>(a: f32) -> f32 {
    if ROUND == NEAREST {
        return a.sqrt();
    }
    let x = f64::from(a);
    let root = x.sqrt();
    if !root.is_finite() || root == 0.0 {
        return root as f32;
    }
    narrow::<ROUND>(to_odd(root, (-root).mul_add(root, x)))
}

/// Returns the minimum. A NaN loses against a number, unless `NAN`; -0 is smaller than +0.
#[inline(always)]
fn min_f32<const FTZ: bool, const NAN: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (flush::<FTZ>(a), flush::<FTZ>(b));
    if NAN && (a.is_nan() || b.is_nan()) {
        return f32::from_bits(0x7fff_ffff);
    }
    let smaller = if a < b || (a == b && a.is_sign_negative()) { a } else { b };
    let picked = if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        smaller
    };
    canonical(picked)
}

#[inline(always)]
fn xor_sign(a: f32, b: f32, magnitude: f32) -> f32 {
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    if magnitude.is_nan() { magnitude } else { f32::from_bits(magnitude.to_bits() | sign) }
}

/// Selects a number over a NaN.
#[inline(always)]
fn pick64(a: f64, b: f64, picked: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => picked,
        (true, false) => b,
        (false, true) => a,
        (true, true) => f64::from_bits(quiet(b.to_bits())),
    }
}

/// Returns the changed bits. A NaN keeps its sign.
#[inline(always)]
fn change_sign(a: f64, changed: u64) -> f64 {
    f64::from_bits(if is_nan64(a.to_bits()) { quiet(a.to_bits()) } else { changed })
}

macro_rules! arithmetic_f32 {
    ($($name:ident($($arg:ident),+) = $function:ident, rows if $rows:expr, rare if $rare:expr, $lower:expr;)*) => { operations! { $(
        @rows($rows)
        @rare($rare)
        @lower(Lower::rounded($lower, ROUND, Limits { flush: FTZ, saturate: SAT }))
        $name[const ROUND: u8, FTZ: bool, SAT: bool]($($arg: f32),+) -> f32 {
            finish::<FTZ, SAT>($function::<ROUND, FTZ>($(flush::<FTZ>($arg)),+))
        }
    )* } };
}

// `roundf` adds towards zero. `expf` has a fused product that is saturated, and one that is rounded
// down.
arithmetic_f32! {
    AddF32(a, b) = add_f32, rows if ROUND == NEAREST || ROUND == ZERO && !SAT, rare if ROUND != NEAREST && (ROUND != ZERO || SAT), Float::Add;
    SubF32(a, b) = sub_f32, rows if ROUND == NEAREST, rare if ROUND != NEAREST, Float::Sub;
    MulF32(a, b) = mul_f32, rows if ROUND == NEAREST, rare if ROUND != NEAREST, Float::Mul;
    FmaF32(a, b, c) = fma_f32, rows if ROUND == NEAREST || ROUND == DOWN && !SAT, rare if ROUND != NEAREST && (ROUND != DOWN || SAT), Float::Fma;
    DivF32(a, b) = div_f32, rows if ROUND == NEAREST && !SAT, rare if ROUND != NEAREST || SAT, Float::Div;
    SqrtF32(a) = sqrt_f32, rows if ROUND == NEAREST && !SAT, rare if ROUND != NEAREST || SAT, Float::Sqrt;
    RcpF32(a) = rcp_f32, rows if ROUND == NEAREST && !SAT, rare if ROUND != NEAREST || SAT, Float::Rcp;
}

#[inline(always)]
fn sub_f32<const ROUND: u8, const FTZ: bool>(a: f32, b: f32) -> f32 {
    add_f32::<ROUND, FTZ>(a, -b)
}

#[inline(always)]
fn rcp_f32<const ROUND: u8, const FTZ: bool>(a: f32) -> f32 {
    div_f32::<ROUND, FTZ>(1.0, a)
}

operations! {
    @rows(ROUND == NEAREST)
    @rare(ROUND != NEAREST)
    @lower(Float::Add.lower().only_if(ROUND == NEAREST))
    AddF64[const ROUND: u8](a: f64, b: f64) -> f64 { finish64(soft::add::<ROUND>(a, b), [a, b]) }
    @rows(ROUND == NEAREST)
    @rare(ROUND != NEAREST)
    @lower(Float::Sub.lower().only_if(ROUND == NEAREST))
    SubF64[const ROUND: u8](a: f64, b: f64) -> f64 { finish64(soft::add::<ROUND>(a, -b), [a, b]) }
    @rows(ROUND == NEAREST)
    @rare(ROUND != NEAREST)
    @lower(Float::Mul.lower().only_if(ROUND == NEAREST))
    MulF64[const ROUND: u8](a: f64, b: f64) -> f64 { finish64(soft::mul::<ROUND>(a, b), [a, b]) }
    @rows(ROUND == NEAREST)
    @rare(ROUND != NEAREST)
    @lower(Float::Fma.lower().only_if(ROUND == NEAREST))
    FmaF64[const ROUND: u8](a: f64, b: f64, c: f64) -> f64 { finish64(soft::fma::<ROUND>(a, b, c), [a, b, c]) }
    @rows(ROUND == NEAREST)
    @rare(ROUND != NEAREST)
    @lower(Float::Div.lower().only_if(ROUND == NEAREST))
    DivF64[const ROUND: u8](a: f64, b: f64) -> f64 { finish64(soft::div::<ROUND>(a, b), [b, a]) }
    @rows(ROUND == NEAREST)
    @rare(ROUND != NEAREST)
    @lower(Float::Rcp.lower().only_if(ROUND == NEAREST))
    RcpF64[const ROUND: u8](a: f64) -> f64 { finish64(soft::div::<ROUND>(1.0, a), [a]) }
    @rows(ROUND == NEAREST)
    @rare(ROUND != NEAREST)
    @lower(Float::Sqrt.lower().only_if(ROUND == NEAREST))
    SqrtF64[const ROUND: u8](a: f64) -> f64 { finish64(soft::sqrt::<ROUND>(a), [a]) }

    @rows(!NAN && !XOR_SIGN)
    @rare(XOR_SIGN)
    @lower(Float::Min.flushing(FTZ).only_if(!NAN && !XOR_SIGN))
    MinF32[const FTZ: bool, NAN: bool, XOR_SIGN: bool](a: f32, b: f32) -> f32 {
        if XOR_SIGN { xor_sign(a, b, min_f32::<FTZ, NAN>(a.abs(), b.abs())) } else { min_f32::<FTZ, NAN>(a, b) }
    }
    @rows(!NAN && !XOR_SIGN)
    @rare(XOR_SIGN)
    @lower(Float::Max.flushing(FTZ).only_if(!NAN && !XOR_SIGN))
    MaxF32[const FTZ: bool, NAN: bool, XOR_SIGN: bool](a: f32, b: f32) -> f32 {
        let max = |a: f32, b: f32| canonical(-min_f32::<FTZ, NAN>(-a, -b));
        if XOR_SIGN { xor_sign(a, b, max(a.abs(), b.abs())) } else { max(a, b) }
    }
    @rows(true)
    @lower(Float::Min.lower())
    MinF64(a: f64, b: f64) -> f64 {
        let smaller = if a < b || (a == b && a.is_sign_negative()) { a } else { b };
        pick64(a, b, smaller)
    }
    @rows(true)
    @lower(Float::Max.lower())
    MaxF64(a: f64, b: f64) -> f64 {
        let larger = if a > b || (a == b && a.is_sign_positive()) { a } else { b };
        pick64(a, b, larger)
    }
    @rows(true)
    @lower(Float::Abs.flushing(FTZ))
    AbsF32[const FTZ: bool](a: f32) -> f32 { canonical(flush::<FTZ>(a.abs())) }
    @rows(true)
    @lower(Float::Neg.flushing(FTZ))
    NegF32[const FTZ: bool](a: f32) -> f32 { canonical(flush::<FTZ>(-a)) }
    @rows(true)
    @lower(Float::Abs.lower())
    AbsF64(a: f64) -> f64 { change_sign(a, a.to_bits() & !(1 << 63)) }
    @rows(true)
    @lower(Float::Neg.lower())
    NegF64(a: f64) -> f64 { change_sign(a, a.to_bits() ^ 1 << 63) }
    @rows(true)
    @lower(Float::CopySign.lower())
    CopySignF32(a: f32, b: f32) -> f32 { b.copysign(a) }
    @rows(true)
    @lower(Float::CopySign.lower())
    CopySignF64(a: f64, b: f64) -> f64 { b.copysign(a) }
}

/// Comparisons of floats. With a NaN operand, "ordered" ones are false and "unordered" ones true.
macro_rules! float_tests {
    ($($name:ident $lower:ident |$a:ident, $b:ident| $test:expr;)*) => {$(
        pub(crate) struct $name<T, const FTZ: bool>(core::marker::PhantomData<T>);
        impl<const FTZ: bool> Test for $name<f32, FTZ> {
            type A = f32;
            type B = f32;
            const LOWER: LowerTest =
                LowerTest::Float { relation: FloatRelation::$lower, flush: FTZ };
            #[inline(always)]
            fn eval($a: f32, $b: f32) -> bool {
                let ($a, $b) = (flush::<FTZ>($a), flush::<FTZ>($b));
                $test
            }
        }
        impl<const FTZ: bool> Test for $name<f64, FTZ> {
            type A = f64;
            type B = f64;
            const LOWER: LowerTest =
                LowerTest::Float { relation: FloatRelation::$lower, flush: false };
            #[inline(always)]
            fn eval($a: f64, $b: f64) -> bool { $test }
        }
    )*};
}

#[allow(clippy::double_comparisons, reason = "the spelling decides what a NaN gives")]
mod tests_on_floats {
    use super::{FloatRelation, LowerTest, Test, flush};
    float_tests! {
        Eq Equal |a, b| a == b;
        Ne Unequal |a, b| a < b || a > b;
        Lt Less |a, b| a < b;
        Le AtMost |a, b| a <= b;
        Num Ordered |a, b| !a.is_nan() && !b.is_nan();
    }
}

/// Comparisons that are the opposite of another, or exchange its operands.
macro_rules! other_float_tests {
    ($($name:ident = $core:ident: $($how:ident)+;)*) => {$(
        pub(crate) struct $name<T, const FTZ: bool>(core::marker::PhantomData<T>);
        impl<T, const FTZ: bool> Comparison for $name<T, FTZ>
        where
            $core<T, FTZ>: Test,
        {
            type Core = $core<T, FTZ>;
            $(const $how: bool = true;)+
        }
    )*};
}

other_float_tests! {
    Gt = Lt: EXCHANGED;
    Ge = Le: EXCHANGED;
    Equ = Ne: OPPOSITE;
    Neu = Eq: OPPOSITE;
    Ltu = Le: OPPOSITE EXCHANGED;
    Leu = Lt: OPPOSITE EXCHANGED;
    Gtu = Le: OPPOSITE;
    Geu = Lt: OPPOSITE;
    Nan = Num: OPPOSITE;
}

/// `testp`: classes of numbers. The second operand is unused.
macro_rules! class_tests {
    ($($name:ident |$a:ident| $test:expr;)*) => {$(
        pub(crate) struct $name<T>(core::marker::PhantomData<T>);
        impl Test for $name<f32> {
            type A = f32;
            type B = ();
            const IN_ROWS: bool = false;
            const RARE: bool = true;
            #[inline(always)]
            fn eval($a: f32, (): ()) -> bool { $test }
        }
        impl Test for $name<f64> {
            type A = f64;
            type B = ();
            const IN_ROWS: bool = false;
            const RARE: bool = true;
            #[inline(always)]
            fn eval($a: f64, (): ()) -> bool { $test }
        }
    )*};
}

class_tests! {
    IsFinite |a| a.is_finite();
    IsInfinite |a| a.is_infinite();
    IsNumber |a| !a.is_nan();
    IsNotNumber |a| a.is_nan();
    // Zero counts as normal.
    IsNormal |a| a.is_normal() || a == 0.0;
    IsSubnormal |a| a.is_subnormal();
}
