//! Differences between a signature and a kernel.

use crate::error::Error;
#[cfg(doc)]
use crate::module::Function;

/// A failed binding: the kernel's name and the reason.
///
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
