//! Work on streams with lent memory, in a scope that waits.
//!
//! The [module of streams](super) describes which copies to the host are asynchronous, and why they
//! need page-locked memory whose owner is lent.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

use cuprum_sys::{CUstream, FnId};

use super::Stream;
#[cfg(doc)]
use crate::context::Current;
use crate::context::{Beside, ContextRef, Token, Waited, waited_for};
use crate::error::Error;
use crate::memory::{MemoryError, copy};
use crate::raw::debug::debug;
use crate::raw::held::activated;
use crate::raw::mark::Marks;
use crate::raw::owner::context;
use crate::raw::this_thread::ThisThread;

/// A scope for work on one stream. It waits for this work before it ends.
///
/// Made by [`Current::scope`]. The memory of copies is borrowed until the end of the scope, so it
/// can be neither accessed nor freed while the stream uses it.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::{Buffer, Stream};
///
/// let stream = Stream::new(&cx)?;
/// let source = Buffer::from_slice(&cx, &[1u32, 2, 3])?;
/// let (mut target, mut host) = (Buffer::<u32>::alloc(&cx, 3)?, [0; 3]);
/// cx.scope(&stream, |scope| {
///     let (from, to) = (scope.lend(&source)?, scope.lend(&mut target)?);
///     scope.copy(&to, &from)?;
///     Ok(scope.read(&mut host, &to)?)
/// })?;
/// assert_eq!(host, [1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Scope<'scope, 'env: 'scope> {
    stream: CUstream,
    /// True if writes by other calls must be waited for.
    apart: bool,
    token: Token<'scope>,
    kept: &'scope Kept,
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
    _this_thread: ThisThread,
}

/// A scope for work on several streams. It waits for all of them before it ends. Made by
/// [`Current::multi_scope`].
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::{Buffer, Stream};
///
/// let (first, second) = (Stream::non_blocking(&cx)?, Stream::non_blocking(&cx)?);
/// let mut buffer = Buffer::<u32>::alloc(&cx, 4)?;
/// let (left, right) = buffer.as_mut_slice().into_split_at(2).ok_or("outside")?;
/// cx.multi_scope(|scope| {
///     let (first, second) = (scope.on(&first)?, scope.on(&second)?);
///     first.fill(&first.lend(left)?, 1)?;
///     Ok(second.fill(&second.lend(right)?, 2)?)
/// })?;
/// assert_eq!(buffer.to_vec(&cx)?, [1, 1, 2, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MultiScope<'scope, 'env: 'scope> {
    streams: &'scope RefCell<Vec<CUstream>>,
    token: Token<'scope>,
    kept: &'scope Kept,
    /// Invariant: with a shorter `'scope`, memory could be lent for less than the scope.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
    _this_thread: ThisThread,
}

/// State of a scope about its loans, on all its streams.
#[derive(Default)]
pub(super) struct Kept {
    /// Marks of page-locked memory that the device may write, and of other contexts in use.
    pub(super) marks: Marks,
    waited: Cell<Option<Waited>>,
}

/// Waits for a scope's streams, on every path out of the scope.
pub(super) struct Wait<'a, S: Streams> {
    pub(super) context: &'a ContextRef,
    pub(super) streams: &'a S,
    pub(super) marks: &'a Marks,
}

pub(super) struct End {
    pub(super) result: Result<(), Error>,
    /// True if the work is certainly complete. Otherwise, page-locked memory lent to it, and other
    /// contexts with memory lent to it, are marked as lost.
    pub(super) is_over: bool,
}

pub(super) trait Streams {
    fn each(&self, wait: impl FnMut(CUstream));
}

impl Streams for CUstream {
    fn each(&self, mut wait: impl FnMut(CUstream)) {
        wait(*self);
    }
}

impl Streams for RefCell<Vec<CUstream>> {
    fn each(&self, wait: impl FnMut(CUstream)) {
        self.borrow().iter().copied().for_each(wait);
    }
}

