//! Changing single nodes of executable graphs.

use cuprum_sys::FnId;

use super::kernel::{NodeKernel, with_params};
use super::memory::{between, fill};
use super::{Executable, Graph, GraphError, Loan, Node, SharedLoan};
use crate::context::{ContextRef, Current};
use crate::launch::{Arguments, LaunchConfig, Signature};
use crate::memory::{DeviceData, Fill};
use crate::raw::call::{context_call, either_call};
use crate::stream::Event;

impl<'a> Executable<'a> {
    /// The current context, if it is that of the graph and no wait has failed.
    pub(super) fn ready<'c>(
        &self,
        cx: &'c Current<'_, '_>,
        call: FnId,
    ) -> Result<&'c ContextRef, GraphError> {
        let context = cx.of(self.context(), call)?;
        self.at_rest()?;
        Ok(context)
    }

    fn check<T: DeviceData>(&self, loan: SharedLoan<T>) -> Result<(), GraphError> {
        self.slice(loan).map(drop).or_else(|error| match error {
            // Nodes may work on memory that the graph allocates.
            GraphError::Inside => Ok(()),
            error => Err(error),
        })
    }

    /// Turns a node on or off: a kernel, a copy or a fill. One that is off does nothing.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a node of another kind; [`GraphError::Foreign`]; [`GraphError::Lost`].
    ///
    /// Driver: `cuGraphNodeSetEnabled`, CUDA 11.6+.
    #[doc(alias = "cuGraphNodeSetEnabled")]
    #[inline]
    pub fn set_enabled(&mut self, cx: &Current<'_, '_>, node: Node, enabled: bool) -> Result<(), GraphError> {
        let context = self.ready(cx, FnId::cuGraphNodeSetEnabled)?;
        let (exec, node) = (self.as_raw(), self.inner.graph.nodes.raw(node)?);
        // SAFETY: graph and node are live.
        Ok(unsafe { context_call!(context, cuGraphNodeSetEnabled(exec, node, u32::from(enabled))) }?)
    }

    /// True if a node is on.
    ///
    /// # Errors
    /// Those of [`set_enabled`](Executable::set_enabled).
    ///
    /// Driver: `cuGraphNodeGetEnabled`, CUDA 11.6+.
    #[doc(alias = "cuGraphNodeGetEnabled")]
    #[inline]
    pub fn is_enabled(&self, cx: &Current<'_, '_>, node: Node) -> Result<bool, GraphError> {
        let context = self.ready(cx, FnId::cuGraphNodeGetEnabled)?;
        let (exec, node, mut enabled) = (self.as_raw(), self.inner.graph.nodes.raw(node)?, 0);
        // SAFETY: graph and node are live; the out-parameter outlives the call.
        unsafe { context_call!(context, cuGraphNodeGetEnabled(exec, node, &raw mut enabled)) }?;
        Ok(enabled != 0)
    }

    /// Changes the launch of a kernel node, in the replays from now on.
    ///
    /// # Errors
    /// Those of [`Graph::set_kernel`]; [`GraphError::Lost`]; for a kernel of another function where the driver does not
    /// allow that.
    ///
    /// # Safety
    /// The duties of [`Graph::add_kernel`].
    ///
    /// Driver: `cuGraphExecKernelNodeSetParams_v2`, CUDA 12.0+, or `cuGraphExecKernelNodeSetParams`, CUDA 10.1+.
    #[doc(alias = "cuGraphExecKernelNodeSetParams_v2")]
    #[doc(alias = "cuGraphExecKernelNodeSetParams")]
    pub unsafe fn set_kernel<S: Signature, A: Arguments<S>>(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        kernel: impl NodeKernel<'a, S>,
        config: LaunchConfig,
        arguments: A,
    ) -> Result<(), GraphError> {
        let context = self.ready(cx, FnId::cuGraphExecKernelNodeSetParams_v2)?;
        let (exec, node) = (self.as_raw(), self.inner.graph.nodes.raw(node)?);
        let function = self.inner.graph.accept_kernel(&kernel, config)?;
        let library = context.library();
        let answer = with_params(function, config, arguments, |new, old| {
            // SAFETY: graph, node and kernel are live, and there is one pointer for each parameter, to a value of its
            // size; the caller answers for the kernel.
            unsafe {
                either_call!(library, cuGraphExecKernelNodeSetParams_v2(exec, node, new)
                    or cuGraphExecKernelNodeSetParams(exec, node, old))
            }
        });
        answer.map_err(|error| context.record(error).into())
    }

    /// Changes the memory and value of a fill node, in the replays from now on.
    ///
    /// # Errors
    /// Those of [`Graph::set_fill`]; [`GraphError::Lost`].
    ///
    /// Driver: `cuGraphExecMemsetNodeSetParams`, CUDA 10.2+.
    #[doc(alias = "cuGraphExecMemsetNodeSetParams")]
    pub fn set_fill<T: Fill>(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        memory: Loan<T>,
        value: T,
    ) -> Result<(), GraphError> {
        let context = self.ready(cx, FnId::cuGraphExecMemsetNodeSetParams)?;
        self.check(memory.as_shared())?;
        let (exec, node, raw) = (self.as_raw(), self.inner.graph.nodes.raw(node)?, context.as_raw());
        let params = fill(memory.as_raw(), value.pattern(), memory.len());
        let params = &raw const params;
        // SAFETY: graph, node and context are live, and the memory is the graph's as long as it can run.
        Ok(unsafe { context_call!(context, cuGraphExecMemsetNodeSetParams(exec, node, params, raw)) }?)
    }

    /// Changes the copy of a copy node, in the replays from now on, to a copy within the device.
    ///
    /// # Errors
    /// Those of [`Graph::set_copy`]; [`GraphError::Lost`]; for a copy of another kind than before.
    ///
    /// Driver: `cuGraphExecMemcpyNodeSetParams`, CUDA 10.2+.
    #[doc(alias = "cuGraphExecMemcpyNodeSetParams")]
    pub fn set_copy<T: DeviceData>(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        to: Loan<T>,
        from: impl Into<SharedLoan<T>>,
    ) -> Result<(), GraphError> {
        let context = self.ready(cx, FnId::cuGraphExecMemcpyNodeSetParams)?;
        let from = from.into();
        self.check(to.as_shared())?;
        self.check(from)?;
        let (exec, node, raw) = (self.as_raw(), self.inner.graph.nodes.raw(node)?, context.as_raw());
        let params = between(to, from)?;
        let params = &raw const params;
        // SAFETY: as in `set_fill`, for both sides.
        Ok(unsafe { context_call!(context, cuGraphExecMemcpyNodeSetParams(exec, node, params, raw)) }?)
    }

    /// Changes the function that a host node calls, in the replays from now on. The one before stays with the graph.
    ///
    /// # Errors
    /// Those of [`Graph::set_host`]; [`GraphError::Lost`].
    ///
    /// Driver: `cuGraphExecHostNodeSetParams`, CUDA 10.2+.
    #[doc(alias = "cuGraphExecHostNodeSetParams")]
    pub fn set_host(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        function: impl FnMut() + Send + 'static,
    ) -> Result<(), GraphError> {
        let context = self.ready(cx, FnId::cuGraphExecHostNodeSetParams)?;
        let (exec, node) = (self.as_raw(), self.inner.graph.nodes.raw(node)?);
        let params = self.inner.graph.keep_host(function);
        // SAFETY: graph and node are live, and the graph keeps the function.
        Ok(unsafe { context_call!(context, cuGraphExecHostNodeSetParams(exec, node, &raw const params)) }?)
    }

    /// Changes the event that a node records, in the replays from now on.
    ///
    /// # Errors
    /// Those of [`Graph::set_record`]; [`GraphError::Lost`].
    ///
    /// Driver: `cuGraphExecEventRecordNodeSetEvent`, CUDA 11.1+.
    #[doc(alias = "cuGraphExecEventRecordNodeSetEvent")]
    #[inline]
    pub fn set_record(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        event: &'a Event<'_>,
    ) -> Result<(), GraphError> {
        let context = self.ready(cx, FnId::cuGraphExecEventRecordNodeSetEvent)?;
        let (exec, node) = (self.as_raw(), self.inner.graph.nodes.raw(node)?);
        let event = self.inner.graph.event(event)?;
        // SAFETY: graph, node and event are live, the event as long as the graph can run.
        Ok(unsafe { context_call!(context, cuGraphExecEventRecordNodeSetEvent(exec, node, event)) }?)
    }

    /// Changes the event that a node waits for, in the replays from now on.
    ///
    /// # Errors
    /// Those of [`set_record`](Executable::set_record).
    ///
    /// Driver: `cuGraphExecEventWaitNodeSetEvent`, CUDA 11.1+.
    #[doc(alias = "cuGraphExecEventWaitNodeSetEvent")]
    #[inline]
    pub fn set_wait(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        event: &'a Event<'_>,
    ) -> Result<(), GraphError> {
        let context = self.ready(cx, FnId::cuGraphExecEventWaitNodeSetEvent)?;
        let (exec, node) = (self.as_raw(), self.inner.graph.nodes.raw(node)?);
        let event = self.inner.graph.event(event)?;
        // SAFETY: as in `set_record`.
        Ok(unsafe { context_call!(context, cuGraphExecEventWaitNodeSetEvent(exec, node, event)) }?)
    }

    /// Takes over the parameters of a graph of the same shape for a child graph, in the replays from now on. The things
    /// that that graph keeps go into this one, as with [`Graph::add_child`].
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a graph of another shape; those of [`Graph::add_child`]; [`GraphError::Lost`].
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
        let context = self.ready(cx, FnId::cuGraphExecChildGraphNodeSetParams)?;
        cx.of(child.context(), FnId::cuGraphExecChildGraphNodeSetParams)?;
        child.check_complete()?;
        let (exec, node, inner) = (self.as_raw(), self.inner.graph.nodes.raw(node)?, child.as_raw());
        // SAFETY: both graphs and the node are live; the parameters are copied.
        let set = unsafe { context_call!(context, cuGraphExecChildGraphNodeSetParams(exec, node, inner)) };
        // After an error too: it may have been done all the same.
        self.inner.graph.kept.adopt(child.into_kept());
        Ok(set?)
    }
}
