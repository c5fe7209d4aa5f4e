//! Executable graphs: nodes in an order that respects their dependencies.

use core::ffi::c_char;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuprum_sys::*;

use crate::report::LeakKind;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Kind, Leaked, Out, Table, calls, put_handle};
use crate::driver::code::GraphCondition;
use crate::driver::handle::Handle;
use crate::driver::memory::BLOCKS;
use crate::driver::state::{Operation, Ticket, Turn, captures};

use super::node::NodeKind;
use super::nodes::Node;
use super::object::{Graph, Owner};
use super::parts::Segment;
use super::user_object::Shared;

static GRAPH_EXECS: Table<ExecGraph> =
    Table::new(Kind::GraphExec).leak(LeakKind::GraphExec, |_, _| Leaked::Yes);

#[derive(Debug)]
pub(super) struct ExecGraph {
    flags: u64,
    plan: Mutex<GraphRun>,
}

#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The node of the graph from which it was instantiated.
    pub(super) node: usize,
    /// The nodes of the same graph on which it depends.
    pub(super) after: Arc<[usize]>,
    pub(super) kind: NodeKind,
    pub(super) enabled: bool,
    /// Steps of the graphs that a node owns: a child graph, or the bodies of a conditional node.
    pub(super) bodies: Vec<Vec<Step>>,
}

impl Step {
    pub(super) fn run(&self, turn: Turn<'_>) -> Answer {
        if !self.enabled {
            return Ok(());
        }
        let run_body = |index: usize| match self.bodies.get(index) {
            Some(body) => {
                turn.health.check()?;
                Self::run_all(body, turn)
            }
            None => Ok(()),
        };
        match &self.kind {
            NodeKind::Conditional(conditional) => conditional.run(run_body),
            NodeKind::Child(_) => run_body(0),
            kind => kind.run(turn),
        }
    }

    fn any_inside(&self, holds: &dyn Fn(&Self) -> bool) -> bool {
        self.bodies.iter().any(|body| body.iter().any(holds))
    }

    fn calls_client(&self) -> bool {
        matches!(self.kind, NodeKind::Host(_)) || self.any_inside(&Self::calls_client)
    }

    /// True if another process or API may wait for it.
    fn is_awaited_outside(&self) -> bool {
        self.kind.is_awaited_outside() || self.any_inside(&Self::is_awaited_outside)
    }

    /// Appends the operations, issued before the graph, that it waits for.
    fn gather_awaited(&self, tickets: &mut Vec<Ticket>) {
        match &self.kind {
            NodeKind::Wait(event) => tickets.extend(event.recorded()),
            _ => self.bodies.iter().flatten().for_each(|step| step.gather_awaited(tickets)),
        }
    }

    /// True if it waits for a value in memory, including in child graphs.
    pub(super) fn waits_for_value(&self) -> bool {
        self.kind.waits_for_value() || self.any_inside(&Self::waits_for_value)
    }

    /// Finds the step of a node, including in bodies.
    fn find(steps: &mut [Self], node: usize) -> Option<&mut Self> {
        steps.iter_mut().find_map(|step| match step.node == node {
            true => Some(step),
            false => step.bodies.iter_mut().find_map(|body| Self::find(body, node)),
        })
    }
}

#[derive(Debug, Clone)]
pub(super) struct GraphRun {
    pub(super) steps: Vec<Step>,
    /// The conditions of all conditional nodes, including in bodies.
    pub(super) conditions: Vec<Arc<GraphCondition>>,
    /// The client's objects that the graph kept alive, until the last launch has ended.
    pub(super) _objects: Arc<Vec<Shared>>,
}

impl Operation for GraphRun {
    fn run(&self, turn: Turn<'_>) -> Answer {
        self.conditions.iter().for_each(|condition| condition.reset());
        Step::run_all(&self.steps, turn)
    }

    fn calls_client(&self) -> bool {
        self.steps.iter().any(Step::calls_client)
    }

