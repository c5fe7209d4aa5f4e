//! Every C struct and union of the driver API.

use core::ffi::c_void;
use core::fmt;

use crate::enums::*;
use crate::types::*;

/// Gives each named type `zeroed` and `Default`, both all zero bytes.
macro_rules! zeroable {
    ($name:ident) => {
        impl $name {
            /// A value of all zero bytes: null handles and pointers, zero numbers.
            pub const fn zeroed() -> Self {
                // SAFETY: the type holds only numbers, nullable pointers, optional callbacks and arrays or
                // structs of those, and all zero bytes are a valid value of each.
                unsafe { core::mem::zeroed() }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::zeroed()
            }
        }
    };
}

/// Declares a C struct.
macro_rules! c_struct {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $ty:ty,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $($(#[$doc])* pub $field: $ty,)*
        }
        zeroable!($name);
    };
}

/// Declares a C union; its `Debug` shows the name only, since which field is live is known elsewhere.
macro_rules! c_union {
    ($(#[$meta:meta])* pub union $name:ident { $($(#[$doc:meta])* pub $field:ident: $ty:ty,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub union $name {
            $($(#[$doc])* pub $field: $ty,)*
        }
        zeroable!($name);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), " { .. }"))
            }
        }
    };
}

c_struct! { pub struct CUuuid {
    pub bytes: [u8; 16],
} }

c_struct! { pub struct CUmemFabricHandle_v1 {
    pub data: [u8; 64],
} }

c_struct! { pub struct CUipcEventHandle_v1 {
    pub reserved: [u8; 64],
} }

c_struct! { pub struct CUipcMemHandle_v1 {
    pub reserved: [u8; 64],
} }

c_union! { pub union CUstreamMemOpValue {
    pub value: u32,
    pub value64: u64,
} }

c_struct! { pub struct CUstreamMemOpWaitValueParams {
    pub operation: CUstreamBatchMemOpType,
    pub address: CUdeviceptr,
    pub u: CUstreamMemOpValue,
    pub flags: u32,
    pub alias: CUdeviceptr,
} }

c_struct! { pub struct CUstreamMemOpWriteValueParams {
    pub operation: CUstreamBatchMemOpType,
    pub address: CUdeviceptr,
    pub u: CUstreamMemOpValue,
    pub flags: u32,
    pub alias: CUdeviceptr,
} }

c_struct! { pub struct CUstreamMemOpFlushRemoteWritesParams {
    pub operation: CUstreamBatchMemOpType,
    pub flags: u32,
} }

c_struct! { pub struct CUstreamMemOpMemoryBarrierParams {
    pub operation: CUstreamBatchMemOpType,
    pub flags: u32,
} }

c_struct! { pub struct CUstreamMemOpAtomicReductionParams {
    pub operation: CUstreamBatchMemOpType,
    pub flags: u32,
    pub reductionOp: CUstreamAtomicReductionOpType,
    pub dataType: CUstreamAtomicReductionDataType,
    pub address: CUdeviceptr,
    pub value: u64,
    pub alias: CUdeviceptr,
} }

c_union! { pub union CUstreamBatchMemOpParams_v1 {
    pub operation: CUstreamBatchMemOpType,
    pub waitValue: CUstreamMemOpWaitValueParams,
    pub writeValue: CUstreamMemOpWriteValueParams,
    pub flushRemoteWrites: CUstreamMemOpFlushRemoteWritesParams,
    pub memoryBarrier: CUstreamMemOpMemoryBarrierParams,
    pub atomicReduction: CUstreamMemOpAtomicReductionParams,
    pub pad: [u64; 6],
} }

c_struct! { pub struct CUDA_BATCH_MEM_OP_NODE_PARAMS_v1 {
    pub ctx: CUcontext,
    pub count: u32,
    pub paramArray: *mut CUstreamBatchMemOpParams,
    pub flags: u32,
} }

c_struct! { pub struct CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 {
    pub ctx: CUcontext,
    pub count: u32,
    pub paramArray: *mut CUstreamBatchMemOpParams,
    pub flags: u32,
} }

c_struct! { pub struct CUasyncNotificationInfo_info_overBudget {
    pub bytesOverBudget: u64,
} }

c_union! { pub union CUasyncNotificationInfo_info {
    pub overBudget: CUasyncNotificationInfo_info_overBudget,
} }

c_struct! { pub struct CUasyncNotificationInfo {
    pub type_: CUasyncNotificationType,
    pub info: CUasyncNotificationInfo_info,
} }

c_struct! { pub struct CUdevprop_v1 {
    pub maxThreadsPerBlock: i32,
    pub maxThreadsDim: [i32; 3],
    pub maxGridSize: [i32; 3],
    pub sharedMemPerBlock: i32,
    pub totalConstantMemory: i32,
    pub SIMDWidth: i32,
    pub memPitch: i32,
    pub regsPerBlock: i32,
    pub clockRate: i32,
    pub textureAlign: i32,
} }

c_struct! { pub struct CUaccessPolicyWindow_v1 {
    pub base_ptr: *mut c_void,
    pub num_bytes: usize,
    pub hitRatio: f32,
    pub hitProp: CUaccessProperty,
    pub missProp: CUaccessProperty,
} }

