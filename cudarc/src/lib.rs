//! A bridge between [cuprum] and [cudarc]: a program of one moves to the other file by file, and
//! keeps `CudaBlas` and the other libraries that cudarc wraps. Both sides work in the primary
//! context of a device, on the same streams and in the same memory. Nothing is copied.
//!
//! | | from cudarc to cuprum | from cuprum to cudarc |
//! |---|---|---|
//! | driver | [`library`] | cudarc opens its own |
//! | context | [`context()`] | [`cuda_context`] |
//! | stream | [`stream()`], a [`KeptStream`] | [`cuda_stream`], a [`CudaStreamOf`] |
//! | event | [`event`], a [`KeptEvent`] | the [`KeptStream`] records it and waits for it: cudarc makes no event of a handle |
//! | memory, for good | [`buffer`] | [`cuda_slice`] |
//! | memory lent to a scope | | [`view`], [`view_mut`] |
//!
//! # The current context
//!
//! A method of cudarc makes its context current, and leaves it so. cuprum expects that other code
//! puts the current context back. Within [`enter`](cuprum::ContextRef::enter), use cudarc's objects
//! of that one device alone.
//!
//! # Order
//!
//! cudarc records an event in each of its slices and orders its own streams by them. It knows
//! nothing of work that cuprum queues, and cuprum knows nothing of its events. Work of both is in
//! order on one stream: [`KeptStream`] and [`CudaStreamOf`] are one stream with two types. Memory
//! that changes its owner waits for all work of the context first.

mod context;
mod error;
mod memory;
mod stream;

pub use context::{context, cuda_context, library};
pub use error::BridgeError;
pub use memory::{View, ViewMut, buffer, cuda_slice, view, view_mut};
pub use stream::{CudaStreamOf, KeptEvent, KeptStream, cuda_stream, event, stream};

/// The README's example, run on the device of the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
