//! Linear copies, and the waits for them.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::driver::answer::Answer;
use crate::driver::call::{Call, calls};
use crate::driver::memory::{Bytes, unified};
use crate::driver::state::{captures, scheduler};
use crate::driver::stream::StreamRef;

use super::copy::Copy;

const DEFAULT: CUstream = CUstream::null();

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Yes,
    No,
}

/// Issues a copy. Waits as documented in "API synchronization behavior", and as an H100 does.
pub(crate) fn issue(stream: &StreamRef, copy: Copy, wait: Wait) -> Answer {
    let scheduler = scheduler();
    let (from, to) = (&copy.from.bytes, &copy.to.bytes);
    let is_captured = captures().has(stream.lane());
    if !is_captured {
        copy.note_host_read();
    }
    match wait {
        // The host does not need the bytes.
        Wait::Yes if from.is_of_device() && to.is_of_device() => stream.push_unawaited(copy),
        Wait::Yes if scheduler.is_eager() && from.is_pageable() && to.is_of_device() => {
            if !is_captured {
                scheduler.note_lane_seen(stream.lane());
            }
            stream.push_unawaited(copy)
        }
        Wait::No if scheduler.runs_at_once() => stream.push(copy).map(drop),
        // Nothing is copied before the graph runs, which reads the memory at that time.
        Wait::No if is_captured => stream.push(copy).map(drop),
        // Returns when the bytes have left the host, before they reach the device.
        Wait::Yes if from.is_pageable() && to.is_of_device() => {
            if !is_captured {
                stream.wait()?;
            }
            stream.push(copy.stage()?).map(drop)
        }
        Wait::Yes => stream.push_and_wait(copy),
        Wait::No if to.is_pageable() && scheduler.waits_for_pageable_memory() => {
            scheduler.wait_unseen(stream.push(copy.stage()?)?);
            stream.context().check()
        }
        Wait::No => stream.push(copy.stage()?).map(drop),
    }
}

/// Issues a linear copy, unless it is empty.
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

/// Issues a synchronous copy between contexts. The host only waits if a side is page-locked.
pub(super) fn issue_between(stream: &StreamRef, copy: Copy) -> Answer {
    let is_on_host = copy.from.bytes.is_locked() || copy.to.bytes.is_locked();
    if scheduler().is_eager() && !is_on_host {
        return stream.push_unawaited(copy);
    }
    issue(stream, copy, if is_on_host { Wait::Yes } else { Wait::No })
}

pub(crate) fn anywhere(stream: &StreamRef, wait: Wait, to: u64, from: u64, len: usize) -> Answer {
    linear(stream, len, wait, &|len| Ok((unified(to, len)?, unified(from, len)?)))
}

/// Returns the contexts of a copy between contexts without a stream. It runs after all earlier work
/// of both and before all later work. The host waits no more than for a copy within one context.
pub(super) fn fenced(call: &Call, contexts: [CUcontext; 2]) -> Answer<[usize; 2]> {
    Ok([call.context_or_current(contexts[0])?.handle, call.context_or_current(contexts[1])?.handle])
}

/// Issues a copy between devices, determined by the addresses; the contexts are only checked.
fn between(
    call: &Call,
    stream: CUstream,
    wait: Wait,
    (to, to_context): (u64, CUcontext),
    (from, from_context): (u64, CUcontext),
    len: usize,
) -> Answer {
    if wait == Wait::No {
        call.stream_outside_captures(stream)?;
        call.context_or_current(to_context)?;
        call.context_or_current(from_context)?;
        return on_device(call, stream, wait, to, from, len);
    }
    let stream = call.stream(stream)?;
    let (fenced, len) = (fenced(call, [to_context, from_context])?, len as u64);
    if len == 0 {
        return Ok(());
    }
    let copy = Copy::linear(Bytes::on_device(to, len)?, Bytes::on_device(from, len)?, len);
    issue_between(&stream, Copy { fenced, ..copy })
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
        anywhere(&call.default_stream()?, Wait::Yes, dst, src, ByteCount)
    }

    fn cuMemcpyAsync(call, dst: u64, src: u64, ByteCount: usize, hStream: CUstream) {
        anywhere(&call.stream(hStream)?, Wait::No, dst, src, ByteCount)
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
