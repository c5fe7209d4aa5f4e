//! Stream-ordered memory and its pools.

use core::ffi::c_void;

use cuprum_sys::{
    CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationHandleType, CUmemLocation,
    CUmemPool_attribute, CUmemPoolProps, CUmemPoolPtrExportData, CUmemoryPool, CUstream,
};

use crate::error::check;
use crate::exported::{calls, put};

calls! {
    fn cudaMallocAsync[ptsz](address: *mut *mut c_void, size: usize, stream: CUstream) |here| {
        if size == 0 {
            // SAFETY: the caller's output.
            return unsafe { put(address, core::ptr::null_mut()) };
        }
        // SAFETY: the caller's output, which has room for an address.
        check(unsafe { (here.fns.cuMemAllocAsync)(address.cast::<CUdeviceptr>(), size, stream) })
    }

    fn cudaMallocFromPoolAsync[ptsz](address: *mut *mut c_void, size: usize, pool: CUmemoryPool, stream: CUstream) |here| {
        if size == 0 {
            // SAFETY: the caller's output.
            return unsafe { put(address, core::ptr::null_mut()) };
        }
        // SAFETY: the caller's output, which has room for an address.
        check(unsafe { (here.fns.cuMemAllocFromPoolAsync)(address.cast::<CUdeviceptr>(), size, pool, stream) })
    }

    fn cudaFreeAsync[ptsz](address: *mut c_void, stream: CUstream) |here| {
        if address.is_null() {
            return Ok(());
        }
        // SAFETY: the driver checks the address.
        check(unsafe { (here.fns.cuMemFreeAsync)(address as CUdeviceptr, stream) })
    }

    fn cudaDeviceGetDefaultMemPool[](pool: *mut CUmemoryPool, device: i32) => cuDeviceGetDefaultMemPool(pool, device);

    fn cudaDeviceGetMemPool[](pool: *mut CUmemoryPool, device: i32) => cuDeviceGetMemPool(pool, device);

    fn cudaDeviceSetMemPool[](device: i32, pool: CUmemoryPool) => cuDeviceSetMemPool(device, pool);

    fn cudaMemPoolCreate[](pool: *mut CUmemoryPool, properties: *const CUmemPoolProps) => cuMemPoolCreate(pool, properties);

    fn cudaMemPoolDestroy[](pool: CUmemoryPool) => cuMemPoolDestroy(pool);

    fn cudaMemPoolTrimTo[](pool: CUmemoryPool, keep: usize) => cuMemPoolTrimTo(pool, keep);

    fn cudaMemPoolSetAttribute[](pool: CUmemoryPool, attribute: CUmemPool_attribute, value: *mut c_void)
        => cuMemPoolSetAttribute(pool, attribute, value);

    fn cudaMemPoolGetAttribute[](pool: CUmemoryPool, attribute: CUmemPool_attribute, value: *mut c_void)
        => cuMemPoolGetAttribute(pool, attribute, value);

    fn cudaMemPoolSetAccess[](pool: CUmemoryPool, accesses: *const CUmemAccessDesc, count: usize)
        => cuMemPoolSetAccess(pool, accesses, count);

    fn cudaMemPoolGetAccess[](flags: *mut CUmemAccess_flags, pool: CUmemoryPool, location: *mut CUmemLocation)
        => cuMemPoolGetAccess(flags, pool, location);

    fn cudaMemPoolExportToShareableHandle[](
        handle: *mut c_void,
        pool: CUmemoryPool,
        kind: CUmemAllocationHandleType,
        flags: u32,
    ) => cuMemPoolExportToShareableHandle(handle, pool, kind, u64::from(flags));

    fn cudaMemPoolImportFromShareableHandle[](
        pool: *mut CUmemoryPool,
        handle: *mut c_void,
        kind: CUmemAllocationHandleType,
        flags: u32,
    ) => cuMemPoolImportFromShareableHandle(pool, handle, kind, u64::from(flags));

    fn cudaMemPoolExportPointer[](data: *mut CUmemPoolPtrExportData, address: *mut c_void)
        => cuMemPoolExportPointer(data, address as CUdeviceptr);

    fn cudaMemPoolImportPointer[](address: *mut *mut c_void, pool: CUmemoryPool, data: *mut CUmemPoolPtrExportData)
        => cuMemPoolImportPointer(address.cast::<CUdeviceptr>(), pool, data);
}
