//! The C structure for all kinds of nodes, and the functions for every kind.

use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE};
use crate::driver::call::{In, InMut, Out, calls, not_supported};

use crate::driver::external::Step;

use super::super::conditional::Conditional;
use super::super::exec::set_in;
use super::super::nodes::Node;
use super::super::object::Graph;
use super::params::NodeParams;
use super::{NodeKind, add};

/// Returns the node that the structure describes, for kinds whose structure has no output.
fn any_kind(params: InMut<CUgraphNodeParams>) -> Answer<NodeKind> {
    use CUgraphNodeType as T;

    let params = params.input().get()?;
    let kind = &params.u;
    macro_rules! member {
        ($name:ident) => {{
            // SAFETY: the type says that the client set this member. All members are plain numbers
            // and pointers, for which any bits are valid.
            let member = unsafe { kind.$name };
            member.into_kind()
        }};
    }
    match params.type_ {
        T::CU_GRAPH_NODE_TYPE_EMPTY => Ok(NodeKind::Empty),
        T::CU_GRAPH_NODE_TYPE_KERNEL => member!(kernel),
        T::CU_GRAPH_NODE_TYPE_MEMCPY => member!(memcpy),
        T::CU_GRAPH_NODE_TYPE_MEMSET => member!(memset),
        T::CU_GRAPH_NODE_TYPE_HOST => member!(host),
        T::CU_GRAPH_NODE_TYPE_GRAPH => member!(graph),
        T::CU_GRAPH_NODE_TYPE_EVENT_RECORD => member!(eventRecord),
        T::CU_GRAPH_NODE_TYPE_WAIT_EVENT => member!(eventWait),
        T::CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL => member!(extSemSignal),
        T::CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT => member!(extSemWait),
        T::CU_GRAPH_NODE_TYPE_MEM_FREE => member!(free),
        T::CU_GRAPH_NODE_TYPE_MEM_ALLOC | T::CU_GRAPH_NODE_TYPE_CONDITIONAL => Err(not_supported(
            "the parameters of allocation nodes and conditional nodes stay as they are: destroy the node and add another",
        )),
        T::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => member!(memOp),
        known if known.name().is_some() => {
            Err(not_supported("nodes of this kind are for hardware that the software device does not have"))
        }
        _ => Err(INVALID_VALUE),
    }
}

fn any_params(node: &Node) -> Answer<CUgraphNodeParams> {
    let mut params = CUgraphNodeParams::zeroed();
    let kind = &*node.kind();
    params.type_ = kind.type_of();
    match kind {
        NodeKind::Empty => {}
        NodeKind::Kernel(_) => params.u.kernel = NodeParams::of(kind)?,
        NodeKind::Copy(_) => params.u.memcpy = NodeParams::of(kind)?,
        NodeKind::Fill(..) => params.u.memset = NodeParams::of(kind)?,
        NodeKind::Host(_) => params.u.host = NodeParams::of(kind)?,
        NodeKind::Child(_) => params.u.graph = NodeParams::of(kind)?,
        NodeKind::Record(_) => params.u.eventRecord = NodeParams::of(kind)?,
        NodeKind::Wait(_) => params.u.eventWait = NodeParams::of(kind)?,
        NodeKind::Semaphores(semaphores) if semaphores.step == Step::Signal => {
            params.u.extSemSignal = NodeParams::of(kind)?;
        }
        NodeKind::Semaphores(_) => params.u.extSemWait = NodeParams::of(kind)?,
        NodeKind::Alloc(_) => params.u.alloc = NodeParams::of(kind)?,
        NodeKind::Free(_) => params.u.free = NodeParams::of(kind)?,
        NodeKind::Conditional(conditional) => params.u.conditional = conditional.params(),
        NodeKind::Values(..) => params.u.memOp = NodeParams::of(kind)?,
    }
    Ok(params)
}

/// Creates an allocation node and writes its address into the structure.
fn any_alloc(out: Out<CUgraphNodeParams>) -> Answer<NodeKind> {
    let mut params = out.get()?;
    // SAFETY: the caller checked the type, so the client set this member, which is plain data.
    let wanted = unsafe { params.u.alloc };
    let kind = wanted.into_kind()?;
    params.u.alloc = NodeParams::of(&kind)?;
    out.set(params)?;
    Ok(kind)
}

/// Creates a conditional node and writes its graphs into the structure.
fn any_conditional(graph: CUgraph, out: Out<CUgraphNodeParams>) -> Answer<NodeKind> {
    let mut params = out.get()?;
    // SAFETY: the caller checked the type, so the client set this member, which is plain data.
    let wanted = unsafe { params.u.conditional };
    let conditional = Conditional::new(&*Graph::find(graph)?, &wanted)?;
    params.u.conditional.phGraph_out = conditional.handles();
    out.set(params)?;
    Ok(NodeKind::Conditional(Arc::new(conditional)))
}

fn add_any(
    out: Out<CUgraphNode>,
    graph: CUgraph,
    after: In<CUgraphNode>,
    count: usize,
    params: InMut<CUgraphNodeParams>,
) -> Answer {
    add(out, graph, after, count, &|| match params.input().get()?.type_ {
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC => any_alloc(params.output()),
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL => any_conditional(graph, params.output()),
        _ => any_kind(params),
    })
}

calls! {
    fn cuGraphAddEmptyNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
    ) {
        add(phGraphNode, hGraph, dependencies, numDependencies, &|| Ok(NodeKind::Empty))
    }

    fn cuGraphAddNode(
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        numDependencies: usize,
        nodeParams: InMut<CUgraphNodeParams>,
    ) {
        add_any(phGraphNode, hGraph, dependencies, numDependencies, nodeParams)
    }

    fn [cuGraphAddNode_v2, cuGraphAddNode_v3](
        _call,
        phGraphNode: Out<CUgraphNode>,
        hGraph: CUgraph,
        dependencies: In<CUgraphNode>,
        _dependencyData: In<CUgraphEdgeData>,
        numDependencies: usize,
        nodeParams: InMut<CUgraphNodeParams>,
    ) {
        add_any(phGraphNode, hGraph, dependencies, numDependencies, nodeParams)
    }

    fn cuGraphNodeGetParams(_call, hNode: CUgraphNode, nodeParams: Out<CUgraphNodeParams>) {
        nodeParams.check()?;
        nodeParams.set(any_params(&*Node::find(hNode)?)?)
    }

    fn [cuGraphNodeSetParams_v2, cuGraphNodeSetParams](_call, hNode: CUgraphNode, nodeParams: InMut<CUgraphNodeParams>) {
        Node::find(hNode)?.replace(any_kind(nodeParams)?)
    }

    fn cuGraphExecNodeSetParams(
        _call,
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        nodeParams: InMut<CUgraphNodeParams>,
    ) {
        set_in(hGraphExec, hNode, any_kind(nodeParams)?)
    }

    fn cuGraphNodeGetType(_call, hNode: CUgraphNode, type_: Out<CUgraphNodeType>) {
        type_.check()?;
        let type_of = Node::find(hNode)?.kind().type_of();
        type_.set(type_of)
    }
}
