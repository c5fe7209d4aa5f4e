//! Virtual memory: reserved addresses, physical memory, and mappings between them.

use core::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::memory::{Physical as Bytes, Region, RegionKind};
use crate::ordered::Ordered;
use crate::report::LeakKind;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, OUT_OF_MEMORY, ensure};
use crate::driver::call::{In, Kind, Leaked, Out, Table, calls, not_supported};
use crate::driver::device;
use crate::driver::state::memory;

use super::handle_type::{FILE_DESCRIPTOR, check_handle_types, given, taken};

/// Granularity of physical memory and of mappings, in bytes.
const GRANULARITY: u64 = 2 << 20;

static PHYSICAL: Table<Physical> = Table::new(Kind::Physical)
    .leak(LeakKind::Physical, |physical: &Physical, _| Leaked::Bytes(physical.bytes.bytes));

/// The mappings, by first address.
static MAPPED: Mutex<Ordered<Mapping>> = Mutex::new(Ordered::new());

#[derive(Debug)]
pub(crate) struct Physical {
    pub(crate) bytes: Bytes,
    props: CUmemAllocationProp,
    /// Number of uses of the handle. Valid while the memory is mapped, as in drivers.
    users: AtomicUsize,
    mappings: AtomicUsize,
}

#[derive(Debug)]
struct Mapping {
    physical: Arc<Physical>,
    handle: usize,
    /// Access of each device; others have none. Without any, it is not usable as memory.
    access: Vec<(i32, CUmemAccess_flags)>,
}

// SAFETY: the pointer in the properties is only returned to the client.
unsafe impl Send for Physical {}
// SAFETY: as above.
unsafe impl Sync for Physical {}

impl Physical {
    /// Finds the memory of a handle that is not released, or still mapped.
    fn known(handle: u64) -> Answer<Arc<Self>> {
        let handle = usize::try_from(handle).map_err(|_| INVALID_HANDLE)?;
        PHYSICAL.get(handle).ok_or(INVALID_VALUE)
    }

    fn find(handle: u64) -> Answer<Arc<Self>> {
        let physical = Self::known(handle)?;
        ensure(physical.users.load(Ordering::Acquire) > 0, INVALID_VALUE)?;
        Ok(physical)
    }
}

impl Mapping {
    fn bytes(&self) -> u64 {
        self.physical.bytes.bytes
    }

    fn access_of(&self, device: i32) -> CUmemAccess_flags {
        let known = self.access.iter().find(|(known, _)| *known == device);
        known.map_or(CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE, |(_, access)| *access)
    }

    fn set_access(&mut self, device: i32, access: CUmemAccess_flags) {
        self.access.retain(|(known, _)| *known != device);
        self.access.push((device, access));
    }

    /// True if the host, or any device, has this access.
    fn allows(&self, on_host: bool, what: CUmemAccess_flags) -> bool {
        let mut of_place = self.access.iter().filter(|(id, _)| (*id == CU_DEVICE_CPU) == on_host);
        of_place.any(|(_, access)| access.0 & what.0 == what.0)
    }

    /// Maps or unmaps it for kernels and copies, depending on the access of the devices and the
    /// host.
    fn show(&self, address: u64) -> Answer {
        const READ: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ;
        const WRITE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

        let memory = memory();
        let (on_device, on_host) = (self.allows(false, READ), self.allows(true, READ));
        if !on_device && !on_host {
            self.hide(address);
            return Ok(());
        }
        if memory.find(address).is_none() {
            // Mappings belong to no context and outlive all of them.
            let mapped = memory.map(address, self.bytes(), &self.physical.bytes, 0, 0);
            mapped.map_err(|_| INVALID_VALUE)?;
        }
        memory.set_writable(address, self.allows(false, WRITE));
        memory.set_reachable(address, on_device);
        if on_host {
            let shown = memory.show_to_host(address, &self.physical.bytes, self.allows(true, WRITE));
            return ensure(shown, OUT_OF_MEMORY);
        }
        memory.hide_from_host(address);
        Ok(())
    }

    fn hide(&self, address: u64) {
        // It may already be hidden.
        let _ = memory().free(address);
    }
}

fn mapped() -> MutexGuard<'static, Ordered<Mapping>> {
    MAPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the mappings that begin in a range. Fails if one is partly in it.
fn inside(all: &Ordered<Mapping>, address: u64, bytes: u64) -> Answer<Vec<u64>> {
    let end = address.checked_add(bytes).ok_or(INVALID_VALUE)?;
    let cuts =
        |(start, mapping): (u64, &Mapping), border: u64| start < border && start + mapping.bytes() > border;
    let cut_at_start = all.last_up_to(address).is_some_and(|last| cuts(last, address));
    let found = all.keys_in(address..end);
    let cut_at_end = all.last_up_to(end).is_some_and(|last| cuts(last, end));
    ensure(!cut_at_start && !cut_at_end, INVALID_VALUE)?;
    Ok(found)
}

