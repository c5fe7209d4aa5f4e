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
    "copies by bytes of an array, deprecated since CUDA 10.1" {
        cudaMemcpyArrayToArray[ptds] cudaMemcpyFromArrayAsync[ptsz] cudaMemcpyFromArray[ptds]
        cudaMemcpyToArrayAsync[ptsz] cudaMemcpyToArray[ptds]
    }
    "entry points of the compiler that it does not use for these programs" {
        __cudaGetProcAddress __cudaRegisterHostVar __cudaRegisterUnifiedTable
    }
    "execution contexts and device resources" {
        cudaDevResourceGenerateDesc cudaDevSmResourceSplit cudaDevSmResourceSplitByCount
        cudaDeviceGetDevResource cudaDeviceGetExecutionCtx cudaExecutionCtxDestroy
        cudaExecutionCtxGetDevResource cudaExecutionCtxGetDevice cudaExecutionCtxGetId
        cudaExecutionCtxRecordEvent cudaExecutionCtxStreamCreate cudaExecutionCtxSynchronize
        cudaExecutionCtxWaitEvent cudaGraphConditionalHandleCreate_v2 cudaGreenCtxCreate cudaStreamGetDevResource[ptsz] cudaSubgridCreate
        cudaSubgridWorkerGridCreate cudaSubgridWorksetCreate
    }
    "external memory and semaphores" {
        cudaDestroyExternalMemory cudaDestroyExternalSemaphore cudaExternalMemoryGetMappedBuffer
        cudaExternalMemoryGetMappedMipmappedArray cudaImportExternalMemory cudaImportExternalSemaphore
        cudaSignalExternalSemaphoresAsync[ptsz] cudaSignalExternalSemaphoresAsync_v2[ptsz]
        cudaWaitExternalSemaphoresAsync[ptsz] cudaWaitExternalSemaphoresAsync_v2[ptsz]
    }
    "graph nodes of external semaphores, and graphs that are captured again" {
        cudaGraphAddExternalSemaphoresSignalNode cudaGraphAddExternalSemaphoresWaitNode
        cudaGraphExecExternalSemaphoresSignalNodeSetParams
        cudaGraphExecExternalSemaphoresWaitNodeSetParams
        cudaGraphExternalSemaphoresSignalNodeGetParams cudaGraphExternalSemaphoresSignalNodeSetParams
        cudaGraphExternalSemaphoresWaitNodeGetParams cudaGraphExternalSemaphoresWaitNodeSetParams
        cudaStreamBeginRecaptureToGraph[ptsz]
    }
    "graphics" {
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
    "other" {
        cudaDeviceGetNvSciSyncAttributes cudaLaunchCooperativeKernelMultiDevice cudaSetDoubleForDevice
        cudaSetDoubleForHost
    }
    "undocumented tables" {
        cudaGetExportTable
    }
}
