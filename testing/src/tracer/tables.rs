//! Tables for the watcher: which functions make and free which kind of object, and which contexts
//! they need.

use cuprum::sys::FnId;

use super::handles::Kind;

/// Place where a function writes the handle it makes, and its kind.
pub(super) fn made_by(function: FnId) -> Option<Kind> {
    Some(match function {
        FnId::cuCtxCreate_v2
        | FnId::cuCtxCreate_v4
        | FnId::cuDevicePrimaryCtxRetain
        | FnId::cuCtxFromGreenCtx => Kind::Context,
        FnId::cuGreenCtxCreate => Kind::Green,
        FnId::cuStreamCreate | FnId::cuStreamCreateWithPriority | FnId::cuGreenCtxStreamCreate => {
            Kind::Stream
        }
        FnId::cuEventCreate | FnId::cuIpcOpenEventHandle => Kind::Event,
        FnId::cuModuleLoadDataEx | FnId::cuLibraryGetModule => Kind::Module,
        FnId::cuModuleGetFunction | FnId::cuKernelGetFunction => Kind::Function,
        FnId::cuLinkCreate_v2 => Kind::Link,
        FnId::cuLibraryLoadData | FnId::cuLibraryLoadFromFile => Kind::Library,
        FnId::cuLibraryGetKernel => Kind::Kernel,
        FnId::cuModuleGetGlobal_v2
        | FnId::cuLibraryGetGlobal
        | FnId::cuLibraryGetManaged
        | FnId::cuMemAlloc_v2
        | FnId::cuMemAllocPitch_v2
        | FnId::cuMemAllocAsync
        | FnId::cuMemAllocFromPoolAsync
        | FnId::cuMemPoolImportPointer
        | FnId::cuMemAllocManaged
        | FnId::cuMemMap
        | FnId::cuIpcOpenMemHandle
        | FnId::cuIpcOpenMemHandle_v2 => Kind::Memory,
        FnId::cuMemAddressReserve => Kind::Reservation,
        FnId::cuMemCreate | FnId::cuMemImportFromShareableHandle => Kind::Physical,
        FnId::cuMemRetainAllocationHandle | FnId::cuMulticastCreate => Kind::Physical,
        FnId::cuGraphCreate | FnId::cuGraphClone | FnId::cuStreamEndCapture => Kind::Graph,
        FnId::cuGraphInstantiate | FnId::cuGraphInstantiateWithFlags | FnId::cuGraphInstantiateWithParams => {
            Kind::GraphExec
        }
        FnId::cuArray3DCreate_v2 | FnId::cuMipmappedArrayGetLevel => Kind::Array,
        FnId::cuMipmappedArrayCreate => Kind::MipmappedArray,
        FnId::cuExternalMemoryGetMappedMipmappedArray => Kind::MipmappedArray,
        FnId::cuExternalMemoryGetMappedBuffer => Kind::Memory,
        FnId::cuImportExternalMemory => Kind::ExternalMemory,
        FnId::cuImportExternalSemaphore => Kind::ExternalSemaphore,
        FnId::cuTexObjectCreate => Kind::Texture,
        FnId::cuSurfObjectCreate => Kind::Surface,
        FnId::cuGraphicsGLRegisterBuffer | FnId::cuGraphicsGLRegisterImage => Kind::Graphics,
        FnId::cuGraphicsResourceGetMappedPointer_v2 => Kind::Memory,
        FnId::cuGraphicsSubResourceGetMappedArray => Kind::Array,
        FnId::cuGraphicsResourceGetMappedMipmappedArray => Kind::MipmappedArray,
        FnId::cuMemPoolCreate | FnId::cuMemPoolImportFromShareableHandle => Kind::Pool,
        FnId::cuMemHostAlloc | FnId::cuMemHostRegister_v2 => Kind::Host,
        _ => return None,
    })
}

/// Kind of object that a function frees, which is its first argument.
pub(super) fn freed_by(function: FnId) -> Option<Kind> {
    Some(match function {
        FnId::cuCtxDestroy_v2 => Kind::Context,
        FnId::cuStreamDestroy_v2 => Kind::Stream,
        FnId::cuEventDestroy_v2 => Kind::Event,
        FnId::cuModuleUnload => Kind::Module,
        FnId::cuLinkDestroy => Kind::Link,
        FnId::cuLibraryUnload => Kind::Library,
        FnId::cuGreenCtxDestroy => Kind::Green,
        FnId::cuMemFree_v2 | FnId::cuMemFreeAsync | FnId::cuMemUnmap => Kind::Memory,
        FnId::cuIpcCloseMemHandle => Kind::Memory,
        FnId::cuMemPoolDestroy => Kind::Pool,
        FnId::cuMemAddressFree => Kind::Reservation,
        FnId::cuMemRelease => Kind::Physical,
        FnId::cuMemFreeHost | FnId::cuMemHostUnregister => Kind::Host,
        FnId::cuGraphDestroy => Kind::Graph,
        FnId::cuGraphExecDestroy => Kind::GraphExec,
        FnId::cuArrayDestroy => Kind::Array,
        FnId::cuMipmappedArrayDestroy => Kind::MipmappedArray,
        FnId::cuDestroyExternalMemory => Kind::ExternalMemory,
        FnId::cuDestroyExternalSemaphore => Kind::ExternalSemaphore,
        FnId::cuGraphicsUnregisterResource => Kind::Graphics,
        FnId::cuTexObjectDestroy => Kind::Texture,
        FnId::cuSurfObjectDestroy => Kind::Surface,
        _ => return None,
    })
}

