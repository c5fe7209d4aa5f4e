//! Copies of parts of tensors, as described by tensor maps.
//!
//! Elements outside of the tensor are read as zeros or NaNs, and not written. In shared memory the
//! part is stored row by row. A swizzle permutes its rows in patterns of the swizzle's length.

use super::bulk::{PIECE, combine};
use crate::exec::access::{Request, lane_address, place, read};
use crate::exec::block::copies::LateCopy;
use crate::exec::block::{Block, Issue, Site, Stop};
use crate::exec::tensor::{MOST_DIMENSIONS, Part, TensorMap, Words, replace};
use crate::program::bulk::{BulkCopy, Extent, MapOp};
use crate::program::memory::AtomicOperation;
use crate::program::types::Type;
use crate::ptx::Space;
use crate::report::FaultKind;
use crate::semantics::lanes_of;

/// Types of elements, by the driver's numbers.
const TYPES: [Type; 13] = [
    Type::U8,
    Type::U16,
    Type::U32,
    Type::S32,
    Type::U64,
    Type::S64,
    Type::F16,
    Type::F32,
    Type::F64,
    Type::Bf16,
    Type::F32,
    Type::F32,
    Type::F32,
];

/// The first type that drops low bits. The type before it, single precision without subnormal
/// numbers, does not change values, as on an H100.
const TF32: u8 = 11;

struct Copy<'c> {
    copy: &'c BulkCopy,
    map: TensorMap,
    site: Site,
    shared: u64,
    /// True for a copy from shared to global memory.
    stores: bool,
    operation: Option<(AtomicOperation, Type)>,
}

type Point = [i64; MOST_DIMENSIONS];

/// Copies a part of a tensor. Returns its size in bytes, including elements outside of the tensor.
pub(super) fn copy_tensor(
    block: &mut Block<'_, '_>,
    copy: &BulkCopy,
    late: &LateCopy,
    (columns, cache): (bool, u32),
) -> Result<u32, Stop> {
    let stores = copy.spaces[0] == Space::Global;
    let (address, shared) = if stores { (late.to, late.from) } else { (late.from, late.to) };
    let map = read_map(block, late.site, (None, address, cache))?;
    let wrong = |block: &Block<'_, '_>, text: &str| {
        Err(block.fault(FaultKind::Other(format!("a copy by {text}")), late.site))
    };
    let map = match TensorMap::decode(&map) {
        Ok(map) => map,
        Err(text) => return wrong(block, text),
    };
    if shared % ALIGNMENT != 0 {
        return Err(block.fault(FaultKind::Misaligned, late.site));
    }
    let ty = TYPES[usize::from(map.element)];
    let operation = copy.operation.map(|(operation, _)| (operation, ty));
    let is_odd = |at: i32| i64::from(at) * i64::from(map.element_bytes()) % i64::from(PIECE) != 0;
    if map.interleave == 0 && is_odd(late.coordinates[0]) {
        let at = late.coordinates[0];
        let text = format!(
            "a copy of a part of a tensor from element {at} of its rows, which is no multiple of 16 bytes"
        );
        return Err(block.fault(FaultKind::TensorCopy(text), late.site));
    }
    if stores && map.interleave != 0 && late.coordinates.iter().any(|at| *at < 0) {
        let text =
            format!("a store into an interleaved tensor at {:?}, before its beginning", late.coordinates);
        return Err(block.fault(FaultKind::TensorCopy(text), late.site));
    }
    if !operation.is_none_or(|(operation, ty)| is_reduction(operation, ty)) {
        let text =
            format!("a reduction of a tensor of type {ty:?} by an operation that this type does not have");
        return Err(block.fault(FaultKind::TensorCopy(text), late.site));
    }
    let copy = Copy { copy, map, site: late.site, shared, stores, operation };
    let dimensions = match &copy.copy.extent {
        Extent::Tensor { coordinates, .. } => coordinates.len(),
        Extent::Bytes(_) => 0,
    };
    if dimensions != map.dimensions {
        let has = map.dimensions;
        let text = format!("a copy by {dimensions} coordinates in a tensor of {has} dimensions");
        return Err(block.fault(FaultKind::Other(text), late.site));
    }
    match (map.part, columns) {
        (Part::Tile(tile), false) => copy.tile(block, tile, late.coordinates),
        (Part::Columns { .. }, true) => copy.columns(block, late.coordinates, late.offsets),
        _ => wrong(block, "a tensor map of another mode than that of the instruction"),
    }
}

fn is_reduction(operation: AtomicOperation, ty: Type) -> bool {
    use AtomicOperation::*;
    match ty {
        Type::U32 | Type::S32 => true,
        Type::U64 | Type::S64 => !matches!(operation, Increment | Decrement),
        Type::F16 | Type::Bf16 => matches!(operation, Add | Min | Max),
        _ => matches!((operation, ty), (Add, Type::F32 | Type::F64)),
    }
}

/// Alignment of parts of tensors in shared memory.
const ALIGNMENT: u64 = 128;

