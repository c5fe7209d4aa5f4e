//! Streams and events: operations queued in them, and their order.

mod allocation;
mod attributes;
mod calls;
mod event;
mod host;
mod order;
mod stream_ref;
mod value;

use crate::driver::call::Builder;

pub(crate) use allocation::{Allocation, Free};
pub(crate) use event::{Event, Record, WaitFor};
pub(crate) use host::HostCall;
pub(crate) use order::{Marker, make_context_wait, record_context};
pub(crate) use stream_ref::{LEAST_PRIORITY, StreamRef, create_in};
pub(crate) use value::{ValueBatch, ValueOperation};

pub(crate) fn install(builder: &mut Builder) {
    allocation::install(builder);
    attributes::install(builder);
    calls::install(builder);
    event::install(builder);
    host::install(builder);
    order::install(builder);
    value::install(builder);
}
