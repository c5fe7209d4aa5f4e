//! Nodes that signal semaphores of other APIs or wait for them.

use cuprum_sys::{
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS as Signal, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS as Wait,
    CUexternalSemaphore, CUresult, FnId,
};

use super::error::GraphError;
#[cfg(doc)]
use super::exec::GraphExec;
use super::graph::{Graph, add};
use super::kept::Kept;
use super::loan::Loan;
use super::node::Node;
use super::set::{At, NodeSetter, set};
use crate::context::{Current, context_call};
use crate::error::Error;
use crate::external::{ExternalSemaphore, signal_of, wait_of};

/// A semaphore of a graph, and a value.
type Each<'a> = &'a [(Loan<ExternalSemaphore<'static>>, u64)];

/// An operation on a semaphore, as the driver describes it: a signal of a value or a wait for it.
trait Deed: Copy {
    /// Description of a node with several operations.
    type Node;

    fn of(value: u64) -> Self;

    /// Describes a node by pointers to its lists, which the driver only reads.
    fn node(lists: &Lists<Self>) -> Self::Node;
}

macro_rules! deeds {
    ($($params:ident by $of:ident in $node:ident;)*) => { $(
        impl Deed for $params {
            type Node = $node;

            fn of(value: u64) -> Self {
                $of(value)
            }

            fn node(lists: &Lists<Self>) -> $node {
                let (semaphores, params) = (lists.semaphores.as_ptr().cast_mut(), lists.params.as_ptr());
                $node { extSemArray: semaphores, paramsArray: params, numExtSems: lists.count }
            }
        }
    )* };
}

deeds! {
    Signal by signal_of in CUDA_EXT_SEM_SIGNAL_NODE_PARAMS;
    Wait by wait_of in CUDA_EXT_SEM_WAIT_NODE_PARAMS;
}

/// Semaphores and the operation on each, as the driver describes them.
struct Lists<P> {
    semaphores: Vec<CUexternalSemaphore>,
    params: Vec<P>,
    count: u32,
}

impl<P: Deed> Lists<P> {
    /// Makes the lists. Checks that the graph has a share of each semaphore.
    fn new(kept: &Kept<'_>, each: Each<'_>, call: FnId) -> Result<Self, GraphError> {
        let too_many = |_| Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, call);
        Ok(Self {
            semaphores: each
                .iter()
                .map(|&(semaphore, _)| kept.semaphore(semaphore))
                .collect::<Result<_, _>>()?,
            params: each.iter().map(|&(_, value)| P::of(value)).collect(),
            count: u32::try_from(each.len()).map_err(too_many)?,
        })
    }

    /// Same as [`new`](Lists::new) for at least one semaphore, for a node that has some.
    fn some(kept: &Kept<'_>, each: Each<'_>, call: FnId) -> Result<Self, GraphError> {
        if each.is_empty() {
            return Err(Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, call).into());
        }
        Self::new(kept, each, call)
    }
}

/// Adds a node with operations on semaphores: the body of a method.
macro_rules! add_deed {
    ($graph:expr, $cx:expr, $after:expr, $deed:ident of $each:expr, $call:ident()) => {{
        $graph.ready($cx, FnId::$call)?;
        let lists = Lists::<$deed>::new(&$graph.kept, $each, FnId::$call)?;
        if $each.is_empty() {
            return $graph.add_empty($cx, $after);
        }
        let params = Deed::node(&lists);
        let params = &raw const params;
        // SAFETY: graph and nodes are live, lists and places outlive the call, which copies them;
        // the graph has a share of each semaphore. The caller of the method is responsible for
        // signals; a wait changes no value.
        unsafe { add!($graph, $cx, $after, $call(params)) }
    }};
}

/// Changes the operations of a node: the body of a method.
macro_rules! set_deed {
    ($setter:ident, $deed:ident of $each:expr, $graph:ident() or $exec:ident()) => {{
        let at = $setter.at(FnId::$graph, FnId::$exec)?;
        let lists = Lists::<$deed>::some(&$setter.graph().kept, $each, at.call)?;
        let params = Deed::node(&lists);
        let params = &raw const params;
        // SAFETY: as in `add_deed`.
        Ok(unsafe { set!(at, $graph(params) or $exec(params)) }?)
    }};
}

