//! The driver's linker, which combines several inputs to one piece of machine code.

use std::ffi::c_void;
use std::ptr;

use cuprum_sys::{CUjitInputType, CUlinkState};

use super::advice::advice;
use super::jit::Jit;
use super::linked::Linked;
use super::text::{entries_for, ptx_text};
use super::{LoadOptions, ModuleError, c_string, ptx};
use crate::context::{Current, context_call};
use crate::error::Error;
use crate::raw::debug::debug;
use crate::raw::held::{Held, handle};
use crate::raw::owner::{as_raw, close, context};

/// A link in progress. [Added](Linker::add_ptx) inputs may use definitions of other inputs, which
/// [`complete`](Linker::complete) checks.
///
/// The driver keeps no input after it was added. The linker owns the options and the log buffers
/// until it is dropped.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::module::{Linker, LoadOptions};
///
/// let head = ".version 7.0\n.target sm_52\n.address_size 64\n";
/// let main = ".extern .func twice();\n.visible .entry main() { call twice, (); ret; }";
/// let helper = ".visible .func twice() { ret; }";
///
/// let mut linker = Linker::new(&cx, &LoadOptions::default())?;
/// linker.add_ptx("main.ptx", &[head, main].concat())?;
/// linker.add_ptx("helper.ptx", &[head, helper].concat())?;
/// let module = linker.complete()?.load(&cx)?;
/// let kernel = module.function("main")?.bind::<()>()?;
/// # drop(kernel);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Linker<'ctx> {
    // Dropped before the memory that the driver uses.
    state: Held<'ctx, CUlinkState>,
    jit: Jit,
    inputs: Vec<String>,
    /// The log about inputs that were refused before.
    said: String,
    /// The parameters of the PTX's kernels, if the driver does not report them.
    entries: Vec<ptx::Entry>,
}

// SAFETY: the driver allows any thread to use a link's handle; here one thread at a time does,
// because it is borrowed mutably.
handle!(unsafe CUlinkState: "Linker", |raw| cuLinkDestroy(raw));

/// A form of linkable code, as the driver's number. Code for link-time optimization is of a toolkit
/// before CUDA 12; newer code needs nvJitLink.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::module::{LinkInput, Linker, LoadOptions};
///
/// let ptx = std::fs::read_to_string("kernels/saxpy.ptx")? + "\0";
/// let mut linker = Linker::new(&cx, &LoadOptions::default())?;
/// // SAFETY: the code has the given form, and comes from a compiler.
/// unsafe { linker.add(LinkInput::CU_JIT_INPUT_PTX, "saxpy.ptx", ptx.as_bytes()) }?;
/// let module = linker.complete()?.load(&cx)?;
/// assert!(module.function("saxpy").is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type LinkInput = CUjitInputType;

impl<'ctx> Linker<'ctx> {
    /// Begins a link for the device of the current context. The options apply to all inputs.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an option or a value that the driver does not know;
    /// `CUDA_ERROR_OUT_OF_MEMORY`; `CUDA_ERROR_JIT_COMPILER_NOT_FOUND` if the driver's compiler is
    /// not installed.
    ///
    /// Driver: `cuLinkCreate_v2`, CUDA 6.5+.
    #[doc(alias = "cuLinkCreate_v2")]
    #[inline]
    pub fn new(cx: &Current<'_, 'ctx>, options: &LoadOptions) -> Result<Self, Error> {
        let context = cx.get()?;
        let (mut jit, mut raw) = (Jit::new(options), CUlinkState::null());
        let (count, names, values) = jit.options();
        // SAFETY: the out-parameter outlives the call; options and logs live as long as the link.
        unsafe { context_call!(&context, cuLinkCreate_v2(count, names, values, &raw mut raw)) }?;
        let state = Held::new(raw, context);
        Ok(Self { state, jit, inputs: Vec::new(), said: String::new(), entries: Vec::new() })
    }

    as_raw!(CUlinkState, |this| this.state.raw());
    context!(|this| this.state.context());

    /// Adds PTX text. Messages refer to it by `name`. A NUL at the end of the text is ignored.
    /// Blocks while the driver compiles it, now or in [`complete`](Linker::complete).
    ///
    /// # Errors
    /// [`ModuleError::Input`] with the reason: text that is not PTX, or [`ModuleError::Rejected`]
    /// with the compiler's log: `CUDA_ERROR_INVALID_PTX` and `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`,
    /// after which the link goes on without this input, or `CUDA_ERROR_INVALID_SOURCE` for a symbol
    /// that another input already defines, or declares with another type or size. Every later call
    /// for this link then fails in the same way.
    ///
    /// Driver: `cuLinkAddData_v2`, CUDA 6.5+.
    #[doc(alias = "cuLinkAddData_v2")]
    #[inline]
    pub fn add_ptx(&mut self, name: &str, ptx: &str) -> Result<(), ModuleError> {
        let text = ptx_text(ptx).map_err(|error| ModuleError::of_input(name, error))?;
        // SAFETY: PTX is text with a NUL at the end here; the driver's compiler checks it.
        unsafe { self.add_bytes(LinkInput::CU_JIT_INPUT_PTX, name, text.as_bytes_with_nul(), Some(ptx)) }?;
        self.entries.extend(entries_for(self.context().driver(), ptx));
        Ok(())
    }