c_struct! { pub struct CUDA_KERNEL_NODE_PARAMS_v1 {
    pub func: CUfunction,
    pub gridDimX: u32,
    pub gridDimY: u32,
    pub gridDimZ: u32,
    pub blockDimX: u32,
    pub blockDimY: u32,
    pub blockDimZ: u32,
    pub sharedMemBytes: u32,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
} }

c_struct! { pub struct CUDA_KERNEL_NODE_PARAMS_v2 {
    pub func: CUfunction,
    pub gridDimX: u32,
    pub gridDimY: u32,
    pub gridDimZ: u32,
    pub blockDimX: u32,
    pub blockDimY: u32,
    pub blockDimZ: u32,
    pub sharedMemBytes: u32,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
    pub kern: CUkernel,
    pub ctx: CUcontext,
} }

c_struct! { pub struct CUDA_KERNEL_NODE_PARAMS_v3 {
    pub func: CUfunction,
    pub gridDimX: u32,
    pub gridDimY: u32,
    pub gridDimZ: u32,
    pub blockDimX: u32,
    pub blockDimY: u32,
    pub blockDimZ: u32,
    pub sharedMemBytes: u32,
    pub kernelParams: *mut *mut c_void,
    pub extra: *mut *mut c_void,
    pub kern: CUkernel,
    pub ctx: CUcontext,
} }

c_struct! { pub struct CUDA_MEMSET_NODE_PARAMS_v1 {
    pub dst: CUdeviceptr,
    pub pitch: usize,
    pub value: u32,
    pub elementSize: u32,
    pub width: usize,
    pub height: usize,
} }

c_struct! { pub struct CUDA_MEMSET_NODE_PARAMS_v2 {
    pub dst: CUdeviceptr,
    pub pitch: usize,
    pub value: u32,
    pub elementSize: u32,
    pub width: usize,
    pub height: usize,
    pub ctx: CUcontext,
} }

c_struct! { pub struct CUDA_HOST_NODE_PARAMS_v1 {
    pub fn_: CUhostFn,
    pub userData: *mut c_void,
} }

c_union! { pub union CUctxOrGreenCtx {
    pub ctx: CUcontext,
    pub gCtx: CUgreenCtx,
} }

c_struct! { pub struct CUDA_HOST_NODE_PARAMS_v2 {
    pub fn_: CUhostFn,
    pub userData: *mut c_void,
    pub syncMode: u32,
    pub u: CUctxOrGreenCtx,
} }

c_struct! { pub struct CUDA_CONDITIONAL_NODE_PARAMS {
    pub handle: CUgraphConditionalHandle,
    pub type_: CUgraphConditionalNodeType,
    pub size: u32,
    pub phGraph_out: *mut CUgraph,
    pub ctx: CUcontext,
} }

c_struct! { pub struct CUgraphEdgeData {
    pub from_port: u8,
    pub to_port: u8,
    pub type_: u8,
    pub reserved: [u8; 5],
} }

c_struct! { pub struct CUDA_GRAPH_INSTANTIATE_PARAMS {
    pub flags: u64,
    pub hUploadStream: CUstream,
    pub hErrNode_out: CUgraphNode,
    pub result_out: CUgraphInstantiateResult,
} }

c_struct! { pub struct CUlaunchMemSyncDomainMap {
    pub default_: u8,
    pub remote: u8,
} }

c_struct! { pub struct CUlaunchAttributeValue_clusterDim {
    pub x: u32,
    pub y: u32,
    pub z: u32,
} }

c_struct! { pub struct CUlaunchAttributeValue_programmaticEvent {
    pub event: CUevent,
    pub flags: i32,
    pub triggerAtBlockStart: i32,
} }

c_struct! { pub struct CUlaunchAttributeValue_launchCompletionEvent {
    pub event: CUevent,
    pub flags: i32,
} }

c_struct! { pub struct CUlaunchAttributeValue_deviceUpdatableKernelNode {
    pub deviceUpdatable: i32,
    pub devNode: CUgraphDeviceNode,
} }

c_union! { pub union CUlaunchAttributeValue {
    pub pad: [u8; 64],
    pub accessPolicyWindow: CUaccessPolicyWindow,
    pub cooperative: i32,
    pub syncPolicy: CUsynchronizationPolicy,
    pub clusterDim: CUlaunchAttributeValue_clusterDim,
    pub clusterSchedulingPolicyPreference: CUclusterSchedulingPolicy,
    pub programmaticStreamSerializationAllowed: i32,
    pub programmaticEvent: CUlaunchAttributeValue_programmaticEvent,
    pub launchCompletionEvent: CUlaunchAttributeValue_launchCompletionEvent,
    pub priority: i32,
    pub memSyncDomainMap: CUlaunchMemSyncDomainMap,
    pub memSyncDomain: CUlaunchMemSyncDomain,
    pub preferredClusterDim: CUlaunchAttributeValue_clusterDim,
    pub deviceUpdatableKernelNode: CUlaunchAttributeValue_deviceUpdatableKernelNode,
    pub sharedMemCarveout: u32,
    pub nvlinkUtilCentricScheduling: u32,
    pub portableClusterSizeMode: CUlaunchAttributePortableClusterMode,
    pub sharedMemoryMode: CUsharedMemoryMode,
} }

