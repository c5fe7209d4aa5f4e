//! Locations of the memory of pools.

use cuprum_sys::*;

use crate::memory::RegionKind;

use crate::driver::answer::{Answer, INVALID_VALUE};
use crate::driver::call::not_supported;
use crate::driver::device;

/// Location of a pool's memory, and the devices that can access it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PoolPlace {
    Device(i32),
    Host,
    /// The host's only memory node.
    HostNode,
    /// Managed memory with a preferred location, or none.
    ManagedOf(Preference),
}

/// Location of managed memory while it is not in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preference {
    None,
    Device(i32),
    Host,
    HostNode,
}

impl PoolPlace {
    /// Returns the location that a client names, as an H100 interprets it.
    pub(super) fn of(location: &CUmemLocation, memory: CUmemAllocationType) -> Answer<Self> {
        use CUmemLocationType as L;

        let is_device = device::check(location.id).is_ok();
        let preference = match location.type_ {
            L::CU_MEM_LOCATION_TYPE_INVALID => Preference::None,
            L::CU_MEM_LOCATION_TYPE_DEVICE if is_device => Preference::Device(location.id),
            L::CU_MEM_LOCATION_TYPE_HOST => Preference::Host,
            L::CU_MEM_LOCATION_TYPE_HOST_NUMA if location.id == 0 => Preference::HostNode,
            L::CU_MEM_LOCATION_TYPE_DEVICE | L::CU_MEM_LOCATION_TYPE_HOST_NUMA => return Err(INVALID_VALUE),
            _ => {
                return Err(not_supported(
                    "pools are on a device, on the host, or on its only NUMA node: \
                     name that as CU_MEM_LOCATION_TYPE_HOST_NUMA with the number 0",
                ));
            }
        };
        match (memory, preference) {
            (CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_MANAGED, _) => Ok(Self::ManagedOf(preference)),
            (CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, Preference::Device(id)) => {
                Ok(Self::Device(id))
            }
            (CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, Preference::Host) => Ok(Self::Host),
            (CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, Preference::HostNode) => Ok(Self::HostNode),
            _ => Err(INVALID_VALUE),
        }
    }

    pub(crate) fn is_host(self) -> bool {
        matches!(self, Self::Host | Self::HostNode)
    }

    pub(crate) fn kind(self) -> RegionKind {
        match self {
            Self::Device(_) => RegionKind::Pooled,
            Self::Host | Self::HostNode => RegionKind::Pinned,
            Self::ManagedOf(_) => RegionKind::Managed,
        }
    }
}
