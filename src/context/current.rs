//! The thread's stack of current contexts: tokens that are pushed and popped in order.

use std::marker::PhantomData;

use cuprum_sys::{CUcontext, CUlimit, FnId};

use super::call::context_call;
use super::stack::Unusual;
use super::{ContextRef, StackTaken, stack};
use crate::error::Error;
use crate::raw::debug::debug;
use crate::raw::keep::Near;
use crate::raw::owner::context;
use crate::raw::shared::Shared;
use crate::raw::this_thread::ThisThread;

/// This thread's context stack, from which contexts are pushed. There is one per thread.
///
/// It cannot be sent to another thread, and cannot be taken twice at a time.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::{ContextStack, PrimaryContext};
///
/// let context = PrimaryContext::retain(driver.device(0)?)?;
/// let mut stack = ContextStack::take()?;
/// let cx = stack.push(&context)?;
/// println!("{} bytes free", cx.memory_info()?.free);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ContextStack {
    _this_thread: ThisThread,
}

impl ContextStack {
    /// Takes the calling thread's stack. No driver call.
    ///
    /// # Errors
    /// [`StackTaken`] while the thread's stack is taken, permanently if it was forgotten, and
    /// inside [`ContextRef::enter`]. Code that cannot know whether the stack is taken uses `enter`.
    #[inline]
    pub fn take() -> Result<Self, StackTaken> {
        if stack::is_entered() || stack::take(true) {
            Err(StackTaken)
        } else {
            Ok(Self { _this_thread: ThisThread::MARK })
        }
    }

    /// Makes `context` the thread's current context until the returned token is dropped.
    ///
    /// The previous context is current again afterwards.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors); [`Error::FORKED`] in a forked child.
    ///
    /// Driver: `cuCtxPushCurrent_v2`, CUDA 4.0+.
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[inline]
    pub fn push<'s, 'ctx>(&'s mut self, context: impl ToPush<'s, 'ctx>) -> Result<Current<'s, 'ctx>, Error> {
        Current::push_at(near(context), 0, CUcontext::null())
    }
}

impl Drop for ContextStack {
    fn drop(&mut self) {
        stack::take(false);
    }
}

debug!(ContextStack: |_this, f| f.debug_struct("ContextStack").finish_non_exhaustive());

/// Proof that a context is current on this thread. Calls that use the current context take it.
///
/// `'ctx` is the context's lifetime, which all objects made in it have; `'s` is the borrow of the
/// token below. Dropping the token pops the context.
///
/// Other code (a raw call, another library) can change the current context without this token's
/// knowledge. It must restore the context that it found.
///
/// # Keeping it in a struct
///
/// A token lives as long as the borrow of the token below it, on one thread. Keep a [shared
/// context](crate::Shared) instead, and [enter](crate::Shared::enter) it for each piece of work. An
/// object made in a [shared context](crate::Shared) can be stored in a struct next to the context,
/// because its `'ctx` is `'static`.
///
/// # Example
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::{Context, ContextFlags, ContextStack};
/// use cuprum::Buffer;
///
/// let device = driver.device(0)?;
/// let outer = Context::create(device, ContextFlags::empty())?;
/// let inner = Context::create(device, ContextFlags::empty())?;
/// let mut stack = ContextStack::take()?;
/// let mut cx = stack.push(&outer)?;
///
/// let here = Buffer::from_slice(&cx, &[1u32])?;
/// {
///     // `cx` is borrowed until this one is dropped.
///     let top = cx.push(&inner)?;
///     assert_eq!(top.context().as_raw(), inner.as_raw());
/// }
/// assert_eq!(here.to_vec(&cx)?, [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Current<'s, 'ctx> {
    token: Token<'ctx>,
    below: CUcontext,
    _below: PhantomData<&'s mut ContextStack>,
    _this_thread: ThisThread,
}

/// A token's view of the thread's stack, for code that acts on behalf of the token.
#[derive(Clone, Copy)]
pub(crate) struct Token<'ctx> {
    pub(super) context: Near<'ctx, ContextRef>,
    /// Number of contexts pushed while this token is on top.
    height: u32,
}

impl<'ctx> Token<'ctx> {
    /// Returns the current context for a call that uses it. Fails if a token above this one was
    /// forgotten and the thread's stack cannot be repaired.
    #[inline]
    pub(crate) fn get(&self) -> Result<Near<'ctx, ContextRef>, Error> {
        stack::in_order(self.height, self.context.as_raw(), self.context.library())?;
        Ok(self.context)
    }

    #[inline]
    pub(crate) fn of(&self, owner: &ContextRef, call: FnId) -> Result<&ContextRef, Error> {
        self.get()?;
        if *self.context == *owner { Ok(&self.context) } else { Err(Error::wrong_context(call)) }
    }
}

