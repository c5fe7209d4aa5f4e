//! Launches with attributes, and of grids whose blocks synchronize.

use std::ffi::c_void;
use std::mem::zeroed;
use std::ptr;

use cuprum_sys::{
    CUclusterSchedulingPolicy, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue,
    CUlaunchAttributeValue_clusterDim, CUlaunchConfig, CUstream, FnId,
};

use super::{Arguments, Dim3, Kernel, LaunchConfig, LaunchError, Signature};
use crate::context::{Current, context_call};
use crate::error::Error;
use crate::module::Function;
use crate::stream::Stream;

/// Attributes of a launch, made once and used for many.
///
/// ```
/// use cuprum::launch::LaunchAttributes;
///
/// let cluster = Some((2, 1, 1).into());
/// let attributes = LaunchAttributes { priority: Some(-1), cluster, ..LaunchAttributes::default() };
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "written as a change of another, which goes on compiling with a new field"
)]
pub struct LaunchAttributes {
    /// Priority of the kernel's blocks, see [`Current::stream_priorities`]; lower runs first.
    pub priority: Option<i32>,
    /// Blocks of a cluster, which share their shared memory and run at once. The grid must be a
    /// multiple of the cluster. Compute capability 9.0, CUDA 11.8.
    pub cluster: Option<Dim3>,
    /// Placement of the blocks of clusters.
    pub cluster_scheduling: Option<CUclusterSchedulingPolicy>,
    /// Allows the blocks of the grid to synchronize with each other. All must fit on the device at
    /// once: at most [`Function::max_active_blocks_per_multiprocessor`] times the device's
    /// multiprocessors.
    pub cooperative: bool,
    /// Allows the kernel to start before the previous kernel in the stream ends, once that one
    /// permits it. The kernel must wait with `griddepcontrol.wait` before it uses that one's
    /// results. Compute capability 9.0, CUDA 11.8.
    pub programmatic_stream_serialization: bool,
    /// Preferred share of on-chip memory as shared memory, in percent. CUDA 12.5.
    pub shared_memory_carveout: Option<u32>,
}

/// Attributes in the driver's form.
pub(super) struct RawAttributes {
    list: [CUlaunchAttribute; 6],
    len: usize,
}

impl LaunchAttributes {
    pub(super) fn raw(&self) -> RawAttributes {
        // SAFETY: `IGNORE` is 0, and all bytes are valid numbers.
        let mut raw = RawAttributes { list: unsafe { zeroed() }, len: 0 };
        if let Some(priority) = self.priority {
            raw.push(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY).priority = priority;
        }
        if let Some(Dim3 { x, y, z }) = self.cluster {
            raw.push(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim =
                CUlaunchAttributeValue_clusterDim { x, y, z };
        }
        if let Some(policy) = self.cluster_scheduling {
            raw.push(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
                .clusterSchedulingPolicyPreference = policy;
        }
        if self.cooperative {
            raw.push(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
        }
        if self.programmatic_stream_serialization {
            raw.push(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
                .programmaticStreamSerializationAllowed = 1;
        }
        if let Some(percent) = self.shared_memory_carveout {
            raw.push(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
                .sharedMemCarveout = percent;
        }
        raw
    }
}

impl RawAttributes {
    /// Adds an attribute, and returns the place of its value. There is one place per kind.
    fn push(&mut self, id: CUlaunchAttributeID) -> &mut CUlaunchAttributeValue {
        let attribute = &mut self.list[self.len.min(5)];
        self.len += 1;
        attribute.id = id;
        &mut attribute.value
    }
}

/// Geometry and attributes in the driver's form, valid as long as the attributes.
pub(super) fn raw_config(
    config: LaunchConfig,
    attributes: &RawAttributes,
    stream: CUstream,
) -> CUlaunchConfig {
    let LaunchConfig { grid, block, shared_bytes } = config;
    CUlaunchConfig {
        gridDimX: grid.x,
        gridDimY: grid.y,
        gridDimZ: grid.z,
        blockDimX: block.x,
        blockDimY: block.y,
        blockDimZ: block.z,
        sharedMemBytes: shared_bytes,
        hStream: stream,
        // The driver only reads them.
        attrs: attributes.list.as_ptr().cast_mut(),
        numAttrs: attributes.len as u32,
    }
}

impl Function<'_> {
    /// Same as [`launch_pointers`](Function::launch_pointers), with attributes.
    ///
    /// # Errors
    /// Same as [`launch_pointers`](Function::launch_pointers); `CUDA_ERROR_NOT_SUPPORTED` or
    /// `CUDA_ERROR_INVALID_VALUE` for attributes that the device or driver does not have;
    /// `CUDA_ERROR_INVALID_CLUSTER_SIZE`; `CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE`.
    ///
    /// # Safety
    /// Same as [`launch_pointers`](Function::launch_pointers).
    ///
    /// Driver: `cuLaunchKernelEx`, CUDA 11.6+.
    #[doc(alias = "cuLaunchKernelEx")]
    #[inline]
    pub unsafe fn launch_pointers_with(
        self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
        config: LaunchConfig,
        attributes: &LaunchAttributes,
        pointers: *mut *mut c_void,
    ) -> Result<(), Error> {
        let context = cx.of_both([self.context(), stream.context()], FnId::cuLaunchKernelEx)?;
        let attributes = attributes.raw();
        let config = raw_config(config, &attributes, stream.as_raw());
        let (config, function, none) = (&raw const config, self.as_raw(), ptr::null_mut());
        // SAFETY: function and stream are live, of the current context; the caller guarantees the
        // rest.
        unsafe { context_call!(context, cuLaunchKernelEx(config, function, pointers, none)) }
    }
}

impl<S: Signature> Kernel<'_, S> {
    /// Queues the kernel with attributes, such as the cluster. The host does not wait.
    ///
    /// # Errors
    /// Same as [`launch`](Kernel::launch); the errors of [`Function::launch_pointers_with`] for the
    /// attributes.
    ///
    /// # Safety
    /// 1. The [duties of a launch](crate::launch#duties-of-a-launch).
    /// 2. With [`programmatic_stream_serialization`][serialization], the stream orders this kernel
    ///    after the previous one only from its wait on.
    ///
    /// [serialization]: LaunchAttributes::programmatic_stream_serialization
    ///
    /// Driver: `cuLaunchKernelEx`, CUDA 11.6+.
    #[doc(alias = "cuLaunchKernelEx")]
    #[inline]
    pub unsafe fn launch_with<A: Arguments<S>>(
        &self,
        cx: &Current<'_, '_>,
        stream: &Stream<'_>,
        config: LaunchConfig,
        attributes: &LaunchAttributes,
        arguments: A,
    ) -> Result<(), LaunchError> {
        self.check(config)?;
        arguments.with_pointers(|pointers| {
            // SAFETY: there is one pointer per parameter, to a value of its size that outlives the
            // call; the caller guarantees the kernel.
            unsafe { self.function().launch_pointers_with(cx, stream, config, attributes, pointers) }
        })?;
        Ok(())
    }
}
