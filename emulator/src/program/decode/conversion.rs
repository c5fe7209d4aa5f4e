//! `mov`, `cvt`, `cvta`, `isspacep`.

use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::{Clock, Condition, Constant, Logic, Op, Special};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand};
use crate::semantics::half::{Bf16, F16, LimitedFromF32, PairFromF32};
use crate::semantics::{
    Predicate, PureInfo, Register, Width, bits, convert, float, float8, integer, pure, test,
};

type Found = Option<&'static PureInfo>;

/// An operation on two of the integer types.
macro_rules! by_integers {
    ($d:expr, $s:expr, $op:ident) => {
        match $d {
            Type::U8 => by_integers!(@source $s, $op, u8),
            Type::S8 => by_integers!(@source $s, $op, i8),
            Type::U16 => by_integers!(@source $s, $op, u16),
            Type::S16 => by_integers!(@source $s, $op, i16),
            Type::U32 => by_integers!(@source $s, $op, u32),
            Type::S32 => by_integers!(@source $s, $op, i32),
            Type::U64 => by_integers!(@source $s, $op, u64),
            Type::S64 => by_integers!(@source $s, $op, i64),
            _ => None,
        }
    };
    (@source $s:expr, $op:ident, $d:ty) => {
        match $s {
            Type::U8 => Some(pure::<convert::$op<$d, u8>>()),
            Type::S8 => Some(pure::<convert::$op<$d, i8>>()),
            Type::U16 => Some(pure::<convert::$op<$d, u16>>()),
            Type::S16 => Some(pure::<convert::$op<$d, i16>>()),
            Type::U32 => Some(pure::<convert::$op<$d, u32>>()),
            Type::S32 => Some(pure::<convert::$op<$d, i32>>()),
            Type::U64 => Some(pure::<convert::$op<$d, u64>>()),
            Type::S64 => Some(pure::<convert::$op<$d, i64>>()),
            _ => None,
        }
    };
}

macro_rules! by_rounding {
    ($rounding:expr, |$r:ident| $info:expr) => {
        match $rounding {
            0 => {
                const $r: u8 = 0;
                $info
            }
            1 => {
                const $r: u8 = 1;
                $info
            }
            2 => {
                const $r: u8 = 2;
                $info
            }
            _ => {
                const $r: u8 = 3;
                $info
            }
        }
    };
}

macro_rules! by_flags {
    ($a:expr, $b:expr, |$x:ident, $y:ident| $info:expr) => {
        match ($a, $b) {
            (false, false) => {
                const $x: bool = false;
                const $y: bool = false;
                $info
            }
            (false, true) => {
                const $x: bool = false;
                const $y: bool = true;
                $info
            }
            (true, false) => {
                const $x: bool = true;
                const $y: bool = false;
                $info
            }
            (true, true) => {
                const $x: bool = true;
                const $y: bool = true;
                $info
            }
        }
    };
}

/// The modifiers of `cvt`.
#[derive(Clone, Copy)]
struct Conversion {
    /// Rounding of a floating-point result.
    rounding: Option<u8>,
    /// Rounding to a whole number.
    whole: Option<u8>,
    ftz: bool,
    sat: bool,
}

impl Conversion {
    fn only_rounds(self) -> bool {
        self.rounding.is_some() && self.whole.is_none() && !self.ftz && !self.sat
    }
}

macro_rules! to_int {
    ($to:expr, $from:ty, $mode:expr; $($ty:ident $int:ty,)*) => {
        match $to {
            $(Type::$ty => Some(by_rounding!($mode.whole.unwrap_or(convert::TRUNCATE), |R| if $mode.ftz {
                pure::<convert::FloatToInt<$int, $from, R, true>>()
            } else {
                pure::<convert::FloatToInt<$int, $from, R, false>>()
            })),)*
            _ => None,
        }
    };
}

macro_rules! from_int {
    ($from:expr, $to:ty, $mode:expr; $($ty:ident $int:ty,)*) => {
        match $from {
            $(Type::$ty => Some(by_rounding!($mode.rounding.unwrap_or(float::NEAREST), |R| if $mode.sat {
                pure::<convert::IntToFloat<$to, $int, R, true>>()
            } else {
                pure::<convert::IntToFloat<$to, $int, R, false>>()
            })),)*
            _ => None,
        }
    };
}

