//! Code without a context.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ptr;

use cuprum_sys::{CUlibrary, FnId};

#[cfg(doc)]
use super::LibraryKernel;
#[cfg(doc)]
use super::Module;
use super::advice::advice;
use super::jit::Jit;
use super::text::{entries_for, ptx_text};
use super::{Global, LoadOptions, ModuleError, c_string, ptx};
use crate::context::{Current, captures, context_call};
use crate::driver::Driver;
use crate::error::Error;
use crate::memory::DeviceData;
use crate::raw::call::driver_call;
use crate::raw::debug::debug;
use crate::raw::keep::Near;
use crate::raw::owner::{as_raw, close};
use crate::raw::shared::Shared;
use crate::swallowed;

/// Code that is loaded once for all contexts, including later ones. The driver loads it into a
/// context on first use there. CUDA 12.0.
///
/// It contains [kernels](LibraryKernel), from which any context makes
/// [functions](LibraryKernel::function). Its [module](CodeLibrary::module) in a context is like any
/// other [`Module`], with the same typed kernels, launches and globals. Each context has its own
/// variables, except for [managed](CodeLibrary::managed) ones.
///
/// # Order
///
/// Contexts can end while it is loaded; the code and variables in them end with them, and a new
/// context has fresh variables. Objects of the library in a context borrow or share both, so both
/// outlive them. Wait for the library's kernels before it is dropped, as for a module: see
/// [`Kernel::launch`](crate::Kernel::launch). (A driver of CUDA 13.0 blocks the host until then,
/// but this is not guaranteed.) Drop unloads it everywhere.
///
/// # Keeping it in a struct
///
/// It borrows nothing. To store it with objects that borrow it, [share](CodeLibrary::share) it.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::module::CodeLibrary;
/// use cuprum::context::{Context, ContextFlags};
/// use cuprum::{Buffer, In, InOut, LaunchConfig, Stream};
///
/// // No context yet.
/// let code = CodeLibrary::load_ptx(driver, &std::fs::read_to_string("kernels/saxpy.ptx")?)?;
/// for kernel in code.kernels()? {
///     println!("{}", kernel.name()?);
/// }
/// for _ in 0..2 {
///     let context = Context::create(driver.device(0)?, ContextFlags::empty())?;
///     context.enter(|cx| {
///         let module = code.module(cx)?;
///         let saxpy = module.function("saxpy")?.bind::<(u32, f32, In<f32>, InOut<f32>)>()?;
///         let x = Buffer::from_slice(cx, &[1.0f32; 100])?;
///         let mut y = Buffer::from_slice(cx, &[2.0f32; 100])?;
///         let stream = Stream::new(cx)?;
///         // SAFETY: saxpy(n, alpha, x, y) touches n elements of each, and the copy below comes after it.
///         unsafe { saxpy.launch(cx, &stream, LaunchConfig::for_elements(100, 32), (100, 3.0, &x, &mut y)) }?;
///         assert_eq!(y.to_vec(cx)?, [5.0; 100]);
///         Ok(())
///     })?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CodeLibrary {
    // Dropped before the memory that the driver uses.
    code: Loaded,
    _jit: Jit,
    /// The parameters of the PTX's kernels, if the driver does not report them.
    pub(super) entries: Vec<ptx::Entry>,
    pub(super) info_log: String,
    /// The driver's log about code that it loaded but could not compile.
    pub(super) error_log: String,
}

/// A library's handle. Drop unloads it.
struct Loaded {
    raw: CUlibrary,
    driver: Driver,
}

// SAFETY: the driver allows any thread to use and to unload a library.
unsafe impl Send for Loaded {}
// SAFETY: as above; it is immutable.
unsafe impl Sync for Loaded {}

impl Loaded {
    fn unload(&self) -> Result<(), Error> {
        let library = self.driver.library();
        captures::free_beside(library, || {
            // SAFETY: only `Drop` and `close` call this, once; objects of it borrow it or hold a
            // share.
            unsafe { driver_call!(library, cuLibraryUnload(self.raw)) }
        })
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let Err(error) = self.unload() {
            if !error.is_deinitialized() && !error.is_forked() {
                swallowed::tell(error);
            }
        }
    }
}

