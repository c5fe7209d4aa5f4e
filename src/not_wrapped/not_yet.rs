//! Functions that will have methods.

use super::{NotWrapped, groups};

groups! { NotYet:
    "access of one device to the memory of another, and copies between them":
        cuMemcpyPeerAsync cuMemcpy3DPeer cuMemcpy3DPeerAsync;

    "managed memory: advice, prefetching, ranges":
        cuMemAllocManaged cuMemAdvise_v2 cuMemGetLocationInfo cuMemRangeGetAttribute
        cuMemRangeGetAttributes cuMemPrefetchAsync_v2 cuMemPrefetchBatchAsync cuMemDiscardBatchAsync
        cuMemDiscardAndPrefetchBatchAsync cuStreamAttachMemAsync;

    "what an address is":
        cuMemGetAddressRange_v2 cuMemGetHandleForAddressRange;

    "stream-ordered allocation and its pools":
        cuDeviceSetMemPool cuDeviceGetMemPool cuDeviceGetDefaultMemPool cuMemPoolTrimTo
        cuMemPoolSetAttribute cuMemPoolGetAttribute cuMemPoolSetAccess cuMemPoolGetAccess
        cuMemPoolCreate cuMemPoolDestroy cuMemGetDefaultMemPool cuMemGetMemPool cuMemSetMemPool
        cuMemPoolExportToShareableHandle cuMemPoolImportFromShareableHandle cuMemPoolExportPointer
        cuMemPoolImportPointer cuMemFreeAsync cuMemAllocAsync cuMemAllocFromPoolAsync;

    "virtual memory: reserving, creating, mapping":
        cuMemAddressReserve cuMemAddressFree cuMemCreate cuMemRelease cuMemMap cuMemUnmap
        cuMemSetAccess cuMemGetAccess cuMemExportToShareableHandle cuMemImportFromShareableHandle
        cuMemGetAllocationGranularity cuMemGetAllocationPropertiesFromHandle
        cuMemRetainAllocationHandle cuMemMapArrayAsync;

    "multicast objects":
        cuMulticastCreate cuMulticastAddDevice cuMulticastBindMem_v2 cuMulticastBindAddr_v2
        cuMulticastUnbind cuMulticastGetGranularity;

    "sparse arrays, arrays whose memory is bound later, arrays of several planes":
        cuArrayGetSparseProperties cuMipmappedArrayGetSparseProperties cuArrayGetMemoryRequirements
        cuMipmappedArrayGetMemoryRequirements cuArrayGetPlane;

    "copies in three dimensions in batches or with attributes":
        cuMemcpy3DBatchAsync_v2 cuMemcpy3DWithAttributesAsync;

    "tensor maps":
        cuTensorMapEncodeTiled cuTensorMapEncodeIm2col cuTensorMapEncodeIm2colWide
        cuTensorMapReplaceAddress cuTensorMapSetAllocationClass;

    "copies of unified addresses, in batches, with attributes; filling on a stream; decompression":
        cuMemcpy cuMemcpyAsync cuMemcpyBatchAsync_v2 cuMemcpyWithAttributesAsync
        cuMemBatchDecompressAsync;

    "memory and events of other processes":
        cuIpcGetEventHandle cuIpcOpenEventHandle cuIpcGetMemHandle cuIpcOpenMemHandle_v2
        cuIpcCloseMemHandle;

    "memory and semaphores of other APIs":
        cuImportExternalMemory cuExternalMemoryGetMappedBuffer
        cuExternalMemoryGetMappedMipmappedArray cuDestroyExternalMemory cuImportExternalSemaphore
        cuDestroyExternalSemaphore cuSignalExternalSemaphoresAsync cuWaitExternalSemaphoresAsync;

    "modules and functions: lazy loading":
        cuModuleGetLoadingMode cuFuncIsLoaded cuFuncLoad;

    "linking at run time":
        cuLinkCreate_v2 cuLinkAddData_v2 cuLinkAddFile_v2 cuLinkComplete cuLinkDestroy;

    "libraries of code that belong to no context":
        cuLibraryLoadData cuLibraryLoadFromFile cuLibraryUnload cuLibraryGetKernel
        cuLibraryGetKernelCount cuLibraryEnumerateKernels cuLibraryGetModule cuKernelGetFunction
        cuKernelGetLibrary cuLibraryGetGlobal cuLibraryGetManaged cuLibraryGetUnifiedFunction
        cuKernelGetAttribute cuKernelSetAttribute cuKernelSetCacheConfig cuKernelGetName
        cuKernelGetParamInfo cuKernelGetParamCount;

    "green contexts: parts of a device":
        cuGreenCtxCreate cuGreenCtxDestroy cuCtxFromGreenCtx cuDeviceGetDevResource
        cuCtxGetDevResource cuGreenCtxGetDevResource cuDevSmResourceSplitByCount
        cuDevSmResourceSplit cuDevResourceGenerateDesc cuGreenCtxRecordEvent cuGreenCtxWaitEvent
        cuStreamGetGreenCtx cuGreenCtxStreamCreate cuGreenCtxGetId cuStreamGetDevResource;

    "nodes for semaphores of other APIs, and for memory operations, in graphs":
        cuGraphAddExternalSemaphoresSignalNode cuGraphExternalSemaphoresSignalNodeGetParams
        cuGraphExternalSemaphoresSignalNodeSetParams cuGraphAddExternalSemaphoresWaitNode
        cuGraphExternalSemaphoresWaitNodeGetParams cuGraphExternalSemaphoresWaitNodeSetParams
        cuGraphAddBatchMemOpNode cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams
        cuGraphExecBatchMemOpNodeSetParams cuGraphExecExternalSemaphoresSignalNodeSetParams
        cuGraphExecExternalSemaphoresWaitNodeSetParams;

    "capture that compares with a graph":
        cuStreamBeginRecaptureToGraph;

    "streams: attributes, memory operations":
        cuStreamCopyAttributes cuStreamGetAttribute cuStreamSetAttribute cuStreamWriteValue32_v2
        cuStreamWaitValue32_v2 cuStreamWriteValue64_v2 cuStreamWaitValue64_v2 cuStreamBatchMemOp_v2;
}
