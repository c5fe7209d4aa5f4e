//! The result of a compilation.

use std::fmt;

use cuprum::Current;
use cuprum::module::{LoadOptions, Module};

use super::code::Code;
use super::log::{self, Diagnostic};
use super::whole::is_whole;
use super::{Architecture, CompileError, Output};

/// Compiled code, with its log and the names of requested expressions.
///
/// ```
/// use cuprum_compile::{Compiler, Options, Output, Source};
///
/// # let Ok(_) = Compiler::load() else { return Ok(()) };
/// let code = Compiler::load()?.compile(&Source::new("__global__ void f() {}"), &Options::new().output(Output::Ptx))?;
/// assert_eq!(code.output(), Output::Ptx);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Compiled {
    pub(super) output: Output,
    pub(super) architecture: Option<Architecture>,
    pub(super) code: Code,
    #[cfg(feature = "cache")]
    pub(super) cache_use: super::cache::CacheUse,
}

impl Compiled {
    /// Kind of code.
    #[inline]
    pub fn output(&self) -> Output {
        self.output
    }

    /// The architecture that it was compiled for; `None` for the compiler's own default.
    #[inline]
    pub fn architecture(&self) -> Option<Architecture> {
        self.architecture
    }

    /// The code; PTX without the NUL at its end.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.code.bytes
    }

    /// The PTX; `None` for other code, and for PTX with quoted text that is not UTF-8.
    #[inline]
    pub fn ptx(&self) -> Option<&str> {
        let is_ptx = self.output == Output::Ptx;
        is_ptx.then_some(&self.code.bytes).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// Messages of a successful compilation: warnings. Empty if there are none.
    #[inline]
    pub fn log(&self) -> &str {
        &self.code.log
    }

    /// The messages of the log, each with its file and line.
    #[inline]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        log::diagnostics(&self.code.log)
    }

    /// Returns the name in the code of a name expression, if it was requested.
    #[inline]
    pub fn name(&self, expression: &str) -> Option<&str> {
        self.code.names.iter().find(|(asked, _)| asked == expression).map(|(_, name)| name.as_str())
    }

    /// Use of the cache: the code comes from it, was stored in it, or was not stored for a reason.
    #[cfg(feature = "cache")]
    #[inline]
    pub fn cache_use(&self) -> &super::cache::CacheUse {
        &self.cache_use
    }

    /// Loads the code into the current context. Functions and variables have their names in the
    /// code, and their requested name expressions.
    ///
    /// Unlike [`Module::load_binary`], this is safe for machine code, because a compiler made it.
    ///
    /// # Errors
    /// [`CompileError::Module`] with an error of [`Module::load_ptx`] or [`Module::load_binary`];
    /// [`CompileError::NotLoadable`] for link-time optimization code; [`CompileError::Damaged`] for
    /// machine code whose headers refer to missing data.
    ///
    /// Driver: `cuModuleLoadDataEx`, CUDA 2.1+.
    #[doc(alias = "cuModuleLoadDataEx")]
    #[inline]
    pub fn load<'ctx>(&self, cx: &Current<'_, 'ctx>) -> Result<Module<'ctx>, CompileError> {
        self.load_with(cx, &LoadOptions::default())
    }

    /// Same as [`load`](Self::load), with options for the driver's own compiler.
    ///
    /// # Errors
    /// Same as [`load`](Self::load); errors of the driver about the options.
    ///
    /// Driver: `cuModuleLoadDataEx`, CUDA 2.1+.
    #[doc(alias = "cuModuleLoadDataEx")]
    #[inline]
    pub fn load_with<'ctx>(
        &self,
        cx: &Current<'_, 'ctx>,
        options: &LoadOptions,
    ) -> Result<Module<'ctx>, CompileError> {
        let module = match self.output {
            Output::Ptx => Module::load_ptx_with(cx, &String::from_utf8_lossy(&self.code.bytes), options)?,
            // The user's own options can make the compiler write text.
            Output::Cubin if !self.code.bytes.starts_with(b"\x7fELF") => {
                return Err(CompileError::NotLoadable);
            }
            Output::Cubin if !is_whole(&self.code.bytes) => return Err(CompileError::Damaged),
            // SAFETY: a compiler wrote this image, perhaps in another process, and it was kept in a
            // folder that this user trusts; all data named in its tables is inside.
            Output::Cubin => unsafe { Module::load_binary(cx, &self.code.bytes, options) }?,
            Output::LtoIr => return Err(CompileError::NotLoadable),
        };
        Ok(module.with_names(self.code.names.clone()))
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled")
            .field("output", &self.output)
            .field("architecture", &self.architecture)
            .field("bytes", &self.code.bytes.len())
            .field("log", &self.code.log)
            .field("names", &self.code.names)
            .finish_non_exhaustive()
    }
}
