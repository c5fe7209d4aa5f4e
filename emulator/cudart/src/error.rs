//! Result codes of the runtime API.
//!
//! From CUDA 10.1 on they are the driver API's numbers, and a few of the runtime alone.

use core::ffi::{CStr, c_char};

use cuprum_sys::CUresult;

use crate::driver;

/// Declares the codes, and the table of their names.
macro_rules! codes {
    ($($name:ident = $value:literal,)*) => {
        #[allow(dead_code, reason = "the list is whole, and most codes come from the driver as numbers")]
        impl cudaError {
            $( pub(crate) const $name: Self = Self($value); )*
        }

        pub(crate) const NAMES: &[(u32, &str)] = &[$( ($value, concat!(stringify!($name), "\0")) ),*];
    };
}

/// The C result of a call. Numbers without a name are valid, because newer drivers have more.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(crate) struct cudaError(pub(crate) u32);

pub(crate) type Result<T = ()> = core::result::Result<T, cudaError>;

codes! {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorCudartUnloading = 4,
    cudaErrorProfilerDisabled = 5,
    cudaErrorProfilerNotInitialized = 6,
    cudaErrorProfilerAlreadyStarted = 7,
    cudaErrorProfilerAlreadyStopped = 8,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorVersionTranslation = 10,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidHostPointer = 16,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidTexture = 18,
    cudaErrorInvalidTextureBinding = 19,
    cudaErrorInvalidChannelDescriptor = 20,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorAddressOfConstant = 22,
    cudaErrorTextureFetchFailed = 23,
    cudaErrorTextureNotBound = 24,
    cudaErrorSynchronizationError = 25,
    cudaErrorInvalidFilterSetting = 26,
    cudaErrorInvalidNormSetting = 27,
    cudaErrorMixedDeviceExecution = 28,
    cudaErrorNotYetImplemented = 31,
    cudaErrorMemoryValueTooLarge = 32,
    cudaErrorStubLibrary = 34,
    cudaErrorInsufficientDriver = 35,
    cudaErrorCallRequiresNewerDriver = 36,
    cudaErrorInvalidSurface = 37,
    cudaErrorDuplicateVariableName = 43,
    cudaErrorDuplicateTextureName = 44,
    cudaErrorDuplicateSurfaceName = 45,
    cudaErrorDevicesUnavailable = 46,
    cudaErrorIncompatibleDriverContext = 49,
    cudaErrorMissingConfiguration = 52,
    cudaErrorPriorLaunchFailure = 53,
    cudaErrorLaunchMaxDepthExceeded = 65,
    cudaErrorLaunchFileScopedTex = 66,
    cudaErrorLaunchFileScopedSurf = 67,
    cudaErrorSyncDepthExceeded = 68,
    cudaErrorLaunchPendingCountExceeded = 69,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorDeviceNotLicensed = 102,
    cudaErrorSoftwareValidityNotEstablished = 103,
    cudaErrorStartupFailure = 127,
    cudaErrorInvalidKernelImage = 200,
    cudaErrorDeviceUninitialized = 201,
    cudaErrorMapBufferObjectFailed = 205,
    cudaErrorUnmapBufferObjectFailed = 206,
    cudaErrorArrayIsMapped = 207,
    cudaErrorAlreadyMapped = 208,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorAlreadyAcquired = 210,
    cudaErrorNotMapped = 211,
    cudaErrorNotMappedAsArray = 212,
    cudaErrorNotMappedAsPointer = 213,
    cudaErrorECCUncorrectable = 214,
    cudaErrorUnsupportedLimit = 215,
    cudaErrorDeviceAlreadyInUse = 216,
    cudaErrorPeerAccessUnsupported = 217,
    cudaErrorInvalidPtx = 218,
    cudaErrorInvalidGraphicsContext = 219,
    cudaErrorNvlinkUncorrectable = 220,
    cudaErrorJitCompilerNotFound = 221,
    cudaErrorUnsupportedPtxVersion = 222,
    cudaErrorJitCompilationDisabled = 223,
    cudaErrorUnsupportedExecAffinity = 224,
    cudaErrorUnsupportedDevSideSync = 225,
    cudaErrorContained = 226,
    cudaErrorInsufficientLoaderVersion = 227,
    cudaErrorInvalidSource = 300,
    cudaErrorFileNotFound = 301,
    cudaErrorSharedObjectSymbolNotFound = 302,
    cudaErrorSharedObjectInitFailed = 303,
    cudaErrorOperatingSystem = 304,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorIllegalState = 401,
    cudaErrorLossyQuery = 402,
    cudaErrorSymbolNotFound = 500,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchTimeout = 702,
    cudaErrorLaunchIncompatibleTexturing = 703,
    cudaErrorPeerAccessAlreadyEnabled = 704,
    cudaErrorPeerAccessNotEnabled = 705,
    cudaErrorSetOnActiveProcess = 708,
    cudaErrorContextIsDestroyed = 709,
    cudaErrorAssert = 710,
    cudaErrorTooManyPeers = 711,
    cudaErrorHostMemoryAlreadyRegistered = 712,
    cudaErrorHostMemoryNotRegistered = 713,
    cudaErrorHardwareStackError = 714,
    cudaErrorIllegalInstruction = 715,
    cudaErrorMisalignedAddress = 716,
    cudaErrorInvalidAddressSpace = 717,
    cudaErrorInvalidPc = 718,
    cudaErrorLaunchFailure = 719,
    cudaErrorCooperativeLaunchTooLarge = 720,
    cudaErrorTensorMemoryLeak = 721,
    cudaErrorNotPermitted = 800,
    cudaErrorNotSupported = 801,
    cudaErrorSystemNotReady = 802,
    cudaErrorSystemDriverMismatch = 803,
    cudaErrorCompatNotSupportedOnDevice = 804,
    cudaErrorMpsConnectionFailed = 805,
    cudaErrorMpsRpcFailure = 806,
    cudaErrorMpsServerNotReady = 807,
    cudaErrorMpsMaxClientsReached = 808,
    cudaErrorMpsMaxConnectionsReached = 809,
    cudaErrorMpsClientTerminated = 810,
    cudaErrorCdpNotSupported = 811,
    cudaErrorCdpVersionMismatch = 812,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
    cudaErrorStreamCaptureMerge = 902,
    cudaErrorStreamCaptureUnmatched = 903,
    cudaErrorStreamCaptureUnjoined = 904,
    cudaErrorStreamCaptureIsolation = 905,
    cudaErrorStreamCaptureImplicit = 906,
    cudaErrorCapturedEvent = 907,
    cudaErrorStreamCaptureWrongThread = 908,
    cudaErrorTimeout = 909,
    cudaErrorGraphExecUpdateFailure = 910,
    cudaErrorExternalDevice = 911,
    cudaErrorInvalidClusterSize = 912,
    cudaErrorFunctionNotLoaded = 913,
    cudaErrorInvalidResourceType = 914,
    cudaErrorInvalidResourceConfiguration = 915,
    cudaErrorStreamDetached = 917,
    cudaErrorGraphRecaptureFailure = 918,
    cudaErrorFabricNotReady = 919,
    cudaErrorUnknown = 999,
}

