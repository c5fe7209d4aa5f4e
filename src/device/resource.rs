//! Parts of a device: multiprocessors, divided among green contexts.

use std::fmt;
use std::ptr;

use cuprum_sys::{
    CU_DEV_SM_RESOURCE_GROUP_PARAMS, CUdevResource, CUdevResourceDesc, CUdevResourceType, CUdevSmResource,
    CUdevSmResourceGroup_flags, CUdevSmResourceSplitByCount_flags, CUdevWorkqueueConfigScope, CUresult, FnId,
};

use super::Device;
use crate::error::Error;
use crate::raw::call::driver_call;
use crate::raw::flags::flags;

/// A kind of resource: the driver's number.
pub type ResourceKind = CUdevResourceType;

flags! {
    /// Options for dividing multiprocessors. Bits that this crate does not name are passed on.
    ///
    /// ```
    /// # cuprum::example!(driver);
    /// use cuprum::device::{ResourceKind, SplitFlags};
    ///
    /// let all = driver.device(0)?.resource(ResourceKind::CU_DEV_RESOURCE_TYPE_SM)?;
    /// let (groups, _rest) = all.split_by_count(1, 2, SplitFlags::IGNORE_SM_COSCHEDULING)?;
    /// assert_eq!(groups.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct SplitFlags: u32 {
        /// Allows smaller and less even groups, which support no clusters of more than one block.
        const IGNORE_SM_COSCHEDULING =
            CUdevSmResourceSplitByCount_flags::CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING.0;
        /// Each group can run the largest clusters that the device supports.
        const MAX_POTENTIAL_CLUSTER_SIZE =
            CUdevSmResourceSplitByCount_flags::CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE.0;
        const _ = !0;
    }
}

/// Choice of one group of multiprocessors.
pub type GroupFlags = CUdevSmResourceGroup_flags;

/// A device or a part of it, to be divided and given to a
/// [`GreenContext`](crate::context::GreenContext). It is a `Copy` description, and reserves nothing
/// on the device.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::device::{GroupFlags, ResourceKind, SmGroup};
///
/// let all = driver.device(0)?.resource(ResourceKind::CU_DEV_RESOURCE_TYPE_SM)?;
/// let sm = all.sm().ok_or("no multiprocessors")?;
/// // A group of eight, and the remainder.
/// let eight = SmGroup {
///     smCount: sm.smCount.min(8),
///     flags: GroupFlags::CU_DEV_SM_RESOURCE_GROUP_BACKFILL.0,
///     ..SmGroup::zeroed()
/// };
/// let (groups, remainder) = all.split(&mut [eight])?;
/// let parts = groups.iter().chain(&remainder);
/// assert!(parts.filter_map(|part| part.sm()).map(|part| part.smCount).sum::<u32>() <= sm.smCount);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct DeviceResource {
    /// `nextResource` is null.
    raw: CUdevResource,
    device: Device,
}

// SAFETY: its one pointer is null; the rest are numbers.
unsafe impl Send for DeviceResource {}
// SAFETY: as above.
unsafe impl Sync for DeviceResource {}

/// A group to [divide](DeviceResource::split) multiprocessors into, in the driver's form. Zero
/// stands for as many as possible, or the default of the device; `flags` has the bits of
/// [`GroupFlags`].
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::device::{ResourceKind, SmGroup};
///
/// let all = driver.device(0)?.resource(ResourceKind::CU_DEV_RESOURCE_TYPE_SM)?;
/// let (groups, _rest) = all.split(&mut [SmGroup::zeroed()])?; // as many as possible
/// assert_eq!(groups.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type SmGroup = CU_DEV_SM_RESOURCE_GROUP_PARAMS;