c_struct! { pub struct CUlaunchAttribute {
    pub id: CUlaunchAttributeID,
    pub pad: [u8; 4],
    pub value: CUlaunchAttributeValue,
} }

c_struct! { pub struct CUlaunchConfig {
    pub gridDimX: u32,
    pub gridDimY: u32,
    pub gridDimZ: u32,
    pub blockDimX: u32,
    pub blockDimY: u32,
    pub blockDimZ: u32,
    pub sharedMemBytes: u32,
    pub hStream: CUstream,
    pub attrs: *mut CUlaunchAttribute,
    pub numAttrs: u32,
} }

c_struct! { pub struct CUexecAffinitySmCount_v1 {
    pub val: u32,
} }

c_union! { pub union CUexecAffinityParam_param {
    pub smCount: CUexecAffinitySmCount,
} }

c_struct! { pub struct CUexecAffinityParam_v1 {
    pub type_: CUexecAffinityType,
    pub param: CUexecAffinityParam_param,
} }

c_struct! { pub struct CUctxCigParam {
    pub sharedDataType: CUcigDataType,
    pub sharedData: *mut c_void,
} }

c_struct! { pub struct CUctxCreateParams {
    pub execAffinityParams: *mut CUexecAffinityParam,
    pub numExecAffinityParams: i32,
    pub cigParams: *mut CUctxCigParam,
} }

c_struct! { pub struct CUstreamCigParam {
    pub streamSharedDataType: CUstreamCigDataType,
    pub streamSharedData: *mut c_void,
} }

c_struct! { pub struct CUstreamCigCaptureParams {
    pub streamCigParams: *mut CUstreamCigParam,
} }

c_struct! { pub struct CUlibraryHostUniversalFunctionAndDataTable {
    pub functionTable: *mut c_void,
    pub functionWindowSize: usize,
    pub dataTable: *mut c_void,
    pub dataWindowSize: usize,
} }

c_struct! { pub struct CUDA_MEMCPY2D_v2 {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcMemoryType: CUmemorytype,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr,
    pub srcArray: CUarray,
    pub srcPitch: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstMemoryType: CUmemorytype,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr,
    pub dstArray: CUarray,
    pub dstPitch: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
} }

c_struct! { pub struct CUDA_MEMCPY3D_v2 {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcZ: usize,
    pub srcLOD: usize,
    pub srcMemoryType: CUmemorytype,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr,
    pub srcArray: CUarray,
    pub reserved0: *mut c_void,
    pub srcPitch: usize,
    pub srcHeight: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstZ: usize,
    pub dstLOD: usize,
    pub dstMemoryType: CUmemorytype,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr,
    pub dstArray: CUarray,
    pub reserved1: *mut c_void,
    pub dstPitch: usize,
    pub dstHeight: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
    pub Depth: usize,
} }

c_struct! { pub struct CUDA_MEMCPY3D_PEER_v1 {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcZ: usize,
    pub srcLOD: usize,
    pub srcMemoryType: CUmemorytype,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr,
    pub srcArray: CUarray,
    pub srcContext: CUcontext,
    pub srcPitch: usize,
    pub srcHeight: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstZ: usize,
    pub dstLOD: usize,
    pub dstMemoryType: CUmemorytype,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr,
    pub dstArray: CUarray,
    pub dstContext: CUcontext,
    pub dstPitch: usize,
    pub dstHeight: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
    pub Depth: usize,
} }

c_struct! { pub struct CUDA_MEMCPY_NODE_PARAMS {
    pub flags: i32,
    pub reserved: i32,
    pub copyCtx: CUcontext,
    pub copyParams: CUDA_MEMCPY3D,
} }

c_struct! { pub struct CUDA_ARRAY_DESCRIPTOR_v2 {
    pub Width: usize,
    pub Height: usize,
    pub Format: CUarray_format,
    pub NumChannels: u32,
} }

c_struct! { pub struct CUDA_ARRAY3D_DESCRIPTOR_v2 {
    pub Width: usize,
    pub Height: usize,
    pub Depth: usize,
    pub Format: CUarray_format,
    pub NumChannels: u32,
    pub Flags: u32,
} }

c_struct! { pub struct CUDA_ARRAY_SPARSE_PROPERTIES_tileExtent {
    pub width: u32,
    pub height: u32,
    pub depth: u32,
} }

c_struct! { pub struct CUDA_ARRAY_SPARSE_PROPERTIES_v1 {
    pub tileExtent: CUDA_ARRAY_SPARSE_PROPERTIES_tileExtent,
    pub miptailFirstLevel: u32,
    pub miptailSize: u64,
    pub flags: u32,
    pub reserved: [u32; 4],
} }

c_struct! { pub struct CUDA_ARRAY_MEMORY_REQUIREMENTS_v1 {
    pub size: usize,
    pub alignment: usize,
    pub reserved: [u32; 4],
} }

c_struct! { pub struct CUDA_RESOURCE_DESC_res_array {
    pub hArray: CUarray,
} }

c_struct! { pub struct CUDA_RESOURCE_DESC_res_mipmap {
    pub hMipmappedArray: CUmipmappedArray,
} }

c_struct! { pub struct CUDA_RESOURCE_DESC_res_linear {
    pub devPtr: CUdeviceptr,
    pub format: CUarray_format,
    pub numChannels: u32,
    pub sizeInBytes: usize,
} }

