//! Tools for wrappers of raw calls, which can do with them all that the types of this crate do.

use std::fmt;
use std::ops::Deref;

use cuprum_sys::{CUresult, FnId};

use super::{ContextRef, Current, enter, stack};
use crate::error::Error;
use crate::raw::call::forked;
use crate::raw::keep::{Keep, Near};

/// A context kept alive by whoever holds this: borrowed for `'ctx`, or by a share of a
/// [`SharedContext`](crate::SharedContext). Every object made in a context has one inside.
///
/// A type that wraps a handle of its own keeps one beside it, and then serves both kinds of contexts. `'ctx` is that of
/// the token: `'static` for a shared one. [`enter`](KeptContext::enter) makes more in it later.
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// use cuprum::{Buffer, Current, KeptContext, MemoryError, PrimaryContext};
///
/// struct Log<'ctx> {
///     context: KeptContext<'ctx>,
///     parts: Vec<Buffer<'ctx, u8>>,
/// }
///
/// impl<'ctx> Log<'ctx> {
///     fn new(cx: &Current<'_, 'ctx>) -> Self {
///         Self { context: cx.keep(), parts: Vec::new() }
///     }
///
///     fn add(&mut self, line: &[u8]) -> Result<(), MemoryError> {
///         self.parts.push(self.context.enter(|cx| Buffer::from_slice(cx, line))??);
///         Ok(())
///     }
/// }
///
/// let context = PrimaryContext::retain(driver.device(0)?)?;
/// let mut log = context.enter(|cx| Log::new(cx))?;
/// log.add(b"one")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct KeptContext<'ctx>(Keep<'ctx, ContextRef>);

impl<'ctx> KeptContext<'ctx> {
    /// Runs `body` with the context current: like [`ContextRef::enter`], but objects made in it get all of `'ctx`.
    ///
    /// # Errors
    /// Those of [`ContextRef::enter`].
    ///
    /// Driver: `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[doc(alias = "cuCtxPopCurrent_v2")]
    pub fn enter<R>(&self, body: impl FnOnce(&mut Current<'_, 'ctx>) -> R) -> Result<R, Error> {
        // SAFETY: `enter` drops its token before it returns, and until then this value, which is borrowed, keeps the
        // context; objects made from the token keep it too, as this does: by a borrow for `'ctx` or a share of its own.
        enter::enter(unsafe { self.near().outlived() }, body)
    }

    /// The context, kept for something else.
    pub(crate) fn share(&self) -> Keep<'ctx, ContextRef> {
        self.0.clone()
    }

    /// The same as by dereferencing, under the name that all objects have for it.
    #[inline]
    pub(crate) fn context(&self) -> &ContextRef {
        self
    }

    /// Its address, as it was when this was made: whoever takes a share of it may be the last.
    #[inline]
    pub(crate) fn near(&self) -> Near<'_, ContextRef> {
        self.0.as_near()
    }
}

impl Deref for KeptContext<'_> {
    type Target = ContextRef;

    #[inline]
    fn deref(&self) -> &ContextRef {
        &self.0
    }
}

impl fmt::Debug for KeptContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeptContext").field(&**self).finish()
    }
}

impl<'ctx> Current<'_, 'ctx> {
    /// Keeps the context, for a wrapper type of one's own. No driver call.
    #[inline]
    pub fn keep(&self) -> KeptContext<'ctx> {
        KeptContext(Keep::near(self.near()))
    }

    /// Checks the context for a raw call that reads the current one and uses an object of `owner`, as the methods of
    /// this crate do before they call the driver. No driver call, unless a token above this one was forgotten.
    ///
    /// A call that uses no object, such as an allocation, uses the token's own [`context`](Current::context).
    ///
    /// # Errors
    /// Each names `call`: [`Error::is_wrong_context`] if the current context is not `owner`; [`Error::is_forked`] in a
    /// forked child; [`Error::is_out_of_order`] if this token is not on top.
    #[inline]
    pub fn require(&self, owner: &ContextRef, call: FnId) -> Result<&ContextRef, Error> {
        if owner.library().forked() {
            return Err(forked(call));
        }
        self.of(owner, call)
    }
}

impl ContextRef {
    /// Turns the answer of [`call!`](crate::sys::call) into a result, for raw calls of one's own in this context.
    ///
    /// Like [`Error::check`], it keeps the call, and the driver's version if the driver lacks the function. Beyond
    /// that, the first sticky error [poisons](ContextRef::poisoned_by) the context, and later ones name it.
    ///
    /// # Errors
    /// The one that the code means; none for `CUDA_SUCCESS`.
    #[inline]
    pub fn check(&self, answer: (CUresult, FnId)) -> Result<(), Error> {
        Error::check(self.library(), answer).map_err(|error| self.record(error))
    }

    /// Runs `body` with this context current on whichever thread, for the `Drop` of a type of one's own.
    ///
    /// If the context is current by a token already, `body` runs at once, as it does in drops of this crate;
    /// elsewhere the context is [entered](ContextRef::enter).
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let driver = cuprum::Driver::init(library)?;
    /// use cuprum::sys::{CUarray, call};
    /// use cuprum::{KeptContext, PrimaryContext};
    ///
    /// struct Array<'ctx> {
    ///     raw: CUarray,
    ///     context: KeptContext<'ctx>,
    /// }
    ///
    /// impl Drop for Array<'_> {
    ///     fn drop(&mut self) {
    ///         let Self { raw, context } = self;
    ///         let fns = context.driver().library().fns();
    ///         // SAFETY: the array is live, its context is current, and nobody uses it again.
    ///         let freed = context.with_current(|| context.check(unsafe { call!(fns, cuArrayDestroy(*raw)) }));
    ///         freed.unwrap_or_else(|error| context.swallow(error));
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of `body`; [`Error::is_forked`] in a forked child; whatever the driver reports when the context is pushed:
    /// then `body` does not run. A failure to pop it is [swallowed](crate::swallowed).
    ///
    /// Driver: `cuCtxPushCurrent_v2` and `cuCtxPopCurrent_v2`, CUDA 4.0+, unless the context is current.
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[doc(alias = "cuCtxPopCurrent_v2")]
    pub fn with_current<R>(&self, body: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        if self.library().forked() {
            return Err(forked(FnId::cuCtxPushCurrent_v2));
        }
        if stack::is_current(self) { body() } else { self.enter(|_| body())? }
    }

    /// Counts an error that a `Drop` cannot return, and tells it to the hook: see [`swallowed`](crate::swallowed).
    ///
    /// Errors that say nothing new are not counted: the driver is shutting down, this is a forked child, or the context
    /// is lost and that was reported before.
    #[cold]
    #[inline(never)]
    pub fn swallow(&self, error: Error) {
        let lost_before = error.first_reported_by().is_some();
        if !error.is_deinitialized() && !error.is_forked() && !lost_before {
            crate::swallowed::tell(error);
        }
    }
}
