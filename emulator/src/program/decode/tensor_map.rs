//! `tensormap`: tensor maps that a kernel makes.

use super::modifiers::Modifiers;
use super::operands::width_of;
use super::{Decoded, Decoder};
use crate::program::bulk::{Field, MapOp};
use crate::program::instruction::Op;
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand, Space};

/// Fields, with the type of their values, and how many of them a map has if not one.
const FIELDS: [(&str, (Field, Type, u64)); 10] = [
    ("global_address", (Field::Address, Type::B64, 0)),
    ("rank", (Field::LastDimension, Type::B32, 0)),
    ("box_dim", (Field::Tile, Type::B32, 5)),
    ("global_dim", (Field::Size, Type::B32, 5)),
    ("global_stride", (Field::Stride, Type::B64, 4)),
    ("element_stride", (Field::Step, Type::B32, 5)),
    ("elemtype", (Field::Element, Type::B32, 0)),
    ("interleave_layout", (Field::Interleave, Type::B32, 0)),
    ("swizzle_mode", (Field::Swizzle, Type::B32, 0)),
    ("fill_mode", (Field::Fill, Type::B32, 0)),
];

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn tensor_map(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if m.flag("cp_fenceproxy") {
            return self.copy_map(i, m);
        }
        if !self.context.has_own_features {
            return Err(m.for_target("sm_90a"));
        }
        if !m.flag("replace") || !m.flag("tile") || !m.flag("b1024") {
            return Err(m.unknown());
        }
        let Some((field, ty, count)) = m.pick(&FIELDS) else { return Err(m.unknown()) };
        let space =
            m.pick(&[("global", Space::Global), ("shared::cta", Space::Shared), ("shared", Space::Shared)]);
        if m.ty()? != ty {
            return Err(m.unknown());
        }
        let value = 1 + usize::from(count > 0);
        self.operand_count(i, value + 1)?;
        let dimension = match self.operand(i, 1)? {
            _ if count == 0 => 0,
            Operand::Int(dimension) if *dimension < count => *dimension as u32,
            _ => return Err(m.unsupported("this dimension")),
        };
        let is_choice = matches!(field, Field::Element | Field::Interleave | Field::Swizzle | Field::Fill);
        let value = self.operand(i, value)?;
        if is_choice && !matches!(value, Operand::Int(_)) {
            return Err(m.unsupported("a choice that is no number"));
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

    /// `tensormap.cp_fenceproxy`.
    fn copy_map(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let known = m.flag("global") && (m.flag("shared::cta") || m.flag("shared"));
        m.ignore(&["tensormap::generic", "cta", "cluster", "gpu", "sys"]);
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
