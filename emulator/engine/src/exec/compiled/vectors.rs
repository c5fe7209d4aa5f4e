//! Instructions of the code generator on vectors: numbers of four lanes, or of two if they are
//! wide.
//!
//! A condition is a number in code for one lane. In a vector it is a mask, with all bits of the
//! lanes in which it holds.

use super::backend::{Emitter, F32, F64, FloatCC, I8, I16, I32, I64, IntCC, Type, Val};
use cranelift_codegen::ir::types::{F32X4, F64X2, I8X16, I16X8, I32X4, I64X2};
use cranelift_codegen::ir::{ConstantData, InstBuilder, InstructionData, Opcode};

/// Returns the type of a vector of 16 bytes.
pub(super) fn vector_of(ty: Type) -> Type {
    match ty {
        I16 => I16X8,
        F32 => F32X4,
        I64 => I64X2,
        F64 => F64X2,
        I8 => I8X16,
        _ => I32X4,
    }
}

/// The bytes of the lower words of two vectors of wide numbers.
const LOWER_WORDS: [u8; 16] = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];

/// The bytes of the lower words of two vectors, in turn.
const INTERLEAVED: [u8; 16] = [0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23];

impl Emitter<'_> {
    pub(super) fn is_vector(&self, value: Val) -> bool {
        self.ty(value).is_vector()
    }

    /// Returns the sums of the products of the bytes of each word of two vectors, which have a sign
    /// or not.
    pub(super) fn products_of_bytes(&mut self, [a, b]: [Val; 2], signed: [bool; 2]) -> Val {
        let (a, b) = self.alike(a, b);
        let [a, b] = [(a, signed[0]), (b, signed[1])].map(|(words, signed)| {
            let eight = self.int(I32, 8);
            let odd = self.bitcast(I16X8, words);
            let even = self.ishl(odd, eight);
            [even, odd].map(|half| if signed { self.sshr(half, eight) } else { self.ushr(half, eight) })
        });
        // One instruction of the processor.
        let [even, odd] = [(a[0], b[0]), (a[1], b[1])].map(|(a, b)| {
            let [a, b] = [a, b].map(|half| [self.b.ins().swiden_low(half), self.b.ins().swiden_high(half)]);
            let (low, high) = (self.imul(a[0], b[0]), self.imul(a[1], b[1]));
            self.b.ins().iadd_pairwise(low, high)
        });
        self.iadd(even, odd)
    }

    /// Repeats a number in a vector. A constant is loaded as such, in one instruction.
    pub(super) fn splat(&mut self, value: Val) -> Val {
        let ty = vector_of(self.ty(value));
        let Some(bits) = self.constant(value) else { return self.b.ins().splat(ty, value) };
        let bytes = &bits.to_le_bytes()[..ty.lane_bits() as usize / 8];
        self.constants(ty, &bytes.repeat(16 / bytes.len()))
    }

    /// Returns a vector of constants from its 16 bytes.
    fn constants(&mut self, ty: Type, bytes: &[u8]) -> Val {
        let constant = self.b.func.dfg.constants.insert(ConstantData::from(bytes));
        self.b.ins().vconst(ty, constant)
    }

    /// Returns the bits of a constant.
    fn constant(&self, value: Val) -> Option<u64> {
        let dfg = &self.b.func.dfg;
        match dfg.insts[dfg.value_def(value).inst()?] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits() as u64),
            InstructionData::UnaryIeee32 { imm, .. } => Some(imm.bits().into()),
            InstructionData::UnaryIeee64 { imm, .. } => Some(imm.bits()),
            _ => None,
        }
    }

    /// Returns two operands as vectors if one of them is a vector.
    pub(super) fn alike(&mut self, a: Val, b: Val) -> (Val, Val) {
        let (first, second) = (self.ty(a), self.ty(b));
        match (first.is_vector(), second.is_vector()) {
            (true, false) => (a, self.repeated(b, first)),
            (false, true) => (self.repeated(a, second), b),
            _ => (a, b),
        }
    }

    /// Repeats a number or a condition in a vector like another.
    fn repeated(&mut self, value: Val, ty: Type) -> Val {
        if self.ty(value) != I8 {
            return self.splat(value);
        }
        let mask = self.mask(value, ty.lane_bits());
        self.splat(mask)
    }

    /// Returns a number with all bits or none, as a condition says.
    pub(super) fn mask(&mut self, condition: Val, bits: u32) -> Val {
        let word = self.b.ins().uextend(if bits == 64 { I64 } else { I32 }, condition);
        self.b.ins().ineg(word)
    }

    pub(super) fn not(&mut self, condition: Val) -> Val {
        if self.is_vector(condition) {
            return self.b.ins().bnot(condition);
        }
        let one = self.int(I8, 1);
        self.b.ins().bxor(condition, one)
    }

    /// True if a condition holds in some lane.
    pub(super) fn any(&mut self, condition: Val) -> Val {
        if self.is_vector(condition) { self.b.ins().vany_true(condition) } else { condition }
    }

    /// Returns a bit for each of four lanes in which a condition holds.
    pub(super) fn bits_of(&mut self, mask: Val) -> Val {
        self.b.ins().vhigh_bits(I32, mask)
    }

    pub(super) fn icmp(&mut self, cc: IntCC, a: Val, b: Val) -> Val {
        let (mut a, mut b) = self.alike(a, b);
        let signed = with_sign(cc);
        if self.ty(a) != I64X2 || signed == cc {
            return self.b.ins().icmp(cc, a, b);
        }
        // The processor compares wide numbers with their signs only.
        let sign = self.int(I64X2, 1 << 63);
        (a, b) = (self.b.ins().bxor(a, sign), self.b.ins().bxor(b, sign));
        self.b.ins().icmp(signed, a, b)
    }

    pub(super) fn fcmp(&mut self, cc: FloatCC, a: Val, b: Val) -> Val {
        let (a, b) = self.alike(a, b);
        if self.is_vector(a) && matches!(cc, FloatCC::OrderedNotEqual | FloatCC::UnorderedOrEqual) {
            let less = self.b.ins().fcmp(FloatCC::LessThan, a, b);
            let greater = self.b.ins().fcmp(FloatCC::GreaterThan, a, b);
            let differ = self.b.ins().bor(less, greater);
            return if cc == FloatCC::OrderedNotEqual { differ } else { self.b.ins().bnot(differ) };
        }
        self.b.ins().fcmp(cc, a, b)
    }

    pub(super) fn select(&mut self, condition: Val, a: Val, b: Val) -> Val {
        let (mut a, mut b) = self.alike(a, b);
        if !self.is_vector(condition) {
            return self.b.ins().select(condition, a, b);
        }
        if !self.is_vector(a) {
            (a, b) = (self.splat(a), self.splat(b));
        }
        let ty = self.ty(a);
        let condition = if self.ty(condition) == ty { condition } else { self.bitcast(ty, condition) };
        self.b.ins().bitselect(condition, a, b)
    }

    pub(super) fn imul(&mut self, a: Val, b: Val) -> Val {
        let power = |value| self.constant(value).filter(|bits| bits.is_power_of_two());
        let by_power = [(a, b), (b, a)].into_iter().find_map(|(a, b)| Some((a, power(b)?)));
        if let Some((vector, power)) = by_power.filter(|(a, _)| self.is_vector(*a)) {
            let amount = self.int(I32, power.trailing_zeros().into());
            return self.b.ins().ishl(vector, amount);
        }
        let (a, b) = self.alike(a, b);
        self.b.ins().imul(a, b)
    }

    pub(super) fn fma(&mut self, a: Val, b: Val, c: Val) -> Val {
        let (a, b) = self.alike(a, b);
        let (a, c) = self.alike(a, c);
        let (b, c) = self.alike(b, c);
        self.b.ins().fma(a, b, c)
    }

    pub(super) fn fcopysign(&mut self, a: Val, sign: Val) -> Val {
        let (a, sign) = self.alike(a, sign);
        let ty = self.ty(a);
        if !ty.is_vector() {
            return self.b.ins().fcopysign(a, sign);
        }
        let bits = if ty == F64X2 { I64X2 } else { I32X4 };
        let highest = self.int(bits, 1 << (bits.lane_bits() - 1));
        let others = self.b.ins().bnot(highest);
        let (a, sign) = (self.bitcast(bits, a), self.bitcast(bits, sign));
        let (a, sign) = (self.b.ins().band(a, others), self.b.ins().band(sign, highest));
        let both = self.b.ins().bor(a, sign);
        self.bitcast(ty, both)
    }

    pub(super) fn rotl(&mut self, a: Val, amount: Val) -> Val {
        if !self.is_vector(a) {
            return self.b.ins().rotl(a, amount);
        }
        let width = self.int(I32, self.ty(a).lane_bits().into());
        let rest = self.b.ins().isub(width, amount);
        let (high, low) = (self.b.ins().ishl(a, amount), self.b.ins().ushr(a, rest));
        self.b.ins().bor(high, low)
    }

    pub(super) fn rotr(&mut self, a: Val, amount: Val) -> Val {
        if !self.is_vector(a) {
            return self.b.ins().rotr(a, amount);
        }
        let left = self.b.ins().ineg(amount);
        self.rotl(a, left)
    }

    pub(super) fn uextend(&mut self, ty: Type, a: Val) -> Val {
        self.extend(ty, a, false)
    }

    pub(super) fn sextend(&mut self, ty: Type, a: Val) -> Val {
        self.extend(ty, a, true)
    }

    /// Extends a number, or in a vector the numbers of the half that is written.
    fn extend(&mut self, ty: Type, a: Val, signed: bool) -> Val {
        let own = self.ty(a);
        match (own.is_vector(), signed, self.half) {
            _ if own.lane_type() == ty => a,
            (true, true, 0) => self.b.ins().swiden_low(a),
            (true, true, _) => self.b.ins().swiden_high(a),
            (true, false, 0) => self.b.ins().uwiden_low(a),
            (true, false, _) => self.b.ins().uwiden_high(a),
            (false, true, _) => self.b.ins().sextend(ty, a),
            (false, false, _) => self.b.ins().uextend(ty, a),
        }
    }

    /// Drops the upper bits of a number. Vectors keep them until their halves are joined.
    pub(super) fn ireduce(&mut self, ty: Type, a: Val) -> Val {
        if self.is_vector(a) { a } else { self.b.ins().ireduce(ty, a) }
    }

    pub(super) fn fcvt_from_sint(&mut self, ty: Type, a: Val) -> Val {
        let ty = if self.is_vector(a) { vector_of(ty) } else { ty };
        self.b.ins().fcvt_from_sint(ty, a)
    }

    pub(super) fn fcvt_from_uint(&mut self, ty: Type, a: Val) -> Val {
        let ty = if self.is_vector(a) { vector_of(ty) } else { ty };
        self.b.ins().fcvt_from_uint(ty, a)
    }

    pub(super) fn fcvt_to_sint_sat(&mut self, ty: Type, a: Val) -> Val {
        let ty = if self.is_vector(a) { vector_of(ty) } else { ty };
        self.b.ins().fcvt_to_sint_sat(ty, a)
    }

    pub(super) fn fcvt_to_uint_sat(&mut self, ty: Type, a: Val) -> Val {
        let ty = if self.is_vector(a) { vector_of(ty) } else { ty };
        self.b.ins().fcvt_to_uint_sat(ty, a)
    }

    /// Returns some bits of words, from a start on, extended.
    pub(super) fn field(&mut self, word: Val, (start, bits): (u32, u32), signed: bool) -> Val {
        let rest = 32 - bits;
        let above = rest - start;
        let mut shifted = |word: Val, amount: u32, shift: fn(&mut Self, Val, Val) -> Val| {
            let bits = self.int(I32, amount.into());
            if amount == 0 { word } else { shift(self, word, bits) }
        };
        if signed {
            let raised = shifted(word, above, Self::ishl);
            return shifted(raised, rest, Self::sshr);
        }
        let lowered = shifted(word, start, Self::ushr);
        if above == 0 { lowered } else { self.lowest(lowered, bits) }
    }

    /// Returns the lowest bits of words, extended by zeros.
    pub(super) fn lowest(&mut self, word: Val, bits: u32) -> Val {
        if self.is_below(word, bits) {
            return word;
        }
        let mask = self.int(I32, (1 << bits) - 1);
        self.band(word, mask)
    }

    /// True if the instruction that makes a vector leaves no bits above the lowest ones.
    fn is_below(&self, vector: Val, bits: u32) -> bool {
        let dfg = &self.b.func.dfg;
        let Some(maker) = dfg.value_def(vector).inst() else { return false };
        match dfg.insts[maker] {
            InstructionData::Unary { opcode: Opcode::UwidenLow | Opcode::UwidenHigh, arg } => {
                dfg.value_type(arg).lane_bits() <= bits
            }
            _ => false,
        }
    }

    /// Returns the number of one lane.
    pub(super) fn lane(&mut self, vector: Val, lane: usize) -> Val {
        self.b.ins().extractlane(vector, lane as u8)
    }

    /// Repeats the number of the first lane.
    pub(super) fn first_of(&mut self, vector: Val) -> Val {
        let ty = self.ty(vector);
        let bytes = ty.lane_bits() as u8 / 8;
        let order = std::array::from_fn(|byte| byte as u8 % bytes);
        let first = self.shuffled([vector; 2], order);
        self.bitcast(ty, first)
    }

    /// Joins the numbers of lanes in a vector.
    pub(super) fn join(&mut self, lanes: &[Val]) -> Val {
        let mut vector = self.splat(lanes[0]);
        for (index, lane) in lanes.iter().enumerate().skip(1) {
            vector = self.b.ins().insertlane(vector, *lane, index as u8);
        }
        vector
    }

    /// Returns the columns of a square of words from its rows.
    pub(super) fn transposed(&mut self, [a, b, c, d]: [Val; 4]) -> [Val; 4] {
        let (even, odd) = (self.join_words([a, b]), self.join_upper([a, b]));
        let (others, last) = (self.join_words([c, d]), self.join_upper([c, d]));
        [
            self.join_words([even, others]),
            self.join_words([odd, last]),
            self.join_upper([even, others]),
            self.join_upper([odd, last]),
        ]
    }

    /// Joins the lower words of the wide numbers of two halves.
    pub(super) fn join_words(&mut self, halves: [Val; 2]) -> Val {
        self.shuffled(halves, LOWER_WORDS)
    }

    pub(super) fn join_upper(&mut self, halves: [Val; 2]) -> Val {
        self.shuffled(halves, LOWER_WORDS.map(|byte| byte + 4))
    }

    /// Returns the halves of a vector of numbers in double precision.
    pub(super) fn promoted(&mut self, vector: Val) -> [Val; 2] {
        let upper = self.shuffled([vector; 2], std::array::from_fn(|byte| byte as u8 | 8));
        let upper = self.bitcast(F32X4, upper);
        [vector, upper].map(|half| self.b.ins().fvpromote_low(half))
    }

    /// Joins two halves in double precision, in single precision.
    pub(super) fn demoted(&mut self, halves: [Val; 2]) -> Val {
        let halves = halves.map(|half| self.b.ins().fvdemote(half));
        let joined = self.shuffled(halves, std::array::from_fn(|byte| (byte + byte / 8 * 8) as u8));
        self.bitcast(F32X4, joined)
    }

    /// Returns four words of two vectors: the first has the places 0 to 3, and the second 4 to 7.
    pub(super) fn words(&mut self, vectors: [Val; 2], places: [usize; 4]) -> Val {
        if places == [0, 1, 2, 3] {
            return self.bitcast(I32X4, vectors[0]);
        }
        self.shuffled(vectors, std::array::from_fn(|byte| (places[byte / 4] * 4 + byte % 4) as u8))
    }

    fn shuffled(&mut self, [low, high]: [Val; 2], order: [u8; 16]) -> Val {
        let (low, high) = (self.bitcast(I8X16, low), self.bitcast(I8X16, high));
        let order = self.b.func.dfg.immediates.push(ConstantData::from(&order[..]));
        let joined = self.b.ins().shuffle(low, high, order);
        self.bitcast(I32X4, joined)
    }

    /// Returns a vector of constants.
    pub(super) fn four(&mut self, numbers: [u32; 4]) -> Val {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.constants(I32X4, &bytes)
    }

    /// Returns a vector of wide constants.
    pub(super) fn two(&mut self, numbers: [u64; 2]) -> Val {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.constants(I64X2, &bytes)
    }

    /// Returns the words of two vectors in turn: of the lower lanes, and of the upper ones.
    pub(super) fn interleaved(&mut self, vectors: [Val; 2]) -> [Val; 2] {
        let order = |first: u8| std::array::from_fn(|byte| INTERLEAVED[byte] + first);
        [0, 8].map(|first| self.shuffled(vectors, order(first)))
    }

    /// Returns the first numbers of two vectors of wide numbers, and their second ones.
    pub(super) fn crossed(&mut self, vectors: [Val; 2]) -> [Val; 2] {
        let order = |first: u8| std::array::from_fn(|byte| byte as u8 + byte as u8 / 8 * 8 + first);
        [0, 8].map(|first| {
            let crossed = self.shuffled(vectors, order(first));
            self.bitcast(I64X2, crossed)
        })
    }

    /// Extends four numbers of one or two bytes, which lie in the lowest bytes of a word.
    pub(super) fn unpack(&mut self, packed: Val, bytes: u32, signed: bool) -> Val {
        let ty = vector_of(self.ty(packed));
        let vector = self.b.ins().scalar_to_vector(ty, packed);
        let mut vector = self.bitcast(if bytes == 1 { I8X16 } else { I16X8 }, vector);
        for _ in 0..if bytes == 1 { 2 } else { 1 } {
            vector = if signed { self.b.ins().swiden_low(vector) } else { self.b.ins().uwiden_low(vector) };
        }
        vector
    }

    /// Returns the lowest bytes of four numbers, one or two of each, as one number.
    pub(super) fn pack(&mut self, vector: Val, bytes: u32) -> Val {
        let bytes = bytes as usize;
        let order = |byte: usize| if byte < 4 * bytes { byte / bytes * 4 + byte % bytes } else { 0 };
        let packed = self.shuffled([vector; 2], std::array::from_fn(|byte| order(byte) as u8));
        let packed = if bytes == 1 { packed } else { self.bitcast(I64X2, packed) };
        self.lane(packed, 0)
    }
}

fn with_sign(cc: IntCC) -> IntCC {
    match cc {
        IntCC::UnsignedLessThan => IntCC::SignedLessThan,
        IntCC::UnsignedLessThanOrEqual => IntCC::SignedLessThanOrEqual,
        IntCC::UnsignedGreaterThan => IntCC::SignedGreaterThan,
        IntCC::UnsignedGreaterThanOrEqual => IntCC::SignedGreaterThanOrEqual,
        other => other,
    }
}
