//! The part of a program that a profiler records.

use super::call::context_call;
use super::{ContextRef, Current, captures};
use crate::error::Error;
use crate::raw::debug::debug;
use crate::raw::owner::close;
use crate::raw::this_thread::ThisThread;

/// The profiler collects until this is dropped: made by [`Current::profile`].
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// let profile = cx.profile()?;
/// cx.synchronize()?;
/// profile.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Profile<'a> {
    context: &'a ContextRef,
    _this_thread: ThisThread,
}

impl Current<'_, '_> {
    /// Starts the collection of a waiting profiler, such as one with
    /// `--capture-range=cudaProfilerApi`.
    ///
    /// Does nothing without a profiler. Profiles do not nest: the first that ends stops the
    /// collection. Drop also stops it, and swallows errors.
    ///
    /// Example: see [`Profile`].
    ///
    /// Driver: `cuProfilerStart`, CUDA 4.0+; later, by the profile, `cuProfilerStop`, CUDA 4.0+.
    #[doc(alias = "cuProfilerStart")]
    #[inline]
    pub fn profile(&self) -> Result<Profile<'_>, Error> {
        let context = self.checked()?;
        // SAFETY: no arguments.
        unsafe { context_call!(context, cuProfilerStart()) }?;
        Ok(Profile { context, _this_thread: ThisThread::MARK })
    }
}

impl Profile<'_> {
    close!("Stops the collection", "cuProfilerStop", "4.0", |this| {
        let stopped = this.stop();
        std::mem::forget(this);
        stopped
    });

    fn stop(&self) -> Result<(), Error> {
        captures::free_beside(self.context.library(), || {
            // SAFETY: no arguments. The call affects the whole process, with any current context.
            unsafe { context_call!(self.context, cuProfilerStop()) }
        })
    }
}

impl Drop for Profile<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            self.context.swallow(error);
        }
    }
}

debug!(Profile<'_>: |this, f| f.debug_struct("Profile").field("context", this.context).finish());
