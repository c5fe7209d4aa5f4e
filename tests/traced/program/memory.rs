//! Buffers and slices, and page-locked memory.

use cuprum::context::{Context, ContextFlags};
use cuprum::memory::{Peer, PinnedFlags, Pitched, PitchedMut, RegisterFlags, Registered};
use cuprum::sys::{CUpointer_attribute, CUresult};
use cuprum::{Buffer, Current, Driver, PinnedBuffer, Stream};

use super::Steps;
use super::steps::while_they_succeed;

const LEN: usize = 4;

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    let mut host = [1u32; LEN];
    let from_slice = steps.attempt("Buffer::from_slice", || Buffer::from_slice(cx, &host));
    let zeroed = steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(cx, LEN));
    if let Some(mut buffer) = steps.attempt("Buffer::alloc", || Buffer::<u32>::alloc(cx, LEN)) {
        steps.attempt("Current::copy", || cx.copy(&mut buffer, &host));
        steps.attempt("Current::copy", || cx.copy(&mut host, &buffer));
        steps.attempt("Buffer::to_vec", || buffer.to_vec(cx));
        steps.attempt("Current::copy", || cx.copy(&mut host, &buffer.as_slice()));
        steps.attempt("Slice::to_vec", || buffer.as_slice().to_vec(cx));
        let mut slice = buffer.as_mut_slice();
        steps.attempt("Current::copy", || cx.copy(&mut slice, &host));
        if let Some(source) = &zeroed {
            steps.attempt("Current::copy", || cx.copy(&mut slice, source));
        }
        steps.attempt("Current::fill_bytes", || cx.fill_bytes(&mut slice, 7));
        steps.attempt("Current::fill", || cx.fill(&mut slice, 7));
        steps.attempt("Current::fill", || cx.fill(&mut buffer, 7));
        steps.attempt("Current::fill_bytes", || cx.fill_bytes(&mut buffer, 7));
        steps.attempt("Buffer::close", || buffer.close());
    }
    if let Some(mut halves) = steps.attempt("Buffer::alloc", || Buffer::<u16>::alloc(cx, LEN)) {
        steps.attempt("Current::fill", || cx.fill(&mut halves, 7));
        steps.done("Buffer::drop", || drop(halves));
    }
    if let Some(mut bytes) = steps.attempt("Buffer::alloc", || Buffer::<u8>::alloc(cx, LEN)) {
        steps.attempt("Current::fill", || cx.fill(&mut bytes, 7));
        steps.done("Buffer::drop", || drop(bytes));
    }
    if let Some(buffer) = &from_slice {
        pointers(steps, cx.context().driver(), buffer.as_raw());
    }
    steps.done("Buffer::drop", || drop(from_slice));
    steps.done("Buffer::drop", || drop(zeroed));
    page_locked(steps, cx);
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
    if let Some(stream) = steps.attempt("Stream::non_blocking", || Stream::non_blocking(cx)) {
        registered_in_a_capture(steps, cx, stream);
    }
}

/// A capture forbids it to others.
fn registered_in_a_capture(steps: &Steps, cx: &Current<'_, '_>, mut stream: Stream<'_>) {
    let register = || Registered::new(cx, vec![1u32; LEN], RegisterFlags::empty());
    let mut registered = steps.attempt("Registered::new", register);
    super::captures::beside(steps, cx, &mut stream, || {
        if let Some(registered) = registered.take() {
            steps.attempt("Registered::unregister", || registered.unregister());
        }
    });
    // Unless it did not begin.
    steps.done("Registered::drop", || drop(registered));
    steps.done("Stream::drop", || drop(stream));
}

fn pointers(steps: &Steps, driver: Driver, address: u64) {
    steps.attempt("Driver::pointer_info", || driver.pointer_info(address));
    let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    // SAFETY: the type is a number of four bytes.
    let ask = || unsafe { driver.pointer_attribute::<u32>(attribute, address) };
    steps.attempt("Driver::pointer_attribute", ask);
    steps.attempt("Driver::set_sync_memops", || driver.set_sync_memops(address, true));
}