    /// Adds code from memory. Messages refer to it by `name`.
    ///
    /// # Errors
    /// [`ModuleError::Input`] with [`ModuleError::Rejected`]: `CUDA_ERROR_NO_BINARY_FOR_GPU`,
    /// `CUDA_ERROR_INVALID_IMAGE`, `CUDA_ERROR_INVALID_VALUE` for empty code,
    /// `CUDA_ERROR_NOT_SUPPORTED` for a form that the driver no longer accepts.
    ///
    /// # Safety
    /// `code` is complete, and of this form, as a compiler wrote it; PTX ends with a NUL. The
    /// driver trusts its length fields; truncated or forged code can crash the process.
    ///
    /// Driver: `cuLinkAddData_v2`, CUDA 6.5+.
    #[doc(alias = "cuLinkAddData_v2")]
    #[inline]
    pub unsafe fn add(&mut self, form: LinkInput, name: &str, code: &[u8]) -> Result<(), ModuleError> {
        // SAFETY: the caller guarantees the code.
        unsafe { self.add_bytes(form, name, code, None) }
    }

    /// # Safety
    /// Same as [`add`](Linker::add).
    unsafe fn add_bytes(
        &mut self,
        form: LinkInput,
        name: &str,
        code: &[u8],
        ptx: Option<&str>,
    ) -> Result<(), ModuleError> {
        let text = c_string("the input's name", name);
        let text = text.map_err(|error| ModuleError::of_input(name, error))?;
        let (state, none) = (self.as_raw(), ptr::null_mut());
        let (start, bytes) = (code.as_ptr().cast_mut().cast::<c_void>(), code.len());
        // SAFETY: the link is live; the caller guarantees the code, which with its name outlives
        // the call, and is only read.
        let added = unsafe {
            context_call!(
                self.context(),
                cuLinkAddData_v2(state, form, start, bytes, text.as_ptr(), 0, ptr::null_mut(), none)
            )
        };
        self.added(added, name, ptx)
    }

    fn added(&mut self, added: Result<(), Error>, name: &str, ptx: Option<&str>) -> Result<(), ModuleError> {
        let Err(error) = added else {
            self.inputs.push(name.to_owned());
            return Ok(());
        };
        let (driver, device) = (self.context().driver(), self.context().device());
        let advice = advice(driver, Some(device), error, ptx.map(str::as_bytes));
        Err(ModuleError::of_input(name, ModuleError::Rejected { error, log: self.new_in_log(), advice }))
    }

    /// The text that the driver has added to its error log.
    fn new_in_log(&mut self) -> String {
        let log = self.jit.error_log();
        let new = log.strip_prefix(&self.said).unwrap_or(&log).trim_start().to_owned();
        self.said = log;
        new
    }

    /// Links all inputs, and blocks until done. An error also ends the linker.
    ///
    /// # Errors
    /// [`ModuleError::Link`] with the log and the names of the inputs:
    /// `CUDA_ERROR_INVALID_SOURCE` for an undefined symbol.
    ///
    /// Driver: `cuLinkComplete`, CUDA 5.5+; after an error also `cuLinkDestroy`, CUDA 5.5+.
    #[doc(alias = "cuLinkComplete")]
    #[inline]
    pub fn complete(mut self) -> Result<Linked<'ctx>, ModuleError> {
        let (state, mut image, mut bytes) = (self.as_raw(), ptr::null_mut(), 0);
        let (to_image, to_bytes) = (&raw mut image, &raw mut bytes);
        // SAFETY: the link is live, and both out-parameters outlive the call.
        let linked = unsafe { context_call!(self.context(), cuLinkComplete(state, to_image, to_bytes)) };
        let info_log = self.jit.info_log();
        if let Err(error) = linked {
            let log = self.new_in_log();
            return Err(ModuleError::Link { error, log, info_log, inputs: self.inputs });
        }
        let Self { state, jit, entries, .. } = self;
        // SAFETY: the driver has just written the image, which lives as long as the link.
        Ok(unsafe { Linked::new(state, jit, (image.cast(), bytes), entries, info_log) })
    }

    close!("Ends the link without a result", "cuLinkDestroy", "5.5", |this| {
        // The logs are dropped after the link.
        let Self { state, jit: _jit, .. } = this;
        state.close()
    });
}

debug! {
    Linker<'_>: |this, f|
    f.debug_struct("Linker").field("state", &this.state).field("inputs", &this.inputs).finish()
}
