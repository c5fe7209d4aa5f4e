//! Buffers and slices, and page-locked memory.

use cuprum::{Buffer, Current, PinnedBuffer, PinnedFlags, RegisterFlags, Registered, Stream};

use super::Steps;

const LEN: usize = 4;

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    let mut host = [1u32; LEN];
    let from_slice = steps.attempt("Buffer::from_slice", || Buffer::from_slice(cx, &host));
    let zeroed = steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(cx, LEN));
    if let Some(mut buffer) = steps.attempt("Buffer::alloc", || Buffer::<u32>::alloc(cx, LEN)) {
        steps.attempt("Buffer::copy_from_host", || buffer.copy_from_host(cx, &host));
        steps.attempt("Buffer::copy_to_host", || buffer.copy_to_host(cx, &mut host));
        steps.attempt("Buffer::to_vec", || buffer.to_vec(cx));
        steps.attempt("Slice::copy_to_host", || buffer.as_slice().copy_to_host(cx, &mut host));
        steps.attempt("Slice::to_vec", || buffer.as_slice().to_vec(cx));
        let mut slice = buffer.as_mut_slice();
        steps.attempt("SliceMut::copy_from_host", || slice.copy_from_host(cx, &host));
        if let Some(source) = &zeroed {
            steps.attempt("SliceMut::copy_from", || slice.copy_from(cx, source.as_slice()));
        }
        steps.attempt("SliceMut::set_bytes", || slice.set_bytes(cx, 7));
        steps.attempt("SliceMut::fill", || slice.fill(cx, 7));
        steps.attempt("Buffer::fill", || buffer.fill(cx, 7));
        steps.attempt("Buffer::set_bytes", || buffer.set_bytes(cx, 7));
        steps.attempt("Buffer::close", || buffer.close());
    }
    if let Some(mut halves) = steps.attempt("Buffer::alloc", || Buffer::<u16>::alloc(cx, LEN)) {
        steps.attempt("SliceMut::fill", || halves.as_mut_slice().fill(cx, 7));
        steps.done("Buffer::drop", || drop(halves));
    }
    if let Some(mut bytes) = steps.attempt("Buffer::alloc", || Buffer::<u8>::alloc(cx, LEN)) {
        steps.attempt("SliceMut::fill", || bytes.as_mut_slice().fill(cx, 7));
        steps.done("Buffer::drop", || drop(bytes));
    }
    steps.done("Buffer::drop", || drop(from_slice));
    steps.done("Buffer::drop", || drop(zeroed));
    page_locked(steps, cx);
    raw_addresses(steps, cx);
}

fn page_locked(steps: &Steps, cx: &Current<'_, '_>) {
    let flags = PinnedFlags::PORTABLE;
    let zeroed = steps.attempt("PinnedBuffer::zeroed", || PinnedBuffer::<u32>::zeroed(cx, LEN, flags));
    if let Some(pinned) = zeroed {
        steps.attempt("PinnedBuffer::flags", || pinned.flags(cx));
        steps.attempt("PinnedBuffer::close", || pinned.close());
    }
    let other =
        steps.attempt("PinnedBuffer::from_slice", || PinnedBuffer::from_slice(cx, &[1u32; LEN], flags));
    steps.done("PinnedBuffer::drop", || drop(other));
    let register = || Registered::new(cx, vec![1u32; LEN], RegisterFlags::empty());
    if let Some(registered) = steps.attempt("Registered::new", register) {
        steps.attempt("Registered::unregister", || registered.unregister());
    }
    let registered = steps.attempt("Registered::new", register);
    steps.done("Registered::drop", || drop(registered));
}

/// Copies whose host side only the program keeps.
fn raw_addresses(steps: &Steps, cx: &Current<'_, '_>) {
    let Some(stream) = steps.attempt("Stream::new", || Stream::new(cx)) else { return };
    if let Some(mut buffer) = steps.attempt("Buffer::alloc", || Buffer::<u32>::alloc(cx, LEN)) {
        let (input, output) = ([1u32; LEN], Box::leak(Box::new([0u32; LEN])).as_mut_ptr());
        let mut slice = buffer.as_mut_slice();
        // SAFETY: four elements on both sides; if the wait below fails, they stay.
        steps.attempt("SliceMut::copy_from_raw", || unsafe {
            slice.copy_from_raw(cx, &stream, input.as_ptr())
        });
        // SAFETY: as above; nobody looks at them before the wait.
        steps.attempt("Slice::copy_to_raw", || unsafe { slice.as_slice().copy_to_raw(cx, &stream, output) });
        if steps.attempt("Stream::synchronize", || stream.synchronize(cx)).is_some() {
            // SAFETY: leaked above, and the device does no more with it.
            drop(unsafe { Box::from_raw(output.cast::<[u32; LEN]>()) });
        } else {
            steps.session().lost(output);
        }
        steps.done("Buffer::drop", || drop(buffer));
    }
    steps.done("Stream::drop", || drop(stream));
}
