//! Memory in the order of streams, the driver's pools, and pools that keep blocks.

#[cfg(unix)]
use std::os::fd::AsFd;

use cuprum::memory::PinnedFlags;
use cuprum::pool::{
    BufferPool, MemoryPool, PinnedPool, PoolAccess, PoolAttribute, PoolOptions, PoolPlace, StreamBuffer,
};
use cuprum::stream::{Event, EventFlags};
use cuprum::{Current, Stream};

use super::Steps;

const LEN: usize = 4;

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    let one = steps.attempt("Stream::new", || Stream::new(cx));
    let two = steps.attempt("Stream::non_blocking", || Stream::non_blocking(cx));
    if let (Some(one), Some(two)) = (&one, &two) {
        ordered(steps, cx, one, two);
        of_the_driver(steps, cx, one);
        #[cfg(unix)]
        exchanged(steps, cx, one);
        caching(steps, cx, one, two);
    }
    page_locked(steps, cx);
    steps.done("Stream::drop", || drop(one));
    steps.done("Stream::drop", || drop(two));
}

fn ordered(steps: &Steps, cx: &Current<'_, '_>, one: &Stream<'_>, two: &Stream<'_>) {
    let mut host = [1u32; LEN];
    let zeroed = steps.attempt("StreamBuffer::zeroed", || StreamBuffer::<u32>::zeroed(cx, one, LEN));
    if let Some(mut buffer) =
        steps.attempt("StreamBuffer::alloc", || StreamBuffer::<u32>::alloc(cx, one, LEN))
    {
        steps.attempt("Current::fill", || cx.fill(&mut buffer, 7));
        steps.attempt("Current::fill_bytes", || cx.fill_bytes(&mut buffer, 7));
        if let Some(source) = &zeroed {
            steps.attempt("Current::copy", || cx.copy(&mut buffer, &source));
        }
        steps.attempt("Current::copy", || cx.copy(&mut buffer, &host));
        steps.attempt("Current::copy", || cx.copy(&mut host, &buffer));
        steps.attempt("StreamBuffer::to_vec", || buffer.to_vec(cx));
        steps.attempt("Current::scope", || {
            cx.scope(one, |scope| {
                let lent = steps.attempt("Scope::lend", || scope.lend(&mut buffer));
                let Some(lent) = lent else { return Ok(()) };
                steps.attempt("Scope::fill", || scope.fill(&lent, 9));
                Ok(())
            })
        });
        steps.session().scope_ended();
        if let Some(mut event) = steps.attempt("Event::new", || Event::new(cx, EventFlags::DISABLE_TIMING)) {
            steps.attempt("StreamBuffer::move_to", || buffer.move_to(cx, &mut event, two));
            steps.done("Event::drop", || drop(event));
        }
        steps.attempt("StreamBuffer::close", || buffer.close());
    }
    for stream in [Stream::new, Stream::non_blocking] {
        let Some(stream) = steps.attempt("Stream::new", || stream(cx)) else { continue };
        let shared = stream.share();
        let halves = steps.attempt("StreamBuffer::alloc", || StreamBuffer::<u16>::alloc(cx, &shared, LEN));
        steps.done("Shared<Stream>::drop", || drop(shared));
        if let Some(mut halves) = halves {
            steps.attempt("Current::fill", || cx.fill(&mut halves, 7));
            steps.done("StreamBuffer::drop", || drop(halves));
        }
    }
    if let Some(mut bytes) = steps.attempt("StreamBuffer::alloc", || StreamBuffer::<u8>::alloc(cx, one, LEN))
    {
        steps.attempt("Current::fill", || cx.fill(&mut bytes, 7));
        steps.done("StreamBuffer::drop", || drop(bytes));
    }
    steps.done("StreamBuffer::drop", || drop(zeroed));
}

fn of_the_driver(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let (device, driver) = (cx.context().device(), cx.context().driver());
    let options = PoolOptions::new(PoolPlace::Device(device));
    if let Some(pool) = steps.attempt("MemoryPool::new", || MemoryPool::new(driver, &options)) {
        let threshold = PoolAttribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        steps.attempt("PoolRef::attribute", || pool.attribute(threshold));
        steps.attempt("PoolRef::set_attribute", || pool.set_attribute(threshold, 1 << 20));
        let both = PoolAccess::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        steps.attempt("PoolRef::set_access", || pool.set_access(&[(device, both)]));
        steps.attempt("PoolRef::access", || pool.access(device));
        let alloc = || StreamBuffer::<u32>::alloc_from(cx, stream, &pool, LEN);
        let buffer = steps.attempt("StreamBuffer::alloc_from", alloc);
        steps.attempt("PoolRef::trim_to", || pool.trim_to(0));
        steps.attempt("MemoryPool::close", || pool.close());
        steps.done("StreamBuffer::drop", || drop(buffer));
    }
    let pool = steps.attempt("MemoryPool::new", || MemoryPool::new(driver, &options));
    steps.done("MemoryPool::drop", || drop(pool));
    for place in [PoolPlace::Device(device), PoolPlace::Host] {
        if let Some(default) = steps.attempt("Driver::default_pool", || driver.default_pool(place)) {
            steps.attempt("Driver::current_pool", || driver.current_pool(place));
            steps.attempt("Driver::set_current_pool", || driver.set_current_pool(place, &default));
        }
    }
}

