//! Loads, stores, atomics, fences.

use super::modifiers::Modifiers;
use super::operands::{Destination, width_of};
use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::{Constant, Op};
use crate::program::memory::{Access, Address, Atomic, AtomicOperation, Order, Scope};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand, Space};
use crate::semantics::{Register, Width, bits, pure};

pub(super) const SPACES: [(&str, Space); 10] = [
    ("global", Space::Global),
    ("const", Space::Const),
    ("shared", Space::Shared),
    ("shared::cta", Space::Shared),
    // Each block is a cluster of its own.
    ("shared::cluster", Space::Shared),
    ("local", Space::Local),
    ("param", Space::Param),
    ("param::entry", Space::Param),
    ("param::func", Space::Param),
    // Windows of constant memory of old PTX.
    ("const[0]", Space::Const),
];

/// Memory orders, and whether they release. Each access is at least as strong as any of them asks.
pub(super) const ORDERS: [(&str, bool); 5] =
    [("relaxed", false), ("acquire", false), ("release", true), ("acq_rel", true), ("volatile", false)];
pub(super) const SCOPES: [(&str, Scope); 5] = [
    ("cta", Scope::Block),
    ("cluster", Scope::Device),
    ("gpu", Scope::Device),
    ("sys", Scope::Device),
    ("gl", Scope::Device),
];
/// Cache hints, and `.weak`, which is what an access without a word is.
const HINTS: [&str; 11] = ["ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak", "unified", "nv"];

pub(super) const OPERATIONS: [(&str, AtomicOperation); 10] = [
    ("add", AtomicOperation::Add),
    ("exch", AtomicOperation::Exchange),
    ("cas", AtomicOperation::CompareExchange),
    ("min", AtomicOperation::Min),
    ("max", AtomicOperation::Max),
    ("and", AtomicOperation::And),
    ("or", AtomicOperation::Or),
    ("xor", AtomicOperation::Xor),
    ("inc", AtomicOperation::Increment),
    ("dec", AtomicOperation::Decrement),
];

impl<'s> Decoder<'_, '_, 's> {
    /// Decodes the instruction if it is about memory; `false` if not.
    pub(super) fn memory(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        match i.opcode {
            // With a barrier in memory that is told.
            "st" | "red" if i.modifiers.first() == Some(&"async") => Ok(false),
            "ld" | "ldu" => self.load_or_store(i, m, true),
            "st" => self.load_or_store(i, m, false),
            "atom" | "red" => self.atomic(i, m),
            "membar" | "fence" => self.fence(i, m),
            "prefetch" | "prefetchu" | "applypriority" | "discard" => self.cache_hint(i, m),
            _ => Ok(false),
        }
    }

    /// Fences, also those between ways to reach memory that are one here.
    fn fence(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        m.ignore(&["sc", "acq_rel", "acquire", "release", "proxy", "alias", "async", "async::generic"]);
        m.ignore(&["tensormap::generic", "mbarrier_init"]);
        m.ignore_prefixed(&["sync_restrict::"]);
        m.pick(&SPACES);
        let scope = m.pick(&SCOPES).unwrap_or(Scope::Device);
        // One that acquires a tensor map names it.
        self.operand_count(i, 2)?;
        self.emit(Op::Fence(scope));
        Ok(true)
    }

    /// What a cache may leave undone; also `discard`, after which any contents are right, the old ones included.
    fn cache_hint(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        m.ignore(&["global", "local", "const", "param", "L1", "L2", "L2::128B", "tensormap"]);
        m.ignore_prefixed(&["L2::evict"]);
        self.address(self.operand(i, 0)?)?;
        let sized = matches!(i.opcode, "applypriority" | "discard");
        if sized && *self.operand(i, 1)? != Operand::Int(128) {
            return Ok(false);
        }
        self.operand_count(i, if sized { 2 } else { 1 })?;
        Ok(true)
    }

