//! Attributes of streams: treatment of memory by the second-level cache, waiting policy, priority,
//! and domains of fences.

use std::fmt;
use std::ptr;

use cuprum_sys::{
    CUaccessPolicyWindow, CUaccessProperty, CUdeviceptr, CUlaunchAttributeID, CUlaunchMemSyncDomain,
    CUlaunchMemSyncDomainMap, CUstreamAttrValue, CUsynchronizationPolicy, FnId,
};

use super::Stream;
use crate::context::{Current, context_call};
use crate::error::Error;
use crate::raw::seal::Key;

/// Treatment of a window of memory by the second-level cache while kernels of a stream run: an
/// [attribute](Stream::set_attribute).
///
/// It is advice: the memory need not be live, and results do not depend on it. Persisting lines
/// need reserved space: see [`Limit`](crate::context::Limit) and
/// [`Current::reset_persisting_l2_cache`].
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::stream::AccessPolicy;
/// use cuprum::sys::CUaccessProperty;
/// use cuprum::{Buffer, Stream};
///
/// let (table, stream) = (Buffer::<f32>::zeroed(&cx, 4096)?, Stream::new(&cx)?);
/// // Half of the lines stay in the cache; the others are the first to leave it.
/// let policy = AccessPolicy {
///     address: table.as_raw(),
///     bytes: table.len() * size_of::<f32>(),
///     hit_ratio: 0.5,
///     hit: CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING,
///     miss: CUaccessProperty::CU_ACCESS_PROPERTY_STREAMING,
/// };
/// stream.set_attribute(&cx, policy)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "the driver's structure, which has no room for more")]
pub struct AccessPolicy {
    /// Address of the first byte.
    pub address: CUdeviceptr,
    /// Bytes of the window; 0 for none. At most the attribute
    /// [`CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE`](cuprum_sys::CUdevice_attribute) of the
    /// device.
    pub bytes: usize,
    /// Share of the lines that get the `hit` property, from 0 to 1; the others get `miss`.
    pub hit_ratio: f32,
    /// Property of the share.
    pub hit: CUaccessProperty,
    /// Property of the other lines; not `PERSISTING`.
    pub miss: CUaccessProperty,
}

impl AccessPolicy {
    /// No window: the cache treats all memory alike.
    pub const NONE: Self = Self {
        address: 0,
        bytes: 0,
        hit_ratio: 0.0,
        hit: CUaccessProperty::CU_ACCESS_PROPERTY_NORMAL,
        miss: CUaccessProperty::CU_ACCESS_PROPERTY_NORMAL,
    };
}

impl fmt::Debug for AccessPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, bytes, hit_ratio, hit, miss } = self;
        write!(f, "AccessPolicy({address:#x}, {bytes} bytes, {hit_ratio} as {hit:?}, others as {miss:?})")
    }
}

/// The hardware domain of each logical domain of fences, an [attribute](Stream::set_attribute) of
/// streams: of ordinary kernels, and of kernels that communicate with other devices. Domains are
/// below the attribute
/// [`CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT`](cuprum_sys::CUdevice_attribute) of the device.
pub type SyncDomainMap = CUlaunchMemSyncDomainMap;

type Id = CUlaunchAttributeID;

/// Values of an attribute of streams: see [`Stream::set_attribute`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an attribute of streams",
    note = "the documentation of `Stream::set_attribute` lists the attributes"
)]
pub trait StreamAttribute: Sized {
    #[doc(hidden)]
    const ID: Id;
    #[doc(hidden)]
    fn read(value: &CUstreamAttrValue, _: Key) -> Self;
    #[doc(hidden)]
    fn write(self, value: &mut CUstreamAttrValue, _: Key);
}

macro_rules! attributes {
    ($($name:ty: $id:ident in $field:ident, |$raw:ident| $read:expr, |$this:ident| $write:expr;)*) => { $(
        impl StreamAttribute for $name {
            const ID: Id = Id::$id;

            fn read(value: &CUstreamAttrValue, _: Key) -> Self {
                // SAFETY: any bytes are numbers, and all of them were written.
                let $raw = unsafe { value.$field };
                $read
            }

            fn write(self, value: &mut CUstreamAttrValue, _: Key) {
                let $this = self;
                value.$field = $write;
            }
        }
    )* };
}