    fn is_awaited_outside(&self) -> bool {
        self.steps.iter().any(Step::is_awaited_outside)
    }
}

impl GraphRun {
    /// Records the graph's allocations and frees for later calls; the stream executes them later.
    fn allocate(&self, frees_first: bool) -> Answer {
        for step in &self.steps {
            if let NodeKind::Alloc(memory) = &step.kind {
                memory.block.allocate(frees_first)?;
            }
        }
        for step in &self.steps {
            if let NodeKind::Free(address) = step.kind {
                if let Some(block) = BLOCKS.find(address) {
                    block.release()?;
                }
            }
        }
        Ok(())
    }

    /// True if it has work, and only work of the device.
    fn may_be_launched_from_kernels(&self) -> bool {
        let works =
            |step: &Step| matches!(step.kind, NodeKind::Kernel(_) | NodeKind::Copy(_) | NodeKind::Fill(..));
        let fits = |step: &Step| works(step) || matches!(step.kind, NodeKind::Empty | NodeKind::Child(_));
        self.steps.iter().all(fits) && self.steps.iter().any(|step| works(step) || !step.bodies.is_empty())
    }

    /// Returns the operations, issued before the graph, that it waits for.
    fn awaited(&self) -> Vec<Ticket> {
        let mut tickets = Vec::new();
        self.steps.iter().for_each(|step| step.gather_awaited(&mut tickets));
        tickets
    }
}

/// Frees memory that an earlier launch allocated and that was not freed.
const AUTO_FREE: u64 = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH.0 as u64;
/// Uploads immediately, if the call names a stream for it.
const UPLOAD: u64 = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD.0 as u64;
/// Allows launches from kernels. They are not supported, so the flag only restricts the graph: it
/// has work, and only work of the device, and [`AUTO_FREE`] is refused with it.
const DEVICE_LAUNCH: u64 = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH.0 as u64;
/// Applies priorities of nodes. They have no effect and are not reported either, as on an H100.
const NODE_PRIORITY: u64 = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY.0 as u64;

impl ExecGraph {
    pub(crate) fn find(handle: CUgraphExec) -> Answer<Arc<Self>> {
        GRAPH_EXECS.get(handle.addr()).ok_or(INVALID_VALUE)
    }

    fn lock(&self) -> MutexGuard<'_, GraphRun> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the operation of a step by another of the same type.
    pub(crate) fn replace(&self, node: usize, kind: NodeKind) -> Answer {
        let mut plan = self.lock();
        let step = Step::find(&mut plan.steps, node).ok_or(INVALID_VALUE)?;
        ensure(step.kind.can_become(&kind), INVALID_VALUE)?;
        step.kind = kind;
        Ok(())
    }

    /// Copies the parameters of a child graph of the same shape.
    pub(super) fn replace_child(&self, node: usize, child: &Graph) -> Answer {
        let new = GraphRun::of(child)?;
        let mut plan = self.lock();
        let step = Step::find(&mut plan.steps, node).ok_or(INVALID_VALUE)?;
        ensure(matches!(step.kind, NodeKind::Child(_)), INVALID_VALUE)?;
        let old = step.bodies.first_mut().ok_or(INVALID_VALUE)?;
        let same = comparable(old, &new.steps) == CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS;
        ensure(same, INVALID_VALUE)?;
        take_over(old, new.steps);
        Ok(())
    }
}

impl GraphRun {
    fn of(graph: &Graph) -> Answer<Self> {
        let mut conditions = Vec::new();
        let steps = Self::gather(graph, &mut conditions)?;
        ensure(conditions.iter().all(|condition| condition.is_used()), INVALID_VALUE)?;
        Ok(Self { steps, conditions, _objects: Arc::new(graph.shape().objects.clone()) })
    }

