//! Adds and finds nodes, for the functions of each kind.

use std::sync::Arc;

use cuprum_sys::*;

use super::kind::NodeKind;
use super::params::NodeParams;
use crate::driver::answer::{Answer, INVALID_CONTEXT};
use crate::driver::call::{In, Out, put_handle};
use crate::driver::context::{self, Context};
use crate::driver::graph::nodes::Node;
use crate::driver::graph::object::Graph;
use crate::driver::handle::Handle;

/// Returns the context in which a node is created. Fails if it has ended or has a sticky error.
pub(super) fn current_context() -> Answer<Arc<Context>> {
    let context = context::current().ok_or(INVALID_CONTEXT)?;
    context.check()?;
    Ok(context)
}

pub(super) fn add(
    out: Out<CUgraphNode>,
    graph: CUgraph,
    after: In<CUgraphNode>,
    count: usize,
    kind: &dyn Fn() -> Answer<NodeKind>,
) -> Answer {
    out.check()?;
    let graph = Graph::find(graph)?;
    let after = after.get_all(count)?;
    let after: Vec<usize> = after.into_iter().map(Handle::addr).collect();
    put_handle(out, graph.add(&after, kind()?)?)
}

/// Reads the parameters of a node. Fails for a node of another kind.
pub(super) fn params_of<P: NodeParams>(node: CUgraphNode) -> Answer<P> {
    P::of(&Node::find(node)?.kind())
}
