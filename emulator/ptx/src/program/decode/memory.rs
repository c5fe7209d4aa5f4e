//! Loads, stores, atomics, fences.

use super::form::Role;
use super::modifiers::Modifiers;
use super::operands::{Destination, width_of};
use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::{Constant, Op};
use crate::program::memory::{Access, Address, Order, Scope};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand, Space};
use crate::semantics::{Register, Width, bits, pure};

pub(super) const SPACES: [(&str, Space); 10] = [
    ("global", Space::Global),
    ("const", Space::Const),
    ("shared", Space::Shared),
    ("shared::cta", Space::Shared),
    ("shared::cluster", Space::SharedCluster),
    ("local", Space::Local),
    ("param", Space::Param),
    ("param::entry", Space::Param),
    ("param::func", Space::Param),
    // Windows of constant memory in old PTX.
    ("const[0]", Space::Const),
];

/// Memory orders, and true for release semantics. Accesses are at least as strong as the strongest.
pub(super) const ORDERS: [(&str, bool); 5] =
    [("relaxed", false), ("acquire", false), ("release", true), ("acq_rel", true), ("volatile", false)];
pub(super) const SCOPES: [(&str, Scope); 5] = [
    ("cta", Scope::Block),
    ("cluster", Scope::Device),
    ("gpu", Scope::Device),
    ("sys", Scope::Device),
    ("gl", Scope::Device),
];
/// Cache hints, and `.weak`, which is the default.
const HINTS: [&str; 11] = ["ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak", "unified", "nv"];

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn load(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        self.load_or_store(i, m, true)
    }

    pub(super) fn store(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        match i.modifiers.first() {
            Some(&"async") => self.async_store(i, m),
            _ => self.load_or_store(i, m, false),
        }
    }

    pub(super) fn reduction(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        match i.modifiers.first() {
            Some(&"async") => self.async_reduction(i, m),
            _ => self.atomic(i, m),
        }
    }

    /// Decodes fences, including proxy fences between paths to memory that are equivalent here.
    pub(super) fn fence(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ignore(&["sc", "acq_rel", "acquire", "release", "proxy", "alias", "async", "async::generic"]);
        m.ignore(&["tensormap::generic", "mbarrier_init"]);
        m.ignore_prefixed(&["sync_restrict::"]);
        m.pick(&SPACES);
        let scope = m.pick(&SCOPES).unwrap_or(Scope::Device);
        // A fence that acquires a tensor map has its address and size as operands.
        let names = i.modifiers.contains(&"tensormap::generic") && i.modifiers.contains(&"acquire");
        self.operand_count(i, if names { 2 } else { 0 })?;
        if names && *self.operand(i, 1)? != Operand::Int(128) {
            return Err(m.unknown());
        }
        self.emit(Op::Fence(scope));
        Ok(())
    }

    /// Decodes cache hints, and `discard`, after which any contents are valid, even the old ones.
    pub(super) fn cache_hint(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ignore(&["global", "local", "const", "param", "L1", "L2", "L2::128B", "tensormap"]);
        m.ignore_prefixed(&["L2::evict"]);
        self.address(self.operand(i, 0)?)?;
        let sized = matches!(i.opcode, "applypriority" | "discard");
        if sized && *self.operand(i, 1)? != Operand::Int(128) {
            return Err(m.unknown());
        }
        self.operand_count(i, if sized { 2 } else { 1 })?;
        Ok(())
    }

    fn load_or_store(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>, load: bool) -> Decoded<()> {
        let memory_mapped = m.flag("mmio");
        let order = match m.pick(&ORDERS) {
            Some(releases) => Order::Strong { scope: m.pick(&SCOPES).unwrap_or(Scope::Device), releases },
            None => Order::Weak,
        };
        let (values, place) = if load { (0, 1) } else { (1, 0) };
        let place = self.operand(i, place)?;
        let space = self.space_of(place, m.pick(&SPACES))?;
        m.ignore(&HINTS);
        m.ignore_prefixed(&["L1::", "L2::"]);
        // The cache policy is another operand, without effect.
        self.operand_count(i, if i.modifiers.contains(&"L2::cache_hint") { 3 } else { 2 })?;
        let elements = m.pick(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1);
        let ty = m.ty()?;
        let wide = ty.bytes() as usize * elements > 16;
        let has_wide = self.input.features.since_sm_100 && matches!(space, Some(Space::Global) | None);
        let odd = elements == 8 && ty.bytes() != 4 || wide && !has_wide;
        if ty == Type::Pred || memory_mapped && order == Order::Weak || odd {
            return Err(m.unknown());
        }
        let values = match self.operand(i, values)? {
            Operand::Vector(parts) if parts.len() == elements => parts.as_slice(),
            single if elements == 1 => std::slice::from_ref(single),
            _ => return Err(m.unsupported("this number of vector elements")),
        };
        for value in values {
            self.fits(value, ty, true)?;
        }
        if load && elements == 1 && matches!(values, [Operand::Name("_")]) {
            return Err(m.unknown());
        }
        if let Some((symbol, offset)) = self.param_symbol(place) {
            return self.param_access(symbol, offset, values, ty, load);
        }
        let fixed = matches!(place, Operand::Memory(parts) if matches!(parts[..], [Operand::Int(_)]));
        let known = match space {
            Some(Space::Param) => (load || !self.in_kernel) && !fixed,
            Some(Space::Const) => load && !fixed,
            Some(Space::Local) => true,
            _ => !fixed,
        };
        if !known {
            return Err(m.unknown());
        }
        let address = self.address(place)?;
        let space = self.space_of_param(space);
        if ty == Type::B128 {
            let registers = self.wide_register(&values[0])?.to_vec();
            let (cache, width, polls) = (self.new_cache(), Width::Double, false);
            let access =
                Access { space, address, bytes: 8, signed: false, width, registers, cache, order, polls };
            self.emit(if load { Op::Load(Box::new(access)) } else { Op::Store(Box::new(access)) });
            return Ok(());
        }
        self.access(space, address, values, ty, load, order)
    }

    /// Returns an access's space. In a function, a parameter's address is its copy in the frame.
    fn space_of_param(&self, space: Option<Space>) -> Option<Space> {
        if space == Some(Space::Param) && !self.in_kernel { Some(Space::Local) } else { space }
    }

    pub(super) fn access(
        &mut self,
        space: Option<Space>,
        address: Address,
        values: &[Operand<'s>],
        ty: Type,
        load: bool,
        order: Order,
    ) -> Decoded<()> {
        let mut width = width_of(ty);
        let mut registers = Vec::new();
        let mut finished: Vec<Destination> = Vec::new();
        let cache = self.new_cache();
        if load {
            // A load extends to the width of the register.
            let wide = values.iter().all(|value| match value {
                Operand::Name(name) => {
                    matches!(self.lookup(name), Some(Symbol::Register { ty, .. }) if width_of(ty) == Width::Double)
                }
                _ => false,
            });
            if wide {
                width = Width::Double;
            }
            for value in values {
                let out = self.destination(value, width, ty.is_signed())?;
                registers.push(out.row);
                finished.push(out);
            }
        } else {
            for value in values {
                registers.push(self.source(value, ty, width)?);
            }
        }
        let access = Box::new(Access {
            space,
            address,
            bytes: ty.bytes(),
            signed: ty.is_signed(),
            width,
            registers,
            cache,
            order,
            polls: false,
        });
        self.emit(if load { Op::Load(access) } else { Op::Store(access) });
        for out in finished {
            self.finish(out);
        }
        Ok(())
    }

    /// Returns the parameter that an address names, if any.
    fn param_symbol(&self, place: &Operand<'s>) -> Option<(Symbol<'s>, i64)> {
        let Operand::Memory(parts) = place else { return None };
        let (name, offset) = match parts.as_slice() {
            [Operand::Name(name)] => (name, 0),
            [Operand::Offset(name, offset)] => (name, *offset),
            _ => return None,
        };
        match self.lookup(name)? {
            // If its address is taken, it is memory.
            Symbol::ParamRows { local: Some(_), .. } => None,
            symbol @ (Symbol::KernelParam { .. } | Symbol::ParamRows { .. }) => Some((symbol, offset)),
            _ => None,
        }
    }

    fn param_access(
        &mut self,
        symbol: Symbol<'s>,
        offset: i64,
        values: &[Operand<'s>],
        ty: Type,
        load: bool,
    ) -> Decoded<()> {
        for (element, value) in values.iter().enumerate() {
            let at = offset.checked_add(element as i64 * i64::from(ty.bytes()));
            let at = at.and_then(|at| u32::try_from(at).ok());
            let at = at.ok_or_else(|| self.unsupported("an offset outside of the parameter"))?;
            match symbol {
                Symbol::KernelParam { offset } if load => {
                    let beyond = || self.unsupported("an offset outside of the parameter");
                    let offset = offset.checked_add(at).ok_or_else(beyond)?;
                    let width = self.register_width(value).unwrap_or(width_of(ty));
                    let constant = Constant::Param { offset, bytes: ty.bytes(), signed: ty.is_signed() };
                    let source = self.constant(width, constant);
                    let out = self.destination(value, width, ty.is_signed())?;
                    self.move_op(width, out.row, source);
                }
                Symbol::ParamRows { role: Role::Taken, .. } if !load => {
                    return Err(self.invalid("a function does not write to its parameter"));
                }
                Symbol::ParamRows { role: Role::Given, .. } if load => {
                    return Err(self.invalid("a function does not read its result"));
                }
                Symbol::ParamRows { first, words, .. } => {
                    if u64::from(at) + u64::from(ty.bytes()) > u64::from(words) * 4 || at % ty.bytes() != 0 {
                        return Err(self.unsupported("an access beyond the parameter, or misaligned in it"));
                    }
                    self.param_word(Register(first.0 + at / 4), at % 4, value, ty, load)?;
                }
                _ => return Err(self.unsupported("a store to a kernel's parameter")),
            }
        }
        Ok(())
    }

    fn register_width(&self, operand: &Operand<'s>) -> Option<Width> {
        match operand {
            Operand::Name(name) => match self.lookup(name)? {
                Symbol::Register { ty, .. } => Some(width_of(ty)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Decodes an access to a parameter in rows, one row per word.
    fn param_word(
        &mut self,
        row: Register,
        byte: u32,
        value: &Operand<'s>,
        ty: Type,
        load: bool,
    ) -> Decoded<()> {
        let next = Register(row.0 + 1);
        let position = |decoder: &mut Self| {
            let start = decoder.bits(Width::Single, u64::from(8 * byte));
            let length = decoder.bits(Width::Single, u64::from(8 * ty.bytes()));
            (start, length)
        };
        if !load {
            let source = self.source(value, ty, width_of(ty))?;
            match ty.bytes() {
                8 => {
                    self.pure_op(pure::<bits::Low32>(), row, &[source]);
                    self.pure_op(pure::<bits::High32>(), next, &[source]);
                }
                4 => self.move_op(Width::Single, row, source),
                _ => {
                    let (start, length) = position(self);
                    self.pure_op(pure::<bits::Insert32>(), row, &[source, row, start, length]);
                }
            }
            return Ok(());
        }
        let out = self.destination(value, width_of(ty), ty.is_signed())?;
        match ty.bytes() {
            8 => self.pure_op(pure::<bits::Pack32>(), out.row, &[row, next]),
            4 => self.move_op(Width::Single, out.row, row),
            _ => {
                let (start, length) = position(self);
                let info =
                    if ty.is_signed() { pure::<bits::ExtractS32>() } else { pure::<bits::ExtractU32>() };
                self.pure_op(info, out.row, &[row, start, length]);
            }
        }
        self.finish(out);
        Ok(())
    }
}
