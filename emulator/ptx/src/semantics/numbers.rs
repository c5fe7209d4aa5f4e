//! Floating-point numbers in a register, for inspecting it outside of operations.

use super::format::FloatFormat;
use super::half::{Bf16, F16, Half};

impl FloatFormat {
    fn number(self, bits: u64) -> f64 {
        match self {
            FloatFormat::F16 => F16::from_bits(bits as u16).to_f32().into(),
            FloatFormat::Bf16 => Bf16::from_bits(bits as u16).to_f32().into(),
            FloatFormat::F32 => f32::from_bits(bits as u32).into(),
            FloatFormat::F64 => f64::from_bits(bits),
        }
    }

    /// Returns the numbers in the lower `bytes` bytes.
    #[inline]
    pub fn numbers(self, bits: u64, bytes: u32) -> impl Iterator<Item = f64> {
        (0..8 * bytes / self.bits()).map(move |index| self.number(bits >> (self.bits() * index)))
    }

    /// True if one of the numbers in the lower `bytes` bytes is a NaN. Four bytes of a
    /// double-precision number may be its upper half.
    #[inline]
    pub fn has_nan(self, bits: u64, bytes: u32) -> bool {
        if self == FloatFormat::F64 && bytes == 4 {
            return bits >> 20 & 0x7ff == 0x7ff;
        }
        self.numbers(bits, bytes).any(f64::is_nan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_of_a_register_is_looked_at() {
        assert!(FloatFormat::F32.has_nan(0x7fff_ffff, 4));
        assert!(!FloatFormat::F32.has_nan(0x7f80_0000, 4), "infinity");
        assert!(FloatFormat::F16.has_nan(0x7e00_3c00, 4), "the upper half");
        assert!(!FloatFormat::F16.has_nan(0x7e00_3c00, 2), "the lower half alone");
        assert!(!FloatFormat::Bf16.has_nan(0x7e00_3c00, 4));
        assert!(FloatFormat::F64.has_nan(f64::NAN.to_bits(), 8));
        assert!(FloatFormat::F64.has_nan(f64::NAN.to_bits() >> 32, 4));
        assert_eq!(FloatFormat::F16.numbers(0x4000_3c00, 4).collect::<Vec<_>>(), [1.0, 2.0]);
    }
}
