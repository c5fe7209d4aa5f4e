//! Managed memory, virtual memory, multicast objects, and arrays whose memory is given to them
//! later.

use cuprum::memory::{
    Advice, Array, ArrayFlags, ArrayShape, Granularity, ManagedBuffer, ManagedRange, ManagedRangeMut,
    Mapping, MemoryAccess, MemoryError, MemoryLocation, MipmappedArray, Multicast, PhysicalFlags,
    PhysicalMemory, Reservation, TilePart,
};
use cuprum::stream::Attachment;
use cuprum::sys::CUresult;
use cuprum::{Buffer, Current, Error, Stream};

use super::Steps;

const LEN: usize = 4;
/// Code that the software device returns where hardware is missing.
const NOT_SUPPORTED: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;
const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    managed(steps, cx);
    addresses(steps, cx);
    mapped(steps, cx);
    multicast(steps, cx);
    without_memory(steps, cx);
}

fn managed(steps: &Steps, cx: &Current<'_, '_>) {
    let alloc = || ManagedBuffer::<u32>::alloc(cx, LEN);
    if let Some(buffer) = steps.attempt("ManagedBuffer::alloc", alloc) {
        steps.attempt("ManagedBuffer::close", || buffer.close());
    }
    let zeroed = || ManagedBuffer::<u32>::zeroed(cx, LEN);
    if let Some(buffer) = steps.attempt("ManagedBuffer::zeroed", zeroed) {
        steps.done("ManagedBuffer::drop", || drop(buffer));
    }
    let from_slice = || ManagedBuffer::from_slice(cx, &[1u32; LEN]);
    let Some(mut buffer) = steps.attempt("ManagedBuffer::from_slice", from_slice) else { return };
    // A driver before CUDA 8.0 does not tell that devices share.
    if buffer.is_concurrent() {
        steps.attempt("ManagedBuffer::host", || buffer.host(cx).map(<[u32]>::len));
        steps.attempt("ManagedBuffer::host_mut", || buffer.host_mut(cx).map(|host| host.fill(2)));
    }
    steps.attempt("ManagedBuffer::on_host", || buffer.on_host(cx, |host| host.fill(3)));
    if let Some(range) = buffer.range(..) {
        let here = MemoryLocation::Device(cx.context().device());
        steps.attempt("ManagedRange::advise", || range.advise(cx, Advice::Preferred(here)));
        steps.attempt("ManagedRange::info", || range.info(cx));
        steps.attempt("ManagedRange::accessed_by", || range.accessed_by(cx));
        steps.attempt("ManagedRange::locations", || range.locations(cx, 16, 0));
    }
    if let Some(stream) = steps.attempt("Stream::new", || Stream::new(cx)) {
        on_a_stream(steps, cx, &stream, &mut buffer);
        steps.attempt("Stream::synchronize", || stream.synchronize(cx));
        steps.done("Stream::drop", || drop(stream));
    }
    steps.done("ManagedBuffer::drop", || drop(buffer));
}

