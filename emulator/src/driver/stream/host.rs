//! Callbacks: functions of the client that streams call.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{calls, in_callback};
use crate::driver::state::{Health, Operation, Turn};

#[derive(Debug)]
pub(crate) struct HostCall {
    pub(crate) function: CUhostFn,
    pub(crate) data: *mut core::ffi::c_void,
}

// SAFETY: the driver may call it on any thread. It does not dereference the pointer.
unsafe impl Send for HostCall {}

#[derive(Debug)]
pub(super) struct StreamCallback {
    pub(super) function: CUstreamCallback,
    pub(super) stream: CUstream,
    pub(super) data: *mut core::ffi::c_void,
}

// SAFETY: the driver may call it on any thread, and does not dereference pointer and handle.
unsafe impl Send for StreamCallback {}

impl StreamCallback {
    fn call(&self, health: &Health) {
        if let Some(function) = self.function {
            let status = health.check().err().unwrap_or(CUresult::CUDA_SUCCESS);
            // SAFETY: the client's function and pointer. It may be called on any thread.
            in_callback(|| unsafe { function(self.stream, status, self.data) });
        }
    }
}

impl Operation for HostCall {
    fn run(&self, _turn: Turn<'_>) -> Answer {
        if let Some(function) = self.function {
            // SAFETY: the client's function and pointer. It may be called on any thread.
            in_callback(|| unsafe { function(self.data) });
        }
        Ok(())
    }

    fn calls_client(&self) -> bool {
        true
    }
}

impl Operation for StreamCallback {
    fn run(&self, turn: Turn<'_>) -> Answer {
        self.call(turn.health);
        Ok(())
    }

    fn calls_client(&self) -> bool {
        true
    }

    fn is_told_of_fault(&self) -> bool {
        true
    }

    fn give_up(&self, health: &Health) {
        self.call(health);
    }
}

calls! {
    fn cuStreamAddCallback(
        call,
        hStream: CUstream,
        callback: CUstreamCallback,
        userData: *mut c_void,
        flags: u32,
    ) {
        ensure(callback.is_some() && flags == 0, INVALID_VALUE)?;
        let stream = call.stream_outside_captures(hStream)?;
        stream.push(StreamCallback { function: callback, stream: hStream, data: userData }).map(drop)
    }

    fn cuLaunchHostFunc(call, hStream: CUstream, fn_: CUhostFn, userData: *mut c_void) {
        ensure(fn_.is_some(), INVALID_VALUE)?;
        let stream = call.stream(hStream)?;
        stream.push(HostCall { function: fn_, data: userData }).map(drop)
    }

    fn cuLaunchHostFunc_v2(
        call,
        hStream: CUstream,
        fn_: CUhostFn,
        userData: *mut c_void,
        syncMode: u32,
    ) {
        ensure(fn_.is_some() && syncMode <= 1, INVALID_VALUE)?;
        let stream = call.stream(hStream)?;
        stream.push(HostCall { function: fn_, data: userData }).map(drop)
    }
}
