//! Each operation, and each error that is found on the host.

use std::task::Poll;

use cuprum::context::{Context, ContextFlags};
use cuprum::memory::{ForeignBuffer, ManagedBuffer};
use cuprum::region::{Plane, Pool, RegionError};
use cuprum::{Buffer, MemoryError};

use crate::executors::block_on;
use crate::{
    BYTES, LATE, allocated, bytes, come_after, filled, in_modes, in_pool, refused, shared_context, staged,
    synchronize,
};

#[test]
fn copies_and_fills_of_all_dimensions() {
    in_modes!(LATE, copies_and_fills_of_all_dimensions, || {
        in_pool(|cx, pool| {
            let queue = pool.queue(cx).unwrap();
            let numbers: Vec<u8> = (0..64).collect();
            let from = queue.alloc(cx, 64).unwrap();
            queue.upload(cx, &from, staged(cx, pool, &numbers)).unwrap();
            let to = queue.alloc(cx, 64).unwrap();
            queue.copy(cx, &to, &from).unwrap();
            assert_eq!(bytes(cx, pool, &queue, &to), numbers);

            queue.fill(cx, &to, 0u8).unwrap();
            let planes =
                (Plane { region: &to, pitch: 3, rows: 2 }, Plane { region: &from, pitch: 8, rows: 4 });
            queue.copy_block(cx, planes.0, planes.1, (3, 2)).unwrap();
            assert_eq!(bytes(cx, pool, &queue, &to)[..7], [0, 1, 2, 8, 9, 10, 0]);
            queue.copy_block(cx, planes.0, planes.1, (3, 2, 2)).unwrap();
            assert_eq!(bytes(cx, pool, &queue, &to)[6..13], [32, 33, 34, 40, 41, 42, 0]);
            let outside = refused(queue.copy_block(cx, planes.0, planes.1, (3, 2, 3)));
            assert!(matches!(outside, RegionError::Memory(MemoryError::Outside { .. })), "{outside}");

            queue.fill(cx, &to, 0x0102u16).unwrap();
            queue.fill(cx, &to.slice(4..8).unwrap(), 1.0f32).unwrap();
            let found = bytes(cx, pool, &queue, &to);
            assert_eq!(found[..4], [2, 1, 2, 1]);
            assert_eq!(found[4..8], 1.0f32.to_ne_bytes());
        });
    });
}

/// Each call would otherwise wait for the code that makes it. Allocation asks all queues for the
/// end of their work.
#[test]
fn a_lent_queue_refuses_calls_of_the_code_that_it_is_lent_to() {
    in_pool(|cx, pool| {
        let (queue, other) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
        let region = filled(cx, &queue, 5);
        drop(filled(cx, &queue, 6));
        queue
            .with_raw([&region], |_, _| {
                assert_eq!(refused(queue.mark(cx)), RegionError::Busy);
                assert_eq!(refused(queue.fill(cx, &region, 7u8)), RegionError::Busy);
                assert_eq!(refused(queue.alloc(cx, 4)), RegionError::Busy);
                assert_eq!(refused(queue.record(cx)), RegionError::Busy);
                assert_eq!(refused(queue.clone().with_raw([], |_, _| Ok(()))), RegionError::Busy);
                let first = filled(cx, &other, 6);
                other.with_raw([&first], |_, _| {
                    assert_eq!(refused(queue.mark(cx)), RegionError::Busy);
                    Ok::<_, RegionError>(())
                })?;
                std::thread::scope(|scope| {
                    let filled = scope.spawn(|| {
                        queue.context().enter(|cx| {
                            queue.fill(cx, &region, 8u8).unwrap();
                            Ok(())
                        })
                    });
                    filled.join().unwrap().unwrap();
                });
                other.mark(cx).map(drop)
            })
            .unwrap();
        queue.mark(cx).unwrap().synchronize().unwrap();
        assert_eq!(bytes(cx, pool, &queue, &region)[0], 8);
        assert_eq!(pool.pinned(cx, 0).unwrap().elements::<f64>(), Some(&[][..]));
    });
}

