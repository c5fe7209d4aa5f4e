//! PTX text for the driver.

use std::ffi::CString;

use cuprum_sys::FnId;

use super::{ModuleError, c_string, ptx};
use crate::driver::Driver;

/// The text in the driver's form, if it looks like PTX.
pub(super) fn ptx_text(ptx: &str) -> Result<CString, ModuleError> {
    // The driver would treat the text as an ELF file, and read as far as its header says.
    if ptx.starts_with('\x7F') {
        return Err(ModuleError::NotPtx);
    }
    let ptx = ptx.strip_suffix('\0').unwrap_or(ptx);
    if ptx::is_cuda_source(ptx) {
        return Err(ModuleError::CudaSource);
    }
    c_string("the PTX", ptx)
}

/// The kernels of a text and their parameters, for a driver that does not report them.
pub(super) fn entries_for(driver: Driver, ptx: &str) -> Vec<ptx::Entry> {
    let asks = driver.library().has(FnId::cuFuncGetParamInfo);
    if asks { Vec::new() } else { ptx::entries(ptx.strip_suffix('\0').unwrap_or(ptx)) }
}
