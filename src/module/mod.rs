//! Modules: loaded code, its kernels and its global variables.

mod advice;
mod function;
mod global;
mod jit;
mod kernel;
mod library;
mod linked;
mod linker;
mod load;
mod loading;
mod options;
mod ptx;
mod shared;
mod unified;

use std::ffi::CString;
use std::fmt;

use cuprum_sys::{CUfunction, CUmodule, CUresult, FnId, Fns, call};

pub use self::function::Function;
pub use self::global::Global;
pub use self::kernel::LibraryKernel;
pub use self::library::CodeLibrary;
pub use self::linked::Linked;
pub use self::linker::{LinkInput, Linker};
pub use self::loading::LoadingMode;
pub use self::options::LoadOptions;

use crate::context::ContextRef;
use crate::error::Error;
use crate::memory::DeviceData;
use crate::raw::call::context_call;
use crate::raw::held::{Handle, Held};
use crate::raw::keep::Near;
use crate::raw::shared::Shared;

/// Code loaded into a context: its functions and globals borrow it.
///
/// Drop unloads it on any thread, swallows errors and does nothing in a forked child;
/// [`close`](Module::close) returns errors. Wait for the module's kernels before it is dropped: see
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
    code: Held<'ctx, Code>,
    /// The shared library that unloads the module. Dropped after the code.
    _library: Option<Shared<CodeLibrary>>,
    /// The parameters of the PTX's kernels, if the driver does not report them.
    entries: Vec<ptx::Entry>,
    /// Name expressions of the source, and their names in the code.
    names: Vec<(String, String)>,
    info_log: String,
}

/// A module's handle, and whether its owner unloads it.
#[derive(Clone, Copy)]
struct Code {
    raw: CUmodule,
    /// True if a library unloads it.
    of_library: bool,
}

impl Code {
    const fn owned(raw: CUmodule) -> Self {
        Self { raw, of_library: false }
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

// SAFETY: the driver allows any thread to use a module handle.
unsafe impl Handle for Code {
    const NAME: &'static str = "Module";

    fn is_owned(self) -> bool {
        !self.of_library
    }

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: the caller guarantees that the module is live and not used again.
        unsafe { call!(fns, cuModuleUnload(self.raw)) }
    }
}

/// Error of loading code, or of finding a symbol in it.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::module::ModuleError;
/// use cuprum::Module;
///
/// let module = Module::load_ptx(&cx, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
/// match module.function("sax") {
///     Err(ModuleError::NoFunction { there_are: Some(names), .. }) => assert!(names[0].starts_with("sax")),
///     other => println!("an old driver does not list the functions: {other:?}"),
/// }
/// let source = "extern \"C\" __global__ void nothing() {}";
/// assert_eq!(Module::load_ptx(&cx, source).err(), Some(ModuleError::CudaSource));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    /// Text for the driver contains a NUL byte.
    #[error("{what} has a NUL byte at {position}: the driver would read only the text before it")]
    InteriorNul {
        /// Kind of the text.
        what: &'static str,
        /// Position of the byte.
        position: usize,
    },
    /// Machine code instead of PTX.
    #[error("this is no PTX but begins like an ELF file: load it with `load_binary`")]
    NotPtx,
    /// CUDA C++ instead of PTX.
    #[error(
        "this is CUDA C++ and no PTX, which begins with `.version`: compile it with the crate `cuprum-compile`, or with `nvcc --ptx`"
    )]
    CudaSource,
    /// The driver refused the code.
    #[error("{error}{}{}", advice.as_deref().map_or_else(String::new, |advice| format!("; {advice}")),
        if log.is_empty() { String::new() } else { format!("\n{log}") })]
    Rejected {
        /// The driver's error.
        error: Error,
        /// The log of its compiler.
        log: String,
        /// Advice, if known.
        advice: Option<String>,
    },
    /// The module has no function of that name.
    #[error("{error}: the module has no function named `{name}`; {}", listing(there_are.as_deref()))]
    NoFunction {
        /// The driver's error, `CUDA_ERROR_NOT_FOUND`.
        error: Error,
        /// The requested name.
        name: String,
        /// The functions of the module; functions whose names contain the requested name come
        /// first. `None` if they are unknown: the driver is older than CUDA 12.4, and the module
        /// was not loaded from PTX.
        there_are: Option<Vec<String>>,
    },
    /// The module has no global variable of that name.
    #[error("{error}: the module has no global named `{name}`")]
    NoGlobal {
        /// The driver's error, `CUDA_ERROR_NOT_FOUND`.
        error: Error,
        /// The requested name.
        name: String,
    },
    /// The size of a global is not a multiple of the size of the type.
    #[error("global `{name}` has {bytes} bytes, which is no number of elements of {element_bytes} bytes")]
    GlobalSize {
        /// The requested name.
        name: String,
        /// Size of the global in bytes.
        bytes: usize,
        /// Size of the type in bytes.
        element_bytes: usize,
    },
    /// An input of a link was refused, and left out.
    #[error("input `{name}`: {error}")]
    Input {
        /// The name of the input.
        name: String,
        /// The reason.
        error: Box<ModuleError>,
    },
    /// The inputs of a link do not match, for example because a function is defined nowhere, or twice.
    #[error("{error}, linking {}{}", named(inputs), if log.is_empty() { String::new() } else { format!("\n{log}") })]
    Link {
        /// The driver's error.
        error: Error,
        /// The log of its linker, with the missing definition and where it is used.
        log: String,
        /// Other messages: empty unless [requested](LoadOptions::info_log).
        info_log: String,
        /// The names of the inputs, in order.
        inputs: Vec<String>,
    },
    /// Another driver call failed.
    #[error(transparent)]
    Driver(#[from] Error),
}

