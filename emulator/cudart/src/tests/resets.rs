//! The end of a device's context under several threads.

use core::ptr;
use std::sync::mpsc::channel;
use std::thread;

use super::program::Program;
use super::{call, device};
use crate::calls::copy::{cudaMemcpyFromSymbol, cudaMemcpyToSymbol};
use crate::calls::device::{cudaDeviceReset, cudaDeviceSynchronize};
use crate::calls::memory::{cudaFree, cudaMalloc, cudaMemset};
use crate::calls::version::cudaGetLastError;

#[test]
fn each_thread_goes_on_after_another_has_reset_the_device() {
    let _device = device();
    let (to_other, from_main) = channel::<()>();
    let (to_main, from_other) = channel::<()>();
    let other = thread::spawn(move || {
        let mut before = ptr::null_mut();
        assert_eq!(call!(cudaMalloc, &mut before, 64), 0);
        to_main.send(()).unwrap();
        from_main.recv().unwrap();
        assert_eq!(call!(cudaMemset, before, 0, 64), 1, "memory from before the reset");
        let mut after = ptr::null_mut();
        assert_eq!(call!(cudaMalloc, &mut after, 64), 0);
        assert_eq!(call!(cudaFree, after), 0);
    });
    from_other.recv().unwrap();
    assert_eq!(call!(cudaDeviceReset), 0);
    to_other.send(()).unwrap();
    other.join().unwrap();
    assert_eq!(call!(cudaDeviceSynchronize), 0);
}

#[test]
fn a_reset_may_be_the_first_and_the_last_call() {
    let _device = device();
    for _ in 0..3 {
        assert_eq!(call!(cudaDeviceReset), 0);
    }
    assert_eq!(call!(cudaDeviceSynchronize), 0);
    assert_eq!(call!(cudaDeviceReset), 0);
}

#[test]
fn variables_begin_anew_after_a_reset() {
    let _device = device();
    let program = Program::start();
    let (changed, mut found) = (77_u32, 0_u32);
    let step = program.step();
    assert_eq!(call!(cudaMemcpyToSymbol, step, ptr::from_ref(&changed).cast(), 4, 0, 1), 0);
    assert_eq!(call!(cudaDeviceReset), 0);
    assert_eq!(call!(cudaMemcpyFromSymbol, ptr::from_mut(&mut found).cast(), step, 4, 0, 2), 0);
    assert_eq!(found, 5);
    let _ = cudaGetLastError();
}
