//! Kernels of shared modules.

use super::{BindError, Kernel, Signature};
use crate::any_error::AnyError;
use crate::module::Module;
use crate::raw::shared::Shared;

impl<'ctx> Shared<Module<'ctx>> {
    /// Returns a kernel by its name, bound to a signature. Same as [`Module::function`] and
    /// [`Function::bind`](crate::module::Function::bind), but the kernel holds a share of the
    /// module, which stays loaded, instead of a borrow.
    ///
    /// ```
    /// # cuprum::example!(driver);
    /// use cuprum::context::PrimaryContext;
    /// use cuprum::{ContextRef, In, InOut, Kernel, Module, Shared};
    ///
    /// struct Saxpy {
    ///     kernel: Kernel<'static, (u32, f32, In<f32>, InOut<f32>)>,
    ///     context: Shared<ContextRef>,
    /// }
    ///
    /// let context = PrimaryContext::retain(driver.device(0)?)?.share();
    /// let ptx = std::fs::read_to_string("kernels/saxpy.ptx")?;
    /// let module = context.enter(|cx| Ok(Module::load_ptx(cx, &ptx)?))?.share();
    /// let saxpy = Saxpy { kernel: module.kernel("saxpy")?, context };
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`AnyError::Module`] if the module has no function of that name; [`AnyError::Bind`] if its
    /// parameters differ from the signature.
    ///
    /// Driver: `cuModuleGetFunction`, CUDA 2.0+, and the calls of
    /// [`Function::bind`](crate::module::Function::bind): `cuFuncGetParamCount`, CUDA 13.2+, and
    /// `cuFuncGetParamInfo`, CUDA 12.4+ (before that the PTX is read); `cuFuncGetAttribute`,
    /// CUDA 2.2+, and `cuDeviceGetAttribute`, CUDA 2.0+; for errors `cuFuncGetName`, CUDA 12.3+,
    /// and `cuModuleGetFunctionCount` and `cuModuleEnumerateFunctions`, CUDA 12.4+.
    #[doc(alias = "cuModuleGetFunction")]
    pub fn kernel<S: Signature>(&self, name: &str) -> Result<Kernel<'ctx, S>, AnyError> {
        let bound = self.function(name)?.bind::<S>();
        let kernel = bound.map_err(|error| BindError { kernel: Some(name.to_owned()), ..error })?;
        // SAFETY: the kernel is of this module.
        Ok(unsafe { kernel.sharing(self.clone()) })
    }
}
