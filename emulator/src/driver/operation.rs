//! What can be pushed to a stream.

use std::sync::Arc;

use super::allocation::take_away;
use super::call::{Answer, in_callback};
use super::context::Context;
use super::copy::Copy;
use super::event::Event;
use super::graph::exec::GraphRun;
use super::launch::Launch;
use super::memop::ValueOperation;
use super::memset::Fill;
use super::outlive::rest_before;
use super::schedule::Ticket;
use super::state::emulator;

use cuprum_sys::{CUhostFn, CUresult, CUstream, CUstreamCallback};

/// One operation of a stream.
#[derive(Debug)]
pub(super) enum Operation {
    /// Does nothing; a place to wait for others.
    Marker,
    Launch(Launch),
    Copy(Copy),
    Fill(Fill),
    Record(Arc<Event>),
    Host(HostCall),
    Callback(StreamCallback),
    /// A launch of an executable graph.
    Graph(GraphRun),
    /// Waits for a value in memory, or writes one.
    Value(ValueOperation),
    /// Frees memory that was freed in stream order.
    Free(u64),
}

/// A host function of the client.
#[derive(Debug)]
pub(super) struct HostCall {
    pub(super) function: CUhostFn,
    pub(super) data: *mut core::ffi::c_void,
}

// SAFETY: the driver may call the function on any thread, with this pointer, which it does not follow.
unsafe impl Send for HostCall {}

/// A stream callback of the client.
#[derive(Debug)]
pub(super) struct StreamCallback {
    pub(super) function: CUstreamCallback,
    pub(super) stream: CUstream,
    pub(super) data: *mut core::ffi::c_void,
}

// SAFETY: as for `HostCall`, by the contract of `cuStreamAddCallback`.
unsafe impl Send for StreamCallback {}

impl StreamCallback {
    /// Calls it with the state of its context.
    fn call(&self, context: &Context) {
        if let Some(function) = self.function {
            let status = context.check().err().unwrap_or(CUresult::CUDA_SUCCESS);
            // SAFETY: the client's function with the client's pointer.
            in_callback(|| unsafe { function(self.stream, status, self.data) });
        }
    }
}

impl Operation {
    /// Whether it can run once everything before it has.
    pub(super) fn is_ready(&self) -> bool {
        match self {
            Self::Value(value) => value.is_ready(),
            _ => true,
        }
    }

    /// Whether it is a copy that a fault of its context does not stop.
    pub(super) fn is_unstoppable(&self) -> bool {
        matches!(self, Self::Copy(copy) if copy.has_locked_end())
    }

    /// Whether it is called although its context is broken.
    pub(super) fn is_told_of_fault(&self) -> bool {
        matches!(self, Self::Callback(_))
    }

    /// Whether it calls a function of the client.
    pub(super) fn calls_client(&self) -> bool {
        match self {
            Self::Host(_) | Self::Callback(_) => true,
            Self::Graph(run) => run.calls_client(),
            _ => false,
        }
    }

    /// Ends what goes on after a fault of its context.
    pub(super) fn end_after_fault(self, context: &Context) {
        match self {
            // The context is broken already.
            Self::Copy(copy) => drop(copy.run(0, |piece| rest_before(piece, context))),
            other => other.drop_after_fault(context),
        }
    }

    /// Drops it since its context is broken.
    pub(super) fn drop_after_fault(self, context: &Context) {
        if let Self::Callback(callback) = self {
            callback.call(context);
        }
    }

    /// Runs it, all but what was done before. An error poisons the context.
    pub(super) fn run(self, context: &Arc<Context>, ticket: Ticket, done: u64) -> Answer {
        match self {
            Self::Marker => Ok(()),
            Self::Launch(launch) => launch.run(context),
            Self::Copy(copy) => copy.run(done, |piece| rest_before(piece, context)),
            Self::Fill(fill) => fill.run(),
            Self::Record(event) => {
                event.stamp(ticket);
                Ok(())
            }
            Self::Host(HostCall { function, data }) => {
                if let Some(function) = function {
                    // SAFETY: the client's function with the client's pointer.
                    in_callback(|| unsafe { function(data) });
                }
                Ok(())
            }
            Self::Callback(callback) => {
                callback.call(context);
                Ok(())
            }
            Self::Graph(run) => run.run(context, ticket),
            Self::Value(value) => {
                value.run();
                Ok(())
            }
            Self::Free(address) => {
                if let Some(block) = emulator().graph_blocks.find(address) {
                    block.vanish();
                    return Ok(());
                }
                // The address was checked when it was issued; freed again since, it is gone.
                let _ = take_away(address);
                Ok(())
            }
        }
    }
}
