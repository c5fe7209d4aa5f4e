//! Texture and surface objects: how kernels reach arrays, and linear memory, by handle.

use std::sync::Arc;

use cuprum_sys::*;

use crate::exec::texture::{self, AddressMode, Format, Level, Object, Sampler, Shape};

use super::array::{Array, Mipmap};
use super::call::{Answer, Call, INVALID_VALUE, In, NOT_SUPPORTED, Out, calls, ensure};
use super::context::Context;
use super::handle::Table;
use super::state::emulator;
use super::texture_limit::{ALIGNMENT, LINEAR_HEIGHT, LINEAR_PITCH, PITCH_ALIGNMENT, WIDTH};
use super::{device, texel_format};

/// Flags of a sampling, two of which mean nothing and are taken by drivers too.
const SAMPLING_FLAGS: u32 = CU_TRSF_READ_AS_INTEGER
    | CU_TRSF_NORMALIZED_COORDINATES
    | 1 << 2
    | 1 << 3
    | CU_TRSF_SRGB
    | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
    | CU_TRSF_SEAMLESS_CUBEMAP;

/// A description as the client gave it, kept to be asked for.
#[derive(Debug)]
struct Kept(CUDA_RESOURCE_DESC);

// SAFETY: its pointers are handles, which are numbers here.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}

/// A texture object.
#[derive(Debug)]
pub(super) struct Texture {
    pub(super) context: Arc<Context>,
    resource: Kept,
    sampling: CUDA_TEXTURE_DESC,
    view: CUDA_RESOURCE_VIEW_DESC,
    object: Arc<Object>,
}

/// A surface object.
#[derive(Debug)]
pub(super) struct Surface {
    pub(super) context: Arc<Context>,
    resource: Kept,
    object: Arc<Object>,
}

/// What kernels find under a handle.
pub(super) fn find(handle: u64, surface: bool) -> texture::Handle {
    fn among<T>(table: &Table<T>, handle: u64, object: impl Fn(&T) -> &Arc<Object>) -> texture::Handle {
        let Ok(handle) = usize::try_from(handle) else { return texture::Handle::Unknown };
        match table.get(handle) {
            Some(found) => texture::Handle::Live(Arc::clone(object(&found))),
            None if table.was_given(handle) => texture::Handle::Destroyed,
            None => texture::Handle::Unknown,
        }
    }
    match surface {
        true => among(&emulator().surfaces, handle, |surface| &surface.object),
        false => among(&emulator().textures, handle, |texture| &texture.object),
    }
}

/// What an object is made on.
struct Resource {
    format: Format,
    shape: Shape,
    levels: Vec<Level>,
    linear_memory: bool,
}

impl Resource {
    fn of_array(array: &Array) -> Self {
        Self {
            format: array.format,
            shape: array.engine_shape(),
            levels: vec![array.level()],
            linear_memory: false,
        }
    }

    fn in_memory(format: Format, dimensions: u32, level: Level) -> Self {
        let shape = Shape { dimensions, layered: false, cube: false };
        Self { format, shape, levels: vec![level], linear_memory: true }
    }

    /// Checks a description; no resource where its kind is known and nothing but textures take it.
    fn find(described: &CUDA_RESOURCE_DESC) -> Answer<Self> {
        ensure(described.flags == 0, INVALID_VALUE)?;
        match described.resType {
            CUresourcetype::CU_RESOURCE_TYPE_ARRAY => {
                // SAFETY: the kind says that this is the member; any bits are a handle.
                let array = Array::find(unsafe { described.res.array }.hArray);
                Ok(Self::of_array(&*array.map_err(|_| INVALID_VALUE)?))
            }
            CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY => {
                // SAFETY: as above.
                let mipmap = Mipmap::find(unsafe { described.res.mipmap }.hMipmappedArray);
                let levels = mipmap.map_err(|_| INVALID_VALUE)?.levels();
                let first = levels.first().ok_or(INVALID_VALUE)?;
                let levels = levels.iter().map(|level| level.level()).collect();
                Ok(Self { levels, ..Self::of_array(first) })
            }
            CUresourcetype::CU_RESOURCE_TYPE_LINEAR => {
                // SAFETY: as above; any bits are numbers.
                let memory = unsafe { described.res.linear };
                let format = texel_format::of_array(memory.format, memory.numChannels)?;
                ensure(memory.devPtr != 0 && memory.devPtr % ALIGNMENT == 0, INVALID_VALUE)?;
                let texels = memory.sizeInBytes as u64 / u64::from(format.bytes());
                let width = u32::try_from(texels.min(longest_line(format))).map_err(|_| INVALID_VALUE)?;
                let bytes = u64::from(width) * u64::from(format.bytes());
                let size = [width, 1, 1];
                let level = Level { address: memory.devPtr, size, pitch: bytes, slice: bytes };
                Ok(Self::in_memory(format, 1, level))
            }
            CUresourcetype::CU_RESOURCE_TYPE_PITCH2D => {
                // SAFETY: as above.
                let memory = unsafe { described.res.pitch2D };
                let format = texel_format::of_array(memory.format, memory.numChannels)?;
                let pitch = memory.pitchInBytes as u64;
                let aligned = memory.devPtr % ALIGNMENT == 0 && pitch % PITCH_ALIGNMENT == 0;
                ensure(memory.devPtr != 0 && aligned && pitch <= LINEAR_PITCH, INVALID_VALUE)?;
                ensure(memory.width <= WIDTH && memory.height <= LINEAR_HEIGHT, INVALID_VALUE)?;
                let size = [memory.width as u32, memory.height as u32, 1];
                let slice = pitch * memory.height as u64;
                Ok(Self::in_memory(format, 2, Level { address: memory.devPtr, size, pitch, slice }))
            }
            _ => Err(INVALID_VALUE),
        }
    }

