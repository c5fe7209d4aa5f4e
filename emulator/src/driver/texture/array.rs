//! CUDA arrays: memory with a shape and a format, accessed through textures and surfaces.

use std::sync::Arc;

use cuprum_sys::*;

use crate::exec::texture::{Format, Level, Shape};
use crate::memory::{Region, RegionKind, Request};

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, OUT_OF_MEMORY, ensure};
use crate::driver::call::{In, Kind, Out, Table, calls, not_supported, put_handle};
use crate::driver::context::Context;
use crate::driver::device::texture_limit as limit;
use crate::driver::handle::Handle;
use crate::driver::state::{captures, memory, scheduler};

use super::format;

/// Valid flags of arrays. The highest one has no meaning, but drivers accept it.
const FLAGS: u32 = CUDA_ARRAY3D_LAYERED
    | CUDA_ARRAY3D_SURFACE_LDST
    | CUDA_ARRAY3D_CUBEMAP
    | CUDA_ARRAY3D_TEXTURE_GATHER
    | 1 << 31;
/// Flags that only drivers accept, for memory bound to arrays later, and for video hardware.
const UNSUPPORTED_FLAGS: u32 =
    CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;

/// The live arrays, including levels.
pub(super) static ARRAYS: Table<Array> =
    Table::new(Kind::Array).owned_by(|array: &Array| array.context.handle);

/// An array, or a level of a mipmapped one. Slices are contiguous.
#[derive(Debug)]
pub(crate) struct Array {
    pub(crate) context: Arc<Context>,
    pub(crate) shape: CUDA_ARRAY3D_DESCRIPTOR,
    pub(crate) format: Format,
    pub(crate) base: u64,
    /// True if its memory belongs to a mipmapped array.
    pub(super) is_level: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    Array,
    Mipmap,
    /// A mapped texture of OpenGL. Like on an H100, the depth of a cube is reported as 0, and only
    /// its first face can be copied.
    OpenGl,
}

const FACES: usize = 6;

pub(crate) fn has(shape: &CUDA_ARRAY3D_DESCRIPTOR, flag: u32) -> bool {
    shape.Flags & flag != 0
}

/// Checks a shape like drivers do. Returns its format.
pub(super) fn check_shape(shape: &CUDA_ARRAY3D_DESCRIPTOR, made: Made) -> Answer<Format> {
    let &CUDA_ARRAY3D_DESCRIPTOR { Width: width, Height: height, Depth: depth, .. } = shape;
    ensure(width > 0, INVALID_VALUE)?;
    let format = format::of_array(shape.Format, shape.NumChannels)?;
    ensure(shape.Flags & !(FLAGS | UNSUPPORTED_FLAGS) == 0, INVALID_VALUE)?;
    let (layered, cube) = (has(shape, CUDA_ARRAY3D_LAYERED), has(shape, CUDA_ARRAY3D_CUBEMAP));
    let gathered = has(shape, CUDA_ARRAY3D_TEXTURE_GATHER);
    let valid = if cube && made == Made::OpenGl {
        depth == 0 && height == width
    } else if cube {
        let faces =
            if layered { depth > 0 && depth % FACES == 0 && depth <= limit::FACES } else { depth == FACES };
        faces && height == width
    } else if layered {
        (1..=limit::LAYERS).contains(&depth)
    } else {
        depth == 0 || height > 0
    };
    ensure(valid, INVALID_VALUE)?;
    let flat = depth == 0 && height > 0 && !cube;
    ensure(!gathered || flat, INVALID_VALUE)?;
    let special = layered || cube || gathered || made != Made::Array;
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
    if shape.Flags & UNSUPPORTED_FLAGS != 0 {
        return Err(not_supported(
            "every array of the software device has all of its memory from the start, and none is made by a video encoder: \
             leave out CUDA_ARRAY3D_SPARSE, CUDA_ARRAY3D_DEFERRED_MAPPING and CUDA_ARRAY3D_VIDEO_ENCODE_DECODE",
        ));
    }
    Ok(format)
}

/// Alignment of rows: the size of the largest access.
const ROW_ALIGNMENT: u64 = 16;

