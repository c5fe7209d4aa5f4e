//! Memory that was dropped is given out again when nothing uses it, and not before. Each test fails
//! without its rule: see `naive`.

use crate::{BYTES, DEFERRED, LATE, allocated, bytes, come_after, filled, in_modes, in_pool, synchronize};

#[test]
fn memory_goes_back_to_its_queue_at_once() {
    in_modes!(LATE, memory_goes_back_to_its_queue_at_once, || {
        in_pool(|cx, pool| {
            let queue = pool.queue(cx).unwrap();
            let first = filled(cx, &queue, 5);
            let (address, read) =
                (first.as_raw(), queue.read(cx, &first, pool.pinned(cx, BYTES).unwrap()).unwrap());
            drop(first);
            let second = filled(cx, &queue, 6);
            assert_eq!(second.as_raw(), address, "the same memory, while its old work is queued");
            assert_eq!(*read.wait().unwrap(), [5; BYTES]);
            assert_eq!(bytes(cx, pool, &queue, &second), [6; BYTES]);
        });
    });
}

#[test]
fn memory_that_another_queue_uses_is_not_given_out() {
    in_modes!(DEFERRED, memory_that_another_queue_uses_is_not_given_out, || {
        in_pool(|cx, pool| {
            let (home, other) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
            let (first, copy) = (filled(cx, &home, 5), home.alloc(cx, BYTES).unwrap());
            come_after(cx, &other, &home);
            other.copy(cx, &copy, &first).unwrap();
            drop(first);
            let second = filled(cx, &home, 6);
            synchronize(cx, &home);
            assert_eq!(bytes(cx, pool, &other, &copy), [5; BYTES], "the copy came too late");
            assert_eq!(bytes(cx, pool, &home, &second), [6; BYTES]);
        });
    });
}

#[test]
fn memory_comes_back_when_the_other_queue_has_passed() {
    in_modes!(LATE, memory_comes_back_when_the_other_queue_has_passed, || {
        in_pool(|cx, pool| {
            let (home, other) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
            let first = filled(cx, &home, 5);
            let address = first.as_raw();
            come_after(cx, &other, &home);
            other.fill(cx, &first, 6u8).unwrap();
            drop(first);
            synchronize(cx, &other);
            assert_eq!(home.alloc(cx, BYTES).unwrap().as_raw(), address);
            // Or when the home comes after it, without a wait of the host.
            let again = home.alloc(cx, BYTES).unwrap();
            come_after(cx, &other, &home);
            other.fill(cx, &again, 7u8).unwrap();
            come_after(cx, &home, &other);
            drop(again);
            assert_eq!(home.alloc(cx, BYTES).unwrap().as_raw(), address);
        });
    });
}

#[test]
fn host_memory_of_a_dropped_read_is_not_given_out() {
    in_modes!(DEFERRED, host_memory_of_a_dropped_read_is_not_given_out, || {
        in_pool(|cx, pool| {
            let queue = pool.queue(cx).unwrap();
            let region = filled(cx, &queue, 5);
            let to = pool.pinned(cx, BYTES).unwrap();
            drop(queue.read(cx, &region, to).unwrap());
            let mut mine = pool.pinned(cx, BYTES).unwrap();
            mine.fill(0xAA);
            synchronize(cx, &queue);
            assert!(mine.iter().all(|&byte| byte == 0xAA), "the copy wrote what somebody else had");
            drop(mine);
            // Both come back.
            let both = [pool.pinned(cx, BYTES).unwrap(), pool.pinned(cx, BYTES).unwrap()];
            assert_ne!(both[0].as_ptr(), both[1].as_ptr());
        });
    });
}

#[test]
fn host_memory_of_an_upload_is_not_given_out() {
    in_modes!(DEFERRED, host_memory_of_an_upload_is_not_given_out, || {
        in_pool(|cx, pool| {
            let queue = pool.queue(cx).unwrap();
            let region = queue.alloc(cx, BYTES).unwrap();
            queue.upload(cx, &region, crate::staged(cx, pool, &[5; BYTES])).unwrap();
            let mut mine = pool.pinned(cx, BYTES).unwrap();
            mine.fill(0xAA);
            assert_eq!(bytes(cx, pool, &queue, &region), [5; BYTES]);
        });
    });
}

