//! Loaded code.

use cuprum_sys::{CUfunction, CUmodule, FnId};

#[cfg(doc)]
use super::LoadOptions;
use super::error::{ModuleError, c_string};
use super::function::Function;
use super::global::Global;
use super::library::CodeLibrary;
use crate::context::{Current, context_call};
use crate::error::Error;
use crate::memory::DeviceData;
use crate::raw::debug::debug;
use crate::raw::held::{Held, handle};
use crate::raw::keep::Near;
use crate::raw::owner::{as_raw, close, context};
use crate::raw::shared::Shared;

/// Code loaded into a context: its functions and globals borrow it.
///
/// Drop unloads it. Wait for the module's kernels before it is dropped: see
/// [`Kernel::launch`](crate::Kernel::launch). Dropping the module of a
/// [library](CodeLibrary::module), which it borrows or shares, does not unload it; the library
/// does.
///
/// # Keeping it in a struct
///
/// A struct cannot hold a module and a kernel that borrows it: [share](Module::share) the module,
/// and its kernels keep it. It also cannot hold a context and a module that borrows it: make a
/// `Module<'static>` in a [shared](crate::Shared) context.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Module;
///
/// // An empty kernel, and a number.
/// let ptx = ".version 7.0 .target sm_52 .address_size 64
///     .visible .global .align 4 .u32 seed = 7;
///     .visible .entry nothing() { ret; }";
/// let module = Module::load_ptx(&cx, ptx)?;
/// let nothing = module.function("nothing")?.bind::<()>()?;
/// assert_eq!(nothing.function().name()?, "nothing");
///
/// let seed = module.global::<u32>("seed")?;
/// let mut value = [0];
/// cx.copy(&mut value, &seed)?;
/// assert_eq!(value, [7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Module<'ctx> {
    pub(super) code: Held<'ctx, Code>,
    /// The shared library that unloads the module. Dropped after the code.
    pub(super) _library: Option<Shared<CodeLibrary>>,
    /// The parameters of the PTX's kernels, if the driver does not report them.
    pub(super) entries: Vec<super::ptx::Entry>,
    /// Name expressions of the source, and their names in the code.
    pub(super) names: Vec<(String, String)>,
    pub(super) info_log: String,
}

/// A module's handle, and whether its owner unloads it.
#[derive(Clone, Copy)]
pub(super) struct Code {
    pub(super) raw: CUmodule,
    /// True if a library unloads it.
    pub(super) of_library: bool,
}

impl Code {
    pub(super) const fn owned(raw: CUmodule) -> Self {
        Self { raw, of_library: false }
    }
}

debug!(Code: |this, f| this.raw.fmt(f));

// SAFETY: the driver allows any thread to use a module handle.
handle!(unsafe Code: "Module", owned if |raw| !raw.of_library, |raw| cuModuleUnload(raw.raw));

impl<'ctx> Module<'ctx> {
    /// Makes the code shared, so that its kernels can be stored with it or without it.
    #[inline]
    pub fn share(self) -> Shared<Self> {
        Shared::new(self)
    }

    as_raw!(CUmodule, |this| this.code.raw().raw);
    context!(|this| this.code.context());

    /// The log of the driver's compiler for this code: empty unless it was
    /// [requested](LoadOptions::info_log).
    #[inline]
    pub fn info_log(&self) -> &str {
        &self.info_log
    }

    /// Adds names under which functions and variables are also found: of each, the new name and the
    /// one in the code. For compilers.
    #[doc(hidden)]
    #[must_use]
    pub fn with_names(mut self, names: Vec<(String, String)>) -> Self {
        self.names = names;
        self
    }

    fn in_code<'a>(&'a self, name: &'a str) -> &'a str {
        let named = self.names.iter().find(|(expression, _)| expression == name);
        named.map_or(name, |(_, in_code)| in_code)
    }

