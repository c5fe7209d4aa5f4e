//! Allocation and free nodes, and the memory that graphs hold through them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cuprum_sys::*;

use crate::driver::call::{Answer, INVALID_VALUE, In, Out, calls, ensure};
use crate::driver::context::Context;
use crate::driver::state::emulator;

use super::block::Block;
use super::params::NodeParams;
use super::{NodeKind, add, current_context, params_of};

/// An allocation node: its memory, and the parameters for a client that asks.
#[derive(Debug)]
pub(in crate::driver) struct Allocated {
    pub(in crate::driver) block: Arc<Block>,
    params: CUDA_MEM_ALLOC_NODE_PARAMS,
}

/// How much memory the allocation nodes of a device hold.
#[derive(Debug, Default)]
pub(in crate::driver) struct GraphMemory {
    used: AtomicU64,
    high: AtomicU64,
}

impl GraphMemory {
    pub(super) fn charge(&self, bytes: u64) {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.high.fetch_max(used, Ordering::Relaxed);
    }

    pub(super) fn refund(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(in crate::driver) fn reset_mark(&self) {
        self.high.store(self.used.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// All that is held is in use: graphs keep nothing for later.
    pub(in crate::driver) fn attribute(&self, attribute: CUgraphMem_attribute) -> Answer<u64> {
        use CUgraphMem_attribute as A;

        match attribute {
            A::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT | A::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT => {
                Ok(self.used.load(Ordering::Relaxed))
            }
            A::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH | A::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH => {
                Ok(self.high.load(Ordering::Relaxed))
            }
            _ => Err(INVALID_VALUE),
        }
    }
}

// SAFETY: the pointers in the parameters are handed back to the client and not used.
unsafe impl Send for Allocated {}
// SAFETY: as above.
unsafe impl Sync for Allocated {}

impl NodeKind {
    /// An allocation of device memory, and its address.
    pub(in crate::driver) fn allocation(context: &Context, bytes: usize) -> Answer<(u64, Self)> {
        let params = CUDA_MEM_ALLOC_NODE_PARAMS {
            poolProps: CUmemPoolProps {
                allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
                location: CUmemLocation {
                    type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                    id: context.device,
                },
                ..CUmemPoolProps::zeroed()
            },
            bytesize: bytes,
            ..CUDA_MEM_ALLOC_NODE_PARAMS::zeroed()
        };
        let allocated = allocate(context, params)?;
        Ok((allocated.block.base, Self::Alloc(Arc::new(allocated))))
    }
}

/// Allocates as the parameters say; the address that they hold is not looked at.
fn allocate(context: &Context, params: CUDA_MEM_ALLOC_NODE_PARAMS) -> Answer<Allocated> {
    let block = Block::create(context, params.bytesize)?;
    Ok(Allocated { params: CUDA_MEM_ALLOC_NODE_PARAMS { dptr: block.base, ..params }, block })
}

impl NodeParams for CUDA_MEM_ALLOC_NODE_PARAMS {
    fn into_kind(self) -> Answer<NodeKind> {
        Ok(NodeKind::Alloc(Arc::new(allocate(&*current_context()?, self)?)))
    }

    /// With the address that was allocated.
    fn of(kind: &NodeKind) -> Answer<Self> {
        match kind {
            NodeKind::Alloc(memory) => Ok(memory.params),
            _ => Err(INVALID_VALUE),
        }
    }
}

impl NodeParams for CUDA_MEM_FREE_NODE_PARAMS {
    fn into_kind(self) -> Answer<NodeKind> {
        let region = emulator().memory.find(self.dptr).ok_or(INVALID_VALUE)?;
        ensure(region.base == self.dptr, INVALID_VALUE)?;
        Ok(NodeKind::Free(self.dptr))
    }

    fn of(kind: &NodeKind) -> Answer<Self> {
        match kind {
            NodeKind::Free(address) => Ok(Self { dptr: *address }),
            _ => Err(INVALID_VALUE),
        }
    }
}

calls! {
    fn cuGraphAddMemAllocNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        nodeParams: Out<CUDA_MEM_ALLOC_NODE_PARAMS>,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, || {
            let kind = nodeParams.get()?.into_kind()?;
            nodeParams.set(NodeParams::of(&kind)?)?;
            Ok(kind)
        })
    }

    fn cuGraphMemAllocNodeGetParams(
        _call,
        hNode: CUgraphNode,
        params_out: Out<CUDA_MEM_ALLOC_NODE_PARAMS>,
    ) {
        params_out.set(params_of(hNode)?)
    }

    fn cuGraphAddMemFreeNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        dptr: u64,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, || {
            CUDA_MEM_FREE_NODE_PARAMS { dptr }.into_kind()
        })
    }

    fn cuGraphMemFreeNodeGetParams(_call, hNode: CUgraphNode, dptr_out: Out<u64>) {
        dptr_out.set(params_of::<CUDA_MEM_FREE_NODE_PARAMS>(hNode)?.dptr)
    }
}
