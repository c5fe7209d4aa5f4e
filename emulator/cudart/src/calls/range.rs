//! Managed memory by ranges: advice, prefetching, discarding; copies and pools by location.

use core::ffi::c_void;

use cuprum_sys::{
    CUdeviceptr, CUmem_advise, CUmemAllocationType, CUmemLocation, CUmemcpyAttributes, CUmemoryPool, CUstream,
};

use crate::exported::calls;

calls! {
    fn cuprum_12_cudaMemAdvise[](address: *const c_void, count: usize, advice: CUmem_advise, device: i32)
        => cuMemAdvise(address as CUdeviceptr, count, advice, device);

    fn cudaMemAdvise_v2[](address: *const c_void, count: usize, advice: CUmem_advise, location: CUmemLocation)
        => cuMemAdvise_v2(address as CUdeviceptr, count, advice, location);

    fn cuprum_12_cudaMemPrefetchAsync[ptsz](address: *const c_void, count: usize, device: i32, stream: CUstream)
        => cuMemPrefetchAsync(address as CUdeviceptr, count, device, stream);

    fn cudaMemPrefetchAsync_v2[ptsz](
        address: *const c_void,
        count: usize,
        location: CUmemLocation,
        flags: u32,
        stream: CUstream,
    ) => cuMemPrefetchAsync_v2(address as CUdeviceptr, count, location, flags, stream);

    fn cudaMemPrefetchBatchAsync[ptsz](
        addresses: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        locations: *mut CUmemLocation,
        indices: *mut usize,
        number: usize,
        flags: u64,
        stream: CUstream,
    ) => cuMemPrefetchBatchAsync(addresses.cast(), sizes, count, locations, indices, number, flags, stream);

    fn cudaMemDiscardBatchAsync[ptsz](
        addresses: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        flags: u64,
        stream: CUstream,
    ) => cuMemDiscardBatchAsync(addresses.cast(), sizes, count, flags, stream);

    fn cudaMemDiscardAndPrefetchBatchAsync[ptsz](
        addresses: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        locations: *mut CUmemLocation,
        indices: *mut usize,
        number: usize,
        flags: u64,
        stream: CUstream,
    ) => cuMemDiscardAndPrefetchBatchAsync(addresses.cast(), sizes, count, locations, indices, number, flags, stream);

    fn cuprum_12_cudaMemcpyBatchAsync[ptsz](
        targets: *mut *mut c_void,
        sources: *mut *mut c_void,
        sizes: *mut usize,
        count: usize,
        attributes: *mut CUmemcpyAttributes,
        indices: *mut usize,
        number: usize,
        failed: *mut usize,
        stream: CUstream,
    ) => cuMemcpyBatchAsync(targets.cast(), sources.cast(), sizes, count, attributes, indices, number, failed, stream);

    fn cuprum_13_cudaMemcpyBatchAsync[ptsz](
        targets: *const *mut c_void,
        sources: *const *const c_void,
        sizes: *const usize,
        count: usize,
        attributes: *mut CUmemcpyAttributes,
        indices: *mut usize,
        number: usize,
        stream: CUstream,
    ) => cuMemcpyBatchAsync_v2(
        targets.cast::<CUdeviceptr>().cast_mut(),
        sources.cast::<CUdeviceptr>().cast_mut(),
        sizes.cast_mut(),
        count,
        attributes,
        indices,
        number,
        stream,
    );

    fn cudaMemcpyWithAttributesAsync[ptsz](
        target: *mut c_void,
        source: *const c_void,
        size: usize,
        attributes: *mut CUmemcpyAttributes,
        stream: CUstream,
    ) => cuMemcpyWithAttributesAsync(target as CUdeviceptr, source as CUdeviceptr, size, attributes, stream);

    fn cudaMemGetDefaultMemPool[](pool: *mut CUmemoryPool, location: *mut CUmemLocation, kind: CUmemAllocationType)
        => cuMemGetDefaultMemPool(pool, location, kind);

    fn cudaMemGetMemPool[](pool: *mut CUmemoryPool, location: *mut CUmemLocation, kind: CUmemAllocationType)
        => cuMemGetMemPool(pool, location, kind);

    fn cudaMemSetMemPool[](location: *mut CUmemLocation, kind: CUmemAllocationType, pool: CUmemoryPool)
        => cuMemSetMemPool(location, kind, pool);

    fn cudaMemGetLocationInfo[](
        address: *mut c_void,
        size: usize,
        summary: usize,
        sampling: usize,
        location: *mut CUmemLocation,
    ) => cuMemGetLocationInfo(address as CUdeviceptr, size, summary, sampling, location);
}
