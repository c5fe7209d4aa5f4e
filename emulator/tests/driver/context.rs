//! Contexts: the stack of each thread, primary contexts, stale handles.

use core::ptr::null_mut;

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const DESTROYED: CUresult = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
const INVALID_CONTEXT: CUresult = CUresult::CUDA_ERROR_INVALID_CONTEXT;
const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

#[test]
fn the_stack_is_last_in_first_out() {
    assert!(current().is_null());
    let outer = TestContext::new();
    let inner = TestContext::new();
    assert_eq!(current(), inner.0);
    ok!(cuCtxPushCurrent_v2(outer.0));
    assert_eq!(current(), outer.0);
    let mut popped = CUcontext::null();
    ok!(cuCtxPopCurrent_v2(&mut popped));
    assert_eq!(popped, outer.0);
    assert_eq!(current(), inner.0);
    drop(inner);
    assert_eq!(current(), outer.0);
    drop(outer);
    assert!(current().is_null());
    assert_eq!(code!(cuCtxPopCurrent_v2(&mut popped)), INVALID_CONTEXT);
}

#[test]
fn set_current_replaces_the_top_and_null_removes_it() {
    let first = TestContext::new();
    let mut second = CUcontext::null();
    ok!(cuCtxCreate_v2(&mut second, 0, 0));
    ok!(cuCtxSetCurrent(first.0));
    assert_eq!(current(), first.0);
    ok!(cuCtxSetCurrent(CUcontext::null()));
    assert_eq!(current(), first.0);
    ok!(cuCtxSetCurrent(CUcontext::null()));
    assert!(current().is_null());
    let mut device = -1;
    assert_eq!(code!(cuCtxGetDevice(&mut device)), INVALID_CONTEXT);
    assert_eq!(code!(cuCtxSynchronize()), INVALID_CONTEXT);
    ok!(cuCtxDestroy_v2(second));
}

#[test]
fn a_context_destroyed_on_another_thread_stays_current_and_says_so() {
    let context = TestContext::new();
    let handle = context.0.0.expose_provenance();
    std::thread::spawn(move || {
        let context = CUcontext(core::ptr::with_exposed_provenance_mut(handle));
        assert!(current().is_null());
        ok!(cuCtxDestroy_v2(context));
    })
    .join()
    .unwrap();
    assert_eq!(current(), context.0);
    let mut pointer = 0;
    assert_eq!(code!(cuMemAlloc_v2(&mut pointer, 16)), DESTROYED);
    assert_eq!(code!(cuCtxPushCurrent_v2(context.0)), DESTROYED);
    assert_eq!(code!(cuCtxDestroy_v2(context.0)), DESTROYED);
    ok!(cuCtxPopCurrent_v2(null_mut()));
    assert!(current().is_null());
}

