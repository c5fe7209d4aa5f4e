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
    // SAFETY: the call is refused, so nothing is registered.
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
