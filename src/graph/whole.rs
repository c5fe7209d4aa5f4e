//! Graphs: made, asked, copied, printed and destroyed.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use cuprum_sys::{CUgraph, CUgraphEdgeData, CUgraphNode, CUgraphNodeType, CUresult, FnId, Fns, call};

use super::kept::{Kept, slice_mut_of, slice_of};
use super::{Body, Edge, GraphError, HostLoan, Loan, Node, NodeType, Returned, SharedLoan};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::graph::node::Nodes;
use crate::memory::{Buffer, DeviceData, Slice, SliceMut};
use crate::raw::call::{context_call, either_call};
use crate::raw::held::{Handle, Held};

/// Work for a device: nodes, and edges that give their order.
///
/// It keeps all that its nodes touch: memory and kernels are borrowed for `'a`, or moved in, or shared; with counted
/// objects alone it is `'static`. So does the [`Executable`](super::Executable) that is made of it and that takes it
/// over. Drop works on any thread, swallows errors and does nothing in a forked child; [`close`](Graph::close) reports
/// and gives back what was moved in.
///
/// Nodes are [tokens](Node) that only their own graph accepts. The driver allows one thread at a time: a graph can be
/// sent, but not shared.
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::graph::{Graph, InstantiateFlags};
/// use cuprum::{Buffer, Stream};
///
/// let mut graph = Graph::new(&cx)?;
/// let (from, to) = (graph.give(Buffer::<u32>::alloc(&cx, 4)?)?, graph.give(Buffer::<u32>::alloc(&cx, 4)?)?);
/// let fill = graph.add_fill(&cx, &[], from, 7)?;
/// graph.add_copy(&cx, &[fill], to, from)?; // behind the fill
///
/// let mut executable = graph.instantiate(&cx, InstantiateFlags::empty())?;
/// executable.run(&cx, &Stream::new(&cx)?)?;
/// assert_eq!(executable.slice(to)?.to_vec(&cx)?, [7; 4]);
///
/// // What was given comes back.
/// let buffer = executable.close()?.buffer(to).ok_or("not given")?;
/// assert_eq!(buffer.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Graph<'a> {
    raw: Held<'a, CUgraph>,
    pub(super) nodes: Nodes,
    pub(super) kept: Kept<'a>,
    /// Addresses of user objects of which it has shares, one entry per share: drivers take back shares that were never
    /// given, and free the value (measured on an H100, driver 580).
    pub(super) objects: Vec<usize>,
    _one_thread: PhantomData<Cell<()>>,
}

// SAFETY: the driver allows any thread to use and to free a graph, one at a time; `Graph` is not `Sync`, and its shared
// methods do not outlive their call.
unsafe impl Handle for CUgraph {
    const NAME: &'static str = "Graph";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller vouches that the graph is live and not used again.
        unsafe { call!(fns, cuGraphDestroy(self)) }
    }
}

impl<'a> Graph<'a> {
    /// Creates a graph without nodes.
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let driver = cuprum::Driver::init(library)?;
    /// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
    /// # let mut stack = cuprum::ContextStack::take()?;
    /// # let cx = stack.push(&context)?;
    /// use cuprum::graph::{Graph, InstantiateFlags};
    /// use cuprum::{Buffer, Stream};
    ///
    /// let mut buffer = Buffer::<u32>::zeroed(&cx, 8)?;
    /// let mut graph = Graph::new(&cx)?;
    /// let memory = graph.lend(buffer.as_mut_slice())?;
    /// let (low, high) = (memory.slice(..4).unwrap(), memory.slice(4..).unwrap());
    /// let fill = graph.add_fill(&cx, &[], low, 7)?;
    /// graph.add_copy(&cx, &[fill], high, low)?;
    ///
    /// let mut executable = graph.instantiate(&cx, InstantiateFlags::empty())?;
    /// executable.run(&cx, &Stream::new(&cx)?)?;
    /// assert_eq!(executable.slice(memory)?.to_vec(&cx)?, [7; 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuGraphCreate`, CUDA 10.0+.
    #[doc(alias = "cuGraphCreate")]
    #[inline]
    pub fn new(cx: &Current<'_, 'a>) -> Result<Self, GraphError> {
        let context = cx.get()?;
        let mut raw = CUgraph::null();
        // SAFETY: the out-parameter outlives the call.
        unsafe { context_call!(&context, cuGraphCreate(&raw mut raw, 0)) }?;
        Ok(Self::from_parts(cx, raw, Kept::new()))
    }

