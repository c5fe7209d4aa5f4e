//! Driver functions that the table leaves out, with reasons.

/// Functions left out for one reason.
///
/// ```
/// for group in cuprum_sys::left_out::LEFT_OUT {
///     println!("{} functions: {}", group.symbols.len(), group.reason);
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LeftOut {
    /// Reason why these functions are not in the table.
    pub reason: &'static str,
    /// Their exported names.
    pub symbols: &'static [&'static str],
}

/// Every function that NVIDIA's Linux headers declare and the table does not have.
///
/// The Windows-only functions (Direct3D 9 to 11, `cuWGLGetDevice`) are left out as well: their
/// types are in the Windows headers. Memory of Direct3D 11 and 12 comes in through
/// [`cuImportExternalMemory`](crate::Fns::cuImportExternalMemory).
pub const LEFT_OUT: &[LeftOut] = &[
    LeftOut {
        reason: "EGL streams and images: their types come from the EGL headers, and they serve embedded \
                 boards; external memory and semaphores serve everywhere",
        symbols: &[
            "cuEGLStreamConsumerAcquireFrame",
            "cuEGLStreamConsumerConnect",
            "cuEGLStreamConsumerConnectWithFlags",
            "cuEGLStreamConsumerDisconnect",
            "cuEGLStreamConsumerReleaseFrame",
            "cuEGLStreamProducerConnect",
            "cuEGLStreamProducerDisconnect",
            "cuEGLStreamProducerPresentFrame",
            "cuEGLStreamProducerReturnFrame",
            "cuEventCreateFromEGLSync",
            "cuGraphicsEGLRegisterImage",
            "cuGraphicsResourceGetMappedEglFrame",
        ],
    },
    LeftOut {
        reason: "VDPAU: video decoding that has given way to NVDEC; its types come from the VDPAU headers",
        symbols: &[
            "cuGraphicsVDPAURegisterOutputSurface",
            "cuGraphicsVDPAURegisterVideoSurface",
            "cuVDPAUCtxCreate",
            "cuVDPAUCtxCreate_v2",
            "cuVDPAUGetDevice",
        ],
    },
];
