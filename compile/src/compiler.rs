//! The compilers: NVRTC, and `nvcc` on request.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use cuprum::Driver;
use cuprum::device::{ComputeCapability, Device};
use cuprum_sys::Version;

use super::code::Code;
use super::nvcc::Nvcc;
use super::nvrtc::{self, Library};
use super::{Architecture, CompileError, Compiled, Options, Output, Source, architecture, program};

/// A compiler of CUDA C++: NVRTC, a library loaded at run time, or on request the program `nvcc`.
///
/// Many threads can use it at once. It needs neither a GPU nor a driver.
///
/// ```
/// use cuprum_compile::{Architecture, Compiler, Options, Source};
///
/// let compiler = match Compiler::load() {
///     Ok(compiler) => compiler,
///     // The error lists the places searched, and how to install NVRTC.
///     Err(error) => return Ok(println!("{error}")),
/// };
/// let source = Source::new("template <class T> __global__ void twice(T *x) { x[threadIdx.x] *= 2; }");
/// let options = Options::new().architecture(Architecture::new(8, 0)).option("--std=c++17");
/// let code = compiler.compile(&source.expression("twice<float>"), &options)?;
/// assert!(code.name("twice<float>").is_some());
/// println!("compiled by {compiler}\n{}", code.log());
/// # Ok::<(), cuprum_compile::CompileError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Compiler {
    engine: Engine,
    #[cfg(feature = "cache")]
    cache: Option<super::cache::Cache>,
}

#[derive(Clone, Debug)]
enum Engine {
    Nvrtc(Library),
    Nvcc(Nvcc),
}

impl Compiler {
    /// Loads NVRTC from the places that [`nvrtc::Library::open`] lists. Loading it again is cheap.
    ///
    /// # Errors
    /// [`CompileError::NoNvrtc`], with the places tried and advice on installing it.
    #[inline]
    pub fn load() -> Result<Self, CompileError> {
        Ok(Self::with_nvrtc(Library::open()?))
    }

    /// Same as [`load`](Self::load), but prefers an NVRTC with at most the driver's major version,
    /// because the driver may not know a newer one's code.
    ///
    /// # Errors
    /// Same as [`load`](Self::load).
    #[inline]
    pub fn load_for(driver: Driver) -> Result<Self, CompileError> {
        Ok(Self::with_nvrtc(Library::options().for_driver(driver.version()).open()?))
    }

    /// Compiles with this NVRTC.
    #[inline]
    pub fn with_nvrtc(library: Library) -> Self {
        Self::of(Engine::Nvrtc(library))
    }

    /// Compiles with the program `nvcc`: the one that `CUPRUM_NVCC` names, otherwise the first in
    /// `bin` of the toolkit that `CUDA_HOME` or `CUDA_PATH` names, in `PATH`, and in `bin` of
    /// `/usr/local/cuda`.
    ///
    /// It accepts the same options, is slower, and needs a C++ compiler for the host. Only NVRTC
    /// supports name expressions and link-time optimization code.
    ///
    /// # Errors
    /// [`CompileError::NoNvcc`], with the places tried; [`CompileError::Nvcc`] if its version is
    /// unknown.
    #[inline]
    pub fn nvcc() -> Result<Self, CompileError> {
        Ok(Self::of(Engine::Nvcc(Nvcc::find()?)))
    }

    /// Compiles with the `nvcc` at a path.
    ///
    /// # Safety
    /// The program behaves like `nvcc`: its output is loaded as code without further checks.
    ///
    /// # Errors
    /// [`CompileError::File`] if it cannot be run, [`CompileError::Nvcc`] if its version is
    /// unknown.
    pub unsafe fn nvcc_at(path: impl AsRef<Path>) -> Result<Self, CompileError> {
        Ok(Self::of(Engine::Nvcc(Nvcc::at(path.as_ref())?)))
    }

    fn of(engine: Engine) -> Self {
        Self {
            engine,
            #[cfg(feature = "cache")]
            cache: None,
        }
    }

