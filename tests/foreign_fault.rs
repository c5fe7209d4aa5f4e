//! A fault that other code of the process caused, in the context that both use: every method
//! returns it, drops are silent, scopes end, and the process goes on.
//!
//! A program of its own: on hardware the fault is the process's.

use cuprum_testing::common;
use std::ptr;

use common::{device, driver};
use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::{CUcontext, CUfunction, CUmodule, CUresult, CUstream, call};
use cuprum::{Buffer, MemoryError, Module, Stream};

/// The raw calls of another library: it retains the primary context, launches a kernel that writes
/// to nowhere, and waits for it.
fn another_library() {
    let fns = driver().library().fns();
    let ptx = concat!(include_str!("../kernels/faults.ptx"), "\0");
    let (mut context, mut module, mut function) = (CUcontext::null(), CUmodule::null(), CUfunction::null());
    let name = c"null_write".as_ptr();
    let no_arguments = ptr::null_mut();
    // SAFETY: the out-parameters outlive the calls; the text and the name end with a NUL; the
    // kernel takes no arguments, and its fault is under test.
    #[allow(clippy::multiple_unsafe_ops_per_block, reason = "one sequence of raw calls, for one reason")]
    let answers = unsafe {
        [
            call!(fns, cuDevicePrimaryCtxRetain(&raw mut context, device().as_raw())).0,
            call!(fns, cuCtxPushCurrent_v2(context)).0,
            call!(fns, cuModuleLoadData(&raw mut module, ptx.as_ptr().cast())).0,
            call!(fns, cuModuleGetFunction(&raw mut function, module, name)).0,
            call!(
                fns,
                cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CUstream::null(), no_arguments, no_arguments)
            )
            .0,
            call!(fns, cuCtxSynchronize()).0,
            call!(fns, cuCtxPopCurrent_v2(&raw mut context)).0,
        ]
    };
    let ok = CUresult::CUDA_SUCCESS;
    assert_eq!(answers, [ok, ok, ok, ok, ok, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, ok]);
}

#[test]
fn damage_by_others_is_reported_and_does_no_harm() {
    let context = PrimaryContext::retain(device()).unwrap();
    let mut stack = ContextStack::take().unwrap();
    let cx = stack.push(&context).unwrap();
    let stream = Stream::new(&cx).unwrap();
    let event = Event::new(&cx, EventFlags::empty()).unwrap();
    let module = common::kernels!(&cx, "saxpy");
    let mut buffer = Buffer::from_slice(&cx, &[1u32; 1000]).unwrap();
    another_library();

    let first = cx.synchronize().unwrap_err();
    assert!(first.is_sticky() && first.first_reported_by().is_none(), "{first}");
    let MemoryError::Driver(later) = buffer.to_vec(&cx).unwrap_err() else { panic!("another error") };
    assert!(later.is_sticky());
    assert_eq!(later.first_reported_by(), Some(first.call()), "the first one that this crate saw");
    assert!(Buffer::<u8>::alloc(&cx, 16).is_err() && Stream::new(&cx).is_err());
    assert!(Module::load_ptx(&cx, include_str!("../kernels/saxpy.ptx")).is_err());
    assert!(event.record(&cx, &stream).is_err());
    let mut host = [7; 1000];
    let scope = cx.scope(&stream, |scope| {
        let lent = scope.lend(buffer.as_mut_slice())?;
        scope.copy(&lent, &[2; 1000])?;
        Ok(scope.read(&mut host, &lent)?)
    });
    assert!(scope.is_err());
    assert_eq!(host, [7; 1000]);
    assert!(context.enter(|inner| Ok(inner.synchronize().unwrap_err().is_sticky())).unwrap());

    let swallowed = cuprum::swallowed::count();
    drop((buffer, module, event, stream));
    cx.pop().expect("a pop goes on working");
    drop(context);
    assert_eq!(cuprum::swallowed::count(), swallowed, "echoes of a fault that was told");
}
