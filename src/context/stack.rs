//! This crate's record of the calling thread's stack of contexts.
//!
//! Types do most of it: a push borrows the token below it mutably, so the lower one can be neither used nor dropped
//! before the upper one. They cannot see a token that was forgotten, a call that failed, and other code. So
//! each token knows its height, the thread's record knows how many pushes are outstanding and which context is on top,
//! and a use compares the two: a launch needs no more.
//!
//! If they differ, or the record does not say which context is on top, [`repair`] asks the driver. Contexts that
//! forgotten tokens left are popped. A push or pop that failed may have been done all the same; then the record holds
//! the context in question, and whether it is still on top is found out when a token is used next. Where a token is of
//! the same context, that cannot be told apart: then the doubt goes down with the token when it is popped. The first push
//! of a stack, for which no token is left, begins without doubt.
//!
//! [`enter`] begins a stack of its own above a floor, which tokens outside do not reach. If its context is current already,
//! that counts as the lowest one inside, and stays when all above it is popped.

use cuprum_sys::{CUcontext, CUresult, FnId, Library, call};

use super::ContextRef;
use super::doubt::{Doubt, MANY};
use super::record::{Record, THREAD, Thread};
use crate::error::Error;
use crate::raw::call::driver_call;

/// Takes or gives back the thread's one stack; returns whether it was out before.
pub(super) fn take(taken: bool) -> bool {
    THREAD.with(|thread| thread.taken.replace(taken))
}

/// True if the calling code runs inside of [`enter`], and must not use the stack of the code outside.
pub(super) fn is_entered() -> bool {
    THREAD.with(|thread| thread.floor.get() != 0)
}

/// Records whether the thread is attached to a context.
pub(super) fn attach(attached: bool) {
    THREAD.with(|thread| thread.attached.set(attached));
}

/// True if `context` is current on this thread by its record, and the thread is attached, so that other code leaves it so.
#[inline]
pub(super) fn is_attached(context: &ContextRef) -> bool {
    THREAD.with(|thread| thread.attached.get()) && is_current(context) && !context.library().forked()
}

/// True if `context` is current on this thread, as far as this crate's tokens say.
#[inline]
pub(crate) fn is_current(context: &ContextRef) -> bool {
    THREAD.with(|thread| thread.top.get() == context.as_raw() && thread.is_of(context.library()))
}

/// Records that a push or pop of `context` failed, so that nobody knows whether it is on top of this thread's stack.
/// A null handle stands for one that the driver did not tell.
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

/// True if `context` is on top of this thread's stack without a token in use: a forgotten token left it, or a failed
/// pop. Destroying it then pops it.
///
/// The driver is asked only if that is possible.
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

/// Records that the context on top of this thread's stack was destroyed and so popped.
#[cold]
pub(super) fn forget_top(context: CUcontext) {
    THREAD.with(|thread| {
        let (doubt, height) = (thread.doubt.get(), thread.height.get());
        let is_doubtful = doubt.context == context || doubt.context.is_null();
        match doubt.from {
            // It may be no token's: the height stays, so that none below is taken for one above.
            MANY => {}
            from if is_doubtful && from == height.saturating_add(1) => {
                // The token below may be one of the same context that was forgotten, and popped instead.
                thread.doubt.set(if doubt.is_apart { Doubt::NONE } else { Doubt { from: MANY, ..doubt } });
            }
            _ => thread.descend_to(height.saturating_sub(1)),
        }
        thread.lose_track();
    });
}

/// Pushes `context` onto a stack that should be `height` high with `below` on top: it is one higher then.
#[inline]
pub(super) fn push(context: &ContextRef, height: u32, below: CUcontext) -> Result<(), Error> {
    let library = context.library();
    in_order(height, below, library)?;
    // SAFETY: the handle is live: the caller keeps the context.
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

/// A pop that was not as usual: the driver's answer, which may be success with another context, or none if it was not called.
pub(super) struct Unusual(Option<CUresult>);

/// Pops the token of `height`, under which `below` was current, if all is as usual. Otherwise [`finish_pop`] goes on, so that
/// this is small enough to be inlined wherever a token is dropped.
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

/// Goes on with such a pop: puts the stack right before it, or takes down what is in doubt after it.
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
            // The context below is known, unless there was a doubt before.
            Err(_) => thread.top.set(if doubt.is_some() { CUcontext::null() } else { below }),
        }
    });
    match answer {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::out_of_order(FnId::cuCtxPopCurrent_v2)),
        Err(error) => {
            // Does the driver agree on the height?
            is_uncertain(library, context.as_raw());
            Err(context.record(error))
        }
    }
}

