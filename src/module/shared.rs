//! Shared libraries of code.

use super::{CodeLibrary, Module};
use crate::context::Current;
use crate::error::Error;
use crate::raw::shared::Shared;

impl Shared<CodeLibrary> {
    /// Returns the library's module in the current context. Same as [`CodeLibrary::module`], but
    /// the module holds a share of the library instead of a borrow.
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
