//! Capturing streams, and functions for whole graphs.

use core::ffi::{c_char, c_void};

use cuprum_sys::{
    CUDA_GRAPH_INSTANTIATE_PARAMS, CUgraph, CUgraphEdgeData, CUgraphExec, CUgraphExecUpdateResultInfo,
    CUgraphMem_attribute, CUgraphNode, CUgraphNodeType, CUhostFn, CUstream, CUstreamCaptureMode,
    CUstreamCaptureStatus, CUuserObject,
};

use crate::exported::calls;

calls! {
    fn cudaStreamBeginCapture[ptsz](stream: CUstream, mode: CUstreamCaptureMode) => cuStreamBeginCapture_v2(stream, mode);

    fn cudaStreamBeginCaptureToGraph[ptsz](
        stream: CUstream,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        edges: *const CUgraphEdgeData,
        number: usize,
        mode: CUstreamCaptureMode,
    ) => cuStreamBeginCaptureToGraph(stream, graph, dependencies, edges, number, mode);

    fn cudaStreamEndCapture[ptsz](stream: CUstream, graph: *mut CUgraph) => cuStreamEndCapture(stream, graph);

    fn cudaStreamIsCapturing[ptsz](stream: CUstream, status: *mut CUstreamCaptureStatus)
        => cuStreamIsCapturing(stream, status);

    fn cudaStreamGetCaptureInfo_v2[ptsz](
        stream: CUstream,
        status: *mut CUstreamCaptureStatus,
        id: *mut u64,
        graph: *mut CUgraph,
        dependencies: *mut *const CUgraphNode,
        number: *mut usize,
    ) => cuStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, number);

    fn cudaStreamGetCaptureInfo_v3[ptsz](
        stream: CUstream,
        status: *mut CUstreamCaptureStatus,
        id: *mut u64,
        graph: *mut CUgraph,
        dependencies: *mut *const CUgraphNode,
        edges: *mut *const CUgraphEdgeData,
        number: *mut usize,
    ) => cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, edges, number);

    fn cuprum_12_cudaStreamGetCaptureInfo[ptsz](stream: CUstream, status: *mut CUstreamCaptureStatus, id: *mut u64)
        => cuStreamGetCaptureInfo(stream, status, id);

    fn cuprum_12_cudaStreamUpdateCaptureDependencies[ptsz](
        stream: CUstream,
        dependencies: *mut CUgraphNode,
        number: usize,
        flags: u32,
    ) => cuStreamUpdateCaptureDependencies(stream, dependencies, number, flags);

    fn cudaStreamUpdateCaptureDependencies_v2[ptsz](
        stream: CUstream,
        dependencies: *mut CUgraphNode,
        edges: *const CUgraphEdgeData,
        number: usize,
        flags: u32,
    ) => cuStreamUpdateCaptureDependencies_v2(stream, dependencies, edges, number, flags);

    fn cudaThreadExchangeStreamCaptureMode[](mode: *mut CUstreamCaptureMode) -> cuThreadExchangeStreamCaptureMode(mode);

    fn cudaGraphCreate[](graph: *mut CUgraph, flags: u32) => cuGraphCreate(graph, flags);

    fn cudaGraphDestroy[](graph: CUgraph) => cuGraphDestroy(graph);

    fn cudaGraphClone[](copy: *mut CUgraph, graph: CUgraph) => cuGraphClone(copy, graph);

    fn cudaGraphInstantiate[](exec: *mut CUgraphExec, graph: CUgraph, flags: u64)
        => cuGraphInstantiateWithFlags(exec, graph, flags);

    fn cudaGraphInstantiateWithFlags[](exec: *mut CUgraphExec, graph: CUgraph, flags: u64)
        => cuGraphInstantiateWithFlags(exec, graph, flags);

    fn cudaGraphInstantiateWithParams[ptsz](
        exec: *mut CUgraphExec,
        graph: CUgraph,
        parameters: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
    ) => cuGraphInstantiateWithParams(exec, graph, parameters);

    fn cudaGraphExecGetFlags[](exec: CUgraphExec, flags: *mut u64) => cuGraphExecGetFlags(exec, flags);

    fn cudaGraphExecUpdate[](exec: CUgraphExec, graph: CUgraph, info: *mut CUgraphExecUpdateResultInfo)
        => cuGraphExecUpdate_v2(exec, graph, info);

    fn cudaGraphExecDestroy[](exec: CUgraphExec) => cuGraphExecDestroy(exec);

    fn cudaGraphUpload[ptsz](exec: CUgraphExec, stream: CUstream) => cuGraphUpload(exec, stream);

    fn cudaGraphLaunch[ptsz](exec: CUgraphExec, stream: CUstream) => cuGraphLaunch(exec, stream);

    fn cudaGraphGetNodes[](graph: CUgraph, nodes: *mut CUgraphNode, number: *mut usize)
        => cuGraphGetNodes(graph, nodes, number);

    fn cudaGraphGetRootNodes[](graph: CUgraph, nodes: *mut CUgraphNode, number: *mut usize)
        => cuGraphGetRootNodes(graph, nodes, number);

    fn cudaGraphNodeGetType[](node: CUgraphNode, kind: *mut CUgraphNodeType) => cuGraphNodeGetType(node, kind);

    fn cuprum_12_cudaGraphGetEdges[](graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, number: *mut usize)
        => cuGraphGetEdges(graph, from, to, number);

    fn cudaGraphGetEdges_v2[](
        graph: CUgraph,
        from: *mut CUgraphNode,
        to: *mut CUgraphNode,
        edges: *mut CUgraphEdgeData,
        number: *mut usize,
    ) => cuGraphGetEdges_v2(graph, from, to, edges, number);

    fn cudaGraphDebugDotPrint[](graph: CUgraph, path: *const c_char, flags: u32) => cuGraphDebugDotPrint(graph, path, flags);

    fn cudaUserObjectCreate[](object: *mut CUuserObject, data: *mut c_void, destroy: CUhostFn, count: u32, flags: u32)
        => cuUserObjectCreate(object, data, destroy, count, flags);

    fn cudaUserObjectRetain[](object: CUuserObject, count: u32) => cuUserObjectRetain(object, count);

    fn cudaUserObjectRelease[](object: CUuserObject, count: u32) => cuUserObjectRelease(object, count);

    fn cudaGraphRetainUserObject[](graph: CUgraph, object: CUuserObject, count: u32, flags: u32)
        => cuGraphRetainUserObject(graph, object, count, flags);

    fn cudaGraphReleaseUserObject[](graph: CUgraph, object: CUuserObject, count: u32)
        => cuGraphReleaseUserObject(graph, object, count);

    fn cudaDeviceGraphMemTrim[](device: i32) => cuDeviceGraphMemTrim(device);

    fn cudaDeviceGetGraphMemAttribute[](device: i32, attribute: CUgraphMem_attribute, value: *mut c_void)
        => cuDeviceGetGraphMemAttribute(device, attribute, value);

    fn cudaDeviceSetGraphMemAttribute[](device: i32, attribute: CUgraphMem_attribute, value: *mut c_void)
        => cuDeviceSetGraphMemAttribute(device, attribute, value);
}
