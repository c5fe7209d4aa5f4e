//! Kernels that keep their code loaded.

use std::fmt;
use std::ops::Deref;

use super::{Kernel, Signature};
use crate::error::Error;
use crate::module::Module;
use crate::raw::keep::Keep;

/// A kernel that has a share of its module instead of a borrow: it fits into a struct, beside the module or without it.
///
/// It dereferences to the [`Kernel`], with which it is launched; that path is the same.
///
/// Example: that of [`SharedModule::kernel`](crate::SharedModule::kernel).
pub struct SharedKernel<'ctx, S> {
    /// Only lent for the loan of this value: it does not keep the module itself.
    kernel: Kernel<'ctx, S>,
    module: Keep<'ctx, Module<'ctx>>,
}

impl<'ctx, S: Signature> SharedKernel<'ctx, S> {
    /// # Safety
    /// `kernel` is of `module`.
    pub(crate) unsafe fn new(kernel: Kernel<'_, S>, module: Keep<'ctx, Module<'ctx>>) -> Self {
        // SAFETY: the module is kept beside the kernel.
        Self { kernel: unsafe { kernel.outlived() }, module }
    }

    /// A share of the code, for launches of the kernel later.
    pub(crate) fn share(&self) -> Keep<'ctx, Module<'ctx>> {
        self.module.clone()
    }

    /// Like [`Kernel::allow_shared_bytes`].
    ///
    /// # Errors
    /// Those of [`Kernel::allow_shared_bytes`].
    ///
    /// Driver: `cuFuncSetAttribute`, CUDA 9.0+.
    #[doc(alias = "cuFuncSetAttribute")]
    #[inline]
    pub fn allow_shared_bytes(&mut self, bytes: u32) -> Result<(), Error> {
        self.kernel.allow_shared_bytes(bytes)
    }
}

/// Not `DerefMut`: the kernel could be swapped out and outlive its code.
impl<'ctx, S> Deref for SharedKernel<'ctx, S> {
    type Target = Kernel<'ctx, S>;

    #[inline]
    fn deref(&self) -> &Kernel<'ctx, S> {
        &self.kernel
    }
}

impl<S> fmt::Debug for SharedKernel<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedKernel").field(&self.kernel).finish()
    }
}
