//! Nodes that run kernels.

use core::ffi::c_void;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::code::{Launch, LaunchShape, cluster_asked};
use crate::driver::handle::Handle;
use crate::driver::stream::LEAST_PRIORITY;

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
        self.launch.launch(true)
    }

    /// Returns the C structure that describes it, valid while the node keeps this launch.
    pub(super) fn params(&self) -> CUDA_KERNEL_NODE_PARAMS {
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
    pub(super) fn attribute(&self, attribute: CUlaunchAttributeID) -> Answer<CUlaunchAttributeValue> {
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

    pub(super) fn with_attribute(
        &self,
        attribute: CUlaunchAttributeID,
        value: &CUlaunchAttributeValue,
    ) -> Answer<Self> {
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
