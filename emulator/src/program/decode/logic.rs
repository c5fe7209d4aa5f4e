//! Bit logic, shifts, comparisons, selection, predicates.

use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder};
use crate::program::instruction::{Condition, Logic, Op};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand};
use crate::semantics::{
    Predicate, PureInfo, Register, TestInfo, Width, bits, float, half, integer, pure, test,
};

type Found = Option<&'static PureInfo>;

macro_rules! by_bits {
    ($ty:expr, $op:ident) => {
        match $ty.bytes() {
            2 => Some(pure::<bits::$op<u16>>()),
            4 => Some(pure::<bits::$op<u32>>()),
            8 => Some(pure::<bits::$op<u64>>()),
            _ => None,
        }
    };
}

macro_rules! by_wide_bits {
    ($ty:expr, $op:ident) => {
        match $ty {
            Type::B32 => Some(pure::<bits::$op<u32>>()),
            Type::B64 => Some(pure::<bits::$op<u64>>()),
            _ => None,
        }
    };
}

/// The comparisons of `setp`, `set`.
#[derive(Clone, Copy)]
enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

const COMPARISONS: [(&str, Comparison); 18] = [
    ("eq", Comparison::Eq),
    ("ne", Comparison::Ne),
    ("lt", Comparison::Lt),
    ("le", Comparison::Le),
    ("gt", Comparison::Gt),
    ("ge", Comparison::Ge),
    // Unsigned names; the type says the same.
    ("lo", Comparison::Lt),
    ("ls", Comparison::Le),
    ("hi", Comparison::Gt),
    ("hs", Comparison::Ge),
    ("equ", Comparison::Equ),
    ("neu", Comparison::Neu),
    ("ltu", Comparison::Ltu),
    ("leu", Comparison::Leu),
    ("gtu", Comparison::Gtu),
    ("geu", Comparison::Geu),
    ("num", Comparison::Num),
    ("nan", Comparison::Nan),
];

/// Those for unsigned numbers alone.
const UNSIGNED_NAMES: [&str; 4] = ["lo", "ls", "hi", "hs"];

/// A decoded comparison.
struct Comparing {
    info: &'static TestInfo,
    sources: [Register; 2],
    /// A predicate that the result is combined with.
    combine: Option<(Logic, Condition)>,
}

const LOGICS: [(&str, Logic); 3] = [("and", Logic::And), ("or", Logic::Or), ("xor", Logic::Xor)];

macro_rules! by_float_comparison {
    ($comparison:expr, $ty:ty, $ftz:literal; $($name:ident)*) => {
        match $comparison { $(Comparison::$name => Some(test::<float::$name<$ty, $ftz>>()),)* }
    };
}

macro_rules! by_half_comparison {
    ($comparison:expr, $ty:ty, $ftz:literal; $($name:ident)*) => {
        match $comparison {
            $(Comparison::$name => Some(test::<half::Compare<$ty, float::$name<f32, false>, $ftz>>()),)*
        }
    };
}

fn compare_floats(comparison: Comparison, ty: Type, ftz: bool) -> Option<&'static TestInfo> {
    macro_rules! all {
        ($ty:ty, $ftz:literal) => {
            by_float_comparison!(comparison, $ty, $ftz; Eq Ne Lt Le Gt Ge Equ Neu Ltu Leu Gtu Geu Num Nan)
        };
    }
    macro_rules! half {
        ($ty:ty, $ftz:literal) => {
            by_half_comparison!(comparison, $ty, $ftz; Eq Ne Lt Le Gt Ge Equ Neu Ltu Leu Gtu Geu Num Nan)
        };
    }
    match (ty, ftz) {
        (Type::F16, false) => half!(half::F16, false),
        (Type::F16, true) => half!(half::F16, true),
        (Type::Bf16, false) => half!(half::Bf16, false),
        (Type::F32, false) => all!(f32, false),
        (Type::F32, true) => all!(f32, true),
        (Type::F64, false) => all!(f64, false),
        _ => None,
    }
}

