//! Nodes that write single numbers in memory, and wait for them.

use std::fmt;
use std::sync::Arc;

use cuprum_sys::{
    CUDA_BATCH_MEM_OP_NODE_PARAMS, CUdeviceptr, CUgraphNode, CUresult, CUstreamAtomicReductionOpType,
    CUstreamBatchMemOpParams, CUstreamMemoryBarrier_flags, FnId,
};

use super::{Capture, Executable, Graph, GraphError, Loan, Node, SharedLoan};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::memory::MemoryError;
use crate::raw::call::context_call;
use crate::stream::operations::{barrier_of, reduction_of, wait_of, write_of};
use crate::stream::value::{number, wait, write};
use crate::stream::{Signals, StreamValue, Until};

/// [`Signals`] of which a graph has a share. A token, `Copy`.
///
/// Example: that of [`Graph::add_operations`], `share_signals`.
#[derive(Clone, Copy)]
pub struct SignalLoan<T: StreamValue>(SharedLoan<T>);

impl<T: StreamValue> From<SignalLoan<T>> for SharedLoan<T> {
    fn from(signals: SignalLoan<T>) -> Self {
        signals.0
    }
}

impl<T: StreamValue> fmt::Debug for SignalLoan<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignalLoan({} numbers)", self.0.len())
    }
}

/// What nodes may write numbers to: a [`Loan`], or a [`SignalLoan`].
///
/// Example: that of [`Graph::add_operations`], `write`.
pub trait Writable<T: StreamValue>: Into<SharedLoan<T>> {}

impl<T: StreamValue> Writable<T> for Loan<T> {}
impl<T: StreamValue> Writable<T> for SignalLoan<T> {}

/// Operations on numbers that one node does, in order: [`Graph::add_operations`].
///
/// Example: that of [`Graph::add_operations`].
#[derive(Clone, Default)]
pub struct NodeOperations {
    raw: Vec<CUstreamBatchMemOpParams>,
    loans: Vec<SharedLoan<u8>>,
}

impl NodeOperations {
    /// None.
    pub const fn new() -> Self {
        Self { raw: Vec::new(), loans: Vec::new() }
    }

    /// Number of operations. Drivers take up to 255 in a node.
    #[inline]
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// True if there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    fn push<T: StreamValue>(
        &mut self,
        loan: SharedLoan<T>,
        at: usize,
        operation: impl FnOnce(CUdeviceptr) -> CUstreamBatchMemOpParams,
    ) -> Result<&mut Self, MemoryError> {
        let address = number::<T>(loan.as_raw(), loan.len(), at)?;
        self.loans.push(loan.erased());
        self.raw.push(operation(address));
        Ok(self)
    }

    /// A wait until the number at `at` of a loan is as `until` says.
    ///
    /// # Errors
    /// [`MemoryError::Index`].
    pub fn wait<T: StreamValue>(
        &mut self,
        loan: impl Into<SharedLoan<T>>,
        at: usize,
        until: Until<T>,
    ) -> Result<&mut Self, MemoryError> {
        self.push(loan.into(), at, |address| wait_of(address, until))
    }

    /// A write of `value` at `at` of a loan.
    ///
    /// # Errors
    /// [`MemoryError::Index`].
    pub fn write<T: StreamValue>(
        &mut self,
        loan: impl Writable<T>,
        at: usize,
        value: T,
    ) -> Result<&mut Self, MemoryError> {
        self.push(loan.into(), at, |address| write_of(address, value))
    }

    /// An atomic operation with `value` on the number at `at` of a loan. CUDA 13.1.
    ///
    /// # Errors
    /// [`MemoryError::Index`].
    pub fn reduce<T: StreamValue>(
        &mut self,
        loan: impl Writable<T>,
        at: usize,
        operation: CUstreamAtomicReductionOpType,
        value: T,
    ) -> Result<&mut Self, MemoryError> {
        self.push(loan.into(), at, |address| reduction_of(address, operation, value))
    }

    /// A barrier: what was done before is seen before what is done behind it, by the whole system or the device.
    #[inline]
    pub fn barrier(&mut self, reach: CUstreamMemoryBarrier_flags) -> &mut Self {
        self.raw.push(barrier_of(reach));
        self
    }
}

impl fmt::Debug for NodeOperations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeOperations({})", self.len())
    }
}

impl<'a> Graph<'a> {
    /// Takes a share of numbers that the host and streams have too. No driver call.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] for numbers of another context.
    pub fn share_signals<T: StreamValue>(
        &mut self,
        signals: Arc<Signals<'a, T>>,
    ) -> Result<SignalLoan<T>, GraphError> {
        self.accept(signals.context())?;
        Ok(SignalLoan(self.kept.give_signals(signals)))
    }