c_struct! { pub struct CUDA_RESOURCE_DESC_res_pitch2D {
    pub devPtr: CUdeviceptr,
    pub format: CUarray_format,
    pub numChannels: u32,
    pub width: usize,
    pub height: usize,
    pub pitchInBytes: usize,
} }

c_struct! { pub struct CUDA_RESOURCE_DESC_res_reserved {
    pub reserved: [i32; 32],
} }

c_union! { pub union CUDA_RESOURCE_DESC_res {
    pub array: CUDA_RESOURCE_DESC_res_array,
    pub mipmap: CUDA_RESOURCE_DESC_res_mipmap,
    pub linear: CUDA_RESOURCE_DESC_res_linear,
    pub pitch2D: CUDA_RESOURCE_DESC_res_pitch2D,
    pub reserved: CUDA_RESOURCE_DESC_res_reserved,
} }

c_struct! { pub struct CUDA_RESOURCE_DESC_v1 {
    pub resType: CUresourcetype,
    pub res: CUDA_RESOURCE_DESC_res,
    pub flags: u32,
} }

c_struct! { pub struct CUDA_TEXTURE_DESC_v1 {
    pub addressMode: [CUaddress_mode; 3],
    pub filterMode: CUfilter_mode,
    pub flags: u32,
    pub maxAnisotropy: u32,
    pub mipmapFilterMode: CUfilter_mode,
    pub mipmapLevelBias: f32,
    pub minMipmapLevelClamp: f32,
    pub maxMipmapLevelClamp: f32,
    pub borderColor: [f32; 4],
    pub reserved: [i32; 12],
} }

c_struct! { pub struct CUDA_RESOURCE_VIEW_DESC_v1 {
    pub format: CUresourceViewFormat,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub firstMipmapLevel: u32,
    pub lastMipmapLevel: u32,
    pub firstLayer: u32,
    pub lastLayer: u32,
    pub reserved: [u32; 16],
} }

c_struct! { pub struct CUtensorMap {
    pub opaque: [u64; 16],
} }

c_struct! { pub struct CUDA_POINTER_ATTRIBUTE_P2P_TOKENS_v1 {
    pub p2pToken: u64,
    pub vaSpaceToken: u32,
} }

c_struct! { pub struct CUDA_LAUNCH_PARAMS_v1 {
    pub function: CUfunction,
    pub gridDimX: u32,
    pub gridDimY: u32,
    pub gridDimZ: u32,
    pub blockDimX: u32,
    pub blockDimY: u32,
    pub blockDimZ: u32,
    pub sharedMemBytes: u32,
    pub hStream: CUstream,
    pub kernelParams: *mut *mut c_void,
} }

c_struct! { pub struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle_win32 {
    pub handle: *mut c_void,
    pub name: *const c_void,
} }

c_union! { pub union CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle {
    pub fd: i32,
    pub win32: CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle_win32,
    pub nvSciBufObject: *const c_void,
} }

c_struct! { pub struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1 {
    pub type_: CUexternalMemoryHandleType,
    pub handle: CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle,
    pub size: u64,
    pub flags: u32,
    pub reserved: [u32; 16],
} }

c_struct! { pub struct CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1 {
    pub offset: u64,
    pub size: u64,
    pub flags: u32,
    pub reserved: [u32; 16],
} }

c_struct! { pub struct CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_v1 {
    pub offset: u64,
    pub arrayDesc: CUDA_ARRAY3D_DESCRIPTOR,
    pub numLevels: u32,
    pub reserved: [u32; 16],
} }

c_struct! { pub struct CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle_win32 {
    pub handle: *mut c_void,
    pub name: *const c_void,
} }

c_union! { pub union CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle {
    pub fd: i32,
    pub win32: CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle_win32,
    pub nvSciSyncObj: *const c_void,
} }

c_struct! { pub struct CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1 {
    pub type_: CUexternalSemaphoreHandleType,
    pub handle: CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle,
    pub flags: u32,
    pub reserved: [u32; 16],
} }

c_struct! { pub struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_fence {
    pub value: u64,
} }

c_union! { pub union CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_nvSciSync {
    pub fence: *mut c_void,
    pub reserved: u64,
} }

c_struct! { pub struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_keyedMutex {
    pub key: u64,
} }

c_struct! { pub struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params {
    pub fence: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_fence,
    pub nvSciSync: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_nvSciSync,
    pub keyedMutex: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_keyedMutex,
    pub reserved: [u32; 12],
} }

c_struct! { pub struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1 {
    pub params: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params,
    pub flags: u32,
    pub reserved: [u32; 16],
} }

c_struct! { pub struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_fence {
    pub value: u64,
} }

c_union! { pub union CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_nvSciSync {
    pub fence: *mut c_void,
    pub reserved: u64,
} }

c_struct! { pub struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_keyedMutex {
    pub key: u64,
    pub timeoutMs: u32,
} }

c_struct! { pub struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params {
    pub fence: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_fence,
    pub nvSciSync: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_nvSciSync,
    pub keyedMutex: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_keyedMutex,
    pub reserved: [u32; 10],
} }

c_struct! { pub struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1 {
    pub params: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params,
    pub flags: u32,
    pub reserved: [u32; 16],
} }

