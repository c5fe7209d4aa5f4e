//! A few hot calls of cuprum, each in a function of its own, with a name that the assembly keeps.
//!
//! The names are symbols of the program: none may be a function of the C library, because a program
//! that links this crate would then call the wrapper in its place.

use cuprum::launch::LaunchError;
use cuprum::stream::Event;
use cuprum::{Buffer, ContextRef, Current, Error, In, InOut, Kernel, LaunchConfig, MemoryError, Stream};

/// Parameters of the kernel that is launched.
pub type Parameters = (In<f32>, In<f32>, InOut<f32>, u32);

/// Allocates.
///
/// # Errors
/// As `Buffer::alloc`.
#[unsafe(no_mangle)]
pub fn alloc<'ctx>(cx: &Current<'_, 'ctx>, len: usize) -> Result<Buffer<'ctx, u32>, MemoryError> {
    Buffer::alloc(cx, len)
}

/// Frees.
#[unsafe(no_mangle)]
pub fn free_buffer(buffer: Buffer<'_, u32>) {
    drop(buffer);
}

/// Copies to the device.
///
/// # Errors
/// As `Current::copy`.
#[unsafe(no_mangle)]
pub fn copy_from_host(
    buffer: &mut Buffer<'_, u32>,
    cx: &Current<'_, '_>,
    host: &[u32],
) -> Result<(), MemoryError> {
    cx.copy(buffer, host)
}

/// Copies to the host.
///
/// # Errors
/// As `Current::copy`.
#[unsafe(no_mangle)]
pub fn copy_to_host(
    buffer: &Buffer<'_, u32>,
    cx: &Current<'_, '_>,
    host: &mut [u32],
) -> Result<(), MemoryError> {
    cx.copy(host, buffer)
}

/// Copies within the device.
///
/// # Errors
/// As `Current::copy`.
#[unsafe(no_mangle)]
pub fn copy_within(
    buffer: &mut Buffer<'_, u32>,
    cx: &Current<'_, '_>,
    from: &Buffer<'_, u32>,
) -> Result<(), MemoryError> {
    cx.copy(buffer, from)
}

/// Fills.
///
/// # Errors
/// As `Current::fill`.
#[unsafe(no_mangle)]
pub fn fill(buffer: &mut Buffer<'_, u32>, cx: &Current<'_, '_>, value: u32) -> Result<(), MemoryError> {
    cx.fill(buffer, value)
}

/// Launches with four arguments.
///
/// # Errors
/// As `Kernel::launch`.
///
/// # Safety
/// As `Kernel::launch`.
#[unsafe(no_mangle)]
pub unsafe fn launch(
    kernel: &Kernel<'_, Parameters>,
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    config: LaunchConfig,
    arguments: (&Buffer<'_, f32>, &Buffer<'_, f32>, &mut Buffer<'_, f32>, u32),
) -> Result<(), LaunchError> {
    // SAFETY: guaranteed by the caller.
    unsafe { kernel.launch(cx, stream, config, arguments) }
}

/// Makes a context current and the one before again.
///
/// # Errors
/// As `Current::push` and `Current::pop`.
#[unsafe(no_mangle)]
pub fn push_and_pop(cx: &mut Current<'_, '_>, context: &ContextRef) -> Result<(), Error> {
    cx.push(context)?.pop()
}

/// Records an event.
///
/// # Errors
/// As `Event::record`.
#[unsafe(no_mangle)]
pub fn record(event: &Event<'_>, cx: &Current<'_, '_>, stream: &Stream<'_>) -> Result<(), Error> {
    event.record(cx, stream)
}

/// Waits for a stream.
///
/// # Errors
/// As `Stream::synchronize`.
#[unsafe(no_mangle)]
pub fn synchronize(stream: &Stream<'_>, cx: &Current<'_, '_>) -> Result<(), Error> {
    stream.synchronize(cx)
}
