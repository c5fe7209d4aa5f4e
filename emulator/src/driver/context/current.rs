//! Which context is current on a thread, and which one a call means.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_CONTEXT};
use crate::driver::call::{Call, at_thread_end};
use crate::driver::handle::Handle;

use super::object::{CONTEXTS, Context};
use super::primary;

thread_local! {
    /// The contexts pushed on this thread; the last is current. Destroyed ones stay until popped.
    ///
    /// It has no destructor, so that those of the client's own variables find it as it was; [`forget_stack`] empties it
    /// after them.
    static STACK: ManuallyDrop<RefCell<Vec<Arc<Context>>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// The current context, alive or not; where that is a part of a device, the one in which its things lie.
pub(crate) fn current() -> Option<Arc<Context>> {
    current_itself().map(Context::whole)
}

/// The current context, if it is a part of a device.
pub(crate) fn current_part() -> Option<Arc<Context>> {
    current_itself().filter(|top| top.part().is_some())
}

/// The context on top, alive or not.
pub(super) fn current_itself() -> Option<Arc<Context>> {
    let top = STACK.with(|stack| stack.borrow().last().cloned())?;
    let is_gone = top.is_primary && !top.health.is_alive();
    // A primary context may have been made again since it was pushed.
    let again = || CONTEXTS.get(top.handle);
    Some(if is_gone { again().unwrap_or(top) } else { top })
}

/// The context behind a handle, to be made current: a primary context may be inactive then.
pub(super) fn find_to_be_current(handle: CUcontext) -> Answer<Arc<Context>> {
    Context::find_itself(handle).or_else(|code| primary::inactive(handle.addr()).ok_or(code))
}

pub(super) fn with_stack<R>(change: impl FnOnce(&mut Vec<Arc<Context>>) -> R) -> R {
    at_thread_end(forget_stack);
    STACK.with(|stack| change(&mut stack.borrow_mut()))
}

/// Pops all contexts of a thread that ends.
fn forget_stack() {
    // Dropped when the stack is no longer in use.
    let contexts = STACK.with(|stack| stack.take());
    drop(contexts);
}

impl Call {
    /// The calling thread's current context, which must be alive and not poisoned.
    pub(crate) fn context(&self) -> Answer<Arc<Context>> {
        let context = self.context_to_wait_for()?;
        context.check()?;
        Ok(context)
    }

    /// The calling thread's current context, whatever its state: a call that waits answers for a fault only when
    /// nothing of the context touches the client's memory any more.
    pub(crate) fn context_to_wait_for(&self) -> Answer<Arc<Context>> {
        current().ok_or(INVALID_CONTEXT)
    }

    /// The context behind a handle, or the current one for null. Alive and not poisoned.
    pub(crate) fn context_or_current(&self, handle: CUcontext) -> Answer<Arc<Context>> {
        if handle.is_null() {
            return self.context();
        }
        let context = Context::find(handle)?;
        context.check()?;
        Ok(context)
    }
}
