//! Threads that own a context for good.

use std::fmt;
use std::ops::Deref;

use cuprum_sys::CUcontext;

use super::{ContextRef, ContextStack, Current, stack};
use crate::any_error::AnyError;
use crate::raw::shared::Shared;

/// A context that stays current on a thread until this is dropped: for a thread that works in one context for good.
///
/// It dereferences to the thread's token, which needs no closure around it: it fits into a struct or a `thread_local!` of
/// that thread. Checking the token takes two loads. Meanwhile [`enter`](Shared::enter) of the same context, and of its
/// objects, believes the record and makes no driver call. So no other code may leave another context current on an
/// attached thread. If some code does, calls run in that context until the first one is put back.
///
/// Other contexts are entered above it. Dropping it pops the context, and gives the thread's [`ContextStack`] back. It has a
/// share of the context, which stays with the thread if this is forgotten.
///
/// # Example
/// ```
/// # cuprum::example!(driver);
/// use cuprum::context::{Attached, PrimaryContext};
/// use cuprum::Buffer;
///
/// struct Worker {
///     cx: Attached,
///     sum: Buffer<'static, u32>,
/// }
///
/// let context = PrimaryContext::retain(driver.device(0)?)?.share();
/// let thread = std::thread::spawn(move || -> cuprum::Result<Vec<u32>> {
///     let cx = context.attach()?;
///     let mut worker = Worker { sum: Buffer::zeroed(&cx, 2)?, cx };
///     worker.cx.fill(&mut worker.sum, 7)?;
///     // Code that knows the context alone: no driver call more than the copy.
///     context.enter(|cx| Ok(worker.sum.to_vec(cx)?))
/// });
/// assert_eq!(thread.join().map_err(|_| "panic")??, [7, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Attached {
    /// Lent only: it would outlive the share. Popped before the others go.
    cx: Current<'static, 'static>,
    _stack: ContextStack,
    _context: Shared<ContextRef>,
}

impl Shared<ContextRef> {
    /// Makes the context current on the calling thread until the value is dropped.
    ///
    /// # Errors
    /// [`AnyError::StackTaken`] where the thread's [`ContextStack`] is out, it is attached already, or runs in an
    /// [`enter`](Shared::enter); whatever the driver reports.
    ///
    /// Driver: `cuCtxPushCurrent_v2`, CUDA 4.0+.
    #[doc(alias = "cuCtxPushCurrent_v2")]
    pub fn attach(&self) -> Result<Attached, AnyError> {
        let (stack, context) = (ContextStack::take()?, self.clone());
        // SAFETY: the same value keeps the share; the token is dropped before it and is only lent.
        let near = unsafe { context.near().outlived() };
        let cx = Current::push_at(near, 0, CUcontext::null())?;
        stack::attach(true);
        Ok(Attached { cx, _stack: stack, _context: context })
    }
}

/// Not `DerefMut`: the token could be swapped out and outlive the share.
impl Deref for Attached {
    type Target = Current<'static, 'static>;

    #[inline]
    fn deref(&self) -> &Current<'static, 'static> {
        &self.cx
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        stack::attach(false);
    }
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Attached").field(&self.cx).finish()
    }
}
