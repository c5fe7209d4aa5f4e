//! Functions for the shape of graphs: nodes, edges, copies.

use std::collections::HashSet;
use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{In, Out, Text, calls, put_handle};
use crate::driver::handle::Handle;

use super::nodes::{NODES, Node};
use super::object::{GRAPHS, Graph, Owner};
use super::topology::{Edge, Topology};
use super::user_object::{Shared, UserObject};

/// Writes a list of handles. If `out` is null, writes only their number; otherwise writes as many
/// as fit and fills the rest with null.
fn write_list<H: Handle>(out: Out<H>, count: Out<usize>, handles: &[usize]) -> Answer {
    if out.is_null() {
        return count.set(handles.len());
    }
    let room = count.get()?;
    let nulls = std::iter::repeat_n(0, room.saturating_sub(handles.len()));
    let all: Vec<H> = handles.iter().copied().chain(nulls).map(H::from_addr).collect();
    out.set_all(&all, room)?;
    count.set(handles.len().min(room))
}

fn write_edges(
    graph: CUgraph,
    from: Out<CUgraphNode>,
    to: Out<CUgraphNode>,
    data: Option<Out<CUgraphEdgeData>>,
    count: Out<usize>,
) -> Answer {
    let edges: Vec<Edge> = Graph::find(graph)?.shape().edges().collect();
    ensure(from.is_null() == to.is_null(), INVALID_VALUE)?;
    ensure(!from.is_null() || data.is_none_or(|data| data.is_null()), INVALID_VALUE)?;
    let (starts, ends): (Vec<_>, Vec<_>) = edges.into_iter().unzip();
    if from.is_null() {
        return count.set(starts.len());
    }
    let room = count.get()?;
    write_list(from, count, &starts)?;
    count.set(room)?;
    plain_edge_data(data, room.min(starts.len()));
    write_list(to, count, &ends)
}

/// Edges have no data here, so this writes zeros, the default kind.
fn plain_edge_data(data: Option<Out<CUgraphEdgeData>>, count: usize) {
    if let Some(data) = data.filter(|data| !data.is_null()) {
        for index in 0..count {
            data.nth(index).set_if_wanted(CUgraphEdgeData::zeroed());
        }
    }
}

/// Writes the nodes at the other ends of a node's edges.
fn neighbors(
    node: CUgraphNode,
    out: Out<CUgraphNode>,
    data: Option<Out<CUgraphEdgeData>>,
    count: Out<usize>,
    pick: impl Fn(&Topology, usize) -> Vec<usize>,
) -> Answer {
    let graph = Arc::clone(&Node::find(node)?.graph);
    let found = pick(&graph.shape(), node.addr());
    ensure(!out.is_null() || data.is_none_or(|data| data.is_null()), INVALID_VALUE)?;
    plain_edge_data(data, if out.is_null() { 0 } else { count.get()?.min(found.len()) });
    write_list(out, count, &found)
}

fn edge_list(from: In<CUgraphNode>, to: In<CUgraphNode>, count: usize) -> Answer<Vec<Edge>> {
    let (from, to) = (from.get_all(count)?, to.get_all(count)?);
    Ok(from.iter().zip(&to).map(|(from, to)| (from.addr(), to.addr())).collect())
}

fn add_edges(graph: CUgraph, from: In<CUgraphNode>, to: In<CUgraphNode>, count: usize) -> Answer {
    let graph = Graph::find(graph)?;
    let mut shape = graph.shape();
    let edges = edge_list(from, to, count)?;
    let mut seen = HashSet::new();
    for edge in &edges {
        let inside = shape.has(edge.0) && shape.has(edge.1);
        ensure(inside && edge.0 != edge.1 && !shape.has_edge(*edge) && seen.insert(edge), INVALID_VALUE)?;
    }
    // A cycle of several nodes is refused when the graph is instantiated, as on an H100.
    edges.iter().for_each(|edge| shape.add_edge(*edge));
    Ok(())
}

fn remove_edges(graph: CUgraph, from: In<CUgraphNode>, to: In<CUgraphNode>, count: usize) -> Answer {
    let graph = Graph::find(graph)?;
    let gone = edge_list(from, to, count)?;
    let mut shape = graph.shape();
    ensure(gone.iter().all(|edge| shape.has_edge(*edge)), INVALID_VALUE)?;
    gone.iter().for_each(|edge| shape.remove_edge(*edge));
    Ok(())
}