macro_rules! float_to_float {
    ($to:ty, $from:ty, $mode:expr) => {
        Some(match $mode.whole {
            Some(whole) => by_rounding!(whole, |R| by_flags!($mode.ftz, $mode.sat, |FTZ, SAT| {
                pure::<convert::FloatToWhole<$to, $from, R, FTZ, SAT>>()
            })),
            None => by_rounding!($mode.rounding.unwrap_or(float::NEAREST), |R| by_flags!(
                $mode.ftz,
                $mode.sat,
                |FTZ, SAT| pure::<convert::FloatToFloat<$to, $from, R, FTZ, SAT>>()
            )),
        })
    };
}

fn conversion(to: Type, from: Type, mode: Conversion) -> Found {
    let exact = mode.rounding.is_none() && mode.whole.is_none() && !mode.ftz;
    // `bf16` has no saturation, and nothing is rounded that fits.
    let brain = [to, from].contains(&Type::Bf16);
    let widens = to.is_float() && from.is_float() && to.bytes() >= from.bytes() && to != from;
    let same_half = [Type::F16, Type::Bf16].contains(&to) && [Type::F16, Type::Bf16].contains(&from);
    let rounds_in_vain = mode.rounding.is_some() && (widens && !same_half || to == from && to == Type::F64);
    if brain && mode.sat || rounds_in_vain {
        return None;
    }
    match (to.is_float(), from.is_float()) {
        (false, false) if !exact => None,
        // What fits cannot saturate.
        (false, false) if mode.sat && (to == from || to.holds_all_of(from)) => None,
        (false, false) if mode.sat => by_integers!(to, from, Clamp),
        (false, false) => by_integers!(to, from, Wrap),
        (false, true) => {
            // Conversions to integers saturate anyway.
            mode.whole?;
            match from {
                Type::F32 => to_int!(to, f32, mode;
                    U8 u8, S8 i8, U16 u16, S16 i16, U32 u32, S32 i32, U64 u64, S64 i64,),
                Type::F64 => to_int!(to, f64, mode;
                    U8 u8, S8 i8, U16 u16, S16 i16, U32 u32, S32 i32, U64 u64, S64 i64,),
                Type::F16 if !mode.ftz => to_int!(to, F16, mode;
                    U8 u8, S8 i8, U16 u16, S16 i16, U32 u32, S32 i32, U64 u64, S64 i64,),
                Type::Bf16 if !mode.ftz => to_int!(to, Bf16, mode;
                    U8 u8, S8 i8, U16 u16, S16 i16, U32 u32, S32 i32, U64 u64, S64 i64,),
                _ => None,
            }
        }
        (true, false) => {
            mode.rounding?;
            match to {
                Type::F32 => from_int!(from, f32, mode;
                    U8 u8, S8 i8, U16 u16, S16 i16, U32 u32, S32 i32, U64 u64, S64 i64,),
                Type::F64 => from_int!(from, f64, mode;
                    U8 u8, S8 i8, U16 u16, S16 i16, U32 u32, S32 i32, U64 u64, S64 i64,),
                Type::F16 => from_int!(from, F16, mode;
                    U8 u8, S8 i8, U16 u16, S16 i16, U32 u32, S32 i32, U64 u64, S64 i64,),
                Type::Bf16 => from_int!(from, Bf16, mode;
                    U8 u8, S8 i8, U16 u16, S16 i16, U32 u32, S32 i32, U64 u64, S64 i64,),
                _ => None,
            }
        }
        (true, true) => match (to, from) {
            (Type::F16, Type::Bf16) if mode.only_rounds() => Some(by_rounding!(mode.rounding?, |R| pure::<
                convert::FloatToFloat<F16, Bf16, R, false, false>,
            >(
            ))),
            (Type::Bf16, Type::F16) if mode.only_rounds() => Some(by_rounding!(mode.rounding?, |R| pure::<
                convert::FloatToFloat<Bf16, F16, R, false, false>,
            >(
            ))),
            (Type::F16, Type::F16) if exact => Some(match mode.sat {
                true => pure::<convert::FloatToFloat<F16, F16, { float::NEAREST }, false, true>>(),
                false => pure::<convert::FloatToFloat<F16, F16, { float::NEAREST }, false, false>>(),
            }),
            (Type::Bf16, Type::Bf16) if exact && !mode.sat => {
                Some(pure::<convert::FloatToFloat<Bf16, Bf16, { float::NEAREST }, false, false>>())
            }
            (Type::F16, Type::F16) if mode.whole.is_some() => float_to_float!(F16, F16, mode),
            (Type::Bf16, Type::Bf16) if mode.whole.is_some() => float_to_float!(Bf16, Bf16, mode),
            (Type::F32, Type::F16) if mode.whole.is_none() && !mode.sat => Some(pure::<convert::F16ToF32>()),
            (Type::F32, Type::F16) => float_to_float!(f32, F16, mode),
            (Type::F16, Type::F64) if mode.only_rounds() => {
                Some(by_rounding!(mode.rounding?, |R| pure::<convert::DoubleToHalf<F16, R>>()))
            }
            (Type::Bf16, Type::F64) if mode.only_rounds() => {
                Some(by_rounding!(mode.rounding?, |R| pure::<convert::DoubleToHalf<Bf16, R>>()))
            }
            (Type::F64, Type::F16) => float_to_float!(f64, F16, mode),
            (Type::F32, Type::Bf16) if exact => Some(pure::<convert::BrainToSingle>()),
            (Type::F32, Type::Bf16) => float_to_float!(f32, Bf16, mode),
            (Type::F64, Type::Bf16) => float_to_float!(f64, Bf16, mode),
            (Type::F16, Type::F32) if mode.rounding.is_some() => float_to_float!(F16, f32, mode),
            (Type::Bf16, Type::F32) if mode.rounding.is_some() => float_to_float!(Bf16, f32, mode),
            (Type::F32, Type::F32) => float_to_float!(f32, f32, mode),
            (Type::F64, Type::F32) => float_to_float!(f64, f32, mode),
            (Type::F32, Type::F64) if mode.rounding.is_some() => float_to_float!(f32, f64, mode),
            (Type::F64, Type::F64) => float_to_float!(f64, f64, mode),
            _ => None,
        },
    }
}

