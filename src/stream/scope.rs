//! Work on one stream with memory that is lent to it, in a scope that waits.
//!
//! Why nothing here is copied to the host asynchronously is said in the [module of streams](super).

use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{CUdeviceptr, CUstream, FnId, StreamMode};

use super::{Stream, StreamKind};
use crate::context::{ContextRef, Current, Token};
use crate::error::Error;
use crate::launch::{Argument, In, InOut};
use crate::memory::{DeviceData, MemoryError, SliceMut, bytes_of, copy, same_length};
use crate::raw::call::context_call;
use crate::raw::held::activated;

/// A stretch of work on one stream, which is waited for before it ends.
///
/// Made by [`Current::scope`]. What is copied from and to is borrowed until the end of the scope, so it can be neither
/// touched nor freed while the stream uses it.
pub struct Scope<'scope, 'env: 'scope> {
    stream: CUstream,
    /// Whether what other calls wrote has to be waited for.
    apart: bool,
    token: Token<'scope>,
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
    _this_thread: PhantomData<*mut ()>,
}

/// Device memory lent to a scope: used by its stream alone, in the order of the calls, until the scope ends.
pub struct Lent<'scope, T: DeviceData> {
    address: CUdeviceptr,
    len: usize,
    stream: CUstream,
    token: Token<'scope>,
    _elements: PhantomData<&'scope mut [T]>,
    /// Invariant: with a shorter `'scope`, host memory could be borrowed for less than the scope.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _this_thread: PhantomData<*mut ()>,
}

/// Waits for the scope's stream, on whatever path the scope is left.
struct Wait<'a> {
    context: &'a ContextRef,
    stream: CUstream,
}

impl Wait<'_> {
    /// The context is made current by handle, in case the scope's body left another one. If the stream cannot be waited
    /// for, all of the context is; the error is that of the stream.
    fn wait(&self) -> Result<(), Error> {
        activated(self.context, || {
            // SAFETY: the stream outlives the scope, which borrows it, and its context is current.
            let waited = unsafe { context_call!(self.context, cuStreamSynchronize(self.stream)) };
            waited.inspect_err(|error| {
                if !error.is_sticky() {
                    // SAFETY: no arguments; it waits in the current context. The stream's error is what is reported.
                    let _ = unsafe { context_call!(self.context, cuCtxSynchronize()) };
                }
            })
        })
    }
}

/// Waits when the body of the scope panics; a plain return waits itself, to report.
impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.wait() {
            self.context.swallow(error);
        }
    }
}

impl Current<'_, '_> {
    /// Runs `body`, which may lend device memory to `stream` and queue copies there, and waits for the stream before it
    /// returns, also when `body` panics.
    ///
    /// What the body returns is lost if the wait fails: the work may not have happened, and memory that was lent has
    /// any contents.
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
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+; where that fails, `cuCtxSynchronize`, CUDA 2.0+.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn scope<'env, R>(
        &'env self,
        stream: &'env Stream<'_>,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> Result<R, Error> {
        let context = self.of(stream.context(), FnId::cuStreamSynchronize)?;
        // Where each thread has its own default stream, nothing is left in flight on it.
        let ordered = stream.kind() == StreamKind::Blocking;
        let apart = !ordered && context.library().stream_mode() == StreamMode::Legacy;
        let wait = Wait { context, stream: stream.as_raw() };
        let scope = Scope {
            stream: stream.as_raw(),
            apart,
            token: self.token(),
            _scope: PhantomData,
            _env: PhantomData,
            _this_thread: PhantomData,
        };
        let result = body(&scope);
        let waited = wait.wait();
        std::mem::forget(wait);
        waited.map(|()| result)
    }
}

