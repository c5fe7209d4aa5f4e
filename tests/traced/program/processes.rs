//! Memory and events of other processes.

use cuprum::memory::ForeignBuffer;
use cuprum::stream::{Event, EventFlags};
use cuprum::{Buffer, Current};

use super::Steps;

pub(super) fn all(steps: &Steps, cx: &Current<'_, '_>) {
    if let Some(buffer) = steps.attempt("Buffer::alloc", || Buffer::<u8>::alloc(cx, 16)) {
        steps.attempt("Buffer::ipc_handle", || buffer.ipc_handle(cx));
        steps.done("Buffer::drop", || drop(buffer));
    }
    let flags = EventFlags::INTERPROCESS | EventFlags::DISABLE_TIMING;
    if let Some(event) = steps.attempt("Event::new", || Event::new(cx, flags)) {
        steps.attempt("Event::ipc_handle", || event.ipc_handle(cx));
        steps.done("Event::drop", || drop(event));
    }
    let handle = [0; 64];
    // SAFETY: the tracer stands in for the other process, and opens memory of its own.
    let open = || unsafe { ForeignBuffer::<u8>::open_ipc(cx, handle) };
    if let Some(memory) = steps.attempt("ForeignBuffer::open_ipc", open) {
        steps.attempt("ForeignBuffer::close", || memory.close());
    }
    let memory = steps.attempt("ForeignBuffer::open_ipc", open);
    steps.done("ForeignBuffer::drop", || drop(memory));
    let handle = [0; 64];
    // SAFETY: as above.
    let event = steps.attempt("Event::open", || unsafe { Event::open(cx, handle) });
    steps.done("Event::drop", || drop(event));
}
