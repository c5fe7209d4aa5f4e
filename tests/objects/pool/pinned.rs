//! A pool that keeps page-locked memory.

use cuprum::context::PrimaryContext;
use cuprum::memory::PinnedFlags;
use cuprum::pool::PinnedPool;
use cuprum::{Buffer, MemoryError, Stream};

use crate::common::{device, in_context};

const NONE: PinnedFlags = PinnedFlags::empty();

fn counted(pool: &PinnedPool<'_>) -> (usize, usize, usize, usize) {
    let counters = pool.counters();
    (counters.active_blocks, counters.held_blocks, counters.active_bytes, counters.managed_bytes)
}

#[test]
fn a_block_is_used_again_and_holds_values_of_its_own() {
    in_context(|cx| {
        let pool = PinnedPool::new(cx, NONE);
        let mut first = pool.zeroed::<u8>(cx, 1000).unwrap();
        let address = first.as_raw();
        assert_eq!(first[..], [0; 1000]);
        first.fill(0xFF);
        assert_eq!(counted(&pool), (1, 0, 1000, 1024));
        drop(first);
        let again = pool.zeroed::<u32>(cx, 256).unwrap();
        assert_eq!((again.as_raw().cast::<u8>(), &again[..]), (address, &[0; 256][..]));
        again.close().unwrap();
        let copied = pool.from_slice(cx, &[7u64; 128]).unwrap();
        assert_eq!((copied.as_raw().cast::<u8>(), &copied[..]), (address, &[7; 128][..]));
        assert_eq!(copied.flags(cx).map(|_| ()), Ok(()));
        drop(copied);
        assert_eq!(counted(&pool), (0, 1, 0, 1024));
        pool.free_held().unwrap();
        assert_eq!(counted(&pool), (0, 0, 0, 0));
    });
}

#[test]
fn it_is_lent_as_any_page_locked_memory() {
    in_context(|cx| {
        let stream = Stream::non_blocking(cx).unwrap();
        let pool = PinnedPool::new(cx, NONE);
        let mut device = Buffer::<u32>::zeroed(cx, 100).unwrap();
        for round in 1..5 {
            let input = pool.from_slice(cx, &[round; 100]).unwrap();
            let mut output = pool.zeroed::<u32>(cx, 100).unwrap();
            cx.scope_as(&stream, |scope| -> Result<(), MemoryError> {
                let device = scope.lend(device.as_mut_slice())?;
                scope.copy(&device, &input)?;
                scope.copy(&scope.lend(&mut output)?, &device)
            })
            .unwrap();
            assert_eq!(output[..], [round; 100]);
        }
        assert_eq!(counted(&pool), (0, 2, 0, 1024));
    });
}

#[test]
fn of_nothing_there_is_no_block_and_of_too_much_an_error() {
    in_context(|cx| {
        let pool = PinnedPool::new(cx, NONE);
        let empty = pool.zeroed::<u32>(cx, 0).unwrap();
        let unit = pool.zeroed::<[u8; 0]>(cx, 9).unwrap();
        assert_eq!((empty.len(), unit.len(), counted(&pool)), (0, 9, (0, 0, 0, 0)));
        let too_large = pool.zeroed::<u8>(cx, isize::MAX as usize).unwrap_err();
        assert!(matches!(too_large, MemoryError::TooLarge { .. }), "{too_large}");
    });
}

#[test]
fn it_stops_holding() {
    in_context(|cx| {
        let pool = PinnedPool::new(cx, PinnedFlags::PORTABLE);
        let kept = pool.zeroed::<u8>(cx, 10).unwrap();
        drop(pool.zeroed::<u8>(cx, 10).unwrap());
        pool.stop_holding().unwrap();
        assert_eq!(counted(&pool), (1, 0, 10, 512));
        drop(kept);
        assert_eq!(counted(&pool), (0, 0, 0, 0));
    });
}

#[test]
fn counted_it_goes_to_threads_and_outlives_its_handles() {
    let context = PrimaryContext::retain(device()).unwrap().share();
    let pool = context.enter(|cx| Ok(PinnedPool::new(cx, NONE))).unwrap();
    std::thread::scope(|threads| {
        for number in 0..4u8 {
            let (pool, context) = (pool.clone(), &context);
            threads.spawn(move || {
                for len in 1..200 {
                    let buffer = context.enter_as(|cx| pool.from_slice(cx, &vec![number; len])).unwrap();
                    assert_eq!(buffer[..], vec![number; len]);
                }
            });
        }
    });
    assert_eq!(pool.counters().active_blocks, 0);
    let last = context.enter_as(|cx| pool.zeroed::<u8>(cx, 5)).unwrap();
    drop((pool, context));
    std::thread::spawn(move || drop(last)).join().unwrap();
}
