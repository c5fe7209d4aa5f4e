//! The driver calls of pools that keep blocks, and the handling of blocks when the driver refuses.

use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum::memory::PinnedFlags;
use cuprum::pool::{BufferPool, MemoryPool, PinnedPool, PoolOptions, PoolPlace, StreamBuffer};
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::{CUresult, FnId};
use cuprum::{Current, Error, MemoryError, Stream};

use crate::tracer::{Backing, calls_of, failing};

const NO_ROOM: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
const BROKEN: CUresult = CUresult::CUDA_ERROR_UNKNOWN;

fn in_context(test: impl FnOnce(&mut Current<'_, '_>)) {
    let device = Backing::Emulator.driver().device(0).unwrap();
    let context = Context::create(device, ContextFlags::empty()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    test(&mut stack.push(&context).unwrap());
}

fn code(error: &MemoryError) -> CUresult {
    match error {
        MemoryError::Driver(error) => error.code(),
        other => panic!("{other}"),
    }
}

#[test]
fn a_held_block_takes_no_call() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let (pool, pinned) = (BufferPool::new(cx), PinnedPool::new(cx, PinnedFlags::empty()));
        let (calls, _) = calls_of(|| drop(pool.alloc::<u8>(cx, &stream, 1000).unwrap()));
        assert_eq!(calls, [FnId::cuMemAlloc_v2]);
        let (calls, _) = calls_of(|| drop(pool.alloc::<u8>(cx, &stream, 1024).unwrap()));
        assert_eq!(calls, []);
        let (calls, _) = calls_of(|| drop(pinned.zeroed::<u8>(cx, 1000).unwrap()));
        assert_eq!(calls, [FnId::cuMemHostAlloc]);
        let (calls, _) = calls_of(|| drop(pinned.from_slice(cx, &[1u8; 1000]).unwrap()));
        assert_eq!(calls, []);
        let (calls, _) = calls_of(|| drop(pool));
        assert_eq!(calls, [FnId::cuMemFree_v2]);
    });
}

/// Each thread has a part of a pool for itself, and takes blocks of the other parts before it asks
/// the driver.
#[test]
fn a_block_that_another_thread_has_given_back_takes_no_call() {
    let device = Backing::Emulator.driver().device(0).unwrap();
    let context = Context::create(device, ContextFlags::empty()).unwrap().share();
    let (pool, pinned, stream) = context
        .enter(|cx| {
            let pinned = PinnedPool::new(cx, PinnedFlags::empty());
            Ok((BufferPool::new(cx), pinned, Stream::non_blocking(cx)?.share()))
        })
        .unwrap();
    let use_both = |expected: [&[FnId]; 2]| {
        context
            .enter(|cx| {
                let (calls, buffer) = calls_of(|| pool.alloc::<u8>(cx, &stream, 1000).unwrap());
                assert_eq!(calls, expected[0]);
                let (calls, host) = calls_of(|| pinned.zeroed::<u8>(cx, 1000).unwrap());
                assert_eq!(calls, expected[1]);
                let (buffers, hosts) = (pool.counters(), pinned.counters());
                assert_eq!((buffers.active_blocks, buffers.held_blocks, buffers.active_bytes), (1, 0, 1000));
                assert_eq!((hosts.active_blocks, hosts.held_blocks, hosts.managed_bytes), (1, 0, 1024));
                drop((buffer, host));
                Ok(())
            })
            .unwrap();
    };
    use_both([&[FnId::cuMemAlloc_v2], &[FnId::cuMemHostAlloc]]);
    for _ in 0..20 {
        std::thread::scope(|threads| threads.spawn(|| use_both([&[], &[]])).join().unwrap());
    }
    use_both([&[], &[]]);
    // Given back on another thread than the one that took it.
    let taken = context.enter(|cx| Ok(pool.alloc::<u8>(cx, &stream, 1000)?)).unwrap();
    std::thread::scope(|threads| threads.spawn(|| drop(taken)).join().unwrap());
    // And freed on another one than the one that has it.
    std::thread::scope(|threads| {
        let stop = || {
            let (calls, freed) =
                calls_of(|| context.enter(|_| Ok(pool.stop_holding().and(pinned.stop_holding()))));
            freed.unwrap().unwrap();
            let count = |call| calls.iter().filter(|&&found| found == call).count();
            assert_eq!((count(FnId::cuMemFree_v2), count(FnId::cuMemFreeHost)), (1, 1));
        };
        threads.spawn(stop).join().unwrap();
    });
    assert_eq!((pool.counters(), pinned.counters()), Default::default());
    // No part holds anything from now on.
    let (calls, _) =
        calls_of(|| context.enter(|cx| Ok(pool.alloc::<u8>(cx, &stream, 1000).map(drop)?)).unwrap());
    assert!(calls.contains(&FnId::cuMemFree_v2), "{calls:?}");
}