impl CodeLibrary {
    /// Loads PTX text, which the driver compiles. Blocks during the compilation. A NUL at the end
    /// of the text is ignored. No context has to be current.
    ///
    /// # Errors
    /// Same as [`Module::load_ptx`]; [`Error::UNRESOLVED`] on a driver before CUDA 12.0, which
    /// only has [`Module`]. Drivers may load PTX that they cannot compile as a library without
    /// kernels. Queries of it then fail with `CUDA_ERROR_INVALID_PTX` or
    /// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION` (on an H100 with driver 580 and the emulator).
    ///
    /// Driver: `cuLibraryLoadData`, CUDA 12.0+.
    #[doc(alias = "cuLibraryLoadData")]
    #[inline]
    pub fn load_ptx(driver: Driver, ptx: &str) -> Result<Self, ModuleError> {
        Self::load_ptx_with(driver, ptx, &LoadOptions::default())
    }

    /// Same as [`load_ptx`](Self::load_ptx), with options for the driver's compiler.
    ///
    /// # Errors
    /// Same as [`load_ptx`](Self::load_ptx); [`ModuleError::Rejected`] with
    /// `CUDA_ERROR_INVALID_VALUE` for an option or a value that the driver does not know.
    ///
    /// Driver: `cuLibraryLoadData`, CUDA 12.0+.
    #[doc(alias = "cuLibraryLoadData")]
    #[inline]
    pub fn load_ptx_with(driver: Driver, ptx: &str, options: &LoadOptions) -> Result<Self, ModuleError> {
        let text = ptx_text(ptx)?;
        // SAFETY: PTX is text with a NUL at the end here; the driver's compiler checks it.
        let mut library = unsafe { Self::load(driver, text.as_ptr().cast(), Some(ptx.as_bytes()), options) }?;
        library.entries = entries_for(driver, ptx);
        Ok(library)
    }

    /// Loads machine code (cubin) or a container of several (fatbin). The driver makes a copy. No
    /// context has to be current.
    ///
    /// # Errors
    /// Same as [`Module::load_binary`]; [`Error::UNRESOLVED`] on a driver before CUDA 12.0.
    ///
    /// # Safety
    /// Same as [`Module::load_binary`].
    ///
    /// Driver: `cuLibraryLoadData`, CUDA 12.0+.
    #[doc(alias = "cuLibraryLoadData")]
    #[inline]
    pub unsafe fn load_binary(
        driver: Driver,
        image: &[u8],
        options: &LoadOptions,
    ) -> Result<Self, ModuleError> {
        // SAFETY: the caller guarantees the image.
        unsafe { Self::load(driver, image.as_ptr().cast(), Some(image), options) }
    }

    /// # Safety
    /// The driver can read `image` to its end.
    unsafe fn load(
        driver: Driver,
        image: *const c_void,
        code: Option<&[u8]>,
        options: &LoadOptions,
    ) -> Result<Self, ModuleError> {
        let mut jit = Jit::new(options);
        let (count, names, values) = jit.options();
        let (mut raw, none) = (CUlibrary::null(), ptr::null_mut());
        // SAFETY: the caller guarantees the image, which is copied; options and logs stay with the
        // library.
        let loaded = unsafe {
            driver_call!(
                driver.library(),
                cuLibraryLoadData(&raw mut raw, image, names, values, count, ptr::null_mut(), none, 0)
            )
        };
        Self::loaded(loaded, driver, raw, jit, code)
    }

    fn loaded(
        loaded: Result<(), Error>,
        driver: Driver,
        raw: CUlibrary,
        mut jit: Jit,
        code: Option<&[u8]>,
    ) -> Result<Self, ModuleError> {
        match loaded {
            Ok(()) => {
                let (code, info_log, error_log) = (Loaded { raw, driver }, jit.info_log(), jit.error_log());
                Ok(Self { code, _jit: jit, entries: Vec::new(), info_log, error_log })
            }
            Err(error) => Err(ModuleError::Rejected {
                error,
                log: jit.error_log(),
                advice: advice(driver, None, error, code),
            }),
        }
    }

