//! Memory in the order of a stream and from pools that keep blocks, against the calls that allocate
//! and free.
//!
//! A block that a pool holds takes no call: its rows compare the pool with the calls that it saves.

use std::hint::black_box;
use std::ptr;

use cuprum::context::{Context, ContextFlags};
use cuprum::memory::PinnedFlags;
use cuprum::pool::{BufferPool, MemoryPool, PinnedPool, PoolOptions, PoolPlace, StreamBuffer};
use cuprum::sys::{CUresult, FnId};
use cuprum::{Current, Driver, Stream};

use crate::{ALLOCATED_BYTES, Answer, Measurement, operation};

/// Bytes of page-locked memory, which are set to zero each time.
const PINNED_BYTES: usize = 512;

/// Measures in a context that is borrowed, and in one that is shared.
pub(crate) fn measure(measurement: &mut Measurement<'_>, driver: Driver, cx: &Current<'_, '_>) {
    let stream = Stream::new(cx).expect("a stream");
    ordered(measurement, driver, cx, &stream);
    borrowed(measurement, driver, cx, &stream);
    let device = driver.device(0).expect("a device");
    let context = Context::create(device, ContextFlags::empty()).expect("a context").share();
    context
        .enter(|cx| {
            counted(measurement, driver, cx);
            Ok(())
        })
        .expect("a push");
}

fn ordered(measurement: &mut Measurement<'_>, driver: Driver, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    if !driver.library().has(FnId::cuMemAllocAsync) {
        return;
    }
    let raw_stream = stream.as_raw();
    operation! {
        measurement, "stream-ordered alloc + free 1 MiB", driver, || stream.synchronize(cx).must_succeed(),
        raw [cuMemAllocAsync cuMemFreeAsync] {
            let mut address = 0;
            match unsafe { cuMemAllocAsync(&raw mut address, ALLOCATED_BYTES, raw_stream) } {
                CUresult::CUDA_SUCCESS => unsafe { cuMemFreeAsync(address, raw_stream) },
                refused => refused,
            }
        }
        wrapper { StreamBuffer::<u8>::alloc(cx, stream, ALLOCATED_BYTES).map(drop) }
    }
    let options = PoolOptions::new(PoolPlace::Device(driver.device(0).expect("a device")));
    let pool = MemoryPool::new(driver, &options).expect("a pool");
    let raw_pool = pool.as_raw();
    operation! {
        measurement, "driver pool alloc + free 1 MiB", driver, || stream.synchronize(cx).must_succeed(),
        raw [cuMemAllocFromPoolAsync cuMemFreeAsync] {
            let mut address = 0;
            match unsafe { cuMemAllocFromPoolAsync(&raw mut address, ALLOCATED_BYTES, raw_pool, raw_stream) } {
                CUresult::CUDA_SUCCESS => unsafe { cuMemFreeAsync(address, raw_stream) },
                refused => refused,
            }
        }
        wrapper { StreamBuffer::<u8>::alloc_from(cx, stream, &pool, ALLOCATED_BYTES).map(drop) }
    }
}

fn borrowed(measurement: &mut Measurement<'_>, driver: Driver, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let pool = BufferPool::new(cx);
    operation! {
        measurement, "pool alloc + free 1 MiB", driver, || (),
        raw [cuMemAlloc_v2 cuMemFree_v2] {
            let mut address = 0;
            match unsafe { cuMemAlloc_v2(&raw mut address, ALLOCATED_BYTES) } {
                CUresult::CUDA_SUCCESS => unsafe { cuMemFree_v2(address) },
                refused => refused,
            }
        }
        wrapper { pool.alloc::<u8>(cx, stream, black_box(ALLOCATED_BYTES)).map(drop) }
    }
    let pinned = PinnedPool::new(cx, PinnedFlags::empty());
    operation! {
        measurement, "pinned pool alloc + free 512 B", driver, || (),
        raw [cuMemHostAlloc cuMemFreeHost] {
            let mut start = ptr::null_mut();
            match unsafe { cuMemHostAlloc(&raw mut start, PINNED_BYTES, 0) } {
                CUresult::CUDA_SUCCESS => unsafe { cuMemFreeHost(start) },
                refused => refused,
            }
        }
        wrapper { pinned.zeroed::<u8>(cx, black_box(PINNED_BYTES)).map(drop) }
    }
}

fn counted(measurement: &mut Measurement<'_>, driver: Driver, cx: &Current<'_, 'static>) {
    let stream = Stream::new(cx).expect("a stream").share();
    let pool = BufferPool::new(cx);
    operation! {
        measurement, "pool alloc + free 1 MiB, shared", driver, || (),
        raw [cuMemAlloc_v2 cuMemFree_v2] {
            let mut address = 0;
            match unsafe { cuMemAlloc_v2(&raw mut address, ALLOCATED_BYTES) } {
                CUresult::CUDA_SUCCESS => unsafe { cuMemFree_v2(address) },
                refused => refused,
            }
        }
        wrapper { pool.alloc::<u8>(cx, &stream, black_box(ALLOCATED_BYTES)).map(drop) }
    }
}