/// A borrow of a context that can be pushed: of any owner, or of a [`ContextRef`].
///
/// `'ctx` is the lifetime of all objects made in it: the lifetime of the borrow, or `'static` for a
/// [shared context](crate::Shared).
///
/// # Keeping it in a struct
///
/// If the compiler reports that the context does not live long enough, or cannot be moved into a
/// struct: an object of a borrowed context cannot be stored next to it.
/// [Share](super::PrimaryContext::share) the context.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::{ContextStack, PrimaryContext, ToPush};
///
/// /// Accepts a borrow of any owner of a context.
/// fn total<'s, 'ctx>(stack: &'s mut ContextStack, context: impl ToPush<'s, 'ctx>) -> cuprum::Result<usize> {
///     Ok(stack.push(context)?.memory_info()?.total)
/// }
/// let context = PrimaryContext::retain(driver.device(0)?)?;
/// assert!(total(&mut ContextStack::take()?, &context)? > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ToPush<'s, 'ctx>: sealed::Sealed<'s, 'ctx> {}

impl<'s, 'ctx, T: sealed::Sealed<'s, 'ctx>> ToPush<'s, 'ctx> for T {}

pub(super) mod sealed {
    use super::{ContextRef, Near};

    pub trait Sealed<'s, 'ctx> {
        /// The context, while it is borrowed. Other crates can call this through a bound on
        /// `ToPush`.
        fn near(self) -> Near<'s, ContextRef>;
    }
}

/// Lets a borrow of an owner be pushed.
macro_rules! borrowed {
    ($($owner:ty)*) => { $(
        impl<'s, 'ctx: 's> $crate::context::current::sealed::Sealed<'s, 'ctx> for &'ctx $owner {
            #[inline]
            fn near(self) -> $crate::raw::keep::Near<'s, $crate::context::ContextRef> {
                $crate::raw::keep::Near::borrowed(self)
            }
        }
    )* };
}

pub(super) use borrowed;

borrowed! { ContextRef }

impl<'s> sealed::Sealed<'s, 'static> for &'s Shared<ContextRef> {
    #[inline]
    fn near(self) -> Near<'s, ContextRef> {
        Shared::near(self)
    }
}

#[inline]
fn near<'s, 'ctx>(context: impl ToPush<'s, 'ctx>) -> Near<'ctx, ContextRef> {
    // SAFETY: the trait is sealed and has two kinds of implementors. One borrows the context for
    // `'ctx`. The other borrows a share of it for `'s`, as long as the token lives; an object made
    // from the token takes its own share.
    unsafe { context.near().outlived() }
}

/// Free and total device memory, in bytes.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// let info = cx.memory_info()?;
/// println!("{} of {} MiB are free", info.free >> 20, info.total >> 20);
/// assert!(info.free <= info.total);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryInfo {
    /// Number of free bytes, according to the driver.
    pub free: usize,
    /// Number of bytes of the device.
    pub total: usize,
}

/// A limit of a context: the driver's number.
pub type Limit = CUlimit;

