//! Closures that run in a stream's context, or in a scope of streams.

use std::cell::RefCell;

use cuprum_sys::FnId;

use super::scope::{Kept, MultiScope, Scope, Wait};
use super::stream::Stream;
use crate::any_error::AnyError;
#[cfg(doc)]
use crate::context::ContextRef;
use crate::context::{Current, entered};
use crate::error::Error;

entered!([] Stream<'ctx>: queue);

impl Current<'_, '_> {
    /// Runs `body`, which may lend device memory to `stream` and queue copies there. Waits for the
    /// stream before it returns, even if `body` panics.
    ///
    /// If the wait fails, the result of the body is dropped, even an error: the work may not have
    /// run, and lent memory has unspecified contents.
    ///
    /// Example: see [`Scope`].
    ///
    /// # Errors
    /// The errors of `body`; [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+; if that fails, `cuCtxSynchronize`, CUDA 2.0+; if a
    /// capture of another thread forbids it, `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn scope<'env, R>(
        &'env self,
        stream: &'env Stream<'_>,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<R, AnyError>,
    ) -> Result<R, AnyError> {
        self.scope_as(stream, body)
    }

    /// Same as [`scope`](Current::scope), with an error type of the caller's choice: see
    /// [`ContextRef::enter_as`].
    ///
    /// # Errors
    /// Same as [`scope`](Current::scope), with the driver's errors converted.
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+; if that fails, `cuCtxSynchronize`, CUDA 2.0+; if a
    /// capture of another thread forbids it, `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn scope_as<'env, E: From<Error>, R>(
        &'env self,
        stream: &'env Stream<'_>,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<R, E>,
    ) -> Result<R, E> {
        let context = self.of(stream.context(), FnId::cuStreamSynchronize)?;
        let (streams, kept) = (stream.as_raw(), Kept::default());
        let wait = Wait { context, streams: &streams, marks: &kept.marks };
        let result = body(&Scope::new(stream, self.token(), &kept));
        wait.end(result)
    }

    /// Runs `body`, which may lend device memory to any number of streams. Waits for all of them
    /// before it returns, even if `body` panics.
    ///
    /// Example: see [`MultiScope`].
    ///
    /// # Errors
    /// The errors of `body`.
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, for each stream; if that fails,
    /// `cuCtxSynchronize`, CUDA 2.0+; if a capture of another thread forbids it,
    /// `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn multi_scope<'env, R>(
        &'env self,
        body: impl for<'scope> FnOnce(&'scope MultiScope<'scope, 'env>) -> Result<R, AnyError>,
    ) -> Result<R, AnyError> {
        self.get()?;
        let (streams, kept) = (RefCell::new(Vec::new()), Kept::default());
        let wait = Wait { context: self.context(), streams: &streams, marks: &kept.marks };
        let result = body(&MultiScope::new(wait.streams, self.token(), &kept));
        wait.end(result)
    }
}
