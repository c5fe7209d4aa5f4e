//! Integer and floating-point arithmetic.

use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder};
use crate::program::instruction::{Carry, Op};
use crate::program::types::Type;
use crate::ptx::Instruction;
use crate::semantics::half::{Bf16, Both, F16};
use crate::semantics::{PureInfo, approximate, bits, float, half, integer, pure};

type Found = Option<&'static PureInfo>;

/// An operation on any integer type.
macro_rules! by_integer {
    ($ty:expr, $op:ident) => {
        match $ty {
            Type::U16 => Some(pure::<integer::$op<u16>>()),
            Type::S16 => Some(pure::<integer::$op<i16>>()),
            Type::U32 => Some(pure::<integer::$op<u32>>()),
            Type::S32 => Some(pure::<integer::$op<i32>>()),
            Type::U64 => Some(pure::<integer::$op<u64>>()),
            Type::S64 => Some(pure::<integer::$op<i64>>()),
            _ => None,
        }
    };
}

/// An operation on integers of 16 and 32 bits.
macro_rules! by_narrow_integer {
    ($ty:expr, $op:ident) => {
        match $ty {
            Type::U16 => Some(pure::<integer::$op<u16>>()),
            Type::S16 => Some(pure::<integer::$op<i16>>()),
            Type::U32 => Some(pure::<integer::$op<u32>>()),
            Type::S32 => Some(pure::<integer::$op<i32>>()),
            _ => None,
        }
    };
}

/// How a floating-point operation rounds and what it does with subnormal numbers and the range.
#[derive(Clone, Copy)]
pub(super) struct FloatMode {
    pub(super) rounding: Option<u8>,
    pub(super) ftz: bool,
    pub(super) sat: bool,
}

impl FloatMode {
    pub(super) fn of(modifiers: &mut Modifiers<'_, '_>) -> Self {
        let roundings = [("rn", float::NEAREST), ("rz", float::ZERO), ("rm", float::DOWN), ("rp", float::UP)];
        FloatMode {
            rounding: modifiers.pick(&roundings),
            ftz: modifiers.flag("ftz"),
            sat: modifiers.flag("sat"),
        }
    }

    fn plain(self) -> bool {
        self.rounding.is_none() && !self.ftz && !self.sat
    }
}

macro_rules! f32_rounding {
    ($op:ident, $ftz:literal, $sat:literal, $rounding:expr) => {
        match $rounding {
            float::NEAREST => pure::<float::$op<{ float::NEAREST }, $ftz, $sat>>(),
            float::ZERO => pure::<float::$op<{ float::ZERO }, $ftz, $sat>>(),
            float::DOWN => pure::<float::$op<{ float::DOWN }, $ftz, $sat>>(),
            _ => pure::<float::$op<{ float::UP }, $ftz, $sat>>(),
        }
    };
}

/// A single precision operation in any mode.
macro_rules! f32_op {
    ($op:ident, $mode:expr) => {{
        let rounding = $mode.rounding.unwrap_or(float::NEAREST);
        match ($mode.ftz, $mode.sat) {
            (false, false) => f32_rounding!($op, false, false, rounding),
            (true, false) => f32_rounding!($op, true, false, rounding),
            (false, true) => f32_rounding!($op, false, true, rounding),
            (true, true) => f32_rounding!($op, true, true, rounding),
        }
    }};
}

/// A double precision operation in any rounding.
macro_rules! f64_op {
    ($op:ident, $mode:expr) => {
        match $mode.rounding.unwrap_or(float::NEAREST) {
            _ if $mode.ftz || $mode.sat => None,
            float::NEAREST => Some(pure::<float::$op<{ float::NEAREST }>>()),
            float::ZERO => Some(pure::<float::$op<{ float::ZERO }>>()),
            float::DOWN => Some(pure::<float::$op<{ float::DOWN }>>()),
            _ => Some(pure::<float::$op<{ float::UP }>>()),
        }
    };
}

