//! Atomic operations.

use super::memory::{ORDERS, SCOPES, SPACES};
use super::modifiers::Modifiers;
use super::operands::{Destination, width_of};
use super::{Decoded, Decoder};
use crate::program::instruction::Op;
use crate::program::memory::{Address, Atomic, AtomicOperation, Order, Scope};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand, Space};

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
    pub(super) fn atomic(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let releases = m.pick(&ORDERS).unwrap_or(false);
        let first = usize::from(i.opcode == "atom");
        let place = self.operand(i, first)?;
        let space = self.space_of(place, m.pick(&SPACES))?;
        let scope = m.pick(&SCOPES).unwrap_or(Scope::Device);
        let no_flush = m.flag("noftz");
        let hinted = m.flag("L2::cache_hint");
        let Some(operation) = m.pick(&OPERATIONS) else { return Err(m.unknown()) };
        let elements = m.pick(&[("v2", 2), ("v4", 4), ("v8", 8)]);
        let ty = m.ty()?;
        let known = match elements {
            None => {
                is_atomic(operation, ty)
                    && matches!(space, None | Some(Space::Global | Space::Shared | Space::SharedCluster))
            }
            Some(elements) => {
                is_vector_atomic(operation, ty, elements) && matches!(space, None | Some(Space::Global))
            }
        };
        if !known || no_flush != matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2) {
            return Err(m.unknown());
        }
        let (compared, order) =
            (operation == AtomicOperation::CompareExchange, Order::Strong { scope, releases });
        self.operand_count(i, first + 2 + usize::from(compared) + usize::from(hinted))?;
        let address = self.address(place)?;
        let atomic =
            Atomic { operation, ty, space, address, out: None, operands: [address.base; 2], order, cache: 0 };
        if ty == Type::B128 {
            return self.atomic_wide(i, atomic, compared);
        }
        self.atomic_elements(i, m, atomic, elements)
    }

    /// Decodes one operation per element.
    fn atomic_elements(
        &mut self,
        i: &Instruction<'s>,
        m: &Modifiers<'_, 's>,
        atomic: Atomic,
        elements: Option<usize>,
    ) -> Decoded<()> {
        let first = usize::from(i.opcode == "atom");
        let Atomic { operation, ty, address, .. } = atomic;
        let compared = operation == AtomicOperation::CompareExchange;
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
        // A result may overwrite the address or operand of a later element.
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
        Ok(())
    }

    /// Decodes `atom` on 128 bits: `.exch` and `.cas`.
    fn atomic_wide(&mut self, i: &Instruction<'s>, atomic: Atomic, compared: bool) -> Decoded<()> {
        let [out, _] = self.wide_register(self.operand(i, 0)?)?;
        let [a, _] = self.wide_register(self.operand(i, 2)?)?;
        let [b, _] = if compared { self.wide_register(self.operand(i, 3)?)? } else { [a, a] };
        let cache = self.new_cache();
        self.emit(Op::Atomic(Box::new(Atomic { out: Some(out), operands: [a, b], cache, ..atomic })));
        Ok(())
    }
}

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
