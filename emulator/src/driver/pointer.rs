//! What the driver knows about an address.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::memory::{Region, RegionKind};

use super::allocation::host_address;
use super::call::{Answer, Call, INVALID_VALUE, In, InMut, NOT_SUPPORTED, Out, calls, ensure};
use super::copy::is_host_kind;
use super::handle::Handle;
use super::pool::pool_of;
use super::state::emulator;

/// Writes one attribute of an address. `region` is `None` for memory that the driver does not know,
/// for which most attributes have a neutral value.
fn write_attribute(
    out: Out<c_void>,
    attribute: CUpointer_attribute,
    address: u64,
    region: Option<&Region>,
) -> Answer {
    use CUpointer_attribute as A;

    let known = region.is_some();
    let kind = region.map(|region| region.kind);
    let yes_if = |condition: bool| u8::from(condition);
    match attribute {
        A::CU_POINTER_ATTRIBUTE_CONTEXT => {
            let owner = region.map_or(0, |region| region.context as usize);
            out.cast().set(CUcontext::from_addr(owner))
        }
        A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => {
            let kind = match kind {
                Some(kind) if is_host_kind(kind) => CUmemorytype::CU_MEMORYTYPE_HOST,
                Some(RegionKind::Array) => CUmemorytype::CU_MEMORYTYPE_ARRAY,
                Some(_) => CUmemorytype::CU_MEMORYTYPE_DEVICE,
                None => CUmemorytype(0),
            };
            out.cast().set(kind)
        }
        A::CU_POINTER_ATTRIBUTE_DEVICE_POINTER => {
            let address = if known { address } else { 0 };
            out.cast().set(address)
        }
        A::CU_POINTER_ATTRIBUTE_HOST_POINTER => {
            let host = region.map_or(core::ptr::null_mut(), |region| host_address(region, address));
            if known && host.is_null() {
                return Err(INVALID_VALUE);
            }
            out.cast().set(host)
        }
        A::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS => {
            let on_device = matches!(kind, Some(RegionKind::Device | RegionKind::Managed));
            out.cast().set(u32::from(on_device))
        }
        A::CU_POINTER_ATTRIBUTE_BUFFER_ID | A::CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID => {
            out.cast().set(region.map_or(0, |region| region.id))
        }
        A::CU_POINTER_ATTRIBUTE_IS_MANAGED => out.cast().set(yes_if(kind == Some(RegionKind::Managed))),
        A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => {
            out.cast().set(region.map_or(CU_DEVICE_INVALID, |region| region.device as i32))
        }
        A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR | A::CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR => {
            out.cast().set(region.map_or(0, |region| region.base))
        }
        A::CU_POINTER_ATTRIBUTE_RANGE_SIZE | A::CU_POINTER_ATTRIBUTE_MAPPING_SIZE => {
            out.cast().set(region.map_or(0, |region| region.len as usize))
        }
        A::CU_POINTER_ATTRIBUTE_MAPPED => out.cast().set(yes_if(known)),
        A::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS => {
            // Reading and writing, the only access that there is.
            out.cast().set(if known { 3u32 } else { 0 })
        }
        A::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => out.cast().set(0u64),
        A::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => {
            let pool = region.and_then(|region| pool_of(region.base));
            out.cast().set(CUmemoryPool::from_addr(pool.unwrap_or(0)))
        }
        A::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
        | A::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
        | A::CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE => out.cast().set(yes_if(false)),
        _ => Err(INVALID_VALUE),
    }
}

/// Checks that a range is managed memory, or as large a part of one allocation.
fn managed_range(call: &Call, address: u64, bytes: usize) -> Answer {
    call.context()?;
    let region = emulator().memory.find(address).ok_or(INVALID_VALUE)?;
    let managed = region.kind == RegionKind::Managed && region.contains(address, bytes as u64);
    ensure(managed && bytes > 0, INVALID_VALUE)
}

/// Places to prefetch to, the ranges that each begins with, and their number.
type Places = (InMut<CUmemLocation>, InMut<usize>, usize);

/// Checks ranges that are to be moved or forgotten, of which nothing is seen here.
fn managed_ranges(
    call: &Call,
    stream: CUstream,
    (addresses, sizes, count): (InMut<u64>, InMut<usize>, usize),
    places: Option<Places>,
    flags: u64,
) -> Answer {
    ensure(flags == 0 && count > 0, INVALID_VALUE)?;
    call.stream(stream)?;
    if let Some((places, firsts, number)) = places {
        places.input().get_all(number)?;
        let firsts = firsts.input().get_all(number)?;
        let ascending = firsts.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = firsts.first() == Some(&0) && firsts.iter().all(|&first| first < count);
        ensure(ascending && inside, INVALID_VALUE)?;
    }
    let ranges = addresses.input().get_all(count)?.into_iter().zip(sizes.input().get_all(count)?);
    ranges.into_iter().try_for_each(|(address, bytes)| managed_range(call, address, bytes))
}

/// No advice is kept, so every attribute has the value of a range that was given none.
fn write_range_attribute(out: Out<c_void>, bytes: usize, attribute: CUmem_range_attribute) -> Answer {
    use CUmem_range_attribute as A;

    out.check()?;
    ensure(bytes >= 4 && bytes % 4 == 0, INVALID_VALUE)?;
    match attribute {
        A::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY => out.cast().set(0i32),
        A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION | A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION => {
            out.cast().set(CU_DEVICE_INVALID)
        }
        A::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY => {
            let nobody = vec![CU_DEVICE_INVALID; bytes / 4];
            out.cast().set_all(&nobody, nobody.len())
        }
        known if known.name().is_some() => Err(NOT_SUPPORTED),
        _ => Err(INVALID_VALUE),
    }
}