fn compare_integers(comparison: Comparison, ty: Type) -> Option<&'static TestInfo> {
    macro_rules! by_type {
        ($op:ident) => {
            match ty {
                Type::U16 | Type::B16 => Some(test::<integer::$op<u16>>()),
                Type::S16 => Some(test::<integer::$op<i16>>()),
                Type::U32 | Type::B32 => Some(test::<integer::$op<u32>>()),
                Type::S32 => Some(test::<integer::$op<i32>>()),
                Type::U64 | Type::B64 => Some(test::<integer::$op<u64>>()),
                Type::S64 => Some(test::<integer::$op<i64>>()),
                _ => None,
            }
        };
    }
    let untyped = matches!(ty, Type::B16 | Type::B32 | Type::B64);
    match comparison {
        Comparison::Eq => by_type!(Eq),
        Comparison::Ne => by_type!(Ne),
        _ if untyped => None,
        Comparison::Lt => by_type!(Lt),
        Comparison::Le => by_type!(Le),
        Comparison::Gt => by_type!(Gt),
        Comparison::Ge => by_type!(Ge),
        _ => None,
    }
}

impl<'s> Decoder<'_, '_, 's> {
    /// Decodes the instruction if it is logic; `false` if not.
    pub(super) fn logic(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        match i.opcode {
            "setp" => self.setp(i, m),
            "set" => self.set(i, m),
            "testp" => self.testp(i, m),
            "selp" => self.selp(i, m),
            "slct" => self.slct(i, m),
            "and" | "or" | "xor" | "not" | "cnot" | "shl" | "shr" | "shf" | "lop3" | "bfe" | "bfi"
            | "bfind" | "brev" | "clz" | "popc" | "prmt" | "bmsk" | "szext" => self.bits_instruction(i, m),
            _ => Ok(false),
        }
    }

    fn bits_instruction(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        if i.modifiers == ["pred"] {
            return self.predicate_logic(i, m);
        }
        if i.opcode == "lop3" {
            return self.any_logic(i, m);
        }
        let wrap = m.flag("wrap");
        let clamp = m.flag("clamp");
        let direction = m.pick(&[("l", true), ("r", false)]);
        let from_top = m.flag("shiftamt");
        let permutation = m.pick(&[
            ("f4e", pure::<bits::PermuteForward4>()),
            ("b4e", pure::<bits::PermuteBackward4>()),
            ("rc8", pure::<bits::PermuteReplicate8>()),
            ("ecl", pure::<bits::PermuteEdgeLeft>()),
            ("ecr", pure::<bits::PermuteEdgeRight>()),
            ("rc16", pure::<bits::PermuteReplicate16>()),
        ]);
        let ty = m.ty()?;
        let bitwise = matches!(ty, Type::B16 | Type::B32 | Type::B64);
        let unusual = wrap || clamp || direction.is_some() || from_top || permutation.is_some();
        let found: Found = match i.opcode {
            "shf" => match (direction, wrap, clamp) {
                (Some(true), true, false) => Some(pure::<bits::FunnelLeft<true>>()),
                (Some(true), false, true) => Some(pure::<bits::FunnelLeft<false>>()),
                (Some(false), true, false) => Some(pure::<bits::FunnelRight<true>>()),
                (Some(false), false, true) => Some(pure::<bits::FunnelRight<false>>()),
                _ => None,
            }
            .filter(|_| ty == Type::B32),
            "bmsk" if ty == Type::B32 => {
                Some(if wrap { pure::<bits::Mask<true>>() } else { pure::<bits::Mask<false>>() })
            }
            "szext" => match (ty, wrap) {
                (Type::U32, true) => Some(pure::<bits::Extend<false, true>>()),
                (Type::U32, false) => Some(pure::<bits::Extend<false, false>>()),
                (Type::S32, true) => Some(pure::<bits::Extend<true, true>>()),
                (Type::S32, false) => Some(pure::<bits::Extend<true, false>>()),
                _ => None,
            },
            "bfind" if !wrap && !clamp => match (ty, from_top) {
                (Type::U32, false) => Some(pure::<bits::FindU32<false>>()),
                (Type::U32, true) => Some(pure::<bits::FindU32<true>>()),
                (Type::S32, false) => Some(pure::<bits::FindS32<false>>()),
                (Type::S32, true) => Some(pure::<bits::FindS32<true>>()),
                (Type::U64, false) => Some(pure::<bits::FindU64<false>>()),
                (Type::U64, true) => Some(pure::<bits::FindU64<true>>()),
                (Type::S64, false) => Some(pure::<bits::FindS64<false>>()),
                (Type::S64, true) => Some(pure::<bits::FindS64<true>>()),
                _ => None,
            },
            "prmt" if ty == Type::B32 => Some(permutation.unwrap_or(pure::<bits::Permute>())),
            _ if unusual => None,
            "and" if bitwise => by_bits!(ty, And),
            "or" if bitwise => by_bits!(ty, Or),
            "xor" if bitwise => by_bits!(ty, Xor),
            "not" if bitwise => by_bits!(ty, Not),
            "cnot" if bitwise => by_bits!(ty, LogicalNot),
            "shl" if bitwise => by_bits!(ty, ShiftLeft),
            "shr" => match ty {
                Type::B16 | Type::U16 => Some(pure::<integer::ShiftRight<u16>>()),
                Type::B32 | Type::U32 => Some(pure::<integer::ShiftRight<u32>>()),
                Type::B64 | Type::U64 => Some(pure::<integer::ShiftRight<u64>>()),
                Type::S16 => Some(pure::<integer::ShiftRight<i16>>()),
                Type::S32 => Some(pure::<integer::ShiftRight<i32>>()),
                Type::S64 => Some(pure::<integer::ShiftRight<i64>>()),
                _ => None,
            },
            "bfe" => match ty {
                Type::U32 => Some(pure::<bits::ExtractU32>()),
                Type::S32 => Some(pure::<bits::ExtractS32>()),
                Type::U64 => Some(pure::<bits::ExtractU64>()),
                Type::S64 => Some(pure::<bits::ExtractS64>()),
                _ => None,
            },
            "bfi" => match ty {
                Type::B32 => Some(pure::<bits::Insert32>()),
                Type::B64 => Some(pure::<bits::Insert64>()),
                _ => None,
            },
            "brev" => by_wide_bits!(ty, Reverse),
            "clz" => by_wide_bits!(ty, CountLeadingZeros),
            "popc" => by_wide_bits!(ty, CountOnes),
            _ => None,
        };
        match found {
            Some(info) => self.pure_instruction(i, info, ty).map(|()| true),
            None => Ok(false),
        }
    }

