//! Work on streams with memory that is lent to it, in a scope that waits.
//!
//! The [module of streams](super) says which copies to the host are asynchronous, and why they need page-locked memory
//! whose owner is lent.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{CUstream, FnId, StreamMode};

use super::{Lent, LentHost, LentShared, Stream, StreamKind};
use crate::context::{ContextRef, Current, Token, beside_captures};
use crate::error::Error;
use crate::memory::locked::Marks;
use crate::memory::{DeviceData, MemoryError, PageLocked, Slice, SliceMut, copy};
use crate::raw::call::context_call;
use crate::raw::held::activated;
use crate::raw::this_thread::ThisThread;

/// A stretch of work on one stream, which is waited for before it ends.
///
/// Made by [`Current::scope`]. The memory of copies is borrowed until the end of the scope, so it can be neither
/// touched nor freed while the stream uses it.
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::{Buffer, MemoryError, Stream};
///
/// let stream = Stream::new(&cx)?;
/// let source = Buffer::from_slice(&cx, &[1u32, 2, 3])?;
/// let (mut target, mut host) = (Buffer::<u32>::alloc(&cx, 3)?, [0; 3]);
/// cx.scope(&stream, |scope| {
///     let (from, to) = (scope.lend_shared(source.as_slice())?, scope.lend(target.as_mut_slice())?);
///     to.copy_from(from)?;
///     to.copy_to_host(&mut host)
/// })??;
/// assert_eq!(host, [1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Scope<'scope, 'env: 'scope> {
    stream: CUstream,
    /// True if writes of other calls have to be waited for.
    apart: bool,
    token: Token<'scope>,
    /// Page-locked memory that the device may write.
    marks: &'scope Marks,
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
    _this_thread: ThisThread,
}

/// A stretch of work on several streams, all of which are waited for before it ends: made by [`Current::multi_scope`].
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
/// use cuprum::{Buffer, MemoryError, Stream};
///
/// let (first, second) = (Stream::non_blocking(&cx)?, Stream::non_blocking(&cx)?);
/// let mut buffer = Buffer::<u32>::alloc(&cx, 4)?;
/// let (left, right) = buffer.as_mut_slice().into_split_at(2).ok_or("outside")?;
/// cx.multi_scope(|scope| {
///     scope.on(&first)?.lend(left)?.fill(1)?;
///     scope.on(&second)?.lend(right)?.fill(2)
/// })??;
/// assert_eq!(buffer.to_vec(&cx)?, [1, 1, 2, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MultiScope<'scope, 'env: 'scope> {
    streams: &'scope RefCell<Vec<CUstream>>,
    token: Token<'scope>,
    marks: &'scope Marks,
    /// Invariant: with a shorter `'scope`, memory could be lent for less than the scope.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
    _this_thread: ThisThread,
}

/// Waits for a scope's streams, on whatever path the scope is left.
pub(super) struct Wait<'a, S: Streams> {
    pub(super) context: &'a ContextRef,
    pub(super) streams: &'a S,
    pub(super) marks: &'a Marks,
}

/// Outcome of a wait.
pub(super) struct Waited {
    /// The first error.
    pub(super) result: Result<(), Error>,
    /// True if the work is over for certain. If it is not, the page-locked memory that it was lent is marked as lost.
    pub(super) is_over: bool,
}

/// The streams of a scope.
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
    /// Makes the context current by handle, in case the scope's body left another one. Waits for all streams, and
    /// reports the first error. If a stream cannot be waited for, waits for all of the context.
    pub(super) fn wait(&self) -> Waited {
        let (mut first, mut is_over) = (Ok(()), true);
        let activated = activated(self.context, || {
            self.streams.each(|stream| {
                // SAFETY: the stream outlives the scope, which borrows it, and its context is current.
                let waited = unsafe { synchronize(self.context, stream) };
                if let Err(error) = waited {
                    is_over &= !error.is_sticky() && wait_for_context(self.context);
                }
                first = first.and(waited);
            });
            Ok(())
        });
        is_over &= activated.is_ok();
        if !is_over {
            self.marks.lose();
        }
        Waited { result: activated.and(first), is_over }
    }

    /// Waits, and returns the result of the scope's body if all is well.
    fn end<R>(self, result: R) -> Result<R, Error> {
        let waited = self.wait();
        std::mem::forget(self);
        waited.result.map(|()| result)
    }
}

/// Waits for a stream. If a capture of another thread forbids that, which is invalid then, waits beside captures.
///
/// # Safety
/// The stream is live, and its context is current.
pub(crate) unsafe fn synchronize(context: &ContextRef, stream: CUstream) -> Result<(), Error> {
    // SAFETY: the caller's word.
    let wait = || unsafe { context_call!(context, cuStreamSynchronize(stream)) };
    match wait() {
        Err(error) if error.is_capture() => beside_captures(context, wait),
        waited => waited,
    }
}

