//! Memory pools and allocation in stream order.
//!
//! An address is given out when the call is made, and taken back when the stream gets there, so a
//! use before or after shows as what it is. Memory goes back to the device at once: a pool holds
//! nothing back.

use core::ffi::c_void;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::memory::RegionKind;

use super::allocation::allocate_in;
use super::call::{
    Answer, Call, INVALID_HANDLE, INVALID_VALUE, In, InMut, NOT_SUPPORTED, Out, calls, ensure, put_handle,
};
use super::device;
use super::graph::node::NodeKind;
use super::handle::Handle;
use super::operation::Operation;
use super::state::emulator;
use super::stream::StreamRef;

/// Where the memory of a pool is, and who reaches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Device(i32),
    Host,
    /// The only node of the host's memory.
    HostNode,
    /// Managed memory that prefers a place, or none.
    ManagedOf(Preference),
}

/// Where managed memory is when nobody uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Preference {
    None,
    Device(i32),
    Host,
    HostNode,
}

impl Place {
    /// The place that a client names, as an H100 understands it.
    fn of(location: &CUmemLocation, memory: CUmemAllocationType) -> Answer<Self> {
        use CUmemLocationType as L;

        let is_device = device::check(location.id).is_ok();
        let preference = match location.type_ {
            L::CU_MEM_LOCATION_TYPE_INVALID => Preference::None,
            L::CU_MEM_LOCATION_TYPE_DEVICE if is_device => Preference::Device(location.id),
            L::CU_MEM_LOCATION_TYPE_HOST => Preference::Host,
            L::CU_MEM_LOCATION_TYPE_HOST_NUMA if location.id == 0 => Preference::HostNode,
            L::CU_MEM_LOCATION_TYPE_DEVICE | L::CU_MEM_LOCATION_TYPE_HOST_NUMA => return Err(INVALID_VALUE),
            _ => return Err(NOT_SUPPORTED),
        };
        match (memory, preference) {
            (CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_MANAGED, _) => Ok(Self::ManagedOf(preference)),
            (CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, Preference::Device(id)) => {
                Ok(Self::Device(id))
            }
            (CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, Preference::Host) => Ok(Self::Host),
            (CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, Preference::HostNode) => Ok(Self::HostNode),
            _ => Err(INVALID_VALUE),
        }
    }

    /// What is allocated there.
    fn kind(self) -> RegionKind {
        match self {
            Self::Device(_) => RegionKind::Pooled,
            Self::Host | Self::HostNode => RegionKind::Pinned,
            Self::ManagedOf(_) => RegionKind::Managed,
        }
    }
}

/// A pool of memory in one place.
#[derive(Debug)]
pub(super) struct Pool {
    place: Place,
    /// Whether it is the device's own, which cannot be destroyed.
    pub(super) is_default: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Attributes that can be set, by number.
    settings: HashMap<u32, u64>,
    used: u64,
    high: u64,
}

impl Pool {
    pub(super) fn new(place: Place, is_default: bool) -> Self {
        let reuse = [
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
        ];
        Self {
            place,
            is_default,
            state: Mutex::new(State {
                settings: reuse.iter().map(|attribute| (attribute.0, 1)).collect(),
                used: 0,
                high: 0,
            }),
        }
    }

    fn find(handle: CUmemoryPool) -> Answer<Arc<Self>> {
        emulator().pools.get(handle.addr()).ok_or(INVALID_VALUE)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attribute(&self, attribute: CUmemPool_attribute) -> Answer<Attribute> {
        use CUmemPool_attribute as A;

        let state = self.state();
        let setting = || state.settings.get(&attribute.0).copied().unwrap_or(0);
        Ok(match attribute {
            A::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES
            | A::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC
            | A::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => Attribute::Flag(setting()),
            A::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => Attribute::Bytes(setting()),
            A::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT | A::CU_MEMPOOL_ATTR_USED_MEM_CURRENT => {
                Attribute::Bytes(state.used)
            }
            A::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH | A::CU_MEMPOOL_ATTR_USED_MEM_HIGH => {
                Attribute::Bytes(state.high)
            }
            _ => return Err(INVALID_VALUE),
        })
    }

    fn charge(&self, bytes: u64) {
        let mut state = self.state();
        state.used += bytes;
        state.high = state.high.max(state.used);
    }

    fn refund(&self, bytes: u64) {
        let mut state = self.state();
        state.used = state.used.saturating_sub(bytes);
    }
}

/// The value of an attribute, in the width that C has for it.
enum Attribute {
    /// An `int`.
    Flag(u64),
    /// A `cuuint64_t`.
    Bytes(u64),
}

/// The pools that allocations without a pool come from, in each place.
#[derive(Debug, Default)]
pub(super) struct CurrentPools(Mutex<HashMap<Place, PlacePools>>);

/// Those of one place.
#[derive(Debug, Clone, Copy)]
struct PlacePools {
    default: usize,
    current: usize,
}

impl CurrentPools {
    /// The pools of a place, made when first asked for.
    fn with<R>(&self, place: Place, ask: impl FnOnce(&mut PlacePools) -> R) -> R {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ask(places.entry(place).or_insert_with(|| {
            let default = emulator().pools.insert(Pool::new(place, true));
            PlacePools { default, current: default }
        }))
    }

