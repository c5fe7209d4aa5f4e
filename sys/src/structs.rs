//! Every C struct and union of the driver API, by subject, laid out as in the header of CUDA 13.5.
//!
//! If a struct changed over time, each layout that some function takes has its own type with C's
//! `_v1`, `_v2` suffix; the plain name is the newest. Fields that came later took the place of
//! reserved bytes, or of room in the union around the struct, so a type serves older drivers too as
//! long as the fields that are marked with a newer version are zero.
//!
//! Rust needs a few names that C has not: an anonymous union is the field `u`; a type declared
//! inside another is `Outer_field`; the fields `type` and `fn` are `type_` and `fn_`. Arrays of
//! `char` that hold bytes are arrays of `u8`. `CUmemLocation` keeps a plain `id`, whose bytes
//! [`CUmemLocation_localized`] interprets. A note "CUDA x.y+" is the first toolkit later than 11.8
//! whose header has the item; a field without one is as old as its struct.

use core::ffi::c_void;
use core::fmt;

use crate::enums::*;
use crate::types::*;

c_types! {
    // Identity

    /// A 16-byte identifier, as of a device.
    pub struct CUuuid {
        /// The bytes, in printed order.
        pub bytes: [u8; 16],
    }

    /// An event for another process to open; opaque.
    pub struct CUipcEventHandle_v1 {
        /// For the driver only.
        pub reserved: [u8; 64],
    }

    /// Device memory for another process to open; opaque.
    pub struct CUipcMemHandle_v1 {
        /// For the driver only.
        pub reserved: [u8; 64],
    }

    // Devices

    /// The old device properties of `cuDeviceGetProperties`.
    pub struct CUdevprop_v1 {
        /// Most threads in a block.
        pub maxThreadsPerBlock: i32,
        /// Most threads of a block along x, y and z.
        pub maxThreadsDim: [i32; 3],
        /// Most blocks of a grid along x, y and z.
        pub maxGridSize: [i32; 3],
        /// Shared memory of a block, in bytes.
        pub sharedMemPerBlock: i32,
        /// Constant memory, in bytes.
        pub totalConstantMemory: i32,
        /// Threads in a warp.
        pub SIMDWidth: i32,
        /// Largest row pitch of a copy, in bytes.
        pub memPitch: i32,
        /// 32-bit registers of a block.
        pub regsPerBlock: i32,
        /// Clock, in kHz.
        pub clockRate: i32,
        /// Alignment of textures, in bytes.
        pub textureAlign: i32,
    }

    /// One fabric clique that a device belongs to. CUDA 13.4+.
    pub struct CUcliqueInfo {
        /// Resource that its devices can share.
        pub type_: CUcliqueType,
        /// Its number.
        pub id: u32,
    }

    // Contexts

    /// A number of multiprocessors to restrict a context to.
    pub struct CUexecAffinitySmCount_v1 {
        /// Number of multiprocessors; rounded up by the driver.
        pub val: u32,
    }

    /// The value of a `CUexecAffinityParam`.
    pub union CUexecAffinityParam_param {
        /// For `CU_EXEC_AFFINITY_TYPE_SM_COUNT`.
        pub smCount: CUexecAffinitySmCount,
    }

    /// One restriction of a context to part of its device.
    pub struct CUexecAffinityParam_v1 {
        /// Selector of the field of `param`.
        pub type_: CUexecAffinityType,
        /// The value.
        pub param: CUexecAffinityParam_param,
    }

    /// Object that a context shares with a graphics API. CUDA 12.5+.
    pub struct CUctxCigParam {
        /// Kind of `sharedData`.
        pub sharedDataType: CUcigDataType,
        /// The graphics API's handle or data block.
        pub sharedData: *mut c_void,
    }

    /// Parameters of `cuCtxCreate_v4`. CUDA 12.5+.
    pub struct CUctxCreateParams {
        /// Restrictions, or null; excludes `cigParams`.
        pub execAffinityParams: *mut CUexecAffinityParam,
        /// Number of restrictions.
        pub numExecAffinityParams: i32,
        /// Object to share with a graphics API, or null; excludes `execAffinityParams`.
        pub cigParams: *mut CUctxCigParam,
    }

    // Green contexts

    /// Multiprocessors as a resource. CUDA 12.4+.
    pub struct CUdevSmResource {
        /// Number of multiprocessors.
        pub smCount: u32,
        /// Least multiprocessors in a part. CUDA 13.0+.
        pub minSmPartitionSize: u32,
        /// Number that is sure to be scheduled together; divides `smCount` without backfill.
        /// CUDA 13.0+.
        pub smCoscheduledAlignment: u32,
        /// Bits of `CUdevSmResourceGroup_flags`. CUDA 13.1+.
        pub flags: u32,
        /// Their locality domain, with `CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID`. CUDA 13.4+.
        pub localityDomainId: u32,
    }

    /// Sharing of work queues. CUDA 13.1+.
    pub struct CUdevWorkqueueConfigResource {
        /// The device they are on.
        pub device: CUdevice,
        /// Most stream-ordered workloads expected at a time.
        pub wqConcurrencyLimit: u32,
        /// With whom they are shared.
        pub sharingScope: CUdevWorkqueueConfigScope,
    }

    /// Work queues as a resource; opaque. CUDA 13.1+.
    pub struct CUdevWorkqueueResource {
        /// For the driver only.
        pub reserved: [u8; 40],
    }

    /// The resource of a `CUdevResource`. CUDA 12.4+.
    pub union CUdevResource_u {
        /// For `CU_DEV_RESOURCE_TYPE_SM`.
        pub sm: CUdevSmResource,
        /// For `CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG`. CUDA 13.1+.
        pub wqConfig: CUdevWorkqueueConfigResource,
        /// For `CU_DEV_RESOURCE_TYPE_WORKQUEUE`. CUDA 13.1+.
        pub wq: CUdevWorkqueueResource,
        /// Room for kinds to come.
        pub _oversize: [u8; 40],
    }

    /// A part of a device that a green context can be given. CUDA 12.4+.
    pub struct CUdevResource_v1 {
        /// Selector of the field of `u`.
        pub type_: CUdevResourceType,
        /// For the driver only.
        pub _internal_padding: [u8; 92],
        /// The resource; an anonymous union in C.
        pub u: CUdevResource_u,
        /// Next resource of a list, or null. CUDA 13.1+.
        pub nextResource: *mut CUdevResource_v1,
    }

    /// One group to split multiprocessors into. CUDA 13.1+.
    pub struct CU_DEV_SM_RESOURCE_GROUP_PARAMS {
        /// Number of multiprocessors; 0 to ask how many there could be.
        pub smCount: u32,
        /// Number that must be scheduled together.
        pub coscheduledSmCount: u32,
        /// Number that should be scheduled together, where possible.
        pub preferredCoscheduledSmCount: u32,
        /// Bits of `CUdevSmResourceGroup_flags`.
        pub flags: u32,
        /// Their locality domain, with `CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID`. CUDA 13.4+.
        pub localityDomainId: u32,
        /// Must be zero.
        pub reserved: [u32; 11],
    }

    // Streams

    /// Object that a capturing stream shares with a graphics API. CUDA 13.2+.
    pub struct CUstreamCigParam {
        /// Kind of `streamSharedData`.
        pub streamSharedDataType: CUstreamCigDataType,
        /// The graphics API's handle.
        pub streamSharedData: *mut c_void,
    }

    /// Parameters of `cuStreamBeginCaptureToCig`. CUDA 13.2+.
    pub struct CUstreamCigCaptureParams {
        /// Object to share; not null.
        pub streamCigParams: *mut CUstreamCigParam,
    }

    /// The value of a wait or write.
    pub union CUstreamMemOpValue {
        /// For 32-bit operations.
        pub value: u32,
        /// For 64-bit operations.
        pub value64: u64,
    }

    /// Wait until memory meets a condition.
    pub struct CUstreamMemOpWaitValueParams {
        /// `CU_STREAM_MEM_OP_WAIT_VALUE_32` or `CU_STREAM_MEM_OP_WAIT_VALUE_64`.
        pub operation: CUstreamBatchMemOpType,
        /// Address to watch; aligned to the width.
        pub address: CUdeviceptr,
        /// The value to compare with; an anonymous union in C.
        pub u: CUstreamMemOpValue,
        /// A condition of `CUstreamWaitValue_flags`.
        pub flags: u32,
        /// For the driver only; zero.
        pub alias: CUdeviceptr,
    }

    /// Write a value to memory.
    pub struct CUstreamMemOpWriteValueParams {
        /// `CU_STREAM_MEM_OP_WRITE_VALUE_32` or `CU_STREAM_MEM_OP_WRITE_VALUE_64`.
        pub operation: CUstreamBatchMemOpType,
        /// Address to write to; aligned to the width.
        pub address: CUdeviceptr,
        /// The value to write; an anonymous union in C.
        pub u: CUstreamMemOpValue,
        /// Bits of `CUstreamWriteValue_flags`.
        pub flags: u32,
        /// For the driver only; zero.
        pub alias: CUdeviceptr,
    }

    /// Flush writes that came from outside.
    pub struct CUstreamMemOpFlushRemoteWritesParams {
        /// `CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES`.
        pub operation: CUstreamBatchMemOpType,
        /// Must be zero.
        pub flags: u32,
    }

    /// Order memory operations before and after.
    pub struct CUstreamMemOpMemoryBarrierParams {
        /// `CU_STREAM_MEM_OP_BARRIER`.
        pub operation: CUstreamBatchMemOpType,
        /// A `CUstreamMemoryBarrier_flags`.
        pub flags: u32,
    }

    /// Reduce a value into memory. CUDA 13.1+.
    pub struct CUstreamMemOpAtomicReductionParams {
        /// `CU_STREAM_MEM_OP_ATOMIC_REDUCTION`.
        pub operation: CUstreamBatchMemOpType,
        /// Must be zero.
        pub flags: u32,
        /// The operation.
        pub reductionOp: CUstreamAtomicReductionOpType,
        /// The width of memory and value.
        pub dataType: CUstreamAtomicReductionDataType,
        /// Address to change; aligned to the width.
        pub address: CUdeviceptr,
        /// The operand.
        pub value: u64,
        /// For the driver only; zero.
        pub alias: CUdeviceptr,
    }

    /// One stream memory operation; all variants start with `operation`.
    pub union CUstreamBatchMemOpParams_v1 {
        /// Selector of the variant.
        pub operation: CUstreamBatchMemOpType,
        /// A wait.
        pub waitValue: CUstreamMemOpWaitValueParams,
        /// A write.
        pub writeValue: CUstreamMemOpWriteValueParams,
        /// A flush.
        pub flushRemoteWrites: CUstreamMemOpFlushRemoteWritesParams,
        /// A barrier.
        pub memoryBarrier: CUstreamMemOpMemoryBarrierParams,
        /// A reduction. CUDA 13.1+.
        pub atomicReduction: CUstreamMemOpAtomicReductionParams,
        /// Room for variants to come.
        pub pad: [u64; 6],
    }

    // Memory places and pools

    /// A locality domain, as stored in the first two bytes of `CUmemLocation::id` in memory order.
    /// CUDA 13.4+.
    pub struct CUmemLocation_localized {
        /// Ordinal of the device.
        pub deviceId: u8,
        /// Number of the domain on it.
        pub localityDomainId: u8,
    }

    /// A memory location.
    pub struct CUmemLocation_v1 {
        /// The kind of location, which determines the meaning of `id`.
        pub type_: CUmemLocationType,
        /// Device ordinal, NUMA node or unused; for a locality domain, see
        /// [`CUmemLocation_localized`].
        pub id: i32,
    }

    /// Access that a place has to memory.
    pub struct CUmemAccessDesc_v1 {
        /// The place whose access is set.
        pub location: CUmemLocation,
        /// Access that it has.
        pub flags: CUmemAccess_flags,
    }

    /// Hints and uses of an allocation.
    pub struct CUmemAllocationProp_allocFlags {
        /// A `CUmemAllocationCompType`.
        pub compressionType: u8,
        /// 1 if GPUDirect RDMA will use it.
        pub gpuDirectRDMACapable: u8,
        /// Bits of `CU_MEM_CREATE_USAGE_*`.
        pub usage: u16,
        /// Must be zero.
        pub reserved: [u8; 4],
    }

    /// Properties of an allocation by `cuMemCreate`.
    pub struct CUmemAllocationProp_v1 {
        /// The kind of memory.
        pub type_: CUmemAllocationType,
        /// Handle types that it may be exported as.
        pub requestedHandleTypes: CUmemAllocationHandleType,
        /// Location of the memory.
        pub location: CUmemLocation,
        /// Object attributes for `CU_MEM_HANDLE_TYPE_WIN32`, else null.
        pub win32HandleMetaData: *mut c_void,
        /// Hints and uses.
        pub allocFlags: CUmemAllocationProp_allocFlags,
    }

    /// Properties of a pool that `cuMemPoolCreate` makes.
    pub struct CUmemPoolProps_v1 {
        /// The kind of memory.
        pub allocType: CUmemAllocationType,
        /// Handle types that the pool may be exported as.
        pub handleTypes: CUmemAllocationHandleType,
        /// Location of the pool's memory.
        pub location: CUmemLocation,
        /// Security attributes for `CU_MEM_HANDLE_TYPE_WIN32`, else null.
        pub win32SecurityAttributes: *mut c_void,
        /// Largest size in bytes; 0 lets the driver choose. CUDA 12.2+.
        pub maxSize: usize,
        /// Bits of `CU_MEM_POOL_CREATE_USAGE_*`. CUDA 12.6+.
        pub usage: u16,
        /// 1 if GPUDirect RDMA will use it. CUDA 13.4+.
        pub gpuDirectRDMACapable: u8,
        /// Must be zero.
        pub reserved: [u8; 53],
    }

    /// One allocation of a shared pool for another process to import; opaque.
    pub struct CUmemPoolPtrExportData_v1 {
        /// For the driver only.
        pub reserved: [u8; 64],
    }

    /// Memory for another machine of the fabric to import; opaque. CUDA 12.3+.
    pub struct CUmemFabricHandle_v1 {
        /// For the driver only.
        pub data: [u8; 64],
    }

    /// Properties of an object that `cuMulticastCreate` makes. CUDA 12.1+.
    pub struct CUmulticastObjectProp_v1 {
        /// Devices that will bind memory to it.
        pub numDevices: u32,
        /// Memory that each device can bind, in bytes.
        pub size: usize,
        /// Handle types that it may be exported as, bits of `CUmemAllocationHandleType`.
        pub handleTypes: u64,
        /// Must be zero.
        pub flags: u64,
    }

    /// Tokens for the kernel's old peer-to-peer interface.
    pub struct CUDA_POINTER_ATTRIBUTE_P2P_TOKENS_v1 {
        /// Identifies the memory.
        pub p2pToken: u64,
        /// Identifies the address space.
        pub vaSpaceToken: u32,
    }

    /// For `CU_ASYNC_NOTIFICATION_TYPE_OVER_BUDGET`. CUDA 12.4+.
    pub struct CUasyncNotificationInfo_info_overBudget {
        /// Bytes in use beyond the budget.
        pub bytesOverBudget: u64,
    }

    /// The details of a notification. CUDA 12.4+.
    pub union CUasyncNotificationInfo_info {
        /// Too much memory in use.
        pub overBudget: CUasyncNotificationInfo_info_overBudget,
    }

    /// Message to an asynchronous callback. CUDA 12.4+.
    pub struct CUasyncNotificationInfo {
        /// Selector of the field of `info`.
        pub type_: CUasyncNotificationType,
        /// The details.
        pub info: CUasyncNotificationInfo_info,
    }

    /// One decompression of a batch. CUDA 12.8+.
    pub struct CUmemDecompressParams {
        /// Compressed bytes to read.
        pub srcNumBytes: usize,
        /// Bytes expected; a hint for scheduling, 0 if unknown.
        pub dstNumBytes: usize,
        /// Address to which the device writes the number of bytes there were.
        pub dstActBytes: *mut u32,
        /// The compressed bytes.
        pub src: *const c_void,
        /// Address of the result.
        pub dst: *mut c_void,
        /// Their format.
        pub algo: CUmemDecompressAlgorithm,
        /// Must be zero.
        pub padding: [u8; 20],
    }

    // Logical endpoints

    /// A logical endpoint for another machine of the fabric to import; opaque. CUDA 13.3+.
    pub struct CUlogicalEndpointFabricHandle {
        /// For the driver only.
        pub data: [u8; 64],
    }

    /// For `CU_LOGICAL_ENDPOINT_TYPE_UNICAST`. CUDA 13.3+.
    pub struct CUlogicalEndpointProp_u_unicast {
        /// The device that owns the endpoint.
        pub device: CUdevice,
    }

    /// For `CU_LOGICAL_ENDPOINT_TYPE_MULTICAST`. CUDA 13.3+.
    pub struct CUlogicalEndpointProp_u_multicast {
        /// Devices of the team.
        pub numDevices: u32,
    }

    /// Devices of a logical endpoint. CUDA 13.3+.
    pub union CUlogicalEndpointProp_u {
        /// One device.
        pub unicast: CUlogicalEndpointProp_u_unicast,
        /// A team of devices.
        pub multicast: CUlogicalEndpointProp_u_multicast,
    }

    /// Properties of an endpoint that `cuLogicalEndpointCreate` makes. CUDA 13.3+.
    pub struct CUlogicalEndpointProp {
        /// Selector of the field of `u`.
        pub type_: CUlogicalEndpointType,
        /// The devices of the endpoint; an anonymous union in C.
        pub u: CUlogicalEndpointProp_u,
        /// Its size, in bytes.
        pub size: u64,
        /// Handle types that it may be exported as, bits of `CUlogicalEndpointIpcHandleType`.
        pub ipcHandleTypes: u32,
        /// Bits of `CUlogicalEndpointFlag`.
        pub flags: u32,
    }

    // Copies

    /// A copy of a 2D region.
    pub struct CUDA_MEMCPY2D_v2 {
        /// First byte of a row to read.
        pub srcXInBytes: usize,
        /// First row to read.
        pub srcY: usize,
        /// Location of the source, which selects the source field that counts.
        pub srcMemoryType: CUmemorytype,
        /// Source in host memory.
        pub srcHost: *const c_void,
        /// Source in device or unified memory.
        pub srcDevice: CUdeviceptr,
        /// Source array.
        pub srcArray: CUarray,
        /// Bytes from one source row to the next; unused for an array.
        pub srcPitch: usize,
        /// First byte of a row to write.
        pub dstXInBytes: usize,
        /// First row to write.
        pub dstY: usize,
        /// Location of the destination, which selects the destination field that counts.
        pub dstMemoryType: CUmemorytype,
        /// Destination in host memory.
        pub dstHost: *mut c_void,
        /// Destination in device or unified memory.
        pub dstDevice: CUdeviceptr,
        /// Destination array.
        pub dstArray: CUarray,
        /// Bytes from one destination row to the next; unused for an array.
        pub dstPitch: usize,
        /// Bytes of each row.
        pub WidthInBytes: usize,
        /// Number of rows.
        pub Height: usize,
    }

    /// A copy of a 3D region.
    pub struct CUDA_MEMCPY3D_v2 {
        /// First byte of a row to read.
        pub srcXInBytes: usize,
        /// First row to read.
        pub srcY: usize,
        /// First slice to read.
        pub srcZ: usize,
        /// Must be zero.
        pub srcLOD: usize,
        /// Location of the source, which selects the source field that counts.
        pub srcMemoryType: CUmemorytype,
        /// Source in host memory.
        pub srcHost: *const c_void,
        /// Source in device or unified memory.
        pub srcDevice: CUdeviceptr,
        /// Source array.
        pub srcArray: CUarray,
        /// Must be null.
        pub reserved0: *mut c_void,
        /// Bytes from one source row to the next; unused for an array.
        pub srcPitch: usize,
        /// Rows from one source slice to the next; unused for an array or one slice.
        pub srcHeight: usize,
        /// First byte of a row to write.
        pub dstXInBytes: usize,
        /// First row to write.
        pub dstY: usize,
        /// First slice to write.
        pub dstZ: usize,
        /// Must be zero.
        pub dstLOD: usize,
        /// Location of the destination, which selects the destination field that counts.
        pub dstMemoryType: CUmemorytype,
        /// Destination in host memory.
        pub dstHost: *mut c_void,
        /// Destination in device or unified memory.
        pub dstDevice: CUdeviceptr,
        /// Destination array.
        pub dstArray: CUarray,
        /// Must be null.
        pub reserved1: *mut c_void,
        /// Bytes from one destination row to the next; unused for an array.
        pub dstPitch: usize,
        /// Rows from one destination slice to the next; unused for an array or one slice.
        pub dstHeight: usize,
        /// Bytes of each row.
        pub WidthInBytes: usize,
        /// Rows of each slice.
        pub Height: usize,
        /// Number of slices.
        pub Depth: usize,
    }

    /// A copy of a 3D region from one context to another.
    pub struct CUDA_MEMCPY3D_PEER_v1 {
        /// First byte of a row to read.
        pub srcXInBytes: usize,
        /// First row to read.
        pub srcY: usize,
        /// First slice to read.
        pub srcZ: usize,
        /// Must be zero.
        pub srcLOD: usize,
        /// Location of the source, which selects the source field that counts.
        pub srcMemoryType: CUmemorytype,
        /// Source in host memory.
        pub srcHost: *const c_void,
        /// Source in device or unified memory.
        pub srcDevice: CUdeviceptr,
        /// Source array.
        pub srcArray: CUarray,
        /// Context of the source, for device memory.
        pub srcContext: CUcontext,
        /// Bytes from one source row to the next; unused for an array.
        pub srcPitch: usize,
        /// Rows from one source slice to the next; unused for an array or one slice.
        pub srcHeight: usize,
        /// First byte of a row to write.
        pub dstXInBytes: usize,
        /// First row to write.
        pub dstY: usize,
        /// First slice to write.
        pub dstZ: usize,
        /// Must be zero.
        pub dstLOD: usize,
        /// Location of the destination, which selects the destination field that counts.
        pub dstMemoryType: CUmemorytype,
        /// Destination in host memory.
        pub dstHost: *mut c_void,
        /// Destination in device or unified memory.
        pub dstDevice: CUdeviceptr,
        /// Destination array.
        pub dstArray: CUarray,
        /// Context of the destination, for device memory.
        pub dstContext: CUcontext,
        /// Bytes from one destination row to the next; unused for an array.
        pub dstPitch: usize,
        /// Rows from one destination slice to the next; unused for an array or one slice.
        pub dstHeight: usize,
        /// Bytes of each row.
        pub WidthInBytes: usize,
        /// Rows of each slice.
        pub Height: usize,
        /// Number of slices.
        pub Depth: usize,
    }

    /// The 32-bit form of [`CUDA_MEMCPY2D_v2`], for symbols older than CUDA 3.2.
    pub struct CUDA_MEMCPY2D_v1 {
        /// First byte of a row to read.
        pub srcXInBytes: u32,
        /// First row to read.
        pub srcY: u32,
        /// Location of the source, which selects the source field that counts.
        pub srcMemoryType: CUmemorytype,
        /// Source in host memory.
        pub srcHost: *const c_void,
        /// Source in device or unified memory.
        pub srcDevice: CUdeviceptr_v1,
        /// Source array.
        pub srcArray: CUarray,
        /// Bytes from one source row to the next; unused for an array.
        pub srcPitch: u32,
        /// First byte of a row to write.
        pub dstXInBytes: u32,
        /// First row to write.
        pub dstY: u32,
        /// Location of the destination, which selects the destination field that counts.
        pub dstMemoryType: CUmemorytype,
        /// Destination in host memory.
        pub dstHost: *mut c_void,
        /// Destination in device or unified memory.
        pub dstDevice: CUdeviceptr_v1,
        /// Destination array.
        pub dstArray: CUarray,
        /// Bytes from one destination row to the next; unused for an array.
        pub dstPitch: u32,
        /// Bytes of each row.
        pub WidthInBytes: u32,
        /// Number of rows.
        pub Height: u32,
    }

    /// The 32-bit form of [`CUDA_MEMCPY3D_v2`], for symbols older than CUDA 3.2.
    pub struct CUDA_MEMCPY3D_v1 {
        /// First byte of a row to read.
        pub srcXInBytes: u32,
        /// First row to read.
        pub srcY: u32,
        /// First slice to read.
        pub srcZ: u32,
        /// Must be zero.
        pub srcLOD: u32,
        /// Location of the source, which selects the source field that counts.
        pub srcMemoryType: CUmemorytype,
        /// Source in host memory.
        pub srcHost: *const c_void,
        /// Source in device or unified memory.
        pub srcDevice: CUdeviceptr_v1,
        /// Source array.
        pub srcArray: CUarray,
        /// Must be null.
        pub reserved0: *mut c_void,
        /// Bytes from one source row to the next; unused for an array.
        pub srcPitch: u32,
        /// Rows from one source slice to the next; unused for an array or one slice.
        pub srcHeight: u32,
        /// First byte of a row to write.
        pub dstXInBytes: u32,
        /// First row to write.
        pub dstY: u32,
        /// First slice to write.
        pub dstZ: u32,
        /// Must be zero.
        pub dstLOD: u32,
        /// Location of the destination, which selects the destination field that counts.
        pub dstMemoryType: CUmemorytype,
        /// Destination in host memory.
        pub dstHost: *mut c_void,
        /// Destination in device or unified memory.
        pub dstDevice: CUdeviceptr_v1,
        /// Destination array.
        pub dstArray: CUarray,
        /// Must be null.
        pub reserved1: *mut c_void,
        /// Bytes from one destination row to the next; unused for an array.
        pub dstPitch: u32,
        /// Rows from one destination slice to the next; unused for an array or one slice.
        pub dstHeight: u32,
        /// Bytes of each row.
        pub WidthInBytes: u32,
        /// Rows of each slice.
        pub Height: u32,
        /// Number of slices.
        pub Depth: u32,
    }

    /// Options of some copies of a batch. CUDA 12.8+.
    pub struct CUmemcpyAttributes_v1 {
        /// Time from which the source may be read.
        pub srcAccessOrder: CUmemcpySrcAccessOrder,
        /// Place where the source should be, for managed or ordinary host memory.
        pub srcLocHint: CUmemLocation,
        /// Place where the destination should be, for managed or ordinary host memory.
        pub dstLocHint: CUmemLocation,
        /// Bits of `CUmemcpyFlags`.
        pub flags: u32,
    }

    /// A position in an array, in elements. CUDA 12.8+.
    pub struct CUoffset3D_v1 {
        /// Along the width.
        pub x: usize,
        /// Along the height.
        pub y: usize,
        /// Along the depth.
        pub z: usize,
    }

    /// The size of a region, in elements. CUDA 12.8+.
    pub struct CUextent3D_v1 {
        /// Along x.
        pub width: usize,
        /// Along y; 1 for a 1D region.
        pub height: usize,
        /// Along z; 1 for a 2D region.
        pub depth: usize,
    }

    /// For `CU_MEMCPY_OPERAND_TYPE_POINTER`. CUDA 12.8+.
    pub struct CUmemcpy3DOperand_op_ptr {
        /// The address.
        pub ptr: CUdeviceptr,
        /// Elements from one row to the next.
        pub rowLength: usize,
        /// Rows from one layer to the next.
        pub layerHeight: usize,
        /// Place where the memory should be, for managed or ordinary host memory.
        pub locHint: CUmemLocation,
    }

    /// For `CU_MEMCPY_OPERAND_TYPE_ARRAY`. CUDA 12.8+.
    pub struct CUmemcpy3DOperand_op_array {
        /// The array.
        pub array: CUarray,
        /// Offset in it.
        pub offset: CUoffset3D,
    }

    /// The operand of a `CUmemcpy3DOperand`. CUDA 12.8+.
    pub union CUmemcpy3DOperand_op {
        /// An address.
        pub ptr: CUmemcpy3DOperand_op_ptr,
        /// An array.
        pub array: CUmemcpy3DOperand_op_array,
    }

    /// One side of a 3D copy of a batch. CUDA 12.8+.
    pub struct CUmemcpy3DOperand_v1 {
        /// Selector of the field of `op`.
        pub type_: CUmemcpy3DOperandType,
        /// The operand.
        pub op: CUmemcpy3DOperand_op,
    }

    /// One 3D copy of a batch. CUDA 12.8+.
    pub struct CUDA_MEMCPY3D_BATCH_OP_v1 {
        /// Source.
        pub src: CUmemcpy3DOperand,
        /// Destination.
        pub dst: CUmemcpy3DOperand,
        /// Extent of the copy.
        pub extent: CUextent3D,
        /// Time from which the source may be read.
        pub srcAccessOrder: CUmemcpySrcAccessOrder,
        /// Bits of `CUmemcpyFlags`.
        pub flags: u32,
    }

    /// For `CU_FABRIC_COPY_OPERAND_TYPE_POINTER`. CUDA 13.5+.
    pub struct CUfabricCpyOperand_op_ptr {
        /// The address.
        pub ptr: CUdeviceptr,
        /// Place where the memory should be, for managed or ordinary host memory.
        pub locHint: CUmemLocation,
    }

    /// For `CU_FABRIC_COPY_OPERAND_TYPE_LOGICAL_ENDPOINT`. CUDA 13.5+.
    pub struct CUfabricCpyOperand_op_le {
        /// The logical endpoint.
        pub id: CUlogicalEndpointId,
        /// Offset in it, in bytes.
        pub offset: u64,
    }

    /// The operand of a `CUfabricCpyOperand`. CUDA 13.5+.
    pub union CUfabricCpyOperand_op {
        /// An address.
        pub ptr: CUfabricCpyOperand_op_ptr,
        /// A logical endpoint.
        pub le: CUfabricCpyOperand_op_le,
    }

    /// One side of a fabric copy. CUDA 13.5+.
    pub struct CUfabricCpyOperand {
        /// Selector of the field of `op`.
        pub type_: CUfabricCpyOperandType,
        /// The operand.
        pub op: CUfabricCpyOperand_op,
    }

    /// One fabric copy of a batch. CUDA 13.5+.
    pub struct CUDA_FABRIC_COPY_BATCH_OP_v1 {
        /// Source.
        pub src: CUfabricCpyOperand,
        /// Destination.
        pub dst: CUfabricCpyOperand,
        /// Bytes to copy.
        pub size: usize,
        /// Must be zero.
        pub flags: u32,
    }

    // Arrays, textures and surfaces

    /// The shape of a 1D or 2D array.
    pub struct CUDA_ARRAY_DESCRIPTOR_v2 {
        /// Width, in elements.
        pub Width: usize,
        /// Height, in elements; 0 for a 1D array.
        pub Height: usize,
        /// Format of a channel.
        pub Format: CUarray_format,
        /// Channels of an element: 1, 2 or 4.
        pub NumChannels: u32,
    }

    /// The shape of an array of up to three dimensions.
    pub struct CUDA_ARRAY3D_DESCRIPTOR_v2 {
        /// Width, in elements.
        pub Width: usize,
        /// Height, in elements; 0 for a 1D array.
        pub Height: usize,
        /// Depth in elements, or number of layers; 0 for fewer dimensions.
        pub Depth: usize,
        /// Format of a channel.
        pub Format: CUarray_format,
        /// Channels of an element: 1, 2 or 4.
        pub NumChannels: u32,
        /// Bits of `CUDA_ARRAY3D_*`.
        pub Flags: u32,
    }

    /// The 32-bit form of [`CUDA_ARRAY_DESCRIPTOR_v2`], for symbols older than CUDA 3.2.
    pub struct CUDA_ARRAY_DESCRIPTOR_v1 {
        /// Width, in elements.
        pub Width: u32,
        /// Height, in elements; 0 for a 1D array.
        pub Height: u32,
        /// Format of a channel.
        pub Format: CUarray_format,
        /// Channels of an element: 1, 2 or 4.
        pub NumChannels: u32,
    }

    /// The 32-bit form of [`CUDA_ARRAY3D_DESCRIPTOR_v2`], for symbols older than CUDA 3.2.
    pub struct CUDA_ARRAY3D_DESCRIPTOR_v1 {
        /// Width, in elements.
        pub Width: u32,
        /// Height, in elements; 0 for a 1D array.
        pub Height: u32,
        /// Depth in elements, or number of layers; 0 for fewer dimensions.
        pub Depth: u32,
        /// Format of a channel.
        pub Format: CUarray_format,
        /// Channels of an element: 1, 2 or 4.
        pub NumChannels: u32,
        /// Bits of `CUDA_ARRAY3D_*`.
        pub Flags: u32,
    }

    /// The memory that an array without memory needs.
    pub struct CUDA_ARRAY_MEMORY_REQUIREMENTS_v1 {
        /// Bytes needed.
        pub size: usize,
        /// Alignment needed, in bytes.
        pub alignment: usize,
        /// Zero.
        pub reserved: [u32; 4],
    }

    /// The size of a tile, in elements.
    pub struct CUDA_ARRAY_SPARSE_PROPERTIES_tileExtent {
        /// Along x.
        pub width: u32,
        /// Along y.
        pub height: u32,
        /// Along z.
        pub depth: u32,
    }

    /// Tiling of a sparse array.
    pub struct CUDA_ARRAY_SPARSE_PROPERTIES_v1 {
        /// Size of a tile.
        pub tileExtent: CUDA_ARRAY_SPARSE_PROPERTIES_tileExtent,
        /// First mip level of the packed tail.
        pub miptailFirstLevel: u32,
        /// Size of the tail, in bytes.
        pub miptailSize: u64,
        /// Zero or `CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL`.
        pub flags: u32,
        /// Zero.
        pub reserved: [u32; 4],
    }

    /// The array of a `CUarrayMapInfo`.
    pub union CUarrayMapInfo_resource {
        /// A mipmapped array.
        pub mipmap: CUmipmappedArray,
        /// An array.
        pub array: CUarray,
    }

    /// Tiles of one mip level.
    pub struct CUarrayMapInfo_subresource_sparseLevel {
        /// The mip level.
        pub level: u32,
        /// The layer.
        pub layer: u32,
        /// First element along x.
        pub offsetX: u32,
        /// First element along y.
        pub offsetY: u32,
        /// First element along z.
        pub offsetZ: u32,
        /// Elements along x.
        pub extentWidth: u32,
        /// Elements along y.
        pub extentHeight: u32,
        /// Elements along z.
        pub extentDepth: u32,
    }

    /// A part of the packed tail.
    pub struct CUarrayMapInfo_subresource_miptail {
        /// The layer.
        pub layer: u32,
        /// First byte of the part.
        pub offset: u64,
        /// Bytes of the part.
        pub size: u64,
    }

    /// The part of an array that a `CUarrayMapInfo` maps.
    pub union CUarrayMapInfo_subresource {
        /// Tiles of one mip level.
        pub sparseLevel: CUarrayMapInfo_subresource_sparseLevel,
        /// A part of the packed tail.
        pub miptail: CUarrayMapInfo_subresource_miptail,
    }

    /// The memory of a `CUarrayMapInfo`.
    pub union CUarrayMapInfo_memHandle {
        /// An allocation made by `cuMemCreate`.
        pub memHandle: CUmemGenericAllocationHandle,
    }

    /// One mapping, or unmapping, of a part of a sparse array.
    pub struct CUarrayMapInfo_v1 {
        /// Selector of the field of `resource`.
        pub resourceType: CUresourcetype,
        /// The array.
        pub resource: CUarrayMapInfo_resource,
        /// Selector of the field of `subresource`.
        pub subresourceType: CUarraySparseSubresourceType,
        /// The part.
        pub subresource: CUarrayMapInfo_subresource,
        /// Map or unmap.
        pub memOperationType: CUmemOperationType,
        /// Selector of the field of `memHandle`.
        pub memHandleType: CUmemHandleType,
        /// The memory to map.
        pub memHandle: CUarrayMapInfo_memHandle,
        /// Offset in that memory, in bytes.
        pub offset: u64,
        /// Devices to map on, one bit each.
        pub deviceBitMask: u32,
        /// Must be zero.
        pub flags: u32,
        /// Must be zero.
        pub reserved: [u32; 2],
    }

    /// For `CU_RESOURCE_TYPE_ARRAY`.
    pub struct CUDA_RESOURCE_DESC_res_array {
        /// The array.
        pub hArray: CUarray,
    }

    /// For `CU_RESOURCE_TYPE_MIPMAPPED_ARRAY`.
    pub struct CUDA_RESOURCE_DESC_res_mipmap {
        /// The mipmapped array.
        pub hMipmappedArray: CUmipmappedArray,
    }

    /// For `CU_RESOURCE_TYPE_LINEAR`.
    pub struct CUDA_RESOURCE_DESC_res_linear {
        /// First byte.
        pub devPtr: CUdeviceptr,
        /// Format of a channel.
        pub format: CUarray_format,
        /// Channels of a texel.
        pub numChannels: u32,
        /// Bytes in all.
        pub sizeInBytes: usize,
    }

    /// For `CU_RESOURCE_TYPE_PITCH2D`.
    pub struct CUDA_RESOURCE_DESC_res_pitch2D {
        /// First byte.
        pub devPtr: CUdeviceptr,
        /// Format of a channel.
        pub format: CUarray_format,
        /// Channels of a texel.
        pub numChannels: u32,
        /// Width, in texels.
        pub width: usize,
        /// Height, in texels.
        pub height: usize,
        /// Bytes from one row to the next.
        pub pitchInBytes: usize,
    }

    /// Room for kinds to come.
    pub struct CUDA_RESOURCE_DESC_res_reserved {
        /// Unused.
        pub reserved: [i32; 32],
    }

    /// The memory of a `CUDA_RESOURCE_DESC`.
    pub union CUDA_RESOURCE_DESC_res {
        /// An array.
        pub array: CUDA_RESOURCE_DESC_res_array,
        /// A mipmapped array.
        pub mipmap: CUDA_RESOURCE_DESC_res_mipmap,
        /// Linear memory.
        pub linear: CUDA_RESOURCE_DESC_res_linear,
        /// Pitched 2D memory.
        pub pitch2D: CUDA_RESOURCE_DESC_res_pitch2D,
        /// Room for kinds to come.
        pub reserved: CUDA_RESOURCE_DESC_res_reserved,
    }

    /// Description of the memory that a texture or surface object reads.
    pub struct CUDA_RESOURCE_DESC_v1 {
        /// Selector of the field of `res`.
        pub resType: CUresourcetype,
        /// The memory.
        pub res: CUDA_RESOURCE_DESC_res,
        /// Must be zero.
        pub flags: u32,
    }

    /// Options of reading by a texture object.
    pub struct CUDA_TEXTURE_DESC_v1 {
        /// Rules for coordinates outside, along x, y and z.
        pub addressMode: [CUaddress_mode; 3],
        /// Mixing of texels.
        pub filterMode: CUfilter_mode,
        /// Bits of `CU_TRSF_*`.
        pub flags: u32,
        /// Largest anisotropy ratio.
        pub maxAnisotropy: u32,
        /// Mixing of mip levels.
        pub mipmapFilterMode: CUfilter_mode,
        /// Added to the mip level.
        pub mipmapLevelBias: f32,
        /// Smallest mip level.
        pub minMipmapLevelClamp: f32,
        /// Largest mip level.
        pub maxMipmapLevelClamp: f32,
        /// Color outside, for `CU_TR_ADDRESS_MODE_BORDER`.
        pub borderColor: [f32; 4],
        /// Must be zero.
        pub reserved: [i32; 12],
    }

    /// Interpretation of the memory beneath a texture object.
    pub struct CUDA_RESOURCE_VIEW_DESC_v1 {
        /// The format to read as.
        pub format: CUresourceViewFormat,
        /// Width, in texels of that format.
        pub width: usize,
        /// Height, in texels of that format.
        pub height: usize,
        /// Depth, in texels of that format.
        pub depth: usize,
        /// First mip level.
        pub firstMipmapLevel: u32,
        /// Last mip level.
        pub lastMipmapLevel: u32,
        /// First layer.
        pub firstLayer: u32,
        /// Last layer.
        pub lastLayer: u32,
        /// Must be zero.
        pub reserved: [u32; 16],
    }

    /// A description of a tensor that kernels read through; opaque. 128-byte alignment, as since
    /// CUDA 13.0 (64 before). CUDA 12.0+.
    #[repr(align(128))]
    pub struct CUtensorMap {
        /// For the device only.
        pub opaque: [u64; 16],
    }

    // Launches

    /// An address range and its treatment by L2.
    pub struct CUaccessPolicyWindow_v1 {
        /// First byte.
        pub base_ptr: *mut c_void,
        /// Bytes, up to `CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE`.
        pub num_bytes: usize,
        /// Share of the lines that get `hitProp`, 0 to 1.
        pub hitRatio: f32,
        /// Treatment of those lines.
        pub hitProp: CUaccessProperty,
        /// Treatment of the others; not persisting.
        pub missProp: CUaccessProperty,
    }

    /// Physical domain of each logical one. CUDA 12.0+.
    pub struct CUlaunchMemSyncDomainMap {
        /// For `CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT`.
        pub default_: u8,
        /// For `CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE`.
        pub remote: u8,
    }

    /// The shape of a cluster, in blocks.
    pub struct CUlaunchAttributeValue_clusterDim {
        /// Along x; divides the grid.
        pub x: u32,
        /// Along y; divides the grid.
        pub y: u32,
        /// Along z; divides the grid.
        pub z: u32,
    }

    /// An event that the kernel's blocks trigger.
    pub struct CUlaunchAttributeValue_programmaticEvent {
        /// The event; made without timing.
        pub event: CUevent,
        /// Bits of `CUevent_record_flags`, without external.
        pub flags: i32,
        /// Non-zero: each block triggers as it starts.
        pub triggerAtBlockStart: i32,
    }

    /// An event recorded once all blocks have started. CUDA 12.3+.
    pub struct CUlaunchAttributeValue_launchCompletionEvent {
        /// The event; made without timing.
        pub event: CUevent,
        /// Bits of `CUevent_record_flags`, without external.
        pub flags: i32,
    }

    /// Request that a node can be changed from the device, and its handle there. CUDA 12.4+.
    pub struct CUlaunchAttributeValue_deviceUpdatableKernelNode {
        /// Non-zero: it can.
        pub deviceUpdatable: i32,
        /// The node, for device code; written by the driver.
        pub devNode: CUgraphDeviceNode,
    }

    /// The value of a `CUlaunchAttribute`.
    pub union CUlaunchAttributeValue {
        /// Room for values to come.
        pub pad: [u8; 64],
        /// Treatment of an address range by L2.
        pub accessPolicyWindow: CUaccessPolicyWindow,
        /// Non-zero: all blocks run at once.
        pub cooperative: i32,
        /// Way for threads to wait for the stream.
        pub syncPolicy: CUsynchronizationPolicy,
        /// The shape of a cluster.
        pub clusterDim: CUlaunchAttributeValue_clusterDim,
        /// Placement of clusters.
        pub clusterSchedulingPolicyPreference: CUclusterSchedulingPolicy,
        /// Non-zero: the kernel may start before the one ahead of it ends.
        pub programmaticStreamSerializationAllowed: i32,
        /// An event that the kernel's blocks trigger.
        pub programmaticEvent: CUlaunchAttributeValue_programmaticEvent,
        /// An event recorded once all blocks have started. CUDA 12.3+.
        pub launchCompletionEvent: CUlaunchAttributeValue_launchCompletionEvent,
        /// The priority, lower is sooner.
        pub priority: i32,
        /// Physical domain of each logical one. CUDA 12.0+.
        pub memSyncDomainMap: CUlaunchMemSyncDomainMap,
        /// The logical memory synchronization domain. CUDA 12.0+.
        pub memSyncDomain: CUlaunchMemSyncDomain,
        /// A larger cluster shape to use where it fits. CUDA 12.8+.
        pub preferredClusterDim: CUlaunchAttributeValue_clusterDim,
        /// Request that the node can be changed from the device. CUDA 12.4+.
        pub deviceUpdatableKernelNode: CUlaunchAttributeValue_deviceUpdatableKernelNode,
        /// Shared memory wanted, in percent of the maximum. CUDA 12.5+.
        pub sharedMemCarveout: u32,
        /// 1 to spread NVLink traffic evenly, else 0. CUDA 13.0+.
        pub nvlinkUtilCentricScheduling: u32,
        /// Permission for the cluster to be larger than all devices guarantee. CUDA 13.2+.
        pub portableClusterSizeMode: CUlaunchAttributePortableClusterMode,
        /// Limit on the shared memory that the launch may ask for. CUDA 13.2+.
        pub sharedMemoryMode: CUsharedMemoryMode,
    }

    /// One attribute of a launch.
    pub struct CUlaunchAttribute {
        /// Selector of the field of `value`.
        pub id: CUlaunchAttributeID,
        /// Unused.
        pub pad: [u8; 4],
        /// The value.
        pub value: CUlaunchAttributeValue,
    }

    /// The shape and attributes of a launch.
    pub struct CUlaunchConfig {
        /// Blocks along x.
        pub gridDimX: u32,
        /// Blocks along y.
        pub gridDimY: u32,
        /// Blocks along z.
        pub gridDimZ: u32,
        /// Threads of a block along x.
        pub blockDimX: u32,
        /// Threads of a block along y.
        pub blockDimY: u32,
        /// Threads of a block along z.
        pub blockDimZ: u32,
        /// Dynamic shared memory of a block, in bytes.
        pub sharedMemBytes: u32,
        /// The stream to launch in.
        pub hStream: CUstream,
        /// The attributes; may be null if there are none.
        pub attrs: *mut CUlaunchAttribute,
        /// Number of attributes.
        pub numAttrs: u32,
    }

    /// One kernel of a cooperative launch on several devices.
    pub struct CUDA_LAUNCH_PARAMS_v1 {
        /// The kernel.
        pub function: CUfunction,
        /// Blocks along x.
        pub gridDimX: u32,
        /// Blocks along y.
        pub gridDimY: u32,
        /// Blocks along z.
        pub gridDimZ: u32,
        /// Threads of a block along x.
        pub blockDimX: u32,
        /// Threads of a block along y.
        pub blockDimY: u32,
        /// Threads of a block along z.
        pub blockDimZ: u32,
        /// Dynamic shared memory of a block, in bytes.
        pub sharedMemBytes: u32,
        /// The stream to launch in.
        pub hStream: CUstream,
        /// Pointers to the arguments.
        pub kernelParams: *mut *mut c_void,
    }

    /// Host-side tables of functions and data that device code can use. CUDA 12.0+.
    pub struct CUlibraryHostUniversalFunctionAndDataTable {
        /// The functions.
        pub functionTable: *mut c_void,
        /// Size of that table, in bytes.
        pub functionWindowSize: usize,
        /// The data.
        pub dataTable: *mut c_void,
        /// Size of that table, in bytes.
        pub dataWindowSize: usize,
    }

    // Graph nodes

    /// The context that a node prefers; null for the current one. CUDA 13.4+.
    pub union CUctxOrGreenCtx {
        /// A context.
        pub ctx: CUcontext,
        /// A green context.
        pub gCtx: CUgreenCtx,
    }

    /// Parameters of a kernel node, as before CUDA 12.0.
    pub struct CUDA_KERNEL_NODE_PARAMS_v1 {
        /// The kernel.
        pub func: CUfunction,
        /// Blocks along x.
        pub gridDimX: u32,
        /// Blocks along y.
        pub gridDimY: u32,
        /// Blocks along z.
        pub gridDimZ: u32,
        /// Threads of a block along x.
        pub blockDimX: u32,
        /// Threads of a block along y.
        pub blockDimY: u32,
        /// Threads of a block along z.
        pub blockDimZ: u32,
        /// Dynamic shared memory of a block, in bytes.
        pub sharedMemBytes: u32,
        /// Pointers to the arguments, or null.
        pub kernelParams: *mut *mut c_void,
        /// Arguments as one packed buffer (`CU_LAUNCH_PARAM_*`), or null.
        pub extra: *mut *mut c_void,
    }

    /// Parameters of a kernel node. CUDA 12.0+.
    pub struct CUDA_KERNEL_NODE_PARAMS_v2 {
        /// The kernel, or null to use `kern`.
        pub func: CUfunction,
        /// Blocks along x.
        pub gridDimX: u32,
        /// Blocks along y.
        pub gridDimY: u32,
        /// Blocks along z.
        pub gridDimZ: u32,
        /// Threads of a block along x.
        pub blockDimX: u32,
        /// Threads of a block along y.
        pub blockDimY: u32,
        /// Threads of a block along z.
        pub blockDimZ: u32,
        /// Dynamic shared memory of a block, in bytes.
        pub sharedMemBytes: u32,
        /// Pointers to the arguments, or null.
        pub kernelParams: *mut *mut c_void,
        /// Arguments as one packed buffer (`CU_LAUNCH_PARAM_*`), or null.
        pub extra: *mut *mut c_void,
        /// The context-free kernel, if `func` is null.
        pub kern: CUkernel,
        /// Context for `kern`; null for the current one.
        pub ctx: CUcontext,
    }

    /// Parameters of a copy node. CUDA 12.2+.
    pub struct CUDA_MEMCPY_NODE_PARAMS {
        /// Must be zero.
        pub flags: i32,
        /// Must be zero.
        pub reserved: i32,
        /// The context to run in.
        pub copyCtx: CUcontext,
        /// The copy.
        pub copyParams: CUDA_MEMCPY3D,
    }

    /// Parameters of a copy batch node. CUDA 13.5+.
    pub struct CUDA_MEMCPY_BATCH_NODE_PARAMS_V1 {
        /// Copies in the batch; fixed once instantiated.
        pub count: usize,
        /// Their destinations.
        pub dsts: *mut CUdeviceptr,
        /// Their sources.
        pub srcs: *mut CUdeviceptr,
        /// Their sizes in bytes; in an executable graph 0 skips a copy.
        pub sizes: *mut usize,
        /// Attributes of runs of copies; fixed once instantiated.
        pub attrs: *mut CUmemcpyAttributes,
        /// First copy of each run; fixed once instantiated.
        pub attrsIdxs: *mut usize,
        /// Number of runs; fixed once instantiated.
        pub numAttrs: usize,
        /// The context; an anonymous union in C; fixed once instantiated.
        pub u: CUctxOrGreenCtx,
    }

    /// Parameters of a fabric copy batch node. CUDA 13.5+.
    pub struct CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1 {
        /// Copies in the batch; fixed once instantiated.
        pub numOps: usize,
        /// The copies; their endpoints and operand kinds are fixed once instantiated.
        pub opList: *mut CUDA_FABRIC_COPY_BATCH_OP,
        /// Must be zero.
        pub flags: u64,
        /// The context; an anonymous union in C; fixed once instantiated.
        pub u: CUctxOrGreenCtx,
    }

    /// Parameters of a fill node.
    pub struct CUDA_MEMSET_NODE_PARAMS_v1 {
        /// First byte.
        pub dst: CUdeviceptr,
        /// Bytes from one row to the next; unused for one row.
        pub pitch: usize,
        /// The value of an element.
        pub value: u32,
        /// Bytes of an element: 1, 2 or 4.
        pub elementSize: u32,
        /// Elements of a row.
        pub width: usize,
        /// Number of rows.
        pub height: usize,
    }

    /// Parameters of a fill node, with its context. CUDA 12.2+.
    pub struct CUDA_MEMSET_NODE_PARAMS_v2 {
        /// First byte.
        pub dst: CUdeviceptr,
        /// Bytes from one row to the next; unused for one row.
        pub pitch: usize,
        /// The value of an element.
        pub value: u32,
        /// Bytes of an element: 1, 2 or 4.
        pub elementSize: u32,
        /// Elements of a row.
        pub width: usize,
        /// Number of rows.
        pub height: usize,
        /// The context to run in; null for the current one.
        pub ctx: CUcontext,
    }

    /// Parameters of a host node.
    pub struct CUDA_HOST_NODE_PARAMS_v1 {
        /// The function.
        pub fn_: CUhostFn,
        /// Its argument.
        pub userData: *mut c_void,
    }

    /// Parameters of a host node, with its waiting policy. CUDA 12.2+.
    pub struct CUDA_HOST_NODE_PARAMS_v2 {
        /// The function.
        pub fn_: CUhostFn,
        /// Its argument.
        pub userData: *mut c_void,
        /// A `CUhostTaskSyncMode`. CUDA 13.2+.
        pub syncMode: u32,
        /// The context; an anonymous union in C. CUDA 13.4+.
        pub u: CUctxOrGreenCtx,
    }

    /// Parameters of a child graph node. CUDA 12.2+.
    pub struct CUDA_CHILD_GRAPH_NODE_PARAMS {
        /// The graph.
        pub graph: CUgraph,
        /// Ownership of it: copied or taken by the node. CUDA 12.9+.
        pub ownership: CUgraphChildGraphNodeOwnership,
    }

    /// Parameters of an event record node. CUDA 12.2+.
    pub struct CUDA_EVENT_RECORD_NODE_PARAMS {
        /// The event.
        pub event: CUevent,
        /// The context; an anonymous union in C. CUDA 13.4+.
        pub u: CUctxOrGreenCtx,
    }

    /// Parameters of an event wait node. CUDA 12.2+.
    pub struct CUDA_EVENT_WAIT_NODE_PARAMS {
        /// The event.
        pub event: CUevent,
    }

    /// Parameters of a semaphore signal node.
    pub struct CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 {
        /// The semaphores.
        pub extSemArray: *mut CUexternalSemaphore,
        /// Value to signal on each.
        pub paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
        /// Number of semaphores.
        pub numExtSems: u32,
    }

    /// Parameters of a semaphore signal node, with its context. CUDA 12.2+.
    pub struct CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2 {
        /// The semaphores.
        pub extSemArray: *mut CUexternalSemaphore,
        /// Value to signal on each.
        pub paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
        /// Number of semaphores.
        pub numExtSems: u32,
        /// The context; an anonymous union in C. CUDA 13.4+.
        pub u: CUctxOrGreenCtx,
    }

    /// Parameters of a semaphore wait node.
    pub struct CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 {
        /// The semaphores.
        pub extSemArray: *mut CUexternalSemaphore,
        /// Value to wait for on each.
        pub paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
        /// Number of semaphores.
        pub numExtSems: u32,
    }

    /// Parameters of a semaphore wait node, with its context. CUDA 12.2+.
    pub struct CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2 {
        /// The semaphores.
        pub extSemArray: *mut CUexternalSemaphore,
        /// Value to wait for on each.
        pub paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
        /// Number of semaphores.
        pub numExtSems: u32,
        /// The context; an anonymous union in C. CUDA 13.4+.
        pub u: CUctxOrGreenCtx,
    }

    /// Parameters of a stream memory operation node.
    pub struct CUDA_BATCH_MEM_OP_NODE_PARAMS_v1 {
        /// The context to run in.
        pub ctx: CUcontext,
        /// Number of operations.
        pub count: u32,
        /// The operations.
        pub paramArray: *mut CUstreamBatchMemOpParams,
        /// Must be zero.
        pub flags: u32,
    }

    /// Parameters of an allocation node.
    pub struct CUDA_MEM_ALLOC_NODE_PARAMS_v1 {
        /// Place and kind of the memory; not exportable.
        pub poolProps: CUmemPoolProps,
        /// Other devices that may access it.
        pub accessDescs: *const CUmemAccessDesc,
        /// Number of those.
        pub accessDescCount: usize,
        /// Bytes to allocate.
        pub bytesize: usize,
        /// The address; written by the driver when the node is made.
        pub dptr: CUdeviceptr,
    }

    /// Parameters of a free node. CUDA 12.2+.
    pub struct CUDA_MEM_FREE_NODE_PARAMS {
        /// The address.
        pub dptr: CUdeviceptr,
    }

    /// Parameters of a conditional node. CUDA 12.3+.
    pub struct CUDA_CONDITIONAL_NODE_PARAMS {
        /// The value it depends on, from `cuGraphConditionalHandleCreate`.
        pub handle: CUgraphConditionalHandle,
        /// Use that it makes of its value.
        pub type_: CUgraphConditionalNodeType,
        /// Number of graphs: 1 for while, 1 or 2 for if, any for switch.
        pub size: u32,
        /// The graphs, to be filled; owned by the node; written by the driver.
        pub phGraph_out: *mut CUgraph,
        /// The context of all of it.
        pub ctx: CUcontext,
    }

    /// Parameters in a `CUgraphNodeParams`, by kind of node. CUDA 12.2+.
    pub union CUgraphNodeParams_u {
        /// Room for kinds to come; zero beyond the field in use.
        pub reserved1: [i64; 29],
        /// For `CU_GRAPH_NODE_TYPE_KERNEL`.
        pub kernel: CUDA_KERNEL_NODE_PARAMS_v3,
        /// For `CU_GRAPH_NODE_TYPE_MEMCPY`.
        pub memcpy: CUDA_MEMCPY_NODE_PARAMS,
        /// For `CU_GRAPH_NODE_TYPE_MEMSET`.
        pub memset: CUDA_MEMSET_NODE_PARAMS_v2,
        /// For `CU_GRAPH_NODE_TYPE_HOST`.
        pub host: CUDA_HOST_NODE_PARAMS_v2,
        /// For `CU_GRAPH_NODE_TYPE_GRAPH`.
        pub graph: CUDA_CHILD_GRAPH_NODE_PARAMS,
        /// For `CU_GRAPH_NODE_TYPE_WAIT_EVENT`.
        pub eventWait: CUDA_EVENT_WAIT_NODE_PARAMS,
        /// For `CU_GRAPH_NODE_TYPE_EVENT_RECORD`.
        pub eventRecord: CUDA_EVENT_RECORD_NODE_PARAMS,
        /// For `CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL`.
        pub extSemSignal: CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2,
        /// For `CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT`.
        pub extSemWait: CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2,
        /// For `CU_GRAPH_NODE_TYPE_MEM_ALLOC`.
        pub alloc: CUDA_MEM_ALLOC_NODE_PARAMS_v2,
        /// For `CU_GRAPH_NODE_TYPE_MEM_FREE`.
        pub free: CUDA_MEM_FREE_NODE_PARAMS,
        /// For `CU_GRAPH_NODE_TYPE_BATCH_MEM_OP`.
        pub memOp: CUDA_BATCH_MEM_OP_NODE_PARAMS_v2,
        /// For `CU_GRAPH_NODE_TYPE_CONDITIONAL`. CUDA 12.3+.
        pub conditional: CUDA_CONDITIONAL_NODE_PARAMS,
        /// For `CU_GRAPH_NODE_TYPE_MEMCPY_BATCH`. CUDA 13.5+.
        pub memcpyBatch: CUDA_MEMCPY_BATCH_NODE_PARAMS_V1,
        /// For `CU_GRAPH_NODE_TYPE_FABRIC_CPY_BATCH`. CUDA 13.5+.
        pub fabricCpyBatch: CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1,
        /// The same bytes without a type. CUDA 13.3+.
        pub asBytes: [u8; 232],
    }

    /// Any graph node. CUDA 12.2+.
    pub struct CUgraphNodeParams {
        /// Selector of the field of `u`.
        pub type_: CUgraphNodeType,
        /// Must be zero.
        pub reserved0: [i32; 3],
        /// Parameters by kind of node; an anonymous union in C.
        pub u: CUgraphNodeParams_u,
        /// Must be zero.
        pub reserved2: i64,
    }

    /// Dependency of one node on another; all zero for an ordinary edge. CUDA 12.3+.
    pub struct CUgraphEdgeData {
        /// Event of the upstream node, a `CU_GRAPH_KERNEL_NODE_PORT_*`.
        pub from_port: u8,
        /// Part of the downstream node; zero.
        pub to_port: u8,
        /// A `CUgraphDependencyType`.
        pub type_: u8,
        /// Must be zero.
        pub reserved: [u8; 5],
    }

    /// Options of instantiating a graph, and the outcome. CUDA 12.0+.
    pub struct CUDA_GRAPH_INSTANTIATE_PARAMS {
        /// Bits of `CUgraphInstantiate_flags`.
        pub flags: u64,
        /// Stream to upload in, with the upload flag.
        pub hUploadStream: CUstream,
        /// The node at fault, or null; written by the driver.
        pub hErrNode_out: CUgraphNode,
        /// Reason for the failure; written by the driver.
        pub result_out: CUgraphInstantiateResult,
    }

    /// Outcome of updating an executable graph. CUDA 12.0+.
    pub struct CUgraphExecUpdateResultInfo_v1 {
        /// Reason for the failure.
        pub result: CUgraphExecUpdateResult,
        /// The node at fault in the new graph, or null.
        pub errorNode: CUgraphNode,
        /// The other end of the edge at fault, or null.
        pub errorFromNode: CUgraphNode,
    }

    // External memory and semaphores

    /// A Windows handle.
    pub struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle_win32 {
        /// The handle, or null to go by name.
        pub handle: *mut c_void,
        /// Name of the object, UTF-16, or null.
        pub name: *const c_void,
    }

    /// The handle of external memory.
    pub union CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle {
        /// A file descriptor; the driver owns it after the import.
        pub fd: i32,
        /// A Windows handle.
        pub win32: CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle_win32,
        /// An NvSciBuf object.
        pub nvSciBufObject: *const c_void,
    }

    /// External memory to import.
    pub struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1 {
        /// Selector of the field of `handle`.
        pub type_: CUexternalMemoryHandleType,
        /// The handle.
        pub handle: CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle,
        /// Size of the memory, in bytes.
        pub size: u64,
        /// Zero or `CUDA_EXTERNAL_MEMORY_DEDICATED`.
        pub flags: u32,
        /// Must be zero.
        pub reserved: [u32; 16],
    }

    /// A part of external memory to map as a buffer.
    pub struct CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1 {
        /// First byte.
        pub offset: u64,
        /// Bytes.
        pub size: u64,
        /// Must be zero.
        pub flags: u32,
        /// Must be zero.
        pub reserved: [u32; 16],
    }

    /// A part of external memory to map as a mipmapped array.
    pub struct CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_v1 {
        /// First byte.
        pub offset: u64,
        /// Shape of the first level.
        pub arrayDesc: CUDA_ARRAY3D_DESCRIPTOR,
        /// Number of levels.
        pub numLevels: u32,
        /// Must be zero.
        pub reserved: [u32; 16],
    }

    /// A Windows handle.
    pub struct CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle_win32 {
        /// The handle, or null to go by name.
        pub handle: *mut c_void,
        /// Name of the object, UTF-16, or null.
        pub name: *const c_void,
    }

    /// The handle of an external semaphore.
    pub union CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle {
        /// A file descriptor; the driver owns it after the import.
        pub fd: i32,
        /// A Windows handle.
        pub win32: CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle_win32,
        /// An NvSciSync object.
        pub nvSciSyncObj: *const c_void,
    }

    /// An external semaphore to import.
    pub struct CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1 {
        /// Selector of the field of `handle`.
        pub type_: CUexternalSemaphoreHandleType,
        /// The handle.
        pub handle: CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle,
        /// Must be zero.
        pub flags: u32,
        /// Must be zero.
        pub reserved: [u32; 16],
    }

    /// For fences and timeline semaphores.
    pub struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_fence {
        /// The value to signal.
        pub value: u64,
    }

    /// For NvSciSync objects.
    pub union CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_nvSciSync {
        /// An NvSciSync fence, written by the call.
        pub fence: *mut c_void,
        /// Sets the size.
        pub reserved: u64,
    }

    /// For keyed mutexes.
    pub struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_keyedMutex {
        /// The key to release with.
        pub key: u64,
    }

    /// Value to signal, by kind of semaphore.
    pub struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params {
        /// For fences and timeline semaphores.
        pub fence: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_fence,
        /// For NvSciSync objects.
        pub nvSciSync: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_nvSciSync,
        /// For keyed mutexes.
        pub keyedMutex: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params_keyedMutex,
        /// Must be zero.
        pub reserved: [u32; 12],
    }

    /// One signal on an external semaphore.
    pub struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1 {
        /// Value to signal.
        pub params: CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_params,
        /// Zero or `CUDA_EXTERNAL_SEMAPHORE_SIGNAL_SKIP_NVSCIBUF_MEMSYNC`.
        pub flags: u32,
        /// Must be zero.
        pub reserved: [u32; 16],
    }

    /// For fences and timeline semaphores.
    pub struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_fence {
        /// The value to wait for.
        pub value: u64,
    }

    /// For NvSciSync objects.
    pub union CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_nvSciSync {
        /// The NvSciSync fence to wait for.
        pub fence: *mut c_void,
        /// Sets the size.
        pub reserved: u64,
    }

    /// For keyed mutexes.
    pub struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_keyedMutex {
        /// The key to acquire with.
        pub key: u64,
        /// Longest wait, in milliseconds.
        pub timeoutMs: u32,
    }

    /// Value to wait for, by kind of semaphore.
    pub struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params {
        /// For fences and timeline semaphores.
        pub fence: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_fence,
        /// For NvSciSync objects.
        pub nvSciSync: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_nvSciSync,
        /// For keyed mutexes.
        pub keyedMutex: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params_keyedMutex,
        /// Must be zero.
        pub reserved: [u32; 10],
    }

    /// One wait for an external semaphore.
    pub struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1 {
        /// Value to wait for.
        pub params: CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_params,
        /// Zero or `CUDA_EXTERNAL_SEMAPHORE_WAIT_SKIP_NVSCIBUF_MEMSYNC`.
        pub flags: u32,
        /// Must be zero.
        pub reserved: [u32; 16],
    }

    // Checkpoints

    /// Options of locking a process for a checkpoint. CUDA 12.8+.
    pub struct CUcheckpointLockArgs {
        /// Longest wait in milliseconds; 0 for no limit.
        pub timeoutMs: u32,
        /// Must be zero.
        pub reserved0: u32,
        /// Must be zero.
        pub reserved1: [u64; 7],
    }

    /// The memory of one device, for the caller to save or restore. CUDA 13.4+.
    pub struct CUcheckpointCustomStoragePerDeviceData {
        /// Its address.
        pub devPtr: CUdeviceptr,
        /// Its size, in bytes.
        pub size: usize,
        /// Stream for the caller's copies; the driver waits for it.
        pub stream: CUstream,
    }

    /// The memory of all devices, for the caller to save or restore. CUDA 13.4+.
    pub struct CUcheckpointCustomStorageInfo {
        /// For `cuCheckpointOperationComplete`.
        pub handle: CUcheckpointOperationHandle,
        /// One entry for each device; written by the driver.
        pub perDeviceData: *mut CUcheckpointCustomStoragePerDeviceData,
        /// Number of entries.
        pub deviceCount: u32,
    }

    /// Options of checkpointing a process. CUDA 12.8+.
    pub struct CUcheckpointCheckpointArgs {
        /// Place for a list of the memory that the caller must save itself; null to save to host
        /// memory. CUDA 13.4+.
        pub customStorageInfo_out: *mut *mut CUcheckpointCustomStorageInfo,
        /// Must be zero.
        pub reserved: [u8; 56],
    }

    /// A device and the one that takes its place. CUDA 13.0+.
    pub struct CUcheckpointGpuPair {
        /// Device at the checkpoint.
        pub oldUuid: CUuuid,
        /// Device at the restore.
        pub newUuid: CUuuid,
    }

    /// Options of restoring a process. CUDA 12.8+.
    pub struct CUcheckpointRestoreArgs {
        /// Pairs of a device and the one that takes its place; null for the same ones. CUDA 13.0+.
        pub gpuPairs: *mut CUcheckpointGpuPair,
        /// Number of pairs. CUDA 13.0+.
        pub gpuPairsCount: u32,
        /// Must be zero. CUDA 13.4+.
        pub padding0: u32,
        /// Place for a list of the memory that the caller must restore itself; null to restore from
        /// host memory. CUDA 13.4+.
        pub customStorageInfo_out: *mut *mut CUcheckpointCustomStorageInfo,
        /// Must be zero.
        pub reserved: [u8; 40],
    }

    /// Options of unlocking a process; none yet. CUDA 12.8+.
    pub struct CUcheckpointUnlockArgs {
        /// Must be zero.
        pub reserved: [u64; 8],
    }
}

