//! This crate's record of the calling thread's stack of contexts.
//!
//! Types enforce most of the order: a push borrows the token below mutably, so the lower token can
//! be neither used nor dropped before the upper one. Types cannot detect a forgotten token, a
//! failed call, or other code. So each token knows its height, the thread's record knows the number
//! of pushed contexts and the context on top, and each use compares the two. A launch needs no
//! more.
//!
//! If they differ, or the record does not contain the context on top, [`repair`] queries the driver
//! and pops the contexts of forgotten tokens. A push or pop that failed may have taken effect. Then
//! the record contains the context in question, and the next use of a token determines whether it
//! is on top. If the token has the same context, the two cases look alike; the doubt moves down
//! when the token is popped. The first push onto a stack without tokens begins without doubt.
//!
//! [`enter`] begins a separate stack above a floor, out of reach of the tokens outside. A context
//! that is already current counts as the lowest one inside, and stays when all contexts above it
//! are popped.

use cuprum_sys::{CUcontext, CUresult, FnId, Library, call};

use super::ContextRef;
use super::doubt::{Doubt, MANY};
use super::record::{Record, THREAD, Thread};
use crate::error::Error;
use crate::raw::call::driver_call;

/// Takes or releases the thread's stack. Returns whether it was taken before.
pub(super) fn take(taken: bool) -> bool {
    THREAD.with(|thread| thread.taken.replace(taken))
}

/// True if the calling code runs inside [`enter`], and must not use the stack of the code outside.
pub(super) fn is_entered() -> bool {
    THREAD.with(|thread| thread.floor.get() != 0)
}

pub(super) fn attach(attached: bool) {
    THREAD.with(|thread| thread.attached.set(attached));
}

/// True if the record has `context` as current and the thread is attached.
#[inline]
pub(super) fn is_attached(context: &ContextRef) -> bool {
    THREAD.with(|thread| thread.attached.get()) && is_current(context) && !context.library().forked()
}

/// True if `context` is current on this thread, according to this crate's tokens.
#[inline]
pub(crate) fn is_current(context: &ContextRef) -> bool {
    THREAD.with(|thread| thread.top.get() == context.as_raw() && thread.is_of(context.library()))
}

/// Records that a push or pop of `context` failed, so that it may or may not be on top of this
/// thread's stack. A null handle stands for an unknown context.
#[cold]
pub(crate) fn is_uncertain(library: Library, context: CUcontext) {
    THREAD.with(|thread| {
        if thread.is_of(library) {
            thread.doubt(context);
        } else if thread.floor.get() != 0 {
            thread.doubt_elsewhere(Doubt::one(context, 0));
        }
    });
}

/// True if `context` is on top of this thread's stack without a token in use, left by a forgotten
/// token or a failed pop. Destroying it then pops it.
///
/// Queries the driver only if that is possible.
#[cold]
pub(super) fn is_left_on_top(context: &ContextRef) -> Result<bool, Error> {
    THREAD.with(|thread| {
        if thread.height.get() == 0 || !thread.is_of(context.library()) {
            return Ok(false);
        }
        let known = Some(thread.top.get()).filter(|top| !top.is_null());
        let top = known.map_or_else(|| current(context.library()), Ok)?;
        Ok(top == context.as_raw())
    })
}

/// Records that the context on top of this thread's stack was destroyed, and so popped.
#[cold]
pub(super) fn forget_top(context: CUcontext) {
    THREAD.with(|thread| {
        let (doubt, height) = (thread.doubt.get(), thread.height.get());
        let is_doubtful = doubt.context == context || doubt.context.is_null();
        match doubt.from {
            // The context may have no token: keep the height, so that no token below is mistaken
            // for one above.
            MANY => {}
            from if is_doubtful && from == height.saturating_add(1) => {
                // The token below may be a forgotten one of the same context, popped instead.
                thread.doubt.set(if doubt.is_apart { Doubt::NONE } else { Doubt { from: MANY, ..doubt } });
            }
            _ => thread.descend_to(height.saturating_sub(1)),
        }
        thread.lose_track();
    });
}

