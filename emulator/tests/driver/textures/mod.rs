//! Textures and surfaces through the driver's functions: resources, samplers, and kernels of one
//! instruction.

mod by_reference;
mod goldens;
mod recording;

use core::ffi::c_void;
use cuprum_sys::*;
use cuprum_testing::driver_calls::{self, code, ok};

#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) kind: CUresourcetype,
    pub(crate) shape: CUDA_ARRAY3D_DESCRIPTOR,
    pub(crate) levels: u32,
    /// Level after level, without gaps.
    pub(crate) texels: Vec<u8>,
}

/// A resource on the device, freed when dropped.
pub(crate) struct Memory<'r> {
    resource: &'r Resource,
    owner: Owner,
    levels: Vec<CUarray>,
    pub(crate) description: CUDA_RESOURCE_DESC,
}

enum Owner {
    Array(CUarray),
    Mipmap(CUmipmappedArray),
    Linear(CUdeviceptr),
}

impl Resource {
    pub(crate) fn array(shape: CUDA_ARRAY3D_DESCRIPTOR, texels: &[u8]) -> Self {
        let kind = CUresourcetype::CU_RESOURCE_TYPE_ARRAY;
        Resource { kind, shape, levels: 1, texels: texels.to_vec() }
    }

    fn texel_bytes(&self) -> usize {
        let channel = match self.shape.Format {
            CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8 | CUarray_format::CU_AD_FORMAT_SIGNED_INT8 => 1,
            CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32
            | CUarray_format::CU_AD_FORMAT_SIGNED_INT32
            | CUarray_format::CU_AD_FORMAT_FLOAT => 4,
            _ => 2,
        };
        channel * self.shape.NumChannels as usize
    }

    /// Returns the bytes per row, rows, and slices of a level.
    fn extent(&self, level: u32) -> [usize; 3] {
        let half = |side: usize| (side >> level).max(1);
        let layers = self.shape.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP) != 0;
        let slices = if layers { self.shape.Depth } else { half(self.shape.Depth) };
        [half(self.shape.Width) * self.texel_bytes(), half(self.shape.Height), slices]
    }

    /// Creates it. Fails with the driver's code.
    pub(crate) fn create(&self) -> Result<Memory<'_>, CUresult> {
        let mut description = CUDA_RESOURCE_DESC::zeroed();
        description.resType = self.kind;
        let mut levels = Vec::new();
        let owner = match self.kind {
            CUresourcetype::CU_RESOURCE_TYPE_ARRAY => {
                let mut array = CUarray::null();
                made(code!(cuArray3DCreate_v2(&mut array, &self.shape)))?;
                description.res.array = CUDA_RESOURCE_DESC_res_array { hArray: array };
                levels.push(array);
                Owner::Array(array)
            }
            CUresourcetype::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY => {
                let mut mipmap = CUmipmappedArray::null();
                made(code!(cuMipmappedArrayCreate(&mut mipmap, &self.shape, self.levels)))?;
                description.res.mipmap = CUDA_RESOURCE_DESC_res_mipmap { hMipmappedArray: mipmap };
                for level in 0..self.levels {
                    let mut array = CUarray::null();
                    ok!(cuMipmappedArrayGetLevel(&mut array, mipmap, level));
                    levels.push(array);
                }
                Owner::Mipmap(mipmap)
            }
            CUresourcetype::CU_RESOURCE_TYPE_LINEAR => {
                let pointer = driver_calls::alloc(self.texels.len());
                driver_calls::write(pointer, &self.texels);
                description.res.linear = CUDA_RESOURCE_DESC_res_linear {
                    devPtr: pointer,
                    format: self.shape.Format,
                    numChannels: self.shape.NumChannels,
                    sizeInBytes: self.texels.len(),
                };
                Owner::Linear(pointer)
            }
            _ => {
                let [row, rows, _] = self.extent(0);
                let (mut pointer, mut pitch) = (0, 0);
                ok!(cuMemAllocPitch_v2(&mut pointer, &mut pitch, row, rows, 16));
                for (y, texels) in self.texels.chunks(row).enumerate() {
                    driver_calls::write(pointer + (y * pitch) as u64, texels);
                }
                description.res.pitch2D = CUDA_RESOURCE_DESC_res_pitch2D {
                    devPtr: pointer,
                    format: self.shape.Format,
                    numChannels: self.shape.NumChannels,
                    width: self.shape.Width,
                    height: self.shape.Height,
                    pitchInBytes: pitch,
                };
                Owner::Linear(pointer)
            }
        };
        let memory = Memory { resource: self, owner, levels, description };
        memory.restore();
        Ok(memory)
    }
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} of {} levels, {:?}", self.kind, self.levels, self.shape)
    }
}

fn made(result: CUresult) -> Result<(), CUresult> {
    if result == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(result) }
}

