//! Tolerance between results here and on the GPU.
//!
//! Results defined by IEEE 754 or integer arithmetic must be bit-identical, including NaNs and
//! signs of zeros. Functions with `.approx` and `.full` are tables in hardware: finite results may
//! differ as listed here, NaNs and infinities must not.

use super::Form;

/// An accepted difference between finite numbers.
#[derive(Clone, Copy)]
struct Tolerance {
    ulps: u64,
    /// Absolute difference that is accepted instead.
    absolute: f64,
}

const fn ulps(ulps: u64) -> Tolerance {
    Tolerance { ulps, absolute: 0.0 }
}

/// By the first part of the opcode, and its type. The values are the differences on the recorded
/// inputs, rounded up; both sides stay within the bounds of PTX for the exact value.
const TOLERANCES: [(&str, &str, Tolerance); 17] = [
    ("rcp.approx", "f32", ulps(1)),
    ("sqrt.approx", "f32", ulps(1)),
    ("div.approx", "f32", ulps(1)),
    ("div.full", "f32", ulps(1)),
    ("rsqrt.approx", "f32", ulps(2)),
    ("ex2.approx", "f32", ulps(2)),
    // Fixed point in hardware: near 1 only the absolute error is small.
    ("lg2.approx", "f32", Tolerance { ulps: 1, absolute: 1.5e-7 }),
    ("sin.approx", "f32", Tolerance { ulps: 0, absolute: 3e-7 }),
    ("cos.approx", "f32", Tolerance { ulps: 0, absolute: 3e-7 }),
    // Eleven bits are correct in hardware.
    ("tanh.approx", "f32", ulps(128)),
    // The lower half of the result is zero: one unit of the upper half.
    ("rcp.approx", "f64", ulps(1 << 32)),
    ("rsqrt.approx.ftz", "f64", ulps(1 << 32)),
    ("rsqrt.approx", "f64", ulps(1)),
    ("ex2.approx", "f16", ulps(1)),
    ("tanh.approx", "f16", ulps(1)),
    ("ex2.approx", "bf16", ulps(1)),
    ("tanh.approx", "bf16", ulps(1)),
];

impl Form {
    /// True if a result is close enough to the recorded one.
    pub(crate) fn accepts(&self, ours: u64, recorded: u64) -> bool {
        if ours == recorded {
            return true;
        }
        let opcode = self.text.split(' ').next().unwrap_or_default();
        let ty = opcode.rsplit('.').next().unwrap_or_default();
        match ty.strip_suffix("x2") {
            Some(half) if self.width == 32 => [0, 16]
                .into_iter()
                .all(|shift| within(opcode, half, 16, ours >> shift & 0xffff, recorded >> shift & 0xffff)),
            _ => within(opcode, ty, self.width, ours, recorded),
        }
    }
}

/// True if two results of a type are equal, or close enough for the opcode.
fn within(opcode: &str, ty: &str, width: u32, ours: u64, recorded: u64) -> bool {
    if ours == recorded {
        return true;
    }
    let found = TOLERANCES.iter().find(|(prefix, of, _)| opcode.starts_with(prefix) && ty == *of);
    let (Some((.., tolerance)), Some(x), Some(y)) = (found, finite(ty, ours), finite(ty, recorded)) else {
        return false;
    };
    let apart = ordered(width, ours).abs_diff(ordered(width, recorded));
    apart <= tolerance.ulps || (x - y).abs() <= tolerance.absolute
}

fn finite(ty: &str, bits: u64) -> Option<f64> {
    let value = match ty {
        "f64" => f64::from_bits(bits),
        "f32" => f32::from_bits(bits as u32).into(),
        "bf16" => f32::from_bits((bits as u32) << 16).into(),
        _ => half(bits),
    };
    value.is_finite().then_some(value)
}

fn half(bits: u64) -> f64 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = ((bits >> 10 & 31) as i32, (bits & 0x3ff) as f64 / 1024.0);
    let magnitude = match exponent {
        31 => f64::NAN,
        0 => fraction * 2f64.powi(-14),
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    };
    sign * magnitude
}

/// Maps the bits of a float to an integer of the same order: neighbors differ by one.
fn ordered(width: u32, bits: u64) -> i64 {
    let sign = 1 << (width - 1);
    let magnitude = (bits & (sign - 1)) as i64;
    if bits & sign != 0 { -magnitude } else { magnitude }
}