calls! {
    objects GRAPHS;

    fn cuGraphCreate(_call, phGraph: Out<CUgraph>, flags: u32) {
        phGraph.check()?;
        ensure(flags == 0, INVALID_VALUE)?;
        put_handle(phGraph, Graph::create().handle)
    }

    fn cuGraphDestroy(_call, hGraph: CUgraph) {
        let graph = Graph::find(hGraph)?;
        ensure(graph.owner == Owner::Client, INVALID_VALUE)?;
        graph.destroy();
        Ok(())
    }

    fn cuGraphClone(_call, phGraphClone: Out<CUgraph>, originalGraph: CUgraph) {
        phGraphClone.check()?;
        put_handle(phGraphClone, Graph::find(originalGraph)?.duplicate(Owner::Client)?.handle)
    }

    fn cuGraphNodeFindInClone(
        _call,
        phNode: Out<CUgraphNode>,
        hOriginalNode: CUgraphNode,
        hClonedGraph: CUgraph,
    ) {
        phNode.check()?;
        let nodes: Vec<usize> = Graph::find(hClonedGraph)?.shape().nodes().collect();
        let is_copy = |&&node: &&usize| {
            Node::at(node).is_ok_and(|node| node.original == Some(hOriginalNode.addr()))
        };
        put_handle(phNode, *nodes.iter().find(is_copy).ok_or(INVALID_VALUE)?)
    }

    fn cuGraphDestroyNode(_call, hNode: CUgraphNode) {
        let handle = hNode.addr();
        let node = Node::find(hNode)?;
        let mut shape = node.graph.shape();
        shape.remove_node(handle);
        Node::remove(handle);
        Ok(())
    }

    fn cuGraphGetNodes(_call, hGraph: CUgraph, nodes: Out<CUgraphNode>, numNodes: Out<usize>) {
        let all: Vec<usize> = Graph::find(hGraph)?.shape().nodes().collect();
        write_list(nodes, numNodes, &all)
    }

    fn cuGraphGetRootNodes(
        _call,
        hGraph: CUgraph,
        rootNodes: Out<CUgraphNode>,
        numRootNodes: Out<usize>,
    ) {
        let roots: Vec<usize> = Graph::find(hGraph)?.shape().roots().collect();
        write_list(rootNodes, numRootNodes, &roots)
    }

    fn cuGraphGetEdges(
        _call,
        hGraph: CUgraph,
        from: Out<CUgraphNode>,
        to: Out<CUgraphNode>,
        numEdges: Out<usize>,
    ) {
        write_edges(hGraph, from, to, None, numEdges)
    }

    fn cuGraphGetEdges_v2(
        _call,
        hGraph: CUgraph,
        from: Out<CUgraphNode>,
        to: Out<CUgraphNode>,
        edgeData: Out<CUgraphEdgeData>,
        numEdges: Out<usize>,
    ) {
        write_edges(hGraph, from, to, Some(edgeData), numEdges)
    }

    fn cuGraphNodeGetDependencies(
        _call,
        hNode: CUgraphNode,
        dependencies: Out<CUgraphNode>,
        numDependencies: Out<usize>,
    ) {
        neighbors(hNode, dependencies, None, numDependencies, Topology::before)
    }

    fn cuGraphNodeGetDependencies_v2(
        _call,
        hNode: CUgraphNode,
        dependencies: Out<CUgraphNode>,
        edgeData: Out<CUgraphEdgeData>,
        numDependencies: Out<usize>,
    ) {
        neighbors(hNode, dependencies, Some(edgeData), numDependencies, Topology::before)
    }

    fn cuGraphNodeGetDependentNodes(
        _call,
        hNode: CUgraphNode,
        dependentNodes: Out<CUgraphNode>,
        numDependentNodes: Out<usize>,
    ) {
        neighbors(hNode, dependentNodes, None, numDependentNodes, Topology::behind)
    }

    fn cuGraphNodeGetDependentNodes_v2(
        _call,
        hNode: CUgraphNode,
        dependentNodes: Out<CUgraphNode>,
        edgeData: Out<CUgraphEdgeData>,
        numDependentNodes: Out<usize>,
    ) {
        neighbors(hNode, dependentNodes, Some(edgeData), numDependentNodes, Topology::behind)
    }

    fn cuGraphAddDependencies(
        _call,
        hGraph: CUgraph,
        from: In<CUgraphNode>,
        to: In<CUgraphNode>,
        numDependencies: usize,
    ) {
        add_edges(hGraph, from, to, numDependencies)
    }

    fn cuGraphAddDependencies_v2(
        _call,
        hGraph: CUgraph,
        from: In<CUgraphNode>,
        to: In<CUgraphNode>,
        _edgeData: In<CUgraphEdgeData>,
        numDependencies: usize,
    ) {
        add_edges(hGraph, from, to, numDependencies)
    }

    fn cuGraphRemoveDependencies(
        _call,
        hGraph: CUgraph,
        from: In<CUgraphNode>,
        to: In<CUgraphNode>,
        numDependencies: usize,
    ) {
        remove_edges(hGraph, from, to, numDependencies)
    }

    fn cuGraphRemoveDependencies_v2(
        _call,
        hGraph: CUgraph,
        from: In<CUgraphNode>,
        to: In<CUgraphNode>,
        _edgeData: In<CUgraphEdgeData>,
        numDependencies: usize,
    ) {
        remove_edges(hGraph, from, to, numDependencies)
    }

    fn cuGraphNodeGetContainingGraph(_call, hNode: CUgraphNode, phGraph: Out<CUgraph>) {
        phGraph.check()?;
        put_handle(phGraph, Node::find(hNode)?.graph.handle)
    }

    fn cuGraphGetId(_call, hGraph: CUgraph, graphId: Out<u32>) {
        graphId.check()?;
        graphId.set(GRAPHS.number(Graph::find(hGraph)?.handle) as u32)
    }

    fn cuGraphNodeGetLocalId(_call, hNode: CUgraphNode, nodeId: Out<u32>) {
        nodeId.check()?;
        Node::find(hNode)?;
        nodeId.set(NODES.number(hNode.addr()) as u32)
    }

    fn cuGraphNodeGetToolsId(_call, hNode: CUgraphNode, toolsNodeId: Out<u64>) {
        toolsNodeId.check()?;
        Node::find(hNode)?;
        toolsNodeId.set(hNode.addr() as u64)
    }

    fn cuGraphDebugDotPrint(_call, hGraph: CUgraph, path: Text, _flags: u32) {
        let shape = Graph::find(hGraph)?.shape().clone();
        let mut dot = String::from("digraph {\n");
        for node in shape.nodes() {
            let type_of = Node::at(node)?.kind().type_of();
            dot += &format!("  n{node:x} [label=\"{}\"];\n", type_of.name().unwrap_or("node"));
        }
        for (from, to) in shape.edges() {
            dot += &format!("  n{from:x} -> n{to:x};\n");
        }
        dot += "}\n";
        std::fs::write(path.get()?, dot).map_err(|_| CUresult::CUDA_ERROR_OPERATING_SYSTEM)
    }

    fn cuGraphRetainUserObject(
        _call,
        graph: CUgraph,
        object: CUuserObject,
        count: u32,
        flags: u32,
    ) {
        let graph = Graph::find(graph)?;
        let shared = UserObject::find(object)?;
        let moved = CUuserObjectRetain_flags::CU_GRAPH_USER_OBJECT_MOVE.0;
        ensure(count > 0 && flags & !moved == 0, INVALID_VALUE)?;
        if flags & moved == 0 {
            shared.retain(count);
        }
        Shared::give(&mut graph.shape().objects, &shared, object.addr(), count);
        Ok(())
    }

    fn cuGraphReleaseUserObject(_call, graph: CUgraph, object: CUuserObject, count: u32) {
        let graph = Graph::find(graph)?;
        let shared = UserObject::find(object)?;
        ensure(count > 0, INVALID_VALUE)?;
        Shared::take(&mut graph.shape().objects, &shared, object.addr(), count);
        // No lock is held, because this may call the client's destructor.
        shared.release(object.addr(), count);
        Ok(())
    }
}