    /// Returns a kernel by its name in the PTX. `extern "C"` keeps the name of the source; C++
    /// mangles it. A module that `cuprum-compile` made with name expressions also accepts
    /// such an expression.
    ///
    /// # Errors
    /// [`ModuleError::NoFunction`], with the existing functions; [`ModuleError::InteriorNul`].
    ///
    /// Driver: `cuModuleGetFunction`, CUDA 2.0+; for an error `cuModuleGetFunctionCount` and
    /// `cuModuleEnumerateFunctions`, CUDA 12.4+, and `cuFuncGetName`, CUDA 12.3+ (before that the
    /// PTX is read).
    #[doc(alias = "cuModuleGetFunction")]
    #[inline]
    pub fn function(&self, name: &str) -> Result<Function<'_>, ModuleError> {
        let in_code = self.in_code(name);
        let text = c_string("the function's name", in_code)?;
        let (module, mut raw) = (self.as_raw(), CUfunction::null());
        // SAFETY: the module is live, and both pointers outlive the call.
        unsafe { context_call!(self.context(), cuModuleGetFunction(&raw mut raw, module, text.as_ptr())) }
            .map_err(|error| self.no_function(error, name))?;
        let entry = self.entries.iter().find(|entry| entry.name == in_code);
        Ok(Function::new(raw, self.code.near(), entry.map(Near::borrowed)))
    }

    /// Returns all kernels of the module, in no particular order.
    ///
    /// # Errors
    /// [`Error::UNRESOLVED`] on a driver older than CUDA 12.4.
    ///
    /// Driver: `cuModuleGetFunctionCount` and `cuModuleEnumerateFunctions`, CUDA 12.4+.
    #[doc(alias("cuModuleGetFunctionCount", "cuModuleEnumerateFunctions"))]
    #[inline]
    pub fn functions(&self) -> Result<Vec<Function<'_>>, Error> {
        let (module, mut count) = (self.as_raw(), 0);
        // SAFETY: the module is live, and the out-parameter outlives the call.
        unsafe { context_call!(self.context(), cuModuleGetFunctionCount(&raw mut count, module)) }?;
        let mut found = vec![CUfunction::null(); count as usize];
        let to = found.as_mut_ptr();
        // SAFETY: as above, with room for the requested number of handles.
        unsafe { context_call!(self.context(), cuModuleEnumerateFunctions(to, count, module)) }?;
        let some = found.into_iter().filter(|raw| !raw.is_null());
        Ok(some.map(|raw| Function::new(raw, self.code.near(), None)).collect())
    }

    #[cold]
    fn no_function(&self, error: Error, name: &str) -> ModuleError {
        ModuleError::no_function(error, name, || self.function_names())
    }

    /// The names of all kernels, from the driver or the PTX; `None` if neither knows them.
    fn function_names(&self) -> Option<Vec<String>> {
        if !self.entries.is_empty() {
            return Some(self.entries.iter().map(|entry| entry.name.clone()).collect());
        }
        let functions = self.functions().ok()?;
        functions.into_iter().map(|function| function.name().ok()).collect()
    }

    /// Returns a `__device__` or `__constant__` variable by its name, or by a name expression as
    /// for a [function](Module::function), as elements of `T`.
    ///
    /// # Errors
    /// [`ModuleError::NoGlobal`], [`ModuleError::InteriorNul`]; [`ModuleError::GlobalSize`] if its
    /// size is not a multiple of the size of `T`.
    ///
    /// Driver: `cuModuleGetGlobal_v2`, CUDA 3.2+.
    #[doc(alias = "cuModuleGetGlobal_v2")]
    pub fn global<T: DeviceData>(&self, name: &str) -> Result<Global<'_, T>, ModuleError> {
        let text = c_string("the global's name", self.in_code(name))?;
        let (module, name_of) = (self.as_raw(), text.as_ptr());
        Global::find(self.code.near(), name, |context, address, bytes| {
            // SAFETY: the module is live, and all pointers outlive the call.
            unsafe { context_call!(context, cuModuleGetGlobal_v2(address, bytes, module, name_of)) }
        })
    }

    close!("Unloads the code, unless a library does", "cuModuleUnload", "2.0", |this| this.code.close());
}

debug!(Module<'_>: |this, f| this.code.fmt(f));

impl CodeLibrary {
    /// Returns the library's module in the current context. On first use there, the driver loads
    /// the code into it. The module borrows library and context; it holds a share of a
    /// [shared](CodeLibrary::share) library.
    ///
    /// # Errors
    /// `CUDA_ERROR_OUT_OF_MEMORY`, `CUDA_ERROR_NO_BINARY_FOR_GPU`; [`Error::WRONG_CONTEXT`] for a
    /// context of another driver.
    ///
    /// Driver: `cuLibraryGetModule`, CUDA 12.0+.
    #[doc(alias = "cuLibraryGetModule")]
    #[inline]
    pub fn module<'m>(&'m self, cx: &Current<'_, 'm>) -> Result<Module<'m>, Error> {
        self.module_kept(cx, || None)
    }

    /// The module in the current context. `keep` returns a share, unless the library is borrowed.
    pub(super) fn module_kept<'m>(
        &self,
        cx: &Current<'_, 'm>,
        keep: impl FnOnce() -> Option<Shared<Self>>,
    ) -> Result<Module<'m>, Error> {
        let context = cx.get()?;
        self.check_driver(context.driver(), FnId::cuLibraryGetModule)?;
        let mut raw = CUmodule::null();
        // SAFETY: the library is live, a context of its driver is current, and the out-parameter
        // outlives the call.
        unsafe { context_call!(&context, cuLibraryGetModule(&raw mut raw, self.as_raw())) }?;
        Ok(Module {
            code: Held::new(Code { raw, of_library: true }, context),
            _library: keep(),
            entries: self.entries.clone(),
            names: Vec::new(),
            info_log: self.info_log.clone(),
        })
    }
}
