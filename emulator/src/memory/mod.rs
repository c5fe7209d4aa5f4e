//! The device's address space: what is allocated, where its bytes are, and what used to be there.
//!
//! Device addresses are numbers of their own, not host addresses. They lie inside one range of
//! the process that is reserved without access (module `space`), so that a host dereference of a
//! device pointer faults at once, as on hardware. The bytes live elsewhere, except for memory
//! which the host may touch (managed, pinned): there the address is the host address.
//!
//! * Addresses are handed out in ascending order with a gap after each allocation, so they are the
//!   same in every run and an overflow never lands in the neighbour.
//! * A freed range is not handed out again until the whole range has been used once. A use after
//!   free is therefore always seen, and the report can name the allocation ([`FreedLog`]).
//! * Kernels read a [`Map`], an immutable snapshot which keeps the bytes of all its regions alive,
//!   so a concurrent free cannot pull memory from under a running kernel.

mod map;
mod regions;
mod shadow;
mod space;

pub use map::{FreedLog, Map, Neighbour, Position, Region, RegionKind, Windows};
pub use shadow::ValidBits;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use map::Backing;
use regions::Regions;
use space::{PAGE, Space};

/// The alignment and granularity of device allocations, in bytes.
pub const GRANULARITY: u64 = 512;

/// The smallest gap between two allocations, in bytes.
pub const GUARD: u64 = 4096;

/// Everything allocated on the devices of this process.
#[derive(Debug)]
pub struct Memory {
    space: Arc<Space>,
    capacity: u64,
    track_init: bool,
    freed: Arc<FreedLog>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    regions: Regions,
    /// The regions of each context: their numbers, and where they start.
    owned: HashMap<u64, BTreeSet<(u64, u64)>>,
    /// Address ranges not to be handed out, start to end (exclusive): live regions that lie in
    /// the reserved space, and ranges reserved by the client.
    taken: BTreeMap<u64, u64>,
    cursor: u64,
    next_id: u64,
    used: Vec<u64>,
    snapshot: Option<Arc<Map>>,
}

/// What to allocate.
#[derive(Debug, Clone)]
pub struct Request {
    /// Size in bytes, not zero.
    pub bytes: u64,
    /// Alignment of the address; at least [`GRANULARITY`] is given, must be a power of two.
    pub align: u64,
    /// What the memory is.
    pub kind: RegionKind,
    /// Whether kernels may write to it.
    pub writable: bool,
    /// The context it belongs to, for ownership and reports.
    pub context: u64,
    /// The device whose capacity it counts against.
    pub device: u32,
    /// A name for reports, such as that of a module's global.
    pub label: Option<Arc<str>>,
    /// What the client asked for, kept for it to ask back.
    pub flags: u32,
}

impl Request {
    /// Ordinary device memory.
    pub fn device(bytes: u64, context: u64, device: u32) -> Self {
        Self {
            bytes,
            align: GRANULARITY,
            kind: RegionKind::Device,
            writable: true,
            context,
            device,
            label: None,
            flags: 0,
        }
    }
}

/// Why an allocation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllocError {
    /// The device's memory, the host's memory or the address range is exhausted.
    OutOfMemory,
    /// The range is already known (registered twice, mapped twice) or empty.
    Overlap,
}

/// Why an address could not be freed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FreeError {
    /// Nothing was ever allocated there, or the address is not the start of an allocation.
    NotAnAllocation,
    /// It was freed before.
    AlreadyFreed(Neighbour),
}

impl Memory {
    /// An empty address space for `devices` devices of `capacity` bytes each.
    ///
    /// With `track_init`, device memory carries one bit a byte that says whether it was written.
    pub fn new(devices: u32, capacity: u64, track_init: bool) -> Self {
        let space = Arc::new(Space::reserve());
        let cursor = space.base();
        Self {
            space,
            capacity,
            track_init,
            freed: Arc::new(FreedLog::default()),
            state: Mutex::new(State {
                regions: Regions::default(),
                owned: HashMap::new(),
                taken: BTreeMap::new(),
                cursor,
                next_id: 1,
                used: vec![0; devices as usize],
                snapshot: None,
            }),
        }
    }

    /// The regions as they are now, for a launch. Costs one reference count if nothing changed
    /// since the last call.
    pub fn snapshot(&self) -> Arc<Map> {
        let mut state = self.lock();
        if let Some(map) = &state.snapshot {
            return Arc::clone(map);
        }
        let map = Arc::new(Map::new(state.regions.clone(), Arc::clone(&self.freed), self.space.windows()));
        state.snapshot = Some(Arc::clone(&map));
        map
    }

