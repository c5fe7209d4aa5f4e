//! The owner of handles without a context: freed once, on any thread.

use std::fmt;
use std::mem::ManuallyDrop;

use cuprum_sys::{FnId, Library};

use super::call::forked;
use super::debug::debug;
use super::held::Handle;
use crate::context::captures;
use crate::error::Error;
use crate::swallowed;

/// A handle of a driver without a context.
///
/// Drop frees it with one call, swallows errors (see [`swallowed`](crate::swallowed)) and does
/// nothing in a forked child.
pub(crate) struct Owned<H: Handle> {
    raw: H,
    library: Library,
}

// SAFETY: any thread may use and free the handle, as its trait demands.
unsafe impl<H: Handle> Send for Owned<H> {}
// SAFETY: as above; it is immutable.
unsafe impl<H: Handle> Sync for Owned<H> {}

impl<H: Handle> Owned<H> {
    pub(crate) const fn new(raw: H, library: Library) -> Self {
        Self { raw, library }
    }

    pub(crate) const fn raw(&self) -> H {
        self.raw
    }

    pub(crate) const fn library(&self) -> Library {
        self.library
    }

    pub(crate) fn into_raw(self) -> H {
        ManuallyDrop::new(self).raw
    }

    /// Frees the handle and returns the error that `Drop` would swallow. It is not freed again
    /// after an error, see [`Held::close`](super::held::Held::close).
    pub(crate) fn close(self) -> Result<(), Error> {
        ManuallyDrop::new(self).free()
    }

    /// Frees the handle. Succeeds if the driver is shutting down and has freed everything.
    fn free(&self) -> Result<(), Error> {
        if !self.raw.is_owned() {
            return Ok(());
        }
        if self.library.forked() {
            return Err(forked(FnId::cuMemRelease));
        }
        let freed = captures::free_beside(self.library, || {
            // SAFETY: both callers give up the value, so the handle is live and not used again,
            // unless it was not freed.
            let answer = unsafe { self.raw.free(self.library.fns()) };
            Error::check(self.library, answer)
        });
        freed.or_else(|error| if error.is_deinitialized() { Ok(()) } else { Err(error) })
    }
}

impl<H: Handle> Drop for Owned<H> {
    fn drop(&mut self) {
        match self.free() {
            Err(error) if !error.is_forked() => swallowed::tell(error),
            _ => {}
        }
    }
}

debug!([H: Handle + fmt::Debug] Owned<H>: |this, f| write!(f, "{}({:?})", H::NAME, this.raw));
