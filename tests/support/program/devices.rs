//! The driver and its devices.

use cuprum::sys::CUdevice_attribute;
use cuprum::{Device, Driver};

use super::Steps;

pub(super) fn all(steps: &Steps, driver: Driver) -> Option<Device> {
    steps.done("Driver::version", || driver.version());
    steps.attempt("Driver::device_count", || driver.device_count());
    let device = steps.attempt("Driver::device", || driver.device(0))?;
    steps.attempt("Device::name", || device.name());
    steps.attempt("Device::pci_bus_id", || device.pci_bus_id());
    steps.attempt("Device::uuid", || device.uuid());
    steps.attempt("Device::total_memory", || device.total_memory());
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE;
    steps.attempt("Device::attribute", || device.attribute(attribute));
    steps.attempt("Device::compute_capability", || device.compute_capability());
    Some(device)
}
