//! Operands to rows, predicates and addresses.

use super::{Decoded, Decoder, Symbol};
use crate::exec::semantics::{PureInfo, Width, bits, convert, pure};
use crate::program::instruction::{Address, Condition, Constant, Op, Predicate, Register, Special};
use crate::program::module::ModuleSymbol;
use crate::program::types::Type;
use crate::program::{PtxError, PtxErrorKind};
use crate::ptx::{Instruction, Operand};
use core::cmp::Ordering;

/// A destination: the row that the operation writes, and what becomes of it.
pub(super) struct Destination {
    pub(super) row: Register,
    /// The declared register is wider than the operation: extend into it afterwards.
    widen: Option<(Register, bool)>,
}

pub(super) fn width_of(ty: Type) -> Width {
    if ty.bytes() == 8 { Width::Double } else { Width::Single }
}

impl<'c, 'm, 's> Decoder<'c, 'm, 's> {
    /// What a name means: innermost scope first, then numbered registers, then nothing.
    pub(super) fn lookup(&self, name: &str) -> Option<Symbol<'s>> {
        for scope in self.scopes.iter().rev() {
            if let Some(symbol) = scope.get(name) {
                return Some(symbol.clone());
            }
        }
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        // The number may follow a name that itself ends in digits: `%r1<5>` declares `%r10` to `%r14`.
        for cut in prefix.len()..name.len() {
            let (prefix, digits) = name.split_at(cut);
            if digits.len() > 1 && digits.starts_with('0') {
                continue;
            }
            let Ok(number) = digits.parse::<u32>() else { continue };
            for scope in self.scopes.iter().rev() {
                match scope.get(prefix) {
                    Some(Symbol::Registers { first, ty, count }) if number < *count => {
                        let register = Register(first.0 + number * super::rows_of(*ty));
                        return Some(Symbol::Register { register, ty: *ty });
                    }
                    Some(Symbol::Predicates { first, count }) if number < *count => {
                        return Some(Symbol::Predicate(Predicate(first.0 + number)));
                    }
                    _ => {}
                }
            }
        }
        None
    }

    pub(super) fn undeclared(&self, name: &str) -> PtxError {
        PtxError::at(
            self.position,
            PtxErrorKind::Unresolved,
            format!("`{name}` is not declared, or not usable here"),
        )
    }

    pub(super) fn operand<'i>(
        &self,
        instruction: &'i Instruction<'s>,
        index: usize,
    ) -> Decoded<&'i Operand<'s>> {
        instruction.operands.get(index).ok_or_else(|| {
            PtxError::at(
                instruction.position,
                PtxErrorKind::Syntax,
                format!("`{}` has too few operands: expected at least {}", instruction.opcode, index + 1),
            )
        })
    }

    pub(super) fn operand_count(&self, instruction: &Instruction<'s>, most: usize) -> Decoded<()> {
        if instruction.operands.len() <= most {
            return Ok(());
        }
        Err(PtxError::at(
            instruction.position,
            PtxErrorKind::Syntax,
            format!("`{}` has too many operands: expected at most {most}", instruction.opcode),
        ))
    }

    pub(super) fn predicate_named(&self, name: &str) -> Decoded<Predicate> {
        match self.lookup(name) {
            Some(Symbol::Predicate(predicate)) => Ok(predicate),
            _ => Err(PtxError::at(
                self.position,
                PtxErrorKind::Unresolved,
                format!("`{name}` is no predicate"),
            )),
        }
    }

    /// A predicate as source.
    pub(super) fn condition(&self, operand: &Operand<'s>) -> Decoded<Condition> {
        match operand {
            Operand::Name(name) => Ok(Condition { predicate: self.predicate_named(name)?, negated: false }),
            Operand::Not(name) => Ok(Condition { predicate: self.predicate_named(name)?, negated: true }),
            Operand::Int(value) => Ok(Condition { predicate: Predicate::TRUE, negated: *value == 0 }),
            _ => Err(self.unsupported("this operand where a predicate belongs")),
        }
    }

    /// A predicate as destination; `_` goes nowhere.
    pub(super) fn predicate_out(&mut self, operand: &Operand<'s>) -> Decoded<Predicate> {
        match operand {
            Operand::Name("_") => {
                self.predicates += 1;
                Ok(Predicate(self.predicates - 1))
            }
            Operand::Name(name) => self.predicate_named(name),
            _ => Err(self.unsupported("this operand where a destination predicate belongs")),
        }
    }

    /// A value as source, in the width of the operation.
    pub(super) fn source(&mut self, operand: &Operand<'s>, ty: Type, width: Width) -> Decoded<Register> {
        match operand {
            Operand::Name(name) => self.source_named(name, width),
            Operand::Int(value) => {
                let bits = match ty {
                    Type::F32 => u64::from((*value as i64 as f32).to_bits()),
                    Type::F64 => (*value as i64 as f64).to_bits(),
                    _ => *value,
                };
                Ok(self.bits(width, bits))
            }
            Operand::Double(value) => match ty {
                Type::F64 | Type::B64 => Ok(self.bits(Width::Double, value.to_bits())),
                Type::F32 | Type::B32 => Ok(self.bits(Width::Single, u64::from((*value as f32).to_bits()))),
                _ => Err(self.unsupported("a floating-point number as operand of this type")),
            },
            Operand::Single(bits) => match ty {
                Type::F64 => Ok(self.bits(Width::Double, f64::from(f32::from_bits(*bits)).to_bits())),
                _ => Ok(self.bits(width, u64::from(*bits))),
            },
            _ => Err(self.unsupported("this operand where a register or a number belongs")),
        }
    }

    pub(super) fn bits(&mut self, width: Width, bits: u64) -> Register {
        let bits = if width == Width::Single { bits & 0xffff_ffff } else { bits };
        self.constant(width, Constant::Bits(bits))
    }

    fn source_named(&mut self, name: &str, width: Width) -> Decoded<Register> {
        let (register, has) = match self.lookup(name) {
            Some(Symbol::Register { register, ty }) => (register, width_of(ty)),
            Some(_) => return Err(self.undeclared(name)),
            None => match special(name) {
                Some(special) => (self.constant(Width::Single, Constant::Special(special)), Width::Single),
                None => return Err(self.undeclared(name)),
            },
        };
        match (has, width) {
            (Width::Double, Width::Single) => {
                let out = self.temporary(Width::Single);
                self.pure_op(pure::<bits::Low32>(), out, &[register]);
                Ok(out)
            }
            (Width::Single, Width::Double) => Err(PtxError::at(
                self.position,
                PtxErrorKind::Unsupported,
                format!("`{name}` has 32 bits or fewer, the instruction needs 64"),
            )),
            _ => Ok(register),
        }
    }

    /// A register as destination of an operation of this width.
    pub(super) fn destination(
        &mut self,
        operand: &Operand<'s>,
        width: Width,
        signed: bool,
    ) -> Decoded<Destination> {
        let Operand::Name(name) = operand else {
            return Err(self.unsupported("this operand where a destination register belongs"));
        };
        if *name == "_" {
            return Ok(Destination { row: self.temporary(width), widen: None });
        }
        let Some(Symbol::Register { register, ty }) = self.lookup(name) else {
            return Err(self.undeclared(name));
        };
        match (width_of(ty), width) {
            (Width::Double, Width::Single) => {
                Ok(Destination { row: self.temporary(Width::Single), widen: Some((register, signed)) })
            }
            (Width::Single, Width::Double) => Err(PtxError::at(
                self.position,
                PtxErrorKind::Unsupported,
                format!("`{name}` has 32 bits or fewer, the result has 64"),
            )),
            _ => Ok(Destination { row: register, widen: None }),
        }
    }

    /// Completes a destination after the operation was emitted.
    pub(super) fn finish(&mut self, destination: Destination) {
        if let Some((wide, signed)) = destination.widen {
            let info =
                if signed { pure::<convert::Wrap<i64, i32>>() } else { pure::<convert::Wrap<u64, u32>>() };
            self.pure_op(info, wide, &[destination.row]);
        }
    }

    pub(super) fn pure_op(&mut self, info: &'static PureInfo, out: Register, sources: &[Register]) {
        let zero = sources.first().copied().unwrap_or_default();
        let mut all = [zero; 4];
        all[..sources.len()].copy_from_slice(sources);
        self.emit(Op::Pure { info, out, sources: all });
    }

    /// `opcode d, a, b, c;` where all sources have the type of the instruction as far as literals go.
    pub(super) fn pure_instruction(
        &mut self,
        instruction: &Instruction<'s>,
        info: &'static PureInfo,
        ty: Type,
    ) -> Decoded<()> {
        let count = info.sources.iter().filter(|width| **width != Width::None).count();
        self.operand_count(instruction, count + 1)?;
        let mut sources = [Register::default(); 4];
        for (i, source) in sources.iter_mut().enumerate().take(count) {
            *source = self.source(self.operand(instruction, i + 1)?, ty, info.sources[i])?;
        }
        let out = self.destination(self.operand(instruction, 0)?, info.out, ty.is_signed())?;
        self.pure_op(info, out.row, &sources[..count]);
        self.finish(out);
        Ok(())
    }

    /// The address of a symbol, as a constant row.
    pub(super) fn symbol_address(&mut self, name: &str, offset: i64, width: Width) -> Option<Register> {
        let constant = match self.lookup(name) {
            Some(Symbol::Shared { index }) => Constant::Shared { index, offset },
            Some(Symbol::KernelParam { offset: at }) => Constant::Bits((i64::from(at) + offset) as u64),
            Some(Symbol::Local { offset: at }) => {
                let offset = (i64::from(at) + offset) as u32;
                if self.in_kernel {
                    Constant::Bits(offset.into())
                } else {
                    let out = self.temporary(width);
                    self.emit(Op::LocalAddress { out, offset, width });
                    return Some(out);
                }
            }
            Some(_) => return None,
            None => match self.context.symbols.get(name)? {
                ModuleSymbol::Global(index) => Constant::Global { index: *index, offset },
                ModuleSymbol::Shared(index) => Constant::Shared { index: *index, offset },
                ModuleSymbol::Function(index) => Constant::Function { index: *index },
            },
        };
        Some(self.constant(width, constant))
    }

    /// `[base + offset]`.
    pub(super) fn address(&mut self, operand: &Operand<'s>) -> Decoded<Address> {
        let Operand::Memory(parts) = operand else {
            return Err(self.unsupported("this operand where an address belongs"));
        };
        let [base] = parts.as_slice() else {
            return Err(self.unsupported("an address of several parts"));
        };
        let (name, offset) = match base {
            Operand::Name(name) => (*name, 0),
            Operand::Offset(name, offset) => (*name, *offset),
            Operand::Int(value) => {
                let base = self.bits(Width::Double, *value);
                return Ok(Address { base, width: Width::Double, offset: 0 });
            }
            _ => return Err(self.unsupported("this address")),
        };
        if let Some(Symbol::Register { register, ty }) = self.lookup(name) {
            return Ok(Address { base: register, width: width_of(ty), offset });
        }
        match self.symbol_address(name, offset, Width::Double) {
            Some(base) => Ok(Address { base, width: Width::Double, offset: 0 }),
            None => Err(self.undeclared(name)),
        }
    }
}

