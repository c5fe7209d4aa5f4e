//! What nodes do: the kinds of nodes, and the functions that make, describe and change them.
//!
//! The C interface has a structure for each kind of node, in up to two revisions, and one for all kinds.
//! [`NodeParams`] says how a structure becomes a node and comes from one. `typed` holds the functions that have
//! a kind in their name, `any` those that serve every kind. `kernel`, `memory` and `child` hold what only these
//! kinds have.

mod any;
mod block;
mod child;
mod kernel;
mod memory;
mod params;
mod typed;

use std::sync::Arc;

use cuprum_sys::*;

use super::super::call::{Answer, INVALID_CONTEXT, INVALID_VALUE, In, Out, put_handle};
use super::super::context::{self, Context};
use super::super::copy::Copy;
use super::super::event::Event;
use super::super::handle::Handle;
use super::super::memset::Fill;
use super::super::operation::{HostCall, Operation};
use super::super::schedule::Ticket;
use super::super::table::Builder;
use super::condition::Conditional;
use super::exec::Steps;
use super::{Graph, Node, Owner};
use kernel::KernelNode;
use memory::Allocated;
use params::NodeParams;

pub(in crate::driver) use block::Blocks;
pub(in crate::driver) use memory::GraphMemory;

/// Enters the functions of every kind.
pub(in crate::driver) fn install(table: &mut Builder) {
    any::install(table);
    child::install(table);
    kernel::install(table);
    memory::install(table);
    typed::install(table);
}

/// What a node does.
#[derive(Debug, Clone)]
pub(in crate::driver) enum NodeKind {
    Empty,
    Kernel(Arc<KernelNode>),
    Copy(Box<CopyNode>),
    Fill(Option<Fill>, CUDA_MEMSET_NODE_PARAMS),
    Host(CUDA_HOST_NODE_PARAMS),
    Child(Arc<Graph>),
    Record(Arc<Event>),
    Wait(Arc<Event>),
    /// Memory that lives as long as a graph or an executable graph has this node.
    Alloc(Arc<Allocated>),
    /// The end of such memory.
    Free(u64),
    /// Graphs that run as a condition says.
    Conditional(Arc<Conditional>),
}

// SAFETY: the raw pointers are the client's, kept to be used as `HostCall` and `Bytes` use theirs,
// or to be handed back; nothing else looks behind them.
unsafe impl Send for NodeKind {}
// SAFETY: as above.
unsafe impl Sync for NodeKind {}

/// A copy, `None` if it is empty, and the structure it was made from.
#[derive(Debug, Clone)]
pub(in crate::driver) struct CopyNode {
    copy: Option<Copy>,
    params: CUDA_MEMCPY3D,
}

impl NodeKind {
    pub(in crate::driver) fn type_of(&self) -> CUgraphNodeType {
        match self {
            Self::Empty => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY,
            Self::Kernel(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL,
            Self::Copy(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY,
            Self::Fill(..) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET,
            Self::Host(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST,
            Self::Child(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH,
            Self::Record(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EVENT_RECORD,
            Self::Wait(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_WAIT_EVENT,
            Self::Alloc(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC,
            Self::Free(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE,
            Self::Conditional(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
        }
    }

    /// Runs it, as part of an operation of a stream.
    pub(super) fn run(&self, context: &Arc<Context>, ticket: Ticket) -> Answer {
        match self {
            Self::Kernel(node) => node.run(context),
            Self::Copy(node) => node.copy.as_ref().map_or(Ok(()), |copy| copy.run(0, |_| ())),
            Self::Fill(Some(fill), _) => fill.run(),
            Self::Host(host) => {
                let call = HostCall { function: host.fn_, data: host.userData };
                Operation::Host(call).run(context, ticket, 0)
            }
            Self::Record(event) => {
                event.note_recorded(ticket);
                event.stamp(ticket);
                Ok(())
            }
            Self::Alloc(memory) => {
                memory.block.appear();
                Ok(())
            }
            Self::Free(address) => Operation::Free(*address).run(context, ticket, 0),
            // What a wait waits for was issued before the graph; an executable graph runs the graphs in it itself.
            Self::Empty | Self::Fill(None, _) | Self::Wait(_) | Self::Child(_) | Self::Conditional(_) => {
                Ok(())
            }
        }
    }

    /// The node that does what an operation of a stream would have done.
    pub(super) fn from_operation(operation: Operation) -> Answer<Self> {
        Ok(match operation {
            Operation::Marker => Self::Empty,
            Operation::Launch(launch) => {
                let module = &launch.function.module;
                let kernels = module.program.kernels();
                let same = |kernel: &Arc<_>| Arc::ptr_eq(kernel, &launch.function.kernel);
                let index = kernels.iter().position(same).ok_or(INVALID_VALUE)?;
                let handle = CUfunction::from_addr(module.function(index)?);
                Self::Kernel(Arc::new(KernelNode::new(launch, handle)))
            }
            Operation::Copy(copy) => {
                let described = copy.describe();
                Self::Copy(Box::new(CopyNode { copy: Some(copy), params: described }))
            }
            Operation::Fill(fill) => {
                let described = fill.describe();
                Self::Fill(Some(fill), described)
            }
            Operation::Record(event) => Self::Record(event),
            Operation::Host(HostCall { function, data }) => {
                Self::Host(CUDA_HOST_NODE_PARAMS { fn_: function, userData: data })
            }
            Operation::Free(address) => Self::Free(address),
            Operation::Graph(_) | Operation::Callback(_) | Operation::Value(_) => {
                return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
            }
        })
    }
}

/// The context that a node is made in, which must be alive and not poisoned.
fn current_context() -> Answer<Arc<Context>> {
    let context = context::current().ok_or(INVALID_CONTEXT)?;
    context.check()?;
    Ok(context)
}

/// Adds a node to a graph.
fn add(
    out: Out<CUgraphNode>,
    graph: CUgraph,
    after: In<CUgraphNode>,
    count: usize,
    kind: impl FnOnce() -> Answer<NodeKind>,
) -> Answer {
    out.check()?;
    let graph = Graph::find(graph)?;
    let after = after.get_all(count)?;
    let after: Vec<usize> = after.into_iter().map(Handle::addr).collect();
    put_handle(out, graph.add(&after, kind()?)?)
}

/// Changes a node of an executable graph.
fn set_in(exec: CUgraphExec, node: CUgraphNode, kind: NodeKind) -> Answer {
    Steps::find(exec)?.replace(node.addr(), kind)
}

/// Reads what a node was made with; fails for one of another kind.
fn params_of<P: NodeParams>(node: CUgraphNode) -> Answer<P> {
    P::of(&Node::find(node)?.kind())
}
