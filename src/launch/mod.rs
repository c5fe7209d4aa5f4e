//! Launching: a kernel bound to a Rust signature, a geometry, and arguments.
//!
//! [`Function::bind`](crate::module::Function::bind) checks the signature against the kernel once.
//! A launch then checks only values that may differ between launches, by a few comparisons, and
//! makes one driver call. It allocates nothing.
//!
//! # Duties of a launch
//!
//! A kernel is foreign code. Its caller is responsible for each of its runs: a launch, each replay
//! of a graph, and work that the kernel itself launches.
//!
//! 1. The types of the signature have the same meaning in Rust and in the kernel.
//! 2. With this geometry and these arguments, the kernel accesses only: the elements of the slices
//!    passed to it, within their lengths, without writing slices passed as [`In`]; the memory and
//!    arrays of its textures, surfaces and tensor maps; and other valid memory whose addresses it
//!    receives as numbers or loads from memory.
//! 3. Until the kernel has finished, none of that memory is freed, unmapped or unregistered. Any
//!    other access by host or device that conflicts with the kernel's is ordered by the stream, by
//!    an event, or by the default stream (see [`Stream`](crate::Stream)).
//! 4. Until the kernel has finished, its module or library is not unloaded, and no texture or
//!    surface that it uses is dropped.
//! 5. Until the kernel has finished, its access to memory of another context or device stays
//!    enabled: [`PeerAccess`](crate::memory::PeerAccess) is not dropped, and
//!    [`Mapping::set_access`](crate::memory::Mapping::set_access) and
//!    [`PoolRef::set_access`](crate::pool::PoolRef::set_access) revoke nothing. That memory is not
//!    freed during this time, because freeing it waits only for work in its own context, not for a
//!    kernel in another one.
//! 6. Stream-ordered memory, a [`StreamBuffer`](crate::pool::StreamBuffer), is used on its own
//!    stream. Another stream uses it only after an event that follows the allocation and earlier
//!    work there, and the buffer's own stream waits for the kernel before it does anything else
//!    with the memory, or frees it.
//!
//! Types enforce a part of this:
//!
//! | launched | enforced by types |
//! |---|---|
//! | by [`Kernel`] | memory, textures and surfaces lent to a [scope](crate::stream::Scope) on the stream, until the scope has waited |
//! | by a [graph](crate::graph), or captured into one | everything that the arguments borrow, and the code of the kernel, as long as the graph and its executable exist |
//!
//! For a graph, duties 3 and 4 remain for memory and textures passed as numbers, and for accesses
//! in a replay that no path of edges orders.

mod attributes;
mod bind;
mod call;
mod config;
mod error;
mod host;
mod kernel;
mod limits;
mod mismatch;
mod occupancy;
mod shared;
mod signature;
mod tuples;

pub(crate) use self::limits::Limits;
pub(crate) use self::signature::addresses;

pub use self::attributes::LaunchAttributes;
pub use self::call::CallArguments;
pub use self::config::{Dim3, LaunchConfig};
pub use self::error::LaunchError;
pub use self::host::{HostElements, HostIn, HostInOut, HostOut};
pub use self::kernel::Kernel;
pub use self::mismatch::{BindError, Mismatch};
pub use self::occupancy::OccupancyFlags;
pub use self::signature::{Argument, Arguments, In, InOut, Parameter, Signature};