#[test]
fn a_block_of_another_stream_is_taken_behind_an_event() {
    in_context(|cx| {
        let (one, two) = (Stream::non_blocking(cx).unwrap(), Stream::non_blocking(cx).unwrap());
        let pool = BufferPool::new(cx);
        let first = pool.alloc::<u8>(cx, &one, 1000).unwrap();
        let address = first.as_raw();
        drop(first);
        let (calls, taken) =
            calls_of(|| failing(FnId::cuMemAlloc_v2, NO_ROOM, || pool.alloc::<u8>(cx, &two, 1000)).unwrap());
        let ordered = [
            FnId::cuMemAlloc_v2,
            FnId::cuEventCreate,
            FnId::cuEventRecord,
            FnId::cuStreamWaitEvent,
            FnId::cuEventDestroy_v2,
        ];
        assert_eq!((calls, taken.as_raw()), (ordered.to_vec(), address));
        let counters = pool.counters();
        assert_eq!((counters.active_blocks, counters.held_blocks, counters.active_bytes), (1, 0, 1000));
        drop(taken);
        // It is the second stream's from now on.
        let (calls, again) = calls_of(|| pool.alloc::<u8>(cx, &two, 1000).unwrap());
        assert_eq!((calls, again.as_raw()), (vec![], address));
        assert_ne!(pool.alloc::<u8>(cx, &one, 1000).unwrap().as_raw(), address);
    });
}

#[test]
fn a_buffer_that_cannot_be_put_in_order_stays_with_its_stream() {
    in_context(|cx| {
        let (one, two) = (Stream::non_blocking(cx).unwrap(), Stream::non_blocking(cx).unwrap());
        let pool = BufferPool::new(cx);
        let mut buffer = pool.alloc::<u8>(cx, &one, 1000).unwrap();
        let mut event = Event::new(cx, EventFlags::DISABLE_TIMING).unwrap();
        for call in [FnId::cuEventRecord, FnId::cuStreamWaitEvent] {
            let moved = failing(call, BROKEN, || buffer.move_to(cx, &mut event, &two));
            assert_eq!(moved.map_err(Error::code), Err(BROKEN));
            assert_eq!(buffer.stream().as_raw(), one.as_raw());
        }
    });
}

#[test]
fn without_room_all_that_is_held_goes_the_largest_first() {
    in_context(|cx| {
        let (one, two) = (Stream::new(cx).unwrap(), Stream::new(cx).unwrap());
        let pool = BufferPool::new(cx);
        let used = pool.alloc::<u8>(cx, &one, 600).unwrap();
        let blocks = [(&one, 1000), (&two, 5000), (&one, 3000)];
        drop(blocks.map(|(stream, bytes)| pool.alloc::<u8>(cx, stream, bytes).unwrap()));
        let (calls, refused) =
            calls_of(|| failing(FnId::cuMemAlloc_v2, NO_ROOM, || pool.alloc::<u8>(cx, &one, 9000).map(drop)));
        let (alloc, free) = (FnId::cuMemAlloc_v2, FnId::cuMemFree_v2);
        assert_eq!(calls, [alloc, free, alloc, free, alloc, free, alloc]);
        let Err(MemoryError::NoRoom { bytes, used: bytes_used, held, error }) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!((bytes, bytes_used, held, error.code()), (9000, 600, 0, NO_ROOM));
        drop(used);
    });
}