calls! {
    fn cuPointerGetAttribute(
        _call,
        data: Out<c_void>,
        attribute: CUpointer_attribute,
        ptr: u64,
    ) {
        data.check()?;
        let region = emulator().memory.find(ptr).ok_or(INVALID_VALUE)?;
        write_attribute(data, attribute, ptr, Some(&region))
    }

    /// An address that the driver does not know is no error here.
    fn cuPointerGetAttributes(
        _call,
        numAttributes: u32,
        attributes: InMut<CUpointer_attribute>,
        data: Out<*mut c_void>,
        ptr: u64,
    ) {
        let attributes = attributes.input().get_all(numAttributes as usize)?;
        ensure(!attributes.is_empty(), INVALID_VALUE)?;
        let region = emulator().memory.find(ptr);
        for (index, &attribute) in attributes.iter().enumerate() {
            let out = data.at(index)?;
            match write_attribute(out, attribute, ptr, region.as_ref()) {
                // Device memory has no host address; among others that is a null, not an error.
                Err(INVALID_VALUE)
                    if attribute == CUpointer_attribute::CU_POINTER_ATTRIBUTE_HOST_POINTER =>
                {
                    out.cast().set(core::ptr::null_mut::<c_void>())?;
                }
                answer => answer?,
            }
        }
        Ok(())
    }

    fn cuPointerSetAttribute(
        _call,
        value: In<c_void>,
        attribute: CUpointer_attribute,
        ptr: u64,
    ) {
        let settable = attribute == CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
        ensure(!value.is_null() && settable, INVALID_VALUE)?;
        emulator().memory.find(ptr).map(drop).ok_or(INVALID_VALUE)
    }

    /// Advice changes nothing here; its arguments are checked.
    fn cuMemAdvise(call, devPtr: u64, count: usize, advice: CUmem_advise, _device: i32) {
        ensure(advice.name().is_some(), INVALID_VALUE)?;
        managed_range(call, devPtr, count)
    }

    fn cuMemAdvise_v2(
        call,
        devPtr: u64,
        count: usize,
        advice: CUmem_advise,
        _location: CUmemLocation,
    ) {
        ensure(advice.name().is_some(), INVALID_VALUE)?;
        managed_range(call, devPtr, count)
    }

    fn cuMemPrefetchAsync(call, devPtr: u64, count: usize, _dstDevice: i32, hStream: CUstream) {
        call.stream(hStream)?;
        managed_range(call, devPtr, count)
    }

    fn cuMemPrefetchAsync_v2(
        call,
        devPtr: u64,
        count: usize,
        _location: CUmemLocation,
        flags: u32,
        hStream: CUstream,
    ) {
        ensure(flags == 0, INVALID_VALUE)?;
        call.stream(hStream)?;
        managed_range(call, devPtr, count)
    }

    fn cuMemPrefetchBatchAsync(
        call,
        dptrs: InMut<u64>,
        sizes: InMut<usize>,
        count: usize,
        prefetchLocs: InMut<CUmemLocation>,
        prefetchLocIdxs: InMut<usize>,
        numPrefetchLocs: usize,
        flags: u64,
        hStream: CUstream,
    ) {
        let places = (prefetchLocs, prefetchLocIdxs, numPrefetchLocs);
        managed_ranges(call, hStream, (dptrs, sizes, count), Some(places), flags)
    }

    fn cuMemDiscardBatchAsync(
        call,
        dptrs: InMut<u64>,
        sizes: InMut<usize>,
        count: usize,
        flags: u64,
        hStream: CUstream,
    ) {
        managed_ranges(call, hStream, (dptrs, sizes, count), None, flags)
    }

    fn cuMemDiscardAndPrefetchBatchAsync(
        call,
        dptrs: InMut<u64>,
        sizes: InMut<usize>,
        count: usize,
        prefetchLocs: InMut<CUmemLocation>,
        prefetchLocIdxs: InMut<usize>,
        numPrefetchLocs: usize,
        flags: u64,
        hStream: CUstream,
    ) {
        let places = (prefetchLocs, prefetchLocIdxs, numPrefetchLocs);
        managed_ranges(call, hStream, (dptrs, sizes, count), Some(places), flags)
    }

    fn cuMemRangeGetAttribute(
        call,
        data: Out<c_void>,
        dataSize: usize,
        attribute: CUmem_range_attribute,
        devPtr: u64,
        count: usize,
    ) {
        managed_range(call, devPtr, count)?;
        write_range_attribute(data, dataSize, attribute)
    }

    fn cuMemRangeGetAttributes(
        call,
        data: Out<*mut c_void>,
        dataSizes: InMut<usize>,
        attributes: InMut<CUmem_range_attribute>,
        numAttributes: usize,
        devPtr: u64,
        count: usize,
    ) {
        managed_range(call, devPtr, count)?;
        let sizes = dataSizes.input().get_all(numAttributes)?;
        let attributes = attributes.input().get_all(numAttributes)?;
        for (index, (&attribute, &size)) in attributes.iter().zip(&sizes).enumerate() {
            write_range_attribute(data.at(index)?, size, attribute)?;
        }
        Ok(())
    }
}
