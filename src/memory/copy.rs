//! Copies and fills: one function for each that the driver has. What owns or lends memory checks lengths and that the
//! context is current, and calls these.
//!
//! The safe layer gives one promise about them: what one call wrote, the next call on the same memory reads, on
//! whichever thread. The legacy default stream keeps it, as all of these run on it. Where the library was opened with
//! per-thread default streams, each thread has a queue of its own and nothing orders them; there the host waits for
//! what the driver may leave in flight.

use std::ffi::c_void;

use cuprum_sys::{CUdeviceptr, CUstream, StreamMode};

use super::data::Pattern;
use crate::context::ContextRef;
use crate::error::Error;
use crate::raw::call::context_call;

/// Copies `bytes` bytes from the host. It may be reused on return.
///
/// # Safety
/// Both sides have `bytes` bytes, `context` is current and the device side is of it.
#[inline]
pub(crate) unsafe fn from_host(
    context: &ContextRef,
    to: CUdeviceptr,
    host: *const c_void,
    bytes: usize,
) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller's word.
    unsafe { context_call!(context, cuMemcpyHtoD_v2(to, host, bytes)) }?;
    settle(context)
}

/// Copies `bytes` bytes to the host. When it returns, the device no longer touches that memory, whatever the answer is:
/// measured for faults of all kinds that happen during the copy (`tests/data/goldens/after_fault.txt`).
///
/// # Safety
/// As [`from_host`].
#[inline]
pub(crate) unsafe fn to_host(
    context: &ContextRef,
    host: *mut c_void,
    from: CUdeviceptr,
    bytes: usize,
) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller's word.
    unsafe { context_call!(context, cuMemcpyDtoH_v2(host, from, bytes)) }
}

/// Copies `bytes` bytes within the device. The host does not wait.
///
/// # Safety
/// As [`from_host`].
#[inline]
pub(crate) unsafe fn within(
    context: &ContextRef,
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller's word.
    unsafe { context_call!(context, cuMemcpyDtoD_v2(to, from, bytes)) }?;
    settle(context)
}

/// Copies `bytes` bytes from one context to another, each given with an address of its memory. The host does not wait.
///
/// # Safety
/// Both sides have `bytes` bytes in their contexts, which are of one driver.
pub(crate) unsafe fn between(
    (to_context, to): (&ContextRef, CUdeviceptr),
    (from_context, from): (&ContextRef, CUdeviceptr),
    bytes: usize,
) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    let (there, here) = (to_context.as_raw(), from_context.as_raw());
    // SAFETY: the caller's word.
    unsafe { context_call!(to_context, cuMemcpyPeer(to, there, from, here, bytes)) }?;
    settle(to_context)
}

/// Sets `len` elements of the pattern's width. The host does not wait.
///
/// # Safety
/// As [`from_host`]; the address is a multiple of the width.
#[inline]
pub(crate) unsafe fn fill(
    context: &ContextRef,
    to: CUdeviceptr,
    pattern: Pattern,
    len: usize,
) -> Result<(), Error> {
    if len == 0 {
        return Ok(());
    }
    match pattern {
        // SAFETY: the caller's word.
        Pattern::Byte(byte) => unsafe { context_call!(context, cuMemsetD8_v2(to, byte, len)) },
        // SAFETY: as above.
        Pattern::Half(half) => unsafe { context_call!(context, cuMemsetD16_v2(to, half, len)) },
        // SAFETY: as above.
        Pattern::Word(word) => unsafe { context_call!(context, cuMemsetD32_v2(to, word, len)) },
    }?;
    settle(context)
}

/// Queues a copy of `bytes` bytes from the host.
///
/// # Safety
/// As [`from_host`]; the host side lives and is not written until `stream` was waited for or its context is lost.
#[inline]
pub(crate) unsafe fn from_host_on(
    context: &ContextRef,
    stream: CUstream,
    to: CUdeviceptr,
    host: *const c_void,
    bytes: usize,
) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller's word.
    unsafe { context_call!(context, cuMemcpyHtoDAsync_v2(to, host, bytes, stream)) }
}

/// Queues a copy of `bytes` bytes to the host.
///
/// # Safety
/// As [`from_host`]; nobody touches the host side, nor frees it, until `stream` was waited for with success or the context
/// has ended: where the wait fails, page-locked memory may still be written.
#[inline]
pub(crate) unsafe fn to_host_on(
    context: &ContextRef,
    stream: CUstream,
    host: *mut c_void,
    from: CUdeviceptr,
    bytes: usize,
) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller's word.
    unsafe { context_call!(context, cuMemcpyDtoHAsync_v2(host, from, bytes, stream)) }
}

/// Queues a copy of `bytes` bytes within the device.
///
/// # Safety
/// As [`within`]; both sides live until `stream` was waited for.
#[inline]
pub(crate) unsafe fn within_on(
    context: &ContextRef,
    stream: CUstream,
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller's word.
    unsafe { context_call!(context, cuMemcpyDtoDAsync_v2(to, from, bytes, stream)) }
}

/// Queues a fill of `len` elements of the pattern's width.
///
/// # Safety
/// As [`fill`]; the memory lives until `stream` was waited for.
#[inline]
pub(crate) unsafe fn fill_on(
    context: &ContextRef,
    stream: CUstream,
    to: CUdeviceptr,
    pattern: Pattern,
    len: usize,
) -> Result<(), Error> {
    if len == 0 {
        return Ok(());
    }
    match pattern {
        // SAFETY: the caller's word.
        Pattern::Byte(byte) => unsafe { context_call!(context, cuMemsetD8Async(to, byte, len, stream)) },
        // SAFETY: as above.
        Pattern::Half(half) => unsafe { context_call!(context, cuMemsetD16Async(to, half, len, stream)) },
        // SAFETY: as above.
        Pattern::Word(word) => unsafe { context_call!(context, cuMemsetD32Async(to, word, len, stream)) },
    }
}

/// Waits for the default stream: the context's, or this thread's.
#[cold]
#[inline(never)]
pub(crate) fn wait_for_default_stream(context: &ContextRef) -> Result<(), Error> {
    // SAFETY: the null stream is always there; the caller has checked that the context is current.
    unsafe { context_call!(context, cuStreamSynchronize(CUstream::null())) }
}

/// Waits where the default stream is one of this thread alone.
#[inline]
fn settle(context: &ContextRef) -> Result<(), Error> {
    if context.library().stream_mode() == StreamMode::Legacy {
        return Ok(());
    }
    wait_for_default_stream(context)
}