impl Device {
    /// Returns all of one kind of the device's resources.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_RESOURCE_TYPE`, `CUDA_ERROR_INVALID_VALUE` or `CUDA_ERROR_NOT_SUPPORTED`
    /// for a kind that the device or driver does not have.
    ///
    /// Driver: `cuDeviceGetDevResource`, CUDA 12.4+.
    #[doc(alias = "cuDeviceGetDevResource")]
    #[inline]
    pub fn resource(self, kind: ResourceKind) -> Result<DeviceResource, Error> {
        DeviceResource::ask(self, |to| {
            // SAFETY: the out-parameter outlives the call, and the device is of this driver.
            unsafe { driver_call!(self.library(), cuDeviceGetDevResource(self.as_raw(), to, kind)) }
        })
    }
}

impl DeviceResource {
    fn new(raw: CUdevResource, device: Device) -> Self {
        // The driver receives resources separately, so a pointer to another one could only dangle.
        Self { raw: CUdevResource { nextResource: ptr::null_mut(), ..raw }, device }
    }

    pub(crate) fn ask(
        device: Device,
        ask: impl FnOnce(*mut CUdevResource) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let mut raw = CUdevResource::zeroed();
        ask(&raw mut raw)?;
        Ok(Self::new(raw, device))
    }

    /// Returns the driver's structure.
    pub const fn as_raw(&self) -> &CUdevResource {
        &self.raw
    }

    /// Returns the device of this resource.
    pub const fn device(&self) -> Device {
        self.device
    }

    /// Returns the kind of the resource.
    pub const fn kind(&self) -> ResourceKind {
        self.raw.type_
    }

    /// Returns the multiprocessors; `None` for another kind of resource.
    #[inline]
    pub fn sm(&self) -> Option<CUdevSmResource> {
        if self.kind() != ResourceKind::CU_DEV_RESOURCE_TYPE_SM {
            return None;
        }
        // SAFETY: the kind selects the member; any bits are valid numbers.
        Some(unsafe { self.raw.u.sm })
    }

    /// Returns the number of workloads of work queues, and their sharing; `None` for another kind.
    #[inline]
    pub fn work_queues(&self) -> Option<(u32, CUdevWorkqueueConfigScope)> {
        if self.kind() != ResourceKind::CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG {
            return None;
        }
        // SAFETY: the kind selects the member; any bits are valid numbers.
        let config = unsafe { self.raw.u.wqConfig };
        Some((config.wqConcurrencyLimit, config.sharingScope))
    }

    /// Returns the work queues with another number of concurrent workloads, and shared differently.
    /// Another kind of resource is returned unchanged.
    #[must_use]
    #[inline]
    pub fn with_work_queues(mut self, workloads: u32, scope: CUdevWorkqueueConfigScope) -> Self {
        if self.work_queues().is_some() {
            self.raw.u.wqConfig.wqConcurrencyLimit = workloads;
            self.raw.u.wqConfig.sharingScope = scope;
        }
        self
    }

    /// Divides multiprocessors into at most `groups` equal groups of at least `min_count`, rounded
    /// up as the device requires: on compute capability 9.0 to a multiple of 8. `u32::MAX` stands
    /// for as many groups as possible. Returns the groups, which share no multiprocessor, and the
    /// remainder, if any.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_RESOURCE_TYPE` for another kind of resource;
    /// `CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION` if there are not enough for one group, or for a
    /// part, which a driver of CUDA 13.0 does not divide; `CUDA_ERROR_INVALID_VALUE` for zero
    /// groups, and for flags that exclude each other.
    ///
    /// Driver: `cuDevSmResourceSplitByCount`, CUDA 12.4+.
    #[doc(alias = "cuDevSmResourceSplitByCount")]
    #[inline]
    pub fn split_by_count(
        &self,
        groups: u32,
        min_count: u32,
        flags: SplitFlags,
    ) -> Result<(Vec<Self>, Option<Self>), Error> {
        // At most one group per multiprocessor.
        let mut count = groups.min(self.sm().map_or(0, |sm| sm.smCount));
        if count == 0 {
            let code = match self.sm() {
                None => CUresult::CUDA_ERROR_INVALID_RESOURCE_TYPE,
                Some(_) => CUresult::CUDA_ERROR_INVALID_VALUE,
            };
            return Err(Error::host(code, FnId::cuDevSmResourceSplitByCount));
        }
        let mut found = vec![CUdevResource::zeroed(); count as usize];
        let mut rest = CUdevResource::zeroed();
        let (to, to_count, to_rest) = (found.as_mut_ptr(), &raw mut count, &raw mut rest);
        let (input, flags) = (&raw const self.raw, flags.bits());
        // SAFETY: there is room for `count` groups, and for the rest; all of it outlives the call.
        unsafe {
            driver_call!(
                self.device.library(),
                cuDevSmResourceSplitByCount(to, to_count, input, to_rest, flags, min_count)
            )
        }?;
        found.truncate(count as usize);
        Ok(self.divided(found, rest))
    }

