//! Allocations, and their addresses.

use super::backing::Backing;
use super::ipc::Opened;
use super::lock::lock_at_once;
use super::regions::Regions;
use super::request::GRANULARITY;
use super::shared::{Arena, Board, Purpose};
use super::space::{PAGE, Space};
use super::{
    AllocError, FreeError, FreedLog, HostAccess, Map, Neighbor, Ranges, Region, RegionKind, Request,
    ValidBits, Windows,
};
use crate::ordered::Ordered;
use core::ops::Range;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Minimum gap between two allocations, in bytes.
pub const GUARD: u64 = 4096;

/// Everything allocated on the devices of this process.
///
/// ```
/// use cuprum_engine::memory::{Memory, Request};
///
/// let memory = Memory::new(1, 1 << 20, false);
/// let region = memory.alloc(&Request::device(100, 1, 0)).map_err(|error| format!("{error:?}"))?;
/// memory.free(region.base).map_err(|error| format!("{error:?}"))?;
/// assert!(memory.find_freed(region.base).is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Memory {
    pub(super) space: Arc<Space>,
    capacity: u64,
    track_init: bool,
    guards: bool,
    pub(super) freed: Arc<FreedLog>,
    pub(super) state: Mutex<State>,
    /// Device memory that other processes can open; `None` inside if the system lacks it.
    pub(super) arena: OnceLock<Option<Arc<Arena>>>,
    pub(super) board: OnceLock<Option<Arc<Board>>>,
    /// Open memory of other processes, by their board and the slot in it.
    pub(super) opened: Mutex<HashMap<(u64, u64), Opened>>,
    /// Addresses of imported pool allocations, by their file and the position in it.
    pub(super) pointers: Mutex<HashMap<(u64, u64), u64>>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) regions: Regions,
    /// The regions of each context: first addresses, by number.
    pub(super) owned: Ordered<BTreeMap<u64, u64>>,
    /// Address ranges that are in use, start to end (exclusive): live regions in the reserved
    /// space, and ranges reserved by the client.
    pub(super) taken: Ranges,
    pub(super) cursor: u64,
    next_id: u64,
    pub(super) used: Vec<u64>,
    pub(super) snapshot: Option<Arc<Map>>,
}

impl Memory {
    /// Creates an empty address space for `devices` devices of `capacity` bytes each.
    ///
    /// With `track_init`, device memory has one bit per byte that records whether it was written.
    pub fn new(devices: u32, capacity: u64, track_init: bool) -> Self {
        let space = Arc::new(Space::reserve());
        let (cursor, end) = (space.base(), space.allocatable_end());
        Self {
            space,
            capacity,
            track_init,
            guards: false,
            freed: Arc::new(FreedLog::default()),
            state: Mutex::new(State {
                regions: Regions::default(),
                owned: Ordered::new(),
                taken: Ranges::new(cursor, end, GUARD),
                cursor,
                next_id: 1,
                used: vec![0; devices as usize],
                snapshot: None,
            }),
            arena: OnceLock::new(),
            board: OnceLock::new(),
            opened: Mutex::default(),
            pointers: Mutex::default(),
        }
    }

    /// Makes the host's access to page-locked memory limitable, where the system can.
    #[must_use]
    pub fn with_guards(mut self, guards: bool) -> Self {
        self.guards = guards;
        self
    }

    /// Limits the host's access to whole pages of one live page-locked allocation, or restores it.
    /// Has no effect on other memory.
    pub fn limit_host(&self, pages: &Range<u64>, access: HostAccess) {
        // A failure leaves the access as it was, which only misses accesses of the host.
        if self.guards {
            self.space.protect(pages, access);
        }
    }

    /// True if the host's access to page-locked memory can be limited.
    pub fn has_guards(&self) -> bool {
        self.guards
    }

    /// Restores the host's access to the page of an address. Returns false if it cannot be limited
    /// there. For a signal handler: neither waits nor allocates nor frees.
    pub fn open_to_host(&self, address: u64) -> bool {
        if !self.guards {
            return false;
        }
        let Some(state) = lock_at_once(&self.state) else { return false };
        let page = address / PAGE * PAGE;
        let around = state.regions.last_up_to(address).filter(|region| region.is_guarded());
        let inside = around.is_some_and(|region| page < region.base + region.len);
        inside && self.space.protect(&(page..page + PAGE), HostAccess::All)
    }

    /// Returns the regions for a launch. Costs one reference count if nothing has changed.
    pub fn snapshot(&self) -> Arc<Map> {
        let mut state = self.lock();
        if let Some(map) = &state.snapshot {
            return Arc::clone(map);
        }
        let map = Arc::new(Map::new(state.regions.clone(), Arc::clone(&self.freed), self.space.windows()));
        state.snapshot = Some(Arc::clone(&map));
        map
    }

