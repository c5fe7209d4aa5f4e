//! Streams, events, host functions, and the order of queued work.

use core::ffi::c_void;
use core::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Barrier, LazyLock, Mutex};

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

#[test]
fn asynchronous_work_is_done_after_a_wait() {
    let _context = TestContext::new();
    let stream = stream(CUstream_flags::CU_STREAM_NON_BLOCKING.0);
    let buffer = alloc(400);
    let values: Vec<u32> = (0..100).collect();
    let mut back = vec![0u32; 100];
    ok!(cuMemcpyHtoDAsync_v2(buffer, values.as_ptr().cast(), 400, stream));
    ok!(cuMemsetD32Async(buffer, 9, 1, stream));
    ok!(cuMemcpyDtoHAsync_v2(back.as_mut_ptr().cast(), buffer, 400, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuStreamQuery(stream));
    assert_eq!(back[0], 9);
    assert_eq!(back[1..], values[1..]);
    ok!(cuStreamDestroy_v2(stream));
    assert_eq!(code!(cuStreamQuery(stream)), INVALID_HANDLE);
    assert_eq!(code!(cuStreamDestroy_v2(stream)), INVALID_HANDLE);
}

#[test]
fn properties_of_streams() {
    let context = TestContext::new();
    let mut stream = CUstream::null();
    ok!(cuStreamCreateWithPriority(&mut stream, 1, -100));
    let (mut priority, mut flags, mut owner) = (9, 9, CUcontext::null());
    ok!(cuStreamGetPriority(stream, &mut priority));
    ok!(cuStreamGetFlags(stream, &mut flags));
    ok!(cuStreamGetCtx(stream, &mut owner));
    assert_eq!((priority, flags, owner), (-5, 1, context.0));
    assert_eq!(code!(cuStreamCreate(&mut stream, 2)), INVALID_VALUE);
    assert_eq!(code!(cuStreamCreate(null_mut(), 0)), INVALID_VALUE);
    assert_eq!(code!(cuStreamDestroy_v2(CUstream::null())), INVALID_HANDLE);
    for default in [CUstream::null(), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD] {
        ok!(cuStreamGetFlags(default, &mut flags));
        ok!(cuStreamSynchronize(default));
        assert_eq!(flags, 0);
    }
}

#[test]
fn events_measure_time_forward() {
    let _context = TestContext::new();
    let (start, end) = (event(0), event(0));
    let mut ms = -1.0;
    assert_eq!(code!(cuEventElapsedTime(&mut ms, start, end)), INVALID_HANDLE);
    ok!(cuEventQuery(start));
    ok!(cuEventRecord(start, CUstream::null()));
    std::thread::sleep(std::time::Duration::from_millis(5));
    ok!(cuEventRecord(end, CUstream::null()));
    ok!(cuEventSynchronize(end));
    ok!(cuEventElapsedTime_v2(&mut ms, start, end));
    assert!((5.0..5000.0).contains(&ms), "{ms}");
    ok!(cuEventElapsedTime(&mut ms, end, start));
    assert!(ms <= -5.0, "{ms}");

    let untimed = event(CUevent_flags::CU_EVENT_DISABLE_TIMING.0);
    ok!(cuEventRecord(untimed, CUstream::null()));
    assert_eq!(code!(cuEventElapsedTime(&mut ms, start, untimed)), INVALID_HANDLE);
    let mut event = CUevent::null();
    assert_eq!(code!(cuEventCreate(&mut event, 0x40)), INVALID_VALUE);
    assert_eq!(code!(cuEventCreate(&mut event, 4)), INVALID_VALUE);
    ok!(cuEventDestroy_v2(start));
    assert_eq!(code!(cuEventDestroy_v2(start)), CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

#[test]
fn an_event_belongs_to_its_context() {
    let _context = TestContext::new();
    let event = event(0);
    let _other = TestContext::new();
    assert_eq!(code!(cuEventRecord(event, CUstream::null())), INVALID_HANDLE);
    ok!(cuStreamWaitEvent(CUstream::null(), event, 0));
}

/// As on an H200 (driver 580), which looks for the context of those that have a name.
#[test]
fn default_streams_are_not_destroyed() {
    let destroy = || {
        let all = [CUstream::null(), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD];
        all.map(|stream| code!(cuStreamDestroy_v2(stream)))
    };
    let (invalid, missing) = (CUresult::CUDA_ERROR_INVALID_HANDLE, CUresult::CUDA_ERROR_INVALID_CONTEXT);
    assert_eq!(std::thread::spawn(destroy).join().unwrap(), [invalid, missing, missing]);
    let _context = TestContext::new();
    assert_eq!(destroy(), [invalid; 3]);
}

/// As on an H200 (driver 580).
#[test]
fn external_records_and_waits_belong_to_captures() {
    let _context = TestContext::new();
    let (mut stream, mut event) = (CUstream::null(), CUevent::null());
    ok!(cuStreamCreate(&mut stream, NON_BLOCKING));
    ok!(cuEventCreate(&mut event, 0));
    let external = || {
        let flags = CUevent_record_flags::CU_EVENT_RECORD_EXTERNAL.0;
        [
            code!(cuEventRecordWithFlags(event, stream, flags)),
            code!(cuStreamWaitEvent(stream, event, CUevent_wait_flags::CU_EVENT_WAIT_EXTERNAL.0)),
        ]
    };
    assert_eq!(external(), [CUresult::CUDA_ERROR_ILLEGAL_STATE; 2]);
    ok!(cuStreamBeginCapture_v2(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_eq!(external(), [CUresult::CUDA_SUCCESS; 2]);
    let mut graph = CUgraph::null();
    ok!(cuStreamEndCapture(stream, &mut graph));
    ok!(cuGraphDestroy(graph));
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(stream));
}

const NON_BLOCKING: u32 = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
const RELAXED: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;

/// An address of no memory.
const NOWHERE: u64 = 16;

/// Makes calls while a new stream is capturing, which synchronizes with the legacy stream unless
/// `flags` says otherwise. Returns the code with which the capture ends.
fn end_of_a_capture(flags: u32, mode: CUstreamCaptureMode, calls: impl FnOnce(CUstream)) -> CUresult {
    let (mut stream, mut graph) = (CUstream::null(), CUgraph::null());
    ok!(cuStreamCreate(&mut stream, flags));
    ok!(cuStreamBeginCapture_v2(stream, mode));
    calls(stream);
    let end = code!(cuStreamEndCapture(stream, &mut graph));
    if !graph.is_null() {
        ok!(cuGraphDestroy(graph));
    }
    ok!(cuStreamDestroy_v2(stream));
    end
}

/// As on an H200 (driver 580); `tests/gpu/probe_captures.py` asks it about 300 calls.
#[test]
fn a_stream_says_that_it_is_captured_before_the_arguments_are_checked() {
    let _context = TestContext::new();
    let implicit = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    let unsupported = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    let invalidated = CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    // The legacy stream would wait for the blocking one. A question does not end the capture.
    let end = end_of_a_capture(0, RELAXED, |_| {
        let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        assert_eq!(code!(cuStreamIsCapturing(CUstream::null(), &mut status)), implicit);
    });
    assert_eq!(end, CUresult::CUDA_SUCCESS);
    let end = end_of_a_capture(0, RELAXED, |_| {
        assert_eq!(code!(cuMemcpyDtoD_v2(NOWHERE, NOWHERE, 0)), implicit);
        assert_eq!(code!(cuEventRecord(CUevent::null(), CUstream::null())), implicit);
    });
    assert_eq!(end, invalidated);
    // The first call ends the capture, the next ones find it ended.
    let end = end_of_a_capture(NON_BLOCKING, RELAXED, |stream| {
        assert_eq!(code!(cuStreamGetFlags(stream, &mut 0)), unsupported);
        assert_eq!(code!(cuMemcpyDtoDAsync_v2(NOWHERE, NOWHERE, 0, stream)), invalidated);
        assert_eq!(code!(cuStreamGetFlags(stream, &mut 0)), unsupported);
    });
    assert_eq!(end, invalidated);
}

/// As on an H200 (driver 580).
#[test]
fn calls_that_may_wait_are_forbidden_before_their_arguments_are_checked() {
    let _context = TestContext::new();
    let three = || {
        [
            code!(cuMemFree_v2(0)),
            code!(cuArrayDestroy(CUarray::null())),
            code!(cuMemHostUnregister(std::ptr::null_mut())),
        ]
    };
    let end = end_of_a_capture(NON_BLOCKING, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL, |_| {
        assert_eq!(three(), [CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; 3]);
    });
    assert_eq!(end, CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    let end = end_of_a_capture(NON_BLOCKING, RELAXED, |_| {
        let mistakes = [CUresult::CUDA_ERROR_INVALID_HANDLE, CUresult::CUDA_ERROR_INVALID_VALUE];
        assert_eq!(three(), [CUresult::CUDA_SUCCESS, mistakes[0], mistakes[1]]);
    });
    assert_eq!(end, CUresult::CUDA_SUCCESS);
}

/// Numbers that host functions received, in order.
static SEEN: Mutex<Vec<usize>> = Mutex::new(Vec::new());

unsafe extern "C" fn note(data: *mut c_void) {
    SEEN.lock().unwrap().push(data.addr());
}

unsafe extern "C" fn call_the_driver(data: *mut c_void) {
    let (mut count, mut flags, mut context) = (0, 0, CUcontext::null());
    let results = [
        code!(cuDeviceGetCount(&mut count)),
        code!(cuDevicePrimaryCtxRetain(&mut context, 0)),
        code!(cuDevicePrimaryCtxRelease_v2(0)),
        code!(cuDevicePrimaryCtxReset_v2(0)),
        code!(cuDevicePrimaryCtxGetState(0, &mut flags, &mut count)),
    ];
    // SAFETY: the test passes a valid output, and waits.
    unsafe { data.cast::<[CUresult; 5]>().write(results) };
}

#[test]
fn host_functions_run_in_order_and_may_not_call_the_driver() {
    let _context = TestContext::new();
    let (first, second) = (stream(0), stream(1));
    let event = event(0);
    let number = |value: usize| core::ptr::without_provenance_mut::<c_void>(value);
    ok!(cuLaunchHostFunc(first, Some(note), number(1)));
    ok!(cuEventRecord(event, first));
    ok!(cuStreamWaitEvent(second, event, 0));
    ok!(cuLaunchHostFunc(second, Some(note), number(2)));
    ok!(cuStreamSynchronize(second));
    assert_eq!(*SEEN.lock().unwrap(), [1, 2]);
    assert_eq!(code!(cuLaunchHostFunc(first, None, NULL)), INVALID_VALUE);

    // The results of an H200 with driver 580.
    let mut results = [CUresult::CUDA_SUCCESS; 5];
    ok!(cuLaunchHostFunc(first, Some(call_the_driver), (&raw mut results).cast()));
    ok!(cuStreamSynchronize(first));
    assert_eq!(results, [CUresult::CUDA_ERROR_NOT_PERMITTED; 5]);
}

/// On hardware the call returns before the function has run. A rendezvous of the two is in the
/// tests of the crate rustacuda.
#[test]
fn a_host_function_may_wait_for_the_thread_that_has_queued_it() {
    unsafe extern "C" fn meet(place: *mut c_void) {
        // SAFETY: the pointer is to a static.
        unsafe { &*place.cast::<Barrier>() }.wait();
    }
    unsafe extern "C" fn meet_in_callback(_: CUstream, _: CUresult, place: *mut c_void) {
        // SAFETY: as above.
        unsafe { meet(place) }
    }
    static PLACE: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(2));
    let _context = TestContext::new();
    let stream = stream(1);
    let place = (&raw const *PLACE).cast_mut().cast();
    let buffer = alloc(4);
    ok!(cuLaunchHostFunc(stream, Some(meet), place));
    ok!(cuMemsetD32Async(buffer, 3, 1, stream));
    assert_eq!(code!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY);
    PLACE.wait();
    ok!(cuStreamAddCallback(stream, Some(meet_in_callback), place, 0));
    PLACE.wait();
    let (mut graph, mut exec) = (CUgraph::null(), CUgraphExec::null());
    ok!(cuStreamBeginCapture_v2(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED));
    ok!(cuLaunchHostFunc(stream, Some(meet), place));
    ok!(cuStreamEndCapture(stream, &mut graph));
    ok!(cuGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(cuGraphLaunch(exec, stream));
    PLACE.wait();
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read::<u32>(buffer, 1), [3]);
}

/// Work that waits for a value continues when the host writes it, although no call of the host
/// waits.
#[test]
fn work_behind_a_value_continues_without_a_wait_of_the_host() {
    unsafe extern "C" fn set(done: *mut c_void) {
        // SAFETY: the pointer is to a static.
        unsafe { &*done.cast::<AtomicBool>() }.store(true, Ordering::SeqCst);
    }
    static DONE: AtomicBool = AtomicBool::new(false);
    let _context = TestContext::new();
    let (stream, mut flag, mut address) = (stream(1), NULL, 0);
    ok!(cuMemHostAlloc(&mut flag, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    ok!(cuMemHostGetDevicePointer_v2(&mut address, flag, 0));
    // SAFETY: the memory has four bytes, and the device only reads them.
    let flag = unsafe { &*flag.cast::<AtomicU32>() };
    flag.store(0, Ordering::SeqCst);
    ok!(cuStreamWaitValue32_v2(stream, address, 1, 1));
    // Bytes of pageable memory leave the host within the call.
    let (buffer, mut bytes) = (alloc(4), vec![7u32]);
    ok!(cuMemcpyHtoDAsync_v2(buffer, bytes.as_ptr().cast(), 4, stream));
    bytes.fill(0);
    ok!(cuLaunchHostFunc(stream, Some(set), (&raw const DONE).cast_mut().cast()));
    assert!(!DONE.load(Ordering::SeqCst));
    flag.store(1, Ordering::SeqCst);
    let start = std::time::Instant::now();
    while !DONE.load(Ordering::SeqCst) {
        assert!(start.elapsed().as_secs() < 20, "it waits forever");
        std::thread::yield_now();
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read::<u32>(buffer, 1), [7]);
    ok!(cuMemFreeHost((flag as *const AtomicU32).cast_mut().cast()));
}
