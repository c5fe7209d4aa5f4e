//! Core dumps of a device after a fault, for `cuda-gdb`.

use std::ffi::{CStr, CString, c_void};
use std::fmt;

use cuprum_sys::{
    CUCoredumpGenerationFlags, CUcoredumpCallbackHandle, CUcoredumpSettings, CUdevice, CUresult, FnId, Fns,
    Library, call,
};

use crate::context::Current;
use crate::device::Device;
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::{context_call, driver_call};
use crate::raw::held::Handle;
use crate::raw::listener;
use crate::raw::owned::Owned;

/// Parts that a dump omits, and the effect on the host: the driver's bits.
pub type CoredumpFlags = CUCoredumpGenerationFlags;

/// Maximum size of a name in bytes, with its NUL; drivers write this many.
const NAME_BYTES: usize = 1024;

/// Settings of core dumps, of the current context or for later contexts: made by
/// [`Current::coredump`] and [`Driver::coredump_defaults`].
///
/// A dump is a file with the device's threads, registers and memory at a fault, for `cuda-gdb`.
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::tools::CoredumpSwitch;
///
/// let settings = cx.coredump();
/// match settings.set_switch(CoredumpSwitch::OnFault, true) {
///     Ok(()) => settings.set_file("/tmp/core.cuda.%h.%p")?,
///     // The software device has reports, which name the thread and the line; an older driver has neither.
///     Err(error) => println!("no dumps here: {error}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Coredump<'a> {
    library: Library,
    /// `None` for the settings of later contexts.
    current: Option<&'a Current<'a, 'a>>,
}

/// A switch of core dumps.
///
/// Example: see [`Coredump`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CoredumpSwitch {
    /// A fault writes a dump. Off by default, unless the context was made with
    /// `CU_CTX_COREDUMP_ENABLE`.
    OnFault,
    /// The host also dumps core, and the process ends. On by default.
    OfHost,
    /// Memory and code are omitted. Off by default. Since CUDA 12.5 the
    /// [flags](Coredump::set_flags) have more detail.
    Lightweight,
    /// Writing to the [pipe](Coredump::set_pipe) dumps a running program. Off by default. Only for
    /// all contexts: see [`Driver::coredump_defaults`].
    OnRequest,
}

impl CoredumpSwitch {
    const fn raw(self) -> CUcoredumpSettings {
        match self {
            Self::OnFault => CUcoredumpSettings::CU_COREDUMP_ENABLE_ON_EXCEPTION,
            Self::OfHost => CUcoredumpSettings::CU_COREDUMP_TRIGGER_HOST,
            Self::Lightweight => CUcoredumpSettings::CU_COREDUMP_LIGHTWEIGHT,
            Self::OnRequest => CUcoredumpSettings::CU_COREDUMP_ENABLE_USER_TRIGGER,
        }
    }
}

impl Driver {
    /// Settings of core dumps for later contexts, and for dumps on request. No driver call.
    pub const fn coredump_defaults(self) -> Coredump<'static> {
        Coredump { library: self.library(), current: None }
    }

    /// Calls `listener` with the process and the device when a core dump begins, on a thread of the
    /// driver. It must not call the driver.
    ///
    /// Panics in it are caught. The closure is never freed, because the end of its last call is
    /// unknown.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuCoredumpRegisterStartCallback`, CUDA 13.2+; at its end `cuCoredumpDeregisterStartCallback`, CUDA 13.2+.
    #[doc(alias = "cuCoredumpRegisterStartCallback")]
    pub fn on_coredump_start(
        self,
        listener: impl Fn(i32, Device) + Send + Sync + 'static,
    ) -> Result<CoredumpCallback, Error> {
        let (data, mut raw) = (told(self, listener), CUcoredumpCallbackHandle::null());
        let to = &raw mut raw;
        // SAFETY: the data is of the callback's type and never freed; `raw` outlives the call.
        unsafe { driver_call!(self.library(), cuCoredumpRegisterStartCallback(Some(tell), data, to)) }?;
        Ok(CoredumpCallback(Owned::new(Registered { raw, complete: false }, self.library())))
    }

    /// Same as [`on_coredump_start`](Driver::on_coredump_start), when a core dump is complete.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuCoredumpRegisterCompleteCallback`, CUDA 13.2+; at its end
    /// `cuCoredumpDeregisterCompleteCallback`, CUDA 13.2+.
    #[doc(alias = "cuCoredumpRegisterCompleteCallback")]
    pub fn on_coredump_complete(
        self,
        listener: impl Fn(i32, Device) + Send + Sync + 'static,
    ) -> Result<CoredumpCallback, Error> {
        let (data, mut raw) = (told(self, listener), CUcoredumpCallbackHandle::null());
        let to = &raw mut raw;
        // SAFETY: as above.
        unsafe { driver_call!(self.library(), cuCoredumpRegisterCompleteCallback(Some(tell), data, to)) }?;
        Ok(CoredumpCallback(Owned::new(Registered { raw, complete: true }, self.library())))
    }
}

