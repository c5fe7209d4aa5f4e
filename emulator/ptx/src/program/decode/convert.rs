//! `cvt`.

use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder};
use crate::program::types::Type;
use crate::ptx::Instruction;
use crate::semantics::half::{Bf16, F16, LimitedFromF32, PairFromF32};
use crate::semantics::{PureInfo, convert, float, float8, pure};

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

#[derive(Clone, Copy)]
struct Conversion {
    rounding: Option<u8>,
    /// Rounding to an integer.
    whole: Option<u8>,
    ftz: bool,
    sat: bool,
}

impl Conversion {
    fn exact(self) -> bool {
        self.rounding.is_none() && self.whole.is_none() && !self.ftz
    }

    fn only_rounds(self) -> bool {
        self.rounding.is_some() && self.whole.is_none() && !self.ftz && !self.sat
    }
}

// Modifiers without an effect on a conversion are not part of its type, so that it is compiled
// once: `.ftz` without single precision, and a rounding if the result is exact or is 0 or 1 (a
// saturating integer).

macro_rules! to_int {
    ($to:expr, $from:ty, $mode:expr; $($ty:ident $int:ty,)*) => {
        match $to {
            $(Type::$ty => Some(by_rounding!($mode.whole.unwrap_or(convert::TRUNCATE), |R| if $mode.ftz {
                pure::<convert::FloatToInt<$int, $from, R, { size_of::<$from>() == 4 }>>()
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
            $(Type::$ty => Some(if $mode.sat {
                pure::<convert::IntToFloat<$to, $int, { float::NEAREST }, true>>()
            } else {
                by_rounding!($mode.rounding.unwrap_or(float::NEAREST), |R| {
                    const EXACT: bool = <$int>::BITS <= <$to as convert::Float>::DIGITS;
                    pure::<convert::IntToFloat<$to, $int, { if EXACT { float::NEAREST } else { R } }, false>>()
                })
            }),)*
            _ => None,
        }
    };
}

macro_rules! float_to_float {
    ($to:ty, $from:ty, $mode:expr) => {{
        const SINGLE: bool = size_of::<$to>() == 4 || size_of::<$from>() == 4;
        const EXACT: bool = size_of::<$to>() >= size_of::<$from>();
        Some(match $mode.whole {
            Some(whole) => by_rounding!(whole, |R| by_flags!($mode.ftz, $mode.sat, |FTZ, SAT| {
                pure::<convert::FloatToWhole<$to, $from, R, { FTZ && SINGLE }, SAT>>()
            })),
            None => by_rounding!($mode.rounding.unwrap_or(float::NEAREST), |R| by_flags!(
                $mode.ftz,
                $mode.sat,
                |FTZ, SAT| pure::<
                    convert::FloatToFloat<
                        $to,
                        $from,
                        { if EXACT { float::NEAREST } else { R } },
                        { FTZ && SINGLE },
                        SAT,
                    >,
                >()
            )),
        })
    }};
}

fn conversion(to: Type, from: Type, mode: Conversion) -> Found {
    let exact = mode.exact();
    // `bf16` has no saturation, and an exact conversion is not rounded.
    let brain = [to, from].contains(&Type::Bf16);
    let widens = to.is_float() && from.is_float() && to.bytes() >= from.bytes() && to != from;
    let same_half = [Type::F16, Type::Bf16].contains(&to) && [Type::F16, Type::Bf16].contains(&from);
    let rounds_in_vain = mode.rounding.is_some() && (widens && !same_half || to == from && to == Type::F64);
    if brain && mode.sat || rounds_in_vain {
        return None;
    }
    match (to.is_float(), from.is_float()) {
        (false, false) if !exact => None,
        // A value that fits cannot saturate.
        (false, false) if mode.sat && (to == from || to.holds_all_of(from)) => None,
        (false, false) if mode.sat => by_integers!(to, from, Clamp),
        (false, false) => by_integers!(to, from, Wrap),
        (false, true) => {
            // Conversions to integers always saturate.
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
        (true, true) => float_conversion(to, from, mode),
    }
}

fn float_conversion(to: Type, from: Type, mode: Conversion) -> Found {
    let exact = mode.exact();
    match (to, from) {
        (Type::F16, Type::Bf16) if mode.only_rounds() => {
            Some(by_rounding!(mode.rounding?, |R| pure::<convert::FloatToFloat<F16, Bf16, R, false, false>>()))
        }
        (Type::Bf16, Type::F16) if mode.only_rounds() => {
            Some(by_rounding!(mode.rounding?, |R| pure::<convert::FloatToFloat<Bf16, F16, R, false, false>>()))
        }
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
    }
}

/// Returns a conversion to half precision with a limited range, or of two numbers to a pair.
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

/// Returns a conversion that is named by more than two usual types: by its modifiers after `cvt`,
/// in the usual order without `.relu` and `.satfinite`, and by the presence of these two.
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
    pub(super) fn cvt(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
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
            return self.pure_instruction(i, info, ty);
        }
        let (to, from) = (m.ty()?, m.ty()?);
        if relu || finite || matches!(to, Type::F16x2 | Type::Bf16x2) {
            let plain = mode.whole.is_none() && !mode.ftz && !mode.sat && from == Type::F32;
            let rounding = mode.rounding.filter(|_| plain);
            let info = rounding.and_then(|rounding| half_from_f32(to, rounding, relu, finite));
            let info = info.ok_or_else(|| m.unknown())?;
            return self.pure_instruction(i, info, from);
        }
        let info = conversion(to, from, mode).ok_or_else(|| m.unknown())?;
        self.operand_count(i, 2)?;
        self.refuse_discarded(self.operand(i, 0)?)?;
        // Conversions between `bf16` and bytes require 8-bit registers.
        let wider = to != Type::Bf16 && from != Type::Bf16 || to.bytes() != 1 && from.bytes() != 1;
        self.fits(self.operand(i, 0)?, to, wider)?;
        self.fits(self.operand(i, 1)?, from, wider)?;
        let source = self.source(self.operand(i, 1)?, from, width_of(from))?;
        let out = self.destination(self.operand(i, 0)?, width_of(to), to.is_signed())?;
        self.pure_op(info, out.row, &[source]);
        self.finish(out);
        Ok(())
    }
}