attributes! {
    AccessPolicy: CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW in accessPolicyWindow,
        |window| Self {
            address: window.base_ptr.addr() as CUdeviceptr,
            bytes: window.num_bytes,
            hit_ratio: window.hitRatio,
            hit: window.hitProp,
            miss: window.missProp,
        },
        |policy| CUaccessPolicyWindow {
            base_ptr: ptr::without_provenance_mut(policy.address as usize),
            num_bytes: policy.bytes,
            hitRatio: policy.hit_ratio,
            hitProp: policy.hit,
            missProp: policy.miss,
        };
    CUsynchronizationPolicy: CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY in syncPolicy, |policy| policy, |policy| policy;
    CUlaunchMemSyncDomain: CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN in memSyncDomain, |domain| domain, |domain| domain;
    SyncDomainMap: CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP in memSyncDomainMap, |map| map, |map| map;
}

impl Stream<'_> {
    /// Returns the value of an attribute, which the type of the result selects: see
    /// [`set_attribute`](Stream::set_attribute).
    ///
    /// # Errors
    /// [`Error::WRONG_CONTEXT`]; [`Error::UNRESOLVED`] on drivers before CUDA 11.0; for domains
    /// `CUDA_ERROR_INVALID_VALUE` on drivers before CUDA 12.0; the sticky errors of earlier work.
    ///
    /// Driver: `cuStreamGetAttribute`, CUDA 11.0+.
    #[doc(alias = "cuStreamGetAttribute")]
    #[inline]
    pub fn attribute<A: StreamAttribute>(&self, cx: &Current<'_, '_>) -> Result<A, Error> {
        let context = cx.of(self.context(), FnId::cuStreamGetAttribute)?;
        let mut value = CUstreamAttrValue { pad: [0; 64] };
        // SAFETY: the stream is live, its context is current, and the out-parameter outlives the
        // call.
        unsafe { context_call!(context, cuStreamGetAttribute(self.as_raw(), A::ID, &raw mut value)) }?;
        Ok(A::read(&value, Key::new()))
    }

    /// Sets an attribute, for later waits and for kernels that are queued from now on. The type of
    /// the value selects the attribute:
    ///
    /// | value | attribute |
    /// |---|---|
    /// | [`AccessPolicy`] | treatment of memory by the second-level cache |
    /// | [`CUsynchronizationPolicy`] | waiting policy of threads that wait for the stream |
    /// | [`CUlaunchMemSyncDomain`] | logical domain of fences; fences wait for writes of their own domain only |
    /// | [`SyncDomainMap`] | hardware domain of each logical domain |
    ///
    /// Example: see [`AccessPolicy`].
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a value that the driver or the device does not support, such
    /// as a window that is too large, a share that is not from 0 to 1, or persisting lines outside
    /// of the share; the errors of [`attribute`](Stream::attribute).
    ///
    /// Driver: `cuStreamSetAttribute`, CUDA 11.0+.
    #[doc(alias = "cuStreamSetAttribute")]
    #[inline]
    pub fn set_attribute<A: StreamAttribute>(&self, cx: &Current<'_, '_>, value: A) -> Result<(), Error> {
        self.set(cx, A::ID, |raw| value.write(raw, Key::new()))
    }

    fn set(
        &self,
        cx: &Current<'_, '_>,
        id: Id,
        write: impl FnOnce(&mut CUstreamAttrValue),
    ) -> Result<(), Error> {
        let context = cx.of(self.context(), FnId::cuStreamSetAttribute)?;
        let mut value = CUstreamAttrValue { pad: [0; 64] };
        write(&mut value);
        // SAFETY: the stream is live, its context is current, and the value outlives the call,
        // which copies it.
        unsafe { context_call!(context, cuStreamSetAttribute(self.as_raw(), id, &raw const value)) }
    }

    /// Sets the priority of work that is queued from now on. [`priority`](Stream::priority) returns
    /// it.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` on drivers that do not change it; the errors of
    /// [`attribute`](Stream::attribute).
    ///
    /// Driver: `cuStreamSetAttribute`, CUDA 11.0+.
    #[doc(alias = "cuStreamSetAttribute")]
    #[inline]
    pub fn set_priority(&self, cx: &Current<'_, '_>, priority: i32) -> Result<(), Error> {
        self.set(cx, Id::CU_LAUNCH_ATTRIBUTE_PRIORITY, |value| value.priority = priority)
    }
}
