//! Attributes of addresses.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::memory::{Region, RegionKind};

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{In, InMut, Out, calls};
use crate::driver::handle::Handle;
use crate::driver::state::{captures, memory};

use super::bytes::{host_address, is_host_kind};
use super::handle_type::FILE_DESCRIPTOR;
use super::pool::{POOLS, pool_of};
use super::virtual_memory::is_exportable;

fn memory_type(kind: RegionKind) -> CUmemorytype {
    match kind {
        kind if is_host_kind(kind) => CUmemorytype::CU_MEMORYTYPE_HOST,
        RegionKind::Array => CUmemorytype::CU_MEMORYTYPE_ARRAY,
        _ => CUmemorytype::CU_MEMORYTYPE_DEVICE,
    }
}

/// Returns the types of handles that share the memory with other processes.
fn handle_types(region: &Region) -> CUmemAllocationHandleType {
    let pool = pool_of(region.base).and_then(|pool| POOLS.get(pool));
    let is_pooled = pool.is_some_and(|pool| pool.file.as_ref().is_some_and(|file| !file.is_imported()));
    if is_pooled || is_exportable(region.base) {
        FILE_DESCRIPTOR
    } else {
        CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE
    }
}

/// Returns the address for the device, 0 if there is none, as measured on an H100 with driver 580.
fn device_address(region: Option<&Region>, address: u64) -> Answer<u64> {
    ensure(region.is_none_or(|region| region.reachable), INVALID_VALUE)?;
    Ok(region.map_or(0, |_| address))
}

/// Writes one attribute of an address. `region` is `None` for memory that the driver does not know;
/// most of its attributes have a neutral value.
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
        A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => out.cast().set(kind.map_or(CUmemorytype(0), memory_type)),
        A::CU_POINTER_ATTRIBUTE_DEVICE_POINTER => out.cast().set(device_address(region, address)?),
        A::CU_POINTER_ATTRIBUTE_HOST_POINTER => {
            let host = region.map_or(core::ptr::null_mut(), |region| host_address(region, address));
            if known && host.is_null() {
                return Err(INVALID_VALUE);
            }
            out.cast().set(host)
        }
        A::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS => {
            out.cast().set(u32::from(matches!(kind, Some(RegionKind::Device | RegionKind::Managed))))
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
        // Read and write, the only access that exists.
        A::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS => out.cast().set(if known { 3u32 } else { 0 }),
        A::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => {
            let types = region.map_or(CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE, handle_types);
            out.cast().set(u64::from(types.0))
        }
        A::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => {
            let pool = region.and_then(|region| pool_of(region.base));
            out.cast().set(CUmemoryPool::from_addr(pool.unwrap_or(0)))
        }
        A::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE => {
            out.cast().set(yes_if(region.is_some_and(Region::is_shareable)))
        }
        A::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
        | A::CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE => out.cast().set(yes_if(false)),
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
        let region = memory().find(ptr).ok_or(INVALID_VALUE)?;
        write_attribute(data, attribute, ptr, Some(&region))
    }

    /// An unknown address is not an error here.
    fn cuPointerGetAttributes(
        _call,
        numAttributes: u32,
        attributes: InMut<CUpointer_attribute>,
        data: Out<*mut c_void>,
        ptr: u64,
    ) {
        let attributes = attributes.input().get_all(numAttributes as usize)?;
        ensure(!attributes.is_empty(), INVALID_VALUE)?;
        let region = memory().find(ptr);
        for (index, &attribute) in attributes.iter().enumerate() {
            let out = data.at(index)?;
            match write_attribute(out, attribute, ptr, region.as_ref()) {
                // Device memory has no host address: null in a list, not an error.
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
        captures().forbid_unsafe()?;
        let settable = attribute == CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
        ensure(!value.is_null() && settable, INVALID_VALUE)?;
        memory().find(ptr).map(drop).ok_or(INVALID_VALUE)
    }
}
