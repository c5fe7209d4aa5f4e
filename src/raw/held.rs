//! The one owner of handles: freed once, on any thread, with the caller's current context kept.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;

use cuprum_sys::{CUcontext, CUresult, FnId, Fns};

use super::call::{context_call, forked};
use super::keep::{Keep, Near};
use crate::context::{Beside, ContextRef, captures, stack};
use crate::error::Error;

/// A handle that the driver gave, and that one of its functions frees.
///
/// # Safety
/// The driver allows any thread to use and to free the handle; `free` is as it says.
pub(crate) unsafe trait Handle: Copy {
    /// Name in `Debug` output.
    const NAME: &'static str;

    /// True if there is anything to free: not so for default streams, and for memory of no bytes.
    fn is_owned(self) -> bool {
        true
    }

    /// The driver call that frees it. One that a capture refuses has freed nothing, and is made once more; where it is two
    /// calls, the second is not made behind that answer of the first.
    ///
    /// # Safety
    /// The handle is live and is not used again, unless it was not freed; its context is current.
    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId);

    /// The same for a thread that is exempted from captures, where that needs another call: it uses neither the context's
    /// legacy default stream nor waits for the context.
    ///
    /// # Safety
    /// As for [`free`](Handle::free).
    unsafe fn free_beside_captures(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.free(fns) }
    }
}

/// A handle and the context that it was made in, which it keeps alive.
///
/// Drop frees it on any thread, with one call of the driver where its context is current and three elsewhere, and two more
/// while this crate [captures](Beside) a stream, which is none of its business. It swallows
/// errors (see [`swallowed`](crate::swallowed)) and does nothing in a forked child.
pub(crate) struct Held<'ctx, H: Handle> {
    raw: H,
    home: Keep<'ctx, ContextRef>,
}

// SAFETY: any thread may use the handle, as its trait demands, and so it is with the context.
unsafe impl<H: Handle> Send for Held<'_, H> {}
// SAFETY: as above; nothing in it changes.
unsafe impl<H: Handle> Sync for Held<'_, H> {}

impl<'ctx, H: Handle> Held<'ctx, H> {
    /// Takes over a handle that the driver just gave in `context`.
    #[inline]
    pub(crate) fn new(raw: H, context: Near<'ctx, ContextRef>) -> Self {
        Self { raw, home: Keep::new(context) }
    }

    /// Like `new`, with the context kept already.
    #[inline]
    pub(crate) const fn kept(raw: H, home: Keep<'ctx, ContextRef>) -> Self {
        Self { raw, home }
    }

    #[inline]
    pub(crate) const fn raw(&self) -> H {
        self.raw
    }

    /// The handle, for one that says more than what is freed.
    pub(crate) fn raw_mut(&mut self) -> &mut H {
        &mut self.raw
    }

    /// The context in which it was made.
    #[inline]
    pub(crate) fn context(&self) -> &ContextRef {
        &self.home
    }

