//! Driver functions that no method of this crate calls, and why.
//!
//! Each can be called all the same, through [`Library::fns`](crate::Library::fns), on the raw handles that
//! objects of this crate give. A function that gets a method leaves this list: a test compares it with the
//! calls in the sources, so that every function of the table is either called or listed, and never both.
//!
//! ```
//! use cuprum::not_wrapped::{NOT_WRAPPED, Why};
//! use cuprum::sys::FnId;
//!
//! let group = NOT_WRAPPED.iter().find(|group| group.functions.contains(&FnId::cuTexRefCreate)).unwrap();
//! assert_eq!(group.why, Why::Deprecated);
//! ```

use cuprum_sys::FnId;

/// The kind of reason for which functions have no method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// The crate below calls them.
    Loader,
    /// A newer revision of the same function is in the table.
    Superseded,
    /// NVIDIA has replaced them, and programs should not use them any more.
    Deprecated,
    /// What they do is done in another way.
    Unneeded,
    /// They serve purposes that this crate does not have.
    OutOfScope,
    /// They will have methods.
    NotYet,
}

/// Functions without a method, for one reason.
#[derive(Clone, Copy, Debug)]
pub struct NotWrapped {
    /// The kind of reason.
    pub why: Why,
    /// The reason, or the subject, in words.
    pub reason: &'static str,
    /// The functions, in the order of the table.
    pub functions: &'static [FnId],
}

macro_rules! not_wrapped {
    ($($why:ident $reason:literal: $($function:ident)+;)*) => {
        /// Every function of the table that no method calls.
        pub const NOT_WRAPPED: &[NotWrapped] = &[$(
            NotWrapped { why: Why::$why, reason: $reason, functions: &[$(FnId::$function),+] },
        )*];
    };
}