fn around(all: &Ordered<Mapping>, address: u64) -> Answer<&Mapping> {
    let (start, mapping) = all.last_up_to(address).ok_or(INVALID_VALUE)?;
    ensure(address - start < mapping.bytes(), INVALID_VALUE)?;
    Ok(mapping)
}

/// Removes a handle that was released and whose memory is no longer mapped.
fn forget_if_unused(handle: usize, physical: &Physical) {
    if physical.mappings.load(Ordering::Acquire) == 0 && physical.users.load(Ordering::Acquire) == 0 {
        PHYSICAL.remove(handle);
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
    if is_of_host(&props.location)? && !cfg!(target_os = "linux") {
        return Err(not_supported(
            "physical memory is made on devices only: for host memory, use cuMemHostAlloc or a pool on the host",
        ));
    }
    check_handle_types(props.requestedHandleTypes)?;
    // Memory of the host travels only if it is of a node.
    let travels = props.requestedHandleTypes == FILE_DESCRIPTOR;
    ensure(!travels || props.location.type_ != CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, INVALID_VALUE)
}

/// True for the host and its only node, false for a device.
fn is_of_host(place: &CUmemLocation) -> Answer<bool> {
    match place.type_ {
        CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE => device::check(place.id).map(|_| false),
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST => Ok(true),
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA if place.id == 0 => Ok(true),
        _ => Err(INVALID_VALUE),
    }
}

/// Creates physical memory that is private, or for which other processes can get a descriptor.
fn create(bytes: u64, props: &CUmemAllocationProp) -> Answer<Bytes> {
    let device = props.location.id as u32;
    let created = if is_of_host(&props.location)? {
        memory().create_on_host(bytes)
    } else if props.requestedHandleTypes == FILE_DESCRIPTOR {
        memory().create_shared(bytes, device)
    } else {
        memory().create(bytes, device)
    };
    created.map_err(|_| OUT_OF_MEMORY)
}

impl Physical {
    fn of(bytes: Bytes, props: CUmemAllocationProp) -> Self {
        Self { bytes, props, users: AtomicUsize::new(1), mappings: AtomicUsize::new(0) }
    }

    /// Imports the physical memory of a client's descriptor. It cannot be exported again.
    fn import(descriptor: i32) -> Answer<Self> {
        let bytes = memory().import(descriptor).ok_or(CUresult::CUDA_ERROR_UNKNOWN)?;
        // SAFETY: plain numbers and a pointer, for which zeros are valid.
        let mut props: CUmemAllocationProp = unsafe { core::mem::zeroed() };
        props.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location.type_ = match bytes.on_host {
            true => CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA,
            false => CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        };
        props.location.id = bytes.device as i32;
        is_of_host(&props.location)?;
        Ok(Self::of(bytes, props))
    }
}

/// Fails unless address and size are multiples of the granularity, and the size is not zero.
fn check_range(address: u64, bytes: usize) -> Answer {
    let whole = address % GRANULARITY == 0 && bytes as u64 % GRANULARITY == 0;
    ensure(whole && bytes > 0, INVALID_VALUE)
}

/// True if the memory mapped at an address was created for export.
pub(super) fn is_exportable(base: u64) -> bool {
    mapped().get(base).is_some_and(|mapping| mapping.physical.props.requestedHandleTypes == FILE_DESCRIPTOR)
}

/// True for memory of a graph's allocation node, which is mapped, but not by the client.
pub(crate) fn is_of_graph(region: &Region) -> bool {
    region.kind == RegionKind::Mapped && mapped().get(region.base).is_none()
}

calls! {
    objects PHYSICAL;

    fn cuMemAddressReserve(
        _call,
        ptr: Out<u64>,
        size: usize,
        alignment: usize,
        addr: u64,
        flags: u64,
    ) {
        ptr.check()?;
        // The address is a hint, which is ignored, but it must be a multiple of the granularity.
        check_range(addr, size)?;
        ensure(flags == 0 && (alignment == 0 || alignment.is_power_of_two()), INVALID_VALUE)?;
        let align = (alignment as u64).max(GRANULARITY);
        let base = memory().reserve(size as u64, align);
        ptr.set(base.map_err(|_| OUT_OF_MEMORY)?)
    }

    fn cuMemAddressFree(_call, ptr: u64, size: usize) {
        let all = mapped();
        ensure(inside(&all, ptr, size as u64)?.is_empty(), INVALID_VALUE)?;
        ensure(memory().release(ptr, size as u64), INVALID_VALUE)
    }

    fn cuMemCreate(_call, handle: Out<u64>, size: usize, prop: In<CUmemAllocationProp>, flags: u64) {
        handle.check()?;
        check_range(0, size)?;
        let props = prop.get()?;
        check_props(&props)?;
        ensure(flags == 0, INVALID_VALUE)?;
        let physical = Physical::of(create(size as u64, &props)?, props);
        handle.set(PHYSICAL.insert(physical) as u64)
    }

    fn cuMemRelease(_call, handle: u64) {
        let physical = Physical::find(handle)?;
        let _all = mapped();
        physical.users.fetch_sub(1, Ordering::AcqRel);
        forget_if_unused(handle as usize, &physical);
        Ok(())
    }

    /// Only whole allocations can be mapped.
    fn cuMemMap(_call, ptr: u64, size: usize, offset: usize, handle: u64, flags: u64) {
        check_range(ptr, size)?;
        let physical = Physical::find(handle)?;
        ensure(flags == 0 && memory().is_reserved(ptr, size as u64), INVALID_VALUE)?;
        if offset != 0 || size as u64 != physical.bytes.bytes {
            return Err(not_supported("only all of an allocation can be mapped, as on GPUs"));
        }
        let mut all = mapped();
        ensure(inside(&all, ptr, size as u64)?.is_empty(), INVALID_VALUE)?;
        physical.mappings.fetch_add(1, Ordering::AcqRel);
        // No device has access before it is set.
        all.insert(ptr, Mapping { physical, handle: handle as usize, access: Vec::new() });
        Ok(())
    }

    fn cuMemUnmap(_call, ptr: u64, size: usize) {
        check_range(ptr, size)?;
        ensure(memory().is_reserved(ptr, size as u64), INVALID_VALUE)?;
        let mut all = mapped();
        for address in inside(&all, ptr, size as u64)? {
            if let Some(mapping) = all.remove(address) {
                mapping.hide(address);
                mapping.physical.mappings.fetch_sub(1, Ordering::AcqRel);
                forget_if_unused(mapping.handle, &mapping.physical);
            }
        }
        Ok(())
    }

    fn cuMemExportToShareableHandle(
        _call,
        shareableHandle: Out<c_void>,
        handle: u64,
        handleType: CUmemAllocationHandleType,
        flags: u64,
    ) {
        shareableHandle.check()?;
        let physical = Physical::find(handle)?;
        let shared = physical.props.requestedHandleTypes == FILE_DESCRIPTOR;
        ensure(flags == 0 && shared && handleType == FILE_DESCRIPTOR, INVALID_VALUE)?;
        given(shareableHandle, physical.bytes.export())
    }

    /// The client keeps the descriptor.
    fn cuMemImportFromShareableHandle(
        _call,
        handle: Out<u64>,
        osHandle: *mut c_void,
        shHandleType: CUmemAllocationHandleType,
    ) {
        handle.check()?;
        let physical = Physical::import(taken(osHandle, shHandleType)?)?;
        handle.set(PHYSICAL.insert(physical) as u64)
    }

    fn cuMemSetAccess(_call, ptr: u64, size: usize, desc: In<CUmemAccessDesc>, count: usize) {
        ensure(count > 0, INVALID_VALUE)?;
        let mut wanted = Vec::new();
        for access in desc.get_all(count)? {
            ensure(access.flags.name().is_some(), INVALID_VALUE)?;
            let by_host = is_of_host(&access.location).map_err(|_| INVALID_VALUE)?;
            wanted.push((if by_host { CU_DEVICE_CPU } else { access.location.id }, access.flags));
        }
        let mut all = mapped();
        let found = inside(&all, ptr, size as u64)?;
        let covered: u64 = found.iter().filter_map(|address| Some(all.get(*address)?.bytes())).sum();
        ensure(covered == size as u64 && size > 0, INVALID_VALUE)?;
        let by_host = wanted.iter().any(|(id, _)| *id == CU_DEVICE_CPU);
        let is_of_device = |address: &u64| all.get(*address).is_some_and(|one| !one.physical.bytes.on_host);
        if by_host && found.iter().any(is_of_device) {
            return Err(not_supported("memory of a device is made accessible to devices only"));
        }
        for address in found {
            if let Some(mapping) = all.get_mut(address) {
                wanted.iter().for_each(|(id, access)| mapping.set_access(*id, *access));
                mapping.show(address)?;
            }
        }
        Ok(())
    }

    fn cuMemGetAccess(_call, flags: Out<u64>, location: In<CUmemLocation>, ptr: u64) {
        flags.check()?;
        let location = location.get()?;
        let all = mapped();
        let mapping = around(&all, ptr)?;
        let access = if location.type_ == CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE {
            device::check(location.id)?;
            mapping.access_of(location.id)
        } else {
            // An H100 returns this for the host, although it cannot access the memory.
            CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE
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
        prop.set(Physical::known(handle)?.props)
    }

    fn cuMemRetainAllocationHandle(_call, handle: Out<u64>, addr: *mut c_void) {
        handle.check()?;
        let all = mapped();
        let mapping = around(&all, addr.addr() as u64)?;
        mapping.physical.users.fetch_add(1, Ordering::AcqRel);
        handle.set(mapping.handle as u64)
    }
}