/// An operation that only knows `.ftz`.
macro_rules! ftz_op {
    ($module:ident::$op:ident, $ftz:expr) => {
        if $ftz { pure::<$module::$op<true>>() } else { pure::<$module::$op<false>>() }
    };
}

/// `min` and `max`: whether a NaN wins, and whether magnitudes are compared and the signs multiplied.
#[derive(Clone, Copy)]
struct Extremum {
    nan: bool,
    xor_sign: bool,
}

/// `min` or `max` of single precision in any variant.
macro_rules! extremum_op {
    ($op:ident, $ftz:expr, $extremum:expr) => {
        match ($ftz, $extremum.nan, $extremum.xor_sign) {
            (false, false, false) => pure::<float::$op<false, false, false>>(),
            (false, false, true) => pure::<float::$op<false, false, true>>(),
            (false, true, false) => pure::<float::$op<false, true, false>>(),
            (false, true, true) => pure::<float::$op<false, true, true>>(),
            (true, false, false) => pure::<float::$op<true, false, false>>(),
            (true, false, true) => pure::<float::$op<true, false, true>>(),
            (true, true, false) => pure::<float::$op<true, true, false>>(),
            (true, true, true) => pure::<float::$op<true, true, true>>(),
        }
    };
}

/// An operation on one of the four half precision types, with compile-time switches.
macro_rules! half_op {
    ($ty:expr, $op:ident $(, $switch:literal)*) => {
        match $ty {
            Type::F16 => pure::<half::$op<F16 $(, $switch)*>>(),
            Type::Bf16 => pure::<half::$op<Bf16 $(, $switch)*>>(),
            Type::F16x2 => pure::<Both<half::$op<F16 $(, $switch)*>>>(),
            _ => pure::<Both<half::$op<Bf16 $(, $switch)*>>>(),
        }
    };
}

/// Half precision. Only `f16` knows `.ftz` and `.sat`.
fn half(opcode: &str, approximate: bool, extremum: Extremum, relu: bool, mode: FloatMode, ty: Type) -> Found {
    let bf16 = matches!(ty, Type::Bf16 | Type::Bf16x2);
    let nearest = mode.rounding.is_none_or(|rounding| rounding == float::NEAREST);
    if !nearest || (bf16 && mode.sat) || (relu && opcode != "fma") {
        return None;
    }
    if approximate {
        return match (opcode, mode.ftz, mode.sat || mode.rounding.is_some()) {
            ("ex2", true, false) if bf16 => Some(half_op!(ty, Exp2, true)),
            ("ex2", false, false) if !bf16 => Some(half_op!(ty, Exp2, false)),
            ("tanh", false, false) => Some(half_op!(ty, Tanh)),
            _ => None,
        };
    }
    if bf16 && mode.ftz {
        return None;
    }
    macro_rules! arithmetic {
        ($op:ident) => {
            match (mode.ftz, mode.sat) {
                (false, false) => half_op!(ty, $op, false, false),
                (false, true) => half_op!(ty, $op, false, true),
                (true, false) => half_op!(ty, $op, true, false),
                (true, true) => half_op!(ty, $op, true, true),
            }
        };
    }
    macro_rules! extremum {
        ($op:ident) => {
            match (mode.ftz, extremum.nan, extremum.xor_sign) {
                (false, false, false) => half_op!(ty, $op, false, false, false),
                (false, false, true) => half_op!(ty, $op, false, false, true),
                (false, true, false) => half_op!(ty, $op, false, true, false),
                (false, true, true) => half_op!(ty, $op, false, true, true),
                (true, false, false) => half_op!(ty, $op, true, false, false),
                (true, false, true) => half_op!(ty, $op, true, false, true),
                (true, true, false) => half_op!(ty, $op, true, true, false),
                (true, true, true) => half_op!(ty, $op, true, true, true),
            }
        };
    }
    Some(match opcode {
        "add" => arithmetic!(Add),
        "sub" => arithmetic!(Sub),
        "mul" => arithmetic!(Mul),
        "fma" if mode.rounding.is_some() => match (mode.ftz, mode.sat, relu) {
            (false, false, false) => half_op!(ty, Fma, false, false, false),
            (false, false, true) => half_op!(ty, Fma, false, false, true),
            (false, true, false) => half_op!(ty, Fma, false, true, false),
            (true, false, false) => half_op!(ty, Fma, true, false, false),
            (true, false, true) => half_op!(ty, Fma, true, false, true),
            (true, true, false) => half_op!(ty, Fma, true, true, false),
            (_, true, true) => return None,
        },
        _ if mode.sat || mode.rounding.is_some() => return None,
        "min" => extremum!(Min),
        "max" => extremum!(Max),
        "abs" if mode.ftz => half_op!(ty, Abs, true),
        "abs" => half_op!(ty, Abs, false),
        "neg" if mode.ftz => half_op!(ty, Neg, true),
        "neg" => half_op!(ty, Neg, false),
        _ => return None,
    })
}

