//! The `CU_*` and `CUDA_*` object-like macros of the driver API, by subject.
//!
//! Each has the type of the field or parameter that takes it. A note "CUDA x.y+" is the first
//! toolkit later than 11.8 whose header has the item.

use core::ffi::c_void;
use core::ptr::without_provenance_mut;

use crate::enums::CUlaunchAttributeID;
use crate::types::{CUdevice, CUstream};

c_constants! {
    // Versions

    /// The CUDA version whose header these declarations follow: 1000 times the major
    /// number plus 10 times the minor.
    CUDA_VERSION: u32 = 13050;

    // Devices and streams

    /// The host, where a device ordinal is asked for.
    CU_DEVICE_CPU: CUdevice = -1;
    /// No device.
    CU_DEVICE_INVALID: CUdevice = -2;
    /// The legacy default stream, which all blocking streams wait for.
    CU_STREAM_LEGACY: CUstream = CUstream(without_provenance_mut(1));
    /// The calling thread's own default stream.
    CU_STREAM_PER_THREAD: CUstream = CUstream(without_provenance_mut(2));
    /// Multiprocessors of any locality domain. CUDA 13.5+.
    CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID_ANY: u32 = 4294967295;

    // Launch arguments

    /// Ends the `extra` list of a launch.
    CU_LAUNCH_PARAM_END: *mut c_void = without_provenance_mut(CU_LAUNCH_PARAM_END_AS_INT);
    /// In an `extra` list: a pointer to the packed arguments follows.
    CU_LAUNCH_PARAM_BUFFER_POINTER: *mut c_void =
        without_provenance_mut(CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT);
    /// In an `extra` list: a pointer to their size in bytes follows.
    CU_LAUNCH_PARAM_BUFFER_SIZE: *mut c_void = without_provenance_mut(CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT);
    /// `CU_LAUNCH_PARAM_END` as a number.
    CU_LAUNCH_PARAM_END_AS_INT: usize = 0;
    /// `CU_LAUNCH_PARAM_BUFFER_POINTER` as a number.
    CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT: usize = 1;
    /// `CU_LAUNCH_PARAM_BUFFER_SIZE` as a number.
    CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT: usize = 2;
    /// Grid size of a launch that takes the block shape from the kernel itself. CUDA 12.9+.
    CU_LAUNCH_KERNEL_REQUIRED_BLOCK_DIM: u32 = 1;
    /// Each device starts without waiting for the others.
    CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC: u32 = 1;
    /// Each device goes on without waiting for the others.
    CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC: u32 = 2;

    // Other names of launch attributes

    /// `CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW`, of a kernel node.
    CU_KERNEL_NODE_ATTRIBUTE_ACCESS_POLICY_WINDOW: CUlaunchAttributeID =
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
    /// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`, of a kernel node.
    CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE: CUlaunchAttributeID =
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`, of a kernel node.
    CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_DIMENSION: CUlaunchAttributeID =
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE`, of a kernel node.
    CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: CUlaunchAttributeID =
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
    /// `CU_LAUNCH_ATTRIBUTE_PRIORITY`, of a kernel node.
    CU_KERNEL_NODE_ATTRIBUTE_PRIORITY: CUlaunchAttributeID =
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY;
    /// `CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP`, of a kernel node. CUDA 12.0+.
    CU_KERNEL_NODE_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: CUlaunchAttributeID =
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP;
    /// `CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN`, of a kernel node. CUDA 12.0+.
    CU_KERNEL_NODE_ATTRIBUTE_MEM_SYNC_DOMAIN: CUlaunchAttributeID =
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
    /// `CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION`, of a kernel node. CUDA 12.8+.
    CU_KERNEL_NODE_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION: CUlaunchAttributeID =
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION;
    /// `CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE`, of a kernel node. CUDA 12.4+.
    CU_KERNEL_NODE_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: CUlaunchAttributeID =
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
    /// `CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`, of a kernel node. CUDA 12.5+.
    CU_KERNEL_NODE_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: CUlaunchAttributeID =
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    /// `CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW`, of a stream.
    CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW: CUlaunchAttributeID =
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
    /// `CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY`, of a stream.
    CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY: CUlaunchAttributeID =
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY;
    /// `CU_LAUNCH_ATTRIBUTE_PRIORITY`, of a stream. CUDA 12.0+.
    CU_STREAM_ATTRIBUTE_PRIORITY: CUlaunchAttributeID = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY;
    /// `CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP`, of a stream. CUDA 12.0+.
    CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: CUlaunchAttributeID =
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP;
    /// `CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN`, of a stream. CUDA 12.0+.
    CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN: CUlaunchAttributeID =
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;

    // Graphs

    /// A conditional handle takes its default value at each launch. CUDA 12.3+.
    CU_GRAPH_COND_ASSIGN_DEFAULT: u32 = 1;
    /// The edge leaves when the kernel has ended. CUDA 12.3+.
    CU_GRAPH_KERNEL_NODE_PORT_DEFAULT: u8 = 0;
    /// The edge leaves when all blocks have triggered or ended. CUDA 12.3+.
    CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC: u8 = 1;
    /// The edge leaves when all blocks have started. CUDA 12.3+.
    CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER: u8 = 2;

    // Host memory

    /// Host memory is page-locked for all contexts.
    CU_MEMHOSTALLOC_PORTABLE: u32 = 1;
    /// Host memory is mapped into the device.
    CU_MEMHOSTALLOC_DEVICEMAP: u32 = 2;
    /// Host memory is write-combined: fast to send, slow to read on the host.
    CU_MEMHOSTALLOC_WRITECOMBINED: u32 = 4;
    /// Registered memory is page-locked for all contexts.
    CU_MEMHOSTREGISTER_PORTABLE: u32 = 1;
    /// Registered memory is mapped into the device.
    CU_MEMHOSTREGISTER_DEVICEMAP: u32 = 2;
    /// The memory to register is a device's, not RAM.
    CU_MEMHOSTREGISTER_IOMEMORY: u32 = 4;
    /// The device will only read the registered memory.
    CU_MEMHOSTREGISTER_READ_ONLY: u32 = 8;

    // Device memory

    /// Bytes of an interprocess handle.
    CU_IPC_HANDLE_SIZE: usize = 64;
    /// The memory will back sparse arrays.
    CU_MEM_CREATE_USAGE_TILE_POOL: u16 = 1;
    /// The memory will be used for hardware decompression. CUDA 12.8+.
    CU_MEM_CREATE_USAGE_HW_DECOMPRESS: u16 = 2;
    /// GPUDirect RDMA will reach the memory over PCIe. CUDA 13.4+.
    CU_MEM_CREATE_USAGE_GPU_DIRECT_RDMA_OVER_PCIE: u16 = 4;
    /// The pool's memory will be used for hardware decompression. CUDA 12.8+.
    CU_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS: u16 = 2;

    // Arrays and textures

    /// The array has layers; depth counts them.
    CUDA_ARRAY3D_LAYERED: u32 = 1;
    /// Old name of `CUDA_ARRAY3D_LAYERED`.
    CUDA_ARRAY3D_2DARRAY: u32 = 1;
    /// The array will be bound to surfaces.
    CUDA_ARRAY3D_SURFACE_LDST: u32 = 2;
    /// The array is a cube map of six faces; with layers, depth is a multiple of six.
    CUDA_ARRAY3D_CUBEMAP: u32 = 4;
    /// The array will be gathered from.
    CUDA_ARRAY3D_TEXTURE_GATHER: u32 = 8;
    /// The array is a depth texture.
    CUDA_ARRAY3D_DEPTH_TEXTURE: u32 = 16;
    /// The array is a color attachment of a graphics API.
    CUDA_ARRAY3D_COLOR_ATTACHMENT: u32 = 32;
    /// The array is sparse.
    CUDA_ARRAY3D_SPARSE: u32 = 64;
    /// The array is made without memory and gets it later.
    CUDA_ARRAY3D_DEFERRED_MAPPING: u32 = 128;
    /// The array will be used by the video hardware. CUDA 12.5+.
    CUDA_ARRAY3D_VIDEO_ENCODE_DECODE: u32 = 256;
    /// All layers share one packed tail of mip levels.
    CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL: u32 = 1;
    /// A texture reference keeps its format when an array is bound.
    CU_TRSA_OVERRIDE_FORMAT: u32 = 1;
    /// Texels are read as integers, not as values from 0 to 1.
    CU_TRSF_READ_AS_INTEGER: u32 = 1;
    /// Coordinates run from 0 to 1.
    CU_TRSF_NORMALIZED_COORDINATES: u32 = 2;
    /// Texels are converted from sRGB to linear.
    CU_TRSF_SRGB: u32 = 16;
    /// Trilinear filtering is not simplified.
    CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION: u32 = 32;
    /// Filtering goes on across the edges of a cube map.
    CU_TRSF_SEAMLESS_CUBEMAP: u32 = 64;
    /// A texture unit chosen by the driver, for old texture references.
    CU_PARAM_TR_DEFAULT: i32 = -1;
    /// 64-bit words of a tensor map. CUDA 12.0+.
    CU_TENSOR_MAP_NUM_QWORDS: usize = 16;

    // Compilation targets

    /// Added to a `CUjit_target` for one device's own features. CUDA 12.0+.
    CU_COMPUTE_ACCELERATED_TARGET_BASE: u32 = 65536;
    /// Added to a `CUjit_target` for the features of a family. CUDA 12.9+.
    CU_COMPUTE_FAMILY_TARGET_BASE: u32 = 131072;

    // External memory and semaphores

    /// The external memory is a dedicated resource.
    CUDA_EXTERNAL_MEMORY_DEDICATED: u32 = 1;
    /// A signal does not synchronize NvSciBuf memory.
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_SKIP_NVSCIBUF_MEMSYNC: u32 = 1;
    /// A wait does not synchronize NvSciBuf memory.
    CUDA_EXTERNAL_SEMAPHORE_WAIT_SKIP_NVSCIBUF_MEMSYNC: u32 = 2;
    /// The attribute list is for signaling.
    CUDA_NVSCISYNC_ATTR_SIGNAL: u32 = 1;
    /// The attribute list is for waiting.
    CUDA_NVSCISYNC_ATTR_WAIT: u32 = 2;
}
