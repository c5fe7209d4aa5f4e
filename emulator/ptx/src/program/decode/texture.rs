//! Textures and surfaces, through objects with 64-bit handles.
//!
//! Refuses global `.texref`, `.samplerref` and `.surfref` variables, and separate samplers
//! (`.texmode_independent`): they are for texture references, which CUDA 12 removed.

use super::modifiers::Modifiers;
use super::operands::{Destination, width_of};
use super::{Decoded, Decoder};
use crate::program::instruction::Op;
use crate::program::memory::AtomicOperation;
use crate::program::texture::{
    Geometry, LevelOperand, ObjectKind, ObjectOp, ObjectPlace, Outside, Query, Sample, Sampled,
    SurfaceAccess, SurfaceAction, Vector,
};
use crate::program::types::Type;
use crate::ptx::{Instruction, Operand};
use crate::semantics::{Predicate, Register, Width};

const GEOMETRIES: [(&str, Geometry); 7] = [
    ("1d", Geometry::Line),
    ("2d", Geometry::Plane),
    ("3d", Geometry::Solid),
    ("a1d", Geometry::LineLayers),
    ("a2d", Geometry::PlaneLayers),
    ("cube", Geometry::Cube),
    ("acube", Geometry::CubeLayers),
];
const OUTSIDE: [(&str, Outside); 3] =
    [("trap", Outside::Trap), ("clamp", Outside::Clamp), ("zero", Outside::Zero)];
const QUERIES: [(&str, Query); 10] = [
    ("width", Query::Width),
    ("height", Query::Height),
    ("depth", Query::Depth),
    ("channel_data_type", Query::DataType),
    ("channel_order", Query::ChannelOrder),
    ("normalized_coords", Query::NormalizedCoordinates),
    ("array_size", Query::ArraySize),
    ("num_mipmap_levels", Query::MipLevels),
    ("num_samples", Query::Samples),
    ("memory_layout", Query::MemoryLayout),
];
const HINTS: [&str; 4] = ["ca", "cg", "cs", "cv"];

impl<'s> Decoder<'_, '_, 's> {
    pub(super) fn texture_query(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        self.query(i, m, false)
    }

    pub(super) fn surface_query(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        self.query(i, m, true)
    }

    fn geometry(&self, m: &mut Modifiers<'_, 's>) -> Decoded<Geometry> {
        m.pick(&GEOMETRIES).ok_or_else(|| m.unsupported("the geometry"))
    }

    /// Decodes `[object, {coordinates}]`: the layer first; the last of three may be padding.
    fn place(
        &mut self,
        operand: &Operand<'s>,
        m: &Modifiers<'_, 's>,
        geometry: Geometry,
        ty: Type,
    ) -> Decoded<ObjectPlace> {
        let Operand::Memory(parts) = operand else {
            return Err(self.unsupported("this operand where an object and coordinates belong"));
        };
        let [object, coordinates] = parts.as_slice() else {
            return Err(m.unsupported("a separate sampler"));
        };
        let object = self.source(object, Type::U64, Width::Double)?;
        let coordinates = match coordinates {
            Operand::Vector(list) => list.as_slice(),
            single => std::slice::from_ref(single),
        };
        let (layer, coordinates) = match (geometry.has_layers(), coordinates) {
            (true, [layer, rest @ ..]) => (Some(self.source(layer, Type::U32, Width::Single)?), rest),
            (_, all) => (None, all),
        };
        Ok(ObjectPlace {
            geometry,
            object,
            layer,
            coordinates: self.vector(coordinates, geometry.axes(), ty)?,
        })
    }

