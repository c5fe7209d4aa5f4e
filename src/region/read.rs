//! Reads: copies to the host that can be waited for or awaited.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use cuprum_sys::FnId;

use super::{Mark, Pinned, Queue, Region, RegionError};
use crate::context::Current;
use crate::memory::{copy, same_length};
use crate::raw::debug::debug;
use crate::stream::Reached;

/// A copy of a region to page-locked memory in progress. [`wait`](Read::wait), on any thread, or
/// this value as a future returns the memory.
///
/// Dropping it makes no driver call and does not wait: the memory returns to the pool, which does
/// not reuse it before the copy is complete. If a wait fails, the memory is not returned, because
/// the device may still write it.
///
/// The future needs no runtime. If necessary, the driver wakes it on its own thread: see
/// [`Reached`].
///
/// ```
/// # cuprum::example!(driver, context);
/// # context.enter(|cx| {
/// let pool = cuprum::region::Pool::new(cx);
/// let queue = pool.queue(cx)?;
/// let region = queue.alloc(cx, 4)?;
/// queue.fill(cx, &region, 7u8)?;
/// let read = queue.read(cx, &region, pool.pinned(cx, 4)?)?;
/// assert_eq!(read.wait()?[..], [7; 4]);
/// # Ok(()) })?; Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "it has the memory that the copy writes"]
pub struct Read(Option<Flight>);

struct Flight {
    memory: Pinned,
    mark: Mark,
    /// `Some` if the future has to wait.
    reached: Option<Reached<'static>>,
}

impl Queue {
    /// Queues a copy of a region to page-locked memory of the same size. After an error the memory
    /// returns to the pool.
    ///
    /// # Errors
    /// [`MemoryError::Length`](crate::MemoryError::Length) in [`RegionError::Memory`];
    /// [`RegionError::NotOrdered`]; [`RegionError::Recording`];
    /// [`Error::WRONG_CONTEXT`](crate::Error::WRONG_CONTEXT).
    ///
    /// Driver: `cuMemcpyDtoHAsync_v2`, CUDA 3.2+, and `cuEventRecord`, CUDA 2.0+, the first time
    /// `cuEventCreate`, CUDA 2.0+.
    #[doc(alias("cuMemcpyDtoHAsync_v2", "cuEventRecord"))]
    pub fn read(&self, cx: &Current<'_, 'static>, from: &Region, to: Pinned) -> Result<Read, RegionError> {
        const CALL: FnId = FnId::cuMemcpyDtoHAsync_v2;
        let context = cx.require(self.context(), CALL)?;
        same_length(to.len(), from.len())?;
        let core = self.core();
        let mode = core.change()?;
        mode.eager()?;
        for block in [from.block(), to.block()] {
            block.check_context(core, CALL)?;
            block.touch(core, &mode)?;
        }
        // SAFETY: both have this many bytes. This value owns the host side until a wait succeeds.
        unsafe { copy::to_host_on(context, self.as_raw(), to.start().cast(), from.as_raw(), to.len()) }?;
        let mark = Mark::make(cx, self, &mode)?;
        Ok(Read(Some(Flight { memory: to, mark, reached: None })))
    }
}

impl Read {
    /// True if the copy is complete. Does not wait.
    ///
    /// Driver: `cuEventQuery`, CUDA 2.0+; if a capture forbids that,
    /// `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias = "cuEventQuery")]
    pub fn is_done(&self) -> Result<bool, RegionError> {
        self.0.as_ref().map_or(Ok(true), |flight| flight.mark.is_done())
    }

    /// Waits on the host until the copy is complete, and returns the memory. A capture of streams
    /// that forbids waits becomes invalid.
    ///
    /// # Errors
    /// Sticky errors of this or earlier work; then the memory is not returned.
    ///
    /// Driver: `cuEventSynchronize`, CUDA 2.0+; if a capture forbids that,
    /// `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias = "cuEventSynchronize")]
    pub fn wait(mut self) -> Result<Pinned, RegionError> {
        match self.0.take() {
            Some(flight) => flight.wait(),
            None => Err(RegionError::Lost),
        }
    }
}

impl Flight {
    fn wait(self) -> Result<Pinned, RegionError> {
        self.mark.synchronize()?;
        Ok(self.memory)
    }

    /// Returns the memory if the copy is complete; otherwise wakes the task when it is. If the
    /// driver cannot do that, the host waits.
    fn poll(mut self, task: &mut Context<'_>) -> Result<Poll<Result<Pinned, RegionError>>, Self> {
        if self.reached.is_none() {
            match self.mark.is_done() {
                Ok(true) => return Ok(Poll::Ready(Ok(self.memory))),
                Ok(false) => {}
                Err(error) => return Ok(Poll::Ready(Err(error))),
            }
            match self.ring() {
                Ok(reached) => self.reached = Some(reached),
                Err(error) => {
                    if let RegionError::Driver(error) = error {
                        self.mark.queue().context().swallow(error);
                    }
                    return Ok(Poll::Ready(self.wait()));
                }
            }
        }
        let Some(reached) = &mut self.reached else { return Err(self) };
        match Pin::new(reached).poll(task) {
            Poll::Pending => Err(self),
            Poll::Ready(Ok(())) => {
                self.mark.passed();
                Ok(Poll::Ready(Ok(self.memory)))
            }
            // The driver's callback itself may have failed.
            Poll::Ready(Err(_)) => Ok(Poll::Ready(self.wait())),
        }
    }

    /// Makes the driver call after the copy, on a separate stream, which is never recorded.
    fn ring(&self) -> Result<Reached<'static>, RegionError> {
        let core = self.mark.queue().core();
        let event = self.mark.event()?;
        core.kept_context().enter_as(|cx| Ok(event.reached(cx, core.bell(cx)?)?))
    }
}

impl Future for Read {
    type Output = Result<Pinned, RegionError>;

    /// It is ready only once.
    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(flight) = self.0.take() else { return Poll::Pending };
        match flight.poll(task) {
            Ok(answer) => answer,
            Err(flight) => {
                self.0 = Some(flight);
                Poll::Pending
            }
        }
    }
}

debug! {
    Read: |this, f|
    f.debug_struct("Read").field("memory", &this.0.as_ref().map(|flight| &flight.memory)).finish()
}
