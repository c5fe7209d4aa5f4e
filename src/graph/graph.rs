//! Graphs: creation, queries, clones and destruction.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
#[cfg(doc)]
use std::sync::Arc;

use cuprum_sys::{CUgraph, CUgraphEdgeData, CUgraphNode, CUgraphNodeType, FnId};

use super::error::GraphError;
use super::kept::Kept;
use super::lend::LendToGraph;
use super::loan::Loan;
use super::node::{Body, Edge, Node, NodeType};
use super::nodes::Nodes;
use super::returned::Returned;
use super::view::{View, ViewMut};
use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::raw::call::either_call;
use crate::raw::debug::debug;
use crate::raw::held::{Held, handle};
use crate::raw::owner::{as_raw, context};
use crate::raw::seal::Key;
#[cfg(doc)]
use crate::{
    external::ExternalSemaphore,
    graph::Part,
    launch::{In, InOut},
    memory::{Buffer, PinnedBuffer, Pitched, PitchedBuffer, PitchedMut, Slice, SliceMut},
    stream::Signals,
};

/// Work for a device: nodes, and edges that order them.
///
/// A graph keeps all objects that its nodes use: memory and kernels are borrowed for `'a`, moved
/// in, or shared. A graph that owns or shares its objects, and borrows none, is `'static`.
/// [`instantiate`](Graph::instantiate) consumes it, and the [`GraphExec`](super::GraphExec) keeps
/// them from then on. [`close`](Graph::close) returns the objects that were moved in.
///
/// Nodes are [tokens](Node) that only their own graph accepts. The driver allows one thread at a
/// time, so a graph is `Send` but not `Sync`.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::graph::{Graph, InstantiateFlags};
/// use cuprum::{Buffer, Stream};
///
/// let mut graph = Graph::new(&cx)?;
/// let (from, to) = (graph.lend(Buffer::<u32>::alloc(&cx, 4)?)?, graph.lend(Buffer::<u32>::alloc(&cx, 4)?)?);
/// let fill = graph.add_fill(&cx, &[], from, 7)?;
/// graph.add_copy(&cx, &[fill], to, from)?; // after the fill
///
/// let mut exec = graph.instantiate(&cx, InstantiateFlags::empty())?;
/// exec.launch(&cx, &Stream::new(&cx)?)?;
/// assert_eq!(exec.view(to)?.to_vec(&cx)?, [7; 4]);
///
/// // The buffer that was moved in comes back.
/// let buffer = exec.close()?.take::<Buffer<_>>(to).ok_or("not given")?;
/// assert_eq!(buffer.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Graph<'a> {
    raw: Held<'a, CUgraph>,
    pub(super) nodes: Nodes,
    pub(super) kept: Kept<'a>,
    /// Addresses of user objects of which the graph has shares, one entry per share. Without this
    /// check drivers release shares that the graph never had, and free the value (measured on an
    /// H100, driver 580).
    pub(super) objects: Vec<usize>,
    _one_thread: PhantomData<Cell<()>>,
}

// SAFETY: the driver allows any thread to use and to free a graph, one at a time; `Graph` is not
// `Sync`, and its shared methods do not outlive their call.
handle!(unsafe CUgraph: "Graph", |raw| cuGraphDestroy(raw));

/// Adds a node after others by a driver function that takes these arguments after the list of
/// nodes. The place for the handle, the graph and the list are live during the call. The code that
/// uses this is responsible for the arguments.
macro_rules! add {
    ($graph:expr, $cx:expr, $after:expr, $call:ident($($argument:expr),*)) => {
        $graph.add($cx, $after, FnId::$call, |context, new| {
            context_call!(context, $call(new.node, new.graph, new.after, new.count $(, $argument)*))
        })
    };
}

pub(super) use add;

/// The place for the handle of a new node, and the nodes after which it runs. Everything is live
/// during the call.
pub(super) struct NewNode {
    pub(super) node: *mut CUgraphNode,
    pub(super) graph: CUgraph,
    pub(super) after: *const CUgraphNode,
    pub(super) count: usize,
}

impl<'a> Graph<'a> {
    /// Creates a graph without nodes.
    ///
    /// Example: see [`Graph`].
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

    /// Takes over a graph that the driver has just made, and the objects that it keeps.
    pub(super) fn from_parts(cx: &Current<'_, 'a>, raw: CUgraph, kept: Kept<'a>) -> Self {
        let (raw, nodes) = (Held::new(raw, cx.near()), Nodes::new(kept.brand));
        Self { raw, nodes, kept, objects: Vec::new(), _one_thread: PhantomData }
    }

    as_raw!(CUgraph, |this| this.raw.raw());
    context!(|this| this.raw.context());

    /// Returns the graph to which nodes are added, if its context is current.
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

