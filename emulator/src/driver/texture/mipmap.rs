//! Mipmapped arrays: one array per level.

use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE};
use crate::driver::call::{In, Kind, Out, Table, calls, put_handle};
use crate::driver::context::Context;
use crate::driver::handle::Handle;
use crate::driver::state::captures;

use super::array::{ARRAYS, Array, Made, allocate, bytes_of, check_shape, has, release};

static MIPMAPS: Table<Mipmap> = Table::new(Kind::Mipmap).owned_by(|mipmap: &Mipmap| mipmap.context.handle);

/// A mipmapped array. Its levels are contiguous in one region.
#[derive(Debug)]
pub(crate) struct Mipmap {
    pub(crate) context: Arc<Context>,
    base: u64,
    levels: Vec<usize>,
}

impl Mipmap {
    pub(crate) fn find(handle: CUmipmappedArray) -> Answer<Arc<Self>> {
        MIPMAPS.get(handle.addr()).ok_or(INVALID_HANDLE)
    }

    /// Returns its levels, the largest first.
    pub(super) fn levels(&self) -> Vec<Arc<Array>> {
        self.levels.iter().filter_map(|&level| ARRAYS.get(level)).collect()
    }

    fn create(context: Arc<Context>, shape: CUDA_ARRAY3D_DESCRIPTOR, levels: u32) -> Answer<usize> {
        let mut place = |bytes| Ok(allocate(&context, bytes)?.base);
        create_in(Arc::clone(&context), shape, levels, Made::Mipmap, &mut place)
    }
}

/// Creates a mipmapped array in memory that `place` allocates.
pub(crate) fn create_in(
    context: Arc<Context>,
    shape: CUDA_ARRAY3D_DESCRIPTOR,
    levels: u32,
    made: Made,
    place: &mut dyn FnMut(u64) -> Answer<u64>,
) -> Answer<usize> {
    let format = check_shape(&shape, made)?;
    let keeps_depth = has(&shape, CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    let longest = shape.Width.max(shape.Height).max(if keeps_depth { 0 } else { shape.Depth });
    // At most down to a single texel.
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
    let base = place(bytes)?;
    let insert = |(shape, offset)| {
        let context = Arc::clone(&context);
        ARRAYS.insert(Array { context, shape, format, base: base + offset, is_level: true })
    };
    let levels = placed.into_iter().map(insert).collect();
    Ok(MIPMAPS.insert(Mipmap { context, base, levels }))
}

/// A texture of OpenGL as a mipmapped array in memory of another owner, as handles.
#[derive(Debug)]
pub(crate) struct Levels(usize);

impl Levels {
    /// Creates one in memory that `place` allocates.
    pub(crate) fn new(
        context: Arc<Context>,
        shape: CUDA_ARRAY3D_DESCRIPTOR,
        levels: u32,
        place: &mut dyn FnMut(u64) -> Answer<u64>,
    ) -> Answer<Self> {
        create_in(context, shape, levels, Made::OpenGl, place).map(Self)
    }

    pub(crate) fn handle(&self) -> usize {
        self.0
    }

    pub(crate) fn level(&self, level: u32) -> Option<usize> {
        MIPMAPS.get(self.0)?.levels.get(level as usize).copied()
    }

    pub(crate) fn array(&self, level: u32) -> Option<Arc<Array>> {
        ARRAYS.get(self.level(level)?)
    }

    /// Creates an array of a layer or face of a level.
    pub(crate) fn layer(&self, level: u32, index: u32) -> Option<usize> {
        let whole = self.array(level)?;
        let base = whole.base + u64::from(index) * whole.pitch() * whole.rows();
        let flags = whole.shape.Flags & !(CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
        let shape = CUDA_ARRAY3D_DESCRIPTOR { Depth: 0, Flags: flags, ..whole.shape };
        let (context, format) = (Arc::clone(&whole.context), whole.format);
        (u64::from(index) < whole.slices())
            .then(|| ARRAYS.insert(Array { context, shape, format, base, is_level: true }))
    }

    /// Removes the handles, including those for layers. The memory stays.
    pub(crate) fn remove(self, layers: impl Iterator<Item = usize>) {
        let levels = MIPMAPS.remove(self.0).map(|mipmap| mipmap.levels.clone());
        for array in layers.chain(levels.unwrap_or_default()) {
            ARRAYS.remove(array);
        }
    }
}

calls! {
    objects MIPMAPS;

    fn cuMipmappedArrayCreate(
        call,
        pHandle: Out<CUmipmappedArray>,
        pMipmappedArrayDesc: In<CUDA_ARRAY3D_DESCRIPTOR>,
        numMipmapLevels: u32,
    ) {
        let context = call.context_outside_captures()?;
        pHandle.check()?;
        put_handle(pHandle, Mipmap::create(context, pMipmappedArrayDesc.get()?, numMipmapLevels)?)
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
        captures().forbid_unsafe()?;
        let mipmap = MIPMAPS.remove(hMipmappedArray.addr()).ok_or(INVALID_HANDLE)?;
        for &level in &mipmap.levels {
            ARRAYS.remove(level);
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

    /// Every array has memory from its creation.
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