fn on_a_stream(
    steps: &Steps,
    cx: &Current<'_, '_>,
    stream: &Stream<'_>,
    buffer: &mut ManagedBuffer<'_, u32>,
) {
    let here = MemoryLocation::Device(cx.context().device());
    if let Some(range) = buffer.range(..) {
        steps.attempt("Stream::prefetch", || stream.prefetch(cx, range, MemoryLocation::Host));
        let moves: [(ManagedRange<'_>, MemoryLocation); 1] = [(range, here)];
        steps.attempt("Stream::prefetch_batch", || stream.prefetch_batch(cx, &moves));
        // SAFETY: to all streams, which it is attached to already.
        steps.attempt("Stream::attach", || unsafe {
            stream.attach(cx, range, Attachment::CU_MEM_ATTACH_GLOBAL)
        });
    }
    if let Some(range) = buffer.range_mut(..) {
        let mut ranges: [ManagedRangeMut<'_>; 1] = [range];
        steps.attempt("Stream::discard", || stream.discard(cx, &mut ranges));
        let mut moves = ranges.map(|range| (range, here));
        steps.attempt("Stream::discard_and_prefetch", || stream.discard_and_prefetch(cx, &mut moves));
    }
}

fn addresses(steps: &Steps, cx: &Current<'_, '_>) {
    let Some(buffer) = steps.attempt("Buffer::alloc", || Buffer::<u32>::alloc(cx, LEN)) else { return };
    #[cfg(unix)]
    steps.may_refuse("Slice::export_dma_buf", NOT_SUPPORTED, || {
        plain(buffer.as_slice().export_dma_buf(cx).map(drop))
    });
    steps.done("Buffer::drop", || drop(buffer));
}

/// An error of the driver; these methods return no other here.
fn plain<R>(result: Result<R, MemoryError>) -> Result<R, Error> {
    result.map_err(|error| match error {
        MemoryError::Driver(error) => error,
        other => panic!("another error: {other}"),
    })
}

fn mapped(steps: &Steps, cx: &Current<'_, '_>) {
    let (driver, here) = (cx.context().driver(), MemoryLocation::Device(cx.context().device()));
    let none = PhysicalFlags::empty();
    let ask =
        || PhysicalMemory::granularity(driver, here, none, Granularity::CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    let Some(bytes) = steps.attempt("PhysicalMemory::granularity", ask) else { return };
    let create = || PhysicalMemory::new(driver, here, bytes, none);
    let Some(memory) = steps.attempt("PhysicalMemory::new", create) else { return };
    steps.attempt("PhysicalMemory::properties", || memory.properties(driver));
    #[cfg(unix)]
    shared(steps, cx, bytes);
    let addresses = steps.attempt("Reservation::new", || Reservation::new(driver, 3 * bytes, 0));
    if let Some(addresses) = &addresses {
        let map = |offset| addresses.map::<u32>(cx, offset, &memory);
        if let Some(mapping) = steps.attempt("Reservation::map", || map(0)) {
            use_mapping(steps, cx, mapping, &memory);
        }
        // A mapping that cannot be unmapped keeps its place.
        if let Some(mapping) = steps.attempt("Reservation::map", || map(2 * bytes)) {
            steps.attempt("Mapping::close", || mapping.close());
        }
        let near = || Reservation::near(driver, bytes, 0, addresses.as_raw());
        let near = steps.attempt("Reservation::near", near);
        steps.done("Reservation::drop", || drop(near));
    }
    steps.done("Reservation::drop", || drop(addresses));
    steps.attempt("PhysicalMemory::close", || memory.close());
}

fn use_mapping(steps: &Steps, cx: &Current<'_, '_>, mut mapping: Mapping<'_, u32>, memory: &PhysicalMemory) {
    steps.attempt("Current::fill", || cx.fill(&mut mapping, 1));
    steps.attempt("Mapping::extend", || mapping.extend(cx, memory));
    steps.attempt("Mapping::access", || mapping.access(MemoryLocation::Device(cx.context().device())));
    if let Some(device) = steps.attempt("Driver::device", || cx.context().driver().device(1)) {
        let other = MemoryLocation::Device(device);
        steps.attempt("Mapping::set_access", || {
            mapping.set_access(other, MemoryAccess::CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        });
    }
    let physical = steps.attempt("Mapping::physical", || mapping.physical(0));
    steps.done("PhysicalMemory::drop", || drop(physical));
    steps.attempt("Mapping::unmap_last", || mapping.unmap_last());
    steps.done("Mapping::drop", || drop(mapping));
}

/// Memory as a file descriptor, where the device has that.
#[cfg(unix)]
fn shared(steps: &Steps, cx: &Current<'_, '_>, bytes: usize) {
    use std::os::fd::AsFd;

    let (driver, here) = (cx.context().driver(), MemoryLocation::Device(cx.context().device()));
    let create = || PhysicalMemory::new(driver, here, bytes, PhysicalFlags::SHAREABLE);
    let Some(memory) = steps.attempt("PhysicalMemory::new", create) else { return };
    if let Some(descriptor) = steps.attempt("PhysicalMemory::export", || memory.export()) {
        let import = || PhysicalMemory::import(driver, descriptor.as_fd(), bytes);
        let imported = steps.attempt("PhysicalMemory::import", import);
        steps.done("PhysicalMemory::drop", || drop(imported));
    }
    steps.done("PhysicalMemory::drop", || drop(memory));
}

/// The software device refuses all of it, because it lacks the hardware.
fn multicast(steps: &Steps, cx: &Current<'_, '_>) {
    let (device, bytes) = (cx.context().device(), 2 << 20);
    let driver = device.driver();
    steps.may_refuse("Multicast::granularity", NOT_SUPPORTED, || {
        Multicast::granularity(driver, 1, bytes, Granularity::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
    });
    steps.may_refuse("Multicast::new", NOT_SUPPORTED, || Multicast::new(driver, 1, bytes, false).map(drop));
    // The software device has no such object, and maps physical memory in its place.
    let here = MemoryLocation::Device(device);
    let create = || PhysicalMemory::new(driver, here, bytes, PhysicalFlags::empty());
    let Some(memory) = steps.attempt("PhysicalMemory::new", create) else { return };
    let Some(posing) = steps.attempt("PhysicalMemory::new", create) else { return };
    // SAFETY: a handle of that size that nothing else releases; the driver refuses one that is no
    // such object.
    let object = unsafe { Multicast::from_raw(driver, posing.into_raw(), bytes) };
    steps.may_refuse("Multicast::add_device", NOT_SUPPORTED, || object.add_device(device));
    steps.may_refuse("Multicast::bind", NOT_SUPPORTED, || object.bind(device, 0, &memory, 0, bytes));
    if let Some(buffer) = steps.attempt("Buffer::alloc", || Buffer::<u32>::alloc(cx, LEN)) {
        // SAFETY: it is unbound below, if it is bound at all.
        steps.may_refuse("Multicast::bind_slice", NOT_SUPPORTED, || unsafe {
            object.bind_slice(device, 0, buffer.as_slice())
        });
        steps.may_refuse("Multicast::unbind", NOT_SUPPORTED, || object.unbind(device, 0, bytes));
        steps.done("Buffer::drop", || drop(buffer));
    }
    let addresses = steps.attempt("Reservation::new", || Reservation::new(driver, 2 * bytes, 0));
    if let Some(addresses) = &addresses {
        let map = |offset| addresses.map_multicast(cx, offset, &object);
        if let Some(mapping) = steps.attempt("Reservation::map_multicast", || map(0)) {
            steps.done("MulticastMapping::drop", || drop(mapping));
        }
        if let Some(mapping) = steps.attempt("Reservation::map_multicast", || map(bytes)) {
            steps.attempt("MulticastMapping::close", || mapping.close());
        }
    }
    steps.done("Reservation::drop", || drop(addresses));
    steps.attempt("Multicast::close", || object.close());
    steps.done("PhysicalMemory::drop", || drop(memory));
}

/// Arrays that have their memory from the start, as all of the software device's do, refuse to tell
/// of tiles.
fn without_memory(steps: &Steps, cx: &Current<'_, '_>) {
    let (shape, flags) = (ArrayShape::TwoD { width: 4, height: 2 }, ArrayFlags::empty());
    if let Some(array) = steps.attempt("Array::new", || Array::<u32>::new(cx, shape, flags)) {
        let view = array.view();
        steps.may_refuse("ArrayView::sparse_properties", INVALID_VALUE, || view.sparse_properties(cx));
        steps.may_refuse("ArrayView::memory_requirements", INVALID_VALUE, || view.memory_requirements(cx));
        steps.may_refuse("ArrayView::plane", INVALID_VALUE, || plain(view.plane::<u8>(cx, 0)).map(drop));
        if let Some(stream) = steps.attempt("Stream::new", || Stream::new(cx)) {
            let part = TilePart::Tiles { level: 0, layer: 0, offset: [0; 3], extent: [4, 2, 1] };
            let maps = [view.tiles(part, None)];
            // SAFETY: any memory that is unmapped is unused.
            steps.may_refuse("Stream::map_tiles", NOT_SUPPORTED, || unsafe { stream.map_tiles(cx, &maps) });
            steps.done("Stream::drop", || drop(stream));
        }
        steps.done("Array::drop", || drop(array));
    }
    // SAFETY: nothing uses them.
    steps.may_refuse("Array::without_memory", NOT_SUPPORTED, || unsafe {
        plain(Array::<u32>::without_memory(cx, shape, flags)).map(drop)
    });
    // SAFETY: as above.
    steps.may_refuse("MipmappedArray::without_memory", NOT_SUPPORTED, || unsafe {
        plain(MipmappedArray::<u32>::without_memory(cx, shape, flags, 2)).map(drop)
    });
    let create = || MipmappedArray::<u32>::new(cx, shape, flags, 2);
    if let Some(array) = steps.attempt("MipmappedArray::new", create) {
        let (tiles, bytes) = ("MipmappedArray::sparse_properties", "MipmappedArray::memory_requirements");
        steps.may_refuse(tiles, INVALID_VALUE, || array.sparse_properties(cx));
        steps.may_refuse(bytes, INVALID_VALUE, || array.memory_requirements(cx));
        steps.done("MipmappedArray::drop", || drop(array));
    }
}