/// Puts the stack right and pops: the outer error if it cannot be, the inner one of the driver's; true if it was the context.
fn pop_slowly(context: &ContextRef, height: u32) -> Result<Result<bool, Error>, Error> {
    let library = context.library();
    in_order(height, context.as_raw(), library)?;
    let mut popped = CUcontext::null();
    // SAFETY: the out-parameter outlives the call.
    let answer = unsafe { driver_call!(library, cuCtxPopCurrent_v2(&raw mut popped)) };
    Ok(answer.map(|()| popped == context.as_raw()))
}

/// Checks that the stack is `height` high with `top` on top; puts it right if a token was forgotten above.
#[inline]
pub(crate) fn in_order(height: u32, top: CUcontext, library: Library) -> Result<(), Error> {
    // The height alone would not do: it is right also after a repair that found another context on top.
    let (found, on_top) = THREAD.with(|thread| (thread.height.get(), thread.top.get()));
    if found == height && on_top == top { Ok(()) } else { repair(height, top, library) }
}

/// The current context according to the driver. It may be a destroyed one, which some drivers report as an error.
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

/// Pops the context on top. A context that was destroyed is reported as such and is popped all the same.
fn pop_any(library: Library) -> Result<(), Error> {
    let mut popped = CUcontext::null();
    // SAFETY: the out-parameter outlives the call.
    match unsafe { driver_call!(library, cuCtxPopCurrent_v2(&raw mut popped)) } {
        Err(error) if !is_destroyed(error) => Err(error),
        _ => Ok(()),
    }
}

/// Pops contexts that forgotten tokens and failed calls left above `height`, which is safe: nobody can use them any
/// more.
///
/// After an error the record still says which were popped, so that the next use goes on from there.
#[cold]
#[inline(never)]
fn repair(height: u32, top: CUcontext, library: Library) -> Result<(), Error> {
    let out_of_order = Err(Error::out_of_order(FnId::cuCtxGetCurrent));
    THREAD.with(|thread| {
        if height < thread.floor.get() || thread.height.get() < height {
            return out_of_order;
        }
        // The stack to put right is that of the driver whose tokens lie on it.
        let library = match thread.library.get() {
            Some(tracked) if thread.height.get() != 0 => tracked,
            _ => library,
        };
        thread.lose_track();
        // Without a token there is nothing that a context too many could be taken for: those that are left stay there.
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
        // As long as there is doubt, the next use has to look again.
        if thread.doubt.get().spares(height) {
            thread.top.set(top);
        }
        Ok(())
    })
}

/// Pops the token on top, which was forgotten, or the context that a failed call has left above it. If that is in
/// doubt, the stack may afterwards still hold one context more than the record counts, and it is not known which.
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
    // The same doubt remains as after any pop that fails.
    pop_any(library).inspect_err(|_| thread.doubt(before))
}

/// Finds out whether a context that a failed call may have left is on top, and pops it.
///
/// If the token that is about to be used, `expected`, is of the same context, either answer serves it, and the doubt
/// stays until that token was popped.
fn dispel_doubt(thread: &Thread, expected: CUcontext, library: Library) -> Result<(), Error> {
    let Doubt { from, context: left, .. } = thread.doubt.get();
    let height = thread.height.get();
    match from {
        MANY => return Err(Error::out_of_order(FnId::cuCtxGetCurrent)),
        // The doubt about what is below a token waits until that token was popped.
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

/// True if the driver says that `context` is current. It is not asked if this crate left another one current.
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
        // It is another one, since the caller keeps this one.
        Err(error) if is_destroyed(error) => Ok(false),
        Err(error) => Err(context.record(error)),
    }
}

/// The part of a thread's record that belongs to code outside of an [`enter`], put back when it ends.
pub(super) struct Outside {
    record: Record,
    library: Library,
    /// The height inside without the contexts that were pushed there.
    base: u32,
}

/// Begins a stack of its own on top of whatever is there, which is the context `top` unless that is null. Returns its height:
/// at least that of a token of `top`.
pub(super) fn enter(library: Library, top: CUcontext) -> (Outside, u32) {
    THREAD.with(|thread| {
        let record = thread.record();
        // A height that tokens outside can never have, nor `ContextStack`, which pushes at 0.
        let below = record.height.max(record.floor);
        // A context that was current counts as one more than those outside, and is not popped.
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
            // `thread` has the record of outside again.
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
    /// Contexts that could not be popped inside stay on top of those outside, like forgotten tokens.
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
