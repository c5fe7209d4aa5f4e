//! Dependencies of the next operation of a capturing stream.

use std::collections::HashSet;

use cuprum_sys::CUgraphNode;

use crate::driver::handle::Handle;

/// Nodes in the order of insertion, without duplicates.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail {
    pub(super) nodes: Vec<usize>,
    known: HashSet<usize>,
    pub(super) handles: Vec<CUgraphNode>,
}

// SAFETY: the handles have pointer types, but are numbers that are never dereferenced.
unsafe impl Send for Tail {}

impl Tail {
    pub(super) fn new(nodes: &[usize]) -> Self {
        let mut tail = Self::default();
        tail.extend(nodes);
        tail
    }

    /// Adds the nodes that are not in it.
    pub(super) fn extend(&mut self, nodes: &[usize]) {
        for &node in nodes {
            if self.known.insert(node) {
                self.nodes.push(node);
                self.handles.push(CUgraphNode::from_addr(node));
            }
        }
    }
}
