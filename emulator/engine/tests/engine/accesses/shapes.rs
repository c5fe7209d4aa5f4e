//! Ways to compute the address of an access.
//!
//! Each shape is text that computes the address in `%a` plus the number of the access, and the
//! operand that uses it. `%base` and `%narrow` contain the start of the memory, as 64 and as 32
//! bits; `%x` is `tid.x`, `%t` is the thread's number, `%n` is a parameter, `%scattered` is
//! irregular.

use super::forms::{Memory, Space};
use super::{MOST, RESULT};
use cuprum_engine::exec::Execution;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// The start, with and without an offset.
    Direct,
    Immediate,
    Symbol,
    /// Base plus index times size: folded into one access.
    AffineX,
    AffineSigned,
    AffinePlane,
    AffineImmediate,
    Uniform,
    Scattered,
    ScatteredSigned,
    BelowZero,
    /// A 32-bit address that wraps around before its offset is added.
    WrapAround,
    /// By shifts, by one instruction, or in 32 bits.
    Shifted,
    MultiplyAdd,
    Narrow,
    /// The register of the product is overwritten before the access, or is also the address.
    ProductReused,
    ProductIsAddress,
    IndexReused,
    /// The address or the product has other uses too.
    AddressRead,
    ProductShared,
    AddressShared,
}

pub(crate) const SHAPES: [Shape; 21] = [
    Shape::Direct,
    Shape::Immediate,
    Shape::Symbol,
    Shape::AffineX,
    Shape::AffineSigned,
    Shape::AffinePlane,
    Shape::AffineImmediate,
    Shape::Uniform,
    Shape::Scattered,
    Shape::ScatteredSigned,
    Shape::BelowZero,
    Shape::WrapAround,
    Shape::Shifted,
    Shape::MultiplyAdd,
    Shape::Narrow,
    Shape::ProductReused,
    Shape::ProductIsAddress,
    Shape::IndexReused,
    Shape::AddressRead,
    Shape::ProductShared,
    Shape::AddressShared,
];

pub(crate) struct Place<'a> {
    pub(crate) space: Space,
    pub(crate) symbol: &'a str,
    /// Number of the access in its kernel, and its first byte in the symbol.
    pub(crate) number: usize,
    pub(crate) start: usize,
    pub(crate) bytes: usize,
}

impl Shape {
    pub(crate) fn is_for(self, space: Space) -> bool {
        match self {
            Shape::Symbol => !space.is_generic(),
            Shape::WrapAround | Shape::Narrow => {
                matches!(space.memory, Memory::Shared | Memory::Local) && !space.is_generic()
            }
            _ => true,
        }
    }

    /// True if lanes of a warp access the same place.
    pub(crate) fn is_common(self) -> bool {
        use Shape::{AffineSigned, AffineX, Direct, Immediate, Symbol, Uniform};
        matches!(self, Direct | Immediate | Symbol | Uniform | AffineX | AffineSigned)
    }

    /// Returns text that checks the registers used for the address: a prologue, and text that adds
    /// them to `%e` plus the number of the access.
    pub(crate) fn witnesses(self, k: usize) -> (String, String) {
        match self {
            Shape::ProductReused => {
                (format!("mov.u64 %d{k}, 0;\n"), format!("xor.b64 %e{k}, %e{k}, %d{k};\n"))
            }
            Shape::IndexReused | Shape::AddressShared => (
                format!("mov.u32 %i{k}, 0;\n"),
                format!("cvt.u64.u32 %wide, %i{k};\nxor.b64 %e{k}, %e{k}, %wide;\n"),
            ),
            _ => (String::new(), String::new()),
        }
    }