not_wrapped! {
    Loader "loading, versions and initialization: `Library` of cuprum-sys calls them":
        cuInit cuDriverGetVersion cuGetProcAddress cuGetProcAddress_v2;

    Superseded "older ABI revisions of functions that the table also has in a newer one":
        cuDeviceTotalMem cuDevicePrimaryCtxSetFlags cuCtxCreate cuCtxCreate_v3 cuCtxDestroy
        cuCtxPushCurrent cuCtxPopCurrent cuModuleGetGlobal cuLinkCreate cuLinkAddData cuLinkAddFile
        cuMemGetInfo cuMemAlloc cuMemAllocPitch cuMemFree cuMemGetAddressRange cuMemAllocHost
        cuMemHostGetDevicePointer cuIpcOpenMemHandle cuMemHostRegister cuArrayCreate
        cuArrayGetDescriptor cuArray3DCreate cuArray3DGetDescriptor cuMemcpyHtoD cuMemcpyDtoH
        cuMemcpyDtoD cuMemcpyDtoA cuMemcpyAtoD cuMemcpyHtoA cuMemcpyAtoH cuMemcpyAtoA
        cuMemcpyHtoAAsync cuMemcpyAtoHAsync cuMemcpy2D cuMemcpy2DUnaligned cuMemcpy3D
        cuMemcpyHtoDAsync cuMemcpyDtoHAsync cuMemcpyDtoDAsync cuMemcpy2DAsync cuMemcpy3DAsync
        cuMemsetD8 cuMemsetD16 cuMemsetD32 cuMemsetD2D8 cuMemsetD2D16 cuMemsetD2D32 cuMemcpyBatchAsync
        cuMemcpy3DBatchAsync cuMulticastBindMem cuMulticastBindAddr cuMemAdvise cuMemPrefetchAsync
        cuStreamDestroy cuStreamGetCtx cuStreamBeginCapture cuStreamGetCaptureInfo
        cuStreamGetCaptureInfo_v2 cuStreamUpdateCaptureDependencies cuEventDestroy cuLaunchHostFunc
        cuGraphAddKernelNode cuGraphKernelNodeGetParams cuGraphKernelNodeSetParams cuGraphGetEdges
        cuGraphNodeGetDependencies cuGraphNodeGetDependentNodes cuGraphAddDependencies
        cuGraphRemoveDependencies cuGraphExecKernelNodeSetParams cuGraphExecUpdate cuGraphAddNode
        cuGraphAddNode_v2 cuGraphNodeSetParams cuGraphInstantiate cuTexRefSetAddress
        cuTexRefSetAddress2D cuTexRefSetAddress2D_v2 cuTexRefGetAddress
        cuGraphicsResourceGetMappedPointer cuGraphicsResourceSetMapFlags cuStreamWriteValue32
        cuStreamWaitValue32 cuStreamWriteValue64 cuStreamWaitValue64 cuStreamBatchMemOp cuGLGetDevices
        cuGLCtxCreate cuGLMapBufferObject cuGLMapBufferObjectAsync;

    Deprecated "texture and surface references, which CUDA 12 took out of kernels; objects replace them":
        cuModuleGetTexRef cuModuleGetSurfRef cuParamSetTexRef cuTexRefSetArray
        cuTexRefSetMipmappedArray cuTexRefSetAddress_v2 cuTexRefSetAddress2D_v3 cuTexRefSetFormat
        cuTexRefSetAddressMode cuTexRefSetFilterMode cuTexRefSetMipmapFilterMode
        cuTexRefSetMipmapLevelBias cuTexRefSetMipmapLevelClamp cuTexRefSetMaxAnisotropy
        cuTexRefSetBorderColor cuTexRefSetFlags cuTexRefGetAddress_v2 cuTexRefGetArray
        cuTexRefGetMipmappedArray cuTexRefGetAddressMode cuTexRefGetFilterMode cuTexRefGetFormat
        cuTexRefGetMipmapFilterMode cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp
        cuTexRefGetMaxAnisotropy cuTexRefGetBorderColor cuTexRefGetFlags cuTexRefCreate
        cuTexRefDestroy cuSurfRefSetArray cuSurfRefGetArray;

    Deprecated "launching in steps that set the kernel up; `cuLaunchKernel` does it in one since CUDA 4.0":
        cuFuncSetBlockShape cuFuncSetSharedSize cuParamSetSize cuParamSeti cuParamSetf cuParamSetv
        cuLaunch cuLaunchGrid cuLaunchGridAsync;

    Deprecated "replaced by device attributes":
        cuDeviceGetProperties cuDeviceComputeCapability;

    Deprecated "counted use of a context, which ownership replaces":
        cuCtxAttach cuCtxDetach;

    Deprecated "the width of shared memory banks, a choice that only compute capability 3.x has":
        cuCtxGetSharedMemConfig cuCtxSetSharedMemConfig cuFuncSetSharedMemConfig;

    Deprecated "one launch on several devices, which CUDA 11.3 deprecated":
        cuLaunchCooperativeKernelMultiDevice;

    Deprecated "OpenGL buffers without graphics resources (before CUDA 3.0), and contexts made for OpenGL":
        cuGLCtxCreate_v2 cuGLInit cuGLRegisterBufferObject cuGLUnmapBufferObject
        cuGLUnregisterBufferObject cuGLSetBufferObjectMapFlags cuGLUnmapBufferObjectAsync
        cuGLMapBufferObject_v2 cuGLMapBufferObjectAsync_v2;

    Unneeded "result codes have their names and descriptions in cuprum-sys, and need no driver for it":
        cuGetErrorString cuGetErrorName;

    Unneeded "the current context is changed by pushing and popping alone, so that it can be put back":
        cuCtxSetCurrent;

    Unneeded "the same with the context as an argument; here a token says that it is current":
        cuCtxGetDevice_v2 cuCtxSynchronize_v2;

    Unneeded "other ways to load what `cuModuleLoadDataEx` loads, without a log of errors":
        cuModuleLoad cuModuleLoadData cuModuleLoadFatBinary;

    Unneeded "`cuMemHostAlloc` without flags":
        cuMemAllocHost_v2;

    Unneeded "objects remember their context, and streams how they were created":
        cuStreamGetFlags cuStreamGetDevice cuStreamGetCtx_v2 cuFuncGetModule;

    OutOfScope "graphics: OpenGL, mapped resources, contexts shared with graphics, NvSciSync":
        cuDeviceGetNvSciSyncAttributes cuStreamBeginCaptureToCig cuStreamEndCaptureToCig
        cuGraphicsUnregisterResource cuGraphicsSubResourceGetMappedArray
        cuGraphicsResourceGetMappedMipmappedArray cuGraphicsResourceGetMappedPointer_v2
        cuGraphicsResourceSetMapFlags_v2 cuGraphicsMapResources cuGraphicsUnmapResources
        cuGraphicsGLRegisterBuffer cuGraphicsGLRegisterImage cuGLGetDevices_v2;

    OutOfScope "tools and administration: profilers, core dumps, checkpoints, memory notifications":
        cuDeviceRegisterAsyncNotification cuDeviceUnregisterAsyncNotification cuCoredumpGetAttribute
        cuCoredumpGetAttributeGlobal cuCoredumpSetAttribute cuCoredumpSetAttributeGlobal
        cuCoredumpRegisterStartCallback cuCoredumpRegisterCompleteCallback
        cuCoredumpDeregisterStartCallback cuCoredumpDeregisterCompleteCallback
        cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState cuCheckpointProcessLock
        cuCheckpointProcessCheckpoint cuCheckpointProcessRestore cuCheckpointOperationComplete
        cuCheckpointProcessUnlock cuProfilerInitialize cuProfilerStart cuProfilerStop;

    OutOfScope "tables without documentation, which tools of NVIDIA use":
        cuGetExportTable;

    OutOfScope "fabrics of many nodes: cliques, logical endpoints, copies between them":
        cuDeviceGetFabricClusterUuid cuDeviceGetCliqueCount cuDeviceGetCliqueInfo
        cuLogicalEndpointIdReserve cuLogicalEndpointIdRelease cuLogicalEndpointCreate
        cuLogicalEndpointAddDevice cuLogicalEndpointDestroy cuLogicalEndpointBindAddr
        cuLogicalEndpointBindMem cuLogicalEndpointUnbind cuLogicalEndpointExport
        cuLogicalEndpointImport cuLogicalEndpointGetLimits cuLogicalEndpointQuery
        cuFabricCpyBatchAsync;

    NotYet "devices: by PCI address, identity under Windows, what they support":
        cuDeviceGetLuid cuDeviceGetTexture1DLinearMaxWidth cuDeviceGetHostAtomicCapabilities
        cuDeviceGetExecAffinitySupport cuFlushGPUDirectRDMAWrites cuDeviceGetByPCIBusId;

    NotYet "contexts: flags, caches, identity, affinity, events of a whole context":
        cuDevicePrimaryCtxSetFlags_v2 cuCtxGetFlags cuCtxSetFlags cuCtxGetId cuCtxGetCacheConfig
        cuCtxSetCacheConfig cuCtxGetApiVersion cuCtxResetPersistingL2Cache cuCtxGetExecAffinity
        cuCtxRecordEvent cuCtxWaitEvent;

    NotYet "access of one device to the memory of another, and copies between them":
        cuMemcpyPeer cuMemcpyPeerAsync cuMemcpy3DPeer cuMemcpy3DPeerAsync cuDeviceCanAccessPeer
        cuCtxEnablePeerAccess cuCtxDisablePeerAccess cuDeviceGetP2PAttribute
        cuDeviceGetP2PAtomicCapabilities;

    NotYet "managed memory: advice, prefetching, ranges":
        cuMemAllocManaged cuMemAdvise_v2 cuMemGetLocationInfo cuMemRangeGetAttribute
        cuMemRangeGetAttributes cuMemPrefetchAsync_v2 cuMemPrefetchBatchAsync cuMemDiscardBatchAsync
        cuMemDiscardAndPrefetchBatchAsync cuStreamAttachMemAsync;

    NotYet "what an address is":
        cuMemGetAddressRange_v2 cuMemGetHandleForAddressRange cuPointerGetAttribute
        cuPointerSetAttribute cuPointerGetAttributes;

    NotYet "stream-ordered allocation and its pools":
        cuDeviceSetMemPool cuDeviceGetMemPool cuDeviceGetDefaultMemPool cuMemPoolTrimTo
        cuMemPoolSetAttribute cuMemPoolGetAttribute cuMemPoolSetAccess cuMemPoolGetAccess
        cuMemPoolCreate cuMemPoolDestroy cuMemGetDefaultMemPool cuMemGetMemPool cuMemSetMemPool
        cuMemPoolExportToShareableHandle cuMemPoolImportFromShareableHandle cuMemPoolExportPointer
        cuMemPoolImportPointer cuMemFreeAsync cuMemAllocAsync cuMemAllocFromPoolAsync;

    NotYet "virtual memory: reserving, creating, mapping":
        cuMemAddressReserve cuMemAddressFree cuMemCreate cuMemRelease cuMemMap cuMemUnmap
        cuMemSetAccess cuMemGetAccess cuMemExportToShareableHandle cuMemImportFromShareableHandle
        cuMemGetAllocationGranularity cuMemGetAllocationPropertiesFromHandle
        cuMemRetainAllocationHandle cuMemMapArrayAsync;

    NotYet "multicast objects":
        cuMulticastCreate cuMulticastAddDevice cuMulticastBindMem_v2 cuMulticastBindAddr_v2
        cuMulticastUnbind cuMulticastGetGranularity;

    NotYet "two and three dimensions, arrays, and copies of them":
        cuMemAllocPitch_v2 cuArrayCreate_v2 cuArrayGetDescriptor_v2 cuArrayGetSparseProperties
        cuMipmappedArrayGetSparseProperties cuArrayGetMemoryRequirements
        cuMipmappedArrayGetMemoryRequirements cuArrayGetPlane cuArrayDestroy cuArray3DCreate_v2
        cuArray3DGetDescriptor_v2 cuMipmappedArrayCreate cuMipmappedArrayGetLevel
        cuMipmappedArrayDestroy cuMemcpyDtoA_v2 cuMemcpyAtoD_v2 cuMemcpyHtoA_v2 cuMemcpyAtoH_v2
        cuMemcpyAtoA_v2 cuMemcpyHtoAAsync_v2 cuMemcpyAtoHAsync_v2 cuMemcpy2D_v2 cuMemcpy2DUnaligned_v2
        cuMemcpy3D_v2 cuMemcpy2DAsync_v2 cuMemcpy3DAsync_v2 cuMemsetD2D8_v2 cuMemsetD2D16_v2
        cuMemsetD2D32_v2 cuMemcpy3DBatchAsync_v2 cuMemcpy3DWithAttributesAsync cuMemsetD2D8Async
        cuMemsetD2D16Async cuMemsetD2D32Async;

    NotYet "texture and surface objects, tensor maps":
        cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc cuTexObjectGetTextureDesc
        cuTexObjectGetResourceViewDesc cuSurfObjectCreate cuSurfObjectDestroy
        cuSurfObjectGetResourceDesc cuTensorMapEncodeTiled cuTensorMapEncodeIm2col
        cuTensorMapEncodeIm2colWide cuTensorMapReplaceAddress cuTensorMapSetAllocationClass;

    NotYet "copies of unified addresses, in batches, with attributes; filling on a stream; decompression":
        cuMemcpy cuMemcpyAsync cuMemcpyBatchAsync_v2 cuMemcpyWithAttributesAsync
        cuMemBatchDecompressAsync;

    NotYet "memory and events of other processes":
        cuIpcGetEventHandle cuIpcOpenEventHandle cuIpcGetMemHandle cuIpcOpenMemHandle_v2
        cuIpcCloseMemHandle;

    NotYet "memory and semaphores of other APIs":
        cuImportExternalMemory cuExternalMemoryGetMappedBuffer cuExternalMemoryGetMappedMipmappedArray
        cuDestroyExternalMemory cuImportExternalSemaphore cuDestroyExternalSemaphore
        cuSignalExternalSemaphoresAsync cuWaitExternalSemaphoresAsync;

    NotYet "streams: attributes, identity, priority asked for, host functions, memory operations":
        cuStreamGetPriority cuStreamGetId cuStreamCopyAttributes cuStreamGetAttribute
        cuStreamSetAttribute cuEventRecordWithFlags cuLaunchHostFunc_v2 cuStreamWriteValue32_v2
        cuStreamWaitValue32_v2 cuStreamWriteValue64_v2 cuStreamWaitValue64_v2 cuStreamBatchMemOp_v2;

    NotYet "capture of streams into graphs":
        cuThreadExchangeStreamCaptureMode cuStreamBeginCapture_v2 cuStreamBeginCaptureToGraph
        cuStreamBeginRecaptureToGraph cuStreamEndCapture cuStreamIsCapturing cuStreamGetCaptureInfo_v3
        cuStreamUpdateCaptureDependencies_v2;

    NotYet "graphs":
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
        cuDeviceGetGraphMemAttribute cuDeviceSetGraphMemAttribute cuGraphClone cuGraphNodeFindInClone
        cuGraphNodeGetType cuGraphNodeGetContainingGraph cuGraphNodeGetLocalId cuGraphNodeGetToolsId
        cuGraphGetId cuGraphExecGetId cuGraphGetNodes cuGraphGetRootNodes cuGraphGetEdges_v2
        cuGraphNodeGetDependencies_v2 cuGraphNodeGetDependentNodes_v2 cuGraphAddDependencies_v2
        cuGraphRemoveDependencies_v2 cuGraphDestroyNode cuGraphInstantiateWithFlags
        cuGraphExecGetFlags cuGraphExecKernelNodeSetParams_v2 cuGraphExecMemcpyNodeSetParams
        cuGraphExecMemsetNodeSetParams cuGraphExecHostNodeSetParams cuGraphExecChildGraphNodeSetParams
        cuGraphExecEventRecordNodeSetEvent cuGraphExecEventWaitNodeSetEvent
        cuGraphExecExternalSemaphoresSignalNodeSetParams
        cuGraphExecExternalSemaphoresWaitNodeSetParams cuGraphNodeSetEnabled cuGraphNodeGetEnabled
        cuGraphExecDestroy cuGraphDestroy cuGraphExecUpdate_v2 cuGraphKernelNodeCopyAttributes
        cuGraphKernelNodeGetAttribute cuGraphKernelNodeSetAttribute cuGraphDebugDotPrint
        cuUserObjectCreate cuUserObjectRetain cuUserObjectRelease cuGraphRetainUserObject
        cuGraphReleaseUserObject cuGraphAddNode_v3 cuGraphNodeSetParams_v2 cuGraphNodeGetParams
        cuGraphExecNodeSetParams cuGraphConditionalHandleCreate cuGraphInstantiateWithParams
        cuGraphUpload cuGraphLaunch cuGraphInstantiate_v2;

    NotYet "launches with attributes and cooperative ones; occupancy":
        cuLaunchKernelEx cuLaunchCooperativeKernel cuOccupancyMaxActiveBlocksPerMultiprocessor
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuOccupancyMaxPotentialBlockSize
        cuOccupancyMaxPotentialBlockSizeWithFlags cuOccupancyAvailableDynamicSMemPerBlock
        cuOccupancyMaxPotentialClusterSize cuOccupancyMaxActiveClusters;

    NotYet "modules and functions: listing, lazy loading, names":
        cuModuleGetLoadingMode cuModuleGetFunctionCount cuModuleEnumerateFunctions cuFuncGetName
        cuFuncIsLoaded cuFuncLoad;

    NotYet "linking at run time":
        cuLinkCreate_v2 cuLinkAddData_v2 cuLinkAddFile_v2 cuLinkComplete cuLinkDestroy;

    NotYet "libraries of code that belong to no context":
        cuLibraryLoadData cuLibraryLoadFromFile cuLibraryUnload cuLibraryGetKernel
        cuLibraryGetKernelCount cuLibraryEnumerateKernels cuLibraryGetModule cuKernelGetFunction
        cuKernelGetLibrary cuLibraryGetGlobal cuLibraryGetManaged cuLibraryGetUnifiedFunction
        cuKernelGetAttribute cuKernelSetAttribute cuKernelSetCacheConfig cuKernelGetName
        cuKernelGetParamInfo cuKernelGetParamCount;

    NotYet "green contexts: parts of a device":
        cuGreenCtxCreate cuGreenCtxDestroy cuCtxFromGreenCtx cuDeviceGetDevResource
        cuCtxGetDevResource cuGreenCtxGetDevResource cuDevSmResourceSplitByCount cuDevSmResourceSplit
        cuDevResourceGenerateDesc cuGreenCtxRecordEvent cuGreenCtxWaitEvent cuStreamGetGreenCtx
        cuGreenCtxStreamCreate cuGreenCtxGetId cuStreamGetDevResource;

    NotYet "the log of the driver":
        cuLogsRegisterCallback cuLogsUnregisterCallback cuLogsCurrent cuLogsDumpToFile
        cuLogsDumpToMemory;
}
