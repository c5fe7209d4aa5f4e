//! The nodes of a graph that have tokens, and the graphs inside of it.

use std::collections::HashMap;

use cuprum_sys::{CUgraph, CUgraphNode};

use super::error::GraphError;
use super::node::{Body, Brand, Node};

struct Known {
    raw: CUgraphNode,
    /// Part of the graph to which the node belongs: 0, or a body.
    part: usize,
    removed: bool,
}

/// A body of a conditional node.
struct Inner {
    raw: CUgraph,
    /// Position of the node.
    owner: usize,
    removed: bool,
}

/// The nodes of a graph that have tokens, and the graphs inside of it.
pub(super) struct Nodes {
    brand: Brand,
    known: Vec<Known>,
    by_handle: HashMap<usize, usize>,
    /// Bodies of conditional nodes. The number of a body is one more than its index.
    bodies: Vec<Inner>,
    /// The part to which nodes are added.
    part: usize,
    /// True if a capture into the graph failed, which leaves unknown nodes.
    incomplete: bool,
}

// SAFETY: handles, which this crate uses as numbers; the driver allows any thread to use them, one
// at a time.
unsafe impl Send for Nodes {}

impl Nodes {
    pub(super) fn new(brand: Brand) -> Self {
        Self {
            brand,
            known: Vec::new(),
            by_handle: HashMap::new(),
            bodies: Vec::new(),
            part: 0,
            incomplete: false,
        }
    }

    /// Sets whether the contents of the graph are unknown. While they are, no token is valid.
    pub(super) fn is_incomplete(&mut self, incomplete: bool) {
        self.incomplete = incomplete;
    }

    pub(super) fn check_complete(&self) -> Result<(), GraphError> {
        if self.incomplete { Err(GraphError::Incomplete) } else { Ok(()) }
    }

    /// Returns the token of a node of the present part, by its handle.
    pub(super) fn token(&mut self, raw: CUgraphNode) -> Node {
        let (part, next) = (self.part, self.known.len());
        let at = *self.by_handle.entry(raw.0.addr()).or_insert(next);
        if at == next {
            self.known.push(Known { raw, part, removed: false });
        }
        Node { brand: self.brand, at }
    }

    /// Returns the token of a node if it has one.
    pub(super) fn find(&self, raw: CUgraphNode) -> Option<Node> {
        self.by_handle.get(&raw.0.addr()).map(|&at| Node { brand: self.brand, at })
    }

    /// Returns the driver's handle of a node, in any part.
    pub(super) fn raw(&self, node: Node) -> Result<CUgraphNode, GraphError> {
        self.check_complete()?;
        match self.known.get(node.at).filter(|_| node.brand == self.brand) {
            Some(known) if known.removed => Err(GraphError::Removed),
            Some(known) => Ok(known.raw),
            None => Err(GraphError::Foreign),
        }
    }

    /// Returns the handles of nodes of the present part.
    pub(super) fn raws(&self, nodes: &[Node]) -> Result<Vec<CUgraphNode>, GraphError> {
        let here = |node: &Node| {
            let raw = self.raw(*node)?;
            let part = self.known.get(node.at).map(|known| known.part);
            if part == Some(self.part) { Ok(raw) } else { Err(GraphError::Foreign) }
        };
        nodes.iter().map(here).collect()
    }

    /// Forgets a removed node and everything in its bodies.
    pub(super) fn remove(&mut self, node: Node) {
        let mut gone = vec![node.at];
        while let Some(at) = gone.pop() {
            let Some(known) = self.known.get_mut(at) else { continue };
            known.removed = true;
            self.by_handle.remove(&known.raw.0.addr());
            let bodies = self.bodies.iter_mut().enumerate().filter(|(_, body)| body.owner == at);
            let parts: Vec<usize> = bodies
                .map(|(body, inner)| {
                    inner.removed = true;
                    body + 1
                })
                .collect();
            let inside = |known: &Known| parts.contains(&known.part) && !known.removed;
            gone.extend(self.known.iter().enumerate().filter(|(_, known)| inside(known)).map(|(at, _)| at));
        }
    }

    /// Returns the token of a body of a node.
    pub(super) fn add_body(&mut self, owner: Node, raw: CUgraph) -> Body {
        self.bodies.push(Inner { raw, owner: owner.at, removed: false });
        Body { brand: self.brand, part: self.bodies.len() }
    }

    fn body(&self, part: usize) -> Option<&Inner> {
        self.bodies.get(part.checked_sub(1)?)
    }

    /// Returns the body to which nodes are added; `None` for the whole graph.
    pub(super) fn inside(&self) -> Option<CUgraph> {
        self.body(self.part).map(|body| body.raw)
    }

    /// Fails if the body to which nodes are added was removed.
    pub(super) fn check(&self) -> Result<(), GraphError> {
        if self.body(self.part).is_some_and(|body| body.removed) { Err(GraphError::Removed) } else { Ok(()) }
    }

    /// Adds nodes to a body from now on. Returns the part to which they were added before.
    pub(super) fn enter(&mut self, body: Body) -> Result<usize, GraphError> {
        self.check_complete()?;
        match self.body(body.part).filter(|_| body.brand == self.brand) {
            None => Err(GraphError::Foreign),
            Some(inner) if inner.removed => Err(GraphError::Removed),
            Some(_) => Ok(std::mem::replace(&mut self.part, body.part)),
        }
    }

    pub(super) fn leave(&mut self, part: usize) {
        self.part = part;
    }
}
