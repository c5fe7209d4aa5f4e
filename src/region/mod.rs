//! Memory and work for programs whose types are known only at run time: servers, interpreters, tensor libraries.
//!
//! A [`Pool`] has queues, memory, page-locked memory and kernels. A [`Region`] is a counted share of device memory, which
//! any thread uses on any [`Queue`]; [`Pinned`] memory of the host is owned by one at a time. [`Queue::launch`] compares a
//! list of arguments with a kernel's parameters. All of it is `'static`, of a [shared context](crate::Shared), and
//! is dropped in any order. Launches are `unsafe`, and nothing else is.
//!
//! Device memory has no type here, so that regions may be aliased: operations that race leave
//! unspecified bytes. Where types are known, [slices](crate::memory::Slice) and [scopes](crate::stream::Scope) say more.
//!
//! # Lifetime without driver calls
//!
//! An operation notes its queue in the blocks that it uses, by an epoch that each [`Mark`] ends, before it calls the driver
//! and independent of the answer. Events are recorded only when memory is wanted again and nothing idle fits: one for each
//! queue that still uses dropped memory, which is asked once.
//!
//! | what could go wrong | why it cannot |
//! |---|---|
//! | memory is given out while a queue still uses it | it leaves limbo when an event after that use was seen to have passed |
//! | the new owner's work overtakes the old one's | memory that its own queue still works on is given out on that queue alone; another queue is refused until it comes after it ([`RegionError::NotOrdered`]) |
//! | a read is dropped, and its memory written later | the memory was noted, and stays in limbo |
//! | the host reaches bytes that the device writes | they come back from a wait that succeeded, and by nothing else |
//! | work is recorded by another thread, and memory that it uses is dropped | one lock per queue covers the mode and the driver call; a recording keeps what its work uses |
//! | a graph is dropped in flight | everything that it kept is noted for each queue of its replays first |
//! | a replay overtakes work from before the recording | each queue first waits for that, once |
//! | a scope or a request of another thread is recorded | no queue is a [`Stream`](crate::Stream), and no mark is an [`Event`](crate::stream::Event) |
//! | memory of another device is freed under a copy | both sides are noted, and the event is recorded in the context of the queue |
//! | a call fails, or was done and answers with an error | the notes were made before; memory whose uses cannot be waited for leaks |
//! | code is unloaded under its kernel | it is noted as memory is |
//! | a forked child drops something whose lock is held | drops do nothing there |
//!
//! # Not supported
//!
//! Typed views of regions: the copies and fills of [`Slice`](crate::memory::Slice) run on the default stream, of which no block
//! knows. Replays inside recordings (measured on an H200: the driver refuses them, and the capture is invalid), updates
//! of graphs, and reads in recordings. Memory that a recording allocates is its own for the life of the graph.

mod adopted;
mod block;
mod copies;
mod core;
mod error;
mod function;
mod hub;
mod launch;
mod mark;
mod naive;
mod pinned;
mod pool;
mod queue;
mod read;
mod recording;
#[allow(clippy::module_inception, reason = "a file is an object")]
mod region;
mod replay;
mod visits;

pub use self::copies::Plane;
pub use self::error::RegionError;
pub use self::function::SharedFunction;
pub use self::launch::Arg;
pub use self::mark::Mark;
pub use self::pinned::Pinned;
pub use self::pool::Pool;
pub use self::queue::Queue;
pub use self::read::Read;
pub use self::recording::Recording;
pub use self::region::Region;
pub use self::replay::Replay;
