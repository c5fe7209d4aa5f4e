//! Kernels without a context.

use std::ffi::CStr;
use std::ptr;

use cuprum_sys::{CUfunction, CUfunction_attribute, CUkernel, CUresult, FnId};

use super::ptx::Entry;
use super::{CodeLibrary, Function, ModuleError, c_string};
use crate::context::{Current, context_call};
use crate::device::Device;
use crate::error::Error;
use crate::raw::call::driver_call;
use crate::raw::debug::debug;
use crate::raw::keep::Near;

/// A kernel of a [`CodeLibrary`], which it borrows, without a context:
/// [`function`](LibraryKernel::function) returns a function of a context, which can be bound and
/// launched.
///
/// # Keeping it in a struct
///
/// It borrows its library, and no struct can hold both. A [`Kernel`](crate::Kernel) of a [shared
/// library](crate::Shared) keeps its code.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::module::CodeLibrary;
///
/// let library = CodeLibrary::load_ptx(driver, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
/// let kernel = library.kernel("saxpy")?;
/// // From here on it has a context.
/// let saxpy = kernel.function(&cx)?;
/// assert_eq!(saxpy.parameter_count()?, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct LibraryKernel<'l> {
    raw: CUkernel,
    library: &'l CodeLibrary,
    /// Its declaration in the PTX, if the driver does not report parameters.
    entry: Option<Near<'l, Entry>>,
}

// SAFETY: the driver allows any thread to use a kernel's handle.
unsafe impl Send for LibraryKernel<'_> {}
// SAFETY: as above; it is immutable.
unsafe impl Sync for LibraryKernel<'_> {}

impl<'l> LibraryKernel<'l> {
    pub(super) const fn new(raw: CUkernel, library: &'l CodeLibrary, entry: Option<Near<'l, Entry>>) -> Self {
        Self { raw, library, entry }
    }

    /// The driver's handle.
    pub const fn as_raw(self) -> CUkernel {
        self.raw
    }

