//! Texture and surface objects.

use cuprum_sys::{
    CUDA_RESOURCE_DESC, CUDA_RESOURCE_DESC_res, CUDA_RESOURCE_DESC_res_array, CUDA_RESOURCE_DESC_res_linear,
    CUDA_RESOURCE_DESC_res_mipmap, CUDA_RESOURCE_DESC_res_pitch2D, CUDA_RESOURCE_VIEW_DESC,
    CUDA_TEXTURE_DESC, CUaddress_mode, CUarray, CUdeviceptr, CUfilter_mode, CUmipmappedArray,
    CUresourceViewFormat, CUresourcetype, CUsurfObject, CUtexObject,
};

use crate::calls::array::{channels_of, format_of};
use crate::error::{Result, check, cudaError};
use crate::exported::{calls, put};
use crate::structs::{cudaChannelFormatDesc, cudaResourceDesc, cudaResourceViewDesc, cudaTextureDesc};

/// Bits of the driver's texture flags.
const READ_AS_INTEGER: u32 = 1;
const NORMALIZED_COORDINATES: u32 = 2;
const SRGB: u32 = 0x10;
const NO_TRILINEAR_OPTIMIZATION: u32 = 0x20;
const SEAMLESS_CUBEMAP: u32 = 0x40;

/// `cudaReadModeElementType`: integers are read as integers.
const ELEMENTS: u32 = 0;
/// `cudaReadModeNormalizedFloat`.
const NORMALIZED_FLOAT: u32 = 1;

calls! {
    fn cudaCreateTextureObject[](
        object: *mut CUtexObject,
        resource: *const cudaResourceDesc,
        texture: *const cudaTextureDesc,
        view: *const cudaResourceViewDesc,
    ) |here| {
        // SAFETY: the caller's struct, or null.
        let resource = unsafe { resource.as_ref() }.ok_or(cudaError::cudaErrorInvalidValue)?.to_driver()?;
        // SAFETY: likewise.
        let texture = unsafe { texture.as_ref() }.ok_or(cudaError::cudaErrorInvalidValue)?.to_driver();
        // SAFETY: likewise.
        let view = unsafe { view.as_ref() }.map(|view| view.to_driver());
        let view = view.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
        // SAFETY: the caller's output, and structs of ours.
        check(unsafe { (here.fns.cuTexObjectCreate)(object, &resource, &texture, view) })
    }

    fn cudaDestroyTextureObject[](object: CUtexObject) |here| {
        if object == 0 {
            return Ok(());
        }
        // SAFETY: the driver checks the handle.
        check(unsafe { (here.fns.cuTexObjectDestroy)(object) })
    }

    fn cudaCreateSurfaceObject[](object: *mut CUsurfObject, resource: *const cudaResourceDesc) |here| {
        // SAFETY: the caller's struct, or null.
        let resource = unsafe { resource.as_ref() }.ok_or(cudaError::cudaErrorInvalidValue)?.to_driver()?;
        // SAFETY: the caller's output, and a struct of ours.
        check(unsafe { (here.fns.cuSurfObjectCreate)(object, &resource) })
    }

    fn cudaDestroySurfaceObject[](object: CUsurfObject) |here| {
        if object == 0 {
            return Ok(());
        }
        // SAFETY: the driver checks the handle.
        check(unsafe { (here.fns.cuSurfObjectDestroy)(object) })
    }

    fn cudaGetTextureObjectResourceDesc[](resource: *mut cudaResourceDesc, object: CUtexObject) |here| {
        let mut found = CUDA_RESOURCE_DESC::zeroed();
        // SAFETY: a valid output; the driver checks the handle.
        check(unsafe { (here.fns.cuTexObjectGetResourceDesc)(&mut found, object) })?;
        let found = cudaResourceDesc::from_driver(&found)?;
        // SAFETY: the caller's output.
        unsafe { put(resource, found) }
    }

    fn cudaGetTextureObjectTextureDesc[](texture: *mut cudaTextureDesc, object: CUtexObject) |here| {
        let mut found = CUDA_TEXTURE_DESC::zeroed();
        // SAFETY: a valid output; the driver checks the handle.
        check(unsafe { (here.fns.cuTexObjectGetTextureDesc)(&mut found, object) })?;
        // SAFETY: the caller's output.
        unsafe { put(texture, cudaTextureDesc::from_driver(&found)) }
    }

    fn cudaGetTextureObjectResourceViewDesc[](view: *mut cudaResourceViewDesc, object: CUtexObject) |here| {
        let mut found = CUDA_RESOURCE_VIEW_DESC::zeroed();
        // SAFETY: a valid output; the driver checks the handle.
        check(unsafe { (here.fns.cuTexObjectGetResourceViewDesc)(&mut found, object) })?;
        // SAFETY: the caller's output.
        unsafe { put(view, cudaResourceViewDesc::from_driver(&found)) }
    }

    fn cudaGetSurfaceObjectResourceDesc[](resource: *mut cudaResourceDesc, object: CUsurfObject) |here| {
        let mut found = CUDA_RESOURCE_DESC::zeroed();
        // SAFETY: a valid output; the driver checks the handle.
        check(unsafe { (here.fns.cuSurfObjectGetResourceDesc)(&mut found, object) })?;
        let found = cudaResourceDesc::from_driver(&found)?;
        // SAFETY: the caller's output.
        unsafe { put(resource, found) }
    }
}