/// A recording cannot end while its queue is lent to the code that ends it; it goes on.
#[test]
fn a_recording_goes_on_if_its_queue_is_lent() {
    in_pool(|cx, pool| {
        let queue = pool.queue(cx).unwrap();
        let region = filled(cx, &queue, 5);
        for drops in [false, true] {
            let queue = pool.queue(cx).unwrap();
            queue.wait(cx, &pool.queue(cx).unwrap().mark(cx).unwrap()).unwrap();
            let recording = queue.record(cx).unwrap();
            let ended = queue.with_raw([], |_, _| {
                if drops {
                    drop(recording);
                    return Ok(());
                }
                recording.end(cx).map(drop)
            });
            assert_eq!(ended.is_ok(), drops);
            assert_eq!(refused(queue.record(cx)), RegionError::Recording);
        }
        assert_eq!(bytes(cx, pool, &queue, &region)[0], 5);
    });
}

#[test]
fn sizes_and_alignments_are_compared() {
    in_pool(|cx, pool| {
        let queue = pool.queue(cx).unwrap();
        let region = filled(cx, &queue, 5);
        let part = |range| region.slice(range).unwrap();
        let is_memory = |error| matches!(error, RegionError::Memory(MemoryError::Length { .. }));
        assert!(is_memory(refused(queue.copy(cx, &part(0..4), &part(8..16)))));
        assert!(is_memory(refused(queue.upload(cx, &region, pool.pinned(cx, 3).unwrap()))));
        assert!(is_memory(refused(queue.read(cx, &region, pool.pinned(cx, 3).unwrap()))));
        assert!(is_memory(refused(queue.fill(cx, &part(0..3), 1u16))));
        assert!(matches!(
            refused(queue.fill(cx, &part(1..3), 1u16)),
            RegionError::Unaligned { align: 2, .. }
        ));
        let overlap = refused(queue.copy(cx, &part(0..8), &part(4..12)));
        assert_eq!(overlap, RegionError::Memory(MemoryError::Overlap));
        queue.copy(cx, &part(0..8), &part(8..16)).unwrap();
        let large = refused(queue.alloc(cx, usize::MAX));
        assert!(matches!(large, RegionError::Memory(MemoryError::TooLarge { .. })), "{large}");
        assert!(region.slice(1..BYTES + 1).is_none());
    });
}

#[test]
fn nothing_is_allocated_for_nothing() {
    in_pool(|cx, pool| {
        let queue = pool.queue(cx).unwrap();
        let (none, host) = (queue.alloc(cx, 0).unwrap(), pool.pinned(cx, 0).unwrap());
        assert!(none.is_empty() && host.is_empty());
        queue.fill(cx, &none, 1u8).unwrap();
        queue.upload(cx, &none, host).unwrap();
        let read = queue.read(cx, &none, pool.pinned(cx, 0).unwrap()).unwrap();
        assert!(read.wait().unwrap().is_empty());
        assert!(filled(cx, &queue, 1).slice(BYTES..).unwrap().is_empty());
    });
}

#[test]
fn another_context_is_refused() {
    in_pool(|cx, pool| {
        let queue = pool.queue(cx).unwrap();
        let region = filled(cx, &queue, 5);
        let is_wrong = |error| matches!(error, RegionError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT);
        let (there, host) = (shared_context(), pool.pinned(cx, 4).unwrap());
        there
            .enter(|there| {
                let other = Pool::new(there).queue(there).unwrap();
                assert!(is_wrong(refused(queue.fill(there, &region, 1u8))));
                assert!(is_wrong(refused(other.fill(there, &region, 1u8))));
                assert!(is_wrong(refused(queue.alloc(there, 1))));
                assert!(is_wrong(refused(queue.mark(there))));
                assert!(is_wrong(refused(queue.record(there))));
                assert!(is_wrong(refused(pool.queue(there))));
                assert!(is_wrong(refused(pool.pinned(there, 1))));
                assert!(is_wrong(refused(pool.trim(there))));
                let replay = other.record(there).unwrap().end(there).unwrap();
                let near = other.alloc(there, 4).unwrap();
                assert!(is_wrong(refused(other.upload(there, &near, host))));
                drop(replay);
                Ok(())
            })
            .unwrap();
        assert_eq!(bytes(cx, pool, &queue, &region), [5; BYTES]);
    });
}

