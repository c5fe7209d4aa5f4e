//! Loading of code onto the device: immediately, or on first use.

use cuprum_sys::{CUfunctionLoadingState, CUmoduleLoadingMode};

use super::Function;
use crate::context::context_call;
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::driver_call;

/// Time at which the driver loads the kernels of modules onto the device, by the driver's number.
/// The environment variable `CUDA_MODULE_LOADING` sets it before the driver is initialized.
pub type LoadingMode = CUmoduleLoadingMode;

impl Driver {
    /// Returns when kernels are loaded onto the device: with their module, or on first use.
    ///
    /// Driver: `cuModuleGetLoadingMode`, CUDA 11.7+.
    #[doc(alias = "cuModuleGetLoadingMode")]
    #[inline]
    pub fn loading_mode(self) -> Result<LoadingMode, Error> {
        let mut mode = LoadingMode::CU_MODULE_EAGER_LOADING;
        // SAFETY: the out-parameter outlives the call, and the driver is initialized.
        unsafe { driver_call!(self.library(), cuModuleGetLoadingMode(&raw mut mode)) }?;
        Ok(mode)
    }
}

impl Function<'_> {
    /// True if the kernel is already on the device; otherwise its first launch, or
    /// [`load`](Function::load), loads it.
    ///
    /// Driver: `cuFuncIsLoaded`, CUDA 12.4+.
    #[doc(alias = "cuFuncIsLoaded")]
    #[inline]
    pub fn is_loaded(self) -> Result<bool, Error> {
        let mut state = CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_UNLOADED;
        // SAFETY: the borrowed module keeps the function live; the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuFuncIsLoaded(&raw mut state, self.as_raw())) }?;
        Ok(state == CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_LOADED)
    }

    /// Loads the kernel onto the device now, so that its first launch is as fast as later ones.
    /// Blocks during loading, possibly until work in flight is complete. Does nothing if it is
    /// already loaded.
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuFuncLoad`, CUDA 12.4+.
    #[doc(alias = "cuFuncLoad")]
    #[inline]
    pub fn load(self) -> Result<(), Error> {
        // SAFETY: the function is live, because its module is borrowed.
        unsafe { context_call!(self.context(), cuFuncLoad(self.as_raw())) }
    }
}