impl<'ctx> Current<'_, 'ctx> {
    /// Pushes `context` onto a stack of `height` contexts with `below` on top.
    ///
    /// Inlined like the pop, because the token is too large to be returned in registers.
    #[inline]
    pub(super) fn push_at<'t, 'other>(
        context: Near<'other, ContextRef>,
        height: u32,
        below: CUcontext,
    ) -> Result<Current<'t, 'other>, Error> {
        stack::push(&context, height, below)?;
        Ok(Current {
            token: Token { context, height: height + 1 },
            below,
            _below: PhantomData,
            _this_thread: ThisThread::MARK,
        })
    }

    /// A token of `height` for a context that is already current. It must not be dropped.
    pub(super) fn found<'t, 'other>(context: Near<'other, ContextRef>, height: u32) -> Current<'t, 'other> {
        Current {
            token: Token { context, height },
            below: CUcontext::null(),
            _below: PhantomData,
            _this_thread: ThisThread::MARK,
        }
    }

    /// Makes another context current on top of this one. This token cannot be used or dropped
    /// before the new one is dropped.
    ///
    /// # Errors
    /// Same as [`ContextStack::push`]; [`Error::WRONG_CONTEXT`] for a context of another driver,
    /// which has its own stack. The context may use any [function
    /// table](cuprum_sys::Library::is_same_driver) of the same driver.
    ///
    /// Driver: `cuCtxPushCurrent_v2`, CUDA 4.0+.
    #[doc(alias = "cuCtxPushCurrent_v2")]
    #[inline]
    pub fn push<'t, 'other>(
        &'t mut self,
        context: impl ToPush<'t, 'other>,
    ) -> Result<Current<'t, 'other>, Error> {
        let context = near(context);
        if !context.library().is_same_driver(self.token.context.library()) {
            return Err(Error::wrong_context(FnId::cuCtxPushCurrent_v2));
        }
        Self::push_at(context, self.token.height, self.token.context.as_raw())
    }

    /// Pops the context and returns the error that `Drop` would swallow.
    ///
    /// # Errors
    /// [`Error::OUT_OF_ORDER`] if another context was on top.
    ///
    /// Driver: `cuCtxPopCurrent_v2`, CUDA 4.0+.
    #[doc(alias = "cuCtxPopCurrent_v2")]
    #[inline]
    pub fn pop(self) -> Result<(), Error> {
        let popped = self.pop_in_place();
        let ended = popped.or_else(|unusual| self.finish_pop(unusual));
        std::mem::forget(self);
        ended
    }

    #[inline]
    fn pop_in_place(&self) -> Result<(), Unusual> {
        stack::pop(&self.token.context, self.token.height, self.below)
    }

    #[cold]
    fn finish_pop(&self, unusual: Unusual) -> Result<(), Error> {
        stack::finish_pop(&self.token.context, self.token.height, self.below, unusual)
    }

    /// The slow path of a pop, where errors cannot be returned.
    #[cold]
    #[inline(never)]
    fn drop_slowly(&self, unusual: Unusual) {
        if let Err(error) = self.finish_pop(unusual) {
            self.token.context.swallow(error);
        }
    }

    context!(|this| &this.token.context);

    pub(crate) fn token(&self) -> Token<'ctx> {
        self.token
    }

    #[inline]
    pub(crate) fn near(&self) -> Near<'ctx, ContextRef> {
        self.token.context
    }

    #[inline]
    pub(crate) fn get(&self) -> Result<Near<'ctx, ContextRef>, Error> {
        self.token.get()
    }

    #[inline]
    pub(super) fn checked(&self) -> Result<&ContextRef, Error> {
        self.get()?;
        Ok(self.context())
    }

    #[inline]
    pub(crate) fn of(&self, owner: &ContextRef, call: FnId) -> Result<&ContextRef, Error> {
        self.token.of(owner, call)
    }

    #[inline]
    pub(crate) fn of_both(&self, owners: [&ContextRef; 2], call: FnId) -> Result<&ContextRef, Error> {
        self.get()?;
        let here = owners.iter().all(|owner| **owner == *self.token.context);
        if here { Ok(&self.token.context) } else { Err(Error::wrong_context(call)) }
    }

    /// Waits until all work of the context is complete, and reports its errors.
    ///
    /// # Errors
    /// Sticky errors of earlier kernels, see [`Error::is_sticky`].
    ///
    /// Driver: `cuCtxSynchronize`, CUDA 2.0+.
    #[doc(alias = "cuCtxSynchronize")]
    #[inline]
    pub fn synchronize(&self) -> Result<(), Error> {
        // SAFETY: no arguments; it waits in the current context.
        unsafe { context_call!(self.checked()?, cuCtxSynchronize()) }
    }

    /// Returns the free and total memory of the current context's device, in bytes.
    ///
    /// Driver: `cuMemGetInfo_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemGetInfo_v2")]
    #[inline]
    pub fn memory_info(&self) -> Result<MemoryInfo, Error> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both out-parameters outlive the call.
        unsafe { context_call!(self.checked()?, cuMemGetInfo_v2(&raw mut free, &raw mut total)) }?;
        Ok(MemoryInfo { free, total })
    }

    /// Returns a limit of the context, in its own unit, such as stack bytes per thread.
    ///
    /// # Errors
    /// `CUDA_ERROR_UNSUPPORTED_LIMIT`, `CUDA_ERROR_INVALID_VALUE`.
    ///
    /// Driver: `cuCtxGetLimit`, CUDA 3.1+.
    #[doc(alias = "cuCtxGetLimit")]
    #[inline]
    pub fn limit(&self, limit: Limit) -> Result<usize, Error> {
        let mut value = 0;
        // SAFETY: `value` outlives the call.
        unsafe { context_call!(self.checked()?, cuCtxGetLimit(&raw mut value, limit)) }?;
        Ok(value)
    }

    /// Sets a limit of the context. The driver may round it, see [`limit`](Current::limit).
    ///
    /// # Errors
    /// `CUDA_ERROR_UNSUPPORTED_LIMIT`, `CUDA_ERROR_INVALID_VALUE`, `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// Driver: `cuCtxSetLimit`, CUDA 3.1+.
    #[doc(alias = "cuCtxSetLimit")]
    #[inline]
    pub fn set_limit(&self, limit: Limit, value: usize) -> Result<(), Error> {
        // SAFETY: plain values.
        unsafe { context_call!(self.checked()?, cuCtxSetLimit(limit, value)) }
    }

    /// Returns the lowest and the highest stream priority; lower numbers run first. Both are 0 if
    /// the device has no priorities.
    ///
    /// Driver: `cuCtxGetStreamPriorityRange`, CUDA 5.5+.
    #[doc(alias = "cuCtxGetStreamPriorityRange")]
    #[inline]
    pub fn stream_priorities(&self) -> Result<(i32, i32), Error> {
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: both out-parameters outlive the call.
        unsafe {
            context_call!(self.checked()?, cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest))
        }?;
        Ok((least, greatest))
    }
}

impl Drop for Current<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        if let Err(unusual) = self.pop_in_place() {
            self.drop_slowly(unusual);
        }
    }
}

debug! {
    Current<'_, '_>: |this, f|
    f.debug_struct("Current").field("context", this.context()).field("height", &this.token.height).finish()
}
