//! Nodes that record events and wait for them.

use cuprum_sys::{CUevent, CUevent_record_flags, CUevent_wait_flags, FnId};

use super::capture::Capture;
use super::error::GraphError;
use super::graph::{Graph, add};
use super::lend::same_context;
use super::node::Node;
use super::set::{At, NodeSetter, set};
use crate::context::{Current, context_call};
#[cfg(doc)]
use crate::error::Error;
use crate::stream::Event;

impl<'a> Graph<'a> {
    /// Adds a node that records an event in each replay.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; [`Error::WRONG_CONTEXT`] for an event of
    /// another context.
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
        let event = self.event(event)?;
        // SAFETY: graph, nodes and event are live, the event as long as the graph can run; lists
        // and places outlive the call.
        unsafe { add!(self, cx, after, cuGraphAddEventRecordNode(event)) }
    }

    /// Adds a node that waits for the last record of the event before the replay.
    ///
    /// # Errors
    /// Same as [`add_record`](Graph::add_record).
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
        let event = self.event(event)?;
        // SAFETY: as in `add_record`.
        unsafe { add!(self, cx, after, cuGraphAddEventWaitNode(event)) }
    }

    /// Returns the handle of an event of the graph's context.
    fn event(&self, event: &'a Event<'_>) -> Result<CUevent, GraphError> {
        same_context(self.context(), event.context())?;
        Ok(event.as_raw())
    }
}

impl<'a> NodeSetter<'_, 'a> {
    /// Changes the event that a node records.
    ///
    /// # Errors
    /// Same as [`Graph::add_record`]; `CUDA_ERROR_INVALID_VALUE` for a node of another kind;
    /// [`GraphError::Lost`] for an executable.
    ///
    /// Driver: `cuGraphEventRecordNodeSetEvent` or `cuGraphExecEventRecordNodeSetEvent`,
    /// CUDA 11.1+.
    #[doc(alias("cuGraphEventRecordNodeSetEvent", "cuGraphExecEventRecordNodeSetEvent"))]
    #[inline]
    pub fn record(mut self, event: &'a Event<'_>) -> Result<(), GraphError> {
        let at = self.at(FnId::cuGraphEventRecordNodeSetEvent, FnId::cuGraphExecEventRecordNodeSetEvent)?;
        let event = self.graph().event(event)?;
        // SAFETY: graph, node and event are live, the event as long as the graph can run.
        Ok(unsafe {
            set!(at, cuGraphEventRecordNodeSetEvent(event) or cuGraphExecEventRecordNodeSetEvent(event))
        }?)
    }

    /// Changes the event that a node waits for.
    ///
    /// # Errors
    /// Same as [`record`](NodeSetter::record).
    ///
    /// Driver: `cuGraphEventWaitNodeSetEvent` or `cuGraphExecEventWaitNodeSetEvent`, CUDA 11.1+.
    #[doc(alias("cuGraphEventWaitNodeSetEvent", "cuGraphExecEventWaitNodeSetEvent"))]
    #[inline]
    pub fn wait(mut self, event: &'a Event<'_>) -> Result<(), GraphError> {
        let at = self.at(FnId::cuGraphEventWaitNodeSetEvent, FnId::cuGraphExecEventWaitNodeSetEvent)?;
        let event = self.graph().event(event)?;
        // SAFETY: as in `record`.
        Ok(unsafe {
            set!(at, cuGraphEventWaitNodeSetEvent(event) or cuGraphExecEventWaitNodeSetEvent(event))
        }?)
    }
}

impl<'a> Capture<'_, '_, 'a> {
    /// Adds a node that records an event in each replay, for waits outside of the graph. It does
    /// not order nodes of the graph.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`] for an event of another context;
    /// `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
    ///
    /// Driver: `cuEventRecordWithFlags`, CUDA 11.1+.
    #[doc(alias = "cuEventRecordWithFlags")]
    #[inline]
    pub fn record(&self, event: &'a Event<'_>) -> Result<(), GraphError> {
        let context = self.ready(FnId::cuEventRecordWithFlags)?;
        same_context(self.stream.context(), event.context())?;
        let flags = CUevent_record_flags::CU_EVENT_RECORD_EXTERNAL.0;
        let (event, stream) = (event.as_raw(), self.as_raw());
        // SAFETY: both handles are live, the event as long as the graph can run.
        Ok(unsafe { context_call!(context, cuEventRecordWithFlags(event, stream, flags)) }?)
    }

    /// Adds a node that waits for the last record of the event before the replay.
    ///
    /// # Errors
    /// Same as [`record`](Capture::record).
    ///
    /// Driver: `cuStreamWaitEvent`, CUDA 3.2+.
    #[doc(alias = "cuStreamWaitEvent")]
    #[inline]
    pub fn wait(&self, event: &'a Event<'_>) -> Result<(), GraphError> {
        let context = self.ready(FnId::cuStreamWaitEvent)?;
        same_context(self.stream.context(), event.context())?;
        let flags = CUevent_wait_flags::CU_EVENT_WAIT_EXTERNAL.0;
        let (event, stream) = (event.as_raw(), self.as_raw());
        // SAFETY: as in `record`.
        Ok(unsafe { context_call!(context, cuStreamWaitEvent(stream, event, flags)) }?)
    }
}
