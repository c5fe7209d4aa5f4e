//! Errors of graphs.

use cuprum_sys::CUgraphExecUpdateResult;

use super::Node;
use crate::error::{Error, messages};
use crate::launch::LaunchError;
use crate::memory::MemoryError;

/// Error of an operation on a graph.
///
/// # Example
/// ```
/// # let (library, _) = cuprum_emulator::open_driver_or_emulator()?;
/// # let driver = cuprum::Driver::init(library)?;
/// # let context = cuprum::PrimaryContext::retain(driver.device(0)?)?;
/// # let mut stack = cuprum::ContextStack::take()?;
/// # let cx = stack.push(&context)?;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphError {
    /// A node, or a loan of memory, belongs to another graph, or to another part of this one. The driver was not called.
    Foreign,
    /// The node was removed from its graph. The driver was not called.
    Removed,
    /// A capture into this graph failed, and the nodes that it left there are not known. The driver was not called.
    Incomplete,
    /// A wait for a replay failed, so that the device may still work on the graph's memory. The graph is lost: its
    /// memory is neither read nor freed any more.
    Lost,
    /// A host function of the graph panicked; [`Executable::take_panic`](super::Executable::take_panic) has the payload.
    Panicked,
    /// Memory that exists only while the graph runs, or that is only lent to be read, was asked for.
    Inside,
    /// A file name with a NUL inside.
    FileName,
    /// An executable graph could not take over the parameters of another graph; it is as it was.
    Update {
        /// The difference.
        why: CUgraphExecUpdateResult,
        /// The node of the new graph at fault, where the driver names one that is known.
        node: Option<Node>,
        /// The answer of the driver.
        error: Error,
    },
    /// An impossible copy or fill.
    Memory(MemoryError),
    /// An impossible launch.
    Launch(LaunchError),
    /// The driver refused.
    Driver(Error),
}

messages! {
    GraphError from Driver(Error);
    Self::Foreign => "a node or a loan of memory of another graph was given: each graph has its own";
    Self::Removed => "the node was removed from the graph";
    Self::Incomplete => "a capture into this graph failed half-way: build the graph anew";
    Self::Lost => "a wait for this graph has failed: the device may still work on its memory, which is lost";
    Self::Panicked => "a host function of the graph panicked";
    Self::Inside => "memory that the graph allocates exists only while the graph runs";
    Self::FileName => "a file name cannot have a NUL inside";
    Self::Update { why, error, .. } => "the executable graph cannot be updated: {why:?}; {error}";
    Self::Memory(error) => error;
    Self::Launch(error) => error;
    Self::Driver(error) => error;
}

impl std::error::Error for GraphError {}

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
