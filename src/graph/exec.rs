//! Executable graphs.

use std::mem::ManuallyDrop;

use cuprum_sys::{
    CUDA_GRAPH_INSTANTIATE_PARAMS, CUgraphExec, CUgraphExecUpdateResultInfo, CUgraphInstantiate_flags,
    CUgraphNode, CUresult, FnId,
};

use super::error::GraphError;
use super::graph::Graph;
use super::host_node::Payload;
use super::kept::Kept;
use super::loan::{Loan, Place};
use super::node::Node;
use super::returned::Returned;
use super::view::{View, ViewMut};
use crate::context::{ContextRef, Current, context_call};
use crate::raw::debug::debug;
use crate::raw::flags::flags;
use crate::raw::held::{Held, handle};
use crate::raw::mark::Mark;
use crate::raw::owner::context;
use crate::stream::Stream;

flags! {
    /// Options of an executable graph. Other bits are passed to the driver.
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::graph::{Graph, InstantiateFlags};
    ///
    /// let exec = Graph::new(&cx)?.instantiate(&cx, InstantiateFlags::AUTO_FREE)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct InstantiateFlags: u64 {
        /// A launch frees memory that an earlier launch allocated and did not free.
        const AUTO_FREE = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH.0 as u64;
        /// Kernels can launch the graph.
        const DEVICE_LAUNCH = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH.0 as u64;
        /// Kernels run with the priority of their node instead of the stream's priority.
        const NODE_PRIORITY = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY.0 as u64;
        const _ = !0;
    }
}

/// A graph that can be launched any number of times. It keeps all objects that its nodes use.
///
/// [`launch`](GraphExec::launch) launches the graph and waits; a
/// [scope](crate::stream::Scope::lend_graph) launches it any number of times among other work.
/// Between launches, the memory of the graph is accessed through [`view`](GraphExec::view) and
/// [`view_mut`](GraphExec::view_mut).
///
/// If a wait fails, the device may still use that memory, because after a fault waits return at
/// once while copies to page-locked memory continue. The graph is then [lost](GraphError::Lost):
/// its memory is never read or freed again, and dropping the graph leaks it.
///
/// [`close`](GraphExec::close) returns the buffers and memory that were moved in.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::graph::{Graph, InstantiateFlags};
/// use cuprum::memory::PinnedFlags;
/// use cuprum::{Buffer, PinnedBuffer, Stream};
///
/// let mut graph = Graph::new(&cx)?;
/// let memory = graph.lend(Buffer::<f32>::zeroed(&cx, 4)?)?;
/// // Host memory is a vector or page-locked memory.
/// let input = graph.lend(PinnedBuffer::zeroed(&cx, 4, PinnedFlags::empty())?)?;
/// let output = graph.lend(vec![0.0; 4])?;
/// let copy = graph.add_copy(&cx, &[], memory, input)?;
/// graph.add_copy(&cx, &[copy], output, memory)?;
/// let mut exec = graph.instantiate(&cx, InstantiateFlags::empty())?;
///
/// let stream = Stream::new(&cx)?;
/// for round in [1.0, 2.0] {
///     exec.view_mut(input)?.fill(round);
///     exec.launch(&cx, &stream)?;
///     assert_eq!(exec.view(output)?, [round; 4]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GraphExec<'a> {
    pub(super) inner: ManuallyDrop<Inner<'a>>,
}

pub(super) struct Inner<'a> {
    pub(super) raw: Held<'a, CUgraphExec>,
    pub(super) graph: Graph<'a>,
    /// Graphs whose parameters the executable has taken over, or may have taken over.
    updates: Vec<Graph<'a>>,
    /// Lost if a wait for a launch has failed.
    pub(super) mark: Mark,
}

// SAFETY: the driver allows any thread to use and to free an executable graph, one at a time;
// `GraphExec` is not `Sync`.
handle!(unsafe CUgraphExec: "GraphExec", |raw| cuGraphExecDestroy(raw));