    fn default(&self, place: Place) -> usize {
        self.with(place, |pools| pools.default)
    }

    fn current(&self, place: Place) -> usize {
        self.with(place, |pools| pools.current)
    }

    fn set_current(&self, place: Place, pool: usize) {
        self.with(place, |pools| pools.current = pool);
    }

    /// Goes back to the default pool if this one goes.
    fn forget(&self, place: Place, pool: usize) {
        self.with(place, |pools| {
            if pools.current == pool {
                pools.current = pools.default;
            }
        });
    }
}

/// A device by its number.
fn device_place(device: i32) -> Answer<Place> {
    device::check(device)?;
    Ok(Place::Device(device))
}

fn allocate_from(pool: usize, stream: &StreamRef, out: Out<u64>, bytes: usize) -> Answer {
    let owner = emulator().pools.get(pool).ok_or(INVALID_VALUE)?;
    let on_device = matches!(owner.place, Place::Device(_));
    let same_device = owner.place == Place::Device(stream.context().device);
    ensure(same_device || !on_device, CUresult::CUDA_ERROR_INVALID_DEVICE)?;
    if emulator().captures.has(stream.lane()) {
        ensure(on_device, NOT_SUPPORTED)?;
        let (address, kind) = NodeKind::allocation(stream.context(), bytes)?;
        emulator().captures.add(stream.lane(), kind)?;
        return out.set(address);
    }
    emulator().captures.forbid_unsafe()?;
    let region = allocate_in(stream.context(), bytes, owner.place.kind(), 0)?;
    let mut origins = emulator().pooled.lock().unwrap_or_else(PoisonError::into_inner);
    origins.insert(region.base, pool);
    owner.charge(region.len);
    out.set(region.base)
}

/// Forgets the pool of an allocation that is being freed.
pub(super) fn leave_pool(address: u64, bytes: u64) {
    let mut origins = emulator().pooled.lock().unwrap_or_else(PoisonError::into_inner);
    let pool = origins.remove(&address).and_then(|pool| emulator().pools.get(pool));
    if let Some(pool) = pool {
        pool.refund(bytes);
    }
}

/// The pool that an allocation came from.
pub(super) fn pool_of(address: u64) -> Option<usize> {
    let origins = emulator().pooled.lock().unwrap_or_else(PoisonError::into_inner);
    origins.get(&address).copied()
}

/// The device that a location names, if it names one.
fn located(location: &CUmemLocation) -> Answer<i32> {
    match location.type_ {
        CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE => {
            device::check(location.id)?;
            Ok(location.id)
        }
        known if known.name().is_some() => Err(NOT_SUPPORTED),
        _ => Err(INVALID_VALUE),
    }
}

fn set_attribute(pool: &Pool, attribute: CUmemPool_attribute, value: Out<c_void>) -> Answer {
    use CUmemPool_attribute as A;

    let wanted = match pool.attribute(attribute)? {
        Attribute::Flag(_) => value.cast::<i32>().get()? as u64,
        Attribute::Bytes(_) => value.cast::<u64>().get()?,
    };
    let mut state = pool.state();
    match attribute {
        // The high marks can be reset, and nothing else.
        A::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH | A::CU_MEMPOOL_ATTR_USED_MEM_HIGH => {
            ensure(wanted == 0, INVALID_VALUE)?;
            state.high = state.used;
        }
        A::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT | A::CU_MEMPOOL_ATTR_USED_MEM_CURRENT => {
            return Err(INVALID_VALUE);
        }
        settable => {
            state.settings.insert(settable.0, wanted);
        }
    }
    Ok(())
}

fn allocate_current(call: &Call, out: Out<u64>, bytes: usize, stream: CUstream) -> Answer {
    out.check()?;
    let stream = call.stream(stream)?;
    let pool = emulator().current_pools.current(Place::Device(stream.context().device));
    allocate_from(pool, &stream, out, bytes)
}

calls! {
    fn cuMemAllocAsync(call, dptr: Out<u64>, bytesize: usize, hStream: CUstream) {
        allocate_current(call, dptr, bytesize, hStream)
    }

    fn cuMemAllocFromPoolAsync(
        call,
        dptr: Out<u64>,
        bytesize: usize,
        pool: CUmemoryPool,
        hStream: CUstream,
    ) {
        dptr.check()?;
        allocate_from(pool.addr(), &call.stream(hStream)?, dptr, bytesize)
    }

    fn cuMemFreeAsync(call, dptr: u64, hStream: CUstream) {
        let stream = call.stream(hStream)?;
        if dptr == 0 {
            return Ok(());
        }
        let is_captured = emulator().captures.has(stream.lane());
        if let Some(block) = emulator().graph_blocks.find(dptr).filter(|_| !is_captured) {
            block.release()?;
            return stream.push(Operation::Free(dptr)).map(drop);
        }
        let region = emulator().memory.find(dptr).ok_or(INVALID_VALUE)?;
        // What an allocation node makes is mapped, and there is nothing to free before a launch.
        let ours = matches!(region.kind, RegionKind::Pooled | RegionKind::Device)
            || pool_of(dptr).is_some()
            || is_captured && region.kind == RegionKind::Mapped;
        ensure(ours && region.base == dptr, INVALID_VALUE)?;
        stream.push(Operation::Free(dptr)).map(drop)
    }

    fn cuDeviceGetDefaultMemPool(_call, pool_out: Out<CUmemoryPool>, dev: i32) {
        pool_out.check()?;
        put_handle(pool_out, emulator().current_pools.default(device_place(dev)?))
    }

    fn cuDeviceGetMemPool(_call, pool: Out<CUmemoryPool>, dev: i32) {
        pool.check()?;
        put_handle(pool, emulator().current_pools.current(device_place(dev)?))
    }

    fn cuDeviceSetMemPool(_call, dev: i32, pool: CUmemoryPool) {
        let place = device_place(dev)?;
        ensure(Pool::find(pool)?.place == place, INVALID_VALUE)?;
        emulator().current_pools.set_current(place, pool.addr());
        Ok(())
    }

    fn cuMemGetDefaultMemPool(
        _call,
        pool_out: Out<CUmemoryPool>,
        location: InMut<CUmemLocation>,
        type_: CUmemAllocationType,
    ) {
        pool_out.check()?;
        let place = Place::of(&location.input().get()?, type_)?;
        put_handle(pool_out, emulator().current_pools.default(place))
    }

    fn cuMemGetMemPool(
        _call,
        pool: Out<CUmemoryPool>,
        location: InMut<CUmemLocation>,
        type_: CUmemAllocationType,
    ) {
        pool.check()?;
        let place = Place::of(&location.input().get()?, type_)?;
        put_handle(pool, emulator().current_pools.current(place))
    }

    fn cuMemSetMemPool(
        _call,
        location: InMut<CUmemLocation>,
        type_: CUmemAllocationType,
        pool: CUmemoryPool,
    ) {
        let place = Place::of(&location.input().get()?, type_)?;
        ensure(Pool::find(pool)?.place == place, INVALID_VALUE)?;
        emulator().current_pools.set_current(place, pool.addr());
        Ok(())
    }

    fn cuMemPoolCreate(_call, pool: Out<CUmemoryPool>, poolProps: In<CUmemPoolProps>) {
        pool.check()?;
        let props = poolProps.get()?;
        let place = Place::of(&props.location, props.allocType)?;
        let plain = props.handleTypes == CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
        ensure(plain, NOT_SUPPORTED)?;
        put_handle(pool, emulator().pools.insert(Pool::new(place, false)))
    }

    /// What was allocated from the pool stays.
    fn cuMemPoolDestroy(_call, pool: CUmemoryPool) {
        let owner = Pool::find(pool)?;
        ensure(!owner.is_default, INVALID_VALUE)?;
        emulator().current_pools.forget(owner.place, pool.addr());
        emulator().pools.remove(pool.addr()).map(drop).ok_or(INVALID_HANDLE)
    }

    fn cuMemPoolTrimTo(_call, pool: CUmemoryPool, _minBytesToKeep: usize) {
        Pool::find(pool).map(drop)
    }

    fn cuMemPoolSetAttribute(
        _call,
        pool: CUmemoryPool,
        attr: CUmemPool_attribute,
        value: Out<c_void>,
    ) {
        set_attribute(&*Pool::find(pool)?, attr, value)
    }

    fn cuMemPoolGetAttribute(
        _call,
        pool: CUmemoryPool,
        attr: CUmemPool_attribute,
        value: Out<c_void>,
    ) {
        value.check()?;
        match Pool::find(pool)?.attribute(attr)? {
            Attribute::Flag(flag) => value.cast().set(flag as i32),
            Attribute::Bytes(bytes) => value.cast().set(bytes),
        }
    }

    /// Every device of the emulator reaches all memory; access cannot be taken away.
    fn cuMemPoolSetAccess(_call, pool: CUmemoryPool, map: In<CUmemAccessDesc>, count: usize) {
        let pool = Pool::find(pool)?;
        for access in map.get_all(count)? {
            let device = located(&access.location)?;
            let both = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            let own = pool.place == Place::Device(device);
            ensure(!own || access.flags == both, INVALID_VALUE)?;
        }
        Ok(())
    }

    fn cuMemPoolGetAccess(
        _call,
        flags: Out<CUmemAccess_flags>,
        memPool: CUmemoryPool,
        location: InMut<CUmemLocation>,
    ) {
        flags.check()?;
        Pool::find(memPool)?;
        located(&location.input().get()?)?;
        flags.set(CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
    }
}
