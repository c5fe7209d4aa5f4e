//! Order between streams and contexts, by events.

use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, ensure};
use crate::driver::call::calls;
use crate::driver::context::Context;
use crate::driver::state::{Operation, Turn, captures, scheduler};

use super::event::{Event, Record, WaitFor};
use super::stream_ref::StreamRef;

/// Does nothing, but can wait for other operations.
#[derive(Debug)]
pub(crate) struct Marker;

impl Operation for Marker {
    fn run(&self, _turn: Turn<'_>) -> Answer {
        Ok(())
    }
}

/// Records all work of a context so far as one event.
pub(crate) fn record_context(context: Arc<Context>, event: CUevent) -> Answer {
    context.check()?;
    let event = Event::find(event)?;
    ensure(event.context.handle == context.handle, INVALID_HANDLE)?;
    captures().forbid_in(context.handle)?;
    scheduler().wait_context(context.handle);
    let ticket = StreamRef::Legacy(context, None).push(Record::new(Arc::clone(&event)))?;
    event.note_recorded(ticket);
    Ok(())
}

pub(crate) fn make_context_wait(context: &Context, event: CUevent) -> Answer {
    context.check()?;
    captures().forbid_in(context.handle)?;
    Event::find(event)?.wait();
    Ok(())
}

calls! {
    fn cuStreamWaitEvent(call, hStream: CUstream, hEvent: CUevent, Flags: u32) {
        let stream = call.stream(hStream)?;
        ensure(Flags <= CUevent_wait_flags::CU_EVENT_WAIT_EXTERNAL.0, INVALID_VALUE)?;
        let event = Event::find(hEvent).inspect_err(|_| {
            captures().spoil(stream.lane());
        })?;
        let external = Flags == CUevent_wait_flags::CU_EVENT_WAIT_EXTERNAL.0;
        if external {
            ensure(captures().has(stream.lane()), CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
            return stream.push(WaitFor(event)).map(drop);
        }
        if let Some(point) = event.captured() {
            return captures().join(stream.lane(), Some(&point));
        }
        // An event that was never recorded counts as complete, in a capture too.
        let (recorded, shared) = (event.recorded(), event.shared_record());
        if recorded.is_none() && shared.is_none() {
            return Ok(());
        }
        captures().join(stream.lane(), None)?;
        match shared {
            Some(record) => stream.push_after(recorded.as_slice(), record).map(drop),
            None => stream.push_after(recorded.as_slice(), Marker).map(drop),
        }
    }

    fn cuCtxRecordEvent(_call, hCtx: CUcontext, hEvent: CUevent) {
        record_context(Context::find(hCtx)?, hEvent)
    }

    fn cuCtxWaitEvent(_call, hCtx: CUcontext, hEvent: CUevent) {
        make_context_wait(&*Context::find(hCtx)?, hEvent)
    }
}
