//! The current context of a thread, and the context to which a call applies.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_CONTEXT};
use crate::driver::call::{Call, at_thread_end};
use crate::driver::handle::Handle;
use crate::driver::state::captures;

use super::object::{CONTEXTS, Context};
use super::primary;

thread_local! {
    /// The contexts pushed on this thread; the last is current. Destroyed ones stay until popped.
    ///
    /// It has no destructor, so destructors of the client's own variables still find it unchanged.
    /// [`forget_stack`] empties it after they have run.
    static STACK: ManuallyDrop<RefCell<Vec<Arc<Context>>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Returns the current context, alive or not; for a part of a device, the owner of its objects.
pub(crate) fn current() -> Option<Arc<Context>> {
    current_itself().map(Context::whole)
}

pub(crate) fn current_part() -> Option<Arc<Context>> {
    current_itself().filter(|top| top.part().is_some())
}

/// Returns the context at the top of the stack, alive or not.
pub(super) fn current_itself() -> Option<Arc<Context>> {
    let top = STACK.with(|stack| stack.borrow().last().cloned())?;
    let is_gone = top.is_primary && !top.health.is_alive();
    // A primary context may have been created again since it was pushed.
    let again = || CONTEXTS.get(top.handle);
    Some(if is_gone { again().unwrap_or(top) } else { top })
}

/// Finds a context by its handle, to make it current. An inactive primary context is accepted.
pub(super) fn find_to_be_current(handle: CUcontext) -> Answer<Arc<Context>> {
    Context::find_itself(handle).or_else(|code| primary::inactive(handle.addr()).ok_or(code))
}

pub(super) fn with_stack<R>(change: impl FnOnce(&mut Vec<Arc<Context>>) -> R) -> R {
    at_thread_end(forget_stack);
    STACK.with(|stack| change(&mut stack.borrow_mut()))
}

/// Pops all contexts of a thread that is ending.
fn forget_stack() {
    // Drops the contexts only after the borrow of the stack has ended.
    let contexts = STACK.with(|stack| stack.take());
    drop(contexts);
}

impl Call {
    /// Returns the calling thread's current context. Fails if it has ended or has a sticky error.
    pub(crate) fn context(&self) -> Answer<Arc<Context>> {
        let context = self.context_to_wait_for()?;
        context.check()?;
        Ok(context)
    }

    /// Like `context`, for a call that a capture may [forbid](Captures::forbid_unsafe).
    ///
    /// [`Captures::forbid_unsafe`]: crate::driver::state::capture::Captures::forbid_unsafe
    pub(crate) fn context_outside_captures(&self) -> Answer<Arc<Context>> {
        let context = self.context()?;
        captures().forbid_unsafe()?;
        Ok(context)
    }

    /// Returns the calling thread's current context in any state. A call that waits reports a fault
    /// only after the work of the context has stopped using the client's memory.
    pub(crate) fn context_to_wait_for(&self) -> Answer<Arc<Context>> {
        current().ok_or(INVALID_CONTEXT)
    }

    /// Finds a context by handle; null is the current one. Fails if it has ended or a sticky error.
    pub(crate) fn context_or_current(&self, handle: CUcontext) -> Answer<Arc<Context>> {
        if handle.is_null() {
            return self.context();
        }
        let context = Context::find(handle)?;
        context.check()?;
        Ok(context)
    }
}