/// Special registers that hold still.
fn special(name: &str) -> Option<Special> {
    let axis = |name: &str| match name {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    };
    if let Some((base, component)) = name.split_once('.') {
        let axis = axis(component);
        return match (base, axis) {
            ("%tid", Some(axis)) => Some(Special::ThreadId(axis)),
            ("%ntid", Some(axis)) => Some(Special::BlockDim(axis)),
            ("%ctaid", Some(axis)) => Some(Special::BlockId(axis)),
            ("%nctaid", Some(axis)) => Some(Special::GridDim(axis)),
            ("%tid" | "%ntid" | "%ctaid" | "%nctaid", None) if component == "w" => Some(Special::Zero),
            _ => None,
        };
    }
    Some(match name {
        "%laneid" => Special::LaneId,
        "%warpid" => Special::WarpId,
        "%nwarpid" => Special::WarpsPerBlock,
        "%smid" => Special::MultiprocessorId,
        "%nsmid" => Special::MultiprocessorCount,
        "%gridid" => Special::GridId,
        "%lanemask_eq" => Special::LaneMask(Ordering::Equal, false),
        "%lanemask_lt" => Special::LaneMask(Ordering::Less, false),
        "%lanemask_le" => Special::LaneMask(Ordering::Less, true),
        "%lanemask_gt" => Special::LaneMask(Ordering::Greater, false),
        "%lanemask_ge" => Special::LaneMask(Ordering::Greater, true),
        "%dynamic_smem_size" => Special::DynamicSharedBytes,
        "%total_smem_size" => Special::TotalSharedBytes,
        "WARP_SZ" => Special::WarpSize,
        _ => {
            let number: u8 = name.strip_prefix("%envreg")?.parse().ok()?;
            (number < 32).then_some(Special::Environment(number))?
        }
    })
}
