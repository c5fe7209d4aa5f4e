//! Executable graphs: made of a graph, launched, updated.

use std::cell::Cell;
use std::fmt;
use std::mem::ManuallyDrop;

use cuprum_sys::{
    CUDA_GRAPH_INSTANTIATE_PARAMS, CUgraphExec, CUgraphExecUpdateResultInfo, CUgraphInstantiate_flags,
    CUgraphNode, CUresult, FnId, Fns, call,
};

use super::host::Payload;
use super::{Graph, GraphError, HostLoan, Loan, Node, Returned, SharedLoan};
use crate::context::{ContextRef, Current};
use crate::memory::{DeviceData, Slice, SliceMut};
use crate::raw::call::context_call;
use crate::raw::flags::flags;
use crate::raw::held::{Handle, Held};
use crate::stream::Stream;

flags! {
    /// Options of making a graph executable. A bit that this crate does not name is passed on.
    ///
    /// Example: that of [`Graph`].
    pub struct InstantiateFlags: u64 {
        /// A launch frees memory that an earlier one allocated and left.
        const AUTO_FREE = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH.0 as u64;
        /// Kernels can launch it.
        const DEVICE_LAUNCH = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH.0 as u64;
        /// Kernels run with the priority of their node, instead of that of the stream.
        const NODE_PRIORITY = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY.0 as u64;
        const _ = !0;
    }
}

/// A graph that can be launched, any number of times; it keeps all that its nodes touch.
///
/// [`run`](Executable::run) launches it and waits; [`replay`](Executable::replay) lends it to a closure that launches it,
/// and waits after it. Between replays, memory that the graph has is reached through
/// [`slice_mut`](Executable::slice_mut) and [`host_mut`](Executable::host_mut).
///
/// If a wait fails, the device may still work on that memory: after a fault every wait answers at once, while copies to
/// page-locked memory go on. Then the graph is [lost](GraphError::Lost): its memory is neither read nor freed any more,
/// and dropping it leaks it.
///
/// Drop works on any thread, swallows errors and does nothing in a forked child; [`close`](Executable::close) reports
/// and gives back the buffers and memory that were moved in.
///
/// Example: that of [`Executable::replay`], `replay`.
pub struct Executable<'a> {
    pub(super) inner: ManuallyDrop<Inner<'a>>,
}

pub(super) struct Inner<'a> {
    pub(super) raw: Held<'a, CUgraphExec>,
    pub(super) graph: Graph<'a>,
    /// Graphs whose parameters it has taken over, or may have.
    updates: Vec<Graph<'a>>,
    /// True if it was launched and not waited for since.
    pub(super) in_flight: Cell<bool>,
}

// SAFETY: the driver allows any thread to use and to free an executable graph, one at a time; `Executable` is not
// `Sync`.
unsafe impl Handle for CUgraphExec {
    const NAME: &'static str = "Executable";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller vouches that it is live and not used again.
        unsafe { call!(fns, cuGraphExecDestroy(self)) }
    }
}

impl<'a> Graph<'a> {
    /// Makes the graph executable. After an error it is gone.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a condition without a node, or flags that do not go together; on a driver older
    /// than CUDA 11.4, [`Error::is_unresolved`](crate::Error::is_unresolved) for any flags; [`GraphError::Incomplete`].
    ///
    /// Driver: `cuGraphInstantiateWithFlags`, CUDA 11.4+, or without flags `cuGraphInstantiate`, CUDA 10.0+.
    #[doc(alias = "cuGraphInstantiateWithFlags")]
    #[doc(alias = "cuGraphInstantiate")]
    #[inline]
    pub fn instantiate(
        self,
        cx: &Current<'_, 'a>,
        flags: InstantiateFlags,
    ) -> Result<Executable<'a>, GraphError> {
        let context = cx.of(self.context(), FnId::cuGraphInstantiateWithFlags)?;
        self.check_complete()?;
        let (graph, mut raw) = (self.as_raw(), CUgraphExec::null());
        let (library, out) = (context.library(), &raw mut raw);
        if flags.is_empty() && !library.has(FnId::cuGraphInstantiateWithFlags) {
            let (node, log) = (std::ptr::null_mut(), std::ptr::null_mut());
            // SAFETY: the graph is live, and the out-parameter outlives the call; no log is asked for.
            unsafe { context_call!(context, cuGraphInstantiate(out, graph, node, log, 0)) }?;
        } else {
            let flags = flags.bits();
            // SAFETY: the graph is live; the out-parameter outlives the call.
            unsafe { context_call!(context, cuGraphInstantiateWithFlags(out, graph, flags)) }?;
        }
        Ok(Executable::new(cx, raw, self))
    }

    /// Makes the graph executable, and gets it ready on the device by work that is queued on `stream`.
    ///
    /// # Errors
    /// Those of [`instantiate`](Graph::instantiate); [`Error::is_wrong_context`](crate::Error::is_wrong_context).
    ///
    /// Driver: `cuGraphInstantiateWithParams`, CUDA 12.0+.
    #[doc(alias = "cuGraphInstantiateWithParams")]
    #[inline]
    pub fn instantiate_on(
        self,
        cx: &Current<'_, 'a>,
        stream: &Stream<'_>,
        flags: InstantiateFlags,
    ) -> Result<Executable<'a>, GraphError> {
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
        Ok(Executable::new(cx, raw, self))
    }
}

