//! The driver's pools, from which memory is allocated in stream order.

use std::ops::Deref;

use cuprum_sys::{
    CUmemAccess_flags, CUmemAccessDesc, CUmemLocation, CUmemLocationType, CUmemPool_attribute, CUmemoryPool,
    FnId,
};

use super::{PoolOptions, PoolPlace};
use crate::context::{ContextRef, captures};
use crate::device::Device;
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::driver_call;
use crate::raw::debug::debug;
use crate::raw::owner::{as_raw, close};
use crate::swallowed;

/// An attribute of a pool: the driver's number.
pub type PoolAttribute = CUmemPool_attribute;

/// The access of a device to the memory of a pool: the driver's number.
pub type PoolAccess = CUmemAccess_flags;

/// A pool of the driver with any owner: a default one, or the target of a [`MemoryPool`].
///
/// It belongs to a driver, not to a context.
/// [`StreamBuffer::alloc_from`](super::StreamBuffer::alloc_from) allocates from it.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::pool::{PoolAttribute, PoolPlace};
///
/// let pool = driver.default_pool(PoolPlace::Device(driver.device(0)?))?;
/// let used = pool.attribute(PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?;
/// // Returns unused memory to the system.
/// pool.trim_to(0)?;
/// println!("{used} bytes are in use");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PoolRef {
    raw: CUmemoryPool,
    driver: Driver,
}

// SAFETY: the driver allows any thread to use a pool.
unsafe impl Send for PoolRef {}
// SAFETY: as above; it is immutable.
unsafe impl Sync for PoolRef {}

/// A pool of the driver that this process made or imported. It is destroyed on drop.
///
/// Memory allocated from it stays valid, and returns to the system when it is freed. If the pool
/// was the current one of its device, the default pool becomes current again.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::Stream;
/// use cuprum::pool::{MemoryPool, PoolAttribute, PoolOptions, PoolPlace, StreamBuffer};
///
/// let pool = MemoryPool::new(driver, &PoolOptions::new(PoolPlace::Device(driver.device(0)?)))?;
/// // Keeps up to a mebibyte of unused memory, instead of returning all of it at each wait.
/// pool.set_attribute(PoolAttribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 1 << 20)?;
/// let stream = Stream::new(&cx)?;
/// let buffer = StreamBuffer::<f32>::alloc_from(&cx, &stream, &pool, 1000)?;
/// assert!(pool.attribute(PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)? >= 4000);
/// # drop(buffer);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MemoryPool(PoolRef);

impl PoolRef {
    pub(super) const fn new(raw: CUmemoryPool, driver: Driver) -> Self {
        Self { raw, driver }
    }

    as_raw!(CUmemoryPool, |this| this.raw);

    #[cfg(unix)]
    pub(super) const fn driver(&self) -> Driver {
        self.driver
    }

    /// Fails for a context of another driver, for which the handle is a wild pointer.
    pub(super) fn check_driver(&self, context: &ContextRef, call: FnId) -> Result<(), Error> {
        if self.driver == context.driver() { Ok(()) } else { Err(Error::wrong_context(call)) }
    }

    /// Returns an attribute of the pool, such as the bytes in use, or the unused bytes kept.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an attribute that the driver does not know.
    ///
    /// Driver: `cuMemPoolGetAttribute`, CUDA 11.2+.
    #[doc(alias = "cuMemPoolGetAttribute")]
    #[inline]
    pub fn attribute(&self, which: PoolAttribute) -> Result<u64, Error> {
        // Attributes have four or eight bytes; a newer driver may have larger ones.
        let mut value = [0u64; 8];
        let to = value.as_mut_ptr().cast();
        // SAFETY: the pool is live, and the out-parameter has room and outlives the call.
        unsafe { driver_call!(self.driver.library(), cuMemPoolGetAttribute(self.raw, which, to)) }?;
        Ok(value[0])
    }

    /// Sets an attribute of the pool: 0 or 1 for how memory is reused, the number of bytes to keep,
    /// or 0 to reset a high-water mark.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a read-only attribute or an invalid value.
    ///
    /// Driver: `cuMemPoolSetAttribute`, CUDA 11.2+.
    #[doc(alias = "cuMemPoolSetAttribute")]
    #[inline]
    pub fn set_attribute(&self, which: PoolAttribute, value: u64) -> Result<(), Error> {
        let mut value = [value, 0, 0, 0, 0, 0, 0, 0];
        let from = value.as_mut_ptr().cast();
        // SAFETY: as in `attribute`.
        unsafe { driver_call!(self.driver.library(), cuMemPoolSetAttribute(self.raw, which, from)) }
    }

