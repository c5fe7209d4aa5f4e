//! A pool that keeps blocks of device memory.

use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::pool::{BufferPool, StreamBuffer};
use cuprum::stream::{Event, EventFlags};
use cuprum::{Current, MemoryError, Stream};

use crate::common::{context, device, in_context};

fn counted(pool: &BufferPool<'_>) -> (usize, usize, usize, usize) {
    let counters = pool.counters();
    (counters.active_blocks, counters.held_blocks, counters.active_bytes, counters.managed_bytes)
}

#[test]
fn a_block_is_used_again_on_its_stream_alone() {
    in_context(|cx| {
        let (one, two) = (Stream::non_blocking(cx).unwrap(), Stream::non_blocking(cx).unwrap());
        let pool = BufferPool::new(cx);
        assert_eq!(counted(&pool), (0, 0, 0, 0));
        let first = pool.alloc::<u8>(cx, &one, 1000).unwrap();
        let address = first.as_raw();
        assert_eq!(counted(&pool), (1, 0, 1000, 1024));
        drop(first);
        assert_eq!(counted(&pool), (0, 1, 0, 1024));
        let elsewhere = pool.alloc::<u8>(cx, &two, 1000).unwrap();
        assert_ne!(elsewhere.as_raw(), address, "the first stream may still use it");
        assert_eq!(counted(&pool), (1, 1, 1000, 2048));
        let again = pool.alloc::<u32>(cx, &one, 250).unwrap();
        assert_eq!(again.as_raw(), address);
        assert_eq!(counted(&pool), (2, 0, 2000, 2048));
        let larger = pool.alloc::<u8>(cx, &one, 1025).unwrap();
        assert_eq!(counted(&pool), (3, 0, 3025, 2048 + 1088));
        drop((elsewhere, again, larger));
        assert_eq!(counted(&pool), (0, 3, 0, 3136));
        pool.free_held().unwrap();
        assert_eq!(counted(&pool), (0, 0, 0, 0));
    });
}

#[test]
fn work_goes_on_in_order_while_blocks_change_hands() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let pool = BufferPool::new(cx);
        let mut sums = Vec::new();
        for round in 0..50u32 {
            let mut part = pool.alloc::<u32>(cx, &stream, 10_000).unwrap();
            cx.fill(&mut part, round).unwrap();
            let mut sum = StreamBuffer::alloc(cx, &stream, 10_000).unwrap();
            cx.copy(&mut sum, &part).unwrap();
            sums.push(sum);
        }
        assert_eq!(pool.counters().managed_bytes, 40_960);
        for (sum, round) in sums.iter().zip(0..) {
            assert_eq!(sum.to_vec(cx).unwrap(), [round; 10_000]);
        }
    });
}

#[test]
fn a_block_that_was_moved_comes_back_to_the_new_stream() {
    in_context(|cx| {
        let (one, two) = (Stream::non_blocking(cx).unwrap(), Stream::non_blocking(cx).unwrap());
        let mut event = Event::new(cx, EventFlags::DISABLE_TIMING).unwrap();
        let pool = BufferPool::new(cx);
        let mut buffer = pool.alloc::<u8>(cx, &one, 600).unwrap();
        let address = buffer.as_raw();
        buffer.move_to(cx, &mut event, &two).unwrap();
        drop(buffer);
        assert_ne!(pool.alloc::<u8>(cx, &one, 600).unwrap().as_raw(), address);
        assert_eq!(pool.alloc::<u8>(cx, &two, 600).unwrap().as_raw(), address);
    });
}

#[test]
fn it_stops_holding() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let pool = BufferPool::new(cx);
        let kept = pool.alloc::<u8>(cx, &stream, 100).unwrap();
        drop(pool.alloc::<u8>(cx, &stream, 5000).unwrap());
        pool.stop_holding().unwrap();
        assert_eq!(counted(&pool), (1, 0, 100, 512));
        drop(kept);
        assert_eq!(counted(&pool), (0, 0, 0, 0));
    });
}

