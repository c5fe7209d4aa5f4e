//! CUDA arrays: memory with a shape and a format, which kernels reach through textures and surfaces.

use std::sync::Arc;

use cuprum_sys::*;

use crate::exec::texture::{Format, Level, Shape};
use crate::memory::{Region, RegionKind, Request};

use super::call::{
    Answer, Call, INVALID_HANDLE, INVALID_VALUE, In, NOT_SUPPORTED, OUT_OF_MEMORY, Out, calls, ensure,
    put_handle,
};
use super::context::Context;
use super::handle::Handle;
use super::state::emulator;
use super::{texel_format, texture_limit as limit};

/// Flags of arrays that are taken. The highest one means nothing and is taken by drivers too.
const FLAGS: u32 = CUDA_ARRAY3D_LAYERED
    | CUDA_ARRAY3D_SURFACE_LDST
    | CUDA_ARRAY3D_CUBEMAP
    | CUDA_ARRAY3D_TEXTURE_GATHER
    | 1 << 31;
/// Flags that drivers take, of memory that is bound to arrays later, and of the video hardware.
const UNSUPPORTED_FLAGS: u32 =
    CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;

/// An array, or a level of a mipmapped one. Slices follow each other without gaps.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) context: Arc<Context>,
    pub(super) shape: CUDA_ARRAY3D_DESCRIPTOR,
    pub(super) format: Format,
    base: u64,
    /// Its memory belongs to a mipmapped array.
    is_level: bool,
}

/// A mipmapped array: its levels lie in one region, one after the other.
#[derive(Debug)]
pub(super) struct Mipmap {
    pub(super) context: Arc<Context>,
    base: u64,
    /// Handles of its levels.
    levels: Vec<usize>,
}

/// What is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    Array,
    Mipmap,
}

fn has(shape: &CUDA_ARRAY3D_DESCRIPTOR, flag: u32) -> bool {
    shape.Flags & flag != 0
}

/// Checks a shape as drivers do; gives its format.
fn check_shape(shape: &CUDA_ARRAY3D_DESCRIPTOR, made: Made) -> Answer<Format> {
    let &CUDA_ARRAY3D_DESCRIPTOR { Width: width, Height: height, Depth: depth, .. } = shape;
    ensure(width > 0, INVALID_VALUE)?;
    let format = texel_format::of_array(shape.Format, shape.NumChannels)?;
    ensure(shape.Flags & !(FLAGS | UNSUPPORTED_FLAGS) == 0, INVALID_VALUE)?;
    let (layered, cube) = (has(shape, CUDA_ARRAY3D_LAYERED), has(shape, CUDA_ARRAY3D_CUBEMAP));
    let gathered = has(shape, CUDA_ARRAY3D_TEXTURE_GATHER);
    let valid = if cube {
        let faces = if layered { depth > 0 && depth % 6 == 0 && depth <= limit::FACES } else { depth == 6 };
        faces && height == width
    } else if layered {
        (1..=limit::LAYERS).contains(&depth)
    } else {
        depth == 0 || height > 0
    };
    ensure(valid, INVALID_VALUE)?;
    let flat = depth == 0 && height > 0;
    ensure(!gathered || flat, INVALID_VALUE)?;
    let special = layered || cube || gathered || made == Made::Mipmap;
    let (most_width, most_height) = if special || height == 0 && has(shape, CUDA_ARRAY3D_SURFACE_LDST) {
        (limit::SPECIAL, limit::SPECIAL)
    } else if depth > limit::SOLID {
        (limit::DEEP_SOLID.0, limit::DEEP_SOLID.0)
    } else if depth > 0 {
        (limit::SOLID, limit::SOLID)
    } else {
        (limit::WIDTH, limit::HEIGHT)
    };
    let fits = width <= most_width && height <= most_height && depth <= limit::DEEP_SOLID.1;
    ensure(fits, INVALID_VALUE)?;
    ensure(shape.Flags & UNSUPPORTED_FLAGS == 0, NOT_SUPPORTED)?;
    Ok(format)
}

/// Rows start at multiples of the largest access.
const ROW_ALIGNMENT: u64 = 16;

/// Bytes that an array takes; its sides are within their limits.
fn bytes_of(shape: &CUDA_ARRAY3D_DESCRIPTOR, format: Format) -> Answer<u64> {
    let rows = (shape.Height.max(1) as u64).checked_mul(shape.Depth.max(1) as u64);
    let row = (shape.Width as u64 * u64::from(format.bytes())).next_multiple_of(ROW_ALIGNMENT);
    rows.and_then(|rows| row.checked_mul(rows)).ok_or(INVALID_VALUE)
}

