//! Tokens for nodes and bodies, and edges between nodes.

use std::sync::atomic::{AtomicU64, Ordering};

use cuprum_sys::{CUgraphEdgeData, CUgraphNodeType};

/// Identity of a graph, unique in the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Brand(u64);

impl Brand {
    pub(super) fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A node of a graph. It is a token that borrows nothing, and is valid for its own graph and the
/// executable of that graph.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::graph::Graph;
///
/// let mut graph = Graph::new(&cx)?;
/// let first = graph.add_empty(&cx, &[])?;
/// let second = graph.add_empty(&cx, &[first])?;
/// let edges = graph.edges(&cx)?;
/// assert_eq!((edges[0].from, edges[0].to), (first, second));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub(super) brand: Brand,
    pub(super) at: usize,
}

/// A body of a conditional node, a token. [`Graph::within`](super::Graph::within) adds nodes to it.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::graph::{Body, ConditionalKind, Graph};
///
/// let mut graph = Graph::new(&cx)?;
/// let (condition, kind) = (graph.condition(&cx, Some(1))?, ConditionalKind::CU_GRAPH_COND_TYPE_IF);
/// let (_, [body]): (_, [Body; 1]) = graph.add_conditional(&cx, &[], condition, kind)?;
/// graph.within(body, |graph| graph.add_empty(&cx, &[]))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    pub(super) brand: Brand,
    pub(super) part: usize,
}

/// Kind of a node, as the driver's number.
pub type NodeType = CUgraphNodeType;

/// Two nodes; the second runs after the first.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// let mut graph = cuprum::graph::Graph::new(&cx)?;
/// let first = graph.add_empty(&cx, &[])?;
/// let second = graph.add_empty(&cx, &[first])?;
/// let edge = graph.edges(&cx)?[0];
/// assert_eq!((edge.from, edge.to, edge.from_port), (first, second, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edge {
    /// The node that runs first.
    pub from: Node,
    /// The node that waits for it.
    pub to: Node,
    /// Port of the first node for which the second waits: 0 for its end. Kernel nodes have other
    /// ports.
    pub from_port: u8,
    /// Kind of the dependency, as the driver's number: 0 for an ordinary one.
    pub kind: u8,
}

impl Edge {
    pub(super) fn new(from: Node, to: Node, data: CUgraphEdgeData) -> Self {
        Self { from, to, from_port: data.from_port, kind: data.type_ }
    }
}