impl<'a> Executable<'a> {
    fn new(cx: &Current<'_, 'a>, raw: CUgraphExec, graph: Graph<'a>) -> Self {
        let raw = Held::new(raw, cx.near());
        let inner = Inner { raw, graph, updates: Vec::new(), in_flight: Cell::new(false) };
        Self { inner: ManuallyDrop::new(inner) }
    }

    /// The driver's handle.
    #[inline]
    pub fn as_raw(&self) -> CUgraphExec {
        self.inner.raw.raw()
    }

    /// The context of its nodes.
    #[inline]
    pub fn context(&self) -> &ContextRef {
        self.inner.raw.context()
    }

    /// Fails if a wait has failed.
    pub(super) fn at_rest(&self) -> Result<(), GraphError> {
        if self.inner.in_flight.get() { Err(GraphError::Lost) } else { Ok(()) }
    }

    /// The graph that it was made of, to ask for its nodes.
    ///
    /// # Errors
    /// [`GraphError::Lost`].
    #[inline]
    pub fn graph(&self) -> Result<&Graph<'a>, GraphError> {
        self.at_rest()?;
        Ok(&self.inner.graph)
    }

    /// The nodes of the graph that it was made of: like [`Graph::nodes`].
    ///
    /// # Errors
    /// Those of [`Graph::nodes`]; [`GraphError::Lost`].
    ///
    /// Driver: `cuGraphGetNodes`, CUDA 10.0+, twice.
    #[doc(alias = "cuGraphGetNodes")]
    #[inline]
    pub fn nodes(&mut self, cx: &Current<'_, '_>) -> Result<Vec<Node>, GraphError> {
        self.at_rest()?;
        self.inner.graph.nodes(cx)
    }

    /// The graph with a loan: the one of which this was made, or one whose parameters it took over.
    fn having(&self, has: impl Fn(&Graph<'a>) -> bool) -> Result<&Graph<'a>, GraphError> {
        self.at_rest()?;
        let mut graphs = std::iter::once(&self.inner.graph).chain(&self.inner.updates);
        graphs.find(|graph| has(graph)).ok_or(GraphError::Foreign)
    }

    /// Like `having`.
    fn having_mut(&mut self, has: impl Fn(&Graph<'a>) -> bool) -> Result<&mut Graph<'a>, GraphError> {
        self.at_rest()?;
        let inner = &mut *self.inner;
        let mut graphs = std::iter::once(&mut inner.graph).chain(&mut inner.updates);
        graphs.find(|graph| has(graph)).ok_or(GraphError::Foreign)
    }

    /// Memory that the graph has, to read between replays. No driver call.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Inside`]; [`GraphError::Lost`].
    pub fn slice<T: DeviceData>(&self, loan: impl Into<SharedLoan<T>>) -> Result<Slice<'_, T>, GraphError> {
        let loan = loan.into();
        self.having(|graph| graph.kept.check(loan).is_ok())?.slice(loan)
    }

    /// Memory that the graph has to itself, to write between replays. No driver call.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Inside`]; [`GraphError::Lost`].
    pub fn slice_mut<T: DeviceData>(&mut self, loan: Loan<T>) -> Result<SliceMut<'_, T>, GraphError> {
        self.having_mut(|graph| graph.kept.check(loan.as_shared()).is_ok())?.slice_mut(loan)
    }

    /// Memory of the host that the graph has, to read between replays. No driver call.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Lost`].
    pub fn host<T: DeviceData>(&self, loan: HostLoan<T>) -> Result<&[T], GraphError> {
        self.having(|graph| graph.kept.host(loan).is_ok())?.host(loan)
    }

    /// Memory of the host that the graph has, to write between replays. No driver call.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Lost`].
    pub fn host_mut<T: DeviceData>(&mut self, loan: HostLoan<T>) -> Result<&mut [T], GraphError> {
        self.having_mut(|graph| graph.kept.host(loan).is_ok())?.host_mut(loan)
    }

    /// Takes the first panic of a host function that was not taken yet.
    #[inline]
    pub fn take_panic(&self) -> Option<Payload> {
        // In a forked child the driver's thread is gone, perhaps with the lock.
        if self.context().library().forked() {
            return None;
        }
        let mut graphs = std::iter::once(&self.inner.graph).chain(&self.inner.updates);
        graphs.find_map(|graph| graph.kept.take_panic())
    }

    /// Fails if a host function has panicked and nobody took that panic yet.
    pub(super) fn check_panics(&self) -> Result<(), GraphError> {
        if self.context().library().forked() {
            return Ok(());
        }
        let mut graphs = std::iter::once(&self.inner.graph).chain(&self.inner.updates);
        if graphs.any(|graph| graph.kept.has_panicked()) { Err(GraphError::Panicked) } else { Ok(()) }
    }

    /// Gets the graph ready on the device by work that is queued on `stream`, so that the first launch need not.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`](crate::Error::is_wrong_context); [`GraphError::Lost`]; the sticky errors of earlier work.
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

    /// Takes over the parameters of all nodes of another graph of the same shape, with the things that that one keeps.
    /// Parameters that were set here, or by an earlier update, are replaced.
    ///
    /// # Errors
    /// [`GraphError::Update`] if the graphs differ in more than can be taken over: then nothing has changed;
    /// [`Error::is_wrong_context`](crate::Error::is_wrong_context); [`GraphError::Lost`]; [`GraphError::Incomplete`].
    ///
    /// Driver: `cuGraphExecUpdate_v2`, CUDA 12.0+, or `cuGraphExecUpdate`, CUDA 10.2+; where an earlier update is replaced,
    /// `cuGraphDestroy`, CUDA 10.0+, and what frees the memory that was moved into its graph: `cuMemFree_v2`, CUDA 3.2+.
    #[doc(alias = "cuGraphExecUpdate_v2")]
    #[doc(alias = "cuGraphExecUpdate")]
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
                // The new graph is in its place before the old ones go, whose values may panic as they are dropped.
                drop(std::mem::replace(&mut self.inner.updates, vec![graph]));
                Ok(())
            }
            Err(error) if error.code() == CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE => {
                let node = Some(info.errorNode).filter(|node: &CUgraphNode| !node.is_null());
                let node = node.and_then(|node| graph.nodes.find(node));
                // It says that nothing was changed; a part of it might be all the same, and the graph is kept for that.
                self.inner.updates.push(graph);
                Err(GraphError::Update { why: info.result, node, error })
            }
            Err(error) => {
                // It may have been done all the same.
                self.inner.updates.push(graph);
                Err(error.into())
            }
        }
    }

    /// The flags with which it was made, as far as the driver tells.
    ///
    /// # Errors
    /// Whatever the driver reports.
    ///
    /// Driver: `cuGraphExecGetFlags`, CUDA 12.0+.
    #[doc(alias = "cuGraphExecGetFlags")]
    #[inline]
    pub fn flags(&self) -> Result<InstantiateFlags, GraphError> {
        let (graph, mut flags) = (self.as_raw(), 0);
        // SAFETY: the graph is live; the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuGraphExecGetFlags(graph, &raw mut flags)) }?;
        Ok(InstantiateFlags::from_bits_retain(flags))
    }

    /// The number of the executable graph within the process, as tools show it.
    ///
    /// # Errors
    /// Whatever the driver reports.
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

    /// Destroys the executable graph and the graph that it was made of, and gives back the buffers and memory that were
    /// moved into that.
    ///
    /// # Errors
    /// [`GraphError::Lost`]: then all of it leaks. Whatever the driver reports: then the graph is gone with the things
    /// that it kept.
    ///
    /// Driver: `cuGraphExecDestroy` and `cuGraphDestroy`, CUDA 10.0+.
    #[doc(alias = "cuGraphExecDestroy")]
    #[inline]
    pub fn close(self) -> Result<Returned<'a>, GraphError> {
        self.at_rest()?;
        let mut this = ManuallyDrop::new(self);
        // SAFETY: taken once, out of a value that is not dropped.
        let Inner { raw, graph, updates, .. } = unsafe { ManuallyDrop::take(&mut this.inner) };
        let destroyed = raw.close();
        drop(updates);
        let returned = graph.close();
        destroyed?;
        Ok(returned?)
    }
}

/// An executable that may be in flight leaks.
impl Drop for Executable<'_> {
    fn drop(&mut self) {
        if !self.inner.in_flight.get() {
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.inner) }
        }
    }
}

impl fmt::Debug for Executable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.raw.fmt(f)
    }
}
