//! Resources of textures and surfaces: arrays, and linear memory.

use std::sync::Arc;

use cuprum_sys::*;

use crate::exec::texture::{Format, Level, Object, Sampler, Shape};

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::not_supported;
use crate::driver::device::texture_limit::{ALIGNMENT, LINEAR_HEIGHT, LINEAR_PITCH, PITCH_ALIGNMENT, WIDTH};

use super::array::Array;
use super::format;
use super::mipmap::Mipmap;

pub(super) struct Resource {
    format: Format,
    pub(super) shape: Shape,
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

    /// Checks a description. Returns no resource for a known kind that only textures accept.
    pub(super) fn find(described: &CUDA_RESOURCE_DESC) -> Answer<Self> {
        ensure(described.flags == 0, INVALID_VALUE)?;
        match described.resType {
            CUresourcetype::CU_RESOURCE_TYPE_ARRAY => {
                // SAFETY: the kind says that the client set this member; any bits are valid.
                let array = Array::find(unsafe { described.res.array }.hArray);
                Ok(Self::of_array(&*array.map_err(|_| INVALID_VALUE)?))
            }
            CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY => {
                // SAFETY: the kind says that the client set this member; any bits are valid.
                let mipmap = Mipmap::find(unsafe { described.res.mipmap }.hMipmappedArray);
                let levels = mipmap.map_err(|_| INVALID_VALUE)?.levels();
                let first = levels.first().ok_or(INVALID_VALUE)?;
                let levels = levels.iter().map(|level| level.level()).collect();
                Ok(Self { levels, ..Self::of_array(first) })
            }
            CUresourcetype::CU_RESOURCE_TYPE_LINEAR => {
                // SAFETY: the kind says that the client set this member; any bits are valid.
                let memory = unsafe { described.res.linear };
                let format = format::of_array(memory.format, memory.numChannels)?;
                ensure(memory.devPtr != 0 && memory.devPtr % ALIGNMENT == 0, INVALID_VALUE)?;
                let texels = memory.sizeInBytes as u64 / u64::from(format.bytes());
                let width = u32::try_from(texels.min(longest_line(format))).map_err(|_| INVALID_VALUE)?;
                let bytes = u64::from(width) * u64::from(format.bytes());
                let size = [width, 1, 1];
                let level = Level { address: memory.devPtr, size, pitch: bytes, slice: bytes };
                Ok(Self::in_memory(format, 1, level))
            }
            CUresourcetype::CU_RESOURCE_TYPE_PITCH2D => {
                // SAFETY: the kind says that the client set this member; any bits are valid.
                let memory = unsafe { described.res.pitch2D };
                let format = format::of_array(memory.format, memory.numChannels)?;
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

    /// Applies a view. For linear memory, the view is ignored.
    pub(super) fn viewed(mut self, view: &mut CUDA_RESOURCE_VIEW_DESC) -> Answer<Self> {
        if self.linear_memory {
            *view = CUDA_RESOURCE_VIEW_DESC::zeroed();
            return Ok(self);
        }
        let blocks = CUresourceViewFormat::CU_RES_VIEW_FORMAT_UNSIGNED_BC1.0
            ..=CUresourceViewFormat::CU_RES_VIEW_FORMAT_UNSIGNED_BC7.0;
        if blocks.contains(&view.format.0) && self.format.bytes() >= 8 {
            return Err(not_supported(
                "compressed blocks cannot be read here: decode them in a kernel, and view texels of a plain format",
            ));
        }
        let format = format::of_view(view.format)?;
        ensure(format.bytes() == self.format.bytes(), INVALID_VALUE)?;
        let [width, height, slices] = self.levels.first().map_or([0; 3], |level| level.size);
        let height = if self.shape.dimensions == 1 { 0 } else { height };
        let depth =
            if self.shape.dimensions == 3 || self.shape.layered || self.shape.cube { slices } else { 0 };
        let sides = [view.width, view.height, view.depth];
        ensure(sides == [width, height, depth].map(|side| side as usize), INVALID_VALUE)?;
        // Drivers accept a last layer that is one too high.
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

    pub(super) fn object(self, sampler: Option<Sampler>) -> Arc<Object> {
        Arc::new(Object {
            format: self.format,
            shape: self.shape,
            levels: self.levels,
            sampler,
            linear_memory: self.linear_memory,
        })
    }
}

/// Returns the maximum width of a one-dimensional texture in linear memory.
pub(super) fn longest_line(format: Format) -> u64 {
    (1 << 30).min((1 << 32) / u64::from(format.bytes()))
}