    /// Returns the kernel in the current context. On first use there, the driver loads the code
    /// into it. The function borrows the library and the token; functions of
    /// [`CodeLibrary::module`] need no token.
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`, `CUDA_ERROR_NO_BINARY_FOR_GPU`; [`Error::WRONG_CONTEXT`] for a
    /// context of another driver.
    ///
    /// Driver: `cuKernelGetFunction`, CUDA 12.0+.
    #[doc(alias = "cuKernelGetFunction")]
    #[inline]
    pub fn function<'a>(self, cx: &'a Current<'_, '_>) -> Result<Function<'a>, Error>
    where
        'l: 'a,
    {
        let context = cx.get()?;
        self.library.check_driver(context.driver(), FnId::cuKernelGetFunction)?;
        let mut raw = CUfunction::null();
        // SAFETY: the kernel is live, because its library is borrowed; a context of its driver is
        // current, and the out-parameter outlives the call.
        unsafe { context_call!(&context, cuKernelGetFunction(&raw mut raw, self.raw)) }?;
        Ok(Function::new(raw, context, self.entry))
    }

    /// Returns its name in the library: as in the source for `extern "C"`, otherwise mangled.
    ///
    /// # Errors
    /// [`Error::UNRESOLVED`] if the driver is older than CUDA 12.3.
    ///
    /// Driver: `cuKernelGetName`, CUDA 12.3+.
    #[doc(alias = "cuKernelGetName")]
    #[inline]
    pub fn name(self) -> Result<String, Error> {
        let mut name = ptr::null();
        // SAFETY: the borrowed library keeps the kernel live; the out-parameter outlives the call.
        unsafe { driver_call!(self.library.driver().library(), cuKernelGetName(&raw mut name, self.raw)) }?;
        if name.is_null() {
            return Ok(String::new());
        }
        // SAFETY: the driver's text, which lives as long as the library and is copied immediately.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }

    /// Returns an attribute on `device`, such as registers per thread or static shared memory.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an attribute that the driver does not know;
    /// [`Error::WRONG_CONTEXT`] for a device of another driver.
    ///
    /// Driver: `cuKernelGetAttribute`, CUDA 12.0+.
    #[doc(alias = "cuKernelGetAttribute")]
    #[inline]
    pub fn attribute(self, device: Device, attribute: CUfunction_attribute) -> Result<i32, Error> {
        self.library.check_driver(device.driver(), FnId::cuKernelGetAttribute)?;
        let (mut value, device) = (0, device.as_raw());
        let (to, library) = (&raw mut value, self.library.driver().library());
        // SAFETY: the kernel is live, because its library is borrowed; `value` outlives the call.
        unsafe { driver_call!(library, cuKernelGetAttribute(to, attribute, self.raw, device)) }?;
        Ok(value)
    }

    /// Sets an attribute for all later launches of this kernel on `device`. A value set for its
    /// [function](Function::set_attribute) in a context has priority.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a read-only attribute or a value out of range;
    /// [`Error::WRONG_CONTEXT`] for a device of another driver.
    ///
    /// Driver: `cuKernelSetAttribute`, CUDA 12.0+.
    #[doc(alias = "cuKernelSetAttribute")]
    #[inline]
    pub fn set_attribute(
        self,
        device: Device,
        attribute: CUfunction_attribute,
        value: i32,
    ) -> Result<(), Error> {
        self.library.check_driver(device.driver(), FnId::cuKernelSetAttribute)?;
        let (library, device) = (self.library.driver().library(), device.as_raw());
        // SAFETY: the kernel is live, because its library is borrowed.
        unsafe { driver_call!(library, cuKernelSetAttribute(attribute, value, self.raw, device)) }
    }
}

debug!(LibraryKernel<'_>: |this| "{:?}", this.raw);

impl CodeLibrary {
    /// Returns a kernel by its name in the PTX: as in the source for `extern "C"`, otherwise
    /// mangled.
    ///
    /// # Errors
    /// [`ModuleError::NoFunction`], with the existing kernels; [`ModuleError::InteriorNul`];
    /// [`ModuleError::Rejected`], with the compiler's log, if the driver loaded code that it cannot
    /// compile.
    ///
    /// Driver: `cuLibraryGetKernel`, CUDA 12.0+; for an error `cuLibraryGetKernelCount` and
    /// `cuLibraryEnumerateKernels`, CUDA 12.4+, and `cuKernelGetName`, CUDA 12.3+.
    #[doc(alias = "cuLibraryGetKernel")]
    #[inline]
    pub fn kernel(&self, name: &str) -> Result<LibraryKernel<'_>, ModuleError> {
        let text = c_string("the kernel's name", name)?;
        let (library, mut raw) = (self.as_raw(), CUkernel::null());
        // SAFETY: the library is live, and both pointers outlive the call.
        unsafe {
            driver_call!(self.driver().library(), cuLibraryGetKernel(&raw mut raw, library, text.as_ptr()))
        }
        .map_err(|error| self.no_kernel(error, name))?;
        Ok(LibraryKernel::new(raw, self, self.entry(name)))
    }

    #[cold]
    fn no_kernel(&self, error: Error, name: &str) -> ModuleError {
        if !self.error_log.is_empty() && error.code() != CUresult::CUDA_ERROR_NOT_FOUND {
            return ModuleError::Rejected { error, log: self.error_log.clone(), advice: None };
        }
        let listed = || self.kernels().ok()?.into_iter().map(|kernel| kernel.name().ok()).collect();
        ModuleError::no_function(error, name, listed)
    }

    /// Returns all kernels of the library, in no particular order.
    ///
    /// # Errors
    /// [`Error::UNRESOLVED`] on a driver older than CUDA 12.4.
    ///
    /// Driver: `cuLibraryGetKernelCount` and `cuLibraryEnumerateKernels`, CUDA 12.4+.
    #[doc(alias("cuLibraryGetKernelCount", "cuLibraryEnumerateKernels"))]
    #[inline]
    pub fn kernels(&self) -> Result<Vec<LibraryKernel<'_>>, Error> {
        let (library, mut count) = (self.as_raw(), 0);
        let driver = self.driver().library();
        // SAFETY: the library is live, and the out-parameter outlives the call.
        unsafe { driver_call!(driver, cuLibraryGetKernelCount(&raw mut count, library)) }?;
        let mut found = vec![CUkernel::null(); count as usize];
        if count > 0 {
            let to = found.as_mut_ptr();
            // SAFETY: as above, with room for the requested number of handles.
            unsafe { driver_call!(driver, cuLibraryEnumerateKernels(to, count, library)) }?;
        }
        let some = found.into_iter().filter(|raw| !raw.is_null());
        Ok(some.map(|raw| LibraryKernel::new(raw, self, None)).collect())
    }
}