c_aliases! {
    /// The newest [`CUipcEventHandle_v1`].
    CUipcEventHandle = CUipcEventHandle_v1,
    /// The newest [`CUipcMemHandle_v1`].
    CUipcMemHandle = CUipcMemHandle_v1,
    /// The newest [`CUdevprop_v1`].
    CUdevprop = CUdevprop_v1,
    /// The newest [`CUexecAffinitySmCount_v1`].
    CUexecAffinitySmCount = CUexecAffinitySmCount_v1,
    /// The newest [`CUexecAffinityParam_v1`].
    CUexecAffinityParam = CUexecAffinityParam_v1,
    /// The newest [`CUdevResource_v1`].
    CUdevResource = CUdevResource_v1,
    /// The newest [`CUstreamBatchMemOpParams_v1`].
    CUstreamBatchMemOpParams = CUstreamBatchMemOpParams_v1,
    /// The newest [`CUmemLocation_v1`].
    CUmemLocation = CUmemLocation_v1,
    /// The newest [`CUmemAccessDesc_v1`].
    CUmemAccessDesc = CUmemAccessDesc_v1,
    /// The newest [`CUmemAllocationProp_v1`].
    CUmemAllocationProp = CUmemAllocationProp_v1,
    /// The newest [`CUmemPoolProps_v1`].
    CUmemPoolProps = CUmemPoolProps_v1,
    /// The newest [`CUmemPoolPtrExportData_v1`].
    CUmemPoolPtrExportData = CUmemPoolPtrExportData_v1,
    /// The newest [`CUmemFabricHandle_v1`].
    CUmemFabricHandle = CUmemFabricHandle_v1,
    /// The newest [`CUmulticastObjectProp_v1`].
    CUmulticastObjectProp = CUmulticastObjectProp_v1,
    /// The newest [`CUDA_POINTER_ATTRIBUTE_P2P_TOKENS_v1`].
    CUDA_POINTER_ATTRIBUTE_P2P_TOKENS = CUDA_POINTER_ATTRIBUTE_P2P_TOKENS_v1,
    /// The newest [`CUDA_MEMCPY2D_v2`].
    CUDA_MEMCPY2D = CUDA_MEMCPY2D_v2,
    /// The newest [`CUDA_MEMCPY3D_v2`].
    CUDA_MEMCPY3D = CUDA_MEMCPY3D_v2,
    /// The newest [`CUDA_MEMCPY3D_PEER_v1`].
    CUDA_MEMCPY3D_PEER = CUDA_MEMCPY3D_PEER_v1,
    /// The newest [`CUmemcpyAttributes_v1`].
    CUmemcpyAttributes = CUmemcpyAttributes_v1,
    /// The newest [`CUoffset3D_v1`].
    CUoffset3D = CUoffset3D_v1,
    /// The newest [`CUextent3D_v1`].
    CUextent3D = CUextent3D_v1,
    /// The newest [`CUmemcpy3DOperand_v1`].
    CUmemcpy3DOperand = CUmemcpy3DOperand_v1,
    /// The newest [`CUDA_MEMCPY3D_BATCH_OP_v1`].
    CUDA_MEMCPY3D_BATCH_OP = CUDA_MEMCPY3D_BATCH_OP_v1,
    /// The newest [`CUDA_FABRIC_COPY_BATCH_OP_v1`].
    CUDA_FABRIC_COPY_BATCH_OP = CUDA_FABRIC_COPY_BATCH_OP_v1,
    /// The newest [`CUDA_ARRAY_DESCRIPTOR_v2`].
    CUDA_ARRAY_DESCRIPTOR = CUDA_ARRAY_DESCRIPTOR_v2,
    /// The newest [`CUDA_ARRAY3D_DESCRIPTOR_v2`].
    CUDA_ARRAY3D_DESCRIPTOR = CUDA_ARRAY3D_DESCRIPTOR_v2,
    /// The newest [`CUDA_ARRAY_MEMORY_REQUIREMENTS_v1`].
    CUDA_ARRAY_MEMORY_REQUIREMENTS = CUDA_ARRAY_MEMORY_REQUIREMENTS_v1,
    /// The newest [`CUDA_ARRAY_SPARSE_PROPERTIES_v1`].
    CUDA_ARRAY_SPARSE_PROPERTIES = CUDA_ARRAY_SPARSE_PROPERTIES_v1,
    /// The newest [`CUarrayMapInfo_v1`].
    CUarrayMapInfo = CUarrayMapInfo_v1,
    /// The newest [`CUDA_RESOURCE_DESC_v1`].
    CUDA_RESOURCE_DESC = CUDA_RESOURCE_DESC_v1,
    /// The newest [`CUDA_TEXTURE_DESC_v1`].
    CUDA_TEXTURE_DESC = CUDA_TEXTURE_DESC_v1,
    /// The newest [`CUDA_RESOURCE_VIEW_DESC_v1`].
    CUDA_RESOURCE_VIEW_DESC = CUDA_RESOURCE_VIEW_DESC_v1,
    /// The newest [`CUaccessPolicyWindow_v1`].
    CUaccessPolicyWindow = CUaccessPolicyWindow_v1,
    /// The value of an attribute of a kernel node.
    CUkernelNodeAttrValue = CUlaunchAttributeValue,
    /// The value of an attribute of a kernel node.
    CUkernelNodeAttrValue_v1 = CUlaunchAttributeValue,
    /// The value of an attribute of a stream.
    CUstreamAttrValue = CUlaunchAttributeValue,
    /// The value of an attribute of a stream.
    CUstreamAttrValue_v1 = CUlaunchAttributeValue,
    /// The newest [`CUDA_LAUNCH_PARAMS_v1`].
    CUDA_LAUNCH_PARAMS = CUDA_LAUNCH_PARAMS_v1,
    /// The newest [`CUDA_KERNEL_NODE_PARAMS_v2`]; before CUDA 12.0 the name meant
    /// [`CUDA_KERNEL_NODE_PARAMS_v1`].
    CUDA_KERNEL_NODE_PARAMS = CUDA_KERNEL_NODE_PARAMS_v2,
    /// Same fields as [`CUDA_KERNEL_NODE_PARAMS_v2`].
    CUDA_KERNEL_NODE_PARAMS_v3 = CUDA_KERNEL_NODE_PARAMS_v2,
    /// The newest [`CUDA_MEMCPY_BATCH_NODE_PARAMS_V1`].
    CUDA_MEMCPY_BATCH_NODE_PARAMS = CUDA_MEMCPY_BATCH_NODE_PARAMS_V1,
    /// The newest [`CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1`].
    CUDA_FABRIC_CPY_BATCH_NODE_PARAMS = CUDA_FABRIC_CPY_BATCH_NODE_PARAMS_V1,
    /// The newest [`CUDA_MEMSET_NODE_PARAMS_v1`].
    CUDA_MEMSET_NODE_PARAMS = CUDA_MEMSET_NODE_PARAMS_v1,
    /// The newest [`CUDA_HOST_NODE_PARAMS_v1`].
    CUDA_HOST_NODE_PARAMS = CUDA_HOST_NODE_PARAMS_v1,
    /// The newest [`CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1`].
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1,
    /// The newest [`CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1`].
    CUDA_EXT_SEM_WAIT_NODE_PARAMS = CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1,
    /// The newest [`CUDA_BATCH_MEM_OP_NODE_PARAMS_v1`].
    CUDA_BATCH_MEM_OP_NODE_PARAMS = CUDA_BATCH_MEM_OP_NODE_PARAMS_v1,
    /// Same fields as [`CUDA_BATCH_MEM_OP_NODE_PARAMS_v1`].
    CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 = CUDA_BATCH_MEM_OP_NODE_PARAMS_v1,
    /// The newest [`CUDA_MEM_ALLOC_NODE_PARAMS_v1`].
    CUDA_MEM_ALLOC_NODE_PARAMS = CUDA_MEM_ALLOC_NODE_PARAMS_v1,
    /// Same fields as [`CUDA_MEM_ALLOC_NODE_PARAMS_v1`].
    CUDA_MEM_ALLOC_NODE_PARAMS_v2 = CUDA_MEM_ALLOC_NODE_PARAMS_v1,
    /// The newest [`CUgraphExecUpdateResultInfo_v1`].
    CUgraphExecUpdateResultInfo = CUgraphExecUpdateResultInfo_v1,
    /// The newest [`CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1`].
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC = CUDA_EXTERNAL_MEMORY_HANDLE_DESC_v1,
    /// The newest [`CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1`].
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC = CUDA_EXTERNAL_MEMORY_BUFFER_DESC_v1,
    /// The newest [`CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_v1`].
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC = CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC_v1,
    /// The newest [`CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1`].
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC = CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_v1,
    /// The newest [`CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1`].
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_v1,
    /// The newest [`CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1`].
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS = CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_v1,
}
