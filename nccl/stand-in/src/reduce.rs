//! Reductions by the host, in the order of the members.

/// Operators, with NCCL's numbers; greater numbers are premultiplied sums.
const SUM: u64 = 0;
const PRODUCT: u64 = 1;
const MAX: u64 = 2;
const MIN: u64 = 3;
const AVERAGE: u64 = 4;

/// Bytes of an element of each of NCCL's types.
pub(crate) fn size_of_type(data_type: u64) -> Option<usize> {
    [1, 1, 4, 4, 8, 8, 2, 4, 8, 2].get(data_type as usize).copied()
}

/// Reduces elements of all members, each of which may have a factor, one by one.
pub(crate) fn reduce(data_type: u64, operator: u64, all: &[(&[u8], u64)]) -> Vec<u8> {
    match data_type {
        0 => integers::<i8>(operator, all),
        1 => integers::<u8>(operator, all),
        2 => integers::<i32>(operator, all),
        3 => integers::<u32>(operator, all),
        4 => integers::<i64>(operator, all),
        5 => integers::<u64>(operator, all),
        6 => floats::<2>(operator, all, half_to_f64, f64_to_half),
        7 => floats::<4>(
            operator,
            all,
            |bytes| f64::from(f32::from_le_bytes(bytes)),
            |x| (x as f32).to_le_bytes(),
        ),
        8 => floats::<8>(operator, all, f64::from_le_bytes, f64::to_le_bytes),
        _ => floats::<2>(operator, all, brain_to_f64, f64_to_brain),
    }
}

/// Steps of floating-point reductions are rounded to the type, as on a device.
fn floats<const N: usize>(
    operator: u64,
    all: &[(&[u8], u64)],
    of: impl Fn([u8; N]) -> f64,
    to: impl Fn(f64) -> [u8; N],
) -> Vec<u8> {
    let round = |x: f64| of(to(x));
    elements::<N>(all, |column| {
        let scaled = column.iter().map(|&(bytes, factor)| {
            if operator > AVERAGE { round(of(bytes) * of(first(factor))) } else { of(bytes) }
        });
        let reduced = scaled.reduce(|a, b| {
            round(match operator {
                PRODUCT => a * b,
                MAX => a.max(b),
                MIN => a.min(b),
                _ => a + b,
            })
        });
        let reduced = reduced.unwrap_or(0.0);
        to(if operator == AVERAGE { reduced / column.len() as f64 } else { reduced })
    })
}

/// The bytes of a number that has been widened to eight.
fn first<const N: usize>(bits: u64) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.iter_mut().zip(bits.to_le_bytes()).for_each(|(to, from)| *to = from);
    bytes
}

trait Integer: Copy {
    fn of(bits: u64) -> i128;
    const BYTES: usize;
}

macro_rules! integers {
    ($($type:ty)*) => { $(
        impl Integer for $type {
            fn of(bits: u64) -> i128 {
                i128::from(bits as $type)
            }

            const BYTES: usize = size_of::<$type>();
        }
    )* };
}

integers! { i8 u8 i32 u32 i64 u64 }

fn integers<T: Integer>(operator: u64, all: &[(&[u8], u64)]) -> Vec<u8> {
    match T::BYTES {
        1 => integers_of::<T, 1>(operator, all),
        4 => integers_of::<T, 4>(operator, all),
        _ => integers_of::<T, 8>(operator, all),
    }
}

/// Integers wrap around.
fn integers_of<T: Integer, const N: usize>(operator: u64, all: &[(&[u8], u64)]) -> Vec<u8> {
    let bits = |bytes: [u8; N]| {
        let mut wide = [0; 8];
        wide.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        u64::from_le_bytes(wide)
    };
    let wrap = |x: i128| T::of(x as u64);
    elements::<N>(all, |column| {
        let scaled = column.iter().map(|&(bytes, factor)| {
            let x = T::of(bits(bytes));
            if operator > AVERAGE { wrap(x.wrapping_mul(T::of(factor))) } else { x }
        });
        let reduced = scaled.reduce(|a, b| match operator {
            PRODUCT => wrap(a.wrapping_mul(b)),
            MAX => a.max(b),
            MIN => a.min(b),
            SUM => wrap(a + b),
            _ => wrap(a + b),
        });
        let reduced = reduced.unwrap_or(0);
        first((if operator == AVERAGE { reduced / column.len() as i128 } else { reduced }) as u64)
    })
}

/// Combines, for each element of the result, the elements of all members at its place.
fn elements<const N: usize>(all: &[(&[u8], u64)], make: impl Fn(&[([u8; N], u64)]) -> [u8; N]) -> Vec<u8> {
    let len = all.iter().map(|(bytes, _)| bytes.len() / N).min().unwrap_or(0);
    let mut result = Vec::with_capacity(len * N);
    let mut column = Vec::with_capacity(all.len());
    for at in 0..len {
        column.clear();
        for (bytes, factor) in all {
            let mut element = [0; N];
            element.copy_from_slice(&bytes[at * N..at * N + N]);
            column.push((element, *factor));
        }
        result.extend(make(&column));
    }
    result
}

fn brain_to_f64(bytes: [u8; 2]) -> f64 {
    f64::from(f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16))
}

fn f64_to_brain(x: f64) -> [u8; 2] {
    let bits = (x as f32).to_bits();
    if (x as f32).is_nan() {
        return 0x7fff_u16.to_le_bytes();
    }
    // To the nearest, and to even in the middle.
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).to_le_bytes()[..2].try_into().unwrap_or([0; 2])
}

fn half_to_f64(bytes: [u8; 2]) -> f64 {
    let bits = u16::from_le_bytes(bytes);
    let (sign, exponent, fraction) = (bits >> 15, i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

fn f64_to_half(x: f64) -> [u8; 2] {
    let sign = u16::from(x.is_sign_negative()) << 15;
    let x = x.abs();
    let bits = if x.is_nan() {
        0x7fff
    } else if x >= 65520.0 {
        31 << 10
    } else {
        // Units of the last place, of which there are 1024 or more from the least normal number on.
        let exponent = ((x.to_bits() >> 52) as i32 - 1023).max(-14);
        let units = (x * 2f64.powi(10 - exponent)).round_ties_even() as u16;
        ((exponent + 14) as u16) * 1024 + units
    };
    (sign | bits).to_le_bytes()
}