#[test]
fn another_queue_does_not_overtake_the_old_owner() {
    in_modes!(DEFERRED, another_queue_does_not_overtake_the_old_owner, || {
        in_pool(|cx, pool| {
            let (home, other) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
            let first = filled(cx, &home, 5);
            synchronize(cx, &home);
            let read = home.read(cx, &first, pool.pinned(cx, BYTES).unwrap()).unwrap();
            drop(first);
            let second = home.alloc(cx, BYTES).unwrap();
            // Refused with the rule.
            let _ = other.fill(cx, &second, 6u8);
            synchronize(cx, &other);
            assert_eq!(
                *read.wait().unwrap(),
                [5; BYTES],
                "the read found what was written for a later owner"
            );
        });
    });
}

#[test]
fn a_queue_that_was_dropped_is_used_again() {
    in_modes!(LATE, a_queue_that_was_dropped_is_used_again, || {
        in_pool(|cx, pool| {
            let queue = pool.queue(cx).unwrap();
            let (raw, region) = (queue.as_raw(), filled(cx, &queue, 5));
            let address = region.as_raw();
            synchronize(cx, &queue);
            drop((queue, region));
            let again = pool.queue(cx).unwrap();
            assert_eq!(again.as_raw(), raw);
            assert_eq!(again.alloc(cx, BYTES).unwrap().as_raw(), address);
            assert_ne!(pool.queue(cx).unwrap().as_raw(), raw, "that one has a handle");
            drop(again);
            pool.trim(cx).unwrap();
        });
    });
}

#[test]
fn memory_of_a_queue_that_was_dropped_can_be_put_in_order() {
    in_pool(|cx, pool| {
        let (home, other) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
        let region = filled(cx, &home, 5);
        drop(home);
        assert_eq!(crate::refused(other.fill(cx, &region, 6u8)), cuprum::region::RegionError::NotOrdered);
        come_after(cx, &other, &region.queue().unwrap());
        other.fill(cx, &region, 6u8).unwrap();
        assert_eq!(bytes(cx, pool, &other, &region), [6; BYTES]);
        let inside = other.record(cx).map(|_recording| other.alloc(cx, BYTES).unwrap()).unwrap();
        assert!(inside.queue().is_none());
    });
}

#[test]
fn adopted_memory_does_not_pile_up() {
    in_pool(|cx, pool| {
        let adopted = [(); 20].map(|()| {
            let buffer = cuprum::Buffer::<u8>::alloc(cx, 1 << 20).unwrap();
            let is_allocated = allocated(buffer.as_raw());
            drop(pool.adopt(cx, buffer).unwrap());
            is_allocated
        });
        assert!(adopted.iter().filter(|is_allocated| is_allocated()).count() <= 2);
    });
}

#[test]
fn without_room_dropped_memory_is_waited_for_and_freed() {
    const MODES: &[&[(&str, &str)]] =
        &[&[("CUPRUM_EMULATOR_MODE", "deferred"), ("CUPRUM_EMULATOR_MEMORY", "64M")]];
    in_modes!(MODES, without_room_dropped_memory_is_waited_for_and_freed, || {
        in_pool(|cx, pool| {
            let (home, other) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
            let large = home.alloc(cx, 32 << 20).unwrap();
            come_after(cx, &other, &home);
            other.fill(cx, &large, 5u8).unwrap();
            drop(large);
            let larger = home.alloc(cx, 48 << 20).unwrap();
            assert_eq!(larger.len(), 48 << 20);
            if crate::common::on_gpu() {
                return; // It has more.
            }
            let none = crate::refused(home.alloc(cx, 48 << 20));
            assert!(none.to_string().contains("OUT_OF_MEMORY"), "{none}");
        });
    });
}
