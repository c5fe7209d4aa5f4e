//! Integer operations as machine code.

use super::backend::{Emitter, I32, I64, IntCC, Type, Val};
use super::called::extended;
use super::writer::Writer;
use crate::semantics::lower::{Half, Lower};
use crate::semantics::{PureInfo, Register};

/// Operands of an operation.
struct Operands<'i> {
    info: &'i PureInfo,
    sources: [Register; 4],
}

impl Operands<'_> {
    /// Returns an operand in the type of its size, at least 32 bits.
    fn get(&self, w: &mut Writer<'_, '_>, index: usize) -> Val {
        let (size, signed) = (self.info.sizes[index + 1], self.info.signed[index + 1]);
        if size < 4 && w.known(self.sources[index]).is_some() {
            return self.part(w, index, (0, 8 * size), signed);
        }
        let value = w.get(self.sources[index], if size == 8 { I64 } else { I32 });
        extended(w, value, size, signed)
    }

    fn signed(&self) -> bool {
        self.info.signed[1]
    }

    /// Returns an operand of 64 bits, extended from fewer.
    fn wide(&self, w: &mut Writer<'_, '_>, index: usize) -> Val {
        let value = self.get(w, index);
        self.widened(w, index, value)
    }

    /// Returns the product of 64 bits of two operands of 32. Vectors are extended as such, because
    /// the processor multiplies them in one instruction then.
    fn product(&self, w: &mut Writer<'_, '_>) -> Val {
        let (a, b) = (self.get(w, 0), self.get(w, 1));
        let (a, b) = w.e.alike(a, b);
        let (a, b) = (self.widened(w, 0, a), self.widened(w, 1, b));
        w.e.imul(a, b)
    }

    /// Returns some bits of an operand of 32, extended.
    fn part(&self, w: &mut Writer<'_, '_>, index: usize, (start, bits): (u32, u32), signed: bool) -> Val {
        let Some(known) = w.known(self.sources[index]) else {
            let word = self.get(w, index);
            return w.e.field(word, (start, bits), signed);
        };
        let raised = (known as u32) << (32 - start - bits);
        let down = 32 - bits;
        let part = if signed { (raised as i32 >> down) as u32 } else { raised >> down };
        w.e.int(I32, part.into())
    }

    fn widened(&self, w: &mut Writer<'_, '_>, index: usize, value: Val) -> Val {
        if w.e.ty(value).lane_type() == I64 {
            value
        } else if self.info.signed[index + 1] {
            w.e.sextend(I64, value)
        } else {
            w.e.uextend(I64, value)
        }
    }
}

/// Writes an operation on integers. Returns `None` if it has no machine code.
pub(super) fn pure(w: &mut Writer<'_, '_>, info: &PureInfo, sources: [Register; 4]) -> Option<Val> {
    let x = Operands { info, sources };
    let value = arithmetic(w, &x).or_else(|| logic(w, &x)).or_else(|| parts(w, &x))?;
    Some(extended(w, value, info.sizes[0], info.signed[0]))
}

/// Instructions with the same meaning as an operation on two operands.
fn of_two<'e>(operation: Lower, signed: bool) -> Option<fn(&mut Emitter<'e>, Val, Val) -> Val> {
    Some(match operation {
        Lower::Add => Emitter::iadd,
        Lower::Sub => Emitter::isub,
        Lower::MulLow => Emitter::imul,
        Lower::Min if signed => Emitter::smin,
        Lower::Min => Emitter::umin,
        Lower::Max if signed => Emitter::smax,
        Lower::Max => Emitter::umax,
        Lower::And => Emitter::band,
        Lower::Or => Emitter::bor,
        Lower::Xor => Emitter::bxor,
        _ => return None,
    })
}

fn arithmetic(w: &mut Writer<'_, '_>, x: &Operands<'_>) -> Option<Val> {
    if let Some(instruction) = of_two(x.info.lower, x.signed()) {
        let (a, b) = (x.get(w, 0), x.get(w, 1));
        return Some(instruction(w.e, a, b));
    }
    Some(match x.info.lower {
        Lower::MadLow => {
            let (a, b, c) = (x.get(w, 0), x.get(w, 1), x.get(w, 2));
            let product = w.e.imul(a, b);
            w.e.iadd(product, c)
        }
        Lower::MulHigh => high_product(w, x),
        Lower::MadHigh => {
            let product = high_product(w, x);
            let c = x.get(w, 2);
            w.e.iadd(product, c)
        }
        Lower::MulWide => wide_product(w, x),
        Lower::MadWide => {
            let product = wide_product(w, x);
            let c = x.get(w, 2);
            w.e.iadd(product, c)
        }
        Lower::Div | Lower::Rem => division(w, x),
        Lower::Abs => {
            let a = x.get(w, 0);
            if x.signed() { w.e.iabs(a) } else { a }
        }
        Lower::Neg => {
            let a = x.get(w, 0);
            w.e.ineg(a)
        }
        _ => return None,
    })
}

