//! Errors of driver calls: eight bytes for the call, the code and the first cause.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};

use cuprum_sys::{CUresult, FnId, Library, Version};

use crate::diagnosis::advice_here;
use crate::raw::debug::debug;

/// A failed driver call: the call, its code and, for a sticky error, its first report.
///
/// The type is `Copy` and has eight bytes, and so has `Result<(), Error>`. It stores no text;
/// [`Display`](fmt::Display) and [`name`](Error::name) work without a driver.
///
/// This crate returns five codes of its own without calling the driver:
/// [`UNRESOLVED`](Error::UNRESOLVED), [`FORKED`](Error::FORKED),
/// [`WRONG_CONTEXT`](Error::WRONG_CONTEXT), [`OUT_OF_ORDER`](Error::OUT_OF_ORDER) and
/// [`LOST`](Error::LOST).
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::sys::{CUresult, FnId};
///
/// let error = driver.device(1000).unwrap_err();
/// assert_eq!((error.code(), error.call()), (CUresult::CUDA_ERROR_INVALID_DEVICE, FnId::cuDeviceGet));
/// assert_eq!(size_of::<cuprum::Error>(), 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Error {
    code: NonZeroU32,
    call: FnId,
    /// Unresolved: the driver's version divided by ten. Sticky: one more than the id of the call
    /// that first reported the fault, or zero if this call did. Also contains [`SOFTWARE`].
    note: u16,
}

/// The bit of a note that marks a driver in software. Comparisons ignore it.
const SOFTWARE: u16 = 1 << 15;

impl Error {
    /// The driver is older than the function; nothing was called.
    pub const UNRESOLVED: CUresult = CUresult::UNRESOLVED;
    /// This process is a forked child of one that called `cuInit`; the driver was not called.
    pub const FORKED: CUresult = CUresult::FORKED;
    /// An object of one context was used in another context; the driver was not called.
    pub const WRONG_CONTEXT: CUresult = CUresult(0x7FFF_0011);
    /// A forgotten token or foreign code changed the context stack; the driver was not called.
    pub const OUT_OF_ORDER: CUresult = CUresult(0x7FFF_0012);
    /// An object was not freed, because a copy between its context and another one may still use
    /// its memory. The wait for that copy failed, and the driver would not wait before freeing.
    /// From then on, neither objects of this context nor the context are freed. The driver was not
    /// called.
    pub const LOST: CUresult = CUresult(0x7FFF_0013);

    /// Returns the error for a `code`, or `None` for success. [`check`](Error::check) also records
    /// the driver.
    #[inline]
    pub fn new(code: CUresult, call: FnId) -> Option<Self> {
        NonZeroU32::new(code.0).map(|code| Self { code, call, note: 0 })
    }

    /// Converts the answer of [`call!`](crate::sys::call), outside of any context, to a result.
    ///
    /// The error contains the code, the call and, if the driver lacks the function, the driver's
    /// version. For calls in a context use [`ContextRef::check`](crate::ContextRef::check), which
    /// also records the first sticky error.
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// use cuprum::Error;
    /// use cuprum::sys::call;
    ///
    /// let mut version = 0;
    /// // SAFETY: the out-parameter outlives the call.
    /// Error::check(library, unsafe { call!(library.fns(), cuDriverGetVersion(&raw mut version)) })?;
    /// assert!(version >= 6050);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The error that the code stands for; none for `CUDA_SUCCESS`.
    #[inline]
    pub fn check(library: Library, (code, call): (CUresult, FnId)) -> Result<(), Self> {
        match NonZeroU32::new(code.0) {
            None => Ok(()),
            Some(code) => Err(Self::cold(library, code, call)),
        }
    }

    #[cold]
    #[inline(never)]
    fn cold(library: Library, code: NonZeroU32, call: FnId) -> Self {
        let version = u16::try_from(library.version().as_raw() / 10).unwrap_or(0) & !SOFTWARE;
        let note = if code.get() == Self::UNRESOLVED.0 { version } else { 0 };
        Self { code, call, note: note | if library.is_software_device() { SOFTWARE } else { 0 } }
    }

