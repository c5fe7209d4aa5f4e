//! Bit logic, shifts, fields, permutations.

use super::lower::{Half, Lower};
use super::operations;

/// Untyped integers of bit instructions.
pub(crate) trait Bits: super::Lane {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn not(self) -> Self;
    fn shift_left(self, amount: u32) -> Self;
    fn is_zero(self) -> bool;
    fn flag(value: bool) -> Self;
    fn leading_zeros(self) -> u32;
    fn ones(self) -> u32;
    fn reversed(self) -> Self;
}

macro_rules! bits {
    ($($ty:ty),*) => {$(
        impl Bits for $ty {
            #[inline(always)]
            fn and(self, other: Self) -> Self { self & other }
            #[inline(always)]
            fn or(self, other: Self) -> Self { self | other }
            #[inline(always)]
            fn xor(self, other: Self) -> Self { self ^ other }
            #[inline(always)]
            fn not(self) -> Self { !self }
            #[inline(always)]
            fn shift_left(self, amount: u32) -> Self {
                // A select instead of a branch, so that the row loop is vectorized.
                let shifted = self.wrapping_shl(amount);
                if amount < <$ty>::BITS { shifted } else { 0 }
            }
            #[inline(always)]
            fn is_zero(self) -> bool { self == 0 }
            #[inline(always)]
            fn flag(value: bool) -> Self { value.into() }
            #[inline(always)]
            fn leading_zeros(self) -> u32 { <$ty>::leading_zeros(self) }
            #[inline(always)]
            fn ones(self) -> u32 { self.count_ones() }
            #[inline(always)]
            fn reversed(self) -> Self { self.reverse_bits() }
        }
    )*};
}

bits!(u16, u32, u64);

/// Returns a mask of `start..start + length` of 64 bits.
#[inline(always)]
fn field(start: u32, length: u32, width: u32) -> u64 {
    if start >= width || length == 0 {
        return 0;
    }
    let ones = if length >= 64 { !0 } else { (1u64 << length) - 1 };
    ones << start
}

/// Returns the position of the highest bit that differs from the sign; all ones if none does.
#[inline(always)]
fn find(value: u64, width: u32, from_top: bool) -> u32 {
    if value == 0 {
        return !0;
    }
    let position = 63 - value.leading_zeros();
    if from_top { width - 1 - position } else { position }
}

/// Returns `length` bits of `a` from `start` on, sign-extended if `signed`.
#[inline(always)]
fn extract(a: u64, start: u32, length: u32, signed: bool) -> u64 {
    let sign = if !signed || length == 0 { 0 } else { a >> start.saturating_add(length - 1).min(63) & 1 };
    let value = if start >= 64 { 0 } else { a >> start };
    let available = 64u32.saturating_sub(start).min(length);
    let kept = if available >= 64 { value } else { value & ((1u64 << available) - 1) };
    if sign == 1 && available < 64 { kept | (!0 << available) } else { kept }
}

/// Selects bytes of `b:a` by the nibbles of `selector`; bit 3 of a nibble replicates the byte's
/// sign.
#[inline(always)]
pub(crate) fn permute(a: u32, b: u32, selector: u32) -> u32 {
    // By shifts, which whole rows have.
    let both = u64::from(b) << 32 | u64::from(a);
    let mut out = 0;
    for byte in 0..4 {
        let nibble = selector >> (4 * byte);
        let picked = (both >> (8 * (nibble & 7))) as u32 & 0xff;
        let sign = if picked & 0x80 != 0 { 0xff } else { 0 };
        out |= (if nibble & 8 != 0 { sign } else { picked }) << (8 * byte);
    }
    out
}

#[inline(always)]
fn dot4(a: [i32; 4], b: [i32; 4], c: i32) -> i32 {
    a.iter().zip(b).fold(c, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(y)))
}

#[inline(always)]
fn signed_bytes(x: u32) -> [i32; 4] {
    x.to_le_bytes().map(|byte| i32::from(byte as i8))
}

#[inline(always)]
fn unsigned_bytes(x: u32) -> [i32; 4] {
    x.to_le_bytes().map(i32::from)
}

#[inline(always)]
fn halves(x: u32, signed: bool) -> [i32; 2] {
    let parts = [x as u16, (x >> 16) as u16];
    parts.map(|half| if signed { i32::from(half as i16) } else { i32::from(half) })
}

#[inline(always)]
fn bytes(x: u32, signed: bool) -> [i32; 4] {
    if signed { signed_bytes(x) } else { unsigned_bytes(x) }
}

fn find_nth(mask: u32, base: u32, n: i32) -> u32 {
    if base > 31 {
        return !0;
    }
    if n == 0 {
        return if mask >> base & 1 != 0 { base } else { !0 };
    }
    let set = |position: &u32| mask >> position & 1 != 0;
    let skip = n.unsigned_abs() as usize - 1;
    let found = if n > 0 { (base..32).filter(set).nth(skip) } else { (0..=base).rev().filter(set).nth(skip) };
    found.unwrap_or(!0)
}

