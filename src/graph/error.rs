//! Errors of graphs.

use cuprum_sys::CUgraphExecUpdateResult;

use super::node::Node;
use crate::error::Error;
use crate::launch::LaunchError;
use crate::memory::MemoryError;

/// Error of an operation on a graph.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::graph::{Graph, GraphError};
///
/// let (mut first, mut second) = (Graph::new(&cx)?, Graph::new(&cx)?);
/// let node = first.add_empty(&cx, &[])?;
/// assert_eq!(second.add_empty(&cx, &[node]), Err(GraphError::Foreign));
///
/// first.remove(&cx, node)?;
/// assert_eq!(first.add_empty(&cx, &[node]), Err(GraphError::Removed));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A node, or a loan of memory, belongs to another graph, or to another part of this one. The
    /// driver was not called.
    #[error("a node or a loan of memory of another graph was given: each graph has its own")]
    Foreign,
    /// The node was removed from its graph. The driver was not called.
    #[error("the node was removed from the graph")]
    Removed,
    /// A capture into this graph failed, and the nodes that it left there are unknown. The driver
    /// was not called.
    #[error("a capture into this graph failed half-way: build the graph anew")]
    Incomplete,
    /// A wait for a replay failed, so the device may still use the memory of the graph. The graph
    /// is lost: its memory is never read or freed again.
    #[error("a wait for this graph has failed: the device may still work on its memory, which is lost")]
    Lost,
    /// A host function of the graph panicked;
    /// [`GraphExec::take_panic`](super::GraphExec::take_panic) has the payload.
    #[error("a host function of the graph panicked")]
    Panicked,
    /// The requested memory exists only while the graph runs, or was lent only to be read.
    #[error("memory that the graph allocates exists only while the graph runs")]
    Inside,
    /// A file name contains a NUL.
    #[error("a file name cannot have a NUL inside")]
    FileName,
    /// An executable graph could not take over the parameters of another graph, and has not
    /// changed.
    #[error("the executable graph cannot be updated: {why:?}; {error}")]
    Update {
        /// The difference.
        why: CUgraphExecUpdateResult,
        /// The node of the new graph that caused it, if the driver names a known node.
        node: Option<Node>,
        /// The answer of the driver.
        error: Error,
    },
    /// An impossible copy or fill.
    #[error(transparent)]
    Memory(MemoryError),
    /// An impossible launch.
    #[error(transparent)]
    Launch(LaunchError),
    /// The driver refused.
    #[error(transparent)]
    Driver(#[from] Error),
}

impl From<MemoryError> for GraphError {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Driver(error) => Self::Driver(error),
            error => Self::Memory(error),
        }
    }
}

impl From<LaunchError> for GraphError {
    fn from(error: LaunchError) -> Self {
        match error {
            LaunchError::Driver(error) => Self::Driver(error),
            error => Self::Launch(error),
        }
    }
}
