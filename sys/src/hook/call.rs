//! Code that calls pass through, and a call that it receives.

use super::parameter::Parameter;
use super::value::Value;
use crate::enums::CUresult;
use crate::error::LoadError;
use crate::fns::{FnId, Fns};
use crate::library::Library;
use crate::table::StreamMode;
use core::ffi::c_void;
use core::fmt;
use core::ptr;

/// Code that calls pass through. It is a type; no value of it is stored.
///
/// ```
/// use cuprum_sys::hook::{Call, Hook};
/// use cuprum_sys::{CUresult, Fns};
///
/// struct Printed;
/// impl Hook for Printed {
///     fn target() -> &'static Fns {
///         &Fns::STUBS
///     }
///     fn call(call: &Call<'_>, pass_on: &mut dyn FnMut() -> CUresult) -> CUresult {
///         println!("{call:?}");
///         pass_on()
///     }
/// }
/// ```
pub trait Hook: 'static {
    /// The functions that calls are passed on to.
    fn target() -> &'static Fns;

    /// Returns the result of a call, most often by `pass_on()`, which makes it once for each time
    /// it is called.
    ///
    /// It runs on the thread of the call, and C waits for its result: a panic in it ends the
    /// process.
    fn call(call: &Call<'_>, pass_on: &mut dyn FnMut() -> CUresult) -> CUresult;
}

/// A call on its way to the driver.
///
/// ```
/// use cuprum_sys::FnId;
/// use cuprum_sys::hook::Call;
///
/// /// In a [`Hook`](cuprum_sys::hook::Hook): true for a call to be counted.
/// fn is_counted(call: &Call<'_>) -> bool {
///     call.function() == FnId::cuMemAlloc_v2 && call.arguments().len() == 2
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Call<'a> {
    function: FnId,
    parameters: &'static [Parameter],
    values: &'a [&'a dyn Value],
}

/// An argument of a call: its value and the parameter that it is for.
///
/// ```
/// use cuprum_sys::hook::Call;
///
/// /// In a [`Hook`](cuprum_sys::hook::Hook): the argument of this name.
/// fn argument(call: &Call<'_>, name: &str) -> Option<u64> {
///     call.arguments().find(|argument| argument.name() == name).map(|argument| argument.word())
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Argument<'a> {
    parameter: Parameter,
    value: &'a dyn Value,
}

impl<'a> Call<'a> {
    pub(crate) const fn new(
        function: FnId,
        parameters: &'static [Parameter],
        values: &'a [&'a dyn Value],
    ) -> Self {
        Self { function, parameters, values }
    }

    /// The function that is called.
    #[must_use]
    pub const fn function(&self) -> FnId {
        self.function
    }

    /// The arguments, in order.
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = Argument<'a>> + use<'a> {
        let values: &'a [&'a dyn Value] = self.values;
        self.parameters.iter().zip(values).map(|(&parameter, &value)| Argument { parameter, value })
    }
}

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = f.debug_tuple(self.function.symbol().name.to_str().unwrap_or_default());
        self.arguments().for_each(|argument| {
            tuple.field(&argument.value);
        });
        tuple.finish()
    }
}

impl Argument<'_> {
    /// The parameter that it is for.
    #[must_use]
    pub const fn parameter(&self) -> Parameter {
        self.parameter
    }

    /// The parameter's name in C.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.parameter.name()
    }

    /// The parameter's type as the list of functions has it: `*mut CUcontext`, `usize`.
    #[must_use]
    pub const fn ty(&self) -> &'static str {
        self.parameter.ty
    }

    /// The value's bits; 0 for a structure that does not fit. A pointer's provenance is exposed, so
    /// that its memory may be met through the number.
    #[must_use]
    pub fn word(&self) -> u64 {
        self.value.word()
    }
}

/// Shows the value: a number, an enum's constant, a handle's or pointer's address.
impl fmt::Debug for Argument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl Fns {
    /// The address of a function of this table.
    #[must_use]
    pub fn address(&self, function: FnId) -> *const c_void {
        self.slots()[function as usize]
    }
}

impl Library {
    /// The same driver with its calls passing through a hook. Functions that it lacks stay absent.
    ///
    /// Hooking it again returns the same library. `origin` names it in messages. This library does
    /// not change.
    ///
    /// # Safety
    /// 1. [`Hook::target`] returns the functions of this library, now and later.
    /// 2. The results of [`Hook::call`] are true of the driver, as its callers rely on them:
    ///    success, for instance, only if the call has done all that it promises.
    ///
    /// # Errors
    /// As for [`from_resolver`](Library::from_resolver): if the hook does not let
    /// `cuDriverGetVersion` pass.
    pub unsafe fn hooked<H: Hook>(self, origin: &str) -> Result<Self, LoadError> {
        let fns = Fns::hooked::<H>();
        // The resolver is called for each function, in order.
        let mut functions = FnId::ALL.iter();
        let per_thread = self.stream_mode() == StreamMode::PerThread;
        let options = Self::options().per_thread_default_stream(per_thread);
        let options = options.software_device(self.is_software_device()).same_driver(self);
        // SAFETY: each address is the hooked function of that name, of the same signature and as
        // static as the code; the caller vouches for its effects.
        unsafe {
            options.from_resolver(origin, |_| match functions.next() {
                Some(&function) if self.has(function) => fns.address(function),
                _ => ptr::null(),
            })
        }
    }
}
