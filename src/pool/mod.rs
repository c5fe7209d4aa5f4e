//! Memory in the order of a stream, and pools: the driver's, and such as keep blocks on the side of the program.
//!
//! # Memory in the order of a stream
//!
//! A [`StreamBuffer`] is allocated and freed by work of a stream, so that neither waits, and it exists for that stream alone:
//! behind the allocation and before the free. Another stream that uses it before its own has reached the allocation finds
//! what the memory held for somebody else, and one that uses it after the free writes into what somebody else has by then. So
//! the buffer keeps its stream, by a borrow or by a [share](crate::Shared), works on no other, and is freed on it. What it does itself needs no scope, as the free comes behind it. Memory of the host goes in and
//! out in a [scope](crate::stream::Scope::lend) on its stream, or by methods that wait. [`StreamBuffer::move_to`] gives it to
//! another stream, which then waits for an event behind all that was done before.
//!
//! It is no [`Buffer`](crate::Buffer), and gives no [`Slice`] but on the legacy default stream: slices are copied and filled
//! on that stream, and `cuMemFree`, which waits for what uses other memory, does not wait for memory of the driver's pools.
//!
//! | what could go wrong | why it cannot |
//! |---|---|
//! | used on another stream before the allocation, or after the free | it is lent to scopes on its own stream alone |
//! | freed on one stream while another works on it | it is freed on the one stream that works on it |
//! | its stream is destroyed first | it keeps it |
//! | freed into a capture, which would be a node of a graph | a capture borrows its stream mutably, and this keeps it shared |
//! | another thread records the event of [`move_to`](StreamBuffer::move_to) in between | that takes it mutably |
//! | forgotten | the memory leaks, and nothing else |
//!
//! Measured on an H100 with driver 580: `cuMemFree` waits for a stream that is to write memory of `cuMemAlloc`, and returns at
//! once for memory of a pool, which the stream then may write in vain or for somebody else. Memory freed on a stream that has
//! not reached the free is not given to another one. An event on an ordinary stream comes behind what the default stream waits
//! for.
//!
//! While the calling thread captures a stream, the driver refuses to allocate on any other one, and the capture is invalid
//! then, unless it is [relaxed](crate::graph::CaptureMode::Relaxed). What is dropped meanwhile is freed, and the capture goes
//! on; memory of the default stream is freed after a wait for all work of the context.
//!
//! # The driver's pools
//!
//! A [`PoolRef`] is a pool of the driver: one that was [made](MemoryPool::new), or the [default](crate::Device::default_pool)
//! of a place. A [`MemoryPool`] may be dropped before what was allocated from it: the driver ends it after that.
//!
//! # Pools that keep blocks
//!
//! [`BufferPool`] and [`PinnedPool`] keep freed blocks in the program, and hand them out again without a call of the driver.
//! What they give are the same types, [`StreamBuffer`] and [`PinnedBuffer`](crate::PinnedBuffer). Threads that share a pool
//! have a part of it each, and take what other parts hold before the driver is asked.
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
pub use self::exchange::PoolPointer;
pub use self::place::{PoolOptions, PoolPlace};
pub use self::stream_buffer::StreamBuffer;
pub use crate::memory::caching::{PinnedPool, PoolCounters};
