//! Child graphs.

use cuprum_sys::FnId;

use super::error::GraphError;
use super::exec::GraphExec;
use super::graph::{Graph, add};
use super::node::Node;
use crate::context::Current;
#[cfg(doc)]
use crate::error::Error;
use crate::raw::call::context_call;

impl<'a> Graph<'a> {
    /// Adds a node that runs another graph, which goes into this one with all that it keeps: its loans are this graph's
    /// from then on, and its nodes cannot be reached any more.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; [`GraphError::Incomplete`]; [`Error::is_wrong_context`];
    /// `CUDA_ERROR_NOT_SUPPORTED` for a child that allocates or frees or has conditional nodes. The child is gone after
    /// an error too.
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
        // SAFETY: both graphs and the nodes are live; lists and places outlive the call; the node gets a copy of the child.
        let added = unsafe { add!(self, cx, after, cuGraphAddChildGraphNode(inner)) };
        // After an error too: the node may have been added all the same.
        self.kept.adopt(child.into_kept());
        added
    }
}

impl<'a> GraphExec<'a> {
    /// Takes over the parameters of a graph of the same shape for a child graph, in launches from now on. The things
    /// that that graph keeps go into this one, as with [`Graph::add_child`].
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a graph of another shape; the errors of [`Graph::add_child`]; [`GraphError::Lost`].
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
        // After an error too: it may have been done all the same.
        self.inner.graph.kept.adopt(child.into_kept());
        Ok(set?)
    }
}
