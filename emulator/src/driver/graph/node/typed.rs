//! Functions that add, describe and change nodes of one kind each.

use cuprum_sys::*;

use crate::driver::call::{In, Out, calls};

use super::super::exec::set_in;
use super::super::nodes::Node;
use super::params::{EventParams, NodeParams};
use super::{add, params_of};

/// For each structure: the functions that add a node, read its parameters, and set them in a graph
/// and in an executable graph. Some also have a parameter for a context, named here. Functions for
/// events take and return the event in place of the structure.
macro_rules! typed_calls {
    (
        $( struct $params:ty {
            add: $add:ident $( ($add_context:ident) )?,
            get: $get:ident,
            set: $set:ident,
            set_in_exec: $set_in_exec:ident $( ($set_context:ident) )?,
        } )*
        $( event $event_params:ty {
            add: $add_event:ident,
            get: $get_event:ident,
            set: $set_event:ident,
            set_in_exec: $set_event_in_exec:ident,
        } )*
    ) => {
        calls! {
            $(
                fn $add(
                    _call,
                    phGraphNode: Out<CUgraphNode>,
                    hGraph: CUgraph,
                    dependencies: In<CUgraphNode>,
                    numDependencies: usize,
                    nodeParams: In<$params>
                    $(, $add_context: CUcontext )?
                ) {
                    add(phGraphNode, hGraph, dependencies, numDependencies, &|| nodeParams.get()?.into_kind())
                }

                fn $get(_call, hNode: CUgraphNode, nodeParams: Out<$params>) {
                    nodeParams.set(params_of(hNode)?)
                }

                fn $set(_call, hNode: CUgraphNode, nodeParams: In<$params>) {
                    Node::find(hNode)?.replace(nodeParams.get()?.into_kind()?)
                }

                fn $set_in_exec(
                    _call,
                    hGraphExec: CUgraphExec,
                    hNode: CUgraphNode,
                    nodeParams: In<$params>
                    $(, $set_context: CUcontext )?
                ) {
                    set_in(hGraphExec, hNode, nodeParams.get()?.into_kind()?)
                }
            )*

            $(
                fn $add_event(
                    _call,
                    phGraphNode: Out<CUgraphNode>,
                    hGraph: CUgraph,
                    dependencies: In<CUgraphNode>,
                    numDependencies: usize,
                    event: CUevent,
                ) {
                    add(phGraphNode, hGraph, dependencies, numDependencies, &|| {
                        <$event_params>::with(event).into_kind()
                    })
                }

                fn $get_event(_call, hNode: CUgraphNode, event_out: Out<CUevent>) {
                    event_out.set(params_of::<$event_params>(hNode)?.event)
                }

                fn $set_event(_call, hNode: CUgraphNode, event: CUevent) {
                    Node::find(hNode)?.replace(<$event_params>::with(event).into_kind()?)
                }

                fn $set_event_in_exec(
                    _call,
                    hGraphExec: CUgraphExec,
                    hNode: CUgraphNode,
                    event: CUevent,
                ) {
                    set_in(hGraphExec, hNode, <$event_params>::with(event).into_kind()?)
                }
            )*
        }
    };
}

typed_calls! {
    struct CUDA_KERNEL_NODE_PARAMS_v1 {
        add: cuGraphAddKernelNode,
        get: cuGraphKernelNodeGetParams,
        set: cuGraphKernelNodeSetParams,
        set_in_exec: cuGraphExecKernelNodeSetParams,
    }
    struct CUDA_KERNEL_NODE_PARAMS {
        add: cuGraphAddKernelNode_v2,
        get: cuGraphKernelNodeGetParams_v2,
        set: cuGraphKernelNodeSetParams_v2,
        set_in_exec: cuGraphExecKernelNodeSetParams_v2,
    }
    struct CUDA_MEMCPY3D {
        add: cuGraphAddMemcpyNode(_ctx),
        get: cuGraphMemcpyNodeGetParams,
        set: cuGraphMemcpyNodeSetParams,
        set_in_exec: cuGraphExecMemcpyNodeSetParams(_ctx),
    }
    struct CUDA_MEMSET_NODE_PARAMS {
        add: cuGraphAddMemsetNode(_ctx),
        get: cuGraphMemsetNodeGetParams,
        set: cuGraphMemsetNodeSetParams,
        set_in_exec: cuGraphExecMemsetNodeSetParams(_ctx),
    }
    struct CUDA_HOST_NODE_PARAMS {
        add: cuGraphAddHostNode,
        get: cuGraphHostNodeGetParams,
        set: cuGraphHostNodeSetParams,
        set_in_exec: cuGraphExecHostNodeSetParams,
    }
    struct CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
        add: cuGraphAddExternalSemaphoresSignalNode,
        get: cuGraphExternalSemaphoresSignalNodeGetParams,
        set: cuGraphExternalSemaphoresSignalNodeSetParams,
        set_in_exec: cuGraphExecExternalSemaphoresSignalNodeSetParams,
    }
    struct CUDA_EXT_SEM_WAIT_NODE_PARAMS {
        add: cuGraphAddExternalSemaphoresWaitNode,
        get: cuGraphExternalSemaphoresWaitNodeGetParams,
        set: cuGraphExternalSemaphoresWaitNodeSetParams,
        set_in_exec: cuGraphExecExternalSemaphoresWaitNodeSetParams,
    }
    struct CUDA_BATCH_MEM_OP_NODE_PARAMS {
        add: cuGraphAddBatchMemOpNode,
        get: cuGraphBatchMemOpNodeGetParams,
        set: cuGraphBatchMemOpNodeSetParams,
        set_in_exec: cuGraphExecBatchMemOpNodeSetParams,
    }
    event CUDA_EVENT_RECORD_NODE_PARAMS {
        add: cuGraphAddEventRecordNode,
        get: cuGraphEventRecordNodeGetEvent,
        set: cuGraphEventRecordNodeSetEvent,
        set_in_exec: cuGraphExecEventRecordNodeSetEvent,
    }
    event CUDA_EVENT_WAIT_NODE_PARAMS {
        add: cuGraphAddEventWaitNode,
        get: cuGraphEventWaitNodeGetEvent,
        set: cuGraphEventWaitNodeSetEvent,
        set_in_exec: cuGraphExecEventWaitNodeSetEvent,
    }
}