    /// Checks that operations are on memory of this graph, and gives them as the driver takes them.
    fn operations(
        &self,
        context: &ContextRef,
        operations: &NodeOperations,
        call: FnId,
    ) -> Result<CUDA_BATCH_MEM_OP_NODE_PARAMS, GraphError> {
        operations.loans.iter().try_for_each(|&loan| self.kept.check(loan))?;
        let too_many = |_| Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, call);
        let count = u32::try_from(operations.len()).map_err(too_many)?;
        // The driver only reads them.
        let list = operations.raw.as_ptr().cast_mut();
        Ok(CUDA_BATCH_MEM_OP_NODE_PARAMS { ctx: context.as_raw(), count, paramArray: list, flags: 0 })
    }

    /// Adds a node that does operations on numbers, in their order. Of none it is an empty node.
    ///
    /// A wait that never ends holds up the replay, and all that waits for it: see
    /// [streams](crate::stream#waits-for-numbers).
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let driver = cuprum::Driver::init(library)?;
    /// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
    /// # let mut stack = cuprum::ContextStack::take()?;
    /// # let cx = stack.push(&context)?;
    /// use std::sync::Arc;
    /// use std::sync::atomic::Ordering;
    ///
    /// use cuprum::Stream;
    /// use cuprum::graph::{Graph, InstantiateFlags, NodeOperations};
    /// use cuprum::stream::{Signals, Until};
    ///
    /// let signals = Arc::new(Signals::<u32>::new(&cx, 2)?);
    /// let mut graph = Graph::new(&cx)?;
    /// let shared = graph.share_signals(Arc::clone(&signals))?;
    /// let mut operations = NodeOperations::new();
    /// operations.wait(shared, 0, Until::at_least(1))?.write(shared, 1, 7)?;
    /// graph.add_operations(&cx, &[], &operations)?;
    /// let mut executable = graph.instantiate(&cx, InstantiateFlags::empty())?;
    /// let stream = Stream::non_blocking(&cx)?;
    /// // The replay waits for the host.
    /// signals[0].store(1, Ordering::Release);
    /// executable.run(&cx, &stream)?;
    /// assert_eq!(signals[1].load(Ordering::Acquire), 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; [`Error::is_unresolved`] on drivers before CUDA 11.7;
    /// `CUDA_ERROR_INVALID_VALUE`; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuGraphAddBatchMemOpNode`, CUDA 11.7+.
    #[doc(alias = "cuGraphAddBatchMemOpNode")]
    #[inline]
    pub fn add_operations(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        operations: &NodeOperations,
    ) -> Result<Node, GraphError> {
        const CALL: FnId = FnId::cuGraphAddBatchMemOpNode;
        let (context, graph) = self.ready(cx, CALL)?;
        let params = self.operations(context, operations, CALL)?;
        if operations.is_empty() {
            return self.add_empty(cx, after);
        }
        let (after, mut node) = (self.nodes.raws(after)?, CUgraphNode::null());
        let (first, count, params) = (after.as_ptr(), after.len(), &raw const params);
        // SAFETY: graph and nodes are live, lists and places outlive the call; the memory is the graph's as long as it can
        // run.
        unsafe {
            context_call!(context, cuGraphAddBatchMemOpNode(&raw mut node, graph, first, count, params))
        }?;
        Ok(self.nodes.token(node))
    }

    /// Changes what operations a node does; for executables made from now on.
    ///
    /// # Errors
    /// Those of [`add_operations`](Graph::add_operations); `CUDA_ERROR_INVALID_VALUE` for a node of another kind.
    ///
    /// Driver: `cuGraphBatchMemOpNodeSetParams`, CUDA 11.7+.
    #[doc(alias = "cuGraphBatchMemOpNodeSetParams")]
    #[inline]
    pub fn set_operations(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        operations: &NodeOperations,
    ) -> Result<(), GraphError> {
        const CALL: FnId = FnId::cuGraphBatchMemOpNodeSetParams;
        let (context, _) = self.ready(cx, CALL)?;
        let params = self.operations(context, operations, CALL)?;
        let node = self.nodes.raw(node)?;
        // SAFETY: as in `add_operations`.
        Ok(unsafe { context_call!(context, cuGraphBatchMemOpNodeSetParams(node, &raw const params)) }?)
    }

    /// The operations of a node, as the driver describes them.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a node of another kind; [`GraphError::Foreign`]; [`GraphError::Removed`].
    ///
    /// Driver: `cuGraphBatchMemOpNodeGetParams`, CUDA 11.7+.
    #[doc(alias = "cuGraphBatchMemOpNodeGetParams")]
    #[inline]
    pub fn operations_of(&self, node: Node) -> Result<Vec<CUstreamBatchMemOpParams>, GraphError> {
        let node = self.nodes.raw(node)?;
        let mut params = CUDA_BATCH_MEM_OP_NODE_PARAMS::zeroed();
        // SAFETY: the node is live; the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuGraphBatchMemOpNodeGetParams(node, &raw mut params)) }?;
        let count = if params.paramArray.is_null() { 0 } else { params.count as usize };
        let at = |index| {
            // SAFETY: the driver says that there are so many, in the node's own array, which stays as the node does; this
            // is borrowed, and nobody else changes nodes.
            unsafe { params.paramArray.wrapping_add(index).read() }
        };
        Ok((0..count).map(at).collect())
    }
}