#[test]
fn pieces_of_one_block_are_uploaded_and_read_apart() {
    in_modes!(LATE, pieces_of_one_block_are_uploaded_and_read_apart, || {
        in_pool(|cx, pool| {
            let queue = pool.queue(cx).unwrap();
            let region = queue.alloc(cx, 8).unwrap();
            let (first, second) = staged(cx, pool, &[1, 2, 3, 4, 5, 6, 7, 8]).split(4).unwrap();
            let parts = (region.slice(..4).unwrap(), region.slice(4..).unwrap());
            queue.upload(cx, &parts.0, second).unwrap();
            queue.upload(cx, &parts.1, first).unwrap();
            let (one, other) = pool.pinned(cx, 8).unwrap().split(4).unwrap();
            let reads = (queue.read(cx, &parts.0, one).unwrap(), queue.read(cx, &parts.1, other).unwrap());
            drop(reads.0);
            assert_eq!(*reads.1.wait().unwrap(), [1, 2, 3, 4]);
            let whole = pool.pinned(cx, 8).unwrap().split(9).unwrap_err();
            assert_eq!(whole.len(), 8);
            assert!(whole.elements::<u64>().is_some() && whole.elements::<[u8; 3]>().is_none());
            assert!(whole.split(4).unwrap().1.elements::<u64>().is_none());
        });
    });
}

#[test]
fn reads_are_awaited() {
    in_modes!(LATE, reads_are_awaited, || {
        in_pool(|cx, pool| {
            let queue = pool.queue(cx).unwrap();
            let region = filled(cx, &queue, 5);
            let read = queue.read(cx, &region, pool.pinned(cx, BYTES).unwrap()).unwrap();
            // Work queued after it, and a recording, do not keep it from being woken.
            queue.fill(cx, &region, 6u8).unwrap();
            let recording = queue.record(cx).unwrap();
            assert_eq!(*block_on(read).unwrap(), [5; BYTES]);
            drop(recording);
            // One that is dropped after it was polled.
            let mut read = queue.read(cx, &region, pool.pinned(cx, BYTES).unwrap()).unwrap();
            let mut task = std::task::Context::from_waker(std::task::Waker::noop());
            let polled = std::future::Future::poll(std::pin::Pin::new(&mut read), &mut task);
            assert!(matches!(polled, Poll::Pending | Poll::Ready(Ok(_))));
            drop(read);
            let read = queue.read(cx, &region, pool.pinned(cx, BYTES).unwrap()).unwrap();
            synchronize(cx, &queue);
            assert!(read.is_done().unwrap());
            assert_eq!(*block_on(read).unwrap(), [6; BYTES]);
        });
    });
}

#[test]
fn owners_are_adopted_and_dropped_when_nothing_uses_them() {
    in_modes!(LATE, owners_are_adopted_and_dropped_when_nothing_uses_them, || {
        in_pool(|cx, pool| {
            let (queue, other) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
            let mut buffer = Buffer::<u32>::alloc(cx, 1 << 20).unwrap();
            cx.fill(&mut buffer, 7).unwrap(); // by the default stream
            let is_allocated = allocated(buffer.as_raw());
            let region = pool.adopt(cx, buffer).unwrap();
            assert_eq!(region.len(), 4 << 20);
            assert_eq!(bytes(cx, pool, &other, &region.slice(..4).unwrap()), 7u32.to_ne_bytes());
            queue.fill(cx, &region, 8u32).unwrap();
            drop(region);
            assert!(is_allocated(), "a drop frees nothing");
            synchronize(cx, &queue);
            pool.trim(cx).unwrap();
            assert!(!is_allocated());

            let managed = ManagedBuffer::from_slice(cx, &[1u8; 16]).unwrap();
            let region = pool.adopt(cx, managed).unwrap();
            assert_eq!(bytes(cx, pool, &queue, &region), [1; 16]);
            let lent = Buffer::from_slice(cx, &[2u8; 16]).unwrap();
            let (told, drops) = std::sync::mpsc::channel();
            // SAFETY: the buffer lives longer than the region and its work, which is waited for.
            let foreign = unsafe {
                ForeignBuffer::<u8>::with_release(cx, lent.as_raw(), 16, move |_, _| {
                    told.send(()).map_err(|_| unreachable!())
                })
            };
            let region = pool.adopt(cx, foreign.unwrap()).unwrap();
            let read = queue.read(cx, &region, pool.pinned(cx, 16).unwrap()).unwrap();
            drop(region);
            assert!(drops.try_recv().is_err(), "it is not given back by a drop");
            assert_eq!(*read.wait().unwrap(), [2; 16]);
            pool.trim(cx).unwrap();
            drops.try_recv().expect("it was given back");
        });
    });
}