/// Pushes `context` onto a stack of `height` contexts with `below` on top.
#[inline]
pub(super) fn push(context: &ContextRef, height: u32, below: CUcontext) -> Result<(), Error> {
    let library = context.library();
    in_order(height, below, library)?;
    // SAFETY: the handle is live, because the caller keeps the context.
    match unsafe { driver_call!(library, cuCtxPushCurrent_v2(context.as_raw())) } {
        Ok(()) => {
            THREAD.with(|thread| {
                if height == 0 {
                    thread.library.set(Some(library));
                }
                thread.height.set(height + 1);
                thread.top.set(context.as_raw());
            });
            Ok(())
        }
        Err(error) => Err(push_failed(context, error)),
    }
}

#[cold]
#[inline(never)]
fn push_failed(context: &ContextRef, error: Error) -> Error {
    is_uncertain(context.library(), context.as_raw());
    context.record(error)
}

/// An unusual pop: the driver's answer, which may be success with another context, or none.
pub(super) struct Unusual(Option<CUresult>);

/// Pops the token of `height`, under which `below` was current, in the usual case. Otherwise
/// [`finish_pop`] continues. This function is small, so that it is inlined at each drop of a token.
#[inline]
pub(super) fn pop(context: &ContextRef, height: u32, below: CUcontext) -> Result<(), Unusual> {
    let (library, raw) = (context.library(), context.as_raw());
    THREAD.with(|thread| {
        let is_known = thread.top.get() == raw && thread.doubt.get().spares(height - 1);
        if thread.height.get() != height || !is_known || library.forked() {
            return Err(Unusual(None));
        }
        let mut popped = CUcontext::null();
        // SAFETY: the out-parameter outlives the call.
        let (answer, _) = unsafe { call!(library.fns(), cuCtxPopCurrent_v2(&raw mut popped)) };
        if answer != CUresult::CUDA_SUCCESS || popped != raw {
            return Err(Unusual(Some(answer)));
        }
        thread.height.set(height - 1);
        thread.top.set(below);
        Ok(())
    })
}

/// Completes an unusual pop: repairs the stack before it, or records the doubt after it.
#[cold]
#[inline(never)]
pub(super) fn finish_pop(
    context: &ContextRef,
    height: u32,
    below: CUcontext,
    Unusual(answer): Unusual,
) -> Result<(), Error> {
    let library = context.library();
    let answer = match answer {
        None => pop_slowly(context, height)?,
        Some(answer) => Error::check(library, (answer, FnId::cuCtxPopCurrent_v2)).map(|()| false),
    };
    THREAD.with(|thread| {
        // Also after an error.
        thread.descend_to(height - 1);
        let doubt = thread.doubt.get();
        match answer {
            Ok(true) if doubt.spares(height - 1) => thread.top.set(below),
            Ok(true) => thread.lower_doubt(below),
            Ok(false) => thread.lose_track(),
            // The context below is known, unless there was already a doubt.
            Err(_) => thread.top.set(if doubt.is_some() { CUcontext::null() } else { below }),
        }
    });
    match answer {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::out_of_order(FnId::cuCtxPopCurrent_v2)),
        Err(error) => {
            // The driver may disagree on the height.
            is_uncertain(library, context.as_raw());
            Err(context.record(error))
        }
    }
}

/// Repairs the stack and pops. The outer error is a failed repair, the inner one the driver's; true
/// if it popped `context`.
fn pop_slowly(context: &ContextRef, height: u32) -> Result<Result<bool, Error>, Error> {
    let library = context.library();
    in_order(height, context.as_raw(), library)?;
    let mut popped = CUcontext::null();
    // SAFETY: the out-parameter outlives the call.
    let answer = unsafe { driver_call!(library, cuCtxPopCurrent_v2(&raw mut popped)) };
    Ok(answer.map(|()| popped == context.as_raw()))
}

