//! Core dumps of a device after a fault, for `cuda-gdb`.

use std::ffi::{CStr, CString, c_void};
use std::marker::PhantomData;

use cuprum_sys::{
    CUCoredumpGenerationFlags, CUcoredumpCallbackHandle, CUcoredumpSettings, CUdevice, CUresult, FnId,
    Library,
};

use super::callback::{Callback, Registered};
use crate::context::{Current, context_call};
use crate::device::Device;
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::driver_call;
use crate::raw::debug::debug;
use crate::raw::listener;

/// Parts that a dump omits, and the effect on the host: the driver's bits.
pub type CoredumpFlags = CUCoredumpGenerationFlags;

/// Maximum size of a name in bytes, with its NUL; drivers write this many.
const NAME_BYTES: usize = 1024;

/// Settings of core dumps, of the current context or for later contexts: made by
/// [`Current::coredump`] and [`Driver::coredump_defaults`].
///
/// A dump is a file with the device's threads, registers and memory at a fault, for `cuda-gdb`.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::tools::CoredumpSetting;
///
/// let settings = cx.coredump();
/// match settings.set(CoredumpSetting::ON_FAULT, true) {
///     Ok(()) => settings.set(CoredumpSetting::FILE, "/tmp/core.cuda.%h.%p")?,
///     // The software device has reports instead, with the thread and the line.
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

/// A setting of core dumps, and the type of its value: a switch, a name or [`CoredumpFlags`].
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::tools::CoredumpSetting;
///
/// match cx.coredump().get(CoredumpSetting::ON_FAULT) {
///     Ok(on) => println!("a fault writes a dump: {on}"),
///     Err(error) => println!("no dumps here: {error}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CoredumpSetting<T: ?Sized>(CUcoredumpSettings, PhantomData<T>);

impl<T: ?Sized> CoredumpSetting<T> {
    const fn new(raw: CUcoredumpSettings) -> Self {
        Self(raw, PhantomData)
    }
}

impl CoredumpSetting<bool> {
    /// A fault writes a dump. Off by default, unless the context was made with
    /// `CU_CTX_COREDUMP_ENABLE`.
    pub const ON_FAULT: Self = Self::new(CUcoredumpSettings::CU_COREDUMP_ENABLE_ON_EXCEPTION);
    /// The host also dumps core, and the process ends. On by default.
    pub const OF_HOST: Self = Self::new(CUcoredumpSettings::CU_COREDUMP_TRIGGER_HOST);
    /// Memory and code are omitted. Off by default. Since CUDA 12.5 the
    /// [flags](CoredumpSetting::FLAGS) have more detail.
    pub const LIGHTWEIGHT: Self = Self::new(CUcoredumpSettings::CU_COREDUMP_LIGHTWEIGHT);
    /// Writing to the [pipe](CoredumpSetting::PIPE) dumps a running program. Off by default. Only
    /// for all contexts: see [`Driver::coredump_defaults`].
    pub const ON_REQUEST: Self = Self::new(CUcoredumpSettings::CU_COREDUMP_ENABLE_USER_TRIGGER);
}

impl CoredumpSetting<CoredumpFlags> {
    /// The parts that dumps omit. CUDA 12.5.
    pub const FLAGS: Self = Self::new(CUcoredumpSettings::CU_COREDUMP_GENERATION_FLAGS);
}

impl CoredumpSetting<str> {
    /// The file name of a dump, of at most 1023 bytes; `%h`, `%p` and `%t` stand for host, process
    /// and time.
    pub const FILE: Self = Self::new(CUcoredumpSettings::CU_COREDUMP_FILE);
    /// The name of the pipe for requests, with the same placeholders. It is set before requests are
    /// turned [on](CoredumpSetting::ON_REQUEST). A context has no pipe.
    pub const PIPE: Self = Self::new(CUcoredumpSettings::CU_COREDUMP_PIPE);
}

mod sealed {
    use super::{CStr, CString, CUCoredumpGenerationFlags, NAME_BYTES};

    /// The value of a setting: its bytes for the driver, and back.
    pub trait Value {
        type Given<'v>;
        type Read;
        const BYTES: usize;
        /// `None` for a value that the driver cannot take.
        fn to_bytes(given: Self::Given<'_>) -> Option<Vec<u8>>;
        fn from_bytes(bytes: &[u8]) -> Self::Read;
    }

    impl Value for bool {
        type Given<'v> = bool;
        type Read = bool;
        const BYTES: usize = 1;

        fn to_bytes(on: bool) -> Option<Vec<u8>> {
            Some(vec![u8::from(on)])
        }

        fn from_bytes(bytes: &[u8]) -> bool {
            bytes != [0]
        }
    }

    impl Value for CUCoredumpGenerationFlags {
        type Given<'v> = Self;
        type Read = Self;
        const BYTES: usize = 4;

        fn to_bytes(flags: Self) -> Option<Vec<u8>> {
            Some(flags.0.to_ne_bytes().to_vec())
        }

        fn from_bytes(bytes: &[u8]) -> Self {
            Self(i32::from_ne_bytes(bytes.try_into().unwrap_or_default()))
        }
    }

    impl Value for str {
        type Given<'v> = &'v str;
        type Read = String;
        const BYTES: usize = NAME_BYTES;