impl<'scope> Scope<'scope, '_> {
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
    pub fn lend<T: DeviceData>(&'scope self, memory: SliceMut<'scope, T>) -> Result<Lent<'scope, T>, Error> {
        let context = self.token.of(memory.context(), FnId::cuStreamSynchronize)?;
        if self.apart {
            copy::wait_for_default_stream(context)?;
        }
        Ok(Lent {
            address: memory.as_raw(),
            len: memory.len(),
            stream: self.stream,
            token: self.token,
            _elements: PhantomData,
            _scope: PhantomData,
            _this_thread: PhantomData,
        })
    }
}

impl<'scope, T: DeviceData> Lent<'scope, T> {
    /// The number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of the first element in device memory.
    pub const fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// Queues a copy of `host` to the device. `host` cannot be written before the scope ends.
    ///
    /// The host may wait all the same: the driver copies pageable memory in its own time.
    ///
    /// # Errors
    /// [`MemoryError::Length`] unless both have the same length; the sticky errors of earlier work.
    ///
    /// Driver: `cuMemcpyHtoDAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyHtoDAsync_v2")]
    pub fn copy_from_host(&self, host: &'scope [T]) -> Result<(), MemoryError> {
        same_length(self.len, host.len())?;
        let bytes = bytes_of::<T>(self.len)?;
        let context = self.token.get()?;
        // SAFETY: both sides have `bytes` bytes and are borrowed until the scope has waited for this stream.
        unsafe { copy::from_host_on(&context, self.stream, self.address, host.as_ptr().cast(), bytes) }?;
        Ok(())
    }

    /// Waits for the stream and copies to `host`. Blocks until it is there.
    ///
    /// It is no asynchronous copy: after a fault of any kernel, the device would go on writing page-locked memory when
    /// the scope has ended, and no call would tell. Pageable memory is never copied beside the host anyway.
    ///
    /// # Errors
    /// As [`copy_from_host`](Lent::copy_from_host).
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, and `cuMemcpyDtoH_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoH_v2")]
    #[doc(alias = "cuStreamSynchronize")]
    pub fn copy_to_host(&self, host: &'scope mut [T]) -> Result<(), MemoryError> {
        same_length(host.len(), self.len)?;
        let bytes = bytes_of::<T>(self.len)?;
        let context = self.token.get()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the stream outlives the scope, which borrows it, and its context is current.
        unsafe { context_call!(&context, cuStreamSynchronize(self.stream)) }?;
        // SAFETY: both sides have `bytes` bytes, the host side is ours alone, and any bytes are a `T`.
        unsafe { copy::to_host(&context, host.as_mut_ptr().cast(), self.address, bytes) }?;
        Ok(())
    }

    /// Queues a copy from other memory lent to this scope. From itself there is nothing to copy.
    ///
    /// # Errors
    /// As [`copy_from_host`](Lent::copy_from_host).
    ///
    /// Driver: `cuMemcpyDtoDAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoDAsync_v2")]
    pub fn copy_from(&self, source: &Lent<'scope, T>) -> Result<(), MemoryError> {
        same_length(self.len, source.len)?;
        let bytes = bytes_of::<T>(self.len)?;
        let context = self.token.get()?;
        if self.address == source.address {
            // Two loans never overlap otherwise, and the driver leaves open what a copy that overlaps does.
            return Ok(());
        }
        // SAFETY: both sides have `bytes` bytes and are lent to a scope that waits for this stream.
        unsafe { copy::within_on(&context, self.stream, self.address, source.address, bytes) }?;
        Ok(())
    }
}

// SAFETY: a device address, which is eight bytes of plain data.
unsafe impl<T: DeviceData> Argument<In<T>> for &Lent<'_, T> {
    type Raw = CUdeviceptr;

    fn into_raw(self) -> CUdeviceptr {
        self.address
    }
}

// SAFETY: as above.
unsafe impl<T: DeviceData> Argument<InOut<T>> for &Lent<'_, T> {
    type Raw = CUdeviceptr;

    fn into_raw(self) -> CUdeviceptr {
        self.address
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl<T: DeviceData> fmt::Debug for Lent<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lent({:#x}, {} elements)", self.address, self.len)
    }
}
