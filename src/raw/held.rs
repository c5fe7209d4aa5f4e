//! The owner of handles: freed once, on any thread, with the caller's current context restored.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;

use cuprum_sys::{CUcontext, CUresult, FnId, Fns};

use super::call::forked;
use super::debug::debug;
use super::keep::{Keep, Near};
use crate::context::{Beside, ContextRef, captures, context_call, stack};
use crate::error::Error;

/// A handle from the driver, which a driver function frees.
///
/// # Safety
/// The driver allows any thread to use and to free the handle; `free` follows its documentation.
pub(crate) unsafe trait Handle: Copy {
    /// Name in `Debug` output.
    const NAME: &'static str;

    /// True if there is anything to free: false for default streams, and for memory of zero bytes.
    fn is_owned(self) -> bool {
        true
    }

    /// The driver call that frees the handle. If a capture refuses it, nothing was freed, and it is
    /// repeated. If it consists of two calls, the second is not made after such an error of the
    /// first.
    ///
    /// # Safety
    /// The handle is live and is not used again, unless it was not freed; its context is current.
    unsafe fn free(self, fns: &Fns) -> (CUresult, FnId);

    /// Same as [`free`](Handle::free), for a thread that is exempted from captures, if that needs
    /// another call: it neither uses the context's legacy default stream nor waits for the context.
    ///
    /// # Safety
    /// Same as [`free`](Handle::free).
    unsafe fn free_beside_captures(self, fns: &Fns) -> (CUresult, FnId) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.free(fns) }
    }
}

/// A [`Handle`] that one driver call frees. `unsafe`, because each use says why any thread may free
/// it.
macro_rules! handle {
    ($(#[$inline:meta])? unsafe $handle:ty: $name:literal, $(owned if |$owned:ident| $is_owned:expr,)?
     |$raw:ident| $call:ident($($argument:expr),*)) => {
        // SAFETY: stated at the use of the macro.
        unsafe impl $crate::raw::held::Handle for $handle {
            const NAME: &'static str = $name;
            $(
                #[inline]
                fn is_owned(self) -> bool {
                    let $owned = self;
                    $is_owned
                }
            )?

            $(#[$inline])?
            unsafe fn free(self, fns: &cuprum_sys::Fns) -> (cuprum_sys::CUresult, cuprum_sys::FnId) {
                let $raw = self;
                // SAFETY: the caller guarantees that the handle is live and not used again.
                unsafe { cuprum_sys::call!(fns, $call($($argument),*)) }
            }
        }
    };
}

pub(crate) use handle;

/// A handle, and its context, which it keeps alive.
///
/// Drop frees it on any thread, with one driver call if its context is current, three otherwise,
/// and two more while this crate captures a stream. It swallows errors (see
/// [`swallowed`](crate::swallowed)) and does nothing in a forked child.
pub(crate) struct Held<'ctx, H: Handle> {
    raw: H,
    home: Keep<'ctx, ContextRef>,
}

// SAFETY: any thread may use the handle, as its trait requires, and the context.
unsafe impl<H: Handle> Send for Held<'_, H> {}
// SAFETY: as above; it is immutable.
unsafe impl<H: Handle> Sync for Held<'_, H> {}

impl<'ctx, H: Handle> Held<'ctx, H> {
    /// Takes ownership of a handle that the driver just returned in `context`.
    #[inline]
    pub(crate) fn new(raw: H, context: Near<'ctx, ContextRef>) -> Self {
        Self { raw, home: Keep::new(context) }
    }

    /// Same as `new`, with the context already kept.
    #[inline]
    pub(crate) const fn kept(raw: H, home: Keep<'ctx, ContextRef>) -> Self {
        Self { raw, home }
    }

    #[inline]
    pub(crate) const fn raw(&self) -> H {
        self.raw
    }

    /// The handle, for types that contain more than the freed handle.
    pub(crate) fn raw_mut(&mut self) -> &mut H {
        &mut self.raw
    }

    #[inline]
    pub(crate) fn context(&self) -> &ContextRef {
        &self.home
    }

    #[inline]
    pub(crate) fn near(&self) -> Near<'_, ContextRef> {
        self.home.near()
    }

    pub(crate) const fn home(&self) -> &Keep<'ctx, ContextRef> {
        &self.home
    }

    pub(crate) fn keep(&self) -> Keep<'ctx, ContextRef> {
        self.home.clone()
    }

    /// Releases ownership without freeing the handle.
    pub(crate) fn into_raw(self) -> H {
        self.dissolve().0
    }

    /// Frees the handle and returns the error that `Drop` would swallow.
    ///
    /// An error does not prove that the handle was not freed (the driver's documentation lets calls
    /// return errors of earlier work although they took effect). So it is not freed again; at worst
    /// it leaks.
    pub(crate) fn close(self) -> Result<(), Error> {
        let freed = self.free();
        drop(self.dissolve());
        freed
    }

    /// Frees the handle. Unlike `close`, fails if the free is uncertain, as during a shutdown.
    pub(crate) fn end(self) -> Result<(), Error> {
        let freed = self.free_once();
        drop(self.dissolve());
        freed
    }

    /// Takes the fields out, without the `Drop` of the whole.
    fn dissolve(self) -> (H, Keep<'ctx, ContextRef>) {
        let this = ManuallyDrop::new(self);
        // SAFETY: the field is read once, from a value that is not dropped.
        (this.raw, unsafe { ptr::read(&raw const this.home) })
    }

    /// Frees the handle. Succeeds if the driver is shutting down and has freed everything.
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
            // SAFETY: both callers give up the value, so the handle is live and not used again.
            let answer = unsafe { raw.free(context.library().fns()) };
            Error::check(context.library(), answer).or_else(|error| Self::not_freed(context, raw, error))
        })
    }

    /// Frees the handle in a program with captures.
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

    /// Frees the handle if a capture prevented the first attempt: one by other code, or one that
    /// the thread could not be exempted from. The driver refuses such a call before any effect
    /// (H100, driver 580: `tests/data/goldens/captures.txt`).
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
        // SAFETY: as in `free_once`, for a handle that was not freed there.
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

debug!([H: Handle + fmt::Debug] Held<'_, H>: |this, f| write!(f, "{}({:?})", H::NAME, this.raw));

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

/// Makes `context`, which the caller keeps, current. Like `restore`, it is not inlined in the
/// dozens of instances of `activated`.
#[inline]
fn activate(context: &ContextRef) -> Result<(), Error> {
    // SAFETY: the handle is live, because the caller keeps the context.
    unsafe { context_call!(context, cuCtxPushCurrent_v2(context.as_raw())) }
}

/// After a failed push or pop, the current context is unknown.
#[cold]
#[inline(never)]
fn uncertain(context: &ContextRef, error: Error) -> Error {
    stack::is_uncertain(context.library(), context.as_raw());
    error
}

/// Restores the context that was current before `activate`.
///
/// An error is swallowed, because it must not be mistaken for an error of the completed work. The
/// tokens of this thread detect it at their next use.
#[inline]
fn restore(context: &ContextRef) {
    let mut popped = CUcontext::null();
    // SAFETY: the out-parameter outlives the call; the context that `activate` pushed is on top.
    if let Err(error) = unsafe { context_call!(context, cuCtxPopCurrent_v2(&raw mut popped)) } {
        context.swallow(uncertain(context, error));
    }
}
