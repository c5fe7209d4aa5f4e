//! Streams: queues of device work, the marks in them, and the scopes that lend memory to them.
//!
//! # What a wait that fails tells
//!
//! Measured on H200s with driver 580 (`tests/data/goldens/after_fault.txt`, made by `tests/gpu/after_fault.sh`): after
//! a kernel has faulted, every wait answers at once, for every stream, context and device of the process, while copies
//! between a device and *page-locked* host memory go on, those that are still queued included. Only the end of the
//! context tells that they are over. Synchronous copies return when they are done, fault or not.
//!
//! So a wait that fails does not prove that the device has stopped writing memory of the host, and this crate holds to
//! three rules:
//!
//! - Copies to a slice of the host, which may be page-locked or not, are synchronous.
//! - Copies that run beside the host go to memory whose *owner* is at hand: lent to a [scope](Scope::lend), or
//!   moved into a [`Request`]. If the wait fails, a scope marks the owner as lost, so that it gives the host no element
//!   any more and frees nothing, and a request is leaked as a whole.
//! - Copies from the host are queued. If the wait for them fails, the device may read that memory later, which does no
//!   harm to the host: the bytes end in device memory, whose contents are unspecified after an error.
//!
//! # Waits for numbers
//!
//! A stream can [wait for a number](Until) in memory, which another stream, a kernel, a peer or the host
//! [writes](Signals). Until then all that waits for the stream waits too: synchronizing, the end of a
//! [scope](Current::scope), dropping a [`Pending`], and what of the driver's makes it wait for the device, such as
//! freeing memory. If nobody writes the number, they never return. Nothing is given back or freed under such a wait: it
//! is a hang, and no danger. Blocking streams and the default stream wait for each other, so that a write that is
//! queued on one of them does not overtake a wait on another: use non-blocking streams for this.
//!
//! # Faults
//!
//! It was also measured that freeing and unregistering page-locked memory answers with the fault and leaves it as it is,
//! that functions queued with `cuLaunchHostFunc` are never called then, and that those of `cuStreamAddCallback` are,
//! with the fault: so futures are woken by the latter.
//!
//! # On the driver's threads
//!
//! The driver calls the functions of [`Stream::call_host`] and of [host nodes](crate::graph::Graph::add_host), wakes
//! futures, and drops the values of [user objects](crate::graph::UserObject) on threads of its own. What such a
//! function owns and does not return is dropped there as well, and so is what it returns if nobody takes it. Measured
//! on an H100 with driver 580 (`tests/data/goldens/callbacks.txt`, made by `tests/gpu/callbacks.cpp`), the same in all
//! of these:
//!
//! | call on that thread | answer |
//! |---|---|
//! | allocating and freeing memory, making a context current, waiting for a context, asking for devices | `CUDA_ERROR_NOT_PERMITTED` |
//! | asking for an event, waiting for an event or for another stream | as anywhere |
//! | waiting for the stream that called, or for any work behind the function | never |
//!
//! So a token is not to be had there: [`enter`](crate::ContextRef::enter) gives the error. An object of a context that
//! is dropped there leaks, since its drop cannot make the context current, and is [counted](crate::swallowed). That is
//! no danger; it is memory that is gone until the context ends. Dropping a [`Pending`] or a [`PendingFuture`] there
//! waits for its work, and if that comes behind the function, forever. Wakers are not dropped there, but by the future
//! or by the next one that is made or dropped. The software device refuses every call there, and never hangs.

mod attributes;
mod batch;
mod copies;
mod copy;
mod decompression;
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
#[allow(clippy::module_inception, reason = "a file is an object")]
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
pub(crate) use self::shared::KeptStream;
pub(crate) use self::shared::StreamSource;
pub use self::signals::Signals;
pub(crate) use self::stream::ready;
pub use self::stream::{Stream, StreamKind};
pub(crate) use self::value::StreamValue;
pub use self::value::Until;
#[cfg(doc)]
use crate::context::Current;
