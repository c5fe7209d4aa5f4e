//! Memory pools. They return memory to the device immediately and cache none.

use core::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::memory::PoolFile;
use crate::ordered::Ordered;
use crate::report::LeakKind;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, OUT_OF_MEMORY, ensure};
use crate::driver::call::{In, InMut, Kind, Leaked, Out, Table, calls, not_supported, put_handle};
use crate::driver::device;
use crate::driver::handle::Handle;
use crate::driver::state::{captures, memory};

use super::current_pool::CURRENT_POOLS;
use super::handle_type::{FILE_DESCRIPTOR, check_handle_types};
use super::pool_place::PoolPlace;
use super::returned::note_return;

/// Unit of growth of a pool: its maximum size is a multiple, as on an H100 with driver 580.
const PAGE: u64 = 32 << 20;

pub(crate) static POOLS: Table<Pool> =
    Table::new(Kind::Pool).leak(LeakKind::Pool, |pool: &Pool, _| match pool.is_default {
        true => Leaked::No,
        false => Leaked::Yes,
    });

static ORIGINS: Mutex<Ordered<Origin>> = Mutex::new(Ordered::new());

#[derive(Debug, Clone, Copy)]
struct Origin {
    pool: usize,
    /// True if a stream will free it.
    is_leaving: bool,
}

#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) place: PoolPlace,
    /// True for the default pool, which cannot be destroyed.
    pub(crate) is_default: bool,
    /// Maximum size in bytes; 0 for no limit.
    most: u64,
    /// Its memory, if it can be shared with other processes.
    pub(crate) file: Option<PoolFile>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Attributes that can be set, by number.
    settings: Ordered<u64>,
    used: u64,
    high: u64,
    /// Other devices with access.
    reached_by: Vec<i32>,
}

impl Pool {
    pub(crate) fn new(place: PoolPlace, is_default: bool, most: u64) -> Self {
        let reuse = [
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
        ];
        let mut settings = Ordered::new();
        reuse.iter().for_each(|attribute| settings.insert(attribute.0.into(), 1));
        Self {
            place,
            is_default,
            most: most.div_ceil(PAGE).saturating_mul(PAGE),
            file: None,
            state: Mutex::new(State { settings, used: 0, high: 0, reached_by: Vec::new() }),
        }
    }

    pub(super) fn find(handle: CUmemoryPool) -> Answer<Arc<Self>> {
        POOLS.get(handle.addr()).ok_or(INVALID_VALUE)
    }

    /// Finds a pool by its handle. Fails if another process created it: such a pool has no
    /// attributes here, and cannot allocate.
    fn find_own(handle: CUmemoryPool) -> Answer<Arc<Self>> {
        let pool = Self::find(handle)?;
        ensure(!pool.file.as_ref().is_some_and(PoolFile::is_imported), INVALID_VALUE)?;
        Ok(pool)
    }

    pub(crate) fn is_reached(&self) -> bool {
        !self.place.is_host() || !self.state().reached_by.is_empty()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attribute(&self, attribute: CUmemPool_attribute) -> Answer<Attribute> {
        use CUmemPool_attribute as A;

        let state = self.state();
        let setting = || state.settings.get(attribute.0.into()).copied().unwrap_or(0);
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
            A::CU_MEMPOOL_ATTR_MAX_POOL_SIZE => Attribute::Bytes(self.most),
            _ => return Err(INVALID_VALUE),
        })
    }

    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.most == 0 || self.state().used.checked_add(bytes).is_some_and(|used| used <= self.most)
    }

    /// Counts the bytes of an allocation. Fails if they exceed the maximum size.
    fn charge(&self, bytes: u64) -> Answer {
        let mut state = self.state();
        let used = state.used + bytes;
        ensure(self.most == 0 || used <= self.most, OUT_OF_MEMORY)?;
        state.used = used;
        state.high = state.high.max(used);
        Ok(())
    }

    fn refund(&self, bytes: u64) {
        let mut state = self.state();
        state.used = state.used.saturating_sub(bytes);
    }
}

enum Attribute {
    /// An `int`.
    Flag(u64),
    /// A `cuuint64_t`.
    Bytes(u64),
}

