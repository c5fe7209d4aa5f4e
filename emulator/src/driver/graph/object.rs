//! Graphs and their nodes.
//!
//! Graphs own nodes, and some nodes own graphs: this file and those of the kinds of nodes need each other.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::report::LeakKind;

use crate::driver::answer::{Answer, INVALID_HANDLE, INVALID_VALUE, ensure};
use crate::driver::call::{Kind, Leaked, Table, not_supported};
use crate::driver::code::GraphCondition;
use crate::driver::handle::Handle;

use super::node::NodeKind;
use super::user_object::Shared;

/// The live graphs. Those in others go with them.
pub(super) static GRAPHS: Table<Graph> =
    Table::new(Kind::Graph).leak(LeakKind::Graph, |graph: &Graph, _| match graph.owner {
        Owner::Client => Leaked::Yes,
        Owner::ChildNode | Owner::ConditionalNode => Leaked::No,
    });

/// The live nodes.
pub(super) static NODES: Table<Node> = Table::new(Kind::GraphNode);

/// A graph that can still be changed.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) handle: usize,
    pub(super) owner: Owner,
    shape: Mutex<Topology>,
}

/// Owner of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The client, until it destroys the graph.
    Client,
    /// The node that runs it as a child graph.
    ChildNode,
    /// The conditional node that it is a body of.
    ConditionalNode,
}

/// Nodes in the order of their creation, and edges from the one that runs first.
#[derive(Debug, Default, Clone)]
pub(crate) struct Topology {
    pub(crate) nodes: Vec<usize>,
    pub(crate) edges: Vec<(usize, usize)>,
    /// The client's objects that live as long as the graph.
    pub(super) objects: Vec<Shared>,
    /// The conditions that were made for its nodes.
    pub(super) conditions: Vec<Arc<GraphCondition>>,
}

/// A node of a graph.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) graph: Arc<Graph>,
    kind: Mutex<NodeKind>,
    /// The node this one is a copy of, in a cloned graph.
    pub(super) original: Option<usize>,
}

impl Graph {
    pub(crate) fn create() -> Arc<Self> {
        Self::create_for(Owner::Client)
    }

    pub(super) fn create_for(owner: Owner) -> Arc<Self> {
        let make = |handle| Self { handle, owner, shape: Mutex::default() };
        GRAPHS.insert_with(make).1
    }

    pub(crate) fn find(handle: CUgraph) -> Answer<Arc<Self>> {
        GRAPHS.get(handle.addr()).ok_or(INVALID_VALUE)
    }

    pub(crate) fn shape(&self) -> MutexGuard<'_, Topology> {
        self.shape.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if some nodes wait for each other in a circle.
    pub(super) fn has_cycle(&self) -> bool {
        self.shape().in_order().is_none()
    }

    /// Adds a node behind others of the same graph.
    pub(crate) fn add(self: &Arc<Self>, after: &[usize], kind: NodeKind) -> Answer<usize> {
        let mut shape = self.shape();
        ensure(after.iter().all(|node| shape.nodes.contains(node)), INVALID_VALUE)?;
        let unique = (1..after.len()).all(|index| !after[..index].contains(&after[index]));
        ensure(unique, INVALID_VALUE)?;
        let node = NODES.insert(Node { graph: Arc::clone(self), kind: Mutex::new(kind), original: None });
        shape.nodes.push(node);
        shape.edges.extend(after.iter().map(|&before| (before, node)));
        Ok(node)
    }

    /// A copy of the graph, with copies of its nodes.
    pub(super) fn duplicate(&self, owner: Owner) -> Answer<Arc<Self>> {
        let shape = self.shape().clone();
        let copy = Self::create_for(owner);
        let mut copies = HashMap::new();
        for &node in &shape.nodes {
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
        let renamed = |node: &usize| copies.get(node).copied().ok_or(INVALID_HANDLE);
        let mut new_shape = copy.shape();
        for node in &shape.nodes {
            new_shape.nodes.push(renamed(node)?);
        }
        for (from, to) in &shape.edges {
            new_shape.edges.push((renamed(from)?, renamed(to)?));
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
        for node in shape.nodes {
            Node::remove(node);
        }
    }
}

impl Topology {
    /// The nodes so that each comes after those it depends on, otherwise in the order of creation, but that nothing waits
    /// for a value before it must; `None` if there is a cycle.
    pub(super) fn in_order(&self) -> Option<Vec<usize>> {
        let places: HashMap<usize, usize> =
            self.nodes.iter().enumerate().map(|(place, &node)| (node, place)).collect();
        let mut waits = vec![0usize; self.nodes.len()];
        let mut behind = vec![Vec::new(); self.nodes.len()];
        for (from, to) in &self.edges {
            let (from, to) = (*places.get(from)?, *places.get(to)?);
            waits[to] += 1;
            behind[from].push(to);
        }
        let late: Vec<bool> = self.nodes.iter().map(|&node| Self::waits_for_value(node)).collect();
        let free = (0..waits.len()).filter(|&place| waits[place] == 0);
        let mut ready: BinaryHeap<_> = free.map(|place| Reverse((late[place], place))).collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(Reverse((_, place))) = ready.pop() {
            order.push(self.nodes[place]);
            for &next in &behind[place] {
                waits[next] -= 1;
                if waits[next] == 0 {
                    ready.push(Reverse((late[next], next)));
                }
            }
        }
        (order.len() == self.nodes.len()).then_some(order)
    }
}

impl Topology {
    /// True if a node waits for a value in memory, or some node of a graph that it runs.
    fn waits_for_value(node: usize) -> bool {
        let Ok(node) = Node::at(node) else { return false };
        let kind = node.kind();
        match &*kind {
            NodeKind::Child(child) => child.shape().nodes.iter().copied().any(Self::waits_for_value),
            kind => kind.waits_for_value(),
        }
    }
}

impl Node {
    /// Removes a node, with the graphs that it owns.
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