impl Graph<'_> {
    /// Adds a node that signals each semaphore with a value, in each replay. Adds an empty node if
    /// there are none.
    ///
    /// The value of a timeline semaphore must grow, so [`GraphExec::set`] sets a new value before
    /// the next replay. The value of a binary semaphore is ignored.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; [`Error::UNRESOLVED`] on drivers before
    /// CUDA 11.2; `CUDA_ERROR_INVALID_VALUE`; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// # Safety
    /// In every replay, the new value of a timeline semaphore is greater than its value at that
    /// time.
    ///
    /// Driver: `cuGraphAddExternalSemaphoresSignalNode`, CUDA 11.2+.
    #[doc(alias = "cuGraphAddExternalSemaphoresSignalNode")]
    #[inline]
    pub unsafe fn add_semaphore_signals(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        signals: Each<'_>,
    ) -> Result<Node, GraphError> {
        add_deed!(self, cx, after, Signal of signals, cuGraphAddExternalSemaphoresSignalNode())
    }

    /// Adds a node that waits until each timeline semaphore has its value, and each binary
    /// semaphore is signaled. Adds an empty node if there are none.
    ///
    /// A wait that never ends blocks the replay and all work that waits for it: see
    /// [streams](crate::stream#waits-for-values). In each replay, a wait for a binary semaphore
    /// consumes its signal.
    ///
    /// # Errors
    /// Same as [`add_semaphore_signals`](Graph::add_semaphore_signals).
    ///
    /// Driver: `cuGraphAddExternalSemaphoresWaitNode`, CUDA 11.2+.
    #[doc(alias = "cuGraphAddExternalSemaphoresWaitNode")]
    #[inline]
    pub fn add_semaphore_waits(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        waits: Each<'_>,
    ) -> Result<Node, GraphError> {
        add_deed!(self, cx, after, Wait of waits, cuGraphAddExternalSemaphoresWaitNode())
    }
}

impl NodeSetter<'_, '_> {
    /// Changes the semaphores that a node signals, and the values.
    ///
    /// # Errors
    /// Same as [`Graph::add_semaphore_signals`]; `CUDA_ERROR_INVALID_VALUE` for a node of another
    /// kind, and for no semaphores; for an executable [`GraphError::Lost`], and
    /// `CUDA_ERROR_INVALID_VALUE` for another number of semaphores.
    ///
    /// # Safety
    /// 1. The duty of [`Graph::add_semaphore_signals`].
    ///
    /// Driver: `cuGraphExternalSemaphoresSignalNodeSetParams` or
    /// `cuGraphExecExternalSemaphoresSignalNodeSetParams`, CUDA 11.2+.
    #[doc(alias = "cuGraphExternalSemaphoresSignalNodeSetParams")]
    #[doc(alias = "cuGraphExecExternalSemaphoresSignalNodeSetParams")]
    #[inline]
    pub unsafe fn semaphore_signals(mut self, signals: Each<'_>) -> Result<(), GraphError> {
        set_deed! {
            self, Signal of signals,
            cuGraphExternalSemaphoresSignalNodeSetParams() or cuGraphExecExternalSemaphoresSignalNodeSetParams()
        }
    }

    /// Changes the semaphores that a node waits for, and the values.
    ///
    /// # Errors
    /// Same as [`semaphore_signals`](NodeSetter::semaphore_signals).
    ///
    /// Driver: `cuGraphExternalSemaphoresWaitNodeSetParams` or
    /// `cuGraphExecExternalSemaphoresWaitNodeSetParams`, CUDA 11.2+.
    #[doc(alias = "cuGraphExternalSemaphoresWaitNodeSetParams")]
    #[doc(alias = "cuGraphExecExternalSemaphoresWaitNodeSetParams")]
    #[inline]
    pub fn semaphore_waits(mut self, waits: Each<'_>) -> Result<(), GraphError> {
        set_deed! {
            self, Wait of waits,
            cuGraphExternalSemaphoresWaitNodeSetParams() or cuGraphExecExternalSemaphoresWaitNodeSetParams()
        }
    }
}
