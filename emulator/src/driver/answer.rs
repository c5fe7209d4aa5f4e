//! Results of the driver's functions.

use cuprum_sys::CUresult;

/// Result of a driver function: an error code, or success.
pub(crate) type Answer<T = ()> = Result<T, CUresult>;

pub(crate) const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
pub(crate) const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
pub(crate) const INVALID_CONTEXT: CUresult = CUresult::CUDA_ERROR_INVALID_CONTEXT;
pub(crate) const NOT_FOUND: CUresult = CUresult::CUDA_ERROR_NOT_FOUND;
pub(crate) const NOT_READY: CUresult = CUresult::CUDA_ERROR_NOT_READY;
pub(crate) const OUT_OF_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

/// Fails with `code` unless `condition` holds.
pub(crate) fn ensure(condition: bool, code: CUresult) -> Answer {
    if condition { Ok(()) } else { Err(code) }
}
