//! What this crate knows of the calling thread's stack of contexts.
//!
//! Types do most of it: a push borrows the token below it mutably, so the lower one can be neither used nor dropped
//! before the upper one. What they cannot see is a token that was forgotten, a call that failed, and other code. So
//! each token knows its height, the thread's record knows how many pushes are outstanding and what is on top, and a
//! use compares the two: that is all there is on the way to a launch.
//!
//! Where they differ, or the record does not say what is on top, [`repair`] asks the driver. What forgotten tokens
//! left is popped. A push or pop that failed may have been done all the same; then the record holds the context in
//! question, and whether it is still on top is found out when a token is used next.

use std::cell::Cell;

use cuprum_sys::{CUcontext, CUresult, FnId, Library};

use super::ContextRef;
use crate::error::Error;
use crate::raw::call::driver_call;

/// A context that may or may not be on the stack beyond what the record counts, as a push or pop of it failed.
#[derive(Clone, Copy)]
struct Doubt {
    /// The least height above which all is known: one more than the height right above which it may lie, 0 without
    /// doubt, and `MANY` where several lie who knows where.
    from: u32,
    /// Which one; null where that is not known.
    context: CUcontext,
}

/// No height is above so many doubts.
const MANY: u32 = u32::MAX;

impl Doubt {
    const NONE: Self = Self { from: 0, context: CUcontext::null() };

    fn one(context: CUcontext, above: u32) -> Self {
        Self { from: above.saturating_add(1), context }
    }

    fn is_some(self) -> bool {
        self.from != 0
    }

    /// Whether what lies right above this height is known.
    #[inline]
    fn spares(self, height: u32) -> bool {
        self.from <= height
    }
}

/// What is known of a thread: plain values, so that nothing has to be dropped when the thread ends.
#[derive(Clone, Copy)]
struct Record {
    /// Pushes of tokens that were not popped.
    height: u32,
    /// The least height that may be used: tokens below it belong to code outside of [`enter`].
    floor: u32,
    /// The context that this crate left current, null where that is not known.
    top: CUcontext,
    doubt: Doubt,
    /// The driver whose stack this is; none as long as there are no tokens.
    library: Option<Library>,
}

impl Record {
    const EMPTY: Self =
        Self { height: 0, floor: 0, top: CUcontext::null(), doubt: Doubt::NONE, library: None };
}

struct Thread {
    /// Whether the thread's one [`ContextStack`](super::ContextStack) is out.
    taken: Cell<bool>,
    height: Cell<u32>,
    top: Cell<CUcontext>,
    floor: Cell<u32>,
    doubt: Cell<Doubt>,
    library: Cell<Option<Library>>,
}

thread_local! {
    static THREAD: Thread = const {
        Thread {
            taken: Cell::new(false),
            height: Cell::new(0),
            top: Cell::new(CUcontext::null()),
            floor: Cell::new(0),
            doubt: Cell::new(Doubt::NONE),
            library: Cell::new(None),
        }
    };
}

impl Thread {
    fn record(&self) -> Record {
        Record {
            height: self.height.get(),
            floor: self.floor.get(),
            top: self.top.get(),
            doubt: self.doubt.get(),
            library: self.library.get(),
        }
    }

    fn set_record(&self, record: Record) {
        self.height.set(record.height);
        self.floor.set(record.floor);
        self.top.set(record.top);
        self.doubt.set(record.doubt);
        self.library.set(record.library);
    }

    fn lose_track(&self) {
        self.top.set(CUcontext::null());
    }

    fn doubt(&self, context: CUcontext) {
        self.lose_track();
        // Below the first token is what other code left, of which nothing is known: it is not touched.
        if self.height.get() != 0 {
            let second = self.doubt.get().is_some();
            let one = Doubt::one(context, self.height.get());
            self.doubt.set(if second { Doubt { from: MANY, ..one } } else { one });
        }
    }
}

/// Takes or gives back the thread's one stack; answers whether it was out before.
pub(super) fn take(taken: bool) -> bool {
    THREAD.with(|thread| thread.taken.replace(taken))
}

/// Whether the calling code runs inside of [`enter`], and has no right to the stack of those outside.
pub(super) fn is_entered() -> bool {
    THREAD.with(|thread| thread.floor.get() != 0)
}

/// Whether `context` is current on this thread, as far as this crate's tokens say.
#[inline]
pub(crate) fn is_current(context: &ContextRef) -> bool {
    THREAD.with(|thread| {
        thread.top.get() == context.as_raw() && thread.library.get() == Some(context.library())
    })
}

/// Records that a push or pop of `context` failed, so that nobody knows whether it is on top of this thread's stack.
/// A null handle stands for one that the driver did not tell.
#[cold]
pub(crate) fn is_uncertain(library: Library, context: CUcontext) {
    THREAD.with(|thread| {
        if thread.library.get() == Some(library) {
            thread.doubt(context);
        }
    });
}

/// Whether `context` is on top of this thread's stack without a token that is in use: a forgotten one left it, or a
/// pop that failed. From there destroying it pops it.
///
/// The driver is asked only where there may be such.
#[cold]
pub(super) fn is_left_on_top(context: &ContextRef) -> bool {
    THREAD.with(|thread| {
        if thread.height.get() == 0 || thread.library.get() != Some(context.library()) {
            return false;
        }
        let mut top = thread.top.get();
        if top.is_null() {
            // SAFETY: the out-parameter outlives the call.
            let _ = unsafe { driver_call!(context.library(), cuCtxGetCurrent(&raw mut top)) };
        }
        top == context.as_raw()
    })
}

