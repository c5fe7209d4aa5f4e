//! Nodes that signal semaphores of other APIs, and wait for them.

use std::fmt;
use std::sync::Arc;

use cuprum_sys::{
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, CUDA_EXT_SEM_WAIT_NODE_PARAMS, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, CUexternalSemaphore, CUgraphNode, CUresult, FnId,
};

use super::kept::{Kept, Place};
use super::{Executable, Graph, GraphError, Node};
use crate::context::Current;
use crate::error::Error;
use crate::external::{ExternalSemaphore, signal_of, wait_of};
use crate::raw::call::context_call;

/// An [`ExternalSemaphore`] of which a graph has a share. A token, `Copy`.
///
/// Example: that of [`Graph::add_semaphore_signals`], `share_semaphore`.
#[derive(Clone, Copy)]
pub struct SemaphoreLoan {
    raw: CUexternalSemaphore,
    place: Place,
}

impl SemaphoreLoan {
    /// The driver's handle.
    pub const fn as_raw(&self) -> CUexternalSemaphore {
        self.raw
    }
}

impl fmt::Debug for SemaphoreLoan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SemaphoreLoan({:?})", self.raw)
    }
}

/// Semaphores, with what is done to each, as the driver takes them.
struct Lists<P> {
    semaphores: Vec<CUexternalSemaphore>,
    params: Vec<P>,
    count: u32,
}

impl<P> Lists<P> {
    /// Checks that the semaphores are shared with this graph.
    fn new(
        kept: &Kept<'_>,
        each: &[(SemaphoreLoan, u64)],
        params: fn(u64) -> P,
        call: FnId,
    ) -> Result<Self, GraphError> {
        each.iter().try_for_each(|(semaphore, _)| kept.check_place(semaphore.place))?;
        let too_many = |_| Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, call);
        Ok(Self {
            semaphores: each.iter().map(|(semaphore, _)| semaphore.raw).collect(),
            params: each.iter().map(|&(_, value)| params(value)).collect(),
            count: u32::try_from(each.len()).map_err(too_many)?,
        })
    }
}

impl Lists<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS> {
    /// The description of a node, which points into the lists. The driver only reads them.
    fn signals(&self) -> CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
        let (semaphores, params) = (self.semaphores.as_ptr().cast_mut(), self.params.as_ptr());
        CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
            extSemArray: semaphores,
            paramsArray: params,
            numExtSems: self.count,
        }
    }
}

impl Lists<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS> {
    /// As [`signals`](Lists::signals).
    fn waits(&self) -> CUDA_EXT_SEM_WAIT_NODE_PARAMS {
        let (semaphores, params) = (self.semaphores.as_ptr().cast_mut(), self.params.as_ptr());
        CUDA_EXT_SEM_WAIT_NODE_PARAMS { extSemArray: semaphores, paramsArray: params, numExtSems: self.count }
    }
}

/// Copies a node's lists.
///
/// # Safety
/// The driver has said that these lists of a live node have `count` elements, and nobody changes the node meanwhile.
unsafe fn listed<P: Copy>(
    semaphores: *const CUexternalSemaphore,
    params: *const P,
    count: u32,
    value: fn(P) -> u64,
) -> Vec<(CUexternalSemaphore, u64)> {
    let count = if semaphores.is_null() || params.is_null() { 0 } else { count as usize };
    let at = |index| {
        // SAFETY: the caller's word.
        let semaphore = unsafe { semaphores.wrapping_add(index).read() };
        // SAFETY: as above.
        (semaphore, value(unsafe { params.wrapping_add(index).read() }))
    };
    (0..count).map(at).collect()
}

impl<'a> Graph<'a> {
    /// Takes a share of a semaphore of another API, for as long as the graph, or an executable made of it, is there. No
    /// driver call.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] for a semaphore of another context.
    pub fn share_semaphore(
        &mut self,
        semaphore: Arc<ExternalSemaphore<'a>>,
    ) -> Result<SemaphoreLoan, GraphError> {
        self.accept(semaphore.context())?;
        let raw = semaphore.as_raw();
        Ok(SemaphoreLoan { raw, place: self.kept.give_share(Box::new(semaphore)) })
    }

