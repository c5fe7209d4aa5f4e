//! Launches of executable graphs, and waits for them.

use std::marker::PhantomData;

use cuprum_sys::{CUgraphExec, CUstream, FnId};

use super::error::GraphError;
use super::exec::GraphExec;
use crate::context::{Current, Token, context_call, waited_for};
#[cfg(doc)]
use crate::error::Error;
use crate::memory::copy;
use crate::raw::debug::debug;
use crate::raw::this_thread::ThisThread;
use crate::stream::{Scope, Stream};

/// An executable graph that is lent to a scope by [`Scope::lend_graph`].
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::graph::{Graph, InstantiateFlags};
/// use cuprum::{Buffer, Stream};
///
/// let mut graph = Graph::new(&cx)?;
/// let memory = graph.lend(Buffer::<u32>::zeroed(&cx, 4)?)?;
/// graph.add_fill(&cx, &[], memory, 3)?;
/// let mut exec = graph.instantiate(&cx, InstantiateFlags::empty())?;
/// let stream = Stream::new(&cx)?;
/// cx.scope(&stream, |scope| {
///     let graph = scope.lend_graph(&mut exec)?;
///     graph.launch()?;
///     Ok(graph.launch()?)
/// })?;
/// assert_eq!(exec.view(memory)?.to_vec(&cx)?, [3; 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LentGraph<'scope> {
    graph: CUgraphExec,
    stream: CUstream,
    token: Token<'scope>,
    /// Invariant, as in other loans to scopes.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _this_thread: ThisThread,
}

impl LentGraph<'_> {
    /// Queues the graph on the scope's stream. The host does not wait. Launches of one graph run
    /// one after another.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if an earlier launch allocated memory and did not free it; the
    /// sticky errors of earlier work.
    ///
    /// Driver: `cuGraphLaunch`, CUDA 10.0+.
    #[doc(alias = "cuGraphLaunch")]
    #[inline]
    pub fn launch(&self) -> Result<(), GraphError> {
        let context = self.token.get()?;
        // SAFETY: the graph is live and borrowed until the scope has waited for the stream, which
        // is live and of the current context. The code that added the nodes is responsible for
        // them.
        Ok(unsafe { context_call!(&context, cuGraphLaunch(self.graph, self.stream)) }?)
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Lends an executable graph to this scope, which can launch it any number of times in order
    /// with its other work. If the wait at the end of the scope fails, the graph is
    /// [lost](GraphError::Lost).
    ///
    /// A panic of one of its host functions is kept for [`take_panic`](GraphExec::take_panic).
    ///
    /// Example: see [`LentGraph`].
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`]; [`GraphError::Lost`]; on a non-blocking stream the sticky errors
    /// of earlier work.
    ///
    /// Driver: `cuStreamSynchronize`, CUDA 2.0+, on a non-blocking stream, otherwise none.
    #[doc(alias = "cuStreamSynchronize")]
    pub fn lend_graph(&self, graph: &'scope mut GraphExec<'_>) -> Result<LentGraph<'scope>, GraphError> {
        graph.at_rest()?;
        self.accept(graph.context())?;
        let (stream, token) = (self.stream(), self.token());
        // SAFETY: the executable is borrowed mutably for the scope, beyond its wait, and so its
        // mark is in no other chain.
        unsafe { self.marks().add(&graph.inner.mark) };
        let (_scope, _this_thread) = (PhantomData, ThisThread::MARK);
        Ok(LentGraph { graph: graph.as_raw(), stream, token, _scope, _this_thread })
    }
}

impl GraphExec<'_> {
    /// Launches the graph once on `stream`, and waits for it.
    ///
    /// On a non-blocking stream the host first waits for the default stream, on which synchronous
    /// copies and fills run. If the wait fails, the graph is [lost](GraphError::Lost).
    ///
    /// Example: see [`GraphExec`].
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`]; [`GraphError::Lost`]; [`GraphError::Panicked`] if a host function
    /// has panicked; `CUDA_ERROR_INVALID_VALUE` if an earlier launch allocated memory and did not
    /// free it; the sticky errors of this or earlier work.
    ///
    /// Driver: `cuGraphLaunch`, CUDA 10.0+, and `cuStreamSynchronize`, CUDA 2.0+; if that fails,
    /// `cuCtxSynchronize`, CUDA 2.0+; if a capture of another thread forbids it,
    /// `cuThreadExchangeStreamCaptureMode`, CUDA 10.1+.
    #[doc(alias("cuGraphLaunch", "cuStreamSynchronize"))]
    #[inline]
    pub fn launch(&mut self, cx: &Current<'_, '_>, stream: &Stream<'_>) -> Result<(), GraphError> {
        let context = cx.of_both([self.context(), stream.context()], FnId::cuGraphLaunch)?;
        self.at_rest()?;
        if stream.is_apart() {
            copy::wait_for_default_stream(context)?;
        }
        let (graph, stream) = (self.as_raw(), stream.as_raw());
        // SAFETY: graph and stream are live and of the current context, and the graph is borrowed
        // until the wait below.
        let launched = unsafe { context_call!(context, cuGraphLaunch(graph, stream)) };
        // After an error too, because the launch may have been queued. SAFETY: as above.
        let (waited, is_over) = unsafe { waited_for(context, stream) };
        if !is_over {
            self.inner.mark.lose();
        }
        waited.and(launched)?;
        self.check_panics()
    }

    /// Queues the graph on `stream` and does not wait.
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`]; [`GraphError::Lost`]; `CUDA_ERROR_INVALID_VALUE` if an earlier
    /// launch allocated memory and did not free it; the sticky errors of earlier work.
    ///
    /// # Safety
    /// Until a wait for the launch has succeeded:
    /// 1. The executable is not dropped, closed or updated, and the objects that it borrows are not
    ///    freed. If a wait fails, the executable is forgotten.
    /// 2. The memory of the graph is not accessed through [`view`](GraphExec::view) or
    ///    [`view_mut`](GraphExec::view_mut), except device memory in stream order.
    ///
    /// Driver: `cuGraphLaunch`, CUDA 10.0+.
    #[doc(alias = "cuGraphLaunch")]
    #[inline]
    pub unsafe fn launch_unwaited(
        &self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
    ) -> Result<(), GraphError> {
        let context = cx.of_both([self.context(), stream.context()], FnId::cuGraphLaunch)?;
        self.at_rest()?;
        let (graph, stream) = (self.as_raw(), stream.as_raw());
        // SAFETY: graph and stream are live and of the current context; the caller is responsible
        // for the rest.
        Ok(unsafe { context_call!(context, cuGraphLaunch(graph, stream)) }?)
    }
}

debug! {
    LentGraph<'_>: |this, f|
    f.debug_struct("LentGraph").field("graph", &this.graph).field("stream", &this.stream).finish()
}
