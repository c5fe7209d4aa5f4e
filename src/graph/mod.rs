//! Graphs: work for a device that is described once and launched any number of times.
//!
//! A [`Graph`] is built node by node, or [captured](crate::Current::capture) from streams; a [`GraphExec`] is made of it,
//! which is [launched](GraphExec::launch), also inside of [scopes](crate::stream::Scope::lend_graph).
//!
//! # What a graph keeps
//!
//! Whatever nodes touch belongs to the graph until it is dropped, and its executable takes the graph over: memory of the
//! device is [lent](Graph::lend) to it for its lifetime `'a`, moved in, or shared with others to be read ([`Part`]); kernels
//! and events are borrowed for it, kernels with a [share](crate::Kernel) of their code give it one, and memory of the
//! host is moved in. With counted objects alone a graph is `'static`. Nothing is tracked: the graph is the only way to that
//! memory, and an executable that is lent to a scope cannot be used until the scope was waited for.
//!
//! # Tokens
//!
//! [`Node`], [`Body`] and [`Loan`] are `Copy` and borrow nothing. Each carries the brand of its graph, which no other one
//! has: given to another graph it is an error, and so is a node that was removed.
//!
//! # Order
//!
//! A node reads what another one wrote if edges lead from the writer to it; otherwise they run in any order.
//! Copies and fills of the same memory without such a path do not endanger the host, but leave unspecified contents.
//! Kernels are foreign code: whoever adds one answers for the memory that it touches, in every launch.
//!
//! # Faults
//!
//! Memory that the device may still write is neither read nor freed: see [`GraphExec`].

mod alloc;
mod capture;
mod capture_mode;
mod child;
mod conditional;
mod copies;
mod dot;
mod edges;
mod ending;
mod error;
mod event;
mod exec;
#[allow(clippy::module_inception, reason = "a file is an object")]
mod graph;
mod host;
mod host_node;
mod kept;
mod kernel;
mod launch;
mod lend;
mod loan;
mod node;
mod nodes;
mod numbers;
mod others;
mod params;
mod returned;
mod semaphore;
mod set;
mod user_object;
mod view;

pub use self::alloc::GraphMemory;
pub use self::capture::{Capture, CaptureInfo, CaptureStatus};
pub use self::capture_mode::{CaptureMode, ForeignCaptures};
pub use self::conditional::Condition;
pub use self::dot::DotFlags;
pub(crate) use self::ending::End;
pub use self::error::GraphError;
pub use self::exec::{GraphExec, InstantiateFlags};
pub use self::graph::Graph;
pub use self::launch::LentGraph;
pub use self::lend::Part;
pub use self::loan::Loan;
pub use self::node::{Body, Edge, Node, NodeType};
pub use self::returned::Returned;
pub use self::set::NodeSetter;
pub use self::user_object::UserObject;