/// Waits for the current context, whose stream could not be waited for; false if that fails too. The error of the
/// stream is reported.
#[cold]
pub(super) fn wait_for_context(context: &ContextRef) -> bool {
    // SAFETY: no arguments; it waits in the current context.
    unsafe { context_call!(context, cuCtxSynchronize()) }.is_ok()
}

/// Waits when the body of the scope panics; a plain return waits itself, to report.
impl<S: Streams> Drop for Wait<'_, S> {
    fn drop(&mut self) {
        if let Err(error) = self.wait().result {
            self.context.swallow(error);
        }
    }
}

impl Current<'_, '_> {
    /// Runs `body`, which may lend device memory to `stream` and queue copies there, and waits for the stream before it
    /// returns, also when `body` panics.
    ///
    /// The result of the body is lost if the wait fails: the work may not have happened, and memory that was lent has
    /// unspecified contents.
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let driver = cuprum::Driver::init(library)?;
    /// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
    /// # let mut stack = cuprum::ContextStack::take()?;
    /// # let cx = stack.push(&context)?;
    /// use cuprum::{Buffer, Stream};
    ///
    /// let stream = Stream::new(&cx)?;
    /// let mut buffer = Buffer::<u32>::alloc(&cx, 3)?;
    /// let (input, mut output) = ([1, 2, 3], [0; 3]);
    /// cx.scope(&stream, |scope| {
    ///     let lent = scope.lend(buffer.as_mut_slice())?;
    ///     lent.copy_from_host(&input)?;
    ///     lent.copy_to_host(&mut output)
    /// })??;
    /// assert_eq!(output, input);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::is_wrong_context`]; the sticky errors of this or earlier work.
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+; where that fails, `cuCtxSynchronize`, CUDA 2.0+; where a capture of another
    /// thread forbids it, `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn scope<'env, R>(
        &'env self,
        stream: &'env Stream<'_>,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> Result<R, Error> {
        let context = self.of(stream.context(), FnId::cuStreamSynchronize)?;
        let (streams, marks) = (stream.as_raw(), Marks::default());
        let wait = Wait { context, streams: &streams, marks: &marks };
        let result = body(&Scope::new(stream, self.token(), &marks));
        wait.end(result)
    }

    /// Runs `body`, which may lend device memory to any number of streams, and waits for all of them before it returns,
    /// also when `body` panics.
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let driver = cuprum::Driver::init(library)?;
    /// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
    /// # let mut stack = cuprum::ContextStack::take()?;
    /// # let cx = stack.push(&context)?;
    /// use cuprum::{Buffer, MemoryError, Stream};
    ///
    /// // As many as the program likes.
    /// let streams: Vec<_> = (0..3).map(|_| Stream::new(&cx)).collect::<Result<_, _>>()?;
    /// let mut parts: Vec<_> = (0..3).map(|_| Buffer::alloc(&cx, 4)).collect::<Result<_, _>>()?;
    /// cx.multi_scope(|scope| {
    ///     for ((stream, part), value) in streams.iter().zip(&mut parts).zip(0u32..) {
    ///         scope.on(stream)?.lend(part.as_mut_slice())?.fill(value)?;
    ///     }
    ///     Ok::<(), MemoryError>(())
    /// })??;
    /// assert_eq!(parts[2].to_vec(&cx)?, [2; 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The sticky errors of this or earlier work.
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, for each stream; where that fails, `cuCtxSynchronize`, CUDA 2.0+; where a
    /// capture of another thread forbids it, `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn multi_scope<'env, R>(
        &'env self,
        body: impl for<'scope> FnOnce(&'scope MultiScope<'scope, 'env>) -> R,
    ) -> Result<R, Error> {
        self.get()?;
        let (streams, marks) = (RefCell::new(Vec::new()), Marks::default());
        let wait = Wait { context: self.context(), streams: &streams, marks: &marks };
        let scope = MultiScope {
            streams: wait.streams,
            token: self.token(),
            marks: wait.marks,
            _scope: PhantomData,
            _env: PhantomData,
            _this_thread: ThisThread::MARK,
        };
        let result = body(&scope);
        wait.end(result)
    }
}