operations! {
    @rows(true)
    @lower(Lower::Move)
    Move32(a: u32) -> u32 { a }
    @rows(true)
    @lower(Lower::Move)
    Move64(a: u64) -> u64 { a }
    @rows(size_of::<T>() >= 2)
    @lower(Lower::And)
    And[T: Bits](a: T, b: T) -> T { a.and(b) }
    @rows(size_of::<T>() >= 2)
    @lower(Lower::Or)
    Or[T: Bits](a: T, b: T) -> T { a.or(b) }
    @rows(size_of::<T>() >= 2)
    @lower(Lower::Xor)
    Xor[T: Bits](a: T, b: T) -> T { a.xor(b) }
    @rows(size_of::<T>() >= 2)
    @lower(Lower::Not)
    Not[T: Bits](a: T) -> T { a.not() }
    @rare(true)
    LogicalNot[T: Bits](a: T) -> T { T::flag(a.is_zero()) }
    @rows(size_of::<T>() >= 2)
    @lower(Lower::ShiftLeft)
    ShiftLeft[T: Bits](a: T, b: u32) -> T { a.shift_left(b) }
    // Kernels find the first lane of a mask by this, or by reversing it and finding its highest
    // bit.
    @rows(size_of::<T>() == 4)
    @lower(Lower::LeadingZeros)
    CountLeadingZeros[T: Bits](a: T) -> u32 { a.leading_zeros() }
    @rows(size_of::<T>() == 4)
    @lower(Lower::Ones)
    CountOnes[T: Bits](a: T) -> u32 { a.ones() }
    @rows(size_of::<T>() == 4)
    @lower(Lower::Reverse)
    Reverse[T: Bits](a: T) -> T { a.reversed() }
    /// Any function of three bits, by its truth table.
    @rows(true)
    @lower(Lower::Logic3)
    Logic3(a: u32, b: u32, c: u32, table: u32) -> u32 {
        let mut out = 0;
        for row in 0..8 {
            let pick = |x: u32, bit: u32| if row & bit != 0 { x } else { !x };
            let here = pick(a, 4) & pick(b, 2) & pick(c, 1);
            out |= if table >> row & 1 != 0 { here } else { 0 };
        }
        out
    }
    @rows(true)
    @lower(Lower::Funnel { left: true, wrap: WRAP })
    FunnelLeft[const WRAP: bool](low: u32, high: u32, amount: u32) -> u32 {
        let amount = if WRAP { amount & 31 } else { amount.min(32) };
        (((u64::from(high) << 32 | u64::from(low)) << amount) >> 32) as u32
    }
    @rows(true)
    @lower(Lower::Funnel { left: false, wrap: WRAP })
    FunnelRight[const WRAP: bool](low: u32, high: u32, amount: u32) -> u32 {
        let amount = if WRAP { amount & 31 } else { amount.min(32) };
        ((u64::from(high) << 32 | u64::from(low)) >> amount) as u32
    }
    // For positions and lengths, the 32-bit forms use the low byte, the 64-bit forms all bits.
    @rows(true)
    @lower(Lower::Extract { signed: false })
    ExtractU32(a: u32, start: u32, length: u32) -> u32 {
        let (start, length) = (start & 0xff, length & 0xff);
        let value = if start < 32 { a >> (start & 31) } else { 0 };
        let mask = if length < 32 { (1 << (length & 31)) - 1 } else { !0 };
        value & mask
    }
    @rows(true)
    @lower(Lower::Extract { signed: true })
    ExtractS32(a: u32, start: u32, length: u32) -> u32 {
        let (start, length) = (start & 0xff, length & 0xff);
        // The last bit moves to the top, and back down with copies of it.
        let end = start + length;
        let above = 32u32.saturating_sub(end);
        let down = if start + above < 32 { start + above } else { 31 };
        let value = ((a << (above & 31)) as i32 >> down) as u32;
        if length == 0 { 0 } else { value }
    }
    ExtractU64(a: u64, start: u32, length: u32) -> u64 { extract(a, start, length, false) }
    ExtractS64(a: u64, start: u32, length: u32) -> u64 { extract(a, start, length, true) }
    @rows(true)
    @lower(Lower::Insert)
    Insert32(a: u32, b: u32, start: u32, length: u32) -> u32 {
        let (start, length) = (start & 0xff, length & 0xff);
        let mask = field(start, length, 32) as u32;
        (b & !mask) | (a.wrapping_shl(start) & mask)
    }
    Insert64(a: u64, b: u64, start: u32, length: u32) -> u64 {
        let mask = field(start, length, 64);
        (b & !mask) | (a.wrapping_shl(start) & mask)
    }
    @rows(true)
    @lower(Lower::Find { from_top: FROM_TOP })
    FindU32[const FROM_TOP: bool](a: u32) -> u32 {
        // Without a bit there are 32 zeros, so the position is -1.
        let zeros = a.leading_zeros();
        if !FROM_TOP { 31u32.wrapping_sub(zeros) } else if a == 0 { !0 } else { zeros }
    }
    FindS32[const FROM_TOP: bool](a: i32) -> u32 { find(u64::from((a ^ (a >> 31)) as u32), 32, FROM_TOP) }
    @rare(true)
    FindU64[const FROM_TOP: bool](a: u64) -> u32 { find(a, 64, FROM_TOP) }
    @rare(true)
    FindS64[const FROM_TOP: bool](a: i64) -> u32 { find((a ^ (a >> 63)) as u64, 64, FROM_TOP) }
    @rows(true)
    @lower(Lower::Permute)
    Permute(a: u32, b: u32, selector: u32) -> u32 { permute(a, b, selector) }
    /// Four consecutive bytes of `b:a` from byte `c` on, upwards.
    @rare(true)
    PermuteForward4(a: u32, b: u32, c: u32) -> u32 { permute(a, b, [0x3210, 0x4321, 0x5432, 0x6543][(c & 3) as usize]) }
    /// Four consecutive bytes of `b:a` from byte `c` on, downwards.
    @rare(true)
    PermuteBackward4(a: u32, b: u32, c: u32) -> u32 { permute(a, b, [0x5670, 0x6701, 0x7012, 0x0123][(c & 3) as usize]) }
    @rare(true)
    PermuteReplicate8(a: u32, b: u32, c: u32) -> u32 { permute(a, b, (c & 3) * 0x1111) }
    @rare(true)
    PermuteEdgeLeft(a: u32, b: u32, c: u32) -> u32 { permute(a, b, [0x3210, 0x3211, 0x3222, 0x3333][(c & 3) as usize]) }
    @rare(true)
    PermuteEdgeRight(a: u32, b: u32, c: u32) -> u32 { permute(a, b, [0x0000, 0x1110, 0x2210, 0x3210][(c & 3) as usize]) }
    @rare(true)
    PermuteReplicate16(a: u32, b: u32, c: u32) -> u32 { permute(a, b, [0x1010, 0x3232][(c & 1) as usize]) }
    /// A run of `b` ones from bit `a` on.
    @rare(true)
    Mask[const WRAP: bool](a: u32, b: u32) -> u32 {
        let (a, b) = if WRAP { (a & 31, b & 31) } else { (a.min(32), b.min(32)) };
        (((1u64 << b) - 1) << a) as u32
    }
    /// Keeps the low `b` bits, sign-extended if `SIGNED`.
    @rare(true)
    Extend[const SIGNED: bool, WRAP: bool](a: u32, b: u32) -> u32 {
        let keep = if WRAP { b & 31 } else { b.min(32) };
        if keep == 0 {
            0
        } else {
            let rest = 32 - keep;
            if SIGNED { (((a << rest) as i32) >> rest) as u32 } else { (a << rest) >> rest }
        }
    }
    @rows(true)
    @lower(Lower::Dot { signed: [SIGNED_A, SIGNED_B], halves: None })
    Dot4[const SIGNED_A: bool, SIGNED_B: bool](a: u32, b: u32, c: u32) -> u32 {
        dot4(bytes(a, SIGNED_A), bytes(b, SIGNED_B), c as i32) as u32
    }
    @rare(true)
    @lower(Lower::Dot {
        signed: [SIGNED_A, SIGNED_B],
        halves: Some(if HIGH { Half::Upper } else { Half::Lower }),
    })
    Dot2[const SIGNED_A: bool, SIGNED_B: bool, HIGH: bool](a: u32, b: u32, c: u32) -> u32 {
        let a = halves(a, SIGNED_A);
        let b = bytes(b, SIGNED_B);
        let b = if HIGH { [b[2], b[3]] } else { [b[0], b[1]] };
        dot4([a[0], a[1], 0, 0], [b[0], b[1], 0, 0], c as i32) as u32
    }
    /// The position of the `|n|`-th set bit, counted from `base` upwards or, for negative `n`,
    /// downwards.
    @rare(true)
    FindNth(mask: u32, base: u32, n: i32) -> u32 { find_nth(mask, base, n) }
    @rows(true)
    @lower(Lower::Low)
    Low32(a: u64) -> u32 { a as u32 }
    @rows(true)
    @lower(Lower::High)
    High32(a: u64) -> u32 { (a >> 32) as u32 }
    @rows(true)
    @lower(Lower::Pack)
    Pack32(low: u32, high: u32) -> u64 { u64::from(high) << 32 | u64::from(low) }
    @rows(true)
    @lower(Lower::Pack16)
    Pack16(low: u16, high: u16) -> u32 { u32::from(high) << 16 | u32::from(low) }
    @rows(true)
    Pack8(a: u8, b: u8, c: u8, d: u8) -> u32 { u32::from_le_bytes([a, b, c, d]) }
    @rows(true)
    @lower(Lower::ShiftDown)
    ShiftDown64(a: u64, b: u32) -> u64 { a.wrapping_shr(b) }
    @rows(true)
    @lower(Lower::ShiftDown)
    ShiftDown32(a: u32, b: u32) -> u32 { a.wrapping_shr(b) }
}
