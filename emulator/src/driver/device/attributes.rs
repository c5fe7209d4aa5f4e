//! Functions that describe devices, and the numbers that they return.

use core::ffi::c_char;
use std::sync::OnceLock;

use cuprum_sys::*;

use crate::driver::answer::{Answer, INVALID_VALUE, ensure};
use crate::driver::call::{Out, Text, calls};
use crate::driver::state::settings;

use super::texture_limit;
use super::visible::{check, count, physical, uuid as uuid_of};

/// A name that is distinct from all hardware.
const NAME: &str = "Software CUDA device";

/// The PCI bus of the first device; the other devices have the following ones.
const FIRST_BUS: u32 = 1;

pub(crate) const THREADS_PER_MULTIPROCESSOR: i32 = 2048;
pub(crate) const BLOCKS_PER_MULTIPROCESSOR: i32 = 32;
pub(crate) const REGISTERS_PER_MULTIPROCESSOR: i32 = 65536;

/// Largest pitch that copies accept.
pub(crate) const MAX_PITCH: u64 = i32::MAX as u64;

pub(crate) const MAX_THREADS: u32 = 1024;
pub(crate) const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
pub(crate) const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
/// The largest window of memory that cache hints accept.
pub(crate) const MAX_WINDOW: usize = 128 << 20;
/// Number of memory synchronization domains, as on an H100.
pub(crate) const SYNC_DOMAINS: u8 = 4;
pub(crate) const SHARED_DEFAULT: u32 = 48 << 10;
pub(crate) const SHARED_PER_MULTIPROCESSOR: u32 = 228 << 10;
pub(crate) const SHARED_RESERVED: u32 = 1 << 10;
pub(crate) const SHARED_OPT_IN: u32 = SHARED_PER_MULTIPROCESSOR - SHARED_RESERVED;

/// Returns the number of host processors. Read once: the query takes longer than a launch.
pub(crate) fn processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

pub(crate) fn multiprocessors() -> i32 {
    match settings().multiprocessors {
        0 => processors() as i32,
        count => count as i32,
    }
}

fn pci_bus_id(device: i32) -> Answer<String> {
    Ok(format!("0000:{:02X}:00.0", FIRST_BUS + physical(device)?))
}

fn is_supported(attribute: CUdevice_attribute) -> bool {
    use CUdevice_attribute as A;

    matches!(
        attribute,
        A::CU_DEVICE_ATTRIBUTE_GPU_OVERLAP
            | A::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY
            | A::CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS
            | A::CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING
            | A::CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER
            | A::CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY
            | A::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS
            | A::CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST
            | A::CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
            | A::CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1
            | A::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1
            | A::CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1
            | A::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS
            | A::CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR
            | A::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH
            | A::CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED
    )
}

/// Returns the CUDA version that introduced an attribute. Older drivers do not know it.
fn since(attribute: CUdevice_attribute) -> Version {
    match attribute.0 {
        ..=124 => Version::from_raw(0),
        125..=127 | 129 => Version::new(12, 0),
        132 => Version::new(12, 1),
        130 | 131 | 134 => Version::new(12, 2),
        128 | 133 => Version::new(12, 3),
        135 => Version::new(12, 5),
        136 | 137 | 139 | 140 | 143 => Version::new(12, 8),
        138 | 141 | 142 => Version::new(12, 9),
        144..=147 => Version::new(13, 0),
        148 => Version::new(13, 1),
        151..=156 => Version::new(13, 3),
        149 | 150 | 157 | 158 | 161 => Version::new(13, 4),
        159.. => Version::new(13, 5),
    }
}

/// True for features that need files which other processes can open.
fn is_shared(attribute: CUdevice_attribute) -> bool {
    use CUdevice_attribute as A;

    matches!(
        attribute,
        A::CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
            | A::CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
    )
}

/// Returns an attribute. Unsupported features are 0.
pub(crate) fn attribute(attribute: CUdevice_attribute, device: i32) -> Option<i32> {
    use CUdevice_attribute as A;

    const YES: i32 = 1;
    let settings = settings();
    let (major, minor) = settings.compute_capability;
    Some(match attribute {
        unknown if since(unknown) > settings.driver_version => return None,
        A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK => MAX_THREADS as i32,
        A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X => MAX_BLOCK[0] as i32,
        A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y => MAX_BLOCK[1] as i32,
        A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z => MAX_BLOCK[2] as i32,
        A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X => MAX_GRID[0] as i32,
        A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y => MAX_GRID[1] as i32,
        A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z => MAX_GRID[2] as i32,
        A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK => SHARED_DEFAULT as i32,
        A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        | A::CU_DEVICE_ATTRIBUTE_MAX_OVERSIZED_SHARED_MEMORY_PER_BLOCK => SHARED_OPT_IN as i32,
        A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR => SHARED_PER_MULTIPROCESSOR as i32,
        A::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK => SHARED_RESERVED as i32,
        A::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY => 64 << 10,
        A::CU_DEVICE_ATTRIBUTE_WARP_SIZE => 32,
        A::CU_DEVICE_ATTRIBUTE_MAX_PITCH => MAX_PITCH as i32,
        A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK
        | A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR => REGISTERS_PER_MULTIPROCESSOR,
        // An arbitrary value, in kilohertz.
        A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE | A::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE => 1_000_000,
        A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => multiprocessors(),
        A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR => THREADS_PER_MULTIPROCESSOR,
        A::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR => BLOCKS_PER_MULTIPROCESSOR,
        A::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH => 64,
        A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE => 32 << 20,
        A::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT => 1,
        A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => major as i32,
        A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => minor as i32,
        A::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID => (FIRST_BUS + physical(device).ok()?) as i32,
        A::CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO => 2,
        A::CU_DEVICE_ATTRIBUTE_NUMA_ID => -1,
        A::CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID => 0,
        A::CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT => i32::from(SYNC_DOMAINS),
        A::CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_COUNT => 1,
        A::CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE => MAX_WINDOW as i32,
        A::CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_MULTIPROCESSOR_COUNT => multiprocessors(),
        A::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH | A::CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED => {
            (major >= 9).into()
        }
        A::CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES if cfg!(target_os = "linux") => {
            CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.0 as i32
        }
        known if is_supported(known) => YES,
        known if is_shared(known) => i32::from(cfg!(target_os = "linux")),
        A::CU_DEVICE_ATTRIBUTE_MAX => return None,
        known if known.name().is_some() => texture_limit::attribute(known).unwrap_or(0),
        _ => return None,
    })
}

