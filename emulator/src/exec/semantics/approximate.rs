//! The `.approx` functions. Hardware uses tables and is off by a few units in the last place; here each result
//! is within one unit of the exact value.

use super::float::{finish, flush};
use super::operations;

operations! {
    Rcp[const FTZ: bool](a: f32) -> f32 { finish::<FTZ, false>(1.0 / flush::<FTZ>(a)) }
    Sqrt[const FTZ: bool](a: f32) -> f32 { finish::<FTZ, false>(flush::<FTZ>(a).sqrt()) }
    Rsqrt[const FTZ: bool](a: f32) -> f32 { finish::<FTZ, false>(1.0 / flush::<FTZ>(a).sqrt()) }
    Exp2[const FTZ: bool](a: f32) -> f32 { finish::<FTZ, false>(f64::from(flush::<FTZ>(a)).exp2() as f32) }
    Log2[const FTZ: bool](a: f32) -> f32 { finish::<FTZ, false>(f64::from(flush::<FTZ>(a)).log2() as f32) }
    Sin[const FTZ: bool](a: f32) -> f32 { finish::<FTZ, false>(f64::from(flush::<FTZ>(a)).sin() as f32) }
    Cos[const FTZ: bool](a: f32) -> f32 { finish::<FTZ, false>(f64::from(flush::<FTZ>(a)).cos() as f32) }
    Tanh(a: f32) -> f32 { finish::<false, false>(f64::from(a).tanh() as f32) }
    /// Quotient of `div.approx` and `div.full`.
    Div[const FTZ: bool](a: f32, b: f32) -> f32 { finish::<FTZ, false>(flush::<FTZ>(a) / flush::<FTZ>(b)) }
    /// `rcp.approx.ftz.f64` works on the upper half of the number and returns zeros in the lower half.
    RcpF64(a: f64) -> f64 { upper_half(1.0 / upper_half(flush64(a))) }
    RsqrtF64[const FTZ: bool](a: f64) -> f64 {
        upper_half(1.0 / upper_half(if FTZ { flush64(a) } else { a }).sqrt())
    }
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