/// Texts of the codes that no driver knows.
const MEANINGS: &[(u32, &str)] = &[
    (9, "the grid, the block or the shared memory of the launch is outside the limits of the device\0"),
    (10, "the structure is of a version that this runtime does not know\0"),
    (12, "the pitch is outside the limits of the device\0"),
    (13, "no loaded program has registered a variable at this host address\0"),
    (16, "not an address of registered host memory\0"),
    (17, "not an address of device memory\0"),
    (18, "not a texture\0"),
    (19, "the texture is not bound\0"),
    (20, "the channel format is not one that the device has\0"),
    (21, "the direction of the copy is not one of cudaMemcpyKind\0"),
    (35, "there is no CUDA driver, or it is older than 12.0\0"),
    (36, "the driver does not have the function that this call needs\0"),
    (37, "not a surface\0"),
    (49, "the current context was made by a driver that this runtime cannot use\0"),
    (52, "a launch without a configuration\0"),
    (98, "no loaded program has registered a kernel at this host address\0"),
    (802, "the device or its driver is not ready\0"),
];

fn find(table: &'static [(u32, &'static str)], code: u32) -> Option<&'static CStr> {
    let (_, text) = table.iter().find(|(known, _)| *known == code)?;
    CStr::from_bytes_with_nul(text.as_bytes()).ok()
}

impl cudaError {
    pub(crate) fn name(self) -> &'static CStr {
        find(NAMES, self.0).unwrap_or(c"unrecognized error code")
    }

    /// Returns the text of the code: the driver's if it knows the code, otherwise ours.
    pub(crate) fn describe(self) -> *const c_char {
        if self.0 == 0 {
            return c"no error".as_ptr();
        }
        if let Some(text) = find(MEANINGS, self.0) {
            return text.as_ptr();
        }
        driver::describe(CUresult(self.0)).unwrap_or(self.name().as_ptr())
    }
}

/// Converts the result of a driver function to the runtime's code.
pub(crate) fn check(result: CUresult) -> Result {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        CUresult::UNRESOLVED => Err(cudaError::cudaErrorCallRequiresNewerDriver),
        // `cuprum-sys` returns this in a forked child, in which no driver works.
        CUresult::FORKED => Err(cudaError::cudaErrorInitializationError),
        CUresult(code) => Err(cudaError(code)),
    }
}
