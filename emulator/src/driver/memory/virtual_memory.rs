//! Virtual memory: addresses without memory, memory without addresses, and mappings between them.

use core::ffi::c_void;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::memory::{Physical as Bytes, RegionKind};
use crate::report::LeakKind;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, OUT_OF_MEMORY, ensure};
use crate::driver::call::{In, Kind, Leaked, Out, Table, calls, not_supported};
use crate::driver::device;
use crate::driver::state::memory;

use super::pool::PRIVATE;

/// Granularity of physical memory and of mappings, in bytes.
const GRANULARITY: u64 = 2 << 20;

/// The live handles of physical memory.
static PHYSICAL: Table<Physical> = Table::new(Kind::Physical)
    .leak(LeakKind::Physical, |physical: &Physical, _| Leaked::Bytes(physical.bytes.bytes));

/// Physical memory whose handle was released while it is mapped.
static ORPHANS: Mutex<Vec<Arc<Physical>>> = Mutex::new(Vec::new());

/// Physical memory behind a handle.
#[derive(Debug)]
pub(crate) struct Physical {
    pub(crate) bytes: Bytes,
    props: CUmemAllocationProp,
    /// Uses by handles; mappings keep the bytes alive by themselves.
    users: AtomicUsize,
    /// Addresses where it is mapped.
    mapped: Mutex<HashSet<u64>>,
}

// SAFETY: the pointer in the properties is handed back to the client and not used.
unsafe impl Send for Physical {}
// SAFETY: as above.
unsafe impl Sync for Physical {}

impl Physical {
    fn find(handle: u64) -> Answer<Arc<Self>> {
        let handle = usize::try_from(handle).map_err(|_| INVALID_HANDLE)?;
        PHYSICAL.get(handle).ok_or(INVALID_VALUE)
    }

