//! What the next operation of a capturing stream depends on.

use std::collections::HashSet;

use cuprum_sys::CUgraphNode;

use crate::driver::handle::Handle;

/// Nodes in the order in which they were added, each once.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail {
    pub(super) nodes: Vec<usize>,
    known: HashSet<usize>,
    /// The same as an array of handles, for clients that ask.
    pub(super) handles: Vec<CUgraphNode>,
}

// SAFETY: the handles have the type of pointers, but are numbers that nobody follows.
unsafe impl Send for Tail {}

impl Tail {
    pub(super) fn new(nodes: &[usize]) -> Self {
        let mut tail = Self::default();
        tail.extend(nodes);
        tail
    }

    /// Adds the nodes that it does not have.
    pub(super) fn extend(&mut self, nodes: &[usize]) {
        for &node in nodes {
            if self.known.insert(node) {
                self.nodes.push(node);
                self.handles.push(CUgraphNode::from_addr(node));
            }
        }
    }
}
