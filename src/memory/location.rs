//! Locations of memory.

use cuprum_sys::{CU_DEVICE_CPU, CU_DEVICE_INVALID, CUdevice, CUmemLocation, CUmemLocationType, FnId};

use crate::device::Device;
use crate::driver::Driver;
use crate::error::Error;

/// The location of memory.
///
/// ```
/// # cuprum::example!(driver, context, cx);
/// use cuprum::memory::{ManagedBuffer, MemoryLocation};
///
/// let (numbers, stream) = (ManagedBuffer::from_slice(&cx, &[1u32; 4096])?, cuprum::Stream::new(&cx)?);
/// if let Err(error) = stream.prefetch(&cx, numbers.range(..).ok_or("outside")?, MemoryLocation::Host) {
///     println!("this device does not prefetch: {error}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryLocation {
    /// Memory of a device.
    Device(Device),
    /// Memory of the host.
    Host,
    /// Memory of a NUMA node of the host, by number.
    HostNuma(u32),
    /// Memory of the NUMA node on which the calling thread runs.
    HostNumaCurrent,
}

impl MemoryLocation {
    /// Fails for a device of another driver, because its number would mean another device.
    pub(crate) fn check_driver(self, driver: Driver, call: FnId) -> Result<(), Error> {
        match self {
            Self::Device(device) if device.driver() != driver => Err(Error::wrong_context(call)),
            _ => Ok(()),
        }
    }

    pub(crate) fn as_raw(self) -> CUmemLocation {
        let (type_, id) = match self {
            Self::Device(device) => (CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, device.as_raw()),
            Self::Host => (CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, 0),
            Self::HostNuma(node) => (CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA, node as i32),
            Self::HostNumaCurrent => (CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0),
        };
        CUmemLocation { type_, id }
    }

    /// The device number for older functions; NUMA nodes have none.
    pub(crate) fn as_device(self) -> Option<CUdevice> {
        match self {
            Self::Device(device) => Some(device.as_raw()),
            Self::Host => Some(CU_DEVICE_CPU),
            Self::HostNuma(_) | Self::HostNumaCurrent => None,
        }
    }

    /// Converts the driver's answer. Returns `None` for no location or an unknown one.
    pub(crate) fn from_raw(driver: Driver, raw: CUmemLocation) -> Option<Self> {
        match raw.type_ {
            CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE => Some(Self::Device(Device::new(driver, raw.id))),
            CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST => Some(Self::Host),
            CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA => {
                u32::try_from(raw.id).ok().map(Self::HostNuma)
            }
            CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT => Some(Self::HostNumaCurrent),
            _ => None,
        }
    }

    pub(crate) fn from_device(driver: Driver, raw: CUdevice) -> Option<Self> {
        match raw {
            CU_DEVICE_CPU => Some(Self::Host),
            CU_DEVICE_INVALID => None,
            raw => (raw >= 0).then(|| Self::Device(Device::new(driver, raw))),
        }
    }
}
