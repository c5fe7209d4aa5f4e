//! Nodes that several calls add to a graph.

use cuprum::graph::{CaptureMode, ConditionalKind, Graph, GraphError};
use cuprum::{Current, Stream};

use super::super::act::{End, Op, Ops};
use super::super::set::{Count, Did, buffers, leave, left, set};
use super::super::{Failed, LEN};
use super::Slot;

impl Slot {
    /// Adds an operation inside of a branch.
    pub(super) fn add_inside(
        &mut self,
        graph: &mut Graph<'static>,
        op: Op,
        cx: &Current<'_, 'static>,
        count: &Count,
    ) -> Result<(), Failed> {
        let op = match op {
            Op::Fill(..) | Op::Copy(_) => op,
            _ => Op::Fill(0, 77),
        };
        let (after, condition) = (graph.nodes(cx)?, graph.condition(cx, Some(1))?);
        self.special = true;
        let (_, [body]) =
            graph.add_conditional(cx, &after, condition, ConditionalKind::CU_GRAPH_COND_TYPE_IF)?;
        let set = &mut self.sets[0];
        let (_, did) = graph.within(body, |graph| set.add(graph, cx, op, count))?;
        self.steps.push((None, 0, did));
        Ok(())
    }

    /// Adds memory of the graph's own, a fill of it and a copy from it.
    pub(super) fn add_scratch(
        &mut self,
        graph: &mut Graph<'static>,
        (at, value): (usize, u32),
        cx: &Current<'_, 'static>,
    ) -> Result<(), Failed> {
        self.special = true;
        let after = graph.nodes(cx)?;
        // SAFETY: the fill comes after the allocation, the copy after both, and the end after all.
        let (alloc, scratch) = unsafe { graph.add_alloc::<u32>(cx, &after, LEN) }?;
        let fill = graph.add_fill(cx, &[alloc], scratch, value)?;
        let copy = graph.add_copy(cx, &[fill], self.sets[0].loans[at], scratch)?;
        graph.add_free(cx, &[copy], scratch)?;
        self.steps.push((None, 0, Did::Fill(at, value)));
        Ok(())
    }

    /// Adds a graph with operations of its own.
    pub(super) fn add_child(
        &mut self,
        graph: &mut Graph<'static>,
        ops: Ops,
        cx: &Current<'_, 'static>,
        count: &Count,
    ) -> Result<(), Failed> {
        let (mut child, buffers) = (Graph::new(cx)?, buffers(cx)?);
        let mut set = set(|buffer| child.lend(buffer), buffers)?;
        let mut steps = Vec::new();
        for op in ops {
            steps.push((None, self.sets.len(), set.add(&mut child, cx, op, count)?.1));
        }
        let after = graph.nodes(cx)?;
        graph.add_child(cx, &after, child)?;
        self.sets.push(set);
        self.own = self.sets.len();
        self.steps.extend(steps);
        Ok(())
    }

    /// Captures operations into the graph.
    pub(super) fn capture_into(
        &mut self,
        graph: &mut Graph<'static>,
        (ops, end): (Ops, End),
        cx: &Current<'_, 'static>,
        stream: &mut Stream<'static>,
        count: &Count,
    ) -> Result<(), Failed> {
        let (after, set) = (graph.nodes(cx)?, &mut self.sets[0]);
        let mut steps = Vec::new();
        let captured = left(|| {
            let mode = CaptureMode::Relaxed;
            graph.capture_into(cx, stream, &after, mode, |capture| {
                for op in ops {
                    steps.push((None, 0, set.capture(capture, op, count)?));
                }
                leave(end)
            })
        })?;
        self.steps.extend(steps);
        self.unknown |= captured.is_none();
        if captured.is_none() && graph.add_empty(cx, &[]) != Err(GraphError::Incomplete) {
            return Err(Failed::Wrong("a capture into a graph was left, and the graph takes nodes".into()));
        }
        Ok(())
    }
}
