//! Loading code, and advice for code that the driver refuses.

use std::ffi::{CStr, c_void};
use std::ptr;

use cuprum_sys::{CUjit_option, CUmodule, CUresult, FnId};

use super::{LoadOptions, Module, ModuleError, c_string, ptx};
use crate::context::{ContextRef, Current};
use crate::error::Error;
use crate::raw::call::context_call;
use crate::raw::held::Held;

/// Bytes for the log of the driver's compiler.
const LOG_BYTES: usize = 16 << 10;

impl<'ctx> Module<'ctx> {
    /// Loads PTX text; the driver compiles it for the device. Blocks while it does. A NUL at the end of the text, as NVRTC
    /// puts it there, is no part of it.
    ///
    /// CUDA C++ is compiled with [`Module::compile`] instead.
    ///
    /// # Errors
    /// [`ModuleError::Rejected`] with the compiler's log: `CUDA_ERROR_INVALID_PTX`
    /// (also for PTX of a newer device, which the advice then says), `CUDA_ERROR_UNSUPPORTED_PTX_VERSION` (the PTX
    /// is newer than the driver), `CUDA_ERROR_OUT_OF_MEMORY`; [`ModuleError::InteriorNul`];
    /// [`ModuleError::NotPtx`]; [`ModuleError::CudaSource`].
    ///
    /// Driver: `cuModuleLoadDataEx`, CUDA 2.1+.
    #[doc(alias = "cuModuleLoadDataEx")]
    pub fn load_ptx(cx: &Current<'_, 'ctx>, ptx: &str) -> Result<Self, ModuleError> {
        Self::load_ptx_with(cx, ptx, &LoadOptions::new())
    }

    /// Like [`load_ptx`](Self::load_ptx), with options for the driver's compiler.
    ///
    /// # Errors
    /// Those of [`load_ptx`](Self::load_ptx); [`ModuleError::Rejected`] with `CUDA_ERROR_INVALID_VALUE` for an option
    /// or a value that the driver does not know.
    ///
    /// Driver: `cuModuleLoadDataEx`, CUDA 2.1+.
    #[doc(alias = "cuModuleLoadDataEx")]
    pub fn load_ptx_with(
        cx: &Current<'_, 'ctx>,
        ptx: &str,
        options: &LoadOptions,
    ) -> Result<Self, ModuleError> {
        // The driver would take an ELF file for one, and read as far as its header says.
        if ptx.starts_with('\x7F') {
            return Err(ModuleError::NotPtx);
        }
        let ptx = ptx.strip_suffix('\0').unwrap_or(ptx);
        if ptx::is_cuda_source(ptx) {
            return Err(ModuleError::CudaSource);
        }
        let text = c_string("the PTX", ptx)?;
        // SAFETY: PTX is text, which ends with a NUL here; the driver's compiler checks it.
        let mut module = unsafe { Self::load(cx, text.as_ptr().cast(), Some(ptx), options) }?;
        if !cx.context().library().has(FnId::cuFuncGetParamInfo) {
            module.entries = ptx::entries(ptx);
        }
        Ok(module)
    }

    /// Loads machine code (cubin) or a container of several (fatbin).
    ///
    /// # Errors
    /// [`ModuleError::Rejected`]: `CUDA_ERROR_NO_BINARY_FOR_GPU` (nothing in it fits the device),
    /// `CUDA_ERROR_INVALID_IMAGE`, `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// # Safety
    /// `image` is a whole cubin or fatbin as a compiler wrote it. The driver trusts its length fields; a cut
    /// or forged one can crash the process.
    ///
    /// Driver: `cuModuleLoadDataEx`, CUDA 2.1+.
    #[doc(alias = "cuModuleLoadDataEx")]
    pub unsafe fn load_binary(cx: &Current<'_, 'ctx>, image: &[u8]) -> Result<Self, ModuleError> {
        // SAFETY: the caller vouches for the image.
        unsafe { Self::load_binary_with(cx, image, &LoadOptions::new()) }
    }