    fn gather(graph: &Graph, conditions: &mut Vec<Arc<GraphCondition>>) -> Answer<Vec<Step>> {
        let order = graph.in_order().ok_or(INVALID_VALUE)?;
        conditions.extend(graph.shape().conditions.iter().cloned());
        let mut steps = Vec::with_capacity(order.len());
        for node in order {
            let kind = Node::at(node)?.kind().clone();
            let in_body = graph.owner == Owner::ConditionalNode;
            ensure(!in_body || kind.can_be_conditional(), INVALID_VALUE)?;
            let mut bodies = Vec::new();
            match &kind {
                NodeKind::Child(child) => bodies.push(Self::gather(child, conditions)?),
                NodeKind::Conditional(conditional) => {
                    for body in &conditional.bodies {
                        bodies.push(Self::gather(body, conditions)?);
                    }
                }
                _ => {}
            }
            let after = graph.shape().before(node).into();
            steps.push(Step { node, after, kind, enabled: true, bodies });
        }
        Ok(steps)
    }
}

pub(super) fn set_in(exec: CUgraphExec, node: CUgraphNode, kind: NodeKind) -> Answer {
    ExecGraph::find(exec)?.replace(node.addr(), kind)
}

/// Creates an executable graph. Fails for flags outside of `known`.
fn instantiate(out: Out<CUgraphExec>, graph: CUgraph, flags: u64, known: u64) -> Answer {
    let from_kernels = flags & DEVICE_LAUNCH != 0;
    ensure(flags & !known == 0 && !(from_kernels && flags & AUTO_FREE != 0), INVALID_VALUE)?;
    captures().forbid_unsafe()?;
    out.check()?;
    let graph = Graph::find(graph)?;
    let plan = GraphRun::of(&graph)?;
    ensure(!from_kernels || plan.may_be_launched_from_kernels(), INVALID_VALUE)?;
    let handle = GRAPH_EXECS.insert(ExecGraph { flags: flags & !NODE_PRIORITY, plan: Mutex::new(plan) });
    put_handle(out, handle)
}

