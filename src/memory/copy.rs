//! Copies and fills: one function per driver function. Callers check lengths and the context.
//!
//! The safe layer guarantees that the next call on the same memory reads the data that the last
//! call wrote, on any thread. All calls run on the legacy default stream, which provides this
//! order. Per-thread default streams are not ordered with each other; if the library was opened
//! with them, the host waits for all work that the driver may leave in flight.

mod batch;
mod peer;

use std::ffi::c_void;

use cuprum_sys::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUdeviceptr, CUstream, StreamMode};

use super::data::Pattern;
use crate::context::{ContextRef, context_call};
use crate::error::Error;

pub(crate) use self::batch::{
    block_with_attributes_on, blocks_on, decompress_on, several_on, with_attributes_on,
};
pub(crate) use self::peer::{between, block_between, block_between_on, wait_for_other};

/// Defines functions that copy `bytes` bytes by one driver call; zero bytes need no call.
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
            // SAFETY: guaranteed by the caller.
            unsafe { context_call!($context, $call($($argument),*)) }?;
            $( $after($context)?; )?
            Ok(())
        }
    )* };
}

/// Calls the fill function for a pattern's width. The enclosing function has the duties.
macro_rules! fill_by_width {
    ($context:expr, $pattern:expr, $value:ident: $($width:ident by $call:ident($($argument:expr),*);)*) => {
        match $pattern { $(
            // SAFETY: guaranteed by the caller.
            Pattern::$width($value) => unsafe { context_call!($context, $call($($argument),*)) },
        )* }
    };
}

type InContext<'a> = (&'a ContextRef, CUdeviceptr);

copies! {
    /// Copies `bytes` bytes from the host. The host memory may be reused on return.
    ///
    /// # Safety
    /// Both sides have `bytes` bytes; `context` is current and owns the device side.
    #[inline]
    fn from_host(context; to: CUdeviceptr, host: *const c_void; bytes)
        = cuMemcpyHtoD_v2(to, host, bytes), then settle;

    /// Copies `bytes` bytes to the host. On return, even with an error, the device no longer
    /// accesses that memory. This was measured for all kinds of faults during the copy
    /// (`tests/data/goldens/after_fault.txt`).
    ///
    /// # Safety
    /// Same as [`from_host`].
    #[inline]
    fn to_host(context; host: *mut c_void, from: CUdeviceptr; bytes)
        = cuMemcpyDtoH_v2(host, from, bytes);

    /// Copies `bytes` bytes within the device. The host does not wait.
    ///
    /// # Safety
    /// Same as [`from_host`].
    #[inline]
    fn within(context; to: CUdeviceptr, from: CUdeviceptr; bytes)
        = cuMemcpyDtoD_v2(to, from, bytes), then settle;

    /// Copies `bytes` bytes between addresses of any kind.
    ///
    /// # Safety
    /// Same as [`from_host`] and [`to_host`], depending on the addresses.
    fn unified(context; to: CUdeviceptr, from: CUdeviceptr; bytes)
        = cuMemcpy(to, from, bytes), then settle;

    /// Queues a copy of `bytes` bytes between addresses of any kind.
    ///
    /// # Safety
    /// Same as [`from_host_on`] and [`to_host_on`], depending on the addresses.
    fn unified_on(context, stream; to: CUdeviceptr, from: CUdeviceptr; bytes)
        = cuMemcpyAsync(to, from, bytes, stream);

    /// Queues a copy of `bytes` bytes from the host.
    ///
    /// # Safety
    /// Same as [`from_host`]; the host side lives and is not written until `stream` was waited for
    /// or its context is lost.
    #[inline]
    fn from_host_on(context, stream; to: CUdeviceptr, host: *const c_void; bytes)
        = cuMemcpyHtoDAsync_v2(to, host, bytes, stream);

    /// Queues a copy of `bytes` bytes to the host.
    ///
    /// # Safety
    /// Same as [`from_host`]; the host side is neither accessed nor freed until a wait for `stream`
    /// succeeded or the context has ended. If the wait fails, the device may still write
    /// page-locked memory.
    #[inline]
    fn to_host_on(context, stream; host: *mut c_void, from: CUdeviceptr; bytes)
        = cuMemcpyDtoHAsync_v2(host, from, bytes, stream);

    /// Queues a copy of `bytes` bytes within the device.
    ///
    /// # Safety
    /// Same as [`within`]; both sides live until `stream` was waited for.
    #[inline]
    fn within_on(context, stream; to: CUdeviceptr, from: CUdeviceptr; bytes)
        = cuMemcpyDtoDAsync_v2(to, from, bytes, stream);

    /// Queues a copy of `bytes` bytes from one context to another.
    ///
    /// # Safety
    /// `context` is current and is the stream's context. Both sides have `bytes` bytes in their
    /// contexts, which are of one driver, and live until `stream` was waited for.
    fn between_on(context, stream; to: InContext<'_>, from: InContext<'_>; bytes)
        = cuMemcpyPeerAsync(to.1, to.0.as_raw(), from.1, from.0.as_raw(), bytes, stream);
}

