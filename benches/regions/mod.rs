//! Work on regions, against the calls that C makes for it.

use std::hint::black_box;
use std::ptr;

use cuprum::context::{Context, ContextFlags};
use cuprum::region::{Arg, Pool, Queue, Region, RegionError};
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::{CUresult, FnId};
use cuprum::{Current, Driver, LaunchConfig, Module};

use crate::{ALLOCATED_BYTES, Answer, COPIED_BYTES, Measurement, THREADS, operation};

pub(crate) fn measure(measurement: &mut Measurement<'_>, driver: Driver) {
    let device = driver.device(0).expect("a device");
    let context = Context::create(device, ContextFlags::empty()).expect("a context").share();
    let measured = context.enter_as(|cx| within(measurement, driver, cx));
    measured.expect("regions");
}

fn within(
    measurement: &mut Measurement<'_>,
    driver: Driver,
    cx: &Current<'_, 'static>,
) -> Result<(), RegionError> {
    let pool = Pool::new(cx);
    let queue = pool.queue(cx)?;
    let ptx = include_str!("../../kernels/vector_add.ptx");
    let module = Module::load_ptx(cx, ptx)?.share();
    let add = pool.function(&module, "vector_add")?;
    let [a, b, c] =
        [queue.alloc(cx, COPIED_BYTES)?, queue.alloc(cx, COPIED_BYTES)?, queue.alloc(cx, COPIED_BYTES)?];
    let config = LaunchConfig::new(1, THREADS);
    let (raw_function, raw_stream) = (add.function().as_raw(), queue.as_raw());
    let raw_arguments = (a.as_raw(), b.as_raw(), c.as_raw(), THREADS);
    let settle = || queue.mark(cx).expect("a mark").synchronize().must_succeed();
    operation! {
        measurement, "region launch, 4 arguments", driver, settle,
        raw [cuLaunchKernel] {
            let (mut a, mut b, mut c, mut n) = black_box(raw_arguments);
            let mut pointers = [(&raw mut a).cast(), (&raw mut b).cast(), (&raw mut c).cast(), (&raw mut n).cast()];
            let (pointers, none) = (pointers.as_mut_ptr(), ptr::null_mut());
            unsafe { cuLaunchKernel(raw_function, 1, 1, 1, THREADS, 1, 1, 0, raw_stream, pointers, none) }
        }
        wrapper {
            let arguments = [Arg::Region(&a), Arg::Region(&b), Arg::Region(&c), Arg::U32(black_box(THREADS))];
            unsafe { queue.launch(cx, &add, config, &arguments, &[]) }
        }
    }
    operation! {
        measurement, "region copy 4 KiB", driver, settle,
        raw [cuMemcpyDtoDAsync_v2] {
            unsafe { cuMemcpyDtoDAsync_v2(raw_arguments.0, raw_arguments.1, COPIED_BYTES, raw_stream) }
        }
        wrapper { queue.copy(cx, &a, &b) }
    }
    operation! {
        measurement, "region fill 4 KiB", driver, settle,
        raw [cuMemsetD32Async] {
            unsafe { cuMemsetD32Async(raw_arguments.0, 7, COPIED_BYTES / 4, raw_stream) }
        }
        wrapper { queue.fill(cx, &a, 7u32) }
    }
    reads(measurement, driver, cx, (&pool, &queue, &a))?;
    replays(measurement, driver, cx, (&queue, &a, &b))
}

fn reads(
    measurement: &mut Measurement<'_>,
    driver: Driver,
    cx: &Current<'_, 'static>,
    (pool, queue, a): (&Pool, &Queue, &Region),
) -> Result<(), RegionError> {
    let event = Event::new(cx, EventFlags::DISABLE_TIMING)?;
    let (raw_event, raw_stream, raw_region) = (event.as_raw(), queue.as_raw(), a.as_raw());
    let mut host = pool.pinned(cx, COPIED_BYTES)?;
    let raw_host = host.as_mut_ptr().cast();
    operation! {
        measurement, "region read 4 KiB + wait", driver, || (),
        raw [cuMemcpyDtoHAsync_v2 cuEventRecord cuEventSynchronize] {
            let copied = unsafe { cuMemcpyDtoHAsync_v2(raw_host, raw_region, COPIED_BYTES, raw_stream) };
            let recorded = match copied {
                CUresult::CUDA_SUCCESS => unsafe { cuEventRecord(raw_event, raw_stream) },
                refused => refused,
            };
            match recorded {
                CUresult::CUDA_SUCCESS => unsafe { cuEventSynchronize(raw_event) },
                refused => refused,
            }
        }
        wrapper { queue.read(cx, a, pool.pinned(cx, COPIED_BYTES)?)?.wait() }
    }
    operation! {
        measurement, "region alloc + drop 1 MiB", driver, || (),
        raw [cuMemAlloc_v2 cuMemFree_v2] {
            let mut address = 0;
            match unsafe { cuMemAlloc_v2(&raw mut address, ALLOCATED_BYTES) } {
                CUresult::CUDA_SUCCESS => unsafe { cuMemFree_v2(address) },
                refused => refused,
            }
        }
        wrapper { queue.alloc(cx, ALLOCATED_BYTES).map(drop) }
    }
    Ok(())
}

fn replays(
    measurement: &mut Measurement<'_>,
    driver: Driver,
    cx: &Current<'_, 'static>,
    (queue, a, b): (&Queue, &Region, &Region),
) -> Result<(), RegionError> {
    if driver.library().has(FnId::cuGraphLaunch) {
        let settle = || queue.mark(cx).expect("a mark").synchronize().must_succeed();
        let recording = queue.record(cx)?;
        queue.copy(cx, a, b)?;
        let replay = recording.end(cx)?;
        let (raw_replay, raw_stream) = (replay.as_raw(), queue.as_raw());
        operation! {
            measurement, "region replay", driver, settle,
            raw [cuGraphLaunch] { unsafe { cuGraphLaunch(raw_replay, raw_stream) } }
            wrapper { queue.replay(cx, &replay) }
        }
    }
    Ok(())
}