    /// An error that this crate detected without calling the driver.
    pub(crate) const fn host(code: CUresult, call: FnId) -> Self {
        match NonZeroU32::new(code.0) {
            Some(code) => Self { code, call, note: 0 },
            None => Self { code: NonZeroU32::MAX, call, note: 0 },
        }
    }

    pub(crate) const fn wrong_context(call: FnId) -> Self {
        Self::host(Self::WRONG_CONTEXT, call)
    }

    pub(crate) const fn out_of_order(call: FnId) -> Self {
        Self::host(Self::OUT_OF_ORDER, call)
    }

    pub(crate) const fn lost(call: FnId) -> Self {
        Self::host(Self::LOST, call)
    }

    /// Returns the driver's code, even if this crate does not know it.
    pub const fn code(self) -> CUresult {
        CUresult(self.code.get())
    }

    /// Returns the call that reported this error. For a sticky error this is often not the call
    /// that caused it: see [`first_reported_by`](Error::first_reported_by).
    pub const fn call(self) -> FnId {
        self.call
    }

    /// Returns the C name of the code, or `None` for a code that this crate does not know.
    #[inline]
    pub fn name(self) -> Option<&'static str> {
        match self.code() {
            Self::WRONG_CONTEXT => Some("WRONG_CONTEXT"),
            Self::OUT_OF_ORDER => Some("OUT_OF_ORDER"),
            Self::LOST => Some("LOST"),
            code => code.name(),
        }
    }

    /// True if the fault is permanent: every later call in this context fails with it, and the
    /// context must be destroyed.
    ///
    /// On an H200 with driver 580, only a new process recovers from any kind of fault
    /// (`tests/data/goldens/driver.json`). Other contexts of the process, new contexts and a reset
    /// primary context return the same code. On the emulator a fault affects only its context.
    #[inline]
    pub fn is_sticky(self) -> bool {
        is_sticky(self.code())
    }

    /// Returns the call that first reported the fault of this context, if this error repeats it.
    #[inline]
    pub fn first_reported_by(self) -> Option<FnId> {
        if !self.is_sticky() {
            return None;
        }
        FnId::ALL.get(usize::from(self.value().checked_sub(1)?)).copied()
    }

    pub(crate) fn is_unresolved(self) -> bool {
        self.code() == CUresult::UNRESOLVED
    }

    pub(crate) fn is_forked(self) -> bool {
        self.code() == CUresult::FORKED
    }

    pub(crate) fn is_wrong_context(self) -> bool {
        self.code() == Self::WRONG_CONTEXT
    }

    pub(crate) fn is_out_of_order(self) -> bool {
        self.code() == Self::OUT_OF_ORDER
    }

    pub(crate) fn is_lost(self) -> bool {
        self.code() == Self::LOST
    }

    /// True if the call failed because of a stream capture, which does not run the work that the
    /// call would wait for or query. The capture is now invalid, and ending it returns an error.
    #[inline]
    pub fn is_capture(self) -> bool {
        let code = self.code();
        (CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.0
            ..=CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD.0)
            .contains(&code.0)
    }

    /// True if an unrelated capture prevented the call.
    pub(crate) const fn is_refused_by_a_capture(self) -> bool {
        is_refused_by_a_capture(self.code())
    }

    /// True if this crate received the error from a driver [in
    /// software](Library::is_software_device).
    fn is_of_software_device(self) -> bool {
        self.note & SOFTWARE != 0
    }

    /// The note without the origin bit.
    const fn value(self) -> u16 {
        self.note & !SOFTWARE
    }

    /// Returns the known cause and remedy: on the software device, on this machine, or in general.
    fn advice(self) -> Option<Cow<'static, str>> {
        let code = self.code();
        if self.is_of_software_device() {
            return code.advice_in_software().map(Cow::Borrowed);
        }
        advice_here(code).map(Cow::Owned).or_else(|| code.advice().map(Cow::Borrowed))
    }

    /// True if the driver is shutting down at process exit. It has already freed the object.
    pub(crate) fn is_deinitialized(self) -> bool {
        self.code() == CUresult::CUDA_ERROR_DEINITIALIZED
    }

    /// Message for a function that the driver lacks. An error made from a code has no version.
    fn fmt_unresolved(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (call, since, has) =
            (self.call, self.call.symbol().since, Version::from_raw(u32::from(self.value()) * 10));
        if has.as_raw() == 0 {
            write!(f, "{call} needs CUDA {since}, and this driver lacks it: update the driver")
        } else if has < since {
            write!(f, "{call} needs CUDA {since}, the driver has {has}: update the driver")
        } else {
            write!(
                f,
                "{call} is missing from this driver, although it came with CUDA {since} and the driver has {has}"
            )
        }
    }

    fn to_bits(self) -> u64 {
        u64::from(self.code.get()) | (self.call as u64) << 32 | u64::from(self.note) << 48
    }

    fn from_bits(bits: u64) -> Option<Self> {
        let code = NonZeroU32::new(u32::try_from(bits & 0xFFFF_FFFF).ok()?)?;
        let call = *FnId::ALL.get(usize::try_from(bits >> 32 & 0xFFFF).ok()?)?;
        Some(Self { code, call, note: u16::try_from(bits >> 48).ok()? })
    }
}