    fn vector(&mut self, list: &[Operand<'s>], count: usize, ty: Type) -> Decoded<Vector> {
        if list.len() < count {
            return Err(self.unsupported("so few coordinates"));
        }
        let mut vector = [None; 3];
        for (to, operand) in vector.iter_mut().zip(list).take(count) {
            *to = Some(self.source(operand, ty, Width::Single)?);
        }
        Ok(vector)
    }

    fn vector_operand(&mut self, operand: &Operand<'s>, count: usize, ty: Type) -> Decoded<Vector> {
        match operand {
            Operand::Vector(list) => self.vector(list, count, ty),
            single => self.vector(std::slice::from_ref(single), count, ty),
        }
    }

    pub(super) fn sample(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let kind = m.pick(&[("level", 1), ("grad", 2), ("base", 3)]).unwrap_or(0);
        let geometry = self.geometry(m)?;
        let elements = m.pick(&[("v4", 4), ("v2", 2)]).ok_or_else(|| m.unsupported("one result"))?;
        let (to, at) = (m.ty()?, m.ty()?);
        let result = match (to, elements) {
            (Type::U32 | Type::S32 | Type::F32, 4) => Sampled::Words,
            (Type::F16, 4) => Sampled::Halves,
            (Type::F16x2, 2) => Sampled::HalfPairs,
            _ => return Err(m.unknown()),
        };
        let whole = match at {
            Type::S32 => true,
            Type::F32 => false,
            _ => return Err(m.unknown()),
        };
        if whole && geometry.is_cube() {
            return Err(m.unknown());
        }
        let place = self.place(self.operand(i, 1)?, m, geometry, at)?;
        let axes = geometry.axes();
        let cache = self.new_cache();
        let (level, next) = match kind {
            1 => (LevelOperand::Number(self.source(self.operand(i, 2)?, at, Width::Single)?), 3),
            2 => {
                let x = self.vector_operand(self.operand(i, 2)?, axes, at)?;
                let y = self.vector_operand(self.operand(i, 3)?, axes, at)?;
                (LevelOperand::Gradients(x, y), 4)
            }
            3 => (LevelOperand::Base, 2),
            _ => (LevelOperand::Implicit, 2),
        };
        self.finish_sample(i, m, next, result, |offsets, out, resident| Sample {
            place,
            whole,
            level,
            offsets,
            gathered: None,
            result,
            cache,
            out,
            resident,
        })
    }

    pub(super) fn gather(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let Some(component) = m.pick(&[("r", 0), ("g", 1), ("b", 2), ("a", 3)]) else {
            return Err(m.unknown());
        };
        let geometry = self.geometry(m)?;
        if !(m.flag("v4") && matches!(m.ty()?, Type::U32 | Type::S32 | Type::F32) && m.ty()? == Type::F32) {
            return Err(m.unknown());
        }
        let flat = matches!(geometry, Geometry::Plane | Geometry::PlaneLayers);
        if !(flat || geometry.is_cube()) {
            return Err(m.unknown());
        }
        let place = self.place(self.operand(i, 1)?, m, geometry, Type::F32)?;
        let cache = self.new_cache();
        self.finish_sample(i, m, 2, Sampled::Words, |offsets, out, resident| Sample {
            place,
            whole: false,
            level: LevelOperand::Base,
            offsets,
            gathered: Some(component),
            result: Sampled::Words,
            cache,
            out,
            resident,
        })
    }

    /// Decodes the offsets from operand `next` on, and the results.
    fn finish_sample(
        &mut self,
        i: &Instruction<'s>,
        m: &Modifiers<'_, 's>,
        next: usize,
        result: Sampled,
        sample: impl FnOnce(Vector, Vec<Register>, Option<Predicate>) -> Sample,
    ) -> Decoded<()> {
        let mut offsets = [None; 3];
        if let Some(operand @ Operand::Vector(list)) = i.operands.get(next) {
            offsets = self.vector_operand(operand, list.len().min(3), Type::S32)?;
        }
        let compares = i.operands.len() > next + 1
            || i.operands.get(next).is_some_and(|operand| !matches!(operand, Operand::Vector(_)));
        if compares {
            return Err(m.unsupported("comparison with a depth, for which the driver sets no function,"));
        }
        let (results, resident) = match self.operand(i, 0)? {
            Operand::Pair(results, resident) => (&**results, Some(self.predicate_out(resident)?)),
            results => (results, None),
        };
        let count = if result == Sampled::HalfPairs { 2 } else { 4 };
        let outs = self.destinations(results, m, count, Type::U32)?;
        let out = outs.iter().map(|out| out.row).collect();
        self.emit(Op::Object(Box::new(ObjectOp::Sample(sample(offsets, out, resident)))));
        outs.into_iter().for_each(|out| self.finish(out));
        Ok(())
    }

    fn destinations(
        &mut self,
        operand: &Operand<'s>,
        m: &Modifiers<'_, 's>,
        count: usize,
        ty: Type,
    ) -> Decoded<Vec<Destination>> {
        let mut destinations = Vec::new();
        for part in elements(operand, count).ok_or_else(|| m.unsupported("this number of results"))? {
            destinations.push(self.destination(part, width_of(ty), false)?);
        }
        Ok(destinations)
    }

    fn query(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>, surface: bool) -> Decoded<()> {
        let by_level = m.flag("level");
        let Some(query) = m.pick(&QUERIES) else { return Err(m.unknown()) };
        if m.ty()? != Type::B32 {
            return Err(m.unknown());
        }
        let Operand::Memory(parts) = self.operand(i, 1)? else { return Err(m.unknown()) };
        let [object] = parts.as_slice() else { return Err(m.unknown()) };
        let object = self.source(object, Type::U64, Width::Double)?;
        let level = match by_level {
            true => Some(self.source(self.operand(i, 2)?, Type::S32, Width::Single)?),
            false => None,
        };
        self.operand_count(i, if by_level { 3 } else { 2 })?;
        let out = self.destination(self.operand(i, 0)?, Width::Single, false)?;
        self.emit(Op::Object(Box::new(ObjectOp::Query { surface, query, object, level, out: out.row })));
        self.finish(out);
        Ok(())
    }

    /// Decodes the common part of loads, stores and reductions.
    fn surface(
        &mut self,
        i: &Instruction<'s>,
        m: &mut Modifiers<'_, 's>,
        geometry: Geometry,
        place: usize,
    ) -> Decoded<(ObjectPlace, Outside)> {
        if geometry.is_cube() {
            return Err(m.unsupported("a cube, which surfaces see as layers,"));
        }
        let outside = m.pick(&OUTSIDE).ok_or_else(|| m.unsupported("the rule for places outside"))?;
        Ok((self.place(self.operand(i, place)?, m, geometry, Type::S32)?, outside))
    }

    pub(super) fn surface_load(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        if !m.flag("b") {
            return Err(m.unknown());
        }
        self.operand_count(i, 2)?;
        let geometry = self.geometry(m)?;
        m.ignore(&HINTS);
        let count = m.pick(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
        let ty = m.ty()?;
        if !is_access(ty, count) {
            return Err(m.unknown());
        }
        let (place, outside) = self.surface(i, m, geometry, 1)?;
        let outs = self.destinations(self.operand(i, 0)?, m, count, ty)?;
        let action = SurfaceAction::Load(outs.iter().map(|out| out.row).collect());
        self.emit_access(place, ty, outside, action);
        outs.into_iter().for_each(|out| self.finish(out));
        Ok(())
    }

    pub(super) fn surface_store(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let Some(converted) = m.pick(&[("b", false), ("p", true)]) else { return Err(m.unknown()) };
        self.operand_count(i, 2)?;
        let geometry = self.geometry(m)?;
        m.ignore(&HINTS);
        let count = m.pick(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
        let ty = m.ty()?;
        let fits = if converted { ty == Type::B32 } else { is_access(ty, count) };
        if !fits {
            return Err(m.unknown());
        }
        let (place, outside) = self.surface(i, m, geometry, 0)?;
        let values =
            elements(self.operand(i, 1)?, count).ok_or_else(|| m.unsupported("this number of values"))?;
        let values = self.sources(values, ty, width_of(ty))?;
        let action =
            if converted { SurfaceAction::StoreConverted(values) } else { SurfaceAction::Store(values) };
        self.emit_access(place, ty, outside, action);
        Ok(())
    }

    pub(super) fn surface_reduce(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let Some(by_element) = m.pick(&[("b", false), ("p", true)]) else { return Err(m.unknown()) };
        self.operand_count(i, 2)?;
        let Some(operation) = m.pick(&[
            ("add", AtomicOperation::Add),
            ("min", AtomicOperation::Min),
            ("max", AtomicOperation::Max),
            ("and", AtomicOperation::And),
            ("or", AtomicOperation::Or),
        ]) else {
            return Err(m.unknown());
        };
        let geometry = self.geometry(m)?;
        let ty = m.ty()?;
        if !matches!(ty, Type::U32 | Type::S32 | Type::B32 | Type::U64 | Type::S64 | Type::B64) {
            return Err(m.unknown());
        }
        let (place, outside) = self.surface(i, m, geometry, 0)?;
        let value = self.source(self.operand(i, 1)?, ty, width_of(ty))?;
        let action = SurfaceAction::Reduce { operation, ty, value, by_element };
        self.emit_access(place, ty, outside, action);
        Ok(())
    }

    fn emit_access(&mut self, place: ObjectPlace, ty: Type, outside: Outside, action: SurfaceAction) {
        let cache = self.new_cache();
        let access = SurfaceAccess { place, bytes: ty.bytes(), width: width_of(ty), outside, cache, action };
        self.emit(Op::Object(Box::new(ObjectOp::Access(access))));
    }

    pub(super) fn is_kind(&mut self, i: &Instruction<'s>, m: &mut Modifiers<'_, 's>) -> Decoded<()> {
        let Some(kind) = m.pick(&[
            ("texref", ObjectKind::Texture),
            ("samplerref", ObjectKind::Sampler),
            ("surfref", ObjectKind::Surface),
        ]) else {
            return Err(m.unknown());
        };
        self.operand_count(i, 2)?;
        let object = self.source(self.operand(i, 1)?, Type::U64, Width::Double)?;
        let out = self.predicate_out(self.operand(i, 0)?)?;
        self.emit(Op::Object(Box::new(ObjectOp::IsKind { kind, object, out })));
        Ok(())
    }
}

/// True if surfaces support accesses with elements of this type: at most 16 bytes.
fn is_access(ty: Type, count: usize) -> bool {
    matches!(ty, Type::B8 | Type::B16 | Type::B32 | Type::B64) && ty.bytes() as usize * count <= 16
}

fn elements<'o, 's>(operand: &'o Operand<'s>, count: usize) -> Option<&'o [Operand<'s>]> {
    match operand {
        Operand::Vector(parts) if parts.len() == count => Some(parts),
        Operand::Vector(_) => None,
        single => (count == 1).then_some(std::slice::from_ref(single)),
    }
}