    /// Returns the bytes in use on a device, and its capacity.
    pub fn usage(&self, device: u32) -> (u64, u64) {
        let used = self.lock().used.get(device as usize).copied().unwrap_or(0);
        (used, self.capacity)
    }

    /// Allocates zeroed memory.
    ///
    /// # Errors
    ///
    /// [`AllocError::OutOfMemory`].
    pub fn alloc(&self, request: &Request) -> Result<Region, AllocError> {
        let mut state = self.lock();
        let on_host = request.kind.host_visible();
        let align = request.align.max(if on_host { PAGE } else { GRANULARITY });
        let span = request.bytes.checked_next_multiple_of(GRANULARITY).ok_or(AllocError::OutOfMemory)?;
        let counted = if request.kind.counts() { span } else { 0 };
        self.charge(&mut state, request.device, counted)?;
        let placed = self.place(&mut state, span, align).ok_or(AllocError::OutOfMemory).and_then(|base| {
            let backing = if on_host {
                let is_guarded = self.guards && request.kind == RegionKind::Pinned;
                let guarded = is_guarded.then(|| Backing::guarded(&self.space, base, request.bytes));
                guarded.flatten().or_else(|| Backing::committed(&self.space, base, request.bytes))
            } else if request.kind == RegionKind::Device {
                self.shareable(request.bytes)
            } else {
                Backing::heap(request.bytes)
            };
            Ok((base, backing.ok_or(AllocError::OutOfMemory)?))
        });
        let (base, backing) = match placed {
            Ok(placed) => placed,
            Err(error) => {
                self.refund(&mut state, request.device, counted);
                return Err(error);
            }
        };
        // The host writes its visible memory directly, so writes to it are not tracked.
        let init = (self.track_init && matches!(request.kind, RegionKind::Device | RegionKind::Pooled))
            .then(|| Arc::new(ValidBits::new(request.bytes)));
        state.taken.insert(base, base + span);
        Ok(self.insert(&mut state, request, base, backing, init))
    }

    /// Registers host memory of another owner under its own address.
    ///
    /// # Errors
    ///
    /// [`AllocError::Overlap`] if part of the range is already known.
    ///
    /// # Safety
    ///
    /// `host` must stay readable and writable for `bytes` bytes until the range is freed with
    /// [`Memory::free`] and no earlier snapshot is in use.
    pub unsafe fn register(
        &self,
        host: *mut u8,
        bytes: u64,
        context: u64,
        device: u32,
        flags: u32,
    ) -> Result<Region, AllocError> {
        let base = host.addr() as u64;
        let end = base.checked_add(bytes).ok_or(AllocError::Overlap)?;
        let mut state = self.lock();
        if bytes == 0 || state.overlaps_region(base, end) {
            return Err(AllocError::Overlap);
        }
        let request =
            Request { kind: RegionKind::Registered, flags, ..Request::device(bytes, context, device) };
        let backing = Backing::foreign(host);
        Ok(self.insert(&mut state, &request, base, backing, None))
    }

    /// Frees the allocation that begins at `base`, and records it in the freed log.
    ///
    /// # Errors
    ///
    /// [`FreeError`] if no live allocation begins there.
    pub fn free(&self, base: u64) -> Result<Region, FreeError> {
        let mut state = self.lock();
        let Some(region) = state.regions.remove(base) else {
            return Err(match self.freed.find(base) {
                Some(freed) if freed.base == base => FreeError::AlreadyFreed(freed),
                _ => FreeError::NotAnAllocation,
            });
        };
        state.snapshot = None;
        state.disown(&region);
        // A mapping inside a client's reservation returns to that reservation, not to the space.
        if !region.kind.is_mapped() {
            state.taken.remove(base);
        }
        if region.kind == RegionKind::MappedHost {
            self.space.decommit(base, region.len);
        }
        if region.kind.counts() {
            let span = region.len.next_multiple_of(GRANULARITY);
            self.refund(&mut state, region.device, span);
        }
        self.freed.remember(&region);
        Ok(region)
    }

    /// Frees all memory of a context. Returns the number of allocations.
    pub fn free_context(&self, context: u64) -> usize {
        let owned = self.lock().owned.get(context).cloned().unwrap_or_default();
        owned.values().filter(|&&base| self.free(base).is_ok()).count()
    }

    /// Returns the live regions of a context, in the order of their allocation.
    pub fn regions_of(&self, context: u64) -> Vec<Region> {
        let state = self.lock();
        let Some(owned) = state.owned.get(context) else { return Vec::new() };
        owned.values().filter_map(|base| state.regions.get(*base).cloned()).collect()
    }