#[test]
fn foreign_handles_are_refused() {
    let context = TestContext::new();
    let stream = stream(0);
    let not_a_context = CUcontext(stream.0);
    assert_eq!(code!(cuCtxSetCurrent(not_a_context)), INVALID_CONTEXT);
    assert_eq!(code!(cuCtxDestroy_v2(not_a_context)), INVALID_CONTEXT);
    let not_a_stream = CUstream(context.0.0);
    assert_eq!(code!(cuStreamSynchronize(not_a_stream)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    assert_eq!(code!(cuCtxGetCurrent(null_mut())), INVALID_VALUE);
    assert_eq!(code!(cuCtxCreate_v2(null_mut(), 0, 0)), INVALID_VALUE);
    let mut other = CUcontext::null();
    assert_eq!(code!(cuCtxCreate_v2(&mut other, 0, 99)), CUresult::CUDA_ERROR_INVALID_DEVICE);
    assert_eq!(code!(cuCtxCreate_v2(&mut other, 0x1000, 0)), INVALID_VALUE);
    assert_eq!(code!(cuCtxCreate_v2(&mut other, 3, 0)), INVALID_VALUE);
}

#[test]
fn everything_in_a_context_dies_with_it() {
    let context = TestContext::new();
    let (stream, event, pointer) = (stream(0), event(0), alloc(64));
    drop(context);
    let _other = TestContext::new();
    assert_eq!(code!(cuStreamSynchronize(stream)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    assert_eq!(code!(cuEventQuery(event)), CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
    assert_eq!(code!(cuMemFree_v2(pointer)), INVALID_VALUE);
}

#[test]
fn limits_have_defaults_and_keep_what_is_set() {
    let _context = TestContext::new();
    let limit = |which| {
        let mut value = 0;
        ok!(cuCtxGetLimit(&mut value, which));
        value
    };
    assert_eq!(limit(CUlimit::CU_LIMIT_STACK_SIZE), 1024);
    assert_eq!(limit(CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE), 8 << 20);
    ok!(cuCtxSetLimit(CUlimit::CU_LIMIT_STACK_SIZE, 4096));
    assert_eq!(limit(CUlimit::CU_LIMIT_STACK_SIZE), 4096);
    // As recorded on an H100.
    let (fifo, heap) = (CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE, CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE);
    assert_eq!(limit(fifo), 8_650_752);
    for (set, printed, allocated) in [
        (0, 512 << 10, 4 << 20),
        (100, 512 << 10, 4 << 20),
        (1 << 20, 1 << 20, 4 << 20),
        ((1 << 20) + 1, 1_048_832, 4 << 20),
        (1 << 28, 1 << 28, 1 << 28),
        (1 << 32, 2 << 30, 1 << 32),
    ] {
        ok!(cuCtxSetLimit(fifo, set));
        ok!(cuCtxSetLimit(heap, set));
        assert_eq!((limit(fifo), limit(heap)), (printed, allocated), "{set}");
    }
    ok!(cuCtxSetLimit(fifo, usize::MAX));
    assert_eq!(limit(fifo), 0);
    let mut value = 0;
    let depth = CUlimit::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH;
    assert_eq!(code!(cuCtxGetLimit(&mut value, depth)), CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT);
    assert_eq!(code!(cuCtxSetLimit(CUlimit(99), 1)), INVALID_VALUE);
}

/// A module with kernels: one allocates, one prints through a function, one does neither.
const USERS: &core::ffi::CStr = c"
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.global .align 1 .b8 text[1];
.visible .entry allocates()
{
.reg .b64 %n;
mov.u64 %n, 16;
{ .param .b64 n; .param .b64 r; st.param.b64 [n], %n; call (r), malloc, (n); }
ret;
}
.func prints()
{
.reg .b64 %f;
mov.u64 %f, text;
cvta.global.u64 %f, %f;
{ .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %f; st.param.b64 [v], %f; call (r), vprintf, (f, v); }
ret;
}
.visible .entry calls() { call prints; ret; }
.visible .entry plain() { ret; }
";

/// As recorded on an H200: neither loading a kernel nor running another fixes the size of the heap.
#[test]
fn a_limit_stays_from_the_first_kernel_that_counts_on_it() {
    let _context = TestContext::new();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&mut module, USERS.as_ptr().cast()));
    let launch = |name: &core::ffi::CStr| {
        let mut function = CUfunction::null();
        ok!(cuModuleGetFunction(&mut function, module, name.as_ptr()));
        ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CUstream::null(), null_mut(), null_mut()));
        ok!(cuCtxSynchronize());
        let set = |limit| code!(cuCtxSetLimit(limit, 16 << 20));
        [CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE, CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE].map(set)
    };
    assert_eq!(launch(c"plain"), [CUresult::CUDA_SUCCESS; 2]);
    assert_eq!(launch(c"calls"), [CUresult::CUDA_SUCCESS, INVALID_VALUE]);
    assert_eq!(launch(c"allocates"), [INVALID_VALUE; 2]);
    // Not even to the same size. Other limits stay free.
    assert_eq!(code!(cuCtxSetLimit(CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20)), INVALID_VALUE);
    ok!(cuCtxSetLimit(CUlimit::CU_LIMIT_STACK_SIZE, 2048));
}

#[test]
fn queries_of_the_current_context() {
    let context = TestContext::new();
    let (mut device, mut version, mut least, mut greatest) = (-1, 0, 9, 9);
    ok!(cuCtxGetDevice(&mut device));
    assert_eq!(device, 0);
    ok!(cuCtxGetApiVersion(context.0, &mut version));
    assert_eq!(version, 3020);
    ok!(cuCtxGetStreamPriorityRange(&mut least, &mut greatest));
    assert_eq!((least, greatest), (0, -5));
    let (mut first, mut second) = (0, 0);
    ok!(cuCtxGetId(CUcontext::null(), &mut first));
    let other = TestContext::new();
    ok!(cuCtxGetId(other.0, &mut second));
    assert_ne!(first, second);
}

/// One test, because all tests of a process share the device's primary context.
#[test]
fn the_primary_context_is_counted() {
    let (mut flags, mut active) = (9, 9);
    ok!(cuDevicePrimaryCtxGetState(0, &mut flags, &mut active));
    assert_eq!((flags, active), (0, 0));
    assert_eq!(code!(cuDevicePrimaryCtxRelease_v2(0)), INVALID_CONTEXT);

    ok!(cuDevicePrimaryCtxSetFlags_v2(0, 4));
    let (mut first, mut second) = (CUcontext::null(), CUcontext::null());
    ok!(cuDevicePrimaryCtxRetain(&mut first, 0));
    ok!(cuDevicePrimaryCtxRetain(&mut second, 0));
    assert_eq!(first, second);
    assert!(current().is_null());
    ok!(cuDevicePrimaryCtxGetState(0, &mut flags, &mut active));
    assert_eq!((flags, active), (4, 1));
    assert_eq!(code!(cuCtxDestroy_v2(first)), INVALID_CONTEXT);

    ok!(cuCtxPushCurrent_v2(first));
    let pointer = alloc(64);
    ok!(cuDevicePrimaryCtxRelease_v2(0));
    ok!(cuMemFree_v2(pointer));
    ok!(cuDevicePrimaryCtxRelease_v2(0));
    assert_eq!(code!(cuCtxSynchronize()), DESTROYED);
    ok!(cuCtxPopCurrent_v2(null_mut()));
    ok!(cuDevicePrimaryCtxGetState(0, &mut flags, &mut active));
    assert_eq!(active, 0);

    ok!(cuDevicePrimaryCtxRetain(&mut first, 0));
    ok!(cuDevicePrimaryCtxReset_v2(0));
    // Useless before it is created again, but no error, as on an H100.
    ok!(cuCtxPushCurrent_v2(first));
    assert_eq!(code!(cuCtxSynchronize()), DESTROYED);
    ok!(cuCtxPopCurrent_v2(null_mut()));
    ok!(cuDevicePrimaryCtxRelease_v2(0));
    ok!(cuDevicePrimaryCtxSetFlags_v2(0, 0));
    keeps_its_handle_and_nothing_else();
    assert_eq!(code!(cuDevicePrimaryCtxRelease_v2(7)), CUresult::CUDA_ERROR_INVALID_DEVICE);
}

fn keeps_its_handle_and_nothing_else() {
    let (mut first, mut again, mut id, mut id_again) = (CUcontext::null(), CUcontext::null(), 0, 0);
    ok!(cuDevicePrimaryCtxRetain(&mut first, 0));
    ok!(cuCtxPushCurrent_v2(first));
    ok!(cuCtxGetId(first, &mut id));
    let (memory, stream) = (alloc(64), stream(0));
    ok!(cuDevicePrimaryCtxReset_v2(0));
    assert_eq!(current(), first);
    assert_eq!(code!(cuCtxSynchronize()), DESTROYED);
    assert_eq!(code!(cuCtxGetId(first, &mut id_again)), DESTROYED);
    // It may be current while it is inactive, and works once it is active.
    ok!(cuCtxSetCurrent(first));
    assert_eq!(code!(cuMemFree_v2(memory)), DESTROYED);
    ok!(cuDevicePrimaryCtxRetain(&mut again, 0));
    assert_eq!(again, first);
    ok!(cuCtxGetId(first, &mut id_again));
    assert_ne!(id, id_again);
    ok!(cuCtxSynchronize());
    assert_eq!(code!(cuMemFree_v2(memory)), INVALID_VALUE);
    assert_eq!(code!(cuStreamSynchronize(stream)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    ok!(cuMemFree_v2(alloc(64)));
    ok!(cuDevicePrimaryCtxRelease_v2(0));
    ok!(cuDevicePrimaryCtxRelease_v2(0));
    assert_eq!(code!(cuCtxSynchronize()), DESTROYED);
    ok!(cuCtxPopCurrent_v2(&mut again));
}
