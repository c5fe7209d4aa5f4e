//! Memory that is neither a buffer nor page-locked, and semaphores, kept in addition to everything
//! else.

#[cfg(unix)]
use std::os::fd::{FromRawFd, OwnedFd};

use cuprum::external::{ExternalMemory, ExternalSemaphore};
use cuprum::graphics::{self, RegisterFlags, RegisteredBuffer};
use cuprum::memory::{
    ForeignBuffer, Granularity, ManagedBuffer, Mapping, MemoryLocation, PhysicalFlags, PhysicalMemory,
    Reservation,
};
use cuprum::stream::Signals;
use cuprum::{Current, Stream};
use cuprum_emulator::opengl::StandIn;

use crate::common::on_gpu;

#[cfg(unix)]
const BYTES: u64 = 4096;

/// One of each, with work queued where streams take it.
pub(crate) struct Memory<'ctx> {
    _managed: ManagedBuffer<'ctx, u32>,
    _reserved: Reservation,
    _physical: PhysicalMemory,
    _mapping: Mapping<'ctx, u32>,
    _signals: Signals<'ctx, u32>,
    /// Of the emulator's other API: a GPU's would be Vulkan.
    _external: Option<(ExternalMemory<'ctx>, ForeignBuffer<'ctx, u8>, ExternalSemaphore<'ctx>)>,
}

impl<'ctx> Memory<'ctx> {
    pub(crate) fn new(cx: &Current<'_, 'ctx>) -> Self {
        let (driver, here) = (cx.context().driver(), MemoryLocation::Device(cx.context().device()));
        let none = PhysicalFlags::empty();
        let bytes =
            PhysicalMemory::granularity(driver, here, none, Granularity::CU_MEM_ALLOC_GRANULARITY_MINIMUM)
                .unwrap();
        let physical = PhysicalMemory::new(driver, here, bytes, none).unwrap();
        let reserved = Reservation::new(driver, 2 * bytes, 0).unwrap();
        let mut mapping = reserved.map::<u32>(cx, 0, &physical).unwrap();
        cx.fill(&mut mapping, 1).unwrap();
        let signals = Signals::new(cx, 2).unwrap();
        let stream = Stream::new(cx).unwrap();
        cx.scope(&stream, |scope| Ok(scope.write_value(&scope.lend(&signals)?, 1, 7)?)).unwrap();
        forget_opengl(cx);
        Self {
            _managed: ManagedBuffer::from_slice(cx, &[1; 100]).unwrap(),
            _reserved: reserved,
            _physical: physical,
            _mapping: mapping,
            _signals: signals,
            _external: external(cx),
        }
    }
}

/// A buffer of OpenGL, for which the emulator's stand-in stands in: registered, mapped, and
/// forgotten with its guard. It belongs to this thread, so that nothing keeps it.
fn forget_opengl(cx: &Current<'_, '_>) {
    if on_gpu() {
        return;
    }
    let gl = StandIn::make_current();
    let name = gl.buffer(&[0; 64]);
    // SAFETY: the stand-in does nothing with it.
    let mut buffer = unsafe { RegisteredBuffer::new(cx, name, RegisterFlags::empty()) }.unwrap();
    std::mem::forget(graphics::map(cx, &Stream::default_in(cx), &mut buffer).unwrap());
    std::mem::forget((buffer, gl));
}

/// The descriptor that the other API has exported.
#[cfg(unix)]
fn owned(descriptor: Option<i32>) -> OwnedFd {
    // SAFETY: just made, and owned by nothing else.
    unsafe { OwnedFd::from_raw_fd(descriptor.unwrap()) }
}

/// A semaphore of the other API, if there is one.
#[cfg(unix)]
pub(crate) fn semaphore<'ctx>(cx: &Current<'_, 'ctx>) -> Option<ExternalSemaphore<'ctx>> {
    if on_gpu() {
        return None;
    }
    let other = cuprum_emulator::memory::ExternalSemaphore::new().unwrap();
    // SAFETY: of a semaphore with a value.
    Some(unsafe { ExternalSemaphore::from_timeline_fd(cx, owned(other.descriptor())) }.unwrap())
}

/// Memory, memory that is mapped, and a semaphore.
#[cfg(unix)]
fn external<'ctx>(
    cx: &Current<'_, 'ctx>,
) -> Option<(ExternalMemory<'ctx>, ForeignBuffer<'ctx, u8>, ExternalSemaphore<'ctx>)> {
    let semaphore = semaphore(cx)?;
    let other = cuprum_emulator::memory::ExternalMemory::new(BYTES).unwrap();
    // SAFETY: of so many bytes, used by nothing else; the file lives as long as a descriptor or a
    // mapping of it.
    let import = || unsafe { ExternalMemory::from_opaque_fd(cx, owned(other.descriptor()), BYTES) }.unwrap();
    let lasting: &'ctx ExternalMemory<'ctx> = Box::leak(Box::new(import()));
    // SAFETY: nothing else uses the bytes.
    let mut mapped = unsafe { lasting.map::<u8>(cx, 0, 64) }.unwrap();
    cx.fill_bytes(&mut mapped, 3).unwrap();
    Some((import(), mapped, semaphore))
}

/// The emulator exports nothing on other systems.
#[cfg(not(unix))]
pub(crate) fn semaphore<'ctx>(_cx: &Current<'_, 'ctx>) -> Option<ExternalSemaphore<'ctx>> {
    None
}

#[cfg(not(unix))]
fn external<'ctx>(
    _cx: &Current<'_, 'ctx>,
) -> Option<(ExternalMemory<'ctx>, ForeignBuffer<'ctx, u8>, ExternalSemaphore<'ctx>)> {
    None
}
