//! Kernels in the driver's form: attributes and parameters.

use std::ffi::{CStr, c_void};
use std::ptr;

use cuprum_sys::{CUfunction, CUfunction_attribute, CUresult, FnId};

use super::ptx::{Entry, Unreadable};
use crate::context::{ContextRef, Current, context_call};
use crate::error::Error;
use crate::launch::LaunchConfig;
use crate::raw::debug::debug;
use crate::raw::keep::Near;
use crate::raw::owner::context;
use crate::stream::Stream;

/// A kernel of a loaded module, which it borrows. Bind it to a Rust signature to launch it.
///
/// # Keeping it in a struct
///
/// It borrows its module, and no struct can hold both. A [`Kernel`](crate::Kernel) of a [shared
/// module](crate::Shared) keeps its code, and can be stored with it.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// let module = cuprum::Module::load_ptx(&cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
/// let saxpy = module.function("saxpy")?;
/// assert_eq!(saxpy.parameter(1)?, (4, 4)); // offset and size of `float alpha`
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Function<'m> {
    raw: CUfunction,
    context: Near<'m, ContextRef>,
    /// Its declaration in the PTX, if the driver does not report parameters.
    entry: Option<Near<'m, Entry>>,
}

// SAFETY: the driver allows any thread to use a function handle.
unsafe impl Send for Function<'_> {}
// SAFETY: as above; it is immutable.
unsafe impl Sync for Function<'_> {}

impl<'m> Function<'m> {
    pub(super) const fn new(
        raw: CUfunction,
        context: Near<'m, ContextRef>,
        entry: Option<Near<'m, Entry>>,
    ) -> Self {
        Self { raw, context, entry }
    }

    /// Extends the lifetime, for a module that is kept in another way.
    ///
    /// # Safety
    /// The module stays loaded while the copy is used.
    pub(crate) unsafe fn outlived<'b>(self) -> Function<'b> {
        // SAFETY: the module keeps its context.
        let context = unsafe { self.context.outlived() };
        // SAFETY: the declaration from the PTX is also in the module.
        let entry = self.entry.map(|entry| unsafe { entry.outlived() });
        Function { raw: self.raw, context, entry }
    }

    /// The driver's handle.
    #[inline]
    pub const fn as_raw(self) -> CUfunction {
        self.raw
    }

    context!(|this| &this.context);