/// Checks that the stack has `height` contexts with `top` on top, and repairs it if necessary.
#[inline]
pub(crate) fn in_order(height: u32, top: CUcontext, library: Library) -> Result<(), Error> {
    // The height alone is not enough: a repair may have found another context on top.
    let (found, on_top) = THREAD.with(|thread| (thread.height.get(), thread.top.get()));
    if found == height && on_top == top { Ok(()) } else { repair(height, top, library) }
}

/// Returns the driver's current context. Some drivers report a destroyed context as an error.
fn current(library: Library) -> Result<CUcontext, Error> {
    let mut current = CUcontext::null();
    // SAFETY: the out-parameter outlives the call.
    match unsafe { driver_call!(library, cuCtxGetCurrent(&raw mut current)) } {
        Err(error) if !is_destroyed(error) => Err(error),
        _ => Ok(current),
    }
}

fn is_destroyed(error: Error) -> bool {
    error.code() == CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
}

/// Pops the context on top. The driver reports an error for a destroyed context but pops it.
fn pop_any(library: Library) -> Result<(), Error> {
    let mut popped = CUcontext::null();
    // SAFETY: the out-parameter outlives the call.
    match unsafe { driver_call!(library, cuCtxPopCurrent_v2(&raw mut popped)) } {
        Err(error) if !is_destroyed(error) => Err(error),
        _ => Ok(()),
    }
}

/// Pops the contexts that forgotten tokens and failed calls left above `height`. This is safe,
/// because no code can use them any more.
///
/// After an error the record contains the popped contexts, so that the next use continues there.
#[cold]
#[inline(never)]
fn repair(height: u32, top: CUcontext, library: Library) -> Result<(), Error> {
    let out_of_order = Err(Error::out_of_order(FnId::cuCtxGetCurrent));
    THREAD.with(|thread| {
        if height < thread.floor.get() || thread.height.get() < height {
            return out_of_order;
        }
        // Repairs the stack of the driver whose tokens are on it.
        let library = match thread.library.get() {
            Some(tracked) if thread.height.get() != 0 => tracked,
            _ => library,
        };
        thread.lose_track();
        // Without a token, no context is mistaken for another. Extra contexts stay on the stack.
        let stay = || height == 0 && thread.doubt.get().from == MANY;
        while thread.height.get() > height && !stay() {
            pop_forgotten(thread, library)?;
        }
        if height == 0 {
            thread.set_record(Record::EMPTY);
            return Ok(());
        }
        dispel_doubt(thread, top, library)?;
        if current(library)? != top {
            return out_of_order;
        }
        // While there is doubt, the next use must check again.
        if thread.doubt.get().spares(height) {
            thread.top.set(top);
        }
        Ok(())
    })
}

/// Pops the context on top, of a forgotten token or left by a failed call. In case of doubt, the
/// stack may afterwards contain one context more than the record counts, at an unknown height.
fn pop_forgotten(thread: &Thread, library: Library) -> Result<(), Error> {
    let (height, doubt) = (thread.height.get() - 1, thread.doubt.get());
    let before = current(library)?;
    if doubt.from == MANY {
        return Err(Error::out_of_order(FnId::cuCtxGetCurrent));
    }
    if doubt.from > height + 1 {
        let is_there = before == doubt.context || doubt.context.is_null();
        thread.doubt.set(if is_there { Doubt::one(CUcontext::null(), height) } else { Doubt::NONE });
    }
    thread.descend_to(height);
    // The same doubt remains as after any failed pop.
    pop_any(library).inspect_err(|_| thread.doubt(before))
}