/// Copies the parameters of a graph of the same shape. Returns the difference if the shapes differ.
fn update(exec: CUgraphExec, graph: CUgraph) -> Answer<CUgraphExecUpdateResult> {
    let exec = ExecGraph::find(exec)?;
    let graph = Graph::find(graph)?;
    if graph.has_cycle() {
        return Ok(CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    }
    let new = GraphRun::of(&graph)?;
    let mut plan = exec.lock();
    let result = comparable(&plan.steps, &new.steps);
    if result == CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS {
        take_over(&mut plan.steps, new.steps);
        plan.conditions = new.conditions;
    }
    Ok(result)
}

/// Compares the shapes of steps, whose parameters may differ.
fn comparable(old: &[Step], new: &[Step]) -> CUgraphExecUpdateResult {
    use CUgraphExecUpdateResult as R;

    if old.len() != new.len() {
        return R::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    }
    for (old, new) in old.iter().zip(new) {
        if old.kind.type_of() != new.kind.type_of() {
            return R::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        }
        let semaphores = matches!(old.kind, NodeKind::Semaphores(_));
        if old.bodies.len() != new.bodies.len() || semaphores && !old.kind.can_become(&new.kind) {
            return R::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
        }
        let bodies = old.bodies.iter().zip(&new.bodies);
        let different = bodies.map(|(old, new)| comparable(old, new));
        if let Some(result) = different.into_iter().find(|&result| result != R::CU_GRAPH_EXEC_UPDATE_SUCCESS)
        {
            return result;
        }
    }
    R::CU_GRAPH_EXEC_UPDATE_SUCCESS
}

/// Copies the parameters of comparable steps. They keep the nodes of the first graph.
fn take_over(steps: &mut [Step], new: Vec<Step>) {
    for (step, new) in steps.iter_mut().zip(new) {
        step.kind = new.kind;
        for (body, new) in step.bodies.iter_mut().zip(new.bodies) {
            take_over(body, new);
        }
    }
}

fn update_answer(result: CUgraphExecUpdateResult) -> Answer {
    ensure(
        result == CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS,
        CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
    )
}

calls! {
    objects GRAPH_EXECS;

    fn [cuGraphInstantiate, cuGraphInstantiate_v2](
        _call,
        phGraphExec: Out<CUgraphExec>,
        hGraph: CUgraph,
        _phErrorNode: Out<CUgraphNode>,
        _logBuffer: Out<c_char>,
        _bufferSize: usize,
    ) {
        instantiate(phGraphExec, hGraph, 0, 0)
    }

    fn cuGraphInstantiateWithFlags(
        _call,
        phGraphExec: Out<CUgraphExec>,
        hGraph: CUgraph,
        flags: u64,
    ) {
        instantiate(phGraphExec, hGraph, flags, AUTO_FREE | DEVICE_LAUNCH | NODE_PRIORITY)
    }

    fn cuGraphInstantiateWithParams(
        _call,
        phGraphExec: Out<CUgraphExec>,
        hGraph: CUgraph,
        instantiateParams: Out<CUDA_GRAPH_INSTANTIATE_PARAMS>,
    ) {
        let mut params = instantiateParams.get()?;
        let known = AUTO_FREE | UPLOAD | DEVICE_LAUNCH | NODE_PRIORITY;
        let answer = instantiate(phGraphExec, hGraph, params.flags, known);
        params.hErrNode_out = CUgraphNode::null();
        params.result_out = match answer {
            Ok(()) => CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_SUCCESS,
            Err(_) if Graph::find(hGraph).is_ok_and(|graph| graph.has_cycle()) => {
                CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
            }
            Err(_) => CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_ERROR,
        };
        instantiateParams.set(params)?;
        answer
    }

    fn cuGraphExecDestroy(_call, hGraphExec: CUgraphExec) {
        ExecGraph::find(hGraphExec)?;
        captures().forbid_unsafe()?;
        GRAPH_EXECS.remove(hGraphExec.addr()).map(drop).ok_or(INVALID_VALUE)
    }

    fn cuGraphExecGetFlags(_call, hGraphExec: CUgraphExec, flags: Out<u64>) {
        flags.check()?;
        flags.set(ExecGraph::find(hGraphExec)?.flags)
    }

    fn cuGraphExecGetId(_call, hGraphExec: CUgraphExec, graphId: Out<u32>) {
        graphId.check()?;
        ExecGraph::find(hGraphExec)?;
        graphId.set(GRAPH_EXECS.number(hGraphExec.addr()) as u32)
    }

    fn cuGraphUpload(call, hGraph: CUgraphExec, hStream: CUstream) {
        call.stream_outside_captures(hStream)?;
        ExecGraph::find(hGraph).map(drop)
    }

    fn cuGraphLaunch(call, hGraph: CUgraphExec, hStream: CUstream) {
        let stream = call.stream_outside_captures(hStream)?;
        let exec = ExecGraph::find(hGraph)?;
        let run = exec.lock().clone();
        run.allocate(exec.flags & AUTO_FREE != 0)?;
        let awaited = run.awaited();
        if !run.steps.iter().any(Step::waits_for_value) {
            return stream.push_after(&awaited, run).map(drop);
        }
        run.parts().into_iter().try_for_each(|part| match part {
            Segment::Nodes(run) => stream.push_after(&awaited, run).map(drop),
            Segment::Value(operation) => stream.push_after(&awaited, operation).map(drop),
            Segment::Semaphores(operation) => stream.push_after(&awaited, operation).map(drop),
        })
    }

    fn cuGraphNodeSetEnabled(
        _call,
        hGraphExec: CUgraphExec,
        hNode: CUgraphNode,
        isEnabled: u32,
    ) {
        let exec = ExecGraph::find(hGraphExec)?;
        let mut plan = exec.lock();
        let step = Step::find(&mut plan.steps, hNode.addr()).ok_or(INVALID_VALUE)?;
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
        let exec = ExecGraph::find(hGraphExec)?;
        let mut plan = exec.lock();
        let step = Step::find(&mut plan.steps, hNode.addr()).ok_or(INVALID_VALUE)?;
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
