//! Devices: name, memory and the attributes that the toolkit's `deviceQuery` shows.

use cuprum::device::ComputeCapability;
use cuprum::sys::CUdevice_attribute;

use crate::child;

/// A device as a child found it.
#[derive(Debug, Default)]
pub(crate) struct Device {
    pub(crate) name: String,
    pub(crate) uuid: Option<String>,
    pub(crate) pci: Option<String>,
    /// In bytes.
    pub(crate) memory: Option<u64>,
    pub(crate) capability: Option<ComputeCapability>,
    /// In the order of [`ATTRIBUTES`], without those that the driver does not know.
    pub(crate) attributes: Vec<(&'static Attribute, i32)>,
    pub(crate) error: Option<String>,
}

/// An attribute: its JSON member, label, unit, and the driver's number.
#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) word: &'static str,
    pub(crate) label: &'static str,
    /// Empty for a count, `?` for yes or no.
    pub(crate) unit: &'static str,
    number: CUdevice_attribute,
}

macro_rules! attributes {
    ($($word:ident: $label:literal, $unit:literal, $number:ident;)*) => {
        /// All attributes that are queried.
        pub(crate) const ATTRIBUTES: &[Attribute] = &[$(Attribute {
            word: stringify!($word),
            label: $label,
            unit: $unit,
            number: CUdevice_attribute::$number,
        }),*];
    };
}

attributes! {
    multiprocessors: "multiprocessors", "", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
    clock_rate: "clock rate", "kHz", CU_DEVICE_ATTRIBUTE_CLOCK_RATE;
    memory_clock_rate: "memory clock rate", "kHz", CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE;
    memory_bus_width: "memory bus width", "bits", CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH;
    l2_cache: "L2 cache", "bytes", CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE;
    constant_memory: "constant memory", "bytes", CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY;
    shared_memory_per_block: "shared memory per block", "bytes", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK;
    shared_memory_per_block_optin: "shared memory per block, if asked for", "bytes", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    shared_memory_per_multiprocessor: "shared memory per multiprocessor", "bytes", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR;
    registers_per_block: "registers per block", "", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK;
    warp_size: "warp size", "", CU_DEVICE_ATTRIBUTE_WARP_SIZE;
    threads_per_multiprocessor: "threads per multiprocessor", "", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR;
    threads_per_block: "threads per block", "", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    block_x: "largest block, x", "", CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X;
    block_y: "largest block, y", "", CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y;
    block_z: "largest block, z", "", CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z;
    grid_x: "largest grid, x", "", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X;
    grid_y: "largest grid, y", "", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y;
    grid_z: "largest grid, z", "", CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z;
    texture_1d: "largest texture, 1D", "texels", CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH;
    texture_2d_width: "largest texture, 2D width", "texels", CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH;
    texture_2d_height: "largest texture, 2D height", "texels", CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT;
    texture_3d_width: "largest texture, 3D width", "texels", CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH;
    pitch: "largest pitch", "bytes", CU_DEVICE_ATTRIBUTE_MAX_PITCH;
    texture_alignment: "texture alignment", "bytes", CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT;
    copy_engines: "copy engines", "", CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT;
    concurrent_kernels: "concurrent kernels", "?", CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS;
    run_time_limit: "run time limit on kernels", "?", CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT;
    integrated: "integrated, shares the host's memory", "?", CU_DEVICE_ATTRIBUTE_INTEGRATED;
    maps_host_memory: "maps page-locked host memory", "?", CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY;
    ecc: "ECC", "?", CU_DEVICE_ATTRIBUTE_ECC_ENABLED;
    unified_addressing: "unified addressing", "?", CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING;
    managed_memory: "managed memory", "?", CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY;
    concurrent_managed_access: "managed memory beside kernels", "?", CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
    pageable_memory_access: "reads pageable host memory", "?", CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS;
    compute_preemption: "compute preemption", "?", CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED;
    cooperative_launch: "cooperative launch", "?", CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH;
    cluster_launch: "cluster launch", "?", CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH;
    memory_pools: "memory pools", "?", CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    virtual_memory: "virtual memory management", "?", CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
    stream_priorities: "stream priorities", "?", CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED;
    multicast: "multicast", "?", CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED;
    mps: "MPS", "?", CU_DEVICE_ATTRIBUTE_MPS_ENABLED;
    tcc_driver: "TCC driver (Windows)", "?", CU_DEVICE_ATTRIBUTE_TCC_DRIVER;
    compute_mode: "compute mode (0 default, 2 prohibited, 3 exclusive)", "", CU_DEVICE_ATTRIBUTE_COMPUTE_MODE;
}

pub(super) fn tell(device: cuprum::Device) {
    child::tell("device", device.name().unwrap_or_else(|error| error.to_string()));
    match device.compute_capability() {
        Ok(capability) => child::tell("capability", capability),
        Err(error) => child::tell("device_error", error),
    }
    if let Ok(bytes) = device.total_memory() {
        child::tell("memory", bytes);
    }
    if let Ok(address) = device.pci_bus_id() {
        child::tell("pci", address);
    }
    if let Ok(uuid) = device.uuid() {
        let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
        child::tell("uuid", format!("GPU-{}", parts.join("-")));
    }
    for attribute in ATTRIBUTES {
        if let Ok(value) = device.attribute(attribute.number) {
            child::tell(attribute.word, value);
        }
    }
}

pub(super) fn read(lines: &[(String, String)]) -> Vec<Device> {
    let mut devices: Vec<Device> = Vec::new();
    for (word, text) in lines {
        if word == "device" {
            devices.push(Device { name: text.clone(), ..Device::default() });
            continue;
        }
        let Some(device) = devices.last_mut() else { continue };
        match &**word {
            "capability" => {
                let (major, minor) = text.split_once('.').unwrap_or_default();
                let parts = major.parse().ok().zip(minor.parse().ok());
                device.capability = parts.map(|(major, minor)| ComputeCapability { major, minor });
            }
            "memory" => device.memory = text.parse().ok(),
            "pci" => device.pci = Some(text.clone()),
            "uuid" => device.uuid = Some(text.clone()),
            "device_error" => device.error = Some(text.clone()),
            word => {
                let attribute = ATTRIBUTES.iter().find(|attribute| attribute.word == word);
                device.attributes.extend(attribute.zip(text.parse().ok()));
            }
        }
    }
    devices
}

impl Device {
    pub(crate) fn attribute(&self, word: &str) -> Option<i32> {
        self.attributes.iter().find(|(attribute, _)| attribute.word == word).map(|(_, value)| *value)
    }
}