#[test]
fn another_error_than_no_room_is_reported_at_once() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let (pool, pinned) = (BufferPool::new(cx), PinnedPool::new(cx, PinnedFlags::empty()));
        drop(pool.alloc::<u8>(cx, &stream, 1000).unwrap());
        drop(pinned.zeroed::<u8>(cx, 1000).unwrap());
        let refused =
            failing(FnId::cuMemAlloc_v2, BROKEN, || pool.alloc::<u8>(cx, &stream, 9000)).unwrap_err();
        assert_eq!(code(&refused), BROKEN);
        let refused = failing(FnId::cuMemHostAlloc, BROKEN, || pinned.zeroed::<u8>(cx, 9000)).unwrap_err();
        assert_eq!(code(&refused), BROKEN);
        assert_eq!((pool.counters().held_blocks, pinned.counters().held_blocks), (1, 1));
        let refused = failing(FnId::cuMemAllocAsync, BROKEN, || StreamBuffer::<u8>::alloc(cx, &stream, 16));
        assert_eq!(code(&refused.unwrap_err()), BROKEN);
    });
}

#[test]
fn a_pool_whose_state_is_unknown_still_reports_the_refusal() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let (calls, refused) = calls_of(|| {
            failing(FnId::cuMemAllocAsync, NO_ROOM, || StreamBuffer::<u8>::alloc(cx, &stream, 16).map(drop))
        });
        let asked = [
            FnId::cuMemAllocAsync,
            FnId::cuDeviceGetMemPool,
            FnId::cuDeviceGetDefaultMemPool,
            FnId::cuMemPoolGetAttribute,
            FnId::cuMemPoolGetAttribute,
        ];
        assert_eq!(calls, asked);
        assert!(matches!(refused, Err(MemoryError::NoRoom { bytes: 16, .. })), "{refused:?}");
        let refused = failing(FnId::cuDeviceGetMemPool, BROKEN, || {
            StreamBuffer::<u8>::alloc(cx, &stream, 1 << 50).map(drop)
        });
        assert_eq!(code(&refused.unwrap_err()), NO_ROOM);
    });
}

/// Another thread may drop it at any time.
#[test]
fn a_current_pool_that_is_not_the_default_one_is_not_asked() {
    in_context(|cx| {
        let (stream, device) = (Stream::new(cx).unwrap(), cx.context().device());
        let pool = MemoryPool::new(device.driver(), &PoolOptions::new(PoolPlace::Device(device))).unwrap();
        device.driver().set_current_pool(PoolPlace::Device(device), &pool).unwrap();
        let (calls, refused) = calls_of(|| StreamBuffer::<u8>::alloc(cx, &stream, 1 << 50).map(drop));
        drop(pool);
        let asked = [FnId::cuMemAllocAsync, FnId::cuDeviceGetMemPool, FnId::cuDeviceGetDefaultMemPool];
        assert_eq!((calls.as_slice(), code(&refused.unwrap_err())), (&asked[..], NO_ROOM));
    });
}

#[test]
fn pinned_memory_that_is_lost_does_not_come_back() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let pool = PinnedPool::new(cx, PinnedFlags::empty());
        let mut host = pool.zeroed::<u8>(cx, 1000).unwrap();
        let waited = failing(FnId::cuStreamSynchronize, CUresult::CUDA_ERROR_LAUNCH_FAILED, || {
            cx.scope(&stream, |scope| Ok(scope.lend(&mut host).map(drop)?))
        });
        assert!(waited.is_err() && host.is_lost());
        let (calls, ()) = calls_of(|| drop(host));
        assert_eq!(calls, []);
        let counters = pool.counters();
        assert_eq!((counters.active_blocks, counters.held_blocks), (1, 0));
        let (calls, ()) = calls_of(|| drop(pool));
        assert_eq!(calls, []);
    });
}
