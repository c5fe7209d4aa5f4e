//! `cudaDeviceProp`, which has one layout up to CUDA 12 and another from 13 on.

use core::ffi::c_char;
use core::mem::{offset_of, zeroed};

use cuprum_sys::{CUdevice, CUdevice_attribute, CUuuid, Fns};

use crate::error::{Result, check};
use crate::structs::Field;

/// Calls a macro with rows of layouts: `both`, `old` or `new`, the field, its attribute.
macro_rules! rows {
    ($then:ident! $($first:tt)*) => {
        $then! { $($first)*
            both name: [c_char; 256] = _;
            both uuid: CUuuid = _;
            both luid: [c_char; 8] = _;
            both luidDeviceNodeMask: u32 = _;
            both totalGlobalMem: usize = _;
            both sharedMemPerBlock: usize = (CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
            both regsPerBlock: i32 = (CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
            both warpSize: i32 = (CU_DEVICE_ATTRIBUTE_WARP_SIZE);
            both memPitch: usize = (CU_DEVICE_ATTRIBUTE_MAX_PITCH);
            both maxThreadsPerBlock: i32 = (CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
            both maxThreadsDim: [i32; 3] = [CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z];
            both maxGridSize: [i32; 3] = [CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z];
            old clockRate: i32 = (CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
            both totalConstMem: usize = (CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
            both major: i32 = (CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
            both minor: i32 = (CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
            both textureAlignment: usize = (CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
            both texturePitchAlignment: usize = (CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT);
            old deviceOverlap: i32 = (CU_DEVICE_ATTRIBUTE_GPU_OVERLAP);
            both multiProcessorCount: i32 = (CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
            old kernelExecTimeoutEnabled: i32 = (CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT);
            both integrated: i32 = (CU_DEVICE_ATTRIBUTE_INTEGRATED);
            both canMapHostMemory: i32 = (CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
            old computeMode: i32 = (CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
            both maxTexture1D: i32 = (CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH);
            both maxTexture1DMipmap: i32 = (CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH);
            old maxTexture1DLinear: i32 = (CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
            both maxTexture2D: [i32; 2] = [CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT];
            both maxTexture2DMipmap: [i32; 2] = [CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT];
            both maxTexture2DLinear: [i32; 3] = [CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH];
            both maxTexture2DGather: [i32; 2] = [CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT];
            both maxTexture3D: [i32; 3] = [CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH];
            both maxTexture3DAlt: [i32; 3] = [CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE];
            both maxTextureCubemap: i32 = (CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH);
            both maxTexture1DLayered: [i32; 2] = [CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS];
            both maxTexture2DLayered: [i32; 3] = [CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS];
            both maxTextureCubemapLayered: [i32; 2] = [CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS];
            both maxSurface1D: i32 = (CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH);
            both maxSurface2D: [i32; 2] = [CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT];
            both maxSurface3D: [i32; 3] = [CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH];
            both maxSurface1DLayered: [i32; 2] = [CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS];
            both maxSurface2DLayered: [i32; 3] = [CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS];
            both maxSurfaceCubemap: i32 = (CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH);
            both maxSurfaceCubemapLayered: [i32; 2] = [CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS];
            both surfaceAlignment: usize = (CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT);
            both concurrentKernels: i32 = (CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
            both ECCEnabled: i32 = (CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
            both pciBusID: i32 = (CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
            both pciDeviceID: i32 = (CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
            both pciDomainID: i32 = (CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
            both tccDriver: i32 = (CU_DEVICE_ATTRIBUTE_TCC_DRIVER);
            both asyncEngineCount: i32 = (CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
            both unifiedAddressing: i32 = (CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
            old memoryClockRate: i32 = (CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
            both memoryBusWidth: i32 = (CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
            both l2CacheSize: i32 = (CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
            both persistingL2CacheMaxSize: i32 = (CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
            both maxThreadsPerMultiProcessor: i32 = (CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
            both streamPrioritiesSupported: i32 = (CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED);
            both globalL1CacheSupported: i32 = (CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED);
            both localL1CacheSupported: i32 = (CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED);
            both sharedMemPerMultiprocessor: usize = (CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
            both regsPerMultiprocessor: i32 = (CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
            both managedMemory: i32 = (CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
            both isMultiGpuBoard: i32 = (CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD);
            both multiGpuBoardGroupID: i32 = (CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID);
            both hostNativeAtomicSupported: i32 = (CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
            old singleToDoublePrecisionPerfRatio: i32 = (CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
            both pageableMemoryAccess: i32 = (CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
            both concurrentManagedAccess: i32 = (CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
            both computePreemptionSupported: i32 = (CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED);
            both canUseHostPointerForRegisteredMem: i32 = (CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
            both cooperativeLaunch: i32 = (CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
            old cooperativeMultiDeviceLaunch: i32 = (CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH);
            both sharedMemPerBlockOptin: usize = (CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
            both pageableMemoryAccessUsesHostPageTables: i32 = (CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
            both directManagedMemAccessFromHost: i32 = (CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST);
            both maxBlocksPerMultiProcessor: i32 = (CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
            both accessPolicyMaxWindowSize: i32 = (CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
            both reservedSharedMemPerBlock: usize = (CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
            both hostRegisterSupported: i32 = (CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
            both sparseCudaArraySupported: i32 = (CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED);
            both hostRegisterReadOnlySupported: i32 = (CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED);
            both timelineSemaphoreInteropSupported: i32 = (CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED);
            both memoryPoolsSupported: i32 = (CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
            both gpuDirectRDMASupported: i32 = (CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED);
            both gpuDirectRDMAFlushWritesOptions: u32 = (CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
            both gpuDirectRDMAWritesOrdering: i32 = (CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING);
            both memoryPoolSupportedHandleTypes: u32 = (CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES);
            both deferredMappingCudaArraySupported: i32 = (CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED);
            both ipcEventSupported: i32 = (CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED);
            both clusterLaunch: i32 = (CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
            both unifiedFunctionPointers: i32 = (CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS);
            new deviceNumaConfig: i32 = (CU_DEVICE_ATTRIBUTE_NUMA_CONFIG);
            new deviceNumaId: i32 = (CU_DEVICE_ATTRIBUTE_NUMA_ID);
            new mpsEnabled: i32 = (CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
            new hostNumaId: i32 = (CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
            new gpuPciDeviceID: u32 = (CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID);
            new gpuPciSubsystemID: u32 = (CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID);
            new hostNumaMultinodeIpcSupported: i32 = (CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED);
            new reserved: [i32; 56] = _;
            old reserved: [i32; 63] = _;
        }
    };
}

macro_rules! pick {
    ($name:ident $which:ident [$($done:tt)*] both $field:ident: $ty:ty = $source:tt; $($rest:tt)*) => {
        pick! { $name $which [$($done)* $field: $ty = $source;] $($rest)* }
    };
    ($name:ident old [$($done:tt)*] old $field:ident: $ty:ty = $source:tt; $($rest:tt)*) => {
        pick! { $name old [$($done)* $field: $ty = $source;] $($rest)* }
    };
    ($name:ident new [$($done:tt)*] new $field:ident: $ty:ty = $source:tt; $($rest:tt)*) => {
        pick! { $name new [$($done)* $field: $ty = $source;] $($rest)* }
    };
    ($name:ident $which:ident [$($done:tt)*] $other:ident $field:ident: $ty:ty = $source:tt; $($rest:tt)*) => {
        pick! { $name $which [$($done)*] $($rest)* }
    };
    ($name:ident $which:ident [$($field:ident: $ty:ty = $source:tt;)*]) => {
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub(crate) struct $name { $( pub(crate) $field: $ty, )* }

        impl $name {
            /// The fields, for the comparison with the headers.
            #[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with the headers"))]
            pub(crate) const FIELDS: &'static [Field] =
                &[$( Field { name: stringify!($field), offset: offset_of!($name, $field), size: size_of::<$ty>() } ),*];

            /// Returns the properties of a device from the driver's attributes.
            pub(crate) fn of(fns: &Fns, device: CUdevice) -> Result<Self> {
                // SAFETY: numbers and arrays of them, for which zeros are valid.
                let mut properties: Self = unsafe { zeroed() };
                let attribute = |attribute| attribute_of(fns, device, attribute);
                $( value!(properties.$field, $ty, attribute, $source); )*
                identity!(properties, fns, device);
                Ok(properties)
            }
        }
    };
}

macro_rules! value {
    ($place:expr, $ty:ty, $get:ident, _) => {};
    ($place:expr, $ty:ty, $get:ident, ($attribute:ident)) => {
        $place = $get(CUdevice_attribute::$attribute) as $ty
    };
    ($place:expr, $ty:ty, $get:ident, [$($attribute:ident)*]) => {
        $place = [$( $get(CUdevice_attribute::$attribute) ),*]
    };
}

/// Fills the fields that are not attributes. The LUID exists only on Windows and stays zero.
macro_rules! identity {
    ($properties:ident, $fns:ident, $device:ident) => {
        // SAFETY: the output has this many bytes.
        check(unsafe { ($fns.cuDeviceGetName)($properties.name.as_mut_ptr(), 256, $device) })?;
        // SAFETY: a valid output.
        check(unsafe { ($fns.cuDeviceTotalMem_v2)(&mut $properties.totalGlobalMem, $device) })?;
        // SAFETY: likewise.
        check(unsafe { ($fns.cuDeviceGetUuid_v2)(&mut $properties.uuid, $device) })?;
    };
}

/// Returns an attribute, 0 if the driver does not know it.
fn attribute_of(fns: &Fns, device: CUdevice, attribute: CUdevice_attribute) -> i32 {
    let mut value = 0;
    // SAFETY: a valid output.
    match check(unsafe { (fns.cuDeviceGetAttribute)(&mut value, attribute, device) }) {
        Ok(()) => value,
        Err(_) => 0,
    }
}

rows! { pick! cudaDeviceProp_12 old [] }
rows! { pick! cudaDeviceProp_13 new [] }

/// Size of the layout of CUDA 11, which the plain name still has in CUDA 12.
pub(crate) const BYTES_OF_11: usize = offset_of!(cudaDeviceProp_12, hostRegisterSupported);