fn wide_product(w: &mut Writer<'_, '_>, x: &Operands<'_>) -> Val {
    if x.info.sizes[0] == 4 {
        let (a, b) = (x.get(w, 0), x.get(w, 1));
        return w.e.imul(a, b);
    }
    x.product(w)
}

fn high_product(w: &mut Writer<'_, '_>, x: &Operands<'_>) -> Val {
    if x.info.sizes[0] == 8 {
        let (a, b) = (x.get(w, 0), x.get(w, 1));
        return if x.signed() { w.e.smulhi(a, b) } else { w.e.umulhi(a, b) };
    }
    let product = x.product(w);
    let bits = w.e.int(I64, u64::from(x.info.sizes[0]) * 8);
    let high = w.e.ushr(product, bits);
    w.e.ireduce(I32, high)
}

fn division(w: &mut Writer<'_, '_>, x: &Operands<'_>) -> Val {
    let (a, b) = (x.get(w, 0), x.get(w, 1));
    let ty = w.e.ty(a);
    let quotient = x.info.lower == Lower::Div;
    let (usual, special, after) = (w.e.block(), w.e.block(), w.e.block());
    let result = w.e.param(after, ty);
    let zero = w.e.int(ty, 0);
    let ones = w.e.int(ty, u64::MAX);
    let is_special = if x.signed() {
        // Zero, or minus one.
        let one = w.e.int(ty, 1);
        let next = w.e.iadd(b, one);
        w.e.icmp(IntCC::UnsignedLessThanOrEqual, next, one)
    } else {
        w.e.icmp(IntCC::Equal, b, zero)
    };
    w.e.branch(is_special, (special, &[]), (usual, &[]));
    w.e.go_on(special);
    let of_minus_one = if quotient { w.e.ineg(a) } else { zero };
    let is_zero = w.e.icmp(IntCC::Equal, b, zero);
    let value = w.e.select(is_zero, ones, of_minus_one);
    w.e.jump(after, &[value]);
    w.e.go_on(usual);
    let value = match (quotient, x.signed()) {
        (true, true) => w.e.sdiv(a, b),
        (true, false) => w.e.udiv(a, b),
        (false, true) => w.e.srem(a, b),
        (false, false) => w.e.urem(a, b),
    };
    w.e.jump(after, &[value]);
    w.e.go_on(after);
    result
}

fn logic(w: &mut Writer<'_, '_>, x: &Operands<'_>) -> Option<Val> {
    Some(match x.info.lower {
        Lower::Not => {
            let a = x.get(w, 0);
            w.e.bnot(a)
        }
        Lower::ShiftLeft | Lower::ShiftRight | Lower::ShiftDown => shift(w, x),
        Lower::LeadingZeros => {
            let a = x.get(w, 0);
            let zeros = w.e.clz(a);
            match x.info.sizes[1] {
                8 => w.e.ireduce(I32, zeros),
                4 => zeros,
                size => {
                    let extra = w.e.int(I32, (32 - size * 8).into());
                    w.e.isub(zeros, extra)
                }
            }
        }
        Lower::Find { from_top } => {
            let a = x.get(w, 0);
            let zeros = w.e.clz(a);
            if from_top {
                let none = w.e.int(I32, u64::MAX);
                w.e.select(a, zeros, none)
            } else {
                // Without a bit there are 32 zeros, so the position is -1.
                let most = w.e.int(I32, 31);
                w.e.isub(most, zeros)
            }
        }
        Lower::Ones => {
            let a = x.get(w, 0);
            let ones = w.e.popcnt(a);
            if x.info.sizes[1] == 8 { w.e.ireduce(I32, ones) } else { ones }
        }
        Lower::Reverse if x.info.sizes[1] >= 4 => {
            let a = x.get(w, 0);
            w.e.bitrev(a)
        }
        Lower::Logic3 => logic3(w, x)?,
        _ => return None,
    })
}

