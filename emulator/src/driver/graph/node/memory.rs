//! Allocation and free nodes, and the memory that graphs own through them.

use std::sync::Arc;

use cuprum_sys::*;

use super::allocated::Allocated;
use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{In, Out, calls};
use crate::driver::memory::Block;
use crate::driver::state::memory;

use super::params::NodeParams;
use super::{NodeKind, add, current_context, params_of};

impl NodeKind {
    pub(in crate::driver::graph) fn allocation(block: Arc<Block>, device: i32) -> Self {
        let params = CUDA_MEM_ALLOC_NODE_PARAMS {
            poolProps: CUmemPoolProps {
                allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
                location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: device },
                ..CUmemPoolProps::zeroed()
            },
            bytesize: block.bytes as usize,
            ..CUDA_MEM_ALLOC_NODE_PARAMS::zeroed()
        };
        Self::Alloc(Arc::new(Allocated::new(block, params)))
    }
}

impl NodeParams for CUDA_MEM_ALLOC_NODE_PARAMS {
    fn into_kind(self) -> Answer<NodeKind> {
        let block = Block::create(&*current_context()?, self.bytesize)?;
        Ok(NodeKind::Alloc(Arc::new(Allocated::new(block, self))))
    }

    /// Returns the parameters with the allocated address.
    fn of(kind: &NodeKind) -> Answer<Self> {
        match kind {
            NodeKind::Alloc(memory) => Ok(memory.params),
            _ => Err(INVALID_VALUE),
        }
    }
}

impl NodeParams for CUDA_MEM_FREE_NODE_PARAMS {
    fn into_kind(self) -> Answer<NodeKind> {
        let region = memory().find(self.dptr).ok_or(INVALID_VALUE)?;
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
        add(phGraphNode, hGraph, dependencies, numDependencies, &|| {
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
        add(phGraphNode, hGraph, dependencies, numDependencies, &|| {
            CUDA_MEM_FREE_NODE_PARAMS { dptr }.into_kind()
        })
    }

    fn cuGraphMemFreeNodeGetParams(_call, hNode: CUgraphNode, dptr_out: Out<u64>) {
        dptr_out.set(params_of::<CUDA_MEM_FREE_NODE_PARAMS>(hNode)?.dptr)
    }
}