/// Which part of a product an instruction keeps.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Low,
    High,
    Wide,
}

const PARTS: [(&str, Part); 3] = [("lo", Part::Low), ("hi", Part::High), ("wide", Part::Wide)];

impl<'s> Decoder<'_, '_, 's> {
    /// Decodes the instruction if it is arithmetic; `false` if not.
    pub(super) fn arithmetic(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        match i.opcode {
            "addc" | "subc" | "madc" => return self.carrying(i, m),
            "add" | "sub" | "mad" if i.modifiers.contains(&"cc") => return self.carrying(i, m),
            "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "abs" | "neg" | "min" | "max" | "sad"
            | "mul24" | "mad24" | "rcp" | "sqrt" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh"
            | "copysign" | "dp4a" | "dp2a" => {}
            "fns" => {
                let ty = m.ty()?;
                return match ty {
                    Type::B32 => self.pure_instruction(i, pure::<bits::FindNth>(), ty).map(|()| true),
                    _ => Ok(false),
                };
            }
            _ => return Ok(false),
        }
        if matches!(i.opcode, "dp4a" | "dp2a") {
            return self.dot_product(i, m);
        }
        if i.opcode == "mad24" {
            return self.mad24(i, m);
        }
        let part = m.pick(&PARTS);
        let approximate = m.flag("approx");
        let full = m.flag("full");
        let extremum = Extremum { nan: m.flag("NaN"), xor_sign: m.flag("xorsign") };
        if extremum.xor_sign && !m.flag("abs") {
            return Ok(false);
        }
        let nan = extremum.nan || extremum.xor_sign;
        let relu = m.flag("relu");
        let marked = i.opcode == "fma" && m.flag("oob");
        let mode = FloatMode::of(m);
        let ty = m.ty()?;
        if marked {
            let info = match (mode.rounding, mode.ftz || mode.sat, relu, ty) {
                (Some(float::NEAREST), false, false, Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2) => {
                    half_op!(ty, FmaMarked, false)
                }
                (Some(float::NEAREST), false, true, Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2) => {
                    half_op!(ty, FmaMarked, true)
                }
                _ => return Ok(false),
            };
            return self.pure_instruction(i, info, ty).map(|()| true);
        }
        if nan && !matches!(i.opcode, "min" | "max") {
            return Ok(false);
        }
        let found = match ty {
            Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 if part.is_none() && !full => {
                half(i.opcode, approximate, extremum, relu, mode, ty)
            }
            Type::S16x2 | Type::U16x2
                if mode.rounding.is_none() && !mode.ftz && !approximate && !full && !nan =>
            {
                integer_pair(i.opcode, relu, mode.sat, ty)
            }
            Type::S32 if relu && matches!(i.opcode, "min" | "max") && !mode.sat => match i.opcode {
                "min" => Some(pure::<integer::MinRelu<i32>>()),
                _ => Some(pure::<integer::MaxRelu<i32>>()),
            },
            _ if relu => None,
            Type::F32 if full => match i.opcode {
                "div" if mode.rounding.is_none() && !mode.sat => {
                    Some(ftz_op!(approximate::DivFull, mode.ftz))
                }
                _ => None,
            },
            Type::F32 => self.f32(i.opcode, part, approximate, extremum, mode),
            Type::F64 if !nan && !full => f64(i.opcode, part, approximate, mode),
            _ if approximate || full || nan || mode.rounding.is_some() || mode.ftz => None,
            _ => integer(i.opcode, part, mode.sat, ty),
        };
        match found {
            Some(info) => self.pure_instruction(i, info, ty).map(|()| true),
            None => Ok(false),
        }
    }