fn shift(w: &mut Writer<'_, '_>, x: &Operands<'_>) -> Val {
    let a = x.get(w, 0);
    let amount = x.get(w, 1);
    let ty = w.e.ty(a);
    let width = u64::from(ty.lane_bits());
    if x.info.lower == Lower::ShiftDown {
        return w.e.ushr(a, amount);
    }
    if x.info.lower == Lower::ShiftRight && x.signed() {
        let most = w.e.int(I32, width - 1);
        let amount = w.e.umin(amount, most);
        return w.e.sshr(a, amount);
    }
    let left = x.info.lower == Lower::ShiftLeft;
    let shifted = if left { w.e.ishl(a, amount) } else { w.e.ushr(a, amount) };
    if w.known(x.sources[1]).is_some_and(|amount| amount < width) {
        return shifted;
    }
    let width = w.e.int(I32, width);
    let zero = w.e.int(ty, 0);
    let inside = w.e.icmp(IntCC::UnsignedLessThan, amount, width);
    w.e.select(inside, shifted, zero)
}

/// Any function of three bits: the value of the first one selects a function of the other two.
fn logic3(w: &mut Writer<'_, '_>, x: &Operands<'_>) -> Option<Val> {
    let table = w.known(x.sources[3])?;
    let (a, b, c) = (x.get(w, 0), x.get(w, 1), x.get(w, 2));
    if table & 0xff == 0x96 {
        let both = w.e.bxor(a, b);
        return Some(w.e.bxor(both, c));
    }
    let with = logic2(w, table >> 4 & 15, b, c);
    let without = logic2(w, table & 15, b, c);
    let others = w.e.bnot(a);
    let with = w.e.band(with, a);
    let without = w.e.band(without, others);
    Some(w.e.bor(with, without))
}

fn logic2(w: &mut Writer<'_, '_>, table: u64, b: Val, c: Val) -> Val {
    let invert = |w: &mut Writer<'_, '_>, value| w.e.bnot(value);
    match table {
        0 => w.e.int(I32, 0),
        1 | 14 => {
            let value = w.e.bor(b, c);
            if table == 1 { invert(w, value) } else { value }
        }
        2 | 13 => {
            let b = invert(w, b);
            let value = w.e.band(b, c);
            if table == 13 { invert(w, value) } else { value }
        }
        3 => invert(w, b),
        12 => b,
        4 | 11 => {
            let c = invert(w, c);
            let value = w.e.band(b, c);
            if table == 11 { invert(w, value) } else { value }
        }
        5 => invert(w, c),
        10 => c,
        6 | 9 => {
            let value = w.e.bxor(b, c);
            if table == 9 { invert(w, value) } else { value }
        }
        7 | 8 => {
            let value = w.e.band(b, c);
            if table == 7 { invert(w, value) } else { value }
        }
        _ => w.e.int(I32, u64::MAX),
    }
}

/// Operations that move parts of words.
fn parts(w: &mut Writer<'_, '_>, x: &Operands<'_>) -> Option<Val> {
    Some(match x.info.lower {
        Lower::Funnel { left, wrap } => funnel(w, x, left, wrap),
        Lower::Extract { signed } => extract(w, x, signed)?,
        Lower::Insert => insert(w, x)?,
        Lower::Permute => permute(w, x)?,
        Lower::Dot { signed, halves } => products(w, x, signed, halves),
        Lower::Low => {
            let a = x.get(w, 0);
            w.e.ireduce(I32, a)
        }
        Lower::High => {
            let a = x.get(w, 0);
            let half = w.e.int(I64, 32);
            let high = w.e.ushr(a, half);
            w.e.ireduce(I32, high)
        }
        Lower::Pack => {
            let (low, high) = (x.get(w, 0), x.get(w, 1));
            concatenated(w, low, high)
        }
        Lower::Pack16 => {
            let (low, high) = (x.get(w, 0), x.get(w, 1));
            let half = w.e.int(I32, 16);
            let high = w.e.ishl(high, half);
            w.e.bor(low, high)
        }
        Lower::Wrap => {
            if x.info.sizes[0] == 8 {
                x.wide(w, 0)
            } else {
                let a = x.get(w, 0);
                if w.e.ty(a).lane_type() == I64 { w.e.ireduce(I32, a) } else { a }
            }
        }
        Lower::BrainToSingle => {
            let a = w.get(x.sources[0], I32);
            let half = w.e.int(I32, 16);
            w.e.ishl(a, half)
        }
        _ => return None,
    })
}

