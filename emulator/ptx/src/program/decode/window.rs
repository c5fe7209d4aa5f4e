//! Generic addresses: `cvta`, `isspacep`.

use super::modifiers::Modifiers;
use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::{Condition, Constant, Logic, Op, Special};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand};
use crate::semantics::{Predicate, Register, Width, integer, pure, test};

impl<'s> Decoder<'_, '_, 's> {
    fn window(&mut self, m: &mut Modifiers<'_, 's>) -> Option<Option<Special>> {
        m.pick(&[
            ("global", None),
            ("const", None),
            ("shared", Some(Special::SharedWindow)),
            ("shared::cta", Some(Special::SharedWindow)),
            // Addresses of the block's own shared memory are addresses of the cluster's.
            ("shared::cluster", Some(Special::SharedWindow)),
            ("local", Some(Special::LocalWindow)),
            ("param", Some(Special::ParamWindow)),
            ("param::entry", Some(Special::ParamWindow)),
        ])
    }

    /// Addresses of shared and local memory are offsets from the start of their window; addresses
    /// of global and constant memory are generic addresses.
    pub(super) fn cvta(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let to = m.flag("to");
        let Some(window) = self.window(m) else { return Err(m.unknown()) };
        if m.ty()? != Type::U64 {
            return Err(m.unknown());
        }
        self.operand_count(i, 2)?;
        let from = self.operand(i, 1)?;
        let symbol = match from {
            Operand::Name(name)
                if self.lookup(name).is_none_or(|s| !matches!(s, Symbol::Register { .. })) =>
            {
                self.symbol_address(name, 0, Width::Double)
            }
            Operand::Element(name, index) => Some(self.element_address(name, index, Width::Double)?),
            _ => None,
        };
        let source = match symbol {
            Some(source) => source,
            None => self.source(from, Type::U64, Width::Double)?,
        };
        let out = self.destination(self.operand(i, 0)?, Width::Double, false)?;
        match window {
            None => self.move_op(Width::Double, out.row, source),
            Some(window) => {
                let window = self.constant(Width::Double, Constant::Special(window));
                let info = if to { pure::<integer::Sub<u64>>() } else { pure::<integer::Add<u64>>() };
                self.pure_op(info, out.row, &[source, window]);
            }
        }
        self.finish(out);
        Ok(())
    }

    pub(super) fn isspacep(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let constant = i.modifiers.contains(&"const");
        let own = i.modifiers.iter().any(|modifier| matches!(*modifier, "shared" | "shared::cta"));
        let Some(window) = self.window(m) else { return Err(m.unknown()) };
        self.operand_count(i, 2)?;
        let source = self.source(self.operand(i, 1)?, Type::U64, Width::Double)?;
        let out = self.predicate_out(self.operand(i, 0)?)?;
        if constant {
            return self.is_constant(source, out);
        }
        let less = test::<integer::Lt<u64>>();
        let inside = |decoder: &mut Self, window, combine| {
            let bytes = match window {
                Special::OwnSharedWindow => Special::OwnWindowBytes,
                _ => Special::WindowBytes,
            };
            let bytes = decoder.constant(Width::Double, Constant::Special(bytes));
            let window = decoder.constant(Width::Double, Constant::Special(window));
            let offset = decoder.temporary(Width::Double);
            decoder.pure_op(pure::<integer::Sub<u64>>(), offset, &[source, window]);
            decoder.emit(Op::Test { info: less, out, inverse: None, sources: [offset, bytes], combine });
        };
        match window {
            Some(_) if own => inside(self, Special::OwnSharedWindow, None),
            Some(window) => inside(self, window, None),
            None => {
                // An address in neither window is global, as parameters are on hardware: both
                // tests, then the negation of "in one of them".
                inside(self, Special::SharedWindow, None);
                let so_far = Condition { predicate: out, negated: false };
                inside(self, Special::LocalWindow, Some((Logic::Or, so_far)));
                self.emit(Op::Logic { logic: Logic::Xor, out, a: so_far, b: Condition::ALWAYS });
            }
        }
        Ok(())
    }

    /// Tests whether an address is in one of the module's constant variables.
    fn is_constant(&mut self, address: Register, out: Predicate) -> Decoded<()> {
        let so_far = Condition { predicate: out, negated: false };
        self.emit(Op::Logic { logic: Logic::Xor, out, a: Condition::ALWAYS, b: Condition::ALWAYS });
        for (index, bytes) in self.context.constants.clone() {
            let base = self.constant(Width::Double, Constant::Global { index, offset: 0 });
            let bytes = self.bits(Width::Double, bytes);
            let offset = self.temporary(Width::Double);
            self.pure_op(pure::<integer::Sub<u64>>(), offset, &[address, base]);
            let (info, combine) = (test::<integer::Lt<u64>>(), Some((Logic::Or, so_far)));
            self.emit(Op::Test { info, out, inverse: None, sources: [offset, bytes], combine });
        }
        Ok(())
    }
}
