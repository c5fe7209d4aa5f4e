//! Executable graphs: the nodes in an order that respects their dependencies.

use core::ffi::c_char;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use super::super::call::{Answer, INVALID_VALUE, Out, calls, ensure, put_handle};
use super::super::context::Context;
use super::super::handle::Handle;
use super::super::operation::Operation;
use super::super::schedule::Ticket;
use super::super::state::emulator;
use super::build::Shared;
use super::node::NodeKind;
use super::{Graph, Node};

/// An executable graph.
#[derive(Debug)]
pub(in crate::driver) struct Steps {
    flags: u64,
    steps: Mutex<Vec<Step>>,
    /// The client's objects that the graph kept alive.
    _objects: Vec<Shared>,
}

/// One node of it.
#[derive(Debug, Clone)]
struct Step {
    /// The node of the graph that it was made from.
    node: usize,
    kind: NodeKind,
    enabled: bool,
}

/// One launch of an executable graph.
#[derive(Debug, Clone)]
pub(in crate::driver) struct GraphRun(Vec<NodeKind>);

impl GraphRun {
    pub(in crate::driver) fn run(&self, context: &Arc<Context>, ticket: Ticket) -> Answer {
        self.0.iter().try_for_each(|kind| kind.run(context, ticket))
    }

    /// What the graph waits for that was issued before.
    fn awaited(&self) -> Vec<Ticket> {
        let events = self.0.iter().filter_map(|kind| match kind {
            NodeKind::Wait(event) => event.recorded(),
            _ => None,
        });
        events.collect()
    }
}

/// The flags that an executable graph can have; none changes anything here.
const KNOWN_FLAGS: u64 = 0xf;

impl Steps {
    pub(super) fn find(handle: CUgraphExec) -> Answer<Arc<Self>> {
        emulator().graph_execs.get(handle.addr()).ok_or(INVALID_VALUE)
    }

