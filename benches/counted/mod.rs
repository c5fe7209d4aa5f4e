//! Objects of a shared context, which have shares of it: launching a shared kernel counts nothing,
//! and creating and dropping an object counts up and down.

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;

use cuprum::context::{Context, ContextFlags};
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::CUresult;
use cuprum::{Buffer, Current, Driver, In, InOut, LaunchConfig, Stream};

use crate::{ALLOCATED_BYTES, Answer, Measurement, THREADS, common, operation};

/// Measures in a context of its own.
pub(crate) fn measure(measurement: &mut Measurement<'_>, driver: Driver) {
    let device = driver.device(0).expect("a device");
    let context = Context::create(device, ContextFlags::empty()).expect("a context").share();
    let measured = context.enter(|cx| {
        launches(measurement, driver, cx);
        objects(measurement, driver, cx);
        Ok(())
    });
    measured.expect("a push");
}

fn launches(measurement: &mut Measurement<'_>, driver: Driver, cx: &Current<'_, 'static>) {
    let stream = Stream::new(cx).expect("a stream");
    let module = common::kernels!(cx, "vector_add").share();
    let kernel = module
        .kernel::<(In<f32>, In<f32>, InOut<f32>, u32)>("vector_add")
        .expect("the kernel and its signature");
    let config = LaunchConfig::new(1, THREADS);
    let zeros = || Buffer::<f32>::zeroed(cx, THREADS as usize).expect("a buffer");
    let (a, b, mut c) = (zeros(), zeros(), zeros());
    let raw_arguments = (a.as_raw(), b.as_raw(), c.as_raw(), THREADS);
    let (function, raw_stream) = (kernel.function().as_raw(), stream.as_raw());
    operation! {
        measurement, "launch of a shared kernel", driver, || stream.synchronize(cx).must_succeed(),
        raw [cuLaunchKernel] {
            let (mut a, mut b, mut c, mut n) = black_box(raw_arguments);
            let mut pointers: [*mut c_void; 4] =
                [(&raw mut a).cast(), (&raw mut b).cast(), (&raw mut c).cast(), (&raw mut n).cast()];
            let (pointers, none) = (pointers.as_mut_ptr(), ptr::null_mut());
            unsafe { cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, raw_stream, pointers, none) }
        }
        wrapper { unsafe { kernel.launch(cx, &stream, config, (&a, &b, &mut c, black_box(THREADS))) } }
    }
}

fn objects(measurement: &mut Measurement<'_>, driver: Driver, cx: &Current<'_, 'static>) {
    operation! {
        measurement, "counted alloc + free 1 MiB", driver, || (),
        raw [cuMemAlloc_v2 cuMemFree_v2] {
            let mut address = 0;
            match unsafe { cuMemAlloc_v2(&raw mut address, ALLOCATED_BYTES) } {
                CUresult::CUDA_SUCCESS => unsafe { cuMemFree_v2(address) },
                refused => refused,
            }
        }
        wrapper { Buffer::<u8>::alloc(cx, ALLOCATED_BYTES).map(drop) }
    }
    operation! {
        measurement, "counted event create + destroy", driver, || (),
        raw [cuEventCreate cuEventDestroy_v2] {
            let mut event = cuprum::sys::CUevent::null();
            match unsafe { cuEventCreate(&raw mut event, EventFlags::DISABLE_TIMING.bits()) } {
                CUresult::CUDA_SUCCESS => unsafe { cuEventDestroy_v2(event) },
                refused => refused,
            }
        }
        wrapper { Event::new(cx, EventFlags::DISABLE_TIMING).map(drop) }
    }
}
