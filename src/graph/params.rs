//! Parameters of nodes, as the driver describes them.

use cuprum_sys::{
    CUDA_BATCH_MEM_OP_NODE_PARAMS, CUDA_EVENT_RECORD_NODE_PARAMS, CUDA_EVENT_WAIT_NODE_PARAMS,
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS as Signal, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS as Wait,
    CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v1, CUDA_MEM_ALLOC_NODE_PARAMS,
    CUDA_MEM_FREE_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUevent, CUexternalSemaphore,
    CUfunction, CUgraph, CUgraphNode, CUstreamBatchMemOpParams,
};

use super::error::GraphError;
use super::graph::Graph;
use super::node::Node;
use crate::context::{ContextRef, context_call};
use crate::error::Error;
use crate::launch::LaunchConfig;
use crate::raw::call::either_call;
use crate::raw::seal::Key;

impl Graph<'_> {
    /// Returns the parameters of a node, as the driver describes them. The type of the result
    /// selects the kind of node:
    ///
    /// | node | result |
    /// |---|---|
    /// | fill | [`CUDA_MEMSET_NODE_PARAMS`] |
    /// | copy | [`CUDA_MEMCPY3D`] |
    /// | kernel | `(`[`CUfunction`]`, `[`LaunchConfig`]`)` |
    /// | record of an event, wait for one | [`CUDA_EVENT_RECORD_NODE_PARAMS`], [`CUDA_EVENT_WAIT_NODE_PARAMS`] |
    /// | operations on numbers | `Vec<`[`CUstreamBatchMemOpParams`]`>` |
    /// | signals of semaphores | `Vec<(`[`CUexternalSemaphore`]`, `[`CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS`](Signal)`)>` |
    /// | waits for semaphores | `Vec<(`[`CUexternalSemaphore`]`, `[`CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS`](Wait)`)>` |
    /// | allocation, free | [`CUDA_MEM_ALLOC_NODE_PARAMS`], [`CUDA_MEM_FREE_NODE_PARAMS`] |
    /// | child graph | [`CUgraph`], which belongs to the node |
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::graph::Graph;
    /// use cuprum::sys::CUfunction;
    /// use cuprum::{LaunchConfig, Module};
    ///
    /// let module = Module::load_ptx(&cx, ".version 7.0 .target sm_52 .address_size 64 .entry nothing() { ret; }")?;
    /// let nothing = module.function("nothing")?.bind::<()>()?;
    /// let mut graph = Graph::new(&cx)?;
    /// // SAFETY: the kernel does nothing.
    /// let node = unsafe { graph.add_kernel(&cx, &[], &nothing, LaunchConfig::new(2, 32), ()) }?;
    /// let (_, config): (CUfunction, LaunchConfig) = graph.params(node)?;
    /// assert_eq!(config, LaunchConfig::new(2, 32));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a node of another kind; [`GraphError::Foreign`];
    /// [`GraphError::Removed`].
    ///
    /// Driver: `cuGraphMemsetNodeGetParams`, `cuGraphMemcpyNodeGetParams` or
    /// `cuGraphChildGraphNodeGetGraph`, CUDA 10.0+; `cuGraphKernelNodeGetParams_v2`, CUDA 12.0+, or
    /// `cuGraphKernelNodeGetParams`, CUDA 10.0+; `cuGraphEventRecordNodeGetEvent` or
    /// `cuGraphEventWaitNodeGetEvent`, CUDA 11.1+; `cuGraphExternalSemaphoresSignalNodeGetParams`
    /// or `cuGraphExternalSemaphoresWaitNodeGetParams`, CUDA 11.2+; `cuGraphMemAllocNodeGetParams`
    /// or `cuGraphMemFreeNodeGetParams`, CUDA 11.4+; `cuGraphBatchMemOpNodeGetParams`, CUDA 11.7+.
    #[doc(alias(
        "cuGraphMemsetNodeGetParams",
        "cuGraphMemcpyNodeGetParams",
        "cuGraphChildGraphNodeGetGraph"
    ))]
    #[doc(alias("cuGraphKernelNodeGetParams_v2", "cuGraphKernelNodeGetParams"))]
    #[doc(alias("cuGraphEventRecordNodeGetEvent", "cuGraphEventWaitNodeGetEvent"))]
    #[doc(alias("cuGraphExternalSemaphoresSignalNodeGetParams"))]
    #[doc(alias("cuGraphExternalSemaphoresWaitNodeGetParams", "cuGraphMemAllocNodeGetParams"))]
    #[doc(alias("cuGraphMemFreeNodeGetParams", "cuGraphBatchMemOpNodeGetParams"))]
    pub fn params<P: NodeParams>(&self, node: Node) -> Result<P, GraphError> {
        let node = self.nodes.raw(node)?;
        // SAFETY: the node is live, and nodes do not change while the graph is borrowed.
        Ok(unsafe { P::read(self.context(), node, Key::new()) }?)
    }
}

