//! Copies and fills: one function for each that the driver has. Owners and loans of memory check lengths and the
//! current context, and call these.
//!
//! The safe layer promises: the next call on the same memory reads what the last one wrote, on whichever thread. The
//! legacy default stream keeps that promise, as all of these run on it. Where the library was opened with per-thread
//! default streams, each thread has a queue of its own and nothing orders them; there the host waits for all that the
//! driver may leave in flight.

mod batch;
mod peer;

use std::ffi::c_void;

use cuprum_sys::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUdeviceptr, CUstream, StreamMode};

use super::data::Pattern;
use crate::context::ContextRef;
use crate::error::Error;
use crate::raw::call::context_call;

pub(crate) use self::batch::{
    block_with_attributes_on, blocks_on, decompress_on, several_on, with_attributes_on,
};
pub(crate) use self::peer::{between, block_between, block_between_on, wait_for_other};

/// Defines functions that copy `bytes` bytes between two sides by one call of the driver: none need no call.
macro_rules! copies {
    ($(
        $(#[$meta:meta])*
        fn $name:ident($context:ident $(, $stream:ident)?; $to:ident: $there:ty, $from:ident: $here:ty; $bytes:ident)
            = $call:ident($($argument:expr),*) $(, then $after:ident)?;
    )*) => { $(
        $(#[$meta])*
        pub(crate) unsafe fn $name(
            $context: &ContextRef,
            $($stream: CUstream,)?
            $to: $there,
            $from: $here,
            $bytes: usize,
        ) -> Result<(), Error> {
            if $bytes == 0 {
                return Ok(());
            }
            // SAFETY: the caller's word.
            unsafe { context_call!($context, $call($($argument),*)) }?;
            $( $after($context)?; )?
            Ok(())
        }
    )* };
}

/// Fills by the function for the width of a pattern, under the word of the caller of the function that it stands in.
macro_rules! fill_by_width {
    ($context:expr, $pattern:expr, $value:ident: $($width:ident by $call:ident($($argument:expr),*);)*) => {
        match $pattern { $(
            // SAFETY: the caller's word.
            Pattern::$width($value) => unsafe { context_call!($context, $call($($argument),*)) },
        )* }
    };
}

/// An address and the context of its memory.
type InContext<'a> = (&'a ContextRef, CUdeviceptr);

copies! {
    /// Copies `bytes` bytes from the host. It may be reused on return.
    ///
    /// # Safety
    /// Both sides have `bytes` bytes, `context` is current and the device side is of it.
    #[inline]
    fn from_host(context; to: CUdeviceptr, host: *const c_void; bytes)
        = cuMemcpyHtoD_v2(to, host, bytes), then settle;

    /// Copies `bytes` bytes to the host. When it returns, the device no longer touches that memory, whatever the answer is:
    /// measured for faults of all kinds that happen during the copy (`tests/data/goldens/after_fault.txt`).
    ///
    /// # Safety
    /// The duties of [`from_host`].
    #[inline]
    fn to_host(context; host: *mut c_void, from: CUdeviceptr; bytes)
        = cuMemcpyDtoH_v2(host, from, bytes);

    /// Copies `bytes` bytes within the device. The host does not wait.
    ///
    /// # Safety
    /// The duties of [`from_host`].
    #[inline]
    fn within(context; to: CUdeviceptr, from: CUdeviceptr; bytes)
        = cuMemcpyDtoD_v2(to, from, bytes), then settle;

    /// Copies `bytes` bytes between addresses of any kind.
    ///
    /// # Safety
    /// Same as [`from_host`] and [`to_host`], as the addresses are.
    fn unified(context; to: CUdeviceptr, from: CUdeviceptr; bytes)
        = cuMemcpy(to, from, bytes), then settle;

    /// Queues a copy of `bytes` bytes between addresses of any kind.
    ///
    /// # Safety
    /// Same as [`from_host_on`] and [`to_host_on`], as the addresses are.
    fn unified_on(context, stream; to: CUdeviceptr, from: CUdeviceptr; bytes)
        = cuMemcpyAsync(to, from, bytes, stream);

    /// Queues a copy of `bytes` bytes from the host.
    ///
    /// # Safety
    /// The duties of [`from_host`]; the host side lives and is not written until `stream` was waited for or its context is
    /// lost.
    #[inline]
    fn from_host_on(context, stream; to: CUdeviceptr, host: *const c_void; bytes)
        = cuMemcpyHtoDAsync_v2(to, host, bytes, stream);

    /// Queues a copy of `bytes` bytes to the host.
    ///
    /// # Safety
    /// The duties of [`from_host`]; nobody touches the host side, nor frees it, until `stream` was waited for with success
    /// or the context has ended: where the wait fails, page-locked memory may still be written.
    #[inline]
    fn to_host_on(context, stream; host: *mut c_void, from: CUdeviceptr; bytes)
        = cuMemcpyDtoHAsync_v2(host, from, bytes, stream);

    /// Queues a copy of `bytes` bytes within the device.
    ///
    /// # Safety
    /// The duties of [`within`]; both sides live until `stream` was waited for.
    #[inline]
    fn within_on(context, stream; to: CUdeviceptr, from: CUdeviceptr; bytes)
        = cuMemcpyDtoDAsync_v2(to, from, bytes, stream);

    /// Queues a copy of `bytes` bytes from one context to another.
    ///
    /// # Safety
    /// `context` is current and that of the stream. Both sides have `bytes` bytes in their contexts, which are of one driver,
    /// and live until `stream` was waited for.
    fn between_on(context, stream; to: InContext<'_>, from: InContext<'_>; bytes)
        = cuMemcpyPeerAsync(to.1, to.0.as_raw(), from.1, from.0.as_raw(), bytes, stream);
}

/// Sets `len` elements of the pattern's width. The host does not wait.
///
/// # Safety
/// The duties of [`from_host`]; the address is a multiple of the width.
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
    fill_by_width! { context, pattern, value:
        Byte by cuMemsetD8_v2(to, value, len);
        Half by cuMemsetD16_v2(to, value, len);
        Word by cuMemsetD32_v2(to, value, len);
    }?;
    settle(context)
}

