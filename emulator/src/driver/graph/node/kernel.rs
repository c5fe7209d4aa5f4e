//! Kernel nodes: launches, and the attributes that can be set separately.

use std::sync::Arc;

use cuprum_sys::*;

use super::kernel_node::KernelNode;
use crate::driver::answer::{Answer, INVALID_VALUE};
use crate::driver::call::{In, Out, calls};
use crate::driver::code::{Function, KERNELS, Launch, LaunchShape, pack_params};
use crate::driver::context::Context;
use crate::driver::handle::Handle;

use super::super::nodes::Node;
use super::params::NodeParams;
use super::{NodeKind, current_context};

/// Returns the function that the parameters name: a function, or the function of a kernel in a
/// context. Like an H100, it accepts a function in place of a kernel, but not the reverse.
fn function_of(params: &CUDA_KERNEL_NODE_PARAMS, context: &Arc<Context>) -> Answer<CUfunction> {
    if !params.func.is_null() {
        Function::find_proper(params.func)?;
        return Ok(params.func);
    }
    match KERNELS.get(params.kern.addr()) {
        Some(kernel) => Ok(CUfunction::from_addr(kernel.function_in(context)?)),
        None => Ok(CUfunction::from_addr(params.kern.addr())),
    }
}

impl NodeParams for CUDA_KERNEL_NODE_PARAMS {
    fn into_kind(self) -> Answer<NodeKind> {
        let context = if self.ctx.is_null() { current_context()? } else { Context::find(self.ctx)? };
        context.check()?;
        let handle = function_of(&self, &context)?;
        let function = Function::find_in(handle, &context)?;
        let shape = LaunchShape {
            grid: [self.gridDimX, self.gridDimY, self.gridDimZ],
            block: [self.blockDimX, self.blockDimY, self.blockDimZ],
            dynamic_shared: self.sharedMemBytes,
            cooperative: false,
            cluster: None,
        };
        let arguments = pack_params(&function, self.kernelParams, self.extra)?;
        let launch = Launch::new(function, shape, arguments)?;
        Ok(NodeKind::Kernel(Arc::new(KernelNode::new(launch, handle))))
    }

    fn of(kind: &NodeKind) -> Answer<Self> {
        match kind {
            NodeKind::Kernel(kernel) => Ok(kernel.params()),
            _ => Err(INVALID_VALUE),
        }
    }
}

fn kernel_of(node: CUgraphNode) -> Answer<Arc<KernelNode>> {
    match &*Node::find(node)?.kind() {
        NodeKind::Kernel(kernel) => Ok(Arc::clone(kernel)),
        _ => Err(INVALID_VALUE),
    }
}

calls! {
    fn cuGraphKernelNodeGetAttribute(
        _call,
        hNode: CUgraphNode,
        attr: CUlaunchAttributeID,
        value_out: Out<CUlaunchAttributeValue>,
    ) {
        value_out.check()?;
        value_out.set(kernel_of(hNode)?.attribute(attr)?)
    }

    fn cuGraphKernelNodeSetAttribute(
        _call,
        hNode: CUgraphNode,
        attr: CUlaunchAttributeID,
        value: In<CUlaunchAttributeValue>,
    ) {
        let changed = kernel_of(hNode)?.with_attribute(attr, &value.get()?)?;
        Node::find(hNode)?.replace(NodeKind::Kernel(Arc::new(changed)))
    }

    fn cuGraphKernelNodeCopyAttributes(_call, dst: CUgraphNode, src: CUgraphNode) {
        let (source, mut changed) = (kernel_of(src)?, kernel_of(dst)?);
        for attribute in [
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY,
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        ] {
            changed = Arc::new(changed.with_attribute(attribute, &source.attribute(attribute)?)?);
        }
        Node::find(dst)?.replace(NodeKind::Kernel(changed))
    }
}
