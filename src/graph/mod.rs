//! Graphs: work for a device that is described once and launched any number of times.
//!
//! A [`Graph`] is built node by node, or [captured](crate::Current::capture) from streams; an
//! [`Executable`] is made of it, which is [run](Executable::run).
//!
//! # What a graph keeps
//!
//! Whatever nodes touch belongs to the graph until it is dropped, and its executable takes the graph over: memory of the
//! device is lent to it for its lifetime `'a` or moved in, kernels and events are borrowed for it, kernels with a
//! [share](crate::SharedKernel) of their code give it one, and memory of the host is moved in. With counted objects
//! alone a graph is `'static`. Nothing is tracked: the graph is the only way to that memory, and an executable that is
//! lent to a replay cannot be used until the replay was waited for.
//!
//! # Tokens
//!
//! [`Node`], [`Body`], [`Loan`], [`SharedLoan`], [`SignalLoan`], [`SemaphoreLoan`] and [`HostLoan`] are `Copy` and borrow
//! nothing. Each carries the brand of its graph, which no other one has: given to another graph it is an error, and so is a node that was removed.
//!
//! # Order
//!
//! A node reads what another one wrote if edges lead from the writer to it; otherwise they run in any order.
//! Copies and fills of the same memory without such a path do not endanger the host, but leave unspecified contents.
//! Kernels are foreign code: whoever adds one answers for the memory that it touches, in every replay.
//!
//! # Faults
//!
//! Memory that the device may still write is neither read nor freed: see [`Executable`].

mod alloc;
mod capture;
mod capture_mode;
mod change;
mod conditional;
mod dot;
mod edges;
mod ending;
mod error;
mod event;
mod executable;
mod host;
mod kept;
mod kernel;
mod lane;
mod memory;
mod node;
mod replay;
mod semaphore;
mod user_object;
mod value;
mod whole;

pub use self::alloc::GraphMemory;
pub use self::capture::{Capture, CaptureInfo, CaptureStatus};
pub use self::capture_mode::CaptureMode;
pub use self::conditional::Condition;
pub use self::dot::DotFlags;
pub use self::error::GraphError;
pub use self::executable::{Executable, InstantiateFlags};
pub use self::kept::{HostLoan, Loan, Returned, SharedLoan};
pub use self::kernel::{KernelOf, NodeKernel};
pub use self::node::{Body, Edge, Node, NodeType};
pub use self::replay::Replay;
pub use self::semaphore::SemaphoreLoan;
pub use self::user_object::UserObject;
pub use self::value::{NodeOperations, SignalLoan, Writable};
pub use self::whole::Graph;