    /// `lop3`; with a second destination, whether the result is not zero, combined with a predicate.
    fn any_logic(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let logic = m.pick(&LOGICS);
        if m.ty()? != Type::B32 || logic == Some(Logic::Xor) {
            return Ok(false);
        }
        let Some(logic) = logic else {
            return self.pure_instruction(i, pure::<bits::Logic3>(), Type::B32).map(|()| true);
        };
        self.operand_count(i, 6)?;
        let Operand::Pair(to, flag) = self.operand(i, 0)? else { return Ok(false) };
        let mut sources = [Register::default(); 4];
        for (index, source) in sources.iter_mut().enumerate() {
            *source = self.source(self.operand(i, index + 1)?, Type::B32, Width::Single)?;
        }
        let condition = self.condition(self.operand(i, 5)?)?;
        let out = self.destination(to, Width::Single, false)?;
        let flag = self.predicate_out(flag)?;
        let (row, zero) = (out.row, self.bits(Width::Single, 0));
        self.pure_op(pure::<bits::Logic3>(), row, &sources);
        self.finish(out);
        let (info, combine) = (test::<integer::Ne<u32>>(), Some((logic, condition)));
        self.emit(Op::Test { info, out: flag, inverse: None, sources: [row, zero], combine });
        Ok(true)
    }

    fn predicate_logic(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        m.ty()?;
        let out = self.predicate_out(self.operand(i, 0)?)?;
        let a = self.condition(self.operand(i, 1)?)?;
        let (logic, b) = match i.opcode {
            // Exclusive or with true is negation.
            "not" | "cnot" => (Logic::Xor, Condition::ALWAYS),
            "and" | "or" | "xor" => {
                let b = self.condition(self.operand(i, 2)?)?;
                let logic = LOGICS.iter().find(|(name, _)| *name == i.opcode);
                (logic.map_or(Logic::And, |(_, logic)| *logic), b)
            }
            _ => return Ok(false),
        };
        self.emit(Op::Logic { logic, out, a, b });
        Ok(true)
    }

    /// The comparison of an instruction's second and third operand, combined with the fourth where there is `logic`.
    fn comparison(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
        ty: Type,
        comparison: Comparison,
        logic: Option<Logic>,
    ) -> Decoded<Option<Comparing>> {
        let ftz = m.flag("ftz");
        let found = if ty.is_float() {
            compare_floats(comparison, ty, ftz)
        } else {
            compare_integers(comparison, ty).filter(|_| !ftz)
        };
        let Some(info) = found else { return Ok(None) };
        // Pairs are compared half by half.
        let whole = if matches!(ty, Type::F16 | Type::Bf16) { Type::B16 } else { ty };
        for index in [1, 2] {
            let pair = i.modifiers.iter().any(|modifier| modifier.ends_with("x2"));
            self.fits(self.operand(i, index)?, if pair { Type::B32 } else { whole }, false)?;
        }
        let unsigned_only = i.modifiers.iter().any(|modifier| UNSIGNED_NAMES.contains(modifier));
        if unsigned_only && (ty.is_signed() || ty.is_float()) {
            return Ok(None);
        }
        let a = self.source(self.operand(i, 1)?, ty, info.width)?;
        let b = self.source(self.operand(i, 2)?, ty, info.width)?;
        let combine = match logic {
            Some(logic) => Some((logic, self.condition(self.operand(i, 3)?)?)),
            None => None,
        };
        self.operand_count(i, if combine.is_some() { 4 } else { 3 })?;
        Ok(Some(Comparing { info, sources: [a, b], combine }))
    }