/// Determines whether a context that a failed call may have left is on top, and pops it.
///
/// If `expected`, the context of the token to be used, is the same context, both cases are fine,
/// and the doubt remains until that token is popped.
fn dispel_doubt(thread: &Thread, expected: CUcontext, library: Library) -> Result<(), Error> {
    let Doubt { from, context: left, .. } = thread.doubt.get();
    let height = thread.height.get();
    match from {
        MANY => return Err(Error::out_of_order(FnId::cuCtxGetCurrent)),
        // The doubt about the context below a token waits until that token is popped.
        _ if from <= height => return Ok(()),
        _ => {}
    }
    let current = current(library)?;
    let is_there = current == left || left.is_null();
    if current == expected {
        thread.doubt.set(if is_there { Doubt::one(expected, height) } else { Doubt::NONE });
        return Ok(());
    }
    thread.doubt.set(Doubt::NONE);
    if is_there {
        pop_any(library).inspect_err(|_| thread.doubt.set(Doubt::one(left, height)))?;
    }
    Ok(())
}

/// True if the driver reports `context` as current. No query if another one was left current.
#[inline]
pub(super) fn is_found_current(context: &ContextRef) -> Result<bool, Error> {
    let (library, raw) = (context.library(), context.as_raw());
    let is_another_on_top = THREAD.with(|thread| {
        let top = thread.top.get();
        !top.is_null() && top != raw && thread.is_of(library)
    });
    if is_another_on_top {
        return Ok(false);
    }
    let mut found = CUcontext::null();
    // SAFETY: the out-parameter outlives the call.
    match unsafe { driver_call!(library, cuCtxGetCurrent(&raw mut found)) } {
        Ok(()) => Ok(found == raw),
        // It is a different context, because the caller keeps this one.
        Err(error) if is_destroyed(error) => Ok(false),
        Err(error) => Err(context.record(error)),
    }
}

/// The record of the code outside of an [`enter`], restored when it ends.
pub(super) struct Outside {
    record: Record,
    library: Library,
    /// The height inside, without the contexts pushed there.
    base: u32,
}

/// Begins a separate stack above all contexts on the stack; `top` is the one on top, or null.
/// Returns its height: at least the height of a token of `top`.
pub(super) fn enter(library: Library, top: CUcontext) -> (Outside, u32) {
    THREAD.with(|thread| {
        let record = thread.record();
        // A height that neither tokens outside nor `ContextStack`, which pushes at 0, can have.
        let below = record.height.max(record.floor);
        // A context that is already current counts as one more, and is not popped.
        let base = below + u32::from(!top.is_null());
        let inside = Record { height: base, floor: below + 1, top, library: Some(library), ..Record::EMPTY };
        thread.set_record(inside);
        (Outside { record, library, base }, base)
    })
}

impl Drop for Outside {
    fn drop(&mut self) {
        THREAD.with(|thread| {
            let inside = thread.record();
            thread.set_record(self.record);
            // `thread` contains the record of the outer code again.
            if self.record.height == 0 || thread.is_of(self.library) {
                self.take_over(thread, inside);
            } else {
                if inside.height != self.base {
                    thread.doubt_elsewhere(Doubt { from: MANY, ..Doubt::NONE });
                }
                thread.doubt_elsewhere(inside.doubt);
                let elsewhere = thread.elsewhere.get();
                match elsewhere.from {
                    0 => {}
                    MANY => thread.add_doubt(elsewhere),
                    _ => thread.doubt(elsewhere.context),
                }
            }
            if self.record.floor == 0 {
                thread.elsewhere.set(Doubt::NONE);
            }
        });
    }
}

impl Outside {
    /// Contexts that could not be popped inside stay on top of the stack, like forgotten tokens.
    fn take_over(&self, thread: &Thread, inside: Record) {
        let base = self.base;
        if inside.height == base && !inside.doubt.is_some() {
            return;
        }
        let outside = self.record.height;
        let moved = |height: u32| (outside + height).saturating_sub(base);
        thread.lose_track();
        thread.library.set(Some(self.library));
        thread.height.set(moved(inside.height));
        let from = inside.doubt.from;
        let from = if matches!(from, 0 | MANY) { from } else { moved(from) };
        let doubt = Doubt { from, ..inside.doubt };
        thread.add_doubt(if inside.height == base { doubt.on(self.record.top) } else { doubt });
    }
}
