//! Multicast objects: one address for memory of several devices.

use cuprum_sys::{
    CUmemAllocationHandleType, CUmemGenericAllocationHandle, CUmulticastGranularity_flags,
    CUmulticastObjectProp, FnId, Library,
};

use super::physical::{Physical, handles, same_driver};
use super::{Granularity, PhysicalMemory};
use crate::device::Device;
use crate::driver::Driver;
use crate::error::Error;
use crate::memory::{DeviceData, Slice};
use crate::raw::call::{driver_call, either_call};
use crate::raw::owned::Owned;

/// An object to which devices bind memory. A kernel's writes to one address reach the memory of all
/// devices, and its reads return the sum. For devices with the attribute
/// `CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED`.
///
/// [Create](Multicast::new) it, [add](Multicast::add_device) all its devices,
/// [bind](Multicast::bind) memory of each, and [map](super::Reservation::map_multicast) it in a
/// context of each. The driver counts its uses, as for [`PhysicalMemory`]: mappings and bound
/// memory stay as long as necessary, in any order of drops.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{Granularity, MemoryLocation, Multicast, PhysicalFlags, PhysicalMemory, Reservation};
///
/// let device = driver.device(0)?;
/// let make = |driver| {
///     let bytes = Multicast::granularity(driver, 1, 1 << 20, Granularity::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)?;
///     Multicast::new(driver, 1, bytes, false)
/// };
/// match make(driver) {
///     Ok(object) => {
///         let (at, bytes) = (MemoryLocation::Device(device), object.bytes());
///         let memory = PhysicalMemory::new(driver, at, bytes, PhysicalFlags::empty())?;
///         object.add_device(device)?;
///         object.bind(device, 0, &memory, 0, bytes)?;
///         let mapping = Reservation::new(driver, bytes, 0)?.map_multicast(&cx, 0, &object)?;
///         println!("writes of kernels to {:#x} reach all devices", mapping.as_raw());
///     }
///     Err(error) => println!("no multicast here: {error}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Multicast {
    handle: Owned<Physical>,
    bytes: usize,
}

handles! { Multicast, "Size in bytes, of each device." }

fn described(devices: u32, bytes: usize, shareable: bool) -> CUmulticastObjectProp {
    let kind = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    let handles = if shareable { u64::from(kind.0) } else { 0 };
    CUmulticastObjectProp { numDevices: devices, size: bytes, handleTypes: handles, flags: 0 }
}

impl Multicast {
    /// Returns the granularity in bytes, of the size of the object and all memory bound to it.
    ///
    /// # Errors
    /// Same as [`new`](Multicast::new).
    ///
    /// Driver: `cuMulticastGetGranularity`, CUDA 12.1+.
    #[doc(alias = "cuMulticastGetGranularity")]
    #[inline]
    pub fn granularity(
        driver: Driver,
        devices: u32,
        bytes: usize,
        granularity: Granularity,
    ) -> Result<usize, Error> {
        // The driver has a type for each of the two, with the same numbers.
        let option = CUmulticastGranularity_flags(granularity.0);
        let (mut least, described) = (0, described(devices, bytes, false));
        let (to, described) = (&raw mut least, &raw const described);
        // SAFETY: the description and the out-parameter outlive the call.
        unsafe { driver_call!(driver.library(), cuMulticastGetGranularity(to, described, option)) }?;
        Ok(least)
    }

    /// Creates an object for `devices` devices with `bytes` bytes each, a multiple of the
    /// [granularity](Multicast::granularity). A `shareable` one can be exported as a file
    /// descriptor.
    ///
    /// # Errors
    /// `CUDA_ERROR_NOT_SUPPORTED` if the devices do not support it; `CUDA_ERROR_INVALID_VALUE` for
    /// an invalid size or number; [`Error::UNRESOLVED`] before CUDA 12.1.
    ///
    /// Driver: `cuMulticastCreate`, CUDA 12.1+; at the end `cuMemRelease`, CUDA 10.2+.
    #[doc(alias("cuMulticastCreate", "cuMemRelease"))]
    #[inline]
    pub fn new(driver: Driver, devices: u32, bytes: usize, shareable: bool) -> Result<Self, Error> {
        let (mut raw, described) = (0, described(devices, bytes, shareable));
        let (to, described) = (&raw mut raw, &raw const described);
        // SAFETY: the description and the out-parameter outlive the call.
        unsafe { driver_call!(driver.library(), cuMulticastCreate(to, described)) }?;
        // SAFETY: the driver has just returned the handle of an object of that size.
        Ok(unsafe { Self::from_raw(driver, raw, bytes) })
    }

