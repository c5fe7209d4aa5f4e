//! Kernels: attributes and occupancy.

use core::ffi::{c_char, c_void};

use cuprum_sys::{CUfunc_cache, CUfunction, CUfunction_attribute, CUkernel, CUlaunchConfig};

use crate::calls::launch;
use crate::error::{Result, check, cudaError};
use crate::exported::{calls, put};
use crate::registry;
use crate::state::device::Here;
use crate::structs::{cudaFuncAttributes, cudaLaunchConfig_t};

calls! {
    fn cudaFuncGetAttributes[](attributes: *mut cudaFuncAttributes, function: *const c_void) |here| {
        let kernel = launch::kernel(&here, function)?;
        // SAFETY: the caller's output.
        unsafe { put(attributes, attributes_of(&here, kernel)?) }
    }

    fn cudaFuncSetAttribute[](function: *const c_void, attribute: CUfunction_attribute, value: i32) |here| {
        let kernel = registry::kernel(here.fns, function)?;
        let device = here.device()?;
        // SAFETY: a live kernel; the driver checks the numbers.
        check(unsafe { (here.fns.cuKernelSetAttribute)(to_driver(attribute), value, kernel, device) })
    }

    fn cudaKernelSetAttributeForDevice[](kernel: CUkernel, attribute: CUfunction_attribute, value: i32, device: i32)
        => cuKernelSetAttribute(to_driver(attribute), value, kernel, device);

    fn cudaFuncSetCacheConfig[](function: *const c_void, config: CUfunc_cache) |here| {
        let kernel = registry::kernel(here.fns, function)?;
        let device = here.device()?;
        // SAFETY: a live kernel; the driver checks the numbers.
        check(unsafe { (here.fns.cuKernelSetCacheConfig)(kernel, config, device) })
    }

    fn cudaFuncSetSharedMemConfig[](function: *const c_void, config: u32) |here| {
        // Devices of compute capability 5.0 and above have only one bank size.
        let _ = config;
        registry::kernel(here.fns, function).map(drop)
    }

    fn cudaFuncGetName[](name: *mut *const c_char, function: *const c_void) |here| {
        let kernel = registry::kernel(here.fns, function)?;
        // SAFETY: the caller's output, and a live kernel.
        check(unsafe { (here.fns.cuKernelGetName)(name, kernel) })
    }

    fn cudaFuncGetParamInfo[](function: *const c_void, index: usize, offset: *mut usize, size: *mut usize) |here| {
        let kernel = registry::kernel(here.fns, function)?;
        // SAFETY: the caller's outputs, and a live kernel.
        check(unsafe { (here.fns.cuKernelGetParamInfo)(kernel, index, offset, size) })
    }

    fn cudaFuncGetParamCount[](function: *const c_void, count: *mut usize) |here| {
        let kernel = registry::kernel(here.fns, function)?;
        // SAFETY: the caller's output, and a live kernel.
        check(unsafe { (here.fns.cuKernelGetParamCount)(kernel, count) })
    }

    fn cudaGetFuncBySymbol[](function: *mut CUfunction, symbol: *const c_void) |here| {
        let kernel = registry::kernel(here.fns, symbol)?;
        // SAFETY: the caller's output, and a live kernel.
        check(unsafe { (here.fns.cuKernelGetFunction)(function, kernel) })
    }

    fn cudaGetKernel[](kernel: *mut CUkernel, function: *const c_void) |here| {
        let found = registry::kernel(here.fns, function)?;
        // SAFETY: the caller's output.
        unsafe { put(kernel, found) }
    }

    fn __cudaGetKernel[](kernel: *mut CUkernel, function: *const c_void) |here| {
        let found = registry::kernel(here.fns, function);
        // Compiled programs check only the launch, which finds the reason by the host function.
        let unloaded = found.is_err() && registry::has_kernel(function);
        // SAFETY: the caller's output.
        unsafe { put(kernel, if unloaded { CUkernel(function.cast_mut()) } else { found? }) }?;
        found.map(drop)
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor[](blocks: *mut i32, function: *const c_void, block: i32, shared: usize) |here| {
        let kernel = callable(&here, function)?;
        // SAFETY: the caller's output, and a live kernel.
        check(unsafe { (here.fns.cuOccupancyMaxActiveBlocksPerMultiprocessor)(blocks, kernel, block, shared) })
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags[](
        blocks: *mut i32,
        function: *const c_void,
        block: i32,
        shared: usize,
        flags: u32,
    ) |here| {
        let kernel = callable(&here, function)?;
        let count = here.fns.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags;
        // SAFETY: the caller's output, and a live kernel.
        check(unsafe { count(blocks, kernel, block, shared, flags) })
    }

    fn cudaOccupancyAvailableDynamicSMemPerBlock[](size: *mut usize, function: *const c_void, blocks: i32, block: i32) |here| {
        let kernel = callable(&here, function)?;
        // SAFETY: the caller's output, and a live kernel.
        check(unsafe { (here.fns.cuOccupancyAvailableDynamicSMemPerBlock)(size, kernel, blocks, block) })
    }

    fn cudaOccupancyMaxPotentialClusterSize[](size: *mut i32, function: *const c_void, config: *const cudaLaunchConfig_t) |here| {
        let kernel = callable(&here, function)?;
        // SAFETY: the caller's struct, or null.
        let config = unsafe { config.as_ref() }.ok_or(cudaError::cudaErrorInvalidValue)?.to_driver();
        // SAFETY: the caller's output, and a live kernel.
        check(unsafe { (here.fns.cuOccupancyMaxPotentialClusterSize)(size, kernel, &config) })
    }

    fn cudaOccupancyMaxActiveClusters[](clusters: *mut i32, function: *const c_void, config: *const cudaLaunchConfig_t) |here| {
        let kernel = callable(&here, function)?;
        // SAFETY: the caller's struct, or null.
        let config = unsafe { config.as_ref() }.ok_or(cudaError::cudaErrorInvalidValue)?.to_driver();
        // SAFETY: the caller's output, and a live kernel.
        check(unsafe { (here.fns.cuOccupancyMaxActiveClusters)(clusters, kernel, &config) })
    }
}

/// Converts the number of an attribute; one differs.
fn to_driver(attribute: CUfunction_attribute) -> CUfunction_attribute {
    const SHARED_MEMORY_MODE: u32 = 16;
    match attribute.0 {
        SHARED_MEMORY_MODE => CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE,
        _ => attribute,
    }
}

/// Returns a kernel for the driver's functions that take functions: they accept a cast kernel.
pub(crate) fn callable(here: &Here, function: *const c_void) -> Result<CUfunction> {
    registry::kernel(here.fns, function).map(|kernel| CUfunction(kernel.0))
}

impl cudaLaunchConfig_t {
    /// Converts to the driver's struct, with 32 bits of shared memory, as in NVIDIA's library.
    pub(crate) fn to_driver(self) -> CUlaunchConfig {
        CUlaunchConfig {
            gridDimX: self.gridDim.x,
            gridDimY: self.gridDim.y,
            gridDimZ: self.gridDim.z,
            blockDimX: self.blockDim.x,
            blockDimY: self.blockDim.y,
            blockDimZ: self.blockDim.z,
            sharedMemBytes: self.dynamicSmemBytes as u32,
            hStream: self.stream,
            attrs: self.attrs,
            numAttrs: self.numAttrs,
        }
    }
}

/// Returns a kernel's attributes on the current device; zero for those unknown to the driver.
fn attributes_of(here: &Here, kernel: CUkernel) -> Result<cudaFuncAttributes> {
    let device = here.device()?;
    // The first one loads the kernel, so its error counts.
    let mut threads = 0;
    let first = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    // SAFETY: a valid output, and a live kernel.
    check(unsafe { (here.fns.cuKernelGetAttribute)(&mut threads, first, kernel, device) })?;
    let get = |attribute| {
        let mut value = 0;
        // SAFETY: a valid output, and a live kernel.
        let result = check(unsafe { (here.fns.cuKernelGetAttribute)(&mut value, attribute, kernel, device) });
        result.map_or(0, |()| value)
    };
    let bytes = |attribute| get(attribute) as usize;
    Ok(cudaFuncAttributes {
        sharedSizeBytes: bytes(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        constSizeBytes: bytes(CUfunction_attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
        localSizeBytes: bytes(CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        maxThreadsPerBlock: threads,
        numRegs: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS),
        ptxVersion: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION),
        binaryVersion: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION),
        cacheModeCA: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_CACHE_MODE_CA),
        maxDynamicSharedSizeBytes: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
        preferredShmemCarveout: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT),
        clusterDimMustBeSet: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET),
        requiredClusterWidth: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH),
        requiredClusterHeight: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
        requiredClusterDepth: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH),
        clusterSchedulingPolicyPreference: get(
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        ),
        nonPortableClusterSizeAllowed: get(
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
        ),
        reserved: [0; 16],
    })
}