fn named(inputs: &[String]) -> String {
    match inputs {
        [] => "nothing".to_owned(),
        inputs => inputs.iter().map(|input| format!("`{input}`")).collect::<Vec<_>>().join(", "),
    }
}

impl ModuleError {
    fn of_input(name: &str, error: Self) -> Self {
        Self::Input { name: name.to_owned(), error: Box::new(error) }
    }

    fn no_function(error: Error, name: &str, listed: impl FnOnce() -> Option<Vec<String>>) -> Self {
        if error.code() != CUresult::CUDA_ERROR_NOT_FOUND {
            return error.into();
        }
        let there_are = listed().map(|mut names| {
            names.sort_unstable();
            let (mut first, others): (Vec<_>, Vec<_>) =
                names.into_iter().partition(|other| other.contains(name));
            first.extend(others);
            first
        });
        Self::NoFunction { error, name: name.to_owned(), there_are }
    }
}

impl<'ctx> Module<'ctx> {
    /// Makes the code shared, so that its kernels can be stored with it or without it.
    #[inline]
    pub fn share(self) -> Shared<Self> {
        Shared::new(self)
    }

    /// The driver's handle.
    pub const fn as_raw(&self) -> CUmodule {
        self.code.raw().raw
    }

    /// The context of the code.
    #[inline]
    pub fn context(&self) -> &ContextRef {
        self.code.context()
    }

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
    /// Driver: `cuModuleGetFunction`, CUDA 2.0+; for an error `cuModuleGetFunctionCount` and `cuModuleEnumerateFunctions`,
    /// CUDA 12.4+, and `cuFuncGetName`, CUDA 12.3+ (before that the PTX is read).
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

    /// Unloads the code, unless a library does, and returns the error that `Drop` would swallow.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuModuleUnload`, CUDA 2.0+.
    #[doc(alias = "cuModuleUnload")]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.code.close()
    }
}

fn c_string(what: &'static str, text: &str) -> Result<CString, ModuleError> {
    CString::new(text).map_err(|error| ModuleError::InteriorNul { what, position: error.nul_position() })
}

/// Maximum number of names in a message; the error has all of them.
const LISTED: usize = 12;

/// The names in a module, as text for a message.
fn listing(there_are: Option<&[String]>) -> String {
    let Some(names) = there_are else {
        return "its functions are unknown, because the driver is older than CUDA 12.4 and there is no PTX"
            .to_owned();
    };
    if names.is_empty() {
        return "it has none".to_owned();
    }
    let listed: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = match names.len() - listed.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let mangled = names.iter().any(|name| name.starts_with("_Z"));
    let advice = if mangled { " (C++ changes names, `extern \"C\"` keeps them)" } else { "" };
    format!("it has {}{more}{advice}", listed.join(", "))
}

impl fmt::Debug for Module<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.code.fmt(f)
    }
}
