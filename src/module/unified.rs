//! Functions that the host and the device call by one address.

use std::ffi::c_void;
use std::ptr;

use super::{CodeLibrary, ModuleError, c_string};
use crate::raw::call::driver_call;

impl CodeLibrary {
    /// Returns the address of a function that both host and device call, on devices with
    /// `CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS`. It is valid as long as the library.
    ///
    /// # Errors
    /// [`ModuleError::InteriorNul`]; [`ModuleError::Driver`] with `CUDA_ERROR_NOT_FOUND`, or
    /// `CUDA_ERROR_INVALID_VALUE` if no device has such functions.
    ///
    /// Driver: `cuLibraryGetUnifiedFunction`, CUDA 12.0+.
    #[doc(alias = "cuLibraryGetUnifiedFunction")]
    #[inline]
    pub fn unified_function(&self, name: &str) -> Result<*mut c_void, ModuleError> {
        let text = c_string("the function's name", name)?;
        let (library, mut address) = (self.as_raw(), ptr::null_mut());
        let (to, driver) = (&raw mut address, self.driver().library());
        // SAFETY: the library is live, and both pointers outlive the call.
        unsafe { driver_call!(driver, cuLibraryGetUnifiedFunction(to, library, text.as_ptr())) }?;
        Ok(address)
    }
}
