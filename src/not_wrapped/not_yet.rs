//! What will have methods.

use super::{NotWrapped, groups};

groups! { NotYet:
    "access of one device to the memory of another, and copies between them":
        cuMemcpyPeerAsync cuMemcpy3DPeer cuMemcpy3DPeerAsync;

    "copies in three dimensions in batches or with attributes":
        cuMemcpy3DBatchAsync_v2 cuMemcpy3DWithAttributesAsync;

    "tensor maps":
        cuTensorMapEncodeTiled cuTensorMapEncodeIm2col cuTensorMapEncodeIm2colWide
        cuTensorMapReplaceAddress cuTensorMapSetAllocationClass;

    "copies of unified addresses, in batches, with attributes; filling on a stream; decompression":
        cuMemcpy cuMemcpyAsync cuMemcpyBatchAsync_v2 cuMemcpyWithAttributesAsync
        cuMemBatchDecompressAsync;

    "nodes for semaphores of other APIs, and for memory operations, in graphs":
        cuGraphAddExternalSemaphoresSignalNode cuGraphExternalSemaphoresSignalNodeGetParams
        cuGraphExternalSemaphoresSignalNodeSetParams cuGraphAddExternalSemaphoresWaitNode
        cuGraphExternalSemaphoresWaitNodeGetParams cuGraphExternalSemaphoresWaitNodeSetParams
        cuGraphAddBatchMemOpNode cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams
        cuGraphExecBatchMemOpNodeSetParams cuGraphExecExternalSemaphoresSignalNodeSetParams
        cuGraphExecExternalSemaphoresWaitNodeSetParams;

    "streams: attributes, memory operations":
        cuStreamCopyAttributes cuStreamGetAttribute cuStreamSetAttribute cuStreamWriteValue32_v2
        cuStreamWaitValue32_v2 cuStreamWriteValue64_v2 cuStreamWaitValue64_v2 cuStreamBatchMemOp_v2;
}
