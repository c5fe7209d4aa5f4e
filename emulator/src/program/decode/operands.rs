//! Operands to rows, predicates and addresses.

use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::{Condition, Constant, Op, Special};
use crate::program::memory::Address;
use crate::program::module::{ModuleSymbol, SharedVariable};
use crate::program::types::Type;
use crate::program::variables::ELEMENTS;
use crate::program::{PtxError, PtxErrorKind};
use crate::ptx::{Instruction, Operand, Space};
use crate::semantics::{Predicate, PureInfo, Register, Width, bits, convert, integer, pure};
use core::cmp::Ordering;

/// A destination: the row that the operation writes, and what becomes of it.
pub(super) struct Destination {
    pub(super) row: Register,
    /// The declared register is wider than the operation: extend into it afterwards.
    widen: Option<(Register, bool)>,
}

impl Destination {
    /// A row and nothing more.
    pub(super) fn row(row: Register) -> Self {
        Destination { row, widen: None }
    }
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
        if let Some((vector, element)) = name.split_once('.') {
            return self.vector_element(vector, element);
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
                    Some(Symbol::Registers { declaration, ty, count }) if number < *count => {
                        let register = self.numbered(*declaration, number, *ty);
                        return Some(Symbol::Register { register, ty: *ty });
                    }
                    Some(Symbol::Vectors { first, ty, elements, count }) if number < *count => {
                        let first = Register(first.0 + number * elements * super::rows_of(*ty));
                        return Some(Symbol::Vector { first, ty: *ty, elements: *elements });
                    }
                    Some(Symbol::Predicates { declaration, count }) if number < *count => {
                        return Some(Symbol::Predicate(self.numbered_predicate(*declaration, number)));
                    }
                    _ => {}
                }
            }
        }
        None
    }

    /// `%v.x`, where `%v` was declared with `.v2` or `.v4`.
    fn vector_element(&self, vector: &str, element: &str) -> Option<Symbol<'s>> {
        let Some(Symbol::Vector { first, ty, elements }) = self.lookup(vector) else { return None };
        let position = |names: &[&str; 4]| names.iter().position(|name| *name == element);
        let index = ELEMENTS.iter().find_map(position)? as u32;
        let register = Register(first.0 + index * super::rows_of(ty));
        (index < elements).then_some(Symbol::Register { register, ty })
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
            Operand::Name("%is_explicit_cluster") => {
                Ok(Condition { predicate: Predicate::TRUE, negated: !self.explicit_cluster })
            }
            Operand::Name(name) => Ok(Condition { predicate: self.predicate_named(name)?, negated: false }),
            Operand::Not(name) => Ok(Condition { predicate: self.predicate_named(name)?, negated: true }),
            Operand::Int(value) => Ok(Condition { predicate: Predicate::TRUE, negated: *value == 0 }),
            _ => Err(self.unsupported("this operand where a predicate belongs")),
        }
    }

    /// A predicate as destination; `_` goes nowhere.
    pub(super) fn predicate_out(&mut self, operand: &Operand<'s>) -> Decoded<Predicate> {
        match operand {
            Operand::Name("_") => Ok(self.new_predicate()),
            Operand::Name(name) => self.predicate_named(name),
            _ => Err(self.unsupported("this operand where a destination predicate belongs")),
        }
    }

    /// A value as source, in the width of the operation.
    pub(super) fn source(&mut self, operand: &Operand<'s>, ty: Type, width: Width) -> Decoded<Register> {
        match operand {
            Operand::Name(name) => self.source_named(name, width),
            Operand::Offset(name, offset) => self.sum(name, *offset, ty, width),
            Operand::Int(value) => {
                if ty.is_float() {
                    return Err(self.mismatch("an integer", ty));
                }
                Ok(self.bits(width, *value))
            }
            Operand::Double(value) => match ty {
                Type::F64 | Type::B64 => Ok(self.bits(Width::Double, value.to_bits())),
                Type::F32 => Ok(self.bits(Width::Single, u64::from((*value as f32).to_bits()))),
                _ => Err(self.mismatch("a floating-point number", ty)),
            },
            Operand::Single(bits) => match ty {
                Type::F64 => Ok(self.bits(Width::Double, f64::from(f32::from_bits(*bits)).to_bits())),
                _ if ty.is_integer() => Err(self.mismatch("a floating-point number", ty)),
                _ => Ok(self.bits(width, u64::from(*bits))),
            },
            _ => Err(self.unsupported("this operand where a register or a number belongs")),
        }
    }

    /// `name + offset` as a value: of a register, or the address of a symbol.
    fn sum(&mut self, name: &str, offset: i64, ty: Type, width: Width) -> Decoded<Register> {
        if ty.is_float() {
            return Err(self.unsupported("a sum as a floating-point operand"));
        }
        if !matches!(self.lookup(name), Some(Symbol::Register { .. })) {
            return match self.symbol_address(name, offset, width) {
                Some(address) => Ok(address),
                None => Err(self.undeclared(name)),
            };
        }
        let value = self.source_named(name, width)?;
        let (offset, sum) = (self.bits(width, offset as u64), self.temporary(width));
        let add =
            if width == Width::Double { pure::<integer::Add<u64>>() } else { pure::<integer::Add<u32>>() };
        self.pure_op(add, sum, &[value, offset]);
        Ok(sum)
    }

    /// Bytes of an element of an array.
    fn array_element(&self, name: &str) -> Decoded<u32> {
        let bytes = match self.lookup(name) {
            Some(
                Symbol::Local { element, .. }
                | Symbol::Shared { element, .. }
                | Symbol::Global { element, .. },
            ) => element,
            Some(_) => 0,
            None => {
                let variables = &self.context.module.variables;
                let variable = variables.iter().rev().find(|variable| variable.name == name);
                variable.map_or(0, super::element_bytes)
            }
        };
        if bytes != 0 {
            return Ok(bytes);
        }
        Err(PtxError::at(self.position, PtxErrorKind::Syntax, format!("`{name}` is no array")))
    }

    /// The address of `name[index]`.
    pub(super) fn element_address(
        &mut self,
        name: &str,
        index: &Operand<'s>,
        width: Width,
    ) -> Decoded<Register> {
        let bytes = self.array_element(name)?;
        if let Operand::Int(index) = index {
            let offset = (*index as i64).wrapping_mul(i64::from(bytes));
            return self.symbol_address(name, offset, width).ok_or_else(|| self.undeclared(name));
        }
        let base = self.symbol_address(name, 0, Width::Double).ok_or_else(|| self.undeclared(name))?;
        let (Operand::Name(register) | Operand::Offset(register, _)) = index else {
            return Err(self.unsupported("this index of an array"));
        };
        let wide = matches!(self.lookup(register), Some(Symbol::Register { ty, .. }) if width_of(ty) == Width::Double);
        let address = self.temporary(Width::Double);
        if wide {
            let index = self.source(index, Type::U64, Width::Double)?;
            let factor = self.bits(Width::Double, bytes.into());
            self.pure_op(pure::<integer::MadLow<u64>>(), address, &[index, factor, base]);
        } else {
            let index = self.source(index, Type::U32, Width::Single)?;
            let factor = self.bits(Width::Single, bytes.into());
            self.pure_op(pure::<integer::MadWide<u32>>(), address, &[index, factor, base]);
        }
        if width == Width::Double {
            return Ok(address);
        }
        let narrow = self.temporary(Width::Single);
        self.pure_op(pure::<bits::Low32>(), narrow, &[address]);
        Ok(narrow)
    }

    pub(super) fn bits(&mut self, width: Width, bits: u64) -> Register {
        let bits = if width == Width::Single { bits & 0xffff_ffff } else { bits };
        self.constant(width, Constant::Bits(bits))
    }

    pub(super) fn source_named(&mut self, name: &str, width: Width) -> Decoded<Register> {
        let (register, has) = match self.lookup(name) {
            Some(Symbol::Register { ty: Type::B128, .. }) => {
                return Err(self.unsupported(format!("`{name}`, which has 128 bits, in this instruction")));
            }
            Some(Symbol::Register { register, ty }) => (register, width_of(ty)),
            Some(_) => return Err(self.undeclared(name)),
            None if name.starts_with("%reserved_smem_offset_") => {
                let offset = self.reserved_shared(name).ok_or_else(|| self.undeclared(name))?;
                (offset, Width::Single)
            }
            None => match special(name) {
                Some(special) => {
                    let width = if is_wide(name) { width } else { Width::Single };
                    (self.constant(width, Constant::Special(special)), width)
                }
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

    /// Where the shared memory lies that is kept for libraries: as much as the system reserves.
    fn reserved_shared(&mut self, name: &str) -> Option<Register> {
        const BYTES: u32 = 1024;
        let offset = match name {
            "%reserved_smem_offset_begin" | "%reserved_smem_offset_0" => 0,
            "%reserved_smem_offset_1" => i64::from(BYTES / 2),
            "%reserved_smem_offset_end" | "%reserved_smem_offset_cap" => BYTES.into(),
            _ => return None,
        };
        let index = *self.reserved.get_or_insert_with(|| {
            self.shared.push(SharedVariable { bytes: Some(BYTES), align: 128 });
            self.shared.len() as u32 - 1
        });
        Some(self.constant(Width::Single, Constant::Shared { index, offset }))
    }

    /// The two halves of a register of 128 bits.
    pub(super) fn wide_register(&self, operand: &Operand<'s>) -> Decoded<[Register; 2]> {
        match operand {
            Operand::Name(name) => match self.lookup(name) {
                Some(Symbol::Register { register, ty: Type::B128 }) => {
                    Ok([register, Register(register.0 + 2)])
                }
                _ => Err(self.undeclared(name)),
            },
            _ => Err(self.unsupported("this operand where a register of 128 bits belongs")),
        }
    }

    fn mismatch(&self, what: &str, ty: Type) -> PtxError {
        PtxError::at(
            self.position,
            PtxErrorKind::Syntax,
            format!("{what} does not fit where the instruction has type {ty:?}"),
        )
    }

    /// Refuses a register whose declared type does not fit an operand of this type; `wider` registers are those that
    /// loads, stores and conversions extend into.
    pub(super) fn fits(&self, operand: &Operand<'s>, ty: Type, wider: bool) -> Decoded<()> {
        let (Operand::Name(name) | Operand::Offset(name, _)) = operand else { return Ok(()) };
        let Some(Symbol::Register { ty: register, .. }) = self.lookup(name) else { return Ok(()) };
        let size = if wider { register.bytes() >= ty.bytes() } else { register.bytes() == ty.bytes() };
        match size && ty.takes(register) {
            true => Ok(()),
            false => Err(self.mismatch(&format!("`{name}` of type {register:?}"), ty)),
        }
    }

    /// Refuses `_` for a result that must go somewhere.
    pub(super) fn refuse_discarded(&self, operand: &Operand<'s>) -> Decoded<()> {
        if *operand != Operand::Name("_") {
            return Ok(());
        }
        Err(PtxError::at(self.position, PtxErrorKind::Syntax, "`_` is no result of this instruction"))
    }

    /// Refuses a symbol that lies in another state space than the instruction says.
    pub(super) fn refuse_other_space(&self, operand: &Operand<'s>, space: Option<Space>) -> Decoded<()> {
        let name = match operand {
            Operand::Element(name, _) => name,
            Operand::Memory(parts) => match parts.as_slice() {
                [Operand::Name(name) | Operand::Offset(name, _)] => name,
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        let global = |index: u32| match self.context.constants.iter().any(|(constant, _)| *constant == index)
        {
            true => Space::Const,
            false => Space::Global,
        };
        let lies_in = match self.lookup(name) {
            Some(Symbol::Local { .. }) => Space::Local,
            Some(Symbol::Shared { .. }) => Space::Shared,
            Some(Symbol::KernelParam { .. } | Symbol::ParamRows { .. }) => Space::Param,
            Some(Symbol::Global { index, .. }) => global(index),
            Some(_) => return Ok(()),
            None => match self.context.symbols.get(name) {
                Some(ModuleSymbol::Global(index)) => global(*index),
                Some(ModuleSymbol::Shared(_)) => Space::Shared,
                Some(ModuleSymbol::Function(_)) | None => return Ok(()),
            },
        };
        match space {
            Some(space) if space != lies_in => {
                let message = format!("`{name}` does not lie in the state space that the instruction names");
                Err(PtxError::at(self.position, PtxErrorKind::Syntax, message))
            }
            _ => Ok(()),
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
        let Some(Symbol::Register { register, ty }) = self.lookup(name).filter(|symbol| !symbol.is_wide())
        else {
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
        self.check_types(instruction, info, ty)?;
        let mut sources = [Register::default(); 4];
        for (i, source) in sources.iter_mut().enumerate().take(count) {
            *source = self.source(self.operand(instruction, i + 1)?, ty, info.sources[i])?;
        }
        let out = self.destination(self.operand(instruction, 0)?, info.out, ty.is_signed())?;
        self.pure_op(info, out.row, &sources[..count]);
        self.finish(out);
        Ok(())
    }

    /// Compares the declared types of registers with what the operation works on. Operands of another size than the
    /// instruction's type are whole numbers, such as amounts of shifts. Conversions have types of their own, and so has
    /// what `slct` looks at.
    fn check_types(&self, instruction: &Instruction<'s>, info: &PureInfo, ty: Type) -> Decoded<()> {
        if instruction.opcode == "cvt" {
            return Ok(());
        }
        for (index, (operand, size)) in instruction.operands.iter().zip(info.sizes).enumerate() {
            let of_size = if size == ty.bytes() { Some(ty) } else { Type::integer(size) };
            match of_size {
                Some(ty) if instruction.opcode != "slct" || index < 3 => self.fits(operand, ty, false)?,
                _ => {}
            }
        }
        match instruction.operands.first() {
            Some(Operand::Name("_")) => Err(self.mismatch("`_`", ty)),
            _ => Ok(()),
        }
    }

    /// The address of a symbol, as a constant row.
    pub(super) fn symbol_address(&mut self, name: &str, offset: i64, width: Width) -> Option<Register> {
        let constant = match self.lookup(name) {
            Some(Symbol::Shared { index, .. }) => Constant::Shared { index, offset },
            Some(Symbol::Global { index, .. }) => Constant::Global { index, offset },
            Some(Symbol::KernelParam { offset: at }) => Constant::Bits((i64::from(at) + offset) as u64),
            Some(Symbol::Local { offset: at, .. } | Symbol::ParamRows { local: Some(at), .. }) => {
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
                ModuleSymbol::Function(index) if offset == 0 => Constant::Function { index: *index },
                ModuleSymbol::Function(_) => return None,
            },
        };
        Some(self.constant(width, constant))
    }

    /// `[base + offset]`.
    pub(super) fn address(&mut self, operand: &Operand<'s>) -> Decoded<Address> {
        if let Operand::Element(name, index) = operand {
            let base = self.element_address(name, index, Width::Double)?;
            return Ok(Address { base, width: Width::Double, offset: 0 });
        }
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
            if ty.is_float() || !matches!(ty.bytes(), 4 | 8) {
                return Err(self.mismatch(&format!("`{name}` of type {ty:?}"), Type::U64));
            }
            return Ok(Address { base: register, width: width_of(ty), offset });
        }
        match self.symbol_address(name, offset, Width::Double) {
            Some(base) => Ok(Address { base, width: Width::Double, offset: 0 }),
            None => Err(self.undeclared(name)),
        }
    }
}

/// Special registers that may be read as 64 bits.
fn is_wide(name: &str) -> bool {
    let counter = name.strip_prefix("%pm").and_then(|rest| rest.strip_suffix("_64"));
    counter.is_some_and(|digit| matches!(digit.as_bytes(), [b'0'..=b'7']))
        || matches!(name, "%gridid" | "%current_graph_exec")
}

/// Special registers that hold still.
pub(super) fn special(name: &str) -> Option<Special> {
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
            // Each block is a cluster of its own.
            ("%ctaid" | "%clusterid", Some(axis)) => Some(Special::BlockId(axis)),
            ("%nctaid" | "%nclusterid", Some(axis)) => Some(Special::GridDim(axis)),
            ("%cluster_ctaid", Some(_)) => Some(Special::Zero),
            ("%cluster_nctaid", Some(_)) => Some(Special::One),
            (
                "%tid" | "%ntid" | "%ctaid" | "%nctaid" | "%clusterid" | "%nclusterid" | "%cluster_ctaid"
                | "%cluster_nctaid",
                None,
            ) if component == "w" => Some(Special::Zero),
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
        "%aggr_smem_size" => Special::AllSharedBytes,
        "%cluster_ctarank" => Special::Zero,
        "%cluster_nctarank" => Special::One,
        // Nothing is counted, and no graph launches itself.
        "%pm0" | "%pm1" | "%pm2" | "%pm3" | "%pm4" | "%pm5" | "%pm6" | "%pm7" => Special::Zero,
        name if is_wide(name) => Special::Zero,
        "WARP_SZ" => Special::WarpSize,
        _ => {
            let number: u8 = name.strip_prefix("%envreg")?.parse().ok()?;
            (number < 32).then_some(Special::Environment(number))?
        }
    })
}
