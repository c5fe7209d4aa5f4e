//! The thread's stack of current contexts, as a token that is pushed and popped in order.
//!
//! Types do most of it: a push borrows the token below it mutably, so the lower one can be neither used nor
//! dropped before the upper one. What they cannot see is a token that was forgotten. Each token therefore
//! knows its height, the thread knows how many pushes are outstanding, and a use compares the two.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{CUcontext, CUlimit, FnId};

use super::ContextRef;
use crate::driver::Driver;
use crate::error::{Error, context_call, driver_call};

/// What this crate knows of the calling thread.
struct Thread {
    /// Whether the thread's one [`ContextStack`] is out.
    taken: Cell<bool>,
    /// Pushes of this crate that were not popped.
    height: Cell<u32>,
    /// The context that this crate left current, null where that is not known.
    top: Cell<CUcontext>,
}

thread_local! {
    static THREAD: Thread =
        const { Thread { taken: Cell::new(false), height: Cell::new(0), top: Cell::new(CUcontext::null()) } };
}

impl Thread {
    fn set(&self, height: u32, top: CUcontext) {
        self.height.set(height);
        self.top.set(top);
    }
}

/// Whether `context` is current on this thread, as far as this crate's tokens say.
#[inline]
pub(crate) fn is_current(context: &ContextRef) -> bool {
    THREAD.with(|thread| thread.top.get() == context.raw)
}

/// Whether a forgotten token left `context` on top of this thread's stack, from where destroying it pops it.
///
/// The driver is asked only where a token was forgotten and the record does not tell.
pub(crate) fn is_left_on_top(context: &ContextRef) -> bool {
    THREAD.with(|thread| {
        if thread.height.get() == 0 {
            return false;
        }
        let mut top = thread.top.get();
        if top.is_null() {
            // SAFETY: the out-parameter outlives the call.
            let _ = unsafe { driver_call!(context.library(), cuCtxGetCurrent(&raw mut top)) };
        }
        top == context.raw
    })
}

/// Records that the context on top of this thread's stack was destroyed and so popped.
pub(crate) fn forget_top() {
    THREAD.with(|thread| thread.height.set(thread.height.get().saturating_sub(1)));
    lose_track();
}

/// Records that nobody knows which context is current on this thread: the next use of a token asks the driver.
pub(crate) fn lose_track() {
    THREAD.with(|thread| thread.top.set(CUcontext::null()));
}

/// This thread's context stack: the token from which contexts are pushed. There is one a thread.
///
/// It cannot be sent to another thread, and while one is out, the thread gets no second.
///
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// use cuprum::{ContextStack, PrimaryContext};
///
/// let context = PrimaryContext::retain(driver.device(0)?)?;
/// let mut stack = ContextStack::take()?;
/// let cx = stack.push(&context)?;
/// println!("{} bytes free", cx.memory_info()?.free);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ContextStack {
    _this_thread: PhantomData<*mut ()>,
}

/// The thread's [`ContextStack`] is out already: pass the token on, or push from the [`Current`] in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this thread's context stack is taken: push from the token that is in use")]
pub struct StackTaken;

impl ContextStack {
    /// Takes the calling thread's stack. No driver call.
    ///
    /// # Errors
    /// [`StackTaken`] while the thread's token is out, and for good after it was forgotten.
    pub fn take() -> Result<Self, StackTaken> {
        THREAD.with(|thread| {
            if thread.taken.replace(true) { Err(StackTaken) } else { Ok(Self { _this_thread: PhantomData }) }
        })
    }

    /// Makes `context` the thread's current context until the returned token is dropped.
    ///
    /// What was current before stays below and is current again afterwards.
    ///
    /// # Errors
    /// As the driver says; [`Error::is_forked`] in a forked child.
    ///
    /// Driver: `cuCtxPushCurrent_v2`, CUDA 4.0+.
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[inline]
    pub fn push<'s, 'ctx>(&'s mut self, context: &'ctx ContextRef) -> Result<Current<'s, 'ctx>, Error> {
        push(context, 0, CUcontext::null())
    }
}

impl Drop for ContextStack {
    fn drop(&mut self) {
        THREAD.with(|thread| thread.taken.set(false));
    }
}

impl fmt::Debug for ContextStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextStack").finish_non_exhaustive()
    }
}

