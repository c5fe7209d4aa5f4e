//! Devices: the selected one, properties and limits, and the end of a context.

use core::ffi::c_char;
use core::mem::offset_of;
use core::ptr::{self, NonNull};
use core::slice;

use cuprum_sys::{
    CUatomicOperation, CUctx_flags, CUdevice_P2PAttribute, CUdevice_attribute,
    CUflushGPUDirectRDMAWritesScope, CUflushGPUDirectRDMAWritesTarget, CUfunc_cache, CUlimit, CUsharedconfig,
    Fns, StreamMode,
};

use crate::driver;
use crate::error::{Result, check, cudaError};
use crate::exported::{calls, put};
use crate::properties::{BYTES_OF_11, cudaDeviceProp_12, cudaDeviceProp_13};
use crate::state::device;

/// Bit that marks the flags passed to `cudaInitDevice` as valid.
const FLAGS_ARE_VALID: u32 = 1;

calls! {
    fn cudaGetDeviceCount[](count: *mut i32) {
        let counted = driver::fns(StreamMode::Legacy).and_then(device::count);
        // SAFETY: the caller's output.
        unsafe { put(count, *counted.as_ref().unwrap_or(&0)) }?;
        match counted? {
            0 => Err(cudaError::cudaErrorNoDevice),
            _ => Ok(()),
        }
    }

    fn cudaGetDevice[](device: *mut i32) {
        let current = device::device(driver::fns(StreamMode::Legacy)?)?;
        // SAFETY: the caller's output.
        unsafe { put(device, current) }
    }

    fn cudaSetDevice[](device: i32) {
        device::choose(device)
    }

    fn cudaSetValidDevices[](devices: *mut i32, number: i32) {
        let number = usize::try_from(number).map_err(|_| cudaError::cudaErrorInvalidValue)?;
        if number > 0 && devices.is_null() {
            return Err(cudaError::cudaErrorInvalidValue);
        }
        let devices = if number == 0 { NonNull::dangling().as_ptr() } else { devices };
        // SAFETY: the caller's list of this length.
        device::prefer(unsafe { slice::from_raw_parts(devices, number) })
    }

    fn cuprum_12_cudaChooseDevice[](device: *mut i32, properties: *const cudaDeviceProp_12) {
        if properties.is_null() {
            return Err(cudaError::cudaErrorInvalidValue);
        }
        // The caller's struct may be as short as in CUDA 11, so only fields are read.
        let begin = properties.cast::<u8>();
        let number = |offset: usize| {
            let place = begin.wrapping_add(offset).cast::<i32>();
            // SAFETY: a field of the caller's struct, within the part that CUDA 11 also had.
            unsafe { place.read() }
        };
        let (major, minor) = (number(offset_of!(cudaDeviceProp_12, major)), number(offset_of!(cudaDeviceProp_12, minor)));
        let memory = begin.wrapping_add(offset_of!(cudaDeviceProp_12, totalGlobalMem)).cast::<usize>();
        // SAFETY: likewise.
        let memory = unsafe { memory.read() };
        // SAFETY: the caller's output.
        unsafe { put(device, best_device(major, minor, memory)?) }
    }

    fn cuprum_13_cudaChooseDevice[](device: *mut i32, properties: *const cudaDeviceProp_13) {
        // SAFETY: the caller's struct, or null.
        let wanted = unsafe { properties.as_ref() }.ok_or(cudaError::cudaErrorInvalidValue)?;
        // SAFETY: the caller's output.
        unsafe { put(device, best_device(wanted.major, wanted.minor, wanted.totalGlobalMem)?) }
    }

    fn cudaInitDevice[](device: i32, deviceFlags: u32, flags: u32) {
        let fns = driver::fns(StreamMode::Legacy)?;
        device::check_device(fns, device)?;
        match flags {
            0 => {}
            FLAGS_ARE_VALID => set_flags(fns, device, deviceFlags)?,
            _ => return Err(cudaError::cudaErrorInvalidValue),
        }
        device::primary(fns, device).map(drop)
    }

    fn cudaSetDeviceFlags[](flags: u32) {
        let fns = driver::fns(StreamMode::Legacy)?;
        set_flags(fns, device::device(fns)?, flags)
    }

    fn cudaGetDeviceFlags[](flags: *mut u32) {
        let fns = driver::fns(StreamMode::Legacy)?;
        // SAFETY: the caller's output.
        unsafe { put(flags, get_flags(fns)?) }
    }

    fn cudaDeviceSynchronize[]() => cuCtxSynchronize();

    fn cudaDeviceReset[]() {
        device::reset()
    }

    fn cudaDeviceGetAttribute[](value: *mut i32, attribute: CUdevice_attribute, device: i32)
        -> cuDeviceGetAttribute(value, attribute, device);

    fn cuprum_12_cudaGetDeviceProperties[](properties: *mut u8, device: i32) {
        let found = properties_12(device)?;
        if properties.is_null() {
            return Err(cudaError::cudaErrorInvalidValue);
        }
        // SAFETY: the caller's struct has the layout of CUDA 11, which is a prefix of the layout of
        // CUDA 12.
        unsafe { ptr::copy_nonoverlapping(ptr::from_ref(&found).cast(), properties, BYTES_OF_11) };
        Ok(())
    }

    fn cudaGetDeviceProperties_v2[](properties: *mut cudaDeviceProp_12, device: i32) {
        // SAFETY: the caller's output.
        unsafe { put(properties, properties_12(device)?) }
    }

    fn cuprum_13_cudaGetDeviceProperties[](properties: *mut cudaDeviceProp_13, device: i32) {
        let fns = driver::fns(StreamMode::Legacy)?;
        device::check_device(fns, device)?;
        // SAFETY: the caller's output.
        unsafe { put(properties, cudaDeviceProp_13::of(fns, device)?) }
    }

    fn cudaDeviceGetByPCIBusId[](device: *mut i32, id: *const c_char) -> cuDeviceGetByPCIBusId(device, id);

    fn cudaDeviceGetPCIBusId[](id: *mut c_char, len: i32, device: i32) -> cuDeviceGetPCIBusId(id, len, device);

    fn cudaDeviceGetP2PAttribute[](value: *mut i32, attribute: CUdevice_P2PAttribute, source: i32, target: i32)
        -> cuDeviceGetP2PAttribute(value, attribute, source, target);

    fn cudaDeviceSetLimit[](limit: CUlimit, value: usize) => cuCtxSetLimit(limit, value);

    fn cudaDeviceGetLimit[](value: *mut usize, limit: CUlimit) => cuCtxGetLimit(value, limit);

    fn cudaDeviceSetCacheConfig[](config: CUfunc_cache) => cuCtxSetCacheConfig(config);

    fn cudaDeviceGetCacheConfig[](config: *mut CUfunc_cache) => cuCtxGetCacheConfig(config);

    fn cudaDeviceSetSharedMemConfig[](config: CUsharedconfig) => cuCtxSetSharedMemConfig(config);

    fn cudaDeviceGetSharedMemConfig[](config: *mut CUsharedconfig) => cuCtxGetSharedMemConfig(config);

    fn cudaDeviceGetStreamPriorityRange[](least: *mut i32, greatest: *mut i32)
        => cuCtxGetStreamPriorityRange(least, greatest);

    fn cudaCtxResetPersistingL2Cache[]() => cuCtxResetPersistingL2Cache();

    fn cudaDeviceFlushGPUDirectRDMAWrites[](
        target: CUflushGPUDirectRDMAWritesTarget,
        scope: CUflushGPUDirectRDMAWritesScope,
    ) => cuFlushGPUDirectRDMAWrites(target, scope);

    fn cudaDeviceCanAccessPeer[](answer: *mut i32, device: i32, peer: i32) -> cuDeviceCanAccessPeer(answer, device, peer);

    fn cudaDeviceEnablePeerAccess[](peer: i32, flags: u32) |here| {
        device::check_device(here.fns, peer)?;
        let peer = device::primary(here.fns, peer)?;
        // SAFETY: a context that is never released.
        check(unsafe { (here.fns.cuCtxEnablePeerAccess)(peer, flags) })
    }

    fn cudaDeviceDisablePeerAccess[](peer: i32) |here| {
        device::check_device(here.fns, peer)?;
        let peer = device::primary(here.fns, peer)?;
        // SAFETY: a context that is never released.
        check(unsafe { (here.fns.cuCtxDisablePeerAccess)(peer) })
    }

    fn cudaDeviceGetHostAtomicCapabilities[](
        capabilities: *mut u32,
        operations: *const CUatomicOperation,
        count: u32,
        device: i32,
    ) -> cuDeviceGetHostAtomicCapabilities(capabilities, operations, count, device);

    fn cudaDeviceGetP2PAtomicCapabilities[](
        capabilities: *mut u32,
        operations: *const CUatomicOperation,
        count: u32,
        source: i32,
        target: i32,
    ) -> cuDeviceGetP2PAtomicCapabilities(capabilities, operations, count, source, target);

    fn cudaProfilerStart[]() => cuProfilerStart();

    fn cudaProfilerStop[]() => cuProfilerStop();
}

