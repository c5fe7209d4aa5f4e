//! Nodes that a program adds to a graph, and the edges between them.

use core::ffi::c_void;

use cuprum_sys::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdeviceptr, CUevent, CUgraph, CUgraphEdgeData, CUgraphExec,
    CUgraphNode, CUkernelNodeAttrID, CUkernelNodeAttrValue,
};

use crate::calls::boxes;
use crate::calls::copy::Kind;
use crate::error::{Result, check, cudaError};
use crate::exported::calls;
use crate::registry;
use crate::state::device::{self, Here};
use crate::structs::{cudaKernelNodeParams, cudaMemcpy3DParms};

calls! {
    fn cudaGraphAddEmptyNode[](node: *mut CUgraphNode, graph: CUgraph, after: *const CUgraphNode, number: usize)
        => cuGraphAddEmptyNode(node, graph, after, number);

    fn cudaGraphAddChildGraphNode[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        child: CUgraph,
    ) => cuGraphAddChildGraphNode(node, graph, after, number, child);

    fn cudaGraphChildGraphNodeGetGraph[](node: CUgraphNode, graph: *mut CUgraph)
        => cuGraphChildGraphNodeGetGraph(node, graph);

    fn cudaGraphExecChildGraphNodeSetParams[](exec: CUgraphExec, node: CUgraphNode, child: CUgraph)
        => cuGraphExecChildGraphNodeSetParams(exec, node, child);

    fn cudaGraphAddKernelNode[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        parameters: *const cudaKernelNodeParams,
    ) |here| {
        // SAFETY: the caller's struct, or null.
        let parameters = unsafe { to_driver(&here, parameters) }?;
        // SAFETY: the caller's outputs, and a struct of ours.
        check(unsafe { (here.fns.cuGraphAddKernelNode_v2)(node, graph, after, number, &parameters) })
    }

    fn cudaGraphKernelNodeSetParams[](node: CUgraphNode, parameters: *const cudaKernelNodeParams) |here| {
        // SAFETY: the caller's struct, or null.
        let parameters = unsafe { to_driver(&here, parameters) }?;
        // SAFETY: a struct of ours; the driver checks the handle.
        check(unsafe { (here.fns.cuGraphKernelNodeSetParams_v2)(node, &parameters) })
    }

    fn cudaGraphExecKernelNodeSetParams[](exec: CUgraphExec, node: CUgraphNode, parameters: *const cudaKernelNodeParams) |here| {
        // SAFETY: the caller's struct, or null.
        let parameters = unsafe { to_driver(&here, parameters) }?;
        // SAFETY: a struct of ours; the driver checks the handles.
        check(unsafe { (here.fns.cuGraphExecKernelNodeSetParams_v2)(exec, node, &parameters) })
    }

    fn cudaGraphKernelNodeCopyAttributes[](target: CUgraphNode, source: CUgraphNode)
        => cuGraphKernelNodeCopyAttributes(target, source);

    fn cudaGraphKernelNodeGetAttribute[](node: CUgraphNode, attribute: CUkernelNodeAttrID, value: *mut CUkernelNodeAttrValue)
        => cuGraphKernelNodeGetAttribute(node, attribute, value);

    fn cudaGraphKernelNodeSetAttribute[](
        node: CUgraphNode,
        attribute: CUkernelNodeAttrID,
        value: *const CUkernelNodeAttrValue,
    ) => cuGraphKernelNodeSetAttribute(node, attribute, value);

    fn cudaGraphAddMemsetNode[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        parameters: *const CUDA_MEMSET_NODE_PARAMS,
    ) |here| {
        let context = device::current(here.fns)?;
        // SAFETY: the caller's outputs and struct, which has the driver's layout.
        check(unsafe { (here.fns.cuGraphAddMemsetNode)(node, graph, after, number, parameters, context) })
    }

    fn cudaGraphMemsetNodeGetParams[](node: CUgraphNode, parameters: *mut CUDA_MEMSET_NODE_PARAMS)
        => cuGraphMemsetNodeGetParams(node, parameters);

    fn cudaGraphMemsetNodeSetParams[](node: CUgraphNode, parameters: *const CUDA_MEMSET_NODE_PARAMS)
        => cuGraphMemsetNodeSetParams(node, parameters);

    fn cudaGraphExecMemsetNodeSetParams[](
        exec: CUgraphExec,
        node: CUgraphNode,
        parameters: *const CUDA_MEMSET_NODE_PARAMS,
    ) |here| {
        let context = device::current(here.fns)?;
        // SAFETY: the caller's struct, which has the driver's layout.
        check(unsafe { (here.fns.cuGraphExecMemsetNodeSetParams)(exec, node, parameters, context) })
    }

    fn cudaGraphAddMemcpyNode[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        parameters: *const cudaMemcpy3DParms,
    ) |here| {
        // SAFETY: the caller's struct, or null.
        let copy = unsafe { boxes::to_driver(&here, parameters) }?;
        // SAFETY: the caller's outputs.
        unsafe { add_copy(&here, node, (graph, after, number), &copy) }
    }

    fn cudaGraphMemcpyNodeSetParams[](node: CUgraphNode, parameters: *const cudaMemcpy3DParms) |here| {
        // SAFETY: the caller's struct, or null.
        let copy = unsafe { boxes::to_driver(&here, parameters) }?;
        set_copy(&here, node, &copy)
    }

    fn cudaGraphExecMemcpyNodeSetParams[](exec: CUgraphExec, node: CUgraphNode, parameters: *const cudaMemcpy3DParms) |here| {
        // SAFETY: the caller's struct, or null.
        let copy = unsafe { boxes::to_driver(&here, parameters) }?;
        set_copy_in(&here, exec, node, &copy)
    }

    fn cudaGraphAddMemcpyNode1D[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        target: *mut c_void,
        source: *const c_void,
        count: usize,
        kind: Kind,
    ) |here| {
        let copy = boxes::row(target, source, count, kind)?;
        // SAFETY: the caller's outputs.
        unsafe { add_copy(&here, node, (graph, after, number), &copy) }
    }

    fn cudaGraphMemcpyNodeSetParams1D[](
        node: CUgraphNode,
        target: *mut c_void,
        source: *const c_void,
        count: usize,
        kind: Kind,
    ) |here| {
        let copy = boxes::row(target, source, count, kind)?;
        set_copy(&here, node, &copy)
    }

    fn cudaGraphExecMemcpyNodeSetParams1D[](
        exec: CUgraphExec,
        node: CUgraphNode,
        target: *mut c_void,
        source: *const c_void,
        count: usize,
        kind: Kind,
    ) |here| {
        let copy = boxes::row(target, source, count, kind)?;
        set_copy_in(&here, exec, node, &copy)
    }

    fn cudaGraphAddHostNode[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        parameters: *const CUDA_HOST_NODE_PARAMS,
    ) => cuGraphAddHostNode(node, graph, after, number, parameters);

    fn cudaGraphHostNodeGetParams[](node: CUgraphNode, parameters: *mut CUDA_HOST_NODE_PARAMS)
        => cuGraphHostNodeGetParams(node, parameters);

    fn cudaGraphHostNodeSetParams[](node: CUgraphNode, parameters: *const CUDA_HOST_NODE_PARAMS)
        => cuGraphHostNodeSetParams(node, parameters);

    fn cudaGraphExecHostNodeSetParams[](exec: CUgraphExec, node: CUgraphNode, parameters: *const CUDA_HOST_NODE_PARAMS)
        => cuGraphExecHostNodeSetParams(exec, node, parameters);

    fn cudaGraphAddEventRecordNode[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        event: CUevent,
    ) => cuGraphAddEventRecordNode(node, graph, after, number, event);

    fn cudaGraphEventRecordNodeGetEvent[](node: CUgraphNode, event: *mut CUevent)
        => cuGraphEventRecordNodeGetEvent(node, event);

    fn cudaGraphEventRecordNodeSetEvent[](node: CUgraphNode, event: CUevent)
        => cuGraphEventRecordNodeSetEvent(node, event);

    fn cudaGraphExecEventRecordNodeSetEvent[](exec: CUgraphExec, node: CUgraphNode, event: CUevent)
        => cuGraphExecEventRecordNodeSetEvent(exec, node, event);

    fn cudaGraphAddEventWaitNode[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        event: CUevent,
    ) => cuGraphAddEventWaitNode(node, graph, after, number, event);

    fn cudaGraphEventWaitNodeGetEvent[](node: CUgraphNode, event: *mut CUevent) => cuGraphEventWaitNodeGetEvent(node, event);

    fn cudaGraphEventWaitNodeSetEvent[](node: CUgraphNode, event: CUevent) => cuGraphEventWaitNodeSetEvent(node, event);

    fn cudaGraphExecEventWaitNodeSetEvent[](exec: CUgraphExec, node: CUgraphNode, event: CUevent)
        => cuGraphExecEventWaitNodeSetEvent(exec, node, event);

    fn cudaGraphAddMemAllocNode[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        parameters: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
    ) => cuGraphAddMemAllocNode(node, graph, after, number, parameters);

    fn cudaGraphMemAllocNodeGetParams[](node: CUgraphNode, parameters: *mut CUDA_MEM_ALLOC_NODE_PARAMS)
        => cuGraphMemAllocNodeGetParams(node, parameters);

    fn cudaGraphAddMemFreeNode[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        address: *mut c_void,
    ) => cuGraphAddMemFreeNode(node, graph, after, number, address as CUdeviceptr);

    fn cudaGraphMemFreeNodeGetParams[](node: CUgraphNode, address: *mut c_void)
        => cuGraphMemFreeNodeGetParams(node, address.cast::<CUdeviceptr>());

    fn cudaGraphDestroyNode[](node: CUgraphNode) => cuGraphDestroyNode(node);

    fn cudaGraphNodeFindInClone[](node: *mut CUgraphNode, original: CUgraphNode, clone: CUgraph)
        => cuGraphNodeFindInClone(node, original, clone);

    fn cudaGraphNodeSetEnabled[](exec: CUgraphExec, node: CUgraphNode, enabled: u32)
        => cuGraphNodeSetEnabled(exec, node, enabled);

    fn cudaGraphNodeGetEnabled[](exec: CUgraphExec, node: CUgraphNode, enabled: *mut u32)
        => cuGraphNodeGetEnabled(exec, node, enabled);

    fn cudaGraphNodeGetContainingGraph[](node: CUgraphNode, graph: *mut CUgraph)
        => cuGraphNodeGetContainingGraph(node, graph);

    fn cudaGraphNodeGetLocalId[](node: CUgraphNode, id: *mut u32) => cuGraphNodeGetLocalId(node, id);

    fn cudaGraphNodeGetToolsId[](node: CUgraphNode, id: *mut u64) => cuGraphNodeGetToolsId(node, id);

    fn cudaGraphGetId[](graph: CUgraph, id: *mut u32) => cuGraphGetId(graph, id);

    fn cudaGraphExecGetId[](exec: CUgraphExec, id: *mut u32) => cuGraphExecGetId(exec, id);

    fn cuprum_12_cudaGraphAddDependencies[](graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, number: usize)
        => cuGraphAddDependencies(graph, from, to, number);

    fn cudaGraphAddDependencies_v2[](
        graph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        edges: *const CUgraphEdgeData,
        number: usize,
    ) => cuGraphAddDependencies_v2(graph, from, to, edges, number);

    fn cuprum_12_cudaGraphRemoveDependencies[](
        graph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        number: usize,
    ) => cuGraphRemoveDependencies(graph, from, to, number);

    fn cudaGraphRemoveDependencies_v2[](
        graph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        edges: *const CUgraphEdgeData,
        number: usize,
    ) => cuGraphRemoveDependencies_v2(graph, from, to, edges, number);

    fn cuprum_12_cudaGraphNodeGetDependencies[](node: CUgraphNode, nodes: *mut CUgraphNode, number: *mut usize)
        => cuGraphNodeGetDependencies(node, nodes, number);

    fn cudaGraphNodeGetDependencies_v2[](
        node: CUgraphNode,
        nodes: *mut CUgraphNode,
        edges: *mut CUgraphEdgeData,
        number: *mut usize,
    ) => cuGraphNodeGetDependencies_v2(node, nodes, edges, number);

    fn cuprum_12_cudaGraphNodeGetDependentNodes[](node: CUgraphNode, nodes: *mut CUgraphNode, number: *mut usize)
        => cuGraphNodeGetDependentNodes(node, nodes, number);

    fn cudaGraphNodeGetDependentNodes_v2[](
        node: CUgraphNode,
        nodes: *mut CUgraphNode,
        edges: *mut CUgraphEdgeData,
        number: *mut usize,
    ) => cuGraphNodeGetDependentNodes_v2(node, nodes, edges, number);
}