/// To half precision with a limited range, or two numbers to a pair.
fn half_from_f32(to: Type, rounding: u8, relu: bool, finite: bool) -> Found {
    macro_rules! all {
        ($op:ident, $half:ty, $rounding:expr) => {
            by_flags!(relu, finite, |RELU, FINITE| pure::<$op<$half, { $rounding }, RELU, FINITE>>())
        };
        ($rounding:expr) => {
            match to {
                Type::F16x2 => all!(PairFromF32, F16, $rounding),
                Type::Bf16x2 => all!(PairFromF32, Bf16, $rounding),
                Type::F16 => all!(LimitedFromF32, F16, $rounding),
                Type::Bf16 => all!(LimitedFromF32, Bf16, $rounding),
                _ => return None,
            }
        };
    }
    Some(match rounding {
        float::NEAREST => all!(float::NEAREST),
        float::ZERO => all!(float::ZERO),
        _ => return None,
    })
}

/// The conversions whose name is more than two of the usual types: by their modifiers behind `cvt`, in the usual order
/// with `.relu` and `.satfinite` left out, and whether these are there.
fn special_conversion(modifiers: &[&str], relu: bool, finite: bool) -> Found {
    macro_rules! tf32 {
        ($rounding:expr) => {
            by_flags!(relu, finite, |RELU, FINITE| pure::<convert::ToTf32<{ $rounding }, RELU, FINITE>>())
        };
    }
    macro_rules! float8 {
        ($op:ident, $e5m2:literal) => {
            if relu { pure::<float8::$op<true, $e5m2>>() } else { pure::<float8::$op<false, $e5m2>>() }
        };
    }
    Some(match (modifiers, relu, finite) {
        (["rna", "tf32", "f32"], false, _) => tf32!(convert::TIES_AWAY),
        (["rn", "tf32", "f32"], _, _) => tf32!(convert::TO_EVEN),
        (["rz", "tf32", "f32"], _, _) => tf32!(convert::TRUNCATE),
        (["rn", "e4m3x2", "f32"], _, true) => float8!(PairFromF32, false),
        (["rn", "e5m2x2", "f32"], _, true) => float8!(PairFromF32, true),
        (["rn", "e4m3x2", "f16x2"], _, true) => float8!(PairFromHalves, false),
        (["rn", "e5m2x2", "f16x2"], _, true) => float8!(PairFromHalves, true),
        (["rn", "f16x2", "e4m3x2"], _, false) => float8!(HalvesFromPair, false),
        (["rn", "f16x2", "e5m2x2"], _, false) => float8!(HalvesFromPair, true),
        (["pack", "sat", "u16", "s32"], false, false) => pure::<convert::PackHalves<false>>(),
        (["pack", "sat", "s16", "s32"], false, false) => pure::<convert::PackHalves<true>>(),
        (["pack", "sat", "u8", "s32", "b32"], false, false) => pure::<convert::Pack<8, false>>(),
        (["pack", "sat", "s8", "s32", "b32"], false, false) => pure::<convert::Pack<8, true>>(),
        (["pack", "sat", "u4", "s32", "b32"], false, false) => pure::<convert::Pack<4, false>>(),
        (["pack", "sat", "s4", "s32", "b32"], false, false) => pure::<convert::Pack<4, true>>(),
        (["pack", "sat", "u2", "s32", "b32"], false, false) => pure::<convert::Pack<2, false>>(),
        (["pack", "sat", "s2", "s32", "b32"], false, false) => pure::<convert::Pack<2, true>>(),
        _ => return None,
    })
}

