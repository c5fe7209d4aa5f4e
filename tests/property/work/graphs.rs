//! A slot with a graph or an executable, and the expected contents of its memory.

mod build;

use std::sync::Arc;

use cuprum::graph::{
    CaptureMode, Graph, GraphError, GraphExec, InstantiateFlags, Loan, Node, Returned, UserObject,
};
use cuprum::{Buffer, Current, InOut, Stream};

use super::act::{End, GraphAct, MEMORIES, Op, Ops, STREAMS};
use super::requests::elsewhere;
use super::set::{Count, Did, REFUSED, Set, buffers, leave, left, set};
use super::{Failed, holds};

#[derive(Default)]
enum State {
    #[default]
    None,
    Graph(Graph<'static>),
    GraphExec(GraphExec<'static>),
}

/// A node in the order in which all run: its token if there is one, its set, and its operation.
type Step = (Option<Node>, usize, Did);

/// A graph.
#[derive(Default)]
pub(super) struct Slot {
    state: State,
    sets: Vec<Set>,
    /// Sets of the graph of which the executable was made.
    own: usize,
    steps: Vec<Step>,
    /// True if its operation is unknown because a call failed.
    unknown: bool,
    /// True if it has nodes of which no other graph can take over parameters, or that no child may
    /// have.
    special: bool,
}

impl Slot {
    /// Its contents and operations are in doubt from now on.
    pub(super) fn doubt(&mut self, count: &mut Count) {
        let hosts = self.steps.iter().any(|(_, _, did)| matches!(did, Did::Host));
        if hosts || self.unknown {
            count.expected = None;
        }
        self.unknown = true;
        self.forget_cells();
    }

    /// True if errors of it are no news.
    pub(super) fn is_unknown(&self) -> bool {
        self.unknown
    }

    fn forget_cells(&mut self) {
        for set in &mut self.sets {
            set.cells = [None; MEMORIES];
            set.hosts.iter_mut().for_each(|(_, cell)| *cell = None);
        }
    }

    /// Does a step; false if it makes no sense here.
    pub(super) fn step(
        &mut self,
        act: GraphAct,
        cx: &Current<'_, 'static>,
        streams: &mut [Stream<'static>; STREAMS],
        count: &mut Count,
    ) -> Result<bool, Failed> {
        match (act, std::mem::take(&mut self.state)) {
            (GraphAct::Make, State::None) => {
                let (mut graph, buffers) = (Graph::new(cx)?, buffers(cx)?);
                let set = set(|buffer| graph.lend(buffer), buffers)?;
                *self = Self { state: State::Graph(graph), sets: vec![set], own: 1, ..Self::default() };
            }
            (GraphAct::Capture { stream, ops, end }, State::None) => {
                self.capture(cx, &mut streams[stream], ops, end, count)?;
            }
            (GraphAct::Drop { .. } | GraphAct::Forget, State::None) => return Ok(false),
            (GraphAct::Drop { away }, state) => match away {
                true => elsewhere(move || drop(state)),
                false => drop(state),
            },
            (GraphAct::Forget, state) => std::mem::forget(state),
            (act, State::Graph(mut graph)) => {
                if let GraphAct::Instantiate { stream } = act {
                    let flags = InstantiateFlags::empty();
                    self.state = State::GraphExec(match stream {
                        None => graph.instantiate(cx, flags)?,
                        Some(stream) => graph.instantiate_on(cx, &streams[stream], flags)?,
                    });
                } else if act == GraphAct::Close {
                    self.take_back(cx, graph.close()?, self.sets.len())?;
                } else {
                    let done = self.build(&mut graph, act, cx, streams, count);
                    self.state = State::Graph(graph);
                    return done;
                }
            }
            (GraphAct::Close, State::GraphExec(executable)) => {
                self.take_back(cx, executable.close()?, self.own)?;
            }
            (act, State::GraphExec(mut executable)) => {
                let done = self.replay(&mut executable, act, cx, streams, count);
                self.state = State::GraphExec(executable);
                return done;
            }
            (_, state) => {
                self.state = state;
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn capture(
        &mut self,
        cx: &Current<'_, 'static>,
        stream: &mut Stream<'static>,
        ops: Ops,
        end: End,
        count: &Count,
    ) -> Result<(), Failed> {
        let (mut given, mut steps) = (Some(buffers(cx)?), Vec::new());
        let captured = left(|| {
            cx.capture(stream, CaptureMode::ThreadLocal, |capture| {
                let mut set = set(|buffer| capture.lend(buffer), given.take().ok_or(REFUSED)?)?;
                for op in ops {
                    steps.push((None, 0, set.capture(capture, op, count)?));
                }
                leave(end).map(|()| set)
            })
        })?;
        if let Some((graph, set)) = captured {
            *self = Self { state: State::Graph(graph), sets: vec![set], own: 1, steps, ..Self::default() };
        }
        Ok(())
    }

    /// A step on a graph that is not executable.
    fn build(
        &mut self,
        graph: &mut Graph<'static>,
        act: GraphAct,
        cx: &Current<'_, 'static>,
        streams: &mut [Stream<'static>; STREAMS],
        count: &Count,
    ) -> Result<bool, Failed> {
        match act {
            GraphAct::Add(op) => {
                let (node, did) = self.sets[0].add(graph, cx, op, count)?;
                self.steps.push((Some(node), 0, did));
            }
            GraphAct::AddInside(op) => self.add_inside(graph, op, cx, count)?,
            GraphAct::AddScratch(at, value) => self.add_scratch(graph, (at, value), cx)?,
            GraphAct::AddChild(ops) => self.add_child(graph, ops, cx, count)?,
            GraphAct::CaptureInto { stream, ops, end } => {
                self.capture_into(graph, (ops, end), cx, &mut streams[stream], count)?;
            }
            GraphAct::Retain => {
                let object = UserObject::new(cx.context().driver(), Arc::clone(&count.value))?;
                graph.retain(&object)?;
                object.close()?;
            }
            GraphAct::Remove => {
                let Some(&(Some(node), ..)) = self.steps.last() else { return Ok(false) };
                graph.remove(cx, node)?;
                self.steps.pop();
            }
            GraphAct::SetFill(value) => {
                let Some((node, loan, did)) = self.a_fill(value) else { return Ok(false) };
                graph.set(cx, node).fill(loan, value)?;
                self.steps[did].2 = self.refilled(did, value);
            }
            GraphAct::Write(at, value) => {
                cx.fill(&mut graph.view_mut(self.sets[0].loans[at])?, value)?;
                self.sets[0].cells[at] = Some(value);
            }
            GraphAct::Read(at) => {
                for set in &self.sets {
                    holds("memory of a graph", &graph.view(set.loans[at])?.to_vec(cx)?, set.cells[at])?;
                }
            }
            GraphAct::WriteHost(value) => {
                for (loan, cell) in self.sets.iter_mut().flat_map(|set| &mut set.hosts) {
                    graph.view_mut(*loan)?.fill(value);
                    *cell = Some(value);
                }
            }
            GraphAct::ReadHost => {
                for (loan, cell) in self.sets.iter().flat_map(|set| &set.hosts) {
                    holds("host memory of a graph", graph.view(*loan)?, *cell)?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A step on an executable.
    fn replay(
        &mut self,
        executable: &mut GraphExec<'static>,
        act: GraphAct,
        cx: &Current<'_, 'static>,
        streams: &mut [Stream<'static>; STREAMS],
        count: &mut Count,
    ) -> Result<bool, Failed> {
        match act {
            GraphAct::Run(stream) => {
                executable.launch(cx, &streams[stream])?;
                self.ran(count);
            }
            GraphAct::Replay { stream, times, panic } => {
                let mut launched = 0;
                left(|| {
                    cx.scope_as(&streams[stream], |scope| {
                        let graph = scope.lend_graph(executable)?;
                        for _ in 0..times {
                            graph.launch()?;
                            launched += 1;
                        }
                        Ok::<_, GraphError>(leave(if panic { End::Panic } else { End::Well }))
                    })
                })?;
                (0..launched).for_each(|_| self.ran(count));
            }
            GraphAct::SetFill(value) => {
                let Some((node, loan, did)) = self.a_fill(value) else { return Ok(false) };
                executable.set(cx, node).fill(loan, value)?;
                self.steps[did].2 = self.refilled(did, value);
            }
            GraphAct::Write(at, value) => {
                cx.fill(&mut executable.view_mut(self.sets[0].loans[at])?, value)?;
                self.sets[0].cells[at] = Some(value);
            }
            GraphAct::Read(at) => {
                for set in &self.sets {
                    holds(
                        "memory of an executable",
                        &executable.view(set.loans[at])?.to_vec(cx)?,
                        set.cells[at],
                    )?;
                }
            }
            GraphAct::WriteHost(value) => {
                for (loan, cell) in self.sets.iter_mut().flat_map(|set| &mut set.hosts) {
                    executable.view_mut(*loan)?.fill(value);
                    *cell = Some(value);
                }
            }
            GraphAct::ReadHost => {
                for (loan, cell) in self.sets.iter().flat_map(|set| &set.hosts) {
                    holds("host memory of an executable", executable.view(*loan)?, *cell)?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes over the parameters of another graph.
    pub(super) fn update(&mut self, other: &mut Self, cx: &Current<'_, 'static>) -> Result<bool, Failed> {
        let (State::GraphExec(executable), State::Graph(_)) = (&mut self.state, &other.state) else {
            return Ok(false);
        };
        if self.special || other.special {
            return Ok(false);
        }
        let State::Graph(graph) = std::mem::take(&mut other.state) else { return Ok(false) };
        self.unknown |= other.unknown;
        match executable.update(cx, graph) {
            Ok(()) => {}
            Err(GraphError::Update { .. }) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
        self.sets.truncate(self.own);
        let (first, old) = (self.sets.len(), std::mem::take(&mut self.steps));
        self.sets.append(&mut other.sets);
        let nodes = old.into_iter().map(|(node, ..)| node).chain(std::iter::repeat(None));
        self.steps =
            other.steps.drain(..).zip(nodes).map(|((_, set, did), node)| (node, first + set, did)).collect();
        Ok(true)
    }

    /// A graph with the same nodes, if all that this has were added one by one.
    fn again(&self, cx: &Current<'_, 'static>, value: u32, count: &Count) -> Result<Option<Self>, Failed> {
        let (mut graph, buffers) = (Graph::new(cx)?, buffers(cx)?);
        let mut set = set(|buffer| graph.lend(buffer), buffers)?;
        let mut steps = Vec::new();
        for &(node, _, did) in &self.steps {
            let op = match did {
                Did::Fill(at, _) => Op::Fill(at, value),
                Did::Copy(at) => Op::Copy(at),
                Did::FromHost(at, _) => Op::FromHost(at, value),
                Did::ToHost(at, _) => Op::ToHost(at),
                Did::Host => Op::Host,
            };
            if node.is_none() {
                return Ok(None);
            }
            let (node, did) = set.add(&mut graph, cx, op, count)?;
            steps.push((Some(node), 0, did));
        }
        let state = State::Graph(graph);
        Ok(Some(Self { state, sets: vec![set], own: 1, steps, ..Self::default() }))
    }

    /// Takes over the parameters of a new graph with the same nodes.
    pub(super) fn renew(
        &mut self,
        cx: &Current<'_, 'static>,
        value: u32,
        count: &Count,
    ) -> Result<bool, Failed> {
        match (&self.state, self.unknown) {
            (State::GraphExec(_), false) => match self.again(cx, value, count)? {
                Some(mut other) => self.update(&mut other, cx),
                None => Ok(false),
            },
            _ => Ok(false),
        }
    }

    /// A node that fills and that is not known to fill with `value`: its token, its memory and its
    /// step.
    fn a_fill(&self, value: u32) -> Option<(Node, Loan<InOut<u32>>, usize)> {
        let mut steps = self.steps.iter().enumerate();
        steps.find_map(|(at, (node, set, did))| match *did {
            Did::Fill(memory, old) if old != value => Some(((*node)?, self.sets[*set].loans[memory], at)),
            _ => None,
        })
    }

    fn refilled(&self, step: usize, value: u32) -> Did {
        match self.steps[step].2 {
            Did::Fill(memory, _) => Did::Fill(memory, value),
            did => did,
        }
    }

    /// Applies a replay to the model.
    fn ran(&mut self, count: &mut Count) {
        if self.unknown {
            count.expected = None;
            return self.forget_cells();
        }
        for &(_, set, did) in &self.steps {
            let Set { cells, hosts, .. } = &mut self.sets[set];
            match did {
                Did::Fill(at, value) => cells[at] = Some(value),
                Did::Copy(at) => cells[at] = cells[1 - at],
                Did::FromHost(at, host) => cells[at] = hosts[host].1,
                Did::ToHost(at, host) => hosts[host].1 = cells[at],
                Did::Host => count.expected = count.expected.map(|calls| calls + 1),
            }
        }
    }

    /// Checks the memory that a graph returns.
    fn take_back(
        &mut self,
        cx: &Current<'_, 'static>,
        mut returned: Returned<'static>,
        sets: usize,
    ) -> Result<(), Failed> {
        for set in self.sets.drain(..).take(sets) {
            for (loan, cell) in set.loans.into_iter().zip(set.cells) {
                let buffer = returned
                    .take::<Buffer<_>>(loan)
                    .ok_or_else(|| Failed::Wrong("a buffer did not come back".into()))?;
                let read = buffer.to_vec(cx)?;
                buffer.close()?;
                holds("memory that a graph gave back", &read, cell)?;
            }
            for (loan, cell) in set.hosts {
                let host = returned
                    .take::<Vec<_>>(loan)
                    .ok_or_else(|| Failed::Wrong("host memory did not come back".into()))?;
                holds("host memory that a graph gave back", &host, cell)?;
            }
        }
        Ok(())
    }
}