/// Creates the memory of a pool that is shared with other processes.
fn shared_file(place: PoolPlace) -> Answer<PoolFile> {
    let PoolPlace::Device(device) = place else {
        return Err(not_supported("only pools on a device are shared with other processes: make it there"));
    };
    PoolFile::create(device as u32).ok_or(OUT_OF_MEMORY)
}

fn device_place(device: i32) -> Answer<PoolPlace> {
    device::check(device)?;
    Ok(PoolPlace::Device(device))
}

fn origins() -> MutexGuard<'static, Ordered<Origin>> {
    ORIGINS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records an allocation from a pool. Fails if it exceeds the pool's maximum size.
pub(crate) fn join_pool(address: u64, bytes: u64, handle: usize, pool: &Pool) -> Answer {
    pool.charge(bytes)?;
    origins().insert(address, Origin { pool: handle, is_leaving: false });
    Ok(())
}

/// Removes an allocation that is being freed from its pool.
pub(super) fn leave_pool(address: u64, bytes: u64) {
    let pool = origins().remove(address).and_then(|origin| POOLS.get(origin.pool));
    if let Some(pool) = pool {
        pool.refund(bytes);
    }
}

pub(crate) fn pool_of(address: u64) -> Option<usize> {
    origins().get(address).map(|origin| origin.pool)
}

/// Records that a stream will free an allocation of a pool: no other free is allowed before that.
pub(crate) fn will_leave_pool(address: u64) -> Answer {
    match origins().get_mut(address) {
        Some(origin) => ensure(!std::mem::replace(&mut origin.is_leaving, true), INVALID_VALUE),
        None => Ok(()),
    }
}

/// Returns the device of a location. Fails if it is not a device.
fn located(location: &CUmemLocation) -> Answer<i32> {
    match location.type_ {
        CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE => {
            device::check(location.id)?;
            Ok(location.id)
        }
        known if known.name().is_some() => Err(not_supported(
            "the access to a pool is that of devices: the host reaches pools of host and managed memory anyway",
        )),
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
        // Only the maxima can be reset.
        A::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH | A::CU_MEMPOOL_ATTR_USED_MEM_HIGH => {
            ensure(wanted == 0, INVALID_VALUE)?;
            state.high = state.used;
        }
        A::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
        | A::CU_MEMPOOL_ATTR_USED_MEM_CURRENT
        | A::CU_MEMPOOL_ATTR_MAX_POOL_SIZE => return Err(INVALID_VALUE),
        settable => {
            state.settings.insert(settable.0.into(), wanted);
        }
    }
    Ok(())
}

