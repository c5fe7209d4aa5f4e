//! Code that belongs to its kernels.

use std::fmt;
use std::ops::Deref;

use super::{Module, ModuleError};
use crate::launch::{BindError, SharedKernel, Signature};
use crate::raw::keep::Keep;

/// A handle to code that is shared: by its clones, and by the [kernels](SharedKernel) that are bound through it.
///
/// The code is unloaded when the last of them is dropped. In a [`SharedContext`](crate::SharedContext) all of this is
/// `'static`. It dereferences to the [`Module`]; functions and globals found there borrow this handle.
///
/// Example: that of [`SharedModule::kernel`](SharedModule::kernel).
#[derive(Clone)]
pub struct SharedModule<'ctx>(Keep<'ctx, Module<'ctx>>);

/// Error of making a kernel from a shared module.
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::{In, KernelError, Module};
///
/// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?.share();
/// assert!(matches!(module.kernel::<()>("daxpy"), Err(KernelError::Module(_))));
/// assert!(matches!(module.kernel::<(In<f32>,)>("saxpy"), Err(KernelError::Bind(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The module has no such function.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The function has other parameters.
    #[error(transparent)]
    Bind(#[from] BindError),
}

impl<'ctx> SharedModule<'ctx> {
    /// `module` counts one share.
    pub(super) fn new(module: Module<'ctx>) -> Self {
        Self(Keep::first(Box::new(module)))
    }

    /// A kernel by its name, bound to a signature: like [`Module::function`] and
    /// [`Function::bind`](crate::Function::bind), but it keeps the code loaded instead of borrowing it.
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let driver = cuprum::Driver::init(library)?;
    /// use cuprum::{In, InOut, Module, PrimaryContext, SharedContext, SharedKernel};
    ///
    /// struct Saxpy {
    ///     kernel: SharedKernel<'static, (u32, f32, In<f32>, InOut<f32>)>,
    ///     context: SharedContext,
    /// }
    ///
    /// let context = PrimaryContext::retain(driver.device(0)?)?.share();
    /// let ptx = std::fs::read_to_string("kernels/saxpy.ptx")?;
    /// let module = context.enter(|cx| Module::load_ptx(cx, &ptx))??.share();
    /// let saxpy = Saxpy { kernel: module.kernel("saxpy")?, context };
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`KernelError`], which names the kernel.
    ///
    /// Driver: `cuModuleGetFunction`, CUDA 2.0+, and those of [`Function::bind`](crate::Function::bind):
    /// `cuFuncGetParamCount`, CUDA 13.2+, and `cuFuncGetParamInfo`, CUDA 12.4+ (before that the PTX is read);
    /// `cuFuncGetAttribute`, CUDA 2.2+, and `cuDeviceGetAttribute`, CUDA 2.0+; for errors `cuFuncGetName`, CUDA 12.3+, and
    /// `cuModuleGetFunctionCount` and `cuModuleEnumerateFunctions`, CUDA 12.4+.
    #[doc(alias = "cuModuleGetFunction")]
    pub fn kernel<S: Signature>(&self, name: &str) -> Result<SharedKernel<'ctx, S>, KernelError> {
        let bound = self.function(name)?.bind::<S>();
        let kernel = bound.map_err(|error| BindError { kernel: Some(name.to_owned()), ..error })?;
        // SAFETY: the kernel is of this module, of which it gets a share.
        Ok(unsafe { SharedKernel::new(kernel, self.0.clone()) })
    }
}

impl<'ctx> Deref for SharedModule<'ctx> {
    type Target = Module<'ctx>;

    fn deref(&self) -> &Module<'ctx> {
        &self.0
    }
}

impl fmt::Debug for SharedModule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedModule").field(&**self).finish()
    }
}
