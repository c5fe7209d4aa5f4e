//! Asynchronous copies, in a scope that waits for them.

use std::fmt;
use std::marker::PhantomData;

use cuprum_sys::{CUdeviceptr, CUstream, FnId, StreamMode};

use crate::context::owned::activated;
use crate::context::{ContextRef, Current};
use crate::error::{Error, context_call};
use crate::launch::{Argument, In, InOut};
use crate::memory::{DeviceData, MemoryError, SliceMut, bytes_of, same_length};
use crate::stream::{Stream, StreamKind};

/// A stretch of work on one stream, which is waited for before it ends.
///
/// Made by [`Current::scope`]. What is copied from and to is borrowed until the end of the scope, so host memory
/// can be neither touched nor freed while a copy of it is in flight.
pub struct Scope<'scope, 'env: 'scope> {
    stream: CUstream,
    context: &'scope ContextRef,
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
    _this_thread: PhantomData<*mut ()>,
}

/// Device memory lent to a scope: used by its stream alone, in the order of the calls, until the scope ends.
pub struct Lent<'scope, T: DeviceData> {
    address: CUdeviceptr,
    len: usize,
    stream: CUstream,
    context: &'scope ContextRef,
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
    /// Returns when nothing of the scope can be in flight: the stream is done, or its context is lost.
    ///
    /// The context is made current by handle, in case the scope's body left another one. If neither the stream nor
    /// the context can be waited for although the device runs on, the process is aborted: the memory that was lent
    /// would be touched after its loan. No sound program gets there; one whose unsafe code destroyed the stream, or
    /// left it capturing, does.
    fn wait(&self) -> Result<(), Error> {
        let waited = activated(self.context, || {
            // SAFETY: the stream outlives the scope, which borrows it, and its context is current.
            unsafe { context_call!(self.context, cuStreamSynchronize(self.stream)) }
        });
        match waited {
            Err(error) if !stopped(error) => {
                // The stream could not be waited for, so all of the context is.
                let all = activated(self.context, || {
                    // SAFETY: no arguments; it waits in the context made current.
                    unsafe { context_call!(self.context, cuCtxSynchronize()) }
                });
                match all {
                    Err(other) if !stopped(other) => std::process::abort(),
                    _ => Err(error),
                }
            }
            waited => waited,
        }
    }
}

/// Whether a failed wait means that the device no longer works for this process: its context is lost, the driver
/// has shut down, or this is a forked child, whose memory no device knows.
fn stopped(error: Error) -> bool {
    error.is_sticky() || error.is_deinitialized() || error.is_forked()
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
    /// Runs `body`, which may queue asynchronous copies on `stream`, and waits for the stream before it returns,
    /// also when `body` panics.
    ///
    /// On a non-blocking stream, and where each thread has its own default stream, it first waits for the default
    /// stream, so that what synchronous copies wrote is there. What the body returns is lost if the wait fails: the
    /// copies may not have happened.
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
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+: once, and once more before the body on a non-blocking stream.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn scope<'env, R>(
        &'env self,
        stream: &'env Stream<'_>,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> Result<R, Error> {
        let context = self.of(stream.context(), FnId::cuStreamSynchronize)?;
        let apart = stream.kind() == StreamKind::NonBlocking;
        if apart || context.library().stream_mode() == StreamMode::PerThread {
            // SAFETY: the null stream is the default stream, of the context or of this thread.
            unsafe { context_call!(context, cuStreamSynchronize(CUstream::null())) }?;
        }
        let stream = stream.as_raw();
        let wait = Wait { context, stream };
        let scope =
            Scope { stream, context, _scope: PhantomData, _env: PhantomData, _this_thread: PhantomData };
        let result = body(&scope);
        let waited = wait.wait();
        std::mem::forget(wait);
        waited.map(|()| result)
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Lends device memory to this scope, to be used any number of times in order.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`] if the memory belongs to another context than the stream.
    pub fn lend<T: DeviceData>(&'scope self, memory: SliceMut<'scope, T>) -> Result<Lent<'scope, T>, Error> {
        if memory.context() != self.context {
            return Err(Error::wrong_context(FnId::cuMemcpyDtoDAsync_v2));
        }
        Ok(Lent {
            address: memory.as_raw(),
            len: memory.len(),
            stream: self.stream,
            context: self.context,
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
        let (address, source) = (self.address, host.as_ptr().cast());
        if bytes != 0 {
            // SAFETY: both sides have `bytes` bytes and are borrowed until the scope has waited for this stream.
            unsafe {
                context_call!(self.context, cuMemcpyHtoDAsync_v2(address, source, bytes, self.stream))
            }?;
        }
        Ok(())
    }

    /// Queues a copy to `host`, which cannot be touched before the scope ends.
    ///
    /// # Errors
    /// As [`copy_from_host`](Lent::copy_from_host).
    ///
    /// Driver: `cuMemcpyDtoHAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoHAsync_v2")]
    pub fn copy_to_host(&self, host: &'scope mut [T]) -> Result<(), MemoryError> {
        same_length(host.len(), self.len)?;
        let bytes = bytes_of::<T>(self.len)?;
        let destination = host.as_mut_ptr().cast();
        if bytes != 0 {
            // SAFETY: as for the other direction; the host side is ours alone, and any bytes are a `T`.
            unsafe {
                context_call!(
                    self.context,
                    cuMemcpyDtoHAsync_v2(destination, self.address, bytes, self.stream)
                )
            }?;
        }
        Ok(())
    }

    /// Queues a copy from other memory lent to this scope.
    ///
    /// # Errors
    /// As [`copy_from_host`](Lent::copy_from_host).
    ///
    /// Driver: `cuMemcpyDtoDAsync_v2`, CUDA 3.2+.
    #[doc(alias = "cuMemcpyDtoDAsync_v2")]
    pub fn copy_from(&self, source: &Lent<'scope, T>) -> Result<(), MemoryError> {
        same_length(self.len, source.len)?;
        let bytes = bytes_of::<T>(self.len)?;
        let (address, source) = (self.address, source.address);
        if bytes != 0 {
            // SAFETY: both sides have `bytes` bytes and are lent to a scope that waits for this stream.
            unsafe {
                context_call!(self.context, cuMemcpyDtoDAsync_v2(address, source, bytes, self.stream))
            }?;
        }
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