/// Records that the context on top of this thread's stack was destroyed and so popped.
#[cold]
pub(super) fn forget_top(context: CUcontext) {
    THREAD.with(|thread| {
        let (doubt, height) = (thread.doubt.get(), thread.height.get());
        if doubt.context == context && doubt.from == height.saturating_add(1) {
            thread.doubt.set(Doubt::NONE);
        } else {
            thread.height.set(height.saturating_sub(1));
        }
        thread.lose_track();
    });
}

/// Pushes `context` onto a stack that should be `height` high with `below` on top. Answers the new height.
#[inline]
pub(super) fn push(context: &ContextRef, height: u32, below: CUcontext) -> Result<u32, Error> {
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
            Ok(height + 1)
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

/// Pops the token of `height`, under which `below` was current.
#[inline]
pub(super) fn pop(context: &ContextRef, height: u32, below: CUcontext) -> Result<(), Error> {
    let library = context.library();
    in_order(height, context.as_raw(), library)?;
    THREAD.with(|thread| {
        thread.height.set(height - 1);
        thread.top.set(CUcontext::null());
    });
    let mut popped = CUcontext::null();
    // SAFETY: the out-parameter outlives the call.
    match unsafe { driver_call!(library, cuCtxPopCurrent_v2(&raw mut popped)) } {
        Ok(()) if popped == context.as_raw() => {
            THREAD.with(|thread| {
                if thread.doubt.get().spares(height - 1) {
                    thread.top.set(below);
                }
            });
            Ok(())
        }
        answer => Err(pop_failed(context, answer)),
    }
}

/// The height is one less already; whether the driver agrees is in doubt, unless it popped something else.
#[cold]
#[inline(never)]
fn pop_failed(context: &ContextRef, answer: Result<(), Error>) -> Error {
    match answer {
        Ok(()) => Error::out_of_order(FnId::cuCtxPopCurrent_v2),
        Err(error) => {
            is_uncertain(context.library(), context.as_raw());
            context.record(error)
        }
    }
}

/// Checks that the stack is `height` high with `top` on top; puts it right if a token was forgotten above.
#[inline]
pub(crate) fn in_order(height: u32, top: CUcontext, library: Library) -> Result<(), Error> {
    // The height alone would not do: it is right also after a repair that found another context on top.
    let (found, on_top) = THREAD.with(|thread| (thread.height.get(), thread.top.get()));
    if found == height && on_top == top { Ok(()) } else { repair(height, top, library) }
}

/// What is current, as the driver says. A destroyed context may be there still, which some drivers report so.
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

/// Pops what is on top. A context that was destroyed is reported as such and is popped all the same.
fn pop_any(library: Library) -> Result<(), Error> {
    let mut popped = CUcontext::null();
    // SAFETY: the out-parameter outlives the call.
    match unsafe { driver_call!(library, cuCtxPopCurrent_v2(&raw mut popped)) } {
        Err(error) if !is_destroyed(error) => Err(error),
        _ => Ok(()),
    }
}

/// Pops what forgotten tokens and failed calls left above `height`, which is safe: nobody can use it any more.
///
/// After an error the record still says what was popped and what not, so that the next use goes on from there.
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
        loop {
            let found = thread.height.get();
            let expected = if found == height { top } else { CUcontext::null() };
            if found > 0 {
                dispel_doubt(thread, expected, library)?;
            }
            if found == height {
                break;
            }
            let before = current(library)?;
            let popped = pop_any(library);
            thread.height.set(found - 1);
            // The same doubt remains as after any pop that fails.
            popped.inspect_err(|_| thread.doubt(before))?;
        }
        if height == 0 {
            thread.doubt.set(Doubt::NONE);
            return Ok(());
        }
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

/// Finds out whether a context that a failed call may have left is on top, and pops it.
///
/// Where the token that is about to be used, `expected`, is of the same context, either answer serves it, and the doubt
/// stays until that token was popped.
fn dispel_doubt(thread: &Thread, expected: CUcontext, library: Library) -> Result<(), Error> {
    let Doubt { from, context: left } = thread.doubt.get();
    match from {
        0 => return Ok(()),
        MANY => return Err(Error::out_of_order(FnId::cuCtxGetCurrent)),
        // What is below a token has to wait until that was popped.
        _ if from <= thread.height.get() => return Ok(()),
        _ => {}
    }
    let current = current(library)?;
    if current == expected {
        if left != expected {
            thread.doubt.set(Doubt::NONE);
        }
        return Ok(());
    }
    thread.doubt.set(Doubt::NONE);
    if current == left || left.is_null() {
        if let Err(error) = pop_any(library) {
            thread.doubt.set(Doubt::one(left, thread.height.get()));
            return Err(error);
        }
    }
    Ok(())
}

/// The part of a thread's record that belongs to code outside of an [`enter`], put back when it ends.
pub(super) struct Outside {
    record: Record,
    library: Library,
}

/// Begins a stack of its own on top of whatever is there. Answers the height that its first token is pushed on.
pub(super) fn enter(library: Library) -> (Outside, u32) {
    THREAD.with(|thread| {
        let record = thread.record();
        // One that tokens outside can never have, nor `ContextStack`, which pushes at 0.
        let height = record.height.max(record.floor);
        thread.set_record(Record { height, floor: height + 1, library: Some(library), ..Record::EMPTY });
        (Outside { record, library }, height)
    })
}

impl Drop for Outside {
    fn drop(&mut self) {
        THREAD.with(|thread| {
            let inside = thread.record();
            thread.set_record(self.record);
            // What could not be popped inside lies on top of what is outside, if that is the same driver's.
            let left = inside.height >= inside.floor || inside.doubt.is_some();
            if left && self.record.library == Some(self.library) {
                let is_one = inside.height < inside.floor && inside.doubt.from != MANY;
                thread.doubt(if is_one { inside.doubt.context } else { CUcontext::null() });
            }
        });
    }
}
