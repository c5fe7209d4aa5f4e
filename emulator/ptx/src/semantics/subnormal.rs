//! Subnormal numbers of single precision that an instruction replaces by zeros (`.ftz`).

/// A factor by which numbers with small products leave the range of subnormal numbers.
pub(super) const APART: f32 = 18_446_744_073_709_551_616.0;

/// With `FTZ`, replaces subnormal numbers by zeros of the same sign.
#[inline(always)]
pub(crate) fn flush<const FTZ: bool>(x: f32) -> f32 {
    if FTZ && x.abs() < f32::MIN_POSITIVE { f32::from_bits(x.to_bits() & 0x8000_0000) } else { x }
}

/// Flushes a result rounded to the nearest number, given the result of the operation on a number
/// [`APART`] times as large. This one is rounded as if the exponent were unbounded, unless it is
/// smaller still. If the larger number overflows, the result is no subnormal number: the operands
/// are none, and sums of products with such a number differ from zero by more than these numbers.
#[inline(always)]
pub(super) fn flush_nearest(rounded: f32, larger: f32) -> f32 {
    if larger.abs() < f32::MIN_POSITIVE * APART { 0f32.copysign(rounded) } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::super::float::{NEAREST, flush_rounded, fma_f32, mul_f32, to_odd, two_sum};

    /// Products and sums next to the least normal number, rounded by double precision.
    #[test]
    fn results_are_flushed_as_if_the_exponent_were_unbounded() {
        let mut bits = 1u64;
        let mut flushed = [0; 2];
        for _ in 0..2_000_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // The exponent of the product is near the least of normal numbers.
            let exponent = 1 + (bits >> 8) as u32 % 120;
            // Many products of mantissas near one and two are near the least normal number.
            let of = |mantissa: u32, exponent: u32| f32::from_bits(mantissa & 0x7f_ffff | exponent << 23);
            let (near, any) = ((bits >> 36) as u32 & 7, (bits >> 40) as u32);
            let a = of(if any & 1 == 0 { near } else { any }, exponent);
            let b = -of(if any & 2 == 0 { !near } else { !any }, 128 - exponent - (bits >> 33) as u32 % 3);
            let exact = f64::from(a) * f64::from(b);
            let product = flush_rounded::<NEAREST, true>(exact as f32, exact);
            assert_eq!(mul_f32::<NEAREST, true>(a, b).to_bits(), product.to_bits(), "{a:e} {b:e}");
            let c = f32::MIN_POSITIVE * (1 + (bits >> 60)) as f32;
            let (sum, error) = two_sum(exact, c.into());
            let exact = to_odd(sum, error);
            let sum = flush_rounded::<NEAREST, true>(exact as f32, exact);
            assert_eq!(fma_f32::<NEAREST, true>(a, b, c).to_bits(), sum.to_bits(), "{a:e} {b:e} {c:e}");
            flushed[0] += u32::from(product == 0.0);
            flushed[1] += u32::from(product.abs() == f32::MIN_POSITIVE);
        }
        assert!(flushed.iter().all(|count| *count > 0), "{flushed:?}");
    }
}
