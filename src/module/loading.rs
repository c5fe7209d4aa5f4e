//! When code gets onto the device: at once, or when it is first used.

use cuprum_sys::{CUfunctionLoadingState, CUmoduleLoadingMode};

use super::Function;
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::{context_call, driver_call};

/// When the driver puts the kernels of modules onto the device, by the driver's number: the environment variable
/// `CUDA_MODULE_LOADING` says it, before the driver is initialized.
pub type LoadingMode = CUmoduleLoadingMode;

impl Driver {
    /// When kernels are put onto the device: as their module is loaded, or when they are first used.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// # Example
    /// ```
    /// # cuprum::example!(driver);
    /// use cuprum::module::LoadingMode;
    ///
    /// let lazy = driver.loading_mode()? == LoadingMode::CU_MODULE_LAZY_LOADING;
    /// println!("the first launch of a kernel loads it: {lazy}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    /// True if the kernel is on the device already; otherwise its first launch, or [`load`](Function::load), puts it there.
    ///
    /// # Errors
    /// The sticky errors of earlier work.
    ///
    /// Driver: `cuFuncIsLoaded`, CUDA 12.4+.
    #[doc(alias = "cuFuncIsLoaded")]
    #[inline]
    pub fn is_loaded(self) -> Result<bool, Error> {
        let mut state = CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_UNLOADED;
        // SAFETY: the function is live, as its module is borrowed; the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuFuncIsLoaded(&raw mut state, self.as_raw())) }?;
        Ok(state == CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_LOADED)
    }

    /// Puts the kernel onto the device now, so that its first launch is like any other. Blocks while it does, which may be
    /// until work in flight is done. Does nothing if it is there.
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`; the sticky errors of earlier work.
    ///
    /// Driver: `cuFuncLoad`, CUDA 12.4+.
    #[doc(alias = "cuFuncLoad")]
    #[inline]
    pub fn load(self) -> Result<(), Error> {
        // SAFETY: the function is live, as its module is borrowed.
        unsafe { context_call!(self.context(), cuFuncLoad(self.as_raw())) }
    }
}