impl Current<'_, '_> {
    /// Settings of core dumps of the current context. No driver call.
    #[inline]
    pub fn coredump(&self) -> Coredump<'_> {
        Coredump { library: self.context().library(), current: Some(self) }
    }
}

impl Coredump<'_> {
    /// True if the switch is on.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` on the software device; `CUDA_ERROR_INVALID_VALUE` for a setting
    /// that a context does not have.
    ///
    /// Driver: `cuCoredumpGetAttribute`, CUDA 12.1+, of a context, and `cuCoredumpGetAttributeGlobal`, CUDA 12.1+.
    #[doc(alias("cuCoredumpGetAttribute", "cuCoredumpGetAttributeGlobal"))]
    #[inline]
    pub fn switch(self, which: CoredumpSwitch) -> Result<bool, Error> {
        let mut value = [0u8; 1];
        self.get(which.raw(), &mut value)?;
        Ok(value != [0])
    }

    /// Turns the switch on or off.
    ///
    /// # Errors
    /// Same as [`switch`](Coredump::switch); `CUDA_ERROR_NOT_PERMITTED` if it is fixed by now.
    ///
    /// Driver: `cuCoredumpSetAttribute`, CUDA 12.1+, of a context, and `cuCoredumpSetAttributeGlobal`, CUDA 12.1+.
    #[doc(alias("cuCoredumpSetAttribute", "cuCoredumpSetAttributeGlobal"))]
    #[inline]
    pub fn set_switch(self, which: CoredumpSwitch, on: bool) -> Result<(), Error> {
        self.set(which.raw(), &mut [u8::from(on)])
    }

    /// Returns the parts that dumps omit.
    ///
    /// # Errors
    /// Same as [`switch`](Coredump::switch); `CUDA_ERROR_INVALID_VALUE` before CUDA 12.5.
    ///
    /// Driver: `cuCoredumpGetAttribute`, CUDA 12.1+, of a context, and `cuCoredumpGetAttributeGlobal`, CUDA 12.1+.
    #[doc(alias("cuCoredumpGetAttribute", "cuCoredumpGetAttributeGlobal"))]
    #[inline]
    pub fn flags(self) -> Result<CoredumpFlags, Error> {
        let mut value = [0u8; 4];
        self.get(CUcoredumpSettings::CU_COREDUMP_GENERATION_FLAGS, &mut value)?;
        Ok(CUCoredumpGenerationFlags(i32::from_ne_bytes(value)))
    }

    /// Sets the parts that dumps omit.
    ///
    /// # Errors
    /// Same as [`set_switch`](Coredump::set_switch); `CUDA_ERROR_INVALID_VALUE` before CUDA 12.5.
    ///
    /// Driver: `cuCoredumpSetAttribute`, CUDA 12.1+, of a context, and `cuCoredumpSetAttributeGlobal`, CUDA 12.1+.
    #[doc(alias("cuCoredumpSetAttribute", "cuCoredumpSetAttributeGlobal"))]
    #[inline]
    pub fn set_flags(self, flags: CoredumpFlags) -> Result<(), Error> {
        self.set(CUcoredumpSettings::CU_COREDUMP_GENERATION_FLAGS, &mut flags.0.to_ne_bytes())
    }

    /// Returns the file name of a dump; `%h`, `%p` and `%t` stand for host, process and time.
    ///
    /// # Errors
    /// Same as [`switch`](Coredump::switch).
    ///
    /// Driver: `cuCoredumpGetAttribute`, CUDA 12.1+, of a context, and `cuCoredumpGetAttributeGlobal`, CUDA 12.1+.
    #[doc(alias("cuCoredumpGetAttribute", "cuCoredumpGetAttributeGlobal"))]
    #[inline]
    pub fn file(self) -> Result<String, Error> {
        self.name(CUcoredumpSettings::CU_COREDUMP_FILE)
    }

    /// Sets the file name of a dump, of at most 1023 bytes.
    ///
    /// # Errors
    /// Same as [`set_switch`](Coredump::set_switch); `CUDA_ERROR_INVALID_VALUE` for a longer name or one with a NUL.
    ///
    /// Driver: `cuCoredumpSetAttribute`, CUDA 12.1+, of a context, and `cuCoredumpSetAttributeGlobal`, CUDA 12.1+.
    #[doc(alias("cuCoredumpSetAttribute", "cuCoredumpSetAttributeGlobal"))]
    #[inline]
    pub fn set_file(self, name: &str) -> Result<(), Error> {
        self.set_name(CUcoredumpSettings::CU_COREDUMP_FILE, name)
    }

    /// Returns the name of the pipe for requests, with the same placeholders as the
    /// [file](Coredump::file). A context has no pipe.
    ///
    /// # Errors
    /// Same as [`switch`](Coredump::switch).
    ///
    /// Driver: `cuCoredumpGetAttribute`, CUDA 12.1+, of a context, and `cuCoredumpGetAttributeGlobal`, CUDA 12.1+.
    #[doc(alias("cuCoredumpGetAttribute", "cuCoredumpGetAttributeGlobal"))]
    #[inline]
    pub fn pipe(self) -> Result<String, Error> {
        self.name(CUcoredumpSettings::CU_COREDUMP_PIPE)
    }

    /// Sets the name of the pipe for requests, before they are turned
    /// [on](CoredumpSwitch::OnRequest).
    ///
    /// # Errors
    /// Same as [`set_file`](Coredump::set_file).
    ///
    /// Driver: `cuCoredumpSetAttribute`, CUDA 12.1+, of a context, and `cuCoredumpSetAttributeGlobal`, CUDA 12.1+.
    #[doc(alias("cuCoredumpSetAttribute", "cuCoredumpSetAttributeGlobal"))]
    #[inline]
    pub fn set_pipe(self, name: &str) -> Result<(), Error> {
        self.set_name(CUcoredumpSettings::CU_COREDUMP_PIPE, name)
    }

    fn name(self, which: CUcoredumpSettings) -> Result<String, Error> {
        let mut name = [0u8; NAME_BYTES];
        self.get(which, &mut name)?;
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
        Ok(name.to_string_lossy().into_owned())
    }

    fn set_name(self, which: CUcoredumpSettings, name: &str) -> Result<(), Error> {
        let refused = || Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, FnId::cuCoredumpSetAttribute);
        let name = CString::new(name).ok().filter(|name| name.as_bytes_with_nul().len() <= NAME_BYTES);
        self.set(which, &mut name.ok_or_else(refused)?.into_bytes_with_nul())
    }

    /// Reads a setting to `value`. The driver writes at most its size.
    fn get(self, which: CUcoredumpSettings, value: &mut [u8]) -> Result<(), Error> {
        let (mut bytes, to) = (value.len(), value.as_mut_ptr().cast());
        match self.current {
            Some(cx) => {
                let context = cx.get()?;
                // SAFETY: the place has the given size, and both outlive the call.
                unsafe { context_call!(&context, cuCoredumpGetAttribute(which, to, &raw mut bytes)) }
            }
            // SAFETY: as above.
            None => unsafe {
                driver_call!(self.library, cuCoredumpGetAttributeGlobal(which, to, &raw mut bytes))
            },
        }
    }

    fn set(self, which: CUcoredumpSettings, value: &mut [u8]) -> Result<(), Error> {
        let (mut bytes, from) = (value.len(), value.as_mut_ptr().cast());
        match self.current {
            Some(cx) => {
                let context = cx.get()?;
                // SAFETY: the value has the given size, and both outlive the call.
                unsafe { context_call!(&context, cuCoredumpSetAttribute(which, from, &raw mut bytes)) }
            }
            // SAFETY: as above.
            None => unsafe {
                driver_call!(self.library, cuCoredumpSetAttributeGlobal(which, from, &raw mut bytes))
            },
        }
    }
}