c_struct! { pub struct CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 {
    pub extSemArray: *mut CUexternalSemaphore,
    pub paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
    pub numExtSems: u32,
} }

c_struct! { pub struct CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2 {
    pub extSemArray: *mut CUexternalSemaphore,
    pub paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
    pub numExtSems: u32,
    pub u: CUctxOrGreenCtx,
} }

c_struct! { pub struct CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 {
    pub extSemArray: *mut CUexternalSemaphore,
    pub paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
    pub numExtSems: u32,
} }

c_struct! { pub struct CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2 {
    pub extSemArray: *mut CUexternalSemaphore,
    pub paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
    pub numExtSems: u32,
    pub u: CUctxOrGreenCtx,
} }

c_union! { pub union CUarrayMapInfo_resource {
    pub mipmap: CUmipmappedArray,
    pub array: CUarray,
} }

c_struct! { pub struct CUarrayMapInfo_subresource_sparseLevel {
    pub level: u32,
    pub layer: u32,
    pub offsetX: u32,
    pub offsetY: u32,
    pub offsetZ: u32,
    pub extentWidth: u32,
    pub extentHeight: u32,
    pub extentDepth: u32,
} }

c_struct! { pub struct CUarrayMapInfo_subresource_miptail {
    pub layer: u32,
    pub offset: u64,
    pub size: u64,
} }

c_union! { pub union CUarrayMapInfo_subresource {
    pub sparseLevel: CUarrayMapInfo_subresource_sparseLevel,
    pub miptail: CUarrayMapInfo_subresource_miptail,
} }

c_union! { pub union CUarrayMapInfo_memHandle {
    pub memHandle: CUmemGenericAllocationHandle,
} }

c_struct! { pub struct CUarrayMapInfo_v1 {
    pub resourceType: CUresourcetype,
    pub resource: CUarrayMapInfo_resource,
    pub subresourceType: CUarraySparseSubresourceType,
    pub subresource: CUarrayMapInfo_subresource,
    pub memOperationType: CUmemOperationType,
    pub memHandleType: CUmemHandleType,
    pub memHandle: CUarrayMapInfo_memHandle,
    pub offset: u64,
    pub deviceBitMask: u32,
    pub flags: u32,
    pub reserved: [u32; 2],
} }

c_struct! { pub struct CUmemLocation_localized {
    pub deviceId: u8,
    pub localityDomainId: u8,
} }

c_struct! { pub struct CUmemLocation_v1 {
    pub type_: CUmemLocationType,
    pub id: i32,
} }

c_struct! { pub struct CUmemAllocationProp_allocFlags {
    pub compressionType: u8,
    pub gpuDirectRDMACapable: u8,
    pub usage: u16,
    pub reserved: [u8; 4],
} }

c_struct! { pub struct CUmemAllocationProp_v1 {
    pub type_: CUmemAllocationType,
    pub requestedHandleTypes: CUmemAllocationHandleType,
    pub location: CUmemLocation,
    pub win32HandleMetaData: *mut c_void,
    pub allocFlags: CUmemAllocationProp_allocFlags,
} }

c_struct! { pub struct CUmulticastObjectProp_v1 {
    pub numDevices: u32,
    pub size: usize,
    pub handleTypes: u64,
    pub flags: u64,
} }

c_struct! { pub struct CUmemAccessDesc_v1 {
    pub location: CUmemLocation,
    pub flags: CUmemAccess_flags,
} }

c_struct! { pub struct CUgraphExecUpdateResultInfo_v1 {
    pub result: CUgraphExecUpdateResult,
    pub errorNode: CUgraphNode,
    pub errorFromNode: CUgraphNode,
} }

c_struct! { pub struct CUmemPoolProps_v1 {
    pub allocType: CUmemAllocationType,
    pub handleTypes: CUmemAllocationHandleType,
    pub location: CUmemLocation,
    pub win32SecurityAttributes: *mut c_void,
    pub maxSize: usize,
    pub usage: u16,
    pub gpuDirectRDMACapable: u8,
    pub reserved: [u8; 53],
} }

c_struct! { pub struct CUmemPoolPtrExportData_v1 {
    pub reserved: [u8; 64],
} }

c_struct! { pub struct CUmemcpyAttributes_v1 {
    pub srcAccessOrder: CUmemcpySrcAccessOrder,
    pub srcLocHint: CUmemLocation,
    pub dstLocHint: CUmemLocation,
    pub flags: u32,
} }

c_struct! { pub struct CUoffset3D_v1 {
    pub x: usize,
    pub y: usize,
    pub z: usize,
} }

c_struct! { pub struct CUextent3D_v1 {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
} }

c_struct! { pub struct CUmemcpy3DOperand_op_ptr {
    pub ptr: CUdeviceptr,
    pub rowLength: usize,
    pub layerHeight: usize,
    pub locHint: CUmemLocation,
} }

c_struct! { pub struct CUmemcpy3DOperand_op_array {
    pub array: CUarray,
    pub offset: CUoffset3D,
} }

c_union! { pub union CUmemcpy3DOperand_op {
    pub ptr: CUmemcpy3DOperand_op_ptr,
    pub array: CUmemcpy3DOperand_op_array,
} }