    /// The same, for objects that borrow this.
    #[inline]
    pub(crate) fn near(&self) -> Near<'_, ContextRef> {
        self.home.near()
    }

    /// The keeper of the context.
    pub(crate) const fn home(&self) -> &Keep<'ctx, ContextRef> {
        &self.home
    }

    /// The context, kept for something else.
    pub(crate) fn keep(&self) -> Keep<'ctx, ContextRef> {
        self.home.clone()
    }

    /// Gives up the handle without freeing it.
    pub(crate) fn into_raw(self) -> H {
        self.dissolve().0
    }

    /// Frees the handle and returns the error that `Drop` would swallow.
    ///
    /// After an error of the driver it is not known whether it has freed the handle (its documentation lets calls
    /// return errors of earlier work although they were done), so it is not freed again: at worst it leaks.
    pub(crate) fn close(self) -> Result<(), Error> {
        let freed = self.free();
        drop(self.dissolve());
        freed
    }

    /// Frees the handle and says whether that is certain: unlike for `close`, a driver that is shutting down is not.
    pub(crate) fn end(self) -> Result<(), Error> {
        let freed = self.free_once();
        drop(self.dissolve());
        freed
    }

    /// Takes this apart, without the `Drop` of the whole.
    fn dissolve(self) -> (H, Keep<'ctx, ContextRef>) {
        let this = ManuallyDrop::new(self);
        // SAFETY: the field is read once, out of a value that is not dropped.
        (this.raw, unsafe { ptr::read(&raw const this.home) })
    }

    /// A driver that is shutting down has freed everything: that is success.
    #[inline]
    fn free(&self) -> Result<(), Error> {
        self.free_once().or_else(|error| if error.is_deinitialized() { Ok(()) } else { Err(error) })
    }

    #[inline]
    fn free_once(&self) -> Result<(), Error> {
        if !self.raw.is_owned() {
            return Ok(());
        }
        let (context, raw) = (self.context(), self.raw);
        if context.library().forked() {
            return Err(forked(FnId::cuCtxPushCurrent_v2));
        }
        context.check_kept(FnId::cuCtxPushCurrent_v2)?;
        activated(context, || {
            if captures::ever() {
                return Self::free_beside(context, raw);
            }
            // SAFETY: both callers give up the value, so the handle is live and nobody uses it again.
            let answer = unsafe { raw.free(context.library().fns()) };
            Error::check(context.library(), answer).or_else(|error| Self::not_freed(context, raw, error))
        })
    }

    /// The same in a program that captures.
    #[cold]
    #[inline(never)]
    fn free_beside(context: &ContextRef, raw: H) -> Result<(), Error> {
        let beside = Beside::captures(context.library());
        let freed = if beside.is_exempted() {
            Self::free_exempted(context, raw)
        } else {
            // SAFETY: as in `free_once`.
            Error::check(context.library(), unsafe { raw.free(context.library().fns()) })
        };
        drop(beside);
        freed.or_else(|error| Self::not_freed(context, raw, error))
    }

    /// Frees the handle after all if a capture has kept that from being done: of other code, or because the thread could not
    /// be exempted. The driver refuses such a call before it does anything (H100, driver 580:
    /// `tests/data/goldens/captures.txt`).
    #[cold]
    #[inline(never)]
    fn not_freed(context: &ContextRef, raw: H, error: Error) -> Result<(), Error> {
        if !error.is_refused_by_a_capture() {
            return Err(context.record(error));
        }
        let beside = Beside::exempted(context.library());
        Self::free_exempted(context, raw).map_err(|error| context.record(beside.blame(error)))
    }

    #[cold]
    #[inline(never)]
    fn free_exempted(context: &ContextRef, raw: H) -> Result<(), Error> {
        // SAFETY: as in `free_once`, of a handle that was not freed there.
        let answer = unsafe { raw.free_beside_captures(context.library().fns()) };
        Error::check(context.library(), answer)
    }
}

impl<H: Handle> Drop for Held<'_, H> {
    #[inline]
    fn drop(&mut self) {
        if let Err(error) = self.free() {
            self.context().swallow(error);
        }
    }
}

impl<H: Handle + fmt::Debug> fmt::Debug for Held<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({:?})", H::NAME, self.raw)
    }
}

/// Runs `body` with `context` current, and restores the previous one.
#[inline]
pub(crate) fn activated<R>(
    context: &ContextRef,
    body: impl FnOnce() -> Result<R, Error>,
) -> Result<R, Error> {
    if stack::is_current(context) {
        return body();
    }
    if let Err(error) = activate(context) {
        return Err(uncertain(context, error));
    }
    let result = body();
    restore(context);
    result
}

/// Makes `context` current, which whoever calls this keeps. Like `restore`, it is not part of each `activated`, of which
/// there are dozens.
#[inline]
fn activate(context: &ContextRef) -> Result<(), Error> {
    // SAFETY: the handle is live: whoever calls this keeps the context.
    unsafe { context_call!(context, cuCtxPushCurrent_v2(context.as_raw())) }
}

/// After a push or a pop that failed, what is current is not known.
#[cold]
#[inline(never)]
fn uncertain(context: &ContextRef, error: Error) -> Error {
    stack::is_uncertain(context.library(), context.as_raw());
    error
}

/// Puts back what was current before `activate`.
///
/// A failure is swallowed: it must not be taken for one of the work in between, which is done. The tokens of this thread
/// notice it when they are used next.
#[inline]
fn restore(context: &ContextRef) {
    let mut popped = CUcontext::null();
    // SAFETY: the out-parameter outlives the call; the context that `activate` pushed is on top.
    if let Err(error) = unsafe { context_call!(context, cuCtxPopCurrent_v2(&raw mut popped)) } {
        context.swallow(uncertain(context, error));
    }
}
