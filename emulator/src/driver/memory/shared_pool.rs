//! Pools shared by several processes: one allocates, the others open its allocations.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::memory::PoolFile;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Call, InMut, Out, calls, put_handle};
use crate::driver::device;
use crate::driver::handle::Handle;
use crate::driver::state::{captures, memory};

use super::handle_type::{FILE_DESCRIPTOR, given, taken};
use super::pool::{POOLS, Pool, join_pool, pool_of};
use super::pool_place::PoolPlace;

fn import(out: Out<CUmemoryPool>, descriptor: i32) -> Answer {
    let file = PoolFile::import(descriptor).ok_or(CUresult::CUDA_ERROR_UNKNOWN)?;
    let device = file.device() as i32;
    device::check(device)?;
    let mut pool = Pool::new(PoolPlace::Device(device), false, 0);
    pool.file = Some(file);
    put_handle(out, POOLS.insert(pool))
}

fn import_pointer(call: &Call, out: Out<u64>, handle: CUmemoryPool, data: CUmemPoolPtrExportData) -> Answer {
    let pool = Pool::find(handle)?;
    let file = pool.file.as_ref().filter(|file| file.is_imported()).ok_or(INVALID_VALUE)?;
    let context = call.context()?;
    let region = memory().import_pointer(file, &data.reserved, context.handle as u64).ok_or(INVALID_VALUE)?;
    if pool_of(region.base).is_none() {
        join_pool(region.base, region.len, handle.addr(), &pool)?;
    }
    out.set(region.base)
}

calls! {
    fn cuMemPoolExportToShareableHandle(
        _call,
        handle_out: Out<c_void>,
        pool: CUmemoryPool,
        handleType: CUmemAllocationHandleType,
        flags: u64,
    ) {
        handle_out.check()?;
        let pool = Pool::find(pool)?;
        let file = pool.file.as_ref().filter(|file| !file.is_imported()).ok_or(INVALID_VALUE)?;
        ensure(flags == 0 && handleType == FILE_DESCRIPTOR, INVALID_VALUE)?;
        given(handle_out, file.export())
    }

    /// The client keeps the descriptor.
    fn cuMemPoolImportFromShareableHandle(
        _call,
        pool_out: Out<CUmemoryPool>,
        handle: *mut c_void,
        handleType: CUmemAllocationHandleType,
        flags: u64,
    ) {
        pool_out.check()?;
        ensure(flags == 0, INVALID_VALUE)?;
        import(pool_out, taken(handle, handleType)?)
    }

    fn cuMemPoolExportPointer(_call, shareData_out: Out<CUmemPoolPtrExportData>, ptr: u64) {
        captures().forbid_unsafe()?;
        shareData_out.check()?;
        let region = memory().find(ptr).filter(|region| region.base == ptr).ok_or(INVALID_VALUE)?;
        let pool = pool_of(region.base).and_then(|pool| POOLS.get(pool)).ok_or(INVALID_VALUE)?;
        let file = pool.file.as_ref().filter(|file| !file.is_imported());
        let exported = file.and_then(|file| file.export_pointer(&region));
        shareData_out.set(CUmemPoolPtrExportData { reserved: exported.ok_or(INVALID_VALUE)? })
    }

    fn cuMemPoolImportPointer(
        call,
        ptr_out: Out<u64>,
        pool: CUmemoryPool,
        shareData: InMut<CUmemPoolPtrExportData>,
    ) {
        ptr_out.check()?;
        import_pointer(call, ptr_out, pool, shareData.input().get()?)
    }
}
