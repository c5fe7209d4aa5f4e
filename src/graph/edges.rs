//! Edges, which order nodes, and the identities that tools show.

use std::ptr;

use cuprum_sys::{CUgraphNode, FnId};

use super::error::GraphError;
use super::graph::Graph;
use super::node::Node;
use crate::context::{Current, context_call};
use crate::raw::call::either_call;

impl Graph<'_> {
    /// Makes the second node of each pair run after the first. Fails and adds no edge if an edge
    /// exists already or closes a cycle.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE`; [`GraphError::Foreign`]; [`GraphError::Removed`].
    ///
    /// Driver: `cuGraphAddDependencies_v2`, CUDA 12.3+, or `cuGraphAddDependencies`, CUDA 10.0+.
    #[doc(alias("cuGraphAddDependencies_v2", "cuGraphAddDependencies"))]
    #[inline]
    pub fn add_edges(&mut self, cx: &Current<'_, '_>, edges: &[(Node, Node)]) -> Result<(), GraphError> {
        let (context, graph) = self.ready(cx, FnId::cuGraphAddDependencies_v2)?;
        let (from, to) = self.ends(edges)?;
        let (from, to, data, count) = (from.as_ptr(), to.as_ptr(), ptr::null(), edges.len());
        let library = context.library();
        // SAFETY: graph and nodes are live; the lists outlive the call; no data stands for ordinary
        // edges.
        let answer = unsafe {
            either_call!(library, cuGraphAddDependencies_v2(graph, from, to, data, count)
                or cuGraphAddDependencies(graph, from, to, count))
        };
        answer.map_err(|error| context.record(error).into())
    }

    /// Removes ordinary edges. Fails if one of them does not exist.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE`; [`GraphError::Foreign`]; [`GraphError::Removed`].
    ///
    /// Driver: `cuGraphRemoveDependencies_v2`, CUDA 12.3+, or `cuGraphRemoveDependencies`,
    /// CUDA 10.0+.
    #[doc(alias("cuGraphRemoveDependencies_v2", "cuGraphRemoveDependencies"))]
    #[inline]
    pub fn remove_edges(&mut self, cx: &Current<'_, '_>, edges: &[(Node, Node)]) -> Result<(), GraphError> {
        let (context, graph) = self.ready(cx, FnId::cuGraphRemoveDependencies_v2)?;
        let (from, to) = self.ends(edges)?;
        let (from, to, data, count) = (from.as_ptr(), to.as_ptr(), ptr::null(), edges.len());
        let library = context.library();
        // SAFETY: as in `add_edges`.
        let answer = unsafe {
            either_call!(library, cuGraphRemoveDependencies_v2(graph, from, to, data, count)
                or cuGraphRemoveDependencies(graph, from, to, count))
        };
        answer.map_err(|error| context.record(error).into())
    }

    fn ends(&self, edges: &[(Node, Node)]) -> Result<(Vec<CUgraphNode>, Vec<CUgraphNode>), GraphError> {
        let (from, to): (Vec<Node>, Vec<Node>) = edges.iter().copied().unzip();
        Ok((self.nodes.raws(&from)?, self.nodes.raws(&to)?))
    }

    /// Returns the number of the graph, unique in the process, as tools show it.
    ///
    /// Driver: `cuGraphGetId`, CUDA 13.1+.
    #[doc(alias = "cuGraphGetId")]
    #[inline]
    pub fn id(&self) -> Result<u32, GraphError> {
        let (graph, mut id) = (self.as_raw(), 0);
        // SAFETY: the graph is live; the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuGraphGetId(graph, &raw mut id)) }?;
        Ok(id)
    }

    /// Returns the number of a node, unique in the process, as tools show it.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`].
    ///
    /// Driver: `cuGraphNodeGetToolsId`, CUDA 13.1+.
    #[doc(alias = "cuGraphNodeGetToolsId")]
    #[inline]
    pub fn node_tools_id(&self, node: Node) -> Result<u64, GraphError> {
        let (node, mut id) = (self.nodes.raw(node)?, 0);
        // SAFETY: the node is live; the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuGraphNodeGetToolsId(node, &raw mut id)) }?;
        Ok(id)
    }
}