    /// Keeps compiled code in a cache, and reuses it.
    #[cfg(feature = "cache")]
    #[must_use]
    #[inline]
    pub fn with_cache(mut self, cache: super::cache::Cache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// The CUDA version of this compiler.
    #[inline]
    pub fn version(&self) -> Version {
        match &self.engine {
            Engine::Nvrtc(library) => library.version(),
            Engine::Nvcc(nvcc) => nvcc.version(),
        }
    }

    /// Returns its architectures, without suffixes, in the compiler's order (so far ascending).
    ///
    /// # Errors
    /// [`CompileError::Missing`] for an NVRTC older than 11.2; other errors of the compiler.
    #[inline]
    pub fn architectures(&self) -> Result<Vec<ComputeCapability>, CompileError> {
        match &self.engine {
            Engine::Nvrtc(library) => program::architectures(*library),
            Engine::Nvcc(nvcc) => nvcc.architectures(),
        }
    }

    /// Returns the best of this compiler's architectures for a device: for PTX the newest that the
    /// device runs, for machine code the device's own or an older one with the same major version.
    ///
    /// # Errors
    /// [`CompileError::NoArchitecture`], with the architectures that the compiler supports; the
    /// errors of [`architectures`](Self::architectures).
    #[inline]
    pub fn architecture_for(
        &self,
        device: ComputeCapability,
        output: Output,
    ) -> Result<Architecture, CompileError> {
        architecture::best(device, &self.architectures()?, output, &self.to_string())
    }

    /// Compiles for the architecture in the options, or for the compiler's default. Blocks during
    /// the compilation: NVRTC takes tens of milliseconds for a small source.
    ///
    /// # Errors
    /// [`CompileError::Rejected`] with the compiler's log; [`CompileError::Option`];
    /// [`CompileError::Expression`] for an invalid name expression; [`CompileError::InteriorNul`];
    /// [`CompileError::Missing`] if this NVRTC is older than a requested feature;
    /// [`CompileError::Unsupported`] for machine code without an architecture.
    #[inline]
    pub fn compile(&self, source: &Source<'_>, options: &Options) -> Result<Compiled, CompileError> {
        let output = options.output.unwrap_or(Output::Ptx);
        self.compile_to(source, options, options.architecture, output)
    }

    /// Same as [`compile`](Self::compile), for a device: the default architecture is the best one
    /// for it. The default output is PTX, or machine code if the driver has the compiler's major
    /// version and is older, because it would not support the PTX.
    ///
    /// # Errors
    /// Same as [`compile`](Self::compile) and [`architecture_for`](Self::architecture_for);
    /// [`CompileError::Driver`] if the query of the device fails.
    ///
    /// Driver: `cuDeviceGetAttribute`, CUDA 2.0+.
    #[doc(alias = "cuDeviceGetAttribute")]
    #[inline]
    pub fn compile_for(
        &self,
        device: Device,
        source: &Source<'_>,
        options: &Options,
    ) -> Result<Compiled, CompileError> {
        let (this, driver) = (self.version(), device.driver().version());
        let newer = this > driver && this.major() == driver.major();
        let output = options.output.unwrap_or(if newer { Output::Cubin } else { Output::Ptx });
        let architecture = match options.architecture {
            Some(architecture) => architecture,
            None => self.architecture_for(device.compute_capability()?, output)?,
        };
        self.compile_to(source, options, Some(architecture), output)
    }

    fn compile_to(
        &self,
        source: &Source<'_>,
        options: &Options,
        architecture: Option<Architecture>,
        output: Output,
    ) -> Result<Compiled, CompileError> {
        if output == Output::Cubin && architecture.is_none() {
            return Err(CompileError::Unsupported(
                "machine code needs an architecture: name one in the options, or compile for a device",
            ));
        }
        let name = |one: Architecture| format!("--gpu-architecture={}", one.option(output)).into();
        let mut arguments: Vec<OsString> = architecture.map(name).into_iter().collect();
        if output == Output::LtoIr {
            arguments.push("-dlto".into());
        }
        arguments.extend(options.arguments.iter().cloned());
        #[cfg(feature = "cache")]
        if let Some(cache) = &self.cache {
            let identity = || self.identity(&arguments);
            let run = || self.run(source, &arguments, output);
            let (code, cache_use) = cache.code(identity, source, &arguments, output, run)?;
            return Ok(Compiled { output, architecture, code, cache_use });
        }
        let code = self.run(source, &arguments, output)?;
        Ok(Compiled {
            output,
            architecture,
            code,
            #[cfg(feature = "cache")]
            cache_use: super::cache::CacheUse::Off,
        })
    }

    fn run(&self, source: &Source<'_>, arguments: &[OsString], output: Output) -> Result<Code, CompileError> {
        match &self.engine {
            Engine::Nvrtc(library) => {
                let bytes = |one: &OsString| one.as_encoded_bytes().to_vec();
                let arguments: Vec<_> = arguments.iter().map(bytes).collect();
                program::compile(*library, source, &arguments, output)
            }
            Engine::Nvcc(nvcc) => nvcc.compile(source, arguments, output),
        }
    }

    /// Inputs of code besides its source and options: the compiler's version, the size and time of
    /// its file, because releases with the same version differ, and for `nvcc` its tools and
    /// environment. The error describes an unknown input.
    #[cfg(feature = "cache")]
    fn identity(&self, arguments: &[OsString]) -> Result<super::cache::Identity, String> {
        let unknown = || "the compiler's file is not known, and with it not which release it is".to_owned();
        let (kind, file) = match &self.engine {
            Engine::Nvrtc(library) => (self.to_string(), library.file().ok_or_else(unknown)?),
            Engine::Nvcc(nvcc) => (nvcc.release().to_owned(), nvcc.path().to_owned()),
        };
        let file = super::cache::file_identity(&file).ok_or_else(unknown)?;
        let mut known = format!("{kind}, {file}").into_bytes();
        let mut flags = Vec::new();
        if let Engine::Nvcc(nvcc) = &self.engine {
            known.extend(nvcc.surroundings(arguments)?);
            flags = Nvcc::flags_of_environment();
        }
        Ok(super::cache::Identity { known, flags })
    }
}

impl From<nvrtc::Library> for Compiler {
    fn from(library: Library) -> Self {
        Self::with_nvrtc(library)
    }
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.engine {
            Engine::Nvrtc(_) => "NVRTC",
            Engine::Nvcc(_) => "nvcc",
        };
        write!(f, "{name} {}", self.version())
    }
}
