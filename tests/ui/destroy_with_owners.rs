// A context is not destroyed while an object made in it is alive: each owner, by each way to make
// one.
use std::os::fd::OwnedFd;

use cuprum::context::Context;
use cuprum::external::{ExternalMemory, ExternalSemaphore};
use cuprum::graphics::{RegisterFlags, RegisteredBuffer, RegisteredImage};
use cuprum::memory::{
    Array, ArrayFlags, ArrayShape, ForeignBuffer, ManagedBuffer, Mapping, MipmappedArray, PhysicalMemory,
    PinnedBuffer, PinnedFlags, PitchedBuffer, Reservation,
};
use cuprum::module::{CodeLibrary, Linker, LoadOptions};
use cuprum::pool::{BufferPool, PinnedPool};
use cuprum::stream::{Event, EventFlags, ForeignEvent, ForeignStream, Signals};
use cuprum::sys::{CUevent, CUstream};
use cuprum::{Module, Stream};

const LINE: ArrayShape = ArrayShape::OneD { width: 4 };

fn array(context: Context) -> Array<'static, f32> {
    context.enter(|cx| Ok(Array::new(cx, LINE, ArrayFlags::empty())?)).unwrap()
}

fn mipmapped(context: Context) -> MipmappedArray<'static, f32> {
    context.enter(|cx| Ok(MipmappedArray::new(cx, LINE, ArrayFlags::empty(), 1)?)).unwrap()
}

fn managed(context: Context) -> ManagedBuffer<'static, f32> {
    context.enter(|cx| Ok(ManagedBuffer::alloc(cx, 4)?)).unwrap()
}

fn pinned(context: Context) -> PinnedBuffer<'static, f32> {
    context.enter(|cx| Ok(PinnedBuffer::zeroed(cx, 4, PinnedFlags::empty())?)).unwrap()
}

fn pitched(context: Context) -> PitchedBuffer<'static, f32> {
    context.enter(|cx| Ok(PitchedBuffer::alloc(cx, (4, 4))?)).unwrap()
}

fn mapping(context: Context, addresses: Reservation, memory: PhysicalMemory) -> Mapping<'static, f32> {
    context.enter(|cx| Ok(addresses.map(cx, 0, &memory)?)).unwrap()
}

fn foreign(context: Context) -> ForeignBuffer<'static, u8> {
    context.enter(|cx| Ok(unsafe { ForeignBuffer::from_raw(cx, 0, 16) }?)).unwrap()
}

fn opened(context: Context, memory: [u8; 64]) -> ForeignBuffer<'static, f32> {
    context.enter(|cx| Ok(unsafe { ForeignBuffer::open_ipc(cx, memory) }?)).unwrap()
}

fn imported(context: Context, memory: OwnedFd) -> ExternalMemory<'static> {
    context.enter(|cx| Ok(unsafe { ExternalMemory::from_opaque_fd(cx, memory, 64) }?)).unwrap()
}

fn semaphore(context: Context, semaphore: OwnedFd) -> ExternalSemaphore<'static> {
    context.enter(|cx| Ok(unsafe { ExternalSemaphore::from_timeline_fd(cx, semaphore) }?)).unwrap()
}

fn registered(context: Context) -> RegisteredBuffer<'static> {
    context.enter(|cx| Ok(unsafe { RegisteredBuffer::new(cx, 1, RegisterFlags::empty()) }?)).unwrap()
}

fn image(context: Context) -> RegisteredImage<'static> {
    context.enter(|cx| Ok(unsafe { RegisteredImage::new(cx, 1, 2, RegisterFlags::empty()) }?)).unwrap()
}

fn stream(context: Context) -> Stream<'static> {
    context.enter(|cx| Ok(Stream::new(cx)?)).unwrap()
}

fn foreign_stream(context: Context) -> ForeignStream<'static> {
    context.enter(|cx| Ok(unsafe { ForeignStream::from_raw(cx, CUstream::null()) }?)).unwrap()
}

fn event(context: Context) -> Event<'static> {
    context.enter(|cx| Ok(Event::new(cx, EventFlags::empty())?)).unwrap()
}

fn opened_event(context: Context, event: [u8; 64]) -> Event<'static> {
    context.enter(|cx| Ok(unsafe { Event::open(cx, event) }?)).unwrap()
}

fn foreign_event(context: Context) -> ForeignEvent<'static> {
    context.enter(|cx| Ok(unsafe { ForeignEvent::from_raw(cx, CUevent::null()) })).unwrap()
}

fn signals(context: Context) -> Signals<'static, u32> {
    context.enter(|cx| Ok(Signals::new(cx, 1)?)).unwrap()
}

fn module(context: Context) -> Module<'static> {
    context.enter(|cx| Ok(Module::load_ptx(cx, "")?)).unwrap()
}

fn library_module(context: Context, library: &'static CodeLibrary) -> Module<'static> {
    context.enter(|cx| Ok(library.module(cx)?)).unwrap()
}

fn linker(context: Context) -> Linker<'static> {
    context.enter(|cx| Ok(Linker::new(cx, &LoadOptions::default())?)).unwrap()
}

fn pool(context: Context) -> BufferPool<'static> {
    context.enter(|cx| Ok(BufferPool::new(cx))).unwrap()
}

fn pinned_pool(context: Context) -> PinnedPool<'static> {
    context.enter(|cx| Ok(PinnedPool::new(cx, PinnedFlags::empty()))).unwrap()
}

fn main() {}
