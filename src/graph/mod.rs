//! Graphs: work for a device that is described once and launched many times.
//!
//! A [`Graph`] is built node by node, or [captured](crate::Current::capture) from streams. A
//! [`GraphExec`] is made from it, which is [launched](GraphExec::launch), also in
//! [scopes](crate::stream::Scope::lend_graph). [`Graph::set`] and [`GraphExec::set`] change nodes
//! later.
//!
//! # Objects that a graph keeps
//!
//! A graph keeps every object that its nodes use until the graph is dropped. [`Graph::instantiate`]
//! consumes the graph, and the [`GraphExec`] keeps them from then on. Device memory is
//! [lent](Graph::lend) to the graph for its lifetime `'a`, moved in, or shared to be read
//! ([`Part`]). Kernels and events are borrowed; a kernel with a [share](crate::Kernel) of its code
//! gives the graph a share. Host memory is moved in. A graph that owns or shares its objects, and
//! borrows none, is `'static`. No accesses are tracked: the graph is the only way to that memory,
//! and an executable that is lent to a scope cannot be used until the scope has waited.
//!
//! # Tokens
//!
//! [`Node`], [`Body`] (the body of a conditional node) and [`Loan`] (memory lent to the graph) are
//! `Copy` tokens that borrow nothing. Each carries the identity of its graph: a different graph
//! refuses it with [`GraphError::Foreign`], and its own graph refuses a node that was removed.
//!
//! # Order
//!
//! A node reads the data that another node wrote if a path of edges leads from the writer to the
//! reader. Nodes without such a path run in any order: copies and fills of the same memory are then
//! sound, but leave unspecified contents. Kernels are foreign code; the code that adds one is
//! responsible for the memory that it touches, in every launch.
//!
//! # Faults
//!
//! Memory that the device may still write is never read or freed: see [`GraphExec`].

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
pub use self::conditional::{Condition, ConditionalKind};
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
