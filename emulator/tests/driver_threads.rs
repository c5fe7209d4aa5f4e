//! Threads, forks and the end of the process, with operations on a thread of the driver.
//!
//! A separate program, because it installs the asynchronous mode, and forks.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use cuprum_emulator::{Mode, Settings};
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

/// Ends a kernel that waits in vain.
const LIMIT: Duration = Duration::from_secs(20);

fn context() -> TestContext {
    static SETUP: Once = Once::new();
    SETUP.call_once(|| Settings::default().mode(Mode::Async).time_limit(LIMIT).workers(1).install().unwrap());
    TestContext::new()
}

/// True once the host function below may continue.
static GO: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn wait_for_go(_: *mut c_void) {
    while !GO.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

#[test]
fn the_host_goes_on_while_the_device_works() {
    let _context = context();
    let stream = stream(1);
    let buffer = alloc(4);
    ok!(cuLaunchHostFunc(stream, Some(wait_for_go), null_mut()));
    ok!(cuMemsetD32Async(buffer, 3, 1, stream));
    let done = event(0);
    ok!(cuEventRecord(done, stream));
    assert_eq!(code!(cuEventQuery(done)), CUresult::CUDA_ERROR_NOT_READY);
    assert_eq!(code!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY);
    GO.store(true, Ordering::Release);
    ok!(cuEventSynchronize(done));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read::<u32>(buffer, 1), [3]);
}

#[test]
fn many_threads_use_one_context_at_the_same_time() {
    const THREADS: u32 = 8;
    const ROUNDS: u32 = 200;
    let context = context();
    let handle = context.0.0.expose_provenance();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                ok!(cuCtxPushCurrent_v2(CUcontext(core::ptr::with_exposed_provenance_mut(handle))));
                let stream = stream(thread & 1);
                for round in 0..ROUNDS {
                    let value = thread << 16 | round;
                    let buffer = alloc(64);
                    ok!(cuMemsetD32Async(buffer, value, 16, stream));
                    let mut back = [0u32; 16];
                    ok!(cuMemcpyDtoHAsync_v2(back.as_mut_ptr().cast(), buffer, 64, stream));
                    ok!(cuStreamSynchronize(stream));
                    assert_eq!(back, [value; 16]);
                    ok!(cuMemFree_v2(buffer));
                }
                ok!(cuStreamDestroy_v2(stream));
                ok!(cuCtxPopCurrent_v2(null_mut()));
            });
        }
    });
    let mut pointer = 0;
    ok!(cuMemAlloc_v2(&mut pointer, 4));
}

/// The host polls like a wait for a value. ThreadSanitizer would report a copy by other stores.
#[test]
fn a_word_that_the_host_polls_arrives_whole() {
    const ROUNDS: usize = 2_000;
    let context = context();
    let handle = context.0.0.expose_provenance();
    let mut locked = null_mut();
    ok!(cuMemHostAlloc(&mut locked, 64, 0));
    let (bytes, target) = (alloc(64), locked.addr() as CUdeviceptr + 4);
    ok!(cuMemsetD8_v2(bytes, 0, 64));
    ok!(cuMemsetD8_v2(target, 0, 12));
    // SAFETY: eight aligned bytes of page-locked memory, freed below; copies write them atomically.
    let word = unsafe { AtomicU64::from_ptr(locked.cast::<u64>().wrapping_add(1)) };
    let (last_seen, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let torn = std::thread::scope(|scope| {
        scope.spawn(|| {
            ok!(cuCtxPushCurrent_v2(CUcontext(core::ptr::with_exposed_provenance_mut(handle))));
            let stream = stream(1);
            for round in 0..ROUNDS {
                // The first four bytes are half a word, and the source has every alignment.
                ok!(cuMemsetD32Async(target, u32::MAX, 3, stream));
                // On a busy machine, the host may sleep through all rounds that do not meet it.
                if round % 32 == 0 {
                    ok!(cuStreamSynchronize(stream));
                    while last_seen.load(Ordering::Acquire) == 0 {
                        std::thread::yield_now();
                    }
                }
                ok!(cuMemcpyAsync(target, bytes + (round % 8) as u64, 12, stream));
            }
            ok!(cuStreamSynchronize(stream));
            is_over.store(true, Ordering::Release);
        });
        while !is_over.load(Ordering::Acquire) {
            let seen = word.load(Ordering::Acquire);
            last_seen.store(seen, Ordering::Release);
            if seen != 0 && seen != u64::MAX {
                return Some(seen);
            }
        }
        None
    });
    assert!(torn.is_none(), "half of a word arrived: {torn:x?}");
    ok!(cuMemFreeHost(locked));
}

/// Waits until a word is not zero, by an operation that writes it back.
const AWAIT: &core::ffi::CStr = c".version 8.0\n.target sm_70\n.address_size 64\n
    .visible .entry await(.param .u64 flag) { .reg .b64 %a; .reg .b32 %v; .reg .pred %p;
    ld.param.u64 %a, [flag]; SPIN: atom.global.or.b32 %v, [%a], 0; setp.eq.u32 %p, %v, 0; @%p bra SPIN; ret; }";

/// An operation of another stream reaches a kernel that changes the same word meanwhile.
#[test]
fn no_operation_of_another_stream_is_lost_beside_a_kernel() {
    const ROUNDS: u32 = 150;
    let _context = context();
    let (mut module, mut function) = (CUmodule(null_mut()), CUfunction(null_mut()));
    ok!(cuModuleLoadData(&mut module, AWAIT.as_ptr().cast()));
    ok!(cuModuleGetFunction(&mut function, module, c"await".as_ptr()));
    let [waiting, writing] = [stream(1), stream(1)];
    let mut flag = alloc(4);
    let one = 1u32;
    for round in 0..ROUNDS {
        ok!(cuMemsetD32_v2(flag, 0, 1));
        // The fill may be late, and these streams do not wait for it.
        ok!(cuCtxSynchronize());
        let mut params = [(&raw mut flag).cast()];
        let none = null_mut();
        ok!(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, waiting, params.as_mut_ptr(), none));
        // The kernel has started in some rounds.
        (0..round % 5 * 20).for_each(|_| std::thread::yield_now());
        match round % 3 {
            0 => ok!(cuMemsetD32Async(flag, 2, 1, writing)),
            1 => ok!(cuMemcpyHtoDAsync_v2(flag, (&raw const one).cast(), 4, writing)),
            _ => ok!(cuStreamWriteValue32_v2(writing, flag, 3, 0)),
        }
        ok!(cuStreamSynchronize(writing));
        ok!(cuStreamSynchronize(waiting));
    }
    ok!(cuModuleUnload(module));
}

