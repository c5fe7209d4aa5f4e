//! Graphs: their handles, owners and shapes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::report::LeakKind;

use crate::driver::answer::{Answer, INVALID_VALUE};
use crate::driver::call::{Kind, Leaked, Table};
use crate::driver::handle::Handle;

use super::topology::Topology;

/// The live graphs. A graph inside another ends with it.
pub(super) static GRAPHS: Table<Graph> =
    Table::new(Kind::Graph).leak(LeakKind::Graph, |graph: &Graph, _| match graph.owner {
        Owner::Client => Leaked::Yes,
        Owner::ChildNode | Owner::ConditionalNode => Leaked::No,
    });

/// A graph that can still be changed.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) handle: usize,
    pub(super) owner: Owner,
    shape: Mutex<Topology>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Client,
    ChildNode,
    ConditionalNode,
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

    pub(super) fn shape(&self) -> MutexGuard<'_, Topology> {
        self.shape.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