    /// Lends memory to the graph for as long as the graph or its executable exists. No driver call.
    ///
    /// | given | is then | as |
    /// |---|---|---|
    /// | `&'a mut Buffer`, [`SliceMut`] | borrowed | [`InOut<T>`](InOut) |
    /// | `&'a Buffer`, [`Slice`] | borrowed to read | [`In<T>`](In) |
    /// | `&'a mut PitchedBuffer`, [`PitchedMut`] | borrowed | [`PitchedMut<'static, T>`](PitchedMut) |
    /// | `&'a PitchedBuffer`, [`Pitched`] | borrowed to read | [`Pitched<'static, T>`](Pitched) |
    /// | [`Buffer`], [`PitchedBuffer`] | owned, and comes back from [`Graph::close`](Graph::close) | as if borrowed mutably |
    /// | [`Vec<T>`], [`PinnedBuffer`] | owned, as above | `[T]` |
    /// | [`Arc<Buffer>`](Arc), [`Part`] | shared, to read | [`In<T>`](In) |
    /// | [`Arc<Signals>`](Signals), [`Arc<ExternalSemaphore>`](ExternalSemaphore) | shared | itself |
    ///
    /// A slice of an [`Arc<Buffer>`](Arc) borrows the `Arc`. If the graph outlives the `Arc`, for
    /// example as a [`GraphExec<'static>`](crate::graph::GraphExec) in a struct, the compiler
    /// reports that the `Arc` does not live long enough (E0597 or E0373): lend [`Part::of(&arc,
    /// …)`](Part), which holds a share.
    ///
    /// Page-locked memory is moved in and not borrowed, because its owner must not be accessible
    /// after a failed wait.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`] for memory of another context, and
    /// [`MemoryError::Lost`](crate::MemoryError::Lost), both in [`GraphError::Memory`]. Memory that
    /// was moved in is dropped then.
    pub fn lend<M: LendToGraph<'a>>(&mut self, memory: M) -> Result<Loan<M::Memory>, GraphError> {
        memory.keep(&mut self.kept, self.raw.context(), Key::new())
    }

    /// Returns a view of the graph's memory: a [`Slice`], rows ([`Pitched`]), or a host slice
    /// `&[T]`. No driver call.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Inside`].
    pub fn view<M: View + ?Sized>(&self, loan: Loan<M>) -> Result<M::View<'_>, GraphError> {
        M::view(loan, &self.kept, self.raw.near())
    }

    /// Returns a mutable view of memory that only the graph has: a [`SliceMut`], rows
    /// ([`PitchedMut`]), or a host slice `&mut [T]`. No driver call.
    ///
    /// # Errors
    /// Same as [`view`](Graph::view).
    pub fn view_mut<M: ViewMut + ?Sized>(&mut self, loan: Loan<M>) -> Result<M::ViewMut<'_>, GraphError> {
        M::view_mut(loan, &mut self.kept, self.raw.near())
    }

    /// Adds a node after others by a driver call.
    pub(super) fn add(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        call: FnId,
        add: impl FnOnce(&ContextRef, NewNode) -> Result<(), Error>,
    ) -> Result<Node, GraphError> {
        let (context, graph) = self.ready(cx, call)?;
        let (after, mut node) = (self.nodes.raws(after)?, CUgraphNode::null());
        add(context, NewNode { node: &raw mut node, graph, after: after.as_ptr(), count: after.len() })?;
        Ok(self.nodes.token(node))
    }

    /// Returns the handle of a node whose parameters are changed, if its context is current.
    pub(super) fn at<'c>(
        &self,
        cx: &'c Current<'_, '_>,
        node: Node,
        call: FnId,
    ) -> Result<(&'c ContextRef, CUgraphNode), GraphError> {
        Ok((self.ready(cx, call)?.0, self.nodes.raw(node)?))
    }

    /// Runs `fill`, during which nodes are added to a body of a conditional node instead of the
    /// graph.
    ///
    /// # Errors
    /// [`GraphError::Foreign`] for a body of another graph; [`GraphError::Removed`];
    /// [`GraphError::Incomplete`]; errors of `fill`.
    pub fn within<R>(
        &mut self,
        body: Body,
        fill: impl FnOnce(&mut Self) -> Result<R, GraphError>,
    ) -> Result<R, GraphError> {
        /// Leaves the body, also if `fill` panics.
        struct Leave<'g, 'a>(&'g mut Graph<'a>, usize);
        impl Drop for Leave<'_, '_> {
            fn drop(&mut self) {
                self.0.nodes.leave(self.1);
            }
        }
        let before = self.nodes.enter(body)?;
        fill(Leave(self, before).0)
    }

    /// Returns all nodes in an unspecified order; inside of [`within`](Graph::within), all nodes of
    /// the body.
    ///
    /// Driver: `cuGraphGetNodes`, CUDA 10.0+, twice.
    #[doc(alias = "cuGraphGetNodes")]
    #[inline]
    pub fn nodes(&mut self, cx: &Current<'_, '_>) -> Result<Vec<Node>, GraphError> {
        let (context, graph) = self.ready(cx, FnId::cuGraphGetNodes)?;
        let raws = list(|nodes, count| {
            // SAFETY: the graph is live; both places outlive the call, and `count` is the length of
            // the list.
            unsafe { context_call!(context, cuGraphGetNodes(graph, nodes, count)) }
        })?;
        Ok(raws.into_iter().map(|raw| self.nodes.token(raw)).collect())
    }

    /// Returns all edges. The edges that lead to a node come from its dependencies, and the edges
    /// that leave it lead to its dependents. A node to which no edge leads is a root.
    ///
    /// # Errors
    /// `CUDA_ERROR_LOSSY_QUERY` if an edge has data that the older function cannot report.
    ///
    /// Driver: `cuGraphGetEdges_v2`, CUDA 12.3+, or `cuGraphGetEdges`, CUDA 10.0+, twice.
    #[doc(alias("cuGraphGetEdges_v2", "cuGraphGetEdges"))]
    #[inline]
    pub fn edges(&mut self, cx: &Current<'_, '_>) -> Result<Vec<Edge>, GraphError> {
        let (context, graph) = self.ready(cx, FnId::cuGraphGetEdges_v2)?;
        let library = context.library();
        let query = |from, to, data, count| {
            // SAFETY: the graph is live; all places outlive the call, and `count` is the length of
            // each.
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

    /// Returns the kind of a node.
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

    /// Removes a node and its edges. The graph keeps the objects that the node used.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; `CUDA_ERROR_NOT_SUPPORTED` for nodes that
    /// allocate or free. After a driver error the node counts as removed, because the driver may
    /// have removed it.
    ///
    /// Driver: `cuGraphDestroyNode`, CUDA 10.0+.
    #[doc(alias = "cuGraphDestroyNode")]
    #[inline]
    pub fn remove(&mut self, cx: &Current<'_, '_>, node: Node) -> Result<(), GraphError> {
        let (context, _) = self.ready(cx, FnId::cuGraphDestroyNode)?;
        let raw = self.nodes.raw(node)?;
        self.nodes.remove(node);
        // SAFETY: the node is live, and its token is no longer accepted.
        Ok(unsafe { context_call!(context, cuGraphDestroyNode(raw)) }?)
    }

    /// Returns a copy of the graph. [`find_in_clone`](Graph::find_in_clone) returns the nodes of
    /// the copy. Loans of memory stay with the original.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` for graphs that allocate or free or have conditional nodes.
    ///
    /// # Safety
    /// 1. Replays of executables that are made from the graph and from its copies run at the same
    ///    time only if neither touches memory that the other writes.
    /// 2. While a copy is replayed, the memory of this graph is not accessed, by
    ///    [`view`](Graph::view) or otherwise.
    /// 3. This graph, or its executable, is dropped after the copy.
    ///
    /// Driver: `cuGraphClone`, CUDA 10.0+.
    #[doc(alias = "cuGraphClone")]
    #[inline]
    pub unsafe fn clone_graph(&self, cx: &Current<'_, 'a>) -> Result<Graph<'a>, GraphError> {
        let context = cx.of(self.context(), FnId::cuGraphClone)?;
        self.check_complete()?;
        let (graph, mut copy) = (self.as_raw(), CUgraph::null());
        // SAFETY: the graph is live; the out-parameter outlives the call.
        unsafe { context_call!(context, cuGraphClone(&raw mut copy, graph)) }?;
        Ok(Graph::from_parts(cx, copy, Kept::new()))
    }

    /// Returns the node of a copy that corresponds to a node of this graph.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Incomplete`] of either graph;
    /// `CUDA_ERROR_INVALID_VALUE` if there is none.
    ///
    /// Driver: `cuGraphNodeFindInClone`, CUDA 10.0+.
    #[doc(alias = "cuGraphNodeFindInClone")]
    #[inline]
    pub fn find_in_clone(&self, node: Node, copy: &mut Graph<'_>) -> Result<Node, GraphError> {
        if copy.context() != self.context() {
            return Err(Error::wrong_context(FnId::cuGraphNodeFindInClone).into());
        }
        copy.check_complete()?;
        let (node, graph, mut found) = (self.nodes.raw(node)?, copy.as_raw(), CUgraphNode::null());
        // SAFETY: node and graph are live; the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuGraphNodeFindInClone(&raw mut found, node, graph)) }?;
        Ok(copy.nodes.token(found))
    }

    /// Destroys the graph, and returns the objects that it kept for another graph.
    pub(super) fn into_kept(self) -> Kept<'a> {
        self.kept
    }

    /// Destroys the graph, and returns the buffers and memory that were moved in.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors). An error also destroys the graph and the objects that it
    /// kept.
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

/// Reads a list from a driver function in two calls: the number, then the handles.
fn list(
    query: impl Fn(*mut CUgraphNode, *mut usize) -> Result<(), Error>,
) -> Result<Vec<CUgraphNode>, Error> {
    let mut count = 0;
    query(ptr::null_mut(), &raw mut count)?;
    let mut nodes = vec![CUgraphNode::null(); count];
    if count > 0 {
        query(nodes.as_mut_ptr(), &raw mut count)?;
    }
    nodes.truncate(count);
    nodes.retain(|node| !node.is_null());
    Ok(nodes)
}

debug!(Graph<'_>: |this, f| this.raw.fmt(f));
