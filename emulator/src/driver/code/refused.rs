//! Refusals of code: the result of the call, and the text of the log.

use cuprum_sys::CUresult;

use crate::program::{PtxError, PtxErrorKind};

/// Reason why an image cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) code: CUresult,
    pub(super) log: String,
}

impl Refused {
    pub(super) fn new(code: CUresult, log: impl Into<String>) -> Self {
        Self { code, log: log.into() }
    }

    /// Refuses PTX with an error.
    pub(super) fn of(error: &PtxError) -> Self {
        let code = match error.kind {
            PtxErrorKind::Version => CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
            _ => CUresult::CUDA_ERROR_INVALID_PTX,
        };
        Self::new(code, format!("ptx {error}\n"))
    }

    /// Refuses an image that is neither PTX nor a container.
    pub(super) fn garbage() -> Self {
        Self::new(CUresult::CUDA_ERROR_INVALID_IMAGE, "the image is neither PTX text nor a fat binary")
    }

    /// Refuses an image that contains only machine code.
    pub(super) fn machine_code(what: &str) -> Self {
        Self::new(
            CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
            format!(
                "{what} holds machine code for NVIDIA hardware only, which the software device \
                 cannot run; keep the PTX. Numba and the linker of cuda.core: uninstall \
                 nvidia-nvjitlink. Triton: TRITON_PTXAS_PATH and TRITON_PTXAS_BLACKWELL_PATH name \
                 emulator/libcuda/bin/ptxas. PyCUDA: emulator/libcuda/bin comes first in PATH. \
                 Otherwise, compile for a virtual architecture (NVRTC and cuda.core: \
                 compute_XX; nvcc: -gencode arch=compute_XX,code=compute_XX, or --ptx)"
            ),
        )
    }
}
