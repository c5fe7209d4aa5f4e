//! Allocation of device, pinned and managed memory, and registration of client memory.

use core::ffi::c_void;
use core::ptr;

use cuprum_sys::*;

use crate::exec::touched::Manner;
use crate::memory::{GRANULARITY, PoolFile, Region, RegionKind, Request};
use crate::report::Use;
use crate::served;

use crate::driver::answer::{Answer, INVALID_CONTEXT, INVALID_VALUE, NOT_FOUND, OUT_OF_MEMORY, ensure};
use crate::driver::call::{Call, Out, calls};
use crate::driver::context::{CONTEXTS, Context};
use crate::driver::state::{Act, Part, captures, is_gathering, memory, note, scheduler};

use super::graph_memory::BLOCKS;
use super::leftover::LEFTOVERS;
use super::mistake::note_free;
use super::pool::{leave_pool, pool_of, will_leave_pool};
use super::returned::note_return;

const PITCH_ALIGN: usize = 512;

const HOST_FLAGS: u32 = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
const REGISTER_FLAGS: u32 = CU_MEMHOSTREGISTER_PORTABLE
    | CU_MEMHOSTREGISTER_DEVICEMAP
    | CU_MEMHOSTREGISTER_IOMEMORY
    | CU_MEMHOSTREGISTER_READ_ONLY;

fn allocate(call: &Call, bytes: usize, kind: RegionKind, flags: u32) -> Answer<Region> {
    let context = call.context_outside_captures()?;
    allocate_in(&context, bytes, kind, flags)
}

/// Page size of device memory, and of mapped host memory.
const DEVICE_PAGE: u64 = 2 << 20;

/// Allocations of up to this many bytes share pages.
const SHARES_PAGE: usize = 1 << 20;

/// Returns the alignment of an allocation, as on an H100, because clients rely on whole pages.
fn alignment(bytes: usize, kind: RegionKind) -> u64 {
    let in_pages = matches!(kind, RegionKind::Device | RegionKind::Managed | RegionKind::Pinned);
    if in_pages && bytes > SHARES_PAGE { DEVICE_PAGE } else { GRANULARITY }
}

pub(crate) fn allocate_in(context: &Context, bytes: usize, kind: RegionKind, flags: u32) -> Answer<Region> {
    ensure(bytes > 0, INVALID_VALUE)?;
    let request = Request {
        kind,
        flags,
        align: alignment(bytes, kind),
        ..Request::device(bytes as u64, context.handle as u64, context.device as u32)
    };
    let region = memory().alloc(&request).map_err(|_| OUT_OF_MEMORY)?;
    if !scheduler().is_eager() {
        LEFTOVERS.leave_in(&region);
    }
    Ok(region)
}

/// Allocates in a context, from a pool that other processes also use.
pub(crate) fn allocate_shared(context: &Context, bytes: usize, pool: &PoolFile) -> Answer<Region> {
    ensure(bytes > 0, INVALID_VALUE)?;
    let device = Request::device(bytes as u64, context.handle as u64, context.device as u32);
    let request = Request { kind: RegionKind::Pooled, ..device };
    memory().alloc_shared(pool, &request).map_err(|_| OUT_OF_MEMORY)
}

/// Removes an allocation, also from its pool.
pub(crate) fn take_away(address: u64) -> Answer {
    let region = memory().free(address).map_err(|_| INVALID_VALUE)?;
    if let Some(journal) = scheduler().journal() {
        let freed = region.neighbor(region.base, true);
        if is_gathering() {
            let parts = vec![Part::whole(freed, Manner::Write)];
            note(|| Act { parts, does: Some(Use::Frees), ..Act::default() });
        } else {
            journal.free(freed, served::call());
        }
    }
    if !scheduler().is_eager() {
        LEFTOVERS.keep(&region);
    }
    leave_pool(address, region.len);
    Ok(())
}