    fn setp(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let (Some(comparison), logic) = (m.pick(&COMPARISONS), m.pick(&LOGICS)) else { return Ok(false) };
        let ty = m.ty()?;
        match ty {
            Type::F16x2 => return self.setp_pair(i, m, Type::F16, comparison, logic),
            Type::Bf16x2 => return self.setp_pair(i, m, Type::Bf16, comparison, logic),
            _ => {}
        }
        let Some(Comparing { info, sources, combine }) = self.comparison(i, m, ty, comparison, logic)? else {
            return Ok(false);
        };
        let (out, inverse) = match self.operand(i, 0)? {
            Operand::Pair(out, inverse) => (self.predicate_out(out)?, Some(self.predicate_out(inverse)?)),
            out => (self.predicate_out(out)?, None),
        };
        self.emit(Op::Test { info, out, inverse, sources, combine });
        Ok(true)
    }

    /// Compares both halves of two registers, the lower ones first, into predicates of their own.
    fn compare_halves(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
        half: Type,
        comparison: Comparison,
        logic: Option<Logic>,
    ) -> Decoded<Option<[Condition; 2]>> {
        let Some(Comparing { info, sources, combine }) = self.comparison(i, m, half, comparison, logic)?
        else {
            return Ok(None);
        };
        let amount = self.bits(Width::Single, 16);
        let uppers = sources.map(|source| {
            let upper = self.temporary(Width::Single);
            self.pure_op(pure::<bits::ShiftDown32>(), upper, &[source, amount]);
            upper
        });
        Ok(Some([sources, uppers].map(|sources| {
            let out = self.temporary_predicate();
            self.emit(Op::Test { info, out, inverse: None, sources, combine });
            Condition { predicate: out, negated: false }
        })))
    }

    fn temporary_predicate(&mut self) -> Predicate {
        self.new_predicate()
    }

    /// `setp` on both halves of two registers: one predicate for each half, the lower one first.
    fn setp_pair(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
        half: Type,
        comparison: Comparison,
        logic: Option<Logic>,
    ) -> Decoded<bool> {
        let compared = self.compare_halves(i, m, half, comparison, logic)?;
        let (Operand::Pair(low, high), Some([lower, upper])) = (self.operand(i, 0)?, compared) else {
            return Ok(false);
        };
        let mut moves = [(self.predicate_out(low)?, lower), (self.predicate_out(high)?, upper)];
        // The guard is written last, if it is one of them.
        moves.sort_by_key(|(out, _)| *out == self.guard.predicate);
        for (out, a) in moves {
            self.emit(Op::Logic { logic: Logic::And, out, a, b: Condition::ALWAYS });
        }
        Ok(true)
    }

    /// `set`: the comparison, then 1.0 or all ones where it holds.
    fn set(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let (Some(comparison), logic) = (m.pick(&COMPARISONS), m.pick(&LOGICS)) else { return Ok(false) };
        let (result, ty) = (m.ty()?, m.ty()?);
        let yes = match result {
            Type::U32 | Type::S32 => 0xffff_ffff,
            Type::F32 => u64::from(1f32.to_bits()),
            Type::F16 => u64::from(<half::F16 as half::Half>::ONE),
            Type::Bf16 => u64::from(<half::Bf16 as half::Half>::ONE),
            Type::U16 | Type::S16 => 0xffff,
            Type::F16x2 | Type::Bf16x2 if ty == result => 0,
            _ => return Ok(false),
        };
        match ty {
            Type::F16x2 | Type::Bf16x2 => return self.set_pair(i, m, [result, ty], comparison, logic),
            _ => {}
        }
        let Some(Comparing { info, sources, combine }) = self.comparison(i, m, ty, comparison, logic)? else {
            return Ok(false);
        };
        self.fits(self.operand(i, 0)?, result, false)?;
        let holds = self.temporary_predicate();
        self.emit(Op::Test { info, out: holds, inverse: None, sources, combine });
        let (a, b) = (self.bits(Width::Single, yes), self.bits(Width::Single, 0));
        let out = self.destination(self.operand(i, 0)?, Width::Single, result.is_signed())?;
        let condition = Condition { predicate: holds, negated: false };
        self.emit(Op::Select { width: Width::Single, out: out.row, a, b, condition });
        self.finish(out);
        Ok(true)
    }