    /// Reads the resource as a view says. Linear memory has none: what is said of it is ignored.
    fn viewed(mut self, view: &mut CUDA_RESOURCE_VIEW_DESC) -> Answer<Self> {
        if self.linear_memory {
            *view = CUDA_RESOURCE_VIEW_DESC::zeroed();
            return Ok(self);
        }
        let blocks = CUresourceViewFormat::CU_RES_VIEW_FORMAT_UNSIGNED_BC1.0
            ..=CUresourceViewFormat::CU_RES_VIEW_FORMAT_UNSIGNED_BC7.0;
        if blocks.contains(&view.format.0) && self.format.bytes() >= 8 {
            return Err(NOT_SUPPORTED);
        }
        let format = texel_format::of_view(view.format)?;
        ensure(format.bytes() == self.format.bytes(), INVALID_VALUE)?;
        let [width, height, slices] = self.levels.first().map_or([0; 3], |level| level.size);
        let height = if self.shape.dimensions == 1 { 0 } else { height };
        let depth =
            if self.shape.dimensions == 3 || self.shape.layered || self.shape.cube { slices } else { 0 };
        let sides = [view.width, view.height, view.depth];
        ensure(sides == [width, height, depth].map(|side| side as usize), INVALID_VALUE)?;
        // Drivers take a last one that is one too many.
        let within = |first: u32, last: u32, count: u32| first <= last && last <= count && first < count;
        let layers = if self.shape.layered { slices } else { 0 };
        let levels = self.levels.len() as u32;
        let no_layers = (view.firstLayer, view.lastLayer) == (0, 0);
        ensure(no_layers || within(view.firstLayer, view.lastLayer, layers), INVALID_VALUE)?;
        let only_level = (view.firstMipmapLevel, view.lastMipmapLevel) == (0, 0);
        let has_levels =
            only_level || levels > 1 && within(view.firstMipmapLevel, view.lastMipmapLevel, levels);
        ensure(has_levels, INVALID_VALUE)?;
        self.format = format;
        let last = (view.lastMipmapLevel + 1).min(levels) as usize;
        self.levels = self.levels[view.firstMipmapLevel as usize..last].to_vec();
        if self.shape.layered {
            for level in &mut self.levels {
                level.address += u64::from(view.firstLayer) * level.slice;
                level.size[2] = (view.lastLayer + 1).min(layers) - view.firstLayer;
            }
        }
        Ok(self)
    }

    fn object(self, sampler: Option<Sampler>) -> Arc<Object> {
        Arc::new(Object {
            format: self.format,
            shape: self.shape,
            levels: self.levels,
            sampler,
            linear_memory: self.linear_memory,
        })
    }
}

/// Texels of the longest texture of one dimension in linear memory.
fn longest_line(format: Format) -> u64 {
    (1 << 30).min((1 << 32) / u64::from(format.bytes()))
}

fn sampler(sampling: &CUDA_TEXTURE_DESC, shape: Shape) -> Answer<Sampler> {
    ensure(sampling.flags & !SAMPLING_FLAGS == 0 && sampling.reserved == [0; 12], INVALID_VALUE)?;
    let has = |flag| sampling.flags & flag != 0;
    ensure(!has(CU_TRSF_SEAMLESS_CUBEMAP) || shape.cube, INVALID_VALUE)?;
    let linear = |filter| match filter {
        CUfilter_mode::CU_TR_FILTER_MODE_POINT => Ok(false),
        CUfilter_mode::CU_TR_FILTER_MODE_LINEAR => Ok(true),
        _ => Err(INVALID_VALUE),
    };
    let mut modes = [AddressMode::Clamp; 3];
    for (axis, (to, mode)) in (0..).zip(modes.iter_mut().zip(sampling.addressMode)) {
        *to = match mode {
            CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP => AddressMode::Wrap,
            CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP => AddressMode::Clamp,
            CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR => AddressMode::Mirror,
            CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER => AddressMode::Border,
            _ if axis >= shape.dimensions => AddressMode::Clamp,
            _ => return Err(INVALID_VALUE),
        };
    }
    Ok(Sampler {
        modes,
        linear: linear(sampling.filterMode)?,
        normalized: has(CU_TRSF_NORMALIZED_COORDINATES),
        integer: has(CU_TRSF_READ_AS_INTEGER),
        srgb: has(CU_TRSF_SRGB),
        seamless: has(CU_TRSF_SEAMLESS_CUBEMAP),
        mip_linear: linear(sampling.mipmapFilterMode)?,
        anisotropy: sampling.maxAnisotropy,
        steep: !has(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION),
        bias: sampling.mipmapLevelBias,
        least: sampling.minMipmapLevelClamp,
        most: sampling.maxMipmapLevelClamp,
        border: sampling.borderColor,
    })
}

