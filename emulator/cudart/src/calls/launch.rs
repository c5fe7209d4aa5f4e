//! Launches.

use core::ffi::c_void;

use cuprum_sys::{CUdevice_attribute, CUfunction, CUkernel, CUlaunchConfig, CUstream};

use crate::error::{Result, check, cudaError};
use crate::exported::calls;
use crate::registry;
use crate::release;
use crate::state::device::Here;
use crate::state::thread::{self, Configuration};
use crate::structs::{cudaLaunchConfig_t, dim3};

calls! {
    fn cudaLaunchKernel[ptsz](
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        shared: usize,
        stream: CUstream,
    ) |here| {
        let kernel = kernel(&here, function)?;
        launch(&here, kernel, arguments, Configuration { grid, block, shared, stream })
    }

    fn __cudaLaunchKernel[ptsz](
        kernel: CUkernel,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        shared: usize,
        stream: CUstream,
    ) |here| {
        if kernel.is_null() {
            // `__cudaGetKernel` returns this if it finds no kernel.
            return Err(cudaError::cudaErrorInvalidDeviceFunction);
        }
        let configuration = Configuration { grid, block, shared, stream };
        match launch(&here, kernel, arguments, configuration) {
            // `__cudaGetKernel` returns the host function's address if it cannot load the kernel;
            // loading again returns the reason.
            Err(cudaError::cudaErrorInvalidResourceHandle) if registry::has_kernel(kernel.0) => {
                let kernel = registry::kernel(here.fns, kernel.0)?;
                launch(&here, kernel, arguments, configuration)
            }
            result => result,
        }
    }

    fn cudaLaunchKernelExC[ptsz](config: *const cudaLaunchConfig_t, function: *const c_void, arguments: *mut *mut c_void) |here| {
        // SAFETY: the caller's struct, or null.
        let config = unsafe { config.as_ref() }.ok_or(cudaError::cudaErrorInvalidValue)?.to_driver();
        let kernel = kernel(&here, function)?;
        // SAFETY: a live kernel, and arguments that the caller guarantees.
        let result = unsafe { (here.fns.cuLaunchKernelEx)(&config, CUfunction(kernel.0), arguments, core::ptr::null_mut()) };
        check(result).map_err(|code| reason(&here, code, &config))
    }

    fn cudaLaunchCooperativeKernel[ptsz](
        function: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: *mut *mut c_void,
        shared: usize,
        stream: CUstream,
    ) |here| {
        let kernel = CUfunction(kernel(&here, function)?.0);
        let config = Configuration { grid, block, shared, stream }.to_driver();
        let launch = here.fns.cuLaunchCooperativeKernel;
        // SAFETY: a live kernel, and arguments that the caller guarantees.
        let result = unsafe {
            launch(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, config.sharedMemBytes, stream, arguments)
        };
        check(result).map_err(|code| reason(&here, code, &config))
    }

    // Returns without a change: only devices of capability 1.2 and older converted such numbers.
    fn cudaSetDoubleForDevice[](number: *mut f64) {
        let _ = number;
        Ok(())
    }

    // Likewise.
    fn cudaSetDoubleForHost[](number: *mut f64) {
        let _ = number;
        Ok(())
    }

    fn __cudaPopCallConfiguration[](grid: *mut dim3, block: *mut dim3, shared: *mut usize, stream: *mut CUstream) {
        let configuration = thread::pop()?;
        if grid.is_null() || block.is_null() || shared.is_null() || stream.is_null() {
            return Err(cudaError::cudaErrorInvalidValue);
        }
        // SAFETY: outputs of compiler-generated code.
        unsafe { grid.write(configuration.grid) };
        // SAFETY: likewise.
        unsafe { block.write(configuration.block) };
        // SAFETY: likewise.
        unsafe { shared.write(configuration.shared) };
        // SAFETY: likewise.
        unsafe { stream.write(configuration.stream) };
        Ok(())
    }
}

/// Stores the configuration between `<<<` and `>>>` for the following call. Returns 0 on success;
/// otherwise the call is skipped.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn __cudaPushCallConfiguration(
    grid: dim3,
    block: dim3,
    shared: usize,
    stream: CUstream,
) -> u32 {
    thread::record(thread::push(Configuration { grid, block, shared, stream })).0
}

/// The function above, which returns no `cudaError`.
#[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with the headers"))]
pub(crate) const OTHERS: &[crate::exported::Exported] =
    &[crate::exported::line!(__cudaPushCallConfiguration[](dim3, dim3, usize, CUstream))];

impl Configuration {
    fn to_driver(self) -> CUlaunchConfig {
        let (attrs, numAttrs) = (core::ptr::null_mut(), 0);
        let Self { grid, block, shared, stream } = self;
        cudaLaunchConfig_t {
            gridDim: grid,
            blockDim: block,
            dynamicSmemBytes: shared,
            stream,
            attrs,
            numAttrs,
        }
        .to_driver()
    }
}

/// Returns a host function's kernel. In `libcudart.so.13` other addresses are kernel handles.
pub(crate) fn kernel(here: &Here, function: *const c_void) -> Result<CUkernel> {
    registry::kernel(here.fns, function).map_err(|code| {
        let is_handle = release::is_13() && !function.is_null() && !registry::has_kernel(function);
        if is_handle { cudaError::cudaErrorInvalidResourceHandle } else { code }
    })
}

fn launch(
    here: &Here,
    kernel: CUkernel,
    arguments: *mut *mut c_void,
    configuration: Configuration,
) -> Result {
    let config = configuration.to_driver();
    let Configuration { grid, block, stream, .. } = configuration;
    let (function, shared, extra) = (CUfunction(kernel.0), config.sharedMemBytes, core::ptr::null_mut());
    let launch = here.fns.cuLaunchKernel;
    // SAFETY: a live kernel, and arguments that the caller guarantees.
    let result = unsafe {
        launch(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, arguments, extra)
    };
    check(result).map_err(|code| reason(here, code, &config))
}

/// Returns the runtime's code for a failed launch. `libcudart.so.12` has a separate code for a grid
/// or a block that no kernel supports.
#[cold]
fn reason(here: &Here, code: cudaError, config: &CUlaunchConfig) -> cudaError {
    if code != cudaError::cudaErrorInvalidValue || release::is_13() {
        return code;
    }
    let Ok(device) = here.device() else { return code };
    let fits = |size: u32, attribute| {
        let mut most = 0;
        // SAFETY: a valid output.
        let known = check(unsafe { (here.fns.cuDeviceGetAttribute)(&mut most, attribute, device) }).is_ok();
        size > 0 && (!known || i64::from(size) <= i64::from(most))
    };
    let threads = [config.blockDimX, config.blockDimY, config.blockDimZ];
    let threads = threads.into_iter().fold(1, u32::saturating_mul);
    let possible = fits(config.gridDimX, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)
        && fits(config.gridDimY, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)
        && fits(config.gridDimZ, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)
        && fits(config.blockDimX, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)
        && fits(config.blockDimY, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)
        && fits(config.blockDimZ, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)
        && fits(threads, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    if possible { code } else { cudaError::cudaErrorInvalidConfiguration }
}
