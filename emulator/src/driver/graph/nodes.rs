//! Nodes of graphs. A graph owns its nodes, and some kinds of nodes own graphs.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, ensure};
use crate::driver::call::{Kind, Table, not_supported};
use crate::driver::handle::Handle;

use super::node::NodeKind;
use super::object::{GRAPHS, Graph, Owner};

pub(super) static NODES: Table<Node> = Table::new(Kind::GraphNode);

#[derive(Debug)]
pub(super) struct Node {
    pub(super) graph: Arc<Graph>,
    kind: Mutex<NodeKind>,
    /// The node that was cloned, if this node is in a cloned graph.
    pub(super) original: Option<usize>,
}

impl Graph {
    /// True if nodes depend on each other in a cycle.
    pub(super) fn has_cycle(&self) -> bool {
        self.in_order().is_none()
    }

    /// Sorts the nodes as [`Topology::in_order`] does, with waits for values late.
    pub(super) fn in_order(&self) -> Option<Vec<usize>> {
        self.shape().in_order(Node::waits_for_value)
    }

    /// Adds a node that depends on others of the same graph.
    pub(crate) fn add(self: &Arc<Self>, after: &[usize], kind: NodeKind) -> Answer<usize> {
        let mut shape = self.shape();
        let mut seen = HashSet::new();
        ensure(after.iter().all(|node| shape.has(*node) && seen.insert(node)), INVALID_VALUE)?;
        let node = NODES.insert(Node { graph: Arc::clone(self), kind: Mutex::new(kind), original: None });
        shape.add_node(node);
        after.iter().for_each(|&before| shape.add_edge((before, node)));
        Ok(node)
    }

    /// Returns a copy of the graph, with copies of its nodes.
    pub(super) fn duplicate(&self, owner: Owner) -> Answer<Arc<Self>> {
        let shape = self.shape().clone();
        let copy = Self::create_for(owner);
        let mut copies = HashMap::new();
        for node in shape.nodes() {
            let copied = match &*Node::at(node)?.kind() {
                NodeKind::Conditional(_) => Err(not_supported(
                    "a graph with conditional nodes has no copies, as a clone or as a child, on NVIDIA's drivers either: \
                     build it again, or launch it by itself",
                )),
                NodeKind::Child(child) => child.duplicate(Owner::ChildNode).map(NodeKind::Child),
                kind => Ok(kind.clone()),
            };
            let kind = copied.inspect_err(|_| copy.destroy())?;
            let handle =
                NODES.insert(Node { graph: Arc::clone(&copy), kind: Mutex::new(kind), original: Some(node) });
            copies.insert(node, handle);
        }
        let renamed = |node: usize| copies.get(&node).copied().ok_or(INVALID_HANDLE);
        let mut new_shape = copy.shape();
        for node in shape.nodes() {
            new_shape.add_node(renamed(node)?);
        }
        for (from, to) in shape.edges() {
            new_shape.add_edge((renamed(from)?, renamed(to)?));
        }
        new_shape.objects = shape.objects;
        new_shape.conditions = shape.conditions;
        drop(new_shape);
        Ok(copy)
    }

    /// Removes the graph and its nodes, with the memory that its nodes allocated.
    pub(crate) fn destroy(&self) {
        GRAPHS.remove(self.handle);
        let shape = std::mem::take(&mut *self.shape());
        shape.nodes().for_each(Node::remove);
    }
}

impl Node {
    pub(super) fn remove(handle: usize) {
        let kind = NODES.remove(handle).map(|node| node.kind().clone());
        match kind {
            Some(NodeKind::Conditional(conditional)) => {
                conditional.bodies.iter().for_each(|body| body.destroy());
            }
            Some(NodeKind::Child(child)) => child.destroy(),
            _ => {}
        }
    }

    fn waits_for_value(handle: usize) -> bool {
        let Ok(node) = Self::at(handle) else { return false };
        let kind = node.kind();
        match &*kind {
            NodeKind::Child(child) => child.shape().nodes().any(Self::waits_for_value),
            kind => kind.waits_for_value(),
        }
    }

    pub(super) fn at(handle: usize) -> Answer<Arc<Self>> {
        NODES.get(handle).ok_or(INVALID_VALUE)
    }

    pub(super) fn find(handle: CUgraphNode) -> Answer<Arc<Self>> {
        Self::at(handle.addr())
    }

    pub(super) fn kind(&self) -> MutexGuard<'_, NodeKind> {
        self.kind.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the node's operation by another one of the same type.
    pub(super) fn replace(&self, kind: NodeKind) -> Answer {
        let mut current = self.kind();
        ensure(current.type_of() == kind.type_of(), INVALID_VALUE)?;
        *current = kind;
        Ok(())
    }
}