/// With another process; here it is this one. By descriptors, which are of Unix.
#[cfg(unix)]
fn exchanged(steps: &Steps, cx: &Current<'_, '_>, stream: &Stream<'_>) {
    let (device, driver) = (cx.context().device(), cx.context().driver());
    let options = PoolOptions { shareable: true, ..PoolOptions::new(PoolPlace::Device(device)) };
    let Some(pool) = steps.attempt("MemoryPool::new", || MemoryPool::new(driver, &options)) else { return };
    let alloc = || StreamBuffer::<u32>::alloc_from(cx, stream, &pool, LEN);
    let buffer = steps.attempt("StreamBuffer::alloc_from", alloc);
    if let Some(descriptor) = steps.attempt("PoolRef::export", || pool.export()) {
        let import = || MemoryPool::import(driver, descriptor.as_fd());
        if let (Some(theirs), Some(buffer)) = (steps.attempt("MemoryPool::import", import), &buffer) {
            if let Some(pointer) = steps.attempt("StreamBuffer::export", || buffer.export(cx)) {
                // SAFETY: as many elements, allocated in the order of the same stream, and freed
                // before.
                let import = || unsafe { StreamBuffer::<u32>::import(cx, stream, &theirs, pointer, LEN) };
                let imported = steps.attempt("StreamBuffer::import", import);
                steps.done("StreamBuffer::drop", || drop(imported));
            }
            steps.done("MemoryPool::drop", || drop(theirs));
        }
    }
    steps.done("StreamBuffer::drop", || drop(buffer));
    steps.done("MemoryPool::drop", || drop(pool));
}

fn caching(steps: &Steps, cx: &Current<'_, '_>, one: &Stream<'_>, two: &Stream<'_>) {
    let pool = BufferPool::new(cx);
    let first = steps.attempt("BufferPool::alloc", || pool.alloc::<u32>(cx, one, LEN));
    steps.done("StreamBuffer::drop into its pool", || drop(first));
    if let Some(mut again) =
        steps.attempt("BufferPool::alloc of a held block", || pool.alloc::<u32>(cx, one, LEN))
    {
        if let Some(mut event) = steps.attempt("Event::new", || Event::new(cx, EventFlags::DISABLE_TIMING)) {
            steps.attempt("StreamBuffer::move_to", || again.move_to(cx, &mut event, two));
            steps.done("Event::drop", || drop(event));
        }
        steps.attempt("StreamBuffer::close into its pool", || again.close());
    }
    steps.attempt("BufferPool::free_held", || pool.free_held());
    let last = steps.attempt("BufferPool::alloc", || pool.alloc::<u32>(cx, two, LEN));
    let held = steps.attempt("BufferPool::alloc", || pool.alloc::<u32>(cx, two, LEN));
    steps.done("StreamBuffer::drop into its pool", || drop(held));
    steps.attempt("BufferPool::stop_holding", || pool.stop_holding());
    steps.done("StreamBuffer::drop", || drop(last));
    let pool = BufferPool::new(cx);
    let held = steps.attempt("BufferPool::alloc", || pool.alloc::<u32>(cx, two, LEN));
    steps.done("StreamBuffer::drop into its pool", || drop(held));
    steps.done("BufferPool::drop", || drop(pool));
}

fn page_locked(steps: &Steps, cx: &Current<'_, '_>) {
    let pool = PinnedPool::new(cx, PinnedFlags::empty());
    let first = steps.attempt("PinnedPool::zeroed", || pool.zeroed::<u32>(cx, LEN));
    steps.done("PinnedBuffer::drop into its pool", || drop(first));
    if let Some(again) = steps.attempt("PinnedPool::from_slice", || pool.from_slice(cx, &[1u32; LEN])) {
        steps.attempt("PinnedBuffer::close into its pool", || again.close());
    }
    steps.attempt("PinnedPool::free_held", || pool.free_held());
    let last = steps.attempt("PinnedPool::zeroed", || pool.zeroed::<u32>(cx, LEN));
    let held = steps.attempt("PinnedPool::zeroed", || pool.zeroed::<u32>(cx, LEN));
    steps.done("PinnedBuffer::drop into its pool", || drop(held));
    steps.attempt("PinnedPool::stop_holding", || pool.stop_holding());
    steps.done("PinnedBuffer::drop", || drop(last));
    let pool = PinnedPool::new(cx, PinnedFlags::empty());
    let held = steps.attempt("PinnedPool::zeroed", || pool.zeroed::<u32>(cx, LEN));
    steps.done("PinnedBuffer::drop into its pool", || drop(held));
    steps.done("PinnedPool::drop", || drop(pool));
}