fn create_texture(
    call: &Call,
    resource: CUDA_RESOURCE_DESC,
    sampling: CUDA_TEXTURE_DESC,
    view: Option<CUDA_RESOURCE_VIEW_DESC>,
) -> Answer<usize> {
    let context = call.context()?;
    let found = Resource::find(&resource)?;
    let sampler = sampler(&sampling, found.shape)?;
    let mut kept = view.unwrap_or(CUDA_RESOURCE_VIEW_DESC::zeroed());
    let viewed = if view.is_some() { found.viewed(&mut kept)? } else { found };
    let object = viewed.object(Some(sampler));
    Ok(emulator().textures.insert(Texture {
        context,
        resource: Kept(resource),
        sampling,
        view: kept,
        object,
    }))
}

fn create_surface(call: &Call, resource: CUDA_RESOURCE_DESC) -> Answer<usize> {
    let context = call.context()?;
    ensure(resource.resType == CUresourcetype::CU_RESOURCE_TYPE_ARRAY, INVALID_VALUE)?;
    let object = Resource::find(&resource)?.object(None);
    Ok(emulator().surfaces.insert(Surface { context, resource: Kept(resource), object }))
}

/// An object that a question is about.
fn object_of<T>(table: &Table<T>, handle: u64) -> Answer<Arc<T>> {
    let handle = usize::try_from(handle).map_err(|_| INVALID_VALUE)?;
    table.get(handle).ok_or(INVALID_VALUE)
}

/// Drivers take any number where an object is to be destroyed.
fn destroy<T>(table: &Table<T>, handle: u64) {
    if let Ok(handle) = usize::try_from(handle) {
        drop(table.remove(handle));
    }
}

calls! {
    fn cuTexObjectCreate(
        call,
        pTexObject: Out<u64>,
        pResDesc: In<CUDA_RESOURCE_DESC>,
        pTexDesc: In<CUDA_TEXTURE_DESC>,
        pResViewDesc: In<CUDA_RESOURCE_VIEW_DESC>,
    ) {
        pTexObject.check()?;
        let view = if pResViewDesc.is_null() { None } else { Some(pResViewDesc.get()?) };
        pTexObject.set(create_texture(call, pResDesc.get()?, pTexDesc.get()?, view)? as u64)
    }

    fn cuTexObjectDestroy(_call, texObject: u64) {
        destroy(&emulator().textures, texObject);
        Ok(())
    }

    fn cuTexObjectGetResourceDesc(_call, pResDesc: Out<CUDA_RESOURCE_DESC>, texObject: u64) {
        pResDesc.set(object_of(&emulator().textures, texObject)?.resource.0)
    }

    fn cuTexObjectGetTextureDesc(_call, pTexDesc: Out<CUDA_TEXTURE_DESC>, texObject: u64) {
        pTexDesc.set(object_of(&emulator().textures, texObject)?.sampling)
    }

    fn cuTexObjectGetResourceViewDesc(
        _call,
        pResViewDesc: Out<CUDA_RESOURCE_VIEW_DESC>,
        texObject: u64,
    ) {
        pResViewDesc.set(object_of(&emulator().textures, texObject)?.view)
    }

    fn cuSurfObjectCreate(call, pSurfObject: Out<u64>, pResDesc: In<CUDA_RESOURCE_DESC>) {
        pSurfObject.check()?;
        pSurfObject.set(create_surface(call, pResDesc.get()?)? as u64)
    }

    fn cuSurfObjectDestroy(_call, surfObject: u64) {
        destroy(&emulator().surfaces, surfObject);
        Ok(())
    }

    fn cuSurfObjectGetResourceDesc(_call, pResDesc: Out<CUDA_RESOURCE_DESC>, surfObject: u64) {
        pResDesc.set(object_of(&emulator().surfaces, surfObject)?.resource.0)
    }

    fn cuDeviceGetTexture1DLinearMaxWidth(
        _call,
        maxWidthInElements: Out<usize>,
        format: CUarray_format,
        numChannels: u32,
        dev: i32,
    ) {
        device::check(dev)?;
        let format = texel_format::of_array(format, numChannels)?;
        maxWidthInElements.set(longest_line(format) as usize)
    }
}