    /// `set` on both halves of two registers: 1.0 or all ones in each half where it holds.
    fn set_pair(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
        [result, ty]: [Type; 2],
        comparison: Comparison,
        logic: Option<Logic>,
    ) -> Decoded<bool> {
        let half = if ty == Type::F16x2 { Type::F16 } else { Type::Bf16 };
        let yes = match result {
            Type::U32 | Type::S32 => 0xffff,
            Type::F16x2 if ty == result => u64::from(<half::F16 as half::Half>::ONE),
            Type::Bf16x2 if ty == result => u64::from(<half::Bf16 as half::Half>::ONE),
            _ => return Ok(false),
        };
        let Some(holds) = self.compare_halves(i, m, half, comparison, logic)? else { return Ok(false) };
        let b = self.bits(Width::Single, 0);
        let mut halves = [b; 2];
        for ((half, condition), a) in halves.iter_mut().zip(holds).zip([yes, yes << 16]) {
            let a = self.bits(Width::Single, a);
            *half = self.temporary(Width::Single);
            self.emit(Op::Select { width: Width::Single, out: *half, a, b, condition });
        }
        let out = self.destination(self.operand(i, 0)?, Width::Single, false)?;
        self.pure_op(pure::<bits::Or<u32>>(), out.row, &halves);
        self.finish(out);
        Ok(true)
    }

    fn testp(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        macro_rules! class {
            ($name:ident) => {
                [test::<float::$name<f32>>(), test::<float::$name<f64>>()]
            };
        }
        let found = m.pick(&[
            ("finite", class!(IsFinite)),
            ("infinite", class!(IsInfinite)),
            ("number", class!(IsNumber)),
            ("notanumber", class!(IsNotNumber)),
            ("normal", class!(IsNormal)),
            ("subnormal", class!(IsSubnormal)),
        ]);
        let ty = m.ty()?;
        let (Some([single, double]), Type::F32 | Type::F64) = (found, ty) else { return Ok(false) };
        let info = if ty == Type::F32 { single } else { double };
        let source = self.source(self.operand(i, 1)?, ty, info.width)?;
        let out = self.predicate_out(self.operand(i, 0)?)?;
        self.operand_count(i, 2)?;
        self.emit(Op::Test { info, out, inverse: None, sources: [source; 2], combine: None });
        Ok(true)
    }

    fn selp(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let ty = m.ty()?;
        if !matches!(ty.bytes(), 2 | 4 | 8) {
            return Ok(false);
        }
        self.operand_count(i, 4)?;
        let width = width_of(ty);
        for index in 0..3 {
            self.fits(self.operand(i, index)?, ty, false)?;
        }
        let a = self.source(self.operand(i, 1)?, ty, width)?;
        let b = self.source(self.operand(i, 2)?, ty, width)?;
        let condition = self.condition(self.operand(i, 3)?)?;
        let out = self.destination(self.operand(i, 0)?, width, ty.is_signed())?;
        self.emit(Op::Select { width, out: out.row, a, b, condition });
        self.finish(out);
        Ok(true)
    }

    fn slct(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let ftz = m.flag("ftz");
        let (ty, by) = (m.ty()?, m.ty()?);
        let info = match (width_of(ty), by, ftz) {
            (Width::Single, Type::S32, false) => pure::<integer::SelectBySign<u32>>(),
            (Width::Double, Type::S32, false) => pure::<integer::SelectBySign<u64>>(),
            (Width::Single, Type::F32, false) => pure::<integer::SelectByFloat<u32, false>>(),
            (Width::Double, Type::F32, false) => pure::<integer::SelectByFloat<u64, false>>(),
            (Width::Single, Type::F32, true) => pure::<integer::SelectByFloat<u32, true>>(),
            (Width::Double, Type::F32, true) => pure::<integer::SelectByFloat<u64, true>>(),
            _ => return Ok(false),
        };
        self.pure_instruction(i, info, ty).map(|()| true)
    }
}
