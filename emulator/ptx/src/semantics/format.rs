//! Formats of floating-point numbers.

/// Format of a number, or of all numbers in a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatFormat {
    F16,
    Bf16,
    F32,
    F64,
}

impl FloatFormat {
    pub(super) const fn bits(self) -> u32 {
        match self {
            FloatFormat::F16 | FloatFormat::Bf16 => 16,
            FloatFormat::F32 => 32,
            FloatFormat::F64 => 64,
        }
    }
}