#[test]
fn memory_of_another_context_is_copied_and_kept_for_that() {
    // On another device where there is one.
    const MODES: &[&[(&str, &str)]] = &[
        &[("CUPRUM_EMULATOR_MODE", "deferred")],
        &[("CUPRUM_EMULATOR_MODE", "deferred"), ("CUPRUM_EMULATOR_DEVICES", "2")],
        &[("CUPRUM_EMULATOR_MODE", "shuffled:1"), ("CUPRUM_EMULATOR_DEVICES", "2")],
        &[("CUPRUM_EMULATOR_MODE", "async"), ("CUPRUM_EMULATOR_DEVICES", "2")],
    ];
    in_modes!(MODES, memory_of_another_context_is_copied_and_kept_for_that, || {
        in_pool(|cx, pool| {
            let here = pool.queue(cx).unwrap();
            let target = here.alloc(cx, BYTES).unwrap();
            let (device, swallowed) = (crate::common::driver().device(1), cuprum::swallowed::count());
            let device = device.unwrap_or_else(|_| crate::common::device());
            let there = Context::create(device, ContextFlags::empty()).unwrap().share();
            let (other_pool, source, mark, home) = there
                .enter(|cx| {
                    let pool = Pool::new(cx);
                    let queue = pool.queue(cx).unwrap();
                    let source = filled(cx, &queue, 5);
                    let mark = queue.mark(cx).unwrap();
                    Ok((pool, source, mark, queue))
                })
                .unwrap();
            assert_eq!(refused(here.copy_peer(cx, &target, &source)), RegionError::NotOrdered);
            here.wait(cx, &mark).unwrap();
            here.copy_peer(cx, &target, &source).unwrap();
            drop((source, mark));
            let mine = there
                .enter(|cx| {
                    let mine = filled(cx, &home, 6);
                    synchronize(cx, &home);
                    Ok(mine)
                })
                .unwrap();
            assert_eq!(bytes(cx, pool, &here, &target), [5; BYTES]);
            come_after(cx, &here, &here);
            drop((mine, home, other_pool, there));
            assert_eq!(cuprum::swallowed::count(), swallowed);
        });
    });
}

#[test]
fn forgotten_things_leak_and_nothing_else() {
    in_modes!(LATE, forgotten_things_leak_and_nothing_else, || {
        let (swallowed, context) = (cuprum::swallowed::count(), shared_context());
        let made = context.enter(|cx| {
            let pool = Pool::new(cx);
            let (queue, recorded) = (pool.queue(cx).unwrap(), pool.queue(cx).unwrap());
            let region = filled(cx, &queue, 5);
            std::mem::forget(recorded.record(cx).unwrap());
            let inside = recorded.alloc(cx, BYTES).unwrap();
            recorded.fill(cx, &inside, 6u8).unwrap();
            std::mem::forget(queue.read(cx, &region, pool.pinned(cx, BYTES).unwrap()).unwrap());
            std::mem::forget((region.clone(), queue.mark(cx).unwrap(), pool.pinned(cx, BYTES).unwrap()));
            drop((inside, region, recorded));
            // Its queue is not used again, and others work.
            let (third, mine) = (pool.queue(cx).unwrap(), filled(cx, &queue, 7));
            assert_eq!(bytes(cx, &pool, &queue, &mine), [7; BYTES]);
            pool.trim(cx).unwrap();
            drop(third);
            Ok(())
        });
        made.unwrap();
        drop(context);
        assert_eq!(cuprum::swallowed::count(), swallowed);
    });
}

#[test]
fn everything_is_dropped_in_any_order() {
    in_modes!(LATE, everything_is_dropped_in_any_order, || {
        let swallowed = cuprum::swallowed::count();
        for first in 0..5 {
            let context = shared_context();
            let parts = context
                .enter(|cx| {
                    let pool = Pool::new(cx);
                    let queue = pool.queue(cx).unwrap();
                    let region = filled(cx, &queue, 5);
                    let read = queue.read(cx, &region, pool.pinned(cx, BYTES).unwrap()).unwrap();
                    let mark = queue.mark(cx).unwrap();
                    Ok((pool, queue, region, read, mark))
                })
                .unwrap();
            drop(context);
            let (pool, queue, region, read, mark) = parts;
            let mut parts: Vec<Box<dyn FnOnce() + Send>> = vec![
                Box::new(|| drop(pool)),
                Box::new(|| drop(queue)),
                Box::new(|| drop(region)),
                Box::new(|| drop(read)),
                Box::new(|| drop(mark)),
            ];
            parts.rotate_left(first);
            std::thread::spawn(|| parts.into_iter().for_each(|part| part())).join().unwrap();
        }
        assert_eq!(cuprum::swallowed::count(), swallowed);
        assert_eq!(cuprum_emulator::alive().len(), 0, "{:?}", cuprum_emulator::alive());
    });
}
