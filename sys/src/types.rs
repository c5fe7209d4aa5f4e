//! Scalars, opaque handles and callbacks of the driver API.

use core::ffi::{c_char, c_void};

use crate::enums::*;
use crate::structs::*;

pub type CUdevice_v1 = i32;
pub type CUdevice = CUdevice_v1;
pub type CUdeviceptr_v1 = u32;
pub type CUdeviceptr_v2 = u64;
pub type CUdeviceptr = CUdeviceptr_v2;
pub type CUtexObject_v1 = u64;
pub type CUtexObject = CUtexObject_v1;
pub type CUsurfObject_v1 = u64;
pub type CUsurfObject = CUsurfObject_v1;
pub type CUmemGenericAllocationHandle_v1 = u64;
pub type CUmemGenericAllocationHandle = CUmemGenericAllocationHandle_v1;
pub type CUgraphConditionalHandle = u64;
pub type CUlogicalEndpointId = u32;
pub type CUlogIterator = u32;
pub type cuuint32_t = u32;
pub type cuuint64_t = u64;
pub type CUkernelNodeAttrID = CUlaunchAttributeID;
pub type CUstreamAttrID = CUlaunchAttributeID;

pub type CUhostFn = Option<unsafe extern "C" fn(userData: *mut c_void)>;
pub type CUstreamCallback =
    Option<unsafe extern "C" fn(hStream: CUstream, status: CUresult, userData: *mut c_void)>;
pub type CUoccupancyB2DSize = Option<unsafe extern "C" fn(blockSize: i32) -> usize>;
pub type CUasyncCallback = Option<
    unsafe extern "C" fn(
        info: *mut CUasyncNotificationInfo,
        userData: *mut c_void,
        callback: CUasyncCallbackHandle,
    ),
>;
pub type CUgraphRecaptureCallback = Option<
    unsafe extern "C" fn(
        data: *mut c_void,
        node: CUgraphNode,
        originalParams: *const CUgraphNodeParams,
        recaptureParams: *const CUgraphNodeParams,
        status: CUgraphRecaptureStatus,
    ) -> CUresult,
>;
pub type CUcoredumpStatusCallback =
    Option<unsafe extern "C" fn(userData: *mut c_void, pid: i32, dev: CUdevice)>;
pub type CUlogsCallback = Option<
    unsafe extern "C" fn(data: *mut c_void, logLevel: CUlogLevel, message: *mut c_char, length: usize),
>;

/// Declares an opaque handle: a pointer that only the driver looks behind.
macro_rules! handle {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name(pub *mut c_void);

        impl $name {
            /// The null handle.
            pub const fn null() -> Self {
                Self(core::ptr::null_mut())
            }

            /// Whether this is the null handle.
            pub const fn is_null(self) -> bool {
                self.0.is_null()
            }
        }
    };
}

/// An OpenGL enumerant.
pub type GLenum = u32;
/// An OpenGL object name.
pub type GLuint = u32;

handle!(CUarray);
handle!(CUasyncCallbackHandle);
handle!(CUcheckpointOperationHandle);
handle!(CUcontext);
handle!(CUcoredumpCallbackHandle);
handle!(CUdevResourceDesc);
handle!(CUevent);
handle!(CUexternalMemory);
handle!(CUexternalSemaphore);
handle!(CUfunction);
handle!(CUgraph);
handle!(CUgraphDeviceNode);
handle!(CUgraphExec);
handle!(CUgraphicsResource);
handle!(CUgraphNode);
handle!(CUgreenCtx);
handle!(CUkernel);
handle!(CUlibrary);
handle!(CUlinkState);
handle!(CUlogsCallbackHandle);
handle!(CUmemoryPool);
handle!(CUmipmappedArray);
handle!(CUmodule);
handle!(CUstream);
handle!(CUsurfref);
handle!(CUtexref);
handle!(CUuserObject);