    fn mapped(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.mapped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Physical {
    fn drop(&mut self) {
        memory().discard(&self.bytes);
    }
}

fn check_props(props: &CUmemAllocationProp) -> Answer {
    let pinned = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    ensure(props.type_ == pinned, INVALID_VALUE)?;
    let on_device = props.location.type_ == CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    if !on_device {
        return Err(not_supported(
            "physical memory is made on devices only: for host memory, use cuMemHostAlloc or a pool on the host",
        ));
    }
    device::check(props.location.id)?;
    let private = props.requestedHandleTypes == CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
    if private { Ok(()) } else { Err(not_supported(PRIVATE)) }
}

/// Fails unless address and size are multiples of the granularity, and the size is not zero.
fn check_range(address: u64, bytes: usize) -> Answer {
    let whole = address % GRANULARITY == 0 && bytes as u64 % GRANULARITY == 0;
    ensure(whole && bytes > 0, INVALID_VALUE)
}

/// The start addresses of the mappings that make up a range exactly.
fn mappings(address: u64, bytes: usize) -> Answer<Vec<u64>> {
    let regions = memory().cover(address, bytes as u64).ok_or(INVALID_VALUE)?;
    let all_mapped = regions.iter().all(|region| region.kind == RegionKind::Mapped);
    let starts_there = regions.first().is_some_and(|region| region.base == address);
    let end = regions.last().map(|region| region.base + region.len);
    let ends_there = end == Some(address + bytes as u64);
    ensure(all_mapped && starts_there && ends_there, INVALID_VALUE)?;
    Ok(regions.iter().map(|region| region.base).collect())
}

calls! {
    objects PHYSICAL;

    fn cuMemAddressReserve(
        _call,
        ptr: Out<u64>,
        size: usize,
        alignment: usize,
        _addr: u64,
        flags: u64,
    ) {
        ptr.check()?;
        check_range(0, size)?;
        ensure(flags == 0 && (alignment == 0 || alignment.is_power_of_two()), INVALID_VALUE)?;
        let align = (alignment as u64).max(GRANULARITY);
        let base = memory().reserve(size as u64, align);
        ptr.set(base.map_err(|_| OUT_OF_MEMORY)?)
    }

    fn cuMemAddressFree(_call, ptr: u64, size: usize) {
        ensure(memory().release(ptr, size as u64), INVALID_VALUE)
    }

    fn cuMemCreate(_call, handle: Out<u64>, size: usize, prop: In<CUmemAllocationProp>, flags: u64) {
        handle.check()?;
        check_range(0, size)?;
        let props = prop.get()?;
        check_props(&props)?;
        ensure(flags == 0, INVALID_VALUE)?;
        let created = memory().create(size as u64, props.location.id as u32);
        let physical = Physical {
            bytes: created.map_err(|_| OUT_OF_MEMORY)?,
            props,
            users: AtomicUsize::new(1),
            mapped: Mutex::default(),
        };
        handle.set(PHYSICAL.insert(physical) as u64)
    }

    fn cuMemRelease(_call, handle: u64) {
        let physical = Physical::find(handle)?;
        if physical.users.fetch_sub(1, Ordering::AcqRel) == 1 {
            // Mappings hold the bytes; the handle is gone. Mapped memory still counts.
            let kept = !physical.mapped().is_empty();
            PHYSICAL.remove(handle as usize);
            if kept {
                let mut orphans = ORPHANS.lock().unwrap_or_else(PoisonError::into_inner);
                orphans.push(physical);
            }
        }
        Ok(())
    }

    fn cuMemMap(_call, ptr: u64, size: usize, offset: usize, handle: u64, flags: u64) {
        check_range(ptr, size)?;
        let physical = Physical::find(handle)?;
        let memory = memory();
        let reserved = memory.is_reserved(ptr, size as u64);
        ensure(flags == 0 && offset as u64 % GRANULARITY == 0 && reserved, INVALID_VALUE)?;
        // Mappings belong to no context: they outlive each.
        let region = memory.map(ptr, size as u64, &physical.bytes, offset as u64, 0);
        let region = region.map_err(|_| INVALID_VALUE)?;
        // Nobody has access before it is set.
        memory.set_writable(region.base, false);
        physical.mapped().insert(ptr);
        Ok(())
    }

    fn cuMemUnmap(_call, ptr: u64, size: usize) {
        for address in mappings(ptr, size)? {
            // Known to be there.
            let _ = memory().free(address);
            let mut orphans = ORPHANS.lock().unwrap_or_else(PoisonError::into_inner);
            orphans.retain(|physical| {
                physical.mapped().remove(&address);
                !physical.mapped().is_empty()
            });
            drop(orphans);
            PHYSICAL.for_each(|_, _, physical| {
                physical.mapped().remove(&address);
            });
        }
        Ok(())
    }

    fn cuMemSetAccess(_call, ptr: u64, size: usize, desc: In<CUmemAccessDesc>, count: usize) {
        for access in desc.get_all(count)? {
            ensure(access.flags.name().is_some(), INVALID_VALUE)?;
            let writable = access.flags == CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            for address in mappings(ptr, size)? {
                memory().set_writable(address, writable);
            }
        }
        Ok(())
    }

    fn cuMemGetAccess(_call, flags: Out<u64>, location: In<CUmemLocation>, ptr: u64) {
        flags.check()?;
        location.get()?;
        let region = memory().find(ptr).ok_or(INVALID_VALUE)?;
        ensure(region.kind == RegionKind::Mapped, INVALID_VALUE)?;
        let access = if region.writable {
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        } else {
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE
        };
        flags.set(u64::from(access.0))
    }

    fn cuMemGetAllocationGranularity(
        _call,
        granularity: Out<usize>,
        prop: In<CUmemAllocationProp>,
        option: CUmemAllocationGranularity_flags,
    ) {
        granularity.check()?;
        check_props(&prop.get()?)?;
        ensure(option.name().is_some(), INVALID_VALUE)?;
        granularity.set(GRANULARITY as usize)
    }

    fn cuMemGetAllocationPropertiesFromHandle(
        _call,
        prop: Out<CUmemAllocationProp>,
        handle: u64,
    ) {
        prop.set(Physical::find(handle)?.props)
    }

    fn cuMemRetainAllocationHandle(_call, handle: Out<u64>, addr: *mut c_void) {
        handle.check()?;
        let region = memory().find(addr.addr() as u64).ok_or(INVALID_VALUE)?;
        let mut found = None;
        PHYSICAL.for_each(|number, _, physical| {
            if physical.mapped().contains(&region.base) {
                physical.users.fetch_add(1, Ordering::AcqRel);
                found = Some(number as u64);
            }
        });
        handle.set(found.ok_or(INVALID_VALUE)?)
    }
}