impl<'s> Decoder<'_, '_, 's> {
    /// Decodes the instruction if it moves or converts; `false` if not.
    pub(super) fn conversion(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        match i.opcode {
            "mov" => self.mov(i, m),
            "cvt" => self.cvt(i, m),
            "cvta" => self.cvta(i, m),
            "isspacep" => self.isspacep(i, m),
            _ => Ok(false),
        }
    }

    fn cvt(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let roundings = [("rn", float::NEAREST), ("rz", float::ZERO), ("rm", float::DOWN), ("rp", float::UP)];
        let wholes = [
            ("rni", convert::TO_EVEN),
            ("rzi", convert::TRUNCATE),
            ("rmi", convert::FLOOR),
            ("rpi", convert::CEILING),
        ];
        let mode = Conversion {
            rounding: m.pick(&roundings),
            whole: m.pick(&wholes),
            ftz: m.flag("ftz"),
            sat: m.flag("sat"),
        };
        let (relu, finite) = (m.flag("relu"), m.flag("satfinite"));
        let rest: Vec<&str> = i
            .modifiers
            .iter()
            .copied()
            .filter(|modifier| !["relu", "satfinite"].contains(modifier))
            .collect();
        if let Some(info) = special_conversion(&rest, relu, finite) {
            m.ignore(&rest);
            let ty = if rest.contains(&"f32") { Type::F32 } else { Type::B32 };
            return self.pure_instruction(i, info, ty).map(|()| true);
        }
        let (to, from) = (m.ty()?, m.ty()?);
        if relu || finite || matches!(to, Type::F16x2 | Type::Bf16x2) {
            let plain = mode.whole.is_none() && !mode.ftz && !mode.sat && from == Type::F32;
            let rounding = mode.rounding.filter(|_| plain);
            let Some(info) = rounding.and_then(|rounding| half_from_f32(to, rounding, relu, finite)) else {
                return Ok(false);
            };
            return self.pure_instruction(i, info, from).map(|()| true);
        }
        let Some(info) = conversion(to, from, mode) else { return Ok(false) };
        self.operand_count(i, 2)?;
        self.refuse_discarded(self.operand(i, 0)?)?;
        // Between `bf16` and bytes, only registers of 8 bits will do.
        let wider = to != Type::Bf16 && from != Type::Bf16 || to.bytes() != 1 && from.bytes() != 1;
        self.fits(self.operand(i, 0)?, to, wider)?;
        self.fits(self.operand(i, 1)?, from, wider)?;
        let source = self.source(self.operand(i, 1)?, from, width_of(from))?;
        let out = self.destination(self.operand(i, 0)?, width_of(to), to.is_signed())?;
        self.pure_op(info, out.row, &[source]);
        self.finish(out);
        Ok(true)
    }