impl cudaResourceDesc {
    fn to_driver(self) -> Result<CUDA_RESOURCE_DESC> {
        let [first, second, third, fourth, fifth, sixth, ..] = self.res;
        let channels = |first: u64, second: u64, third: u64| cudaChannelFormatDesc {
            x: first as i32,
            y: (first >> 32) as i32,
            z: second as i32,
            w: (second >> 32) as i32,
            f: third as u32,
        };
        let res = match CUresourcetype(self.resType) {
            CUresourcetype::CU_RESOURCE_TYPE_ARRAY => {
                let hArray = CUarray(core::ptr::with_exposed_provenance_mut(first as usize));
                CUDA_RESOURCE_DESC_res { array: CUDA_RESOURCE_DESC_res_array { hArray } }
            }
            CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY => {
                let hMipmappedArray =
                    CUmipmappedArray(core::ptr::with_exposed_provenance_mut(first as usize));
                CUDA_RESOURCE_DESC_res { mipmap: CUDA_RESOURCE_DESC_res_mipmap { hMipmappedArray } }
            }
            CUresourcetype::CU_RESOURCE_TYPE_LINEAR => {
                let (format, numChannels) = format_of(&channels(second, third, fourth))?;
                let (devPtr, sizeInBytes): (CUdeviceptr, usize) = (first, fifth as usize);
                let linear = CUDA_RESOURCE_DESC_res_linear { devPtr, format, numChannels, sizeInBytes };
                CUDA_RESOURCE_DESC_res { linear }
            }
            CUresourcetype::CU_RESOURCE_TYPE_PITCH2D => {
                let (format, numChannels) = format_of(&channels(second, third, fourth))?;
                let (width, height) = (fifth as usize, sixth as usize);
                let (devPtr, pitchInBytes): (CUdeviceptr, usize) = (first, self.res[6] as usize);
                let pitch2D = CUDA_RESOURCE_DESC_res_pitch2D {
                    devPtr,
                    format,
                    numChannels,
                    width,
                    height,
                    pitchInBytes,
                };
                CUDA_RESOURCE_DESC_res { pitch2D }
            }
            _ => return Err(cudaError::cudaErrorInvalidValue),
        };
        Ok(CUDA_RESOURCE_DESC { resType: CUresourcetype(self.resType), res, flags: 0 })
    }

