//! The list of functions: data and nothing else. One line is one exported symbol.
//!
//! The number is the first CUDA version with that ABI, the name is the exported one with its
//! revision, and a trailing `ptsz` or `ptds` says that the library exports a per-thread-stream twin
//! under that suffix, from the same version on (7.0 at the earliest). Parameters keep their C
//! names; one that is a Rust keyword gets a trailing `_`. Sizes are bytes unless a line says
//! otherwise.

use core::ffi::{c_char, c_void};

use crate::enums::*;
use crate::list::driver_fns;
use crate::structs::*;
use crate::types::*;

driver_fns! {
    // Result codes
    /// Returns the driver's sentence about a result code; null for one it does not know. A null
    /// `pStr` crashes.
    6000 fn cuGetErrorString(error: CUresult, pStr: *mut *const c_char);
    /// Returns the C name of a result code; null for one the driver does not know. A null `pStr`
    /// crashes.
    6000 fn cuGetErrorName(error: CUresult, pStr: *mut *const c_char);

    // Initialization
    /// Initializes the driver. Flags must be 0.
    2000 fn cuInit(Flags: u32);

    // Version
    /// Returns the newest CUDA version the driver supports: 12040 is 12.4. Works before `cuInit`.
    2020 fn cuDriverGetVersion(driverVersion: *mut i32);

    // Device
    /// Returns the device with an ordinal from 0 to the device count.
    2000 fn cuDeviceGet(device: *mut CUdevice, ordinal: i32);
    /// Returns the number of devices.
    2000 fn cuDeviceGetCount(count: *mut i32);
    /// Writes a device's name as a C string of at most `len` bytes, the NUL included.
    2000 fn cuDeviceGetName(name: *mut c_char, len: i32, dev: CUdevice);
    /// Returns a device's UUID; the UUID of the whole GPU, even in MIG mode.
    9020 fn cuDeviceGetUuid(uuid: *mut CUuuid, dev: CUdevice);
    /// Returns a device's UUID; in MIG mode the UUID of the MIG instance.
    11040 fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, dev: CUdevice);
    /// Returns the 8-byte identifier that Windows has for a device, and its node mask.
    10000 fn cuDeviceGetLuid(luid: *mut c_char, deviceNodeMask: *mut u32, dev: CUdevice);
    /// `cuDeviceTotalMem_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuDeviceTotalMem(bytes: *mut u32, dev: CUdevice);
    /// Returns a device's memory in bytes.
    3020 fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice);
    /// Returns the largest width, in elements, of a 1D texture over linear memory of a format.
    11010 fn cuDeviceGetTexture1DLinearMaxWidth(maxWidthInElements: *mut usize, format: CUarray_format, numChannels: u32, dev: CUdevice);
    /// Returns one number about a device.
    2000 fn cuDeviceGetAttribute(pi: *mut i32, attrib: CUdevice_attribute, dev: CUdevice);
    /// Returns the device's support for atomic operations on host memory, for each operation asked
    /// about.
    13000 fn cuDeviceGetHostAtomicCapabilities(capabilities: *mut u32, operations: *const CUatomicOperation, count: u32, dev: CUdevice);
    /// Fills an NvSciSync attribute list with the signals and waits that a device supports.
    10020 fn cuDeviceGetNvSciSyncAttributes(nvSciSyncAttrList: *mut c_void, dev: CUdevice, flags: i32);
    /// Makes a pool the one that stream-ordered allocation on a device takes from.
    11020 fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool);
    /// Returns the pool that stream-ordered allocation on a device takes from.
    11020 fn cuDeviceGetMemPool(pool: *mut CUmemoryPool, dev: CUdevice);
    /// Returns the pool that a device came with.
    11020 fn cuDeviceGetDefaultMemPool(pool_out: *mut CUmemoryPool, dev: CUdevice);
    /// Reports whether a device supports a kind of execution affinity: 1 or 0.
    11040 fn cuDeviceGetExecAffinitySupport(pi: *mut i32, type_: CUexecAffinityType, dev: CUdevice);
    /// Makes writes into device memory over the bus visible to the scope named.
    11030 fn cuFlushGPUDirectRDMAWrites(target: CUflushGPUDirectRDMAWritesTarget, scope: CUflushGPUDirectRDMAWritesScope);
    /// Returns a few limits of a device in one struct; `cuDeviceGetAttribute` replaces it.
    2000 fn cuDeviceGetProperties(prop: *mut CUdevprop, dev: CUdevice);
    /// Returns a device's compute capability; `cuDeviceGetAttribute` replaces it.
    2000 fn cuDeviceComputeCapability(major: *mut i32, minor: *mut i32, dev: CUdevice);

    // Primary context
    /// Takes one more hold on a device's primary context, made if need be.
    7000 fn cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice);
    /// Releases one hold on a device's primary context; a context in use is not reset.
    7000 fn cuDevicePrimaryCtxRelease(dev: CUdevice);
    /// Releases one hold on a device's primary context; the last one destroys it.
    11000 fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice);
    /// Sets the flags of a device's primary context while it is inactive.
    7000 fn cuDevicePrimaryCtxSetFlags(dev: CUdevice, flags: u32);
    /// Sets the flags of a device's primary context, also while it is active.
    11000 fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: u32);
    /// Returns the flags of a device's primary context, and whether it is active: 1 or 0.
    7000 fn cuDevicePrimaryCtxGetState(dev: CUdevice, flags: *mut u32, active: *mut i32);
    /// Destroys all that lives in a device's primary context; the form before CUDA 11.
    7000 fn cuDevicePrimaryCtxReset(dev: CUdevice);
    /// Destroys everything in a device's primary context, even if other code holds it.
    11000 fn cuDevicePrimaryCtxReset_v2(dev: CUdevice);

    // Context
    /// Creates a context for a device and makes it current; the form before CUDA 3.2.
    2000 fn cuCtxCreate(pctx: *mut CUcontext, flags: u32, dev: CUdevice);
    /// Creates a context for a device and makes it current.
    3020 fn cuCtxCreate_v2(pctx: *mut CUcontext, flags: u32, dev: CUdevice);
    /// Creates a context with execution affinity and makes it current. Removed from the headers of
    /// CUDA 13.
    11040 fn cuCtxCreate_v3(pctx: *mut CUcontext, paramsArray: *mut CUexecAffinityParam, numParams: i32, flags: u32, dev: CUdevice);
    /// Creates a context with parameters (affinity, graphics sharing); null ones crash some
    /// drivers.
    12050 fn cuCtxCreate_v4(pctx: *mut CUcontext, ctxCreateParams: *mut CUctxCreateParams, flags: u32, dev: CUdevice);
    /// Destroys a context, which must be current or floating; the form before CUDA 4.
    2000 fn cuCtxDestroy(ctx: CUcontext);
    /// Destroys a context, current or not.
    4000 fn cuCtxDestroy_v2(ctx: CUcontext);
    /// Puts a floating context on the calling thread's stack; the form before CUDA 4.
    2000 fn cuCtxPushCurrent(ctx: CUcontext);
    /// Puts a context on the calling thread's stack and makes it current.
    4000 fn cuCtxPushCurrent_v2(ctx: CUcontext);
    /// Takes the current context off the calling thread's stack; the form before CUDA 4.
    2000 fn cuCtxPopCurrent(pctx: *mut CUcontext);
    /// Takes the current context off the calling thread's stack.
    4000 fn cuCtxPopCurrent_v2(pctx: *mut CUcontext);
    /// Replaces the top of the calling thread's stack; null takes it off.
    4000 fn cuCtxSetCurrent(ctx: CUcontext);
    /// Returns the calling thread's current context, null if there is none.
    4000 fn cuCtxGetCurrent(pctx: *mut CUcontext);
    /// Returns the device of the current context.
    2000 fn cuCtxGetDevice(device: *mut CUdevice);
    /// Returns the device of a context, null for the current one.
    13000 fn cuCtxGetDevice_v2(device: *mut CUdevice, ctx: CUcontext);
    /// Returns the flags of the current context.
    7000 fn cuCtxGetFlags(flags: *mut u32);
    /// Sets the flags of the current context.
    12010 fn cuCtxSetFlags(flags: u32);
    /// Returns a number that no other context of the process ever has; null for the current one.
    12000 fn cuCtxGetId(ctx: CUcontext, ctxId: *mut u64);
    /// Waits for all work in the current context.
    2000 fn cuCtxSynchronize();
    /// Waits for all work in a context, null for the current one.
    13000 fn cuCtxSynchronize_v2(ctx: CUcontext);
    /// Sets a limit of the current context: stack bytes per thread, `printf` bytes, heap bytes and
    /// others.
    3010 fn cuCtxSetLimit(limit: CUlimit, value: usize);
    /// Returns a limit of the current context.
    3010 fn cuCtxGetLimit(pvalue: *mut usize, limit: CUlimit);
    /// Returns the preferred split between L1 cache and shared memory.
    3020 fn cuCtxGetCacheConfig(pconfig: *mut CUfunc_cache);
    /// Sets the preferred split between L1 cache and shared memory.
    3020 fn cuCtxSetCacheConfig(config: CUfunc_cache);
    /// Returns the API version that a context was made with.
    3020 fn cuCtxGetApiVersion(ctx: CUcontext, version: *mut u32);
    /// Returns the lowest and the highest stream priority; a smaller number goes first.
    5050 fn cuCtxGetStreamPriorityRange(leastPriority: *mut i32, greatestPriority: *mut i32);
    /// Turns all persisting lines of the L2 cache back to normal.
    11000 fn cuCtxResetPersistingL2Cache();
    /// Returns the execution affinity of the current context.
    11040 fn cuCtxGetExecAffinity(pExecAffinity: *mut CUexecAffinityParam, type_: CUexecAffinityType);
    /// Records in an event all work in a context so far.
    12050 fn cuCtxRecordEvent(hCtx: CUcontext, hEvent: CUevent);
    /// Makes all later work in a context wait for an event.
    12050 fn cuCtxWaitEvent(hCtx: CUcontext, hEvent: CUevent);
    /// Takes one more hold on the current context. Deprecated.
    2000 fn cuCtxAttach(pctx: *mut CUcontext, flags: u32);
    /// Releases one hold on a context. Deprecated.
    2000 fn cuCtxDetach(ctx: CUcontext);
    /// Returns the width of shared memory banks. Deprecated.
    4020 fn cuCtxGetSharedMemConfig(pConfig: *mut CUsharedconfig);
    /// Sets the width of shared memory banks. Deprecated.
    4020 fn cuCtxSetSharedMemConfig(config: CUsharedconfig);

    // Module
    /// Loads PTX, a cubin or a fat binary from a file into the current context.
    2000 fn cuModuleLoad(module: *mut CUmodule, fname: *const c_char);
    /// Loads PTX (NUL-terminated), a cubin or a fat binary from memory into the current context.
    2000 fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void);
    /// Loads a module from memory, with options for the JIT compiler.
    2010 fn cuModuleLoadDataEx(module: *mut CUmodule, image: *const c_void, numOptions: u32, options: *mut CUjit_option, optionValues: *mut *mut c_void);
    /// Loads a fat binary from memory into the current context.
    2000 fn cuModuleLoadFatBinary(module: *mut CUmodule, fatCubin: *const c_void);
    /// Unloads a module, and with it its functions and globals.
    2000 fn cuModuleUnload(hmod: CUmodule);
    /// Reports whether functions are loaded at once or at their first use.
    11070 fn cuModuleGetLoadingMode(mode: *mut CUmoduleLoadingMode);
    /// Finds a kernel in a module by its mangled name.
    2000 fn cuModuleGetFunction(hfunc: *mut CUfunction, hmod: CUmodule, name: *const c_char);
    /// Returns the number of kernels in a module.
    12040 fn cuModuleGetFunctionCount(count: *mut u32, mod_: CUmodule);
    /// Writes up to `numFunctions` kernels of a module.
    12040 fn cuModuleEnumerateFunctions(functions: *mut CUfunction, numFunctions: u32, mod_: CUmodule);
    /// `cuModuleGetGlobal_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuModuleGetGlobal(dptr: *mut CUdeviceptr_v1, bytes: *mut u32, hmod: CUmodule, name: *const c_char);
    /// Finds a global variable of a module: its address and its bytes; either may be null.
    3020 fn cuModuleGetGlobal_v2(dptr: *mut CUdeviceptr, bytes: *mut usize, hmod: CUmodule, name: *const c_char);
    /// Starts a JIT linking; the form before CUDA 6.5.
    5050 fn cuLinkCreate(numOptions: u32, options: *mut CUjit_option, optionValues: *mut *mut c_void, stateOut: *mut CUlinkState);
    /// Starts a JIT linking with options, whose values must live until it is destroyed.
    6050 fn cuLinkCreate_v2(numOptions: u32, options: *mut CUjit_option, optionValues: *mut *mut c_void, stateOut: *mut CUlinkState);
    /// Adds code from memory to a linking; the form before CUDA 6.5.
    5050 fn cuLinkAddData(state: CUlinkState, type_: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char, numOptions: u32, options: *mut CUjit_option, optionValues: *mut *mut c_void);
    /// Adds code from memory to a linking.
    6050 fn cuLinkAddData_v2(state: CUlinkState, type_: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char, numOptions: u32, options: *mut CUjit_option, optionValues: *mut *mut c_void);
    /// Adds code from a file to a linking; the form before CUDA 6.5.
    5050 fn cuLinkAddFile(state: CUlinkState, type_: CUjitInputType, path: *const c_char, numOptions: u32, options: *mut CUjit_option, optionValues: *mut *mut c_void);
    /// Adds code from a file to a linking.
    6050 fn cuLinkAddFile_v2(state: CUlinkState, type_: CUjitInputType, path: *const c_char, numOptions: u32, options: *mut CUjit_option, optionValues: *mut *mut c_void);
    /// Finishes a linking; the image, `sizeOut` bytes, belongs to the link state.
    5050 fn cuLinkComplete(state: CUlinkState, cubinOut: *mut *mut c_void, sizeOut: *mut usize);
    /// Destroys a link state, and the image it returned.
    5050 fn cuLinkDestroy(state: CUlinkState);
    /// Finds a texture reference of a module by name. Deprecated.
    2000 fn cuModuleGetTexRef(pTexRef: *mut CUtexref, hmod: CUmodule, name: *const c_char);
    /// Finds a surface reference of a module by name. Deprecated.
    3000 fn cuModuleGetSurfRef(pSurfRef: *mut CUsurfref, hmod: CUmodule, name: *const c_char);

    // Libraries of code
    /// Loads code from memory, independent of any context.
    12000 fn cuLibraryLoadData(library: *mut CUlibrary, code: *const c_void, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: u32, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: u32);
    /// Loads code from a file, independent of any context.
    12000 fn cuLibraryLoadFromFile(library: *mut CUlibrary, fileName: *const c_char, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: u32, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: u32);
    /// Unloads a library of code.
    12000 fn cuLibraryUnload(library: CUlibrary);
    /// Finds a kernel in a library by its mangled name.
    12000 fn cuLibraryGetKernel(pKernel: *mut CUkernel, library: CUlibrary, name: *const c_char);
    /// Returns the number of kernels in a library.
    12040 fn cuLibraryGetKernelCount(count: *mut u32, lib: CUlibrary);
    /// Writes up to `numKernels` kernels of a library.
    12040 fn cuLibraryEnumerateKernels(kernels: *mut CUkernel, numKernels: u32, lib: CUlibrary);
    /// Returns a library's module in the current context.
    12000 fn cuLibraryGetModule(pMod: *mut CUmodule, library: CUlibrary);
    /// Returns a kernel's function in the current context.
    12000 fn cuKernelGetFunction(pFunc: *mut CUfunction, kernel: CUkernel);
    /// Returns the library that a kernel is from.
    12050 fn cuKernelGetLibrary(pLib: *mut CUlibrary, kernel: CUkernel);
    /// Finds a global variable of a library: its address and its bytes.
    12000 fn cuLibraryGetGlobal(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char);
    /// Finds a managed variable of a library: its address and its bytes.
    12000 fn cuLibraryGetManaged(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char);
    /// Finds a function of a library that is called by address.
    12000 fn cuLibraryGetUnifiedFunction(fptr: *mut *mut c_void, library: CUlibrary, symbol: *const c_char);
    /// Returns one number about a kernel on a device.
    12000 fn cuKernelGetAttribute(pi: *mut i32, attrib: CUfunction_attribute, kernel: CUkernel, dev: CUdevice);
    /// Sets an attribute of a kernel on a device.
    12000 fn cuKernelSetAttribute(attrib: CUfunction_attribute, val: i32, kernel: CUkernel, dev: CUdevice);
    /// Sets a kernel's preferred split between L1 cache and shared memory on a device.
    12000 fn cuKernelSetCacheConfig(kernel: CUkernel, config: CUfunc_cache, dev: CUdevice);
    /// Returns a kernel's name; the string lives as long as the kernel.
    12030 fn cuKernelGetName(name: *mut *const c_char, hfunc: CUkernel);
    /// Returns the offset and the bytes of one parameter of a kernel.
    12040 fn cuKernelGetParamInfo(kernel: CUkernel, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize);
    /// Returns the number of parameters of a kernel.
    13020 fn cuKernelGetParamCount(kernel: CUkernel, paramCount: *mut usize);

    // Memory, arrays and copies
    /// `cuMemGetInfo_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemGetInfo(free: *mut u32, total: *mut u32);
    /// Returns the free and the total bytes of the current context's device.
    3020 fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    /// `cuMemAlloc_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemAlloc(dptr: *mut CUdeviceptr_v1, bytesize: u32);
    /// Allocates device memory in the current context.
    3020 fn cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize);
    /// `cuMemAllocPitch_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemAllocPitch(dptr: *mut CUdeviceptr_v1, pPitch: *mut u32, WidthInBytes: u32, Height: u32, ElementSizeBytes: u32);
    /// Allocates rows of device memory, each padded to a pitch (bytes) good for the element size:
    /// 4, 8 or 16.
    3020 fn cuMemAllocPitch_v2(dptr: *mut CUdeviceptr, pPitch: *mut usize, WidthInBytes: usize, Height: usize, ElementSizeBytes: u32);
    /// `cuMemFree_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemFree(dptr: CUdeviceptr_v1);
    /// Frees device memory, after all work on it is done.
    3020 fn cuMemFree_v2(dptr: CUdeviceptr);
    /// `cuMemGetAddressRange_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemGetAddressRange(pbase: *mut CUdeviceptr_v1, psize: *mut u32, dptr: CUdeviceptr_v1);
    /// Returns the start and the bytes of the allocation that contains an address.
    3020 fn cuMemGetAddressRange_v2(pbase: *mut CUdeviceptr, psize: *mut usize, dptr: CUdeviceptr);
    /// `cuMemAllocHost_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemAllocHost(pp: *mut *mut c_void, bytesize: u32);
    /// Allocates page-locked host memory.
    3020 fn cuMemAllocHost_v2(pp: *mut *mut c_void, bytesize: usize);
    /// Frees page-locked host memory of `cuMemAllocHost` or `cuMemHostAlloc`.
    2000 fn cuMemFreeHost(p: *mut c_void);
    /// Allocates page-locked host memory: portable, mapped or write-combined by flags.
    2020 fn cuMemHostAlloc(pp: *mut *mut c_void, bytesize: usize, Flags: u32);
    /// `cuMemHostGetDevicePointer_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2020 fn cuMemHostGetDevicePointer(pdptr: *mut CUdeviceptr_v1, p: *mut c_void, Flags: u32);
    /// Returns the device address of mapped host memory. Flags must be 0.
    3020 fn cuMemHostGetDevicePointer_v2(pdptr: *mut CUdeviceptr, p: *mut c_void, Flags: u32);
    /// Returns the flags that page-locked host memory was allocated with.
    2030 fn cuMemHostGetFlags(pFlags: *mut u32, p: *mut c_void);
    /// Allocates memory that host and devices share and that moves by itself.
    6000 fn cuMemAllocManaged(dptr: *mut CUdeviceptr, bytesize: usize, flags: u32);
    /// Registers a function to be called when something happens to a device, such as its memory
    /// running short.
    12040 fn cuDeviceRegisterAsyncNotification(device: CUdevice, callbackFunc: CUasyncCallback, userData: *mut c_void, callback: *mut CUasyncCallbackHandle);
    /// Ends such calls.
    12040 fn cuDeviceUnregisterAsyncNotification(device: CUdevice, callback: CUasyncCallbackHandle);
    /// Returns the device at a PCI address such as `0000:01:00.0`.
    4010 fn cuDeviceGetByPCIBusId(dev: *mut CUdevice, pciBusId: *const c_char);
    /// Writes a device's PCI address as a C string of at most `len` bytes.
    4010 fn cuDeviceGetPCIBusId(pciBusId: *mut c_char, len: i32, dev: CUdevice);
    /// Makes a handle by which another process opens an event.
    4010 fn cuIpcGetEventHandle(pHandle: *mut CUipcEventHandle, event: CUevent);
    /// Opens an event of another process.
    4010 fn cuIpcOpenEventHandle(phEvent: *mut CUevent, handle: CUipcEventHandle);
    /// Makes a handle by which another process opens an allocation.
    4010 fn cuIpcGetMemHandle(pHandle: *mut CUipcMemHandle, dptr: CUdeviceptr);
    /// Maps an allocation of another process; the form before CUDA 11.
    4010 fn cuIpcOpenMemHandle(pdptr: *mut CUdeviceptr, handle: CUipcMemHandle, Flags: u32);
    /// Maps an allocation of another process.
    11000 fn cuIpcOpenMemHandle_v2(pdptr: *mut CUdeviceptr, handle: CUipcMemHandle, Flags: u32);
    /// Unmaps an allocation of another process.
    4010 fn cuIpcCloseMemHandle(dptr: CUdeviceptr);
    /// Page-locks host memory; the form before CUDA 6.5, which wants whole pages.
    4000 fn cuMemHostRegister(p: *mut c_void, bytesize: usize, Flags: u32);
    /// Page-locks host memory that was allocated by other means.
    6050 fn cuMemHostRegister_v2(p: *mut c_void, bytesize: usize, Flags: u32);
    /// Undoes `cuMemHostRegister`.
    4000 fn cuMemHostUnregister(p: *mut c_void);
    /// `cuArrayCreate_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuArrayCreate(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR_v1);
    /// Creates a 1D or 2D array, in elements.
    3020 fn cuArrayCreate_v2(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR);
    /// `cuArrayGetDescriptor_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuArrayGetDescriptor(pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR_v1, hArray: CUarray);
    /// Returns the shape and format of a 1D or 2D array.
    3020 fn cuArrayGetDescriptor_v2(pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR, hArray: CUarray);
    /// Returns the tile layout of a sparse array.
    11010 fn cuArrayGetSparseProperties(sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES, array: CUarray);
    /// Returns the tile layout of a sparse mipmapped array.
    11010 fn cuMipmappedArrayGetSparseProperties(sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES, mipmap: CUmipmappedArray);
    /// Returns the bytes and alignment that an array needs when memory is mapped to it later.
    11060 fn cuArrayGetMemoryRequirements(memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS, array: CUarray, device: CUdevice);
    /// Returns the bytes and alignment that a mipmapped array needs when memory is mapped to it
    /// later.
    11060 fn cuMipmappedArrayGetMemoryRequirements(memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS, mipmap: CUmipmappedArray, device: CUdevice);
    /// Returns one plane of a multi-planar array; it lives as long as the array.
    11020 fn cuArrayGetPlane(pPlaneArray: *mut CUarray, hArray: CUarray, planeIdx: u32);
    /// Destroys an array.
    2000 fn cuArrayDestroy(hArray: CUarray);
    /// `cuArray3DCreate_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuArray3DCreate(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR_v1);
    /// Creates an array of up to three dimensions, layered or cubemap by flags, in elements.
    3020 fn cuArray3DCreate_v2(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR);
    /// `cuArray3DGetDescriptor_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuArray3DGetDescriptor(pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR_v1, hArray: CUarray);
    /// Returns the shape, format and flags of an array.
    3020 fn cuArray3DGetDescriptor_v2(pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR, hArray: CUarray);
    /// Creates an array with mipmap levels.
    5000 fn cuMipmappedArrayCreate(pHandle: *mut CUmipmappedArray, pMipmappedArrayDesc: *const CUDA_ARRAY3D_DESCRIPTOR, numMipmapLevels: u32);
    /// Returns one level of a mipmapped array; it lives as long as the mipmapped array.
    5000 fn cuMipmappedArrayGetLevel(pLevelArray: *mut CUarray, hMipmappedArray: CUmipmappedArray, level: u32);
    /// Destroys a mipmapped array.
    5000 fn cuMipmappedArrayDestroy(hMipmappedArray: CUmipmappedArray);
    /// Returns a handle of the operating system, such as a dma-buf, for device memory.
    11070 fn cuMemGetHandleForAddressRange(handle: *mut c_void, dptr: CUdeviceptr, size: usize, handleType: CUmemRangeHandleType, flags: u64);
    /// `cuMemcpyHtoD_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpyHtoD(dstDevice: CUdeviceptr_v1, srcHost: *const c_void, ByteCount: u32);
    /// Copies bytes from host to device.
    3020 fn cuMemcpyHtoD_v2(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize) ptds;
    /// `cuMemcpyDtoH_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpyDtoH(dstHost: *mut c_void, srcDevice: CUdeviceptr_v1, ByteCount: u32);
    /// Copies bytes from device to host.
    3020 fn cuMemcpyDtoH_v2(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize) ptds;
    /// `cuMemcpyDtoD_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpyDtoD(dstDevice: CUdeviceptr_v1, srcDevice: CUdeviceptr_v1, ByteCount: u32);
    /// Copies bytes from device to device.
    3020 fn cuMemcpyDtoD_v2(dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize) ptds;
    /// `cuMemcpyDtoA_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpyDtoA(dstArray: CUarray, dstOffset: u32, srcDevice: CUdeviceptr_v1, ByteCount: u32);
    /// Copies bytes from device memory into a 1D array.
    3020 fn cuMemcpyDtoA_v2(dstArray: CUarray, dstOffset: usize, srcDevice: CUdeviceptr, ByteCount: usize) ptds;
    /// `cuMemcpyAtoD_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpyAtoD(dstDevice: CUdeviceptr_v1, srcArray: CUarray, srcOffset: u32, ByteCount: u32);
    /// Copies bytes from a 1D array into device memory.
    3020 fn cuMemcpyAtoD_v2(dstDevice: CUdeviceptr, srcArray: CUarray, srcOffset: usize, ByteCount: usize) ptds;
    /// `cuMemcpyHtoA_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpyHtoA(dstArray: CUarray, dstOffset: u32, srcHost: *const c_void, ByteCount: u32);
    /// Copies bytes from host memory into a 1D array.
    3020 fn cuMemcpyHtoA_v2(dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize) ptds;
    /// `cuMemcpyAtoH_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpyAtoH(dstHost: *mut c_void, srcArray: CUarray, srcOffset: u32, ByteCount: u32);
    /// Copies bytes from a 1D array into host memory.
    3020 fn cuMemcpyAtoH_v2(dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize) ptds;
    /// `cuMemcpyAtoA_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpyAtoA(dstArray: CUarray, dstOffset: u32, srcArray: CUarray, srcOffset: u32, ByteCount: u32);
    /// Copies bytes between 1D arrays.
    3020 fn cuMemcpyAtoA_v2(dstArray: CUarray, dstOffset: usize, srcArray: CUarray, srcOffset: usize, ByteCount: usize) ptds;
    /// `cuMemcpyHtoAAsync_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpyHtoAAsync(dstArray: CUarray, dstOffset: u32, srcHost: *const c_void, ByteCount: u32, hStream: CUstream);
    /// Copies bytes from host memory into a 1D array, ordered on a stream.
    3020 fn cuMemcpyHtoAAsync_v2(dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize, hStream: CUstream) ptsz;
    /// `cuMemcpyAtoHAsync_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpyAtoHAsync(dstHost: *mut c_void, srcArray: CUarray, srcOffset: u32, ByteCount: u32, hStream: CUstream);
    /// Copies bytes from a 1D array into host memory, ordered on a stream.
    3020 fn cuMemcpyAtoHAsync_v2(dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize, hStream: CUstream) ptsz;
    /// `cuMemcpy2D_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpy2D(pCopy: *const CUDA_MEMCPY2D_v1);
    /// Copies a rectangle between host, device and array.
    3020 fn cuMemcpy2D_v2(pCopy: *const CUDA_MEMCPY2D) ptds;
    /// `cuMemcpy2DUnaligned_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpy2DUnaligned(pCopy: *const CUDA_MEMCPY2D_v1);
    /// Copies a rectangle, whatever the pitches.
    3020 fn cuMemcpy2DUnaligned_v2(pCopy: *const CUDA_MEMCPY2D) ptds;
    /// `cuMemcpy3D_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpy3D(pCopy: *const CUDA_MEMCPY3D_v1);
    /// Copies a box between host, device and array.
    3020 fn cuMemcpy3D_v2(pCopy: *const CUDA_MEMCPY3D) ptds;
    /// `cuMemcpyHtoDAsync_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpyHtoDAsync(dstDevice: CUdeviceptr_v1, srcHost: *const c_void, ByteCount: u32, hStream: CUstream);
    /// Copies bytes from host to device, ordered on a stream.
    3020 fn cuMemcpyHtoDAsync_v2(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize, hStream: CUstream) ptsz;
    /// `cuMemcpyDtoHAsync_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpyDtoHAsync(dstHost: *mut c_void, srcDevice: CUdeviceptr_v1, ByteCount: u32, hStream: CUstream);
    /// Copies bytes from device to host, ordered on a stream.
    3020 fn cuMemcpyDtoHAsync_v2(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) ptsz;
    /// `cuMemcpyDtoDAsync_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    3000 fn cuMemcpyDtoDAsync(dstDevice: CUdeviceptr_v1, srcDevice: CUdeviceptr_v1, ByteCount: u32, hStream: CUstream);
    /// Copies bytes from device to device, ordered on a stream.
    3020 fn cuMemcpyDtoDAsync_v2(dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) ptsz;
    /// `cuMemcpy2DAsync_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpy2DAsync(pCopy: *const CUDA_MEMCPY2D_v1, hStream: CUstream);
    /// Copies a rectangle, ordered on a stream.
    3020 fn cuMemcpy2DAsync_v2(pCopy: *const CUDA_MEMCPY2D, hStream: CUstream) ptsz;
    /// `cuMemcpy3DAsync_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemcpy3DAsync(pCopy: *const CUDA_MEMCPY3D_v1, hStream: CUstream);
    /// Copies a box, ordered on a stream.
    3020 fn cuMemcpy3DAsync_v2(pCopy: *const CUDA_MEMCPY3D, hStream: CUstream) ptsz;
    /// `cuMemsetD8_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemsetD8(dstDevice: CUdeviceptr_v1, uc: u8, N: u32);
    /// Sets `N` bytes.
    3020 fn cuMemsetD8_v2(dstDevice: CUdeviceptr, uc: u8, N: usize) ptds;
    /// `cuMemsetD16_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemsetD16(dstDevice: CUdeviceptr_v1, us: u16, N: u32);
    /// Sets `N` 16-bit values.
    3020 fn cuMemsetD16_v2(dstDevice: CUdeviceptr, us: u16, N: usize) ptds;
    /// `cuMemsetD32_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemsetD32(dstDevice: CUdeviceptr_v1, ui: u32, N: u32);
    /// Sets `N` 32-bit values.
    3020 fn cuMemsetD32_v2(dstDevice: CUdeviceptr, ui: u32, N: usize) ptds;
    /// `cuMemsetD2D8_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemsetD2D8(dstDevice: CUdeviceptr_v1, dstPitch: u32, uc: u8, Width: u32, Height: u32);
    /// Sets a rectangle of bytes; pitch in bytes, width in values, height in rows.
    3020 fn cuMemsetD2D8_v2(dstDevice: CUdeviceptr, dstPitch: usize, uc: u8, Width: usize, Height: usize) ptds;
    /// `cuMemsetD2D16_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemsetD2D16(dstDevice: CUdeviceptr_v1, dstPitch: u32, us: u16, Width: u32, Height: u32);
    /// Sets a rectangle of 16-bit values; pitch in bytes, width in values, height in rows.
    3020 fn cuMemsetD2D16_v2(dstDevice: CUdeviceptr, dstPitch: usize, us: u16, Width: usize, Height: usize) ptds;
    /// `cuMemsetD2D32_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuMemsetD2D32(dstDevice: CUdeviceptr_v1, dstPitch: u32, ui: u32, Width: u32, Height: u32);
    /// Sets a rectangle of 32-bit values; pitch in bytes, width in values, height in rows.
    3020 fn cuMemsetD2D32_v2(dstDevice: CUdeviceptr, dstPitch: usize, ui: u32, Width: usize, Height: usize) ptds;
    /// Copies bytes between any two unified addresses.
    4000 fn cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize) ptds;
    /// Copies bytes between any two unified addresses, ordered on a stream.
    4000 fn cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize, hStream: CUstream) ptsz;
    /// Copies bytes from one context's device memory to another's.
    4000 fn cuMemcpyPeer(dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize) ptds;
    /// Copies bytes from one context's device memory to another's, ordered on a stream.
    4000 fn cuMemcpyPeerAsync(dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize, hStream: CUstream) ptsz;
    /// Copies a box from one context to another; null parameters crash some drivers.
    4000 fn cuMemcpy3DPeer(pCopy: *const CUDA_MEMCPY3D_PEER) ptds;
    /// Copies a box from one context to another, ordered on a stream; null parameters crash some
    /// drivers.
    4000 fn cuMemcpy3DPeerAsync(pCopy: *const CUDA_MEMCPY3D_PEER, hStream: CUstream) ptsz;
    /// Does many copies in one call and returns the index of one that failed; the form of CUDA 12.
    12080 fn cuMemcpyBatchAsync(dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize, attrs: *mut CUmemcpyAttributes, attrsIdxs: *mut usize, numAttrs: usize, failIdx: *mut usize, hStream: CUstream) ptsz;
    /// Does many copies in one call, in no order among themselves.
    13000 fn cuMemcpyBatchAsync_v2(dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize, attrs: *mut CUmemcpyAttributes, attrsIdxs: *mut usize, numAttrs: usize, hStream: CUstream) ptsz;
    /// Does many box copies in one call and returns the index of one that failed; the form of
    /// CUDA 12.
    12080 fn cuMemcpy3DBatchAsync(numOps: usize, opList: *mut CUDA_MEMCPY3D_BATCH_OP, failIdx: *mut usize, flags: u64, hStream: CUstream) ptsz;
    /// Does many box copies in one call, in no order among themselves.
    13000 fn cuMemcpy3DBatchAsync_v2(numOps: usize, opList: *mut CUDA_MEMCPY3D_BATCH_OP, flags: u64, hStream: CUstream) ptsz;
    /// Copies bytes with attributes of source and destination, ordered on a stream.
    13020 fn cuMemcpyWithAttributesAsync(dst: CUdeviceptr, src: CUdeviceptr, size: usize, attr: *mut CUmemcpyAttributes, hStream: CUstream) ptsz;
    /// Copies a box with attributes of source and destination, ordered on a stream.
    13020 fn cuMemcpy3DWithAttributesAsync(op: *mut CUDA_MEMCPY3D_BATCH_OP, flags: u64, hStream: CUstream) ptsz;
    /// Sets `N` bytes, ordered on a stream.
    3020 fn cuMemsetD8Async(dstDevice: CUdeviceptr, uc: u8, N: usize, hStream: CUstream) ptsz;
    /// Sets `N` 16-bit values, ordered on a stream.
    3020 fn cuMemsetD16Async(dstDevice: CUdeviceptr, us: u16, N: usize, hStream: CUstream) ptsz;
    /// Sets `N` 32-bit values, ordered on a stream.
    3020 fn cuMemsetD32Async(dstDevice: CUdeviceptr, ui: u32, N: usize, hStream: CUstream) ptsz;
    /// Sets a rectangle of bytes, ordered on a stream; pitch in bytes.
    3020 fn cuMemsetD2D8Async(dstDevice: CUdeviceptr, dstPitch: usize, uc: u8, Width: usize, Height: usize, hStream: CUstream) ptsz;
    /// Sets a rectangle of 16-bit values, ordered on a stream; pitch in bytes.
    3020 fn cuMemsetD2D16Async(dstDevice: CUdeviceptr, dstPitch: usize, us: u16, Width: usize, Height: usize, hStream: CUstream) ptsz;
    /// Sets a rectangle of 32-bit values, ordered on a stream; pitch in bytes.
    3020 fn cuMemsetD2D32Async(dstDevice: CUdeviceptr, dstPitch: usize, ui: u32, Width: usize, Height: usize, hStream: CUstream) ptsz;
    /// Decompresses many buffers in one call, ordered on a stream.
    12060 fn cuMemBatchDecompressAsync(paramsArray: *mut CUmemDecompressParams, count: usize, flags: u32, errorIndex: *mut usize, stream: CUstream) ptsz;

    // Virtual memory
    /// Reserves a range of addresses without physical memory.
    10020 fn cuMemAddressReserve(ptr: *mut CUdeviceptr, size: usize, alignment: usize, addr: CUdeviceptr, flags: u64);
    /// Releases a reserved range of addresses.
    10020 fn cuMemAddressFree(ptr: CUdeviceptr, size: usize);
    /// Allocates physical memory without an address; bytes are a multiple of the granularity.
    10020 fn cuMemCreate(handle: *mut CUmemGenericAllocationHandle, size: usize, prop: *const CUmemAllocationProp, flags: u64);
    /// Releases one hold on physical memory, which is freed once nothing maps it any more.
    10020 fn cuMemRelease(handle: CUmemGenericAllocationHandle);
    /// Maps physical memory to reserved addresses; nothing may touch them before `cuMemSetAccess`.
    10020 fn cuMemMap(ptr: CUdeviceptr, size: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: u64);
    /// Unmaps the physical memory of addresses.
    10020 fn cuMemUnmap(ptr: CUdeviceptr, size: usize);
    /// Sets access rights to mapped addresses.
    10020 fn cuMemSetAccess(ptr: CUdeviceptr, size: usize, desc: *const CUmemAccessDesc, count: usize);
    /// Returns a location's access rights to mapped addresses.
    10020 fn cuMemGetAccess(flags: *mut u64, location: *const CUmemLocation, ptr: CUdeviceptr);
    /// Makes a handle of the operating system for physical memory, to share with other processes.
    10020 fn cuMemExportToShareableHandle(shareableHandle: *mut c_void, handle: CUmemGenericAllocationHandle, handleType: CUmemAllocationHandleType, flags: u64);
    /// Opens physical memory that another process shared.
    10020 fn cuMemImportFromShareableHandle(handle: *mut CUmemGenericAllocationHandle, osHandle: *mut c_void, shHandleType: CUmemAllocationHandleType);
    /// Returns the bytes that sizes and alignments of physical memory must be a multiple of.
    10020 fn cuMemGetAllocationGranularity(granularity: *mut usize, prop: *const CUmemAllocationProp, option: CUmemAllocationGranularity_flags);
    /// Returns the properties that physical memory was made with.
    10020 fn cuMemGetAllocationPropertiesFromHandle(prop: *mut CUmemAllocationProp, handle: CUmemGenericAllocationHandle);
    /// Takes one more hold on the physical memory mapped at an address.
    11000 fn cuMemRetainAllocationHandle(handle: *mut CUmemGenericAllocationHandle, addr: *mut c_void);
    /// Maps and unmaps memory of sparse arrays, ordered on a stream.
    11010 fn cuMemMapArrayAsync(mapInfoList: *mut CUarrayMapInfo, count: u32, hStream: CUstream) ptsz;

    // Stream ordered memory
    /// Releases unused memory of a pool, down to a number of bytes.
    11020 fn cuMemPoolTrimTo(pool: CUmemoryPool, minBytesToKeep: usize);
    /// Sets an attribute of a pool.
    11020 fn cuMemPoolSetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void);
    /// Returns an attribute of a pool.
    11020 fn cuMemPoolGetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void);
    /// Sets the devices that may use a pool's memory.
    11020 fn cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize);
    /// Returns a location's access rights to a pool's memory.
    11020 fn cuMemPoolGetAccess(flags: *mut CUmemAccess_flags, memPool: CUmemoryPool, location: *mut CUmemLocation);
    /// Creates a memory pool.
    11020 fn cuMemPoolCreate(pool: *mut CUmemoryPool, poolProps: *const CUmemPoolProps);
    /// Destroys a pool; its allocations live on until they are freed.
    11020 fn cuMemPoolDestroy(pool: CUmemoryPool);
    /// Returns the pool that a location came with for a kind of memory.
    13000 fn cuMemGetDefaultMemPool(pool_out: *mut CUmemoryPool, location: *mut CUmemLocation, type_: CUmemAllocationType);
    /// Returns the pool that a location now uses for a kind of memory.
    13000 fn cuMemGetMemPool(pool: *mut CUmemoryPool, location: *mut CUmemLocation, type_: CUmemAllocationType);
    /// Makes a pool the one that a location uses for a kind of memory.
    13000 fn cuMemSetMemPool(location: *mut CUmemLocation, type_: CUmemAllocationType, pool: CUmemoryPool);
    /// Makes a handle of the operating system for a pool, to share with other processes.
    11020 fn cuMemPoolExportToShareableHandle(handle_out: *mut c_void, pool: CUmemoryPool, handleType: CUmemAllocationHandleType, flags: u64);
    /// Opens a pool that another process shared.
    11020 fn cuMemPoolImportFromShareableHandle(pool_out: *mut CUmemoryPool, handle: *mut c_void, handleType: CUmemAllocationHandleType, flags: u64);
    /// Makes data by which another process opens one allocation of a shared pool.
    11020 fn cuMemPoolExportPointer(shareData_out: *mut CUmemPoolPtrExportData, ptr: CUdeviceptr);
    /// Opens one allocation of a shared pool.
    11020 fn cuMemPoolImportPointer(ptr_out: *mut CUdeviceptr, pool: CUmemoryPool, shareData: *mut CUmemPoolPtrExportData);
    /// Frees memory of `cuMemAllocAsync`, ordered on a stream.
    11020 fn cuMemFreeAsync(dptr: CUdeviceptr, hStream: CUstream) ptsz;
    /// Allocates device memory from the current pool of the stream's device, ordered on a stream.
    11020 fn cuMemAllocAsync(dptr: *mut CUdeviceptr, bytesize: usize, hStream: CUstream) ptsz;
    /// Allocates device memory from a pool, ordered on a stream.
    11020 fn cuMemAllocFromPoolAsync(dptr: *mut CUdeviceptr, bytesize: usize, pool: CUmemoryPool, hStream: CUstream) ptsz;

    // Multicast
    /// Creates a multicast object: one address whose writes go to several devices.
    12010 fn cuMulticastCreate(mcHandle: *mut CUmemGenericAllocationHandle, prop: *const CUmulticastObjectProp);
    /// Adds a device to a multicast object; all before the first binding.
    12010 fn cuMulticastAddDevice(mcHandle: CUmemGenericAllocationHandle, dev: CUdevice);
    /// Binds physical memory to part of a multicast object.
    12010 fn cuMulticastBindMem(mcHandle: CUmemGenericAllocationHandle, mcOffset: usize, memHandle: CUmemGenericAllocationHandle, memOffset: usize, size: usize, flags: u64);
    /// Binds physical memory to part of a multicast object for a device.
    13010 fn cuMulticastBindMem_v2(mcHandle: CUmemGenericAllocationHandle, dev: CUdevice, mcOffset: usize, memHandle: CUmemGenericAllocationHandle, memOffset: usize, size: usize, flags: u64);
    /// Binds mapped memory to part of a multicast object.
    12010 fn cuMulticastBindAddr(mcHandle: CUmemGenericAllocationHandle, mcOffset: usize, memptr: CUdeviceptr, size: usize, flags: u64);
    /// Binds mapped memory to part of a multicast object for a device.
    13010 fn cuMulticastBindAddr_v2(mcHandle: CUmemGenericAllocationHandle, dev: CUdevice, mcOffset: usize, memptr: CUdeviceptr, size: usize, flags: u64);
    /// Undoes a device's binding to part of a multicast object.
    12010 fn cuMulticastUnbind(mcHandle: CUmemGenericAllocationHandle, dev: CUdevice, mcOffset: usize, size: usize);
    /// Returns the bytes that sizes and offsets in a multicast object must be a multiple of.
    12010 fn cuMulticastGetGranularity(granularity: *mut usize, prop: *const CUmulticastObjectProp, option: CUmulticastGranularity_flags);

    // Fabric clique
    /// Returns the UUID of the NVLink fabric cluster that a device is part of.
    13040 fn cuDeviceGetFabricClusterUuid(uuid: *mut CUuuid, dev: CUdevice);
    /// Counts a device's fabric cliques.
    13040 fn cuDeviceGetCliqueCount(count: *mut usize, dev: CUdevice);
    /// Writes the known facts about a device's fabric cliques, up to `count`.
    13040 fn cuDeviceGetCliqueInfo(cliqueInfo: *mut CUcliqueInfo, count: *mut usize, dev: CUdevice);

    // Logical endpoint
    /// Reserves `count` consecutive ids for logical endpoints.
    13030 fn cuLogicalEndpointIdReserve(baseLeId: *mut CUlogicalEndpointId, count: u32);
    /// Releases ids for logical endpoints.
    13030 fn cuLogicalEndpointIdRelease(baseLeId: CUlogicalEndpointId, count: u32);
    /// Creates a target for copies over the fabric, on one device or several, under a reserved id.
    13030 fn cuLogicalEndpointCreate(leId: CUlogicalEndpointId, prop: *const CUlogicalEndpointProp);
    /// Adds a device to a logical endpoint.
    13030 fn cuLogicalEndpointAddDevice(leId: CUlogicalEndpointId, dev: CUdevice);
    /// Destroys a logical endpoint.
    13030 fn cuLogicalEndpointDestroy(leId: CUlogicalEndpointId);
    /// Binds mapped memory to part of a logical endpoint.
    13030 fn cuLogicalEndpointBindAddr(leId: CUlogicalEndpointId, dev: CUdevice, offset: u64, ptr: *mut c_void, size: u64, flags: u64);
    /// Binds physical memory to part of a logical endpoint.
    13030 fn cuLogicalEndpointBindMem(leId: CUlogicalEndpointId, dev: CUdevice, offset: u64, memHandle: CUmemGenericAllocationHandle, memOffset: u64, size: u64, flags: u64);
    /// Undoes a device's binding to part of a logical endpoint.
    13030 fn cuLogicalEndpointUnbind(leId: CUlogicalEndpointId, dev: CUdevice, offset: u64, size: u64);
    /// Makes a handle by which other processes open a logical endpoint.
    13030 fn cuLogicalEndpointExport(handle: *mut c_void, leId: CUlogicalEndpointId, handleType: CUlogicalEndpointIpcHandleType);
    /// Opens a logical endpoint of another process under a reserved id.
    13030 fn cuLogicalEndpointImport(leId: CUlogicalEndpointId, handle: *const c_void, handleType: CUlogicalEndpointIpcHandleType);
    /// Returns the alignment of bindings and the largest size of a logical endpoint.
    13030 fn cuLogicalEndpointGetLimits(bindAlignment: *mut u64, maxSize: *mut u64, prop: *const CUlogicalEndpointProp);
    /// Reports whether `count` logical endpoints are all ready for use: not 0 if so.
    13030 fn cuLogicalEndpointQuery(leId: CUlogicalEndpointId, count: u32, queryStatus: *mut i32);

    // Unified addresses and managed memory
    /// Returns one fact about an address: its memory type, context, device, range and others.
    4000 fn cuPointerGetAttribute(data: *mut c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr);
    /// Advises the driver of the intended use of managed memory by a device.
    8000 fn cuMemAdvise(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, device: CUdevice);
    /// Advises the driver of the intended use of managed memory by a location.
    12020 fn cuMemAdvise_v2(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, location: CUmemLocation);
    /// Returns the places of the pages of a range, sampled by the granularities given.
    13040 fn cuMemGetLocationInfo(ptr: CUdeviceptr, size: usize, summaryGranularity: usize, samplingGranularity: usize, location_out: *mut CUmemLocation);
    /// Returns one fact about a range of managed memory.
    8000 fn cuMemRangeGetAttribute(data: *mut c_void, dataSize: usize, attribute: CUmem_range_attribute, devPtr: CUdeviceptr, count: usize);
    /// Returns several facts about a range of managed memory.
    8000 fn cuMemRangeGetAttributes(data: *mut *mut c_void, dataSizes: *mut usize, attributes: *mut CUmem_range_attribute, numAttributes: usize, devPtr: CUdeviceptr, count: usize);
    /// Sets an attribute of the allocation that contains an address.
    6000 fn cuPointerSetAttribute(value: *const c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr);
    /// Returns several facts about an address.
    7000 fn cuPointerGetAttributes(numAttributes: u32, attributes: *mut CUpointer_attribute, data: *mut *mut c_void, ptr: CUdeviceptr);
    /// Moves managed memory to a device or the host, ordered on a stream.
    8000 fn cuMemPrefetchAsync(devPtr: CUdeviceptr, count: usize, dstDevice: CUdevice, hStream: CUstream) ptsz;
    /// Moves managed memory to a location, ordered on a stream.
    12020 fn cuMemPrefetchAsync_v2(devPtr: CUdeviceptr, count: usize, location: CUmemLocation, flags: u32, hStream: CUstream) ptsz;
    /// Moves many ranges of managed memory, ordered on a stream.
    13000 fn cuMemPrefetchBatchAsync(dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation, prefetchLocIdxs: *mut usize, numPrefetchLocs: usize, flags: u64, hStream: CUstream) ptsz;
    /// Declares the contents of many ranges of managed memory worthless, ordered on a stream.
    13000 fn cuMemDiscardBatchAsync(dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, flags: u64, hStream: CUstream) ptsz;
    /// Declares the contents of many ranges worthless and moves them, ordered on a stream.
    13000 fn cuMemDiscardAndPrefetchBatchAsync(dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation, prefetchLocIdxs: *mut usize, numPrefetchLocs: usize, flags: u64, hStream: CUstream) ptsz;

    // Stream
    /// Creates a stream in the current context.
    2000 fn cuStreamCreate(phStream: *mut CUstream, Flags: u32);
    /// Creates a stream with a priority; a smaller number goes first.
    5050 fn cuStreamCreateWithPriority(phStream: *mut CUstream, flags: u32, priority: i32);
    /// Swaps the calling thread's capture mode with the one given.
    10010 fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode);
    /// Destroys a stream after waiting for it; the form before CUDA 4.
    2000 fn cuStreamDestroy(hStream: CUstream);
    /// Destroys a stream; work in it still completes.
    4000 fn cuStreamDestroy_v2(hStream: CUstream);
    /// Returns a stream's priority.
    5050 fn cuStreamGetPriority(hStream: CUstream, priority: *mut i32) ptsz;
    /// Returns a number that no other stream of the process ever has.
    12000 fn cuStreamGetId(hStream: CUstream, streamId: *mut u64) ptsz;
    /// Returns the flags that a stream was made with.
    5050 fn cuStreamGetFlags(hStream: CUstream, flags: *mut u32) ptsz;
    /// Returns the device of a stream.
    12080 fn cuStreamGetDevice(hStream: CUstream, device: *mut CUdevice) ptsz;
    /// Returns the context of a stream.
    9020 fn cuStreamGetCtx(hStream: CUstream, pctx: *mut CUcontext) ptsz;
    /// Returns the context of a stream, or its green context.
    12050 fn cuStreamGetCtx_v2(hStream: CUstream, pCtx: *mut CUcontext, pGreenCtx: *mut CUgreenCtx) ptsz;
    /// Makes later work in a stream wait for an event.
    3020 fn cuStreamWaitEvent(hStream: CUstream, hEvent: CUevent, Flags: u32) ptsz;
    /// Queues a call of a host function, to be made when the work in a stream so far is done, also
    /// after an error.
    5000 fn cuStreamAddCallback(hStream: CUstream, callback: CUstreamCallback, userData: *mut c_void, flags: u32) ptsz;
    /// Ties managed memory to a stream; a length of 0 means the whole allocation.
    6000 fn cuStreamAttachMemAsync(hStream: CUstream, dptr: CUdeviceptr, length: usize, flags: u32) ptsz;
    /// Reports whether a stream's work is done: success or `CUDA_ERROR_NOT_READY`.
    2000 fn cuStreamQuery(hStream: CUstream) ptsz;
    /// Waits for a stream's work.
    2000 fn cuStreamSynchronize(hStream: CUstream) ptsz;
    /// Starts turning a stream's work into a graph, in global mode; the form of CUDA 10.0.
    10000 fn cuStreamBeginCapture(hStream: CUstream) ptsz;
    /// Starts turning a stream's work into a graph.
    10010 fn cuStreamBeginCapture_v2(hStream: CUstream, mode: CUstreamCaptureMode) ptsz;
    /// Starts turning a stream's work into nodes of a given graph.
    12030 fn cuStreamBeginCaptureToGraph(hStream: CUstream, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, mode: CUstreamCaptureMode) ptsz;
    /// Captures a stream anew into a graph that has the same nodes, to update their parameters.
    13030 fn cuStreamBeginRecaptureToGraph(hStream: CUstream, mode: CUstreamCaptureMode, hGraph: CUgraph, callbackFunc: CUgraphRecaptureCallback, userData: *mut c_void) ptsz;
    /// Ends a capture and returns its graph; null if it was invalidated.
    10000 fn cuStreamEndCapture(hStream: CUstream, phGraph: *mut CUgraph) ptsz;
    /// Reports whether a stream is being captured.
    10000 fn cuStreamIsCapturing(hStream: CUstream, captureStatus: *mut CUstreamCaptureStatus) ptsz;
    /// Returns a stream's capture status and the capture's id.
    10010 fn cuStreamGetCaptureInfo(hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64) ptsz;
    /// Returns a stream's capture status, id, graph, and the nodes its next work depends on.
    11030 fn cuStreamGetCaptureInfo_v2(hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, numDependencies_out: *mut usize) ptsz;
    /// Returns a stream's capture status, id, graph, the nodes its next work depends on, and their
    /// edge data.
    12030 fn cuStreamGetCaptureInfo_v3(hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, edgeData_out: *mut *const CUgraphEdgeData, numDependencies_out: *mut usize) ptsz;
    /// Copies the attributes of a stream to another.
    11000 fn cuStreamCopyAttributes(dstStream: CUstream, srcStream: CUstream) ptsz;
    /// Returns an attribute of a stream.
    11000 fn cuStreamGetAttribute(hStream: CUstream, attr: CUstreamAttrID, value: *mut CUstreamAttrValue) ptsz;
    /// Sets an attribute of a stream.
    11000 fn cuStreamSetAttribute(hStream: CUstream, attr: CUstreamAttrID, param: *const CUstreamAttrValue) ptsz;
    /// Adds to or replaces the nodes that a captured stream's next work depends on.
    11030 fn cuStreamUpdateCaptureDependencies(hStream: CUstream, dependencies: *mut CUgraphNode, numDependencies: usize, flags: u32) ptsz;
    /// Adds to or replaces the nodes that a captured stream's next work depends on, with edge data.
    12030 fn cuStreamUpdateCaptureDependencies_v2(hStream: CUstream, dependencies: *mut CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, flags: u32) ptsz;
    /// Starts recording a stream's work into a graphics command list.
    13010 fn cuStreamBeginCaptureToCig(hStream: CUstream, streamCigCaptureParams: *mut CUstreamCigCaptureParams) ptsz;
    /// Ends recording into a graphics command list.
    13010 fn cuStreamEndCaptureToCig(hStream: CUstream) ptsz;

    // Event
    /// Creates an event in the current context.
    2000 fn cuEventCreate(phEvent: *mut CUevent, Flags: u32);
    /// Reports whether the work recorded in an event is done: success or `CUDA_ERROR_NOT_READY`.
    2000 fn cuEventQuery(hEvent: CUevent);
    /// Waits for the work recorded in an event.
    2000 fn cuEventSynchronize(hEvent: CUevent);
    /// Destroys an event; the form before CUDA 4.
    2000 fn cuEventDestroy(hEvent: CUevent);
    /// Destroys an event; work recorded in it still completes.
    4000 fn cuEventDestroy_v2(hEvent: CUevent);
    /// Returns the milliseconds between two recorded events; the form before CUDA 12.8.
    2000 fn cuEventElapsedTime(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent);
    /// Returns the milliseconds between two recorded events.
    12080 fn cuEventElapsedTime_v2(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent);
    /// Records in an event the work in a stream so far; a null event crashes driver 390.
    2000 fn cuEventRecord(hEvent: CUevent, hStream: CUstream) ptsz;
    /// Records in an event the work in a stream so far, as an external node of a graph by flag.
    11010 fn cuEventRecordWithFlags(hEvent: CUevent, hStream: CUstream, flags: u32) ptsz;

    // Memory and semaphores of other APIs
    /// Opens memory of another API, such as Vulkan or Direct3D.
    10000 fn cuImportExternalMemory(extMem_out: *mut CUexternalMemory, memHandleDesc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC);
    /// Maps a range of external memory as device memory.
    10000 fn cuExternalMemoryGetMappedBuffer(devPtr: *mut CUdeviceptr, extMem: CUexternalMemory, bufferDesc: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC);
    /// Maps external memory as a mipmapped array.
    10000 fn cuExternalMemoryGetMappedMipmappedArray(mipmap: *mut CUmipmappedArray, extMem: CUexternalMemory, mipmapDesc: *const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC);
    /// Closes external memory, after everything mapped from it is freed.
    10000 fn cuDestroyExternalMemory(extMem: CUexternalMemory);
    /// Opens a semaphore or fence of another API.
    10000 fn cuImportExternalSemaphore(extSem_out: *mut CUexternalSemaphore, semHandleDesc: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC);
    /// Closes an external semaphore.
    10000 fn cuDestroyExternalSemaphore(extSem: CUexternalSemaphore);
    /// Signals external semaphores, ordered on a stream.
    10000 fn cuSignalExternalSemaphoresAsync(extSemArray: *const CUexternalSemaphore, paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, numExtSems: u32, stream: CUstream) ptsz;
    /// Makes later work in a stream wait for external semaphores.
    10000 fn cuWaitExternalSemaphoresAsync(extSemArray: *const CUexternalSemaphore, paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, numExtSems: u32, stream: CUstream) ptsz;

    // Functions and launches
    /// Returns one number about a function: registers, shared bytes, threads per block and others.
    2020 fn cuFuncGetAttribute(pi: *mut i32, attrib: CUfunction_attribute, hfunc: CUfunction);
    /// Sets an attribute of a function, such as the dynamic shared memory it may use.
    9000 fn cuFuncSetAttribute(hfunc: CUfunction, attrib: CUfunction_attribute, value: i32);
    /// Sets a function's preferred split between L1 cache and shared memory.
    3000 fn cuFuncSetCacheConfig(hfunc: CUfunction, config: CUfunc_cache);
    /// Returns the module that a function is from.
    11000 fn cuFuncGetModule(hmod: *mut CUmodule, hfunc: CUfunction);
    /// Returns a function's name; the string lives as long as the function.
    12030 fn cuFuncGetName(name: *mut *const c_char, hfunc: CUfunction);
    /// Returns the offset and the bytes of one parameter of a function.
    12040 fn cuFuncGetParamInfo(func: CUfunction, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize);
    /// Returns the number of parameters of a function.
    13020 fn cuFuncGetParamCount(func: CUfunction, paramCount: *mut usize);
    /// Reports whether a function is already on the device.
    12040 fn cuFuncIsLoaded(state: *mut CUfunctionLoadingState, function: CUfunction);
    /// Loads a function onto the device now.
    12040 fn cuFuncLoad(function: CUfunction);
    /// Sets the block size of the next `cuLaunch`. Deprecated.
    2000 fn cuFuncSetBlockShape(hfunc: CUfunction, x: i32, y: i32, z: i32);
    /// Sets the dynamic shared bytes of the next `cuLaunch`. Deprecated.
    2000 fn cuFuncSetSharedSize(hfunc: CUfunction, bytes: u32);
    /// Sets the bytes of the parameters of the next `cuLaunch`. Deprecated.
    2000 fn cuParamSetSize(hfunc: CUfunction, numbytes: u32);
    /// Sets an integer parameter of the next `cuLaunch`. Deprecated.
    2000 fn cuParamSeti(hfunc: CUfunction, offset: i32, value: u32);
    /// Sets a float parameter of the next `cuLaunch`. Deprecated.
    2000 fn cuParamSetf(hfunc: CUfunction, offset: i32, value: f32);
    /// Sets any bytes among the parameters of the next `cuLaunch`. Deprecated.
    2000 fn cuParamSetv(hfunc: CUfunction, offset: i32, ptr: *mut c_void, numbytes: u32);
    /// Launches one block of a function. Deprecated.
    2000 fn cuLaunch(f: CUfunction);
    /// Launches a grid of a function. Deprecated.
    2000 fn cuLaunchGrid(f: CUfunction, grid_width: i32, grid_height: i32);
    /// Launches a grid of a function, ordered on a stream. Deprecated.
    2000 fn cuLaunchGridAsync(f: CUfunction, grid_width: i32, grid_height: i32, hStream: CUstream);
    /// Launches one cooperative kernel on several devices. Deprecated.
    9000 fn cuLaunchCooperativeKernelMultiDevice(launchParamsList: *mut CUDA_LAUNCH_PARAMS, numDevices: u32, flags: u32);
    /// Does nothing since CUDA 3.2. Deprecated.
    2000 fn cuParamSetTexRef(hfunc: CUfunction, texunit: i32, hTexRef: CUtexref);
    /// Sets the width of shared memory banks for a function. Deprecated.
    4020 fn cuFuncSetSharedMemConfig(hfunc: CUfunction, config: CUsharedconfig);
    /// Launches a grid of blocks of a function; arguments by `kernelParams` or packed by `extra`.
    4000 fn cuLaunchKernel(f: CUfunction, gridDimX: u32, gridDimY: u32, gridDimZ: u32, blockDimX: u32, blockDimY: u32, blockDimZ: u32, sharedMemBytes: u32, hStream: CUstream, kernelParams: *mut *mut c_void, extra: *mut *mut c_void) ptsz;
    /// Launches a function with launch attributes such as clusters or priority.
    11060 fn cuLaunchKernelEx(config: *const CUlaunchConfig, f: CUfunction, kernelParams: *mut *mut c_void, extra: *mut *mut c_void) ptsz;
    /// Calls a host function in stream order; it must make no CUDA call.
    10000 fn cuLaunchHostFunc(hStream: CUstream, fn_: CUhostFn, userData: *mut c_void) ptsz;
    /// Calls a host function in stream order, with a choice of how the stream waits for it.
    13010 fn cuLaunchHostFunc_v2(hStream: CUstream, fn_: CUhostFn, userData: *mut c_void, syncMode: u32) ptsz;
    /// Launches a function whose blocks can synchronize with each other, so all must fit at once.
    9000 fn cuLaunchCooperativeKernel(f: CUfunction, gridDimX: u32, gridDimY: u32, gridDimZ: u32, blockDimX: u32, blockDimY: u32, blockDimZ: u32, sharedMemBytes: u32, hStream: CUstream, kernelParams: *mut *mut c_void) ptsz;

    // Graph
    /// Creates an empty graph. Flags must be 0.
    10000 fn cuGraphCreate(phGraph: *mut CUgraph, flags: u32);
    /// Adds a kernel launch to a graph; the form before CUDA 12.
    10000 fn cuGraphAddKernelNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1);
    /// Adds a kernel launch to a graph.
    12000 fn cuGraphAddKernelNode_v2(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_KERNEL_NODE_PARAMS);
    /// Returns the parameters of a kernel node; the form before CUDA 12.
    10000 fn cuGraphKernelNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS_v1);
    /// Returns the parameters of a kernel node.
    12000 fn cuGraphKernelNodeGetParams_v2(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS);
    /// Sets the parameters of a kernel node; the form before CUDA 12.
    10000 fn cuGraphKernelNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1);
    /// Sets the parameters of a kernel node.
    12000 fn cuGraphKernelNodeSetParams_v2(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS);
    /// Adds a copy to a graph.
    10000 fn cuGraphAddMemcpyNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext);
    /// Returns the parameters of a copy node.
    10000 fn cuGraphMemcpyNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMCPY3D);
    /// Sets the parameters of a copy node.
    10000 fn cuGraphMemcpyNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMCPY3D);
    /// Adds a memory setting to a graph.
    10000 fn cuGraphAddMemsetNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext);
    /// Returns the parameters of a memory-setting node.
    10000 fn cuGraphMemsetNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMSET_NODE_PARAMS);
    /// Sets the parameters of a memory-setting node.
    10000 fn cuGraphMemsetNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMSET_NODE_PARAMS);
    /// Adds a call of a host function to a graph.
    10000 fn cuGraphAddHostNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_HOST_NODE_PARAMS);
    /// Returns the parameters of a host-function node.
    10000 fn cuGraphHostNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_HOST_NODE_PARAMS);
    /// Sets the parameters of a host-function node.
    10000 fn cuGraphHostNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS);
    /// Adds a copy of another graph as one node.
    10000 fn cuGraphAddChildGraphNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, childGraph: CUgraph);
    /// Returns the graph inside a child-graph node, which owns it.
    10000 fn cuGraphChildGraphNodeGetGraph(hNode: CUgraphNode, phGraph: *mut CUgraph);
    /// Adds a node that does nothing, to gather dependencies.
    10000 fn cuGraphAddEmptyNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize);
    /// Adds the recording of an event to a graph.
    11010 fn cuGraphAddEventRecordNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, event: CUevent);
    /// Returns the event of a recording node.
    11010 fn cuGraphEventRecordNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent);
    /// Sets the event of a recording node.
    11010 fn cuGraphEventRecordNodeSetEvent(hNode: CUgraphNode, event: CUevent);
    /// Adds a wait for an event to a graph.
    11010 fn cuGraphAddEventWaitNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, event: CUevent);
    /// Returns the event of a waiting node.
    11010 fn cuGraphEventWaitNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent);
    /// Sets the event of a waiting node.
    11010 fn cuGraphEventWaitNodeSetEvent(hNode: CUgraphNode, event: CUevent);
    /// Adds the signaling of external semaphores to a graph.
    11020 fn cuGraphAddExternalSemaphoresSignalNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
    /// Returns the parameters of a semaphore-signaling node; they belong to the node.
    11020 fn cuGraphExternalSemaphoresSignalNodeGetParams(hNode: CUgraphNode, params_out: *mut CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
    /// Sets the parameters of a semaphore-signaling node.
    11020 fn cuGraphExternalSemaphoresSignalNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
    /// Adds a wait for external semaphores to a graph.
    11020 fn cuGraphAddExternalSemaphoresWaitNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
    /// Returns the parameters of a semaphore-waiting node; they belong to the node.
    11020 fn cuGraphExternalSemaphoresWaitNodeGetParams(hNode: CUgraphNode, params_out: *mut CUDA_EXT_SEM_WAIT_NODE_PARAMS);
    /// Sets the parameters of a semaphore-waiting node.
    11020 fn cuGraphExternalSemaphoresWaitNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
    /// Adds a batch of memory operations to a graph.
    11070 fn cuGraphAddBatchMemOpNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS);
    /// Returns the parameters of a memory-operations node; they belong to the node.
    11070 fn cuGraphBatchMemOpNodeGetParams(hNode: CUgraphNode, nodeParams_out: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS);
    /// Sets the parameters of a memory-operations node.
    11070 fn cuGraphBatchMemOpNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS);
    /// Sets the parameters of a memory-operations node of an instantiated graph.
    11070 fn cuGraphExecBatchMemOpNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS);
    /// Adds an allocation to a graph; the address is known at once.
    11040 fn cuGraphAddMemAllocNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
    /// Returns the parameters of an allocation node, its address among them.
    11040 fn cuGraphMemAllocNodeGetParams(hNode: CUgraphNode, params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
    /// Adds the freeing of an allocation to a graph.
    11040 fn cuGraphAddMemFreeNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, dptr: CUdeviceptr);
    /// Returns the address that a freeing node frees.
    11040 fn cuGraphMemFreeNodeGetParams(hNode: CUgraphNode, dptr_out: *mut CUdeviceptr);
    /// Returns unused memory that graphs keep on a device back to the system.
    11040 fn cuDeviceGraphMemTrim(device: CUdevice);
    /// Returns the number of bytes that graphs use or keep on a device.
    11040 fn cuDeviceGetGraphMemAttribute(device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void);
    /// Resets a high-water mark of the bytes that graphs use on a device.
    11040 fn cuDeviceSetGraphMemAttribute(device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void);
    /// Copies a graph.
    10000 fn cuGraphClone(phGraphClone: *mut CUgraph, originalGraph: CUgraph);
    /// Returns the node of a copied graph that matches one of the original.
    10000 fn cuGraphNodeFindInClone(phNode: *mut CUgraphNode, hOriginalNode: CUgraphNode, hClonedGraph: CUgraph);
    /// Returns the kind of a node.
    10000 fn cuGraphNodeGetType(hNode: CUgraphNode, type_: *mut CUgraphNodeType);
    /// Returns the graph that a node is in.
    13010 fn cuGraphNodeGetContainingGraph(hNode: CUgraphNode, phGraph: *mut CUgraph);
    /// Returns a node's number within its graph.
    13010 fn cuGraphNodeGetLocalId(hNode: CUgraphNode, nodeId: *mut u32);
    /// Returns the number under which profilers and debuggers report a node.
    13010 fn cuGraphNodeGetToolsId(hNode: CUgraphNode, toolsNodeId: *mut u64);
    /// Returns a graph's number within the process.
    13010 fn cuGraphGetId(hGraph: CUgraph, graphId: *mut u32);
    /// Returns an instantiated graph's number within the process.
    13010 fn cuGraphExecGetId(hGraphExec: CUgraphExec, graphId: *mut u32);
    /// Writes up to `numNodes` nodes of a graph, or their number when `nodes` is null.
    10000 fn cuGraphGetNodes(hGraph: CUgraph, nodes: *mut CUgraphNode, numNodes: *mut usize);
    /// Writes the nodes without dependencies, or their number when `rootNodes` is null.
    10000 fn cuGraphGetRootNodes(hGraph: CUgraph, rootNodes: *mut CUgraphNode, numRootNodes: *mut usize);
    /// Writes a graph's edges, or their number when `from` and `to` are null.
    10000 fn cuGraphGetEdges(hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, numEdges: *mut usize);
    /// Writes a graph's edges with their data, or their number when `from` and `to` are null.
    12030 fn cuGraphGetEdges_v2(hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numEdges: *mut usize);
    /// Writes the dependencies of a node, or their number when `dependencies` is null.
    10000 fn cuGraphNodeGetDependencies(hNode: CUgraphNode, dependencies: *mut CUgraphNode, numDependencies: *mut usize);
    /// Writes the dependencies of a node with edge data, or their number when `dependencies` is
    /// null.
    12030 fn cuGraphNodeGetDependencies_v2(hNode: CUgraphNode, dependencies: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numDependencies: *mut usize);
    /// Writes the dependents of a node, or their number when `dependentNodes` is null.
    10000 fn cuGraphNodeGetDependentNodes(hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, numDependentNodes: *mut usize);
    /// Writes the dependents of a node with edge data, or their number when `dependentNodes` is
    /// null.
    12030 fn cuGraphNodeGetDependentNodes_v2(hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numDependentNodes: *mut usize);
    /// Adds edges to a graph.
    10000 fn cuGraphAddDependencies(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize);
    /// Adds edges with data to a graph.
    12030 fn cuGraphAddDependencies_v2(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData, numDependencies: usize);
    /// Removes edges from a graph.
    10000 fn cuGraphRemoveDependencies(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize);
    /// Removes edges with data from a graph.
    12030 fn cuGraphRemoveDependencies_v2(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData, numDependencies: usize);
    /// Removes a node and its edges.
    10000 fn cuGraphDestroyNode(hNode: CUgraphNode);
    /// Makes an executable graph from a graph.
    11040 fn cuGraphInstantiateWithFlags(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, flags: u64);
    /// Returns the flags that an executable graph was made with.
    12000 fn cuGraphExecGetFlags(hGraphExec: CUgraphExec, flags: *mut u64);
    /// Sets the parameters of a kernel node of an executable graph; the form before CUDA 12.
    10010 fn cuGraphExecKernelNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1);
    /// Sets the parameters of a kernel node of an executable graph.
    12000 fn cuGraphExecKernelNodeSetParams_v2(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS);
    /// Sets the parameters of a copy node of an executable graph.
    10020 fn cuGraphExecMemcpyNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext);
    /// Sets the parameters of a memory-setting node of an executable graph.
    10020 fn cuGraphExecMemsetNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext);
    /// Sets the parameters of a host-function node of an executable graph.
    10020 fn cuGraphExecHostNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS);
    /// Replaces the parameters in a child graph of an executable graph.
    11010 fn cuGraphExecChildGraphNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, childGraph: CUgraph);
    /// Sets the event of a recording node of an executable graph.
    11010 fn cuGraphExecEventRecordNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent);
    /// Sets the event of a waiting node of an executable graph.
    11010 fn cuGraphExecEventWaitNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent);
    /// Sets the parameters of a semaphore-signaling node of an executable graph.
    11020 fn cuGraphExecExternalSemaphoresSignalNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
    /// Sets the parameters of a semaphore-waiting node of an executable graph.
    11020 fn cuGraphExecExternalSemaphoresWaitNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
    /// Turns a node of an executable graph on (1) or off (0).
    11060 fn cuGraphNodeSetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: u32);
    /// Reports whether a node of an executable graph is on (1) or off (0).
    11060 fn cuGraphNodeGetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: *mut u32);
    /// Destroys an executable graph; a launch under way still completes.
    10000 fn cuGraphExecDestroy(hGraphExec: CUgraphExec);
    /// Destroys a graph and its nodes.
    10000 fn cuGraphDestroy(hGraph: CUgraph);
    /// Brings an executable graph up to date with a graph of the same shape; the form before
    /// CUDA 12.
    10020 fn cuGraphExecUpdate(hGraphExec: CUgraphExec, hGraph: CUgraph, hErrorNode_out: *mut CUgraphNode, updateResult_out: *mut CUgraphExecUpdateResult);
    /// Brings an executable graph up to date with a graph of the same shape, or returns the
    /// difference.
    12000 fn cuGraphExecUpdate_v2(hGraphExec: CUgraphExec, hGraph: CUgraph, resultInfo: *mut CUgraphExecUpdateResultInfo);
    /// Copies the attributes of a kernel node to another.
    11000 fn cuGraphKernelNodeCopyAttributes(dst: CUgraphNode, src: CUgraphNode);
    /// Returns an attribute of a kernel node.
    11000 fn cuGraphKernelNodeGetAttribute(hNode: CUgraphNode, attr: CUkernelNodeAttrID, value_out: *mut CUkernelNodeAttrValue);
    /// Sets an attribute of a kernel node.
    11000 fn cuGraphKernelNodeSetAttribute(hNode: CUgraphNode, attr: CUkernelNodeAttrID, value: *const CUkernelNodeAttrValue);
    /// Writes a graph to a file in the DOT language.
    11030 fn cuGraphDebugDotPrint(hGraph: CUgraph, path: *const c_char, flags: u32);
    /// Makes a counted object of a pointer and the function that destroys it.
    11030 fn cuUserObjectCreate(object_out: *mut CUuserObject, ptr: *mut c_void, destroy: CUhostFn, initialRefcount: u32, flags: u32);
    /// Takes `count` more holds on a user object.
    11030 fn cuUserObjectRetain(object: CUuserObject, count: u32);
    /// Releases `count` holds on a user object; the last one destroys it.
    11030 fn cuUserObjectRelease(object: CUuserObject, count: u32);
    /// Adds `count` holds on a user object to a graph.
    11030 fn cuGraphRetainUserObject(graph: CUgraph, object: CUuserObject, count: u32, flags: u32);
    /// Takes `count` holds on a user object from a graph.
    11030 fn cuGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: u32);
    /// Adds a node of any kind to a graph.
    12020 fn cuGraphAddNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut CUgraphNodeParams);
    /// Adds a node of any kind with edge data to a graph.
    12030 fn cuGraphAddNode_v2(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, nodeParams: *mut CUgraphNodeParams);
    /// Adds a node of any kind with edge data to a graph; the form of CUDA 13.4.
    13040 fn cuGraphAddNode_v3(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, nodeParams: *mut CUgraphNodeParams);
    /// Sets the parameters of a node of any kind.
    12020 fn cuGraphNodeSetParams(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
    /// Sets the parameters of a node of any kind; the form of CUDA 13.4.
    13040 fn cuGraphNodeSetParams_v2(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
    /// Returns the parameters of a node of any kind.
    13020 fn cuGraphNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
    /// Sets the parameters of a node of any kind of an executable graph.
    12020 fn cuGraphExecNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
    /// Makes the handle by which kernels set the condition of a conditional node.
    12030 fn cuGraphConditionalHandleCreate(pHandle_out: *mut CUgraphConditionalHandle, hGraph: CUgraph, ctx: CUcontext, defaultLaunchValue: u32, flags: u32);
    /// Makes an executable graph from a graph, with a stream to upload it on, and returns the
    /// failed node.
    12000 fn cuGraphInstantiateWithParams(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS) ptsz;
    /// Gets an executable graph ready on the device, ordered on a stream.
    11010 fn cuGraphUpload(hGraph: CUgraphExec, hStream: CUstream) ptsz;
    /// Launches an executable graph on a stream.
    10000 fn cuGraphLaunch(hGraph: CUgraphExec, hStream: CUstream) ptsz;
    /// Makes an executable graph, with a log of errors; the form of CUDA 10.
    10000 fn cuGraphInstantiate(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, phErrorNode: *mut CUgraphNode, logBuffer: *mut c_char, bufferSize: usize);
    /// Makes an executable graph, with a log of errors; the form of CUDA 11.
    11000 fn cuGraphInstantiate_v2(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, phErrorNode: *mut CUgraphNode, logBuffer: *mut c_char, bufferSize: usize);

    // Occupancy
    /// Returns the number of blocks of a function that fit on one multiprocessor.
    6050 fn cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks: *mut i32, func: CUfunction, blockSize: i32, dynamicSMemSize: usize);
    /// Returns the number of blocks of a function that fit on one multiprocessor, with flags for
    /// caching.
    7000 fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks: *mut i32, func: CUfunction, blockSize: i32, dynamicSMemSize: usize, flags: u32);
    /// Suggests the block size with the best occupancy, and the smallest grid that fills the
    /// device.
    6050 fn cuOccupancyMaxPotentialBlockSize(minGridSize: *mut i32, blockSize: *mut i32, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: i32);
    /// Suggests block and grid size for the best occupancy, with flags for caching.
    7000 fn cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize: *mut i32, blockSize: *mut i32, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: i32, flags: u32);
    /// Returns the dynamic shared bytes left when a number of blocks share a multiprocessor.
    10020 fn cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize: *mut usize, func: CUfunction, numBlocks: i32, blockSize: i32);
    /// Returns the largest cluster that a function can be launched with.
    11070 fn cuOccupancyMaxPotentialClusterSize(clusterSize: *mut i32, func: CUfunction, config: *const CUlaunchConfig);
    /// Returns the number of clusters of a function that fit on the device at once.
    11070 fn cuOccupancyMaxActiveClusters(numClusters: *mut i32, func: CUfunction, config: *const CUlaunchConfig);

    // Texture references
    /// Binds a texture reference to an array. Deprecated.
    2000 fn cuTexRefSetArray(hTexRef: CUtexref, hArray: CUarray, Flags: u32);
    /// Binds a texture reference to a mipmapped array. Deprecated.
    5000 fn cuTexRefSetMipmappedArray(hTexRef: CUtexref, hMipmappedArray: CUmipmappedArray, Flags: u32);
    /// `cuTexRefSetAddress_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuTexRefSetAddress(ByteOffset: *mut u32, hTexRef: CUtexref, dptr: CUdeviceptr_v1, bytes: u32);
    /// Binds a texture reference to linear memory and returns the offset from the aligned start.
    /// Deprecated.
    3020 fn cuTexRefSetAddress_v2(ByteOffset: *mut usize, hTexRef: CUtexref, dptr: CUdeviceptr, bytes: usize);
    /// `cuTexRefSetAddress2D_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    /// Deprecated.
    2020 fn cuTexRefSetAddress2D(hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR_v1, dptr: CUdeviceptr_v1, Pitch: u32);
    /// Binds a texture reference to rows of linear memory; the form before CUDA 4.1. Deprecated.
    3020 fn cuTexRefSetAddress2D_v2(hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR, dptr: CUdeviceptr, Pitch: usize);
    /// Binds a texture reference to rows of linear memory; strict about alignment. Deprecated.
    4010 fn cuTexRefSetAddress2D_v3(hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR, dptr: CUdeviceptr, Pitch: usize);
    /// Sets the format of a texture reference. Deprecated.
    2000 fn cuTexRefSetFormat(hTexRef: CUtexref, fmt: CUarray_format, NumPackedComponents: i32);
    /// Sets a texture reference's treatment of coordinates outside, by dimension. Deprecated.
    2000 fn cuTexRefSetAddressMode(hTexRef: CUtexref, dim: i32, am: CUaddress_mode);
    /// Sets the filtering of a texture reference. Deprecated.
    2000 fn cuTexRefSetFilterMode(hTexRef: CUtexref, fm: CUfilter_mode);
    /// Sets the filtering of a texture reference between mipmap levels. Deprecated.
    5000 fn cuTexRefSetMipmapFilterMode(hTexRef: CUtexref, fm: CUfilter_mode);
    /// Sets the bias of a texture reference's mipmap level. Deprecated.
    5000 fn cuTexRefSetMipmapLevelBias(hTexRef: CUtexref, bias: f32);
    /// Sets the lowest and highest mipmap level of a texture reference. Deprecated.
    5000 fn cuTexRefSetMipmapLevelClamp(hTexRef: CUtexref, minMipmapLevelClamp: f32, maxMipmapLevelClamp: f32);
    /// Sets the largest anisotropy of a texture reference. Deprecated.
    5000 fn cuTexRefSetMaxAnisotropy(hTexRef: CUtexref, maxAniso: u32);
    /// Sets the border color, four floats, of a texture reference. Deprecated.
    8000 fn cuTexRefSetBorderColor(hTexRef: CUtexref, pBorderColor: *mut f32);
    /// Sets the flags of a texture reference. Deprecated.
    2000 fn cuTexRefSetFlags(hTexRef: CUtexref, Flags: u32);
    /// `cuTexRefGetAddress_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuTexRefGetAddress(pdptr: *mut CUdeviceptr_v1, hTexRef: CUtexref);
    /// Returns the address that a texture reference is bound to. Deprecated.
    3020 fn cuTexRefGetAddress_v2(pdptr: *mut CUdeviceptr, hTexRef: CUtexref);
    /// Returns the array that a texture reference is bound to. Deprecated.
    2000 fn cuTexRefGetArray(phArray: *mut CUarray, hTexRef: CUtexref);
    /// Returns the mipmapped array that a texture reference is bound to. Deprecated.
    5000 fn cuTexRefGetMipmappedArray(phMipmappedArray: *mut CUmipmappedArray, hTexRef: CUtexref);
    /// Returns a texture reference's treatment of coordinates outside, by dimension. Deprecated.
    2000 fn cuTexRefGetAddressMode(pam: *mut CUaddress_mode, hTexRef: CUtexref, dim: i32);
    /// Returns the filtering of a texture reference. Deprecated.
    2000 fn cuTexRefGetFilterMode(pfm: *mut CUfilter_mode, hTexRef: CUtexref);
    /// Returns the format of a texture reference. Deprecated.
    2000 fn cuTexRefGetFormat(pFormat: *mut CUarray_format, pNumChannels: *mut i32, hTexRef: CUtexref);
    /// Returns the filtering of a texture reference between mipmap levels. Deprecated.
    5000 fn cuTexRefGetMipmapFilterMode(pfm: *mut CUfilter_mode, hTexRef: CUtexref);
    /// Returns the bias of a texture reference's mipmap level. Deprecated.
    5000 fn cuTexRefGetMipmapLevelBias(pbias: *mut f32, hTexRef: CUtexref);
    /// Returns the lowest and highest mipmap level of a texture reference. Deprecated.
    5000 fn cuTexRefGetMipmapLevelClamp(pminMipmapLevelClamp: *mut f32, pmaxMipmapLevelClamp: *mut f32, hTexRef: CUtexref);
    /// Returns the largest anisotropy of a texture reference. Deprecated.
    5000 fn cuTexRefGetMaxAnisotropy(pmaxAniso: *mut i32, hTexRef: CUtexref);
    /// Returns the border color, four floats, of a texture reference. Deprecated.
    8000 fn cuTexRefGetBorderColor(pBorderColor: *mut f32, hTexRef: CUtexref);
    /// Returns the flags of a texture reference. Deprecated.
    2000 fn cuTexRefGetFlags(pFlags: *mut u32, hTexRef: CUtexref);
    /// Creates a texture reference. Deprecated.
    2000 fn cuTexRefCreate(pTexRef: *mut CUtexref);
    /// Destroys a texture reference. Deprecated.
    2000 fn cuTexRefDestroy(hTexRef: CUtexref);

    // Surface references
    /// Binds a surface reference to an array. Deprecated.
    3000 fn cuSurfRefSetArray(hSurfRef: CUsurfref, hArray: CUarray, Flags: u32);
    /// Returns the array that a surface reference is bound to. Deprecated.
    3000 fn cuSurfRefGetArray(phArray: *mut CUarray, hSurfRef: CUsurfref);

    // Texture objects
    /// Creates a texture object over an array or linear memory.
    5000 fn cuTexObjectCreate(pTexObject: *mut CUtexObject, pResDesc: *const CUDA_RESOURCE_DESC, pTexDesc: *const CUDA_TEXTURE_DESC, pResViewDesc: *const CUDA_RESOURCE_VIEW_DESC);
    /// Destroys a texture object.
    5000 fn cuTexObjectDestroy(texObject: CUtexObject);
    /// Returns the memory of a texture object.
    5000 fn cuTexObjectGetResourceDesc(pResDesc: *mut CUDA_RESOURCE_DESC, texObject: CUtexObject);
    /// Returns the sampling of a texture object.
    5000 fn cuTexObjectGetTextureDesc(pTexDesc: *mut CUDA_TEXTURE_DESC, texObject: CUtexObject);
    /// Returns the view of a texture object that was made with one.
    5000 fn cuTexObjectGetResourceViewDesc(pResViewDesc: *mut CUDA_RESOURCE_VIEW_DESC, texObject: CUtexObject);

    // Surface objects
    /// Creates a surface object over an array.
    5000 fn cuSurfObjectCreate(pSurfObject: *mut CUsurfObject, pResDesc: *const CUDA_RESOURCE_DESC);
    /// Destroys a surface object.
    5000 fn cuSurfObjectDestroy(surfObject: CUsurfObject);
    /// Returns the array of a surface object.
    5000 fn cuSurfObjectGetResourceDesc(pResDesc: *mut CUDA_RESOURCE_DESC, surfObject: CUsurfObject);

    // Tensor map
    /// Encodes a tensor map for tiled bulk copies. Touches no device.
    12000 fn cuTensorMapEncodeTiled(tensorMap: *mut CUtensorMap, tensorDataType: CUtensorMapDataType, tensorRank: u32, globalAddress: *mut c_void, globalDim: *const u64, globalStrides: *const u64, boxDim: *const u32, elementStrides: *const u32, interleave: CUtensorMapInterleave, swizzle: CUtensorMapSwizzle, l2Promotion: CUtensorMapL2promotion, oobFill: CUtensorMapFloatOOBfill);
    /// Encodes a tensor map for image-to-column bulk copies. Touches no device.
    12000 fn cuTensorMapEncodeIm2col(tensorMap: *mut CUtensorMap, tensorDataType: CUtensorMapDataType, tensorRank: u32, globalAddress: *mut c_void, globalDim: *const u64, globalStrides: *const u64, pixelBoxLowerCorner: *const i32, pixelBoxUpperCorner: *const i32, channelsPerPixel: u32, pixelsPerColumn: u32, elementStrides: *const u32, interleave: CUtensorMapInterleave, swizzle: CUtensorMapSwizzle, l2Promotion: CUtensorMapL2promotion, oobFill: CUtensorMapFloatOOBfill);
    /// Encodes a tensor map for wide image-to-column bulk copies. Touches no device.
    12080 fn cuTensorMapEncodeIm2colWide(tensorMap: *mut CUtensorMap, tensorDataType: CUtensorMapDataType, tensorRank: u32, globalAddress: *mut c_void, globalDim: *const u64, globalStrides: *const u64, pixelBoxLowerCornerWidth: i32, pixelBoxUpperCornerWidth: i32, channelsPerPixel: u32, pixelsPerColumn: u32, elementStrides: *const u32, interleave: CUtensorMapInterleave, mode: CUtensorMapIm2ColWideMode, swizzle: CUtensorMapSwizzle, l2Promotion: CUtensorMapL2promotion, oobFill: CUtensorMapFloatOOBfill);
    /// Replaces the address in a tensor map.
    12000 fn cuTensorMapReplaceAddress(tensorMap: *mut CUtensorMap, globalAddress: *mut c_void);
    /// Sets the size of the window that a tensor map may assume, and returns the choice in effect.
    13050 fn cuTensorMapSetAllocationClass(tensorMap: *mut CUtensorMap, allocClass: CUtensorMapAllocClass, outAllocClass: *mut CUtensorMapAllocClass);

    // Peer access
    /// Reports whether a device can reach another's memory directly: 1 or 0.
    4000 fn cuDeviceCanAccessPeer(canAccessPeer: *mut i32, dev: CUdevice, peerDev: CUdevice);
    /// Lets the current context use memory of another context. Flags must be 0.
    4000 fn cuCtxEnablePeerAccess(peerContext: CUcontext, Flags: u32);
    /// Ends the current context's use of memory of another context.
    4000 fn cuCtxDisablePeerAccess(peerContext: CUcontext);
    /// Returns one number about the link between two devices.
    8000 fn cuDeviceGetP2PAttribute(value: *mut i32, attrib: CUdevice_P2PAttribute, srcDevice: CUdevice, dstDevice: CUdevice);
    /// Returns a device's support for atomic operations on a peer's memory, for each operation
    /// asked about.
    13000 fn cuDeviceGetP2PAtomicCapabilities(capabilities: *mut u32, operations: *const CUatomicOperation, count: u32, srcDevice: CUdevice, dstDevice: CUdevice);

    // Graphics interop
    /// Ends the sharing of a graphics resource.
    3000 fn cuGraphicsUnregisterResource(resource: CUgraphicsResource);
    /// Returns the array of one layer and level of a mapped graphics resource.
    3000 fn cuGraphicsSubResourceGetMappedArray(pArray: *mut CUarray, resource: CUgraphicsResource, arrayIndex: u32, mipLevel: u32);
    /// Returns the mipmapped array of a mapped graphics resource.
    5000 fn cuGraphicsResourceGetMappedMipmappedArray(pMipmappedArray: *mut CUmipmappedArray, resource: CUgraphicsResource);
    /// `cuGraphicsResourceGetMappedPointer_v2` with 32-bit addresses and sizes; the form before
    /// CUDA 3.2.
    3000 fn cuGraphicsResourceGetMappedPointer(pDevPtr: *mut CUdeviceptr_v1, pSize: *mut u32, resource: CUgraphicsResource);
    /// Returns the address and the bytes of a mapped graphics resource.
    3020 fn cuGraphicsResourceGetMappedPointer_v2(pDevPtr: *mut CUdeviceptr, pSize: *mut usize, resource: CUgraphicsResource);
    /// Sets the intended use of a graphics resource when mapped; the form before CUDA 6.5.
    3000 fn cuGraphicsResourceSetMapFlags(resource: CUgraphicsResource, flags: u32);
    /// Sets the intended use of a graphics resource when mapped.
    6050 fn cuGraphicsResourceSetMapFlags_v2(resource: CUgraphicsResource, flags: u32);
    /// Maps graphics resources, so that CUDA and not the graphics API may use them.
    3000 fn cuGraphicsMapResources(count: u32, resources: *mut CUgraphicsResource, hStream: CUstream) ptsz;
    /// Unmaps graphics resources, so that the graphics API may use them again.
    3000 fn cuGraphicsUnmapResources(count: u32, resources: *mut CUgraphicsResource, hStream: CUstream) ptsz;

    // Entry points
    /// Finds a function by base name, newest ABI up to a version; nulls crash. The form of CUDA 11.
    11030 fn cuGetProcAddress(symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: i32, flags: u64);
    /// Finds a function by base name, newest ABI up to a version, or returns the reason why not;
    /// nulls crash.
    12000 fn cuGetProcAddress_v2(symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: i32, flags: u64, symbolStatus: *mut CUdriverProcAddressQueryResult);

    // Coredump
    /// Returns a core-dump setting of the current context.
    12010 fn cuCoredumpGetAttribute(attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
    /// Returns a core-dump setting of the process.
    12010 fn cuCoredumpGetAttributeGlobal(attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
    /// Sets a core-dump setting of the current context.
    12010 fn cuCoredumpSetAttribute(attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
    /// Sets a core-dump setting of the process.
    12010 fn cuCoredumpSetAttributeGlobal(attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
    /// Registers a function to be called when a core dump starts.
    13020 fn cuCoredumpRegisterStartCallback(callback: CUcoredumpStatusCallback, userData: *mut c_void, callbackOut: *mut CUcoredumpCallbackHandle);
    /// Registers a function to be called when a core dump is complete.
    13020 fn cuCoredumpRegisterCompleteCallback(callback: CUcoredumpStatusCallback, userData: *mut c_void, callbackOut: *mut CUcoredumpCallbackHandle);
    /// Ends calls at the start of core dumps.
    13020 fn cuCoredumpDeregisterStartCallback(callback: CUcoredumpCallbackHandle);
    /// Ends calls at the end of core dumps.
    13020 fn cuCoredumpDeregisterCompleteCallback(callback: CUcoredumpCallbackHandle);

    // Private tables
    /// Returns a table of private functions by its id. NVIDIA documents none.
    3000 fn cuGetExportTable(ppExportTable: *mut *const c_void, pExportTableId: *const CUuuid);

    // Green context
    /// Creates a green context: a context with a share of the device's resources.
    12040 fn cuGreenCtxCreate(phCtx: *mut CUgreenCtx, desc: CUdevResourceDesc, dev: CUdevice, flags: u32);
    /// Destroys a green context.
    12040 fn cuGreenCtxDestroy(hCtx: CUgreenCtx);
    /// Returns the context form of a green context, to push and pop.
    12040 fn cuCtxFromGreenCtx(pContext: *mut CUcontext, hCtx: CUgreenCtx);
    /// Returns all of a device's resource of a kind.
    12040 fn cuDeviceGetDevResource(device: CUdevice, resource: *mut CUdevResource, type_: CUdevResourceType);
    /// Returns the resource of a kind that a context has.
    12040 fn cuCtxGetDevResource(hCtx: CUcontext, resource: *mut CUdevResource, type_: CUdevResourceType);
    /// Returns the resource of a kind that a green context has.
    12040 fn cuGreenCtxGetDevResource(hCtx: CUgreenCtx, resource: *mut CUdevResource, type_: CUdevResourceType);
    /// Splits multiprocessors into groups of at least `minCount`.
    12040 fn cuDevSmResourceSplitByCount(result: *mut CUdevResource, nbGroups: *mut u32, input: *const CUdevResource, remainder: *mut CUdevResource, flags: u32, minCount: u32);
    /// Splits multiprocessors into groups that are each described.
    13010 fn cuDevSmResourceSplit(result: *mut CUdevResource, nbGroups: u32, input: *const CUdevResource, remainder: *mut CUdevResource, flags: u32, groupParams: *mut CU_DEV_SM_RESOURCE_GROUP_PARAMS);
    /// Packs resources into a description to make a green context from.
    12040 fn cuDevResourceGenerateDesc(phDesc: *mut CUdevResourceDesc, resources: *mut CUdevResource, nbResources: u32);
    /// Records in an event all work in a green context so far.
    12040 fn cuGreenCtxRecordEvent(hCtx: CUgreenCtx, hEvent: CUevent);
    /// Makes all later work in a green context wait for an event.
    12040 fn cuGreenCtxWaitEvent(hCtx: CUgreenCtx, hEvent: CUevent);
    /// Returns the green context of a stream, null if it has none.
    12040 fn cuStreamGetGreenCtx(hStream: CUstream, phCtx: *mut CUgreenCtx);
    /// Creates a stream in a green context.
    12050 fn cuGreenCtxStreamCreate(phStream: *mut CUstream, greenCtx: CUgreenCtx, flags: u32, priority: i32);
    /// Returns a number that no other green context of the process ever has.
    12090 fn cuGreenCtxGetId(greenCtx: CUgreenCtx, greenCtxId: *mut u64);
    /// Returns the resource of a kind that a stream's work may use.
    13010 fn cuStreamGetDevResource(hStream: CUstream, resource: *mut CUdevResource, type_: CUdevResourceType) ptsz;

    // Logs
    /// Registers a function to be called with each message of the driver's error log.
    12090 fn cuLogsRegisterCallback(callbackFunc: CUlogsCallback, userData: *mut c_void, callback_out: *mut CUlogsCallbackHandle);
    /// Ends calls with messages of the error log.
    12090 fn cuLogsUnregisterCallback(callback: CUlogsCallbackHandle);
    /// Returns the place in the error log where the next message will go.
    12090 fn cuLogsCurrent(iterator_out: *mut CUlogIterator, flags: u32);
    /// Appends the error log from a place on to a file, and moves the place.
    12090 fn cuLogsDumpToFile(iterator: *mut CUlogIterator, pathToFile: *const c_char, flags: u32);
    /// Writes the error log from a place on into at most `size` bytes, and moves the place.
    12090 fn cuLogsDumpToMemory(iterator: *mut CUlogIterator, buffer: *mut c_char, size: *mut usize, flags: u32);

    // Memory operations in streams
    /// Writes 32 bits to device memory in stream order; the form before CUDA 11.7.
    8000 fn cuStreamWriteValue32(stream: CUstream, addr: CUdeviceptr, value: u32, flags: u32) ptsz;
    /// Writes 32 bits to device memory in stream order.
    11070 fn cuStreamWriteValue32_v2(stream: CUstream, addr: CUdeviceptr, value: u32, flags: u32) ptsz;
    /// Makes a stream wait until 32 bits of device memory meet a condition; the form before
    /// CUDA 11.7.
    8000 fn cuStreamWaitValue32(stream: CUstream, addr: CUdeviceptr, value: u32, flags: u32) ptsz;
    /// Makes a stream wait until 32 bits of device memory meet a condition.
    11070 fn cuStreamWaitValue32_v2(stream: CUstream, addr: CUdeviceptr, value: u32, flags: u32) ptsz;
    /// Writes 64 bits to device memory in stream order; the form before CUDA 11.7.
    9000 fn cuStreamWriteValue64(stream: CUstream, addr: CUdeviceptr, value: u64, flags: u32) ptsz;
    /// Writes 64 bits to device memory in stream order.
    11070 fn cuStreamWriteValue64_v2(stream: CUstream, addr: CUdeviceptr, value: u64, flags: u32) ptsz;
    /// Makes a stream wait until 64 bits of device memory meet a condition; the form before
    /// CUDA 11.7.
    9000 fn cuStreamWaitValue64(stream: CUstream, addr: CUdeviceptr, value: u64, flags: u32) ptsz;
    /// Makes a stream wait until 64 bits of device memory meet a condition.
    11070 fn cuStreamWaitValue64_v2(stream: CUstream, addr: CUdeviceptr, value: u64, flags: u32) ptsz;
    /// Does several waits and writes of memory in one stream operation; the form before CUDA 11.7.
    8000 fn cuStreamBatchMemOp(stream: CUstream, count: u32, paramArray: *mut CUstreamBatchMemOpParams, flags: u32) ptsz;
    /// Does several waits and writes of memory in one stream operation.
    11070 fn cuStreamBatchMemOp_v2(stream: CUstream, count: u32, paramArray: *mut CUstreamBatchMemOpParams, flags: u32) ptsz;

    // Fabric copy
    /// Does many copies over the fabric in one call, ordered on a stream.
    13050 fn cuFabricCpyBatchAsync(numOps: usize, opList: *mut CUDA_FABRIC_COPY_BATCH_OP, flags: u64, hStream: CUstream) ptsz;

    // Checkpoint
    /// Returns the thread of a process that restores its CUDA state.
    12080 fn cuCheckpointProcessGetRestoreThreadId(pid: i32, tid: *mut i32);
    /// Returns the checkpoint state of a process: running, locked, checkpointed or failed.
    12080 fn cuCheckpointProcessGetState(pid: i32, state: *mut CUprocessState);
    /// Stops a process's further CUDA calls, with a limit in milliseconds.
    12080 fn cuCheckpointProcessLock(pid: i32, args: *mut CUcheckpointLockArgs);
    /// Moves a locked process's device memory to the host and releases its devices.
    12080 fn cuCheckpointProcessCheckpoint(pid: i32, args: *mut CUcheckpointCheckpointArgs);
    /// Brings a checkpointed process back onto devices.
    12080 fn cuCheckpointProcessRestore(pid: i32, args: *mut CUcheckpointRestoreArgs);
    /// Finishes a checkpoint or a restore whose copies the caller has made itself.
    13040 fn cuCheckpointOperationComplete(handle: CUcheckpointOperationHandle);
    /// Lets a locked process's CUDA calls go on.
    12080 fn cuCheckpointProcessUnlock(pid: i32, args: *mut CUcheckpointUnlockArgs);

    // Profiler
    /// Configures the profiler from a file. Removed from the headers of CUDA 13.
    4000 fn cuProfilerInitialize(configFile: *const c_char, outputFile: *const c_char, outputMode: CUoutput_mode);
    /// Starts collecting for an attached profiler.
    4000 fn cuProfilerStart();
    /// Stops collecting for an attached profiler.
    4000 fn cuProfilerStop();

    // OpenGL
    /// Shares an OpenGL buffer object.
    3000 fn cuGraphicsGLRegisterBuffer(pCudaResource: *mut CUgraphicsResource, buffer: u32, Flags: u32);
    /// Shares an OpenGL texture or renderbuffer.
    3000 fn cuGraphicsGLRegisterImage(pCudaResource: *mut CUgraphicsResource, image: u32, target: u32, Flags: u32);
    /// Returns the devices that the current OpenGL context uses; the form before CUDA 6.5.
    4010 fn cuGLGetDevices(pCudaDeviceCount: *mut u32, pCudaDevices: *mut CUdevice, cudaDeviceCount: u32, deviceList: CUGLDeviceList);
    /// Returns the devices that the current OpenGL context uses.
    6050 fn cuGLGetDevices_v2(pCudaDeviceCount: *mut u32, pCudaDevices: *mut CUdevice, cudaDeviceCount: u32, deviceList: CUGLDeviceList);
    /// Creates a context that works with OpenGL; the form before CUDA 3.2.
    2000 fn cuGLCtxCreate(pCtx: *mut CUcontext, Flags: u32, device: CUdevice);
    /// Creates a context that works with OpenGL; any context does since CUDA 5.
    3020 fn cuGLCtxCreate_v2(pCtx: *mut CUcontext, Flags: u32, device: CUdevice);
    /// Does nothing since CUDA 3. Deprecated.
    2000 fn cuGLInit();
    /// Shares an OpenGL buffer object. `cuGraphicsGLRegisterBuffer` replaces it.
    2000 fn cuGLRegisterBufferObject(buffer: u32);
    /// Unmaps an OpenGL buffer object. `cuGraphicsUnmapResources` replaces it.
    2000 fn cuGLUnmapBufferObject(buffer: u32);
    /// Ends the sharing of an OpenGL buffer object. `cuGraphicsUnregisterResource` replaces it.
    2000 fn cuGLUnregisterBufferObject(buffer: u32);
    /// Sets the use of an OpenGL buffer object when mapped. Deprecated.
    2030 fn cuGLSetBufferObjectMapFlags(buffer: u32, Flags: u32);
    /// Unmaps an OpenGL buffer object, ordered on a stream. Deprecated.
    2030 fn cuGLUnmapBufferObjectAsync(buffer: u32, hStream: CUstream);
    /// `cuGLMapBufferObject_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2000 fn cuGLMapBufferObject(dptr: *mut CUdeviceptr_v1, size: *mut u32, buffer: u32);
    /// Maps an OpenGL buffer object: its address and its bytes. Deprecated.
    3020 fn cuGLMapBufferObject_v2(dptr: *mut CUdeviceptr, size: *mut usize, buffer: u32) ptds;
    /// `cuGLMapBufferObjectAsync_v2` with 32-bit addresses and sizes; the form before CUDA 3.2.
    2030 fn cuGLMapBufferObjectAsync(dptr: *mut CUdeviceptr_v1, size: *mut u32, buffer: u32, hStream: CUstream);
    /// Maps an OpenGL buffer object, ordered on a stream. Deprecated.
    3020 fn cuGLMapBufferObjectAsync_v2(dptr: *mut CUdeviceptr, size: *mut usize, buffer: u32, hStream: CUstream) ptsz;
}
