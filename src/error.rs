//! Errors of driver calls: eight bytes that name the call, the code and the first cause.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};

use cuprum_sys::{CUresult, FnId, Library, Version};

use crate::diagnosis::advice_here;

/// A driver call that failed: the call, its code, and the call that first reported the fault, if it stays.
///
/// It is `Copy`, eight bytes, and so is `Result<(), Error>`. No text is stored; [`Display`](fmt::Display)
/// and [`name`](Error::name) work without a driver.
///
/// Five codes are this crate's own and mean that the driver was not called:
/// [`is_unresolved`](Error::is_unresolved), [`is_forked`](Error::is_forked),
/// [`is_wrong_context`](Error::is_wrong_context), [`is_out_of_order`](Error::is_out_of_order) and
/// [`is_lost`](Error::is_lost).
#[derive(Clone, Copy)]
pub struct Error {
    code: NonZeroU32,
    call: FnId,
    /// Unresolved: the driver's version divided by ten. Sticky: one more than the id of the call that
    /// first reported the fault, zero when this call did. And [`SOFTWARE`].
    note: u16,
}

/// The bit of a note that says that the driver is one in software. It makes no error another one.
const SOFTWARE: u16 = 1 << 15;

/// The object given to a call belongs to another context than the current one; the driver was not asked.
const WRONG_CONTEXT: CUresult = CUresult(0x7FFF_0011);
/// The thread's context stack differs from the state of the token in use; the driver was not asked.
const OUT_OF_ORDER: CUresult = CUresult(0x7FFF_0012);
/// Work that could not be waited for may use what was to be freed; the driver was not asked.
const LOST: CUresult = CUresult(0x7FFF_0013);

impl Error {
    /// The error for `code` as answered by `call`, or `None` for success. [`check`](Error::check) knows the driver too.
    #[inline]
    pub fn new(code: CUresult, call: FnId) -> Option<Self> {
        NonZeroU32::new(code.0).map(|code| Self { code, call, note: 0 })
    }

