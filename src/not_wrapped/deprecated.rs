//! Functions that NVIDIA has replaced.

use super::{NotWrapped, groups};

groups! { Deprecated:
    "texture and surface references, which CUDA 12 took out of kernels; objects replace them":
        cuModuleGetTexRef cuModuleGetSurfRef cuParamSetTexRef cuTexRefSetArray
        cuTexRefSetMipmappedArray cuTexRefSetAddress_v2 cuTexRefSetAddress2D_v3 cuTexRefSetFormat
        cuTexRefSetAddressMode cuTexRefSetFilterMode cuTexRefSetMipmapFilterMode
        cuTexRefSetMipmapLevelBias cuTexRefSetMipmapLevelClamp cuTexRefSetMaxAnisotropy
        cuTexRefSetBorderColor cuTexRefSetFlags cuTexRefGetAddress_v2 cuTexRefGetArray
        cuTexRefGetMipmappedArray cuTexRefGetAddressMode cuTexRefGetFilterMode cuTexRefGetFormat
        cuTexRefGetMipmapFilterMode cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp
        cuTexRefGetMaxAnisotropy cuTexRefGetBorderColor cuTexRefGetFlags cuTexRefCreate
        cuTexRefDestroy cuSurfRefSetArray cuSurfRefGetArray;

    "launching in steps that set the kernel up; `cuLaunchKernel` does it in one since CUDA 4.0":
        cuFuncSetBlockShape cuFuncSetSharedSize cuParamSetSize cuParamSeti cuParamSetf cuParamSetv
        cuLaunch cuLaunchGrid cuLaunchGridAsync;

    "replaced by device attributes":
        cuDeviceGetProperties cuDeviceComputeCapability;

    "counted use of a context, which ownership replaces":
        cuCtxAttach cuCtxDetach;

    "the width of shared memory banks, a choice that only compute capability 3.x has":
        cuCtxGetSharedMemConfig cuCtxSetSharedMemConfig cuFuncSetSharedMemConfig;

    "one launch on several devices, which CUDA 11.3 deprecated":
        cuLaunchCooperativeKernelMultiDevice;

    "setting up a profiler of CUDA 4 by a file, which CUDA 12 took out":
        cuProfilerInitialize;

    "OpenGL's buffers without resources (before CUDA 3.0), and contexts made for OpenGL, which any serves since CUDA 5: see \
     `graphics`":
        cuGLCtxCreate_v2 cuGLInit cuGLRegisterBufferObject cuGLUnmapBufferObject
        cuGLUnregisterBufferObject cuGLSetBufferObjectMapFlags cuGLUnmapBufferObjectAsync
        cuGLMapBufferObject_v2 cuGLMapBufferObjectAsync_v2;
}
