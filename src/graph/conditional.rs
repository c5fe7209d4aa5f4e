//! Conditional nodes, which run bodies depending on a value that kernels set.

use cuprum_sys::{
    CU_GRAPH_COND_ASSIGN_DEFAULT, CUDA_CONDITIONAL_NODE_PARAMS, CUgraphConditionalHandle,
    CUgraphConditionalNodeType, CUgraphNodeParams, CUgraphNodeType, FnId,
};

use super::error::GraphError;
use super::graph::Graph;
use super::node::{Body, Brand, Node};
use crate::context::{Current, context_call};
use crate::raw::call::either_call;

/// When a conditional node runs its bodies: the driver's number.
pub type ConditionalKind = CUgraphConditionalNodeType;

/// A number on which one conditional node depends. Kernels of the graph set it with
/// `cudaGraphSetConditional`, which takes [`as_raw`](Condition::as_raw).
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// let mut graph = cuprum::graph::Graph::new(&cx)?;
/// let condition = graph.condition(&cx, Some(3))?; // 3 at the start of each launch
/// let argument = condition.as_raw(); // for kernels that change it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Condition {
    brand: Brand,
    raw: CUgraphConditionalHandle,
}

impl Condition {
    /// Returns the driver's handle, for kernels.
    pub const fn as_raw(&self) -> CUgraphConditionalHandle {
        self.raw
    }
}

impl Graph<'_> {
    /// Creates a condition for one conditional node. At the start of a replay its value is
    /// `default`, if there is one, and otherwise its previous value.
    ///
    /// Driver: `cuGraphConditionalHandleCreate`, CUDA 12.3+.
    #[doc(alias = "cuGraphConditionalHandleCreate")]
    #[inline]
    pub fn condition(&mut self, cx: &Current<'_, '_>, default: Option<u32>) -> Result<Condition, GraphError> {
        let (context, graph) = self.ready(cx, FnId::cuGraphConditionalHandleCreate)?;
        let flags = if default.is_some() { CU_GRAPH_COND_ASSIGN_DEFAULT } else { 0 };
        let (of, value, mut raw) = (context.as_raw(), default.unwrap_or(0), 0);
        let to = &raw mut raw;
        // SAFETY: graph and context are live; the out-parameter outlives the call.
        unsafe { context_call!(context, cuGraphConditionalHandleCreate(to, graph, of, value, flags)) }?;
        Ok(Condition { brand: self.kept.brand, raw })
    }

    /// Adds a conditional node, and returns it with its bodies:
    ///
    /// | kind | bodies |
    /// |---|---|
    /// | `CU_GRAPH_COND_TYPE_IF` | the first runs if the condition is not zero, the second, if there is one, if it is zero |
    /// | `CU_GRAPH_COND_TYPE_WHILE` | one, repeated while the condition is not zero; a replay never ends if nothing sets it to zero |
    /// | `CU_GRAPH_COND_TYPE_SWITCH` | the one whose index is the value of the condition runs; none for `N` and above |
    ///
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::graph::{ConditionalKind, Graph, InstantiateFlags};
    /// use cuprum::{Buffer, Stream};
    ///
    /// let mut graph = Graph::new(&cx)?;
    /// let memory = graph.lend(Buffer::<u32>::zeroed(&cx, 4)?)?;
    /// let condition = graph.condition(&cx, Some(1))?;
    /// let (_, [body]) = graph.add_conditional(&cx, &[], condition, ConditionalKind::CU_GRAPH_COND_TYPE_IF)?;
    /// graph.within(body, |graph| graph.add_fill(&cx, &[], memory, 5))?;
    /// let mut exec = graph.instantiate(&cx, InstantiateFlags::empty())?;
    /// exec.launch(&cx, &Stream::new(&cx)?)?;
    /// assert_eq!(exec.view(memory)?.to_vec(&cx)?, [5; 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`GraphError::Foreign`], also for a condition of another graph; [`GraphError::Removed`];
    /// `CUDA_ERROR_NOT_SUPPORTED`; `CUDA_ERROR_INVALID_VALUE` for another number of bodies, and on
    /// a driver older than CUDA 12.8 for two bodies and for `CU_GRAPH_COND_TYPE_SWITCH`.
    ///
    /// Driver: `cuGraphAddNode_v2`, CUDA 12.3+, or `cuGraphAddNode_v3`, CUDA 13.4+, where a driver
    /// has only that.
    #[doc(alias("cuGraphAddNode_v2", "cuGraphAddNode_v3"))]
    pub fn add_conditional<const N: usize>(
        &mut self,
        cx: &Current<'_, '_>,
        after: &[Node],
        condition: Condition,
        kind: ConditionalKind,
    ) -> Result<(Node, [Body; N]), GraphError> {
        let (context, _) = self.ready(cx, FnId::cuGraphAddNode_v2)?;
        // Handles are small numbers, so a handle of another graph could be mistaken for one of this
        // graph.
        if condition.brand != self.kept.brand {
            return Err(GraphError::Foreign);
        }
        let mut params = CUgraphNodeParams {
            type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
            ..CUgraphNodeParams::zeroed()
        };
        params.u.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
            handle: condition.raw,
            type_: kind,
            size: u32::try_from(N).unwrap_or(u32::MAX),
            ctx: context.as_raw(),
            ..CUDA_CONDITIONAL_NODE_PARAMS::zeroed()
        };
        let given = &raw mut params;
        let node = self.add(cx, after, FnId::cuGraphAddNode_v2, |context, new| {
            let (to, graph, first, none, count) =
                (new.node, new.graph, new.after, std::ptr::null(), new.count);
            // SAFETY: graph, nodes, context and condition are live; the list and both places
            // outlive the call; no data stands for ordinary edges.
            let added = unsafe {
                either_call!(context.library(), cuGraphAddNode_v2(to, graph, first, none, count, given)
                    or cuGraphAddNode_v3(to, graph, first, none, count, given))
            };
            added.map_err(|error| context.record(error))
        })?;
        // SAFETY: the field was set above, and the driver has filled it.
        let bodies = unsafe { params.u.conditional.phGraph_out };
        let bodies = std::array::from_fn(|at| {
            // SAFETY: the driver returns a list of as many bodies as were requested, which lives as
            // long as the node.
            let body = unsafe { bodies.wrapping_add(at).read() };
            self.nodes.add_body(node, body)
        });
        Ok((node, bodies))
    }
}
