//! Code that the driver has linked.

use std::ptr::NonNull;
use std::slice;

use cuprum_sys::CUlinkState;

use super::jit::Jit;
use super::{LoadOptions, Module, ModuleError, ptx};
use crate::context::Current;
use crate::raw::debug::debug;
use crate::raw::held::Held;
use crate::raw::owner::close;

/// Machine code that a [`Linker`](super::Linker) made. The driver's linker, which this keeps, owns
/// the bytes, so they are not copied. Modules loaded from it have their own copy.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::module::{LinkInput, Linker, LoadOptions};
///
/// let ptx = std::fs::read_to_string("kernels/saxpy.ptx")? + "\0";
/// let mut linker = Linker::new(&cx, &LoadOptions::default())?;
/// // SAFETY: the code has the given form, and comes from a compiler.
/// unsafe { linker.add(LinkInput::CU_JIT_INPUT_PTX, "saxpy.ptx", ptx.as_bytes()) }?;
/// let linked = linker.complete()?;
/// assert!(linked.load(&cx)?.function("saxpy").is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Linked<'ctx> {
    // Dropped before the memory that the driver uses.
    state: Held<'ctx, CUlinkState>,
    jit: Jit,
    image: NonNull<u8>,
    len: usize,
    /// The parameters of the PTX's kernels, if the driver does not report them.
    entries: Vec<ptx::Entry>,
    info_log: String,
}

// SAFETY: any thread may use and end the link; the image is only read.
unsafe impl Send for Linked<'_> {}
// SAFETY: as above.
unsafe impl Sync for Linked<'_> {}

impl<'ctx> Linked<'ctx> {
    /// # Safety
    /// The image is of `state`, and only the call that ends `state` is still made; both have been
    /// given `jit`.
    pub(super) unsafe fn new(
        state: Held<'ctx, CUlinkState>,
        jit: Jit,
        (image, bytes): (*mut u8, usize),
        entries: Vec<ptx::Entry>,
        info_log: String,
    ) -> Self {
        let (image, len) = NonNull::new(image).map_or((NonNull::dangling(), 0), |image| (image, bytes));
        Self { state, jit, image, len, entries, info_log }
    }

    /// The machine code, to store or to pass on.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the driver's image of this size, which lives as long as the link and is never
        // written.
        unsafe { slice::from_raw_parts(self.image.as_ptr(), self.len) }
    }

    /// The log of the driver's linker about this code: empty unless it was
    /// [requested](LoadOptions::info_log).
    #[inline]
    pub fn info_log(&self) -> &str {
        &self.info_log
    }

    /// Loads the code into the current context, on a device for which the code was linked.
    ///
    /// # Errors
    /// [`ModuleError::Rejected`]: `CUDA_ERROR_NO_BINARY_FOR_GPU` on a different kind of device,
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuModuleLoadDataEx`, CUDA 2.1+.
    #[doc(alias = "cuModuleLoadDataEx")]
    #[inline]
    pub fn load<'other>(&self, cx: &Current<'_, 'other>) -> Result<Module<'other>, ModuleError> {
        let image = self.as_bytes();
        // SAFETY: a complete image, as the driver's linker has written it.
        let mut module = unsafe { Module::load(cx, image.as_ptr().cast(), None, &LoadOptions::default()) }?;
        module.entries.clone_from(&self.entries);
        Ok(module)
    }

    close!("Ends the link, frees the bytes", "cuLinkDestroy", "5.5", |this| {
        // The logs are dropped after the link.
        let Self { state, jit: _jit, .. } = this;
        state.close()
    });
}

debug! {
    Linked<'_>: |this, f|
    f.debug_struct("Linked").field("state", &this.state).field("bytes", &this.len).finish()
}
