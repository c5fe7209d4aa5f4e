//! Nodes that allocate and free memory, and the memory that a device keeps for them.

use cuprum_sys::{
    CUDA_MEM_ALLOC_NODE_PARAMS, CUgraphMem_attribute, CUmemAllocationType, CUmemLocationType, FnId,
};

use super::error::GraphError;
use super::graph::{Graph, add};
use super::loan::Loan;
use super::node::Node;
use crate::context::{Current, context_call};
use crate::device::Device;
use crate::error::Error;
use crate::launch::InOut;
use crate::memory::{DeviceData, MemoryError, bytes_of};
use crate::raw::call::driver_call;

/// Kind of figure that [`Device::graph_memory`] returns, as the driver's number.
pub type GraphMemory = CUgraphMem_attribute;

impl Graph<'_> {
    /// Adds a node that allocates memory in each replay, always at the same address. The memory
    /// exists until a node [frees](Graph::add_free) it. Without such a node it stays after the
    /// replay, and the graph can be replayed again only if it was made executable with
    /// [`AUTO_FREE`](super::InstantiateFlags::AUTO_FREE).
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::graph::{Graph, InstantiateFlags};
    /// use cuprum::{Buffer, Stream};
    ///
    /// let mut graph = Graph::new(&cx)?;
    /// let result = graph.lend(Buffer::<u32>::zeroed(&cx, 8)?)?;
    /// // SAFETY: the nodes that use it come after its allocation, and its end after them.
    /// let (alloc, scratch) = unsafe { graph.add_alloc::<u32>(&cx, &[], 8) }?;
    /// let fill = graph.add_fill(&cx, &[alloc], scratch, 9)?;
    /// let copy = graph.add_copy(&cx, &[fill], result, scratch)?;
    /// graph.add_free(&cx, &[copy], scratch)?;
    ///
    /// let mut exec = graph.instantiate(&cx, InstantiateFlags::empty())?;
    /// exec.launch(&cx, &Stream::new(&cx)?)?;
    /// assert_eq!(exec.view(result)?.to_vec(&cx)?, [9; 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MemoryError::TooLarge`] in [`GraphError::Memory`], also for no elements;
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; `CUDA_ERROR_NOT_SUPPORTED`;
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// # Safety
    /// Each node that uses the memory has a path of edges from this node, and a path to the node
    /// that frees the memory, if there is one.
    ///
    /// Driver: `cuGraphAddMemAllocNode`, CUDA 11.4+.
    #[doc(alias = "cuGraphAddMemAllocNode")]
    pub unsafe fn add_alloc<T: DeviceData>(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        len: usize,
    ) -> Result<(Node, Loan<InOut<T>>), GraphError> {
        let (context, _) = self.ready(cx, FnId::cuGraphAddMemAllocNode)?;
        let bytes = bytes_of::<T>(len)?;
        if bytes == 0 {
            return Err(MemoryError::TooLarge { len, element_bytes: size_of::<T>() }.into());
        }
        let mut params =
            CUDA_MEM_ALLOC_NODE_PARAMS { bytesize: bytes, ..CUDA_MEM_ALLOC_NODE_PARAMS::zeroed() };
        params.poolProps.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        params.poolProps.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        params.poolProps.location.id = context.device().as_raw();
        let to = &raw mut params;
        // SAFETY: graph and nodes are live; the list and both places outlive the call.
        let node = unsafe { add!(self, cx, after, cuGraphAddMemAllocNode(to)) }?;
        Ok((node, self.kept.inside(params.dptr, len)))
    }

    /// Adds a node that frees the memory of an allocation node.
    ///
    /// # Errors
    /// [`GraphError::Foreign`], also for memory that the graph did not allocate;
    /// [`GraphError::Removed`]; `CUDA_ERROR_INVALID_VALUE` for a part that does not begin at the
    /// start of the allocation.
    ///
    /// Driver: `cuGraphAddMemFreeNode`, CUDA 11.4+.
    #[doc(alias = "cuGraphAddMemFreeNode")]
    pub fn add_free<T: DeviceData>(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        memory: Loan<InOut<T>>,
    ) -> Result<Node, GraphError> {
        if !self.kept.allocates(memory.place) {
            return Err(GraphError::Foreign);
        }
        // SAFETY: graph and nodes are live; the list and the out-parameter outlive the call. The
        // caller that allocated the memory is responsible for the order of its users.
        unsafe { add!(self, cx, after, cuGraphAddMemFreeNode(memory.as_raw())) }
    }
}

impl Device {
    /// Returns the bytes that graphs use or reserve on the device: the present number, or the
    /// maximum since the last reset.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an unknown figure.
    ///
    /// Driver: `cuDeviceGetGraphMemAttribute`, CUDA 11.4+.
    #[doc(alias = "cuDeviceGetGraphMemAttribute")]
    #[inline]
    pub fn graph_memory(self, which: GraphMemory) -> Result<u64, Error> {
        let (device, mut value) = (self.as_raw(), 0u64);
        let to = (&raw mut value).cast();
        // SAFETY: each of these attributes has eight bytes; the out-parameter outlives the call.
        unsafe { driver_call!(self.library(), cuDeviceGetGraphMemAttribute(device, which, to)) }?;
        Ok(value)
    }

    /// Resets one of the two maxima.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for another figure.
    ///
    /// Driver: `cuDeviceSetGraphMemAttribute`, CUDA 11.4+.
    #[doc(alias = "cuDeviceSetGraphMemAttribute")]
    #[inline]
    pub fn reset_graph_memory(self, which: GraphMemory) -> Result<(), Error> {
        let (device, mut zero) = (self.as_raw(), 0u64);
        let from = (&raw mut zero).cast();
        // SAFETY: each of these attributes has eight bytes, and the driver reads them.
        unsafe { driver_call!(self.library(), cuDeviceSetGraphMemAttribute(device, which, from)) }
    }

    /// Gives memory that graphs reserve on the device but do not use back to the system.
    ///
    /// Driver: `cuDeviceGraphMemTrim`, CUDA 11.4+.
    #[doc(alias = "cuDeviceGraphMemTrim")]
    #[inline]
    pub fn trim_graph_memory(self) -> Result<(), Error> {
        // SAFETY: a device of this driver.
        unsafe { driver_call!(self.library(), cuDeviceGraphMemTrim(self.as_raw())) }
    }
}
