//! Copies of bytes in a row, and the waits for them.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::driver::answer::Answer;
use crate::driver::call::{Call, calls};
use crate::driver::context::Context;
use crate::driver::memory::{Bytes, unified};
use crate::driver::state::{captures, scheduler};
use crate::driver::stream::StreamRef;

use super::copy::Copy;

/// The default stream.
const DEFAULT: CUstream = CUstream::null();

/// Wait of a call for its copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Yes,
    No,
}

/// Issues a copy. The call waits as NVIDIA documents it under "API synchronization behavior", and as an H100
/// does it.
pub(crate) fn issue(stream: &StreamRef, copy: Copy, wait: Wait) -> Answer {
    let scheduler = scheduler();
    if scheduler.is_eager() {
        return match wait {
            Wait::Yes => stream.push_and_wait(copy),
            Wait::No => stream.push(copy).map(drop),
        };
    }
    let (from, to) = (&copy.from.bytes, &copy.to.bytes);
    match wait {
        // Nothing is copied before the graph runs: the contents of the memory at that time count.
        Wait::No if captures().has(stream.lane()) => stream.push(copy).map(drop),
        // Nobody on the host needs the bytes.
        Wait::Yes if from.is_of_device() && to.is_of_device() => stream.push(copy).map(drop),
        // The call returns when the bytes have left the host, but before they have reached the device.
        Wait::Yes if from.is_pageable() && to.is_of_device() => {
            if !captures().has(stream.lane()) {
                stream.wait()?;
            }
            stream.push(copy.stage()?).map(drop)
        }
        Wait::Yes => stream.push_and_wait(copy),
        Wait::No if to.is_pageable() && scheduler.waits_for_pageable_memory() => {
            stream.push_and_wait(copy.stage()?)
        }
        Wait::No => stream.push(copy.stage()?).map(drop),
    }
}

/// Issues a linear copy, unless there is nothing to copy.
pub(crate) fn linear(
    stream: &StreamRef,
    len: usize,
    wait: Wait,
    ends: &dyn Fn(u64) -> Answer<(Bytes, Bytes)>,
) -> Answer {
    if len == 0 {
        return Ok(());
    }
    let len = len as u64;
    let (to, from) = ends(len)?;
    issue(stream, Copy::linear(to, from, len), wait)
}

fn to_device(call: &Call, stream: CUstream, wait: Wait, to: u64, from: *const c_void, len: usize) -> Answer {
    let stream = call.stream(stream)?;
    linear(&stream, len, wait, &|len| {
        Ok((Bytes::on_device(to, len)?, Bytes::host(from.cast_mut().cast(), len)?))
    })
}

fn to_host(call: &Call, stream: CUstream, wait: Wait, to: *mut c_void, from: u64, len: usize) -> Answer {
    let stream = call.stream(stream)?;
    linear(&stream, len, wait, &|len| Ok((Bytes::host(to.cast(), len)?, Bytes::on_device(from, len)?)))
}

fn on_device(call: &Call, stream: CUstream, wait: Wait, to: u64, from: u64, len: usize) -> Answer {
    let stream = call.stream(stream)?;
    linear(&stream, len, wait, &|len| Ok((Bytes::on_device(to, len)?, Bytes::on_device(from, len)?)))
}

pub(crate) fn anywhere(call: &Call, stream: CUstream, wait: Wait, to: u64, from: u64, len: usize) -> Answer {
    let stream = call.stream(stream)?;
    linear(&stream, len, wait, &|len| Ok((unified(to, len)?, unified(from, len)?)))
}

/// A copy between devices; the addresses say which, the contexts are checked. The synchronous one comes after all work
/// of both contexts, and before all that follows.
fn between(
    call: &Call,
    stream: CUstream,
    wait: Wait,
    (to, to_context): (u64, CUcontext),
    (from, from_context): (u64, CUcontext),
    len: usize,
) -> Answer {
    let contexts = [Context::find(to_context)?, Context::find(from_context)?];
    contexts.iter().try_for_each(|context| context.check())?;
    if wait == Wait::No {
        return on_device(call, stream, wait, to, from, len);
    }
    let stream = call.stream(stream)?;
    contexts.iter().try_for_each(|context| context.synchronize())?;
    on_device(call, DEFAULT, wait, to, from, len)?;
    stream.wait()
}

calls! {
    fn cuMemcpyHtoD_v2(call, dstDevice: u64, srcHost: *const c_void, ByteCount: usize) {
        to_device(call, DEFAULT, Wait::Yes, dstDevice, srcHost, ByteCount)
    }

    fn cuMemcpyHtoDAsync_v2(
        call,
        dstDevice: u64,
        srcHost: *const c_void,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        to_device(call, hStream, Wait::No, dstDevice, srcHost, ByteCount)
    }

    fn cuMemcpyDtoH_v2(call, dstHost: *mut c_void, srcDevice: u64, ByteCount: usize) {
        to_host(call, DEFAULT, Wait::Yes, dstHost, srcDevice, ByteCount)
    }

    fn cuMemcpyDtoHAsync_v2(
        call,
        dstHost: *mut c_void,
        srcDevice: u64,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        to_host(call, hStream, Wait::No, dstHost, srcDevice, ByteCount)
    }

    fn cuMemcpyDtoD_v2(call, dstDevice: u64, srcDevice: u64, ByteCount: usize) {
        on_device(call, DEFAULT, Wait::Yes, dstDevice, srcDevice, ByteCount)
    }

    fn cuMemcpyDtoDAsync_v2(
        call,
        dstDevice: u64,
        srcDevice: u64,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        on_device(call, hStream, Wait::No, dstDevice, srcDevice, ByteCount)
    }

    fn cuMemcpy(call, dst: u64, src: u64, ByteCount: usize) {
        anywhere(call, DEFAULT, Wait::Yes, dst, src, ByteCount)
    }

    fn cuMemcpyAsync(call, dst: u64, src: u64, ByteCount: usize, hStream: CUstream) {
        anywhere(call, hStream, Wait::No, dst, src, ByteCount)
    }

    fn cuMemcpyPeer(
        call,
        dstDevice: u64,
        dstContext: CUcontext,
        srcDevice: u64,
        srcContext: CUcontext,
        ByteCount: usize,
    ) {
        between(
            call, DEFAULT, Wait::Yes, (dstDevice, dstContext), (srcDevice, srcContext), ByteCount,
        )
    }

    fn cuMemcpyPeerAsync(
        call,
        dstDevice: u64,
        dstContext: CUcontext,
        srcDevice: u64,
        srcContext: CUcontext,
        ByteCount: usize,
        hStream: CUstream,
    ) {
        between(
            call, hStream, Wait::No, (dstDevice, dstContext), (srcDevice, srcContext), ByteCount,
        )
    }
}