/// Memory of a context on another device.
pub(super) fn peers(steps: &Steps, cx: &mut Current<'_, '_>) {
    let Some(device) = steps.attempt("Driver::device", || cx.context().driver().device(1)) else { return };
    let create = || Context::create(device, ContextFlags::empty());
    let Some(peer) = steps.attempt("Context::create", create) else { return };
    let mut theirs = None;
    if let Some(there) = steps.attempt("Current::push", || cx.push(&peer)) {
        steps.expect(&peer);
        theirs = steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(&there, LEN));
        steps.done("Current::drop", || drop(there));
    }
    steps.session().expect(Some(cx.context().as_raw()));
    if let Some(access) = steps.attempt("Current::enable_peer_access", || cx.enable_peer_access(&peer)) {
        steps.attempt("PeerAccess::close", || access.close());
    }
    // The first may have failed and been done.
    let enabled = CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    steps.may_refuse("Current::enable_peer_access", enabled, || cx.enable_peer_access(&peer).map(drop));
    if let (Some(mut mine), Some(theirs)) =
        (steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(cx, LEN)), &mut theirs)
    {
        let copy = || cx.copy(&mut mine, &Peer(&*theirs));
        steps.attempt("Current::copy", copy);
        peers_on_a_stream(steps, cx, &mut mine, theirs);
        steps.done("Buffer::drop", || drop(mine));
    }
    steps.done("Buffer::drop in another context", || drop(theirs));
    steps.done("Context::drop", || drop(peer));
}

/// Copies from and to memory of another context in a scope, and of rows.
fn peers_on_a_stream(
    steps: &Steps,
    cx: &Current<'_, '_>,
    mine: &mut Buffer<'_, u32>,
    theirs: &mut Buffer<'_, u32>,
) {
    let Some(stream) = steps.attempt("Stream::new", || Stream::new(cx)) else { return };
    let Some(mut rows) = steps.attempt("Buffer::zeroed", || Buffer::<u32>::zeroed(cx, LEN)) else { return };
    if let (Ok(mut to), Ok(from)) =
        (PitchedMut::over(rows.as_mut_slice(), LEN), Pitched::over(theirs.as_slice(), LEN))
    {
        steps.attempt("Current::copy", || cx.copy(&mut to, &Peer(from)));
    }
    let Some((low, high)) = theirs.as_mut_slice().into_split_at(LEN / 2) else { return };
    steps.attempt("Current::scope", || {
        cx.scope(&stream, |scope| {
            while_they_succeed(|| {
                let lent = steps.attempt("Scope::lend", || scope.lend(mine.as_mut_slice()))?;
                let (left, right) = (lent.slice(..LEN / 2)?, lent.slice(LEN / 2..)?);
                // The other context is current for a wait.
                steps.session().expect(None);
                let from = steps.attempt("Scope::lend", || scope.lend(Peer(low.as_slice())))?;
                let to = steps.attempt("Scope::lend", || scope.lend(Peer(high)))?;
                let from_rows = Pitched::over(low.as_slice(), LEN / 2).ok()?;
                let from_rows = steps.attempt("Scope::lend", || scope.lend(Peer(from_rows)))?;
                steps.session().expect(Some(cx.context().as_raw()));
                steps.attempt("Scope::copy", || scope.copy(&left, &from));
                steps.attempt("Scope::copy", || scope.copy(&to, &right.as_shared()));
                let rows = PitchedMut::over(rows.slice_mut(..LEN / 2)?, LEN / 2).ok()?;
                let rows = steps.attempt("Scope::lend", || scope.lend(rows))?;
                steps.attempt("Scope::copy", || scope.copy(&rows, &from_rows));
                Some(())
            })
        })
    });
    steps.session().expect(Some(cx.context().as_raw()));
    steps.session().scope_ended();
    steps.done("Stream::drop", || drop(stream));
    steps.done("Buffer::drop", || drop(rows));
}