    fn load_or_store(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>, load: bool) -> Decoded<bool> {
        let memory_mapped = m.flag("mmio");
        let order = match m.pick(&ORDERS) {
            Some(releases) => Order::Strong { scope: m.pick(&SCOPES).unwrap_or(Scope::Device), releases },
            None => Order::Weak,
        };
        let space = m.pick(&SPACES);
        m.ignore(&HINTS);
        m.ignore_prefixed(&["L1::", "L2::"]);
        if i.modifiers.contains(&"L2::cache_hint") {
            // The policy is one more operand, of no consequence.
            self.operand_count(i, 3)?;
        } else {
            self.operand_count(i, 2)?;
        }
        let elements = m.pick(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1);
        let ty = m.ty()?;
        let wide = ty.bytes() as usize * elements > 16;
        let has_wide = self.context.has_wide_access && matches!(space, Some(Space::Global) | None);
        let odd = elements == 8 && ty.bytes() != 4 || wide && !has_wide;
        if ty == Type::Pred || memory_mapped && order == Order::Weak || odd {
            return Ok(false);
        }
        let (values, place) = if load { (0, 1) } else { (1, 0) };
        let values = match self.operand(i, values)? {
            Operand::Vector(parts) if parts.len() == elements => parts.as_slice(),
            single if elements == 1 => std::slice::from_ref(single),
            _ => return Err(m.unsupported("this number of vector elements")),
        };
        for value in values {
            self.fits(value, ty, true)?;
        }
        if load && elements == 1 && matches!(values, [Operand::Name("_")]) {
            return Ok(false);
        }
        let place = self.operand(i, place)?;
        self.refuse_other_space(place, space)?;
        if matches!(space, Some(Space::Param) | None) {
            if let Some((symbol, offset)) = self.param_symbol(place) {
                return self.param_access(symbol, offset, values, ty, load).map(|()| true);
            }
        }
        if space == Some(Space::Param) && !(load && self.in_kernel) {
            return Ok(false);
        }
        let fixed = matches!(place, Operand::Memory(parts) if matches!(parts[..], [Operand::Int(_)]));
        if fixed && space != Some(Space::Local) {
            return Ok(false);
        }
        if load || space != Some(Space::Const) {
            let address = self.address(place)?;
            if ty == Type::B128 {
                let registers = self.wide_register(&values[0])?.to_vec();
                let (cache, width) = (self.new_cache(), Width::Double);
                let access =
                    Access { space, address, bytes: 8, signed: false, width, registers, cache, order };
                self.emit(if load { Op::Load(Box::new(access)) } else { Op::Store(Box::new(access)) });
                return Ok(true);
            }
            self.access(space, address, values, ty, load, order)?;
            return Ok(true);
        }
        Ok(false)
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
        });
        self.emit(if load { Op::Load(access) } else { Op::Store(access) });
        for out in finished {
            self.finish(out);
        }
        Ok(())
    }

    /// The parameter that an address names, if it does.
    fn param_symbol(&self, place: &Operand<'s>) -> Option<(Symbol<'s>, i64)> {
        let Operand::Memory(parts) = place else { return None };
        let (name, offset) = match parts.as_slice() {
            [Operand::Name(name)] => (name, 0),
            [Operand::Offset(name, offset)] => (name, *offset),
            _ => return None,
        };
        match self.lookup(name)? {
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

    /// An access to a parameter kept in rows, one a word.
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

    fn atomic(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<bool> {
        let releases = m.pick(&ORDERS).unwrap_or(false);
        let space = m.pick(&SPACES);
        let scope = m.pick(&SCOPES).unwrap_or(Scope::Device);
        let no_flush = m.flag("noftz");
        let hinted = m.flag("L2::cache_hint");
        let Some(operation) = m.pick(&OPERATIONS) else { return Ok(false) };
        let elements = m.pick(&[("v2", 2), ("v4", 4), ("v8", 8)]);
        let ty = m.ty()?;
        let known = match elements {
            None => is_atomic(operation, ty) && matches!(space, None | Some(Space::Global | Space::Shared)),
            Some(elements) => {
                is_vector_atomic(operation, ty, elements) && matches!(space, None | Some(Space::Global))
            }
        };
        if !known || no_flush != matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2) {
            return Ok(false);
        }
        let first = usize::from(i.opcode == "atom");
        let place = self.operand(i, first)?;
        self.refuse_other_space(place, space)?;
        let (compared, order) =
            (operation == AtomicOperation::CompareExchange, Order::Strong { scope, releases });
        self.operand_count(i, first + 2 + usize::from(compared) + usize::from(hinted))?;
        let address = self.address(place)?;
        let atomic =
            Atomic { operation, ty, space, address, out: None, operands: [address.base; 2], order, cache: 0 };
        if ty == Type::B128 {
            return self.atomic_wide(i, atomic, compared);
        }
        let parts = |operand: &Operand<'s>| match operand {
            Operand::Vector(parts) if elements.is_some() => parts.clone(),
            operand => vec![operand.clone()],
        };
        let count = elements.unwrap_or(1);
        let values = parts(self.operand(i, first + 1)?);
        let results = if first == 1 { parts(self.operand(i, 0)?) } else { vec![Operand::Name("_"); count] };
        if values.len() != count || results.len() != count {
            return Err(m.unsupported("this number of vector elements"));
        }
        let width = width_of(ty);
        // Results may go where later elements have their address or operand.
        let mut finished = Vec::new();
        for (index, (value, result)) in values.iter().zip(&results).enumerate() {
            self.fits(value, ty, false)?;
            self.fits(result, ty, false)?;
            let a = self.source(value, ty, width)?;
            let b = match compared {
                true => self.source(self.operand(i, first + 2)?, ty, width)?,
                false => a,
            };
            let out = match first {
                1 if count > 1 => {
                    let row = self.temporary(width);
                    finished.push((result, row));
                    Some(Destination::row(row))
                }
                1 => Some(self.destination(result, width, ty.is_signed())?),
                _ => None,
            };
            let offset = address.offset.wrapping_add(index as i64 * i64::from(ty.bytes()));
            let atomic = Atomic {
                address: Address { offset, ..address },
                out: out.as_ref().map(|out| out.row),
                operands: [a, b],
                cache: self.new_cache(),
                ..atomic.clone()
            };
            self.emit(Op::Atomic(Box::new(atomic)));
            if let Some(out) = out {
                self.finish(out);
            }
        }
        for (result, row) in finished {
            let out = self.destination(result, width, false)?;
            self.move_op(width, out.row, row);
            self.finish(out);
        }
        Ok(true)
    }

    /// `atom` on 128 bits: `.exch` and `.cas`.
    fn atomic_wide(&mut self, i: &Instruction<'s>, atomic: Atomic, compared: bool) -> Decoded<bool> {
        let [out, _] = self.wide_register(self.operand(i, 0)?)?;
        let [a, _] = self.wide_register(self.operand(i, 2)?)?;
        let [b, _] = if compared { self.wide_register(self.operand(i, 3)?)? } else { [a, a] };
        let cache = self.new_cache();
        self.emit(Op::Atomic(Box::new(Atomic { out: Some(out), operands: [a, b], cache, ..atomic })));
        Ok(true)
    }
}

/// Whether PTX has this atomic operation on this type.
fn is_atomic(operation: AtomicOperation, ty: Type) -> bool {
    use AtomicOperation::*;
    use Type::*;
    match operation {
        Add => matches!(ty, U32 | S32 | U64 | F32 | F64 | F16 | F16x2 | Bf16 | Bf16x2),
        Exchange => matches!(ty, B32 | B64 | B128 | U32 | S32 | U64 | S64 | F32),
        CompareExchange => matches!(ty, B16 | B128 | B32 | B64 | U32 | S32 | U64 | S64),
        Min | Max => matches!(ty, U32 | S32 | U64 | S64),
        And | Or | Xor => matches!(ty, B32 | B64 | U32 | S32 | U64 | S64),
        Increment | Decrement => ty == U32,
    }
}

/// The same for vectors.
fn is_vector_atomic(operation: AtomicOperation, ty: Type, elements: usize) -> bool {
    use AtomicOperation::*;
    let most = 16 / ty.bytes() as usize;
    match ty {
        Type::F32 => operation == Add && elements <= most,
        Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2 => {
            matches!(operation, Add | Min | Max) && elements <= most
        }
        _ => false,
    }
}