    /// Bytes in use on a device, and its capacity.
    pub fn usage(&self, device: u32) -> (u64, u64) {
        let used = self.lock().used.get(device as usize).copied().unwrap_or(0);
        (used, self.capacity)
    }

    /// Allocates. The memory reads as zero.
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
                Backing::committed(&self.space, base, request.bytes)
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
        // Memory the host can see is written behind our back: nothing to track.
        let init = (self.track_init && matches!(request.kind, RegionKind::Device | RegionKind::Pooled))
            .then(|| Arc::new(ValidBits::new(request.bytes)));
        state.taken.insert(base, base + span);
        Ok(self.insert(&mut state, request, base, backing, init))
    }

    /// Enters host memory that somebody else owns, under its own address.
    ///
    /// # Errors
    ///
    /// [`AllocError::Overlap`] if part of the range is known already.
    ///
    /// # Safety
    ///
    /// `host` must stay readable and writable for `bytes` bytes until the range is freed with
    /// [`Memory::free`] and no snapshot taken before is in use.
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

    /// Frees the allocation that starts at `base` and remembers it in the freed log.
    ///
    /// # Errors
    ///
    /// [`FreeError`] if no live allocation starts there.
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
        if region.kind != RegionKind::Mapped {
            state.taken.remove(&base);
        }
        if region.kind.counts() {
            let span = region.len.next_multiple_of(GRANULARITY);
            self.refund(&mut state, region.device, span);
        }
        self.freed.remember(&region);
        Ok(region)
    }

    /// Frees everything that belongs to a context; returns how many allocations that were.
    pub fn free_context(&self, context: u64) -> usize {
        let owned = self.lock().owned.get(&context).cloned().unwrap_or_default();
        let bases = owned.into_iter().map(|(_, base)| base);
        bases.filter(|&base| self.free(base).is_ok()).count()
    }

    /// The live regions that belong to a context, in the order of their allocation.
    pub fn regions_of(&self, context: u64) -> Vec<Region> {
        let state = self.lock();
        let owned = state.owned.get(&context).into_iter().flatten();
        owned.filter_map(|(_, base)| state.regions.get(*base).cloned()).collect()
    }

    /// The live region that contains `addr`.
    pub fn find(&self, addr: u64) -> Option<Region> {
        let state = self.lock();
        let region = state.regions.last_up_to(addr)?;
        region.contains(addr, 1).then(|| region.clone())
    }

    /// The live regions that make up all of `addr..addr + len` without a gap, ascending.
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

    /// The freed allocation that contained `addr`, if the range was not handed out again.
    pub fn find_freed(&self, addr: u64) -> Option<Neighbour> {
        self.freed.find(addr)
    }

    /// Where generic addresses of shared and local memory and of code lie.
    pub fn windows(&self) -> Windows {
        self.space.windows()
    }

    /// Whether `addr` lies in the range of device addresses, allocated or not.
    pub fn is_device_address(&self, addr: u64) -> bool {
        self.space.contains(addr)
    }

    /// Reserves addresses without memory behind them.
    ///
    /// # Errors
    ///
    /// [`AllocError::OutOfMemory`] if the address range is exhausted.
    pub fn reserve(&self, bytes: u64, align: u64) -> Result<u64, AllocError> {
        let mut state = self.lock();
        let base = self.place(&mut state, bytes, align.max(GRANULARITY)).ok_or(AllocError::OutOfMemory)?;
        state.taken.insert(base, base + bytes);
        Ok(base)
    }

    /// Gives back addresses from [`Memory::reserve`]. Returns whether such a range existed and
    /// nothing is mapped in it any more.
    pub fn release(&self, base: u64, bytes: u64) -> bool {
        let mut state = self.lock();
        let known = state.taken.get(&base) == Some(&(base + bytes));
        if !known || state.overlaps_region(base, base + bytes) {
            return false;
        }
        state.taken.remove(&base);
        true
    }

    /// Creates physical memory that is not visible at any address yet.
    ///
    /// # Errors
    ///
    /// [`AllocError::OutOfMemory`].
    pub fn create(&self, bytes: u64, device: u32) -> Result<Physical, AllocError> {
        let mut state = self.lock();
        self.charge(&mut state, device, bytes)?;
        match Backing::heap(bytes) {
            Some(backing) => Ok(Physical { backing, bytes, device }),
            None => {
                self.refund(&mut state, device, bytes);
                Err(AllocError::OutOfMemory)
            }
        }
    }

    /// Gives up physical memory: its bytes no longer count, and are freed with the last mapping.
    pub fn discard(&self, physical: &Physical) {
        self.refund(&mut self.lock(), physical.device, physical.bytes);
    }

    /// Makes `bytes` bytes of physical memory, from `offset` on, visible at `base`.
    ///
    /// # Errors
    ///
    /// [`AllocError::Overlap`] if something is mapped there or the range is outside of the
    /// physical memory.
    pub fn map(
        &self,
        base: u64,
        bytes: u64,
        physical: &Physical,
        offset: u64,
        context: u64,
    ) -> Result<Region, AllocError> {
        let mut state = self.lock();
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= physical.bytes);
        if bytes == 0 || !inside || state.overlaps_region(base, base.saturating_add(bytes)) {
            return Err(AllocError::Overlap);
        }
        let request =
            Request { kind: RegionKind::Mapped, ..Request::device(bytes, context, physical.device) };
        let backing = physical.backing.part(offset);
        Ok(self.insert(&mut state, &request, base, backing, None))
    }

    /// Whether the whole range was reserved by one call of [`Memory::reserve`].
    pub fn is_reserved(&self, base: u64, bytes: u64) -> bool {
        let state = self.lock();
        let range = state.taken.range(..=base).next_back();
        range.is_some_and(|(_, &end)| base.checked_add(bytes).is_some_and(|last| last <= end))
    }

    /// Changes whether kernels may write to the region at `base`.
    pub fn set_writable(&self, base: u64, writable: bool) -> bool {
        let mut state = self.lock();
        let Some(region) = state.regions.get_mut(base) else {
            return false;
        };
        region.writable = writable;
        state.snapshot = None;
        true
    }

    fn insert(
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
        state.owned.entry(region.context).or_default().insert((region.id, base));
        state.snapshot = None;
        region
    }

    fn charge(&self, state: &mut State, device: u32, bytes: u64) -> Result<(), AllocError> {
        let used = state.used.get_mut(device as usize).ok_or(AllocError::OutOfMemory)?;
        let after = used.checked_add(bytes).ok_or(AllocError::OutOfMemory)?;
        if after > self.capacity {
            return Err(AllocError::OutOfMemory);
        }
        *used = after;
        Ok(())
    }

    fn refund(&self, state: &mut State, device: u32, bytes: u64) {
        if let Some(used) = state.used.get_mut(device as usize) {
            *used = used.saturating_sub(bytes);
        }
    }

    /// Finds addresses for `span` bytes: after the last allocation while the range lasts, then in
    /// the first gap that fits. Forgets the freed allocations that the new range covers.
    fn place(&self, state: &mut State, span: u64, align: u64) -> Option<u64> {
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
            None => {
                let mut from = self.space.base();
                let mut found = None;
                for (&start, &end) in &state.taken {
                    found = fits(from, start);
                    if found.is_some() {
                        break;
                    }
                    from = end + GUARD;
                }
                found.or_else(|| fits(from, end_of_space))?
            }
        };
        self.freed.forget(base, base + span + GUARD);
        Some(base)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held cannot leave the table half-written: every change is
        // one insertion or removal.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn overlaps_region(&self, base: u64, end: u64) -> bool {
        let before = end.checked_sub(1).and_then(|last| self.regions.last_up_to(last));
        before.is_some_and(|region| region.base + region.len > base)
    }

    fn disown(&mut self, region: &Region) {
        let Some(owned) = self.owned.get_mut(&region.context) else { return };
        owned.remove(&(region.id, region.base));
        if owned.is_empty() {
            self.owned.remove(&region.context);
        }
    }
}