impl Executable<'_> {
    /// Changes what operations a node does, in the replays from now on, to as many of the same kinds: other memory, other
    /// numbers.
    ///
    /// # Errors
    /// Those of [`Graph::set_operations`]; [`GraphError::Lost`]; `CUDA_ERROR_INVALID_VALUE` for operations of other kinds.
    ///
    /// Driver: `cuGraphExecBatchMemOpNodeSetParams`, CUDA 11.7+.
    #[doc(alias = "cuGraphExecBatchMemOpNodeSetParams")]
    #[inline]
    pub fn set_operations(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        operations: &NodeOperations,
    ) -> Result<(), GraphError> {
        const CALL: FnId = FnId::cuGraphExecBatchMemOpNodeSetParams;
        let context = self.ready(cx, CALL)?;
        let params = self.inner.graph.operations(context, operations, CALL)?;
        let (exec, node) = (self.as_raw(), self.inner.graph.nodes.raw(node)?);
        // SAFETY: graph and node are live, and the memory is the graph's as long as it can run.
        Ok(unsafe {
            context_call!(context, cuGraphExecBatchMemOpNodeSetParams(exec, node, &raw const params))
        }?)
    }
}

impl<'a> Capture<'_, '_, 'a> {
    /// Gives the graph a share of signals: like [`Graph::share_signals`]. No driver call.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] for numbers of another context.
    pub fn share_signals<T: StreamValue>(
        &self,
        signals: Arc<Signals<'a, T>>,
    ) -> Result<SignalLoan<T>, GraphError> {
        self.accept(signals.context())?;
        Ok(SignalLoan(self.shared.kept.borrow_mut().give_signals(signals)))
    }

    /// Adds a write of `value` at `at`, behind which all that the lane did before is seen by whoever sees it.
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let driver = cuprum::Driver::init(library)?;
    /// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
    /// # let mut stack = cuprum::ContextStack::take()?;
    /// # let cx = stack.push(&context)?;
    /// use cuprum::Stream;
    /// use cuprum::graph::{CaptureMode, InstantiateFlags};
    /// use cuprum::stream::{Signals, Until};
    /// use std::sync::Arc;
    /// use std::sync::atomic::Ordering::Acquire;
    ///
    /// let (mut stream, signals) = (Stream::new(&cx)?, Arc::new(Signals::<u32>::new(&cx, 2)?));
    /// let (graph, ()) = cx.capture(&mut stream, CaptureMode::ThreadLocal, |capture| {
    ///     let shared = capture.share_signals(Arc::clone(&signals))?;
    ///     capture.wait_value(shared, 0, Until::equal(0))?;
    ///     capture.write_value(shared, 1, 5)
    /// })?;
    /// graph.instantiate(&cx, InstantiateFlags::empty())?.run(&cx, &stream)?;
    /// assert_eq!(signals[1].load(Acquire), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MemoryError::Index`] in [`GraphError::Memory`]; [`GraphError::Foreign`]; [`Error::is_unresolved`] on drivers before
    /// CUDA 11.7; `CUDA_ERROR_NOT_SUPPORTED` for what the device lacks; `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
    ///
    /// Driver: `cuStreamWriteValue32_v2` or `cuStreamWriteValue64_v2`, CUDA 11.7+.
    #[doc(alias = "cuStreamWriteValue32_v2")]
    #[doc(alias = "cuStreamWriteValue64_v2")]
    pub fn write_value<T: StreamValue>(
        &self,
        to: impl Writable<T>,
        at: usize,
        value: T,
    ) -> Result<(), GraphError> {
        let (context, to) = (self.ready(FnId::cuStreamWriteValue32_v2)?, to.into());
        self.check(to)?;
        let address = number::<T>(to.as_raw(), to.len(), at)?;
        // SAFETY: the stream is live and its context current; the number is the graph's as long as it can run.
        Ok(unsafe { write(context, self.as_raw(), address, value) }?)
    }

    /// Adds a wait until the number at `at` is as `until` says. See [the module](crate::stream#waits-for-numbers) for a wait
    /// that never ends.
    ///
    /// # Errors
    /// Those of [`write_value`](Capture::write_value).
    ///
    /// Driver: `cuStreamWaitValue32_v2` or `cuStreamWaitValue64_v2`, CUDA 11.7+.
    #[doc(alias = "cuStreamWaitValue32_v2")]
    #[doc(alias = "cuStreamWaitValue64_v2")]
    pub fn wait_value<T: StreamValue>(
        &self,
        on: impl Into<SharedLoan<T>>,
        at: usize,
        until: Until<T>,
    ) -> Result<(), GraphError> {
        let (context, on) = (self.ready(FnId::cuStreamWaitValue32_v2)?, on.into());
        self.check(on)?;
        let address = number::<T>(on.as_raw(), on.len(), at)?;
        // SAFETY: as in `write_value`.
        Ok(unsafe { wait(context, self.as_raw(), address, until) }?)
    }
}