c_struct! { pub struct CUmemcpy3DOperand_v1 {
    pub type_: CUmemcpy3DOperandType,
    pub op: CUmemcpy3DOperand_op,
} }

c_struct! { pub struct CUDA_MEMCPY3D_BATCH_OP_v1 {
    pub src: CUmemcpy3DOperand,
    pub dst: CUmemcpy3DOperand,
    pub extent: CUextent3D,
    pub srcAccessOrder: CUmemcpySrcAccessOrder,
    pub flags: u32,
} }

c_struct! { pub struct CUDA_MEM_ALLOC_NODE_PARAMS_v1 {
    pub poolProps: CUmemPoolProps,
    pub accessDescs: *const CUmemAccessDesc,
    pub accessDescCount: usize,
    pub bytesize: usize,
    pub dptr: CUdeviceptr,
} }

c_struct! { pub struct CUDA_MEM_ALLOC_NODE_PARAMS_v2 {
    pub poolProps: CUmemPoolProps,
    pub accessDescs: *const CUmemAccessDesc,
    pub accessDescCount: usize,
    pub bytesize: usize,
    pub dptr: CUdeviceptr,
} }

c_struct! { pub struct CUDA_MEM_FREE_NODE_PARAMS {
    pub dptr: CUdeviceptr,
} }

c_struct! { pub struct CUDA_CHILD_GRAPH_NODE_PARAMS {
    pub graph: CUgraph,
    pub ownership: CUgraphChildGraphNodeOwnership,
} }

c_struct! { pub struct CUDA_EVENT_RECORD_NODE_PARAMS {
    pub event: CUevent,
    pub u: CUctxOrGreenCtx,
} }

c_struct! { pub struct CUDA_EVENT_WAIT_NODE_PARAMS {
    pub event: CUevent,
} }

c_struct! { pub struct CUDA_MEMCPY_BATCH_NODE_PARAMS_V1 {
    pub count: usize,
    pub dsts: *mut CUdeviceptr,
    pub srcs: *mut CUdeviceptr,
    pub sizes: *mut usize,
    pub attrs: *mut CUmemcpyAttributes,
    pub attrsIdxs: *mut usize,
    pub numAttrs: usize,
    pub u: CUctxOrGreenCtx,
} }

c_struct! { pub struct CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1 {
    pub numOps: usize,
    pub opList: *mut CUDA_FABRIC_COPY_BATCH_OP,
    pub flags: u64,
    pub u: CUctxOrGreenCtx,
} }

c_union! { pub union CUgraphNodeParams_u {
    pub reserved1: [i64; 29],
    pub kernel: CUDA_KERNEL_NODE_PARAMS_v3,
    pub memcpy: CUDA_MEMCPY_NODE_PARAMS,
    pub memset: CUDA_MEMSET_NODE_PARAMS_v2,
    pub host: CUDA_HOST_NODE_PARAMS_v2,
    pub graph: CUDA_CHILD_GRAPH_NODE_PARAMS,
    pub eventWait: CUDA_EVENT_WAIT_NODE_PARAMS,
    pub eventRecord: CUDA_EVENT_RECORD_NODE_PARAMS,
    pub extSemSignal: CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2,
    pub extSemWait: CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2,
    pub alloc: CUDA_MEM_ALLOC_NODE_PARAMS_v2,
    pub free: CUDA_MEM_FREE_NODE_PARAMS,
    pub memOp: CUDA_BATCH_MEM_OP_NODE_PARAMS_v2,
    pub conditional: CUDA_CONDITIONAL_NODE_PARAMS,
    pub memcpyBatch: CUDA_MEMCPY_BATCH_NODE_PARAMS_V1,
    pub fabricCpyBatch: CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1,
    pub asBytes: [u8; 232],
} }

c_struct! { pub struct CUgraphNodeParams {
    pub type_: CUgraphNodeType,
    pub reserved0: [i32; 3],
    pub u: CUgraphNodeParams_u,
    pub reserved2: i64,
} }

c_struct! { pub struct CUcheckpointCustomStoragePerDeviceData {
    pub devPtr: CUdeviceptr,
    pub size: usize,
    pub stream: CUstream,
} }

c_struct! { pub struct CUcheckpointCustomStorageInfo {
    pub handle: CUcheckpointOperationHandle,
    pub perDeviceData: *mut CUcheckpointCustomStoragePerDeviceData,
    pub deviceCount: u32,
} }

c_struct! { pub struct CUcheckpointLockArgs {
    pub timeoutMs: u32,
    pub reserved0: u32,
    pub reserved1: [u64; 7],
} }

c_struct! { pub struct CUcheckpointCheckpointArgs {
    pub customStorageInfo_out: *mut *mut CUcheckpointCustomStorageInfo,
    pub reserved: [u8; 56],
} }

c_struct! { pub struct CUcheckpointGpuPair {
    pub oldUuid: CUuuid,
    pub newUuid: CUuuid,
} }

c_struct! { pub struct CUcheckpointRestoreArgs {
    pub gpuPairs: *mut CUcheckpointGpuPair,
    pub gpuPairsCount: u32,
    pub padding0: u32,
    pub customStorageInfo_out: *mut *mut CUcheckpointCustomStorageInfo,
    pub reserved: [u8; 40],
} }

