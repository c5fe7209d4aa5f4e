//! The shape of a graph: its nodes and their dependencies.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::sync::Arc;

use crate::driver::code::GraphCondition;
use crate::ordered::Ordered;

use super::user_object::Shared;

/// Begins with the node that runs first.
pub(super) type Edge = (usize, usize);

/// Nodes and edges, both in the order of insertion. Each step takes at most logarithmic time.
#[derive(Debug, Default, Clone)]
pub(super) struct Topology {
    /// By handle; handles ascend.
    nodes: Ordered<Links>,
    edges: Ordered<Edge>,
    numbers: HashMap<(u64, u64), u64>,
    next: u64,
    /// Client objects that live as long as the graph.
    pub(super) objects: Vec<Shared>,
    pub(super) conditions: Vec<Arc<GraphCondition>>,
}

/// The nodes at the other ends of a node's edges, by the numbers of the edges.
#[derive(Debug, Default, Clone)]
struct Links {
    before: BTreeMap<u64, u64>,
    behind: BTreeMap<u64, u64>,
}

impl Topology {
    pub(super) fn has(&self, node: usize) -> bool {
        self.nodes.contains(node as u64)
    }

    pub(super) fn has_edge(&self, edge: Edge) -> bool {
        self.numbers.contains_key(&key(edge))
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = usize> {
        self.nodes.keys().map(|node| node as usize)
    }

    /// Returns the nodes without dependencies.
    pub(super) fn roots(&self) -> impl Iterator<Item = usize> {
        self.nodes.iter().filter(|(_, links)| links.before.is_empty()).map(|(node, _)| node as usize)
    }

    pub(super) fn edges(&self) -> impl Iterator<Item = Edge> {
        self.edges.iter().map(|(_, edge)| *edge)
    }

    pub(super) fn before(&self, node: usize) -> Vec<usize> {
        self.nodes.get(node as u64).map_or_else(Vec::new, |links| others(&links.before))
    }

    pub(super) fn behind(&self, node: usize) -> Vec<usize> {
        self.nodes.get(node as u64).map_or_else(Vec::new, |links| others(&links.behind))
    }

    /// Adds a node, whose handle is higher than all others.
    pub(super) fn add_node(&mut self, node: usize) {
        self.nodes.insert(node as u64, Links::default());
    }

    /// Adds an edge between nodes of the graph, unless it exists.
    pub(super) fn add_edge(&mut self, edge: Edge) {
        if self.has_edge(edge) {
            return;
        }
        let number = self.next;
        self.next += 1;
        if let Some(links) = self.nodes.get_mut(edge.0 as u64) {
            links.behind.insert(number, edge.1 as u64);
        }
        if let Some(links) = self.nodes.get_mut(edge.1 as u64) {
            links.before.insert(number, edge.0 as u64);
        }
        self.edges.insert(number, edge);
        self.numbers.insert(key(edge), number);
    }

    pub(super) fn remove_edge(&mut self, edge: Edge) {
        let Some(number) = self.numbers.remove(&key(edge)) else { return };
        self.edges.remove(number);
        if let Some(links) = self.nodes.get_mut(edge.0 as u64) {
            links.behind.remove(&number);
        }
        if let Some(links) = self.nodes.get_mut(edge.1 as u64) {
            links.before.remove(&number);
        }
    }

    pub(super) fn remove_node(&mut self, node: usize) {
        self.before(node).into_iter().for_each(|other| self.remove_edge((other, node)));
        self.behind(node).into_iter().for_each(|other| self.remove_edge((node, other)));
        self.nodes.remove(node as u64);
    }

    /// Sorts the nodes such that each follows its dependencies, otherwise in the order of creation,
    /// but with `late` ones as late as possible. Returns `None` if there is a cycle.
    pub(super) fn in_order(&self, late: impl Fn(usize) -> bool) -> Option<Vec<usize>> {
        let nodes: Vec<usize> = self.nodes().collect();
        let place_of = |node: usize| nodes.binary_search(&node).ok();
        let mut waits = vec![0usize; nodes.len()];
        let mut behind = vec![Vec::new(); nodes.len()];
        for (from, to) in self.edges() {
            let (from, to) = (place_of(from)?, place_of(to)?);
            waits[to] += 1;
            behind[from].push(to);
        }
        let late: Vec<bool> = nodes.iter().map(|&node| late(node)).collect();
        let free = (0..waits.len()).filter(|&place| waits[place] == 0);
        let mut ready: BinaryHeap<_> = free.map(|place| Reverse((late[place], place))).collect();
        let mut order = Vec::with_capacity(nodes.len());
        while let Some(Reverse((_, place))) = ready.pop() {
            order.push(nodes[place]);
            for &next in &behind[place] {
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.push(Reverse((late[next], next)));
                }
            }
        }
        (order.len() == nodes.len()).then_some(order)
    }
}

/// Returns the ends of an edge as a key, of the same type as in maps of addresses.
fn key((from, to): Edge) -> (u64, u64) {
    (from as u64, to as u64)
}

fn others(links: &BTreeMap<u64, u64>) -> Vec<usize> {
    links.values().map(|node| *node as usize).collect()
}