/// Returns the number of slices, layers and faces of an array in memory.
fn slices_of(shape: &CUDA_ARRAY3D_DESCRIPTOR) -> u64 {
    let least = if has(shape, CUDA_ARRAY3D_CUBEMAP) { FACES } else { 1 };
    shape.Depth.max(least) as u64
}

/// Returns the size of an array, whose sides are within their limits.
pub(super) fn bytes_of(shape: &CUDA_ARRAY3D_DESCRIPTOR, format: Format) -> Answer<u64> {
    let rows = (shape.Height.max(1) as u64).checked_mul(slices_of(shape));
    let row = (shape.Width as u64 * u64::from(format.bytes())).next_multiple_of(ROW_ALIGNMENT);
    rows.and_then(|rows| row.checked_mul(rows)).ok_or(INVALID_VALUE)
}

pub(crate) fn allocate(context: &Context, bytes: u64) -> Answer<Region> {
    let request = Request {
        kind: RegionKind::Array,
        ..Request::device(bytes, context.handle as u64, context.device as u32)
    };
    memory().alloc(&request).map_err(|_| OUT_OF_MEMORY)
}

impl Array {
    pub(crate) fn find(handle: CUarray) -> Answer<Arc<Self>> {
        ARRAYS.get(handle.addr()).ok_or(INVALID_HANDLE)
    }

    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    pub(crate) fn row_bytes(&self) -> u64 {
        self.shape.Width as u64 * u64::from(self.format.bytes())
    }

    /// Returns the number of bytes from one row to the next.
    pub(crate) fn pitch(&self) -> u64 {
        self.row_bytes().next_multiple_of(ROW_ALIGNMENT)
    }

    pub(crate) fn rows(&self) -> u64 {
        (self.shape.Height as u64).max(1)
    }

    pub(crate) fn slices(&self) -> u64 {
        slices_of(&self.shape)
    }

    /// Returns the number of slices that copies can access.
    pub(crate) fn copied_slices(&self) -> u64 {
        (self.shape.Depth as u64).max(1)
    }

    pub(crate) fn level(&self) -> Level {
        Level {
            address: self.base,
            size: [self.shape.Width as u32, self.rows() as u32, self.slices() as u32],
            pitch: self.pitch(),
            slice: self.pitch() * self.rows(),
        }
    }

    /// Returns its dimensions, layers and faces.
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

    fn create(context: Arc<Context>, shape: CUDA_ARRAY3D_DESCRIPTOR) -> Answer<usize> {
        let format = check_shape(&shape, Made::Array)?;
        let base = allocate(&context, bytes_of(&shape, format)?)?.base;
        Ok(ARRAYS.insert(Self { context, shape, format, base, is_level: false }))
    }
}

pub(crate) fn release(context: &Context, base: u64) -> Answer {
    scheduler().wait_to_free(context.handle);
    let _ = memory().free(base);
    context.check()
}

calls! {
    objects ARRAYS;

    fn cuArrayCreate_v2(call, pHandle: Out<CUarray>, pAllocateArray: In<CUDA_ARRAY_DESCRIPTOR>) {
        let context = call.context_outside_captures()?;
        pHandle.check()?;
        let flat = pAllocateArray.get()?;
        let shape = CUDA_ARRAY3D_DESCRIPTOR {
            Width: flat.Width,
            Height: flat.Height,
            Format: flat.Format,
            NumChannels: flat.NumChannels,
            ..CUDA_ARRAY3D_DESCRIPTOR::zeroed()
        };
        put_handle(pHandle, Array::create(context, shape)?)
    }

    fn cuArray3DCreate_v2(call, pHandle: Out<CUarray>, pAllocateArray: In<CUDA_ARRAY3D_DESCRIPTOR>) {
        let context = call.context_outside_captures()?;
        pHandle.check()?;
        put_handle(pHandle, Array::create(context, pAllocateArray.get()?)?)
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
        captures().forbid_unsafe()?;
        // A level lives as long as its mipmapped array.
        if Array::find(hArray)?.is_level {
            return Ok(());
        }
        let array = ARRAYS.remove(hArray.addr()).ok_or(INVALID_HANDLE)?;
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

    /// Every array has memory from its creation.
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
}
