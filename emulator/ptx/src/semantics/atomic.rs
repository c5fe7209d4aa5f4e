//! Sums and extrema of atomic operations.

use super::Pure;
use super::float::{AddF32, AddF64, NEAREST};
use super::half::{Add, Bf16, Both, F16, Max, Min};

/// Returns the sum in single precision. With `flush`, subnormal numbers count as zero.
#[inline]
pub fn add_f32(x: f32, y: f32, flush: bool) -> f32 {
    match flush {
        true => AddF32::<NEAREST, true, false>::eval(x, y, (), ()),
        false => AddF32::<NEAREST, false, false>::eval(x, y, (), ()),
    }
}

/// Returns the sum in double precision.
#[inline]
pub fn add_f64(x: f64, y: f64) -> f64 {
    AddF64::<NEAREST>::eval(x, y, (), ())
}

/// Returns the sums of both halves of a pair, of `bf16` or of `f16`.
#[inline]
pub fn add_halves(bf16: bool, x: u32, y: u32) -> u32 {
    match bf16 {
        false => Both::<Add<F16, false, false>>::eval(x, y, (), ()),
        true => Both::<Add<Bf16, false, false>>::eval(x, y, (), ()),
    }
}

/// Returns the maxima or minima of both halves of a pair, of `bf16` or of `f16`.
#[inline]
pub fn extrema_of_halves(max: bool, bf16: bool, x: u32, y: u32) -> u32 {
    match (bf16, max) {
        (false, false) => Both::<Min<F16, false, false, false>>::eval(x, y, (), ()),
        (false, true) => Both::<Max<F16, false, false, false>>::eval(x, y, (), ()),
        (true, false) => Both::<Min<Bf16, false, false, false>>::eval(x, y, (), ()),
        (true, true) => Both::<Max<Bf16, false, false, false>>::eval(x, y, (), ()),
    }
}
