//! Streams: queues of device work, events in them, and scopes that lend memory to them.
//!
//! # Meaning of a failed wait
//!
//! Measured on H200s with driver 580 (`tests/data/goldens/after_fault.txt`, made by
//! `tests/gpu/after_fault.sh`): after a kernel has faulted, every wait returns immediately, for
//! every stream, context and device of the process, while copies between a device and *page-locked*
//! host memory continue, including queued ones. Only destroying the context proves that these
//! copies are complete. Synchronous copies return when they are complete, fault or not.
//!
//! So a failed wait does not prove that the device has stopped writing host memory. Three rules
//! follow:
//!
//! - Copies to a host slice, which may be page-locked or not, are synchronous.
//! - Copies that run in parallel with the host write memory whose *owner* is known: lent to a
//!   [scope](Scope::lend), or moved into a [`Request`]. If the wait fails, a scope marks the owner
//!   as lost, so that it gives the host no more access and frees nothing; a request is leaked as a
//!   whole.
//! - Copies from the host are queued. If the wait for them fails, the device may read that memory
//!   later. This is harmless: the bytes end up in device memory, whose contents are unspecified
//!   after an error.
//!
//! # Waits for values
//!
//! A stream can [wait for a value](Until) in memory, which another stream, a kernel, a peer or the
//! host [writes](Signals). Until the value is written, each wait for the stream blocks, too:
//! synchronizing, the end of a [scope](Current::scope), dropping a [`Pending`], and driver calls
//! that wait for the device, such as freeing memory. If it is never written, these calls never
//! return. Because nothing is returned or freed meanwhile, the program hangs but stays sound.
//! Blocking streams and the default stream wait for each other, so a write queued on one of them
//! cannot overtake a wait on another: use non-blocking streams for this.
//!
//! # Faults
//!
//! Also measured: freeing and unregistering page-locked memory returns the fault and does nothing.
//! The driver never calls functions queued with `cuLaunchHostFunc` after a fault, but calls
//! functions of `cuStreamAddCallback` with the fault. So futures use the latter.
//!
//! # On the driver's threads
//!
//! On its own threads, the driver calls the functions of [`Stream::call_host`] and of [host
//! nodes](crate::graph::Graph::add_host), wakes futures, and drops the values of [user
//! objects](crate::graph::UserObject). Objects that such a function owns are dropped there, and so
//! is its result if the [`HostCall`] was dropped without taking it. Measured for all of these on an
//! H100 with driver 580 (`tests/data/goldens/callbacks.txt`, made by `tests/gpu/callbacks.cpp`):
//!
//! | call on that thread | result |
//! |---|---|
//! | allocate or free memory, make a context current, wait for a context, query devices | `CUDA_ERROR_NOT_PERMITTED` |
//! | query an event, wait for an event or for another stream | as elsewhere |
//! | wait for the calling stream, or for any work after the function | never returns |
//!
//! So no token is available there: [`enter`](crate::ContextRef::enter) returns the error. If an
//! object of a context is dropped there, it leaks, because its drop cannot make the context
//! current, and the error is [counted](crate::swallowed). The memory stays allocated until the
//! context ends. Dropping a [`Pending`] or a [`PendingFuture`] there waits for its work, and waits
//! forever if the work comes after the function. Wakers are never dropped there: the future drops
//! its waker, or else the next future that is made or dropped. The software device refuses every
//! call there, and never hangs.

mod attributes;
mod batch;
mod copies;
mod copy;
mod decompression;
mod enter;
mod event;
mod foreign;
mod green;
mod host;
mod identity;
mod ipc_event;
mod left_over;
pub(crate) mod lend;
mod lent;
mod managed;
pub(crate) mod operations;
mod place;
mod queue;
mod raw_copy;
mod reached;
mod request;
mod scope;
mod shared;
mod signals;
mod sparse;
mod stream;
pub(crate) mod value;
mod whole_context;

pub use self::attributes::{AccessPolicy, SyncDomainMap};
pub use self::copies::{Copies, CopyAttributes};
pub use self::decompression::Decompression;
pub use self::event::{Event, EventFlags};
pub use self::foreign::{ForeignEvent, ForeignStream};
pub use self::host::HostCall;
pub use self::lend::Lend;
pub use self::lent::Lent;
pub use self::managed::Attachment;
pub use self::operations::Operations;
pub(crate) use self::place::Located;
pub use self::reached::Reached;
pub use self::request::{Pending, PendingFuture, Request, RequestError};
pub use self::scope::{MultiScope, Scope};
pub(crate) use self::shared::{KeptStream, StreamSource};
pub use self::signals::Signals;
pub(crate) use self::stream::ready;
pub use self::stream::{Stream, StreamKind};
pub(crate) use self::value::StreamValue;
pub use self::value::Until;
#[cfg(doc)]
use crate::context::Current;
