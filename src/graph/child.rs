//! Child graphs.

use cuprum_sys::FnId;

use super::error::GraphError;
use super::exec::GraphExec;
use super::graph::{Graph, add};
use super::node::Node;
use crate::context::{Current, context_call};
#[cfg(doc)]
use crate::error::Error;

impl<'a> Graph<'a> {
    /// Adds a node that runs another graph, and moves that graph with everything that it keeps into
    /// this one. Its loans become loans of this graph, and its nodes can no longer be reached.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; [`GraphError::Incomplete`];
    /// [`Error::WRONG_CONTEXT`]; `CUDA_ERROR_NOT_SUPPORTED` for a child that allocates or frees or
    /// has conditional nodes. The child is destroyed after an error too.
    ///
    /// Driver: `cuGraphAddChildGraphNode` and `cuGraphDestroy`, CUDA 10.0+.
    #[doc(alias = "cuGraphAddChildGraphNode")]
    #[inline]
    pub fn add_child(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        child: Graph<'a>,
    ) -> Result<Node, GraphError> {
        cx.of(child.context(), FnId::cuGraphAddChildGraphNode)?;
        child.check_complete()?;
        let inner = child.as_raw();
        // SAFETY: both graphs and the nodes are live; lists and places outlive the call; the node
        // gets a copy of the child.
        let added = unsafe { add!(self, cx, after, cuGraphAddChildGraphNode(inner)) };
        // After an error too, because the node may have been added.
        self.kept.adopt(child.into_kept());
        added
    }
}

impl<'a> GraphExec<'a> {
    /// Takes over the parameters of a graph of the same shape for a child graph, in later launches.
    /// Moves everything that the graph keeps into this one, as [`Graph::add_child`] does.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a graph of another shape; the errors of [`Graph::add_child`];
    /// [`GraphError::Lost`].
    ///
    /// Driver: `cuGraphExecChildGraphNodeSetParams`, CUDA 11.1+, and `cuGraphDestroy`, CUDA 10.0+.
    #[doc(alias = "cuGraphExecChildGraphNodeSetParams")]
    #[inline]
    pub fn set_child(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        child: Graph<'a>,
    ) -> Result<(), GraphError> {
        let (context, exec, node) = self.at(cx, node, FnId::cuGraphExecChildGraphNodeSetParams)?;
        cx.of(child.context(), FnId::cuGraphExecChildGraphNodeSetParams)?;
        child.check_complete()?;
        let inner = child.as_raw();
        // SAFETY: both graphs and the node are live; the parameters are copied.
        let set = unsafe { context_call!(context, cuGraphExecChildGraphNodeSetParams(exec, node, inner)) };
        // After an error too, because the change may have been made.
        self.inner.graph.kept.adopt(child.into_kept());
        Ok(set?)
    }
}
