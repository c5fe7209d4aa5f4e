//! Nodes that copy and fill memory.

use std::ffi::c_void;

use cuprum_sys::{CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUdeviceptr, CUgraphNode, CUmemorytype, FnId};

use super::{Graph, GraphError, HostLoan, Loan, Node, SharedLoan};
use crate::context::Current;
use crate::memory::{DeviceData, Fill, MemoryError, Pattern, bytes_of, same_length};
use crate::raw::call::context_call;

/// One end of a copy.
pub(super) enum End {
    Device(CUdeviceptr),
    Host(*mut c_void),
}

/// A copy of `bytes` bytes in a row.
pub(super) fn row(to: End, from: End, bytes: usize) -> CUDA_MEMCPY3D {
    let mut copy = CUDA_MEMCPY3D { WidthInBytes: bytes, Height: 1, Depth: 1, ..CUDA_MEMCPY3D::zeroed() };
    match to {
        End::Device(address) => {
            (copy.dstMemoryType, copy.dstDevice) = (CUmemorytype::CU_MEMORYTYPE_DEVICE, address);
        }
        End::Host(at) => (copy.dstMemoryType, copy.dstHost) = (CUmemorytype::CU_MEMORYTYPE_HOST, at),
    }
    match from {
        End::Device(address) => {
            (copy.srcMemoryType, copy.srcDevice) = (CUmemorytype::CU_MEMORYTYPE_DEVICE, address);
        }
        End::Host(at) => (copy.srcMemoryType, copy.srcHost) = (CUmemorytype::CU_MEMORYTYPE_HOST, at),
    }
    copy
}

/// A fill of `len` elements of the pattern's width.
pub(super) fn fill(to: CUdeviceptr, pattern: Pattern, len: usize) -> CUDA_MEMSET_NODE_PARAMS {
    let (value, element) = match pattern {
        Pattern::Byte(byte) => (u32::from(byte), 1),
        Pattern::Half(half) => (u32::from(half), 2),
        Pattern::Word(word) => (word, 4),
    };
    CUDA_MEMSET_NODE_PARAMS { dst: to, pitch: 0, value, elementSize: element, width: len, height: 1 }
}

/// The copy between two loans, after it was checked.
pub(super) fn between<T: DeviceData>(to: Loan<T>, from: SharedLoan<T>) -> Result<CUDA_MEMCPY3D, MemoryError> {
    same_length(to.len(), from.len())?;
    let bytes = bytes_of::<T>(to.len())?;
    if from.overlaps(to.as_raw(), bytes) {
        return Err(MemoryError::Overlap);
    }
    Ok(row(End::Device(to.as_raw()), End::Device(from.as_raw()), bytes))
}

