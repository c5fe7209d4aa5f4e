//! Buffers and slices.

use cuprum::{Buffer, Current};

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
}
