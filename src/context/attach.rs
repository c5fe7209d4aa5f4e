//! Threads that keep one context current.

use std::ops::Deref;

use cuprum_sys::CUcontext;

use super::{ContextRef, ContextStack, Current, stack};
use crate::any_error::AnyError;
use crate::raw::debug::debug;
use crate::raw::shared::Shared;

/// Keeps a context current on a thread that always works in one context, until it is dropped.
///
/// It dereferences to the thread's token without a closure, so it fits in a struct or a
/// `thread_local!` of that thread. Checking the token takes two loads. While it exists,
/// [`enter`](Shared::enter) of the same context, and of its objects, makes no driver call. So no
/// other code may leave another context current on an attached thread. If some code does, calls run
/// in that context until the original one is restored.
///
/// Other contexts can be entered on top of it. Dropping it pops the context and releases the
/// thread's [`ContextStack`]. It holds a share of the context; if it is forgotten, the context
/// stays on the thread.
///
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
///     // Code that has only the context: the copy is the only driver call.
///     context.enter(|cx| Ok(worker.sum.to_vec(cx)?))
/// });
/// assert_eq!(thread.join().map_err(|_| "panic")??, [7, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Attached {
    /// Only lent, because it would outlive the share. Popped before the other fields drop.
    cx: Current<'static, 'static>,
    _stack: ContextStack,
    _context: Shared<ContextRef>,
}

impl Shared<ContextRef> {
    /// Makes the context current on the calling thread until the returned value is dropped.
    ///
    /// # Errors
    /// [`AnyError::StackTaken`] if the thread's [`ContextStack`] is taken, or if the thread is
    /// already attached or inside an [`enter`](Shared::enter); any error of the driver.
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

/// No `DerefMut`: the token could be swapped out and outlive the share.
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

debug!(Attached: |this, f| f.debug_tuple("Attached").field(&this.cx).finish());