/// Memory without an address, made by [`Memory::create`].
#[derive(Debug, Clone)]
pub struct Physical {
    backing: Backing,
    /// Size in bytes.
    pub bytes: u64,
    /// The device it counts against.
    pub device: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn memory() -> Memory {
        Memory::new(1, 64 * MIB, false)
    }

    fn alloc(memory: &Memory, bytes: u64) -> Region {
        memory.alloc(&Request::device(bytes, 1, 0)).unwrap()
    }

    #[test]
    fn addresses_ascend_with_gaps_and_are_never_reused_after_a_free() {
        let memory = memory();
        let first = alloc(&memory, 100);
        memory.free(first.base).unwrap();
        let second = alloc(&memory, 100);
        assert!(second.base >= first.base + 512 + GUARD);
        assert_eq!(second.base % GRANULARITY, 0);
        assert!(memory.find(first.base).is_none());
        let freed = memory.find_freed(first.base + 99).unwrap();
        assert_eq!((freed.id, freed.len), (first.id, 100));
        assert!(memory.find_freed(first.base + 100).is_none());
    }

    #[test]
    fn a_double_free_names_the_allocation() {
        let memory = memory();
        let region = alloc(&memory, 16);
        memory.free(region.base).unwrap();
        match memory.free(region.base) {
            Err(FreeError::AlreadyFreed(freed)) => assert_eq!(freed.id, region.id),
            other => panic!("{other:?}"),
        }
        assert_eq!(memory.free(region.base + 1).unwrap_err(), FreeError::NotAnAllocation);
    }

