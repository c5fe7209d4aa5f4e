//! Shared libraries of code.

use super::{CodeLibrary, Module};
use crate::context::Current;
use crate::error::Error;
use crate::raw::shared::Shared;

impl Shared<CodeLibrary> {
    /// Returns the library's module in the current context. Same as [`CodeLibrary::module`], but
    /// the module holds a share of the library instead of a borrow.
    ///
    /// ```
    /// # cuprum::example!(driver);
    /// use cuprum::module::CodeLibrary;
    /// use cuprum::context::PrimaryContext;
    /// use cuprum::{In, InOut, Kernel, Shared};
    ///
    /// /// A kernel for as many devices as there are.
    /// struct Saxpy {
    ///     code: Shared<CodeLibrary>,
    ///     kernels: Vec<Kernel<'static, (u32, f32, In<f32>, InOut<f32>)>>,
    /// }
    ///
    /// let code = CodeLibrary::load_ptx(driver, &std::fs::read_to_string("kernels/saxpy.ptx")?)?.share();
    /// let mut saxpy = Saxpy { code, kernels: Vec::new() };
    /// for device in driver.devices()? {
    ///     let context = PrimaryContext::retain(device)?.share();
    ///     let module = context.enter(|cx| Ok(saxpy.code.module(cx)?))?.share();
    ///     saxpy.kernels.push(module.kernel("saxpy")?);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`CodeLibrary::module`].
    ///
    /// Driver: `cuLibraryGetModule`, CUDA 12.0+.
    #[doc(alias = "cuLibraryGetModule")]
    #[inline]
    pub fn module<'ctx>(&self, cx: &Current<'_, 'ctx>) -> Result<Module<'ctx>, Error> {
        self.module_kept(cx, || Some(self.clone()))
    }
}
