//! Errors of loading, linking and searching code.

use std::ffi::CString;

use cuprum_sys::CUresult;

#[cfg(doc)]
use super::LoadOptions;
use crate::error::Error;

/// Error of loading code, or of finding a symbol in it.
///
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
    /// The inputs of a link do not match, for example because a function is defined nowhere, or
    /// twice.
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

pub(super) fn named(inputs: &[String]) -> String {
    match inputs {
        [] => "nothing".to_owned(),
        inputs => inputs.iter().map(|input| format!("`{input}`")).collect::<Vec<_>>().join(", "),
    }
}

impl ModuleError {
    pub(super) fn of_input(name: &str, error: Self) -> Self {
        Self::Input { name: name.to_owned(), error: Box::new(error) }
    }

    pub(super) fn no_function(
        error: Error,
        name: &str,
        listed: impl FnOnce() -> Option<Vec<String>>,
    ) -> Self {
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

pub(super) fn c_string(what: &'static str, text: &str) -> Result<CString, ModuleError> {
    CString::new(text).map_err(|error| ModuleError::InteriorNul { what, position: error.nul_position() })
}

/// Maximum number of names in a message; the error has all of them.
pub(super) const LISTED: usize = 12;

/// The names in a module, as text for a message.
pub(super) fn listing(there_are: Option<&[String]>) -> String {
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