    /// Divides multiprocessors into groups of different sizes. Writes values that the driver chose
    /// for open fields into `groups`. Returns the same as
    /// [`split_by_count`](DeviceResource::split_by_count).
    ///
    /// # Errors
    /// Same as [`split_by_count`](DeviceResource::split_by_count); [`Error::UNRESOLVED`] on a
    /// driver before CUDA 13.1.
    ///
    /// Driver: `cuDevSmResourceSplit`, CUDA 13.1+.
    #[doc(alias = "cuDevSmResourceSplit")]
    #[inline]
    pub fn split(&self, groups: &mut [SmGroup]) -> Result<(Vec<Self>, Option<Self>), Error> {
        let count = u32::try_from(groups.len()).unwrap_or(u32::MAX);
        let mut found = vec![CUdevResource::zeroed(); groups.len()];
        let mut rest = CUdevResource::zeroed();
        let (to, to_rest, input) = (found.as_mut_ptr(), &raw mut rest, &raw const self.raw);
        let groups = groups.as_mut_ptr();
        // SAFETY: there are as many places for groups as groups, and one for the rest; all of it
        // outlives the call.
        unsafe {
            driver_call!(self.device.library(), cuDevSmResourceSplit(to, count, input, to_rest, 0, groups))
        }?;
        Ok(self.divided(found, rest))
    }

    fn divided(&self, groups: Vec<CUdevResource>, rest: CUdevResource) -> (Vec<Self>, Option<Self>) {
        let of_device = |raw| Self::new(raw, self.device);
        let is_rest = rest.type_ != ResourceKind::CU_DEV_RESOURCE_TYPE_INVALID;
        let remainder =
            Some(of_device(rest)).filter(|rest| is_rest && rest.sm().is_none_or(|sm| sm.smCount > 0));
        (groups.into_iter().map(of_device).collect(), remainder)
    }
}

/// Describes resources of one device in the driver's form, for a green context. The driver has no
/// function that frees a description, which is small.
pub(crate) fn describe(resources: &[DeviceResource]) -> Result<(Device, CUdevResourceDesc), Error> {
    let refused = |code| Err(Error::host(code, FnId::cuDevResourceGenerateDesc));
    let Some((first, others)) = resources.split_first() else {
        return refused(CUresult::CUDA_ERROR_INVALID_VALUE);
    };
    if others.iter().any(|other| other.device != first.device) {
        return refused(CUresult::CUDA_ERROR_INVALID_DEVICE);
    }
    let mut all: Vec<CUdevResource> = resources.iter().map(|resource| resource.raw).collect();
    let count = u32::try_from(all.len()).unwrap_or(u32::MAX);
    let mut raw = CUdevResourceDesc::null();
    let (to, from) = (&raw mut raw, all.as_mut_ptr());
    // SAFETY: `count` resources from the driver, which outlive the call like the out-parameter.
    unsafe { driver_call!(first.device.library(), cuDevResourceGenerateDesc(to, from, count)) }?;
    Ok((first.device, raw))
}

impl fmt::Debug for DeviceResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("DeviceResource");
        shown.field("device", &self.device).field("kind", &self.kind());
        if let Some(sm) = self.sm() {
            shown.field("sm", &sm);
        }
        shown.finish_non_exhaustive()
    }
}