impl Graph<'_> {
    /// Adds a node that does nothing, after others: a place where edges meet.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuGraphAddEmptyNode`, CUDA 10.0+.
    #[doc(alias = "cuGraphAddEmptyNode")]
    #[inline]
    pub fn add_empty(&mut self, cx: &Current<'_, '_>, after: &[Node]) -> Result<Node, GraphError> {
        let (context, graph) = self.ready(cx, FnId::cuGraphAddEmptyNode)?;
        let (after, mut node) = (self.nodes.raws(after)?, CUgraphNode::null());
        let (first, count) = (after.as_ptr(), after.len());
        // SAFETY: graph and nodes are live; the list and the out-parameter outlive the call.
        unsafe { context_call!(context, cuGraphAddEmptyNode(&raw mut node, graph, first, count)) }?;
        Ok(self.nodes.token(node))
    }

    /// Adds a node that sets every element to `value`. Without elements it is an empty node.
    ///
    /// # Errors
    /// [`GraphError::Foreign`]; [`GraphError::Removed`]; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuGraphAddMemsetNode`, CUDA 10.0+.
    #[doc(alias = "cuGraphAddMemsetNode")]
    pub fn add_fill<T: Fill>(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        memory: Loan<T>,
        value: T,
    ) -> Result<Node, GraphError> {
        let (context, graph) = self.ready(cx, FnId::cuGraphAddMemsetNode)?;
        self.kept.check(memory.as_shared())?;
        if memory.is_empty() {
            return self.add_empty(cx, after);
        }
        let (after, mut node) = (self.nodes.raws(after)?, CUgraphNode::null());
        let params = fill(memory.as_raw(), value.pattern(), memory.len());
        let (first, count, params, raw) = (after.as_ptr(), after.len(), &raw const params, context.as_raw());
        // SAFETY: graph, nodes and context are live, lists and places outlive the call; the memory is the graph's as long
        // as it can run, and any bytes are a `T`.
        unsafe {
            context_call!(context, cuGraphAddMemsetNode(&raw mut node, graph, first, count, params, raw))
        }?;
        Ok(self.nodes.token(node))
    }

    /// Adds a node that copies within the device. Without elements it is an empty node.
    ///
    /// # Errors
    /// [`MemoryError::Length`] and [`MemoryError::Overlap`] in [`GraphError::Memory`]; [`GraphError::Foreign`];
    /// [`GraphError::Removed`]; `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuGraphAddMemcpyNode`, CUDA 10.0+.
    #[doc(alias = "cuGraphAddMemcpyNode")]
    pub fn add_copy<T: DeviceData>(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        to: Loan<T>,
        from: impl Into<SharedLoan<T>>,
    ) -> Result<Node, GraphError> {
        let from = from.into();
        self.kept.check(to.as_shared())?;
        self.kept.check(from)?;
        let params = between(to, from)?;
        // SAFETY: both ends are the graph's as long as it can run.
        unsafe { self.add_row(cx, after, &params) }
    }

    /// Adds a node that copies memory of the host to the device. The memory is moved into the graph, and written between
    /// replays with [`Executable::host_mut`](super::Executable::host_mut).
    ///
    /// # Errors
    /// Those of [`add_copy`](Graph::add_copy).
    ///
    /// Driver: `cuGraphAddMemcpyNode`, CUDA 10.0+.
    #[doc(alias = "cuGraphAddMemcpyNode")]
    pub fn add_copy_from_host<T: DeviceData>(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        to: Loan<T>,
        host: Vec<T>,
    ) -> Result<(Node, HostLoan<T>), GraphError> {
        self.kept.check(to.as_shared())?;
        same_length(to.len(), host.len())?;
        let bytes = bytes_of::<T>(host.len())?;
        let (loan, at) = self.kept.give_host(host);
        let params = row(End::Device(to.as_raw()), End::Host(at.cast()), bytes);
        // SAFETY: as in `add_copy`; the host side lies in a vector that the graph keeps.
        Ok((unsafe { self.add_row(cx, after, &params) }?, loan))
    }

    /// Adds a node that copies from the device to memory of the host. The memory is moved into the graph, and read after
    /// a replay with [`Executable::host`](super::Executable::host).
    ///
    /// # Errors
    /// Those of [`add_copy`](Graph::add_copy).
    ///
    /// Driver: `cuGraphAddMemcpyNode`, CUDA 10.0+.
    #[doc(alias = "cuGraphAddMemcpyNode")]
    pub fn add_copy_to_host<T: DeviceData>(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        from: impl Into<SharedLoan<T>>,
        host: Vec<T>,
    ) -> Result<(Node, HostLoan<T>), GraphError> {
        let from = from.into();
        self.kept.check(from)?;
        same_length(host.len(), from.len())?;
        let bytes = bytes_of::<T>(host.len())?;
        let (loan, at) = self.kept.give_host(host);
        let params = row(End::Host(at.cast()), End::Device(from.as_raw()), bytes);
        // SAFETY: as in `add_copy_from_host`; after a wait that failed the vector is never looked at or freed again.
        Ok((unsafe { self.add_row(cx, after, &params) }?, loan))
    }

    /// # Safety
    /// Both ends of the copy are the graph's as long as it can run.
    unsafe fn add_row(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        params: &CUDA_MEMCPY3D,
    ) -> Result<Node, GraphError> {
        let (context, graph) = self.ready(cx, FnId::cuGraphAddMemcpyNode)?;
        if params.WidthInBytes == 0 {
            return self.add_empty(cx, after);
        }
        let (after, mut node) = (self.nodes.raws(after)?, CUgraphNode::null());
        let (first, count, raw) = (after.as_ptr(), after.len(), context.as_raw());
        // SAFETY: graph, nodes and context are live, lists and places outlive the call; the caller answers for the copy.
        unsafe {
            context_call!(context, cuGraphAddMemcpyNode(&raw mut node, graph, first, count, params, raw))
        }?;
        Ok(self.nodes.token(node))
    }

    /// Changes the memory and value of a fill node.
    ///
    /// # Errors
    /// Those of [`add_fill`](Graph::add_fill); `CUDA_ERROR_INVALID_VALUE` for a node of another kind.
    ///
    /// Driver: `cuGraphMemsetNodeSetParams`, CUDA 10.0+.
    #[doc(alias = "cuGraphMemsetNodeSetParams")]
    pub fn set_fill<T: Fill>(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        memory: Loan<T>,
        value: T,
    ) -> Result<(), GraphError> {
        let (context, _) = self.ready(cx, FnId::cuGraphMemsetNodeSetParams)?;
        self.kept.check(memory.as_shared())?;
        let (node, params) = (self.nodes.raw(node)?, fill(memory.as_raw(), value.pattern(), memory.len()));
        // SAFETY: as in `add_fill`.
        Ok(unsafe { context_call!(context, cuGraphMemsetNodeSetParams(node, &raw const params)) }?)
    }

    /// Changes the copy of a copy node, to a copy within the device.
    ///
    /// # Errors
    /// Those of [`add_copy`](Graph::add_copy); `CUDA_ERROR_INVALID_VALUE` for a node of another kind.
    ///
    /// Driver: `cuGraphMemcpyNodeSetParams`, CUDA 10.0+.
    #[doc(alias = "cuGraphMemcpyNodeSetParams")]
    pub fn set_copy<T: DeviceData>(
        &mut self,
        cx: &Current<'_, '_>,
        node: Node,
        to: Loan<T>,
        from: impl Into<SharedLoan<T>>,
    ) -> Result<(), GraphError> {
        let (context, _) = self.ready(cx, FnId::cuGraphMemcpyNodeSetParams)?;
        let from = from.into();
        self.kept.check(to.as_shared())?;
        self.kept.check(from)?;
        let (node, params) = (self.nodes.raw(node)?, between(to, from)?);
        // SAFETY: as in `add_copy`.
        Ok(unsafe { context_call!(context, cuGraphMemcpyNodeSetParams(node, &raw const params)) }?)
    }

    /// Parameters of a fill node, as the driver describes them.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a node of another kind; [`GraphError::Foreign`]; [`GraphError::Removed`].
    ///
    /// Driver: `cuGraphMemsetNodeGetParams`, CUDA 10.0+.
    #[doc(alias = "cuGraphMemsetNodeGetParams")]
    #[inline]
    pub fn fill_of(&self, node: Node) -> Result<CUDA_MEMSET_NODE_PARAMS, GraphError> {
        let (node, mut params) = (self.nodes.raw(node)?, CUDA_MEMSET_NODE_PARAMS::zeroed());
        // SAFETY: the node is live; the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuGraphMemsetNodeGetParams(node, &raw mut params)) }?;
        Ok(params)
    }

    /// Parameters of a copy node, as the driver describes them.
    ///
    /// # Errors
    /// Those of [`fill_of`](Graph::fill_of).
    ///
    /// Driver: `cuGraphMemcpyNodeGetParams`, CUDA 10.0+.
    #[doc(alias = "cuGraphMemcpyNodeGetParams")]
    #[inline]
    pub fn copy_of(&self, node: Node) -> Result<CUDA_MEMCPY3D, GraphError> {
        let (node, mut params) = (self.nodes.raw(node)?, CUDA_MEMCPY3D::zeroed());
        // SAFETY: as in `fill_of`.
        unsafe { context_call!(self.context(), cuGraphMemcpyNodeGetParams(node, &raw mut params)) }?;
        Ok(params)
    }
}
