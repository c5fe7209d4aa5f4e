//! Panics of closures.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// Panic of a job: its message, and the value itself.
///
/// Example: that of [`WorkerError`](super::WorkerError), `message`.
pub struct Panic {
    message: String,
    /// Only taken, never lent: so the whole can be shared between threads, as an error should.
    payload: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Panic {
    pub(super) fn new(payload: Box<dyn Any + Send>) -> Self {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        let message = text.unwrap_or("a value that is no text").to_owned();
        Self { message, payload: Mutex::new(Some(payload)) }
    }

    /// The text that it panicked with; a remark if that was no text.
    #[inline]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The value that it panicked with, for [`resume_unwind`](std::panic::resume_unwind).
    #[inline]
    pub fn into_payload(self) -> Box<dyn Any + Send> {
        // There is one until this is dropped.
        self.take().unwrap_or_else(|| Box::new(()))
    }

    fn take(&self) -> Option<Box<dyn Any + Send>> {
        self.payload.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A value whose own drop panics goes without another word.
impl Drop for Panic {
    fn drop(&mut self) {
        let payload = self.take();
        if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            // Dropping it could panic once more.
            std::mem::forget(another);
        }
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Panic({:?})", self.message)
    }
}
