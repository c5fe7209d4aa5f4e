//! `mov`: between registers, between their parts, and from special registers and addresses.

use super::modifiers::Modifiers;
use super::operands::width_of;
use super::special::{sizes, special};
use super::{Decoded, Decoder, Symbol};
use crate::program::instruction::{Clock, Condition, Logic, Op};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand};
use crate::semantics::{Register, Width, bits, pure};

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn move_op(&mut self, width: Width, out: Register, source: Register) {
        let info = if width == Width::Double { pure::<bits::Move64>() } else { pure::<bits::Move32>() };
        self.pure_op(info, out, &[source]);
    }

    pub(super) fn mov(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let elements = m.flag("v4") || m.flag("v2");
        let ty = m.ty()?;
        self.operand_count(i, 2)?;
        let (to, from) = (self.operand(i, 0)?, self.operand(i, 1)?);
        self.refuse_discarded(to)?;
        if elements {
            return self.mov_elements(m, to, from, ty);
        }
        if ty == Type::B128 {
            return self.mov_wide(to, from);
        }
        if ty == Type::Pred {
            let out = self.predicate_out(to)?;
            let a = self.condition(from)?;
            self.emit(Op::Logic { logic: Logic::And, out, a, b: Condition::ALWAYS });
            return Ok(());
        }
        let width = width_of(ty);
        self.check_mov(m, to, from, ty)?;
        match (to, from) {
            (Operand::Vector(parts), from) => self.unpack(m, parts, from, ty),
            (to, Operand::Vector(parts)) => self.pack(m, to, parts, ty),
            (to, Operand::Name(name)) => {
                if let Some(clock) = clock(name) {
                    let out = self.destination(to, width, false)?;
                    self.emit(Op::Clock { clock, out: out.row, width });
                    self.finish(out);
                    return Ok(());
                }
                let is_register = matches!(self.lookup(name), Some(Symbol::Register { .. }));
                let address = if is_register { None } else { self.symbol_address(name, 0, width) };
                let source = match address {
                    Some(_) if ty.is_float() => {
                        return Err(self.mismatch(&format!("the address of `{name}`"), ty));
                    }
                    Some(address) => address,
                    None => self.source(from, ty, width)?,
                };
                self.move_to(to, width, source)
            }
            (to, Operand::Element(name, index)) => {
                let source = self.element_address(name, index, width)?;
                self.move_to(to, width, source)
            }
            (to, from) => {
                let source = self.source(from, ty, width)?;
                self.move_to(to, width, source)
            }
        }
    }

    /// Refuses registers whose types do not fit a `mov`, or the parts that it packs and unpacks.
    fn check_mov(
        &self,
        m: &Modifiers<'_, 's>,
        to: &Operand<'s>,
        from: &Operand<'s>,
        ty: Type,
    ) -> Decoded<()> {
        let ((Operand::Vector(parts), whole) | (whole, Operand::Vector(parts))) = (to, from) else {
            self.fits(to, ty, false)?;
            let is_special = |name: &str| {
                clock(name).is_some() || special(name).is_some() || name.starts_with("%reserved_smem_offset_")
            };
            return match from {
                Operand::Name(name) if self.lookup(name).is_none() && is_special(name) => {
                    let reads = !ty.is_float() && sizes(name).contains(&ty.bytes());
                    if reads { Ok(()) } else { Err(self.mismatch(&format!("`{name}`"), ty)) }
                }
                _ => self.fits(from, ty, false),
            };
        };
        let element = Type::bits(ty.bytes() / parts.len().max(1) as u32);
        let Some(element) = element.filter(|_| matches!(ty, Type::B16 | Type::B32 | Type::B64)) else {
            return Err(m.unknown());
        };
        self.fits(whole, ty, false)?;
        parts.iter().try_for_each(|part| self.fits(part, element, false))
    }

    /// Decodes `mov.v4.u32 v, w` and `mov.v4.u32 v, %tid` element by element.
    fn mov_elements(
        &mut self,
        m: &Modifiers<'_, 's>,
        to: &Operand<'s>,
        from: &Operand<'s>,
        ty: Type,
    ) -> Decoded<()> {
        let width = width_of(ty);
        if let (Operand::Vector(to), Operand::Vector(_) | Operand::Int(_)) = (to, from) {
            // A number goes to the first element, zeros to the others.
            let from = match from {
                Operand::Vector(parts) => parts.clone(),
                number => {
                    let mut numbers = vec![number.clone()];
                    numbers.resize(to.len(), Operand::Int(0));
                    numbers
                }
            };
            if from.len() != to.len() {
                return Err(m.unknown());
            }
            let mut held = Vec::new();
            for part in &from {
                self.fits(part, ty, false)?;
                let (source, row) = (self.source(part, ty, width)?, self.temporary(width));
                self.move_op(width, row, source);
                held.push(row);
            }
            for (part, row) in to.iter().zip(held) {
                self.fits(part, ty, false)?;
                self.move_to(part, width, row)?;
            }
            return Ok(());
        }
        let Operand::Name(name) = from else { return Err(m.unknown()) };
        if width_of(ty) != Width::Single {
            return Err(m.unknown());
        }
        for (index, element) in ["x", "y", "z", "w"].into_iter().enumerate() {
            let source = self.source_named(&format!("{name}.{element}"), Width::Single)?;
            match to {
                Operand::Vector(parts) if parts.len() == 4 => {
                    self.move_to(&parts[index], Width::Single, source)?;
                }
                _ => return Err(m.unknown()),
            }
        }
        Ok(())
    }

    /// Decodes `mov.b128`: between two 128-bit registers, or to or from their halves.
    fn mov_wide(&mut self, to: &Operand<'s>, from: &Operand<'s>) -> Decoded<()> {
        let halves = match from {
            Operand::Vector(parts) if parts.len() == 2 => [
                self.source(&parts[0], Type::B64, Width::Double)?,
                self.source(&parts[1], Type::B64, Width::Double)?,
            ],
            from => self.wide_register(from)?,
        };
        // A half may also be a destination.
        let held = halves.map(|half| {
            let row = self.temporary(Width::Double);
            self.move_op(Width::Double, row, half);
            row
        });
        match to {
            Operand::Vector(parts) if parts.len() == 2 => {
                for (part, half) in parts.iter().zip(held) {
                    self.move_to(part, Width::Double, half)?;
                }
            }
            to => {
                let out = self.wide_register(to)?;
                out.into_iter().zip(held).for_each(|(out, half)| self.move_op(Width::Double, out, half));
            }
        }
        Ok(())
    }

    fn move_to(&mut self, to: &Operand<'s>, width: Width, source: Register) -> Decoded<()> {
        let out = self.destination(to, width, false)?;
        self.move_op(width, out.row, source);
        self.finish(out);
        Ok(())
    }

    /// Decodes `mov.b64 d, {lo, hi}` and similar forms.
    fn pack(
        &mut self,
        m: &Modifiers<'_, 's>,
        to: &Operand<'s>,
        parts: &[Operand<'s>],
        ty: Type,
    ) -> Decoded<()> {
        let element = ty.bytes() / (parts.len().max(1) as u32);
        let rows = self.sources(parts, Type::B32, Width::Single)?;
        let out = self.destination(to, width_of(ty), false)?;
        match (ty.bytes(), rows.as_slice()) {
            (8, [low, high]) => self.pure_op(pure::<bits::Pack32>(), out.row, &[*low, *high]),
            (4, [low, high]) => self.pure_op(pure::<bits::Pack16>(), out.row, &[*low, *high]),
            (4, [a, b, c, d]) => self.pure_op(pure::<bits::Pack8>(), out.row, &[*a, *b, *c, *d]),
            (2, [low, high]) => {
                let zero = self.bits(Width::Single, 0);
                self.pure_op(pure::<bits::Pack8>(), out.row, &[*low, *high, zero, zero]);
            }
            (8, [a, b, c, d]) if element == 2 => {
                let (low, high) = (self.temporary(Width::Single), self.temporary(Width::Single));
                self.pure_op(pure::<bits::Pack16>(), low, &[*a, *b]);
                self.pure_op(pure::<bits::Pack16>(), high, &[*c, *d]);
                self.pure_op(pure::<bits::Pack32>(), out.row, &[low, high]);
            }
            _ => return Err(m.unknown()),
        }
        self.finish(out);
        Ok(())
    }

    /// Decodes `mov.b64 {lo, hi}, a` and similar forms.
    fn unpack(
        &mut self,
        m: &Modifiers<'_, 's>,
        parts: &[Operand<'s>],
        from: &Operand<'s>,
        ty: Type,
    ) -> Decoded<()> {
        let (count, bytes) = (parts.len() as u32, ty.bytes());
        if !matches!((bytes, count), (8, 2 | 4) | (4, 2 | 4) | (2, 2)) {
            return Err(m.unknown());
        }
        let element = bytes / count;
        let source = self.source(from, ty, width_of(ty))?;
        // The source may be one of the destinations, so all parts are read first.
        let mut taken = Vec::new();
        for part in 0..count {
            let row = self.temporary(Width::Single);
            match (bytes, 8 * element * part) {
                (8, 0) => self.pure_op(pure::<bits::Low32>(), row, &[source]),
                (8, 32) => self.pure_op(pure::<bits::High32>(), row, &[source]),
                (8, start) => {
                    let amount = self.bits(Width::Single, start.into());
                    let wide = self.temporary(Width::Double);
                    self.pure_op(pure::<bits::ShiftDown64>(), wide, &[source, amount]);
                    self.pure_op(pure::<bits::Low32>(), row, &[wide]);
                }
                (_, start) => {
                    let amount = self.bits(Width::Single, start.into());
                    self.pure_op(pure::<bits::ShiftDown32>(), row, &[source, amount]);
                }
            }
            taken.push(row);
        }
        for (part, row) in parts.iter().zip(taken) {
            let out = self.destination(part, Width::Single, false)?;
            self.move_op(Width::Single, out.row, row);
            self.finish(out);
        }
        Ok(())
    }
}

fn clock(name: &str) -> Option<Clock> {
    Some(match name {
        "%clock" | "%clock64" => Clock::Cycles,
        "%clock_hi" => Clock::CyclesHigh,
        "%globaltimer" | "%globaltimer_lo" => Clock::Nanoseconds,
        "%globaltimer_hi" => Clock::NanosecondsHigh,
        _ => return None,
    })
}
