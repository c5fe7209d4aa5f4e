//! Binding: checks a signature against a kernel.

use super::limits::Limits;
use super::mismatch::{BindError, Mismatch};
use super::{Kernel, Signature};
use crate::error::Error;
use crate::module::Function;

impl<'m> Function<'m> {
    /// Binds the kernel to a signature after comparing number, sizes and offsets of parameters.
    ///
    /// The meaning of the bytes is not checked: an `i32` for a `float` is not detected.
    ///
    /// # Errors
    /// [`BindError`]: the kernel's name and the difference, with both values. On a driver before
    /// CUDA 12.4, it contains [`Error::UNRESOLVED`] if the module was not loaded from PTX, or
    /// [`Mismatch::Unreadable`] if the PTX contains an unknown word.
    ///
    /// Driver: `cuFuncGetParamCount`, CUDA 13.2+, and `cuFuncGetParamInfo`, CUDA 12.4+ (before that
    /// the PTX is read); for the limits `cuFuncGetAttribute`, CUDA 2.2+, and
    /// `cuDeviceGetAttribute`, CUDA 2.0+; for an error `cuFuncGetName`, CUDA 12.3+.
    #[doc(alias("cuFuncGetParamCount", "cuFuncGetParamInfo"))]
    pub fn bind<S: Signature>(self) -> Result<Kernel<'m, S>, BindError> {
        self.compare::<S>()
            .and_then(|()| {
                // SAFETY: number, sizes and offsets were just compared.
                Ok(unsafe { self.bind_unchecked() }?)
            })
            .map_err(|reason| self.refuse(reason))
    }

    fn compare<S: Signature>(self) -> Result<(), Mismatch> {
        let signature = S::LAYOUT.len();
        let kernel = self.parameter_count().map_err(|error| self.not_known(error))?;
        if kernel != signature {
            return Err(Mismatch::Count { kernel, signature });
        }
        let mut offset = 0usize;
        for (index, layout) in S::LAYOUT.iter().enumerate() {
            let (at, size) = self.parameter(index)?;
            if size != layout.size() {
                return Err(Mismatch::Size { index, kernel: size, signature: layout.size() });
            }
            // `Parameter` is a safe trait, so a layout can be anything.
            offset = offset.checked_next_multiple_of(layout.align()).unwrap_or(usize::MAX);
            if at != offset {
                return Err(Mismatch::Offset { index, kernel: at, signature: offset });
            }
            offset = offset.saturating_add(size);
        }
        Ok(())
    }

    /// Adds the kernel's name to an error, if known.
    #[cold]
    fn refuse(self, reason: Mismatch) -> BindError {
        BindError { kernel: self.name().ok(), reason }
    }

    /// The reason why the parameters are unknown: a word of the PTX, or else the driver's version.
    pub(crate) fn not_known(self, error: Error) -> Mismatch {
        match self.unreadable() {
            Some(unreadable) if error.is_unresolved() => Mismatch::Unreadable { at: unreadable.0.clone() },
            _ => Mismatch::Driver(error),
        }
    }

    /// Binds the kernel to a signature without a check, for machine code on older drivers.
    ///
    /// # Safety
    /// The kernel has the parameters of `S`, in number, size and order.
    ///
    /// Driver: `cuFuncGetAttribute`, CUDA 2.2+, and `cuDeviceGetAttribute`, CUDA 2.0+.
    #[doc(alias = "cuFuncGetAttribute")]
    pub unsafe fn bind_unchecked<S: Signature>(self) -> Result<Kernel<'m, S>, Error> {
        Ok(Kernel::new(self, Limits::of(self)?))
    }
}