/// Fails if the current context is dead. Without one, there is nothing to free, as on an H200.
fn no_dead_context(call: &Call) -> Answer {
    match call.context() {
        Err(code) if code != INVALID_CONTEXT => Err(code),
        _ => Ok(()),
    }
}

/// Frees memory after all work of its own context, which may differ from the current one.
///
/// Frees pool memory immediately, as on an H100 with driver 580, even if work still uses it.
fn free(call: &Call, address: u64, kinds: &[RegionKind]) -> Answer {
    captures().forbid_unsafe()?;
    let memory = memory();
    let Some(region) = memory.find(address) else {
        note_free(address);
        return no_dead_context(call).and(Err(INVALID_VALUE));
    };
    let context = match CONTEXTS.get(region.context as usize) {
        Some(owner) => owner,
        None => call.context()?,
    };
    context.check()?;
    let block = BLOCKS.find(address);
    let is_pooled = pool_of(address).is_some() && kinds.contains(&RegionKind::Pooled);
    let ours = kinds.contains(&region.kind) || block.is_some() || is_pooled;
    if region.base != address || !ours {
        note_free(address);
        return Err(INVALID_VALUE);
    }
    if is_pooled {
        will_leave_pool(address)?;
        take_away(address)?;
        note_return();
        return context.check();
    }
    scheduler().wait_to_free(region.context as usize);
    if let Some(block) = block {
        block.release()?;
        block.vanish();
        return context.check();
    }
    take_away(address)?;
    context.check()
}

/// Finds the live host memory, pinned or registered, that contains an address.
fn host_region(pointer: *mut c_void) -> Option<Region> {
    let region = memory().find(pointer.addr() as u64)?;
    matches!(region.kind, RegionKind::Pinned | RegionKind::Registered).then_some(region)
}

/// The memory is mapped by the system instead of allocated in Rust. Clients read pages before they
/// write them, and only the system initializes them.
fn allocate_host(call: &Call, out: Out<*mut c_void>, bytes: usize, flags: u32) -> Answer {
    let context = call.context_outside_captures()?;
    out.check()?;
    ensure(flags & !HOST_FLAGS == 0, INVALID_VALUE)?;
    if bytes == 0 {
        return out.set(ptr::null_mut());
    }
    out.set(allocate_in(&context, bytes, RegionKind::Pinned, flags)?.on_host().cast())
}

fn register(call: &Call, pointer: *mut c_void, bytes: usize, flags: u32) -> Answer {
    let context = call.context_outside_captures()?;
    ensure(!pointer.is_null() && bytes > 0 && flags & !REGISTER_FLAGS == 0, INVALID_VALUE)?;
    // The memory of a host is no memory of a device, which a driver notices.
    ensure(flags & CU_MEMHOSTREGISTER_IOMEMORY == 0, INVALID_VALUE)?;
    let (handle, device) = (context.handle as u64, context.device as u32);
    let memory = memory();
    let known = memory.find(pointer.addr() as u64);
    ensure(known.is_none_or(|region| region.kind == RegionKind::Registered), INVALID_VALUE)?;
    // SAFETY: the client promises to keep the memory until it unregisters it. Unregistering waits
    // for the operations of the context.
    let registered = unsafe { memory.register(pointer.cast(), bytes as u64, handle, device, flags) };
    match registered {
        Ok(_) => Ok(()),
        Err(_) => Err(CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED),
    }
}

