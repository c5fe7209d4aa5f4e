//! Attributes of streams: caching of memory, waits of threads, priority, and domains of fences.

use std::fmt;
use std::ptr;

use cuprum_sys::{
    CUaccessPolicyWindow, CUaccessProperty, CUdeviceptr, CUlaunchAttributeID, CUlaunchMemSyncDomain,
    CUlaunchMemSyncDomainMap, CUstreamAttrValue, CUsynchronizationPolicy, FnId,
};

use super::Stream;
use crate::context::Current;
use crate::error::Error;
use crate::memory::{DeviceData, Slice};
use crate::raw::call::context_call;

/// Caching of a window of memory in the device's second-level cache while kernels of a stream run.
///
/// It is advice: the memory need not be live, and no result changes. Persisting lines need reserved
/// room, see [`Limit`](crate::context::Limit) and [`Current::reset_persisting_l2_cache`].
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::stream::AccessPolicy;
/// use cuprum::{Buffer, Stream};
///
/// let (table, stream) = (Buffer::<f32>::zeroed(&cx, 4096)?, Stream::new(&cx)?);
/// let policy = AccessPolicy::persisting(table.as_slice(), 0.5);
/// assert_eq!((policy.bytes, policy.hit_ratio), (16384, 0.5));
/// stream.set_access_policy(&cx, policy)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq)]
pub struct AccessPolicy {
    /// Address of the first byte.
    pub address: CUdeviceptr,
    /// Number of bytes of the window; 0 for none. At most the device's attribute
    /// [`CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE`](cuprum_sys::CUdevice_attribute).
    pub bytes: usize,
    /// Share of the lines that get the `hit` property, from 0 to 1; the others get `miss`.
    pub hit_ratio: f32,
    /// Property of the share.
    pub hit: CUaccessProperty,
    /// Property of the other lines; not `PERSISTING`.
    pub miss: CUaccessProperty,
}

impl AccessPolicy {
    /// No window: all memory has the same property.
    pub const NONE: Self = Self {
        address: 0,
        bytes: 0,
        hit_ratio: 0.0,
        hit: CUaccessProperty::CU_ACCESS_PROPERTY_NORMAL,
        miss: CUaccessProperty::CU_ACCESS_PROPERTY_NORMAL,
    };

    /// A window of memory: a share of its lines stays in the cache, and the others go first.
    pub fn persisting<T: DeviceData>(memory: Slice<'_, T>, share: f32) -> Self {
        Self {
            address: memory.as_raw(),
            bytes: memory.len() * size_of::<T>(),
            hit_ratio: share,
            hit: CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING,
            miss: CUaccessProperty::CU_ACCESS_PROPERTY_STREAMING,
        }
    }

    /// A window over some memory whose lines are evicted first.
    pub fn streaming<T: DeviceData>(memory: Slice<'_, T>) -> Self {
        let hit = CUaccessProperty::CU_ACCESS_PROPERTY_STREAMING;
        let miss = CUaccessProperty::CU_ACCESS_PROPERTY_NORMAL;
        Self { hit_ratio: 1.0, hit, miss, ..Self::persisting(memory, 1.0) }
    }
}

impl fmt::Debug for AccessPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, bytes, hit_ratio, hit, miss } = self;
        write!(f, "AccessPolicy({address:#x}, {bytes} bytes, {hit_ratio} as {hit:?}, others as {miss:?})")
    }
}

/// Maps logical domains of fences to hardware domains. These are less than the device's attribute
/// [`CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT`](cuprum_sys::CUdevice_attribute).
///
/// # Example
/// ```
/// # cuprum::example!(driver, context, cx);
/// let stream = cuprum::Stream::new(&cx)?;
/// let map = stream.sync_domain_map(&cx)?;
/// println!("fences of ordinary kernels are in domain {}, others in {}", map.default, map.remote);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SyncDomainMap {
    /// The domain of ordinary kernels.
    pub default: u8,
    /// The domain of kernels that communicate with other devices.
    pub remote: u8,
}

type Id = CUlaunchAttributeID;

