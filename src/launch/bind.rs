//! Binding: checks a signature against a kernel.

use super::limits::Limits;
use super::{Kernel, Signature};
use crate::error::Error;
use crate::module::Function;

/// A failed binding: the kernel's name and the reason.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::launch::Mismatch;
/// use cuprum::{In, InOut, Module};
///
/// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
/// // saxpy(unsigned n, float alpha, const float* x, float* y)
/// let Err(error) = module.function("saxpy")?.bind::<(u64, f32, In<f32>, InOut<f32>)>() else {
///     return Err("n has four bytes".into());
/// };
/// assert_eq!(error.reason, Mismatch::Size { index: 0, kernel: 4, signature: 8 });
/// assert_eq!(
///     error.to_string(),
///     "kernel `saxpy`: parameter 0 has 4 bytes in the kernel, 8 in the signature",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", kernel.as_deref().map_or_else(String::new, |name| format!("kernel `{name}`: ")))]
#[non_exhaustive]
pub struct BindError {
    /// The kernel's name, as [`Function::name`] returns it; `None` if unknown.
    pub kernel: Option<String>,
    /// The difference.
    pub reason: Mismatch,
}

/// The difference between a kernel and a signature, or the reason why the parameters are unknown.
///
/// ```
/// use cuprum::launch::Mismatch;
///
/// let error = Mismatch::Count { kernel: 4, signature: 3 };
/// assert_eq!(error.to_string(), "the kernel has 4 parameters, the signature 3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// The kernel has a different number of parameters.
    #[error("the kernel has {kernel} parameters, the signature {signature}")]
    Count {
        /// Number of parameters of the kernel.
        kernel: usize,
        /// Number of parameters of the signature.
        signature: usize,
    },
    /// A parameter has a different size.
    #[error("parameter {index} has {kernel} bytes in the kernel, {signature} in the signature")]
    Size {
        /// Index of the parameter, counted from 0.
        index: usize,
        /// Its size in the kernel, in bytes.
        kernel: usize,
        /// Its size in the signature, in bytes.
        signature: usize,
    },
    /// A parameter has another offset, because its type or an earlier one has another alignment.
    #[error(
        "parameter {index} is at byte {kernel} in the kernel, at {signature} in the signature: an alignment differs"
    )]
    Offset {
        /// Index of the parameter, counted from 0.
        index: usize,
        /// Its offset in the kernel.
        kernel: usize,
        /// Its offset in the signature.
        signature: usize,
    },
    /// The driver is too old to report the parameters, and the PTX contains unknown words.
    #[error(
        "the kernel's parameters cannot be read from its PTX, from `{at}` on, and the driver, which is older than \
         CUDA 12.4, does not tell them (see `bind_unchecked`)"
    )]
    Unreadable {
        /// The unknown word, and the text after it.
        at: String,
    },
    /// The driver did not report the kernel's parameters or limits.
    #[error("{0}; the parameters of the kernel cannot be checked (see `bind_unchecked`)")]
    Driver(#[from] Error),
}

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
    /// Driver: `cuFuncGetParamCount`, CUDA 13.2+, and `cuFuncGetParamInfo`, CUDA 12.4+ (before that the PTX is read); for
    /// the limits `cuFuncGetAttribute`, CUDA 2.2+, and `cuDeviceGetAttribute`, CUDA 2.0+; for an error `cuFuncGetName`,
    /// CUDA 12.3+.
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
    /// # Errors
    /// Errors of the driver's query of the kernel's limits.
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