impl Memory<'_> {
    /// Copies the texels to arrays and mipmapped arrays.
    pub(crate) fn restore(&self) {
        let mut rest = self.resource.texels.clone();
        for (level, array) in self.levels.iter().enumerate() {
            let extent = self.resource.extent(level as u32);
            let after = rest.split_off(extent.iter().product());
            copy(*array, extent, &mut rest, true);
            rest = after;
        }
    }

    pub(crate) fn read(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for (level, array) in self.levels.iter().enumerate() {
            let extent = self.resource.extent(level as u32);
            let mut texels = vec![0; extent.iter().product()];
            copy(*array, extent, &mut texels, false);
            all.extend(texels);
        }
        all
    }

    pub(crate) fn texture(
        &self,
        sampling: &CUDA_TEXTURE_DESC,
        view: Option<&CUDA_RESOURCE_VIEW_DESC>,
    ) -> Result<u64, CUresult> {
        let mut handle = 0;
        let view = view.map_or(core::ptr::null(), core::ptr::from_ref);
        made(code!(cuTexObjectCreate(&mut handle, &self.description, sampling, view)))?;
        Ok(handle)
    }

    pub(crate) fn surface(&self) -> Result<u64, CUresult> {
        let mut handle = 0;
        made(code!(cuSurfObjectCreate(&mut handle, &self.description)))?;
        Ok(handle)
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        let _ = match self.owner {
            Owner::Array(array) => code!(cuArrayDestroy(array)),
            Owner::Mipmap(mipmap) => code!(cuMipmappedArrayDestroy(mipmap)),
            Owner::Linear(pointer) => code!(cuMemFree_v2(pointer)),
        };
    }
}

fn copy(array: CUarray, [width, height, depth]: [usize; 3], host: &mut [u8], to_array: bool) {
    let mut copy =
        CUDA_MEMCPY3D { WidthInBytes: width, Height: height, Depth: depth, ..CUDA_MEMCPY3D::zeroed() };
    let pointer = host.as_mut_ptr().cast::<c_void>();
    if to_array {
        (copy.srcMemoryType, copy.srcHost) = (CUmemorytype::CU_MEMORYTYPE_HOST, pointer);
        (copy.srcPitch, copy.srcHeight) = (width, height);
        (copy.dstMemoryType, copy.dstArray) = (CUmemorytype::CU_MEMORYTYPE_ARRAY, array);
    } else {
        (copy.dstMemoryType, copy.dstHost) = (CUmemorytype::CU_MEMORYTYPE_HOST, pointer);
        (copy.dstPitch, copy.dstHeight) = (width, height);
        (copy.srcMemoryType, copy.srcArray) = (CUmemorytype::CU_MEMORYTYPE_ARRAY, array);
    }
    ok!(cuMemcpy3D_v2(&copy));
}

const WORDS: usize = 12;

/// Returns a kernel around an instruction, which receives the handle in `%t` and coordinates in
/// `%c0` to `%c11`, and leaves results in `%d0` to `%d3`.
pub(crate) fn kernel(name: &str, instruction: &str) -> String {
    let text = include_str!("../../../../tests/data/texture_kernel.ptx");
    text.replace("NAME", name).replace("INSTRUCTION", instruction)
}

/// Loads a module of such kernels. Fails with the driver's code.
pub(crate) fn load(kernels: impl IntoIterator<Item = String>) -> Result<CUmodule, CUresult> {
    let mut ptx = ".version 7.7\n.target sm_75\n.address_size 64\n".to_owned();
    ptx.extend(kernels);
    ptx.push('\0');
    let mut module = CUmodule::null();
    made(code!(cuModuleLoadData(&mut module, ptx.as_ptr().cast::<c_void>())))?;
    Ok(module)
}

pub(crate) fn function(module: CUmodule, name: &str) -> CUfunction {
    let name = std::ffi::CString::new(name).unwrap();
    let mut function = CUfunction::null();
    ok!(cuModuleGetFunction(&mut function, module, name.as_ptr()));
    function
}

/// Runs such a kernel with a thread per row of coordinates. Returns four results each, or the code.
pub(crate) fn run(function: CUfunction, object: u64, rows: &[Vec<u32>]) -> Result<Vec<[u32; 4]>, CUresult> {
    let mut words = vec![0u32; rows.len() * WORDS];
    for (to, row) in words.chunks_mut(WORDS).zip(rows) {
        to[..row.len()].copy_from_slice(row);
    }
    let (from, to) = (driver_calls::alloc(words.len() * 4), driver_calls::alloc(rows.len() * 16));
    driver_calls::write(from, &words);
    let count = rows.len() as u32;
    let mut arguments = [
        core::ptr::from_ref(&object).cast::<c_void>().cast_mut(),
        core::ptr::from_ref(&from).cast::<c_void>().cast_mut(),
        core::ptr::from_ref(&to).cast::<c_void>().cast_mut(),
        core::ptr::from_ref(&count).cast::<c_void>().cast_mut(),
    ];
    let arguments = arguments.as_mut_ptr();
    let stream = CUstream::null();
    let blocks = count.div_ceil(64);
    ok!(cuLaunchKernel(function, blocks, 1, 1, 64, 1, 1, 0, stream, arguments, core::ptr::null_mut()));
    made(code!(cuCtxSynchronize()))?;
    let results = driver_calls::read::<[u32; 4]>(to, rows.len());
    ok!(cuMemFree_v2(from));
    ok!(cuMemFree_v2(to));
    Ok(results)
}
