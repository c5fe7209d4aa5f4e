//! Creates the steps of loads, stores and atomic operations.

use super::access::{MOST_ELEMENTS, Source};
use super::indexed::Indexed;
use super::step::{AccessSpace, AccessStep, AtomicStep};
use super::translate::{Translator, offset};
use super::uses::rows_of;
use super::{access, transfer};
use crate::program::instruction::Op;
use crate::program::memory;
use crate::program::types::Type;
use crate::semantics::{Register, Width};

impl Translator<'_> {
    /// Returns the step of a load or store of a common kind. The plain mode must support it too.
    pub(super) fn access(
        &mut self,
        pc: u32,
        access: &memory::Access,
        is_load: bool,
    ) -> Option<Box<AccessStep>> {
        self.read_plainly.push(access.address.base);
        if !is_load {
            self.read_plainly.extend(&access.registers);
        }
        let space = AccessSpace::of(access)?;
        let mut registers = [0; MOST_ELEMENTS];
        for (to, register) in registers.iter_mut().zip(&access.registers) {
            *to = if is_load { offset(*register) } else { self.row(*register) };
        }
        let (source, address, prepare) = match self.indexed.get(&pc) {
            Some(Indexed { base, index, signed, instructions }) => {
                let source = Source::Indexed { base: offset(*base), signed: *signed };
                (source, self.row(*index), instructions.map(Some))
            }
            None if access.address.width == Width::Double => {
                (Source::Wide, self.row(access.address.base), [None; 2])
            }
            None => (Source::Narrow, self.row(access.address.base), [None; 2]),
        };
        for instruction in prepare.into_iter().flatten() {
            if let Op::Pure { sources, .. } = &self.kernel.code[instruction as usize].op {
                self.read_plainly.extend(sources);
            }
        }
        let wide = access.width == Width::Double;
        let cell = if wide { 8 } else { 4 };
        let extends = access.signed && is_load && access.bytes < cell;
        let ready = access::Access {
            source,
            address,
            offset: access.address.offset as u64,
            bytes: access.bytes,
            elements: access.registers.len() as u32,
            registers,
            wide,
            sign: if extends { 1 << (8 * access.bytes - 1) } else { 0 },
        };
        let run = transfer::function(self.level, &ready, is_load)?;
        Some(Box::new(AccessStep {
            run,
            access: ready,
            space,
            cache: access.cache,
            strong: access.order.is_strong(),
            atomic: access.order.is_strong() && space == AccessSpace::Global,
            prepare,
        }))
    }

    /// True if an instruction may read the result of an atomic operation.
    fn is_read(&self, out: Register, ty: Type) -> bool {
        let width = if ty.bytes() == 8 { Width::Double } else { Width::Single };
        self.uses.as_ref().is_none_or(|uses| rows_of(out, width).any(|row| uses.reads[row] != 0))
    }

    /// Returns the step of an atomic operation, if it is of a common kind.
    pub(super) fn atomic(&self, atomic: &memory::Atomic) -> Option<Box<AtomicStep>> {
        let bytes = atomic.ty.bytes();
        let space = AccessSpace::named(atomic.space)?;
        if !matches!(bytes, 4 | 8) {
            return None;
        }
        let wide = atomic.address.width == Width::Double;
        Some(Box::new(AtomicStep {
            operation: atomic.operation,
            ty: atomic.ty,
            order: atomic.order,
            access: access::Access {
                source: if wide { Source::Wide } else { Source::Narrow },
                address: self.row(atomic.address.base),
                offset: atomic.address.offset as u64,
                bytes,
                elements: 1,
                registers: [0; MOST_ELEMENTS],
                wide: bytes == 8,
                sign: 0,
            },
            space,
            cache: atomic.cache,
            out: atomic.out.filter(|out| self.is_read(*out, atomic.ty)).map(offset),
            operands: atomic.operands.map(|operand| self.row(operand)),
        }))
    }
}