calls! {
    fn cuMemGetInfo_v2(call, free: Out<usize>, total: Out<usize>) {
        let context = call.context()?;
        free.check()?;
        total.check()?;
        let (used, capacity) = memory().usage(context.device as u32);
        free.set((capacity - used) as usize)?;
        total.set(capacity as usize)
    }

    fn cuMemAlloc_v2(call, dptr: Out<u64>, bytesize: usize) {
        let context = call.context_outside_captures()?;
        dptr.check()?;
        dptr.set(allocate_in(&context, bytesize, RegionKind::Device, 0)?.base)
    }

    fn cuMemAllocPitch_v2(
        call,
        dptr: Out<u64>,
        pPitch: Out<usize>,
        WidthInBytes: usize,
        Height: usize,
        ElementSizeBytes: u32,
    ) {
        dptr.check()?;
        pPitch.check()?;
        ensure(matches!(ElementSizeBytes, 4 | 8 | 16), INVALID_VALUE)?;
        let pitch = WidthInBytes.checked_next_multiple_of(PITCH_ALIGN).ok_or(INVALID_VALUE)?;
        let bytes = pitch.checked_mul(Height).ok_or(INVALID_VALUE)?;
        let region = allocate(call, bytes, RegionKind::Device, 0)?;
        pPitch.set(pitch)?;
        dptr.set(region.base)
    }

    fn cuMemAllocManaged(call, dptr: Out<u64>, bytesize: usize, flags: u32) {
        dptr.check()?;
        let global = CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0;
        let host = CUmemAttach_flags::CU_MEM_ATTACH_HOST.0;
        ensure(bytesize > 0 && (flags == global || flags == host), INVALID_VALUE)?;
        dptr.set(allocate(call, bytesize, RegionKind::Managed, flags)?.base)
    }

    /// Freeing null does nothing.
    fn cuMemFree_v2(call, dptr: u64) {
        if dptr == 0 {
            captures().forbid_unsafe()?;
            return no_dead_context(call);
        }
        free(call, dptr, &[RegionKind::Device, RegionKind::Managed, RegionKind::Pooled, RegionKind::External])
    }

    fn cuMemGetAddressRange_v2(call, pbase: Out<u64>, psize: Out<usize>, dptr: u64) {
        call.context()?;
        let region = memory().find(dptr).ok_or(NOT_FOUND)?;
        pbase.set_if_wanted(region.base);
        psize.set_if_wanted(region.len as usize);
        Ok(())
    }

    fn cuMemAllocHost_v2(call, pp: Out<*mut c_void>, bytesize: usize) {
        allocate_host(call, pp, bytesize, 0)
    }

    fn cuMemHostAlloc(call, pp: Out<*mut c_void>, bytesize: usize, Flags: u32) {
        allocate_host(call, pp, bytesize, Flags)
    }

    fn cuMemFreeHost(call, p: *mut c_void) {
        if p.is_null() {
            return call.context_outside_captures().map(drop);
        }
        free(call, p.addr() as u64, &[RegionKind::Pinned])
    }

    fn cuMemHostGetDevicePointer_v2(call, pdptr: Out<u64>, p: *mut c_void, Flags: u32) {
        pdptr.check()?;
        call.context()?;
        let region = host_region(p).filter(|_| Flags == 0).ok_or(INVALID_VALUE)?;
        let offset = p.addr() as u64 - region.on_host().addr() as u64;
        pdptr.set(region.base + offset)
    }

    fn cuMemHostGetFlags(call, pFlags: Out<u32>, p: *mut c_void) {
        pFlags.check()?;
        call.context()?;
        let region = host_region(p).ok_or(INVALID_VALUE)?;
        // All of it is mapped, and a registration for reading only is not reported.
        const REPORTED: u32 = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_WRITECOMBINED;
        pFlags.set(region.flags & REPORTED | CU_MEMHOSTALLOC_DEVICEMAP)
    }

    fn [cuMemHostRegister, cuMemHostRegister_v2](call, p: *mut c_void, bytesize: usize, Flags: u32) {
        register(call, p, bytesize, Flags)
    }

    fn cuMemHostUnregister(call, p: *mut c_void) {
        captures().forbid_unsafe()?;
        ensure(!p.is_null(), INVALID_VALUE)?;
        free(call, p.addr() as u64, &[RegionKind::Registered])
            .map_err(|code| match code {
                INVALID_VALUE if memory().find(p.addr() as u64).is_none() => {
                    CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
                }
                other => other,
            })
    }
}
