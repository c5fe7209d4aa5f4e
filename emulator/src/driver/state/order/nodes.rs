//! The order of the nodes of a graph.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::work::is_gathering;

/// The nodes of one run of a graph, or of a graph inside it, each with its dependencies.
#[derive(Debug)]
pub(crate) struct Body(HashMap<usize, Arc<[usize]>>);

/// Position of a node: launched graph, graph inside it, and so on, each with the node there.
pub(crate) type Place = Vec<(Arc<Body>, usize)>;

impl Body {
    /// Returns nodes and their dependencies, if the accesses of the running operation are recorded.
    pub(crate) fn of<'n>(nodes: impl Iterator<Item = (usize, &'n Arc<[usize]>)>) -> Option<Arc<Self>> {
        is_gathering().then(|| Arc::new(Self(nodes.map(|(node, after)| (node, Arc::clone(after))).collect())))
    }

    /// True if a node depends on an earlier one, directly or not.
    fn follows(&self, node: usize, earlier: usize) -> bool {
        let (mut open, mut seen) = (vec![node], HashSet::new());
        while let Some(node) = open.pop() {
            for before in self.0.get(&node).into_iter().flat_map(|before| before.iter().copied()) {
                if before == earlier {
                    return true;
                }
                if seen.insert(before) {
                    open.push(before);
                }
            }
        }
        false
    }
}

/// True if one position's node follows the other's, which ran before it in the same launch.
pub(super) fn follows(place: &Place, earlier: &Place) -> bool {
    for ((body, node), (other, before)) in place.iter().zip(earlier) {
        // Runs of a loop's body are sequential.
        if !Arc::ptr_eq(body, other) {
            return true;
        }
        if node != before {
            return body.follows(*node, *before);
        }
    }
    // The same node.
    true
}