    /// Finds the live region that contains `addr`.
    pub fn find(&self, addr: u64) -> Option<Region> {
        let state = self.lock();
        let region = state.regions.last_up_to(addr)?;
        region.contains(addr, 1).then(|| region.clone())
    }

    /// Returns the live regions that cover `addr..addr + len` without a gap, ascending.
    pub fn cover(&self, addr: u64, len: u64) -> Option<Vec<Region>> {
        let end = addr.checked_add(len)?;
        let state = self.lock();
        let mut at = addr;
        let mut regions = Vec::with_capacity(1);
        loop {
            let region = state.regions.last_up_to(at)?;
            if !region.contains(at, 1) {
                return None;
            }
            regions.push(region.clone());
            at = region.base + region.len;
            if at >= end {
                return Some(regions);
            }
        }
    }

    /// Finds the freed allocation that contained `addr`, if the range was not reused.
    pub fn find_freed(&self, addr: u64) -> Option<Neighbor> {
        self.freed.find(addr)
    }

    /// Returns the generic addresses of shared and local memory and of code.
    pub fn windows(&self) -> Windows {
        self.space.windows()
    }

    /// True if `addr` is in the range of device addresses, allocated or not.
    pub fn is_device_address(&self, addr: u64) -> bool {
        self.space.contains(addr)
    }

    /// Sets whether kernels may write to the region at `base`. Returns false if there is none.
    pub fn set_writable(&self, base: u64, writable: bool) -> bool {
        self.change(base, |region| region.writable = writable)
    }

    /// Sets whether kernels can access the region at `base`. Returns false if there is none.
    pub fn set_reachable(&self, base: u64, reachable: bool) -> bool {
        self.change(base, |region| region.reachable = reachable)
    }

    fn change(&self, base: u64, change: impl FnOnce(&mut Region)) -> bool {
        let mut state = self.lock();
        let Some(region) = state.regions.get_mut(base) else { return false };
        change(region);
        state.snapshot = None;
        true
    }

    /// Allocates bytes that other processes can open, if the system supports it; else heap memory.
    fn shareable(&self, bytes: u64) -> Option<Backing> {
        let arena = self.arena.get_or_init(|| Arena::create(Purpose::Arena, 0));
        let shared = arena.as_ref().and_then(|arena| Backing::in_arena(arena, bytes));
        shared.or_else(|| Backing::heap(bytes))
    }

    pub(super) fn insert(
        &self,
        state: &mut State,
        request: &Request,
        base: u64,
        backing: Backing,
        init: Option<Arc<ValidBits>>,
    ) -> Region {
        let id = state.next_id;
        state.next_id += 1;
        let region = Region::new(id, base, request, backing, init);
        state.regions.insert(region.clone());
        state.owned.get_or_insert_with(region.context, BTreeMap::new).insert(region.id, base);
        state.snapshot = None;
        region
    }

    pub(super) fn charge(&self, state: &mut State, device: u32, bytes: u64) -> Result<(), AllocError> {
        let used = state.used.get_mut(device as usize).ok_or(AllocError::OutOfMemory)?;
        let after = used.checked_add(bytes).ok_or(AllocError::OutOfMemory)?;
        if after > self.capacity {
            return Err(AllocError::OutOfMemory);
        }
        *used = after;
        Ok(())
    }

    pub(super) fn refund(&self, state: &mut State, device: u32, bytes: u64) {
        if let Some(used) = state.used.get_mut(device as usize) {
            *used = used.saturating_sub(bytes);
        }
    }

    /// Finds addresses for `span` bytes: after the last allocation while the range lasts, then in a
    /// gap. Removes freed allocations in the new range from the log.
    pub(super) fn place(&self, state: &mut State, span: u64, align: u64) -> Option<u64> {
        let end_of_space = self.space.allocatable_end();
        let fits = |from: u64, limit: u64| {
            let base = from.checked_next_multiple_of(align)?;
            let end = base.checked_add(span)?.checked_add(GUARD)?;
            (end <= limit).then_some(base)
        };
        let base = match fits(state.cursor, end_of_space) {
            Some(base) => {
                state.cursor = base + span + GUARD;
                base
            }
            None => state.taken.find(span, align)?,
        };
        self.freed.forget(base, base + span + GUARD);
        Some(base)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic leaves the table consistent: every change is one insertion or removal.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    pub(super) fn overlaps_region(&self, base: u64, end: u64) -> bool {
        let before = end.checked_sub(1).and_then(|last| self.regions.last_up_to(last));
        before.is_some_and(|region| region.base + region.len > base)
    }

    fn disown(&mut self, region: &Region) {
        let Some(owned) = self.owned.get_mut(region.context) else { return };
        owned.remove(&region.id);
        if owned.is_empty() {
            self.owned.remove(region.context);
        }
    }
}