    pub(super) fn move_op(&mut self, width: Width, out: Register, source: Register) {
        let info = if width == Width::Double { pure::<bits::Move64>() } else { pure::<bits::Move32>() };
        self.pure_op(info, out, &[source]);
    }

    fn mov(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let elements = m.flag("v4") || m.flag("v2");
        let ty = m.ty()?;
        self.operand_count(i, 2)?;
        let (to, from) = (self.operand(i, 0)?, self.operand(i, 1)?);
        self.refuse_discarded(to)?;
        if elements {
            return self.mov_elements(to, from, ty);
        }
        if ty == Type::B128 {
            return self.mov_wide(to, from);
        }
        if ty == Type::Pred {
            let out = self.predicate_out(to)?;
            let a = self.condition(from)?;
            self.emit(Op::Logic { logic: Logic::And, out, a, b: Condition::ALWAYS });
            return Ok(true);
        }
        let width = width_of(ty);
        match (to, from) {
            (Operand::Vector(parts), whole) | (whole, Operand::Vector(parts)) => {
                let element = ty.bytes() / parts.len().max(1) as u32;
                let Some(element) =
                    Type::bits(element).filter(|_| matches!(ty, Type::B16 | Type::B32 | Type::B64))
                else {
                    return Ok(false);
                };
                self.fits(whole, ty, false)?;
                for part in parts {
                    self.fits(part, element, false)?;
                }
            }
            _ => {
                self.fits(to, ty, false)?;
                self.fits(from, ty, false)?;
            }
        }
        match (to, from) {
            (Operand::Vector(parts), from) => self.unpack(parts, from, ty),
            (to, Operand::Vector(parts)) => self.pack(to, parts, ty),
            (to, Operand::Name(name)) => {
                if let Some(clock) = clock(name) {
                    let out = self.destination(to, width, false)?;
                    self.emit(Op::Clock { clock, out: out.row, width });
                    self.finish(out);
                    return Ok(true);
                }
                let is_register = matches!(self.lookup(name), Some(Symbol::Register { .. }));
                let address = if is_register { None } else { self.symbol_address(name, 0, width) };
                let source = match address {
                    Some(address) => address,
                    None => self.source(from, ty, width)?,
                };
                self.move_to(to, width, source)
            }
            (to, Operand::Element(name, index)) => {
                let source = self.element_address(name, index, width)?;
                self.move_to(to, width, source)
            }
            (to, from) => {
                let source = self.source(from, ty, width)?;
                self.move_to(to, width, source)
            }
        }
    }