impl<S: Streams> Wait<'_, S> {
    /// Makes the context current by handle, in case the scope's body left another one current.
    /// Waits for all streams, and returns the first error. If the wait for a stream fails, waits
    /// for the whole context.
    pub(super) fn wait(&self) -> End {
        let (mut first, mut is_over) = (Ok(()), true);
        let activated = activated(self.context, || {
            self.streams.each(|stream| {
                // SAFETY: the stream outlives the scope, which borrows it, and its context is
                // current.
                let (waited, proven) = unsafe { waited_for(self.context, stream) };
                is_over &= proven;
                first = first.and(waited);
            });
            Ok(())
        });
        is_over &= activated.is_ok();
        if !is_over {
            self.marks.lose();
        }
        End { result: activated.and(first), is_over }
    }

    /// Waits. Returns the result of the scope's body if the wait succeeds.
    pub(super) fn end<E: From<Error>, R>(self, result: Result<R, E>) -> Result<R, E> {
        let waited = self.wait();
        std::mem::forget(self);
        waited.result?;
        result
    }
}

/// Waits if the scope's body panics; after a normal return, `end` has already waited.
impl<S: Streams> Drop for Wait<'_, S> {
    fn drop(&mut self) {
        let _beside = Beside::exempted(self.context.library());
        if let Err(error) = self.wait().result {
            self.context.swallow(error);
        }
    }
}

impl<'scope, 'env> MultiScope<'scope, 'env> {
    pub(super) fn new(
        streams: &'scope RefCell<Vec<CUstream>>,
        token: Token<'scope>,
        kept: &'scope Kept,
    ) -> Self {
        let (_scope, _env, _this_thread) = (PhantomData, PhantomData, ThisThread::MARK);
        Self { streams, token, kept, _scope, _env, _this_thread }
    }

    /// Returns the part of this scope that works on `stream`, the same one for each call.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`].
    #[inline]
    pub fn on(&self, stream: &'env Stream<'_>) -> Result<Scope<'scope, 'env>, Error> {
        self.token.of(stream.context(), FnId::cuStreamSynchronize)?;
        let mut streams = self.streams.borrow_mut();
        if !streams.contains(&stream.as_raw()) {
            streams.push(stream.as_raw());
        }
        Ok(Scope::new(stream, self.token, self.kept))
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    pub(super) fn new(stream: &Stream<'_>, token: Token<'scope>, kept: &'scope Kept) -> Self {
        let apart = stream.is_apart();
        let (_scope, _env, _this_thread) = (PhantomData, PhantomData, ThisThread::MARK);
        Self { stream: stream.as_raw(), apart, token, kept, _scope, _env, _this_thread }
    }

    /// Checks that memory is in the order of this scope's stream, so that no wait is needed.
    pub(crate) fn in_order(&self, stream: &Stream<'_>) -> Result<(), MemoryError> {
        self.token.of(stream.context(), FnId::cuStreamSynchronize)?;
        if stream.as_raw() == self.stream { Ok(()) } else { Err(MemoryError::NotInOrder) }
    }

    /// The driver's handle of the stream, for other libraries: work that they queue there on memory
    /// lent to this scope is complete when the scope ends.
    #[inline]
    pub const fn stream(&self) -> CUstream {
        self.stream
    }

    context!(|this| this.token.context());

    #[inline]
    pub(crate) const fn token(&self) -> Token<'scope> {
        self.token
    }

    /// Marks that are set if the wait of the scope fails.
    pub(crate) const fn marks(&self) -> &'scope Marks {
        &self.kept.marks
    }

    /// Checks the context of device memory, and waits for work that may still write the memory.
    pub(crate) fn accept(&self, home: &ContextRef) -> Result<(), Error> {
        let context = self.token.of(home, FnId::cuStreamSynchronize)?;
        let stream = context.default_stream();
        if !self.apart || self.kept.waited.get().is_some_and(|waited| stream.is_quiet_since(waited)) {
            return Ok(());
        }
        let waited = stream.begin_wait();
        copy::wait_for_default_stream(context)?;
        self.kept.waited.set(Some(waited));
        Ok(())
    }
}

debug! {
    Scope<'_, '_>: |this, f|
    f.debug_struct("Scope").field("stream", &this.stream).finish_non_exhaustive()
}

debug! {
    MultiScope<'_, '_>: |this, f|
    f.debug_struct("MultiScope").field("streams", &this.streams.borrow()).finish_non_exhaustive()
}