c_struct! { pub struct CUcheckpointUnlockArgs {
    pub reserved: [u64; 8],
} }

c_struct! { pub struct CUmemDecompressParams {
    pub srcNumBytes: usize,
    pub dstNumBytes: usize,
    pub dstActBytes: *mut u32,
    pub src: *const c_void,
    pub dst: *mut c_void,
    pub algo: CUmemDecompressAlgorithm,
    pub padding: [u8; 20],
} }

c_struct! { pub struct CUcliqueInfo {
    pub type_: CUcliqueType,
    pub id: u32,
} }

c_struct! { pub struct CUlogicalEndpointFabricHandle {
    pub data: [u8; 64],
} }

c_struct! { pub struct CUlogicalEndpointProp_u_unicast {
    pub device: CUdevice,
} }

c_struct! { pub struct CUlogicalEndpointProp_u_multicast {
    pub numDevices: u32,
} }

c_union! { pub union CUlogicalEndpointProp_u {
    pub unicast: CUlogicalEndpointProp_u_unicast,
    pub multicast: CUlogicalEndpointProp_u_multicast,
} }

c_struct! { pub struct CUlogicalEndpointProp {
    pub type_: CUlogicalEndpointType,
    pub u: CUlogicalEndpointProp_u,
    pub size: u64,
    pub ipcHandleTypes: u32,
    pub flags: u32,
} }

c_struct! { pub struct CUfabricCpyOperand_op_ptr {
    pub ptr: CUdeviceptr,
    pub locHint: CUmemLocation,
} }

c_struct! { pub struct CUfabricCpyOperand_op_le {
    pub id: CUlogicalEndpointId,
    pub offset: u64,
} }

c_union! { pub union CUfabricCpyOperand_op {
    pub ptr: CUfabricCpyOperand_op_ptr,
    pub le: CUfabricCpyOperand_op_le,
} }

c_struct! { pub struct CUfabricCpyOperand {
    pub type_: CUfabricCpyOperandType,
    pub op: CUfabricCpyOperand_op,
} }

c_struct! { pub struct CUDA_FABRIC_COPY_BATCH_OP_v1 {
    pub src: CUfabricCpyOperand,
    pub dst: CUfabricCpyOperand,
    pub size: usize,
    pub flags: u32,
} }

c_struct! { pub struct CUdevSmResource {
    pub smCount: u32,
    pub minSmPartitionSize: u32,
    pub smCoscheduledAlignment: u32,
    pub flags: u32,
    pub localityDomainId: u32,
} }

c_struct! { pub struct CUdevWorkqueueConfigResource {
    pub device: CUdevice,
    pub wqConcurrencyLimit: u32,
    pub sharingScope: CUdevWorkqueueConfigScope,
} }

c_struct! { pub struct CUdevWorkqueueResource {
    pub reserved: [u8; 40],
} }

c_struct! { pub struct CU_DEV_SM_RESOURCE_GROUP_PARAMS {
    pub smCount: u32,
    pub coscheduledSmCount: u32,
    pub preferredCoscheduledSmCount: u32,
    pub flags: u32,
    pub localityDomainId: u32,
    pub reserved: [u32; 11],
} }

c_union! { pub union CUdevResource_u {
    pub sm: CUdevSmResource,
    pub wqConfig: CUdevWorkqueueConfigResource,
    pub wq: CUdevWorkqueueResource,
    pub _oversize: [u8; 40],
} }

c_struct! { pub struct CUdevResource_v1 {
    pub type_: CUdevResourceType,
    pub _internal_padding: [u8; 92],
    pub u: CUdevResource_u,
    pub nextResource: *mut CUdevResource_v1,
} }

c_struct! { pub struct CUDA_MEMCPY2D_v1 {
    pub srcXInBytes: u32,
    pub srcY: u32,
    pub srcMemoryType: CUmemorytype,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr_v1,
    pub srcArray: CUarray,
    pub srcPitch: u32,
    pub dstXInBytes: u32,
    pub dstY: u32,
    pub dstMemoryType: CUmemorytype,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr_v1,
    pub dstArray: CUarray,
    pub dstPitch: u32,
    pub WidthInBytes: u32,
    pub Height: u32,
} }

c_struct! { pub struct CUDA_MEMCPY3D_v1 {
    pub srcXInBytes: u32,
    pub srcY: u32,
    pub srcZ: u32,
    pub srcLOD: u32,
    pub srcMemoryType: CUmemorytype,
    pub srcHost: *const c_void,
    pub srcDevice: CUdeviceptr_v1,
    pub srcArray: CUarray,
    pub reserved0: *mut c_void,
    pub srcPitch: u32,
    pub srcHeight: u32,
    pub dstXInBytes: u32,
    pub dstY: u32,
    pub dstZ: u32,
    pub dstLOD: u32,
    pub dstMemoryType: CUmemorytype,
    pub dstHost: *mut c_void,
    pub dstDevice: CUdeviceptr_v1,
    pub dstArray: CUarray,
    pub reserved1: *mut c_void,
    pub dstPitch: u32,
    pub dstHeight: u32,
    pub WidthInBytes: u32,
    pub Height: u32,
    pub Depth: u32,
} }

c_struct! { pub struct CUDA_ARRAY_DESCRIPTOR_v1 {
    pub Width: u32,
    pub Height: u32,
    pub Format: CUarray_format,
    pub NumChannels: u32,
} }