#[test]
fn of_nothing_there_is_no_block() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let pool = BufferPool::new(cx);
        let empty = pool.alloc::<u32>(cx, &stream, 0).unwrap();
        assert_eq!((empty.as_raw(), counted(&pool)), (0, (0, 0, 0, 0)));
        let too_large = pool.alloc::<u64>(cx, &stream, usize::MAX / 4).unwrap_err();
        assert!(matches!(too_large, MemoryError::TooLarge { element_bytes: 8, .. }), "{too_large}");
        let beyond = pool.alloc::<u8>(cx, &stream, isize::MAX as usize).unwrap_err();
        assert!(matches!(beyond, MemoryError::TooLarge { element_bytes: 1, .. }), "{beyond}");
    });
}

#[test]
fn a_refusal_frees_held_memory_and_reports_used_memory() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let pool = BufferPool::new(cx);
        let _used = pool.alloc::<u8>(cx, &stream, 700).unwrap();
        drop(pool.alloc::<u8>(cx, &stream, 5000).unwrap());
        let refused = pool.alloc::<u8>(cx, &stream, 1 << 50).unwrap_err();
        let MemoryError::NoRoom { bytes, used, held, error } = refused else { panic!("{refused}") };
        assert_eq!((bytes, used, held), (1 << 50, 700, 0));
        assert!(error.to_string().contains("CUDA_ERROR_OUT_OF_MEMORY"), "{error}");
        assert_eq!(counted(&pool).1, 0);
    });
}

#[test]
fn contexts_are_not_mixed_up() {
    let (one, two) = (context(), context());
    let mut stack = ContextStack::take().unwrap();
    let mut cx = stack.push(&one).unwrap();
    let (pool, here) = (BufferPool::new(&cx), Stream::default_in(&cx).share());
    assert!(pool.alloc::<u8>(&cx, &here, 4).is_ok());
    let upper = cx.push(&two).unwrap();
    let theirs = Stream::default_in(&upper).share();
    let refused = pool.alloc::<u8>(&upper, &theirs, 4).unwrap_err();
    assert!(
        matches!(refused, MemoryError::Driver(error) if error.code() == cuprum::Error::WRONG_CONTEXT),
        "{refused}"
    );
}

#[test]
fn threads_share_it_with_streams_of_their_own() {
    let context = PrimaryContext::retain(device()).unwrap().share();
    let pool = context.enter(|cx| Ok(BufferPool::new(cx))).unwrap();
    std::thread::scope(|threads| {
        for number in 0..4u32 {
            let (pool, context) = (pool.clone(), &context);
            threads.spawn(move || {
                let work = |cx: &mut Current<'_, 'static>| {
                    let stream = Stream::non_blocking(cx).unwrap().share();
                    for len in (1..200).map(|round| round * 37 % 1500) {
                        let mut one = pool.alloc::<u32>(cx, &stream, len).unwrap();
                        let mut two = pool.alloc::<u32>(cx, &stream, len).unwrap();
                        cx.fill(&mut one, number).unwrap();
                        cx.copy(&mut two, &one).unwrap();
                        drop(one);
                        assert_eq!(two.to_vec(cx).unwrap(), vec![number; len]);
                    }
                    Ok(())
                };
                context.enter(work).unwrap();
            });
        }
    });
    let counters = pool.counters();
    assert_eq!((counters.active_blocks, counters.active_bytes), (0, 0));
    assert!(counters.held_blocks > 0);
    pool.free_held().unwrap();
    assert_eq!(counted(&pool), (0, 0, 0, 0));
}

#[test]
fn counted_it_outlives_its_handles_and_its_streams() {
    let context = PrimaryContext::retain(device()).unwrap().share();
    let buffer = context.enter(|cx| {
        let stream = Stream::new(cx).unwrap().share();
        Ok(BufferPool::new(cx).alloc::<u32>(cx, &stream, 10).unwrap())
    });
    let mut buffer = buffer.unwrap();
    context.enter(|cx| Ok(cx.fill(&mut buffer, 3)?)).unwrap();
    assert_eq!(context.enter(|cx| Ok(buffer.to_vec(cx)?)).unwrap(), [3; 10]);
    drop(context);
    std::thread::spawn(move || drop(buffer)).join().unwrap();
}