fn allocate(context: &Context, bytes: u64) -> Answer<Region> {
    let request = Request {
        kind: RegionKind::Array,
        ..Request::device(bytes, context.handle as u64, context.device as u32)
    };
    emulator().memory.alloc(&request).map_err(|_| OUT_OF_MEMORY)
}

impl Array {
    pub(super) fn find(handle: CUarray) -> Answer<Arc<Self>> {
        emulator().arrays.get(handle.addr()).ok_or(INVALID_HANDLE)
    }

    pub(super) fn base(&self) -> u64 {
        self.base
    }

    pub(super) fn row_bytes(&self) -> u64 {
        self.shape.Width as u64 * u64::from(self.format.bytes())
    }

    /// Bytes from one row to the next.
    pub(super) fn pitch(&self) -> u64 {
        self.row_bytes().next_multiple_of(ROW_ALIGNMENT)
    }

    pub(super) fn rows(&self) -> u64 {
        (self.shape.Height as u64).max(1)
    }

    pub(super) fn slices(&self) -> u64 {
        (self.shape.Depth as u64).max(1)
    }

    /// The array as the engine sees it.
    pub(super) fn level(&self) -> Level {
        Level {
            address: self.base,
            size: [self.shape.Width as u32, self.rows() as u32, self.slices() as u32],
            pitch: self.pitch(),
            slice: self.pitch() * self.rows(),
        }
    }

    /// Its dimensions, layers and faces.
    pub(super) fn engine_shape(&self) -> Shape {
        let (layered, cube) =
            (has(&self.shape, CUDA_ARRAY3D_LAYERED), has(&self.shape, CUDA_ARRAY3D_CUBEMAP));
        let dimensions = match (self.shape.Height, self.shape.Depth) {
            (0, _) => 1,
            (_, 1..) if !layered && !cube => 3,
            _ => 2,
        };
        Shape { dimensions, layered, cube }
    }

    fn create(call: &Call, shape: CUDA_ARRAY3D_DESCRIPTOR) -> Answer<usize> {
        let context = call.context()?;
        let format = check_shape(&shape, Made::Array)?;
        let base = allocate(&context, bytes_of(&shape, format)?)?.base;
        Ok(emulator().arrays.insert(Self { context, shape, format, base, is_level: false }))
    }
}

impl Mipmap {
    pub(super) fn find(handle: CUmipmappedArray) -> Answer<Arc<Self>> {
        emulator().mipmaps.get(handle.addr()).ok_or(INVALID_HANDLE)
    }

    /// Its levels, the largest first.
    pub(super) fn levels(&self) -> Vec<Arc<Array>> {
        self.levels.iter().filter_map(|&level| emulator().arrays.get(level)).collect()
    }