/// Returns the first device with this capability and memory (zeros match all), else device 0.
fn best_device(major: i32, minor: i32, memory: usize) -> Result<i32> {
    let fns = driver::fns(StreamMode::Legacy)?;
    let mut devices = 0..device::count(fns)?;
    let fits = |device: &i32| {
        cudaDeviceProp_13::of(fns, *device)
            .is_ok_and(|found| (found.major, found.minor) >= (major, minor) && found.totalGlobalMem >= memory)
    };
    Ok(devices.find(fits).unwrap_or(0))
}

fn properties_12(device: i32) -> Result<cudaDeviceProp_12> {
    let fns = driver::fns(StreamMode::Legacy)?;
    device::check_device(fns, device)?;
    cudaDeviceProp_12::of(fns, device)
}

/// Sets how the primary context of a device waits.
fn set_flags(fns: &Fns, device: i32, flags: u32) -> Result {
    // The runtime's contexts always map host memory, without a flag in the driver.
    let flags = flags & !CUctx_flags::CU_CTX_MAP_HOST.0;
    // SAFETY: numbers, which the driver checks.
    check(unsafe { (fns.cuDevicePrimaryCtxSetFlags_v2)(device, flags) })
}

/// Returns the flags of the current context, or of the primary one for the next call.
fn get_flags(fns: &Fns) -> Result<u32> {
    let (mut flags, mut active) = (0, 0);
    let current = device::current(fns)?;
    if !current.is_null() && !device::is_primary(current) {
        // SAFETY: a valid output.
        check(unsafe { (fns.cuCtxGetFlags)(&mut flags) })?;
        return Ok(flags);
    }
    let device = device::device(fns)?;
    // SAFETY: valid outputs.
    check(unsafe { (fns.cuDevicePrimaryCtxGetState)(device, &mut flags, &mut active) })?;
    Ok(flags | CUctx_flags::CU_CTX_MAP_HOST.0)
}