    fn f32(
        &self,
        opcode: &str,
        part: Option<Part>,
        approximate: bool,
        extremum: Extremum,
        mode: FloatMode,
    ) -> Found {
        if part.is_some() {
            return None;
        }
        let exact = !approximate;
        let rounded = mode.rounding.is_some();
        Some(match opcode {
            "add" if exact => f32_op!(AddF32, mode),
            "sub" if exact => f32_op!(SubF32, mode),
            "mul" if exact => f32_op!(MulF32, mode),
            "fma" | "mad" if exact && rounded => f32_op!(FmaF32, mode),
            _ if mode.sat => return None,
            "div" if exact && rounded => f32_op!(DivF32, mode),
            "rcp" if exact && rounded => f32_op!(RcpF32, mode),
            "sqrt" if exact && rounded => f32_op!(SqrtF32, mode),
            _ if rounded => return None,
            "div" if approximate => ftz_op!(approximate::Div, mode.ftz),
            "rcp" if approximate => ftz_op!(approximate::Rcp, mode.ftz),
            "sqrt" if approximate => ftz_op!(approximate::Sqrt, mode.ftz),
            "rsqrt" if approximate => ftz_op!(approximate::Rsqrt, mode.ftz),
            "ex2" if approximate => ftz_op!(approximate::Exp2, mode.ftz),
            "lg2" if approximate => ftz_op!(approximate::Log2, mode.ftz),
            "sin" if approximate => ftz_op!(approximate::Sin, mode.ftz),
            "cos" if approximate => ftz_op!(approximate::Cos, mode.ftz),
            "tanh" if approximate && !mode.ftz => pure::<approximate::Tanh>(),
            "abs" if exact => ftz_op!(float::AbsF32, mode.ftz),
            "neg" if exact => ftz_op!(float::NegF32, mode.ftz),
            "copysign" if exact && !mode.ftz => pure::<float::CopySignF32>(),
            "min" if exact => extremum_op!(MinF32, mode.ftz, extremum),
            "max" if exact => extremum_op!(MaxF32, mode.ftz, extremum),
            _ => return None,
        })
    }

    fn dot_product(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let part = m.pick(&PARTS);
        let (a, b) = (m.ty()?, m.ty()?);
        if !matches!((a, b), (Type::U32 | Type::S32, Type::U32 | Type::S32)) {
            return Ok(false);
        }
        let info = match (i.opcode, part, a.is_signed(), b.is_signed()) {
            ("dp4a", None, false, false) => pure::<bits::Dot4<false, false>>(),
            ("dp4a", None, false, true) => pure::<bits::Dot4<false, true>>(),
            ("dp4a", None, true, false) => pure::<bits::Dot4<true, false>>(),
            ("dp4a", None, true, true) => pure::<bits::Dot4<true, true>>(),
            ("dp2a", Some(Part::Low), false, false) => pure::<bits::Dot2<false, false, false>>(),
            ("dp2a", Some(Part::Low), false, true) => pure::<bits::Dot2<false, true, false>>(),
            ("dp2a", Some(Part::Low), true, false) => pure::<bits::Dot2<true, false, false>>(),
            ("dp2a", Some(Part::Low), true, true) => pure::<bits::Dot2<true, true, false>>(),
            ("dp2a", Some(Part::High), false, false) => pure::<bits::Dot2<false, false, true>>(),
            ("dp2a", Some(Part::High), false, true) => pure::<bits::Dot2<false, true, true>>(),
            ("dp2a", Some(Part::High), true, false) => pure::<bits::Dot2<true, false, true>>(),
            ("dp2a", Some(Part::High), true, true) => pure::<bits::Dot2<true, true, true>>(),
            _ => return Ok(false),
        };
        self.pure_instruction(i, info, a).map(|()| true)
    }