/// Proof that a context is current on this thread. Every call that reads the current context takes it.
///
/// `'ctx` is the context's lifetime, which everything made in it carries; `'s` is the loan of the token below.
/// Dropping it pops the context.
///
/// Code behind this crate's back (a raw call, another library) can change the current context without this
/// token knowing; it must put back what it found.
pub struct Current<'s, 'ctx> {
    context: &'ctx ContextRef,
    /// The number of pushes outstanding while this token is on top.
    height: u32,
    below: CUcontext,
    _below: PhantomData<&'s mut ContextStack>,
    _this_thread: PhantomData<*mut ()>,
}

/// Pushes `context` onto a stack that should be `height` high with `below` on top.
///
/// Inlined like the pop, so that the token lives in registers: it is too large to be returned in them.
#[inline]
fn push<'s, 'ctx>(
    context: &'ctx ContextRef,
    height: u32,
    below: CUcontext,
) -> Result<Current<'s, 'ctx>, Error> {
    in_order(height, below, context.driver())?;
    // SAFETY: the handle is live for `'ctx`.
    unsafe { context_call!(context, cuCtxPushCurrent_v2(context.raw)) }?;
    THREAD.with(|thread| thread.set(height + 1, context.raw));
    Ok(Current { context, height: height + 1, below, _below: PhantomData, _this_thread: PhantomData })
}

/// Checks that the stack is `height` high; puts it right, with `top` on top, if a token was forgotten above.
#[inline]
fn in_order(height: u32, top: CUcontext, driver: Driver) -> Result<(), Error> {
    // The height alone would not do: it is right also after a repair that found another context on top.
    let (found, on_top) = THREAD.with(|thread| (thread.height.get(), thread.top.get()));
    if found == height && on_top == top { Ok(()) } else { repair(height, top, driver) }
}

/// Pops what forgotten tokens left above `height`, which is safe: nobody can use them any more.
#[cold]
#[inline(never)]
fn repair(height: u32, top: CUcontext, driver: Driver) -> Result<(), Error> {
    let library = driver.library();
    THREAD.with(|thread| {
        while thread.height.get() > height {
            let mut popped = CUcontext::null();
            // SAFETY: the out-parameter outlives the call.
            // A destroyed context is reported as such and is popped all the same.
            let _ = unsafe { driver_call!(library, cuCtxPopCurrent_v2(&raw mut popped)) };
            thread.height.set(thread.height.get() - 1);
        }
        thread.top.set(CUcontext::null());
        if thread.height.get() < height {
            return Err(Error::out_of_order(FnId::cuCtxGetCurrent));
        }
        if !top.is_null() {
            let mut current = CUcontext::null();
            // SAFETY: the out-parameter outlives the call.
            unsafe { driver_call!(library, cuCtxGetCurrent(&raw mut current)) }?;
            if current != top {
                return Err(Error::out_of_order(FnId::cuCtxGetCurrent));
            }
            thread.top.set(top);
        }
        Ok(())
    })
}

/// Free and total device memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that can be allocated, as far as the driver knows.
    pub free: usize,
    /// All bytes of the device.
    pub total: usize,
}

/// A limit of a context, by the driver's number.
pub type Limit = CUlimit;

