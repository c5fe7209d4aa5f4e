//! Loading code.

use std::ffi::c_void;

use cuprum_sys::CUmodule;

use super::advice::advice;
use super::jit::Jit;
use super::text::{entries_for, ptx_text};
use super::{Code, LoadOptions, Module, ModuleError};
use crate::context::{Current, context_call};
use crate::raw::held::Held;

impl<'ctx> Module<'ctx> {
    /// Loads PTX text, which the driver compiles for the device. Blocks during the compilation. A
    /// NUL at the end of the text, as NVRTC writes it, is ignored.
    ///
    /// For CUDA C++, use the crate `cuprum-compile`.
    ///
    /// # Errors
    /// [`ModuleError::Rejected`] with the compiler's log: `CUDA_ERROR_INVALID_PTX` (also for PTX of
    /// a newer device, as the advice then explains), `CUDA_ERROR_UNSUPPORTED_PTX_VERSION` (the PTX
    /// is newer than the driver), `CUDA_ERROR_OUT_OF_MEMORY`; [`ModuleError::InteriorNul`];
    /// [`ModuleError::NotPtx`]; [`ModuleError::CudaSource`].
    ///
    /// Driver: `cuModuleLoadDataEx`, CUDA 2.1+.
    #[doc(alias = "cuModuleLoadDataEx")]
    #[inline]
    pub fn load_ptx(cx: &Current<'_, 'ctx>, ptx: &str) -> Result<Self, ModuleError> {
        Self::load_ptx_with(cx, ptx, &LoadOptions::default())
    }

    /// Same as [`load_ptx`](Self::load_ptx), with options for the driver's compiler.
    ///
    /// # Errors
    /// Same as [`load_ptx`](Self::load_ptx); [`ModuleError::Rejected`] with
    /// `CUDA_ERROR_INVALID_VALUE` for an option or a value that the driver does not know.
    ///
    /// Driver: `cuModuleLoadDataEx`, CUDA 2.1+.
    #[doc(alias = "cuModuleLoadDataEx")]
    #[inline]
    pub fn load_ptx_with(
        cx: &Current<'_, 'ctx>,
        ptx: &str,
        options: &LoadOptions,
    ) -> Result<Self, ModuleError> {
        let text = ptx_text(ptx)?;
        // SAFETY: PTX is text with a NUL at the end here; the driver's compiler checks it.
        let mut module = unsafe { Self::load(cx, text.as_ptr().cast(), Some(ptx.as_bytes()), options) }?;
        module.entries = entries_for(cx.context().driver(), ptx);
        Ok(module)
    }

    /// Loads machine code (cubin) or a container of several (fatbin). The options are for the
    /// driver's compiler, which compiles the PTX of a fatbin if it has no machine code for the
    /// device.
    ///
    /// # Errors
    /// [`ModuleError::Rejected`]: `CUDA_ERROR_NO_BINARY_FOR_GPU` (no code for the device),
    /// `CUDA_ERROR_INVALID_IMAGE`, `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// # Safety
    /// `image` is a complete cubin or fatbin as a compiler wrote it. The driver trusts its length
    /// fields; a truncated or forged image can crash the process.
    ///
    /// Driver: `cuModuleLoadDataEx`, CUDA 2.1+.
    #[doc(alias = "cuModuleLoadDataEx")]
    #[inline]
    pub unsafe fn load_binary(
        cx: &Current<'_, 'ctx>,
        image: &[u8],
        options: &LoadOptions,
    ) -> Result<Self, ModuleError> {
        // SAFETY: the caller guarantees the image.
        unsafe { Self::load(cx, image.as_ptr().cast(), Some(image), options) }
    }

    /// # Safety
    /// The driver can read `image` to its end.
    pub(super) unsafe fn load(
        cx: &Current<'_, 'ctx>,
        image: *const c_void,
        code: Option<&[u8]>,
        options: &LoadOptions,
    ) -> Result<Self, ModuleError> {
        let context = cx.get()?;
        let mut jit = Jit::new(options);
        let (count, names, values) = jit.options();
        let mut raw = CUmodule::null();
        // SAFETY: the caller guarantees the image; options and logs, with known sizes, outlive the
        // call.
        let loaded =
            unsafe { context_call!(&context, cuModuleLoadDataEx(&raw mut raw, image, count, names, values)) };
        match loaded {
            Ok(()) => Ok(Self {
                code: Held::new(Code::owned(raw), context),
                _library: None,
                entries: Vec::new(),
                names: Vec::new(),
                info_log: jit.info_log(),
            }),
            Err(error) => Err(ModuleError::Rejected {
                error,
                log: jit.error_log(),
                advice: advice(context.driver(), Some(context.device()), error, code),
            }),
        }
    }
}
