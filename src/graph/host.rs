//! Nodes that call a host function.

use cuprum_sys::FnId;

use super::capture::Capture;
use super::error::GraphError;
use super::graph::{Graph, add};
use super::node::Node;
use super::set::{At, NodeSetter, set};
use crate::context::{Current, context_call};
use crate::raw::call::either_call;

impl Graph<'_> {
    /// Adds a node that calls a host function in each replay, on a thread of the driver.
    ///
    /// The function should not call the driver, which [refuses most
    /// calls](crate::stream#on-the-drivers-threads) on its own threads, and must not wait for the
    /// replay. Objects of this crate that the function drops leak. Values that it owns are dropped
    /// with the graph and its executable, on the thread that drops those. A panic is caught and
    /// reported by the wait after the replay; later nodes run in spite of it.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuGraphAddHostNode`, CUDA 10.0+.
    #[doc(alias = "cuGraphAddHostNode")]
    pub fn add_host(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        function: impl FnMut() + Send + 'static,
    ) -> Result<Node, GraphError> {
        self.ready(cx, FnId::cuGraphAddHostNode)?;
        let params = self.kept.call(function);
        let params = &raw const params;
        // SAFETY: graph and nodes are live, lists and places outlive the call, and the graph keeps
        // the function.
        unsafe { add!(self, cx, after, cuGraphAddHostNode(params)) }
    }
}

impl NodeSetter<'_, '_> {
    /// Changes the function that a host node calls. The function before it stays with the graph.
    ///
    /// # Errors
    /// Same as [`Graph::add_host`]; `CUDA_ERROR_INVALID_VALUE` for a node of another kind;
    /// [`GraphError::Lost`] for an executable.
    ///
    /// Driver: `cuGraphHostNodeSetParams`, CUDA 10.0+, or `cuGraphExecHostNodeSetParams`,
    /// CUDA 10.2+.
    #[doc(alias("cuGraphHostNodeSetParams", "cuGraphExecHostNodeSetParams"))]
    pub fn host(mut self, function: impl FnMut() + Send + 'static) -> Result<(), GraphError> {
        let at = self.at(FnId::cuGraphHostNodeSetParams, FnId::cuGraphExecHostNodeSetParams)?;
        let params = self.graph().kept.call(function);
        let params = &raw const params;
        // SAFETY: graph and node are live, and the graph keeps the function.
        Ok(unsafe { set!(at, cuGraphHostNodeSetParams(params) or cuGraphExecHostNodeSetParams(params)) }?)
    }
}

impl Capture<'_, '_, '_> {
    /// Adds a call of a host function, as [`Graph::add_host`] does.
    ///
    /// # Errors
    /// `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
    ///
    /// Driver: `cuLaunchHostFunc`, CUDA 10.0+, or `cuLaunchHostFunc_v2`, CUDA 13.1+, where a driver
    /// has only that.
    #[doc(alias("cuLaunchHostFunc", "cuLaunchHostFunc_v2"))]
    pub fn host(&self, function: impl FnMut() + Send + 'static) -> Result<(), GraphError> {
        let context = self.ready(FnId::cuLaunchHostFunc)?;
        let params = self.shared.kept.borrow_mut().call(function);
        let (stream, function, data, library) =
            (self.as_raw(), params.fn_, params.userData, context.library());
        // SAFETY: the stream is live; the graph keeps the function as long as it can run.
        let answer = unsafe {
            either_call!(library, cuLaunchHostFunc(stream, function, data)
                or cuLaunchHostFunc_v2(stream, function, data, 0))
        };
        answer.map_err(|error| context.record(error).into())
    }
}
