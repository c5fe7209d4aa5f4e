//! Contents of a mapped resource, copied from OpenGL and back.

use std::sync::{Arc, Mutex, PoisonError};

use cuprum_sys::*;

use crate::memory::{Region, RegionKind, Request};
use crate::opengl::{self, Format, Image, Kind};

use crate::driver::answer::{Answer, INVALID_VALUE, OUT_OF_MEMORY, ensure};
use crate::driver::context::Context;
use crate::driver::state::{memory, scheduler};
use crate::driver::texture::{Array, Levels};

use super::resource::{Resource, ResourceKind, State};

/// The contents of a resource in device memory.
#[derive(Debug)]
pub(super) struct Contents {
    region: Region,
    image: Option<Mapped>,
}

#[derive(Debug)]
struct Mapped {
    image: Image,
    levels: Levels,
    /// The layers and faces requested so far, by index and level.
    layers: Mutex<Vec<((u32, u32), usize)>>,
}

/// Fills memory whose contents are documented as undefined.
const NOTHING: u8 = 0xA5;

impl Contents {
    /// Copies a resource in, unless its contents are to be overwritten.
    pub(super) fn map(resource: &Resource, state: &State) -> Answer<Self> {
        let gl = resource.gl()?;
        let contents = match resource.kind {
            ResourceKind::Buffer { bytes } => {
                Self { region: allocate(&resource.context, bytes as u64)?, image: None }
            }
            ResourceKind::Image { target, array_flags } => {
                let image = gl.image(resource.name, target).ok_or(CUresult::CUDA_ERROR_MAP_FAILED)?;
                Self::of_image(resource, image, array_flags)?
            }
        };
        let copied = if state.is_read() {
            contents.exchange(resource, gl.as_ref(), Way::In)
        } else {
            contents.forget();
            true
        };
        if !copied {
            contents.release(&resource.context);
            return Err(CUresult::CUDA_ERROR_MAP_FAILED);
        }
        Ok(contents)
    }

    /// Copies it out, unless it was mapped for reading only.
    pub(super) fn write_back(&self, resource: &Resource, state: &State) -> Answer {
        let gl = resource.gl()?;
        let copied = !state.is_written() || self.exchange(resource, gl.as_ref(), Way::Out);
        ensure(copied, CUresult::CUDA_ERROR_UNMAP_FAILED)
    }

    fn of_image(resource: &Resource, image: Image, array_flags: u32) -> Answer<Self> {
        let context = &resource.context;
        let [width, height, slices] = image.levels.first().copied().ok_or(INVALID_VALUE)?;
        let (depth, shape) = match image.kind {
            Kind::Flat => (0, 0),
            Kind::Solid => (slices, 0),
            Kind::Layers => (slices, CUDA_ARRAY3D_LAYERED),
            Kind::Cube => (0, CUDA_ARRAY3D_CUBEMAP),
        };
        let desc = CUDA_ARRAY3D_DESCRIPTOR {
            Width: width,
            Height: height,
            Depth: depth,
            Format: format_of(image.format),
            NumChannels: image.format.channels,
            Flags: shape | array_flags,
        };
        let mut region = None;
        let mut place = |bytes| {
            let placed = allocate(context, bytes)?;
            let base = placed.base;
            region = Some(placed);
            Ok(base)
        };
        let levels = Levels::new(Arc::clone(context), desc, image.levels.len() as u32, &mut place)?;
        let layers = Mutex::default();
        let region = region.ok_or(OUT_OF_MEMORY)?;
        Ok(Self { region, image: Some(Mapped { image, levels, layers }) })
    }

    pub(super) fn buffer(&self) -> Answer<(u64, u64)> {
        ensure(self.image.is_none(), CUresult::CUDA_ERROR_NOT_MAPPED_AS_POINTER)?;
        Ok((self.region.base, self.region.len))
    }

    /// Returns the mipmapped array of an image.
    pub(super) fn mipmap(&self) -> Answer<usize> {
        let mapped = self.image.as_ref().ok_or(CUresult::CUDA_ERROR_NOT_MAPPED_AS_ARRAY)?;
        Ok(mapped.levels.handle())
    }

