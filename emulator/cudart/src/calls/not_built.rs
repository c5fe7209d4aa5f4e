//! Functions that are not built. Programs that need one load; a call reports its name.

use core::sync::atomic::{AtomicBool, Ordering};

use crate::driver;
use crate::error::cudaError;
use crate::exported::Exported;
use crate::state::thread;

/// Defines functions that report their name and return `cudaErrorNotSupported`.
macro_rules! not_built {
    ($($subject:literal { $($name:ident $([$twin:ident])?)* })*) => {
        $($(
            not_built! { @symbol stringify!($name), $subject }
            $( not_built! { @symbol concat!(stringify!($name), "_", stringify!($twin)), $subject } )?
        )*)*

        /// The names, for the comparison with the list of exports.
        #[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with the list"))]
        pub(crate) const EXPORTED: &[Exported] = &[$($( Exported {
            symbol: concat!(stringify!($name), $( "+", stringify!($twin) )?),
            parameters: None,
        } ),*),*];
    };
    (@symbol $symbol:expr, $subject:literal) => {
        const _: () = {
            /// Declares no parameters: by the calling convention, the caller removes its own.
            #[unsafe(export_name = $symbol)]
            extern "C" fn stub() -> cudaError {
                static SAID: AtomicBool = AtomicBool::new(false);
                answer(&SAID, $symbol, $subject)
            }
        };
    };
}

fn answer(said: &AtomicBool, name: &str, subject: &str) -> cudaError {
    if !said.swap(true, Ordering::Relaxed) {
        driver::report_not_built(name, subject);
    }
    thread::record(Err(cudaError::cudaErrorNotSupported))
}

not_built! {
    "entry points of the compiler that it does not use for these programs" {
        __cudaGetProcAddress __cudaRegisterHostVar __cudaRegisterUnifiedTable
    }
    "graphics, which the software device does not have" {
        cudaEGLStreamConsumerAcquireFrame cudaEGLStreamConsumerConnect
        cudaEGLStreamConsumerConnectWithFlags cudaEGLStreamConsumerDisconnect
        cudaEGLStreamConsumerReleaseFrame cudaEGLStreamProducerConnect cudaEGLStreamProducerDisconnect
        cudaEGLStreamProducerPresentFrame cudaEGLStreamProducerReturnFrame cudaEventCreateFromEGLSync
        cudaGLGetDevices cudaGLMapBufferObject cudaGLMapBufferObjectAsync cudaGLRegisterBufferObject
        cudaGLSetBufferObjectMapFlags cudaGLSetGLDevice cudaGLUnmapBufferObject
        cudaGLUnmapBufferObjectAsync cudaGLUnregisterBufferObject cudaGraphicsEGLRegisterImage
        cudaGraphicsGLRegisterBuffer cudaGraphicsGLRegisterImage cudaGraphicsMapResources
        cudaGraphicsResourceGetMappedEglFrame cudaGraphicsResourceGetMappedMipmappedArray
        cudaGraphicsResourceGetMappedPointer cudaGraphicsResourceSetMapFlags
        cudaGraphicsSubResourceGetMappedArray cudaGraphicsUnmapResources cudaGraphicsUnregisterResource
        cudaGraphicsVDPAURegisterOutputSurface cudaGraphicsVDPAURegisterVideoSurface cudaVDPAUGetDevice
        cudaVDPAUSetVDPAUDevice
    }
    "a launch on several devices, which CUDA 13 removed and the software device does not have" {
        cudaLaunchCooperativeKernelMultiDevice
    }
    "functions that no header declares" {
        cudaSubgridCreate cudaSubgridWorkerGridCreate cudaSubgridWorksetCreate
    }
    "undocumented tables" {
        cudaGetExportTable
    }
}