/// True for codes that mean that a capture prevented the call.
pub(crate) const fn is_refused_by_a_capture(code: CUresult) -> bool {
    matches!(
        code,
        CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED | CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    )
}

/// True for codes after which every call of the context fails.
fn is_sticky(code: CUresult) -> bool {
    matches!(
        code,
        CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
            | CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_ASSERT
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_TENSOR_MEMORY_LEAK
            | CUresult::CUDA_ERROR_CONTAINED
    )
}

/// The first sticky error of a context. It never changes.
#[derive(Debug, Default)]
pub(crate) struct Poison(AtomicU64);

impl Poison {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(crate) fn first(&self) -> Option<Error> {
        Error::from_bits(self.0.load(Ordering::Relaxed))
    }

    pub(crate) fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Records the first sticky error. Adds its call to later sticky errors.
    #[cold]
    #[inline(never)]
    pub(crate) fn record(&self, error: Error) -> Error {
        if !error.is_sticky() {
            return error;
        }
        match self.0.compare_exchange(0, error.to_bits(), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => error,
            Err(first) => {
                let note = Error::from_bits(first).and_then(|first| (first.call as u16).checked_add(1));
                Error { note: note.unwrap_or(0) | error.note & SOFTWARE, ..error }
            }
        }
    }
}

impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        (self.code, self.call, self.value()) == (other.code, other.call, other.value())
    }
}

impl Eq for Error {}

impl Hash for Error {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.code, self.call, self.value()).hash(state);
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = self.call;
        if self.is_unresolved() {
            return self.fmt_unresolved(f);
        }
        if self.is_forked() {
            return write!(
                f,
                "{call} was not called: this process was forked from the one that initialized CUDA; \
                 start workers with exec, or initialize only after the fork"
            );
        }
        if self.is_wrong_context() {
            return write!(
                f,
                "{call} was not called: an object given to it belongs to another context than the current one"
            );
        }
        if self.is_out_of_order() {
            return write!(
                f,
                "{call} was not called: the thread's current context is not the one of the token in use \
                 (a token was forgotten, or other code changed the context)"
            );
        }
        if self.is_lost() {
            return write!(
                f,
                "{call} was not called: a copy between this context and another one may still use memory of it, since \
                 waiting for that copy has failed; nothing of this context is freed any more"
            );
        }
        let code = self.code();
        write!(f, "{call} failed: ")?;
        match code.name() {
            Some(name) => write!(f, "{name} ({})", self.code)?,
            None => write!(f, "code {}, which this version of cuprum does not know", self.code)?,
        }
        if let Some(description) = code.description() {
            write!(f, ": {description}")?;
        }
        if let Some(advice) = self.advice() {
            write!(f, " {advice}")?;
        }
        // These two begin and end captures.
        if self.is_capture() && !matches!(call, FnId::cuStreamBeginCapture_v2 | FnId::cuStreamEndCapture) {
            write!(f, " A stream is being captured into a graph, and that capture is invalid now.")?;
        }
        if let Some(first) = self.first_reported_by() {
            write!(f, " The context was lost before: {first} was the first to report it.")?;
        } else if self.is_sticky() {
            write!(f, " The fault lies in work queued before this call.")?;
        }
        Ok(())
    }
}

debug!(Error: |this, f| write!(f, "Error({this})"));

impl std::error::Error for Error {}