impl<'scope, 'env> MultiScope<'scope, 'env> {
    /// The part of this scope that works on `stream`. Asking for the same stream again gives the same part.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`].
    #[inline]
    pub fn on(&self, stream: &'env Stream<'_>) -> Result<Scope<'scope, 'env>, Error> {
        self.token.of(stream.context(), FnId::cuStreamSynchronize)?;
        let mut streams = self.streams.borrow_mut();
        if !streams.contains(&stream.as_raw()) {
            streams.push(stream.as_raw());
        }
        Ok(Scope::new(stream, self.token, self.marks))
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    pub(super) fn new(stream: &Stream<'_>, token: Token<'scope>, marks: &'scope Marks) -> Self {
        // Where each thread has its own default stream, nothing is left in flight on it.
        let ordered = stream.kind() == StreamKind::Blocking;
        let apart = !ordered && stream.context().library().stream_mode() == StreamMode::Legacy;
        let (_scope, _env, _this_thread) = (PhantomData, PhantomData, ThisThread::MARK);
        Self { stream: stream.as_raw(), apart, token, marks, _scope, _env, _this_thread }
    }

    /// Lends device memory to this scope, to be used any number of times in order.
    ///
    /// A non-blocking stream is not in order with the default stream, on which synchronous copies and fills run; so for
    /// such a stream the host first waits for the default stream.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] if the memory belongs to another context than the stream; on a non-blocking stream
    /// the sticky errors of earlier work.
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, on a non-blocking stream, otherwise none.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn lend<T: DeviceData>(&self, memory: SliceMut<'scope, T>) -> Result<Lent<'scope, T>, Error> {
        self.accept(memory.context())?;
        Ok(Lent::new(LentShared::new(memory.as_raw(), memory.len(), self.stream, self.token)))
    }

    /// Lends device memory to this scope to be read. It may be lent to other streams too, and read by the host meanwhile.
    ///
    /// # Errors
    /// Those of [`lend`](Scope::lend).
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, on a non-blocking stream, otherwise none.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn lend_shared<T: DeviceData>(
        &self,
        memory: Slice<'scope, T>,
    ) -> Result<LentShared<'scope, T>, Error> {
        self.accept(memory.context())?;
        Ok(LentShared::new(memory.as_raw(), memory.len(), self.stream, self.token))
    }

    /// Like [`lend`](Scope::lend), for memory that nobody has used since it was allocated: there is nothing to wait for.
    pub(crate) fn lend_fresh<T: DeviceData>(
        &self,
        memory: SliceMut<'scope, T>,
    ) -> Result<Lent<'scope, T>, Error> {
        self.token.of(memory.context(), FnId::cuStreamSynchronize)?;
        Ok(Lent::new(LentShared::new(memory.as_raw(), memory.len(), self.stream, self.token)))
    }

    /// Lends page-locked memory of the host to this scope: its stream copies from and to it without the host waiting.
    ///
    /// Of the host only the owner can be lent, no slice: if the scope cannot be waited for, the device may go on
    /// writing after it has ended, so that the owner becomes [lost](crate::PinnedBuffer#when-it-is-lost).
    ///
    /// # Errors
    /// [`MemoryError::Lost`]; [`Error::is_wrong_context`] for memory of another context, unless it is portable and of the
    /// same driver.
    pub fn lend_host<M: PageLocked + ?Sized>(
        &self,
        memory: &'scope mut M,
    ) -> Result<LentHost<'scope, M::Element>, MemoryError> {
        let (context, home, elements) = (self.token.get()?, memory.home(), memory.locked());
        let is_near = *context == *home || (elements.is_portable() && context.driver() == home.driver());
        if !is_near {
            return Err(Error::wrong_context(FnId::cuMemcpyDtoHAsync_v2).into());
        }
        if elements.is_lost() {
            return Err(MemoryError::Lost);
        }
        // SAFETY: the owner is borrowed mutably for the scope, and so it is lent to no other. A borrow for the scope
        // lasts beyond its wait, as the body does not choose the lifetime.
        unsafe { self.marks.add(elements.mark()) };
        Ok(LentHost::new(elements.start(), elements.len(), self.stream, self.token))
    }

    /// Accepts memory of the context `home`, on the terms of [`lend`](Scope::lend): for loans of other kinds.
    pub(crate) fn take_in(&self, home: &ContextRef) -> Result<(CUstream, Token<'scope>), Error> {
        self.accept(home)?;
        Ok((self.stream, self.token))
    }

    /// Takes in memory in the order of `stream`, if that is the scope's own: nothing has to be waited for then.
    pub(crate) fn in_order(&self, stream: &Stream<'_>) -> Result<(CUstream, Token<'scope>), MemoryError> {
        self.token.of(stream.context(), FnId::cuStreamSynchronize)?;
        if stream.as_raw() != self.stream {
            return Err(MemoryError::NotInOrder);
        }
        Ok((self.stream, self.token))
    }

    /// The stream and the token, for loans that wait for nothing.
    pub(super) const fn parts(&self) -> (CUstream, Token<'scope>) {
        (self.stream, self.token)
    }

    /// What is marked if the scope cannot be waited for.
    pub(super) const fn marks(&self) -> &'scope Marks {
        self.marks
    }

    /// Checks where memory is from, and waits for what may still write it.
    fn accept(&self, home: &ContextRef) -> Result<(), Error> {
        let context = self.token.of(home, FnId::cuStreamSynchronize)?;
        if self.apart { copy::wait_for_default_stream(context) } else { Ok(()) }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl fmt::Debug for MultiScope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultiScope").field("streams", &self.streams.borrow()).finish_non_exhaustive()
    }
}