/// True if a function returns handles that exist already, or another address of an existing object.
pub(super) fn only_tells(function: FnId) -> bool {
    matches!(
        function,
        FnId::cuCtxGetCurrent
            | FnId::cuCtxPopCurrent_v2
            | FnId::cuModuleEnumerateFunctions
            | FnId::cuLibraryEnumerateKernels
            | FnId::cuStreamGetGreenCtx
            | FnId::cuGraphChildGraphNodeGetGraph
            | FnId::cuGraphEventRecordNodeGetEvent
            | FnId::cuGraphEventWaitNodeGetEvent
            | FnId::cuDeviceGetDefaultMemPool
            | FnId::cuDeviceGetMemPool
            | FnId::cuGraphMemFreeNodeGetParams
            | FnId::cuMemGetDefaultMemPool
            | FnId::cuMemGetMemPool
            | FnId::cuMemHostGetDevicePointer_v2
            | FnId::cuMemGetAddressRange_v2
            | FnId::cuArrayGetPlane
            // Lists that are read.
            | FnId::cuGraphicsMapResources
            | FnId::cuGraphicsUnmapResources
            | FnId::cuMemPrefetchBatchAsync
            | FnId::cuMemDiscardBatchAsync
            | FnId::cuMemDiscardAndPrefetchBatchAsync
            // Lists of addresses, which C could have said to be constant.
            | FnId::cuMemcpyBatchAsync_v2
            | FnId::cuStreamGetCaptureInfo_v2
            | FnId::cuStreamGetCaptureInfo_v3
    )
}

/// True if an address that a function takes is one of addresses without memory.
pub(super) fn is_of_addresses(function: FnId) -> bool {
    matches!(function, FnId::cuMemAddressReserve | FnId::cuMemAddressFree | FnId::cuMemMap)
}

/// True if a function is also called to undo the possible effects of a failed call.
pub(super) fn undoes(function: FnId) -> bool {
    matches!(function, FnId::cuMemHostUnregister | FnId::cuMemUnmap)
}

/// True if a function takes a handle of this kind that is of another context.
pub(super) fn may_visit(function: FnId, kind: Kind) -> bool {
    match function {
        _ if kind.is_homeless() => true,
        FnId::cuStreamWaitEvent | FnId::cuCtxWaitEvent => kind == Kind::Event,
        FnId::cuCtxEnablePeerAccess | FnId::cuCtxDisablePeerAccess => kind == Kind::Context,
        // Each side is given with its context.
        FnId::cuMemcpyPeer | FnId::cuMemcpyPeerAsync => true,
        _ => false,
    }
}

/// True if the safe layer calls a function whatever context is current.
pub(super) fn is_free_of_context(function: FnId) -> bool {
    let name = function.to_string();
    let begins = ["cuInit", "cuDriver", "cuDevice", "cuCtxCreate", "cuCtxDestroy", "cuCtxPush", "cuCtxPop"];
    let objects = [
        "cuCtxGetCurrent",
        "cuEventSynchronize",
        "cuEventQuery",
        "cuEventElapsed",
        "cuModuleGet",
        "cuFunc",
        "cuLibraryLoad",
        "cuLibraryUnload",
        "cuLibraryGetKernel",
        "cuLibraryEnumerateKernels",
        "cuLibraryGetUnifiedFunction",
        "cuKernelGetName",
        "cuKernelGetAttribute",
        "cuKernelSet",
        "cuLinkAdd",
        "cuLinkComplete",
        "cuGLGetDevices",
        "cuDevSm",
        "cuDevResource",
        "cuGreenCtx",
        "cuThread",
        "cuMemGetDefaultMemPool",
        "cuMemGetMemPool",
        "cuMemPool",
        "cuMemSetMemPool",
        "cuUserObject",
        "cuMemAddress",
        "cuMemCreate",
        "cuMemRelease",
        "cuMemUnmap",
        "cuMemSetAccess",
        "cuMemGetAccess",
        "cuMemGetAllocation",
        "cuMemRetain",
        "cuMemExport",
        "cuMemImport",
        "cuMulticast",
        "cuCheckpoint",
        "cuCoredumpRegister",
        "cuCoredumpDeregister",
        "cuCoredumpGetAttributeGlobal",
        "cuCoredumpSetAttributeGlobal",
    ];
    function == FnId::cuMemMap || begins.iter().chain(&objects).any(|start| name.starts_with(start))
}
