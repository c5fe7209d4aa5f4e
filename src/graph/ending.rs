//! Ending captures, also those whose result nobody wants.

use cuprum_sys::{CUgraph, CUresult, CUstream};

use crate::context::ContextRef;
use crate::error::Error;
use crate::raw::call::context_call;
use crate::raw::held::activated;

/// Ends a capture, on whatever path the closure is left.
pub(crate) struct End<'s> {
    pub(crate) context: &'s ContextRef,
    pub(crate) stream: CUstream,
    /// False if the nodes are added to a graph that existed before.
    pub(crate) makes_a_graph: bool,
}

impl End<'_> {
    /// Ends the capture; if that fails, once more, since a stream that stayed in capture would be useless.
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
        // SAFETY: the stream is borrowed by whoever captures, and its context is current.
        unsafe { context_call!(self.context, cuStreamEndCapture(self.stream, &raw mut graph)) }?;
        Ok(graph)
    }

    /// Destroys a graph that a capture made and nobody wants.
    fn destroy(&self, graph: CUgraph) {
        if !self.makes_a_graph || graph.is_null() {
            return;
        }
        // SAFETY: the graph was made by the capture that has just ended, and nobody else has it.
        if let Err(error) = unsafe { context_call!(self.context, cuGraphDestroy(graph)) } {
            self.context.swallow(error);
        }
    }

    /// Ends a capture whose result nobody wants. That it was invalid is no news.
    fn discard(&self) {
        match self.end() {
            Ok(graph) => self.destroy(graph),
            Err(error) if error.is_capture() => {}
            Err(error) => self.context.swallow(error),
        }
    }

    /// Checks the answer of a call that begins a capture. After an error the capture may have begun all the same,
    /// unless the error says that the stream was being captured before.
    pub(crate) fn begun(&self, answer: Result<(), Error>) -> Result<(), Error> {
        if answer.is_err_and(|error| !is_refused(error)) {
            self.destroy(self.ask().unwrap_or(CUgraph::null()));
        }
        answer
    }
}

/// True if a call did nothing, since the stream is captured, or is not.
fn is_refused(error: Error) -> bool {
    error.code() == CUresult::CUDA_ERROR_ILLEGAL_STATE || error.is_unresolved() || error.is_forked()
}

/// Ends the capture if the closure panics; a plain return ends it itself.
pub(super) struct Abandon<'s>(pub(super) End<'s>);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.discard();
    }
}
