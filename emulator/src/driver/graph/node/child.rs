//! Child graph nodes. Each owns a copy of the graph with which it was created.

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE};
use crate::driver::call::{In, Out, calls};
use crate::driver::handle::Handle;

use super::super::exec::ExecGraph;
use super::super::object::{Graph, Owner};
use super::params::NodeParams;
use super::{NodeKind, add, params_of};

impl NodeParams for CUDA_CHILD_GRAPH_NODE_PARAMS {
    fn into_kind(self) -> Answer<NodeKind> {
        Ok(NodeKind::Child(Graph::find(self.graph)?.duplicate(Owner::ChildNode)?))
    }

    fn of(kind: &NodeKind) -> Answer<Self> {
        match kind {
            NodeKind::Child(graph) => Ok(Self { graph: CUgraph::from_addr(graph.handle), ..Self::zeroed() }),
            _ => Err(INVALID_VALUE),
        }
    }
}

calls! {
    fn cuGraphAddChildGraphNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        childGraph: CUgraph,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, &|| {
            let zeroed = CUDA_CHILD_GRAPH_NODE_PARAMS::zeroed();
            CUDA_CHILD_GRAPH_NODE_PARAMS { graph: childGraph, ..zeroed }.into_kind()
        })
    }

    fn cuGraphChildGraphNodeGetGraph(_call, hNode: CUgraphNode, phGraph: Out<CUgraph>) {
        phGraph.check()?;
        phGraph.set(params_of::<CUDA_CHILD_GRAPH_NODE_PARAMS>(hNode)?.graph)
    }

    /// Copies the parameters of another graph of the same shape to the executable graph's child.
    fn cuGraphExecChildGraphNodeSetParams(
        _call,
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        childGraph: CUgraph,
    ) {
        ExecGraph::find(hGraphExec)?.replace_child(hNode.addr(), &*Graph::find(childGraph)?)
    }
}
