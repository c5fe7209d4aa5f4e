//! Arithmetic in double precision, for formulas that run on numbers and that code generators write.

/// Operations without branches, on numbers or on the values of a code generator.
pub trait Double {
    type Number: Copy;
    /// The bits of a number.
    type Bits: Copy;
    type Truth: Copy;

    fn number(&mut self, value: f64) -> Self::Number;
    fn add(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    fn sub(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    fn mul(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    fn div(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// False for NaN.
    fn less(&mut self, a: Self::Number, b: Self::Number) -> Self::Truth;
    fn equal(&mut self, a: Self::Number, b: Self::Number) -> Self::Truth;
    fn select(&mut self, condition: Self::Truth, yes: Self::Number, no: Self::Number) -> Self::Number;

    fn bits(&mut self, a: Self::Number) -> Self::Bits;
    fn of_bits(&mut self, bits: Self::Bits) -> Self::Number;
    /// Adds a constant, without overflow.
    fn plus(&mut self, a: Self::Bits, constant: u64) -> Self::Bits;
    /// Subtracts without overflow.
    fn minus(&mut self, a: Self::Bits, b: Self::Bits) -> Self::Bits;
    fn and(&mut self, a: Self::Bits, constant: u64) -> Self::Bits;
    fn xor(&mut self, a: Self::Bits, b: Self::Bits) -> Self::Bits;
    fn shift_left(&mut self, a: Self::Bits, by: u32) -> Self::Bits;
    fn shift_right(&mut self, a: Self::Bits, by: u32) -> Self::Bits;
    fn is_zero(&mut self, a: Self::Bits) -> Self::Truth;
}

/// Numbers themselves.
pub(super) struct Numbers;

impl Double for Numbers {
    type Number = f64;
    type Bits = u64;
    type Truth = bool;

    #[inline(always)]
    fn number(&mut self, value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn add(&mut self, a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline(always)]
    fn sub(&mut self, a: f64, b: f64) -> f64 {
        a - b
    }
    #[inline(always)]
    fn mul(&mut self, a: f64, b: f64) -> f64 {
        a * b
    }
    #[inline(always)]
    fn div(&mut self, a: f64, b: f64) -> f64 {
        a / b
    }
    #[inline(always)]
    fn less(&mut self, a: f64, b: f64) -> bool {
        a < b
    }
    #[inline(always)]
    fn equal(&mut self, a: f64, b: f64) -> bool {
        a == b
    }
    #[inline(always)]
    fn select(&mut self, condition: bool, yes: f64, no: f64) -> f64 {
        if condition { yes } else { no }
    }
    #[inline(always)]
    fn bits(&mut self, a: f64) -> u64 {
        a.to_bits()
    }
    #[inline(always)]
    fn of_bits(&mut self, bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    #[inline(always)]
    fn plus(&mut self, a: u64, constant: u64) -> u64 {
        a.wrapping_add(constant)
    }
    #[inline(always)]
    fn minus(&mut self, a: u64, b: u64) -> u64 {
        a.wrapping_sub(b)
    }
    #[inline(always)]
    fn and(&mut self, a: u64, constant: u64) -> u64 {
        a & constant
    }
    #[inline(always)]
    fn xor(&mut self, a: u64, b: u64) -> u64 {
        a ^ b
    }
    #[inline(always)]
    fn shift_left(&mut self, a: u64, by: u32) -> u64 {
        a << by
    }
    #[inline(always)]
    fn shift_right(&mut self, a: u64, by: u32) -> u64 {
        a >> by
    }
    #[inline(always)]
    fn is_zero(&mut self, a: u64) -> bool {
        a == 0
    }
}