    pub(super) fn array(&self, index: u32, level: u32) -> Answer<usize> {
        let mapped = self.image.as_ref().ok_or(CUresult::CUDA_ERROR_NOT_MAPPED_AS_ARRAY)?;
        let array = mapped.levels.level(level).ok_or(INVALID_VALUE)?;
        if matches!(mapped.image.kind, Kind::Flat | Kind::Solid) {
            ensure(index == 0, INVALID_VALUE)?;
            return Ok(array);
        }
        let mut layers = mapped.layers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&(_, known)) = layers.iter().find(|(asked, _)| *asked == (index, level)) {
            return Ok(known);
        }
        let layer = mapped.levels.layer(level, index).ok_or(INVALID_VALUE)?;
        layers.push(((index, level), layer));
        Ok(layer)
    }

    /// Makes the contents undefined.
    fn forget(&self) {
        let bytes = usize::try_from(self.region.len).unwrap_or(0);
        // SAFETY: the region owns that many bytes, and the client does not have it yet.
        unsafe { self.region.host.write_bytes(NOTHING, bytes) };
    }

    /// Copies everything in or out. Returns false if OpenGL refuses.
    fn exchange(&self, resource: &Resource, gl: &dyn opengl::Context, way: Way) -> bool {
        let name = resource.name;
        let Some(mapped) = &self.image else {
            let mut bytes = vec![0; usize::try_from(self.region.len).unwrap_or(0)];
            return match way {
                Way::In => gl.read_buffer(name, &mut bytes) && self.rows(way, 0, 0, &mut bytes),
                Way::Out => self.rows(way, 0, 0, &mut bytes) && gl.write_buffer(name, &bytes),
            };
        };
        let image = &mapped.image;
        (0..image.levels.len()).all(|level| {
            let Some(array) = mapped.levels.array(level as u32) else { return false };
            let mut bytes = vec![0; image.bytes(level)];
            match way {
                Way::In => {
                    gl.read_level(name, image, level, &mut bytes) && self.level(way, &array, &mut bytes)
                }
                Way::Out => self.level(way, &array, &mut bytes) && gl.write_level(name, image, level, &bytes),
            }
        })
    }

    fn level(&self, way: Way, array: &Array, bytes: &mut [u8]) -> bool {
        let row = array.row_bytes() as usize;
        row > 0 && {
            let start = array.base() - self.region.base;
            bytes
                .chunks_exact_mut(row)
                .zip(0..)
                .all(|(bytes, row)| self.rows(way, start, row * array.pitch(), bytes))
        }
    }

    fn rows(&self, way: Way, start: u64, offset: u64, bytes: &mut [u8]) -> bool {
        let offset = start + offset;
        let len = bytes.len();
        if offset > self.region.len || len as u64 > self.region.len - offset {
            return false;
        }
        let place = self.region.host.wrapping_add(offset as usize);
        let (from, to) = match way {
            Way::In => (bytes.as_ptr(), place),
            Way::Out => (place.cast_const(), bytes.as_mut_ptr()),
        };
        // SAFETY: both sides have that many bytes, as checked, and do not overlap: one is a vector,
        // the other is memory that a region keeps alive. Kernels that use it now race with this
        // copy as with OpenGL.
        unsafe { core::ptr::copy_nonoverlapping(from, to, len) };
        true
    }

    /// Frees the memory after all work that may use it.
    pub(super) fn release(self, context: &Context) {
        scheduler().wait_to_free(context.handle);
        if let Some(mapped) = self.image {
            let layers = mapped.layers.into_inner().unwrap_or_else(PoisonError::into_inner);
            mapped.levels.remove(layers.into_iter().map(|(_, layer)| layer));
        }
        let _ = memory().free(self.region.base);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    In,
    Out,
}

fn allocate(context: &Context, bytes: u64) -> Answer<Region> {
    let request = Request {
        kind: RegionKind::Graphics,
        ..Request::device(bytes, context.handle as u64, context.device as u32)
    };
    memory().alloc(&request).map_err(|_| OUT_OF_MEMORY)
}

/// Returns the format of arrays with the same bits. Normalized formats of OpenGL are integers here.
fn format_of(format: Format) -> CUarray_format {
    use crate::opengl::{BYTE, HALF_FLOAT, INT, SHORT, UNSIGNED_BYTE, UNSIGNED_INT, UNSIGNED_SHORT};

    match format.channel {
        BYTE => CUarray_format::CU_AD_FORMAT_SIGNED_INT8,
        UNSIGNED_BYTE => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8,
        SHORT => CUarray_format::CU_AD_FORMAT_SIGNED_INT16,
        UNSIGNED_SHORT => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16,
        HALF_FLOAT => CUarray_format::CU_AD_FORMAT_HALF,
        INT => CUarray_format::CU_AD_FORMAT_SIGNED_INT32,
        UNSIGNED_INT => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
        _ => CUarray_format::CU_AD_FORMAT_FLOAT,
    }
}
