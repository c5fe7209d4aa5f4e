//! Devices: the attributes and names of each.

use std::ffi::{CStr, c_char};

use cuprum_sys::{CUdevice, CUdevice_attribute, CUresult, CUuuid, FnId, Library};

use super::capability::ComputeCapability;
use crate::driver::Driver;
use crate::error::Error;
use crate::raw::call::{driver_call, either_call};
use crate::raw::debug::debug;

/// A device of an initialized driver. It is a number: `Copy`, with nothing to free.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::sys::CUdevice_attribute;
///
/// for device in driver.devices()? {
///     let multiprocessors = device.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
///     let (name, capability) = (device.name()?, device.compute_capability()?);
///     println!("{name}, compute capability {capability}, {multiprocessors} multiprocessors");
///     assert!(capability.major >= 5 && multiprocessors > 0);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Device {
    driver: Driver,
    raw: CUdevice,
}

/// Size of the buffer for a name, in bytes; the driver truncates longer names.
pub(super) const NAME_BYTES: usize = 256;

impl Driver {
    pub(crate) fn device_count(self) -> Result<u32, Error> {
        let mut count = 0;
        // SAFETY: `count` outlives the call, and the driver is initialized.
        unsafe { driver_call!(self.library(), cuDeviceGetCount(&raw mut count)) }?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    /// Returns the device with this number, counted from 0.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_DEVICE` if there are not so many [`devices`](Driver::devices).
    ///
    /// Driver: `cuDeviceGet`, CUDA 2.0+.
    #[doc(alias = "cuDeviceGet")]
    #[inline]
    pub fn device(self, ordinal: u32) -> Result<Device, Error> {
        let Ok(ordinal) = i32::try_from(ordinal) else {
            return Err(Error::host(CUresult::CUDA_ERROR_INVALID_DEVICE, FnId::cuDeviceGet));
        };
        let mut raw = 0;
        // SAFETY: `raw` outlives the call, and the driver is initialized.
        unsafe { driver_call!(self.library(), cuDeviceGet(&raw mut raw, ordinal)) }?;
        Ok(Device::new(self, raw))
    }

    /// Returns all devices, in the driver's order. `CUDA_VISIBLE_DEVICES` hides devices from the
    /// process.
    ///
    /// # Errors
    /// [Errors of any call](crate#errors); [`Error::FORKED`] in a forked child.
    ///
    /// Driver: `cuDeviceGetCount`, CUDA 2.0+, and `cuDeviceGet`, CUDA 2.0+, for each device.
    #[doc(alias("cuDeviceGetCount", "cuDeviceGet"))]
    #[inline]
    pub fn devices(self) -> Result<Vec<Device>, Error> {
        (0..self.device_count()?).map(|ordinal| self.device(ordinal)).collect()
    }
}

impl Device {
    pub(crate) const fn new(driver: Driver, raw: CUdevice) -> Self {
        Self { driver, raw }
    }

    /// Returns the driver of this device.
    pub const fn driver(self) -> Driver {
        self.driver
    }

    /// Returns the driver's handle.
    pub const fn as_raw(self) -> CUdevice {
        self.raw
    }

    pub(crate) const fn library(self) -> Library {
        self.driver.library()
    }

    /// Returns the device's name, such as "NVIDIA H200", truncated after 255 bytes.
    ///
    /// Driver: `cuDeviceGetName`, CUDA 2.0+.
    #[doc(alias = "cuDeviceGetName")]
    #[inline]
    pub fn name(self) -> Result<String, Error> {
        self.text(|library, text, bytes| {
            // SAFETY: `text` points at `bytes` writable bytes, and `raw` is a device of this
            // driver.
            unsafe { driver_call!(library, cuDeviceGetName(text, bytes, self.raw)) }
        })
    }

    /// Returns the PCI address, such as `0000:65:00.0`.
    ///
    /// Driver: `cuDeviceGetPCIBusId`, CUDA 4.1+.
    #[doc(alias = "cuDeviceGetPCIBusId")]
    #[inline]
    pub fn pci_bus_id(self) -> Result<String, Error> {
        self.text(|library, text, bytes| {
            // SAFETY: `text` points at `bytes` writable bytes, and `raw` is a device of this
            // driver.
            unsafe { driver_call!(library, cuDeviceGetPCIBusId(text, bytes, self.raw)) }
        })
    }

    fn text(
        self,
        fill: impl FnOnce(Library, *mut c_char, i32) -> Result<(), Error>,
    ) -> Result<String, Error> {
        let mut bytes = [0u8; NAME_BYTES];
        fill(self.library(), bytes.as_mut_ptr().cast(), NAME_BYTES as i32)?;
        Ok(CStr::from_bytes_until_nul(&bytes)
            .map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned()))
    }

    /// Returns the device's UUID, the same in every process. A partition has its own.
    ///
    /// # Errors
    /// [`Error::UNRESOLVED`] on a driver older than CUDA 9.2.
    ///
    /// Driver: `cuDeviceGetUuid_v2`, CUDA 11.4+; before that `cuDeviceGetUuid`, CUDA 9.2+.
    #[doc(alias("cuDeviceGetUuid_v2", "cuDeviceGetUuid"))]
    #[inline]
    pub fn uuid(self) -> Result<[u8; 16], Error> {
        let mut uuid = CUuuid { bytes: [0; 16] };
        let (to, raw) = (&raw mut uuid, self.raw);
        // SAFETY: `uuid` outlives the call, and `raw` is a device of this driver.
        unsafe { either_call!(self.library(), cuDeviceGetUuid_v2(to, raw) or cuDeviceGetUuid(to, raw)) }?;
        Ok(uuid.bytes)
    }

    /// Returns the size of the device's memory in bytes, including memory in use.
    ///
    /// Driver: `cuDeviceTotalMem_v2`, CUDA 3.2+.
    #[doc(alias = "cuDeviceTotalMem_v2")]
    #[inline]
    pub fn total_memory(self) -> Result<usize, Error> {
        let mut bytes = 0;
        // SAFETY: `bytes` outlives the call, and `raw` is a device of this driver.
        unsafe { driver_call!(self.library(), cuDeviceTotalMem_v2(&raw mut bytes, self.raw)) }?;
        Ok(bytes)
    }

    /// Returns the value of an attribute. The unit depends on the attribute.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an attribute that the driver does not know.
    ///
    /// Driver: `cuDeviceGetAttribute`, CUDA 2.0+.
    #[doc(alias = "cuDeviceGetAttribute")]
    #[inline]
    pub fn attribute(self, attribute: CUdevice_attribute) -> Result<i32, Error> {
        let mut value = 0;
        // SAFETY: `value` outlives the call, and `raw` is a device of this driver.
        unsafe { driver_call!(self.library(), cuDeviceGetAttribute(&raw mut value, attribute, self.raw)) }?;
        Ok(value)
    }

    /// Returns the compute capability, the version of the hardware's features.
    ///
    /// Driver: `cuDeviceGetAttribute`, CUDA 2.0+; these two attributes since 5.0.
    #[doc(alias = "cuDeviceGetAttribute")]
    #[inline]
    pub fn compute_capability(self) -> Result<ComputeCapability, Error> {
        let part = |attribute| self.attribute(attribute).map(|part| u32::try_from(part).unwrap_or(0));
        Ok(ComputeCapability {
            major: part(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            minor: part(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        })
    }
}

debug!(Device: |this, f| f.debug_tuple("Device").field(&this.raw).finish());
