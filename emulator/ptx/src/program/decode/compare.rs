//! Comparisons and selection.

use super::bits::LOGICS;
use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder};
use crate::program::instruction::{Condition, Logic, Op};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand};
use crate::semantics::{Register, TestInfo, Width, bits, float, half, integer, pure, test};

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
    // The unsigned names are equivalent to the type.
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

const UNSIGNED_NAMES: [&str; 4] = ["lo", "ls", "hi", "hs"];

struct Comparing {
    info: &'static TestInfo,
    sources: [Register; 2],
    /// A predicate that is combined with the result.
    combine: Option<(Logic, Condition)>,
}

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
    /// Decodes a comparison of the second and third operand, combined with the fourth by `logic`.
    fn comparison(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
        ty: Type,
        comparison: Comparison,
        logic: Option<Logic>,
    ) -> Decoded<Comparing> {
        let ftz = m.flag("ftz");
        let found = if ty.is_float() {
            compare_floats(comparison, ty, ftz)
        } else {
            compare_integers(comparison, ty).filter(|_| !ftz)
        };
        let info = found.ok_or_else(|| m.unknown())?;
        // Pairs are compared by halves.
        let whole = if matches!(ty, Type::F16 | Type::Bf16) { Type::B16 } else { ty };
        for index in [1, 2] {
            let pair = i.modifiers.iter().any(|modifier| modifier.ends_with("x2"));
            self.fits(self.operand(i, index)?, if pair { Type::B32 } else { whole }, false)?;
        }
        let unsigned_only = i.modifiers.iter().any(|modifier| UNSIGNED_NAMES.contains(modifier));
        if unsigned_only && (ty.is_signed() || ty.is_float()) {
            return Err(m.unknown());
        }
        let a = self.source(self.operand(i, 1)?, ty, info.width)?;
        let b = self.source(self.operand(i, 2)?, ty, info.width)?;
        let combine = match logic {
            Some(logic) => Some((logic, self.condition(self.operand(i, 3)?)?)),
            None => None,
        };
        self.operand_count(i, if combine.is_some() { 4 } else { 3 })?;
        Ok(Comparing { info, sources: [a, b], combine })
    }

    pub(super) fn setp(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let (Some(comparison), logic) = (m.pick(&COMPARISONS), m.pick(&LOGICS)) else {
            return Err(m.unknown());
        };
        let ty = m.ty()?;
        match ty {
            Type::F16x2 => return self.setp_pair(i, m, Type::F16, comparison, logic),
            Type::Bf16x2 => return self.setp_pair(i, m, Type::Bf16, comparison, logic),
            _ => {}
        }
        let Comparing { info, sources, combine } = self.comparison(i, m, ty, comparison, logic)?;
        let (out, inverse) = match self.operand(i, 0)? {
            Operand::Pair(out, inverse) => (self.predicate_out(out)?, Some(self.predicate_out(inverse)?)),
            out => (self.predicate_out(out)?, None),
        };
        self.emit(Op::Test { info, out, inverse, sources, combine });
        Ok(())
    }

    /// Compares both halves of two registers, the lower ones first, into separate predicates.
    fn compare_halves(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
        half: Type,
        comparison: Comparison,
        logic: Option<Logic>,
    ) -> Decoded<[Condition; 2]> {
        let Comparing { info, sources, combine } = self.comparison(i, m, half, comparison, logic)?;
        let amount = self.bits(Width::Single, 16);
        let uppers = sources.map(|source| {
            let upper = self.temporary(Width::Single);
            self.pure_op(pure::<bits::ShiftDown32>(), upper, &[source, amount]);
            upper
        });
        Ok([sources, uppers].map(|sources| {
            let out = self.new_predicate();
            self.emit(Op::Test { info, out, inverse: None, sources, combine });
            Condition { predicate: out, negated: false }
        }))
    }

    /// Decodes `setp` on both halves of two registers: one predicate per half, the lower one first.
    fn setp_pair(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
        half: Type,
        comparison: Comparison,
        logic: Option<Logic>,
    ) -> Decoded<()> {
        let [lower, upper] = self.compare_halves(i, m, half, comparison, logic)?;
        let Operand::Pair(low, high) = self.operand(i, 0)? else { return Err(m.unknown()) };
        let mut moves = [(self.predicate_out(low)?, lower), (self.predicate_out(high)?, upper)];
        // The guard is written last, if it is one of the results.
        if moves[0].0 == self.guard.predicate && moves[1].0 != self.guard.predicate {
            moves.swap(0, 1);
        }
        for (out, a) in moves {
            self.emit(Op::Logic { logic: Logic::And, out, a, b: Condition::ALWAYS });
        }
        Ok(())
    }

    /// Decodes `set`: the comparison, then 1.0 or all ones if it holds.
    pub(super) fn set(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let (Some(comparison), logic) = (m.pick(&COMPARISONS), m.pick(&LOGICS)) else {
            return Err(m.unknown());
        };
        let (result, ty) = (m.ty()?, m.ty()?);
        let yes = match result {
            Type::U32 | Type::S32 => 0xffff_ffff,
            Type::F32 => u64::from(1f32.to_bits()),
            Type::F16 => u64::from(<half::F16 as half::Half>::ONE),
            Type::Bf16 => u64::from(<half::Bf16 as half::Half>::ONE),
            Type::U16 | Type::S16 => 0xffff,
            Type::F16x2 | Type::Bf16x2 if ty == result => 0,
            _ => return Err(m.unknown()),
        };
        match ty {
            Type::F16x2 | Type::Bf16x2 => return self.set_pair(i, m, [result, ty], comparison, logic),
            _ => {}
        }
        let Comparing { info, sources, combine } = self.comparison(i, m, ty, comparison, logic)?;
        self.fits(self.operand(i, 0)?, result, false)?;
        let holds = self.new_predicate();
        self.emit(Op::Test { info, out: holds, inverse: None, sources, combine });
        let (a, b) = (self.bits(Width::Single, yes), self.bits(Width::Single, 0));
        let out = self.destination(self.operand(i, 0)?, Width::Single, result.is_signed())?;
        let condition = Condition { predicate: holds, negated: false };
        self.emit(Op::Select { width: Width::Single, out: out.row, a, b, condition });
        self.finish(out);
        Ok(())
    }

    /// Decodes `set` on both halves of registers: 1.0 or all ones in each half where it holds.
    fn set_pair(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
        [result, ty]: [Type; 2],
        comparison: Comparison,
        logic: Option<Logic>,
    ) -> Decoded<()> {
        let half = if ty == Type::F16x2 { Type::F16 } else { Type::Bf16 };
        let yes = match result {
            Type::U32 | Type::S32 => 0xffff,
            Type::F16x2 if ty == result => u64::from(<half::F16 as half::Half>::ONE),
            Type::Bf16x2 if ty == result => u64::from(<half::Bf16 as half::Half>::ONE),
            _ => return Err(m.unknown()),
        };
        let holds = self.compare_halves(i, m, half, comparison, logic)?;
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
        Ok(())
    }

    pub(super) fn testp(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
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
        let (Some([single, double]), Type::F32 | Type::F64) = (found, ty) else { return Err(m.unknown()) };
        let info = if ty == Type::F32 { single } else { double };
        let source = self.source(self.operand(i, 1)?, ty, info.width)?;
        let out = self.predicate_out(self.operand(i, 0)?)?;
        self.operand_count(i, 2)?;
        self.emit(Op::Test { info, out, inverse: None, sources: [source; 2], combine: None });
        Ok(())
    }

    pub(super) fn selp(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let ty = m.ty()?;
        if !matches!(ty.bytes(), 2 | 4 | 8) {
            return Err(m.unknown());
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
        Ok(())
    }

    pub(super) fn slct(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let ftz = m.flag("ftz");
        let (ty, by) = (m.ty()?, m.ty()?);
        let info = match (width_of(ty), by, ftz) {
            (Width::Single, Type::S32, false) => pure::<integer::SelectBySign<u32>>(),
            (Width::Double, Type::S32, false) => pure::<integer::SelectBySign<u64>>(),
            (Width::Single, Type::F32, false) => pure::<integer::SelectByFloat<u32, false>>(),
            (Width::Double, Type::F32, false) => pure::<integer::SelectByFloat<u64, false>>(),
            (Width::Single, Type::F32, true) => pure::<integer::SelectByFloat<u32, true>>(),
            (Width::Double, Type::F32, true) => pure::<integer::SelectByFloat<u64, true>>(),
            _ => return Err(m.unknown()),
        };
        self.pure_instruction(i, info, ty)
    }
}