/// Queues a fill of `len` elements of the pattern's width.
///
/// # Safety
/// The duties of [`fill`]; the memory lives until `stream` was waited for.
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
    fill_by_width! { context, pattern, value:
        Byte by cuMemsetD8Async(to, value, len, stream);
        Half by cuMemsetD16Async(to, value, len, stream);
        Word by cuMemsetD32Async(to, value, len, stream);
    }
}

/// Function of the driver that copies a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Rows of one plane.
    Plane,
    /// The same within device memory, for a distance of rows that the program chose and that the driver may refuse
    /// otherwise.
    UnalignedPlane,
    /// Slices of rows.
    Solid,
}

/// Copies a block of rows and slices. Memory of the host may be reused, or has the bytes of the copy, on return; within
/// the device the host does not wait.
///
/// When a copy to the host returns, the device no longer touches that memory, whatever the answer is: measured on an H100
/// with driver 580, with a kernel that faults during the copy, for both functions, rows of memory and arrays, pageable
/// and page-locked memory.
///
/// # Safety
/// `context` is current. Both sides that `block` names are live and have room for the block; device memory and arrays
/// are of that context. For [`Form::Plane`] and [`Form::UnalignedPlane`] the block has one slice, the first.
pub(crate) unsafe fn block(context: &ContextRef, block: &CUDA_MEMCPY3D, form: Form) -> Result<(), Error> {
    if is_empty(block) {
        return Ok(());
    }
    let plane = plane_of(block);
    match form {
        // SAFETY: the caller's word.
        Form::Plane => unsafe { context_call!(context, cuMemcpy2D_v2(&raw const plane)) },
        // SAFETY: as above.
        Form::UnalignedPlane => unsafe { context_call!(context, cuMemcpy2DUnaligned_v2(&raw const plane)) },
        // SAFETY: as above.
        Form::Solid => unsafe { context_call!(context, cuMemcpy3D_v2(block)) },
    }?;
    settle(context)
}