impl<'ctx> Current<'_, 'ctx> {
    /// Makes another context current on top of this one. This token cannot be used or dropped before the new one.
    ///
    /// # Errors
    /// As [`ContextStack::push`]; [`Error::is_wrong_context`] for a context of another driver: the
    /// two stacks are not one.
    ///
    /// Driver: `cuCtxPushCurrent_v2`, CUDA 4.0+.
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[inline]
    pub fn push<'t, 'other>(&'t mut self, context: &'other ContextRef) -> Result<Current<'t, 'other>, Error> {
        if context.driver() != self.context.driver() {
            return Err(Error::wrong_context(FnId::cuCtxPushCurrent_v2));
        }
        push(context, self.height, self.context.raw)
    }

    /// Pops the context and reports what `Drop` would swallow.
    ///
    /// # Errors
    /// As the driver says; [`Error::is_out_of_order`] where another context than this one was on top.
    ///
    /// Driver: `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias = "cuCtxPopCurrent_v2")]
    #[inline]
    pub fn pop(self) -> Result<(), Error> {
        let popped = self.pop_in_place();
        std::mem::forget(self);
        popped
    }

    #[inline]
    fn pop_in_place(&self) -> Result<(), Error> {
        self.get()?;
        THREAD.with(|thread| thread.set(self.height - 1, CUcontext::null()));
        let mut popped = CUcontext::null();
        // SAFETY: the out-parameter outlives the call.
        unsafe { context_call!(self.context, cuCtxPopCurrent_v2(&raw mut popped)) }?;
        if popped != self.context.raw {
            return Err(Error::out_of_order(FnId::cuCtxPopCurrent_v2));
        }
        THREAD.with(|thread| thread.top.set(self.below));
        Ok(())
    }

    /// The context that is current.
    pub const fn context(&self) -> &'ctx ContextRef {
        self.context
    }

    /// The current context, for a call that reads it: an error if a token was forgotten above this one and
    /// the thread's stack cannot be put right.
    #[inline]
    pub(crate) fn get(&self) -> Result<&'ctx ContextRef, Error> {
        in_order(self.height, self.context.raw, self.context.driver())?;
        Ok(self.context)
    }

    /// The current context, if it is the one to which the object in hand belongs.
    #[inline]
    pub(crate) fn of(&self, owner: &ContextRef, call: FnId) -> Result<&'ctx ContextRef, Error> {
        let context = self.get()?;
        if context == owner { Ok(context) } else { Err(Error::wrong_context(call)) }
    }

    /// As `of`, for two objects.
    #[inline]
    pub(crate) fn of_both(&self, owners: [&ContextRef; 2], call: FnId) -> Result<&'ctx ContextRef, Error> {
        let context = self.get()?;
        let here = owners.iter().all(|owner| *owner == context);
        if here { Ok(context) } else { Err(Error::wrong_context(call)) }
    }

    /// Blocks the host until all work of the context is done, and reports what went wrong in it.
    ///
    /// # Errors
    /// The sticky errors of kernels that ran before, see [`Error::is_sticky`].
    ///
    /// Driver: `cuCtxSynchronize`, CUDA 2.0+.
    #[doc(alias = "cuCtxSynchronize")]
    pub fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: no arguments; it waits in the current context.
        unsafe { context_call!(self.get()?, cuCtxSynchronize()) }
    }

    /// Free and total memory of the current context's device, in bytes.
    ///
    /// # Errors
    /// As the driver says.
    ///
    /// Driver: `cuMemGetInfo_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemGetInfo_v2")]
    pub fn memory_info(&self) -> Result<MemoryInfo, Error> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both out-parameters outlive the call.
        unsafe { context_call!(self.get()?, cuMemGetInfo_v2(&raw mut free, &raw mut total)) }?;
        Ok(MemoryInfo { free, total })
    }

    /// A limit of the context, such as the stack bytes of a thread; the unit is the limit's own.
    ///
    /// # Errors
    /// `CUDA_ERROR_UNSUPPORTED_LIMIT`, `CUDA_ERROR_INVALID_VALUE`.
    ///
    /// Driver: `cuCtxGetLimit`, CUDA 3.1+.
    #[doc(alias = "cuCtxGetLimit")]
    pub fn limit(&self, limit: Limit) -> Result<usize, Error> {
        let mut value = 0;
        // SAFETY: `value` outlives the call.
        unsafe { context_call!(self.get()?, cuCtxGetLimit(&raw mut value, limit)) }?;
        Ok(value)
    }

    /// Asks for a limit; the driver rounds it, see [`limit`](Current::limit).
    ///
    /// # Errors
    /// `CUDA_ERROR_UNSUPPORTED_LIMIT`, `CUDA_ERROR_INVALID_VALUE`, `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuCtxSetLimit`, CUDA 3.1+.
    #[doc(alias = "cuCtxSetLimit")]
    pub fn set_limit(&self, limit: Limit, value: usize) -> Result<(), Error> {
        // SAFETY: plain values.
        unsafe { context_call!(self.get()?, cuCtxSetLimit(limit, value)) }
    }

    /// The least and the greatest stream priority; lower numbers run first. Both 0 where there are none.
    ///
    /// # Errors
    /// As the driver says.
    ///
    /// Driver: `cuCtxGetStreamPriorityRange`, CUDA 5.5+.
    #[doc(alias = "cuCtxGetStreamPriorityRange")]
    pub fn stream_priorities(&self) -> Result<(i32, i32), Error> {
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: both out-parameters outlive the call.
        unsafe {
            context_call!(self.get()?, cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest))
        }?;
        Ok((least, greatest))
    }
}

impl Drop for Current<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        match self.pop_in_place() {
            Err(error) if !error.is_forked() => self.context.swallow(error),
            _ => {}
        }
    }
}

impl fmt::Debug for Current<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Current").field("context", &self.context).field("height", &self.height).finish()
    }
}
