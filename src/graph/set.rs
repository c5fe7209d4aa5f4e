//! Changes of nodes, in a graph and in an executable graph.

use cuprum_sys::{CUgraphExec, CUgraphNode, FnId};

use super::error::GraphError;
use super::exec::GraphExec;
use super::graph::Graph;
use super::kept::Kept;
use super::loan::Place;
use super::node::Node;
use crate::context::{ContextRef, Current};
use crate::raw::debug::debug;

/// A node to change, made by [`Graph::set`] or [`GraphExec::set`]. Each method replaces the work of
/// the node by other work of the same kind, with one driver call.
///
/// A change of a graph applies to executables made afterwards. A change of an executable applies to
/// its later launches. Objects that the node used before stay with the graph.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::graph::{Graph, InstantiateFlags};
/// use cuprum::{Buffer, Stream};
///
/// let mut graph = Graph::new(&cx)?;
/// let memory = graph.lend(Buffer::<u32>::zeroed(&cx, 4)?)?;
/// let node = graph.add_fill(&cx, &[], memory, 1)?;
/// graph.set(&cx, node).fill(memory, 2)?;
/// let mut exec = graph.instantiate(&cx, InstantiateFlags::empty())?;
/// let stream = Stream::new(&cx)?;
/// exec.launch(&cx, &stream)?;
/// assert_eq!(exec.view(memory)?.to_vec(&cx)?, [2; 4]);
///
/// exec.set(&cx, node).fill(memory, 3)?;
/// exec.launch(&cx, &stream)?;
/// assert_eq!(exec.view(memory)?.to_vec(&cx)?, [3; 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a method of this changes the node"]
pub struct NodeSetter<'g, 'a> {
    of: Of<'g, 'a>,
    pub(super) cx: &'g Current<'g, 'g>,
    node: Node,
}

enum Of<'g, 'a> {
    Graph(&'g mut Graph<'a>),
    Exec(&'g mut GraphExec<'a>),
}

/// Handles for the driver call that changes a node.
pub(super) struct At<'g> {
    pub(super) context: &'g ContextRef,
    /// `None` for a node of a graph that is not executable.
    pub(super) exec: Option<CUgraphExec>,
    pub(super) node: CUgraphNode,
    /// The driver function to call.
    pub(super) call: FnId,
}

/// Calls the first function for a node of a graph, and the second for a node of an executable. Both
/// take the node's handle before these arguments. The handles are live during the call; the caller
/// is responsible for the arguments.
macro_rules! set {
    ($at:expr, $graph:ident($($argument:expr),*) or $exec:ident($($other:expr),*)) => {
        match $at {
            At { context, exec: None, node, .. } => context_call!(context, $graph(node, $($argument),*)),
            At { context, exec: Some(exec), node, .. } => context_call!(context, $exec(exec, node, $($other),*)),
        }
    };
}

pub(super) use set;

impl<'a> Graph<'a> {
    /// Selects a node to change, for executables made from now on. No driver call.
    ///
    /// Example: see [`NodeSetter`].
    pub fn set<'g>(&'g mut self, cx: &'g Current<'_, '_>, node: Node) -> NodeSetter<'g, 'a> {
        NodeSetter { of: Of::Graph(self), cx, node }
    }
}

impl<'a> GraphExec<'a> {
    /// Selects a node to change, for launches from now on. No driver call.
    ///
    /// Example: see [`NodeSetter`].
    pub fn set<'g>(&'g mut self, cx: &'g Current<'_, '_>, node: Node) -> NodeSetter<'g, 'a> {
        NodeSetter { of: Of::Exec(self), cx, node }
    }
}

impl<'g, 'a> NodeSetter<'g, 'a> {
    /// Checks the context and the node.
    pub(super) fn at(&self, graph: FnId, exec: FnId) -> Result<At<'g>, GraphError> {
        match &self.of {
            Of::Graph(of) => {
                let (context, node) = of.at(self.cx, self.node, graph)?;
                Ok(At { context, exec: None, node, call: graph })
            }
            Of::Exec(of) => {
                let (context, raw, node) = of.at(self.cx, self.node, exec)?;
                Ok(At { context, exec: Some(raw), node, call: exec })
            }
        }
    }

    /// The keeper of a loan.
    pub(super) fn keeper(&self, place: Place) -> Result<&Kept<'a>, GraphError> {
        match &self.of {
            Of::Graph(of) => of.kept.checked(place),
            Of::Exec(of) => of.keeper(place),
        }
    }

    /// The graph that has the node.
    pub(super) fn graph(&mut self) -> &mut Graph<'a> {
        match &mut self.of {
            Of::Graph(of) => of,
            Of::Exec(of) => &mut of.inner.graph,
        }
    }
}

debug! {
    NodeSetter<'_, '_>: |this, f|
    f.debug_struct("NodeSetter").field("node", &this.node).finish_non_exhaustive()
}
