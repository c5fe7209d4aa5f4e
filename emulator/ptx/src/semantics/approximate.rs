//! The `.approx` functions. Hardware uses tables, with errors of a few units in the last place.
//! Here each result is within one unit of the exact value; for sine and cosine, of the value at
//! hardware's angle.

use super::double::Numbers;
use super::float::{NEAREST, ZERO, div_f32, finish, mul_f32, quiet};
use super::lower::{Elementary, Float, Lower};
use super::subnormal::flush;
use super::{elementary, operations};

operations! {
    @rows(true)
    @lower(Float::Rcp.flushing(FTZ))
    Rcp[const FTZ: bool](a: f32) -> f32 { finish::<FTZ, false>(1.0 / flush::<FTZ>(a)) }
    @rows(true)
    @lower(Float::Sqrt.flushing(FTZ))
    Sqrt[const FTZ: bool](a: f32) -> f32 { finish::<FTZ, false>(flush::<FTZ>(a).sqrt()) }
    @rows(true)
    @lower(Float::Rsqrt.flushing(FTZ))
    Rsqrt[const FTZ: bool](a: f32) -> f32 { finish::<FTZ, false>(1.0 / flush::<FTZ>(a).sqrt()) }
    @rows(true)
    @lower(Lower::Elementary(Elementary::Exp2, FTZ))
    Exp2[const FTZ: bool](a: f32) -> f32 { finish::<FTZ, false>(elementary::exp2(&mut Numbers, flush::<FTZ>(a).into()) as f32) }
    @rows(true)
    @lower(Lower::Elementary(Elementary::Log2, FTZ))
    Log2[const FTZ: bool](a: f32) -> f32 { finish::<FTZ, false>(elementary::log2(&mut Numbers, flush::<FTZ>(a).into()) as f32) }
    @rows(true)
    @lower(Lower::Elementary(Elementary::Sine, FTZ))
    Sin[const FTZ: bool](a: f32) -> f32 { finish::<FTZ, false>(elementary::sine(&mut Numbers, turns::<FTZ>(a), 0) as f32) }
    @rows(true)
    @lower(Lower::Elementary(Elementary::Cosine, FTZ))
    Cos[const FTZ: bool](a: f32) -> f32 { finish::<FTZ, false>(elementary::sine(&mut Numbers, turns::<FTZ>(a), 1) as f32) }
    @rows(true)
    @lower(Lower::Elementary(Elementary::Tanh, false))
    Tanh(a: f32) -> f32 { finish::<false, false>(elementary::tanh(&mut Numbers, a.into()) as f32) }
    @rows(true)
    @lower(Float::Div.flushing(FTZ))
    DivFull[const FTZ: bool](a: f32, b: f32) -> f32 {
        finish::<FTZ, false>(div_f32::<NEAREST, FTZ>(flush::<FTZ>(a), flush::<FTZ>(b)))
    }
    /// Divisors beyond 2^126 give zero, because their reciprocal underflows.
    @rows(true)
    @lower(Float::DivFast.flushing(FTZ))
    Div[const FTZ: bool](a: f32, b: f32) -> f32 {
        let (a, b) = (flush::<FTZ>(a), flush::<FTZ>(b));
        let reciprocal_lost = b.abs() > f32::from_bits(0x7e80_0000) && b.is_finite();
        let b = if reciprocal_lost { f32::INFINITY.copysign(b) } else { b };
        finish::<FTZ, false>(div_f32::<NEAREST, FTZ>(a, b))
    }
    /// `rcp.approx.ftz.f64` uses the upper half of the number and returns zeros in the lower half.
    @rare(true)
    RcpF64(a: f64) -> f64 { flush64(upper_half(1.0 / upper_half(flush64(a)))) }
    @rare(true)
    RsqrtF64(a: f64) -> f64 {
        let root = 1.0 / a.sqrt();
        let invalid = f64::from_bits(0xfff8_0000_0000_0000);
        if a.is_nan() { f64::from_bits(quiet(a.to_bits())) } else if root.is_nan() { invalid } else { root }
    }
    @rare(true)
    RsqrtFlushedF64(a: f64) -> f64 { upper_half(1.0 / upper_half(flush64(a)).sqrt()) }
}

/// Returns the angle of hardware's sine and cosine in turns: a single-precision product that loses
/// digits. It differs much from `a` if `a` has many turns.
#[inline(always)]
fn turns<const FTZ: bool>(a: f32) -> f64 {
    mul_f32::<ZERO, FTZ>(flush::<FTZ>(a), elementary::TURNS).into()
}

fn flush64(x: f64) -> f64 {
    if x.is_subnormal() { 0.0f64.copysign(x) } else { x }
}

fn upper_half(x: f64) -> f64 {
    if x.is_nan() {
        f64::from_bits(0x7fff_ffff_0000_0000)
    } else {
        f64::from_bits(x.to_bits() & !0xffff_ffff)
    }
}