    /// Adds a node that signals semaphores with a value each, in each replay. Of none it is an empty node.
    ///
    /// The value of a timeline semaphore grows, so that a node which is replayed gets a new one before the next replay, by
    /// [`Executable::set_semaphore_signals`]. Of a binary semaphore it does not count.
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// # let driver = cuprum::Driver::init(cuprum_emulator::library())?;
    /// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
    /// # let mut stack = cuprum::ContextStack::take()?;
    /// # let cx = stack.push(&context)?;
    /// use std::os::fd::{FromRawFd, OwnedFd};
    /// use std::sync::Arc;
    ///
    /// use cuprum::Stream;
    /// use cuprum::external::ExternalSemaphore;
    /// use cuprum::graph::{Graph, InstantiateFlags};
    ///
    /// // On a GPU, `vkGetSemaphoreFdKHR` gives the descriptor.
    /// let other = cuprum_emulator::memory::ExternalSemaphore::new().ok_or("no shared memory")?;
    /// let descriptor = other.descriptor().ok_or("no descriptors left")?;
    /// // SAFETY: a new descriptor, of a timeline semaphore.
    /// let frames = unsafe { ExternalSemaphore::from_timeline_fd(&cx, OwnedFd::from_raw_fd(descriptor)) }?;
    ///
    /// let mut graph = Graph::new(&cx)?;
    /// let frames = graph.share_semaphore(Arc::new(frames))?;
    /// let wait = graph.add_semaphore_waits(&cx, &[], &[(frames, 1)])?;
    /// // SAFETY: each replay signals a greater value than the one before.
    /// let signal = unsafe { graph.add_semaphore_signals(&cx, &[wait], &[(frames, 2)]) }?;
    /// let mut executable = graph.instantiate(&cx, InstantiateFlags::empty())?;
    /// let stream = Stream::non_blocking(&cx)?;
    /// other.signal(1);
    /// executable.run(&cx, &stream)?;
    /// assert_eq!(other.value(), 2);
    ///
    /// // SAFETY: as above.
    /// unsafe { executable.set_semaphore_signals(&cx, signal, &[(frames, 3)]) }?;
    /// executable.run(&cx, &stream)?;
    /// assert_eq!(other.value(), 3);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; [`Error::is_unresolved`] on drivers before CUDA 11.2;
    /// `CUDA_ERROR_INVALID_VALUE`; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// # Safety
    /// In every replay the value of a timeline semaphore is greater than the value that it has by then.
    ///
    /// Driver: `cuGraphAddExternalSemaphoresSignalNode`, CUDA 11.2+.
    #[doc(alias = "cuGraphAddExternalSemaphoresSignalNode")]
    pub unsafe fn add_semaphore_signals(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        signals: &[(SemaphoreLoan, u64)],
    ) -> Result<Node, GraphError> {
        const CALL: FnId = FnId::cuGraphAddExternalSemaphoresSignalNode;
        let (context, graph) = self.ready(cx, CALL)?;
        let lists = Lists::new(&self.kept, signals, signal_of, CALL)?;
        if signals.is_empty() {
            return self.add_empty(cx, after);
        }
        let (after, mut node, params) = (self.nodes.raws(after)?, CUgraphNode::null(), lists.signals());
        let (first, count, to) = (after.as_ptr(), after.len(), &raw mut node);
        let params = &raw const params;
        // SAFETY: graph and nodes are live, lists and places outlive the call, which copies them; the graph has a share of
        // each semaphore. The caller answers for the values.
        unsafe {
            context_call!(context, cuGraphAddExternalSemaphoresSignalNode(to, graph, first, count, params))
        }?;
        Ok(self.nodes.token(node))
    }