calls! {
    objects POOLS;

    fn cuDeviceGetDefaultMemPool(_call, pool_out: Out<CUmemoryPool>, dev: i32) {
        pool_out.check()?;
        put_handle(pool_out, CURRENT_POOLS.default(device_place(dev)?))
    }

    fn cuDeviceGetMemPool(_call, pool: Out<CUmemoryPool>, dev: i32) {
        pool.check()?;
        put_handle(pool, CURRENT_POOLS.current(device_place(dev)?))
    }

    fn cuDeviceSetMemPool(_call, dev: i32, pool: CUmemoryPool) {
        captures().forbid_unsafe()?;
        let place = device_place(dev)?;
        ensure(Pool::find_own(pool)?.place == place, INVALID_VALUE)?;
        CURRENT_POOLS.set_current(place, pool.addr());
        Ok(())
    }

    fn cuMemGetDefaultMemPool(
        _call,
        pool_out: Out<CUmemoryPool>,
        location: InMut<CUmemLocation>,
        type_: CUmemAllocationType,
    ) {
        pool_out.check()?;
        let place = PoolPlace::of(&location.input().get()?, type_)?;
        put_handle(pool_out, CURRENT_POOLS.default(place))
    }

    fn cuMemGetMemPool(
        _call,
        pool: Out<CUmemoryPool>,
        location: InMut<CUmemLocation>,
        type_: CUmemAllocationType,
    ) {
        pool.check()?;
        let place = PoolPlace::of(&location.input().get()?, type_)?;
        put_handle(pool, CURRENT_POOLS.current(place))
    }

    fn cuMemSetMemPool(
        _call,
        location: InMut<CUmemLocation>,
        type_: CUmemAllocationType,
        pool: CUmemoryPool,
    ) {
        captures().forbid_unsafe()?;
        let place = PoolPlace::of(&location.input().get()?, type_)?;
        ensure(Pool::find_own(pool)?.place == place, INVALID_VALUE)?;
        CURRENT_POOLS.set_current(place, pool.addr());
        Ok(())
    }

    fn cuMemPoolCreate(_call, pool: Out<CUmemoryPool>, poolProps: In<CUmemPoolProps>) {
        captures().forbid_unsafe()?;
        pool.check()?;
        let props = poolProps.get()?;
        let place = PoolPlace::of(&props.location, props.allocType)?;
        check_handle_types(props.handleTypes)?;
        let mut made = Pool::new(place, false, props.maxSize as u64);
        if props.handleTypes == FILE_DESCRIPTOR {
            made.file = Some(shared_file(place)?);
        }
        put_handle(pool, POOLS.insert(made))
    }

    /// Allocations from the pool stay valid.
    fn cuMemPoolDestroy(_call, pool: CUmemoryPool) {
        captures().forbid_unsafe()?;
        let owner = Pool::find(pool)?;
        ensure(!owner.is_default, INVALID_VALUE)?;
        CURRENT_POOLS.forget(owner.place, pool.addr());
        note_return();
        POOLS.remove(pool.addr()).map(drop).ok_or(INVALID_HANDLE)
    }

    fn cuMemPoolTrimTo(_call, pool: CUmemoryPool, _minBytesToKeep: usize) {
        captures().forbid_unsafe()?;
        Pool::find_own(pool).map(|_| note_return())
    }

    fn cuMemPoolSetAttribute(
        _call,
        pool: CUmemoryPool,
        attr: CUmemPool_attribute,
        value: Out<c_void>,
    ) {
        captures().forbid_unsafe()?;
        set_attribute(&*Pool::find_own(pool)?, attr, value)
    }

    fn cuMemPoolGetAttribute(
        _call,
        pool: CUmemoryPool,
        attr: CUmemPool_attribute,
        value: Out<c_void>,
    ) {
        captures().forbid_unsafe()?;
        value.check()?;
        match Pool::find_own(pool)?.attribute(attr)? {
            Attribute::Flag(flag) => value.cast().set(flag as i32),
            Attribute::Bytes(bytes) => value.cast().set(bytes),
        }
    }

    /// Every device of the emulator can access the memory of all devices. Host memory is accessible
    /// once any device has been given access.
    fn cuMemPoolSetAccess(_call, pool: CUmemoryPool, map: In<CUmemAccessDesc>, count: usize) {
        captures().forbid_unsafe()?;
        let pool = Pool::find(pool)?;
        for access in map.get_all(count)? {
            let device = located(&access.location)?;
            let both = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            let own = pool.place == PoolPlace::Device(device);
            match access.flags {
                flags if flags == both => pool.state().reached_by.push(device),
                CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE if !own => {
                    pool.state().reached_by.retain(|other| *other != device);
                }
                CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE => return Err(CUresult::CUDA_ERROR_INVALID_DEVICE),
                CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ => return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
                _ => return Err(INVALID_VALUE),
            }
        }
        if pool.place.is_host() {
            let is_reached = pool.is_reached();
            let own = |origin: &Origin| POOLS.get(origin.pool).is_some_and(|other| Arc::ptr_eq(&other, &pool));
            let addresses: Vec<u64> =
                origins().iter().filter(|(_, origin)| own(origin)).map(|(address, _)| address).collect();
            for address in addresses {
                memory().set_reachable(address, is_reached);
            }
        }
        Ok(())
    }

    fn cuMemPoolGetAccess(
        _call,
        flags: Out<CUmemAccess_flags>,
        memPool: CUmemoryPool,
        location: InMut<CUmemLocation>,
    ) {
        captures().forbid_unsafe()?;
        flags.check()?;
        let (pool, location) = (Pool::find(memPool)?, location.input().get()?);
        let none = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
        // As measured: the host always has access to its own pools and to managed ones.
        let closed = match location.type_ {
            CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST => pool.place != PoolPlace::Host,
            CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA => pool.place != PoolPlace::HostNode,
            _ => {
                let device = located(&location)?;
                pool.place != PoolPlace::Device(device) && !pool.state().reached_by.contains(&device)
            }
        };
        flags.set(if closed { none } else { CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE })
    }
}
