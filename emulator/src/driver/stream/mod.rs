//! Streams and events: operations queued in them, and their order.

mod allocation;
mod attributes;
mod calls;
mod event;
mod host;
mod install;
mod order;
mod stream_ref;
mod value;

pub(crate) use allocation::{Allocation, Free};
pub(crate) use event::{Event, Record, WaitFor};
pub(crate) use host::HostCall;
pub(crate) use install::install;
pub(crate) use order::{Marker, make_context_wait, record_context};
pub(crate) use stream_ref::{LEAST_PRIORITY, StreamRef, create_in};
pub(crate) use value::{ValueBatch, ValueOperation};