fn read_map(
    block: &mut Block<'_, '_>,
    site: Site,
    (space, address, cache): (Option<Space>, u64, u32),
) -> Result<Words, Stop> {
    let mut words = Words::default();
    for (index, half) in words.chunks_exact_mut(8).enumerate() {
        let request = Request::read(space, address.wrapping_add(64 * index as u64), 64, cache);
        let host = place(block, site, request)?.host;
        // SAFETY: `place` checked 64 bytes, which is half of the words.
        unsafe { std::ptr::copy_nonoverlapping(host, half.as_mut_ptr().cast(), 64) };
    }
    Ok(words)
}

fn write_map(
    block: &mut Block<'_, '_>,
    site: Site,
    (space, address, cache): (Option<Space>, u64, u32),
    words: &Words,
) -> Result<(), Stop> {
    for (index, half) in words.chunks_exact(8).enumerate() {
        let request = Request::write(space, address.wrapping_add(64 * index as u64), 64, cache);
        let host = place(block, site, request)?.host;
        // SAFETY: `place` checked 64 bytes for writing, which is half of the words.
        unsafe { std::ptr::copy_nonoverlapping(half.as_ptr().cast(), host, 64) };
    }
    Ok(())
}

/// Sets a field of a map, or copies one.
pub(super) fn map(block: &mut Block<'_, '_>, issue: Issue, op: &MapOp) -> Result<(), Stop> {
    for lane in lanes_of(issue.active) {
        let site = issue.at(lane);
        match *op {
            MapOp::Replace { field, space, address, dimension, value, width, cache } => {
                let at = (space, lane_address(block, issue.warp, &address, lane), cache);
                let mut words = read_map(block, site, at)?;
                let value = block.warps[issue.warp].rows.get_wide(value, width, lane);
                replace(&mut words, field, dimension, value);
                write_map(block, site, at, &words)?;
            }
            MapOp::Copy { to, from, caches: [to_cache, from_cache] } => {
                let from = lane_address(block, issue.warp, &from, lane);
                let words = read_map(block, site, (Some(Space::Shared), from, from_cache))?;
                let to = lane_address(block, issue.warp, &to, lane);
                // The lanes of a warp copy it together.
                return write_map(block, site, (Some(Space::Global), to, to_cache), &words);
            }
        }
    }
    Ok(())
}