    /// Like [`load_binary`](Self::load_binary), with options for the driver's compiler, which compiles the PTX of a
    /// fatbin where nothing else in it fits the device.
    ///
    /// # Errors
    /// Those of [`load_binary`](Self::load_binary).
    ///
    /// # Safety
    /// The duties of [`load_binary`](Self::load_binary).
    ///
    /// Driver: `cuModuleLoadDataEx`, CUDA 2.1+.
    #[doc(alias = "cuModuleLoadDataEx")]
    pub unsafe fn load_binary_with(
        cx: &Current<'_, 'ctx>,
        image: &[u8],
        options: &LoadOptions,
    ) -> Result<Self, ModuleError> {
        // SAFETY: the caller vouches for the image.
        unsafe { Self::load(cx, image.as_ptr().cast(), None, options) }
    }

    /// # Safety
    /// `image` is an image that the driver can read to its end.
    unsafe fn load(
        cx: &Current<'_, 'ctx>,
        image: *const c_void,
        ptx: Option<&str>,
        options: &LoadOptions,
    ) -> Result<Self, ModuleError> {
        let context = cx.get()?;
        let mut error_log = vec![0u8; LOG_BYTES];
        let mut info_log = vec![0u8; if options.wants_info_log() { LOG_BYTES } else { 0 }];
        let (mut names, mut values): (Vec<CUjit_option>, Vec<*mut c_void>) = log_options(
            (&mut error_log, CUjit_option::CU_JIT_ERROR_LOG_BUFFER),
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        )
        .into_iter()
        .chain(log_options(
            (&mut info_log, CUjit_option::CU_JIT_INFO_LOG_BUFFER),
            CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        ))
        .chain(options.values().iter().map(|&(name, value)| (name, ptr::without_provenance_mut(value))))
        .unzip();
        let (count, names, values) = (names.len() as u32, names.as_mut_ptr(), values.as_mut_ptr());
        let mut raw = CUmodule::null();
        // SAFETY: the caller vouches for the image; the options and the logs outlive the call, and the logs' sizes
        // are told.
        let loaded =
            unsafe { context_call!(&context, cuModuleLoadDataEx(&raw mut raw, image, count, names, values)) };
        match loaded {
            Ok(()) => Ok(Self {
                code: Held::new(raw, context),
                entries: Vec::new(),
                names: Vec::new(),
                info_log: text_of(&info_log),
                shares: None,
            }),
            Err(error) => Err(ModuleError::Rejected {
                error,
                log: text_of(&error_log),
                advice: advice(&context, error, ptx),
            }),
        }
    }
}

/// The options that give the driver room for a log; none for no room.
fn log_options(
    (room, buffer): (&mut [u8], CUjit_option),
    size: CUjit_option,
) -> Vec<(CUjit_option, *mut c_void)> {
    if room.is_empty() {
        return Vec::new();
    }
    vec![(buffer, room.as_mut_ptr().cast()), (size, ptr::without_provenance_mut(room.len()))]
}

/// Text of a log, up to the NUL.
fn text_of(room: &[u8]) -> String {
    let text =
        CStr::from_bytes_until_nul(room).map_or_else(|_| String::new(), |text| text.to_string_lossy().into());
    text.trim_end().to_owned()
}

/// Advice to the user about refused code.
#[cold]
fn advice(context: &ContextRef, error: Error, ptx: Option<&str>) -> Option<String> {
    let driver = context.driver().version();
    let directive = |name| ptx.and_then(|ptx| ptx::directive(ptx, name)).unwrap_or("unknown");
    match error.code() {
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => Some(format!(
            "the PTX is of version {}, which this driver (CUDA {driver}) does not know: update the driver, or compile with \
             a toolkit no newer than CUDA {driver}",
            directive(".version"),
        )),
        // For PTX of a newer device, drivers answer one or the other.
        CUresult::CUDA_ERROR_INVALID_PTX | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => {
            let device = context.device().compute_capability().ok()?;
            if ptx.is_none() {
                return Some(format!(
                    "the image has no code for compute capability {device}: compile for it, or keep PTX in it"
                ));
            }
            let target = directive(".target");
            (ptx::capability(target)? > device.major.saturating_mul(10).saturating_add(device.minor)).then(|| {
                format!("the PTX is for {target}, the device has compute capability {device}: compile for that or less")
            })
        }
        _ => None,
    }
}