    /// Returns unused memory to the system, except for at least `bytes` bytes. Memory that streams
    /// have yet to free is in use.
    ///
    /// Driver: `cuMemPoolTrimTo`, CUDA 11.2+.
    #[doc(alias = "cuMemPoolTrimTo")]
    #[inline]
    pub fn trim_to(&self, bytes: usize) -> Result<(), Error> {
        // SAFETY: the pool is live.
        unsafe { driver_call!(self.driver.library(), cuMemPoolTrimTo(self.raw, bytes)) }
    }

    /// Sets the access of devices to the memory of the pool, including existing allocations.
    /// Running work of a device that loses its access faults.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_DEVICE` for devices that are not [peers](Device::can_access_peer), and
    /// for removing the access of the pool's own device; `CUDA_ERROR_NOT_SUPPORTED` for read-only
    /// access; [`Error::WRONG_CONTEXT`] for a device of another driver.
    ///
    /// Driver: `cuMemPoolSetAccess`, CUDA 11.2+.
    #[doc(alias = "cuMemPoolSetAccess")]
    #[inline]
    pub fn set_access(&self, access: &[(Device, PoolAccess)]) -> Result<(), Error> {
        let described = access.iter().map(|&(device, flags)| {
            Ok(CUmemAccessDesc { location: self.location(device, FnId::cuMemPoolSetAccess)?, flags })
        });
        let described: Vec<_> = described.collect::<Result<_, Error>>()?;
        let (first, count) = (described.as_ptr(), described.len());
        // SAFETY: the pool is live, and the list of `count` outlives the call.
        unsafe { driver_call!(self.driver.library(), cuMemPoolSetAccess(self.raw, first, count)) }
    }

    /// Returns the access of a device to the memory of the pool.
    ///
    /// # Errors
    /// Same as [`set_access`](PoolRef::set_access).
    ///
    /// Driver: `cuMemPoolGetAccess`, CUDA 11.2+.
    #[doc(alias = "cuMemPoolGetAccess")]
    #[inline]
    pub fn access(&self, device: Device) -> Result<PoolAccess, Error> {
        let mut location = self.location(device, FnId::cuMemPoolGetAccess)?;
        let (mut flags, at) = (PoolAccess::CU_MEM_ACCESS_FLAGS_PROT_NONE, &raw mut location);
        // SAFETY: the pool is live; the place and the out-parameter outlive the call.
        unsafe { driver_call!(self.driver.library(), cuMemPoolGetAccess(&raw mut flags, self.raw, at)) }?;
        Ok(flags)
    }

    fn location(&self, device: Device, call: FnId) -> Result<CUmemLocation, Error> {
        if device.driver() != self.driver {
            return Err(Error::wrong_context(call));
        }
        let mut location = CUmemLocation::zeroed();
        location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        location.id = device.as_raw();
        Ok(location)
    }
}

impl MemoryPool {
    /// Makes a pool.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` for a location or an export that the device or the system does
    /// not support; `CUDA_ERROR_INVALID_VALUE` for a location that the driver does not know;
    /// [`Error::WRONG_CONTEXT`] for a device of another driver.
    ///
    /// Driver: `cuMemPoolCreate`, CUDA 11.2+.
    #[doc(alias = "cuMemPoolCreate")]
    #[inline]
    pub fn new(driver: Driver, options: &PoolOptions) -> Result<Self, Error> {
        let props = options.described(driver, FnId::cuMemPoolCreate)?;
        let mut raw = CUmemoryPool::null();
        // SAFETY: the description and the out-parameter outlive the call.
        unsafe { driver_call!(driver.library(), cuMemPoolCreate(&raw mut raw, &raw const props)) }?;
        Ok(Self(PoolRef::new(raw, driver)))
    }

    pub(super) const fn owned(raw: CUmemoryPool, driver: Driver) -> Self {
        Self(PoolRef::new(raw, driver))
    }

    close!("Destroys the pool", "cuMemPoolDestroy", "11.2", |this| {
        let closed = this.destroy();
        std::mem::forget(this);
        closed
    });

    fn destroy(&self) -> Result<(), Error> {
        let library = self.driver.library();
        let destroyed = captures::free_beside(library, || {
            // SAFETY: the pool is live, the handle is not used again; allocations stay valid.
            unsafe { driver_call!(library, cuMemPoolDestroy(self.raw)) }
        });
        match destroyed {
            Err(error) if !error.is_deinitialized() => Err(error),
            _ => Ok(()),
        }
    }
}

