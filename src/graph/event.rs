//! Nodes that record events and wait for them, and child graphs.

use cuprum_sys::{CUevent, CUgraph, CUgraphNode, FnId};

use super::{Graph, GraphError, Node};
use crate::context::Current;
use crate::error::Error;
use crate::raw::call::context_call;
use crate::stream::Event;

impl<'a> Graph<'a> {
    /// Adds a node that records an event in each replay.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; [`Error::is_wrong_context`] for an event of another context.
    ///
    /// Driver: `cuGraphAddEventRecordNode`, CUDA 11.1+.
    #[doc(alias = "cuGraphAddEventRecordNode")]
    #[inline]
    pub fn add_record(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        event: &'a Event<'_>,
    ) -> Result<Node, GraphError> {
        let (context, graph) = self.ready(cx, FnId::cuGraphAddEventRecordNode)?;
        let (after, mut node, event) = (self.nodes.raws(after)?, CUgraphNode::null(), self.event(event)?);
        let (first, count) = (after.as_ptr(), after.len());
        // SAFETY: graph, nodes and event are live, the event as long as the graph can run; lists and places outlive the
        // call.
        unsafe {
            context_call!(context, cuGraphAddEventRecordNode(&raw mut node, graph, first, count, event))
        }?;
        Ok(self.nodes.token(node))
    }

    /// Adds a node that waits for the event's last record before the replay.
    ///
    /// # Errors
    /// Those of [`add_record`](Graph::add_record).
    ///
    /// Driver: `cuGraphAddEventWaitNode`, CUDA 11.1+.
    #[doc(alias = "cuGraphAddEventWaitNode")]
    #[inline]
    pub fn add_wait(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        event: &'a Event<'_>,
    ) -> Result<Node, GraphError> {
        let (context, graph) = self.ready(cx, FnId::cuGraphAddEventWaitNode)?;
        let (after, mut node, event) = (self.nodes.raws(after)?, CUgraphNode::null(), self.event(event)?);
        let (first, count) = (after.as_ptr(), after.len());
        // SAFETY: as in `add_record`.
        unsafe {
            context_call!(context, cuGraphAddEventWaitNode(&raw mut node, graph, first, count, event))
        }?;
        Ok(self.nodes.token(node))
    }

    /// The handle of an event of the graph's context.
    pub(super) fn event(&self, event: &'a Event<'_>) -> Result<CUevent, GraphError> {
        let here = event.context() == self.context();
        if here { Ok(event.as_raw()) } else { Err(Error::wrong_context(FnId::cuEventRecord).into()) }
    }

    /// Changes the event that a node records.
    ///
    /// # Errors
    /// Those of [`add_record`](Graph::add_record); `CUDA_ERROR_INVALID_VALUE` for a node of another kind.
    ///
    /// Driver: `cuGraphEventRecordNodeSetEvent`, CUDA 11.1+.
    #[doc(alias = "cuGraphEventRecordNodeSetEvent")]
    #[inline]
    pub fn set_record(&mut self, node: Node, event: &'a Event<'_>) -> Result<(), GraphError> {
        let (node, event) = (self.nodes.raw(node)?, self.event(event)?);
        // SAFETY: node and event are live, the event as long as the graph can run.
        Ok(unsafe { context_call!(self.context(), cuGraphEventRecordNodeSetEvent(node, event)) }?)
    }

    /// Changes the event that a node waits for.
    ///
    /// # Errors
    /// Those of [`set_record`](Graph::set_record).
    ///
    /// Driver: `cuGraphEventWaitNodeSetEvent`, CUDA 11.1+.
    #[doc(alias = "cuGraphEventWaitNodeSetEvent")]
    #[inline]
    pub fn set_wait(&mut self, node: Node, event: &'a Event<'_>) -> Result<(), GraphError> {
        let (node, event) = (self.nodes.raw(node)?, self.event(event)?);
        // SAFETY: as in `set_record`.
        Ok(unsafe { context_call!(self.context(), cuGraphEventWaitNodeSetEvent(node, event)) }?)
    }

    /// The driver's handle of the event that a node records.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a node of another kind; [`GraphError::Foreign`]; [`GraphError::Removed`].
    ///
    /// Driver: `cuGraphEventRecordNodeGetEvent`, CUDA 11.1+.
    #[doc(alias = "cuGraphEventRecordNodeGetEvent")]
    #[inline]
    pub fn record_of(&self, node: Node) -> Result<CUevent, GraphError> {
        let (node, mut event) = (self.nodes.raw(node)?, CUevent::null());
        // SAFETY: the node is live; the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuGraphEventRecordNodeGetEvent(node, &raw mut event)) }?;
        Ok(event)
    }

    /// The driver's handle of the event that a node waits for.
    ///
    /// # Errors
    /// Those of [`record_of`](Graph::record_of).
    ///
    /// Driver: `cuGraphEventWaitNodeGetEvent`, CUDA 11.1+.
    #[doc(alias = "cuGraphEventWaitNodeGetEvent")]
    #[inline]
    pub fn wait_of(&self, node: Node) -> Result<CUevent, GraphError> {
        let (node, mut event) = (self.nodes.raw(node)?, CUevent::null());
        // SAFETY: as in `record_of`.
        unsafe { context_call!(self.context(), cuGraphEventWaitNodeGetEvent(node, &raw mut event)) }?;
        Ok(event)
    }

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
        let (context, graph) = self.ready(cx, FnId::cuGraphAddChildGraphNode)?;
        cx.of(child.context(), FnId::cuGraphAddChildGraphNode)?;
        child.check_complete()?;
        let (after, mut node, inner) = (self.nodes.raws(after)?, CUgraphNode::null(), child.as_raw());
        let (first, count) = (after.as_ptr(), after.len());
        // SAFETY: both graphs and the nodes are live; lists and places outlive the call; the node gets a copy of the child.
        let added = unsafe {
            context_call!(context, cuGraphAddChildGraphNode(&raw mut node, graph, first, count, inner))
        };
        // After an error too: the node may have been added all the same.
        self.kept.adopt(child.into_kept());
        added?;
        Ok(self.nodes.token(node))
    }

    /// The driver's handle of the graph in a child node, which belongs to the node.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a node of another kind; [`GraphError::Foreign`]; [`GraphError::Removed`].
    ///
    /// Driver: `cuGraphChildGraphNodeGetGraph`, CUDA 10.0+.
    #[doc(alias = "cuGraphChildGraphNodeGetGraph")]
    #[inline]
    pub fn child_of(&self, node: Node) -> Result<CUgraph, GraphError> {
        let (node, mut child) = (self.nodes.raw(node)?, CUgraph::null());
        // SAFETY: the node is live; the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuGraphChildGraphNodeGetGraph(node, &raw mut child)) }?;
        Ok(child)
    }
}
