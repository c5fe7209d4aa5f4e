//! Ends captures, also when their result is not used.

use cuprum_sys::{CUgraph, CUresult, CUstream};

use crate::context::{ContextRef, context_call};
use crate::error::Error;
use crate::raw::held::activated;

/// Ends a capture, on every path out of the closure.
pub(crate) struct End<'s> {
    pub(crate) context: &'s ContextRef,
    pub(crate) stream: CUstream,
    /// False if the nodes are added to a graph that existed before.
    pub(crate) makes_a_graph: bool,
}

impl End<'_> {
    /// Ends the capture. Retries after an error, because a stream that stays in capture would be
    /// useless.
    pub(crate) fn end(&self) -> Result<CUgraph, Error> {
        activated(self.context, || {
            let ended = self.ask();
            if ended.is_err() {
                match self.ask() {
                    Ok(graph) => self.destroy(graph),
                    // The capture has ended already, or is invalid as before.
                    Err(error) if is_refused(error) || error.is_capture() => {}
                    Err(error) => self.context.swallow(error),
                }
            }
            ended
        })
    }

    fn ask(&self) -> Result<CUgraph, Error> {
        let mut graph = CUgraph::null();
        // SAFETY: the capturing code borrows the stream, and its context is current.
        unsafe { context_call!(self.context, cuStreamEndCapture(self.stream, &raw mut graph)) }?;
        Ok(graph)
    }

    /// Destroys a graph that a capture made and that is not used.
    fn destroy(&self, graph: CUgraph) {
        if !self.makes_a_graph || graph.is_null() {
            return;
        }
        // SAFETY: the capture that has just ended made the graph, and no other code has it.
        if let Err(error) = unsafe { context_call!(self.context, cuGraphDestroy(graph)) } {
            self.context.swallow(error);
        }
    }

    /// Ends a capture whose result is not used. Ignores that it was invalid.
    fn discard(&self) {
        match self.end() {
            Ok(graph) => self.destroy(graph),
            Err(error) if error.is_capture() => {}
            Err(error) => self.context.swallow(error),
        }
    }

    /// Checks the answer of a call that begins a capture. After an error the capture may have
    /// begun, unless the error says that the stream was captured before.
    pub(crate) fn begun(&self, answer: Result<(), Error>) -> Result<(), Error> {
        if answer.is_err_and(|error| !is_refused(error)) {
            self.destroy(self.ask().unwrap_or(CUgraph::null()));
        }
        answer
    }
}

/// True if a call did nothing because the stream is captured, or because it is not.
fn is_refused(error: Error) -> bool {
    error.code() == CUresult::CUDA_ERROR_ILLEGAL_STATE || error.is_unresolved() || error.is_forked()
}

/// Ends the capture if the closure panics. Without a panic, the caller ends it.
pub(super) struct Abandon<'s>(pub(super) End<'s>);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.discard();
    }
}