    /// `mov.v4.u32 v, w` and `mov.v4.u32 v, %tid`: element by element, also those of a special register.
    fn mov_elements(&mut self, to: &Operand<'s>, from: &Operand<'s>, ty: Type) -> Decoded<bool> {
        let width = width_of(ty);
        if let (Operand::Vector(to), Operand::Vector(_) | Operand::Int(_)) = (to, from) {
            // One number goes into the first element, zeros into the others.
            let from = match from {
                Operand::Vector(parts) => parts.clone(),
                number => {
                    let zeros = vec![Operand::Int(0); to.len() - 1];
                    [vec![number.clone()], zeros].concat()
                }
            };
            if from.len() != to.len() {
                return Ok(false);
            }
            let mut held = Vec::new();
            for part in &from {
                self.fits(part, ty, false)?;
                let (source, row) = (self.source(part, ty, width)?, self.temporary(width));
                self.move_op(width, row, source);
                held.push(row);
            }
            for (part, row) in to.iter().zip(held) {
                self.fits(part, ty, false)?;
                self.move_to(part, width, row)?;
            }
            return Ok(true);
        }
        let Operand::Name(name) = from else { return Ok(false) };
        if width_of(ty) != Width::Single {
            return Ok(false);
        }
        for (index, element) in ["x", "y", "z", "w"].into_iter().enumerate() {
            let source = self.source_named(&format!("{name}.{element}"), Width::Single)?;
            match to {
                Operand::Vector(parts) if parts.len() == 4 => {
                    self.move_to(&parts[index], Width::Single, source)?;
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// `mov.b128`: between two registers of 128 bits, or to or from its halves.
    fn mov_wide(&mut self, to: &Operand<'s>, from: &Operand<'s>) -> Decoded<bool> {
        let halves = match from {
            Operand::Vector(parts) if parts.len() == 2 => [
                self.source(&parts[0], Type::B64, Width::Double)?,
                self.source(&parts[1], Type::B64, Width::Double)?,
            ],
            from => self.wide_register(from)?,
        };
        // A half may be a destination too.
        let held = halves.map(|half| {
            let row = self.temporary(Width::Double);
            self.move_op(Width::Double, row, half);
            row
        });
        match to {
            Operand::Vector(parts) if parts.len() == 2 => {
                for (part, half) in parts.iter().zip(held) {
                    self.move_to(part, Width::Double, half)?;
                }
            }
            to => {
                let out = self.wide_register(to)?;
                out.into_iter().zip(held).for_each(|(out, half)| self.move_op(Width::Double, out, half));
            }
        }
        Ok(true)
    }

    fn move_to(&mut self, to: &Operand<'s>, width: Width, source: Register) -> Decoded<bool> {
        let out = self.destination(to, width, false)?;
        self.move_op(width, out.row, source);
        self.finish(out);
        Ok(true)
    }

    /// `mov.b64 d, {lo, hi}` and the like.
    fn pack(&mut self, to: &Operand<'s>, parts: &[Operand<'s>], ty: Type) -> Decoded<bool> {
        let element = ty.bytes() / (parts.len().max(1) as u32);
        let mut rows = Vec::new();
        for part in parts {
            rows.push(self.source(part, Type::B32, Width::Single)?);
        }
        let out = self.destination(to, width_of(ty), false)?;
        match (ty.bytes(), rows.as_slice()) {
            (8, [low, high]) => self.pure_op(pure::<bits::Pack32>(), out.row, &[*low, *high]),
            (4, [low, high]) => self.pure_op(pure::<bits::Pack16>(), out.row, &[*low, *high]),
            (4, [a, b, c, d]) => self.pure_op(pure::<bits::Pack8>(), out.row, &[*a, *b, *c, *d]),
            (2, [low, high]) => {
                let zero = self.bits(Width::Single, 0);
                self.pure_op(pure::<bits::Pack8>(), out.row, &[*low, *high, zero, zero]);
            }
            (8, [a, b, c, d]) if element == 2 => {
                let (low, high) = (self.temporary(Width::Single), self.temporary(Width::Single));
                self.pure_op(pure::<bits::Pack16>(), low, &[*a, *b]);
                self.pure_op(pure::<bits::Pack16>(), high, &[*c, *d]);
                self.pure_op(pure::<bits::Pack32>(), out.row, &[low, high]);
            }
            _ => return Ok(false),
        }
        self.finish(out);
        Ok(true)
    }

    /// `mov.b64 {lo, hi}, a` and the like.
    fn unpack(&mut self, parts: &[Operand<'s>], from: &Operand<'s>, ty: Type) -> Decoded<bool> {
        let (count, bytes) = (parts.len() as u32, ty.bytes());
        if !matches!((bytes, count), (8, 2 | 4) | (4, 2 | 4) | (2, 2)) {
            return Ok(false);
        }
        let element = bytes / count;
        let source = self.source(from, ty, width_of(ty))?;
        // The source may be one of the destinations, so take all parts first.
        let mut taken = Vec::new();
        for part in 0..count {
            let row = self.temporary(Width::Single);
            let amount = self.bits(Width::Single, u64::from(8 * element * part));
            if bytes == 8 {
                let wide = self.temporary(Width::Double);
                self.pure_op(pure::<bits::ShiftDown64>(), wide, &[source, amount]);
                self.pure_op(pure::<bits::Low32>(), row, &[wide]);
            } else {
                self.pure_op(pure::<bits::ShiftDown32>(), row, &[source, amount]);
            }
            taken.push(row);
        }
        for (part, row) in parts.iter().zip(taken) {
            let out = self.destination(part, Width::Single, false)?;
            self.move_op(Width::Single, out.row, row);
            self.finish(out);
        }
        Ok(true)
    }

    fn window(&mut self, m: &mut Modifiers<'_, 's>) -> Option<Option<Special>> {
        m.pick(&[
            ("global", None),
            ("const", None),
            ("shared", Some(Special::SharedWindow)),
            ("shared::cta", Some(Special::SharedWindow)),
            ("shared::cluster", Some(Special::SharedWindow)),
            ("local", Some(Special::LocalWindow)),
            ("param", Some(Special::ParamWindow)),
            ("param::entry", Some(Special::ParamWindow)),
        ])
    }

    /// Addresses of shared and local memory count from the start of their window; those of global and constant
    /// memory are generic addresses.
    fn cvta(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let to = m.flag("to");
        let Some(window) = self.window(m) else { return Ok(false) };
        if m.ty()? != Type::U64 {
            return Ok(false);
        }
        self.operand_count(i, 2)?;
        let from = self.operand(i, 1)?;
        let symbol = match from {
            Operand::Name(name)
                if self.lookup(name).is_none_or(|s| !matches!(s, Symbol::Register { .. })) =>
            {
                self.symbol_address(name, 0, Width::Double)
            }
            Operand::Element(name, index) => Some(self.element_address(name, index, Width::Double)?),
            _ => None,
        };
        let source = match symbol {
            Some(source) => source,
            None => self.source(from, Type::U64, Width::Double)?,
        };
        let out = self.destination(self.operand(i, 0)?, Width::Double, false)?;
        match window {
            None => self.move_op(Width::Double, out.row, source),
            Some(window) => {
                let window = self.constant(Width::Double, Constant::Special(window));
                let info = if to { pure::<integer::Sub<u64>>() } else { pure::<integer::Add<u64>>() };
                self.pure_op(info, out.row, &[source, window]);
            }
        }
        self.finish(out);
        Ok(true)
    }

    fn isspacep(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let constant = i.modifiers.contains(&"const");
        let Some(window) = self.window(m) else { return Ok(false) };
        self.operand_count(i, 2)?;
        let source = self.source(self.operand(i, 1)?, Type::U64, Width::Double)?;
        let out = self.predicate_out(self.operand(i, 0)?)?;
        if constant {
            return self.is_constant(source, out).map(|()| true);
        }
        let bytes = self.constant(Width::Double, Constant::Special(Special::WindowBytes));
        let less = test::<integer::Lt<u64>>();
        let inside = |decoder: &mut Self, window, combine| {
            let window = decoder.constant(Width::Double, Constant::Special(window));
            let offset = decoder.temporary(Width::Double);
            decoder.pure_op(pure::<integer::Sub<u64>>(), offset, &[source, window]);
            decoder.emit(Op::Test { info: less, out, inverse: None, sources: [offset, bytes], combine });
        };
        match window {
            Some(window) => inside(self, window, None),
            None => {
                // Global is what lies in neither window, as hardware has it for parameters: both tests, then the
                // negation of "in one of them".
                inside(self, Special::SharedWindow, None);
                let so_far = Condition { predicate: out, negated: false };
                inside(self, Special::LocalWindow, Some((Logic::Or, so_far)));
                self.emit(Op::Logic { logic: Logic::Xor, out, a: so_far, b: Condition::ALWAYS });
            }
        }
        Ok(true)
    }
}

impl Decoder<'_, '_, '_> {
    /// Whether an address lies in one of the module's constant variables.
    fn is_constant(&mut self, address: Register, out: Predicate) -> Decoded<()> {
        let so_far = Condition { predicate: out, negated: false };
        self.emit(Op::Logic { logic: Logic::Xor, out, a: Condition::ALWAYS, b: Condition::ALWAYS });
        for (index, bytes) in self.context.constants.clone() {
            let base = self.constant(Width::Double, Constant::Global { index, offset: 0 });
            let bytes = self.bits(Width::Double, bytes);
            let offset = self.temporary(Width::Double);
            self.pure_op(pure::<integer::Sub<u64>>(), offset, &[address, base]);
            let (info, combine) = (test::<integer::Lt<u64>>(), Some((Logic::Or, so_far)));
            self.emit(Op::Test { info, out, inverse: None, sources: [offset, bytes], combine });
        }
        Ok(())
    }
}

fn clock(name: &str) -> Option<Clock> {
    Some(match name {
        "%clock" | "%clock64" => Clock::Cycles,
        "%clock_hi" => Clock::CyclesHigh,
        "%globaltimer" | "%globaltimer_lo" => Clock::Nanoseconds,
        "%globaltimer_hi" => Clock::NanosecondsHigh,
        _ => return None,
    })
}