/// Sets `len` elements of the pattern's width. The host does not wait.
///
/// # Safety
/// Same as [`from_host`]; the address is a multiple of the width.
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
/// Same as [`fill`]; the memory lives until `stream` was waited for.
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Rows of one slice.
    Plane,
    /// Rows of one slice within device memory, with a pitch that the program chose and that the
    /// driver might otherwise refuse.
    UnalignedPlane,
    /// Slices of rows.
    Solid,
}

/// Copies a block of rows and slices. On return, host memory may be reused or has the copied bytes.
/// Within the device the host does not wait.
///
/// When a copy to the host returns, even with an error, the device no longer accesses that memory.
/// This was measured on an H100 with driver 580, with a kernel that faults during the copy, for
/// both functions, rows of memory and arrays, pageable and page-locked memory.
///
/// # Safety
/// `context` is current. Both sides of `block` are live and have room for it; device memory and
/// arrays are of that context. For [`Form::Plane`] and [`Form::UnalignedPlane`] the block has one
/// slice, the first.
pub(crate) unsafe fn block(context: &ContextRef, block: &CUDA_MEMCPY3D, form: Form) -> Result<(), Error> {
    if is_empty(block) {
        return Ok(());
    }
    let plane = plane_of(block);
    match form {
        // SAFETY: guaranteed by the caller.
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
/// Same as [`block`]; both sides live, and a source on the host is not written, until `stream` was
/// waited for or its context is lost.
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
        // SAFETY: guaranteed by the caller.
        return unsafe { context_call!(context, cuMemcpy3DAsync_v2(block, stream)) };
    }
    let plane = plane_of(block);
    // SAFETY: as above.
    unsafe { context_call!(context, cuMemcpy2DAsync_v2(&raw const plane, stream)) }
}

fn is_empty(block: &CUDA_MEMCPY3D) -> bool {
    block.WidthInBytes == 0 || block.Height == 0 || block.Depth == 0
}

/// The first slice of a block, for the two-dimensional functions.
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

/// Rows of device memory: first address, bytes from row to row, elements per row, rows.
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

/// Sets the elements of rows to the pattern, which has their size. The host does not wait.
///
/// # Safety
/// `context` is current, the rows are in live memory of it, and address and pitch are multiples of
/// the pattern's width.
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

/// Queues a fill of rows, as [`fill_rows`] does.
///
/// # Safety
/// Same as [`fill_rows`]; the memory lives until `stream` was waited for.
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

/// Waits for the default stream of the context or, with per-thread default streams, of this thread.
#[cold]
#[inline(never)]
pub(crate) fn wait_for_default_stream(context: &ContextRef) -> Result<(), Error> {
    // SAFETY: the null stream always exists; the caller has checked that the context is current.
    unsafe { context_call!(context, cuStreamSynchronize(CUstream::null())) }
}

/// Notes queued work on the default stream. Waits for it if it belongs to this thread only.
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
