//! Kernel nodes: launches, and the attributes that can be set separately.

use core::ffi::c_void;
use std::sync::Arc;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{In, Out, calls};
use crate::driver::code::{Function, KERNELS, Launch, LaunchShape, cluster_asked, pack_params};
use crate::driver::context::Context;
use crate::driver::handle::Handle;
use crate::driver::stream::LEAST_PRIORITY;

use super::super::object::Node;
use super::params::NodeParams;
use super::{NodeKind, current_context};

/// A launch, and its arguments as an array of pointers for clients that request them.
#[derive(Debug)]
pub(crate) struct KernelNode {
    launch: Launch,
    handle: CUfunction,
    pointers: Box<[*mut c_void]>,
    priority: i32,
}

// SAFETY: the pointers lead into the arguments of `launch`, which live as long as the node and do
// not change. Only the client reads through them, during the life of the node.
unsafe impl Send for KernelNode {}
// SAFETY: as above.
unsafe impl Sync for KernelNode {}

impl KernelNode {
    pub(crate) fn new(launch: Launch, handle: CUfunction) -> Self {
        let params = launch.function.kernel.params().iter();
        let start = launch.params.as_ptr();
        let pointers = params.map(|param| start.wrapping_add(param.offset as usize).cast_mut().cast());
        Self { handle, pointers: pointers.collect(), launch, priority: LEAST_PRIORITY }
    }

    pub(crate) fn run(&self) -> Answer {
        self.launch.launch()
    }

    /// Returns the C structure that describes it, valid while the node keeps this launch.
    fn params(&self) -> CUDA_KERNEL_NODE_PARAMS {
        let LaunchShape { grid, block, dynamic_shared, .. } = self.launch.shape;
        CUDA_KERNEL_NODE_PARAMS {
            func: self.handle,
            gridDimX: grid[0],
            gridDimY: grid[1],
            gridDimZ: grid[2],
            blockDimX: block[0],
            blockDimY: block[1],
            blockDimZ: block[2],
            sharedMemBytes: dynamic_shared,
            kernelParams: self.pointers.as_ptr().cast_mut(),
            kern: CUkernel::from_addr(self.launch.function.kernel_handle().unwrap_or(0)),
            ctx: CUcontext::from_addr(self.launch.function.module.context.handle),
            ..CUDA_KERNEL_NODE_PARAMS::zeroed()
        }
    }

    /// Reads an attribute; those without an effect here read as zero.
    fn attribute(&self, attribute: CUlaunchAttributeID) -> Answer<CUlaunchAttributeValue> {
        ensure(attribute.name().is_some(), INVALID_VALUE)?;
        let mut value = CUlaunchAttributeValue::zeroed();
        match attribute {
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => {
                value.cooperative = i32::from(self.launch.shape.cooperative);
            }
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY => value.priority = self.priority,
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
                let [x, y, z] = self.launch.shape.cluster.unwrap_or_default();
                value.clusterDim = CUlaunchAttributeValue_clusterDim { x, y, z };
            }
            _ => {}
        }
        Ok(value)
    }

    fn with_attribute(&self, attribute: CUlaunchAttributeID, value: &CUlaunchAttributeValue) -> Answer<Self> {
        ensure(attribute.name().is_some(), INVALID_VALUE)?;
        let mut launch = self.launch.clone();
        let mut priority = self.priority;
        match attribute {
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => {
                // SAFETY: the id says that the client set this member, an integer.
                launch.shape.cooperative = unsafe { value.cooperative } != 0;
            }
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY => {
                // SAFETY: the id says that the client set this member, an integer.
                priority = unsafe { value.priority };
            }
            CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
                // SAFETY: the id says that the client set this member, three integers.
                launch.shape.cluster = cluster_asked(unsafe { value.clusterDim });
                launch = Launch::new(launch.function, launch.shape, launch.params)?;
            }
            _ => {}
        }
        Ok(Self { priority, ..Self::new(launch, self.handle) })
    }
}

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