/// Parameters of a kind of node: see [`Graph::params`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not describe a kind of node",
    note = "the documentation of `Graph::params` lists the types"
)]
pub trait NodeParams: Sized {
    /// Reads the parameters from the driver.
    ///
    /// # Safety
    /// The node is live and does not change during the call.
    #[doc(hidden)]
    unsafe fn read(context: &ContextRef, node: CUgraphNode, _: Key) -> Result<Self, Error>;
}

/// Implements the trait for a type that is made of the value written by a driver function.
macro_rules! read {
    ($($params:ty: $call:ident() writes $raw:ident = $initial:expr, $result:expr;)*) => { $(
        impl NodeParams for $params {
            unsafe fn read(context: &ContextRef, node: CUgraphNode, _: Key) -> Result<Self, Error> {
                let mut $raw = $initial;
                // SAFETY: the node is live; the out-parameter outlives the call.
                unsafe { context_call!(context, $call(node, &raw mut $raw)) }?;
                Ok($result)
            }
        }
    )* };
}

read! {
    CUDA_MEMSET_NODE_PARAMS: cuGraphMemsetNodeGetParams() writes params = Self::zeroed(), params;
    CUDA_MEMCPY3D: cuGraphMemcpyNodeGetParams() writes params = Self::zeroed(), params;
    CUgraph: cuGraphChildGraphNodeGetGraph() writes child = Self::null(), child;
    CUDA_EVENT_RECORD_NODE_PARAMS: cuGraphEventRecordNodeGetEvent() writes event = CUevent::null(),
        Self { event, ..Self::zeroed() };
    CUDA_EVENT_WAIT_NODE_PARAMS: cuGraphEventWaitNodeGetEvent() writes event = CUevent::null(), Self { event };
    CUDA_MEM_ALLOC_NODE_PARAMS: cuGraphMemAllocNodeGetParams() writes params = Self::zeroed(), params;
    CUDA_MEM_FREE_NODE_PARAMS: cuGraphMemFreeNodeGetParams() writes dptr = 0, Self { dptr };
    Vec<CUstreamBatchMemOpParams>: cuGraphBatchMemOpNodeGetParams() writes
        params = CUDA_BATCH_MEM_OP_NODE_PARAMS::zeroed(),
        // SAFETY: the driver describes the node's own array, which does not change while the node
        // does not.
        unsafe { list(params.paramArray, params.count) };
    Vec<(CUexternalSemaphore, Signal)>: cuGraphExternalSemaphoresSignalNodeGetParams() writes
        params = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS::zeroed(),
        // SAFETY: as above, for both arrays.
        unsafe { pairs(params.extSemArray, params.paramsArray, params.numExtSems) };
    Vec<(CUexternalSemaphore, Wait)>: cuGraphExternalSemaphoresWaitNodeGetParams() writes
        params = CUDA_EXT_SEM_WAIT_NODE_PARAMS::zeroed(),
        // SAFETY: as above, for both arrays.
        unsafe { pairs(params.extSemArray, params.paramsArray, params.numExtSems) };
}

impl NodeParams for (CUfunction, LaunchConfig) {
    unsafe fn read(context: &ContextRef, node: CUgraphNode, _: Key) -> Result<Self, Error> {
        let (mut new, mut old) = (CUDA_KERNEL_NODE_PARAMS::zeroed(), CUDA_KERNEL_NODE_PARAMS_v1::zeroed());
        let (library, to_new, to_old) = (context.library(), &raw mut new, &raw mut old);
        // SAFETY: the node is live; both out-parameters outlive the call.
        let answer = unsafe {
            either_call!(library, cuGraphKernelNodeGetParams_v2(node, to_new)
                or cuGraphKernelNodeGetParams(node, to_old))
        };
        answer.map_err(|error| context.record(error))?;
        // One of the two was written, and the other is zero.
        let function = if new.func.is_null() { old.func } else { new.func };
        let config = LaunchConfig::new(
            [new.gridDimX | old.gridDimX, new.gridDimY | old.gridDimY, new.gridDimZ | old.gridDimZ],
            [new.blockDimX | old.blockDimX, new.blockDimY | old.blockDimY, new.blockDimZ | old.blockDimZ],
        );
        Ok((function, LaunchConfig { shared_bytes: new.sharedMemBytes | old.sharedMemBytes, ..config }))
    }
}

/// Copies an array; a null pointer stands for an empty one.
///
/// # Safety
/// A pointer that is not null points to `count` elements.
unsafe fn list<T: Copy>(first: *const T, count: u32) -> Vec<T> {
    let count = if first.is_null() { 0 } else { count as usize };
    // SAFETY: the caller's duty.
    (0..count).map(|index| unsafe { first.wrapping_add(index).read() }).collect()
}

/// Copies the two arrays of a semaphore node.
///
/// # Safety
/// The duty of [`list`], for each array.
unsafe fn pairs<P: Copy>(
    semaphores: *const CUexternalSemaphore,
    params: *const P,
    count: u32,
) -> Vec<(CUexternalSemaphore, P)> {
    // SAFETY: the caller's duty.
    let semaphores = unsafe { list(semaphores, count) };
    // SAFETY: the caller's duty.
    semaphores.into_iter().zip(unsafe { list(params, count) }).collect()
}