    /// Adds a device. All devices, of all processes, must be added before any binds memory: until
    /// then [`bind`](Multicast::bind) waits.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a device that was already added, or one too many;
    /// `CUDA_ERROR_NOT_SUPPORTED` if the device does not support it; [`Error::WRONG_CONTEXT`]
    /// for a device of another driver.
    ///
    /// Driver: `cuMulticastAddDevice`, CUDA 12.1+.
    #[doc(alias = "cuMulticastAddDevice")]
    #[inline]
    pub fn add_device(&self, device: Device) -> Result<(), Error> {
        same_driver(self.library(), device.driver(), FnId::cuMulticastAddDevice)?;
        let (raw, device) = (self.as_raw(), device.as_raw());
        // SAFETY: the object is live, and the device is one of its driver.
        unsafe { driver_call!(self.library(), cuMulticastAddDevice(raw, device)) }
    }

    /// Binds `bytes` bytes of a device's memory, from `memory_offset` on, to this object, from
    /// `offset` on. The driver keeps the memory while it is bound. Before CUDA 13.1, the device
    /// must be the one that has the memory.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for values that are not multiples of the granularity, or out of
    /// bounds; `CUDA_ERROR_OUT_OF_MEMORY`; [`Error::WRONG_CONTEXT`] for objects of another
    /// driver.
    ///
    /// Driver: `cuMulticastBindMem_v2`, CUDA 13.1+; before that `cuMulticastBindMem`, CUDA 12.1+.
    #[doc(alias("cuMulticastBindMem_v2", "cuMulticastBindMem"))]
    #[inline]
    pub fn bind(
        &self,
        device: Device,
        offset: usize,
        memory: &PhysicalMemory,
        memory_offset: usize,
        bytes: usize,
    ) -> Result<(), Error> {
        let call = FnId::cuMulticastBindMem_v2;
        same_driver(self.library(), device.driver(), call)?;
        same_driver(memory.library(), device.driver(), call)?;
        let (raw, device, handle) = (self.as_raw(), device.as_raw(), memory.as_raw());
        // SAFETY: both handles are live and of one driver, which checks the ranges and keeps the
        // memory.
        unsafe {
            either_call!(self.library(),
                cuMulticastBindMem_v2(raw, device, offset, handle, memory_offset, bytes, 0)
                or cuMulticastBindMem(raw, offset, handle, memory_offset, bytes, 0))
        }
    }

    /// Binds a device's memory with an address to this object, from `offset` on.
    ///
    /// # Errors
    /// Same as [`bind`](Multicast::bind).
    ///
    /// # Safety
    /// 1. The memory is not freed or unmapped before it is [unbound](Multicast::unbind).
    ///
    /// Driver: `cuMulticastBindAddr_v2`, CUDA 13.1+; before that `cuMulticastBindAddr`, CUDA 12.1+.
    #[doc(alias("cuMulticastBindAddr_v2", "cuMulticastBindAddr"))]
    pub unsafe fn bind_slice<T: DeviceData>(
        &self,
        device: Device,
        offset: usize,
        memory: Slice<'_, T>,
    ) -> Result<(), Error> {
        let call = FnId::cuMulticastBindAddr_v2;
        same_driver(self.library(), device.driver(), call)?;
        same_driver(self.library(), memory.context().driver(), call)?;
        let (raw, device, address) = (self.as_raw(), device.as_raw(), memory.as_raw());
        let bytes = memory.len() * size_of::<T>();
        // SAFETY: the object is live; the caller guarantees live memory until it is unbound.
        unsafe {
            either_call!(self.library(),
                cuMulticastBindAddr_v2(raw, device, offset, address, bytes, 0)
                or cuMulticastBindAddr(raw, offset, address, bytes, 0))
        }
    }

    /// Unbinds memory of a device from this object. Kernels that use it must be complete.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a range without bound memory; [`Error::WRONG_CONTEXT`].
    ///
    /// Driver: `cuMulticastUnbind`, CUDA 12.1+.
    #[doc(alias = "cuMulticastUnbind")]
    #[inline]
    pub fn unbind(&self, device: Device, offset: usize, bytes: usize) -> Result<(), Error> {
        same_driver(self.library(), device.driver(), FnId::cuMulticastUnbind)?;
        let (raw, device) = (self.as_raw(), device.as_raw());
        // SAFETY: the object is live; only kernels access memory through it, by their launch's
        // duties.
        unsafe { driver_call!(self.library(), cuMulticastUnbind(raw, device, offset, bytes)) }
    }
}