        fn to_bytes(name: &str) -> Option<Vec<u8>> {
            let name = CString::new(name).ok()?.into_bytes_with_nul();
            Some(name).filter(|name| name.len() <= NAME_BYTES)
        }

        fn from_bytes(bytes: &[u8]) -> String {
            let name = CStr::from_bytes_until_nul(bytes).unwrap_or_default();
            name.to_string_lossy().into_owned()
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
    /// Driver: `cuCoredumpRegisterStartCallback`, CUDA 13.2+; at its end
    /// `cuCoredumpDeregisterStartCallback`, CUDA 13.2+.
    #[doc(alias = "cuCoredumpRegisterStartCallback")]
    pub fn on_coredump_start(
        self,
        listener: impl Fn(i32, Device) + Send + Sync + 'static,
    ) -> Result<Callback, Error> {
        let (data, mut raw) = (told(self, listener), CUcoredumpCallbackHandle::null());
        let to = &raw mut raw;
        // SAFETY: the data is of the callback's type and never freed; `raw` outlives the call.
        unsafe { driver_call!(self.library(), cuCoredumpRegisterStartCallback(Some(tell), data, to)) }?;
        Ok(Callback::new(Registered::CoredumpStart(raw), self.library()))
    }

    /// Same as [`on_coredump_start`](Driver::on_coredump_start), when a core dump is complete.
    ///
    /// Driver: `cuCoredumpRegisterCompleteCallback`, CUDA 13.2+; at its end
    /// `cuCoredumpDeregisterCompleteCallback`, CUDA 13.2+.
    #[doc(alias = "cuCoredumpRegisterCompleteCallback")]
    pub fn on_coredump_complete(
        self,
        listener: impl Fn(i32, Device) + Send + Sync + 'static,
    ) -> Result<Callback, Error> {
        let (data, mut raw) = (told(self, listener), CUcoredumpCallbackHandle::null());
        let to = &raw mut raw;
        // SAFETY: the data is of the callback's type and never freed; `raw` outlives the call.
        unsafe { driver_call!(self.library(), cuCoredumpRegisterCompleteCallback(Some(tell), data, to)) }?;
        Ok(Callback::new(Registered::CoredumpComplete(raw), self.library()))
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
    /// Returns the value of a setting: a `bool`, a `String` or [`CoredumpFlags`].
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` on the software device; `CUDA_ERROR_INVALID_VALUE` for a setting
    /// that a context or the driver does not have.
    ///
    /// Driver: `cuCoredumpGetAttribute`, CUDA 12.1+, for a context, and
    /// `cuCoredumpGetAttributeGlobal`, CUDA 12.1+.
    #[doc(alias("cuCoredumpGetAttribute", "cuCoredumpGetAttributeGlobal"))]
    pub fn get<T: sealed::Value + ?Sized>(self, setting: CoredumpSetting<T>) -> Result<T::Read, Error> {
        let mut value = vec![0u8; T::BYTES];
        let (mut bytes, to) = (value.len(), value.as_mut_ptr().cast());
        let (which, size) = (setting.0, &raw mut bytes);
        match self.current {
            Some(cx) => {
                let context = cx.get()?;
                // SAFETY: the place has the given size, and both outlive the call.
                unsafe { context_call!(&context, cuCoredumpGetAttribute(which, to, size)) }
            }
            // SAFETY: as above.
            None => unsafe { driver_call!(self.library, cuCoredumpGetAttributeGlobal(which, to, size)) },
        }?;
        Ok(T::from_bytes(&value))
    }

    /// Changes a setting to a `bool`, a `&str` or [`CoredumpFlags`].
    ///
    /// # Errors
    /// Same as [`get`](Coredump::get); `CUDA_ERROR_NOT_PERMITTED` if the setting is fixed by now;
    /// `CUDA_ERROR_INVALID_VALUE` for a name that is too long or contains a NUL.
    ///
    /// Driver: `cuCoredumpSetAttribute`, CUDA 12.1+, for a context, and
    /// `cuCoredumpSetAttributeGlobal`, CUDA 12.1+.
    #[doc(alias("cuCoredumpSetAttribute", "cuCoredumpSetAttributeGlobal"))]
    pub fn set<T: sealed::Value + ?Sized>(
        self,
        setting: CoredumpSetting<T>,
        value: T::Given<'_>,
    ) -> Result<(), Error> {
        let refused = Error::host(CUresult::CUDA_ERROR_INVALID_VALUE, FnId::cuCoredumpSetAttribute);
        let mut value = T::to_bytes(value).ok_or(refused)?;
        let (mut bytes, from) = (value.len(), value.as_mut_ptr().cast());
        let (which, size) = (setting.0, &raw mut bytes);
        match self.current {
            Some(cx) => {
                let context = cx.get()?;
                // SAFETY: the value has the given size, and both outlive the call.
                unsafe { context_call!(&context, cuCoredumpSetAttribute(which, from, size)) }
            }
            // SAFETY: as above.
            None => unsafe { driver_call!(self.library, cuCoredumpSetAttributeGlobal(which, from, size)) },
        }
    }
}

debug!(Coredump<'_>: |this, f| f.debug_struct("Coredump").field("of", &this.current).finish_non_exhaustive());

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