    /// Returns the text before the access, and its operand.
    pub(crate) fn address(self, place: &Place<'_>) -> (String, String) {
        let Place { number: k, start, bytes, symbol, .. } = place;
        let (wide, sum) = ("mul.wide.u32", format!("add.s64 %a{k}, %base, %d{k};"));
        let linear = |index: &str, opcode: &str| format!("{opcode} %d{k}, {index}, {bytes};\n{sum}\n");
        let operand =
            |register: char, elements: usize| format!("[%{register}{k}+{}]", start + elements * bytes);
        let whole = operand('a', 0);
        match self {
            Shape::Direct => (format!("add.s64 %a{k}, %base, {start};\n"), format!("[%a{k}]")),
            Shape::Immediate => (String::new(), format!("[%base+{}]", start + 3 * bytes)),
            Shape::Symbol => (String::new(), format!("[{symbol}+{}]", start + 2 * bytes)),
            Shape::AffineX => (linear("%x", wide), whole),
            Shape::AffineSigned => {
                (format!("mul.wide.s32 %d{k}, %x, {bytes};\nadd.s64 %a{k}, %d{k}, %base;\n"), whole)
            }
            Shape::AffinePlane => (linear("%t", wide), whole),
            Shape::AffineImmediate => (linear("%t", wide), operand('a', 5)),
            Shape::Uniform => (linear("%n", wide), whole),
            Shape::Scattered => (linear("%scattered", wide), whole),
            Shape::ScatteredSigned => (linear("%scattered", "mul.wide.s32"), whole),
            Shape::BelowZero => (
                format!("add.s32 %i{k}, %t, -40;\n{}", linear(&format!("%i{k}"), "mul.wide.s32")),
                operand('a', 40),
            ),
            Shape::WrapAround => {
                let far = start + 64 * bytes;
                let index = format!("mul.lo.u32 %i{k}, %t, {bytes};\nadd.u32 %i{k}, %i{k}, %narrow;\n");
                (format!("{index}sub.u32 %i{k}, %i{k}, {far};\n"), format!("[%i{k}+{}]", start + far))
            }
            Shape::Shifted => {
                let shift = bytes.trailing_zeros();
                (format!("shl.b32 %i{k}, %t, {shift};\ncvt.u64.u32 %d{k}, %i{k};\n{sum}\n"), whole)
            }
            Shape::MultiplyAdd => (format!("mad.wide.u32 %a{k}, %t, {bytes}, %base;\n"), whole),
            Shape::Narrow => (format!("mad.lo.u32 %i{k}, %t, {bytes}, %narrow;\n"), operand('i', 0)),
            Shape::ProductReused => (format!("{}mul.wide.u32 %d{k}, %x, 24;\n", linear("%t", wide)), whole),
            Shape::ProductIsAddress => {
                (format!("{wide} %a{k}, %t, {bytes};\nadd.s64 %a{k}, %base, %a{k};\n"), whole)
            }
            Shape::IndexReused => (
                format!(
                    "add.u32 %i{k}, %scattered, 1;\n{}mov.u32 %i{k}, 9;\n",
                    linear(&format!("%i{k}"), wide)
                ),
                whole,
            ),
            Shape::AddressRead => (format!("{}sub.s64 %e{k}, %a{k}, %base;\n", linear("%t", wide)), whole),
            Shape::ProductShared => {
                (format!("{}add.s64 %e{k}, %d{k}, 7;\n", linear("%scattered", wide)), whole)
            }
            Shape::AddressShared => {
                (format!("{}ld{}.b8 %i{k}, {whole};\n", linear("%t", wide), place.space.word), whole)
            }
        }
    }
}

/// Position of an access in the control flow, used in turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Context {
    Straight,
    Guarded,
    /// The same for a few lanes of a warp.
    Few,
    /// Lanes have diverged; the address is computed afterwards, or before.
    Branch,
    AddressBefore,
    /// A branch that some lanes take computes the address again; it is used after the branch.
    AddressOutlives,
}

pub(crate) const CONTEXTS: [Context; 6] = [
    Context::Straight,
    Context::Guarded,
    Context::Few,
    Context::Branch,
    Context::AddressBefore,
    Context::AddressOutlives,
];

impl Context {
    /// Returns an access in its context: `%odd` holds in every other thread, `%few` in every
    /// eleventh, `%some` is irregular.
    pub(crate) fn around(self, number: usize, address: &str, access: &str) -> String {
        match self {
            Context::Straight => format!("{address}{access}\n"),
            Context::Guarded => format!("{address}@%odd {access}\n"),
            Context::Few => format!("{address}@%few {access}\n"),
            Context::Branch => format!("@%some bra L{number};\n{address}{access}\nL{number}:\n"),
            Context::AddressBefore => format!("{address}@%some bra L{number};\n{access}\nL{number}:\n"),
            Context::AddressOutlives => format!(
                "mov.u64 %a{number}, %base;\nmov.u64 %d{number}, 1;\nmov.u32 %i{number}, %t;\n\
                 @%some bra L{number};\nadd.u32 %i{number}, %x, 0;\n\
                 {address}{access}\nL{number}:\nsub.s64 %e{number}, %a{number}, %base;\n"
            ),
        }
    }
}

/// Compares results and memory of a mode with the plain mode.
pub(super) fn assert_same(
    plain: &[Vec<u8>; 2],
    other: &[Vec<u8>; 2],
    mode: Execution,
    what: impl Fn() -> String,
) {
    for (plain, other) in plain.iter().zip(other) {
        let first = plain.iter().zip(other).position(|(plain, other)| plain != other);
        let place = first.map(|at| {
            let (thread, rest) = (at / (MOST * RESULT), at % (MOST * RESULT));
            format!("byte {at}: thread {thread}, access {}, byte {}", rest / RESULT, rest % RESULT)
        });
        assert!(first.is_none(), "{mode:?} differs: {}\n{}", place.unwrap_or_default(), what());
    }
}
