//! Launching executable graphs, and waiting for them.

use std::cell::Cell;
use std::fmt;

use cuprum_sys::{CUgraphExec, CUstream, FnId, StreamMode};

use super::{Executable, GraphError};
use crate::context::{ContextRef, Current, Token};
use crate::error::Error;
use crate::memory::copy;
use crate::raw::call::context_call;
use crate::raw::held::activated;
use crate::stream::{Stream, StreamKind, synchronize};

/// An executable graph lent to a stretch of work on a stream, which is waited for before it ends: made by
/// [`Executable::replay`].
///
/// Example: that of [`Executable::replay`], `replay`.
pub struct Replay<'s> {
    graph: CUgraphExec,
    stream: CUstream,
    token: Token<'s>,
    in_flight: &'s Cell<bool>,
}

impl Replay<'_> {
    /// Queues the graph on the stream. The host does not wait; replays of one graph run one after the other.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` where the graph left memory that it allocated; the sticky errors of earlier work.
    ///
    /// Driver: `cuGraphLaunch`, CUDA 10.0+.
    #[doc(alias = "cuGraphLaunch")]
    #[inline]
    pub fn launch(&self) -> Result<(), GraphError> {
        let context = self.token.get()?;
        self.in_flight.set(true);
        // SAFETY: the graph is live and lent to this until the stream was waited for; the stream is live and of the
        // current context. The caller vouched for the nodes when they were added.
        Ok(unsafe { context_call!(&context, cuGraphLaunch(self.graph, self.stream)) }?)
    }
}

/// Waits for the stream, on whatever path the closure is left.
struct Wait<'s> {
    context: &'s ContextRef,
    stream: CUstream,
    in_flight: &'s Cell<bool>,
}

impl Wait<'_> {
    /// Waits for the stream, or else for all of the context. The graph stays in flight unless a wait succeeds.
    fn wait(&self) -> Result<(), Error> {
        activated(self.context, || {
            // SAFETY: the stream is borrowed by whoever waits, and its context is current.
            let waited = unsafe { synchronize(self.context, self.stream) };
            let over = match waited {
                Ok(()) => true,
                Err(error) if error.is_sticky() => false,
                // SAFETY: no arguments; it waits in the current context. The stream's error is reported.
                Err(_) => unsafe { context_call!(self.context, cuCtxSynchronize()) }.is_ok(),
            };
            if over {
                self.in_flight.set(false);
            }
            waited
        })
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.wait() {
            self.context.swallow(error);
        }
    }
}

impl Executable<'_> {
    /// Runs `body`, which may launch the graph on `stream` any number of times, and waits for the stream before it
    /// returns, also when `body` panics.
    ///
    /// On a non-blocking stream the host first waits for the default stream, on which synchronous copies and fills run.
    /// The result of the body is lost if the wait fails, and then so is the graph.
    ///
    /// ```
    /// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
    /// # let driver = cuprum::Driver::init(library)?;
    /// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
    /// # let mut stack = cuprum::ContextStack::take()?;
    /// # let cx = stack.push(&context)?;
    /// use cuprum::graph::{Graph, InstantiateFlags};
    /// use cuprum::{Buffer, Stream};
    ///
    /// let mut graph = Graph::new(&cx)?;
    /// let memory = graph.give(Buffer::<f32>::zeroed(&cx, 4)?)?;
    /// let (copy, input) = graph.add_copy_from_host(&cx, &[], memory, vec![0.0; 4])?;
    /// let (_, output) = graph.add_copy_to_host(&cx, &[copy], memory, vec![0.0; 4])?;
    /// let mut executable = graph.instantiate(&cx, InstantiateFlags::empty())?;
    ///
    /// let stream = Stream::new(&cx)?;
    /// for round in [1.0, 2.0] {
    ///     executable.host_mut(input)?.fill(round);
    ///     executable.replay(&cx, &stream, |replay| replay.launch())??;
    ///     assert_eq!(executable.host(output)?, [round; 4]);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::is_wrong_context`]; [`GraphError::Lost`]; [`GraphError::Panicked`] if a host function has panicked; the
    /// sticky errors of this or earlier work.
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+; where that fails, `cuCtxSynchronize`, CUDA 2.0+; where a capture of another
    /// thread forbids it, `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn replay<R>(
        &mut self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
        body: impl for<'s> FnOnce(&'s Replay<'s>) -> R,
    ) -> Result<R, GraphError> {
        let context = cx.of_both([self.context(), stream.context()], FnId::cuGraphLaunch)?;
        self.at_rest()?;
        let beside = stream.kind() == StreamKind::NonBlocking;
        if beside && context.library().stream_mode() == StreamMode::Legacy {
            copy::wait_for_default_stream(context)?;
        }
        let (graph, in_flight) = (self.as_raw(), &self.inner.in_flight);
        let wait = Wait { context, stream: stream.as_raw(), in_flight };
        let result = body(&Replay { graph, stream: stream.as_raw(), token: cx.token(), in_flight });
        let waited = wait.wait();
        std::mem::forget(wait);
        waited?;
        self.check_panics()?;
        Ok(result)
    }

    /// Launches the graph once on `stream`, and waits for it.
    ///
    /// # Errors
    /// Those of [`replay`](Executable::replay) and [`Replay::launch`].
    ///
    /// Driver: `cuGraphLaunch`, CUDA 10.0+, and `cuStreamSynchronize`, CUDA 2.0+; where that fails, `cuCtxSynchronize`,
    /// CUDA 2.0+.
    #[doc(alias = "cuGraphLaunch")]
    #[doc(alias = "cuStreamSynchronize")]
    #[inline]
    pub fn run(&mut self, cx: &Current<'_, '_>, stream: &Stream<'_>) -> Result<(), GraphError> {
        self.replay(cx, stream, |replay| replay.launch())?
    }

    /// Queues the graph on `stream`. The host does not wait, and nobody else does.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`]; [`GraphError::Lost`]; `CUDA_ERROR_INVALID_VALUE` where the graph left memory that it
    /// allocated; the sticky errors of earlier work.
    ///
    /// # Safety
    /// Until the replay has finished, as a wait that succeeded tells:
    /// 1. This is not dropped, closed or updated, and nothing that it borrows is freed. If a wait fails, it is forgotten.
    /// 2. No memory that the graph has is accessed through [`slice`](Executable::slice) and similar methods, except in
    ///    an order that the stream gives; that of the host not at all.
    ///
    /// Driver: `cuGraphLaunch`, CUDA 10.0+.
    #[doc(alias = "cuGraphLaunch")]
    #[inline]
    pub unsafe fn launch(&self, cx: &Current<'_, '_>, stream: &Stream<'_>) -> Result<(), GraphError> {
        let context = cx.of_both([self.context(), stream.context()], FnId::cuGraphLaunch)?;
        self.at_rest()?;
        let (graph, stream) = (self.as_raw(), stream.as_raw());
        // SAFETY: graph and stream are live and of the current context; the caller answers for the rest.
        Ok(unsafe { context_call!(context, cuGraphLaunch(graph, stream)) }?)
    }
}

impl fmt::Debug for Replay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").field("graph", &self.graph).field("stream", &self.stream).finish()
    }
}