/// Queues a copy of a block of rows and slices.
///
/// # Safety
/// The duties of [`block`]; both sides live, and a host side is read and not written, until `stream` was waited for or
/// its context is lost.
pub(crate) unsafe fn block_on(
    context: &ContextRef,
    stream: CUstream,
    block: &CUDA_MEMCPY3D,
    form: Form,
) -> Result<(), Error> {
    if is_empty(block) {
        return Ok(());
    }
    if form == Form::Solid {
        // SAFETY: the caller's word.
        return unsafe { context_call!(context, cuMemcpy3DAsync_v2(block, stream)) };
    }
    let plane = plane_of(block);
    // SAFETY: as above.
    unsafe { context_call!(context, cuMemcpy2DAsync_v2(&raw const plane, stream)) }
}

/// True if a block has no bytes.
fn is_empty(block: &CUDA_MEMCPY3D) -> bool {
    block.WidthInBytes == 0 || block.Height == 0 || block.Depth == 0
}

/// The first slice of a block, for the functions of two dimensions.
fn plane_of(block: &CUDA_MEMCPY3D) -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        srcXInBytes: block.srcXInBytes,
        srcY: block.srcY,
        srcMemoryType: block.srcMemoryType,
        srcHost: block.srcHost,
        srcDevice: block.srcDevice,
        srcArray: block.srcArray,
        srcPitch: block.srcPitch,
        dstXInBytes: block.dstXInBytes,
        dstY: block.dstY,
        dstMemoryType: block.dstMemoryType,
        dstHost: block.dstHost,
        dstDevice: block.dstDevice,
        dstArray: block.dstArray,
        dstPitch: block.dstPitch,
        WidthInBytes: block.WidthInBytes,
        Height: block.Height,
    }
}

/// Rows of device memory: the address of the first, the bytes from one to the next, elements of each, their number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) address: CUdeviceptr,
    pub(crate) pitch: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Rows {
    const fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }
}

/// Sets the elements of rows, which have the pattern's width. The host does not wait.
///
/// # Safety
/// `context` is current, the rows lie in live memory of it, and address and pitch are multiples of the pattern's width.
pub(crate) unsafe fn fill_rows(context: &ContextRef, to: Rows, pattern: Pattern) -> Result<(), Error> {
    if to.is_empty() {
        return Ok(());
    }
    let Rows { address, pitch, width, height } = to;
    fill_by_width! { context, pattern, value:
        Byte by cuMemsetD2D8_v2(address, pitch, value, width, height);
        Half by cuMemsetD2D16_v2(address, pitch, value, width, height);
        Word by cuMemsetD2D32_v2(address, pitch, value, width, height);
    }?;
    settle(context)
}

/// Queues the fill of [`fill_rows`].
///
/// # Safety
/// The duties of [`fill_rows`]; the memory lives until `stream` was waited for.
pub(crate) unsafe fn fill_rows_on(
    context: &ContextRef,
    stream: CUstream,
    to: Rows,
    pattern: Pattern,
) -> Result<(), Error> {
    if to.is_empty() {
        return Ok(());
    }
    let Rows { address, pitch, width, height } = to;
    fill_by_width! { context, pattern, value:
        Byte by cuMemsetD2D8Async(address, pitch, value, width, height, stream);
        Half by cuMemsetD2D16Async(address, pitch, value, width, height, stream);
        Word by cuMemsetD2D32Async(address, pitch, value, width, height, stream);
    }
}

/// Waits for the default stream: the context's, or this thread's.
#[cold]
#[inline(never)]
pub(crate) fn wait_for_default_stream(context: &ContextRef) -> Result<(), Error> {
    // SAFETY: the null stream is always there; the caller has checked that the context is current.
    unsafe { context_call!(context, cuStreamSynchronize(CUstream::null())) }
}

/// Notes that something was queued on the default stream. Waits for it if that stream belongs to this thread alone.
#[inline]
fn settle(context: &ContextRef) -> Result<(), Error> {
    if context.default_stream().is_noted() { Ok(()) } else { note(context) }
}

#[cold]
#[inline(never)]
fn note(context: &ContextRef) -> Result<(), Error> {
    if context.library().stream_mode() == StreamMode::PerThread {
        return wait_for_default_stream(context);
    }
    context.default_stream().note();
    Ok(())
}
