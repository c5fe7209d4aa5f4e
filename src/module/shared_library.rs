//! Libraries of code that belong to their modules.

use std::fmt;
use std::ops::Deref;

use super::{CodeLibrary, Module};
use crate::context::Current;
use crate::error::Error;
use crate::raw::keep::Keep;

/// A handle to a library of code that is shared: by its clones, and by the modules that are taken from it.
///
/// The library is unloaded when the last of them is dropped. It dereferences to the [`CodeLibrary`]; kernels and globals
/// found there borrow this handle.
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// use cuprum::module::{CodeLibrary, SharedCodeLibrary};
/// use cuprum::{In, InOut, PrimaryContext, SharedContext, SharedKernel};
///
/// /// A kernel for as many devices as there are.
/// struct Saxpy {
///     code: SharedCodeLibrary,
///     kernels: Vec<SharedKernel<'static, (u32, f32, In<f32>, InOut<f32>)>>,
/// }
///
/// let code = CodeLibrary::load_ptx(driver, &std::fs::read_to_string("kernels/saxpy.ptx")?)?.share();
/// let mut saxpy = Saxpy { code, kernels: Vec::new() };
/// for device in driver.devices()? {
///     let context: SharedContext = PrimaryContext::retain(device)?.share();
///     let module = context.enter(|cx| saxpy.code.module(cx))??.share();
///     saxpy.kernels.push(module.kernel("saxpy")?);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SharedCodeLibrary(Keep<'static, CodeLibrary>);

impl SharedCodeLibrary {
    /// `library` counts one share.
    pub(super) fn new(library: CodeLibrary) -> Self {
        Self(Keep::first(Box::new(library)))
    }

    /// The library's module in the current context: as [`CodeLibrary::module`], but it has a share of the library instead of
    /// a borrow.
    ///
    /// # Errors
    /// Those of [`CodeLibrary::module`].
    ///
    /// Driver: `cuLibraryGetModule`, CUDA 12.0+.
    #[doc(alias = "cuLibraryGetModule")]
    #[inline]
    pub fn module<'ctx>(&self, cx: &Current<'_, 'ctx>) -> Result<Module<'ctx>, Error> {
        self.0.module_kept(cx, || self.0.clone())
    }
}

impl Deref for SharedCodeLibrary {
    type Target = CodeLibrary;

    fn deref(&self) -> &CodeLibrary {
        &self.0
    }
}

impl fmt::Debug for SharedCodeLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedCodeLibrary").field(&**self).finish()
    }
}
