//! Nodes that signal external semaphores or wait for them. The structs have the driver's layouts.

use cuprum_sys::{
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, CUDA_EXT_SEM_WAIT_NODE_PARAMS, CUgraph, CUgraphExec, CUgraphNode,
};

use crate::exported::calls;

calls! {
    fn cudaGraphAddExternalSemaphoresSignalNode[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        parameters: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
    ) => cuGraphAddExternalSemaphoresSignalNode(node, graph, after, number, parameters);

    fn cudaGraphExternalSemaphoresSignalNodeGetParams[](node: CUgraphNode, parameters: *mut CUDA_EXT_SEM_SIGNAL_NODE_PARAMS)
        => cuGraphExternalSemaphoresSignalNodeGetParams(node, parameters);

    fn cudaGraphExternalSemaphoresSignalNodeSetParams[](node: CUgraphNode, parameters: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS)
        => cuGraphExternalSemaphoresSignalNodeSetParams(node, parameters);

    fn cudaGraphExecExternalSemaphoresSignalNodeSetParams[](
        exec: CUgraphExec,
        node: CUgraphNode,
        parameters: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
    ) => cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, parameters);

    fn cudaGraphAddExternalSemaphoresWaitNode[](
        node: *mut CUgraphNode,
        graph: CUgraph,
        after: *const CUgraphNode,
        number: usize,
        parameters: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    ) => cuGraphAddExternalSemaphoresWaitNode(node, graph, after, number, parameters);

    fn cudaGraphExternalSemaphoresWaitNodeGetParams[](node: CUgraphNode, parameters: *mut CUDA_EXT_SEM_WAIT_NODE_PARAMS)
        => cuGraphExternalSemaphoresWaitNodeGetParams(node, parameters);

    fn cudaGraphExternalSemaphoresWaitNodeSetParams[](node: CUgraphNode, parameters: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS)
        => cuGraphExternalSemaphoresWaitNodeSetParams(node, parameters);

    fn cudaGraphExecExternalSemaphoresWaitNodeSetParams[](
        exec: CUgraphExec,
        node: CUgraphNode,
        parameters: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    ) => cuGraphExecExternalSemaphoresWaitNodeSetParams(exec, node, parameters);
}