    fn of(graph: &Graph) -> Answer<Vec<Step>> {
        let order = graph.shape().in_order().ok_or(INVALID_VALUE)?;
        let mut steps = Vec::with_capacity(order.len());
        for node in order {
            let kind = Node::at(node)?.kind().clone();
            if let NodeKind::Child(child) = &kind {
                steps.extend(Self::of(child)?);
            }
            steps.push(Step { node, kind, enabled: true });
        }
        Ok(steps)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes a step into another of the same type.
    pub(super) fn replace(&self, node: usize, kind: NodeKind) -> Answer {
        let mut steps = self.lock();
        let step = steps.iter_mut().find(|step| step.node == node).ok_or(INVALID_VALUE)?;
        ensure(step.kind.type_of() == kind.type_of(), INVALID_VALUE)?;
        step.kind = kind;
        Ok(())
    }
}

fn instantiate(out: Out<CUgraphExec>, graph: CUgraph, flags: u64) -> Answer {
    out.check()?;
    ensure(flags & !KNOWN_FLAGS == 0, INVALID_VALUE)?;
    let graph = Graph::find(graph)?;
    let steps = Steps::of(&graph)?;
    let handle = emulator().graph_execs.insert(Steps {
        flags,
        steps: Mutex::new(steps),
        _objects: graph.shape().objects.clone(),
    });
    put_handle(out, handle)
}

/// Takes over the parameters of a graph with the same shape; says why not.
fn update(exec: CUgraphExec, graph: CUgraph) -> Answer<CUgraphExecUpdateResult> {
    let exec = Steps::find(exec)?;
    let new = Steps::of(&*Graph::find(graph)?)?;
    let mut steps = exec.lock();
    if new.len() != steps.len() {
        return Ok(CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    }
    let same_types = steps.iter().zip(&new).all(|(old, new)| old.kind.type_of() == new.kind.type_of());
    if !same_types {
        return Ok(CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    }
    for (step, new) in steps.iter_mut().zip(new) {
        step.kind = new.kind;
    }
    Ok(CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS)
}

fn update_answer(result: CUgraphExecUpdateResult) -> Answer {
    ensure(
        result == CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS,
        CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
    )
}

calls! {
    fn cuGraphInstantiate(
        _call,
        phGraphExec: Out<CUgraphExec>,
        hGraph: CUgraph,
        _phErrorNode: Out<CUgraphNode>,
        _logBuffer: Out<c_char>,
        _bufferSize: usize,
    ) {
        instantiate(phGraphExec, hGraph, 0)
    }

    fn cuGraphInstantiate_v2(
        _call,
        phGraphExec: Out<CUgraphExec>,
        hGraph: CUgraph,
        _phErrorNode: Out<CUgraphNode>,
        _logBuffer: Out<c_char>,
        _bufferSize: usize,
    ) {
        instantiate(phGraphExec, hGraph, 0)
    }

    fn cuGraphInstantiateWithFlags(
        _call,
        phGraphExec: Out<CUgraphExec>,
        hGraph: CUgraph,
        flags: u64,
    ) {
        instantiate(phGraphExec, hGraph, flags)
    }

    fn cuGraphInstantiateWithParams(
        _call,
        phGraphExec: Out<CUgraphExec>,
        hGraph: CUgraph,
        instantiateParams: Out<CUDA_GRAPH_INSTANTIATE_PARAMS>,
    ) {
        let mut params = instantiateParams.get()?;
        let answer = instantiate(phGraphExec, hGraph, params.flags);
        params.hErrNode_out = CUgraphNode::null();
        params.result_out = match answer {
            Ok(()) => CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_SUCCESS,
            Err(_) => CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_ERROR,
        };
        instantiateParams.set(params)?;
        answer
    }

    fn cuGraphExecDestroy(_call, hGraphExec: CUgraphExec) {
        emulator().graph_execs.remove(hGraphExec.addr()).map(drop).ok_or(INVALID_VALUE)
    }

    fn cuGraphExecGetFlags(_call, hGraphExec: CUgraphExec, flags: Out<u64>) {
        flags.check()?;
        flags.set(Steps::find(hGraphExec)?.flags)
    }

    fn cuGraphUpload(call, hGraph: CUgraphExec, hStream: CUstream) {
        Steps::find(hGraph)?;
        call.stream(hStream).map(drop)
    }

    fn cuGraphLaunch(call, hGraph: CUgraphExec, hStream: CUstream) {
        let stream = call.stream(hStream)?;
        let exec = Steps::find(hGraph)?;
        let steps = exec.lock();
        let enabled = steps.iter().filter(|step| step.enabled);
        let run = GraphRun(enabled.map(|step| step.kind.clone()).collect());
        drop(steps);
        stream.push_after(&run.awaited(), Operation::Graph(run)).map(drop)
    }

    fn cuGraphNodeSetEnabled(
        _call,
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        isEnabled: u32,
    ) {
        let exec = Steps::find(hGraphExec)?;
        let mut steps = exec.lock();
        let step = steps.iter_mut().find(|step| step.node == hNode.addr()).ok_or(INVALID_VALUE)?;
        let switchable =
            matches!(step.kind, NodeKind::Kernel(_) | NodeKind::Copy(_) | NodeKind::Fill(..));
        ensure(switchable, INVALID_VALUE)?;
        step.enabled = isEnabled != 0;
        Ok(())
    }

    fn cuGraphNodeGetEnabled(
        _call,
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        isEnabled: Out<u32>,
    ) {
        isEnabled.check()?;
        let exec = Steps::find(hGraphExec)?;
        let steps = exec.lock();
        let step = steps.iter().find(|step| step.node == hNode.addr()).ok_or(INVALID_VALUE)?;
        isEnabled.set(u32::from(step.enabled))
    }

    fn cuGraphExecUpdate(
        _call,
        hGraphExec: CUgraphExec,
        hGraph: CUgraph,
        hErrorNode_out: Out<CUgraphNode>,
        updateResult_out: Out<CUgraphExecUpdateResult>,
    ) {
        let result = update(hGraphExec, hGraph)?;
        hErrorNode_out.set_if_wanted(CUgraphNode::null());
        updateResult_out.set_if_wanted(result);
        update_answer(result)
    }

    fn cuGraphExecUpdate_v2(
        _call,
        hGraphExec: CUgraphExec,
        hGraph: CUgraph,
        resultInfo: Out<CUgraphExecUpdateResultInfo>,
    ) {
        resultInfo.check()?;
        let result = update(hGraphExec, hGraph)?;
        resultInfo.set(CUgraphExecUpdateResultInfo {
            result,
            ..CUgraphExecUpdateResultInfo::zeroed()
        })?;
        update_answer(result)
    }
}
