//! Structs of the runtime API without a driver struct of the same layout.

use core::ffi::c_void;

use cuprum_sys::{CUarray, CUcontext, CUgraphNode, CUgraphRecaptureStatus, CUlaunchAttribute, CUstream};

use crate::error::cudaError;

#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with the headers"))]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

/// Declares C structs, with a list of their fields.
macro_rules! c_structs {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $ty:ty,)* })*) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub(crate) struct $name { $( pub(crate) $field: $ty, )* }

        impl $name {
            /// The fields, for the comparison with the headers.
            #[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with the headers"))]
            pub(crate) const FIELDS: &'static [Field] = &[$( Field {
                name: stringify!($field),
                offset: core::mem::offset_of!($name, $field),
                size: size_of::<$ty>(),
            } ),*];
        }
    )*};
}

c_structs! {
    dim3 {
        x: u32,
        y: u32,
        z: u32,
    }

    cudaFuncAttributes {
        sharedSizeBytes: usize,
        constSizeBytes: usize,
        localSizeBytes: usize,
        maxThreadsPerBlock: i32,
        numRegs: i32,
        ptxVersion: i32,
        binaryVersion: i32,
        cacheModeCA: i32,
        maxDynamicSharedSizeBytes: i32,
        preferredShmemCarveout: i32,
        clusterDimMustBeSet: i32,
        requiredClusterWidth: i32,
        requiredClusterHeight: i32,
        requiredClusterDepth: i32,
        clusterSchedulingPolicyPreference: i32,
        nonPortableClusterSizeAllowed: i32,
        reserved: [i32; 16],
    }

    /// Attributes of an address; from CUDA 13 on, 64 zero bytes follow.
    cudaPointerAttributes {
        r#type: i32,
        device: i32,
        devicePointer: *mut c_void,
        hostPointer: *mut c_void,
    }

    /// Extents of a box, in bytes along the width.
    cudaExtent {
        width: usize,
        height: usize,
        depth: usize,
    }

    /// Memory whose rows begin `pitch` bytes apart.
    cudaPitchedPtr {
        ptr: *mut c_void,
        pitch: usize,
        xsize: usize,
        ysize: usize,
    }

    cudaPos {
        x: usize,
        y: usize,
        z: usize,
    }

    cudaMemcpy3DParms {
        srcArray: CUarray,
        srcPos: cudaPos,
        srcPtr: cudaPitchedPtr,
        dstArray: CUarray,
        dstPos: cudaPos,
        dstPtr: cudaPitchedPtr,
        extent: cudaExtent,
        kind: u32,
    }

    /// A copy of a box between devices.
    cudaMemcpy3DPeerParms {
        srcArray: CUarray,
        srcPos: cudaPos,
        srcPtr: cudaPitchedPtr,
        srcDevice: i32,
        dstArray: CUarray,
        dstPos: cudaPos,
        dstPtr: cudaPitchedPtr,
        dstDevice: i32,
        extent: cudaExtent,
    }

    /// Up to CUDA 13.0, `ctx` is reserved.
    cudaMemcpyNodeParams {
        flags: i32,
        reserved: i32,
        ctx: CUcontext,
        copyParams: cudaMemcpy3DParms,
    }

    /// A node of any kind. The driver's struct has the same size and mostly the same contents.
    cudaGraphNodeParams {
        r#type: u32,
        reserved0: [i32; 3],
        reserved1: [i64; 29],
        reserved2: i64,
    }

    /// Memory that a texture or a surface reads; up to CUDA 12 it ends here.
    cudaResourceDesc {
        resType: u32,
        res: [u64; 7],
    }

    /// Settings with which a texture is read.
    cudaTextureDesc {
        addressMode: [u32; 3],
        filterMode: u32,
        readMode: u32,
        sRGB: i32,
        borderColor: [f32; 4],
        normalizedCoords: i32,
        maxAnisotropy: u32,
        mipmapFilterMode: u32,
        mipmapLevelBias: f32,
        minMipmapLevelClamp: f32,
        maxMipmapLevelClamp: f32,
        disableTrilinearOptimization: i32,
        seamlessCubemap: i32,
    }

    /// Another format and a part of an array for a texture; up to CUDA 12 it ends here.
    cudaResourceViewDesc {
        format: u32,
        width: usize,
        height: usize,
        depth: usize,
        firstMipmapLevel: u32,
        lastMipmapLevel: u32,
        firstLayer: u32,
        lastLayer: u32,
    }

    /// Bits of each channel of an array's element, and how they are read.
    cudaChannelFormatDesc {
        x: i32,
        y: i32,
        z: i32,
        w: i32,
        f: u32,
    }

    /// A part of external memory to map as a mipmapped array; up to CUDA 12 it ends here.
    cudaExternalMemoryMipmappedArrayDesc {
        offset: u64,
        formatDesc: cudaChannelFormatDesc,
        extent: cudaExtent,
        flags: u32,
        numLevels: u32,
    }

    cudaKernelNodeParams {
        func: *mut c_void,
        gridDim: dim3,
        blockDim: dim3,
        sharedMemBytes: u32,
        kernelParams: *mut *mut c_void,
        extra: *mut *mut c_void,
    }

    /// The shape and attributes of a launch.
    cudaLaunchConfig_t {
        gridDim: dim3,
        blockDim: dim3,
        dynamicSmemBytes: usize,
        stream: CUstream,
        attrs: *mut CUlaunchAttribute,
        numAttrs: u32,
    }
}

/// A signal as programs of CUDA 11.1 and older describe it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct cudaExternalSemaphoreSignalParams_v1 {
    pub(crate) fence: u64,
    pub(crate) nvSciSync: u64,
    pub(crate) key: u64,
    pub(crate) flags: u32,
}

/// A wait as programs of CUDA 11.1 and older describe it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct cudaExternalSemaphoreWaitParams_v1 {
    pub(crate) fence: u64,
    pub(crate) nvSciSync: u64,
    pub(crate) key: u64,
    pub(crate) timeoutMs: u32,
    pub(crate) reserved: u32,
    pub(crate) flags: u32,
}

/// Asks a program about a node that is captured again with other parameters.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct cudaGraphRecaptureCallbackData {
    pub(crate) callbackFunc: Option<
        unsafe extern "C" fn(
            data: *mut c_void,
            node: CUgraphNode,
            original: *const cudaGraphNodeParams,
            recapture: *const cudaGraphNodeParams,
            status: CUgraphRecaptureStatus,
        ) -> cudaError,
    >,
    pub(crate) userData: *mut c_void,
}

/// Begin of the struct that a program's compiler makes of each fat binary.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct FatBinaryWrapper {
    pub(crate) magic: u32,
    pub(crate) version: u32,
    pub(crate) data: *const c_void,
    /// In version 2, a list of fat binaries to link with `data`, which ends with null.
    pub(crate) parts: *const *const c_void,
}

impl FatBinaryWrapper {
    pub(crate) const MAGIC: u32 = 0x4662_43b1;
    pub(crate) const WITH_PARTS: u32 = 2;
}