impl Stream<'_> {
    fn attribute(&self, cx: &Current<'_, '_>, id: Id) -> Result<CUstreamAttrValue, Error> {
        let context = cx.of(self.context(), FnId::cuStreamGetAttribute)?;
        let mut value = CUstreamAttrValue { pad: [0; 64] };
        // SAFETY: the stream is live, its context is current, and the out-parameter outlives the call.
        unsafe { context_call!(context, cuStreamGetAttribute(self.as_raw(), id, &raw mut value)) }?;
        Ok(value)
    }

    fn set_attribute(
        &self,
        cx: &Current<'_, '_>,
        id: Id,
        set: impl FnOnce(&mut CUstreamAttrValue),
    ) -> Result<(), Error> {
        let context = cx.of(self.context(), FnId::cuStreamSetAttribute)?;
        let mut value = CUstreamAttrValue { pad: [0; 64] };
        set(&mut value);
        // SAFETY: the stream is live, its context is current, and the value outlives the call, which copies it.
        unsafe { context_call!(context, cuStreamSetAttribute(self.as_raw(), id, &raw const value)) }
    }

    /// Returns the cache window of kernels of this stream.
    ///
    /// # Errors
    /// [`Error::is_wrong_context`]; [`Error::is_unresolved`] on drivers before CUDA 11.0.
    ///
    /// Driver: `cuStreamGetAttribute`, CUDA 11.0+.
    #[doc(alias = "cuStreamGetAttribute")]
    #[inline]
    pub fn access_policy(&self, cx: &Current<'_, '_>) -> Result<AccessPolicy, Error> {
        let value = self.attribute(cx, Id::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)?;
        // SAFETY: any bytes are valid numbers, and all of them were written.
        let window = unsafe { value.accessPolicyWindow };
        Ok(AccessPolicy {
            address: window.base_ptr.addr() as CUdeviceptr,
            bytes: window.num_bytes,
            hit_ratio: window.hitRatio,
            hit: window.hitProp,
            miss: window.missProp,
        })
    }

    /// Sets the cache window of kernels that are queued here from now on.
    ///
    /// # Example
    /// ```
    /// # cuprum::example!(driver, context, cx);
    /// use cuprum::stream::AccessPolicy;
    /// use cuprum::{Buffer, Stream};
    ///
    /// let stream = Stream::new(&cx)?;
    /// let weights = Buffer::<f32>::zeroed(&cx, 1024)?;
    /// let policy = AccessPolicy::persisting(weights.as_slice(), 0.5);
    /// stream.set_access_policy(&cx, policy)?;
    /// assert_eq!(stream.access_policy(&cx)?, policy);
    /// stream.set_access_policy(&cx, AccessPolicy::NONE)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a window that is too large, an invalid share, or persisting
    /// `miss` lines; the errors of [`access_policy`](Stream::access_policy).
    ///
    /// Driver: `cuStreamSetAttribute`, CUDA 11.0+.
    #[doc(alias = "cuStreamSetAttribute")]
    #[inline]
    pub fn set_access_policy(&self, cx: &Current<'_, '_>, policy: AccessPolicy) -> Result<(), Error> {
        self.set_attribute(cx, Id::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, |value| {
            value.accessPolicyWindow = CUaccessPolicyWindow {
                base_ptr: ptr::without_provenance_mut(policy.address as usize),
                num_bytes: policy.bytes,
                hitRatio: policy.hit_ratio,
                hitProp: policy.hit,
                missProp: policy.miss,
            };
        })
    }

    /// Returns how threads wait for this stream.
    ///
    /// # Errors
    /// Same as [`access_policy`](Stream::access_policy).
    ///
    /// Driver: `cuStreamGetAttribute`, CUDA 11.0+.
    #[doc(alias = "cuStreamGetAttribute")]
    #[inline]
    pub fn sync_policy(&self, cx: &Current<'_, '_>) -> Result<CUsynchronizationPolicy, Error> {
        let value = self.attribute(cx, Id::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)?;
        // SAFETY: as in `access_policy`.
        Ok(unsafe { value.syncPolicy })
    }

    /// Sets how threads wait for this stream.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a policy that the driver does not know; the errors of
    /// [`access_policy`](Stream::access_policy).
    ///
    /// Driver: `cuStreamSetAttribute`, CUDA 11.0+.
    #[doc(alias = "cuStreamSetAttribute")]
    #[inline]
    pub fn set_sync_policy(
        &self,
        cx: &Current<'_, '_>,
        policy: CUsynchronizationPolicy,
    ) -> Result<(), Error> {
        let id = Id::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY;
        self.set_attribute(cx, id, |value| value.syncPolicy = policy)
    }

    /// Sets the [`priority`](Stream::priority) of work queued here from now on.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` on drivers that cannot change it; the errors of
    /// [`access_policy`](Stream::access_policy).
    ///
    /// Driver: `cuStreamSetAttribute`, CUDA 11.0+.
    #[doc(alias = "cuStreamSetAttribute")]
    #[inline]
    pub fn set_priority(&self, cx: &Current<'_, '_>, priority: i32) -> Result<(), Error> {
        self.set_attribute(cx, Id::CU_LAUNCH_ATTRIBUTE_PRIORITY, |value| value.priority = priority)
    }

    /// Returns the logical domain of fences of this stream's kernels.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` on drivers before CUDA 12.0; the errors of
    /// [`access_policy`](Stream::access_policy).
    ///
    /// Driver: `cuStreamGetAttribute`, CUDA 11.0+.
    #[doc(alias = "cuStreamGetAttribute")]
    #[inline]
    pub fn sync_domain(&self, cx: &Current<'_, '_>) -> Result<CUlaunchMemSyncDomain, Error> {
        let value = self.attribute(cx, Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN)?;
        // SAFETY: as in `access_policy`.
        Ok(unsafe { value.memSyncDomain })
    }

    /// Sets the logical domain of fences of kernels queued here from now on. Fences of kernels that
    /// communicate with other devices then do not wait for writes of kernels that do not.
    ///
    /// # Errors
    /// Same as [`sync_domain`](Stream::sync_domain).
    ///
    /// Driver: `cuStreamSetAttribute`, CUDA 11.0+.
    #[doc(alias = "cuStreamSetAttribute")]
    #[inline]
    pub fn set_sync_domain(&self, cx: &Current<'_, '_>, domain: CUlaunchMemSyncDomain) -> Result<(), Error> {
        let id = Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
        self.set_attribute(cx, id, |value| value.memSyncDomain = domain)
    }

    /// Returns the map of logical domains to hardware domains for this stream's kernels.
    ///
    /// # Errors
    /// Same as [`sync_domain`](Stream::sync_domain).
    ///
    /// Driver: `cuStreamGetAttribute`, CUDA 11.0+.
    #[doc(alias = "cuStreamGetAttribute")]
    #[inline]
    pub fn sync_domain_map(&self, cx: &Current<'_, '_>) -> Result<SyncDomainMap, Error> {
        let value = self.attribute(cx, Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)?;
        // SAFETY: as in `access_policy`.
        let map = unsafe { value.memSyncDomainMap };
        Ok(SyncDomainMap { default: map.default_, remote: map.remote })
    }

    /// Sets the map of logical domains to hardware domains for kernels queued here from now on.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for domains that the device does not have; the errors of
    /// [`sync_domain`](Stream::sync_domain).
    ///
    /// Driver: `cuStreamSetAttribute`, CUDA 11.0+.
    #[doc(alias = "cuStreamSetAttribute")]
    #[inline]
    pub fn set_sync_domain_map(&self, cx: &Current<'_, '_>, map: SyncDomainMap) -> Result<(), Error> {
        self.set_attribute(cx, Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, |value| {
            value.memSyncDomainMap = CUlaunchMemSyncDomainMap { default_: map.default, remote: map.remote };
        })
    }

    /// Copies the attributes of another stream of the same context.
    ///
    /// # Errors
    /// Same as [`access_policy`](Stream::access_policy).
    ///
    /// Driver: `cuStreamCopyAttributes`, CUDA 11.0+.
    #[doc(alias = "cuStreamCopyAttributes")]
    #[inline]
    pub fn copy_attributes_from(&self, cx: &Current<'_, '_>, source: &Stream<'_>) -> Result<(), Error> {
        let context = cx.of_both([self.context(), source.context()], FnId::cuStreamCopyAttributes)?;
        // SAFETY: both streams are live and of the current context.
        unsafe { context_call!(context, cuStreamCopyAttributes(self.as_raw(), source.as_raw())) }
    }
}
