//! Memory in stream order, and pools: the driver's, and pools that keep blocks in the program.
//!
//! # Memory in the order of a stream
//!
//! A [`StreamBuffer`] is allocated and freed by work of a stream, so neither waits. It exists for
//! that stream only: after the allocation and before the free. If another stream uses it before its
//! own stream has reached the allocation, it finds data of the previous owner; if it uses it after
//! the free, it overwrites data of the next one. So the buffer keeps its stream, by a borrow or by
//! a [share](crate::Shared), works only on it, and is freed on it. Its own operations need no
//! scope, because the free comes after them. Host memory is copied from and to it in a
//! [scope](crate::stream::Scope::lend) on its stream, or by methods that wait.
//! [`StreamBuffer::move_to`] moves it to another stream, which then waits for an event after all
//! earlier work on it.
//!
//! It is not a [`Buffer`](crate::Buffer), and lends a [`Slice`] only on the legacy default stream:
//! slices are copied and filled on that stream, and `cuMemFree`, which waits for work on other
//! memory, does not wait for memory of the driver's pools.
//!
//! | hazard | prevented because |
//! |---|---|
//! | used on another stream before the allocation or after the free | it is lent only to scopes on its own stream |
//! | freed on one stream while another works on it | it is freed on the only stream that works on it |
//! | its stream is destroyed first | it keeps the stream |
//! | its free is captured, and becomes a node of a graph | a capture borrows its stream mutably, and this keeps it shared |
//! | another thread records the event of [`move_to`](StreamBuffer::move_to) meanwhile | `move_to` borrows it mutably |
//! | forgotten | only the memory leaks |
//!
//! Measured on an H100 with driver 580: `cuMemFree` waits for a stream that will write memory of
//! `cuMemAlloc`, but returns immediately for memory of a pool, which the stream may then write
//! after it has a new owner. Memory freed on a stream that has not reached the free is not reused
//! on another stream. An event on an ordinary stream comes after the work that the default stream
//! waits for.
//!
//! While the calling thread captures a stream, the driver refuses to allocate on any other stream,
//! and the capture becomes invalid, unless it is [relaxed](crate::graph::CaptureMode::Relaxed).
//! Dropped buffers are still freed without an effect on the capture; memory of the default stream
//! is freed after a wait for all work of the context.
//!
//! # The driver's pools
//!
//! A [`PoolRef`] is a pool of the driver: one that was [made](MemoryPool::new), or the
//! [default](crate::Driver::default_pool) of a location. A [`MemoryPool`] can be dropped before its
//! allocations: the driver ends it after them.
//!
//! # Pools that keep blocks
//!
//! [`BufferPool`] and [`PinnedPool`] keep freed blocks in the program, and reuse them without a
//! driver call. They return the usual types, [`StreamBuffer`] and
//! [`PinnedBuffer`](crate::PinnedBuffer). Threads that share a pool each have a part of it, and
//! take blocks of other parts before they call the driver.
//!
//! [`Slice`]: crate::memory::Slice

mod block;
mod buffer_pool;
mod driver_pool;
mod exchange;
mod in_order;
mod lanes;
mod lend;
mod place;
mod stream_buffer;

pub use self::buffer_pool::BufferPool;
pub use self::driver_pool::{MemoryPool, PoolAccess, PoolAttribute, PoolRef};
pub use self::place::{PoolOptions, PoolPlace};
pub use self::stream_buffer::StreamBuffer;
pub use crate::memory::caching::PoolCounters;
pub use crate::memory::pinned_pool::PinnedPool;
