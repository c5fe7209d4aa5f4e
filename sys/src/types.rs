//! Scalars, opaque handles and callbacks of the driver API.
//!
//! Callbacks are `extern "C"`: on the 64-bit systems that CUDA runs on, the header's `__stdcall`
//! for Windows is the same convention. A note "CUDA x.y+" is the first toolkit later than 11.8
//! whose header has the item.

use core::ffi::{c_char, c_void};

use crate::enums::*;
use crate::structs::*;

// Scalars

/// A device, by ordinal.
pub type CUdevice_v1 = i32;
/// A device, by ordinal.
pub type CUdevice = CUdevice_v1;
/// A 32-bit device address, for symbols older than CUDA 3.2.
pub type CUdeviceptr_v1 = u32;
/// A device address.
pub type CUdeviceptr_v2 = u64;
/// A device address.
pub type CUdeviceptr = CUdeviceptr_v2;
/// A texture object.
pub type CUtexObject_v1 = u64;
/// A texture object.
pub type CUtexObject = CUtexObject_v1;
/// A surface object.
pub type CUsurfObject_v1 = u64;
/// A surface object.
pub type CUsurfObject = CUsurfObject_v1;
/// A physical allocation, made by `cuMemCreate`.
pub type CUmemGenericAllocationHandle_v1 = u64;
/// A physical allocation, made by `cuMemCreate`.
pub type CUmemGenericAllocationHandle = CUmemGenericAllocationHandle_v1;
/// The value that conditional graph nodes depend on, as kernels set it. CUDA 12.3+.
pub type CUgraphConditionalHandle = u64;
/// A logical endpoint, by number. CUDA 13.3+.
pub type CUlogicalEndpointId = u32;
/// A position in the driver's log. CUDA 12.9+.
pub type CUlogIterator = u32;
/// A 32-bit number.
pub type cuuint32_t = u32;
/// A 64-bit number.
pub type cuuint64_t = u64;
/// Name of an attribute of a kernel node.
pub type CUkernelNodeAttrID = CUlaunchAttributeID;
/// Name of an attribute of a stream.
pub type CUstreamAttrID = CUlaunchAttributeID;
/// An OpenGL enumerant.
pub type GLenum = u32;
/// An OpenGL object name.
pub type GLuint = u32;

// Callbacks; `None` is the null pointer

/// A host function that a stream calls in order; it must not call the driver.
pub type CUhostFn = Option<unsafe extern "C" fn(userData: *mut c_void)>;

/// A function that a stream calls once the work before it has ended, with the stream's status.
pub type CUstreamCallback =
    Option<unsafe extern "C" fn(hStream: CUstream, status: CUresult, userData: *mut c_void)>;

/// The dynamic shared memory, in bytes, that a block of `blockSize` threads needs.
pub type CUoccupancyB2DSize = Option<unsafe extern "C" fn(blockSize: i32) -> usize>;

/// A callback for asynchronous events of a device. CUDA 12.4+.
pub type CUasyncCallback = Option<
    unsafe extern "C" fn(
        info: *mut CUasyncNotificationInfo,
        userData: *mut c_void,
        callback: CUasyncCallbackHandle,
    ),
>;

/// A callback that decides, for each node, whether a recaptured graph may replace its parameters.
/// CUDA 13.3+.
pub type CUgraphRecaptureCallback = Option<
    unsafe extern "C" fn(
        data: *mut c_void,
        node: CUgraphNode,
        originalParams: *const CUgraphNodeParams,
        recaptureParams: *const CUgraphNodeParams,
        status: CUgraphRecaptureStatus,
    ) -> CUresult,
>;

/// A callback for the start and the end of the core dump of process `pid`. CUDA 13.2+.
pub type CUcoredumpStatusCallback =
    Option<unsafe extern "C" fn(userData: *mut c_void, pid: i32, dev: CUdevice)>;

/// A callback for the driver's log messages; `length` is the length of `message`, in bytes.
/// CUDA 12.9+.
pub type CUlogsCallback = Option<
    unsafe extern "C" fn(data: *mut c_void, logLevel: CUlogLevel, message: *mut c_char, length: usize),
>;

// Handles

c_handles! {
    /// A context: the address space and state of one device in this process.
    CUcontext,
    /// A green context: a context that has part of a device to itself. CUDA 12.4+.
    CUgreenCtx,
    /// A list of device resources to make a green context from. CUDA 12.4+.
    CUdevResourceDesc,
    /// A module: code and variables loaded into one context.
    CUmodule,
    /// A kernel or device function of a module.
    CUfunction,
    /// A library: code that is loaded into contexts as they need it. CUDA 12.0+.
    CUlibrary,
    /// A kernel of a library, not bound to a context. CUDA 12.0+.
    CUkernel,
    /// A link in progress.
    CUlinkState,
    /// A stream: a queue of work. Null is the default stream; see also `CU_STREAM_LEGACY` and
    /// `CU_STREAM_PER_THREAD`.
    CUstream,
    /// An event: a point in a stream that can be waited for and timed.
    CUevent,
    /// An array: memory laid out for textures and surfaces.
    CUarray,
    /// A mipmapped array: one array per level.
    CUmipmappedArray,
    /// A texture reference; deprecated, texture objects replace it.
    CUtexref,
    /// A surface reference; deprecated, surface objects replace it.
    CUsurfref,
    /// A memory pool: the source of stream-ordered allocations.
    CUmemoryPool,
    /// Memory imported from another API.
    CUexternalMemory,
    /// A semaphore imported from another API.
    CUexternalSemaphore,
    /// A buffer or image of a graphics API.
    CUgraphicsResource,
    /// A graph: a template of work.
    CUgraph,
    /// A node of a graph.
    CUgraphNode,
    /// An executable graph.
    CUgraphExec,
    /// A graph node, as device code knows it. CUDA 12.4+.
    CUgraphDeviceNode,
    /// A reference-counted object whose lifetime a graph can share.
    CUuserObject,
    /// A registration for asynchronous notifications. CUDA 12.4+.
    CUasyncCallbackHandle,
    /// A registration for log messages. CUDA 12.9+.
    CUlogsCallbackHandle,
    /// A registration for core dump notices. CUDA 13.2+.
    CUcoredumpCallbackHandle,
    /// A checkpoint or restore that waits for the caller's part. CUDA 13.4+.
    CUcheckpointOperationHandle,
}