    #[test]
    fn capacity_is_charged_in_granules_and_refunded() {
        let memory = memory();
        let whole = alloc(&memory, 64 * MIB - 1);
        assert_eq!(memory.usage(0), (64 * MIB, 64 * MIB));
        let more = memory.alloc(&Request::device(1, 1, 0));
        assert_eq!(more.unwrap_err(), AllocError::OutOfMemory);
        memory.free(whole.base).unwrap();
        assert_eq!(memory.usage(0).0, 0);
        alloc(&memory, 64 * MIB);
    }

    #[test]
    fn a_snapshot_keeps_freed_bytes_alive() {
        let memory = memory();
        let region = alloc(&memory, 4096);
        let map = memory.snapshot();
        let base = region.base;
        drop(region);
        memory.free(base).unwrap();
        let seen = map.find(base + 4095).unwrap();
        // SAFETY: the snapshot keeps the 4096 bytes of the region alive.
        let byte = unsafe { seen.host.wrapping_add(4095).read() };
        assert_eq!(byte, 0);
        assert!(memory.snapshot().find(base).is_none());
    }

    #[test]
    fn managed_memory_has_its_host_address() {
        let memory = memory();
        let request = Request { kind: RegionKind::Managed, ..Request::device(10_000, 1, 0) };
        let region = memory.alloc(&request).unwrap();
        if cfg!(unix) {
            assert_eq!(region.host.addr() as u64, region.base);
        }
        // SAFETY: the region is live and 10000 bytes long.
        unsafe { region.host.wrapping_add(9_999).write(7) };
        // SAFETY: as above; the byte was just written.
        assert_eq!(unsafe { region.host.wrapping_add(9_999).read() }, 7);
    }

    #[test]
    fn registering_a_known_range_is_refused() {
        let memory = memory();
        let mut bytes = vec![0u8; 100];
        let host = bytes.as_mut_ptr();
        // SAFETY: `bytes` outlives the registration.
        let region = unsafe { memory.register(host, 100, 1, 0, 0) }.unwrap();
        // SAFETY: refused, so nothing is kept.
        let again = unsafe { memory.register(host.wrapping_add(50), 10, 1, 0, 0) };
        assert_eq!(again.unwrap_err(), AllocError::Overlap);
        assert_eq!(memory.find(region.base + 50).unwrap().id, region.id);
        memory.free(region.base).unwrap();
    }

    #[test]
    fn nearest_tells_side_and_distance() {
        let memory = memory();
        let region = alloc(&memory, 4000);
        let map = memory.snapshot();
        let past = map.nearest(region.base + 4008).unwrap();
        assert_eq!((past.id, past.position), (region.id, Position::After(8)));
        let before = map.nearest(region.base - 4).unwrap();
        assert_eq!(before.position, Position::Before(4));
        assert_eq!(map.nearest(region.base).unwrap().position, Position::Inside(0));
    }

    #[test]
    fn wrapped_around_the_space_fills_gaps_and_forgets_what_was_there() {
        let memory = Memory::new(1, u64::MAX, false);
        let first = alloc(&memory, 512);
        let keep = alloc(&memory, 512);
        memory.free(first.base).unwrap();
        memory.lock().cursor = memory.space.allocatable_end();
        let again = alloc(&memory, 256);
        assert_eq!(again.base, first.base);
        assert!(memory.find_freed(first.base).is_none());
        assert!(alloc(&memory, 512).base > keep.base);
    }

    #[test]
    fn mapped_memory_aliases_and_returns_to_its_reservation() {
        let memory = memory();
        let base = memory.reserve(2 * MIB, MIB).unwrap();
        let physical = memory.create(MIB, 0).unwrap();
        let low = memory.map(base, MIB, &physical, 0, 1).unwrap();
        let high = memory.map(base + MIB, MIB, &physical, 0, 1).unwrap();
        // SAFETY: the mapping is live and one MiB long.
        unsafe { low.host.write(42) };
        // SAFETY: as above, through the second mapping of the same bytes.
        assert_eq!(unsafe { high.host.read() }, 42);
        assert!(!memory.release(base, 2 * MIB));
        memory.free(base).unwrap();
        memory.free(base + MIB).unwrap();
        assert!(memory.release(base, 2 * MIB));
        memory.discard(&physical);
        assert_eq!(memory.usage(0).0, 0);
    }
}
