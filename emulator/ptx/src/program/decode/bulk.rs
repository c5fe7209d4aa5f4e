//! Bulk copies: `cp.async.bulk`, with and without a tensor map.

use super::atomic::OPERATIONS;
use super::memory::SPACES;
use super::modifiers::Modifiers;
use super::{Decoded, Decoder};
use crate::program::bulk::{BulkCopy, BulkGroup, Extent};
use crate::program::instruction::Op;
use crate::program::memory::{Address, AtomicOperation};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand, Space};
use crate::semantics::{Register, Width};

const DIMENSIONS: [(&str, usize); 5] = [("1d", 1), ("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)];

/// Modes of copies by tensor maps: true for pixels, and true for offsets.
const MODES: [(&str, (bool, bool)); 3] =
    [("tile", (false, false)), ("im2col", (true, true)), ("im2col_no_offs", (true, false))];

/// Modes that exist from compute capability 10.0 on.
const LATER_MODES: [&str; 4] = ["tile::gather4", "tile::scatter4", "im2col::w", "im2col::w::128"];

struct Form {
    spaces: [Space; 2],
    /// True if it signals a barrier at its end.
    tells: bool,
    multicast: bool,
    hinted: bool,
    operation: Option<AtomicOperation>,
}

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn bulk_copy(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        m.ignore(&["async", "bulk"]);
        if m.flag("commit_group") {
            self.operand_count(i, 0)?;
            self.emit(Op::BulkGroup(BulkGroup::Commit));
            return Ok(());
        }
        if m.flag("wait_group") {
            m.ignore(&["read"]);
            self.operand_count(i, 1)?;
            let Operand::Int(most) = self.operand(i, 0)? else { return Err(m.unknown()) };
            let most = u32::try_from(*most).map_err(|_| m.unknown())?;
            self.emit(Op::BulkGroup(BulkGroup::Wait { most }));
            return Ok(());
        }
        if m.flag("tensor") {
            return self.tensor_copy(i, m);
        }
        if m.flag("prefetch") {
            m.ignore(&["L2", "global", "L2::cache_hint"]);
            return self.address(self.operand(i, 0)?).map(drop);
        }
        let form = self.bulk_form(m)?;
        let operation = match form.operation {
            Some(operation) => {
                m.ignore(&["noftz"]);
                Some((operation, m.ty()?))
            }
            None => None,
        };
        if !operation.is_none_or(|(operation, ty)| is_bulk_reduction(operation, ty)) {
            return Err(m.unknown());
        }
        let Form { tells, multicast, hinted, .. } = form;
        self.operand_count(i, 3 + usize::from(tells) + usize::from(multicast) + usize::from(hinted))?;
        let to = self.address(self.operand(i, 0)?)?;
        let from = self.address(self.operand(i, 1)?)?;
        let bytes = self.source(self.operand(i, 2)?, Type::U32, Width::Single)?;
        let told = tells.then(|| self.operand(i, 3)).transpose()?;
        let multicast = multicast.then(|| self.operand(i, 4)).transpose()?;
        self.emit_bulk_copy([to, from], form.spaces, Extent::Bytes(bytes), operation, [told, multicast])
    }

    /// Decodes the modifiers of a copy except the type of a reduction.
    fn bulk_form(&mut self, m: &mut Modifiers<'_, 's>) -> Decoded<Form> {
        let reduce = m.flag("reduce");
        let (Some(to), Some(from)) = (m.pick(&SPACES), m.pick(&SPACES)) else { return Err(m.unknown()) };
        let (tells, grouped) = (m.flag("mbarrier::complete_tx::bytes"), m.flag("bulk_group"));
        let (multicast, hinted) = (m.flag("multicast::cluster"), m.flag("L2::cache_hint"));
        let known = match (to, from) {
            (Space::SharedCluster, Space::Global) => tells && !reduce,
            (Space::Shared, Space::Global) => tells && !reduce && !multicast,
            (Space::SharedCluster | Space::Shared, Space::Shared) => tells && !multicast,
            (Space::Global, Space::Shared) => grouped && !tells && !multicast,
            _ => false,
        };
        let operation = if reduce { m.pick(&OPERATIONS) } else { None };
        if !known || tells && grouped || reduce != operation.is_some() {
            return Err(m.unknown());
        }
        Ok(Form { spaces: [to, from], tells, multicast, hinted, operation })
    }

    fn emit_bulk_copy(
        &mut self,
        [to, from]: [Address; 2],
        spaces: [Space; 2],
        extent: Extent,
        operation: Option<(AtomicOperation, Type)>,
        [told, multicast]: [Option<&Operand<'s>>; 2],
    ) -> Decoded<()> {
        let told = told.map(|barrier| self.address(barrier)).transpose()?;
        if let Some(blocks) = multicast {
            self.fits(blocks, Type::U16, false)?;
        }
        let multicast = multicast.map(|blocks| self.source(blocks, Type::U16, Width::Single)).transpose()?;
        let caches = [self.new_cache(), self.new_cache(), self.new_cache()];
        let copy = BulkCopy { to, from, spaces, extent, operation, multicast, told, caches };
        self.emit(Op::BulkCopy(Box::new(copy)));
        Ok(())
    }

    /// Decodes `cp.async.bulk.tensor`, its reduction and its prefetch.
    fn tensor_copy(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if let Some(mode) = i.modifiers.iter().find(|modifier| LATER_MODES.contains(modifier)) {
            return Err(m.unsupported(&format!("`.{mode}` of compute capability 10.0 and later")));
        }
        let Some(dimensions) = m.pick(&DIMENSIONS) else { return Err(m.unknown()) };
        let (columns, has_offsets) = m.pick(&MODES).unwrap_or_default();
        // These instructions require the long name of `.shared`.
        if columns && dimensions < 3 || i.modifiers.contains(&"shared") {
            return Err(m.unknown());
        }
        let offset_count = if has_offsets { dimensions - 2 } else { 0 };
        if m.flag("prefetch") {
            if columns && !has_offsets {
                return Err(m.unknown());
            }
            m.ignore(&["L2", "global", "L2::cache_hint"]);
            self.tensor_place(self.operand(i, 0)?, dimensions)?;
            return self.operand_count(i, 3);
        }
        let form = self.bulk_form(m)?;
        m.finish()?;
        let stores = form.spaces[0] == Space::Global;
        let wrong = [AtomicOperation::Exchange, AtomicOperation::CompareExchange];
        if form.operation.is_some_and(|operation| wrong.contains(&operation)) {
            return Err(m.unknown());
        }
        // Copies to memory have no offsets and a separate mode without them.
        if form.spaces[1] == Space::Shared && !stores || columns && has_offsets == stores {
            return Err(m.unknown());
        }
        let extra = [form.tells, has_offsets, form.multicast, form.hinted].map(usize::from);
        self.operand_count(i, 2 + extra.iter().sum::<usize>())?;
        let (map, shared) = if stores { (0, 1) } else { (1, 0) };
        let (map, coordinates) = self.tensor_place(self.operand(i, map)?, dimensions)?;
        let shared = self.address(self.operand(i, shared)?)?;
        let offsets = match has_offsets {
            true => self.words(self.operand(i, 3)?, offset_count, Type::U16)?,
            false => Vec::new(),
        };
        let ends = if stores { [map, shared] } else { [shared, map] };
        let told = form.tells.then(|| self.operand(i, 2)).transpose()?;
        let blocks = form.multicast.then(|| self.operand(i, 3 + usize::from(has_offsets))).transpose()?;
        let extent = Extent::Tensor { coordinates, offsets, columns, cache: self.new_cache() };
        // The type is in the map.
        let operation = form.operation.map(|operation| (operation, Type::U32));
        self.emit_bulk_copy(ends, form.spaces, extent, operation, [told, blocks])
    }

    /// Decodes `[map, {coordinates}]`.
    fn tensor_place(
        &mut self,
        operand: &Operand<'s>,
        dimensions: usize,
    ) -> Decoded<(Address, Vec<Register>)> {
        let Operand::Memory(parts) = operand else {
            return Err(self.unsupported("this operand where a tensor map and coordinates belong"));
        };
        let [map, coordinates] = parts.as_slice() else {
            return Err(self.unsupported("a tensor map without coordinates"));
        };
        if !matches!(map, Operand::Name(_)) {
            return Err(self.unsupported("a tensor map at an offset"));
        }
        let map = Operand::Memory(vec![map.clone()]);
        self.space_of(&map, Some(Space::Global))?;
        let map = self.address(&map)?;
        Ok((map, self.words(coordinates, dimensions, Type::S32)?))
    }

    /// Decodes `count` values in braces.
    fn words(&mut self, operand: &Operand<'s>, count: usize, ty: Type) -> Decoded<Vec<Register>> {
        let Operand::Vector(parts) = operand else {
            return Err(self.unsupported("this operand where several values belong"));
        };
        if parts.len() != count {
            return Err(self.unsupported(format!("{} values where {count} belong", parts.len())));
        }
        for part in parts {
            self.fits(part, ty, false)?;
        }
        self.sources(parts, ty, Width::Single)
    }
}

fn is_bulk_reduction(operation: AtomicOperation, ty: Type) -> bool {
    use AtomicOperation::*;
    use Type::*;
    match operation {
        Add => matches!(ty, U32 | S32 | U64 | F32 | F64 | F16 | Bf16),
        Min | Max => matches!(ty, U32 | S32 | U64 | S64 | F16 | Bf16),
        And | Or | Xor => matches!(ty, B32 | B64),
        Increment | Decrement => ty == U32,
        Exchange | CompareExchange => false,
    }
}
