//! Memory and work for programs whose types are known only at run time: servers, interpreters,
//! tensor libraries.
//!
//! A [`Pool`] has queues, memory, page-locked memory and kernels. A [`Region`] is a counted share
//! of device memory, which any thread uses on any [`Queue`]; [`Pinned`] host memory has one owner
//! at a time. [`Queue::launch`] compares a list of arguments with a kernel's parameters. All of it
//! is `'static`, of a [shared context](crate::Shared), and is dropped in any order. Only launches
//! are `unsafe`.
//!
//! Device memory has no type here, so regions may alias: operations that race leave unspecified
//! bytes. If types are known, [slices](crate::memory::Slice) and [scopes](crate::stream::Scope)
//! check more.
//!
//! # Lifetime without driver calls
//!
//! Before it calls the driver, and regardless of the answer, an operation notes its queue in the
//! blocks that it uses, by an epoch that each [`Mark`] ends. Events are recorded only when memory
//! is needed and no idle memory fits: one for each queue that still uses dropped memory, which is
//! queried once.
//!
//! | hazard | prevented because |
//! |---|---|
//! | memory is reused while a queue still uses it | it leaves limbo after an event after that use has passed |
//! | the new owner's work overtakes the old owner's | memory that its own queue still uses is reused only on that queue; another queue is refused until it comes after it ([`RegionError::NotOrdered`]) |
//! | a read is dropped, and its memory written later | the memory was noted, and stays in limbo |
//! | the host accesses bytes that the device writes | only a successful wait returns them |
//! | another thread records work, and memory that it uses is dropped | one lock per queue covers the mode and the driver call; a recording keeps the memory of its work |
//! | a graph is dropped in flight | everything that it kept is first noted for each queue of its replays |
//! | a replay overtakes work from before the recording | each queue first waits for that work, once |
//! | a scope or a request of another thread is recorded | no queue is a [`Stream`](crate::Stream), and no mark is an [`Event`](crate::stream::Event) |
//! | memory of another device is freed during a copy | both sides are noted, and the event is recorded in the context of the queue |
//! | a call fails, or takes effect and returns an error | the notes were made before; memory whose uses cannot be waited for leaks |
//! | code is unloaded while its kernel runs | it is noted like memory |
//! | a forked child drops an object whose lock is held | drops do nothing there |
//!
//! # Not supported
//!
//! Typed views of regions: the copies and fills of [`Slice`](crate::memory::Slice) run on the
//! default stream, which blocks do not track. Replays inside recordings (the driver refuses them
//! and invalidates the capture, measured on an H200), updates of graphs, and reads in recordings.
//! Memory that a recording allocates belongs to it for the life of the graph.

mod adopted;
mod block;
mod copies;
mod core;
mod error;
mod function;
mod hub;
mod launch;
mod lent;
mod mark;
mod naive;
mod pinned;
mod pool;
mod queue;
mod raw_memory;
mod read;
mod recording;
mod region;
mod replay;
mod seen;
mod storage;
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
