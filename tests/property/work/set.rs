//! Memory of a graph, nodes that work on it, their shared state, and the ways in which bodies end.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cuprum::graph::{Capture, Graph, GraphError, Loan, Node};
use cuprum::{Buffer, Current, InOut};

use super::act::{End, MEMORIES, Op};
use super::run::Asked;
use super::{Cell, Failed, LEN};

/// Memory of one graph, or of a child of it.
pub(super) struct Set {
    pub(super) loans: [Loan<InOut<u32>>; MEMORIES],
    pub(super) cells: [Cell; MEMORIES],
    pub(super) hosts: Vec<(Loan<[u32]>, Cell)>,
}

/// The operation of a node on a set of memory.
#[derive(Clone, Copy)]
pub(super) enum Did {
    Fill(usize, u32),
    Copy(usize),
    FromHost(usize, usize),
    ToHost(usize, usize),
    Host,
}

/// State that host functions and user objects share: the actual and the expected number of calls.
pub(super) struct Count {
    pub(super) calls: Arc<AtomicU32>,
    pub(super) expected: Option<u32>,
    pub(super) value: Arc<()>,
}

/// Memory for a graph, before it is given away.
pub(super) type Buffers = [Buffer<'static, u32>; MEMORIES];

pub(super) fn buffers(cx: &Current<'_, 'static>) -> Result<Buffers, Failed> {
    Ok([Buffer::from_slice(cx, &[11; LEN])?, Buffer::from_slice(cx, &[12; LEN])?])
}

pub(super) fn set(
    give: impl FnMut(Buffer<'static, u32>) -> Result<Loan<InOut<u32>>, GraphError>,
    buffers: Buffers,
) -> Result<Set, GraphError> {
    let [one, two] = buffers.map(give);
    Ok(Set { loans: [one?, two?], cells: [Some(11), Some(12)], hosts: Vec::new() })
}

impl Set {
    /// Adds a node to a graph, after all that it has.
    pub(super) fn add(
        &mut self,
        graph: &mut Graph<'static>,
        cx: &Current<'_, 'static>,
        op: Op,
        count: &Count,
    ) -> Result<(Node, Did), GraphError> {
        let after = graph.nodes(cx)?;
        let loans = self.loans;
        Ok(match op {
            Op::Fill(at, value) => (graph.add_fill(cx, &after, loans[at], value)?, Did::Fill(at, value)),
            Op::Copy(at) => (graph.add_copy(cx, &after, loans[at], loans[1 - at])?, Did::Copy(at)),
            Op::FromHost(at, value) => {
                let loan = graph.lend(vec![value; LEN])?;
                let node = graph.add_copy(cx, &after, loans[at], loan)?;
                self.hosts.push((loan, Some(value)));
                (node, Did::FromHost(at, self.hosts.len() - 1))
            }
            Op::ToHost(at) => {
                let loan = graph.lend(vec![9; LEN])?;
                let node = graph.add_copy(cx, &after, loan, loans[at])?;
                self.hosts.push((loan, Some(9)));
                (node, Did::ToHost(at, self.hosts.len() - 1))
            }
            Op::Host => (graph.add_host(cx, &after, count.function())?, Did::Host),
        })
    }

    /// Queues work on a stream that is captured.
    pub(super) fn capture(
        &mut self,
        capture: &Capture<'_, '_, 'static>,
        op: Op,
        count: &Count,
    ) -> Result<Did, GraphError> {
        let loans = self.loans;
        Ok(match op {
            Op::Fill(at, value) => (capture.fill(loans[at], value)?, Did::Fill(at, value)).1,
            Op::Copy(at) => (capture.copy(loans[at], loans[1 - at])?, Did::Copy(at)).1,
            Op::FromHost(at, value) => {
                let loan = capture.lend(vec![value; LEN])?;
                capture.copy(loans[at], loan)?;
                self.hosts.push((loan, Some(value)));
                Did::FromHost(at, self.hosts.len() - 1)
            }
            Op::ToHost(at) => {
                let loan = capture.lend(vec![9; LEN])?;
                capture.copy(loan, loans[at])?;
                self.hosts.push((loan, Some(9)));
                Did::ToHost(at, self.hosts.len() - 1)
            }
            Op::Host => (capture.host(count.function())?, Did::Host).1,
        })
    }
}

impl Count {
    fn function(&self) -> impl FnMut() + Send + 'static {
        let calls = Arc::clone(&self.calls);
        move || {
            calls.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Error that a body returns if it is to fail.
pub(super) const REFUSED: GraphError = GraphError::FileName;

/// Leaves a body as requested.
pub(super) fn leave(end: End) -> Result<(), GraphError> {
    match end {
        End::Well => Ok(()),
        End::Error => Err(REFUSED),
        End::Panic => resume_unwind(Box::new(Asked)),
    }
}

/// The result of a body: `None` if it left as it was asked to.
pub(super) fn left<R>(body: impl FnOnce() -> Result<R, GraphError>) -> Result<Option<R>, Failed> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(made)) => Ok(Some(made)),
        Ok(Err(REFUSED)) => Ok(None),
        Ok(Err(error)) => Err(error.into()),
        Err(panic) if panic.is::<Asked>() => Ok(None),
        Err(panic) => resume_unwind(panic),
    }
}