    /// `mad24`: the product, then the sum, as two operations.
    fn mad24(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let part = m.pick(&PARTS);
        let sat = m.flag("sat");
        let ty = m.ty()?;
        let (Some(product), Some(sum)) =
            (integer("mul24", part, false, ty), integer("add", None, sat && part == Some(Part::High), ty))
        else {
            return Ok(false);
        };
        if sat && part != Some(Part::High) {
            return Ok(false);
        }
        self.operand_count(i, 4)?;
        let width = width_of(ty);
        let a = self.source(self.operand(i, 1)?, ty, width)?;
        let b = self.source(self.operand(i, 2)?, ty, width)?;
        let c = self.source(self.operand(i, 3)?, ty, width)?;
        let between = self.temporary(width);
        self.pure_op(product, between, &[a, b]);
        let out = self.destination(self.operand(i, 0)?, width, ty.is_signed())?;
        self.pure_op(sum, out.row, &[between, c]);
        self.finish(out);
        Ok(true)
    }

    /// Addition and subtraction with the carry flag; `mad` adds the product's part.
    fn carrying(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let reads = i.opcode.ends_with('c');
        let base = if reads { &i.opcode[..i.opcode.len() - 1] } else { i.opcode };
        let writes = m.flag("cc");
        let part = m.pick(&PARTS);
        let ty = m.ty()?;
        if !matches!(ty, Type::U32 | Type::S32 | Type::U64 | Type::S64) {
            return Ok(false);
        }
        let width = width_of(ty);
        let mut a = self.source(self.operand(i, 1)?, ty, width)?;
        let mut b = self.source(self.operand(i, 2)?, ty, width)?;
        if base == "mad" {
            self.operand_count(i, 4)?;
            let Some(product) = integer("mul", part, false, ty).filter(|_| part != Some(Part::Wide)) else {
                return Ok(false);
            };
            let between = self.temporary(width);
            self.pure_op(product, between, &[a, b]);
            (a, b) = (between, self.source(self.operand(i, 3)?, ty, width)?);
        } else if part.is_some() {
            return Ok(false);
        } else {
            self.operand_count(i, 3)?;
        }
        let out = self.destination(self.operand(i, 0)?, width, ty.is_signed())?;
        let carry = Carry { subtract: base == "sub", width, reads, writes, out: out.row, sources: [a, b] };
        self.emit(Op::Carry(carry));
        self.finish(out);
        Ok(true)
    }
}

fn f64(opcode: &str, part: Option<Part>, approximate: bool, mode: FloatMode) -> Found {
    if part.is_some() {
        return None;
    }
    let rounded = mode.rounding.is_some();
    if approximate {
        return match opcode {
            "rcp" if !rounded && mode.ftz && !mode.sat => Some(pure::<approximate::RcpF64>()),
            "rsqrt" if !rounded && !mode.sat && mode.ftz => Some(pure::<approximate::RsqrtFlushedF64>()),
            "rsqrt" if !rounded && !mode.sat => Some(pure::<approximate::RsqrtF64>()),
            _ => None,
        };
    }
    match opcode {
        "add" => f64_op!(AddF64, mode),
        "sub" => f64_op!(SubF64, mode),
        "mul" => f64_op!(MulF64, mode),
        "fma" | "mad" if rounded => f64_op!(FmaF64, mode),
        "div" if rounded => f64_op!(DivF64, mode),
        "rcp" if rounded => f64_op!(RcpF64, mode),
        "sqrt" if rounded => f64_op!(SqrtF64, mode),
        _ if !mode.plain() => None,
        "abs" => Some(pure::<float::AbsF64>()),
        "neg" => Some(pure::<float::NegF64>()),
        "min" => Some(pure::<float::MinF64>()),
        "max" => Some(pure::<float::MaxF64>()),
        "copysign" => Some(pure::<float::CopySignF64>()),
        _ => None,
    }
}

