//! How everything made in a context is freed: on any thread, with the caller's current context kept.

use std::mem::ManuallyDrop;

use cuprum_sys::{CUcontext, CUresult, FnId};

use super::{ContextRef, stack};
use crate::error::{Error, context_call, forked};

/// A value that owns something in a context and frees it when it is closed or dropped.
pub(crate) trait Owned: Sized {
    /// The context in which it was made.
    fn home(&self) -> &ContextRef;

    /// Whether there is anything to free.
    fn owns(&self) -> bool {
        true
    }

    /// The driver call that frees it.
    ///
    /// # Safety
    /// The thing owned is live, and is not used after this unless the call fails.
    unsafe fn free(&self) -> (CUresult, FnId);
}

/// Frees what `owner` owns; gives it back if that failed.
pub(crate) fn close<O: Owned>(owner: O) -> Result<(), (Error, O)> {
    let owner = ManuallyDrop::new(owner);
    free(&*owner).map_err(|error| (error, ManuallyDrop::into_inner(owner)))
}

/// Frees what `owner` owns; an error is counted and told to the hook, nothing else.
///
/// In a forked child nothing is done: the objects are the parent's.
pub(crate) fn drop<O: Owned>(owner: &mut O) {
    match free(owner) {
        Err(error) if !error.is_forked() => owner.home().swallow(error),
        _ => {}
    }
}

/// One driver call where the owner's context is current through this crate's token, three otherwise.
///
/// A driver that is shutting down has freed everything: that is success.
fn free<O: Owned>(owner: &O) -> Result<(), Error> {
    if !owner.owns() {
        return Ok(());
    }
    let context = owner.home();
    if context.library().forked() {
        return Err(forked(FnId::cuCtxPushCurrent_v2));
    }
    match activated(context, || {
        // SAFETY: both callers take the owner, so the thing is live and nobody uses it again.
        let answer = unsafe { owner.free() };
        Error::check(context.library(), answer)
    }) {
        Err(error) if !error.is_deinitialized() => Err(context.record(error)),
        _ => Ok(()),
    }
}

/// Runs `body` with `context` current, and puts back what was current before.
///
/// A failure to put it back is swallowed: it must not be taken for one of `body`, whose work is done. The tokens of
/// this thread notice it when they are used next.
pub(crate) fn activated<R>(
    context: &ContextRef,
    body: impl FnOnce() -> Result<R, Error>,
) -> Result<R, Error> {
    if stack::is_current(context) {
        return body();
    }
    // SAFETY: the handle is live: whoever calls this holds a borrow of the context.
    unsafe { context_call!(context, cuCtxPushCurrent_v2(context.as_raw())) }?;
    let result = body();
    let mut popped = CUcontext::null();
    // SAFETY: the out-parameter outlives the call; the context pushed above is on top.
    if let Err(error) = unsafe { context_call!(context, cuCtxPopCurrent_v2(&raw mut popped)) } {
        stack::lose_track();
        context.swallow(error);
    }
    result
}