    fn from_driver(found: &CUDA_RESOURCE_DESC) -> Result<Self> {
        let words = |format, number| {
            let cudaChannelFormatDesc { x, y, z, w, f } = channels_of(format, number)?;
            let pair = |low: i32, high: i32| u64::from(low as u32) | u64::from(high as u32) << 32;
            Ok([pair(x, y), pair(z, w), u64::from(f)])
        };
        let res = match found.resType {
            CUresourcetype::CU_RESOURCE_TYPE_LINEAR => {
                // SAFETY: the field of this type, which the driver has written.
                let linear = unsafe { found.res.linear };
                let [a, b, c] = words(linear.format, linear.numChannels)?;
                [linear.devPtr, a, b, c, linear.sizeInBytes as u64, 0, 0]
            }
            CUresourcetype::CU_RESOURCE_TYPE_PITCH2D => {
                // SAFETY: likewise.
                let plane = unsafe { found.res.pitch2D };
                let [a, b, c] = words(plane.format, plane.numChannels)?;
                [plane.devPtr, a, b, c, plane.width as u64, plane.height as u64, plane.pitchInBytes as u64]
            }
            // SAFETY: likewise; a mipmapped array is a handle too, in the same place.
            _ => [unsafe { found.res.array }.hArray.0.expose_provenance() as u64, 0, 0, 0, 0, 0, 0],
        };
        Ok(Self { resType: found.resType.0, res })
    }
}

impl cudaTextureDesc {
    fn to_driver(self) -> CUDA_TEXTURE_DESC {
        let bit = |is: bool, bit| if is { bit } else { 0 };
        CUDA_TEXTURE_DESC {
            addressMode: self.addressMode.map(CUaddress_mode),
            filterMode: CUfilter_mode(self.filterMode),
            flags: bit(self.readMode == ELEMENTS, READ_AS_INTEGER)
                | bit(self.normalizedCoords != 0, NORMALIZED_COORDINATES)
                | bit(self.sRGB != 0, SRGB)
                | bit(self.disableTrilinearOptimization != 0, NO_TRILINEAR_OPTIMIZATION)
                | bit(self.seamlessCubemap != 0, SEAMLESS_CUBEMAP),
            maxAnisotropy: self.maxAnisotropy,
            mipmapFilterMode: CUfilter_mode(self.mipmapFilterMode),
            mipmapLevelBias: self.mipmapLevelBias,
            minMipmapLevelClamp: self.minMipmapLevelClamp,
            maxMipmapLevelClamp: self.maxMipmapLevelClamp,
            borderColor: self.borderColor,
            ..CUDA_TEXTURE_DESC::zeroed()
        }
    }

    fn from_driver(found: &CUDA_TEXTURE_DESC) -> Self {
        let has = |bit| found.flags & bit != 0;
        Self {
            addressMode: found.addressMode.map(|mode| mode.0),
            filterMode: found.filterMode.0,
            readMode: if has(READ_AS_INTEGER) { ELEMENTS } else { NORMALIZED_FLOAT },
            sRGB: has(SRGB).into(),
            borderColor: found.borderColor,
            normalizedCoords: has(NORMALIZED_COORDINATES).into(),
            maxAnisotropy: found.maxAnisotropy,
            mipmapFilterMode: found.mipmapFilterMode.0,
            mipmapLevelBias: found.mipmapLevelBias,
            minMipmapLevelClamp: found.minMipmapLevelClamp,
            maxMipmapLevelClamp: found.maxMipmapLevelClamp,
            disableTrilinearOptimization: has(NO_TRILINEAR_OPTIMIZATION).into(),
            seamlessCubemap: has(SEAMLESS_CUBEMAP).into(),
        }
    }
}

impl cudaResourceViewDesc {
    fn to_driver(self) -> CUDA_RESOURCE_VIEW_DESC {
        CUDA_RESOURCE_VIEW_DESC {
            format: CUresourceViewFormat(self.format),
            width: self.width,
            height: self.height,
            depth: self.depth,
            firstMipmapLevel: self.firstMipmapLevel,
            lastMipmapLevel: self.lastMipmapLevel,
            firstLayer: self.firstLayer,
            lastLayer: self.lastLayer,
            ..CUDA_RESOURCE_VIEW_DESC::zeroed()
        }
    }

    fn from_driver(found: &CUDA_RESOURCE_VIEW_DESC) -> Self {
        Self {
            format: found.format.0,
            width: found.width,
            height: found.height,
            depth: found.depth,
            firstMipmapLevel: found.firstMipmapLevel,
            lastMipmapLevel: found.lastMipmapLevel,
            firstLayer: found.firstLayer,
            lastLayer: found.lastLayer,
        }
    }
}
