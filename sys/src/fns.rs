//! The list of functions: data and nothing else. One line is one exported symbol.
//!
//! The number is the first CUDA version with that ABI, the name is the exported one with its revision, and
//! a trailing `ptsz` or `ptds` says that the library exports a per-thread-stream twin under that suffix,
//! from the same version on (7.0 at the earliest). Parameters keep their C names; one that is a Rust keyword gets a trailing `_`.
//! Sizes are bytes unless a line says otherwise.

use core::ffi::{c_char, c_void};

use crate::enums::*;
use crate::structs::*;
use crate::table::driver_fns;
use crate::types::*;

driver_fns! {

    // error
    6000 fn cuGetErrorString(error: CUresult, pStr: *mut *const c_char);
    6000 fn cuGetErrorName(error: CUresult, pStr: *mut *const c_char);

    // init
    2000 fn cuInit(Flags: u32);

    // version
    2020 fn cuDriverGetVersion(driverVersion: *mut i32);

    // device
    2000 fn cuDeviceGet(device: *mut CUdevice, ordinal: i32);
    2000 fn cuDeviceGetCount(count: *mut i32);
    2000 fn cuDeviceGetName(name: *mut c_char, len: i32, dev: CUdevice);
    9020 fn cuDeviceGetUuid(uuid: *mut CUuuid, dev: CUdevice);
    11040 fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, dev: CUdevice);
    10000 fn cuDeviceGetLuid(luid: *mut c_char, deviceNodeMask: *mut u32, dev: CUdevice);
    2000 fn cuDeviceTotalMem(bytes: *mut u32, dev: CUdevice);
    3020 fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice);
    11010 fn cuDeviceGetTexture1DLinearMaxWidth(maxWidthInElements: *mut usize, format: CUarray_format, numChannels: u32, dev: CUdevice);
    2000 fn cuDeviceGetAttribute(pi: *mut i32, attrib: CUdevice_attribute, dev: CUdevice);
    13000 fn cuDeviceGetHostAtomicCapabilities(capabilities: *mut u32, operations: *const CUatomicOperation, count: u32, dev: CUdevice);
    10020 fn cuDeviceGetNvSciSyncAttributes(nvSciSyncAttrList: *mut c_void, dev: CUdevice, flags: i32);
    11020 fn cuDeviceSetMemPool(dev: CUdevice, pool: CUmemoryPool);
    11020 fn cuDeviceGetMemPool(pool: *mut CUmemoryPool, dev: CUdevice);
    11020 fn cuDeviceGetDefaultMemPool(pool_out: *mut CUmemoryPool, dev: CUdevice);
    11040 fn cuDeviceGetExecAffinitySupport(pi: *mut i32, type_: CUexecAffinityType, dev: CUdevice);
    11030 fn cuFlushGPUDirectRDMAWrites(target: CUflushGPUDirectRDMAWritesTarget, scope: CUflushGPUDirectRDMAWritesScope);
    2000 fn cuDeviceGetProperties(prop: *mut CUdevprop, dev: CUdevice);
    2000 fn cuDeviceComputeCapability(major: *mut i32, minor: *mut i32, dev: CUdevice);

    // primary_context
    7000 fn cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice);
    7000 fn cuDevicePrimaryCtxRelease(dev: CUdevice);
    11000 fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice);
    7000 fn cuDevicePrimaryCtxSetFlags(dev: CUdevice, flags: u32);
    11000 fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: u32);
    7000 fn cuDevicePrimaryCtxGetState(dev: CUdevice, flags: *mut u32, active: *mut i32);
    7000 fn cuDevicePrimaryCtxReset(dev: CUdevice);
    11000 fn cuDevicePrimaryCtxReset_v2(dev: CUdevice);

    // context
    2000 fn cuCtxCreate(pctx: *mut CUcontext, flags: u32, dev: CUdevice);
    3020 fn cuCtxCreate_v2(pctx: *mut CUcontext, flags: u32, dev: CUdevice);
    11040 fn cuCtxCreate_v3(pctx: *mut CUcontext, paramsArray: *mut CUexecAffinityParam, numParams: i32, flags: u32, dev: CUdevice);
    12050 fn cuCtxCreate_v4(pctx: *mut CUcontext, ctxCreateParams: *mut CUctxCreateParams, flags: u32, dev: CUdevice);
    2000 fn cuCtxDestroy(ctx: CUcontext);
    4000 fn cuCtxDestroy_v2(ctx: CUcontext);
    2000 fn cuCtxPushCurrent(ctx: CUcontext);
    4000 fn cuCtxPushCurrent_v2(ctx: CUcontext);
    2000 fn cuCtxPopCurrent(pctx: *mut CUcontext);
    4000 fn cuCtxPopCurrent_v2(pctx: *mut CUcontext);
    4000 fn cuCtxSetCurrent(ctx: CUcontext);
    4000 fn cuCtxGetCurrent(pctx: *mut CUcontext);
    2000 fn cuCtxGetDevice(device: *mut CUdevice);
    13000 fn cuCtxGetDevice_v2(device: *mut CUdevice, ctx: CUcontext);
    7000 fn cuCtxGetFlags(flags: *mut u32);
    12010 fn cuCtxSetFlags(flags: u32);
    12000 fn cuCtxGetId(ctx: CUcontext, ctxId: *mut u64);
    2000 fn cuCtxSynchronize();
    13000 fn cuCtxSynchronize_v2(ctx: CUcontext);
    3010 fn cuCtxSetLimit(limit: CUlimit, value: usize);
    3010 fn cuCtxGetLimit(pvalue: *mut usize, limit: CUlimit);
    3020 fn cuCtxGetCacheConfig(pconfig: *mut CUfunc_cache);
    3020 fn cuCtxSetCacheConfig(config: CUfunc_cache);
    3020 fn cuCtxGetApiVersion(ctx: CUcontext, version: *mut u32);
    5050 fn cuCtxGetStreamPriorityRange(leastPriority: *mut i32, greatestPriority: *mut i32);
    11000 fn cuCtxResetPersistingL2Cache();
    11040 fn cuCtxGetExecAffinity(pExecAffinity: *mut CUexecAffinityParam, type_: CUexecAffinityType);
    12050 fn cuCtxRecordEvent(hCtx: CUcontext, hEvent: CUevent);
    12050 fn cuCtxWaitEvent(hCtx: CUcontext, hEvent: CUevent);
    2000 fn cuCtxAttach(pctx: *mut CUcontext, flags: u32);
    2000 fn cuCtxDetach(ctx: CUcontext);
    4020 fn cuCtxGetSharedMemConfig(pConfig: *mut CUsharedconfig);
    4020 fn cuCtxSetSharedMemConfig(config: CUsharedconfig);

    // module
    2000 fn cuModuleLoad(module: *mut CUmodule, fname: *const c_char);
    2000 fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void);
    2010 fn cuModuleLoadDataEx(module: *mut CUmodule, image: *const c_void, numOptions: u32, options: *mut CUjit_option, optionValues: *mut *mut c_void);
    2000 fn cuModuleLoadFatBinary(module: *mut CUmodule, fatCubin: *const c_void);
    2000 fn cuModuleUnload(hmod: CUmodule);
    11070 fn cuModuleGetLoadingMode(mode: *mut CUmoduleLoadingMode);
    2000 fn cuModuleGetFunction(hfunc: *mut CUfunction, hmod: CUmodule, name: *const c_char);
    12040 fn cuModuleGetFunctionCount(count: *mut u32, mod_: CUmodule);
    12040 fn cuModuleEnumerateFunctions(functions: *mut CUfunction, numFunctions: u32, mod_: CUmodule);
    2000 fn cuModuleGetGlobal(dptr: *mut CUdeviceptr_v1, bytes: *mut u32, hmod: CUmodule, name: *const c_char);
    3020 fn cuModuleGetGlobal_v2(dptr: *mut CUdeviceptr, bytes: *mut usize, hmod: CUmodule, name: *const c_char);
    5050 fn cuLinkCreate(numOptions: u32, options: *mut CUjit_option, optionValues: *mut *mut c_void, stateOut: *mut CUlinkState);
    6050 fn cuLinkCreate_v2(numOptions: u32, options: *mut CUjit_option, optionValues: *mut *mut c_void, stateOut: *mut CUlinkState);
    5050 fn cuLinkAddData(state: CUlinkState, type_: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char, numOptions: u32, options: *mut CUjit_option, optionValues: *mut *mut c_void);
    6050 fn cuLinkAddData_v2(state: CUlinkState, type_: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char, numOptions: u32, options: *mut CUjit_option, optionValues: *mut *mut c_void);
    5050 fn cuLinkAddFile(state: CUlinkState, type_: CUjitInputType, path: *const c_char, numOptions: u32, options: *mut CUjit_option, optionValues: *mut *mut c_void);
    6050 fn cuLinkAddFile_v2(state: CUlinkState, type_: CUjitInputType, path: *const c_char, numOptions: u32, options: *mut CUjit_option, optionValues: *mut *mut c_void);
    5050 fn cuLinkComplete(state: CUlinkState, cubinOut: *mut *mut c_void, sizeOut: *mut usize);
    5050 fn cuLinkDestroy(state: CUlinkState);
    2000 fn cuModuleGetTexRef(pTexRef: *mut CUtexref, hmod: CUmodule, name: *const c_char);
    3000 fn cuModuleGetSurfRef(pSurfRef: *mut CUsurfref, hmod: CUmodule, name: *const c_char);

    // library
    12000 fn cuLibraryLoadData(library: *mut CUlibrary, code: *const c_void, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: u32, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: u32);
    12000 fn cuLibraryLoadFromFile(library: *mut CUlibrary, fileName: *const c_char, jitOptions: *mut CUjit_option, jitOptionsValues: *mut *mut c_void, numJitOptions: u32, libraryOptions: *mut CUlibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: u32);
    12000 fn cuLibraryUnload(library: CUlibrary);
    12000 fn cuLibraryGetKernel(pKernel: *mut CUkernel, library: CUlibrary, name: *const c_char);
    12040 fn cuLibraryGetKernelCount(count: *mut u32, lib: CUlibrary);
    12040 fn cuLibraryEnumerateKernels(kernels: *mut CUkernel, numKernels: u32, lib: CUlibrary);
    12000 fn cuLibraryGetModule(pMod: *mut CUmodule, library: CUlibrary);
    12000 fn cuKernelGetFunction(pFunc: *mut CUfunction, kernel: CUkernel);
    12050 fn cuKernelGetLibrary(pLib: *mut CUlibrary, kernel: CUkernel);
    12000 fn cuLibraryGetGlobal(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char);
    12000 fn cuLibraryGetManaged(dptr: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char);
    12000 fn cuLibraryGetUnifiedFunction(fptr: *mut *mut c_void, library: CUlibrary, symbol: *const c_char);
    12000 fn cuKernelGetAttribute(pi: *mut i32, attrib: CUfunction_attribute, kernel: CUkernel, dev: CUdevice);
    12000 fn cuKernelSetAttribute(attrib: CUfunction_attribute, val: i32, kernel: CUkernel, dev: CUdevice);
    12000 fn cuKernelSetCacheConfig(kernel: CUkernel, config: CUfunc_cache, dev: CUdevice);
    12030 fn cuKernelGetName(name: *mut *const c_char, hfunc: CUkernel);
    12040 fn cuKernelGetParamInfo(kernel: CUkernel, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize);
    13020 fn cuKernelGetParamCount(kernel: CUkernel, paramCount: *mut usize);

    // memory
    2000 fn cuMemGetInfo(free: *mut u32, total: *mut u32);
    3020 fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    2000 fn cuMemAlloc(dptr: *mut CUdeviceptr_v1, bytesize: u32);
    3020 fn cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize);
    2000 fn cuMemAllocPitch(dptr: *mut CUdeviceptr_v1, pPitch: *mut u32, WidthInBytes: u32, Height: u32, ElementSizeBytes: u32);
    3020 fn cuMemAllocPitch_v2(dptr: *mut CUdeviceptr, pPitch: *mut usize, WidthInBytes: usize, Height: usize, ElementSizeBytes: u32);
    2000 fn cuMemFree(dptr: CUdeviceptr_v1);
    3020 fn cuMemFree_v2(dptr: CUdeviceptr);
    2000 fn cuMemGetAddressRange(pbase: *mut CUdeviceptr_v1, psize: *mut u32, dptr: CUdeviceptr_v1);
    3020 fn cuMemGetAddressRange_v2(pbase: *mut CUdeviceptr, psize: *mut usize, dptr: CUdeviceptr);
    2000 fn cuMemAllocHost(pp: *mut *mut c_void, bytesize: u32);
    3020 fn cuMemAllocHost_v2(pp: *mut *mut c_void, bytesize: usize);
    2000 fn cuMemFreeHost(p: *mut c_void);
    2020 fn cuMemHostAlloc(pp: *mut *mut c_void, bytesize: usize, Flags: u32);
    2020 fn cuMemHostGetDevicePointer(pdptr: *mut CUdeviceptr_v1, p: *mut c_void, Flags: u32);
    3020 fn cuMemHostGetDevicePointer_v2(pdptr: *mut CUdeviceptr, p: *mut c_void, Flags: u32);
    2030 fn cuMemHostGetFlags(pFlags: *mut u32, p: *mut c_void);
    6000 fn cuMemAllocManaged(dptr: *mut CUdeviceptr, bytesize: usize, flags: u32);
    12040 fn cuDeviceRegisterAsyncNotification(device: CUdevice, callbackFunc: CUasyncCallback, userData: *mut c_void, callback: *mut CUasyncCallbackHandle);
    12040 fn cuDeviceUnregisterAsyncNotification(device: CUdevice, callback: CUasyncCallbackHandle);
    4010 fn cuDeviceGetByPCIBusId(dev: *mut CUdevice, pciBusId: *const c_char);
    4010 fn cuDeviceGetPCIBusId(pciBusId: *mut c_char, len: i32, dev: CUdevice);
    4010 fn cuIpcGetEventHandle(pHandle: *mut CUipcEventHandle, event: CUevent);
    4010 fn cuIpcOpenEventHandle(phEvent: *mut CUevent, handle: CUipcEventHandle);
    4010 fn cuIpcGetMemHandle(pHandle: *mut CUipcMemHandle, dptr: CUdeviceptr);
    4010 fn cuIpcOpenMemHandle(pdptr: *mut CUdeviceptr, handle: CUipcMemHandle, Flags: u32);
    11000 fn cuIpcOpenMemHandle_v2(pdptr: *mut CUdeviceptr, handle: CUipcMemHandle, Flags: u32);
    4010 fn cuIpcCloseMemHandle(dptr: CUdeviceptr);
    4000 fn cuMemHostRegister(p: *mut c_void, bytesize: usize, Flags: u32);
    6050 fn cuMemHostRegister_v2(p: *mut c_void, bytesize: usize, Flags: u32);
    4000 fn cuMemHostUnregister(p: *mut c_void);
    2000 fn cuArrayCreate(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR_v1);
    3020 fn cuArrayCreate_v2(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR);
    2000 fn cuArrayGetDescriptor(pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR_v1, hArray: CUarray);
    3020 fn cuArrayGetDescriptor_v2(pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR, hArray: CUarray);
    11010 fn cuArrayGetSparseProperties(sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES, array: CUarray);
    11010 fn cuMipmappedArrayGetSparseProperties(sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES, mipmap: CUmipmappedArray);
    11060 fn cuArrayGetMemoryRequirements(memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS, array: CUarray, device: CUdevice);
    11060 fn cuMipmappedArrayGetMemoryRequirements(memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS, mipmap: CUmipmappedArray, device: CUdevice);
    11020 fn cuArrayGetPlane(pPlaneArray: *mut CUarray, hArray: CUarray, planeIdx: u32);
    2000 fn cuArrayDestroy(hArray: CUarray);
    2000 fn cuArray3DCreate(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR_v1);
    3020 fn cuArray3DCreate_v2(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR);
    2000 fn cuArray3DGetDescriptor(pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR_v1, hArray: CUarray);
    3020 fn cuArray3DGetDescriptor_v2(pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR, hArray: CUarray);
    5000 fn cuMipmappedArrayCreate(pHandle: *mut CUmipmappedArray, pMipmappedArrayDesc: *const CUDA_ARRAY3D_DESCRIPTOR, numMipmapLevels: u32);
    5000 fn cuMipmappedArrayGetLevel(pLevelArray: *mut CUarray, hMipmappedArray: CUmipmappedArray, level: u32);
    5000 fn cuMipmappedArrayDestroy(hMipmappedArray: CUmipmappedArray);
    11070 fn cuMemGetHandleForAddressRange(handle: *mut c_void, dptr: CUdeviceptr, size: usize, handleType: CUmemRangeHandleType, flags: u64);
    2000 fn cuMemcpyHtoD(dstDevice: CUdeviceptr_v1, srcHost: *const c_void, ByteCount: u32);
    3020 fn cuMemcpyHtoD_v2(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize) ptds;
    2000 fn cuMemcpyDtoH(dstHost: *mut c_void, srcDevice: CUdeviceptr_v1, ByteCount: u32);
    3020 fn cuMemcpyDtoH_v2(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize) ptds;
    2000 fn cuMemcpyDtoD(dstDevice: CUdeviceptr_v1, srcDevice: CUdeviceptr_v1, ByteCount: u32);
    3020 fn cuMemcpyDtoD_v2(dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize) ptds;
    2000 fn cuMemcpyDtoA(dstArray: CUarray, dstOffset: u32, srcDevice: CUdeviceptr_v1, ByteCount: u32);
    3020 fn cuMemcpyDtoA_v2(dstArray: CUarray, dstOffset: usize, srcDevice: CUdeviceptr, ByteCount: usize) ptds;
    2000 fn cuMemcpyAtoD(dstDevice: CUdeviceptr_v1, srcArray: CUarray, srcOffset: u32, ByteCount: u32);
    3020 fn cuMemcpyAtoD_v2(dstDevice: CUdeviceptr, srcArray: CUarray, srcOffset: usize, ByteCount: usize) ptds;
    2000 fn cuMemcpyHtoA(dstArray: CUarray, dstOffset: u32, srcHost: *const c_void, ByteCount: u32);
    3020 fn cuMemcpyHtoA_v2(dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize) ptds;
    2000 fn cuMemcpyAtoH(dstHost: *mut c_void, srcArray: CUarray, srcOffset: u32, ByteCount: u32);
    3020 fn cuMemcpyAtoH_v2(dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize) ptds;
    2000 fn cuMemcpyAtoA(dstArray: CUarray, dstOffset: u32, srcArray: CUarray, srcOffset: u32, ByteCount: u32);
    3020 fn cuMemcpyAtoA_v2(dstArray: CUarray, dstOffset: usize, srcArray: CUarray, srcOffset: usize, ByteCount: usize) ptds;
    2000 fn cuMemcpyHtoAAsync(dstArray: CUarray, dstOffset: u32, srcHost: *const c_void, ByteCount: u32, hStream: CUstream);
    3020 fn cuMemcpyHtoAAsync_v2(dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize, hStream: CUstream) ptsz;
    2000 fn cuMemcpyAtoHAsync(dstHost: *mut c_void, srcArray: CUarray, srcOffset: u32, ByteCount: u32, hStream: CUstream);
    3020 fn cuMemcpyAtoHAsync_v2(dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize, hStream: CUstream) ptsz;
    2000 fn cuMemcpy2D(pCopy: *const CUDA_MEMCPY2D_v1);
    3020 fn cuMemcpy2D_v2(pCopy: *const CUDA_MEMCPY2D) ptds;
    2000 fn cuMemcpy2DUnaligned(pCopy: *const CUDA_MEMCPY2D_v1);
    3020 fn cuMemcpy2DUnaligned_v2(pCopy: *const CUDA_MEMCPY2D) ptds;
    2000 fn cuMemcpy3D(pCopy: *const CUDA_MEMCPY3D_v1);
    3020 fn cuMemcpy3D_v2(pCopy: *const CUDA_MEMCPY3D) ptds;
    2000 fn cuMemcpyHtoDAsync(dstDevice: CUdeviceptr_v1, srcHost: *const c_void, ByteCount: u32, hStream: CUstream);
    3020 fn cuMemcpyHtoDAsync_v2(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize, hStream: CUstream) ptsz;
    2000 fn cuMemcpyDtoHAsync(dstHost: *mut c_void, srcDevice: CUdeviceptr_v1, ByteCount: u32, hStream: CUstream);
    3020 fn cuMemcpyDtoHAsync_v2(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) ptsz;
    3000 fn cuMemcpyDtoDAsync(dstDevice: CUdeviceptr_v1, srcDevice: CUdeviceptr_v1, ByteCount: u32, hStream: CUstream);
    3020 fn cuMemcpyDtoDAsync_v2(dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) ptsz;
    2000 fn cuMemcpy2DAsync(pCopy: *const CUDA_MEMCPY2D_v1, hStream: CUstream);
    3020 fn cuMemcpy2DAsync_v2(pCopy: *const CUDA_MEMCPY2D, hStream: CUstream) ptsz;
    2000 fn cuMemcpy3DAsync(pCopy: *const CUDA_MEMCPY3D_v1, hStream: CUstream);
    3020 fn cuMemcpy3DAsync_v2(pCopy: *const CUDA_MEMCPY3D, hStream: CUstream) ptsz;
    2000 fn cuMemsetD8(dstDevice: CUdeviceptr_v1, uc: u8, N: u32);
    3020 fn cuMemsetD8_v2(dstDevice: CUdeviceptr, uc: u8, N: usize) ptds;
    2000 fn cuMemsetD16(dstDevice: CUdeviceptr_v1, us: u16, N: u32);
    3020 fn cuMemsetD16_v2(dstDevice: CUdeviceptr, us: u16, N: usize) ptds;
    2000 fn cuMemsetD32(dstDevice: CUdeviceptr_v1, ui: u32, N: u32);
    3020 fn cuMemsetD32_v2(dstDevice: CUdeviceptr, ui: u32, N: usize) ptds;
    2000 fn cuMemsetD2D8(dstDevice: CUdeviceptr_v1, dstPitch: u32, uc: u8, Width: u32, Height: u32);
    3020 fn cuMemsetD2D8_v2(dstDevice: CUdeviceptr, dstPitch: usize, uc: u8, Width: usize, Height: usize) ptds;
    2000 fn cuMemsetD2D16(dstDevice: CUdeviceptr_v1, dstPitch: u32, us: u16, Width: u32, Height: u32);
    3020 fn cuMemsetD2D16_v2(dstDevice: CUdeviceptr, dstPitch: usize, us: u16, Width: usize, Height: usize) ptds;
    2000 fn cuMemsetD2D32(dstDevice: CUdeviceptr_v1, dstPitch: u32, ui: u32, Width: u32, Height: u32);
    3020 fn cuMemsetD2D32_v2(dstDevice: CUdeviceptr, dstPitch: usize, ui: u32, Width: usize, Height: usize) ptds;
    4000 fn cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize) ptds;
    4000 fn cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize, hStream: CUstream) ptsz;
    4000 fn cuMemcpyPeer(dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize) ptds;
    4000 fn cuMemcpyPeerAsync(dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize, hStream: CUstream) ptsz;
    4000 fn cuMemcpy3DPeer(pCopy: *const CUDA_MEMCPY3D_PEER) ptds;
    4000 fn cuMemcpy3DPeerAsync(pCopy: *const CUDA_MEMCPY3D_PEER, hStream: CUstream) ptsz;
    12080 fn cuMemcpyBatchAsync(dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize, attrs: *mut CUmemcpyAttributes, attrsIdxs: *mut usize, numAttrs: usize, failIdx: *mut usize, hStream: CUstream) ptsz;
    13000 fn cuMemcpyBatchAsync_v2(dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize, attrs: *mut CUmemcpyAttributes, attrsIdxs: *mut usize, numAttrs: usize, hStream: CUstream) ptsz;
    12080 fn cuMemcpy3DBatchAsync(numOps: usize, opList: *mut CUDA_MEMCPY3D_BATCH_OP, failIdx: *mut usize, flags: u64, hStream: CUstream) ptsz;
    13000 fn cuMemcpy3DBatchAsync_v2(numOps: usize, opList: *mut CUDA_MEMCPY3D_BATCH_OP, flags: u64, hStream: CUstream) ptsz;
    13020 fn cuMemcpyWithAttributesAsync(dst: CUdeviceptr, src: CUdeviceptr, size: usize, attr: *mut CUmemcpyAttributes, hStream: CUstream) ptsz;
    13020 fn cuMemcpy3DWithAttributesAsync(op: *mut CUDA_MEMCPY3D_BATCH_OP, flags: u64, hStream: CUstream) ptsz;
    3020 fn cuMemsetD8Async(dstDevice: CUdeviceptr, uc: u8, N: usize, hStream: CUstream) ptsz;
    3020 fn cuMemsetD16Async(dstDevice: CUdeviceptr, us: u16, N: usize, hStream: CUstream) ptsz;
    3020 fn cuMemsetD32Async(dstDevice: CUdeviceptr, ui: u32, N: usize, hStream: CUstream) ptsz;
    3020 fn cuMemsetD2D8Async(dstDevice: CUdeviceptr, dstPitch: usize, uc: u8, Width: usize, Height: usize, hStream: CUstream) ptsz;
    3020 fn cuMemsetD2D16Async(dstDevice: CUdeviceptr, dstPitch: usize, us: u16, Width: usize, Height: usize, hStream: CUstream) ptsz;
    3020 fn cuMemsetD2D32Async(dstDevice: CUdeviceptr, dstPitch: usize, ui: u32, Width: usize, Height: usize, hStream: CUstream) ptsz;
    12060 fn cuMemBatchDecompressAsync(paramsArray: *mut CUmemDecompressParams, count: usize, flags: u32, errorIndex: *mut usize, stream: CUstream) ptsz;

    // virtual_memory
    10020 fn cuMemAddressReserve(ptr: *mut CUdeviceptr, size: usize, alignment: usize, addr: CUdeviceptr, flags: u64);
    10020 fn cuMemAddressFree(ptr: CUdeviceptr, size: usize);
    10020 fn cuMemCreate(handle: *mut CUmemGenericAllocationHandle, size: usize, prop: *const CUmemAllocationProp, flags: u64);
    10020 fn cuMemRelease(handle: CUmemGenericAllocationHandle);
    10020 fn cuMemMap(ptr: CUdeviceptr, size: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: u64);
    10020 fn cuMemUnmap(ptr: CUdeviceptr, size: usize);
    10020 fn cuMemSetAccess(ptr: CUdeviceptr, size: usize, desc: *const CUmemAccessDesc, count: usize);
    10020 fn cuMemGetAccess(flags: *mut u64, location: *const CUmemLocation, ptr: CUdeviceptr);
    10020 fn cuMemExportToShareableHandle(shareableHandle: *mut c_void, handle: CUmemGenericAllocationHandle, handleType: CUmemAllocationHandleType, flags: u64);
    10020 fn cuMemImportFromShareableHandle(handle: *mut CUmemGenericAllocationHandle, osHandle: *mut c_void, shHandleType: CUmemAllocationHandleType);
    10020 fn cuMemGetAllocationGranularity(granularity: *mut usize, prop: *const CUmemAllocationProp, option: CUmemAllocationGranularity_flags);
    10020 fn cuMemGetAllocationPropertiesFromHandle(prop: *mut CUmemAllocationProp, handle: CUmemGenericAllocationHandle);
    11000 fn cuMemRetainAllocationHandle(handle: *mut CUmemGenericAllocationHandle, addr: *mut c_void);
    11010 fn cuMemMapArrayAsync(mapInfoList: *mut CUarrayMapInfo, count: u32, hStream: CUstream) ptsz;

    // stream_ordered_memory
    11020 fn cuMemPoolTrimTo(pool: CUmemoryPool, minBytesToKeep: usize);
    11020 fn cuMemPoolSetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void);
    11020 fn cuMemPoolGetAttribute(pool: CUmemoryPool, attr: CUmemPool_attribute, value: *mut c_void);
    11020 fn cuMemPoolSetAccess(pool: CUmemoryPool, map: *const CUmemAccessDesc, count: usize);
    11020 fn cuMemPoolGetAccess(flags: *mut CUmemAccess_flags, memPool: CUmemoryPool, location: *mut CUmemLocation);
    11020 fn cuMemPoolCreate(pool: *mut CUmemoryPool, poolProps: *const CUmemPoolProps);
    11020 fn cuMemPoolDestroy(pool: CUmemoryPool);
    13000 fn cuMemGetDefaultMemPool(pool_out: *mut CUmemoryPool, location: *mut CUmemLocation, type_: CUmemAllocationType);
    13000 fn cuMemGetMemPool(pool: *mut CUmemoryPool, location: *mut CUmemLocation, type_: CUmemAllocationType);
    13000 fn cuMemSetMemPool(location: *mut CUmemLocation, type_: CUmemAllocationType, pool: CUmemoryPool);
    11020 fn cuMemPoolExportToShareableHandle(handle_out: *mut c_void, pool: CUmemoryPool, handleType: CUmemAllocationHandleType, flags: u64);
    11020 fn cuMemPoolImportFromShareableHandle(pool_out: *mut CUmemoryPool, handle: *mut c_void, handleType: CUmemAllocationHandleType, flags: u64);
    11020 fn cuMemPoolExportPointer(shareData_out: *mut CUmemPoolPtrExportData, ptr: CUdeviceptr);
    11020 fn cuMemPoolImportPointer(ptr_out: *mut CUdeviceptr, pool: CUmemoryPool, shareData: *mut CUmemPoolPtrExportData);
    11020 fn cuMemFreeAsync(dptr: CUdeviceptr, hStream: CUstream) ptsz;
    11020 fn cuMemAllocAsync(dptr: *mut CUdeviceptr, bytesize: usize, hStream: CUstream) ptsz;
    11020 fn cuMemAllocFromPoolAsync(dptr: *mut CUdeviceptr, bytesize: usize, pool: CUmemoryPool, hStream: CUstream) ptsz;

    // multicast
    12010 fn cuMulticastCreate(mcHandle: *mut CUmemGenericAllocationHandle, prop: *const CUmulticastObjectProp);
    12010 fn cuMulticastAddDevice(mcHandle: CUmemGenericAllocationHandle, dev: CUdevice);
    12010 fn cuMulticastBindMem(mcHandle: CUmemGenericAllocationHandle, mcOffset: usize, memHandle: CUmemGenericAllocationHandle, memOffset: usize, size: usize, flags: u64);
    13010 fn cuMulticastBindMem_v2(mcHandle: CUmemGenericAllocationHandle, dev: CUdevice, mcOffset: usize, memHandle: CUmemGenericAllocationHandle, memOffset: usize, size: usize, flags: u64);
    12010 fn cuMulticastBindAddr(mcHandle: CUmemGenericAllocationHandle, mcOffset: usize, memptr: CUdeviceptr, size: usize, flags: u64);
    13010 fn cuMulticastBindAddr_v2(mcHandle: CUmemGenericAllocationHandle, dev: CUdevice, mcOffset: usize, memptr: CUdeviceptr, size: usize, flags: u64);
    12010 fn cuMulticastUnbind(mcHandle: CUmemGenericAllocationHandle, dev: CUdevice, mcOffset: usize, size: usize);
    12010 fn cuMulticastGetGranularity(granularity: *mut usize, prop: *const CUmulticastObjectProp, option: CUmulticastGranularity_flags);

    // fabric_clique
    13040 fn cuDeviceGetFabricClusterUuid(uuid: *mut CUuuid, dev: CUdevice);
    13040 fn cuDeviceGetCliqueCount(count: *mut usize, dev: CUdevice);
    13040 fn cuDeviceGetCliqueInfo(cliqueInfo: *mut CUcliqueInfo, count: *mut usize, dev: CUdevice);

    // logical_endpoint
    13030 fn cuLogicalEndpointIdReserve(baseLeId: *mut CUlogicalEndpointId, count: u32);
    13030 fn cuLogicalEndpointIdRelease(baseLeId: CUlogicalEndpointId, count: u32);
    13030 fn cuLogicalEndpointCreate(leId: CUlogicalEndpointId, prop: *const CUlogicalEndpointProp);
    13030 fn cuLogicalEndpointAddDevice(leId: CUlogicalEndpointId, dev: CUdevice);
    13030 fn cuLogicalEndpointDestroy(leId: CUlogicalEndpointId);
    13030 fn cuLogicalEndpointBindAddr(leId: CUlogicalEndpointId, dev: CUdevice, offset: u64, ptr: *mut c_void, size: u64, flags: u64);
    13030 fn cuLogicalEndpointBindMem(leId: CUlogicalEndpointId, dev: CUdevice, offset: u64, memHandle: CUmemGenericAllocationHandle, memOffset: u64, size: u64, flags: u64);
    13030 fn cuLogicalEndpointUnbind(leId: CUlogicalEndpointId, dev: CUdevice, offset: u64, size: u64);
    13030 fn cuLogicalEndpointExport(handle: *mut c_void, leId: CUlogicalEndpointId, handleType: CUlogicalEndpointIpcHandleType);
    13030 fn cuLogicalEndpointImport(leId: CUlogicalEndpointId, handle: *const c_void, handleType: CUlogicalEndpointIpcHandleType);
    13030 fn cuLogicalEndpointGetLimits(bindAlignment: *mut u64, maxSize: *mut u64, prop: *const CUlogicalEndpointProp);
    13030 fn cuLogicalEndpointQuery(leId: CUlogicalEndpointId, count: u32, queryStatus: *mut i32);

    // unified_addressing
    4000 fn cuPointerGetAttribute(data: *mut c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr);
    8000 fn cuMemAdvise(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, device: CUdevice);
    12020 fn cuMemAdvise_v2(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, location: CUmemLocation);
    13040 fn cuMemGetLocationInfo(ptr: CUdeviceptr, size: usize, summaryGranularity: usize, samplingGranularity: usize, location_out: *mut CUmemLocation);
    8000 fn cuMemRangeGetAttribute(data: *mut c_void, dataSize: usize, attribute: CUmem_range_attribute, devPtr: CUdeviceptr, count: usize);
    8000 fn cuMemRangeGetAttributes(data: *mut *mut c_void, dataSizes: *mut usize, attributes: *mut CUmem_range_attribute, numAttributes: usize, devPtr: CUdeviceptr, count: usize);
    6000 fn cuPointerSetAttribute(value: *const c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr);
    7000 fn cuPointerGetAttributes(numAttributes: u32, attributes: *mut CUpointer_attribute, data: *mut *mut c_void, ptr: CUdeviceptr);
    8000 fn cuMemPrefetchAsync(devPtr: CUdeviceptr, count: usize, dstDevice: CUdevice, hStream: CUstream) ptsz;
    12020 fn cuMemPrefetchAsync_v2(devPtr: CUdeviceptr, count: usize, location: CUmemLocation, flags: u32, hStream: CUstream) ptsz;
    13000 fn cuMemPrefetchBatchAsync(dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation, prefetchLocIdxs: *mut usize, numPrefetchLocs: usize, flags: u64, hStream: CUstream) ptsz;
    13000 fn cuMemDiscardBatchAsync(dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, flags: u64, hStream: CUstream) ptsz;
    13000 fn cuMemDiscardAndPrefetchBatchAsync(dptrs: *mut CUdeviceptr, sizes: *mut usize, count: usize, prefetchLocs: *mut CUmemLocation, prefetchLocIdxs: *mut usize, numPrefetchLocs: usize, flags: u64, hStream: CUstream) ptsz;

    // stream
    2000 fn cuStreamCreate(phStream: *mut CUstream, Flags: u32);
    5050 fn cuStreamCreateWithPriority(phStream: *mut CUstream, flags: u32, priority: i32);
    10010 fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode);
    2000 fn cuStreamDestroy(hStream: CUstream);
    4000 fn cuStreamDestroy_v2(hStream: CUstream);
    5050 fn cuStreamGetPriority(hStream: CUstream, priority: *mut i32) ptsz;
    12000 fn cuStreamGetId(hStream: CUstream, streamId: *mut u64) ptsz;
    5050 fn cuStreamGetFlags(hStream: CUstream, flags: *mut u32) ptsz;
    12080 fn cuStreamGetDevice(hStream: CUstream, device: *mut CUdevice) ptsz;
    9020 fn cuStreamGetCtx(hStream: CUstream, pctx: *mut CUcontext) ptsz;
    12050 fn cuStreamGetCtx_v2(hStream: CUstream, pCtx: *mut CUcontext, pGreenCtx: *mut CUgreenCtx) ptsz;
    3020 fn cuStreamWaitEvent(hStream: CUstream, hEvent: CUevent, Flags: u32) ptsz;
    5000 fn cuStreamAddCallback(hStream: CUstream, callback: CUstreamCallback, userData: *mut c_void, flags: u32) ptsz;
    6000 fn cuStreamAttachMemAsync(hStream: CUstream, dptr: CUdeviceptr, length: usize, flags: u32) ptsz;
    2000 fn cuStreamQuery(hStream: CUstream) ptsz;
    2000 fn cuStreamSynchronize(hStream: CUstream) ptsz;
    10000 fn cuStreamBeginCapture(hStream: CUstream) ptsz;
    10010 fn cuStreamBeginCapture_v2(hStream: CUstream, mode: CUstreamCaptureMode) ptsz;
    12030 fn cuStreamBeginCaptureToGraph(hStream: CUstream, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, mode: CUstreamCaptureMode) ptsz;
    13030 fn cuStreamBeginRecaptureToGraph(hStream: CUstream, mode: CUstreamCaptureMode, hGraph: CUgraph, callbackFunc: CUgraphRecaptureCallback, userData: *mut c_void) ptsz;
    10000 fn cuStreamEndCapture(hStream: CUstream, phGraph: *mut CUgraph) ptsz;
    10000 fn cuStreamIsCapturing(hStream: CUstream, captureStatus: *mut CUstreamCaptureStatus) ptsz;
    10010 fn cuStreamGetCaptureInfo(hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64) ptsz;
    11030 fn cuStreamGetCaptureInfo_v2(hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, numDependencies_out: *mut usize) ptsz;
    12030 fn cuStreamGetCaptureInfo_v3(hStream: CUstream, captureStatus_out: *mut CUstreamCaptureStatus, id_out: *mut u64, graph_out: *mut CUgraph, dependencies_out: *mut *const CUgraphNode, edgeData_out: *mut *const CUgraphEdgeData, numDependencies_out: *mut usize) ptsz;
    11000 fn cuStreamCopyAttributes(dstStream: CUstream, srcStream: CUstream) ptsz;
    11000 fn cuStreamGetAttribute(hStream: CUstream, attr: CUstreamAttrID, value: *mut CUstreamAttrValue) ptsz;
    11000 fn cuStreamSetAttribute(hStream: CUstream, attr: CUstreamAttrID, param: *const CUstreamAttrValue) ptsz;
    11030 fn cuStreamUpdateCaptureDependencies(hStream: CUstream, dependencies: *mut CUgraphNode, numDependencies: usize, flags: u32) ptsz;
    12030 fn cuStreamUpdateCaptureDependencies_v2(hStream: CUstream, dependencies: *mut CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, flags: u32) ptsz;
    13010 fn cuStreamBeginCaptureToCig(hStream: CUstream, streamCigCaptureParams: *mut CUstreamCigCaptureParams) ptsz;
    13010 fn cuStreamEndCaptureToCig(hStream: CUstream) ptsz;

    // event
    2000 fn cuEventCreate(phEvent: *mut CUevent, Flags: u32);
    2000 fn cuEventQuery(hEvent: CUevent);
    2000 fn cuEventSynchronize(hEvent: CUevent);
    2000 fn cuEventDestroy(hEvent: CUevent);
    4000 fn cuEventDestroy_v2(hEvent: CUevent);
    2000 fn cuEventElapsedTime(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent);
    12080 fn cuEventElapsedTime_v2(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent);
    2000 fn cuEventRecord(hEvent: CUevent, hStream: CUstream) ptsz;
    11010 fn cuEventRecordWithFlags(hEvent: CUevent, hStream: CUstream, flags: u32) ptsz;

    // external_resource
    10000 fn cuImportExternalMemory(extMem_out: *mut CUexternalMemory, memHandleDesc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC);
    10000 fn cuExternalMemoryGetMappedBuffer(devPtr: *mut CUdeviceptr, extMem: CUexternalMemory, bufferDesc: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC);
    10000 fn cuExternalMemoryGetMappedMipmappedArray(mipmap: *mut CUmipmappedArray, extMem: CUexternalMemory, mipmapDesc: *const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC);
    10000 fn cuDestroyExternalMemory(extMem: CUexternalMemory);
    10000 fn cuImportExternalSemaphore(extSem_out: *mut CUexternalSemaphore, semHandleDesc: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC);
    10000 fn cuDestroyExternalSemaphore(extSem: CUexternalSemaphore);
    10000 fn cuSignalExternalSemaphoresAsync(extSemArray: *const CUexternalSemaphore, paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, numExtSems: u32, stream: CUstream) ptsz;
    10000 fn cuWaitExternalSemaphoresAsync(extSemArray: *const CUexternalSemaphore, paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, numExtSems: u32, stream: CUstream) ptsz;

    // execution
    2020 fn cuFuncGetAttribute(pi: *mut i32, attrib: CUfunction_attribute, hfunc: CUfunction);
    9000 fn cuFuncSetAttribute(hfunc: CUfunction, attrib: CUfunction_attribute, value: i32);
    3000 fn cuFuncSetCacheConfig(hfunc: CUfunction, config: CUfunc_cache);
    11000 fn cuFuncGetModule(hmod: *mut CUmodule, hfunc: CUfunction);
    12030 fn cuFuncGetName(name: *mut *const c_char, hfunc: CUfunction);
    12040 fn cuFuncGetParamInfo(func: CUfunction, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize);
    13020 fn cuFuncGetParamCount(func: CUfunction, paramCount: *mut usize);
    12040 fn cuFuncIsLoaded(state: *mut CUfunctionLoadingState, function: CUfunction);
    12040 fn cuFuncLoad(function: CUfunction);
    2000 fn cuFuncSetBlockShape(hfunc: CUfunction, x: i32, y: i32, z: i32);
    2000 fn cuFuncSetSharedSize(hfunc: CUfunction, bytes: u32);
    2000 fn cuParamSetSize(hfunc: CUfunction, numbytes: u32);
    2000 fn cuParamSeti(hfunc: CUfunction, offset: i32, value: u32);
    2000 fn cuParamSetf(hfunc: CUfunction, offset: i32, value: f32);
    2000 fn cuParamSetv(hfunc: CUfunction, offset: i32, ptr: *mut c_void, numbytes: u32);
    2000 fn cuLaunch(f: CUfunction);
    2000 fn cuLaunchGrid(f: CUfunction, grid_width: i32, grid_height: i32);
    2000 fn cuLaunchGridAsync(f: CUfunction, grid_width: i32, grid_height: i32, hStream: CUstream);
    9000 fn cuLaunchCooperativeKernelMultiDevice(launchParamsList: *mut CUDA_LAUNCH_PARAMS, numDevices: u32, flags: u32);
    2000 fn cuParamSetTexRef(hfunc: CUfunction, texunit: i32, hTexRef: CUtexref);
    4020 fn cuFuncSetSharedMemConfig(hfunc: CUfunction, config: CUsharedconfig);
    4000 fn cuLaunchKernel(f: CUfunction, gridDimX: u32, gridDimY: u32, gridDimZ: u32, blockDimX: u32, blockDimY: u32, blockDimZ: u32, sharedMemBytes: u32, hStream: CUstream, kernelParams: *mut *mut c_void, extra: *mut *mut c_void) ptsz;
    11060 fn cuLaunchKernelEx(config: *const CUlaunchConfig, f: CUfunction, kernelParams: *mut *mut c_void, extra: *mut *mut c_void) ptsz;
    10000 fn cuLaunchHostFunc(hStream: CUstream, fn_: CUhostFn, userData: *mut c_void) ptsz;
    13010 fn cuLaunchHostFunc_v2(hStream: CUstream, fn_: CUhostFn, userData: *mut c_void, syncMode: u32) ptsz;
    9000 fn cuLaunchCooperativeKernel(f: CUfunction, gridDimX: u32, gridDimY: u32, gridDimZ: u32, blockDimX: u32, blockDimY: u32, blockDimZ: u32, sharedMemBytes: u32, hStream: CUstream, kernelParams: *mut *mut c_void) ptsz;

    // graph
    10000 fn cuGraphCreate(phGraph: *mut CUgraph, flags: u32);
    10000 fn cuGraphAddKernelNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1);
    12000 fn cuGraphAddKernelNode_v2(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_KERNEL_NODE_PARAMS);
    10000 fn cuGraphKernelNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS_v1);
    12000 fn cuGraphKernelNodeGetParams_v2(hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS);
    10000 fn cuGraphKernelNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1);
    12000 fn cuGraphKernelNodeSetParams_v2(hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS);
    10000 fn cuGraphAddMemcpyNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext);
    10000 fn cuGraphMemcpyNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMCPY3D);
    10000 fn cuGraphMemcpyNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMCPY3D);
    10000 fn cuGraphAddMemsetNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext);
    10000 fn cuGraphMemsetNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_MEMSET_NODE_PARAMS);
    10000 fn cuGraphMemsetNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_MEMSET_NODE_PARAMS);
    10000 fn cuGraphAddHostNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_HOST_NODE_PARAMS);
    10000 fn cuGraphHostNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUDA_HOST_NODE_PARAMS);
    10000 fn cuGraphHostNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS);
    10000 fn cuGraphAddChildGraphNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, childGraph: CUgraph);
    10000 fn cuGraphChildGraphNodeGetGraph(hNode: CUgraphNode, phGraph: *mut CUgraph);
    10000 fn cuGraphAddEmptyNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize);
    11010 fn cuGraphAddEventRecordNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, event: CUevent);
    11010 fn cuGraphEventRecordNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent);
    11010 fn cuGraphEventRecordNodeSetEvent(hNode: CUgraphNode, event: CUevent);
    11010 fn cuGraphAddEventWaitNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, event: CUevent);
    11010 fn cuGraphEventWaitNodeGetEvent(hNode: CUgraphNode, event_out: *mut CUevent);
    11010 fn cuGraphEventWaitNodeSetEvent(hNode: CUgraphNode, event: CUevent);
    11020 fn cuGraphAddExternalSemaphoresSignalNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
    11020 fn cuGraphExternalSemaphoresSignalNodeGetParams(hNode: CUgraphNode, params_out: *mut CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
    11020 fn cuGraphExternalSemaphoresSignalNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
    11020 fn cuGraphAddExternalSemaphoresWaitNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
    11020 fn cuGraphExternalSemaphoresWaitNodeGetParams(hNode: CUgraphNode, params_out: *mut CUDA_EXT_SEM_WAIT_NODE_PARAMS);
    11020 fn cuGraphExternalSemaphoresWaitNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
    11070 fn cuGraphAddBatchMemOpNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS);
    11070 fn cuGraphBatchMemOpNodeGetParams(hNode: CUgraphNode, nodeParams_out: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS);
    11070 fn cuGraphBatchMemOpNodeSetParams(hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS);
    11070 fn cuGraphExecBatchMemOpNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS);
    11040 fn cuGraphAddMemAllocNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
    11040 fn cuGraphMemAllocNodeGetParams(hNode: CUgraphNode, params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS);
    11040 fn cuGraphAddMemFreeNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, dptr: CUdeviceptr);
    11040 fn cuGraphMemFreeNodeGetParams(hNode: CUgraphNode, dptr_out: *mut CUdeviceptr);
    11040 fn cuDeviceGraphMemTrim(device: CUdevice);
    11040 fn cuDeviceGetGraphMemAttribute(device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void);
    11040 fn cuDeviceSetGraphMemAttribute(device: CUdevice, attr: CUgraphMem_attribute, value: *mut c_void);
    10000 fn cuGraphClone(phGraphClone: *mut CUgraph, originalGraph: CUgraph);
    10000 fn cuGraphNodeFindInClone(phNode: *mut CUgraphNode, hOriginalNode: CUgraphNode, hClonedGraph: CUgraph);
    10000 fn cuGraphNodeGetType(hNode: CUgraphNode, type_: *mut CUgraphNodeType);
    13010 fn cuGraphNodeGetContainingGraph(hNode: CUgraphNode, phGraph: *mut CUgraph);
    13010 fn cuGraphNodeGetLocalId(hNode: CUgraphNode, nodeId: *mut u32);
    13010 fn cuGraphNodeGetToolsId(hNode: CUgraphNode, toolsNodeId: *mut u64);
    13010 fn cuGraphGetId(hGraph: CUgraph, graphId: *mut u32);
    13010 fn cuGraphExecGetId(hGraphExec: CUgraphExec, graphId: *mut u32);
    10000 fn cuGraphGetNodes(hGraph: CUgraph, nodes: *mut CUgraphNode, numNodes: *mut usize);
    10000 fn cuGraphGetRootNodes(hGraph: CUgraph, rootNodes: *mut CUgraphNode, numRootNodes: *mut usize);
    10000 fn cuGraphGetEdges(hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, numEdges: *mut usize);
    12030 fn cuGraphGetEdges_v2(hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numEdges: *mut usize);
    10000 fn cuGraphNodeGetDependencies(hNode: CUgraphNode, dependencies: *mut CUgraphNode, numDependencies: *mut usize);
    12030 fn cuGraphNodeGetDependencies_v2(hNode: CUgraphNode, dependencies: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numDependencies: *mut usize);
    10000 fn cuGraphNodeGetDependentNodes(hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, numDependentNodes: *mut usize);
    12030 fn cuGraphNodeGetDependentNodes_v2(hNode: CUgraphNode, dependentNodes: *mut CUgraphNode, edgeData: *mut CUgraphEdgeData, numDependentNodes: *mut usize);
    10000 fn cuGraphAddDependencies(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize);
    12030 fn cuGraphAddDependencies_v2(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData, numDependencies: usize);
    10000 fn cuGraphRemoveDependencies(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, numDependencies: usize);
    12030 fn cuGraphRemoveDependencies_v2(hGraph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, edgeData: *const CUgraphEdgeData, numDependencies: usize);
    10000 fn cuGraphDestroyNode(hNode: CUgraphNode);
    11040 fn cuGraphInstantiateWithFlags(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, flags: u64);
    12000 fn cuGraphExecGetFlags(hGraphExec: CUgraphExec, flags: *mut u64);
    10010 fn cuGraphExecKernelNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS_v1);
    12000 fn cuGraphExecKernelNodeSetParams_v2(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_KERNEL_NODE_PARAMS);
    10020 fn cuGraphExecMemcpyNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, copyParams: *const CUDA_MEMCPY3D, ctx: CUcontext);
    10020 fn cuGraphExecMemsetNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, memsetParams: *const CUDA_MEMSET_NODE_PARAMS, ctx: CUcontext);
    10020 fn cuGraphExecHostNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_HOST_NODE_PARAMS);
    11010 fn cuGraphExecChildGraphNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, childGraph: CUgraph);
    11010 fn cuGraphExecEventRecordNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent);
    11010 fn cuGraphExecEventWaitNodeSetEvent(hGraphExec: CUgraphExec, hNode: CUgraphNode, event: CUevent);
    11020 fn cuGraphExecExternalSemaphoresSignalNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS);
    11020 fn cuGraphExecExternalSemaphoresWaitNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS);
    11060 fn cuGraphNodeSetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: u32);
    11060 fn cuGraphNodeGetEnabled(hGraphExec: CUgraphExec, hNode: CUgraphNode, isEnabled: *mut u32);
    10000 fn cuGraphExecDestroy(hGraphExec: CUgraphExec);
    10000 fn cuGraphDestroy(hGraph: CUgraph);
    10020 fn cuGraphExecUpdate(hGraphExec: CUgraphExec, hGraph: CUgraph, hErrorNode_out: *mut CUgraphNode, updateResult_out: *mut CUgraphExecUpdateResult);
    12000 fn cuGraphExecUpdate_v2(hGraphExec: CUgraphExec, hGraph: CUgraph, resultInfo: *mut CUgraphExecUpdateResultInfo);
    11000 fn cuGraphKernelNodeCopyAttributes(dst: CUgraphNode, src: CUgraphNode);
    11000 fn cuGraphKernelNodeGetAttribute(hNode: CUgraphNode, attr: CUkernelNodeAttrID, value_out: *mut CUkernelNodeAttrValue);
    11000 fn cuGraphKernelNodeSetAttribute(hNode: CUgraphNode, attr: CUkernelNodeAttrID, value: *const CUkernelNodeAttrValue);
    11030 fn cuGraphDebugDotPrint(hGraph: CUgraph, path: *const c_char, flags: u32);
    11030 fn cuUserObjectCreate(object_out: *mut CUuserObject, ptr: *mut c_void, destroy: CUhostFn, initialRefcount: u32, flags: u32);
    11030 fn cuUserObjectRetain(object: CUuserObject, count: u32);
    11030 fn cuUserObjectRelease(object: CUuserObject, count: u32);
    11030 fn cuGraphRetainUserObject(graph: CUgraph, object: CUuserObject, count: u32, flags: u32);
    11030 fn cuGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: u32);
    12020 fn cuGraphAddNode(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *mut CUgraphNodeParams);
    12030 fn cuGraphAddNode_v2(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, nodeParams: *mut CUgraphNodeParams);
    13040 fn cuGraphAddNode_v3(phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, dependencyData: *const CUgraphEdgeData, numDependencies: usize, nodeParams: *mut CUgraphNodeParams);
    12020 fn cuGraphNodeSetParams(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
    13040 fn cuGraphNodeSetParams_v2(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
    13020 fn cuGraphNodeGetParams(hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
    12020 fn cuGraphExecNodeSetParams(hGraphExec: CUgraphExec, hNode: CUgraphNode, nodeParams: *mut CUgraphNodeParams);
    12030 fn cuGraphConditionalHandleCreate(pHandle_out: *mut CUgraphConditionalHandle, hGraph: CUgraph, ctx: CUcontext, defaultLaunchValue: u32, flags: u32);
    12000 fn cuGraphInstantiateWithParams(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS) ptsz;
    11010 fn cuGraphUpload(hGraph: CUgraphExec, hStream: CUstream) ptsz;
    10000 fn cuGraphLaunch(hGraph: CUgraphExec, hStream: CUstream) ptsz;
    10000 fn cuGraphInstantiate(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, phErrorNode: *mut CUgraphNode, logBuffer: *mut c_char, bufferSize: usize);
    11000 fn cuGraphInstantiate_v2(phGraphExec: *mut CUgraphExec, hGraph: CUgraph, phErrorNode: *mut CUgraphNode, logBuffer: *mut c_char, bufferSize: usize);

    // occupancy
    6050 fn cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks: *mut i32, func: CUfunction, blockSize: i32, dynamicSMemSize: usize);
    7000 fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks: *mut i32, func: CUfunction, blockSize: i32, dynamicSMemSize: usize, flags: u32);
    6050 fn cuOccupancyMaxPotentialBlockSize(minGridSize: *mut i32, blockSize: *mut i32, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: i32);
    7000 fn cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize: *mut i32, blockSize: *mut i32, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: i32, flags: u32);
    10020 fn cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize: *mut usize, func: CUfunction, numBlocks: i32, blockSize: i32);
    11070 fn cuOccupancyMaxPotentialClusterSize(clusterSize: *mut i32, func: CUfunction, config: *const CUlaunchConfig);
    11070 fn cuOccupancyMaxActiveClusters(numClusters: *mut i32, func: CUfunction, config: *const CUlaunchConfig);

    // texref
    2000 fn cuTexRefSetArray(hTexRef: CUtexref, hArray: CUarray, Flags: u32);
    5000 fn cuTexRefSetMipmappedArray(hTexRef: CUtexref, hMipmappedArray: CUmipmappedArray, Flags: u32);
    2000 fn cuTexRefSetAddress(ByteOffset: *mut u32, hTexRef: CUtexref, dptr: CUdeviceptr_v1, bytes: u32);
    3020 fn cuTexRefSetAddress_v2(ByteOffset: *mut usize, hTexRef: CUtexref, dptr: CUdeviceptr, bytes: usize);
    2020 fn cuTexRefSetAddress2D(hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR_v1, dptr: CUdeviceptr_v1, Pitch: u32);
    3020 fn cuTexRefSetAddress2D_v2(hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR, dptr: CUdeviceptr, Pitch: usize);
    4010 fn cuTexRefSetAddress2D_v3(hTexRef: CUtexref, desc: *const CUDA_ARRAY_DESCRIPTOR, dptr: CUdeviceptr, Pitch: usize);
    2000 fn cuTexRefSetFormat(hTexRef: CUtexref, fmt: CUarray_format, NumPackedComponents: i32);
    2000 fn cuTexRefSetAddressMode(hTexRef: CUtexref, dim: i32, am: CUaddress_mode);
    2000 fn cuTexRefSetFilterMode(hTexRef: CUtexref, fm: CUfilter_mode);
    5000 fn cuTexRefSetMipmapFilterMode(hTexRef: CUtexref, fm: CUfilter_mode);
    5000 fn cuTexRefSetMipmapLevelBias(hTexRef: CUtexref, bias: f32);
    5000 fn cuTexRefSetMipmapLevelClamp(hTexRef: CUtexref, minMipmapLevelClamp: f32, maxMipmapLevelClamp: f32);
    5000 fn cuTexRefSetMaxAnisotropy(hTexRef: CUtexref, maxAniso: u32);
    8000 fn cuTexRefSetBorderColor(hTexRef: CUtexref, pBorderColor: *mut f32);
    2000 fn cuTexRefSetFlags(hTexRef: CUtexref, Flags: u32);
    2000 fn cuTexRefGetAddress(pdptr: *mut CUdeviceptr_v1, hTexRef: CUtexref);
    3020 fn cuTexRefGetAddress_v2(pdptr: *mut CUdeviceptr, hTexRef: CUtexref);
    2000 fn cuTexRefGetArray(phArray: *mut CUarray, hTexRef: CUtexref);
    5000 fn cuTexRefGetMipmappedArray(phMipmappedArray: *mut CUmipmappedArray, hTexRef: CUtexref);
    2000 fn cuTexRefGetAddressMode(pam: *mut CUaddress_mode, hTexRef: CUtexref, dim: i32);
    2000 fn cuTexRefGetFilterMode(pfm: *mut CUfilter_mode, hTexRef: CUtexref);
    2000 fn cuTexRefGetFormat(pFormat: *mut CUarray_format, pNumChannels: *mut i32, hTexRef: CUtexref);
    5000 fn cuTexRefGetMipmapFilterMode(pfm: *mut CUfilter_mode, hTexRef: CUtexref);
    5000 fn cuTexRefGetMipmapLevelBias(pbias: *mut f32, hTexRef: CUtexref);
    5000 fn cuTexRefGetMipmapLevelClamp(pminMipmapLevelClamp: *mut f32, pmaxMipmapLevelClamp: *mut f32, hTexRef: CUtexref);
    5000 fn cuTexRefGetMaxAnisotropy(pmaxAniso: *mut i32, hTexRef: CUtexref);
    8000 fn cuTexRefGetBorderColor(pBorderColor: *mut f32, hTexRef: CUtexref);
    2000 fn cuTexRefGetFlags(pFlags: *mut u32, hTexRef: CUtexref);
    2000 fn cuTexRefCreate(pTexRef: *mut CUtexref);
    2000 fn cuTexRefDestroy(hTexRef: CUtexref);

    // surfref
    3000 fn cuSurfRefSetArray(hSurfRef: CUsurfref, hArray: CUarray, Flags: u32);
    3000 fn cuSurfRefGetArray(phArray: *mut CUarray, hSurfRef: CUsurfref);

    // texobject
    5000 fn cuTexObjectCreate(pTexObject: *mut CUtexObject, pResDesc: *const CUDA_RESOURCE_DESC, pTexDesc: *const CUDA_TEXTURE_DESC, pResViewDesc: *const CUDA_RESOURCE_VIEW_DESC);
    5000 fn cuTexObjectDestroy(texObject: CUtexObject);
    5000 fn cuTexObjectGetResourceDesc(pResDesc: *mut CUDA_RESOURCE_DESC, texObject: CUtexObject);
    5000 fn cuTexObjectGetTextureDesc(pTexDesc: *mut CUDA_TEXTURE_DESC, texObject: CUtexObject);
    5000 fn cuTexObjectGetResourceViewDesc(pResViewDesc: *mut CUDA_RESOURCE_VIEW_DESC, texObject: CUtexObject);

    // surfobject
    5000 fn cuSurfObjectCreate(pSurfObject: *mut CUsurfObject, pResDesc: *const CUDA_RESOURCE_DESC);
    5000 fn cuSurfObjectDestroy(surfObject: CUsurfObject);
    5000 fn cuSurfObjectGetResourceDesc(pResDesc: *mut CUDA_RESOURCE_DESC, surfObject: CUsurfObject);

    // tensor_map
    12000 fn cuTensorMapEncodeTiled(tensorMap: *mut CUtensorMap, tensorDataType: CUtensorMapDataType, tensorRank: u32, globalAddress: *mut c_void, globalDim: *const u64, globalStrides: *const u64, boxDim: *const u32, elementStrides: *const u32, interleave: CUtensorMapInterleave, swizzle: CUtensorMapSwizzle, l2Promotion: CUtensorMapL2promotion, oobFill: CUtensorMapFloatOOBfill);
    12000 fn cuTensorMapEncodeIm2col(tensorMap: *mut CUtensorMap, tensorDataType: CUtensorMapDataType, tensorRank: u32, globalAddress: *mut c_void, globalDim: *const u64, globalStrides: *const u64, pixelBoxLowerCorner: *const i32, pixelBoxUpperCorner: *const i32, channelsPerPixel: u32, pixelsPerColumn: u32, elementStrides: *const u32, interleave: CUtensorMapInterleave, swizzle: CUtensorMapSwizzle, l2Promotion: CUtensorMapL2promotion, oobFill: CUtensorMapFloatOOBfill);
    12080 fn cuTensorMapEncodeIm2colWide(tensorMap: *mut CUtensorMap, tensorDataType: CUtensorMapDataType, tensorRank: u32, globalAddress: *mut c_void, globalDim: *const u64, globalStrides: *const u64, pixelBoxLowerCornerWidth: i32, pixelBoxUpperCornerWidth: i32, channelsPerPixel: u32, pixelsPerColumn: u32, elementStrides: *const u32, interleave: CUtensorMapInterleave, mode: CUtensorMapIm2ColWideMode, swizzle: CUtensorMapSwizzle, l2Promotion: CUtensorMapL2promotion, oobFill: CUtensorMapFloatOOBfill);
    12000 fn cuTensorMapReplaceAddress(tensorMap: *mut CUtensorMap, globalAddress: *mut c_void);
    13050 fn cuTensorMapSetAllocationClass(tensorMap: *mut CUtensorMap, allocClass: CUtensorMapAllocClass, outAllocClass: *mut CUtensorMapAllocClass);

    // peer_access
    4000 fn cuDeviceCanAccessPeer(canAccessPeer: *mut i32, dev: CUdevice, peerDev: CUdevice);
    4000 fn cuCtxEnablePeerAccess(peerContext: CUcontext, Flags: u32);
    4000 fn cuCtxDisablePeerAccess(peerContext: CUcontext);
    8000 fn cuDeviceGetP2PAttribute(value: *mut i32, attrib: CUdevice_P2PAttribute, srcDevice: CUdevice, dstDevice: CUdevice);
    13000 fn cuDeviceGetP2PAtomicCapabilities(capabilities: *mut u32, operations: *const CUatomicOperation, count: u32, srcDevice: CUdevice, dstDevice: CUdevice);

    // graphics_interop
    3000 fn cuGraphicsUnregisterResource(resource: CUgraphicsResource);
    3000 fn cuGraphicsSubResourceGetMappedArray(pArray: *mut CUarray, resource: CUgraphicsResource, arrayIndex: u32, mipLevel: u32);
    5000 fn cuGraphicsResourceGetMappedMipmappedArray(pMipmappedArray: *mut CUmipmappedArray, resource: CUgraphicsResource);
    3000 fn cuGraphicsResourceGetMappedPointer(pDevPtr: *mut CUdeviceptr_v1, pSize: *mut u32, resource: CUgraphicsResource);
    3020 fn cuGraphicsResourceGetMappedPointer_v2(pDevPtr: *mut CUdeviceptr, pSize: *mut usize, resource: CUgraphicsResource);
    3000 fn cuGraphicsResourceSetMapFlags(resource: CUgraphicsResource, flags: u32);
    6050 fn cuGraphicsResourceSetMapFlags_v2(resource: CUgraphicsResource, flags: u32);
    3000 fn cuGraphicsMapResources(count: u32, resources: *mut CUgraphicsResource, hStream: CUstream) ptsz;
    3000 fn cuGraphicsUnmapResources(count: u32, resources: *mut CUgraphicsResource, hStream: CUstream) ptsz;

    // entry_point
    11030 fn cuGetProcAddress(symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: i32, flags: u64);
    12000 fn cuGetProcAddress_v2(symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: i32, flags: u64, symbolStatus: *mut CUdriverProcAddressQueryResult);

    // coredump
    12010 fn cuCoredumpGetAttribute(attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
    12010 fn cuCoredumpGetAttributeGlobal(attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
    12010 fn cuCoredumpSetAttribute(attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
    12010 fn cuCoredumpSetAttributeGlobal(attrib: CUcoredumpSettings, value: *mut c_void, size: *mut usize);
    13020 fn cuCoredumpRegisterStartCallback(callback: CUcoredumpStatusCallback, userData: *mut c_void, callbackOut: *mut CUcoredumpCallbackHandle);
    13020 fn cuCoredumpRegisterCompleteCallback(callback: CUcoredumpStatusCallback, userData: *mut c_void, callbackOut: *mut CUcoredumpCallbackHandle);
    13020 fn cuCoredumpDeregisterStartCallback(callback: CUcoredumpCallbackHandle);
    13020 fn cuCoredumpDeregisterCompleteCallback(callback: CUcoredumpCallbackHandle);

    // export_table
    3000 fn cuGetExportTable(ppExportTable: *mut *const c_void, pExportTableId: *const CUuuid);

    // green_context
    12040 fn cuGreenCtxCreate(phCtx: *mut CUgreenCtx, desc: CUdevResourceDesc, dev: CUdevice, flags: u32);
    12040 fn cuGreenCtxDestroy(hCtx: CUgreenCtx);
    12040 fn cuCtxFromGreenCtx(pContext: *mut CUcontext, hCtx: CUgreenCtx);
    12040 fn cuDeviceGetDevResource(device: CUdevice, resource: *mut CUdevResource, type_: CUdevResourceType);
    12040 fn cuCtxGetDevResource(hCtx: CUcontext, resource: *mut CUdevResource, type_: CUdevResourceType);
    12040 fn cuGreenCtxGetDevResource(hCtx: CUgreenCtx, resource: *mut CUdevResource, type_: CUdevResourceType);
    12040 fn cuDevSmResourceSplitByCount(result: *mut CUdevResource, nbGroups: *mut u32, input: *const CUdevResource, remainder: *mut CUdevResource, flags: u32, minCount: u32);
    13010 fn cuDevSmResourceSplit(result: *mut CUdevResource, nbGroups: u32, input: *const CUdevResource, remainder: *mut CUdevResource, flags: u32, groupParams: *mut CU_DEV_SM_RESOURCE_GROUP_PARAMS);
    12040 fn cuDevResourceGenerateDesc(phDesc: *mut CUdevResourceDesc, resources: *mut CUdevResource, nbResources: u32);
    12040 fn cuGreenCtxRecordEvent(hCtx: CUgreenCtx, hEvent: CUevent);
    12040 fn cuGreenCtxWaitEvent(hCtx: CUgreenCtx, hEvent: CUevent);
    12040 fn cuStreamGetGreenCtx(hStream: CUstream, phCtx: *mut CUgreenCtx);
    12050 fn cuGreenCtxStreamCreate(phStream: *mut CUstream, greenCtx: CUgreenCtx, flags: u32, priority: i32);
    12090 fn cuGreenCtxGetId(greenCtx: CUgreenCtx, greenCtxId: *mut u64);
    13010 fn cuStreamGetDevResource(hStream: CUstream, resource: *mut CUdevResource, type_: CUdevResourceType) ptsz;

    // logs
    12090 fn cuLogsRegisterCallback(callbackFunc: CUlogsCallback, userData: *mut c_void, callback_out: *mut CUlogsCallbackHandle);
    12090 fn cuLogsUnregisterCallback(callback: CUlogsCallbackHandle);
    12090 fn cuLogsCurrent(iterator_out: *mut CUlogIterator, flags: u32);
    12090 fn cuLogsDumpToFile(iterator: *mut CUlogIterator, pathToFile: *const c_char, flags: u32);
    12090 fn cuLogsDumpToMemory(iterator: *mut CUlogIterator, buffer: *mut c_char, size: *mut usize, flags: u32);

    // stream_memop
    8000 fn cuStreamWriteValue32(stream: CUstream, addr: CUdeviceptr, value: u32, flags: u32) ptsz;
    11070 fn cuStreamWriteValue32_v2(stream: CUstream, addr: CUdeviceptr, value: u32, flags: u32) ptsz;
    8000 fn cuStreamWaitValue32(stream: CUstream, addr: CUdeviceptr, value: u32, flags: u32) ptsz;
    11070 fn cuStreamWaitValue32_v2(stream: CUstream, addr: CUdeviceptr, value: u32, flags: u32) ptsz;
    9000 fn cuStreamWriteValue64(stream: CUstream, addr: CUdeviceptr, value: u64, flags: u32) ptsz;
    11070 fn cuStreamWriteValue64_v2(stream: CUstream, addr: CUdeviceptr, value: u64, flags: u32) ptsz;
    9000 fn cuStreamWaitValue64(stream: CUstream, addr: CUdeviceptr, value: u64, flags: u32) ptsz;
    11070 fn cuStreamWaitValue64_v2(stream: CUstream, addr: CUdeviceptr, value: u64, flags: u32) ptsz;
    8000 fn cuStreamBatchMemOp(stream: CUstream, count: u32, paramArray: *mut CUstreamBatchMemOpParams, flags: u32) ptsz;
    11070 fn cuStreamBatchMemOp_v2(stream: CUstream, count: u32, paramArray: *mut CUstreamBatchMemOpParams, flags: u32) ptsz;

    // fabric_copy
    13050 fn cuFabricCpyBatchAsync(numOps: usize, opList: *mut CUDA_FABRIC_COPY_BATCH_OP, flags: u64, hStream: CUstream) ptsz;

    // checkpoint
    12080 fn cuCheckpointProcessGetRestoreThreadId(pid: i32, tid: *mut i32);
    12080 fn cuCheckpointProcessGetState(pid: i32, state: *mut CUprocessState);
    12080 fn cuCheckpointProcessLock(pid: i32, args: *mut CUcheckpointLockArgs);
    12080 fn cuCheckpointProcessCheckpoint(pid: i32, args: *mut CUcheckpointCheckpointArgs);
    12080 fn cuCheckpointProcessRestore(pid: i32, args: *mut CUcheckpointRestoreArgs);
    13040 fn cuCheckpointOperationComplete(handle: CUcheckpointOperationHandle);
    12080 fn cuCheckpointProcessUnlock(pid: i32, args: *mut CUcheckpointUnlockArgs);

    // profiler
    4000 fn cuProfilerInitialize(configFile: *const c_char, outputFile: *const c_char, outputMode: CUoutput_mode);
    4000 fn cuProfilerStart();
    4000 fn cuProfilerStop();

    // gl
    3000 fn cuGraphicsGLRegisterBuffer(pCudaResource: *mut CUgraphicsResource, buffer: u32, Flags: u32);
    3000 fn cuGraphicsGLRegisterImage(pCudaResource: *mut CUgraphicsResource, image: u32, target: u32, Flags: u32);
    4010 fn cuGLGetDevices(pCudaDeviceCount: *mut u32, pCudaDevices: *mut CUdevice, cudaDeviceCount: u32, deviceList: CUGLDeviceList);
    6050 fn cuGLGetDevices_v2(pCudaDeviceCount: *mut u32, pCudaDevices: *mut CUdevice, cudaDeviceCount: u32, deviceList: CUGLDeviceList);
    2000 fn cuGLCtxCreate(pCtx: *mut CUcontext, Flags: u32, device: CUdevice);
    3020 fn cuGLCtxCreate_v2(pCtx: *mut CUcontext, Flags: u32, device: CUdevice);
    2000 fn cuGLInit();
    2000 fn cuGLRegisterBufferObject(buffer: u32);
    2000 fn cuGLUnmapBufferObject(buffer: u32);
    2000 fn cuGLUnregisterBufferObject(buffer: u32);
    2030 fn cuGLSetBufferObjectMapFlags(buffer: u32, Flags: u32);
    2030 fn cuGLUnmapBufferObjectAsync(buffer: u32, hStream: CUstream);
    2000 fn cuGLMapBufferObject(dptr: *mut CUdeviceptr_v1, size: *mut u32, buffer: u32);
    3020 fn cuGLMapBufferObject_v2(dptr: *mut CUdeviceptr, size: *mut usize, buffer: u32) ptds;
    2030 fn cuGLMapBufferObjectAsync(dptr: *mut CUdeviceptr_v1, size: *mut u32, buffer: u32, hStream: CUstream);
    3020 fn cuGLMapBufferObjectAsync_v2(dptr: *mut CUdeviceptr, size: *mut usize, buffer: u32, hStream: CUstream) ptsz;
}