impl Deref for MemoryPool {
    type Target = PoolRef;

    fn deref(&self) -> &PoolRef {
        &self.0
    }
}

impl Drop for MemoryPool {
    fn drop(&mut self) {
        if let Err(error) = self.destroy() {
            if !error.is_forked() {
                swallowed::tell(error);
            }
        }
    }
}

impl Driver {
    /// Returns the default pool of a location. A device always has one.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` or `CUDA_ERROR_INVALID_VALUE` for a location without pools;
    /// [`Error::WRONG_CONTEXT`] for a device of another driver.
    ///
    /// Driver: `cuDeviceGetDefaultMemPool`, CUDA 11.2+, for a device; otherwise
    /// `cuMemGetDefaultMemPool`, CUDA 13.0+.
    #[doc(alias("cuDeviceGetDefaultMemPool", "cuMemGetDefaultMemPool"))]
    #[inline]
    pub fn default_pool(self, place: PoolPlace) -> Result<PoolRef, Error> {
        let (memory, mut location) = place.described(self, FnId::cuMemGetDefaultMemPool)?;
        let (mut raw, at) = (CUmemoryPool::null(), &raw mut location);
        if let PoolPlace::Device(device) = place {
            // SAFETY: the out-parameter outlives the call, and the device is of this driver.
            unsafe {
                driver_call!(self.library(), cuDeviceGetDefaultMemPool(&raw mut raw, device.as_raw()))
            }?;
        } else {
            // SAFETY: the place and the out-parameter outlive the call.
            unsafe { driver_call!(self.library(), cuMemGetDefaultMemPool(&raw mut raw, at, memory)) }?;
        }
        Ok(PoolRef::new(raw, self))
    }

    /// Returns the handle of the current pool of a location, to compare with [`PoolRef::as_raw`]:
    /// on a device, the one from which [`StreamBuffer::alloc`](super::StreamBuffer::alloc)
    /// allocates. The owner of the pool may destroy it at any time.
    ///
    /// # Errors
    /// Same as [`default_pool`](Driver::default_pool).
    ///
    /// Driver: `cuDeviceGetMemPool`, CUDA 11.2+, for a device; otherwise `cuMemGetMemPool`,
    /// CUDA 13.0+.
    #[doc(alias("cuDeviceGetMemPool", "cuMemGetMemPool"))]
    #[inline]
    pub fn current_pool(self, place: PoolPlace) -> Result<CUmemoryPool, Error> {
        let (memory, mut location) = place.described(self, FnId::cuMemGetMemPool)?;
        let (mut raw, at) = (CUmemoryPool::null(), &raw mut location);
        if let PoolPlace::Device(device) = place {
            // SAFETY: as in `default_pool`.
            unsafe { driver_call!(self.library(), cuDeviceGetMemPool(&raw mut raw, device.as_raw())) }?;
        } else {
            // SAFETY: as in `default_pool`.
            unsafe { driver_call!(self.library(), cuMemGetMemPool(&raw mut raw, at, memory)) }?;
        }
        Ok(raw)
    }

    /// Makes a pool the current one of a location, in the whole process, until it is dropped or
    /// another pool is set: on a device, [`StreamBuffer::alloc`](super::StreamBuffer::alloc)
    /// allocates from it.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a pool in another location, or an imported one;
    /// [`Error::WRONG_CONTEXT`] for a pool or a device of another driver.
    ///
    /// Driver: `cuDeviceSetMemPool`, CUDA 11.2+, for a device; otherwise `cuMemSetMemPool`,
    /// CUDA 13.0+.
    #[doc(alias("cuDeviceSetMemPool", "cuMemSetMemPool"))]
    #[inline]
    pub fn set_current_pool(self, place: PoolPlace, pool: &PoolRef) -> Result<(), Error> {
        if pool.driver != self {
            return Err(Error::wrong_context(FnId::cuMemSetMemPool));
        }
        let (memory, mut location) = place.described(self, FnId::cuMemSetMemPool)?;
        if let PoolPlace::Device(device) = place {
            // SAFETY: the pool is live; when it is destroyed, the driver uses the default one
            // again.
            unsafe { driver_call!(self.library(), cuDeviceSetMemPool(device.as_raw(), pool.raw)) }
        } else {
            // SAFETY: as above, and the place outlives the call.
            unsafe { driver_call!(self.library(), cuMemSetMemPool(&raw mut location, memory, pool.raw)) }
        }
    }
}

debug!(PoolRef: |this| "{:?}", this.raw);

debug!(MemoryPool: |this| "{:?}", this.raw);