fn concatenated(w: &mut Writer<'_, '_>, low: Val, high: Val) -> Val {
    let (low, high) = (w.e.uextend(I64, low), w.e.uextend(I64, high));
    let half = w.e.int(I64, 32);
    let high = w.e.ishl(high, half);
    w.e.bor(high, low)
}

fn funnel(w: &mut Writer<'_, '_>, x: &Operands<'_>, left: bool, wrap: bool) -> Val {
    let (low, high, amount) = (x.get(w, 0), x.get(w, 1), x.get(w, 2));
    let most = w.e.int(I32, if wrap { 31 } else { 32 });
    let amount = if wrap { w.e.band(amount, most) } else { w.e.umin(amount, most) };
    if x.sources[0] == x.sources[1] {
        return if left { w.e.rotl(low, amount) } else { w.e.rotr(low, amount) };
    }
    let both = concatenated(w, low, high);
    if left {
        let shifted = w.e.ishl(both, amount);
        let half = w.e.int(I64, 32);
        let high = w.e.ushr(shifted, half);
        return w.e.ireduce(I32, high);
    }
    let shifted = w.e.ushr(both, amount);
    w.e.ireduce(I32, shifted)
}

/// Returns a sum of products of parts.
fn products(w: &mut Writer<'_, '_>, x: &Operands<'_>, signed: [bool; 2], halves: Option<Half>) -> Val {
    let (count, bits, skipped) = match halves {
        None => (4, 8, 0),
        Some(half) => (2, 16, if half == Half::Upper { 2 } else { 0 }),
    };
    let mut sum = x.get(w, 2);
    if halves.is_none() {
        let numbers = [x.get(w, 0), x.get(w, 1)];
        if numbers.iter().any(|number| w.e.is_vector(*number)) {
            let products = w.e.products_of_bytes(numbers, signed);
            return w.e.iadd(sum, products);
        }
    }
    for index in 0..count {
        let a = x.part(w, 0, (index * bits, bits), signed[0]);
        let b = x.part(w, 1, ((index + skipped) * 8, 8), signed[1]);
        let product = w.e.imul(a, b);
        sum = w.e.iadd(sum, product);
    }
    sum
}

/// Extracts a field at a constant position.
fn extract(w: &mut Writer<'_, '_>, x: &Operands<'_>, signed: bool) -> Option<Val> {
    let (start, length) = (w.known(x.sources[1])? & 0xff, w.known(x.sources[2])? & 0xff);
    if length == 0 || start + length > 32 {
        return None;
    }
    Some(x.part(w, 0, (start as u32, length as u32), signed))
}

/// Inserts a field at a constant position.
fn insert(w: &mut Writer<'_, '_>, x: &Operands<'_>) -> Option<Val> {
    let (start, length) = (w.known(x.sources[2])? & 0xff, w.known(x.sources[3])? & 0xff);
    if length == 0 || start + length > 32 {
        return None;
    }
    let mask = (((1u64 << length) - 1) << start) & 0xffff_ffff;
    let (a, b) = (x.get(w, 0), x.get(w, 1));
    let (inside, outside) = (w.e.int(I32, mask), w.e.int(I32, !mask));
    let start = w.e.int(I32, start);
    let a = w.e.ishl(a, start);
    let (a, b) = (w.e.band(a, inside), w.e.band(b, outside));
    Some(w.e.bor(a, b))
}

/// Selects bytes by a constant.
fn permute(w: &mut Writer<'_, '_>, x: &Operands<'_>) -> Option<Val> {
    let selector = w.known(x.sources[2])? & 0xffff;
    if selector & 0x8888 != 0 {
        return None;
    }
    let (a, b) = (x.get(w, 0), x.get(w, 1));
    if selector == 0x0123 {
        return Some(w.e.bswap(a));
    }
    let byte = w.e.int(I32, 0xff);
    let mut out = None;
    for index in 0..4 {
        let from = selector >> (4 * index) & 7;
        let word = if from < 4 { a } else { b };
        let down = w.e.int(I32, from % 4 * 8);
        let up = w.e.int(I32, index * 8);
        let value = w.e.ushr(word, down);
        let value = w.e.band(value, byte);
        let value = w.e.ishl(value, up);
        out = Some(match out {
            None => value,
            Some(others) => w.e.bor(others, value),
        });
    }
    out
}

/// Returns the integer type of this size, at least 32 bits.
pub(super) fn word(size: u32) -> Type {
    if size == 8 { I64 } else { I32 }
}
