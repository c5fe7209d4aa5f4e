//! Locations of a driver pool's memory.

use cuprum_sys::{
    CUmemAllocationHandleType, CUmemAllocationType, CUmemLocation, CUmemLocationType, CUmemPoolProps, FnId,
};

use crate::device::Device;
use crate::driver::Driver;
use crate::error::Error;

/// The location of a pool's memory. Nodes are NUMA nodes of the host's memory, by number.
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::pool::{MemoryPool, PoolOptions, PoolPlace};
///
/// let pool = MemoryPool::new(driver, &PoolOptions::new(PoolPlace::Device(driver.device(0)?)))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolPlace {
    /// On a device.
    Device(Device),
    /// On the host. A device with [access](super::PoolRef::set_access) can use it in kernels and
    /// fills; without access, fills return `CUDA_ERROR_INVALID_VALUE`. Copies always return this
    /// error (driver 580), because they treat it as host memory. CUDA 12.8+.
    Host,
    /// On one NUMA node of the host, otherwise same as [`Host`](PoolPlace::Host). CUDA 12.8+.
    HostNode(i32),
    /// Managed memory in the location of its last use. CUDA 13.0+.
    Managed,
    /// Managed memory that prefers a device. CUDA 13.0+.
    ManagedOnDevice(Device),
    /// Managed memory that prefers the host. CUDA 13.0+.
    ManagedOnHost,
    /// Managed memory that prefers one NUMA node of the host. CUDA 13.0+.
    ManagedOnHostNode(i32),
}

impl PoolPlace {
    /// The driver's description. Fails for a device of another driver.
    pub(super) fn described(
        self,
        driver: Driver,
        call: FnId,
    ) -> Result<(CUmemAllocationType, CUmemLocation), Error> {
        use CUmemLocationType as L;

        let (pinned, managed) = (
            CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_MANAGED,
        );
        let (memory, kind, number) = match self {
            Self::Device(device) | Self::ManagedOnDevice(device) if device.driver() != driver => {
                return Err(Error::wrong_context(call));
            }
            Self::Device(device) => (pinned, L::CU_MEM_LOCATION_TYPE_DEVICE, device.as_raw()),
            Self::Host => (pinned, L::CU_MEM_LOCATION_TYPE_HOST, 0),
            Self::HostNode(node) => (pinned, L::CU_MEM_LOCATION_TYPE_HOST_NUMA, node),
            Self::Managed => (managed, L::CU_MEM_LOCATION_TYPE_INVALID, 0),
            Self::ManagedOnDevice(device) => (managed, L::CU_MEM_LOCATION_TYPE_DEVICE, device.as_raw()),
            Self::ManagedOnHost => (managed, L::CU_MEM_LOCATION_TYPE_HOST, 0),
            Self::ManagedOnHostNode(node) => (managed, L::CU_MEM_LOCATION_TYPE_HOST_NUMA, node),
        };
        let mut location = CUmemLocation::zeroed();
        location.type_ = kind;
        location.id = number;
        Ok((memory, location))
    }
}

/// Options of a [`MemoryPool`](super::MemoryPool).
///
/// ```
/// # cuprum::example!(driver);
/// use cuprum::pool::{MemoryPool, PoolOptions, PoolPlace};
///
/// let options = PoolOptions::new(PoolPlace::Device(driver.device(0)?));
/// let pool = MemoryPool::new(driver, &PoolOptions { max_bytes: 1 << 30, ..options })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "written as a change of another, which goes on compiling with a new field"
)]
pub struct PoolOptions {
    /// Memory of the pool.
    pub place: PoolPlace,
    /// Limit of the pool in bytes, which the driver rounds up; 0 for no limit. CUDA 12.2+; older
    /// drivers ignore it.
    pub max_bytes: usize,
    /// True if the pool can be [exported](super::PoolRef::export) to other processes as a file
    /// descriptor.
    pub shareable: bool,
}

impl PoolOptions {
    /// Returns the options of a pool without a limit, for this process only.
    pub const fn new(place: PoolPlace) -> Self {
        Self { place, max_bytes: 0, shareable: false }
    }

    pub(super) fn described(&self, driver: Driver, call: FnId) -> Result<CUmemPoolProps, Error> {
        let (memory, location) = self.place.described(driver, call)?;
        let mut props = CUmemPoolProps::zeroed();
        props.allocType = memory;
        props.location = location;
        props.maxSize = self.max_bytes;
        if self.shareable {
            props.handleTypes = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        }
        Ok(props)
    }
}
