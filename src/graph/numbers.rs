//! Nodes that write single numbers in memory or wait for them.

use cuprum_sys::{CUDA_BATCH_MEM_OP_NODE_PARAMS, CUdeviceptr, CUresult, FnId};

use super::capture::Capture;
use super::error::GraphError;
use super::graph::{Graph, add};
use super::loan::{Loan, Place};
use super::node::Node;
use super::set::{At, NodeSetter, set};
use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::launch::{In, InOut};
#[cfg(doc)]
use crate::memory::MemoryError;
use crate::raw::seal::{Key, Sealed};
use crate::stream::operations::{Watched, Written};
use crate::stream::value::{number, wait, write};
use crate::stream::{Operations, Signals, StreamValue, Until};

macro_rules! numbers {
    ($($memory:ty)*) => { $(
        impl<T: StreamValue> Sealed for Loan<$memory> {}
        impl<T: StreamValue> Watched for Loan<$memory> {
            type Element = T;
            type Home = Place;

            #[inline]
            fn numbers(&self, _: Key) -> (CUdeviceptr, usize, Place) {
                (self.as_raw(), self.len(), self.place)
            }
        }
    )* };
}

numbers!(In<T> InOut<T> Signals<'static, T>);

impl<T: StreamValue> Written for Loan<InOut<T>> {}
impl<T: StreamValue> Written for Loan<Signals<'static, T>> {}

impl Graph<'_> {
    /// Checks that operations use memory of this graph, and returns them for the driver.
    fn operations(
        &self,
        context: &ContextRef,
        operations: &Operations<Place>,
        call: FnId,
    ) -> Result<CUDA_BATCH_MEM_OP_NODE_PARAMS, GraphError> {
        operations.homes.iter().try_for_each(|&place| self.kept.check(place))?;
        let too_many = |_| Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, call);
        let count = u32::try_from(operations.list.len()).map_err(too_many)?;
        // The driver only reads them.
        let list = operations.list.as_ptr().cast_mut();
        Ok(CUDA_BATCH_MEM_OP_NODE_PARAMS { ctx: context.as_raw(), count, paramArray: list, flags: 0 })
    }

    /// Adds a node that does operations on numbers in order. Adds an empty node if there are none.
    ///
    /// A wait that never ends blocks the replay and all work that waits for it: see
    /// [streams](crate::stream#waits-for-values).
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; [`Error::UNRESOLVED`] on drivers before
    /// CUDA 11.7; `CUDA_ERROR_INVALID_VALUE`; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuGraphAddBatchMemOpNode`, CUDA 11.7+.
    #[doc(alias = "cuGraphAddBatchMemOpNode")]
    #[inline]
    pub fn add_operations(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        operations: &Operations<Place>,
    ) -> Result<Node, GraphError> {
        const CALL: FnId = FnId::cuGraphAddBatchMemOpNode;
        let (context, _) = self.ready(cx, CALL)?;
        let params = self.operations(context, operations, CALL)?;
        if operations.list.is_empty() {
            return self.add_empty(cx, after);
        }
        let params = &raw const params;
        // SAFETY: graph and nodes are live, lists and places outlive the call; the graph has the
        // memory as long as it can run.
        unsafe { add!(self, cx, after, cuGraphAddBatchMemOpNode(params)) }
    }
}

impl NodeSetter<'_, '_> {
    /// Changes the operations on numbers of a node.
    ///
    /// # Errors
    /// Same as [`Graph::add_operations`]; `CUDA_ERROR_INVALID_VALUE` for a node of another kind;
    /// for an executable [`GraphError::Lost`], and `CUDA_ERROR_INVALID_VALUE` unless there are as
    /// many operations of the same kinds.
    ///
    /// Driver: `cuGraphBatchMemOpNodeSetParams` or `cuGraphExecBatchMemOpNodeSetParams`,
    /// CUDA 11.7+.
    #[doc(alias("cuGraphBatchMemOpNodeSetParams", "cuGraphExecBatchMemOpNodeSetParams"))]
    #[inline]
    pub fn operations(mut self, operations: &Operations<Place>) -> Result<(), GraphError> {
        let at = self.at(FnId::cuGraphBatchMemOpNodeSetParams, FnId::cuGraphExecBatchMemOpNodeSetParams)?;
        let params = self.graph().operations(at.context, operations, at.call)?;
        let params = &raw const params;
        // SAFETY: graph and node are live, and the graph has the memory as long as it can run.
        Ok(unsafe {
            set!(at, cuGraphBatchMemOpNodeSetParams(params) or cuGraphExecBatchMemOpNodeSetParams(params))
        }?)
    }
}

impl Capture<'_, '_, '_> {
    /// Adds a write of `value` at `at`. Code that sees the value also sees all earlier writes of
    /// the lane.
    ///
    /// # Errors
    /// [`MemoryError::Index`] in [`GraphError::Memory`]; [`GraphError::Foreign`];
    /// [`Error::UNRESOLVED`] on drivers before CUDA 11.7; `CUDA_ERROR_NOT_SUPPORTED` if the device
    /// lacks the operation; `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
    ///
    /// Driver: `cuStreamWriteValue32_v2` or `cuStreamWriteValue64_v2`, CUDA 11.7+.
    #[doc(alias("cuStreamWriteValue32_v2", "cuStreamWriteValue64_v2"))]
    pub fn write_value<L: Written<Home = Place>>(
        &self,
        to: L,
        at: usize,
        value: L::Element,
    ) -> Result<(), GraphError> {
        let (context, address) = self.number(to, at, FnId::cuStreamWriteValue32_v2)?;
        // SAFETY: the stream is live and its context is current; the graph has the number as long
        // as it can run.
        Ok(unsafe { write(context, self.as_raw(), address, value) }?)
    }

    /// Adds a wait until the number at `at` meets `until`. For a wait that never ends, see [the
    /// module](crate::stream#waits-for-values).
    ///
    /// # Errors
    /// Same as [`write_value`](Capture::write_value).
    ///
    /// Driver: `cuStreamWaitValue32_v2` or `cuStreamWaitValue64_v2`, CUDA 11.7+.
    #[doc(alias("cuStreamWaitValue32_v2", "cuStreamWaitValue64_v2"))]
    pub fn wait_value<L: Watched<Home = Place>>(
        &self,
        on: L,
        at: usize,
        until: Until<L::Element>,
    ) -> Result<(), GraphError> {
        let (context, address) = self.number(on, at, FnId::cuStreamWaitValue32_v2)?;
        // SAFETY: as in `write_value`.
        Ok(unsafe { wait(context, self.as_raw(), address, until) }?)
    }

    /// Returns the context, and the address of a number of a loan.
    fn number<L: Watched<Home = Place>>(
        &self,
        loan: L,
        at: usize,
        call: FnId,
    ) -> Result<(&ContextRef, CUdeviceptr), GraphError> {
        let context = self.ready(call)?;
        let (address, len, place) = loan.numbers(Key::new());
        self.shared.kept.borrow().check(place)?;
        Ok((context, number::<L::Element>(address, len, at)?))
    }
}
