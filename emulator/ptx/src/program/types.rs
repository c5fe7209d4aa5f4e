//! The scalar types of instructions.

/// A fundamental type of PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    U16x2,
    S16x2,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
}

impl Type {
    pub fn parse(name: &str) -> Option<Type> {
        Some(match name {
            "pred" => Type::Pred,
            "b8" => Type::B8,
            "b16" => Type::B16,
            "b32" => Type::B32,
            "b64" => Type::B64,
            "b128" => Type::B128,
            "u8" => Type::U8,
            "u16" => Type::U16,
            "u32" => Type::U32,
            "u64" => Type::U64,
            "s8" => Type::S8,
            "s16" => Type::S16,
            "s32" => Type::S32,
            "s64" => Type::S64,
            "u16x2" => Type::U16x2,
            "s16x2" => Type::S16x2,
            "f16" => Type::F16,
            "f16x2" => Type::F16x2,
            "bf16" => Type::Bf16,
            "bf16x2" => Type::Bf16x2,
            "f32" => Type::F32,
            "f64" => Type::F64,
            _ => return None,
        })
    }

    /// Returns the size in memory; 1 for predicates, which are not in memory.
    #[inline]
    pub fn bytes(self) -> u32 {
        match self {
            Type::Pred | Type::B8 | Type::U8 | Type::S8 => 1,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 2,
            Type::B32
            | Type::U32
            | Type::S32
            | Type::U16x2
            | Type::S16x2
            | Type::F16x2
            | Type::Bf16x2
            | Type::F32 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 8,
            Type::B128 => 16,
        }
    }

    #[inline]
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    #[inline]
    pub fn is_integer(self) -> bool {
        use Type::*;
        matches!(self, U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64)
    }

    /// Returns the integer type of this size.
    #[inline]
    pub fn integer(bytes: u32) -> Option<Type> {
        Some(match bytes {
            1 => Type::U8,
            2 => Type::U16,
            4 => Type::U32,
            8 => Type::U64,
            _ => return None,
        })
    }

    /// Returns the untyped type of this size.
    #[inline]
    pub fn bits(bytes: u32) -> Option<Type> {
        Some(match bytes {
            1 => Type::B8,
            2 => Type::B16,
            4 => Type::B32,
            8 => Type::B64,
            _ => return None,
        })
    }

    /// True if this type contains all values of another, narrower integer type.
    pub(crate) fn holds_all_of(self, narrower: Type) -> bool {
        self.bytes() > narrower.bytes() && (self.is_signed() || !narrower.is_signed())
    }

    /// True if an operand of this type may be a register of that type, regardless of size: untyped
    /// bits match all types, and integers match each other.
    pub fn takes(self, register: Type) -> bool {
        use Type::*;
        let untyped = |ty| matches!(ty, B8 | B16 | B32 | B64 | B128 | U16x2 | S16x2);
        untyped(self)
            || untyped(register)
            || self == register
            || self.is_integer() && (register.is_integer() || register == F16x2)
    }

    #[inline]
    pub fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::F32 | Type::F64)
    }
}
