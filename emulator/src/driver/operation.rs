//! What can be pushed to a stream.

use std::sync::Arc;

use super::call::{Answer, in_callback};
use super::context::Context;
use super::copy::Copy;
use super::event::Event;
use super::graph::exec::GraphRun;
use super::launch::Launch;
use super::memop::ValueOperation;
use super::memset::Fill;
use super::pool::leave_pool;
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

// SAFETY: the driver may call the function on any thread, with this pointer, which it does not look
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

impl Operation {
    /// Whether it can run once everything before it has.
    pub(super) fn is_ready(&self) -> bool {
        match self {
            Self::Value(value) => value.is_ready(),
            _ => true,
        }
    }

    /// Runs it. An error poisons the context.
    pub(super) fn run(self, context: &Arc<Context>, ticket: Ticket) -> Answer {
        match self {
            Self::Marker => Ok(()),
            Self::Launch(launch) => launch.run(context),
            Self::Copy(copy) => copy.run(),
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
                if let Some(function) = callback.function {
                    let status = context.check().err().unwrap_or(CUresult::CUDA_SUCCESS);
                    // SAFETY: the client's function with the client's pointer.
                    in_callback(|| unsafe { function(callback.stream, status, callback.data) });
                }
                Ok(())
            }
            Self::Graph(run) => run.run(context, ticket),
            Self::Value(value) => {
                value.run();
                Ok(())
            }
            Self::Free(address) => {
                // The address was checked when it was issued; freed again since, it is gone.
                if let Ok(region) = emulator().memory.free(address) {
                    leave_pool(address, region.len);
                }
                Ok(())
            }
        }
    }
}