    /// Turns the answer of [`call!`](crate::sys::call) into a result, for raw calls of one's own beside any context.
    ///
    /// It keeps more than the code: the call, and the driver's version if the driver lacks the function.
    /// [`ContextRef::check`](crate::ContextRef::check) is for calls in a context: it also keeps the first report of a
    /// fault.
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
    /// The one that the code means; none for `CUDA_SUCCESS`.
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
        let note = if code.get() == CUresult::UNRESOLVED.0 { version } else { 0 };
        Self { code, call, note: note | if library.is_software_device() { SOFTWARE } else { 0 } }
    }

    /// An error that this crate found itself, without asking the driver.
    pub(crate) const fn host(code: CUresult, call: FnId) -> Self {
        match NonZeroU32::new(code.0) {
            Some(code) => Self { code, call, note: 0 },
            None => Self { code: NonZeroU32::MAX, call, note: 0 },
        }
    }

    pub(crate) const fn wrong_context(call: FnId) -> Self {
        Self::host(WRONG_CONTEXT, call)
    }

    pub(crate) const fn out_of_order(call: FnId) -> Self {
        Self::host(OUT_OF_ORDER, call)
    }

    pub(crate) const fn lost(call: FnId) -> Self {
        Self::host(LOST, call)
    }

    /// The code, as the driver gave it. A code that this crate does not know is kept.
    pub const fn code(self) -> CUresult {
        CUresult(self.code.get())
    }

    /// The call that reported this error. For a sticky error that is often not the call that caused it:
    /// see [`first_reported_by`](Error::first_reported_by).
    pub const fn call(self) -> FnId {
        self.call
    }

    /// The C name of the code, `None` for one that this crate does not know.
    #[inline]
    pub fn name(self) -> Option<&'static str> {
        match self.code() {
            WRONG_CONTEXT => Some("WRONG_CONTEXT"),
            OUT_OF_ORDER => Some("OUT_OF_ORDER"),
            LOST => Some("LOST"),
            code => code.name(),
        }
    }

    /// True if the fault stays: every later call in this context fails with it, and the context must go.
    ///
    /// Recovery was measured on an H200 with driver 580 (`tests/data/goldens/driver.json`): for every kind of
    /// fault, only a new process helps. Other contexts of the process, new ones, and a primary context that was
    /// reset all answer with the same code. The emulator keeps a fault to its context.
    #[inline]
    pub fn is_sticky(self) -> bool {
        is_sticky(self.code())
    }

    /// The call that first reported the fault of this context, where this error is a later echo of it.
    #[inline]
    pub fn first_reported_by(self) -> Option<FnId> {
        if !self.is_sticky() {
            return None;
        }
        FnId::ALL.get(usize::from(self.value().checked_sub(1)?)).copied()
    }

    /// True if the driver lacks the function: it is older than the function, and was not called.
    #[inline]
    pub fn is_unresolved(self) -> bool {
        self.code() == CUresult::UNRESOLVED
    }

    /// True if the call was refused because this process is a forked child of the one that ran `cuInit`.
    #[inline]
    pub fn is_forked(self) -> bool {
        self.code() == CUresult::FORKED
    }

    /// True if an object of one context was given to a call in another; the driver was not called.
    #[inline]
    pub fn is_wrong_context(self) -> bool {
        self.code() == WRONG_CONTEXT
    }

    /// True if the thread's context stack was found changed behind the token in use, by a forgotten token
    /// or by foreign code; the driver was not called.
    #[inline]
    pub fn is_out_of_order(self) -> bool {
        self.code() == OUT_OF_ORDER
    }

    /// True if something was not freed, because a copy between this context and another one may still use memory of it: the
    /// wait for that copy has failed, and the driver would not wait before it frees. Nothing made in this context is freed from
    /// then on, nor is the context; the driver was not called.
    #[inline]
    pub fn is_lost(self) -> bool {
        self.code() == LOST
    }

    /// True if the call was refused, or failed, because a stream is being captured: it would wait for work that a
    /// capture has not run, or query it. The capture is invalid from then on, and says so when it ends.
    #[inline]
    pub fn is_capture(self) -> bool {
        let code = self.code();
        (CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.0
            ..=CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD.0)
            .contains(&code.0)
    }

    /// True if the call was not made because of a capture that has nothing to do with it.
    pub(crate) const fn is_refused_by_a_capture(self) -> bool {
        is_refused_by_a_capture(self.code())
    }

    /// True if a driver [in software](Library::is_software_device) gave this error, as far as this crate saw it happen.
    #[inline]
    pub fn is_of_software_device(self) -> bool {
        self.note & SOFTWARE != 0
    }

    /// The note without what says where it is from.
    const fn value(self) -> u16 {
        self.note & !SOFTWARE
    }

    /// Cause and remedy, as far as something is known: on the software device, on this machine, or in general.
    fn advice(self) -> Option<Cow<'static, str>> {
        let code = self.code();
        if self.is_of_software_device() {
            return code.advice_in_software().map(Cow::Borrowed);
        }
        advice_here(code).map(Cow::Owned).or_else(|| code.advice().map(Cow::Borrowed))
    }

    /// True if the driver is shutting down, as it does while a process exits. The object to be freed is gone.
    #[inline]
    pub fn is_deinitialized(self) -> bool {
        self.code() == CUresult::CUDA_ERROR_DEINITIALIZED
    }

    /// Message for a function that the driver lacks. The version is not known if the error was made from a code.
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

/// True for codes of calls that were not made, because of a capture.
pub(crate) const fn is_refused_by_a_capture(code: CUresult) -> bool {
    matches!(
        code,
        CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED | CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    )
}

/// True for codes after which a context answers nothing else.
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

/// The first sticky error of a context, kept for good.
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

    /// Remembers the first sticky error, and gives later ones the name of the call that reported it.
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
        if self.is_capture() {
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

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

impl std::error::Error for Error {}