#[test]
fn a_thread_may_end_with_contexts_on_its_stack() {
    std::thread::spawn(|| std::mem::forget(context())).join().unwrap();
}

#[cfg(unix)]
#[test]
fn a_forked_child_gets_an_error_and_no_crash() {
    unsafe extern "C" {
        fn fork() -> c_int;
        fn _exit(status: c_int) -> !;
        fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    }
    let _context = context();
    let buffer = alloc(4);
    let fns = fns();
    // SAFETY: the child only calls the driver, which returns before it takes any lock, and exits.
    let child = unsafe { fork() };
    assert!(child >= 0);
    if child == 0 {
        let (mut pointer, mut version) = (0, 0);
        // SAFETY: in all four, the arguments are valid, or outputs of this test.
        let allocated = unsafe { (fns.cuMemAlloc_v2)(&mut pointer, 4) };
        // SAFETY: as above.
        let freed = unsafe { (fns.cuMemFree_v2)(buffer) };
        // SAFETY: as above.
        let synchronized = unsafe { (fns.cuCtxSynchronize)() };
        // SAFETY: as above.
        let asked = unsafe { (fns.cuDriverGetVersion)(&mut version) };
        let refused = [allocated, freed, synchronized]
            .iter()
            .all(|&result| result == CUresult::CUDA_ERROR_NOT_INITIALIZED);
        let right = refused && asked == CUresult::CUDA_SUCCESS;
        // SAFETY: ends the child without the cleanup of the parent's threads.
        unsafe { _exit(if right { 0 } else { 1 }) };
    }
    let mut status = -1;
    // SAFETY: waits for the child just made.
    let ended = unsafe { waitpid(child, &mut status, 0) };
    assert_eq!((ended, status), (child, 0));
    ok!(cuMemFree_v2(buffer));
}

/// Frees its memory at the end of the thread, like a client's object in a thread-local variable.
struct Owner(std::cell::Cell<CUdeviceptr>);

static FREED: std::sync::Mutex<Vec<(CUresult, CUresult, bool)>> = std::sync::Mutex::new(Vec::new());

impl Drop for Owner {
    fn drop(&mut self) {
        let is_current = !current().is_null();
        let freed = code!(cuMemFree_v2(self.0.get()));
        let synchronized = code!(cuStreamSynchronize(CU_STREAM_PER_THREAD));
        FREED.lock().unwrap().push((freed, synchronized, is_current));
    }
}

thread_local! {
    static BEFORE: Owner = const { Owner(std::cell::Cell::new(0)) };
    static AFTER: Owner = const { Owner(std::cell::Cell::new(0)) };
}

#[test]
fn destructors_of_thread_local_variables_may_call_the_driver() {
    let main = context();
    let handle = main.0.0.expose_provenance();
    let thread = std::thread::spawn(move || {
        // Destroyed in the reverse order of first use, so last of all.
        BEFORE.with(|_| ());
        ok!(cuCtxPushCurrent_v2(CUcontext(core::ptr::with_exposed_provenance_mut(handle))));
        BEFORE.with(|owner| owner.0.set(alloc(64)));
        AFTER.with(|owner| owner.0.set(alloc(64)));
    });
    thread.join().unwrap();
    let success = CUresult::CUDA_SUCCESS;
    assert_eq!(*FREED.lock().unwrap(), [(success, success, true); 2]);
}
