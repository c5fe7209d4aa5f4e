//! `tensormap`: tensor maps created by kernels.

use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder};
use crate::program::bulk::{Field, MapOp};
use crate::program::instruction::Op;
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand, Space};

/// A field, the type of its value, true if it has a value per dimension, and its maximum.
type FieldForm = (Field, Type, bool, Option<u64>);

const FIELDS: [(&str, FieldForm); 10] = [
    ("global_address", (Field::Address, Type::B64, false, None)),
    ("rank", (Field::LastDimension, Type::B32, false, None)),
    ("box_dim", (Field::Tile, Type::B32, true, None)),
    ("global_dim", (Field::Size, Type::B32, true, None)),
    ("global_stride", (Field::Stride, Type::B64, true, None)),
    ("element_stride", (Field::Step, Type::B32, true, None)),
    ("elemtype", (Field::Element, Type::B32, false, Some(12))),
    ("interleave_layout", (Field::Interleave, Type::B32, false, Some(2))),
    ("swizzle_mode", (Field::Swizzle, Type::B32, false, Some(3))),
    ("fill_mode", (Field::Fill, Type::B32, false, Some(1))),
];

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn tensor_map(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if m.flag("cp_fenceproxy") {
            return self.copy_map(i, m);
        }
        if !self.input.features.own {
            return Err(m.for_target("sm_90a"));
        }
        if !m.flag("replace") || !m.flag("tile") || !m.flag("b1024") {
            return Err(m.unknown());
        }
        let Some((field, ty, for_each, last)) = m.pick(&FIELDS) else { return Err(m.unknown()) };
        let space = m.pick(&[("global", Space::Global), ("shared::cta", Space::Shared)]);
        if m.ty()? != ty {
            return Err(m.unknown());
        }
        let value = 1 + usize::from(for_each);
        self.operand_count(i, value + 1)?;
        let dimension = match self.operand(i, 1)? {
            _ if !for_each => 0,
            Operand::Int(dimension @ 0..=4) => *dimension as u32,
            _ => return Err(m.unsupported("this dimension")),
        };
        let value = self.operand(i, value)?;
        match (last, value) {
            (None, _) => self.fits(value, ty, false)?,
            (Some(last), Operand::Int(choice)) if *choice <= last => {}
            (Some(_), _) => return Err(m.unsupported("this choice")),
        }
        let width = width_of(ty);
        let value = self.source(value, ty, width)?;
        let address = self.address(self.operand(i, 0)?)?;
        let cache = self.new_cache();
        self.emit(Op::Map(Box::new(MapOp::Replace {
            field,
            space,
            address,
            dimension,
            value,
            width,
            cache,
        })));
        Ok(())
    }

    fn copy_map(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let known = i.modifiers[1..].starts_with(&["global", "shared::cta", "tensormap::generic"]);
        m.ignore(&["global", "shared::cta", "tensormap::generic", "cta", "cluster", "gpu", "sys"]);
        self.operand_count(i, 3)?;
        let whole = matches!(self.operand(i, 2)?, Operand::Int(128));
        if !known || !whole || !m.flag("release") || !m.flag("sync") || !m.flag("aligned") {
            return Err(m.unknown());
        }
        let to = self.address(self.operand(i, 0)?)?;
        let from = self.address(self.operand(i, 1)?)?;
        let caches = [self.new_cache(), self.new_cache()];
        self.emit(Op::Map(Box::new(MapOp::Copy { to, from, caches })));
        Ok(())
    }
}
