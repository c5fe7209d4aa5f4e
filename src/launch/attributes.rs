//! Launches with attributes, and of grids whose blocks synchronize.

use std::ffi::c_void;
use std::fmt;
use std::mem::zeroed;
use std::ptr;

use cuprum_sys::{
    CUclusterSchedulingPolicy, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue,
    CUlaunchConfig, CUstream, FnId,
};

use super::{Arguments, Dim3, Kernel, LaunchConfig, LaunchError, Signature};
use crate::context::Current;
use crate::error::Error;
use crate::module::Function;
use crate::raw::call::context_call;
use crate::stream::Stream;

/// Number of kinds of attributes below; a set holds each at most once.
const KINDS: usize = 6;

/// Attributes of a launch, made once and used for many.
///
/// ```
/// use cuprum::launch::LaunchAttributes;
///
/// let attributes = LaunchAttributes::new().priority(-1).cluster((2, 1, 1));
/// ```
#[derive(Clone, Copy)]
pub struct LaunchAttributes {
    raw: [CUlaunchAttribute; KINDS],
    len: usize,
}

impl LaunchAttributes {
    /// No attributes.
    pub const fn new() -> Self {
        // SAFETY: `IGNORE` is 0, and all bytes are valid numbers.
        Self { raw: unsafe { zeroed() }, len: 0 }
    }

    /// Sets the priority of the kernel's blocks, see [`Current::stream_priorities`]; lower runs
    /// first.
    #[must_use]
    #[inline]
    pub fn priority(self, priority: i32) -> Self {
        self.with(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY, |value| value.priority = priority)
    }

    /// Sets the blocks of a cluster, which share their shared memory and run at once. The grid must
    /// be a multiple of the cluster. Compute capability 9.0, CUDA 11.8.
    #[must_use]
    pub fn cluster(self, blocks: impl Into<Dim3>) -> Self {
        let Dim3 { x, y, z } = blocks.into();
        self.with(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, |value| {
            value.clusterDim = cuprum_sys::CUlaunchAttributeValue_clusterDim { x, y, z };
        })
    }

    /// Sets the placement of the blocks of clusters.
    #[must_use]
    #[inline]
    pub fn cluster_scheduling(self, policy: CUclusterSchedulingPolicy) -> Self {
        self.with(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, |value| {
            value.clusterSchedulingPolicyPreference = policy
        })
    }

    /// Allows the blocks of the grid to synchronize with each other. All must fit on the device at
    /// once: at most [`Function::max_active_blocks_per_multiprocessor`] times the device's
    /// multiprocessors.
    #[must_use]
    #[inline]
    pub fn cooperative(self) -> Self {
        self.with(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, |value| value.cooperative = 1)
    }

    /// Allows the kernel to start before the previous kernel in the stream ends, once that one
    /// permits it. The kernel must wait with `griddepcontrol.wait` before it uses that one's
    /// results. Compute capability 9.0, CUDA 11.8.
    #[must_use]
    #[inline]
    pub fn programmatic_stream_serialization(self) -> Self {
        self.with(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, |value| {
            value.programmaticStreamSerializationAllowed = 1
        })
    }

    /// Sets the preferred share of on-chip memory as shared memory, in percent. CUDA 12.5.
    #[must_use]
    #[inline]
    pub fn shared_memory_carveout(self, percent: u32) -> Self {
        self.with(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, |value| {
            value.sharedMemCarveout = percent
        })
    }

    /// Sets an attribute, and replaces one of the same kind.
    fn with(mut self, id: CUlaunchAttributeID, set: impl FnOnce(&mut CUlaunchAttributeValue)) -> Self {
        let at = self.raw[..self.len].iter().position(|attribute| attribute.id == id).unwrap_or(self.len);
        // There is one place per kind.
        if let Some(attribute) = self.raw.get_mut(at) {
            attribute.id = id;
            set(&mut attribute.value);
            self.len = self.len.max(at + 1);
        }
        self
    }
}

impl Default for LaunchAttributes {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for LaunchAttributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.raw[..self.len].iter().map(|attribute| attribute.id)).finish()
    }
}

/// Geometry and attributes in the driver's form, valid as long as the attributes.
pub(super) fn raw_config(
    config: LaunchConfig,
    attributes: &LaunchAttributes,
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
        attrs: attributes.raw.as_ptr().cast_mut(),
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
        let config = raw_config(config, attributes, stream.as_raw());
        let (config, function, none) = (&raw const config, self.as_raw(), ptr::null_mut());
        // SAFETY: function and stream are live, of the current context; the caller guarantees the rest.
        unsafe { context_call!(context, cuLaunchKernelEx(config, function, pointers, none)) }
    }
}

impl<S: Signature> Kernel<'_, S> {
    /// Queues the kernel with attributes, such as the cluster. The host does not wait.
    ///
    /// # Errors
    /// Same as [`launch`](Kernel::launch); the errors of [`Function::launch_pointers_with`] for the attributes.
    ///
    /// # Safety
    /// 1. The [duties of a launch](crate::launch#duties-of-a-launch).
    /// 2. With
    ///    [`programmatic_stream_serialization`](LaunchAttributes::programmatic_stream_serialization),
    ///    the stream orders this kernel after the previous one only from its wait on.
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
