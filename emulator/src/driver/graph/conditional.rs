//! Conditional nodes: they select which of their graphs run, and how often.

use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Out, calls};
use crate::driver::code::{GraphCondition, condition};
use crate::driver::context::Context;
use crate::driver::handle::Handle;

use super::object::{Graph, Owner};

/// Rule that selects the bodies to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// Runs the first body if the condition is not zero, and otherwise the second if there is one.
    If,
    /// Runs the only body as long as the condition is not zero.
    While,
    /// Runs the body whose index is the condition, if there is one.
    Switch,
}

/// A conditional node: a condition, and graphs that the node owns.
#[derive(Debug)]
pub(crate) struct Conditional {
    condition: Arc<GraphCondition>,
    choice: Choice,
    pub(super) bodies: Vec<Arc<Graph>>,
    /// The bodies as an array of handles, for the client.
    handles: Box<[CUgraph]>,
}

// SAFETY: the handles have pointer types, but are numbers that are never dereferenced.
unsafe impl Send for Conditional {}
// SAFETY: as above.
unsafe impl Sync for Conditional {}

impl Conditional {
    /// Creates a node for a graph, with empty bodies.
    pub(crate) fn new(graph: &Graph, params: &CUDA_CONDITIONAL_NODE_PARAMS) -> Answer<Self> {
        use CUgraphConditionalNodeType as T;

        let (choice, sizes) = match params.type_ {
            T::CU_GRAPH_COND_TYPE_IF => (Choice::If, 1..=2),
            T::CU_GRAPH_COND_TYPE_WHILE => (Choice::While, 1..=1),
            T::CU_GRAPH_COND_TYPE_SWITCH => (Choice::Switch, 1..=u32::MAX),
            _ => return Err(INVALID_VALUE),
        };
        ensure(sizes.contains(&params.size), INVALID_VALUE)?;
        let condition = condition::find(params.handle).ok_or(INVALID_VALUE)?;
        ensure(condition.graph == graph.handle, INVALID_VALUE)?;
        ensure(condition.claim(), INVALID_VALUE)?;
        let bodies: Vec<_> = (0..params.size).map(|_| Graph::create_for(Owner::ConditionalNode)).collect();
        let handles = bodies.iter().map(|body| CUgraph::from_addr(body.handle)).collect();
        Ok(Self { condition, choice, bodies, handles })
    }

    pub(crate) fn params(&self) -> CUDA_CONDITIONAL_NODE_PARAMS {
        use CUgraphConditionalNodeType as T;

        CUDA_CONDITIONAL_NODE_PARAMS {
            handle: self.condition.handle as u64,
            type_: match self.choice {
                Choice::If => T::CU_GRAPH_COND_TYPE_IF,
                Choice::While => T::CU_GRAPH_COND_TYPE_WHILE,
                Choice::Switch => T::CU_GRAPH_COND_TYPE_SWITCH,
            },
            size: self.bodies.len() as u32,
            phGraph_out: self.handles(),
            ctx: CUcontext::null(),
        }
    }

    /// Returns the bodies. The array lives as long as the node.
    pub(crate) fn handles(&self) -> *mut CUgraph {
        self.handles.as_ptr().cast_mut()
    }

    /// Runs bodies as the condition demands; `run` runs one of them.
    pub(crate) fn run(&self, mut run: impl FnMut(usize) -> Answer) -> Answer {
        let value = || self.condition.value();
        match self.choice {
            Choice::If => run(usize::from(value() == 0)),
            Choice::Switch => run(value() as usize),
            Choice::While => self.condition.repeat(|| run(0)),
        }
    }
}

calls! {
    fn cuGraphConditionalHandleCreate(
        _call,
        pHandle_out: Out<u64>,
        hGraph: CUgraph,
        ctx: CUcontext,
        defaultLaunchValue: u32,
        flags: u32,
    ) {
        pHandle_out.check()?;
        ensure(flags <= CU_GRAPH_COND_ASSIGN_DEFAULT, INVALID_VALUE)?;
        Context::find(ctx)?.check()?;
        let graph = Graph::find(hGraph)?;
        let default = (flags == CU_GRAPH_COND_ASSIGN_DEFAULT).then_some(defaultLaunchValue);
        let handle = GraphCondition::create(graph.handle, default, |condition| graph.shape().conditions.push(condition));
        pHandle_out.set(handle as u64)
    }
}