    /// Takes over a graph that the driver just made, with the things that it keeps.
    pub(super) fn from_parts(cx: &Current<'_, 'a>, raw: CUgraph, kept: Kept<'a>) -> Self {
        let (raw, nodes) = (Held::new(raw, cx.near()), Nodes::new(kept.brand));
        Self { raw, nodes, kept, objects: Vec::new(), _one_thread: PhantomData }
    }

    /// The driver's handle.
    pub const fn as_raw(&self) -> CUgraph {
        self.raw.raw()
    }

    /// The context of its nodes.
    #[inline]
    pub fn context(&self) -> &ContextRef {
        self.raw.context()
    }

    /// The graph to which nodes are added, if `cx` is of its context.
    pub(super) fn ready<'c>(
        &self,
        cx: &'c Current<'_, '_>,
        call: FnId,
    ) -> Result<(&'c ContextRef, CUgraph), GraphError> {
        let context = cx.of(self.context(), call)?;
        self.check_complete()?;
        self.nodes.check()?;
        Ok((context, self.nodes.inside().unwrap_or(self.as_raw())))
    }

    pub(super) fn check_complete(&self) -> Result<(), GraphError> {
        self.nodes.check_complete()
    }

    /// Lends device memory to the graph for as long as it, or an executable made of it, is there. No driver call.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] for memory of another context.
    pub fn lend<T: DeviceData>(&mut self, memory: SliceMut<'a, T>) -> Result<Loan<T>, GraphError> {
        self.accept(memory.context())?;
        Ok(self.kept.lend(memory))
    }

    /// Lends device memory to the graph to be read; others may read it as well. No driver call.
    ///
    /// # Errors
    /// Those of [`lend`](Graph::lend).
    pub fn lend_shared<T: DeviceData>(&mut self, memory: Slice<'a, T>) -> Result<SharedLoan<T>, GraphError> {
        self.accept(memory.context())?;
        Ok(self.kept.lend_shared(memory))
    }

    /// Moves a buffer into the graph; it comes back from [`close`](Graph::close). No driver call.
    ///
    /// # Errors
    /// Those of [`lend`](Graph::lend); then the buffer is freed.
    pub fn give<T: DeviceData>(&mut self, buffer: Buffer<'a, T>) -> Result<Loan<T>, GraphError> {
        self.accept(buffer.context())?;
        Ok(self.kept.give(buffer))
    }

    pub(super) fn accept(&self, home: &ContextRef) -> Result<(), GraphError> {
        if home == self.context() { Ok(()) } else { Err(Error::wrong_context(FnId::cuGraphCreate).into()) }
    }

    /// Memory that the graph has, to read. No driver call.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Inside`].
    pub fn slice<T: DeviceData>(&self, loan: impl Into<SharedLoan<T>>) -> Result<Slice<'_, T>, GraphError> {
        let loan = loan.into();
        self.kept.check(loan)?;
        slice_of(loan, self.raw.near())
    }

    /// Memory that the graph has to itself, to write. No driver call.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Inside`].
    pub fn slice_mut<T: DeviceData>(&mut self, loan: Loan<T>) -> Result<SliceMut<'_, T>, GraphError> {
        self.kept.check(loan.as_shared())?;
        slice_mut_of(loan, self.raw.near())
    }

    /// Memory of the host that the graph has, to read. No driver call.
    ///
    /// # Errors
    /// [`GraphError::Foreign`].
    pub fn host<T: DeviceData>(&self, loan: HostLoan<T>) -> Result<&[T], GraphError> {
        self.kept.host(loan)
    }

    /// Memory of the host that the graph has, to write. No driver call.
    ///
    /// # Errors
    /// [`GraphError::Foreign`].
    pub fn host_mut<T: DeviceData>(&mut self, loan: HostLoan<T>) -> Result<&mut [T], GraphError> {
        self.kept.host_mut(loan)
    }

    /// Runs `fill` with nodes being added to a body of a conditional node instead of the graph itself.
    ///
    /// # Errors
    /// [`GraphError::Foreign`] for a body of another graph; [`GraphError::Removed`]; [`GraphError::Incomplete`]; errors of
    /// `fill`.
    pub fn within<R>(
        &mut self,
        body: Body,
        fill: impl FnOnce(&mut Self) -> Result<R, GraphError>,
    ) -> Result<R, GraphError> {
        /// Leaves the body, also when `fill` panics.
        struct Leave<'g, 'a>(&'g mut Graph<'a>, usize);
        impl Drop for Leave<'_, '_> {
            fn drop(&mut self) {
                self.0.nodes.leave(self.1);
            }
        }
        let before = self.nodes.enter(body)?;
        fill(Leave(self, before).0)
    }

    /// All nodes, in no particular order; inside of [`within`](Graph::within) those of the body.
    ///
    /// # Errors
    /// Whatever the driver reports.
    ///
    /// Driver: `cuGraphGetNodes`, CUDA 10.0+, twice.
    #[doc(alias = "cuGraphGetNodes")]
    #[inline]
    pub fn nodes(&mut self, cx: &Current<'_, '_>) -> Result<Vec<Node>, GraphError> {
        let (context, graph) = self.ready(cx, FnId::cuGraphGetNodes)?;
        let raws = list(|nodes, _, count| {
            // SAFETY: the graph is live; both places outlive the call, and `count` says how much room there is.
            unsafe { context_call!(context, cuGraphGetNodes(graph, nodes, count)) }
        })?;
        Ok(raws.into_iter().map(|raw| self.nodes.token(raw)).collect())
    }

    /// The nodes that wait for no other one.
    ///
    /// # Errors
    /// Whatever the driver reports.
    ///
    /// Driver: `cuGraphGetRootNodes`, CUDA 10.0+, twice.
    #[doc(alias = "cuGraphGetRootNodes")]
    #[inline]
    pub fn root_nodes(&mut self, cx: &Current<'_, '_>) -> Result<Vec<Node>, GraphError> {
        let (context, graph) = self.ready(cx, FnId::cuGraphGetRootNodes)?;
        let raws = list(|nodes, _, count| {
            // SAFETY: as in `nodes`.
            unsafe { context_call!(context, cuGraphGetRootNodes(graph, nodes, count)) }
        })?;
        Ok(raws.into_iter().map(|raw| self.nodes.token(raw)).collect())
    }

    /// All edges.
    ///
    /// # Errors
    /// `CUDA_ERROR_LOSSY_QUERY` if an edge has data that the older of the two functions cannot tell.
    ///
    /// Driver: `cuGraphGetEdges_v2`, CUDA 12.3+, or `cuGraphGetEdges`, CUDA 10.0+, twice.
    #[doc(alias = "cuGraphGetEdges_v2")]
    #[doc(alias = "cuGraphGetEdges")]
    #[inline]
    pub fn edges(&mut self, cx: &Current<'_, '_>) -> Result<Vec<Edge>, GraphError> {
        let (context, graph) = self.ready(cx, FnId::cuGraphGetEdges_v2)?;
        let library = context.library();
        let query = |from, to, data, count| {
            // SAFETY: the graph is live; all places outlive the call, and `count` says how much room there is in each.
            unsafe {
                either_call!(library,
                cuGraphGetEdges_v2(graph, from, to, data, count) or cuGraphGetEdges(graph, from, to, count))
            }
            .map_err(|error| context.record(error))
        };
        let mut count = 0;
        query(ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), &raw mut count)?;
        let (mut from, mut to) = (vec![CUgraphNode::null(); count], vec![CUgraphNode::null(); count]);
        let mut data = vec![CUgraphEdgeData::zeroed(); count];
        if count > 0 {
            query(from.as_mut_ptr(), to.as_mut_ptr(), data.as_mut_ptr(), &raw mut count)?;
        }
        let ends = from.into_iter().zip(to).zip(data).take(count);
        Ok(ends
            .map(|((from, to), data)| Edge::new(self.nodes.token(from), self.nodes.token(to), data))
            .collect())
    }

    /// Kind of a node.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`].
    ///
    /// Driver: `cuGraphNodeGetType`, CUDA 10.0+.
    #[doc(alias = "cuGraphNodeGetType")]
    #[inline]
    pub fn node_type(&self, node: Node) -> Result<NodeType, GraphError> {
        let (node, mut kind) = (self.nodes.raw(node)?, CUgraphNodeType(0));
        // SAFETY: the node is live; the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuGraphNodeGetType(node, &raw mut kind)) }?;
        Ok(kind)
    }

    /// Removes a node with its edges. The things that it kept stay with the graph.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; `CUDA_ERROR_NOT_SUPPORTED` for nodes that allocate or free.
    /// After an error of the driver the node counts as removed: it may be.
    ///
    /// Driver: `cuGraphDestroyNode`, CUDA 10.0+.
    #[doc(alias = "cuGraphDestroyNode")]
    #[inline]
    pub fn remove(&mut self, cx: &Current<'_, '_>, node: Node) -> Result<(), GraphError> {
        let (context, _) = self.ready(cx, FnId::cuGraphDestroyNode)?;
        let raw = self.nodes.raw(node)?;
        self.nodes.remove(node);
        // SAFETY: the node is live, and its token is not accepted any more.
        Ok(unsafe { context_call!(context, cuGraphDestroyNode(raw)) }?)
    }

    /// A copy of the graph, with a token for each token of this one by [`find_in_copy`](Graph::find_in_copy). Loans of
    /// memory stay with this one.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` for graphs that allocate or free or have conditional nodes.
    ///
    /// # Safety
    /// 1. No two replays of executables that are made of the graph and of its copies run at the same time, unless
    ///    nothing that one of them writes is touched by the other.
    /// 2. While a copy is replayed, nobody looks at the memory of this graph, by [`slice`](Graph::slice) or otherwise.
    /// 3. This graph, or the executable made of it, is dropped after the copy.
    ///
    /// Driver: `cuGraphClone`, CUDA 10.0+.
    #[doc(alias = "cuGraphClone")]
    #[inline]
    pub unsafe fn duplicate(&self, cx: &Current<'_, 'a>) -> Result<Graph<'a>, GraphError> {
        let context = cx.of(self.context(), FnId::cuGraphClone)?;
        self.check_complete()?;
        let (graph, mut copy) = (self.as_raw(), CUgraph::null());
        // SAFETY: the graph is live; the out-parameter outlives the call.
        unsafe { context_call!(context, cuGraphClone(&raw mut copy, graph)) }?;
        Ok(Graph::from_parts(cx, copy, Kept::new()))
    }

    /// The node of a copy that matches a node of this graph.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Incomplete`] of either graph; `CUDA_ERROR_INVALID_VALUE` if there is none.
    ///
    /// Driver: `cuGraphNodeFindInClone`, CUDA 10.0+.
    #[doc(alias = "cuGraphNodeFindInClone")]
    #[inline]
    pub fn find_in_copy(&self, node: Node, copy: &mut Graph<'_>) -> Result<Node, GraphError> {
        if copy.context() != self.context() {
            return Err(Error::wrong_context(FnId::cuGraphNodeFindInClone).into());
        }
        copy.check_complete()?;
        let (node, graph, mut found) = (self.nodes.raw(node)?, copy.as_raw(), CUgraphNode::null());
        // SAFETY: node and graph are live; the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuGraphNodeFindInClone(&raw mut found, node, graph)) }?;
        Ok(copy.nodes.token(found))
    }

    /// Destroys the graph; its things go on with another.
    pub(super) fn into_kept(self) -> Kept<'a> {
        self.kept
    }

    /// Destroys the graph, and gives back the buffers and memory that were moved in.
    ///
    /// # Errors
    /// Whatever the driver reports. The graph is gone all the same, and the things that it kept with it.
    ///
    /// Driver: `cuGraphDestroy`, CUDA 10.0+.
    #[doc(alias = "cuGraphDestroy")]
    #[inline]
    pub fn close(self) -> Result<Returned<'a>, Error> {
        let Self { raw, kept, .. } = self;
        raw.close()?;
        Ok(Returned(kept))
    }
}

/// Reads a list from a function of the driver in two calls: the number, then the handles, with room for the data of
/// as many edges.
pub(super) fn list(
    query: impl Fn(*mut CUgraphNode, *mut CUgraphEdgeData, *mut usize) -> Result<(), Error>,
) -> Result<Vec<CUgraphNode>, Error> {
    let mut count = 0;
    query(ptr::null_mut(), ptr::null_mut(), &raw mut count)?;
    let (mut nodes, mut data) = (vec![CUgraphNode::null(); count], vec![CUgraphEdgeData::zeroed(); count]);
    if count > 0 {
        query(nodes.as_mut_ptr(), data.as_mut_ptr(), &raw mut count)?;
    }
    nodes.truncate(count);
    nodes.retain(|node| !node.is_null());
    Ok(nodes)
}

impl fmt::Debug for Graph<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}