impl fmt::Debug for Coredump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coredump").field("of", &self.current).finish_non_exhaustive()
    }
}

/// Reports core dumps to a function until it is dropped: made by [`Driver::on_coredump_start`] and
/// [`Driver::on_coredump_complete`].
///
/// # Example
/// ```
/// # cuprum::example!(driver);
/// match driver.on_coredump_complete(|process, device| eprintln!("process {process} has dumped {device:?}")) {
///     Ok(callback) => callback.close()?,
///     Err(error) => println!("nobody tells: {error}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CoredumpCallback(Owned<Registered>);

#[derive(Clone, Copy)]
struct Registered {
    raw: CUcoredumpCallbackHandle,
    complete: bool,
}

// SAFETY: the driver allows any thread to end the callbacks.
unsafe impl Handle for Registered {
    const NAME: &'static str = "CoredumpCallback";

    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId) {
        if self.complete {
            // SAFETY: the caller guarantees that it is registered, and ended once.
            unsafe { call!(fns, cuCoredumpDeregisterCompleteCallback(self.raw)) }
        } else {
            // SAFETY: as above.
            unsafe { call!(fns, cuCoredumpDeregisterStartCallback(self.raw)) }
        }
    }
}

impl CoredumpCallback {
    /// Stops the calls and returns the error that `Drop` would swallow.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors).
    ///
    /// Driver: `cuCoredumpDeregisterStartCallback` or `cuCoredumpDeregisterCompleteCallback`, CUDA 13.2+.
    #[doc(alias("cuCoredumpDeregisterStartCallback", "cuCoredumpDeregisterCompleteCallback"))]
    #[inline]
    pub fn close(self) -> Result<(), Error> {
        self.0.close()
    }
}

impl fmt::Debug for CoredumpCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CoredumpCallback").field(&self.0.raw().raw).finish()
    }
}

type Listener = Box<dyn Fn(i32, CUdevice) + Send + Sync>;

fn told(driver: Driver, listener: impl Fn(i32, Device) + Send + Sync + 'static) -> *mut c_void {
    let listener: Listener = Box::new(move |process, raw| listener(process, Device::new(driver, raw)));
    listener::leaked(listener)
}

unsafe extern "C" fn tell(data: *mut c_void, process: i32, device: CUdevice) {
    // SAFETY: the data is the listener that was registered, which is never freed.
    let listener = unsafe { &*data.cast::<Listener>() };
    listener::run(|| listener(process, device));
}