calls! {
    fn cuDeviceGet(_call, device: Out<i32>, ordinal: i32) {
        device.check()?;
        check(ordinal)?;
        device.set(ordinal)
    }

    fn cuDeviceGetCount(_call, count: Out<i32>) {
        count.set(super::visible::count()? as i32)
    }

    fn cuDeviceGetName(_call, name: Out<c_char>, len: i32, dev: i32) {
        check(dev)?;
        name.set_text(NAME, usize::try_from(len).map_err(|_| INVALID_VALUE)?)
    }

    fn [cuDeviceGetUuid, cuDeviceGetUuid_v2](_call, uuid: Out<CUuuid>, dev: i32) {
        uuid.set(CUuuid { bytes: uuid_of(physical(dev)?) })
    }

    fn cuDeviceTotalMem_v2(_call, bytes: Out<usize>, dev: i32) {
        check(dev)?;
        bytes.set(settings().memory_bytes as usize)
    }

    fn cuDeviceGetAttribute(_call, pi: Out<i32>, attrib: CUdevice_attribute, dev: i32) {
        pi.check()?;
        check(dev)?;
        pi.set(attribute(attrib, dev).ok_or(INVALID_VALUE)?)
    }

    fn cuDeviceComputeCapability(_call, major: Out<i32>, minor: Out<i32>, dev: i32) {
        check(dev)?;
        let (device_major, device_minor) = settings().compute_capability;
        major.set(device_major as i32)?;
        minor.set(device_minor as i32)
    }

    fn cuDeviceGetProperties(_call, prop: Out<CUdevprop>, dev: i32) {
        check(dev)?;
        prop.set(CUdevprop {
            maxThreadsPerBlock: MAX_THREADS as i32,
            maxThreadsDim: MAX_BLOCK.map(|side| side as i32),
            maxGridSize: MAX_GRID.map(|side| side as i32),
            sharedMemPerBlock: SHARED_DEFAULT as i32,
            totalConstantMemory: 64 << 10,
            SIMDWidth: 32,
            memPitch: MAX_PITCH as i32,
            regsPerBlock: REGISTERS_PER_MULTIPROCESSOR,
            clockRate: 1_000_000,
            textureAlign: texture_limit::ALIGNMENT as i32,
        })
    }

    fn cuDeviceGetPCIBusId(_call, pciBusId: Out<c_char>, len: i32, dev: i32) {
        pciBusId.set_text(&pci_bus_id(dev)?, usize::try_from(len).map_err(|_| INVALID_VALUE)?)
    }

    fn cuDeviceGetByPCIBusId(_call, dev: Out<i32>, pciBusId: Text) {
        dev.check()?;
        let wanted = pciBusId.get()?.to_uppercase();
        let is_part = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_hexdigit());
        let is_address = wanted.len() >= "01:00".len() && wanted.split([':', '.']).all(is_part);
        ensure(is_address, INVALID_VALUE)?;
        let found = (0..count()? as i32).find(|&device| {
            // The PCI domain and function are optional.
            pci_bus_id(device).is_ok_and(|id| id.contains(&wanted))
        });
        dev.set(found.ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)?)
    }

    fn cuDeviceGetExecAffinitySupport(_call, pi: Out<i32>, _type: CUexecAffinityType, dev: i32) {
        check(dev)?;
        pi.set(0)
    }

    fn cuDeviceCanAccessPeer(_call, canAccessPeer: Out<i32>, dev: i32, peerDev: i32) {
        canAccessPeer.check()?;
        check(dev)?;
        check(peerDev)?;
        canAccessPeer.set(i32::from(dev != peerDev))
    }

    fn cuDeviceGetP2PAttribute(
        _call,
        value: Out<i32>,
        attrib: CUdevice_P2PAttribute,
        srcDevice: i32,
        dstDevice: i32,
    ) {
        value.check()?;
        check(srcDevice)?;
        check(dstDevice)?;
        ensure(srcDevice != dstDevice, CUresult::CUDA_ERROR_INVALID_DEVICE)?;
        ensure(attrib.name().is_some(), INVALID_VALUE)?;
        let rank = attrib == CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
        value.set(i32::from(!rank))
    }
}
