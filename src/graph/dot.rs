//! Graphs as text for Graphviz.

use std::ffi::CString;
use std::path::Path;

use cuprum_sys::CUgraphDebugDot_flags;

use super::error::GraphError;
use super::graph::Graph;
use crate::context::context_call;

/// Details of nodes that [`Graph::print_dot`] writes.
pub type DotFlags = CUgraphDebugDot_flags;

impl Graph<'_> {
    /// Writes the graph to a file in the DOT language of Graphviz. Replaces the file.
    ///
    /// # Errors
    /// [`GraphError::FileName`]; `CUDA_ERROR_OPERATING_SYSTEM` or another code if it cannot be
    /// written.
    ///
    /// Driver: `cuGraphDebugDotPrint`, CUDA 11.3+.
    #[doc(alias = "cuGraphDebugDotPrint")]
    pub fn print_dot(&self, path: impl AsRef<Path>, flags: DotFlags) -> Result<(), GraphError> {
        self.check_complete()?;
        let path = path.as_ref().as_os_str().as_encoded_bytes();
        let path = CString::new(path).map_err(|_| GraphError::FileName)?;
        let (graph, flags) = (self.as_raw(), flags.0);
        // SAFETY: the graph is live, and the name is a string that outlives the call.
        Ok(unsafe { context_call!(self.context(), cuGraphDebugDotPrint(graph, path.as_ptr(), flags)) }?)
    }
}