impl<'a> Graph<'a> {
    /// Makes the graph executable. An error destroys the graph.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a condition without a node, or incompatible flags; on a
    /// driver older than CUDA 11.4, [`Error::UNRESOLVED`](crate::Error::UNRESOLVED) for any flags;
    /// [`GraphError::Incomplete`].
    ///
    /// Driver: `cuGraphInstantiateWithFlags`, CUDA 11.4+, or without flags `cuGraphInstantiate`,
    /// CUDA 10.0+.
    #[doc(alias("cuGraphInstantiateWithFlags", "cuGraphInstantiate"))]
    #[inline]
    pub fn instantiate(
        self,
        cx: &Current<'_, 'a>,
        flags: InstantiateFlags,
    ) -> Result<GraphExec<'a>, GraphError> {
        let context = cx.of(self.context(), FnId::cuGraphInstantiateWithFlags)?;
        self.check_complete()?;
        let (graph, mut raw) = (self.as_raw(), CUgraphExec::null());
        let (library, out) = (context.library(), &raw mut raw);
        if flags.is_empty() && !library.has(FnId::cuGraphInstantiateWithFlags) {
            let (node, log) = (std::ptr::null_mut(), std::ptr::null_mut());
            // SAFETY: the graph is live, and the out-parameter outlives the call; no log is
            // requested.
            unsafe { context_call!(context, cuGraphInstantiate(out, graph, node, log, 0)) }?;
        } else {
            let flags = flags.bits();
            // SAFETY: the graph is live; the out-parameter outlives the call.
            unsafe { context_call!(context, cuGraphInstantiateWithFlags(out, graph, flags)) }?;
        }
        Ok(GraphExec::new(cx, raw, self))
    }

    /// Makes the graph executable, and queues its upload to the device on `stream`.
    ///
    /// # Errors
    /// Same as [`instantiate`](Graph::instantiate);
    /// [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT).
    ///
    /// Driver: `cuGraphInstantiateWithParams`, CUDA 12.0+.
    #[doc(alias = "cuGraphInstantiateWithParams")]
    #[inline]
    pub fn instantiate_on(
        self,
        cx: &Current<'_, 'a>,
        stream: &Stream<'_>,
        flags: InstantiateFlags,
    ) -> Result<GraphExec<'a>, GraphError> {
        let context = cx.of_both([self.context(), stream.context()], FnId::cuGraphInstantiateWithParams)?;
        self.check_complete()?;
        let upload = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD.0;
        let mut params = CUDA_GRAPH_INSTANTIATE_PARAMS {
            flags: flags.bits() | u64::from(upload),
            hUploadStream: stream.as_raw(),
            ..CUDA_GRAPH_INSTANTIATE_PARAMS::zeroed()
        };
        let (graph, mut raw) = (self.as_raw(), CUgraphExec::null());
        let (out, params) = (&raw mut raw, &raw mut params);
        // SAFETY: graph and stream are live; both places outlive the call.
        unsafe { context_call!(context, cuGraphInstantiateWithParams(out, graph, params)) }?;
        Ok(GraphExec::new(cx, raw, self))
    }
}

impl<'a> GraphExec<'a> {
    fn new(cx: &Current<'_, 'a>, raw: CUgraphExec, graph: Graph<'a>) -> Self {
        let raw = Held::new(raw, cx.near());
        let inner = Inner { raw, graph, updates: Vec::new(), mark: Mark::new() };
        Self { inner: ManuallyDrop::new(inner) }
    }

    /// Returns the driver's handle.
    #[inline]
    pub fn as_raw(&self) -> CUgraphExec {
        self.inner.raw.raw()
    }

    context!(|this| this.inner.raw.context());

    /// Fails if a wait has failed.
    pub(super) fn at_rest(&self) -> Result<(), GraphError> {
        if self.inner.mark.is_lost() { Err(GraphError::Lost) } else { Ok(()) }
    }

