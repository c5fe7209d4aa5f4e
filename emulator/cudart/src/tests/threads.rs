//! State of a thread: its last error, its device, its context.

use core::ptr;
use std::thread;

use cuprum_sys::{CUcontext, CUevent, StreamMode};

use super::{call, device};
use crate::calls::device::{cudaGetDevice, cudaGetDeviceCount, cudaSetDevice, cudaSetValidDevices};
use crate::calls::event::{cudaEventCreateWithFlags, cudaEventDestroy};
use crate::calls::memory::{cudaFree, cudaMalloc};
use crate::calls::version::{cudaGetErrorName, cudaGetLastError, cudaPeekAtLastError};
use crate::driver;
use crate::error::cudaError;
use crate::state::device::{current, primary};

fn now() -> CUcontext {
    current(driver::fns(StreamMode::Legacy).unwrap()).unwrap()
}

#[test]
fn the_last_error_is_the_threads_own_and_stays_until_it_is_taken() {
    let _device = device();
    assert_eq!(call!(cudaSetDevice, 99), 101);
    let mut count = 0;
    assert_eq!(call!(cudaGetDeviceCount, &mut count), 0);
    assert_eq!(count, 1);
    assert_eq!(thread::spawn(|| cudaPeekAtLastError().0).join().unwrap(), 0);
    assert_eq!(cudaPeekAtLastError().0, 101);
    assert_eq!(cudaGetLastError().0, 101);
    assert_eq!(cudaGetLastError().0, 0);
}

#[test]
fn a_query_that_is_not_ready_is_no_error() {
    let _device = device();
    assert_eq!(crate::state::thread::record(Err(cudaError::cudaErrorNotReady)).0, 600);
    assert_eq!(cudaGetLastError().0, 0);
}

#[test]
fn only_what_needs_a_context_makes_one_current() {
    let _device = device();
    let seen = thread::spawn(|| {
        let mut device = 7;
        assert_eq!(call!(cudaGetDevice, &mut device), 0);
        let before = now();
        assert_eq!(call!(cudaFree, ptr::null_mut()), 0);
        (device, before.is_null(), now().is_null())
    });
    assert_eq!(seen.join().unwrap(), (0, true, false));
}

#[test]
fn a_list_of_devices_is_checked_before_it_counts() {
    let _device = device();
    let mut list = [0, 1];
    assert_eq!(call!(cudaSetValidDevices, list.as_mut_ptr(), 2), 101);
    assert_eq!(call!(cudaSetValidDevices, list.as_mut_ptr(), -1), 1);
    assert_eq!(call!(cudaSetValidDevices, ptr::null_mut(), 1), 1);
    assert_eq!(call!(cudaSetValidDevices, list.as_mut_ptr(), 1), 0);
    assert_eq!(call!(cudaSetValidDevices, ptr::null_mut(), 0), 0);
    let _ = cudaGetLastError();
}

#[test]
fn a_context_of_the_programs_own_is_used_as_it_is() {
    let _device = device();
    thread::spawn(|| {
        let fns = driver::fns(StreamMode::Legacy).unwrap();
        let shared = primary(fns, 0).unwrap();
        let mut own = CUcontext::null();
        // SAFETY: a valid output.
        let made = unsafe { (fns.cuCtxCreate_v2)(&mut own, 0, 0) };
        assert_eq!(made.0, 0);
        let mut event = CUevent::null();
        assert_eq!(call!(cudaEventCreateWithFlags, &mut event, 0), 0);
        assert_eq!(now(), own);
        assert_eq!(call!(cudaEventDestroy, event), 0);
        assert_eq!(call!(cudaSetDevice, 0), 0);
        assert_eq!(now(), shared);
        // SAFETY: created above, and no longer used.
        assert_eq!(unsafe { (fns.cuCtxDestroy_v2)(own) }.0, 0);
    })
    .join()
    .unwrap();
}

#[test]
fn nothing_is_allocated_without_a_place_for_its_address() {
    let _device = device();
    assert_eq!(call!(cudaMalloc, ptr::null_mut(), 64), 1);
    assert_eq!(call!(cudaMalloc, ptr::null_mut(), 0), 1);
    let mut address = ptr::without_provenance_mut(1);
    assert_eq!(call!(cudaMalloc, &mut address, 0), 0);
    assert!(address.is_null());
    let _ = cudaGetLastError();
}

#[test]
fn codes_have_the_names_of_the_runtime() {
    let name = |code| {
        // SAFETY: a constant C string.
        unsafe { std::ffi::CStr::from_ptr(cudaGetErrorName(cudaError(code))) }.to_str().unwrap()
    };
    assert_eq!(
        (name(0), name(2), name(719)),
        ("cudaSuccess", "cudaErrorMemoryAllocation", "cudaErrorLaunchFailure")
    );
    assert_eq!(name(12345), "unrecognized error code");
}
