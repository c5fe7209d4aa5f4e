//! Bit logic and shifts, on registers and on predicates.

use super::modifiers::Modifiers;
use super::{Decoded, Decoder};
use crate::program::instruction::{Condition, Logic, Op};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand};
use crate::semantics::{PureInfo, Register, Width, bits, integer, pure, test};

pub(super) const LOGICS: [(&str, Logic); 3] = [("and", Logic::And), ("or", Logic::Or), ("xor", Logic::Xor)];

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

/// Modifiers of only some of the instructions.
struct Special {
    wrap: bool,
    clamp: bool,
    /// Direction of a funnel shift: true for left.
    direction: Option<bool>,
    from_top: bool,
    permutation: Found,
}

impl Special {
    fn operation(&self, opcode: &str, ty: Type) -> Found {
        match opcode {
            "shf" => match (self.direction, self.wrap, self.clamp) {
                (Some(true), true, false) => Some(pure::<bits::FunnelLeft<true>>()),
                (Some(true), false, true) => Some(pure::<bits::FunnelLeft<false>>()),
                (Some(false), true, false) => Some(pure::<bits::FunnelRight<true>>()),
                (Some(false), false, true) => Some(pure::<bits::FunnelRight<false>>()),
                _ => None,
            }
            .filter(|_| ty == Type::B32),
            "bmsk" if ty == Type::B32 => {
                Some(if self.wrap { pure::<bits::Mask<true>>() } else { pure::<bits::Mask<false>>() })
            }
            "szext" => match (ty, self.wrap) {
                (Type::U32, true) => Some(pure::<bits::Extend<false, true>>()),
                (Type::U32, false) => Some(pure::<bits::Extend<false, false>>()),
                (Type::S32, true) => Some(pure::<bits::Extend<true, true>>()),
                (Type::S32, false) => Some(pure::<bits::Extend<true, false>>()),
                _ => None,
            },
            "bfind" if !self.wrap && !self.clamp => match (ty, self.from_top) {
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
            "prmt" if ty == Type::B32 => Some(self.permutation.unwrap_or(pure::<bits::Permute>())),
            _ => None,
        }
    }
}

/// Returns the operation of an opcode without special modifiers.
fn ordinary(opcode: &str, ty: Type) -> Found {
    let bitwise = matches!(ty, Type::B16 | Type::B32 | Type::B64);
    match opcode {
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
    }
}

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn bits_instruction(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if i.modifiers == ["pred"] {
            return self.predicate_logic(i, m);
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
        let unusual = wrap || clamp || direction.is_some() || from_top || permutation.is_some();
        let special = Special { wrap, clamp, direction, from_top, permutation };
        let found = match special.operation(i.opcode, ty) {
            None if !unusual => ordinary(i.opcode, ty),
            found => found,
        };
        let info = found.ok_or_else(|| m.unknown())?;
        if matches!(i.opcode, "bfe" | "bfi") {
            let numbers = &i.operands[i.operands.len().saturating_sub(2)..];
            if numbers
                .iter()
                .any(|number| matches!(number, Operand::Int(number) if !(0..=255).contains(number)))
            {
                return Err(self.invalid("the position and the length of a bit field are from 0 to 255"));
            }
        }
        self.pure_instruction(i, info, ty)
    }

    pub(super) fn any_logic(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let logic = m.pick(&LOGICS);
        if m.ty()? != Type::B32 || logic == Some(Logic::Xor) {
            return Err(m.unknown());
        }
        let Some(logic) = logic else {
            return self.pure_instruction(i, pure::<bits::Logic3>(), Type::B32);
        };
        self.operand_count(i, 6)?;
        let Operand::Pair(to, flag) = self.operand(i, 0)? else { return Err(m.unknown()) };
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
        Ok(())
    }

    pub(super) fn predicate_logic(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
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
            _ => return Err(m.unknown()),
        };
        self.emit(Op::Logic { logic, out, a, b });
        Ok(())
    }
}
