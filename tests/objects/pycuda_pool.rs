//! PyCUDA's tests of its memory pool (`test/test_driver.py`), each under its name;
//! `tests/pycuda.md` has the table of all. If a test there checks nothing, its counterpart checks
//! the result.

use std::collections::VecDeque;

use cuprum::Stream;
use cuprum::pool::BufferPool;

use crate::common::in_context;

/// Sizes from one byte to 2 MiB, a few between each two powers of two.
fn sizes() -> impl Iterator<Item = usize> {
    (0..21).flat_map(|bit| [1 << bit, (1 << bit) + 1, (1 << bit) * 5 / 4, (1 << bit) * 13 / 8])
}

#[test]
fn test_mempool_2() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        for bytes in sizes() {
            let pool = BufferPool::new(cx);
            let block = pool.alloc::<u8>(cx, &stream, bytes).unwrap();
            let size = pool.counters().managed_bytes;
            assert!(size >= bytes && size <= (bytes * 9 / 8).max(512), "{bytes} bytes in a block of {size}");
            drop(block);
            // A request for the whole size of a block gets a block of the same class.
            drop(pool.alloc::<u8>(cx, &stream, size).unwrap());
            let counters = pool.counters();
            assert_eq!((counters.held_blocks, counters.managed_bytes), (1, size), "{bytes}");
        }
    });
}

#[test]
fn test_mempool() {
    in_context(|cx| {
        let stream = Stream::new(cx).unwrap();
        let pool = BufferPool::new(cx);
        let before = cx.memory_info().unwrap().free;
        let power = before.ilog2();
        let mut queue = VecDeque::new();
        for bytes in [1 << (power - 6), 1 << (power - 5)] {
            for _ in 0..100 {
                queue.push_back(pool.alloc::<u8>(cx, &stream, bytes).unwrap());
                if queue.len() > 10 {
                    queue.pop_front();
                }
            }
            let counters = pool.counters();
            assert_eq!((counters.active_blocks, counters.active_bytes), (10, 10 * bytes));
            assert!(counters.held_blocks <= 12, "blocks are used again: {counters:?}");
        }
        drop(queue);
        assert!(cx.memory_info().unwrap().free < before, "they are held");
        pool.stop_holding().unwrap();
        assert_eq!((pool.counters().held_blocks, pool.counters().managed_bytes), (0, 0));
        // Concurrent tests hold some bytes of the same device.
        assert!(cx.memory_info().unwrap().free.abs_diff(before) < before / 16, "they are given back");
    });
}
