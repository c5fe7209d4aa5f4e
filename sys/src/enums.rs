//! Every C enum of the driver API, by subject.
//!
//! An enum is a transparent integer: a number that this crate does not know, as from a newer
//! driver, is an ordinary value without a name. A note "CUDA x.y+" is the first toolkit later than
//! 11.8 whose header has the item; a constant without one is as old as its enum.

c_enums! {
    // Results

    /// Result of a driver call.
    #[must_use]
    pub described CUresult: u32 {
        /// The call succeeded; for a query of pending work, the work is done.
        CUDA_SUCCESS = 0,
        /// An argument is out of its allowed range, null where that is not allowed, or does not fit
        /// the others.
        CUDA_ERROR_INVALID_VALUE = 1,
        /// The device, or the host on the driver's behalf, has not enough memory left.
        CUDA_ERROR_OUT_OF_MEMORY = 2,
        /// `cuInit` has not succeeded in this process.
        CUDA_ERROR_NOT_INITIALIZED = 3,
        /// The driver is shutting down with the process; nothing can be called any more.
        CUDA_ERROR_DEINITIALIZED = 4,
        /// An external profiler owns the profiling of this process.
        CUDA_ERROR_PROFILER_DISABLED = 5,
        /// No longer returned: the profiler was used before it was set up.
        CUDA_ERROR_PROFILER_NOT_INITIALIZED = 6,
        /// No longer returned: profiling was already on.
        CUDA_ERROR_PROFILER_ALREADY_STARTED = 7,
        /// No longer returned: profiling was already off.
        CUDA_ERROR_PROFILER_ALREADY_STOPPED = 8,
        /// The loaded library is the toolkit's link stub and not a driver.
        CUDA_ERROR_STUB_LIBRARY = 34,
        /// The installed driver is too old for this call. CUDA 13.0+.
        CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER = 36,
        /// The device cannot be used now, mostly because another process holds it exclusively.
        CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
        /// The hardware has no room left to bind more memory to multicast objects. CUDA 13.4+.
        CUDA_ERROR_MULTICAST_RESOURCE_FULL = 47,
        /// The driver sees no CUDA device.
        CUDA_ERROR_NO_DEVICE = 100,
        /// There is no device with this ordinal, or it does not support the request.
        CUDA_ERROR_INVALID_DEVICE = 101,
        /// The device needs a license (virtual GPU) that is not present.
        CUDA_ERROR_DEVICE_NOT_LICENSED = 102,
        /// The module image is not PTX, a cubin or a fat binary, or is damaged.
        CUDA_ERROR_INVALID_IMAGE = 200,
        /// No context is current, or the one given is destroyed or of the wrong kind.
        CUDA_ERROR_INVALID_CONTEXT = 201,
        /// No longer returned: the context was already the current one.
        CUDA_ERROR_CONTEXT_ALREADY_CURRENT = 202,
        /// Memory could not be mapped.
        CUDA_ERROR_MAP_FAILED = 205,
        /// Memory could not be unmapped.
        CUDA_ERROR_UNMAP_FAILED = 206,
        /// The array is mapped and cannot be destroyed now.
        CUDA_ERROR_ARRAY_IS_MAPPED = 207,
        /// The resource is mapped already.
        CUDA_ERROR_ALREADY_MAPPED = 208,
        /// The image holds no code for this device and no PTX that could be compiled for it.
        CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
        /// The resource was acquired already.
        CUDA_ERROR_ALREADY_ACQUIRED = 210,
        /// The resource is not mapped.
        CUDA_ERROR_NOT_MAPPED = 211,
        /// The mapped resource cannot be accessed as an array.
        CUDA_ERROR_NOT_MAPPED_AS_ARRAY = 212,
        /// The mapped resource cannot be accessed through a pointer.
        CUDA_ERROR_NOT_MAPPED_AS_POINTER = 213,
        /// Device memory had an uncorrectable error; the context is lost.
        CUDA_ERROR_ECC_UNCORRECTABLE = 214,
        /// The device does not know this `CUlimit`.
        CUDA_ERROR_UNSUPPORTED_LIMIT = 215,
        /// Another thread is bound to this context, which takes one thread only.
        CUDA_ERROR_CONTEXT_ALREADY_IN_USE = 216,
        /// These two devices cannot reach each other's memory.
        CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
        /// The PTX did not compile; the error log says where.
        CUDA_ERROR_INVALID_PTX = 218,
        /// The graphics API's context is not usable.
        CUDA_ERROR_INVALID_GRAPHICS_CONTEXT = 219,
        /// NVLink had an uncorrectable error.
        CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
        /// The PTX compiler library that ships with the driver was not found.
        CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221,
        /// The PTX is of a newer version than this driver's compiler knows.
        CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
        /// Compiling PTX was switched off, by the environment or by the application.
        CUDA_ERROR_JIT_COMPILATION_DISABLED = 223,
        /// The device does not know this `CUexecAffinityType`.
        CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY = 224,
        /// The code calls `cudaDeviceSynchronize` on the device, which is no longer possible.
        /// CUDA 12.1+.
        CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC = 225,
        /// The hardware confined a fault, such as a bad peer access over NVLink; the process must
        /// restart. CUDA 12.8+.
        CUDA_ERROR_CONTAINED = 226,
        /// The fat binary needs a newer loader than this driver's. CUDA 13.4+.
        CUDA_ERROR_INSUFFICIENT_LOADER_VERSION = 227,
        /// The kernel source is not valid.
        CUDA_ERROR_INVALID_SOURCE = 300,
        /// There is no such file.
        CUDA_ERROR_FILE_NOT_FOUND = 301,
        /// A shared library lacks a symbol that the driver needs.
        CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND = 302,
        /// A shared library that the driver needs could not be set up.
        CUDA_ERROR_SHARED_OBJECT_INIT_FAILED = 303,
        /// A call to the operating system failed; in a child of `fork`, the usual answer.
        CUDA_ERROR_OPERATING_SYSTEM = 304,
        /// The driver did not return this handle, or it was destroyed.
        CUDA_ERROR_INVALID_HANDLE = 400,
        /// The object is not in the state that the operation needs.
        CUDA_ERROR_ILLEGAL_STATE = 401,
        /// The query would drop information that the caller has not asked for, as with an older
        /// form of it. CUDA 12.3+.
        CUDA_ERROR_LOSSY_QUERY = 402,
        /// Nothing has this name: function, variable, texture or driver symbol.
        CUDA_ERROR_NOT_FOUND = 500,
        /// The work asked about is still running; not a failure.
        CUDA_ERROR_NOT_READY = 600,
        /// A kernel accessed memory that it must not; the context is lost.
        CUDA_ERROR_ILLEGAL_ADDRESS = 700,
        /// The launch needs more registers or shared memory than there are.
        CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
        /// The kernel ran longer than a display device allows; the context is lost.
        CUDA_ERROR_LAUNCH_TIMEOUT = 702,
        /// The kernel and its module disagree on the texturing mode.
        CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING = 703,
        /// Access to this peer context is already on.
        CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
        /// Access to this peer context is not on.
        CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705,
        /// The device's primary context exists already, so this can no longer be set.
        CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE = 708,
        /// The current context was destroyed, or is a primary context not yet made.
        CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
        /// A device-side `assert` failed; the context is lost.
        CUDA_ERROR_ASSERT = 710,
        /// The hardware has no room for another peer.
        CUDA_ERROR_TOO_MANY_PEERS = 711,
        /// This host memory is registered already.
        CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
        /// This host memory is not registered.
        CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
        /// A kernel overran or damaged its call stack; the context is lost.
        CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
        /// A kernel met an instruction that is not one; the context is lost.
        CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
        /// A kernel accessed an address that is not aligned to the size of the access; the context
        /// is lost.
        CUDA_ERROR_MISALIGNED_ADDRESS = 716,
        /// A kernel used an instruction on an address of the wrong memory space; the context is
        /// lost.
        CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
        /// A kernel jumped out of its code; the context is lost.
        CUDA_ERROR_INVALID_PC = 718,
        /// A kernel failed for a reason that has no code of its own; the context is lost.
        CUDA_ERROR_LAUNCH_FAILED = 719,
        /// A cooperative launch has more blocks than fit on the device at once.
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
        /// A kernel ended without freeing its tensor memory; the process must restart. CUDA 12.8+.
        CUDA_ERROR_TENSOR_MEMORY_LEAK = 721,
        /// The operation is not allowed here, for instance in this mode, during capture or from a
        /// callback.
        CUDA_ERROR_NOT_PERMITTED = 800,
        /// The device or the system cannot do this.
        CUDA_ERROR_NOT_SUPPORTED = 801,
        /// A service that the device needs, such as the fabric manager, is not running yet.
        CUDA_ERROR_SYSTEM_NOT_READY = 802,
        /// The kernel driver and the user-mode driver are of different versions.
        CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
        /// Forward compatibility does not cover this device.
        CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
        /// The process could not reach the MPS control daemon or its server.
        CUDA_ERROR_MPS_CONNECTION_FAILED = 805,
        /// A request to the MPS server failed.
        CUDA_ERROR_MPS_RPC_FAILURE = 806,
        /// The MPS server is starting or stopping and takes no clients now.
        CUDA_ERROR_MPS_SERVER_NOT_READY = 807,
        /// The MPS server has as many clients as it allows.
        CUDA_ERROR_MPS_MAX_CLIENTS_REACHED = 808,
        /// The MPS server has no hardware connection left.
        CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED = 809,
        /// The MPS server ended this client.
        CUDA_ERROR_MPS_CLIENT_TERMINATED = 810,
        /// The module launches kernels from the device, which this device does not support.
        /// CUDA 12.0+.
        CUDA_ERROR_CDP_NOT_SUPPORTED = 811,
        /// The module mixes two versions of device-side launching. CUDA 12.0+.
        CUDA_ERROR_CDP_VERSION_MISMATCH = 812,
        /// This operation cannot be recorded while a stream is capturing.
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
        /// An earlier error spoiled the running capture.
        CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
        /// The operation would join two separate captures.
        CUDA_ERROR_STREAM_CAPTURE_MERGE = 902,
        /// This stream did not begin the capture that it was asked to end.
        CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
        /// The capture ended while a stream forked from it had not been joined again.
        CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
        /// The operation would make captured work depend on work outside the capture.
        CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905,
        /// The operation would make the capture wait for the legacy default stream.
        CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
        /// The event was last recorded in a capture and cannot be used outside of it.
        CUDA_ERROR_CAPTURED_EVENT = 907,
        /// Another thread began this capture, in a mode that lets only that thread end it.
        CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908,
        /// The wait ended before the work did.
        CUDA_ERROR_TIMEOUT = 909,
        /// The executable graph cannot take the new graph's shape; it must be instantiated again.
        CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910,
        /// A device outside CUDA's control failed; the process must restart.
        CUDA_ERROR_EXTERNAL_DEVICE = 911,
        /// The cluster size is not one that this kernel and device can run.
        CUDA_ERROR_INVALID_CLUSTER_SIZE = 912,
        /// The function is not loaded yet, and this query does not load it. CUDA 12.4+.
        CUDA_ERROR_FUNCTION_NOT_LOADED = 913,
        /// The device resource is of a type that does not fit the operation. CUDA 12.4+.
        CUDA_ERROR_INVALID_RESOURCE_TYPE = 914,
        /// The device resources are too few or do not go together. CUDA 12.4+.
        CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION = 915,
        /// Changing the keys of a confidential-computing session failed. CUDA 12.8+.
        CUDA_ERROR_KEY_ROTATION = 916,
        /// The stream has lost its green context, which was destroyed. CUDA 13.1+.
        CUDA_ERROR_STREAM_DETACHED = 917,
        /// Recording into an existing graph again failed and was ended. CUDA 13.3+.
        CUDA_ERROR_GRAPH_RECAPTURE_FAILURE = 918,
        /// The NVLink fabric was not up in time; a later retry may succeed. CUDA 13.4+.
        CUDA_ERROR_FABRIC_NOT_READY = 919,
        /// The driver gives no other reason.
        CUDA_ERROR_UNKNOWN = 999,
        /// Ours, from no driver: the driver lacks this function, and nothing was called.
        UNRESOLVED = 0x7FFF_0001,
        /// Ours, from no driver: this process is a fork of the process that initialized the driver,
        /// and nothing was called.
        FORKED = 0x7FFF_0002,
    }

    // Entry points and logs

    /// Form of a function that `cuGetProcAddress` looks up.
    pub flags CUdriverProcAddress_flags: u32 {
        /// The form for the default stream that the caller was compiled for.
        CU_GET_PROC_ADDRESS_DEFAULT = 0,
        /// The form whose null stream is the legacy default stream.
        CU_GET_PROC_ADDRESS_LEGACY_STREAM = 1,
        /// The form whose null stream is the calling thread's own default stream.
        CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2,
    }

    /// Outcome of a `cuGetProcAddress_v2` look-up. CUDA 12.0+.
    pub enum CUdriverProcAddressQueryResult: u32 {
        /// The function was found.
        CU_GET_PROC_ADDRESS_SUCCESS = 0,
        /// The driver has no function of this name.
        CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
        /// The function exists, but came later than the version asked for.
        CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2,
    }

    /// Severity of a driver log message. CUDA 12.9+.
    pub enum CUlogLevel: u32 {
        /// The message explains a failure.
        CU_LOG_LEVEL_ERROR = 0,
        /// The message warns of something that did not fail.
        CU_LOG_LEVEL_WARNING = 1,
    }

    /// The file format of the old command-line profiler.
    pub enum CUoutput_mode: u32 {
        /// Lines of names and values.
        CU_OUT_KEY_VALUE_PAIR = 0,
        /// Comma-separated values.
        CU_OUT_CSV = 1,
    }

    // Devices

    /// A property of a device; all values are read as `int`.
    pub enum CUdevice_attribute: u32 {
        /// Most threads in a block.
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
        /// Most threads of a block along x.
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
        /// Most threads of a block along y.
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
        /// Most threads of a block along z.
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
        /// Most blocks of a grid along x.
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
        /// Most blocks of a grid along y.
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
        /// Most blocks of a grid along z.
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
        /// Shared memory that a block may have without opting in, in bytes.
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
        /// Old name of `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK`.
        CU_DEVICE_ATTRIBUTE_SHARED_MEMORY_PER_BLOCK = 8,
        /// Constant memory of a module, in bytes.
        CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
        /// Threads in a warp.
        CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
        /// Largest row pitch of a pitched copy, in bytes.
        CU_DEVICE_ATTRIBUTE_MAX_PITCH = 11,
        /// 32-bit registers that a block may use.
        CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
        /// Old name of `CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK`.
        CU_DEVICE_ATTRIBUTE_REGISTERS_PER_BLOCK = 12,
        /// Top clock of the multiprocessors, in kHz.
        CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
        /// Alignment that a texture's base address needs, in bytes.
        CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT = 14,
        /// True if copies and kernels can overlap; old, see
        /// `CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT`.
        CU_DEVICE_ATTRIBUTE_GPU_OVERLAP = 15,
        /// Number of multiprocessors.
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
        /// True if a watchdog ends kernels that run too long.
        CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = 17,
        /// True if the device shares its memory with the host.
        CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
        /// True if kernels can reach mapped host memory.
        CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
        /// Processes that may open a context on the device, a `CUcomputemode`.
        CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
        /// Widest 1D texture, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH = 21,
        /// Widest 2D texture, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH = 22,
        /// Highest 2D texture, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT = 23,
        /// Widest 3D texture, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH = 24,
        /// Highest 3D texture, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT = 25,
        /// Deepest 3D texture, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH = 26,
        /// Widest layered 2D texture, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH = 27,
        /// Highest layered 2D texture, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT = 28,
        /// Most layers of a layered 2D texture.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS = 29,
        /// Old name of `CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH`.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_WIDTH = 27,
        /// Old name of `CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT`.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_HEIGHT = 28,
        /// Old name of `CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS`.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES = 29,
        /// Alignment that a surface's base address needs, in bytes.
        CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT = 30,
        /// True if several kernels of one context can run at once.
        CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = 31,
        /// True if memory error correction is on.
        CU_DEVICE_ATTRIBUTE_ECC_ENABLED = 32,
        /// PCI bus number.
        CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
        /// PCI device (slot) number.
        CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
        /// True if the device runs under Windows' compute-only driver model.
        CU_DEVICE_ATTRIBUTE_TCC_DRIVER = 35,
        /// Top clock of the memory, in kHz.
        CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
        /// Width of the memory bus, in bits.
        CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
        /// Size of the L2 cache, in bytes.
        CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
        /// Most threads that reside on a multiprocessor.
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
        /// Number of copy engines.
        CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
        /// True if host and device share one address space.
        CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
        /// Widest layered 1D texture, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH = 42,
        /// Most layers of a layered 1D texture.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS = 43,
        /// No longer meaningful: true if 2D texture gather works.
        CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER = 44,
        /// Widest 2D texture made for gather, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH = 45,
        /// Highest 2D texture made for gather, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT = 46,
        /// Width of the other allowed 3D texture shape, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE = 47,
        /// Height of the other allowed 3D texture shape, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE = 48,
        /// Depth of the other allowed 3D texture shape, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE = 49,
        /// PCI domain number.
        CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
        /// Alignment that the pitch of a 2D texture on linear memory needs, in bytes.
        CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT = 51,
        /// Widest cube map texture, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH = 52,
        /// Widest layered cube map texture, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH = 53,
        /// Most layers of a layered cube map texture.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS = 54,
        /// Widest 1D surface, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH = 55,
        /// Widest 2D surface, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH = 56,
        /// Highest 2D surface, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT = 57,
        /// Widest 3D surface, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH = 58,
        /// Highest 3D surface, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT = 59,
        /// Deepest 3D surface, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH = 60,
        /// Widest layered 1D surface, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH = 61,
        /// Most layers of a layered 1D surface.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS = 62,
        /// Widest layered 2D surface, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH = 63,
        /// Highest layered 2D surface, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT = 64,
        /// Most layers of a layered 2D surface.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS = 65,
        /// Widest cube map surface, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH = 66,
        /// Widest layered cube map surface, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH = 67,
        /// Most layers of a layered cube map surface.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS = 68,
        /// Widest 1D texture on linear memory, in texels; old, ask
        /// `cuDeviceGetTexture1DLinearMaxWidth`.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH = 69,
        /// Widest 2D texture on linear memory, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH = 70,
        /// Highest 2D texture on linear memory, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT = 71,
        /// Largest pitch of a 2D texture on linear memory, in bytes.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH = 72,
        /// Widest mipmapped 2D texture, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH = 73,
        /// Highest mipmapped 2D texture, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT = 74,
        /// Major number of the compute capability.
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
        /// Minor number of the compute capability.
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
        /// Widest mipmapped 1D texture, in texels.
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH = 77,
        /// True if streams have priorities.
        CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED = 78,
        /// True if L1 caches global memory.
        CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED = 79,
        /// True if L1 caches local memory.
        CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED = 80,
        /// Shared memory of a multiprocessor, in bytes.
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
        /// 32-bit registers of a multiprocessor.
        CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
        /// True if managed memory can be allocated.
        CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
        /// True if the device shares its board with others.
        CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD = 84,
        /// A number that all devices of one board share.
        CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID = 85,
        /// True if the link to the host carries atomics natively.
        CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED = 86,
        /// Ratio of single to double precision throughput.
        CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO = 87,
        /// True if kernels can reach ordinary host memory that was never registered.
        CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
        /// True if host and device may use managed memory at the same time.
        CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
        /// True if a running kernel can be interrupted.
        CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED = 90,
        /// True if kernels reach registered host memory at its host address.
        CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
        /// True if the first generation of stream memory operations works; deprecated. CUDA 12.0+.
        CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1 = 92,
        /// Name of 92 in CUDA 11 headers; removed in 12.0.
        CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS = 92,
        /// True if that first generation can wait and write 64 bits; deprecated. CUDA 12.0+.
        CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1 = 93,
        /// True if that first generation knows `CU_STREAM_WAIT_VALUE_NOR`; deprecated. CUDA 12.0+.
        CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1 = 94,
        /// True if kernels can be launched cooperatively.
        CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
        /// True if one cooperative launch can span devices; deprecated.
        CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH = 96,
        /// Shared memory that a block may have when its function opts in, in bytes.
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
        /// True if writes from outside, as by RDMA, can be flushed by a stream operation.
        CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES = 98,
        /// True if host memory can be registered.
        CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED = 99,
        /// True if ordinary host memory is reached through the host's own page tables.
        CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 100,
        /// True if the host reaches managed memory on the device without moving it.
        CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST = 101,
        /// True if `cuMemCreate`, `cuMemMap` and their kin work.
        CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
        /// Old name of `CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED`.
        CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED = 102,
        /// True if memory can be exported as a file descriptor.
        CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
        /// True if memory can be exported as a Windows NT handle.
        CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED = 104,
        /// True if memory can be exported as a Windows KMT handle.
        CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED = 105,
        /// Most blocks that reside on a multiprocessor.
        CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
        /// True if memory can be allocated compressible.
        CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED = 107,
        /// L2 that may be set aside for persisting lines, in bytes.
        CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE = 108,
        /// Largest access policy window, in bytes.
        CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE = 109,
        /// True if memory made by `cuMemCreate` can be used for GPUDirect RDMA.
        CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED = 110,
        /// Shared memory that the driver keeps of each block, in bytes.
        CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
        /// True if arrays can be sparse.
        CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED = 112,
        /// True if host memory can be registered read-only.
        CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED = 113,
        /// True if Vulkan timeline semaphores can be imported.
        CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED = 114,
        /// True if stream-ordered allocation from pools works.
        CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
        /// True if GPUDirect RDMA works.
        CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED = 116,
        /// Supported ways to flush RDMA writes, bits of `CUflushGPUDirectRDMAWritesOptions`.
        CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS = 117,
        /// Devices for which RDMA writes need no flush, a `CUGPUDirectRDMAWritesOrdering`.
        CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING = 118,
        /// Handle types that pools can be exported as, bits of `CUmemAllocationHandleType`.
        CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES = 119,
        /// True if kernels can be launched in clusters.
        CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH = 120,
        /// True if arrays can be made without memory and get it later.
        CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED = 121,
        /// True if stream memory operations can be 64 bits wide; was 93 in CUDA 11 headers.
        CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS = 122,
        /// Name of 122 in CUDA 11 headers; removed in 12.0.
        CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V2 = 122,
        /// True if `CU_STREAM_WAIT_VALUE_NOR` works; was 94 in CUDA 11 headers.
        CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR = 123,
        /// Name of 123 in CUDA 11 headers; removed in 12.0.
        CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V2 = 123,
        /// True if device memory can be shared as a Linux dma-buf.
        CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED = 124,
        /// True if events can be shared between processes. CUDA 12.0+.
        CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED = 125,
        /// Number of memory synchronization domains. CUDA 12.0+.
        CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT = 126,
        /// True if kernels can read tensors through tensor maps. CUDA 12.0+.
        CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED = 127,
        /// True if memory can be exported as a fabric handle. CUDA 12.3+.
        CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED = 128,
        /// True if a function has the same address on host and device. CUDA 12.0+.
        CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS = 129,
        /// Form in which device memory shows up as NUMA nodes, a `CUdeviceNumaConfig`. CUDA 12.2+.
        CU_DEVICE_ATTRIBUTE_NUMA_CONFIG = 130,
        /// NUMA node of the device's own memory. CUDA 12.2+.
        CU_DEVICE_ATTRIBUTE_NUMA_ID = 131,
        /// True if multicast objects and in-switch reductions work. CUDA 12.1+.
        CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED = 132,
        /// True if contexts on the device are shared through MPS. CUDA 12.3+.
        CU_DEVICE_ATTRIBUTE_MPS_ENABLED = 133,
        /// NUMA node of the host nearest to the device; -1 without NUMA. CUDA 12.2+.
        CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID = 134,
        /// True if a context can share a Direct3D 12 queue (CUDA in graphics). CUDA 12.5+.
        CU_DEVICE_ATTRIBUTE_D3D12_CIG_SUPPORTED = 135,
        /// Formats that the hardware decompresses, bits of `CUmemDecompressAlgorithm`. CUDA 12.8+.
        CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK = 136,
        /// Largest single decompression, in bytes. CUDA 12.8+.
        CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH = 137,
        /// True if a context can share a Vulkan queue (CUDA in graphics). CUDA 12.9+.
        CU_DEVICE_ATTRIBUTE_VULKAN_CIG_SUPPORTED = 138,
        /// PCI device identifier and vendor identifier, 16 bits each. CUDA 12.8+.
        CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID = 139,
        /// PCI subsystem identifier and subsystem vendor identifier, 16 bits each. CUDA 12.8+.
        CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID = 140,
        /// True if `cuMemCreate` can allocate on a host NUMA node. CUDA 12.9+.
        CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 141,
        /// True if a pool can be on a host NUMA node. CUDA 12.9+.
        CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED = 142,
        /// True if memory on a host NUMA node can be shared with other machines. CUDA 12.8+.
        CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED = 143,
        /// True if a pool can be in host memory. CUDA 13.0+.
        CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED = 144,
        /// True if `cuMemCreate` can allocate in host memory. CUDA 13.0+.
        CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 145,
        /// True if page-locked host memory can be shared as a dma-buf. CUDA 13.0+.
        CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED = 146,
        /// True if the link to the host carries only some atomics natively. CUDA 13.0+.
        CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED = 147,
        /// True if stream memory operations can reduce atomically. CUDA 13.1+.
        CU_DEVICE_ATTRIBUTE_ATOMIC_REDUCTION_SUPPORTED = 148,
        /// Number of locality domains. CUDA 13.4+.
        CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_COUNT = 149,
        /// Shared memory that a block may have in an oversized configuration, in bytes. CUDA 13.4+.
        CU_DEVICE_ATTRIBUTE_MAX_OVERSIZED_SHARED_MEMORY_PER_BLOCK = 150,
        /// True if a stream can share a Direct3D 12 command list. CUDA 13.3+.
        CU_DEVICE_ATTRIBUTE_D3D12_CIG_STREAMS_SUPPORTED = 151,
        /// True if the host can `mmap` a dma-buf of device memory. CUDA 13.3+.
        CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED = 152,
        /// True if unicast logical endpoints work. CUDA 13.3+.
        CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_SUPPORTED = 153,
        /// True if multicast logical endpoints work. CUDA 13.3+.
        CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_MULTICAST_SUPPORTED = 154,
        /// True if logical endpoints can count operations. CUDA 13.3+.
        CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_COUNTED_OPS_SUPPORTED = 155,
        /// True if a device can use a unicast logical endpoint that it owns itself. CUDA 13.3+.
        CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_ACCESS_ON_OWNER_DEVICE_SUPPORTED = 156,
        /// Number of multiprocessors in each locality domain. CUDA 13.4+.
        CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_MULTIPROCESSOR_COUNT = 157,
        /// Handle types of logical endpoints, bits of `CUlogicalEndpointIpcHandleType`. CUDA 13.4+.
        CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_SUPPORTED_HANDLE_TYPES = 158,
        /// True if a stream can share a Vulkan command buffer. CUDA 13.5+.
        CU_DEVICE_ATTRIBUTE_VULKAN_CIG_STREAMS_SUPPORTED = 159,
        /// Accessible memory that a tensor map of the large class needs, in bytes; `INT_MAX` where
        /// the class has no effect. CUDA 13.5+.
        CU_DEVICE_ATTRIBUTE_TENSOR_MAP_LARGE_TENSOR_MIN_SIZE = 160,
        /// True if GPUDirect RDMA reaches memory of one locality domain over its default link.
        /// CUDA 13.4+.
        CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_LOCALIZED_MEMORY_SUPPORTED = 161,
        /// One more than the last attribute; grows with each version.
        CU_DEVICE_ATTRIBUTE_MAX = 162,
    }

    /// A property of the link between two devices.
    pub enum CUdevice_P2PAttribute: u32 {
        /// Relative speed of the link; lower is faster.
        CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK = 1,
        /// True if one device can access the other's memory.
        CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED = 2,
        /// True if all atomics work over the link.
        CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED = 3,
        /// True if arrays on the other device can be accessed.
        CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED = 4,
        /// Old name of `CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED`.
        CU_DEVICE_P2P_ATTRIBUTE_ACCESS_ACCESS_SUPPORTED = 4,
        /// True if only some atomics work over the link. CUDA 13.0+.
        CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED = 5,
    }

    /// Processes that may open a context on a device.
    pub enum CUcomputemode: u32 {
        /// Any number of processes.
        CU_COMPUTEMODE_DEFAULT = 0,
        /// None.
        CU_COMPUTEMODE_PROHIBITED = 2,
        /// One process at a time.
        CU_COMPUTEMODE_EXCLUSIVE_PROCESS = 3,
    }

    /// Form in which device memory shows up as NUMA nodes of the host. CUDA 12.2+.
    pub enum CUdeviceNumaConfig: u32 {
        /// It does not show up.
        CU_DEVICE_NUMA_CONFIG_NONE = 0,
        /// The device is a node of its own.
        CU_DEVICE_NUMA_CONFIG_NUMA_NODE = 1,
    }

    /// An atomic operation whose support over a link can be asked for. CUDA 13.0+.
    pub enum CUatomicOperation: u32 {
        /// Integer addition.
        CU_ATOMIC_OPERATION_INTEGER_ADD = 0,
        /// Integer minimum.
        CU_ATOMIC_OPERATION_INTEGER_MIN = 1,
        /// Integer maximum.
        CU_ATOMIC_OPERATION_INTEGER_MAX = 2,
        /// Increment that wraps to zero above a bound.
        CU_ATOMIC_OPERATION_INTEGER_INCREMENT = 3,
        /// Decrement that wraps to a bound below zero.
        CU_ATOMIC_OPERATION_INTEGER_DECREMENT = 4,
        /// Bitwise and.
        CU_ATOMIC_OPERATION_AND = 5,
        /// Bitwise or.
        CU_ATOMIC_OPERATION_OR = 6,
        /// Bitwise exclusive or.
        CU_ATOMIC_OPERATION_XOR = 7,
        /// Exchange.
        CU_ATOMIC_OPERATION_EXCHANGE = 8,
        /// Compare and swap.
        CU_ATOMIC_OPERATION_CAS = 9,
        /// Floating-point addition.
        CU_ATOMIC_OPERATION_FLOAT_ADD = 10,
        /// Floating-point minimum.
        CU_ATOMIC_OPERATION_FLOAT_MIN = 11,
        /// Floating-point maximum.
        CU_ATOMIC_OPERATION_FLOAT_MAX = 12,
        /// Number of operations; grows with each version.
        CU_ATOMIC_OPERATION_MAX = 13,
    }

    /// The operand kinds for which an atomic operation works. CUDA 13.0+.
    pub flags CUatomicOperationCapability: u32 {
        /// Signed integers.
        CU_ATOMIC_CAPABILITY_SIGNED = 1,
        /// Unsigned integers.
        CU_ATOMIC_CAPABILITY_UNSIGNED = 2,
        /// Reductions, which return nothing.
        CU_ATOMIC_CAPABILITY_REDUCTION = 4,
        /// 32-bit scalars.
        CU_ATOMIC_CAPABILITY_SCALAR_32 = 8,
        /// 64-bit scalars.
        CU_ATOMIC_CAPABILITY_SCALAR_64 = 16,
        /// 128-bit scalars.
        CU_ATOMIC_CAPABILITY_SCALAR_128 = 32,
        /// Vectors of four 32-bit values.
        CU_ATOMIC_CAPABILITY_VECTOR_32x4 = 64,
    }

    /// Resources that the devices of one fabric clique can share. CUDA 13.4+.
    pub enum CUcliqueType: u32 {
        /// Memory, by pointer.
        CU_CLIQUE_TYPE_UNICAST_POINTER = 0,
        /// Multicast objects, by pointer.
        CU_CLIQUE_TYPE_MULTICAST_POINTER = 1,
        /// Unicast logical endpoints.
        CU_CLIQUE_TYPE_UNICAST_LOGICAL_ENDPOINT = 2,
        /// Multicast logical endpoints.
        CU_CLIQUE_TYPE_MULTICAST_LOGICAL_ENDPOINT = 3,
    }

    // Contexts

    /// Waiting policy and abilities of a context.
    pub flags CUctx_flags: u32 {
        /// The driver chooses how threads wait.
        CU_CTX_SCHED_AUTO = 0,
        /// Waiting threads spin: lowest latency, one core busy.
        CU_CTX_SCHED_SPIN = 1,
        /// Waiting threads spin and yield their time slice.
        CU_CTX_SCHED_YIELD = 2,
        /// Waiting threads sleep.
        CU_CTX_SCHED_BLOCKING_SYNC = 4,
        /// Old name of `CU_CTX_SCHED_BLOCKING_SYNC`.
        CU_CTX_BLOCKING_SYNC = 4,
        /// The bits that choose how threads wait.
        CU_CTX_SCHED_MASK = 7,
        /// Host memory may be mapped into the device; always on by now.
        CU_CTX_MAP_HOST = 8,
        /// Local memory keeps its largest size after a launch.
        CU_CTX_LMEM_RESIZE_TO_MAX = 16,
        /// A fault writes a GPU core dump. CUDA 12.1+.
        CU_CTX_COREDUMP_ENABLE = 32,
        /// A write to the user trigger pipe writes a GPU core dump. CUDA 12.1+.
        CU_CTX_USER_COREDUMP_ENABLE = 64,
        /// Synchronous memory operations always wait for their end. CUDA 12.1+.
        CU_CTX_SYNC_MEMOPS = 128,
        /// All defined bits; 31 before CUDA 12.1.
        CU_CTX_FLAGS_MASK = 255,
    }

    /// A limit of a context that can be read and mostly set.
    pub enum CUlimit: u32 {
        /// Call stack of each device thread, in bytes.
        CU_LIMIT_STACK_SIZE = 0,
        /// Buffer of device-side `printf`, in bytes.
        CU_LIMIT_PRINTF_FIFO_SIZE = 1,
        /// Heap of device-side `malloc`, in bytes.
        CU_LIMIT_MALLOC_HEAP_SIZE = 2,
        /// Nesting depth of launches that a device-side synchronize may wait for.
        CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH = 3,
        /// Most device-side launches that may be outstanding.
        CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4,
        /// Hint: most bytes that L2 fetches at once, 0 to 128.
        CU_LIMIT_MAX_L2_FETCH_GRANULARITY = 5,
        /// L2 set aside for persisting lines, in bytes.
        CU_LIMIT_PERSISTING_L2_CACHE_SIZE = 6,
        /// Shared memory that kernels of a graphics-shared context may have, in bytes; read-only.
        /// CUDA 12.5+.
        CU_LIMIT_SHMEM_SIZE = 7,
        /// Non-zero in a graphics-shared context; read-only. CUDA 12.5+.
        CU_LIMIT_CIG_ENABLED = 8,
        /// Zero makes a launch with too much shared memory fail in such a context rather than take
        /// a slower path. CUDA 12.5+.
        CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED = 9,
        /// Per-block memory, in bytes. CUDA 13.4+.
        CU_LIMIT_PER_BLOCK_MEMORY_SIZE = 10,
        /// Number of limits; grows with each version.
        CU_LIMIT_MAX = 11,
    }

    /// Part of a device that a context may be restricted to.
    pub enum CUexecAffinityType: u32 {
        /// A number of multiprocessors; needs MPS.
        CU_EXEC_AFFINITY_TYPE_SM_COUNT = 0,
        /// Number of types.
        CU_EXEC_AFFINITY_TYPE_MAX = 1,
    }

    /// Division of L1 and shared memory that a kernel prefers.
    pub enum CUfunc_cache: u32 {
        /// No preference.
        CU_FUNC_CACHE_PREFER_NONE = 0,
        /// More shared memory.
        CU_FUNC_CACHE_PREFER_SHARED = 1,
        /// More L1.
        CU_FUNC_CACHE_PREFER_L1 = 2,
        /// Equal halves.
        CU_FUNC_CACHE_PREFER_EQUAL = 3,
    }

    /// Width of the shared memory banks; only Kepler devices had a choice.
    pub enum CUsharedconfig: u32 {
        /// The device's own default.
        CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE = 0,
        /// Four bytes.
        CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE = 1,
        /// Eight bytes.
        CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE = 2,
    }

    /// Ways to flush RDMA writes to a device.
    pub flags CUflushGPUDirectRDMAWritesOptions: u32 {
        /// By the call `cuFlushGPUDirectRDMAWrites`.
        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST = 1,
        /// By a stream memory operation.
        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_MEMOPS = 2,
    }

    /// Devices for which RDMA writes arrive in order without a flush.
    pub enum CUGPUDirectRDMAWritesOrdering: u32 {
        /// None: a flush is needed.
        CU_GPU_DIRECT_RDMA_WRITES_ORDERING_NONE = 0,
        /// The device that owns the memory.
        CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER = 100,
        /// All devices.
        CU_GPU_DIRECT_RDMA_WRITES_ORDERING_ALL_DEVICES = 200,
    }

    /// Devices to which a flush makes RDMA writes visible.
    pub enum CUflushGPUDirectRDMAWritesScope: u32 {
        /// The device that owns the memory.
        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER = 100,
        /// All devices.
        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES = 200,
    }

    /// Context whose memory a flush covers.
    pub enum CUflushGPUDirectRDMAWritesTarget: u32 {
        /// The current context.
        CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX = 0,
    }

    /// Kind of object that a context shares with a graphics API (CUDA in graphics). CUDA 12.5+.
    pub enum CUcigDataType: u32 {
        /// A Direct3D 12 command queue.
        CIG_DATA_TYPE_D3D12_COMMAND_QUEUE = 1,
        /// A data block that NVIDIA's Vulkan driver gave out. CUDA 12.9+.
        CIG_DATA_TYPE_NV_BLOB = 2,
    }

    // Green contexts

    /// Kind of device resource that a `CUdevResource` describes. CUDA 12.4+.
    pub enum CUdevResourceType: u32 {
        /// Nothing.
        CU_DEV_RESOURCE_TYPE_INVALID = 0,
        /// Multiprocessors.
        CU_DEV_RESOURCE_TYPE_SM = 1,
        /// Sharing of work queues. CUDA 13.1+.
        CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG = 1000,
        /// Work queues. CUDA 13.1+.
        CU_DEV_RESOURCE_TYPE_WORKQUEUE = 10000,
    }

    /// Rules for choosing a group of multiprocessors. CUDA 13.1+.
    pub flags CUdevSmResourceGroup_flags: u32 {
        /// All of the group meet its co-scheduling rule.
        CU_DEV_SM_RESOURCE_GROUP_DEFAULT = 0,
        /// The group may be filled up with multiprocessors that do not meet the rule.
        CU_DEV_SM_RESOURCE_GROUP_BACKFILL = 1,
        /// All come from the locality domain named in `localityDomainId`. CUDA 13.4+.
        CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID = 2,
        /// With the domain rule: more than the domain's common count may be taken. CUDA 13.5+.
        CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_SUPPLEMENTAL_SMS = 4,
    }

    /// Options of splitting multiprocessors by count; `CUdevSmResourceSplit_flags` before
    /// CUDA 13.1. CUDA 12.5+.
    pub flags CUdevSmResourceSplitByCount_flags: u32 {
        /// Split finer and give up cluster guarantees.
        CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING = 1,
        /// Split so that the largest clusters still fit.
        CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE = 2,
    }

    /// Sharing of work queues among green contexts. CUDA 13.1+.
    pub enum CUdevWorkqueueConfigScope: u32 {
        /// All contexts share all queues.
        CU_WORKQUEUE_SCOPE_DEVICE_CTX = 0,
        /// Balanced green contexts get separate queues where possible.
        CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED = 1,
    }

    /// Options of creating a green context. CUDA 12.4+.
    pub flags CUgreenCtxCreate_flags: u32 {
        /// Nothing more. CUDA 13.3+.
        CU_GREEN_CTX_NONE = 0,
        /// A default stream; must be given.
        CU_GREEN_CTX_DEFAULT_STREAM = 1,
    }

    // Streams and events

    /// Options of creating a stream.
    pub flags CUstream_flags: u32 {
        /// Waits for, and is waited for by, the legacy default stream.
        CU_STREAM_DEFAULT = 0,
        /// Runs independently of the legacy default stream.
        CU_STREAM_NON_BLOCKING = 1,
    }

    /// Ways for a thread to wait for a stream.
    pub enum CUsynchronizationPolicy: u32 {
        /// The driver chooses.
        CU_SYNC_POLICY_AUTO = 1,
        /// It spins.
        CU_SYNC_POLICY_SPIN = 2,
        /// It spins and yields.
        CU_SYNC_POLICY_YIELD = 3,
        /// It sleeps.
        CU_SYNC_POLICY_BLOCKING_SYNC = 4,
    }

    /// Ways for the thread that runs host functions to wait for the next one. CUDA 13.2+.
    pub enum CUhostTaskSyncMode: u32 {
        /// It sleeps.
        CU_HOST_TASK_BLOCKING = 0,
        /// It spins.
        CU_HOST_TASK_SPINWAIT = 1,
    }

    /// Options of creating an event.
    pub flags CUevent_flags: u32 {
        /// Timed, waited for as the context waits.
        CU_EVENT_DEFAULT = 0,
        /// Waiting threads sleep.
        CU_EVENT_BLOCKING_SYNC = 1,
        /// No time stamp: cheaper.
        CU_EVENT_DISABLE_TIMING = 2,
        /// Can be shared with other processes; needs `CU_EVENT_DISABLE_TIMING`.
        CU_EVENT_INTERPROCESS = 4,
    }

    /// Options of recording an event.
    pub flags CUevent_record_flags: u32 {
        /// No option.
        CU_EVENT_RECORD_DEFAULT = 0,
        /// In a capture, becomes a graph node rather than a dependency.
        CU_EVENT_RECORD_EXTERNAL = 1,
    }

    /// Options of a stream's wait for an event.
    pub flags CUevent_wait_flags: u32 {
        /// No option.
        CU_EVENT_WAIT_DEFAULT = 0,
        /// In a capture, becomes a graph node rather than a dependency.
        CU_EVENT_WAIT_EXTERNAL = 1,
    }

    /// Ways for a thread to wait for an event.
    pub enum CUevent_sched_flags: u32 {
        /// The driver chooses.
        CU_EVENT_SCHED_AUTO = 0,
        /// The thread spins.
        CU_EVENT_SCHED_SPIN = 1,
        /// The thread spins and yields.
        CU_EVENT_SCHED_YIELD = 2,
        /// The thread sleeps.
        CU_EVENT_SCHED_BLOCKING_SYNC = 4,
    }

    /// Ways to wait for an OpenCL event.
    pub enum cl_event_flags: u32 {
        /// The driver chooses.
        NVCL_EVENT_SCHED_AUTO = 0,
        /// The thread spins.
        NVCL_EVENT_SCHED_SPIN = 1,
        /// The thread spins and yields.
        NVCL_EVENT_SCHED_YIELD = 2,
        /// The thread sleeps.
        NVCL_EVENT_SCHED_BLOCKING_SYNC = 4,
    }

    /// Ways for an OpenCL context to wait.
    pub enum cl_context_flags: u32 {
        /// The driver chooses.
        NVCL_CTX_SCHED_AUTO = 0,
        /// The thread spins.
        NVCL_CTX_SCHED_SPIN = 1,
        /// The thread spins and yields.
        NVCL_CTX_SCHED_YIELD = 2,
        /// The thread sleeps.
        NVCL_CTX_SCHED_BLOCKING_SYNC = 4,
    }

    /// Capture state of a stream.
    pub enum CUstreamCaptureStatus: u32 {
        /// Not capturing.
        CU_STREAM_CAPTURE_STATUS_NONE = 0,
        /// Capturing.
        CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
        /// An error spoiled the capture, which must still be ended.
        CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
    }

    /// Threads that a capture keeps from calls that could disturb it.
    pub enum CUstreamCaptureMode: u32 {
        /// All threads.
        CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
        /// The capturing thread.
        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
        /// None.
        CU_STREAM_CAPTURE_MODE_RELAXED = 2,
    }

    /// Change of the next captured node's dependencies.
    pub enum CUstreamUpdateCaptureDependencies_flags: u32 {
        /// The given nodes are added.
        CU_STREAM_ADD_CAPTURE_DEPENDENCIES = 0,
        /// The given nodes replace those before.
        CU_STREAM_SET_CAPTURE_DEPENDENCIES = 1,
    }

    /// Object that a capturing stream shares with a graphics API. CUDA 13.2+.
    pub enum CUstreamCigDataType: u32 {
        /// A Direct3D 12 command list.
        STREAM_CIG_DATA_TYPE_D3D12_COMMAND_LIST = 1,
        /// A Vulkan command buffer, by NVIDIA's internal handle. CUDA 13.5+.
        STREAM_CIG_DATA_TYPE_VULKAN_COMMAND_BUFFER_HANDLE_NV = 2,
    }

    // Stream memory operations

    /// The operation of one `CUstreamBatchMemOpParams`.
    pub enum CUstreamBatchMemOpType: u32 {
        /// Wait for a 32-bit value.
        CU_STREAM_MEM_OP_WAIT_VALUE_32 = 1,
        /// Write a 32-bit value.
        CU_STREAM_MEM_OP_WRITE_VALUE_32 = 2,
        /// Flush writes that came from outside.
        CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES = 3,
        /// Wait for a 64-bit value.
        CU_STREAM_MEM_OP_WAIT_VALUE_64 = 4,
        /// Write a 64-bit value.
        CU_STREAM_MEM_OP_WRITE_VALUE_64 = 5,
        /// Order memory operations before and after.
        CU_STREAM_MEM_OP_BARRIER = 6,
        /// Reduce a value into memory. CUDA 13.1+.
        CU_STREAM_MEM_OP_ATOMIC_REDUCTION = 8,
    }

    /// Condition that ends a wait for a value in memory.
    pub flags CUstreamWaitValue_flags: u32 {
        /// When the signed difference of memory and value is not negative.
        CU_STREAM_WAIT_VALUE_GEQ = 0,
        /// When memory equals the value.
        CU_STREAM_WAIT_VALUE_EQ = 1,
        /// When memory and value share a set bit.
        CU_STREAM_WAIT_VALUE_AND = 2,
        /// When memory or value leaves some bit clear, as in `~(memory | value) != 0`.
        CU_STREAM_WAIT_VALUE_NOR = 3,
        /// Also flush outside writes once the wait ends.
        CU_STREAM_WAIT_VALUE_FLUSH = 1073741824,
    }

    /// Options of writing a value to memory.
    pub flags CUstreamWriteValue_flags: u32 {
        /// Earlier writes of the stream are visible first.
        CU_STREAM_WRITE_VALUE_DEFAULT = 0,
        /// No such order.
        CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER = 1,
    }

    /// Scope of a stream's memory barrier.
    pub enum CUstreamMemoryBarrier_flags: u32 {
        /// The whole system.
        CU_STREAM_MEMORY_BARRIER_TYPE_SYS = 0,
        /// The device alone.
        CU_STREAM_MEMORY_BARRIER_TYPE_GPU = 1,
    }

    /// The operation of an atomic reduction by a stream. CUDA 13.1+.
    pub enum CUstreamAtomicReductionOpType: u32 {
        /// Integer addition.
        CU_STREAM_ATOMIC_REDUCTION_OP_ADD = 0,
        /// Bitwise and.
        CU_STREAM_ATOMIC_REDUCTION_OP_AND = 5,
        /// Bitwise or.
        CU_STREAM_ATOMIC_REDUCTION_OP_OR = 6,
    }

    /// The operand of an atomic reduction by a stream. CUDA 13.1+.
    pub enum CUstreamAtomicReductionDataType: u32 {
        /// Unsigned, 32 bits.
        CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32 = 14,
        /// Unsigned, 64 bits.
        CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64 = 22,
    }

    // Memory

    /// Location of one side of a copy.
    pub enum CUmemorytype: u32 {
        /// Host memory, by host pointer.
        CU_MEMORYTYPE_HOST = 1,
        /// Device memory, by device pointer.
        CU_MEMORYTYPE_DEVICE = 2,
        /// An array.
        CU_MEMORYTYPE_ARRAY = 3,
        /// Either, by an address of the common address space; the driver finds out.
        CU_MEMORYTYPE_UNIFIED = 4,
    }

    /// A property of an address.
    pub enum CUpointer_attribute: u32 {
        /// The context that allocated or registered it, a `CUcontext`.
        CU_POINTER_ATTRIBUTE_CONTEXT = 1,
        /// Location of its memory, a `CUmemorytype`.
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
        /// The address at which the device reaches it, a `CUdeviceptr`.
        CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
        /// The address at which the host reaches it, a `void*`.
        CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,
        /// Tokens for the kernel's peer-to-peer interface, a `CUDA_POINTER_ATTRIBUTE_P2P_TOKENS`;
        /// old.
        CU_POINTER_ATTRIBUTE_P2P_TOKENS = 5,
        /// True if synchronous operations on it always wait for their end; can be set.
        CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
        /// A number that no other allocation of this process gets, 64 bits.
        CU_POINTER_ATTRIBUTE_BUFFER_ID = 7,
        /// True if it is managed memory.
        CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
        /// The device that allocated or registered it.
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
        /// True if `cuIpcGetMemHandle` can export it.
        CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10,
        /// First address of its range, a `CUdeviceptr`.
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
        /// Size of its range, in bytes.
        CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
        /// True if memory is mapped there.
        CU_POINTER_ATTRIBUTE_MAPPED = 13,
        /// Handle types that its allocation can be exported as, bits of
        /// `CUmemAllocationHandleType`.
        CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,
        /// True if GPUDirect RDMA can use it.
        CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
        /// Access that the current context's device has there, a
        /// `CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS`.
        CU_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16,
        /// The pool that it came from, or null.
        CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
        /// Size of the mapping it belongs to, in bytes.
        CU_POINTER_ATTRIBUTE_MAPPING_SIZE = 18,
        /// First address of the mapping it belongs to, a `CUdeviceptr`.
        CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR = 19,
        /// A number that no other physical allocation of this process gets, 64 bits.
        CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID = 20,
        /// True if hardware decompression can use it. CUDA 12.8+.
        CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE = 21,
        /// The locality domain that it is bound to, or -1. CUDA 13.4+.
        CU_POINTER_ATTRIBUTE_LOCALITY_DOMAIN_ORDINAL = 22,
    }

    /// Access that a device has at an address.
    pub enum CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS: u32 {
        /// Nothing.
        CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE = 0,
        /// Read.
        CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ = 1,
        /// Read and write.
        CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE = 3,
    }

    /// Streams that may access managed memory.
    pub flags CUmemAttach_flags: u32 {
        /// Every stream on every device.
        CU_MEM_ATTACH_GLOBAL = 1,
        /// None: the host only.
        CU_MEM_ATTACH_HOST = 2,
        /// One stream only.
        CU_MEM_ATTACH_SINGLE = 4,
    }

    /// A hint on how a managed range will be used.
    pub enum CUmem_advise: u32 {
        /// It is mostly read: copies may be kept in several places.
        CU_MEM_ADVISE_SET_READ_MOSTLY = 1,
        /// Takes that back.
        CU_MEM_ADVISE_UNSET_READ_MOSTLY = 2,
        /// It should stay in the given place.
        CU_MEM_ADVISE_SET_PREFERRED_LOCATION = 3,
        /// Takes that back.
        CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 4,
        /// The given device will access it: keep it mapped there.
        CU_MEM_ADVISE_SET_ACCESSED_BY = 5,
        /// Takes that back.
        CU_MEM_ADVISE_UNSET_ACCESSED_BY = 6,
    }

    /// Advice on, and history of, a managed range.
    pub enum CUmem_range_attribute: u32 {
        /// True if all of it is advised as mostly read.
        CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,
        /// The preferred device of all of it, `CU_DEVICE_CPU` or `CU_DEVICE_INVALID`.
        CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION = 2,
        /// The devices advised as accessing all of it.
        CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY = 3,
        /// Place that all of it was last prefetched to, `CU_DEVICE_CPU` or `CU_DEVICE_INVALID`.
        CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION = 4,
        /// The kind of preferred place, a `CUmemLocationType`. CUDA 12.2+.
        CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE = 5,
        /// Number of the preferred place within its kind. CUDA 12.2+.
        CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID = 6,
        /// The kind of place last prefetched to, a `CUmemLocationType`. CUDA 12.2+.
        CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE = 7,
        /// Number of the last place within its kind. CUDA 12.2+.
        CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID = 8,
    }

    /// The kind of a memory location.
    pub enum CUmemLocationType: u32 {
        /// No place.
        CU_MEM_LOCATION_TYPE_INVALID = 0,
        /// No preferred place; for managed pools. CUDA 13.0+.
        CU_MEM_LOCATION_TYPE_NONE = 0,
        /// The memory of a device, by ordinal.
        CU_MEM_LOCATION_TYPE_DEVICE = 1,
        /// Host memory. CUDA 12.2+.
        CU_MEM_LOCATION_TYPE_HOST = 2,
        /// A NUMA node of the host, by number. CUDA 12.2+.
        CU_MEM_LOCATION_TYPE_HOST_NUMA = 3,
        /// The host NUMA node of the calling thread. CUDA 12.2+.
        CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT = 4,
        /// Memory of a device that this process does not see. CUDA 13.2+.
        CU_MEM_LOCATION_TYPE_INVISIBLE = 5,
        /// One locality domain of a device. CUDA 13.4+.
        CU_MEM_LOCATION_TYPE_DEVICE_LOCALITY_DOMAIN = 6,
        /// Largest value the C enum can take.
        CU_MEM_LOCATION_TYPE_MAX = 2147483647,
    }

    /// Handle types that an address range can be exported as.
    pub enum CUmemRangeHandleType: u32 {
        /// File descriptor of a Linux dma-buf.
        CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD = 1,
        /// Largest value the C enum can take.
        CU_MEM_RANGE_HANDLE_TYPE_MAX = 2147483647,
    }

    /// Options of exporting an address range. CUDA 12.8+.
    pub flags CUmemRangeFlags: u32 {
        /// The dma-buf is mapped over PCIe (BAR1).
        CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE = 1,
    }

    /// Options of opening memory of another process.
    pub flags CUipcMem_flags: u32 {
        /// Peer access is switched on where it is needed; must be given.
        CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1,
    }

    /// A format that the hardware can decompress. CUDA 12.8+.
    pub flags CUmemDecompressAlgorithm: u32 {
        /// None.
        CU_MEM_DECOMPRESS_UNSUPPORTED = 0,
        /// Deflate.
        CU_MEM_DECOMPRESS_ALGORITHM_DEFLATE = 1,
        /// Snappy.
        CU_MEM_DECOMPRESS_ALGORITHM_SNAPPY = 2,
        /// LZ4. CUDA 12.9+.
        CU_MEM_DECOMPRESS_ALGORITHM_LZ4 = 4,
    }

    // Batched copies

    /// Options of a copy in a batch. CUDA 12.8+.
    pub flags CUmemcpyFlags: u32 {
        /// No preference.
        CU_MEMCPY_FLAG_DEFAULT = 0,
        /// Rather leave the multiprocessors to kernels.
        CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE = 1,
    }

    /// Time at which a copy of a batch may read its source. CUDA 12.8+.
    pub enum CUmemcpySrcAccessOrder: u32 {
        /// Not set: not allowed.
        CU_MEMCPY_SRC_ACCESS_ORDER_INVALID = 0,
        /// In stream order.
        CU_MEMCPY_SRC_ACCESS_ORDER_STREAM = 1,
        /// At any time until the call returns, as for variables on the stack.
        CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL = 2,
        /// At any time, even after the call returns.
        CU_MEMCPY_SRC_ACCESS_ORDER_ANY = 3,
        /// Largest value the C enum can take.
        CU_MEMCPY_SRC_ACCESS_ORDER_MAX = 2147483647,
    }

    /// The kind of an operand of a 3D copy of a batch. CUDA 12.8+.
    pub enum CUmemcpy3DOperandType: u32 {
        /// An address.
        CU_MEMCPY_OPERAND_TYPE_POINTER = 1,
        /// An array.
        CU_MEMCPY_OPERAND_TYPE_ARRAY = 2,
        /// Largest value the C enum can take.
        CU_MEMCPY_OPERAND_TYPE_MAX = 2147483647,
    }

    /// The kind of an operand of a fabric copy. CUDA 13.5+.
    pub enum CUfabricCpyOperandType: u32 {
        /// An address.
        CU_FABRIC_COPY_OPERAND_TYPE_POINTER = 1,
        /// A logical endpoint.
        CU_FABRIC_COPY_OPERAND_TYPE_LOGICAL_ENDPOINT = 2,
        /// Largest value the C enum can take.
        CU_FABRIC_COPY_OPERAND_TYPE_MAX = 2147483647,
    }

    // Virtual memory management

    /// Handle types by which an allocation can be shared with other processes.
    pub flags CUmemAllocationHandleType: u32 {
        /// Not at all.
        CU_MEM_HANDLE_TYPE_NONE = 0,
        /// By file descriptor; Linux.
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
        /// By NT handle; Windows.
        CU_MEM_HANDLE_TYPE_WIN32 = 2,
        /// By KMT handle; Windows.
        CU_MEM_HANDLE_TYPE_WIN32_KMT = 4,
        /// By fabric handle, also between machines. CUDA 12.3+.
        CU_MEM_HANDLE_TYPE_FABRIC = 8,
        /// Largest value the C enum can take.
        CU_MEM_HANDLE_TYPE_MAX = 2147483647,
    }

    /// Access that a mapping allows.
    pub enum CUmemAccess_flags: u32 {
        /// Nothing.
        CU_MEM_ACCESS_FLAGS_PROT_NONE = 0,
        /// Reading.
        CU_MEM_ACCESS_FLAGS_PROT_READ = 1,
        /// Reading and writing.
        CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
        /// Largest value the C enum can take.
        CU_MEM_ACCESS_FLAGS_PROT_MAX = 2147483647,
    }

    /// Kind of memory to allocate.
    pub enum CUmemAllocationType: u32 {
        /// Not set: not allowed.
        CU_MEM_ALLOCATION_TYPE_INVALID = 0,
        /// Memory that stays where it is.
        CU_MEM_ALLOCATION_TYPE_PINNED = 1,
        /// Memory that the driver may move. CUDA 13.0+.
        CU_MEM_ALLOCATION_TYPE_MANAGED = 2,
        /// Largest value the C enum can take.
        CU_MEM_ALLOCATION_TYPE_MAX = 2147483647,
    }

    /// Granularity of allocations to ask for.
    pub enum CUmemAllocationGranularity_flags: u32 {
        /// The smallest that is allowed.
        CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
        /// The one that performs best.
        CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
    }

    /// Compression of an allocation.
    pub enum CUmemAllocationCompType: u32 {
        /// Not compressed.
        CU_MEM_ALLOCATION_COMP_NONE = 0,
        /// Compressed.
        CU_MEM_ALLOCATION_COMP_GENERIC = 1,
    }

    /// Operation on a tile of a sparse array.
    pub enum CUmemOperationType: u32 {
        /// Memory is mapped to it.
        CU_MEM_OPERATION_TYPE_MAP = 1,
        /// Its memory is removed.
        CU_MEM_OPERATION_TYPE_UNMAP = 2,
    }

    /// Kind of handle that maps a tile of a sparse array.
    pub enum CUmemHandleType: u32 {
        /// An allocation made by `cuMemCreate`.
        CU_MEM_HANDLE_TYPE_GENERIC = 0,
    }

    /// Part of a sparse array to map.
    pub enum CUarraySparseSubresourceType: u32 {
        /// Tiles of one mip level.
        CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL = 0,
        /// The small levels that are packed together.
        CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL = 1,
    }

    /// Granularity of multicast objects to ask for. CUDA 12.1+.
    pub enum CUmulticastGranularity_flags: u32 {
        /// The smallest that is allowed.
        CU_MULTICAST_GRANULARITY_MINIMUM = 0,
        /// The one that performs best.
        CU_MULTICAST_GRANULARITY_RECOMMENDED = 1,
    }

    // Memory pools

    /// A property of a memory pool.
    pub enum CUmemPool_attribute: u32 {
        /// True if memory freed in another stream is reused once an event orders the two; `int`.
        CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
        /// True if memory is reused whose free happens to have finished; `int`.
        CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC = 2,
        /// True if the driver may order streams itself to reuse memory; `int`.
        CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
        /// Unused bytes that the pool keeps when it is synchronized; `u64`.
        CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
        /// Bytes that the pool holds now; `u64`.
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
        /// Most bytes that it held since the mark was reset; `u64`, only zero can be set.
        CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6,
        /// Bytes in use by the application now; `u64`.
        CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,
        /// Most bytes in use since the mark was reset; `u64`, only zero can be set.
        CU_MEMPOOL_ATTR_USED_MEM_HIGH = 8,
        /// Kind of its memory, a `CUmemAllocationType`; read-only. CUDA 13.2+.
        CU_MEMPOOL_ATTR_ALLOCATION_TYPE = 9,
        /// Handle type that it can be exported as, a `CUmemAllocationHandleType`; none if imported;
        /// read-only. CUDA 13.2+.
        CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES = 10,
        /// Number of the place that its memory is in; `int`, read-only. CUDA 13.2+.
        CU_MEMPOOL_ATTR_LOCATION_ID = 11,
        /// The kind of place its memory is in, a `CUmemLocationType`; read-only. CUDA 13.2+.
        CU_MEMPOOL_ATTR_LOCATION_TYPE = 12,
        /// Largest size in bytes, 0 for no limit; `u64`, read-only. CUDA 13.2+.
        CU_MEMPOOL_ATTR_MAX_POOL_SIZE = 13,
        /// True if its memory suits hardware decompression; `int`, read-only. CUDA 13.2+.
        CU_MEMPOOL_ATTR_HW_DECOMPRESS_ENABLED = 14,
        /// The locality domain it is bound to, or -1; `int`, read-only. CUDA 13.4+.
        CU_MEMPOOL_ATTR_LOCALITY_DOMAIN_ID = 15,
    }

    /// Subject of an asynchronous notification. CUDA 12.4+.
    pub enum CUasyncNotificationType: u32 {
        /// The process uses more device memory than its budget.
        CU_ASYNC_NOTIFICATION_TYPE_OVER_BUDGET = 1,
    }

    // Logical endpoints

    /// Kind of a logical endpoint. CUDA 13.3+.
    pub enum CUlogicalEndpointType: u32 {
        /// Nothing.
        CU_LOGICAL_ENDPOINT_TYPE_INVALID = 0,
        /// Memory of one device.
        CU_LOGICAL_ENDPOINT_TYPE_UNICAST = 1,
        /// Memory of a team of devices.
        CU_LOGICAL_ENDPOINT_TYPE_MULTICAST = 2,
    }

    /// Intended use of a logical endpoint. CUDA 13.3+.
    pub flags CUlogicalEndpointFlag: u32 {
        /// No option.
        CU_LOGICAL_ENDPOINT_FLAG_NONE = 0,
        /// With counted operations.
        CU_LOGICAL_ENDPOINT_FLAG_COUNTED_OPS = 1,
    }

    /// Handle types by which a logical endpoint can be shared. CUDA 13.3+.
    pub flags CUlogicalEndpointIpcHandleType: u32 {
        /// Not at all.
        CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_NONE = 0,
        /// By fabric handle.
        CU_LOGICAL_ENDPOINT_IPC_HANDLE_TYPE_FABRIC = 1,
    }

    // Arrays, textures and surfaces

    /// The format of one channel, or of a whole texel, of an array.
    pub enum CUarray_format: u32 {
        /// Unsigned integer, 8 bits.
        CU_AD_FORMAT_UNSIGNED_INT8 = 1,
        /// Unsigned integer, 16 bits.
        CU_AD_FORMAT_UNSIGNED_INT16 = 2,
        /// Unsigned integer, 32 bits.
        CU_AD_FORMAT_UNSIGNED_INT32 = 3,
        /// Signed integer, 8 bits.
        CU_AD_FORMAT_SIGNED_INT8 = 8,
        /// Signed integer, 16 bits.
        CU_AD_FORMAT_SIGNED_INT16 = 9,
        /// Signed integer, 32 bits.
        CU_AD_FORMAT_SIGNED_INT32 = 10,
        /// Floating point, 16 bits.
        CU_AD_FORMAT_HALF = 16,
        /// Floating point, 32 bits.
        CU_AD_FORMAT_FLOAT = 32,
        /// Three 10-bit and one 2-bit channel, normalized. CUDA 12.8+.
        CU_AD_FORMAT_UNORM_INT_101010_2 = 80,
        /// Packed YUV 4:2:2, 8 bits per channel. CUDA 13.1+.
        CU_AD_FORMAT_UINT8_PACKED_422 = 81,
        /// Packed YUV 4:4:4, 8 bits per channel. CUDA 13.1+.
        CU_AD_FORMAT_UINT8_PACKED_444 = 82,
        /// YUV 4:2:0, one Y plane and one UV plane, 8 bits. CUDA 13.1+.
        CU_AD_FORMAT_UINT8_SEMIPLANAR_420 = 83,
        /// YUV 4:2:0, one Y plane and one UV plane, 16 bits. CUDA 13.1+.
        CU_AD_FORMAT_UINT16_SEMIPLANAR_420 = 84,
        /// YUV 4:2:2, one Y plane and one UV plane, 8 bits. CUDA 13.1+.
        CU_AD_FORMAT_UINT8_SEMIPLANAR_422 = 85,
        /// YUV 4:2:2, one Y plane and one UV plane, 16 bits. CUDA 13.1+.
        CU_AD_FORMAT_UINT16_SEMIPLANAR_422 = 86,
        /// YUV 4:4:4, one Y plane and one UV plane, 8 bits. CUDA 13.1+.
        CU_AD_FORMAT_UINT8_SEMIPLANAR_444 = 87,
        /// YUV 4:4:4, one Y plane and one UV plane, 16 bits. CUDA 13.1+.
        CU_AD_FORMAT_UINT16_SEMIPLANAR_444 = 88,
        /// YUV 4:2:0 in three planes, 8 bits. CUDA 13.1+.
        CU_AD_FORMAT_UINT8_PLANAR_420 = 89,
        /// YUV 4:2:0 in three planes, 16 bits. CUDA 13.1+.
        CU_AD_FORMAT_UINT16_PLANAR_420 = 90,
        /// YUV 4:2:2 in three planes, 8 bits. CUDA 13.1+.
        CU_AD_FORMAT_UINT8_PLANAR_422 = 91,
        /// YUV 4:2:2 in three planes, 16 bits. CUDA 13.1+.
        CU_AD_FORMAT_UINT16_PLANAR_422 = 92,
        /// YUV 4:4:4 in three planes, 8 bits. CUDA 13.1+.
        CU_AD_FORMAT_UINT8_PLANAR_444 = 93,
        /// YUV 4:4:4 in three planes, 16 bits. CUDA 13.1+.
        CU_AD_FORMAT_UINT16_PLANAR_444 = 94,
        /// Block compression BC1, normalized.
        CU_AD_FORMAT_BC1_UNORM = 145,
        /// Block compression BC1, normalized, sRGB.
        CU_AD_FORMAT_BC1_UNORM_SRGB = 146,
        /// Block compression BC2, normalized.
        CU_AD_FORMAT_BC2_UNORM = 147,
        /// Block compression BC2, normalized, sRGB.
        CU_AD_FORMAT_BC2_UNORM_SRGB = 148,
        /// Block compression BC3, normalized.
        CU_AD_FORMAT_BC3_UNORM = 149,
        /// Block compression BC3, normalized, sRGB.
        CU_AD_FORMAT_BC3_UNORM_SRGB = 150,
        /// Block compression BC4, unsigned normalized.
        CU_AD_FORMAT_BC4_UNORM = 151,
        /// Block compression BC4, signed normalized.
        CU_AD_FORMAT_BC4_SNORM = 152,
        /// Block compression BC5, unsigned normalized.
        CU_AD_FORMAT_BC5_UNORM = 153,
        /// Block compression BC5, signed normalized.
        CU_AD_FORMAT_BC5_SNORM = 154,
        /// Block compression BC6H, unsigned half floats.
        CU_AD_FORMAT_BC6H_UF16 = 155,
        /// Block compression BC6H, signed half floats.
        CU_AD_FORMAT_BC6H_SF16 = 156,
        /// Block compression BC7, normalized.
        CU_AD_FORMAT_BC7_UNORM = 157,
        /// Block compression BC7, normalized, sRGB.
        CU_AD_FORMAT_BC7_UNORM_SRGB = 158,
        /// Video format P010: YUV 4:2:0, two planes, 10 bits in 16. CUDA 12.5+.
        CU_AD_FORMAT_P010 = 159,
        /// Video format P016: YUV 4:2:0, two planes, 16 bits. CUDA 12.5+.
        CU_AD_FORMAT_P016 = 161,
        /// Video format NV16: YUV 4:2:2, two planes, 8 bits. CUDA 12.5+.
        CU_AD_FORMAT_NV16 = 162,
        /// Video format P210: YUV 4:2:2, two planes, 10 bits in 16. CUDA 12.5+.
        CU_AD_FORMAT_P210 = 163,
        /// Video format P216: YUV 4:2:2, two planes, 16 bits. CUDA 12.5+.
        CU_AD_FORMAT_P216 = 164,
        /// Video format YUY2: packed YUV 4:2:2, 8 bits. CUDA 12.5+.
        CU_AD_FORMAT_YUY2 = 165,
        /// Video format Y210: packed YUV 4:2:2, 10 bits in 16. CUDA 12.5+.
        CU_AD_FORMAT_Y210 = 166,
        /// Video format Y216: packed YUV 4:2:2, 16 bits. CUDA 12.5+.
        CU_AD_FORMAT_Y216 = 167,
        /// Video format AYUV: packed YUV 4:4:4 with alpha, 8 bits. CUDA 12.5+.
        CU_AD_FORMAT_AYUV = 168,
        /// Video format Y410: packed YUV 4:4:4, 10 bits, 2-bit alpha. CUDA 12.5+.
        CU_AD_FORMAT_Y410 = 169,
        /// Video format NV12: YUV 4:2:0, two planes, 8 bits.
        CU_AD_FORMAT_NV12 = 176,
        /// Video format Y416: packed YUV 4:4:4 with alpha, 16 bits. CUDA 12.5+.
        CU_AD_FORMAT_Y416 = 177,
        /// YUV 4:4:4 in three planes, 8 bits. CUDA 12.5+.
        CU_AD_FORMAT_Y444_PLANAR8 = 178,
        /// YUV 4:4:4 in three planes, 10 bits. CUDA 12.5+.
        CU_AD_FORMAT_Y444_PLANAR10 = 179,
        /// YUV 4:4:4, one Y plane and one UV plane, 8 bits. CUDA 12.8+.
        CU_AD_FORMAT_YUV444_8bit_SemiPlanar = 180,
        /// YUV 4:4:4, one Y plane and one UV plane, 16 bits. CUDA 12.8+.
        CU_AD_FORMAT_YUV444_16bit_SemiPlanar = 181,
        /// One unsigned normalized channel, 8 bits.
        CU_AD_FORMAT_UNORM_INT8X1 = 192,
        /// Two unsigned normalized channels, 8 bits each.
        CU_AD_FORMAT_UNORM_INT8X2 = 193,
        /// Four unsigned normalized channels, 8 bits each.
        CU_AD_FORMAT_UNORM_INT8X4 = 194,
        /// One unsigned normalized channel, 16 bits.
        CU_AD_FORMAT_UNORM_INT16X1 = 195,
        /// Two unsigned normalized channels, 16 bits each.
        CU_AD_FORMAT_UNORM_INT16X2 = 196,
        /// Four unsigned normalized channels, 16 bits each.
        CU_AD_FORMAT_UNORM_INT16X4 = 197,
        /// One signed normalized channel, 8 bits.
        CU_AD_FORMAT_SNORM_INT8X1 = 198,
        /// Two signed normalized channels, 8 bits each.
        CU_AD_FORMAT_SNORM_INT8X2 = 199,
        /// Four signed normalized channels, 8 bits each.
        CU_AD_FORMAT_SNORM_INT8X4 = 200,
        /// One signed normalized channel, 16 bits.
        CU_AD_FORMAT_SNORM_INT16X1 = 201,
        /// Two signed normalized channels, 16 bits each.
        CU_AD_FORMAT_SNORM_INT16X2 = 202,
        /// Four signed normalized channels, 16 bits each.
        CU_AD_FORMAT_SNORM_INT16X4 = 203,
        /// Largest value the C enum can take. CUDA 12.5+.
        CU_AD_FORMAT_MAX = 2147483647,
    }

    /// A face of a cube map.
    pub enum CUarray_cubemap_face: u32 {
        /// The face toward positive x.
        CU_CUBEMAP_FACE_POSITIVE_X = 0,
        /// The face toward negative x.
        CU_CUBEMAP_FACE_NEGATIVE_X = 1,
        /// The face toward positive y.
        CU_CUBEMAP_FACE_POSITIVE_Y = 2,
        /// The face toward negative y.
        CU_CUBEMAP_FACE_NEGATIVE_Y = 3,
        /// The face toward positive z.
        CU_CUBEMAP_FACE_POSITIVE_Z = 4,
        /// The face toward negative z.
        CU_CUBEMAP_FACE_NEGATIVE_Z = 5,
    }

    /// Rule for coordinates outside a texture's bounds.
    pub enum CUaddress_mode: u32 {
        /// The texture repeats.
        CU_TR_ADDRESS_MODE_WRAP = 0,
        /// The nearest edge texel.
        CU_TR_ADDRESS_MODE_CLAMP = 1,
        /// The texture repeats mirrored.
        CU_TR_ADDRESS_MODE_MIRROR = 2,
        /// The border color.
        CU_TR_ADDRESS_MODE_BORDER = 3,
    }

    /// Rule for sampling between texels.
    pub enum CUfilter_mode: u32 {
        /// The nearest texel.
        CU_TR_FILTER_MODE_POINT = 0,
        /// Linear interpolation of the neighbors.
        CU_TR_FILTER_MODE_LINEAR = 1,
    }

    /// Kind of memory that a texture or surface object reads.
    pub enum CUresourcetype: u32 {
        /// An array.
        CU_RESOURCE_TYPE_ARRAY = 0,
        /// A mipmapped array.
        CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
        /// Linear memory.
        CU_RESOURCE_TYPE_LINEAR = 2,
        /// Pitched 2D memory.
        CU_RESOURCE_TYPE_PITCH2D = 3,
    }

    /// Interpretation of the memory beneath a texture object.
    pub enum CUresourceViewFormat: u32 {
        /// The format with which it was created.
        CU_RES_VIEW_FORMAT_NONE = 0,
        /// One unsigned channel, 8 bits.
        CU_RES_VIEW_FORMAT_UINT_1X8 = 1,
        /// Two unsigned channels, 8 bits each.
        CU_RES_VIEW_FORMAT_UINT_2X8 = 2,
        /// Four unsigned channels, 8 bits each.
        CU_RES_VIEW_FORMAT_UINT_4X8 = 3,
        /// One signed channel, 8 bits.
        CU_RES_VIEW_FORMAT_SINT_1X8 = 4,
        /// Two signed channels, 8 bits each.
        CU_RES_VIEW_FORMAT_SINT_2X8 = 5,
        /// Four signed channels, 8 bits each.
        CU_RES_VIEW_FORMAT_SINT_4X8 = 6,
        /// One unsigned channel, 16 bits.
        CU_RES_VIEW_FORMAT_UINT_1X16 = 7,
        /// Two unsigned channels, 16 bits each.
        CU_RES_VIEW_FORMAT_UINT_2X16 = 8,
        /// Four unsigned channels, 16 bits each.
        CU_RES_VIEW_FORMAT_UINT_4X16 = 9,
        /// One signed channel, 16 bits.
        CU_RES_VIEW_FORMAT_SINT_1X16 = 10,
        /// Two signed channels, 16 bits each.
        CU_RES_VIEW_FORMAT_SINT_2X16 = 11,
        /// Four signed channels, 16 bits each.
        CU_RES_VIEW_FORMAT_SINT_4X16 = 12,
        /// One unsigned channel, 32 bits.
        CU_RES_VIEW_FORMAT_UINT_1X32 = 13,
        /// Two unsigned channels, 32 bits each.
        CU_RES_VIEW_FORMAT_UINT_2X32 = 14,
        /// Four unsigned channels, 32 bits each.
        CU_RES_VIEW_FORMAT_UINT_4X32 = 15,
        /// One signed channel, 32 bits.
        CU_RES_VIEW_FORMAT_SINT_1X32 = 16,
        /// Two signed channels, 32 bits each.
        CU_RES_VIEW_FORMAT_SINT_2X32 = 17,
        /// Four signed channels, 32 bits each.
        CU_RES_VIEW_FORMAT_SINT_4X32 = 18,
        /// One floating-point channel, 16 bits.
        CU_RES_VIEW_FORMAT_FLOAT_1X16 = 19,
        /// Two floating-point channels, 16 bits each.
        CU_RES_VIEW_FORMAT_FLOAT_2X16 = 20,
        /// Four floating-point channels, 16 bits each.
        CU_RES_VIEW_FORMAT_FLOAT_4X16 = 21,
        /// One floating-point channel, 32 bits.
        CU_RES_VIEW_FORMAT_FLOAT_1X32 = 22,
        /// Two floating-point channels, 32 bits each.
        CU_RES_VIEW_FORMAT_FLOAT_2X32 = 23,
        /// Four floating-point channels, 32 bits each.
        CU_RES_VIEW_FORMAT_FLOAT_4X32 = 24,
        /// Block compression BC1.
        CU_RES_VIEW_FORMAT_UNSIGNED_BC1 = 25,
        /// Block compression BC2.
        CU_RES_VIEW_FORMAT_UNSIGNED_BC2 = 26,
        /// Block compression BC3.
        CU_RES_VIEW_FORMAT_UNSIGNED_BC3 = 27,
        /// Block compression BC4, unsigned.
        CU_RES_VIEW_FORMAT_UNSIGNED_BC4 = 28,
        /// Block compression BC4, signed.
        CU_RES_VIEW_FORMAT_SIGNED_BC4 = 29,
        /// Block compression BC5, unsigned.
        CU_RES_VIEW_FORMAT_UNSIGNED_BC5 = 30,
        /// Block compression BC5, signed.
        CU_RES_VIEW_FORMAT_SIGNED_BC5 = 31,
        /// Block compression BC6H, unsigned half floats.
        CU_RES_VIEW_FORMAT_UNSIGNED_BC6H = 32,
        /// Block compression BC6H, signed half floats.
        CU_RES_VIEW_FORMAT_SIGNED_BC6H = 33,
        /// Block compression BC7.
        CU_RES_VIEW_FORMAT_UNSIGNED_BC7 = 34,
    }

    // Tensor maps

    /// The element type of a tensor map. CUDA 12.0+.
    pub enum CUtensorMapDataType: u32 {
        /// Unsigned integer, 8 bits.
        CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
        /// Unsigned integer, 16 bits.
        CU_TENSOR_MAP_DATA_TYPE_UINT16 = 1,
        /// Unsigned integer, 32 bits.
        CU_TENSOR_MAP_DATA_TYPE_UINT32 = 2,
        /// Signed integer, 32 bits.
        CU_TENSOR_MAP_DATA_TYPE_INT32 = 3,
        /// Unsigned integer, 64 bits.
        CU_TENSOR_MAP_DATA_TYPE_UINT64 = 4,
        /// Signed integer, 64 bits.
        CU_TENSOR_MAP_DATA_TYPE_INT64 = 5,
        /// IEEE half precision.
        CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
        /// IEEE single precision.
        CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
        /// IEEE double precision.
        CU_TENSOR_MAP_DATA_TYPE_FLOAT64 = 8,
        /// Brain floating point, 16 bits.
        CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9,
        /// Single precision, subnormals flushed to zero.
        CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ = 10,
        /// TensorFloat-32.
        CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 = 11,
        /// TensorFloat-32, subnormals flushed to zero.
        CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ = 12,
        /// Sixteen 4-bit values in 8 bytes, packed. CUDA 12.8+.
        CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B = 13,
        /// Sixteen 4-bit values in 16 bytes, with a gap of 8. CUDA 12.8+.
        CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B = 14,
        /// Sixteen 6-bit values in 16 bytes, with a gap of 4. CUDA 12.8+.
        CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B = 15,
    }

    /// Interleaving of a tensor's innermost dimension. CUDA 12.0+.
    pub enum CUtensorMapInterleave: u32 {
        /// Not interleaved.
        CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
        /// In slices of 16 bytes, 8 channels of 2 bytes.
        CU_TENSOR_MAP_INTERLEAVE_16B = 1,
        /// In slices of 32 bytes.
        CU_TENSOR_MAP_INTERLEAVE_32B = 2,
    }

    /// Permutation of a tile's rows in shared memory against bank conflicts. CUDA 12.0+.
    pub enum CUtensorMapSwizzle: u32 {
        /// Not permuted.
        CU_TENSOR_MAP_SWIZZLE_NONE = 0,
        /// Within 32 bytes.
        CU_TENSOR_MAP_SWIZZLE_32B = 1,
        /// Within 64 bytes.
        CU_TENSOR_MAP_SWIZZLE_64B = 2,
        /// Within 128 bytes, in chunks of 16.
        CU_TENSOR_MAP_SWIZZLE_128B = 3,
        /// Within 128 bytes, in chunks of 32. CUDA 12.8+.
        CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B = 4,
        /// Within 128 bytes, in chunks of 32; in every other row the 8-byte halves of each 16
        /// change places. CUDA 12.8+.
        CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B = 5,
        /// Within 128 bytes, in chunks of 64. CUDA 12.8+.
        CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B = 6,
    }

    /// Amount that a tensor access brings into L2 at once. CUDA 12.0+.
    pub enum CUtensorMapL2promotion: u32 {
        /// No more than is read.
        CU_TENSOR_MAP_L2_PROMOTION_NONE = 0,
        /// 64 bytes.
        CU_TENSOR_MAP_L2_PROMOTION_L2_64B = 1,
        /// 128 bytes.
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B = 2,
        /// 256 bytes.
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3,
    }

    /// Value of elements outside a tensor. CUDA 12.0+.
    pub enum CUtensorMapFloatOOBfill: u32 {
        /// Zero.
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
        /// A special not-a-number that multiply-add treats as zero.
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA = 1,
    }

    /// Way in which a wide im2col tensor map walks over the image. CUDA 12.8+.
    pub enum CUtensorMapIm2ColWideMode: u32 {
        /// Along the width.
        CU_TENSOR_MAP_IM2COL_WIDE_MODE_W = 0,
        /// Along the width, 128 columns.
        CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 = 1,
    }

    /// Distance that a tensor map's addresses may run past the tensor, where that matters.
    /// CUDA 13.5+.
    pub enum CUtensorMapAllocClass: u32 {
        /// Found from the layout of the tensor map.
        CU_TENSOR_MAP_ALLOC_CLASS_AUTO = 0,
        /// Up to 4 KiB: always safe.
        CU_TENSOR_MAP_ALLOC_CLASS_SMALL = 1,
        /// Up to 128 KiB: faster; the caller guarantees that this much memory is accessible.
        CU_TENSOR_MAP_ALLOC_CLASS_LARGE = 2,
    }

    // Modules, functions and kernels

    /// A property of a function on a device.
    pub enum CUfunction_attribute: u32 {
        /// Most threads in a block of this function.
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
        /// Statically declared shared memory, in bytes.
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
        /// Constant memory of the user, in bytes.
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
        /// Local memory per thread, in bytes.
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
        /// 32-bit registers per thread.
        CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
        /// Virtual architecture it was compiled for, major times 10 plus minor.
        CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
        /// Architecture of its machine code, major times 10 plus minor.
        CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
        /// True if it was compiled to cache global loads in L1.
        CU_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
        /// Most dynamic shared memory of a launch, in bytes; can be set.
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
        /// Shared memory wanted, in percent of the maximum, -1 for the default; can be set.
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
        /// True if a launch must name a cluster size.
        CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET = 10,
        /// Required width of a cluster, in blocks; 0 for none.
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
        /// Required height of a cluster, in blocks; 0 for none.
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12,
        /// Required depth of a cluster, in blocks; 0 for none.
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,
        /// True if clusters larger than all devices guarantee are allowed; can be set.
        CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
        /// Placement of clusters, a `CUclusterSchedulingPolicy`; can be set.
        CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 15,
        /// True if a graph node of it can be updated from the device. CUDA 13.3+.
        CU_FUNC_ATTRIBUTE_DEVICE_NODE_UPDATE_SUPPORTED = 16,
        /// Its `CUsharedMemoryMode`; can be set. CUDA 13.4+.
        CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE = 17,
        /// Number of attributes; grows with each version.
        CU_FUNC_ATTRIBUTE_MAX = 18,
    }

    /// Special values of `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`.
    pub enum CUshared_carveout: i32 {
        /// The driver chooses.
        CU_SHAREDMEM_CARVEOUT_DEFAULT = -1,
        /// As little shared memory as possible.
        CU_SHAREDMEM_CARVEOUT_MAX_L1 = 0,
        /// As much shared memory as possible.
        CU_SHAREDMEM_CARVEOUT_MAX_SHARED = 100,
    }

    /// Time at which the driver loads kernels.
    pub enum CUmoduleLoadingMode: u32 {
        /// With their module.
        CU_MODULE_EAGER_LOADING = 1,
        /// At their first use.
        CU_MODULE_LAZY_LOADING = 2,
    }

    /// Loading state of a function. CUDA 12.4+.
    pub enum CUfunctionLoadingState: u32 {
        /// Not loaded.
        CU_FUNCTION_LOADING_STATE_UNLOADED = 0,
        /// Loaded.
        CU_FUNCTION_LOADING_STATE_LOADED = 1,
        /// Number of states.
        CU_FUNCTION_LOADING_STATE_MAX = 2,
    }

    /// An option for loading a library. CUDA 12.0+.
    pub enum CUlibraryOption: u32 {
        /// Host-side tables, a `CUlibraryHostUniversalFunctionAndDataTable`.
        CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE = 0,
        /// The caller keeps the image alive, so that the driver need not copy it.
        CU_LIBRARY_BINARY_IS_PRESERVED = 1,
        /// Number of options; grows with each version.
        CU_LIBRARY_NUM_OPTIONS = 2,
    }

    /// Options of computing occupancy.
    pub flags CUoccupancy_flags: u32 {
        /// No option.
        CU_OCCUPANCY_DEFAULT = 0,
        /// Assume that global caching stays on where it costs occupancy.
        CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE = 1,
    }

    // Just-in-time compilation and linking

    /// An option of the compiler or linker; the value travels in a `void*`.
    pub enum CUjit_option: u32 {
        /// Most registers per thread; in, `u32`.
        CU_JIT_MAX_REGISTERS = 0,
        /// Threads per block to compile for; in and out, `u32`.
        CU_JIT_THREADS_PER_BLOCK = 1,
        /// Time spent, in milliseconds; out, `f32`.
        CU_JIT_WALL_TIME = 2,
        /// Buffer for messages; in, pointer.
        CU_JIT_INFO_LOG_BUFFER = 3,
        /// Size of that buffer, then bytes written; in and out, `u32`.
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
        /// Buffer for errors; in, pointer.
        CU_JIT_ERROR_LOG_BUFFER = 5,
        /// Size of that buffer, then bytes written; in and out, `u32`.
        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
        /// Optimization level 0 to 4; in, `u32`.
        CU_JIT_OPTIMIZATION_LEVEL = 7,
        /// Compile for the current context's device; no value.
        CU_JIT_TARGET_FROM_CUCONTEXT = 8,
        /// Compile for this `CUjit_target`; in.
        CU_JIT_TARGET = 9,
        /// Fallback where there is no matching machine code, a `CUjit_fallback`; in.
        CU_JIT_FALLBACK_STRATEGY = 10,
        /// True to add debug information; in, `i32`.
        CU_JIT_GENERATE_DEBUG_INFO = 11,
        /// True to log in detail; in, `i32`.
        CU_JIT_LOG_VERBOSE = 12,
        /// True to add line numbers; in, `i32`.
        CU_JIT_GENERATE_LINE_INFO = 13,
        /// Caches that loads use, a `CUjit_cacheMode`; in.
        CU_JIT_CACHE_MODE = 14,
        /// Deprecated: internal.
        CU_JIT_NEW_SM3X_OPT = 15,
        /// Internal.
        CU_JIT_FAST_COMPILE = 16,
        /// Names of device symbols to place; in, array of strings.
        CU_JIT_GLOBAL_SYMBOL_NAMES = 17,
        /// Addresses for those names; in, array of pointers.
        CU_JIT_GLOBAL_SYMBOL_ADDRESSES = 18,
        /// Number of those names; in, `u32`.
        CU_JIT_GLOBAL_SYMBOL_COUNT = 19,
        /// Deprecated: true to optimize at link time; in, `i32`.
        CU_JIT_LTO = 20,
        /// Deprecated: true to flush subnormals at link-time optimization; in, `i32`.
        CU_JIT_FTZ = 21,
        /// Deprecated: true for exact division at link-time optimization; in, `i32`.
        CU_JIT_PREC_DIV = 22,
        /// Deprecated: true for exact square roots at link-time optimization; in, `i32`.
        CU_JIT_PREC_SQRT = 23,
        /// Deprecated: true if multiply and add may fuse at link-time optimization; in, `i32`.
        CU_JIT_FMA = 24,
        /// Deprecated: kernels to keep at link-time optimization; in, array of strings.
        CU_JIT_REFERENCED_KERNEL_NAMES = 25,
        /// Deprecated: number of those kernels; in, `u32`.
        CU_JIT_REFERENCED_KERNEL_COUNT = 26,
        /// Deprecated: variables to keep at link-time optimization; in, array of strings.
        CU_JIT_REFERENCED_VARIABLE_NAMES = 27,
        /// Deprecated: number of those variables; in, `u32`.
        CU_JIT_REFERENCED_VARIABLE_COUNT = 28,
        /// Deprecated: true to drop unused variables at link-time optimization; in, `i32`.
        CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES = 29,
        /// True to make position-independent code; in, `i32`. CUDA 12.0+.
        CU_JIT_POSITION_INDEPENDENT_CODE = 30,
        /// Hint: least blocks to reside on a multiprocessor; in, `u32`. CUDA 12.3+.
        CU_JIT_MIN_CTA_PER_SM = 31,
        /// Most threads per block of any launch; in, `i32`. CUDA 12.4+.
        CU_JIT_MAX_THREADS_PER_BLOCK = 32,
        /// True if these options win over directives in the PTX; in, `i32`. CUDA 12.4+.
        CU_JIT_OVERRIDE_DIRECTIVE_VALUES = 33,
        /// Most threads that optimize, 0 for one per core; in, `u32`. CUDA 13.0+.
        CU_JIT_SPLIT_COMPILE = 34,
        /// Most threads that compile or link device code, 0 for one per core; in, `u32`.
        /// CUDA 13.1+.
        CU_JIT_BINARY_LOADER_THREAD_COUNT = 35,
        /// Number of options; grows with each version.
        CU_JIT_NUM_OPTIONS = 36,
    }

    /// An architecture to compile for; `A` variants run on that device only, `F` variants on its
    /// family.
    pub enum CUjit_target: u32 {
        /// Compute capability 2.0; removed in 12.0.
        CU_TARGET_COMPUTE_20 = 20,
        /// Compute capability 2.1; removed in 12.0.
        CU_TARGET_COMPUTE_21 = 21,
        /// Compute capability 3.0.
        CU_TARGET_COMPUTE_30 = 30,
        /// Compute capability 3.2.
        CU_TARGET_COMPUTE_32 = 32,
        /// Compute capability 3.5.
        CU_TARGET_COMPUTE_35 = 35,
        /// Compute capability 3.7.
        CU_TARGET_COMPUTE_37 = 37,
        /// Compute capability 5.0.
        CU_TARGET_COMPUTE_50 = 50,
        /// Compute capability 5.2.
        CU_TARGET_COMPUTE_52 = 52,
        /// Compute capability 5.3.
        CU_TARGET_COMPUTE_53 = 53,
        /// Compute capability 6.0.
        CU_TARGET_COMPUTE_60 = 60,
        /// Compute capability 6.1.
        CU_TARGET_COMPUTE_61 = 61,
        /// Compute capability 6.2.
        CU_TARGET_COMPUTE_62 = 62,
        /// Compute capability 7.0.
        CU_TARGET_COMPUTE_70 = 70,
        /// Compute capability 7.2.
        CU_TARGET_COMPUTE_72 = 72,
        /// Compute capability 7.5.
        CU_TARGET_COMPUTE_75 = 75,
        /// Compute capability 8.0.
        CU_TARGET_COMPUTE_80 = 80,
        /// Compute capability 8.6.
        CU_TARGET_COMPUTE_86 = 86,
        /// Compute capability 8.7.
        CU_TARGET_COMPUTE_87 = 87,
        /// Compute capability 8.9.
        CU_TARGET_COMPUTE_89 = 89,
        /// Compute capability 9.0.
        CU_TARGET_COMPUTE_90 = 90,
        /// Compute capability 10.0. CUDA 12.8+.
        CU_TARGET_COMPUTE_100 = 100,
        /// Compute capability 10.1; removed in 13.0, where it is 11.0. CUDA 12.8+.
        CU_TARGET_COMPUTE_101 = 101,
        /// Compute capability 10.3. CUDA 12.9+.
        CU_TARGET_COMPUTE_103 = 103,
        /// Compute capability 10.7. CUDA 13.4+.
        CU_TARGET_COMPUTE_107 = 107,
        /// Compute capability 11.0. CUDA 13.0+.
        CU_TARGET_COMPUTE_110 = 110,
        /// Compute capability 12.0. CUDA 12.8+.
        CU_TARGET_COMPUTE_120 = 120,
        /// Compute capability 12.1. CUDA 12.9+.
        CU_TARGET_COMPUTE_121 = 121,
        /// Compute capability 9.0 with its own features. CUDA 12.0+.
        CU_TARGET_COMPUTE_90A = 65626,
        /// Compute capability 10.0 with its own features. CUDA 12.8+.
        CU_TARGET_COMPUTE_100A = 65636,
        /// Compute capability 10.1 with its own features; removed in 13.0. CUDA 12.8+.
        CU_TARGET_COMPUTE_101A = 65637,
        /// Compute capability 10.3 with its own features. CUDA 12.9+.
        CU_TARGET_COMPUTE_103A = 65639,
        /// Compute capability 10.7 with its own features. CUDA 13.4+.
        CU_TARGET_COMPUTE_107A = 65643,
        /// Compute capability 11.0 with its own features. CUDA 13.0+.
        CU_TARGET_COMPUTE_110A = 65646,
        /// Compute capability 12.0 with its own features. CUDA 12.8+.
        CU_TARGET_COMPUTE_120A = 65656,
        /// Compute capability 12.1 with its own features. CUDA 12.9+.
        CU_TARGET_COMPUTE_121A = 65657,
        /// The family of compute capability 10.0. CUDA 12.9+.
        CU_TARGET_COMPUTE_100F = 131172,
        /// The family of compute capability 10.1; removed in 13.0. CUDA 12.9+.
        CU_TARGET_COMPUTE_101F = 131173,
        /// The family of compute capability 10.3. CUDA 12.9+.
        CU_TARGET_COMPUTE_103F = 131175,
        /// The family of compute capability 10.7. CUDA 13.4+.
        CU_TARGET_COMPUTE_107F = 131179,
        /// The family of compute capability 11.0. CUDA 13.0+.
        CU_TARGET_COMPUTE_110F = 131182,
        /// The family of compute capability 12.0. CUDA 12.9+.
        CU_TARGET_COMPUTE_120F = 131192,
        /// The family of compute capability 12.1. CUDA 12.9+.
        CU_TARGET_COMPUTE_121F = 131193,
    }

    /// Fallback where an image has no matching machine code.
    pub enum CUjit_fallback: u32 {
        /// Compile its PTX.
        CU_PREFER_PTX = 0,
        /// Take compatible machine code if there is some.
        CU_PREFER_BINARY = 1,
    }

    /// Caches that global loads use.
    pub enum CUjit_cacheMode: u32 {
        /// The compiler's default.
        CU_JIT_CACHE_OPTION_NONE = 0,
        /// L2 only.
        CU_JIT_CACHE_OPTION_CG = 1,
        /// L1 and L2.
        CU_JIT_CACHE_OPTION_CA = 2,
    }

    /// The kind of an input of the linker.
    pub enum CUjitInputType: u32 {
        /// Machine code for one architecture.
        CU_JIT_INPUT_CUBIN = 0,
        /// PTX text.
        CU_JIT_INPUT_PTX = 1,
        /// Several cubins and PTX in one.
        CU_JIT_INPUT_FATBINARY = 2,
        /// A host object with device code inside.
        CU_JIT_INPUT_OBJECT = 3,
        /// An archive of host objects with device code inside.
        CU_JIT_INPUT_LIBRARY = 4,
        /// Deprecated: NVVM code for link-time optimization.
        CU_JIT_INPUT_NVVM = 5,
        /// Number of kinds.
        CU_JIT_NUM_INPUT_TYPES = 6,
    }

    // Launches

    /// Name of an attribute of a launch, stream or kernel node.
    pub enum CUlaunchAttributeID: u32 {
        /// An empty entry.
        CU_LAUNCH_ATTRIBUTE_IGNORE = 0,
        /// `accessPolicyWindow`: treatment of an address range by L2.
        CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1,
        /// `cooperative`: all blocks run at once.
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
        /// `syncPolicy`: waiting of threads for the stream.
        CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY = 3,
        /// `clusterDim`: the shape of a cluster.
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
        /// `clusterSchedulingPolicyPreference`: placement of clusters.
        CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
        /// `programmaticStreamSerializationAllowed`: the kernel may start before the one ahead of
        /// it ends.
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
        /// `programmaticEvent`: an event that the kernel's blocks trigger.
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
        /// `priority`: the priority of the kernel.
        CU_LAUNCH_ATTRIBUTE_PRIORITY = 8,
        /// `memSyncDomainMap`: the physical domain of each logical one. CUDA 12.0+.
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP = 9,
        /// `memSyncDomain`: the logical memory synchronization domain. CUDA 12.0+.
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN = 10,
        /// `preferredClusterDim`: a larger cluster shape to use where it fits. CUDA 12.8+.
        CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11,
        /// `launchCompletionEvent`: an event recorded once all blocks have started. CUDA 12.3+.
        CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12,
        /// `deviceUpdatableKernelNode`: the node can be changed from the device. CUDA 12.4+.
        CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE = 13,
        /// `sharedMemCarveout`: shared memory wanted, in percent. CUDA 12.5+.
        CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 14,
        /// `nvlinkUtilCentricScheduling`: hint to spread NVLink traffic evenly. CUDA 13.0+.
        CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING = 16,
        /// `portableClusterSizeMode`: permission for clusters larger than all devices guarantee.
        /// CUDA 13.2+.
        CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE = 17,
        /// `sharedMemoryMode`: limit on the shared memory that the launch may ask for. CUDA 13.2+.
        CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE = 18,
    }

    /// Permission for a launch's cluster to be larger than all devices guarantee. CUDA 13.2+.
    pub enum CUlaunchAttributePortableClusterMode: u32 {
        /// The function's attribute decides.
        CU_LAUNCH_PORTABLE_CLUSTER_MODE_DEFAULT = 0,
        /// The cluster must not be larger.
        CU_LAUNCH_PORTABLE_CLUSTER_MODE_REQUIRE_PORTABLE = 1,
        /// The cluster may be larger.
        CU_LAUNCH_PORTABLE_CLUSTER_MODE_ALLOW_NON_PORTABLE = 2,
    }

    /// Limit on the dynamic shared memory that a launch may ask for. CUDA 13.2+.
    pub enum CUsharedMemoryMode: u32 {
        /// The limit of the function's attribute.
        CU_SHARED_MEMORY_MODE_DEFAULT = 0,
        /// No more than every device of its kind offers without opting in.
        CU_SHARED_MEMORY_MODE_REQUIRE_PORTABLE = 1,
        /// Up to the opt-in maximum.
        CU_SHARED_MEMORY_MODE_ALLOW_NON_PORTABLE = 2,
        /// Oversized amounts too, which leave 8 KiB of L1. CUDA 13.4+.
        CU_SHARED_MEMORY_MODE_ALLOW_OVERSIZED_SHARED_MEMORY = 3,
        /// Oversized amounts, and preferably so. CUDA 13.4+.
        CU_SHARED_MEMORY_MODE_PREFER_OVERSIZED_SHARED_MEMORY = 4,
    }

    /// The logical domain in which a kernel's memory fences order. CUDA 12.0+.
    pub enum CUlaunchMemSyncDomain: u32 {
        /// The ordinary domain.
        CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT = 0,
        /// The domain for kernels that communicate with other devices.
        CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE = 1,
    }

    /// Placement of the blocks of a cluster.
    pub enum CUclusterSchedulingPolicy: u32 {
        /// The driver chooses.
        CU_CLUSTER_SCHEDULING_POLICY_DEFAULT = 0,
        /// Spread over multiprocessors.
        CU_CLUSTER_SCHEDULING_POLICY_SPREAD = 1,
        /// Spread for the hardware's load balance.
        CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING = 2,
        /// Close together for distributed shared memory, on Rubin devices. CUDA 13.4+.
        CU_CLUSTER_SCHEDULING_POLICY_RUBIN_DSMEM_LOCALITY = 3,
    }

    /// Treatment by L2 of the lines of an access policy window.
    pub enum CUaccessProperty: u32 {
        /// Normal.
        CU_ACCESS_PROPERTY_NORMAL = 0,
        /// First to go.
        CU_ACCESS_PROPERTY_STREAMING = 1,
        /// Likely to stay.
        CU_ACCESS_PROPERTY_PERSISTING = 2,
    }

    // Graphs

    /// Kind of a graph node.
    pub enum CUgraphNodeType: u32 {
        /// Launches a kernel.
        CU_GRAPH_NODE_TYPE_KERNEL = 0,
        /// Copies memory.
        CU_GRAPH_NODE_TYPE_MEMCPY = 1,
        /// Fills memory.
        CU_GRAPH_NODE_TYPE_MEMSET = 2,
        /// Calls a host function.
        CU_GRAPH_NODE_TYPE_HOST = 3,
        /// Runs a child graph.
        CU_GRAPH_NODE_TYPE_GRAPH = 4,
        /// Nothing but order.
        CU_GRAPH_NODE_TYPE_EMPTY = 5,
        /// Waits for an event.
        CU_GRAPH_NODE_TYPE_WAIT_EVENT = 6,
        /// Records an event.
        CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7,
        /// Signals external semaphores.
        CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL = 8,
        /// Waits for external semaphores.
        CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT = 9,
        /// Allocates memory.
        CU_GRAPH_NODE_TYPE_MEM_ALLOC = 10,
        /// Frees memory.
        CU_GRAPH_NODE_TYPE_MEM_FREE = 11,
        /// Runs stream memory operations.
        CU_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12,
        /// Runs a graph depending on a value. CUDA 12.3+.
        CU_GRAPH_NODE_TYPE_CONDITIONAL = 13,
        /// Makes a batch of copies. CUDA 13.5+.
        CU_GRAPH_NODE_TYPE_MEMCPY_BATCH = 14,
        /// Reserved. CUDA 13.3+.
        CU_GRAPH_NODE_TYPE_RESERVED_16 = 16,
        /// Reserved for work on an engine outside CUDA. CUDA 13.5+.
        CU_GRAPH_NODE_TYPE_EXTERNAL_ENGINE = 17,
        /// Makes a batch of fabric copies. CUDA 13.5+.
        CU_GRAPH_NODE_TYPE_FABRIC_CPY_BATCH = 18,
    }

    /// The kind of a graph edge. CUDA 12.3+.
    pub enum CUgraphDependencyType: u32 {
        /// The downstream node waits for the end of the upstream one.
        CU_GRAPH_DEPENDENCY_TYPE_DEFAULT = 0,
        /// A downstream kernel may start when the upstream kernel says so.
        CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC = 1,
    }

    /// Use that a conditional node makes of its value. CUDA 12.3+.
    pub enum CUgraphConditionalNodeType: u32 {
        /// Runs its first graph if the value is not zero, else its second, if it has one.
        CU_GRAPH_COND_TYPE_IF = 0,
        /// Runs its graph as long as the value is not zero.
        CU_GRAPH_COND_TYPE_WHILE = 1,
        /// Runs the graph whose index is the value, if there is one. CUDA 12.8+.
        CU_GRAPH_COND_TYPE_SWITCH = 2,
    }

    /// Owner of the graph of a child graph node. CUDA 12.9+.
    pub enum CUgraphChildGraphNodeOwnership: i32 {
        /// None: set by queries, so that the answer is not used to make a node. CUDA 13.2+.
        CU_GRAPH_CHILD_GRAPH_OWNERSHIP_INVALID = -1,
        /// The node gets a copy.
        CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE = 0,
        /// The node takes the graph itself.
        CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE = 1,
    }

    /// Options of instantiating a graph.
    pub flags CUgraphInstantiate_flags: u32 {
        /// Memory left allocated by a launch is freed at the next one.
        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 1,
        /// The graph is uploaded at once; needs `cuGraphInstantiateWithParams`. CUDA 12.0+.
        CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD = 2,
        /// The graph can be launched from the device. CUDA 12.0+.
        CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH = 4,
        /// Nodes keep their own priorities instead of taking the stream's.
        CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY = 8,
    }

    /// Reason why a graph was not instantiated. CUDA 12.0+.
    pub enum CUgraphInstantiateResult: u32 {
        /// None: it was instantiated.
        CUDA_GRAPH_INSTANTIATE_SUCCESS = 0,
        /// Another error; see the `CUresult`.
        CUDA_GRAPH_INSTANTIATE_ERROR = 1,
        /// The graph is not well-formed, as with a cycle.
        CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE = 2,
        /// A node's operation cannot be launched from the device.
        CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED = 3,
        /// The nodes are of several contexts.
        CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED = 4,
        /// A conditional handle belongs to no node. CUDA 12.8+.
        CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED = 5,
    }

    /// Reason why an executable graph could not be updated.
    pub enum CUgraphExecUpdateResult: u32 {
        /// None: it was updated.
        CU_GRAPH_EXEC_UPDATE_SUCCESS = 0,
        /// Another error; see the `CUresult`.
        CU_GRAPH_EXEC_UPDATE_ERROR = 1,
        /// Nodes or edges differ.
        CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2,
        /// A node has another type.
        CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED = 3,
        /// A kernel node has another function, on a driver that cannot change it.
        CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED = 4,
        /// A parameter differs that cannot be changed.
        CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED = 5,
        /// Something about a node cannot be updated.
        CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED = 6,
        /// A kernel node has a function of a kind that cannot replace the old one.
        CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE = 7,
        /// A node's attributes differ in a way that cannot be changed.
        CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED = 8,
    }

    /// Result of comparing a recaptured node with the node of the graph. CUDA 13.3+.
    pub enum CUgraphRecaptureStatus: u32 {
        /// An executable graph can take its new parameters.
        CU_GRAPH_RECAPTURE_ELIGIBLE_FOR_UPDATE = 0,
        /// An executable graph cannot take its new parameters.
        CU_GRAPH_RECAPTURE_INELIGIBLE_FOR_UPDATE = 1,
        /// The node could not be recaptured; the recapture ends.
        CU_GRAPH_RECAPTURE_ERROR = 2,
    }

    /// Memory that the graphs of a device use, in bytes, `u64`.
    pub enum CUgraphMem_attribute: u32 {
        /// In use now.
        CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT = 0,
        /// Most in use since the mark was reset; only zero can be set.
        CU_GRAPH_MEM_ATTR_USED_MEM_HIGH = 1,
        /// Held now.
        CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT = 2,
        /// Most held since the mark was reset; only zero can be set.
        CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH = 3,
    }

    /// Details that a graph's DOT file shows.
    pub flags CUgraphDebugDot_flags: u32 {
        /// Everything, as if all other bits were set.
        CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE = 1,
        /// Runtime API types instead of driver ones.
        CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES = 2,
        /// Parameters of kernel nodes.
        CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS = 4,
        /// Parameters of copy nodes.
        CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS = 8,
        /// Parameters of fill nodes.
        CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS = 16,
        /// Parameters of host nodes.
        CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS = 32,
        /// Parameters of event nodes.
        CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS = 64,
        /// Parameters of semaphore signal nodes.
        CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS = 128,
        /// Parameters of semaphore wait nodes.
        CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS = 256,
        /// Attributes of kernel nodes.
        CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES = 512,
        /// Handles of nodes and kernels.
        CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES = 1024,
        /// Parameters of allocation nodes.
        CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS = 2048,
        /// Parameters of free nodes.
        CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS = 4096,
        /// Parameters of stream memory operation nodes.
        CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS = 8192,
        /// Edge ports and types. CUDA 12.0+.
        CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO = 16384,
        /// Parameters of conditional nodes. CUDA 12.3+.
        CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS = 32768,
        /// Parameters of copy batch nodes. CUDA 13.5+.
        CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_BATCH_NODE_PARAMS = 65536,
        /// Parameters of fabric copy batch nodes. CUDA 13.5+.
        CU_GRAPH_DEBUG_DOT_FLAGS_FABRIC_CPY_BATCH_NODE_PARAMS = 131072,
    }

    /// Options of creating a user object.
    pub flags CUuserObject_flags: u32 {
        /// Nothing may wait for its destructor to run; must be given.
        CU_USER_OBJECT_NO_DESTRUCTOR_SYNC = 1,
    }

    /// Options of a graph's references to a user object.
    pub flags CUuserObjectRetain_flags: u32 {
        /// The caller's references become the graph's.
        CU_GRAPH_USER_OBJECT_MOVE = 1,
    }

    // External memory and semaphores

    /// Kind of an external memory handle.
    pub enum CUexternalMemoryHandleType: u32 {
        /// A file descriptor that some API exported.
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD = 1,
        /// An NT handle that some API exported.
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32 = 2,
        /// A KMT handle that some API exported.
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_KMT = 3,
        /// A Direct3D 12 heap.
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP = 4,
        /// A Direct3D 12 committed resource.
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE = 5,
        /// A Direct3D 11 resource, by NT handle.
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE = 6,
        /// A Direct3D 11 resource, by KMT handle.
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE_KMT = 7,
        /// An NvSciBuf object.
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF = 8,
        /// A file descriptor of a Linux dma-buf. CUDA 13.0+.
        CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD = 9,
    }

    /// Kind of an external semaphore handle.
    pub enum CUexternalSemaphoreHandleType: u32 {
        /// A file descriptor that some API exported.
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD = 1,
        /// An NT handle that some API exported.
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32 = 2,
        /// A KMT handle that some API exported.
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_KMT = 3,
        /// A Direct3D 12 fence.
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE = 4,
        /// A Direct3D 11 fence.
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_FENCE = 5,
        /// An NvSciSync object.
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC = 6,
        /// A Direct3D 11 keyed mutex, by NT handle.
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX = 7,
        /// A Direct3D 11 keyed mutex, by KMT handle.
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D11_KEYED_MUTEX_KMT = 8,
        /// A Vulkan timeline semaphore, by file descriptor.
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD = 9,
        /// A Vulkan timeline semaphore, by NT handle.
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32 = 10,
    }

    // Graphics

    /// Use that CUDA will make of a graphics resource.
    pub flags CUgraphicsRegisterFlags: u32 {
        /// Anything.
        CU_GRAPHICS_REGISTER_FLAGS_NONE = 0,
        /// Only read it.
        CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY = 1,
        /// Only overwrite it whole.
        CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD = 2,
        /// Bind it to a surface.
        CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST = 4,
        /// Gather from it.
        CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER = 8,
    }

    /// Use that CUDA will make of a mapped graphics resource.
    pub flags CUgraphicsMapResourceFlags: u32 {
        /// Anything.
        CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE = 0,
        /// Only read it.
        CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY = 1,
        /// Only overwrite it whole.
        CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD = 2,
    }

    /// Devices of an OpenGL context to ask for.
    pub enum CUGLDeviceList: u32 {
        /// All.
        CU_GL_DEVICE_LIST_ALL = 1,
        /// Devices that render the current frame.
        CU_GL_DEVICE_LIST_CURRENT_FRAME = 2,
        /// Devices that will render the next frame.
        CU_GL_DEVICE_LIST_NEXT_FRAME = 3,
    }

    /// Use that CUDA will make of a mapped OpenGL buffer; deprecated.
    pub enum CUGLmap_flags: u32 {
        /// Anything.
        CU_GL_MAP_RESOURCE_FLAGS_NONE = 0,
        /// Only read it.
        CU_GL_MAP_RESOURCE_FLAGS_READ_ONLY = 1,
        /// Only overwrite it whole.
        CU_GL_MAP_RESOURCE_FLAGS_WRITE_DISCARD = 2,
    }

    // Core dumps and checkpoints

    /// A setting of GPU core dumps. CUDA 12.1+.
    pub enum CUcoredumpSettings: u32 {
        /// True if a fault writes one; `bool`.
        CU_COREDUMP_ENABLE_ON_EXCEPTION = 1,
        /// True if the host dumps core as well; `bool`.
        CU_COREDUMP_TRIGGER_HOST = 2,
        /// True if memory and code are left out; `bool`.
        CU_COREDUMP_LIGHTWEIGHT = 3,
        /// True if a write to a pipe triggers one; `bool`.
        CU_COREDUMP_ENABLE_USER_TRIGGER = 4,
        /// Name pattern of the file; string.
        CU_COREDUMP_FILE = 5,
        /// Name pattern of the trigger pipe; string.
        CU_COREDUMP_PIPE = 6,
        /// Parts to leave out, a `CUCoredumpGenerationFlags`. CUDA 12.5+.
        CU_COREDUMP_GENERATION_FLAGS = 7,
        /// One more than the last setting; 7 before CUDA 12.5.
        CU_COREDUMP_MAX = 8,
    }

    /// Parts that a GPU core dump leaves out, and action that follows it. CUDA 12.5+.
    pub flags CUCoredumpGenerationFlags: i32 {
        /// Nothing is left out.
        CU_COREDUMP_DEFAULT_FLAGS = 0,
        /// Without code images before relocation.
        CU_COREDUMP_SKIP_NONRELOCATED_ELF_IMAGES = 1,
        /// Without global memory.
        CU_COREDUMP_SKIP_GLOBAL_MEMORY = 2,
        /// Without shared memory.
        CU_COREDUMP_SKIP_SHARED_MEMORY = 4,
        /// Without local memory.
        CU_COREDUMP_SKIP_LOCAL_MEMORY = 8,
        /// The process is not aborted afterwards.
        CU_COREDUMP_SKIP_ABORT = 16,
        /// Without constant memory. CUDA 12.6+.
        CU_COREDUMP_SKIP_CONSTBANK_MEMORY = 32,
        /// The file is compressed. CUDA 13.1+.
        CU_COREDUMP_GZIP_COMPRESS = 64,
        /// Only contexts that faulted. CUDA 13.3+.
        CU_COREDUMP_FAULTED_CONTEXTS_ONLY = 128,
        /// Without tensor memory. CUDA 13.5+.
        CU_COREDUMP_SKIP_TENSOR_MEMORY = 256,
        /// All the bits that leave memory and code out; 15 in CUDA 12.5, 47 from 12.6 to 13.4.
        CU_COREDUMP_LIGHTWEIGHT_FLAGS = 303,
        /// No error barrier at the end of a kernel. CUDA 13.3+.
        CU_COREDUMP_NO_ERRBAR_AT_EXIT = 1073741824,
        /// A log instead of a file. CUDA 13.3+.
        CU_COREDUMP_LOG_ONLY = -2147483648,
    }

    /// State of a process between running and checkpointed. CUDA 12.8+.
    pub enum CUprocessState: u32 {
        /// It runs.
        CU_PROCESS_STATE_RUNNING = 0,
        /// Its driver calls block.
        CU_PROCESS_STATE_LOCKED = 1,
        /// Its device memory is saved and its devices are released.
        CU_PROCESS_STATE_CHECKPOINTED = 2,
        /// A checkpoint or restore went wrong for good.
        CU_PROCESS_STATE_FAILED = 3,
        /// Its device memory is being saved. CUDA 13.4+.
        CU_PROCESS_STATE_CHECKPOINTING = 4,
        /// Its device memory is being restored. CUDA 13.4+.
        CU_PROCESS_STATE_RESTORING = 5,
    }
}