impl Copy<'_> {
    /// Copies a box.
    fn tile(&self, block: &mut Block<'_, '_>, tile: [u32; 5], at: [i32; 5]) -> Result<u32, Stop> {
        let map = &self.map;
        let counts = map.counts(tile);
        let runs = counts.iter().product();
        for number in 0..runs {
            let mut point: Point = at.map(i64::from);
            let mut left = number;
            for (axis, count) in counts.iter().enumerate().take(map.dimensions) {
                point[axis] += i64::from(left % count * map.steps[axis]);
                left /= count;
            }
            self.run(block, number, point, tile[0])?;
        }
        Ok(runs * map.run(tile[0]))
    }

    /// Copies consecutive pixels of a part of each image.
    fn columns(&self, block: &mut Block<'_, '_>, at: [i32; 5], offsets: [u32; 3]) -> Result<u32, Stop> {
        let map = &self.map;
        let Part::Columns { lower, upper, channels, pixels } = map.part else { return Ok(0) };
        let last = map.dimensions - 1;
        // Dimensions of an image. Channels precede, and in an interleaved tensor slices follow.
        let first = usize::from(map.interleave == 0);
        let image = first..first + map.dimensions - 2;
        let mut pixel: Point = at.map(i64::from);
        for number in 0..pixels {
            let mut point = pixel;
            let inner = point[image.clone()].iter_mut().zip(offsets);
            inner.for_each(|(place, offset)| *place += i64::from(offset));
            self.run(block, number, point, channels)?;
            for axis in image.clone() {
                pixel[axis] += i64::from(map.steps[axis]);
                if pixel[axis] < map.sizes[axis] as i64 + i64::from(upper[axis - first]) {
                    break;
                }
                pixel[axis] = lower[axis - first].into();
                if axis + 1 == image.end {
                    pixel[last] += 1;
                }
            }
        }
        Ok(pixels * map.run(channels))
    }

    /// Copies a contiguous run of global memory.
    fn run(&self, block: &mut Block<'_, '_>, number: u32, first: Point, elements: u32) -> Result<(), Stop> {
        match self.map.interleave {
            0 => self.row(block, number, first, elements),
            _ => self.slice(block, number, first),
        }
    }

    /// Returns the global address for these coordinates without the first; true if in the tensor.
    fn outer(&self, point: Point) -> (u64, bool) {
        let map = &self.map;
        let (mut start, mut inside) = (map.address, true);
        for (axis, &at) in point.iter().enumerate().take(map.dimensions).skip(1) {
            inside &= (0..map.sizes[axis] as i64).contains(&at);
            start = start.wrapping_add((at as u64).wrapping_mul(map.strides[axis - 1]));
        }
        (start, inside)
    }

    /// Returns an address in shared memory, permuted by the swizzle.
    fn swizzled(&self, offset: u32) -> u64 {
        let address = self.shared + u64::from(offset);
        address ^ (address >> 7 & u64::from(self.map.span() / PIECE - 1)) << 4
    }

    /// Copies a row of elements that are contiguous in global memory.
    fn row(&self, block: &mut Block<'_, '_>, number: u32, first: Point, elements: u32) -> Result<(), Stop> {
        let map = &self.map;
        let size = map.element_bytes();
        let pitch = if map.swizzle == 0 { elements * size } else { map.span() };
        let (start, inside) = self.outer(first);
        let per_piece = PIECE / size;
        for piece in 0..elements * size / PIECE {
            let address = self.swizzled(number * pitch + piece * PIECE);
            let x = first[0] + i64::from(piece * per_piece);
            let within = |index: u32| inside && (0..map.sizes[0] as i64).contains(&(x + i64::from(index)));
            let global = start.wrapping_add((x as u64).wrapping_mul(size.into()));
            if within(0) && within(per_piece - 1) {
                self.piece(block, address, Some(global))?;
                continue;
            }
            for index in 0..per_piece {
                let bytes = u64::from(index * size);
                self.element(block, address + bytes, within(index).then(|| global.wrapping_add(bytes)))?;
            }
        }
        Ok(())
    }

    /// Copies a slice of the channels of a pixel in an interleaved tensor.
    fn slice(&self, block: &mut Block<'_, '_>, number: u32, point: Point) -> Result<(), Stop> {
        let bytes = self.map.run(0);
        let (start, inside) = self.outer(point);
        let inside = inside && (0..self.map.sizes[0] as i64).contains(&point[0]);
        let start = start.wrapping_add((point[0] as u64).wrapping_mul(bytes.into()));
        for offset in (0..bytes).step_by(PIECE as usize) {
            let global = inside.then(|| start.wrapping_add(offset.into()));
            self.piece(block, self.swizzled(number * bytes + offset), global)?;
        }
        Ok(())
    }

    /// Returns space, address and cache of source and destination, given both addresses.
    fn ends(&self, shared: u64, global: u64) -> [(Option<Space>, u64, u32); 2] {
        let [to, from, _] = self.copy.caches;
        let [to_space, from_space] = self.copy.spaces.map(Some);
        match self.stores {
            true => [(from_space, shared, from), (to_space, global, to)],
            false => [(from_space, global, from), (to_space, shared, to)],
        }
    }

    /// Copies 16 bytes, which are entirely in the tensor or entirely outside.
    fn piece(&self, block: &mut Block<'_, '_>, shared: u64, global: Option<u64>) -> Result<(), Stop> {
        let whole = global
            .filter(|global| global % u64::from(PIECE) == 0 && self.operation.is_none() && !self.converts());
        let Some(global) = whole else {
            for offset in (0..u64::from(PIECE)).step_by(self.map.element_bytes() as usize) {
                self.element(block, shared + offset, global.map(|global| global.wrapping_add(offset)))?;
            }
            return Ok(());
        };
        let [(from_space, from, from_cache), (to_space, to, to_cache)] = self.ends(shared, global);
        let source = place(block, self.site, Request::read(from_space, from, PIECE, from_cache))?.host;
        let target = place(block, self.site, Request::write(to_space, to, PIECE, to_cache))?.host;
        // SAFETY: `place` checked a unit on either side, one in shared and one in global memory.
        unsafe { std::ptr::copy_nonoverlapping(source, target, PIECE as usize) };
        Ok(())
    }

    /// Copies one element; `None` means that it is outside of the tensor.
    fn element(&self, block: &mut Block<'_, '_>, shared: u64, global: Option<u64>) -> Result<(), Stop> {
        let size = self.map.element_bytes();
        let [from, to] = self.ends(shared, global.unwrap_or(0));
        let value = match global {
            None if self.stores => return Ok(()),
            None => self.outside(),
            Some(_) => {
                let host = place(block, self.site, Request::read(from.0, from.1, size, from.2))?.host;
                // SAFETY: `place` checked an element.
                let value = unsafe { read(host, size, false) };
                if self.converts() { rounded(value as u32).into() } else { value }
            }
        };
        if let Some(operation) = self.operation {
            return combine(block, self.site, to, operation, value);
        }
        let host = place(block, self.site, Request::write(to.0, to.1, size, to.2))?.host;
        // SAFETY: `place` checked an element for writing; none has more than 8 bytes.
        unsafe { std::ptr::copy_nonoverlapping(value.to_le_bytes().as_ptr(), host, size as usize) };
        Ok(())
    }

    fn outside(&self) -> u64 {
        const NAN: u64 = 0x7ff7_7ff7_7ff7_7ff7;
        if self.map.fill != 0 { NAN & u64::MAX >> (64 - 8 * self.map.element_bytes()) } else { 0 }
    }

    /// True if the copy to shared memory converts elements of this type.
    fn converts(&self) -> bool {
        !self.stores && self.map.element >= TF32
    }
}

/// Rounds a single-precision number to the nearest one without low bits.
fn rounded(bits: u32) -> u32 {
    if f32::from_bits(bits).is_finite() { bits.wrapping_add(0x1000) & !0x1fff } else { bits }
}