/// Converts the parameters of a kernel node to the driver's.
///
/// # Safety
/// The pointer is null, or points to parameters.
unsafe fn to_driver(here: &Here, parameters: *const cudaKernelNodeParams) -> Result<CUDA_KERNEL_NODE_PARAMS> {
    // SAFETY: guaranteed by the caller.
    let parameters = unsafe { parameters.as_ref() }.ok_or(cudaError::cudaErrorInvalidValue)?;
    let kern = registry::kernel(here.fns, parameters.func)?;
    Ok(CUDA_KERNEL_NODE_PARAMS {
        gridDimX: parameters.gridDim.x,
        gridDimY: parameters.gridDim.y,
        gridDimZ: parameters.gridDim.z,
        blockDimX: parameters.blockDim.x,
        blockDimY: parameters.blockDim.y,
        blockDimZ: parameters.blockDim.z,
        sharedMemBytes: parameters.sharedMemBytes,
        kernelParams: parameters.kernelParams,
        extra: parameters.extra,
        kern,
        ctx: CUcontext::null(),
        ..CUDA_KERNEL_NODE_PARAMS::zeroed()
    })
}

/// Adds a node that copies. `after` has `number` nodes.
///
/// # Safety
/// `node` is writable, and the nodes of `after` are readable, or the driver refuses them.
pub(crate) unsafe fn add_copy(
    here: &Here,
    node: *mut CUgraphNode,
    (graph, after, number): (CUgraph, *const CUgraphNode, usize),
    copy: &CUDA_MEMCPY3D,
) -> Result<()> {
    let context = device::current(here.fns)?;
    // SAFETY: the pointers are the caller's, and the struct is ours.
    check(unsafe { (here.fns.cuGraphAddMemcpyNode)(node, graph, after, number, copy, context) })
}

/// Changes the copy of a node.
pub(crate) fn set_copy(here: &Here, node: CUgraphNode, copy: &CUDA_MEMCPY3D) -> Result<()> {
    // SAFETY: a struct of ours; the driver checks the handle.
    check(unsafe { (here.fns.cuGraphMemcpyNodeSetParams)(node, copy) })
}

/// Changes the copy of a node in an executable graph.
pub(crate) fn set_copy_in(
    here: &Here,
    exec: CUgraphExec,
    node: CUgraphNode,
    copy: &CUDA_MEMCPY3D,
) -> Result<()> {
    let context = device::current(here.fns)?;
    // SAFETY: a struct of ours; the driver checks the handles.
    check(unsafe { (here.fns.cuGraphExecMemcpyNodeSetParams)(exec, node, copy, context) })
}