/// Two integers of 16 bits in one register.
fn integer_pair(opcode: &str, relu: bool, sat: bool, ty: Type) -> Found {
    let signed = ty == Type::S16x2;
    Some(match (opcode, signed, relu, sat) {
        ("add", false, false, false) => pure::<Both<integer::Add<u16>>>(),
        ("add", true, false, false) => pure::<Both<integer::Add<i16>>>(),
        ("add", false, false, true) => pure::<Both<integer::AddSaturating<u16>>>(),
        ("add", true, false, true) => pure::<Both<integer::AddSaturating<i16>>>(),
        ("min", false, false, false) => pure::<Both<integer::Min<u16>>>(),
        ("min", true, false, false) => pure::<Both<integer::Min<i16>>>(),
        ("max", false, false, false) => pure::<Both<integer::Max<u16>>>(),
        ("max", true, false, false) => pure::<Both<integer::Max<i16>>>(),
        ("min", true, true, false) => pure::<Both<integer::MinRelu<i16>>>(),
        ("max", true, true, false) => pure::<Both<integer::MaxRelu<i16>>>(),
        _ => return None,
    })
}

fn integer(opcode: &str, part: Option<Part>, sat: bool, ty: Type) -> Found {
    match (opcode, part) {
        ("add", None) if sat => (ty == Type::S32).then(pure::<integer::AddSaturating<i32>>),
        ("sub", None) if sat => (ty == Type::S32).then(pure::<integer::SubSaturating<i32>>),
        ("mad", Some(Part::High)) if sat => (ty == Type::S32).then(pure::<integer::MadHighSaturating<i32>>),
        _ if sat => None,
        ("add", None) => by_integer!(ty, Add),
        ("sub", None) => by_integer!(ty, Sub),
        ("mul", Some(Part::Low)) => by_integer!(ty, MulLow),
        ("mul", Some(Part::High)) => by_integer!(ty, MulHigh),
        ("mul", Some(Part::Wide)) => by_narrow_integer!(ty, MulWide),
        ("mad", Some(Part::Low)) => by_integer!(ty, MadLow),
        ("mad", Some(Part::High)) => by_integer!(ty, MadHigh),
        ("mad", Some(Part::Wide)) => by_narrow_integer!(ty, MadWide),
        ("div", None) => by_integer!(ty, Div),
        ("rem", None) => by_integer!(ty, Rem),
        ("min", None) => by_integer!(ty, Min),
        ("max", None) => by_integer!(ty, Max),
        ("sad", None) => by_integer!(ty, Sad),
        ("abs", None) if ty.is_signed() => by_integer!(ty, Abs),
        ("neg", None) if ty.is_signed() => by_integer!(ty, Neg),
        ("mul24", Some(Part::Low)) if ty == Type::U32 => Some(pure::<integer::Mul24LowU>()),
        ("mul24", Some(Part::Low)) if ty == Type::S32 => Some(pure::<integer::Mul24LowS>()),
        ("mul24", Some(Part::High)) if ty == Type::U32 => Some(pure::<integer::Mul24HighU>()),
        ("mul24", Some(Part::High)) if ty == Type::S32 => Some(pure::<integer::Mul24HighS>()),
        _ => None,
    }
}
