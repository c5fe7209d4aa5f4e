//! Memory and semaphores of other APIs.
//!
//! The structs have the driver's layouts, but up to CUDA 12 some end before their reserved fields.

use core::ffi::c_void;
use core::mem::offset_of;

use cuprum_sys::{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC, CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC, CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC,
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, CUdeviceptr,
    CUexternalMemory, CUexternalSemaphore, CUmipmappedArray, CUstream,
};

use crate::calls::array::description;
use crate::error::{Result, check, cudaError};
use crate::exported::calls;
use crate::release;
use crate::structs::{
    cudaExternalMemoryMipmappedArrayDesc, cudaExternalSemaphoreSignalParams_v1,
    cudaExternalSemaphoreWaitParams_v1,
};

calls! {
    fn cudaImportExternalMemory[](memory: *mut CUexternalMemory, handle: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC) |here| {
        let mut given = CUDA_EXTERNAL_MEMORY_HANDLE_DESC::zeroed();
        // SAFETY: the caller's struct, or null.
        unsafe { read(handle, offset_of!(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, reserved), &mut given) }?;
        // SAFETY: the caller's output, and a struct of ours.
        check(unsafe { (here.fns.cuImportExternalMemory)(memory, &given) })
    }

    fn cudaExternalMemoryGetMappedBuffer[](
        address: *mut *mut c_void,
        memory: CUexternalMemory,
        part: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC,
    ) |here| {
        let mut given = CUDA_EXTERNAL_MEMORY_BUFFER_DESC::zeroed();
        // SAFETY: the caller's struct, or null.
        unsafe { read(part, offset_of!(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, reserved), &mut given) }?;
        // SAFETY: the caller's output, and a struct of ours.
        check(unsafe { (here.fns.cuExternalMemoryGetMappedBuffer)(address.cast::<CUdeviceptr>(), memory, &given) })
    }

    fn cudaExternalMemoryGetMappedMipmappedArray[](
        array: *mut CUmipmappedArray,
        memory: CUexternalMemory,
        part: *const cudaExternalMemoryMipmappedArrayDesc,
    ) |here| {
        // SAFETY: the caller's struct, or null.
        let part = unsafe { part.as_ref() }.ok_or(cudaError::cudaErrorInvalidValue)?;
        let given = CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC {
            offset: part.offset,
            // SAFETY: the caller's struct.
            arrayDesc: unsafe { description(&part.formatDesc, part.extent, part.flags) }?,
            numLevels: part.numLevels,
            reserved: [0; 16],
        };
        // SAFETY: the caller's output, and a struct of ours.
        check(unsafe { (here.fns.cuExternalMemoryGetMappedMipmappedArray)(array, memory, &given) })
    }

    fn cudaDestroyExternalMemory[](memory: CUexternalMemory) => cuDestroyExternalMemory(memory);

    fn cudaImportExternalSemaphore[](
        semaphore: *mut CUexternalSemaphore,
        handle: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC,
    ) |here| {
        let mut given = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC::zeroed();
        // SAFETY: the caller's struct, or null.
        unsafe { read(handle, offset_of!(CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, reserved), &mut given) }?;
        // SAFETY: the caller's output, and a struct of ours.
        check(unsafe { (here.fns.cuImportExternalSemaphore)(semaphore, &given) })
    }

    fn cudaDeviceGetNvSciSyncAttributes[](list: *mut c_void, device: i32, flags: i32)
        => cuDeviceGetNvSciSyncAttributes(list, device, flags);

    fn cudaDestroyExternalSemaphore[](semaphore: CUexternalSemaphore) => cuDestroyExternalSemaphore(semaphore);

    fn cudaSignalExternalSemaphoresAsync_v2[ptsz](
        semaphores: *const CUexternalSemaphore,
        parameters: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
        number: u32,
        stream: CUstream,
    ) => cuSignalExternalSemaphoresAsync(semaphores, parameters, number, stream);

    fn cudaWaitExternalSemaphoresAsync_v2[ptsz](
        semaphores: *const CUexternalSemaphore,
        parameters: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
        number: u32,
        stream: CUstream,
    ) => cuWaitExternalSemaphoresAsync(semaphores, parameters, number, stream);

    fn cuprum_12_cudaSignalExternalSemaphoresAsync[ptsz](
        semaphores: *const CUexternalSemaphore,
        parameters: *const cudaExternalSemaphoreSignalParams_v1,
        number: u32,
        stream: CUstream,
    ) |here| {
        let convert = |old: &cudaExternalSemaphoreSignalParams_v1| {
            let mut new = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS::zeroed();
            new.params.fence.value = old.fence;
            new.params.nvSciSync.reserved = old.nvSciSync;
            new.params.keyedMutex.key = old.key;
            new.flags = old.flags;
            new
        };
        // SAFETY: the caller's structs, or null.
        let given = unsafe { each(parameters, number, convert) }?;
        // SAFETY: the caller's handles, and as many structs of ours.
        check(unsafe { (here.fns.cuSignalExternalSemaphoresAsync)(semaphores, given.as_ptr(), number, stream) })
    }

    fn cuprum_12_cudaWaitExternalSemaphoresAsync[ptsz](
        semaphores: *const CUexternalSemaphore,
        parameters: *const cudaExternalSemaphoreWaitParams_v1,
        number: u32,
        stream: CUstream,
    ) |here| {
        let convert = |old: &cudaExternalSemaphoreWaitParams_v1| {
            let mut new = CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS::zeroed();
            new.params.fence.value = old.fence;
            new.params.nvSciSync.reserved = old.nvSciSync;
            new.params.keyedMutex.key = old.key;
            new.params.keyedMutex.timeoutMs = old.timeoutMs;
            new.flags = old.flags;
            new
        };
        // SAFETY: the caller's structs, or null.
        let given = unsafe { each(parameters, number, convert) }?;
        // SAFETY: the caller's handles, and as many structs of ours.
        check(unsafe { (here.fns.cuWaitExternalSemaphoresAsync)(semaphores, given.as_ptr(), number, stream) })
    }
}

/// Reads the driver's struct, of which callers of CUDA 12 have only the fields before `reserved`.
///
/// # Safety
/// The pointer is null, or points to the struct of the release. Any bytes are valid for `T`.
pub(crate) unsafe fn read<T>(from: *const T, reserved: usize, to: &mut T) -> Result {
    if from.is_null() {
        return Err(cudaError::cudaErrorInvalidValue);
    }
    let bytes = if release::is_13() { size_of::<T>() } else { reserved };
    // SAFETY: readable as guaranteed by the caller, not more than the target, which is another
    // struct.
    unsafe { core::ptr::from_mut(to).cast::<u8>().copy_from_nonoverlapping(from.cast::<u8>(), bytes) };
    Ok(())
}

/// Converts `number` structs.
///
/// # Safety
/// The pointer is null, or points to that many structs.
unsafe fn each<Old, New>(old: *const Old, number: u32, convert: impl Fn(&Old) -> New) -> Result<Vec<New>> {
    if number > 0 && old.is_null() {
        return Err(cudaError::cudaErrorInvalidValue);
    }
    let one = |index| {
        // SAFETY: within the array, as guaranteed by the caller.
        convert(unsafe { &*old.wrapping_add(index) })
    };
    Ok((0..number as usize).map(one).collect())
}