    /// Adds a node that waits until each semaphore has a value, or is signaled. Of none it is an empty node.
    ///
    /// A wait that never ends holds up the replay, and all that waits for it: see
    /// [streams](crate::stream#waits-for-numbers). A wait for a binary semaphore takes its signal in each replay.
    ///
    /// # Errors
    /// As [`add_semaphore_signals`](Graph::add_semaphore_signals).
    ///
    /// Driver: `cuGraphAddExternalSemaphoresWaitNode`, CUDA 11.2+.
    #[doc(alias = "cuGraphAddExternalSemaphoresWaitNode")]
    pub fn add_semaphore_waits(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        waits: &[(SemaphoreLoan, u64)],
    ) -> Result<Node, GraphError> {
        const CALL: FnId = FnId::cuGraphAddExternalSemaphoresWaitNode;
        let (context, graph) = self.ready(cx, CALL)?;
        let lists = Lists::new(&self.kept, waits, wait_of, CALL)?;
        if waits.is_empty() {
            return self.add_empty(cx, after);
        }
        let (after, mut node, params) = (self.nodes.raws(after)?, CUgraphNode::null(), lists.waits());
        let (first, count, to) = (after.as_ptr(), after.len(), &raw mut node);
        let params = &raw const params;
        // SAFETY: as in `add_semaphore_signals`; a wait changes no value.
        unsafe {
            context_call!(context, cuGraphAddExternalSemaphoresWaitNode(to, graph, first, count, params))
        }?;
        Ok(self.nodes.token(node))
    }

    /// Changes what a node signals; for executables made from now on.
    ///
    /// # Errors
    /// As [`add_semaphore_signals`](Graph::add_semaphore_signals); `CUDA_ERROR_INVALID_VALUE` for a node of another kind,
    /// and for no semaphores.
    ///
    /// # Safety
    /// The duty of [`add_semaphore_signals`](Graph::add_semaphore_signals).
    ///
    /// Driver: `cuGraphExternalSemaphoresSignalNodeSetParams`, CUDA 11.2+.
    #[doc(alias = "cuGraphExternalSemaphoresSignalNodeSetParams")]
    pub unsafe fn set_semaphore_signals(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        signals: &[(SemaphoreLoan, u64)],
    ) -> Result<(), GraphError> {
        const CALL: FnId = FnId::cuGraphExternalSemaphoresSignalNodeSetParams;
        let (context, _) = self.ready(cx, CALL)?;
        let lists = Lists::new(&self.kept, some(signals, CALL)?, signal_of, CALL)?;
        let (node, params) = (self.nodes.raw(node)?, lists.signals());
        let params = &raw const params;
        // SAFETY: as in `add_semaphore_signals`.
        Ok(unsafe { context_call!(context, cuGraphExternalSemaphoresSignalNodeSetParams(node, params)) }?)
    }

    /// Changes what a node waits for; for executables made from now on.
    ///
    /// # Errors
    /// As [`set_semaphore_signals`](Graph::set_semaphore_signals).
    ///
    /// Driver: `cuGraphExternalSemaphoresWaitNodeSetParams`, CUDA 11.2+.
    #[doc(alias = "cuGraphExternalSemaphoresWaitNodeSetParams")]
    pub fn set_semaphore_waits(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        waits: &[(SemaphoreLoan, u64)],
    ) -> Result<(), GraphError> {
        const CALL: FnId = FnId::cuGraphExternalSemaphoresWaitNodeSetParams;
        let (context, _) = self.ready(cx, CALL)?;
        let lists = Lists::new(&self.kept, some(waits, CALL)?, wait_of, CALL)?;
        let (node, params) = (self.nodes.raw(node)?, lists.waits());
        let params = &raw const params;
        // SAFETY: as in `add_semaphore_waits`.
        Ok(unsafe { context_call!(context, cuGraphExternalSemaphoresWaitNodeSetParams(node, params)) }?)
    }

    /// The driver's handles of the semaphores that a node signals, and the value for each.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a node of another kind; [`GraphError::Foreign`]; [`GraphError::Removed`].
    ///
    /// Driver: `cuGraphExternalSemaphoresSignalNodeGetParams`, CUDA 11.2+.
    #[doc(alias = "cuGraphExternalSemaphoresSignalNodeGetParams")]
    pub fn semaphore_signals_of(&self, node: Node) -> Result<Vec<(CUexternalSemaphore, u64)>, GraphError> {
        let (node, mut params) = (self.nodes.raw(node)?, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS::zeroed());
        let out = &raw mut params;
        // SAFETY: the node is live; the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuGraphExternalSemaphoresSignalNodeGetParams(node, out)) }?;
        let (semaphores, list, count) = (params.extSemArray, params.paramsArray, params.numExtSems);
        // SAFETY: the driver's answer for this node, which is borrowed: it stays, and nobody else changes nodes.
        Ok(unsafe { listed(semaphores, list, count, |signal| signal.params.fence.value) })
    }