    /// Returns the graph from which it was made, to query its nodes.
    ///
    /// # Errors
    /// [`GraphError::Lost`].
    #[inline]
    pub fn graph(&self) -> Result<&Graph<'a>, GraphError> {
        self.at_rest()?;
        Ok(&self.inner.graph)
    }

    /// Returns the nodes of the graph from which it was made, as [`Graph::nodes`] does.
    ///
    /// # Errors
    /// Same as [`Graph::nodes`]; [`GraphError::Lost`].
    ///
    /// Driver: `cuGraphGetNodes`, CUDA 10.0+, twice.
    #[doc(alias = "cuGraphGetNodes")]
    #[inline]
    pub fn nodes(&mut self, cx: &Current<'_, '_>) -> Result<Vec<Node>, GraphError> {
        self.at_rest()?;
        self.inner.graph.nodes(cx)
    }

    /// Returns a view of the graph's memory between launches, as [`Graph::view`] does.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Inside`]; [`GraphError::Lost`].
    pub fn view<M: View + ?Sized>(&self, loan: Loan<M>) -> Result<M::View<'_>, GraphError> {
        self.at_rest()?;
        M::view(loan, self.keeper(loan.place)?, self.inner.raw.near())
    }

    /// Returns a mutable view of memory that only the graph has, between launches, as
    /// [`Graph::view_mut`] does.
    ///
    /// # Errors
    /// Same as [`view`](GraphExec::view).
    pub fn view_mut<M: ViewMut + ?Sized>(&mut self, loan: Loan<M>) -> Result<M::ViewMut<'_>, GraphError> {
        self.at_rest()?;
        let Inner { raw, graph, updates, .. } = &mut *self.inner;
        let mut keepers = std::iter::once(graph).chain(updates).map(|graph| &mut graph.kept);
        let keeper = keepers.find(|kept| kept.check(loan.place).is_ok()).ok_or(GraphError::Foreign)?;
        M::view_mut(loan, keeper, raw.near())
    }

    /// Returns the keeper of a loan: the graph from which this was made, or a graph whose
    /// parameters it took over.
    pub(super) fn keeper(&self, place: Place) -> Result<&Kept<'a>, GraphError> {
        self.graphs().find_map(|graph| graph.kept.checked(place).ok()).ok_or(GraphError::Foreign)
    }

    /// Returns the graph from which this was made, and the graphs whose parameters it took over.
    fn graphs(&self) -> impl Iterator<Item = &Graph<'a>> {
        std::iter::once(&self.inner.graph).chain(&self.inner.updates)
    }

    /// Returns the current context if it is the graph's context and no wait has failed.
    pub(super) fn ready<'c>(
        &self,
        cx: &'c Current<'_, '_>,
        call: FnId,
    ) -> Result<&'c ContextRef, GraphError> {
        let context = cx.of(self.context(), call)?;
        self.at_rest()?;
        Ok(context)
    }

    /// Returns the handles for changing a node.
    pub(super) fn at<'c>(
        &self,
        cx: &'c Current<'_, '_>,
        node: Node,
        call: FnId,
    ) -> Result<(&'c ContextRef, CUgraphExec, CUgraphNode), GraphError> {
        Ok((self.ready(cx, call)?, self.as_raw(), self.inner.graph.nodes.raw(node)?))
    }

    /// Enables or disables a kernel, copy or fill node. A disabled node does nothing.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a node of another kind; [`GraphError::Foreign`];
    /// [`GraphError::Lost`].
    ///
    /// Driver: `cuGraphNodeSetEnabled`, CUDA 11.6+.
    #[doc(alias = "cuGraphNodeSetEnabled")]
    #[inline]
    pub fn set_enabled(&mut self, cx: &Current<'_, '_>, node: Node, enabled: bool) -> Result<(), GraphError> {
        let (context, exec, node) = self.at(cx, node, FnId::cuGraphNodeSetEnabled)?;
        // SAFETY: graph and node are live.
        Ok(unsafe { context_call!(context, cuGraphNodeSetEnabled(exec, node, u32::from(enabled))) }?)
    }

    /// True if a node is enabled.
    ///
    /// # Errors
    /// Same as [`set_enabled`](GraphExec::set_enabled).
    ///
    /// Driver: `cuGraphNodeGetEnabled`, CUDA 11.6+.
    #[doc(alias = "cuGraphNodeGetEnabled")]
    #[inline]
    pub fn is_enabled(&self, cx: &Current<'_, '_>, node: Node) -> Result<bool, GraphError> {
        let ((context, exec, node), mut enabled) = (self.at(cx, node, FnId::cuGraphNodeGetEnabled)?, 0);
        // SAFETY: graph and node are live; the out-parameter outlives the call.
        unsafe { context_call!(context, cuGraphNodeGetEnabled(exec, node, &raw mut enabled)) }?;
        Ok(enabled != 0)
    }

    /// Takes the first panic of a host function that has not been taken.
    #[inline]
    pub fn take_panic(&self) -> Option<Payload> {
        // A forked child lacks the driver's thread, which may hold the lock.
        if self.context().library().forked() {
            return None;
        }
        self.graphs().find_map(|graph| graph.kept.take_panic())
    }

    /// Fails if a host function has panicked and the panic has not been taken.
    pub(super) fn check_panics(&self) -> Result<(), GraphError> {
        if self.context().library().forked() {
            return Ok(());
        }
        if self.graphs().any(|graph| graph.kept.has_panicked()) { Err(GraphError::Panicked) } else { Ok(()) }
    }

    /// Queues the upload of the graph to the device on `stream`, so that the first launch does not
    /// upload it.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT); [`GraphError::Lost`]; the sticky
    /// errors of earlier work.
    ///
    /// Driver: `cuGraphUpload`, CUDA 11.1+.
    #[doc(alias = "cuGraphUpload")]
    #[inline]
    pub fn upload(&mut self, cx: &Current<'_, '_>, stream: &Stream<'_>) -> Result<(), GraphError> {
        let context = cx.of_both([self.context(), stream.context()], FnId::cuGraphUpload)?;
        self.at_rest()?;
        let (graph, stream) = (self.as_raw(), stream.as_raw());
        // SAFETY: graph and stream are live, and their context is current.
        Ok(unsafe { context_call!(context, cuGraphUpload(graph, stream)) }?)
    }

    /// Takes over the parameters of all nodes of another graph of the same shape, and all objects
    /// that it keeps. Replaces parameters that were set here or by an earlier update.
    ///
    /// # Errors
    /// [`GraphError::Update`] if the driver cannot take over the differences, which changes
    /// nothing; [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT); [`GraphError::Lost`];
    /// [`GraphError::Incomplete`].
    ///
    /// Driver: `cuGraphExecUpdate_v2`, CUDA 12.0+, or `cuGraphExecUpdate`, CUDA 10.2+; where an
    /// earlier update is replaced, `cuGraphDestroy`, CUDA 10.0+, and for memory that was moved into
    /// its graph `cuMemFree_v2`, CUDA 3.2+.
    #[doc(alias("cuGraphExecUpdate_v2", "cuGraphExecUpdate"))]
    pub fn update(&mut self, cx: &Current<'_, '_>, graph: Graph<'a>) -> Result<(), GraphError> {
        let context = cx.of_both([self.context(), graph.context()], FnId::cuGraphExecUpdate_v2)?;
        self.at_rest()?;
        graph.check_complete()?;
        let (exec, new, library) = (self.as_raw(), graph.as_raw(), context.library());
        let mut info = CUgraphExecUpdateResultInfo::zeroed();
        let answer = if library.has(FnId::cuGraphExecUpdate_v2) {
            // SAFETY: both graphs are live; the out-parameter outlives the call.
            unsafe { context_call!(context, cuGraphExecUpdate_v2(exec, new, &raw mut info)) }
        } else {
            let (node, result) = (&raw mut info.errorNode, &raw mut info.result);
            // SAFETY: both graphs are live; the out-parameters outlive the call.
            unsafe { context_call!(context, cuGraphExecUpdate(exec, new, node, result)) }
        };
        match answer {
            Ok(()) => {
                // The new graph is stored before the old ones are dropped, because dropping their
                // values may panic.
                drop(std::mem::replace(&mut self.inner.updates, vec![graph]));
                Ok(())
            }
            Err(error) if error.code() == CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE => {
                let node = Some(info.errorNode).filter(|node: &CUgraphNode| !node.is_null());
                let node = node.and_then(|node| graph.nodes.find(node));
                // According to the error nothing has changed. The graph is kept in case a part has.
                self.inner.updates.push(graph);
                Err(GraphError::Update { why: info.result, node, error })
            }
            Err(error) => {
                // The update may have been made.
                self.inner.updates.push(graph);
                Err(error.into())
            }
        }
    }

    /// Returns the number of the executable graph, unique in the process, as tools show it.
    ///
    /// Driver: `cuGraphExecGetId`, CUDA 13.1+.
    #[doc(alias = "cuGraphExecGetId")]
    #[inline]
    pub fn id(&self) -> Result<u32, GraphError> {
        let (graph, mut id) = (self.as_raw(), 0);
        // SAFETY: the graph is live; the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuGraphExecGetId(graph, &raw mut id)) }?;
        Ok(id)
    }

    /// Destroys the executable graph and the graph from which it was made. Returns the buffers and
    /// memory that were moved into that graph.
    ///
    /// # Errors
    /// [`GraphError::Lost`], which leaks everything; [errors of any call](crate#errors), after
    /// which the graph and everything that it kept are destroyed.
    ///
    /// Driver: `cuGraphExecDestroy` and `cuGraphDestroy`, CUDA 10.0+.
    #[doc(alias = "cuGraphExecDestroy")]
    #[inline]
    pub fn close(self) -> Result<Returned<'a>, GraphError> {
        self.at_rest()?;
        let mut this = ManuallyDrop::new(self);
        // SAFETY: taken once, from a value that is not dropped.
        let Inner { raw, graph, updates, .. } = unsafe { ManuallyDrop::take(&mut this.inner) };
        let destroyed = raw.close();
        drop(updates);
        let returned = graph.close();
        destroyed?;
        Ok(returned?)
    }
}

/// Leaks an executable that may be in flight.
impl Drop for GraphExec<'_> {
    fn drop(&mut self) {
        if !self.inner.mark.is_lost() {
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.inner) }
        }
    }
}

debug!(GraphExec<'_>: |this, f| this.inner.raw.fmt(f));