c_struct! { pub struct CUDA_ARRAY3D_DESCRIPTOR_v1 {
    pub Width: u32,
    pub Height: u32,
    pub Depth: u32,
    pub Format: CUarray_format,
    pub NumChannels: u32,
    pub Flags: u32,
} }

pub type CUaccessPolicyWindow = CUaccessPolicyWindow_v1;
pub type CUarrayMapInfo = CUarrayMapInfo_v1;
pub type CUDA_ARRAY3D_DESCRIPTOR = CUDA_ARRAY3D_DESCRIPTOR_v2;
pub type CUDA_ARRAY_DESCRIPTOR = CUDA_ARRAY_DESCRIPTOR_v2;
pub type CUDA_ARRAY_MEMORY_REQUIREMENTS = CUDA_ARRAY_MEMORY_REQUIREMENTS_v1;
pub type CUDA_ARRAY_SPARSE_PROPERTIES = CUDA_ARRAY_SPARSE_PROPERTIES_v1;
pub type CUDA_BATCH_MEM_OP_NODE_PARAMS = CUDA_BATCH_MEM_OP_NODE_PARAMS_v1;
pub type CUDA_EXT_SEM_SIGNAL_NODE_PARAMS = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1;
pub type CUDA_EXT_SEM_WAIT_NODE_PARAMS = CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1;
pub type CUDA_EXTERNAL_MEMORY_BUFFER_DESC = CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1;
pub type CUDA_EXTERNAL_MEMORY_HANDLE_DESC = CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1;
pub type CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC = CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_v1;
pub type CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1;
pub type CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1;
pub type CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS = CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1;
pub type CUDA_FABRIC_COPY_BATCH_OP = CUDA_FABRIC_COPY_BATCH_OP_v1;
pub type CUDA_FABRIC_CPY_BATCH_NODE_PARAMS = CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1;
pub type CUDA_HOST_NODE_PARAMS = CUDA_HOST_NODE_PARAMS_v1;
pub type CUDA_KERNEL_NODE_PARAMS = CUDA_KERNEL_NODE_PARAMS_v2;
pub type CUDA_LAUNCH_PARAMS = CUDA_LAUNCH_PARAMS_v1;
pub type CUDA_MEM_ALLOC_NODE_PARAMS = CUDA_MEM_ALLOC_NODE_PARAMS_v1;
pub type CUDA_MEMCPY2D = CUDA_MEMCPY2D_v2;
pub type CUDA_MEMCPY3D = CUDA_MEMCPY3D_v2;
pub type CUDA_MEMCPY3D_BATCH_OP = CUDA_MEMCPY3D_BATCH_OP_v1;
pub type CUDA_MEMCPY3D_PEER = CUDA_MEMCPY3D_PEER_v1;
pub type CUDA_MEMCPY_BATCH_NODE_PARAMS = CUDA_MEMCPY_BATCH_NODE_PARAMS_V1;
pub type CUDA_MEMSET_NODE_PARAMS = CUDA_MEMSET_NODE_PARAMS_v1;
pub type CUDA_POINTER_ATTRIBUTE_P2P_TOKENS = CUDA_POINTER_ATTRIBUTE_P2P_TOKENS_v1;
pub type CUDA_RESOURCE_DESC = CUDA_RESOURCE_DESC_v1;
pub type CUDA_RESOURCE_VIEW_DESC = CUDA_RESOURCE_VIEW_DESC_v1;
pub type CUDA_TEXTURE_DESC = CUDA_TEXTURE_DESC_v1;
pub type CUdevprop = CUdevprop_v1;
pub type CUdevResource = CUdevResource_v1;
pub type CUexecAffinityParam = CUexecAffinityParam_v1;
pub type CUexecAffinitySmCount = CUexecAffinitySmCount_v1;
pub type CUextent3D = CUextent3D_v1;
pub type CUgraphExecUpdateResultInfo = CUgraphExecUpdateResultInfo_v1;
pub type CUipcEventHandle = CUipcEventHandle_v1;
pub type CUipcMemHandle = CUipcMemHandle_v1;
pub type CUkernelNodeAttrValue = CUkernelNodeAttrValue_v1;
pub type CUkernelNodeAttrValue_v1 = CUlaunchAttributeValue;
pub type CUmemAccessDesc = CUmemAccessDesc_v1;
pub type CUmemAllocationProp = CUmemAllocationProp_v1;
pub type CUmemcpy3DOperand = CUmemcpy3DOperand_v1;
pub type CUmemcpyAttributes = CUmemcpyAttributes_v1;
pub type CUmemFabricHandle = CUmemFabricHandle_v1;
pub type CUmemLocation = CUmemLocation_v1;
pub type CUmemPoolProps = CUmemPoolProps_v1;
pub type CUmemPoolPtrExportData = CUmemPoolPtrExportData_v1;
pub type CUmulticastObjectProp = CUmulticastObjectProp_v1;
pub type CUoffset3D = CUoffset3D_v1;
pub type CUstreamAttrValue = CUstreamAttrValue_v1;
pub type CUstreamAttrValue_v1 = CUlaunchAttributeValue;
pub type CUstreamBatchMemOpParams = CUstreamBatchMemOpParams_v1;
