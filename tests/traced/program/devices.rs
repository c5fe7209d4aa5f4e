//! The driver and its devices.

use cuprum::sys::{
    CUarray_format, CUatomicOperation, CUdevice_P2PAttribute, CUdevice_attribute, CUexecAffinityType,
    CUresult,
};
use cuprum::{Device, Driver};

use super::Steps;

pub(super) fn all(steps: &Steps, driver: Driver, device: Device) {
    steps.done("Driver::version", || driver.version());
    steps.attempt("Driver::devices", || driver.devices());
    steps.attempt("Driver::loading_mode", || driver.loading_mode());
    steps.attempt("Device::name", || device.name());
    steps.attempt("Device::pci_bus_id", || device.pci_bus_id());
    steps.attempt("Device::uuid", || device.uuid());
    steps.attempt("Device::total_memory", || device.total_memory());
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE;
    steps.attempt("Device::attribute", || device.attribute(attribute));
    steps.attempt("Device::compute_capability", || device.compute_capability());
    supports(steps, device);
    log(steps, driver);
}

fn supports(steps: &Steps, device: Device) {
    steps.may_refuse("Device::luid", CUresult::CUDA_ERROR_NOT_SUPPORTED, || device.luid());
    let format = CUarray_format::CU_AD_FORMAT_FLOAT;
    steps.attempt("Device::max_texture_1d_linear_width", || device.max_texture_1d_linear_width(format, 4));
    let affinity = CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT;
    steps.attempt("Device::supports_exec_affinity", || device.supports_exec_affinity(affinity));
    let operations = [CUatomicOperation::CU_ATOMIC_OPERATION_AND];
    steps.attempt("Device::atomic_capabilities", || device.atomic_capabilities(&operations, None));
    steps.attempt("Device::can_access_peer", || device.can_access_peer(device));
    let rank = CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
    steps.may_refuse("Device::peer_attribute", CUresult::CUDA_ERROR_INVALID_DEVICE, || {
        device.peer_attribute(rank, device)
    });
    steps.may_refuse("Device::atomic_capabilities", CUresult::CUDA_ERROR_INVALID_DEVICE, || {
        device.atomic_capabilities(&operations, Some(device))
    });
}

fn log(steps: &Steps, driver: Driver) {
    if let Some(mut position) = steps.attempt("Driver::log_position", || driver.log_position()) {
        steps.attempt("Driver::log_since", || driver.log_since(&mut position));
        let nowhere = std::path::Path::new("/dev/null");
        steps.attempt("Driver::log_to_file", || driver.log_to_file(Some(&mut position), nowhere));
    }
    if let Some(callback) = steps.attempt("Driver::on_log", || driver.on_log(|_, _| {})) {
        steps.attempt("Callback::close", || callback.close());
    }
    let callback = steps.attempt("Driver::on_log", || driver.on_log(|_, _| {}));
    steps.done("Callback::drop", || drop(callback));
}