    /// Returns the kernel's name in the module: as in the source for `extern "C"`, otherwise
    /// mangled.
    ///
    /// # Errors
    /// [`Error::UNRESOLVED`] if the driver is older than CUDA 12.3 and the module was not loaded
    /// from PTX.
    ///
    /// Driver: `cuFuncGetName`, CUDA 12.3+; before that the PTX is read.
    #[doc(alias = "cuFuncGetName")]
    #[inline]
    pub fn name(self) -> Result<String, Error> {
        if let Some(entry) = self.entry.as_deref() {
            return Ok(entry.name.clone());
        }
        let mut name = ptr::null();
        // SAFETY: the borrowed module keeps the function live; the out-parameter outlives the call.
        unsafe { context_call!(&self.context, cuFuncGetName(&raw mut name, self.raw)) }?;
        if name.is_null() {
            return Ok(String::new());
        }
        // SAFETY: the driver's text, which lives as long as the module and is copied immediately.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }

    /// Returns an attribute, such as registers per thread or bytes of static shared memory.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an attribute that the driver does not know.
    ///
    /// Driver: `cuFuncGetAttribute`, CUDA 2.2+.
    #[doc(alias = "cuFuncGetAttribute")]
    #[inline]
    pub fn attribute(self, attribute: CUfunction_attribute) -> Result<i32, Error> {
        let mut value = 0;
        // SAFETY: the function is live, because its module is borrowed; `value` outlives the call.
        unsafe { context_call!(&self.context, cuFuncGetAttribute(&raw mut value, attribute, self.raw)) }?;
        Ok(value)
    }

    /// Sets an attribute for all later launches of this kernel.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a read-only attribute or a value out of range.
    ///
    /// Driver: `cuFuncSetAttribute`, CUDA 9.0+.
    #[doc(alias = "cuFuncSetAttribute")]
    #[inline]
    pub fn set_attribute(self, attribute: CUfunction_attribute, value: i32) -> Result<(), Error> {
        // SAFETY: the function is live, because its module is borrowed.
        unsafe { context_call!(&self.context, cuFuncSetAttribute(self.raw, attribute, value)) }
    }

    /// Returns the number of parameters.
    ///
    /// # Errors
    /// [`Error::UNRESOLVED`] if the driver is older than CUDA 12.4 and the module was not loaded
    /// from PTX, or if the parameters in the PTX contain an unknown word.
    ///
    /// Driver: `cuFuncGetParamCount`, CUDA 13.2+; before that `cuFuncGetParamInfo`, CUDA 12.4+,
    /// until it reports twice that there is no further parameter, because any call may fail for
    /// another reason; before that the PTX is read.
    #[doc(alias("cuFuncGetParamCount", "cuFuncGetParamInfo"))]
    #[inline]
    pub fn parameter_count(self) -> Result<usize, Error> {
        match self.entry.as_deref().map(|entry| &entry.parameters) {
            Some(Ok(parameters)) => return Ok(parameters.len()),
            _ if self.context.library().has(FnId::cuFuncGetParamCount) => {}
            _ => return probe_parameter_count(|index| self.parameter(index)),
        }
        let mut count = 0;
        // SAFETY: the function is live; the out-parameter outlives the call.
        unsafe { context_call!(&self.context, cuFuncGetParamCount(self.raw, &raw mut count)) }?;
        Ok(count)
    }

    /// The unknown word in the PTX, if the driver does not report parameters.
    pub(crate) fn unreadable(&self) -> Option<&Unreadable> {
        self.entry.as_deref()?.parameters.as_ref().err()
    }

    /// Returns the offset and size of parameter `index` in bytes.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` after the last parameter; the errors of
    /// [`parameter_count`](Function::parameter_count).
    ///
    /// Driver: `cuFuncGetParamInfo`, CUDA 12.4+; before that the PTX is read.
    #[doc(alias = "cuFuncGetParamInfo")]
    #[inline]
    pub fn parameter(self, index: usize) -> Result<(usize, usize), Error> {
        if let Some(Ok(parameters)) = self.entry.as_deref().map(|entry| &entry.parameters) {
            let parameter = parameters.get(index);
            return parameter
                .map(|parameter| (parameter.offset, parameter.size))
                .ok_or(Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, FnId::cuFuncGetParamInfo));
        }
        let (mut offset, mut size) = (0, 0);
        let (to_offset, to_size) = (&raw mut offset, &raw mut size);
        // SAFETY: the function is live; both out-parameters outlive the call.
        unsafe { context_call!(&self.context, cuFuncGetParamInfo(self.raw, index, to_offset, to_size)) }?;
        Ok((offset, size))
    }

    /// Queues the kernel with one pointer per parameter, for signatures known only at run time.
    ///
    /// Neither geometry nor arguments are checked; [`bind`](Function::bind) checks them.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a geometry beyond the limits; [`Error::WRONG_CONTEXT`]
    /// unless kernel and stream are of the current context; `CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES`.
    ///
    /// # Safety
    /// 1. `pointers` has one entry per parameter, in order, each to a value of its size.
    /// 2. The [duties of a launch](crate::launch#duties-of-a-launch).
    ///
    /// Driver: `cuLaunchKernel`, CUDA 4.0+.
    #[doc(alias = "cuLaunchKernel")]
    #[inline]
    pub unsafe fn launch_pointers(
        self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
        config: LaunchConfig,
        pointers: *mut *mut c_void,
    ) -> Result<(), Error> {
        let context = cx.of_both([&self.context, stream.context()], FnId::cuLaunchKernel)?;
        let (function, stream) = (self.raw, stream.as_raw());
        let LaunchConfig { grid, block, shared_bytes } = config;
        // SAFETY: function and stream are live and of the current context; the caller guarantees
        // the rest.
        unsafe {
            context_call!(
                context,
                cuLaunchKernel(
                    function,
                    grid.x,
                    grid.y,
                    grid.z,
                    block.x,
                    block.y,
                    block.z,
                    shared_bytes,
                    stream,
                    pointers,
                    ptr::null_mut(),
                )
            )
        }
    }
}

/// Counts the parameters of a kernel, for a driver that reports only single ones.
fn probe_parameter_count(parameter: impl Fn(usize) -> Result<(usize, usize), Error>) -> Result<usize, Error> {
    let is_past = |index| match parameter(index) {
        Err(error) if error.code() == CUresult::CUDA_ERROR_INVALID_VALUE => Ok(true),
        other => other.map(|_| false),
    };
    let mut count = 0;
    while !(is_past(count)? && is_past(count)?) {
        count += 1;
    }
    Ok(count)
}

debug!(Function<'_>: |this| "{:?}", this.raw);
