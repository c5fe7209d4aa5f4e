//! What will have methods.

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

    "two and three dimensions, arrays, and copies of them":
        cuMemAllocPitch_v2 cuArrayCreate_v2 cuArrayGetDescriptor_v2 cuArrayGetSparseProperties
        cuMipmappedArrayGetSparseProperties cuArrayGetMemoryRequirements
        cuMipmappedArrayGetMemoryRequirements cuArrayGetPlane cuArrayDestroy cuArray3DCreate_v2
        cuArray3DGetDescriptor_v2 cuMipmappedArrayCreate cuMipmappedArrayGetLevel
        cuMipmappedArrayDestroy cuMemcpyDtoA_v2 cuMemcpyAtoD_v2 cuMemcpyHtoA_v2 cuMemcpyAtoH_v2
        cuMemcpyAtoA_v2 cuMemcpyHtoAAsync_v2 cuMemcpyAtoHAsync_v2 cuMemcpy2D_v2
        cuMemcpy2DUnaligned_v2 cuMemcpy3D_v2 cuMemcpy2DAsync_v2 cuMemcpy3DAsync_v2 cuMemsetD2D8_v2
        cuMemsetD2D16_v2 cuMemsetD2D32_v2 cuMemcpy3DBatchAsync_v2 cuMemcpy3DWithAttributesAsync
        cuMemsetD2D8Async cuMemsetD2D16Async cuMemsetD2D32Async;

    "texture and surface objects, tensor maps":
        cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc cuTexObjectGetTextureDesc
        cuTexObjectGetResourceViewDesc cuSurfObjectCreate cuSurfObjectDestroy
        cuSurfObjectGetResourceDesc cuTensorMapEncodeTiled cuTensorMapEncodeIm2col
        cuTensorMapEncodeIm2colWide cuTensorMapReplaceAddress cuTensorMapSetAllocationClass;

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

    "streams: attributes, identity, priority asked for, host functions, memory operations":
        cuStreamGetPriority cuStreamGetId cuStreamCopyAttributes cuStreamGetAttribute
        cuStreamSetAttribute cuEventRecordWithFlags cuLaunchHostFunc_v2 cuStreamWriteValue32_v2
        cuStreamWaitValue32_v2 cuStreamWriteValue64_v2 cuStreamWaitValue64_v2 cuStreamBatchMemOp_v2;

    "capture of streams into graphs":
        cuThreadExchangeStreamCaptureMode cuStreamBeginCapture_v2 cuStreamBeginCaptureToGraph
        cuStreamBeginRecaptureToGraph cuStreamEndCapture cuStreamIsCapturing
        cuStreamGetCaptureInfo_v3 cuStreamUpdateCaptureDependencies_v2;

    "graphs":
        cuGraphCreate cuGraphAddKernelNode_v2 cuGraphKernelNodeGetParams_v2
        cuGraphKernelNodeSetParams_v2 cuGraphAddMemcpyNode cuGraphMemcpyNodeGetParams
        cuGraphMemcpyNodeSetParams cuGraphAddMemsetNode cuGraphMemsetNodeGetParams
        cuGraphMemsetNodeSetParams cuGraphAddHostNode cuGraphHostNodeGetParams
        cuGraphHostNodeSetParams cuGraphAddChildGraphNode cuGraphChildGraphNodeGetGraph
        cuGraphAddEmptyNode cuGraphAddEventRecordNode cuGraphEventRecordNodeGetEvent
        cuGraphEventRecordNodeSetEvent cuGraphAddEventWaitNode cuGraphEventWaitNodeGetEvent
        cuGraphEventWaitNodeSetEvent cuGraphAddExternalSemaphoresSignalNode
        cuGraphExternalSemaphoresSignalNodeGetParams cuGraphExternalSemaphoresSignalNodeSetParams
        cuGraphAddExternalSemaphoresWaitNode cuGraphExternalSemaphoresWaitNodeGetParams
        cuGraphExternalSemaphoresWaitNodeSetParams cuGraphAddBatchMemOpNode
        cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams
        cuGraphExecBatchMemOpNodeSetParams cuGraphAddMemAllocNode cuGraphMemAllocNodeGetParams
        cuGraphAddMemFreeNode cuGraphMemFreeNodeGetParams cuDeviceGraphMemTrim
        cuDeviceGetGraphMemAttribute cuDeviceSetGraphMemAttribute cuGraphClone
        cuGraphNodeFindInClone cuGraphNodeGetType cuGraphNodeGetContainingGraph
        cuGraphNodeGetLocalId cuGraphNodeGetToolsId cuGraphGetId cuGraphExecGetId cuGraphGetNodes
        cuGraphGetRootNodes cuGraphGetEdges_v2 cuGraphNodeGetDependencies_v2
        cuGraphNodeGetDependentNodes_v2 cuGraphAddDependencies_v2 cuGraphRemoveDependencies_v2
        cuGraphDestroyNode cuGraphInstantiateWithFlags cuGraphExecGetFlags
        cuGraphExecKernelNodeSetParams_v2 cuGraphExecMemcpyNodeSetParams
        cuGraphExecMemsetNodeSetParams cuGraphExecHostNodeSetParams
        cuGraphExecChildGraphNodeSetParams cuGraphExecEventRecordNodeSetEvent
        cuGraphExecEventWaitNodeSetEvent cuGraphExecExternalSemaphoresSignalNodeSetParams
        cuGraphExecExternalSemaphoresWaitNodeSetParams cuGraphNodeSetEnabled cuGraphNodeGetEnabled
        cuGraphExecDestroy cuGraphDestroy cuGraphExecUpdate_v2 cuGraphKernelNodeCopyAttributes
        cuGraphKernelNodeGetAttribute cuGraphKernelNodeSetAttribute cuGraphDebugDotPrint
        cuUserObjectCreate cuUserObjectRetain cuUserObjectRelease cuGraphRetainUserObject
        cuGraphReleaseUserObject cuGraphAddNode_v3 cuGraphNodeSetParams_v2 cuGraphNodeGetParams
        cuGraphExecNodeSetParams cuGraphConditionalHandleCreate cuGraphInstantiateWithParams
        cuGraphUpload cuGraphLaunch cuGraphInstantiate_v2;

    "modules and functions: listing, lazy loading, names":
        cuModuleGetLoadingMode cuModuleGetFunctionCount cuModuleEnumerateFunctions cuFuncGetName
        cuFuncIsLoaded cuFuncLoad;

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

    "the log of the driver":
        cuLogsRegisterCallback cuLogsUnregisterCallback cuLogsCurrent cuLogsDumpToFile
        cuLogsDumpToMemory;
}
