//! Work that continues after a fault of its context (copies of page-locked memory, and callbacks
//! that receive the fault), and work that does not (other kernels).
//!
//! Recorded on an H200: with copies queued on one stream and a faulting kernel on another,
//! `cuStreamSynchronize` returns before some of the bytes have arrived; they arrive later.

use core::ffi::c_void;
use core::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;
use cuprum_testing::processes::in_child;

const ILLEGAL_ADDRESS: CUresult = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
const NON_BLOCKING: u32 = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
const BYTES: usize = 8 << 20;
const COPIES: usize = 8;
const PAGE: usize = 4096;

fn faulty_kernel() -> CUfunction {
    let text = c".version 7.7\n.target sm_75\n.address_size 64\n.visible .entry fault() {\n\
        .reg .b64 %a; mov.u64 %a, 0; st.global.u32 [%a], 1; ret; }\n";
    let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    ok!(cuModuleGetFunction(&mut function, module, c"fault".as_ptr()));
    function
}

fn launch(function: CUfunction, stream: CUstream) {
    ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, null_mut(), null_mut()));
}

/// State of the host function below: it is running; it may end.
static RUNS: AtomicBool = AtomicBool::new(false);
static MAY_END: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn keep_busy(_: *mut c_void) {
    RUNS.store(true, Ordering::Release);
    while !MAY_END.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

/// Keeps the thread for operations, if any, busy, so that copies stay queued until the fault.
fn hold(mode: &str) {
    if mode == "async" {
        ok!(cuLaunchHostFunc(stream(NON_BLOCKING), Some(keep_busy), NULL));
        while !RUNS.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }
}

fn let_go() {
    MAY_END.store(true, Ordering::Release);
}

/// Returns zeroed page-locked memory, and device memory of ones.
fn memory() -> (*mut c_void, CUdeviceptr) {
    let (mut host, device) = (null_mut(), alloc(BYTES));
    ok!(cuMemAllocHost_v2(&mut host, BYTES * COPIES));
    ok!(cuMemsetD8_v2(device, 1, BYTES));
    ok!(cuCtxSynchronize());
    // SAFETY: the memory just allocated.
    unsafe { host.cast::<u8>().write_bytes(0, BYTES * COPIES) };
    (host, device)
}

/// Estimates the number of bytes that have arrived from one byte of each page.
fn arrived(host: *mut c_void) -> usize {
    let byte = |page: &usize| host.cast::<u8>().wrapping_add(page * PAGE + PAGE - 1);
    // SAFETY: within the live allocation; volatile, because the copy may be writing.
    let is_there = |page: &usize| unsafe { byte(page).read_volatile() } == 1;
    (0..BYTES * COPIES / PAGE).filter(is_there).count() * PAGE
}

fn queue_copies(host: *mut c_void, device: CUdeviceptr, stream: CUstream) {
    for copy in 0..COPIES {
        ok!(cuMemcpyDtoHAsync_v2(host.wrapping_byte_add(copy * BYTES), device, BYTES, stream));
    }
}

fn wait_until_all_arrived(host: *mut c_void) {
    let start = Instant::now();
    while arrived(host) < BYTES * COPIES {
        assert!(start.elapsed() < Duration::from_secs(20), "{} bytes", arrived(host));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// In the shuffled mode the copies may finish before the fault.
const MODES: [&str; 2] = ["async", "deferred"];

#[test]
fn copies_of_locked_memory_go_on_after_the_wait_that_answers_for_the_fault() {
    for mode in MODES {
        in_child(
            "outlive::copies_of_locked_memory_go_on_after_the_wait_that_answers_for_the_fault",
            &[("CUPRUM_EMULATOR_MODE", mode)],
            || {
                let context = TestContext::new();
                let (host, device) = memory();
                let (kernel, copies, faulty) = (faulty_kernel(), stream(NON_BLOCKING), stream(NON_BLOCKING));
                hold(mode);
                queue_copies(host, device, copies);
                launch(kernel, faulty);
                assert_eq!(code!(cuStreamSynchronize(faulty)), ILLEGAL_ADDRESS);
                assert_eq!(code!(cuStreamSynchronize(copies)), ILLEGAL_ADDRESS);
                let_go();
                assert_eq!(code!(cuCtxSynchronize()), ILLEGAL_ADDRESS);
                let at_once = arrived(host);
                assert!(at_once < BYTES * COPIES, "all is there already");
                wait_until_all_arrived(host);
                drop(context);
            },
        );
    }
}

#[test]
fn the_end_of_the_context_waits_for_them() {
    for mode in MODES {
        in_child("outlive::the_end_of_the_context_waits_for_them", &[("CUPRUM_EMULATOR_MODE", mode)], || {
            let context = TestContext::new();
            let device = memory().1;
            let mut own = vec![0u8; BYTES * COPIES];
            let host: *mut c_void = own.as_mut_ptr().cast();
            ok!(cuMemHostRegister_v2(host, BYTES * COPIES, 0));
            let (kernel, copies, faulty) = (faulty_kernel(), stream(NON_BLOCKING), stream(NON_BLOCKING));
            hold(mode);
            queue_copies(host, device, copies);
            launch(kernel, faulty);
            assert_eq!(code!(cuStreamSynchronize(faulty)), ILLEGAL_ADDRESS);
            assert!(arrived(host) < BYTES * COPIES, "all is there already");
            let_go();
            drop(context);
            assert_eq!(arrived(host), BYTES * COPIES);
        });
    }
}

#[test]
fn unregistering_waits_for_them_though_it_fails() {
    in_child(
        "outlive::unregistering_waits_for_them_though_it_fails",
        &[("CUPRUM_EMULATOR_MODE", "deferred")],
        || {
            let _context = TestContext::new();
            let device = memory().1;
            let mut own = vec![0u8; BYTES * COPIES];
            let host: *mut c_void = own.as_mut_ptr().cast();
            ok!(cuMemHostRegister_v2(host, BYTES * COPIES, 0));
            let (kernel, copies, faulty) = (faulty_kernel(), stream(NON_BLOCKING), stream(NON_BLOCKING));
            queue_copies(host, device, copies);
            launch(kernel, faulty);
            assert_eq!(code!(cuCtxSynchronize()), ILLEGAL_ADDRESS);
            assert_eq!(code!(cuMemHostUnregister(host)), ILLEGAL_ADDRESS);
            assert_eq!(arrived(host), BYTES * COPIES);
        },
    );
}

#[test]
fn what_waits_for_the_fault_and_copies_of_pageable_memory_stop() {
    for mode in MODES {
        in_child(
            "outlive::what_waits_for_the_fault_and_copies_of_pageable_memory_stop",
            &[("CUPRUM_EMULATOR_MODE", mode)],
            || {
                let _context = TestContext::new();
                let (host, device) = memory();
                let mut pageable = vec![0u8; BYTES];
                let (kernel, copies, faulty) = (faulty_kernel(), stream(NON_BLOCKING), stream(NON_BLOCKING));
                launch(kernel, faulty);
                // Never issued after the fault, which in the asynchronous mode may have occurred.
                let queued = code!(cuMemcpyDtoHAsync_v2(host, device, BYTES, faulty));
                assert!([CUresult::CUDA_SUCCESS, ILLEGAL_ADDRESS].contains(&queued), "{queued:?}");
                if mode != "async" {
                    let to: *mut c_void = pageable.as_mut_ptr().cast();
                    ok!(cuMemcpyDtoHAsync_v2(to, device, BYTES, copies));
                }
                assert_eq!(code!(cuCtxSynchronize()), ILLEGAL_ADDRESS);
                let at_once = pageable.clone();
                std::thread::sleep(Duration::from_millis(300));
                assert_eq!(arrived(host), 0);
                assert!(pageable == at_once, "pageable memory changed after the wait");
            },
        );
    }
}

/// Statuses that callbacks received, and `None` for each host function.
static SEEN: Mutex<Vec<Option<CUresult>>> = Mutex::new(Vec::new());

unsafe extern "C" fn callback(_: CUstream, status: CUresult, _: *mut c_void) {
    SEEN.lock().unwrap().push(Some(status));
}

unsafe extern "C" fn host_function(_: *mut c_void) {
    SEEN.lock().unwrap().push(None);
}

#[test]
fn callbacks_are_told_of_the_fault_and_host_functions_are_not_called() {
    for mode in MODES {
        in_child(
            "outlive::callbacks_are_told_of_the_fault_and_host_functions_are_not_called",
            &[("CUPRUM_EMULATOR_MODE", mode)],
            || {
                let _context = TestContext::new();
                let (kernel, faulty) = (faulty_kernel(), stream(NON_BLOCKING));
                launch(kernel, faulty);
                // In the asynchronous mode the fault may already have occurred.
                let added = code!(cuStreamAddCallback(faulty, Some(callback), NULL, 0));
                let _ = code!(cuLaunchHostFunc(faulty, Some(host_function), NULL));
                assert_eq!(code!(cuStreamSynchronize(faulty)), ILLEGAL_ADDRESS);
                let expected =
                    if added == CUresult::CUDA_SUCCESS { vec![Some(ILLEGAL_ADDRESS)] } else { vec![] };
                let start = Instant::now();
                while *SEEN.lock().unwrap() != expected {
                    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", SEEN.lock().unwrap());
                    std::thread::sleep(Duration::from_millis(5));
                }
            },
        );
    }
}

/// Returns a kernel that reports that it is running, and ends on request.
fn endless_kernel() -> CUfunction {
    let text = c".version 7.7\n.target sm_75\n.address_size 64\n.visible .entry wait(.param .u64 p) {\n\
        .reg .b64 %a; .reg .b32 %v; .reg .pred %q; ld.param.u64 %a, [p]; st.volatile.global.u32 [%a], 1;\n\
        L: ld.volatile.global.u32 %v, [%a+4]; setp.eq.u32 %q, %v, 0; @%q bra L; ret; }\n";
    let (mut module, mut function) = (CUmodule::null(), CUfunction::null());
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    ok!(cuModuleGetFunction(&mut function, module, c"wait".as_ptr()));
    function
}

fn comes_true(limit: Duration, is_true: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !is_true() {
        if start.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

struct Sent(CUcontext, CUstream, CUfunction);

// SAFETY: handles of driver objects, which any thread may use.
unsafe impl Send for Sent {}

impl Sent {
    fn handles(self) -> (CUcontext, CUstream, CUfunction) {
        (self.0, self.1, self.2)
    }
}

#[test]
fn a_kernel_ends_when_another_one_of_its_context_faults() {
    let context = TestContext::new();
    let mut words = null_mut();
    ok!(cuMemAllocHost_v2(&mut words, 8));
    ok!(cuMemsetD8_v2(words.addr() as u64, 0, 8));
    let (endless, faulty) = (endless_kernel(), faulty_kernel());
    let [one, other] = [stream(NON_BLOCKING), stream(NON_BLOCKING)];
    let at = words.addr();
    let word = |index: usize| core::ptr::with_exposed_provenance_mut::<u32>(at).wrapping_add(index);
    let (sent, over) = (Sent(context.0, one, endless), &AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (current, one, endless) = sent.handles();
            ok!(cuCtxSetCurrent(current));
            let mut argument = at as u64;
            let mut params = [(&raw mut argument).cast::<c_void>()];
            let result =
                code!(cuLaunchKernel(endless, 1, 1, 1, 1, 1, 1, 0, one, params.as_mut_ptr(), null_mut()));
            assert!(matches!(result, CUresult::CUDA_SUCCESS | ILLEGAL_ADDRESS), "{result:?}");
            assert_eq!(code!(cuStreamSynchronize(one)), ILLEGAL_ADDRESS);
            over.store(true, Ordering::Release);
        });
        // SAFETY: a word that the kernel writes, which outlives these threads.
        let first = unsafe { AtomicU32::from_ptr(word(0)) };
        let runs = comes_true(Duration::from_secs(20), || first.load(Ordering::Relaxed) == 1);
        let result = code!(cuLaunchKernel(faulty, 1, 1, 1, 1, 1, 1, 0, other, null_mut(), null_mut()));
        let fault = code!(cuStreamSynchronize(other));
        let ends = comes_true(Duration::from_secs(20), || over.load(Ordering::Acquire));
        // SAFETY: as above. Lets the kernel end, so that a failing test also ends.
        unsafe { AtomicU32::from_ptr(word(1)) }.store(1, Ordering::Relaxed);
        assert!(runs && ends, "runs {runs}, ends {ends}");
        assert!(matches!(result, CUresult::CUDA_SUCCESS | ILLEGAL_ADDRESS), "{result:?}");
        assert_eq!(fault, ILLEGAL_ADDRESS);
    });
}
