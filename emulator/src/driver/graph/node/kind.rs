//! The kinds of nodes.

use std::sync::Arc;

use cuprum_sys::*;

use super::allocated::Allocated;
use super::kernel_node::KernelNode;
use crate::driver::answer::Answer;
use crate::driver::external::{Semaphores, Step};
use crate::driver::graph::conditional::Conditional;
use crate::driver::graph::object::Graph;
use crate::driver::state::{Operation, Turn};
use crate::driver::stream::{Event, Free, HostCall, Record, ValueBatch, ValueOperation};
use crate::driver::transfer::{Copy, Fill};

#[derive(Debug, Clone)]
pub(crate) enum NodeKind {
    Empty,
    Kernel(Arc<KernelNode>),
    Copy(Box<CopyNode>),
    Fill(Option<Fill>, CUDA_MEMSET_NODE_PARAMS),
    Host(CUDA_HOST_NODE_PARAMS),
    Child(Arc<Graph>),
    Record(Arc<Event>),
    Wait(Arc<Event>),
    Semaphores(Box<Semaphores>),
    /// Allocates memory that lives as long as a graph or an executable graph has this node.
    Alloc(Arc<Allocated>),
    Free(u64),
    /// Graphs that run depending on a condition.
    Conditional(Arc<Conditional>),
    /// Operations on single values, and the context for which they were created.
    Values(Arc<ValueBatch>, CUcontext),
}

// SAFETY: the raw pointers are the client's. They are used as `HostCall` and `Bytes` use theirs, or
// returned to the client, and never dereferenced otherwise.
unsafe impl Send for NodeKind {}

// SAFETY: as above.
unsafe impl Sync for NodeKind {}

/// A copy, `None` if it is empty, and its C structure.
#[derive(Debug, Clone)]
pub(crate) struct CopyNode {
    pub(super) copy: Option<Copy>,
    pub(super) params: CUDA_MEMCPY3D,
}

impl NodeKind {
    pub(crate) fn type_of(&self) -> CUgraphNodeType {
        match self {
            Self::Empty => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY,
            Self::Kernel(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL,
            Self::Copy(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY,
            Self::Fill(..) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET,
            Self::Host(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST,
            Self::Child(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH,
            Self::Record(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EVENT_RECORD,
            Self::Wait(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_WAIT_EVENT,
            Self::Semaphores(semaphores) => match semaphores.step {
                Step::Signal => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL,
                Step::Wait => CUgraphNodeType::CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT,
            },
            Self::Alloc(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC,
            Self::Free(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE,
            Self::Conditional(_) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
            Self::Values(..) => CUgraphNodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
        }
    }

    /// True if it waits for a value in memory, or for another API.
    pub(in crate::driver::graph) fn waits_for_value(&self) -> bool {
        match self {
            Self::Values(batch, _) => batch.operations.iter().any(ValueOperation::is_wait),
            Self::Semaphores(semaphores) => semaphores.step == Step::Wait,
            _ => false,
        }
    }

    /// True if an executable graph can replace it by the other one.
    pub(in crate::driver::graph) fn can_become(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Values(mine, context), Self::Values(theirs, other)) => {
                context == other && mine.is_like(theirs)
            }
            (Self::Semaphores(mine), Self::Semaphores(theirs)) => {
                mine.step == theirs.step && mine.handles.len() == theirs.handles.len()
            }
            _ => self.type_of() == other.type_of(),
        }
    }

    /// True if another process or API may wait for it.
    pub(in crate::driver::graph) fn is_awaited_outside(&self) -> bool {
        match self {
            Self::Semaphores(_) => true,
            Self::Record(event) => event.shared_record().is_some(),
            _ => false,
        }
    }

    /// True if a conditional node's body may contain this node: a device can run it alone.
    pub(in crate::driver::graph) fn can_be_conditional(&self) -> bool {
        matches!(
            self,
            Self::Empty
                | Self::Kernel(_)
                | Self::Copy(_)
                | Self::Fill(..)
                | Self::Child(_)
                | Self::Conditional(_)
        )
    }

    /// Runs it as part of an operation of a stream.
    pub(crate) fn run(&self, turn: Turn<'_>) -> Answer {
        match self {
            Self::Kernel(node) => node.run(),
            Self::Copy(node) => node.copy.as_ref().map_or(Ok(()), |copy| {
                copy.note();
                copy.copy(0, |_| ())
            }),
            Self::Fill(Some(fill), _) => fill.fill(),
            Self::Host(host) => HostCall { function: host.fn_, data: host.userData }.run(turn),
            Self::Record(event) => {
                event.note_recorded(turn.ticket);
                Record::new(Arc::clone(event)).run(turn)
            }
            Self::Semaphores(semaphores) => {
                semaphores.run_inside();
                Ok(())
            }
            Self::Alloc(memory) => {
                memory.block.appear();
                Ok(())
            }
            Self::Free(address) => Free(*address).run(turn),
            // Waits among them are separate operations: see `GraphRun::parts`.
            Self::Values(batch, _) => batch.run(turn),
            // `Wait`'s event was recorded before the graph. Executable graphs run nested ones.
            Self::Empty | Self::Fill(None, _) | Self::Wait(_) | Self::Child(_) | Self::Conditional(_) => {
                Ok(())
            }
        }
    }
}