    fn create(call: &Call, shape: CUDA_ARRAY3D_DESCRIPTOR, levels: u32) -> Answer<usize> {
        let context = call.context()?;
        let format = check_shape(&shape, Made::Mipmap)?;
        let keeps_depth = has(&shape, CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
        let longest = shape.Width.max(shape.Height).max(if keeps_depth { 0 } else { shape.Depth });
        // Down to a single texel, whatever was asked for.
        let levels = levels.clamp(1, longest.ilog2() + 1);
        let half = |side: usize, level: u32| if side == 0 { 0 } else { (side >> level).max(1) };
        let shapes = (0..levels).map(|level| CUDA_ARRAY3D_DESCRIPTOR {
            Width: half(shape.Width, level),
            Height: half(shape.Height, level),
            Depth: if keeps_depth { shape.Depth } else { half(shape.Depth, level) },
            ..shape
        });
        let mut placed = Vec::new();
        let mut bytes = 0;
        for shape in shapes {
            placed.push((shape, bytes));
            bytes += bytes_of(&shape, format)?.next_multiple_of(crate::memory::GRANULARITY);
        }
        let base = allocate(&context, bytes)?.base;
        let insert = |(shape, offset)| {
            let context = Arc::clone(&context);
            emulator().arrays.insert(Array { context, shape, format, base: base + offset, is_level: true })
        };
        let levels = placed.into_iter().map(insert).collect();
        Ok(emulator().mipmaps.insert(Self { context, base, levels }))
    }
}

fn release(context: &Context, base: u64) -> Answer {
    emulator().scheduler.wait_context(context.handle);
    let _ = emulator().memory.free(base);
    context.check()
}

calls! {
    fn cuArrayCreate_v2(call, pHandle: Out<CUarray>, pAllocateArray: In<CUDA_ARRAY_DESCRIPTOR>) {
        pHandle.check()?;
        let flat = pAllocateArray.get()?;
        let shape = CUDA_ARRAY3D_DESCRIPTOR {
            Width: flat.Width,
            Height: flat.Height,
            Format: flat.Format,
            NumChannels: flat.NumChannels,
            ..CUDA_ARRAY3D_DESCRIPTOR::zeroed()
        };
        put_handle(pHandle, Array::create(call, shape)?)
    }

    fn cuArray3DCreate_v2(call, pHandle: Out<CUarray>, pAllocateArray: In<CUDA_ARRAY3D_DESCRIPTOR>) {
        pHandle.check()?;
        put_handle(pHandle, Array::create(call, pAllocateArray.get()?)?)
    }

    fn cuArrayGetDescriptor_v2(_call, pArrayDescriptor: Out<CUDA_ARRAY_DESCRIPTOR>, hArray: CUarray) {
        let shape = Array::find(hArray)?.shape;
        pArrayDescriptor.set(CUDA_ARRAY_DESCRIPTOR {
            Width: shape.Width,
            Height: shape.Height,
            Format: shape.Format,
            NumChannels: shape.NumChannels,
        })
    }

    fn cuArray3DGetDescriptor_v2(
        _call,
        pArrayDescriptor: Out<CUDA_ARRAY3D_DESCRIPTOR>,
        hArray: CUarray,
    ) {
        pArrayDescriptor.set(Array::find(hArray)?.shape)
    }

    fn cuArrayDestroy(_call, hArray: CUarray) {
        // A level stays until its mipmapped array goes.
        if Array::find(hArray)?.is_level {
            return Ok(());
        }
        let array = emulator().arrays.remove(hArray.addr()).ok_or(INVALID_HANDLE)?;
        release(&array.context, array.base)
    }

    /// No array is sparse.
    fn cuArrayGetSparseProperties(
        _call,
        sparseProperties: Out<CUDA_ARRAY_SPARSE_PROPERTIES>,
        array: CUarray,
    ) {
        sparseProperties.check()?;
        Array::find(array)?;
        Err(INVALID_VALUE)
    }

    /// Every array has its memory from the start.
    fn cuArrayGetMemoryRequirements(
        _call,
        memoryRequirements: Out<CUDA_ARRAY_MEMORY_REQUIREMENTS>,
        array: CUarray,
        _device: i32,
    ) {
        memoryRequirements.check()?;
        Array::find(array)?;
        Err(INVALID_VALUE)
    }

    /// No array has planes.
    fn cuArrayGetPlane(_call, pPlaneArray: Out<CUarray>, hArray: CUarray, _planeIdx: u32) {
        pPlaneArray.check()?;
        Array::find(hArray)?;
        Err(INVALID_VALUE)
    }

    fn cuMipmappedArrayCreate(
        call,
        pHandle: Out<CUmipmappedArray>,
        pMipmappedArrayDesc: In<CUDA_ARRAY3D_DESCRIPTOR>,
        numMipmapLevels: u32,
    ) {
        pHandle.check()?;
        put_handle(pHandle, Mipmap::create(call, pMipmappedArrayDesc.get()?, numMipmapLevels)?)
    }

    fn cuMipmappedArrayGetLevel(
        _call,
        pLevelArray: Out<CUarray>,
        hMipmappedArray: CUmipmappedArray,
        level: u32,
    ) {
        pLevelArray.check()?;
        let mipmap = Mipmap::find(hMipmappedArray)?;
        put_handle(pLevelArray, *mipmap.levels.get(level as usize).ok_or(INVALID_VALUE)?)
    }

    fn cuMipmappedArrayDestroy(_call, hMipmappedArray: CUmipmappedArray) {
        let mipmap = emulator().mipmaps.remove(hMipmappedArray.addr()).ok_or(INVALID_HANDLE)?;
        for &level in &mipmap.levels {
            emulator().arrays.remove(level);
        }
        release(&mipmap.context, mipmap.base)
    }

    /// No array is sparse.
    fn cuMipmappedArrayGetSparseProperties(
        _call,
        sparseProperties: Out<CUDA_ARRAY_SPARSE_PROPERTIES>,
        mipmap: CUmipmappedArray,
    ) {
        sparseProperties.check()?;
        Mipmap::find(mipmap)?;
        Err(INVALID_VALUE)
    }

    /// Every array has its memory from the start.
    fn cuMipmappedArrayGetMemoryRequirements(
        _call,
        memoryRequirements: Out<CUDA_ARRAY_MEMORY_REQUIREMENTS>,
        mipmap: CUmipmappedArray,
        _device: i32,
    ) {
        memoryRequirements.check()?;
        Mipmap::find(mipmap)?;
        Err(INVALID_VALUE)
    }
}