    /// The driver's handles of the semaphores that a node waits for, and the value for each.
    ///
    /// # Errors
    /// As [`semaphore_signals_of`](Graph::semaphore_signals_of).
    ///
    /// Driver: `cuGraphExternalSemaphoresWaitNodeGetParams`, CUDA 11.2+.
    #[doc(alias = "cuGraphExternalSemaphoresWaitNodeGetParams")]
    pub fn semaphore_waits_of(&self, node: Node) -> Result<Vec<(CUexternalSemaphore, u64)>, GraphError> {
        let (node, mut params) = (self.nodes.raw(node)?, CUDA_EXT_SEM_WAIT_NODE_PARAMS::zeroed());
        let out = &raw mut params;
        // SAFETY: as in `semaphore_signals_of`.
        unsafe { context_call!(self.context(), cuGraphExternalSemaphoresWaitNodeGetParams(node, out)) }?;
        let (semaphores, list, count) = (params.extSemArray, params.paramsArray, params.numExtSems);
        // SAFETY: as in `semaphore_signals_of`.
        Ok(unsafe { listed(semaphores, list, count, |wait| wait.params.fence.value) })
    }
}

impl Executable<'_> {
    /// Changes what a node signals, in the replays from now on, to as many semaphores as before.
    ///
    /// # Errors
    /// As [`Graph::set_semaphore_signals`]; [`GraphError::Lost`]; `CUDA_ERROR_INVALID_VALUE` for another number of
    /// semaphores.
    ///
    /// # Safety
    /// The duty of [`Graph::add_semaphore_signals`].
    ///
    /// Driver: `cuGraphExecExternalSemaphoresSignalNodeSetParams`, CUDA 11.2+.
    #[doc(alias = "cuGraphExecExternalSemaphoresSignalNodeSetParams")]
    pub unsafe fn set_semaphore_signals(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        signals: &[(SemaphoreLoan, u64)],
    ) -> Result<(), GraphError> {
        const CALL: FnId = FnId::cuGraphExecExternalSemaphoresSignalNodeSetParams;
        let context = self.ready(cx, CALL)?;
        let lists = Lists::new(&self.inner.graph.kept, some(signals, CALL)?, signal_of, CALL)?;
        let (exec, node, params) = (self.as_raw(), self.inner.graph.nodes.raw(node)?, lists.signals());
        let params = &raw const params;
        // SAFETY: graph and node are live, the lists outlive the call, and the graph has a share of each semaphore. The
        // caller answers for the values.
        Ok(unsafe {
            context_call!(context, cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, params))
        }?)
    }

    /// Changes what a node waits for, in the replays from now on, to as many semaphores as before.
    ///
    /// # Errors
    /// As [`set_semaphore_signals`](Executable::set_semaphore_signals).
    ///
    /// Driver: `cuGraphExecExternalSemaphoresWaitNodeSetParams`, CUDA 11.2+.
    #[doc(alias = "cuGraphExecExternalSemaphoresWaitNodeSetParams")]
    pub fn set_semaphore_waits(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        waits: &[(SemaphoreLoan, u64)],
    ) -> Result<(), GraphError> {
        const CALL: FnId = FnId::cuGraphExecExternalSemaphoresWaitNodeSetParams;
        let context = self.ready(cx, CALL)?;
        let lists = Lists::new(&self.inner.graph.kept, some(waits, CALL)?, wait_of, CALL)?;
        let (exec, node, params) = (self.as_raw(), self.inner.graph.nodes.raw(node)?, lists.waits());
        let params = &raw const params;
        // SAFETY: as in `set_semaphore_signals`; a wait changes no value.
        Ok(unsafe {
            context_call!(context, cuGraphExecExternalSemaphoresWaitNodeSetParams(exec, node, params))
        }?)
    }
}

/// Semaphores for a node that was made with some.
fn some(each: &[(SemaphoreLoan, u64)], call: FnId) -> Result<&[(SemaphoreLoan, u64)], GraphError> {
    if each.is_empty() {
        return Err(Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, call).into());
    }
    Ok(each)
}