    /// Makes the library shared, so that modules and kernels can be stored with it or without it.
    #[inline]
    pub fn share(self) -> Shared<Self> {
        Shared::new(self)
    }

    as_raw!(CUlibrary, |this| this.code.raw);

    /// The driver that loaded it.
    pub const fn driver(&self) -> Driver {
        self.code.driver
    }

    /// The log of the driver's compiler about this code: empty unless it was
    /// [requested](LoadOptions::info_log).
    #[inline]
    pub fn info_log(&self) -> &str {
        &self.info_log
    }

    /// The declaration of a kernel in the PTX, if the driver does not report parameters.
    pub(super) fn entry(&self, name: &str) -> Option<Near<'_, ptx::Entry>> {
        self.entries.iter().find(|entry| entry.name == name).map(Near::borrowed)
    }

    /// Fails for another driver, for which the handle is a wild pointer.
    pub(super) fn check_driver(&self, driver: Driver, call: FnId) -> Result<(), Error> {
        if self.driver() == driver { Ok(()) } else { Err(Error::wrong_context(call)) }
    }

    /// Returns a `__device__` or `__constant__` variable of the current context by its name, as
    /// elements of `T`. It borrows the library and the token; [`Module::global`] needs no token.
    ///
    /// # Errors
    /// [`ModuleError::NoGlobal`], [`ModuleError::InteriorNul`]; [`ModuleError::GlobalSize`] if its
    /// size is not a multiple of the size of `T`; [`Error::WRONG_CONTEXT`] for a context of
    /// another driver.
    ///
    /// Driver: `cuLibraryGetGlobal`, CUDA 12.0+.
    #[doc(alias = "cuLibraryGetGlobal")]
    pub fn global<'a, T: DeviceData>(
        &'a self,
        cx: &'a Current<'_, '_>,
        name: &str,
    ) -> Result<Global<'a, T>, ModuleError> {
        let (context, text) = (cx.get()?, c_string("the global's name", name)?);
        self.check_driver(context.driver(), FnId::cuLibraryGetGlobal)?;
        let (library, name_of) = (self.as_raw(), text.as_ptr());
        Global::find(context, name, |context, address, bytes| {
            // SAFETY: the library is live, a context of its driver is current, and all pointers
            // outlive the call.
            unsafe { context_call!(context, cuLibraryGetGlobal(address, bytes, library, name_of)) }
        })
    }

    /// Returns a `__managed__` variable by its name, which all contexts share, as elements of `T`.
    /// Copies use the current context.
    ///
    /// # Errors
    /// Same as [`global`](CodeLibrary::global); [`ModuleError::NoGlobal`] also for unmanaged
    /// variables.
    ///
    /// Driver: `cuLibraryGetManaged`, CUDA 12.0+.
    #[doc(alias = "cuLibraryGetManaged")]
    pub fn managed<'a, T: DeviceData>(
        &'a self,
        cx: &'a Current<'_, '_>,
        name: &str,
    ) -> Result<Global<'a, T>, ModuleError> {
        let (context, text) = (cx.get()?, c_string("the global's name", name)?);
        self.check_driver(context.driver(), FnId::cuLibraryGetManaged)?;
        let (library, name_of) = (self.as_raw(), text.as_ptr());
        Global::find(context, name, |context, address, bytes| {
            // SAFETY: the library is live, and all pointers outlive the call.
            unsafe { context_call!(context, cuLibraryGetManaged(address, bytes, library, name_of)) }
        })
    }

    close!("Unloads the code from all contexts", "cuLibraryUnload", "12.0", |this| {
        // The logs are dropped after the code.
        let Self { code, _jit, .. } = this;
        ManuallyDrop::new(code).unload()
    });
}

debug!(CodeLibrary: |this| "{:?}", this.as_raw());
