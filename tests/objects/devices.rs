//! Properties of devices and contexts, and their settings.

use cuprum::Stream;
use cuprum::context::ContextFlags;
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::{CUarray_format, CUdevice_P2PAttribute, CUexecAffinityType, CUfunc_cache, CUresult};

use crate::common::{device, driver, in_context};

#[test]
fn a_device_is_found_by_its_address() {
    let address = device().pci_bus_id().unwrap();
    assert_eq!(driver().device_by_pci_bus_id(&address).unwrap(), device());
    let none = driver().device_by_pci_bus_id("0000:ff:1f.0").unwrap_err();
    assert_eq!(none.code(), CUresult::CUDA_ERROR_INVALID_DEVICE);
    let with_nul = driver().device_by_pci_bus_id("0\0").unwrap_err();
    assert_eq!(with_nul.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn a_device_reports_its_features() {
    let device = device();
    let width = device.max_texture_1d_linear_width(CUarray_format::CU_AD_FORMAT_FLOAT, 4).unwrap();
    assert!(width >= 1 << 20, "{width}");
    let three = device.max_texture_1d_linear_width(CUarray_format::CU_AD_FORMAT_FLOAT, 3).unwrap_err();
    assert_eq!(three.code(), CUresult::CUDA_ERROR_INVALID_VALUE);
    let affinity = CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT;
    device.supports_exec_affinity(affinity).unwrap();
    let luid = device.luid();
    // A name of Windows, which the software device has nowhere.
    assert_eq!(luid.is_ok(), cfg!(windows) && crate::common::on_gpu(), "{luid:?}");
}

#[test]
fn a_device_is_no_peer_of_its_own() {
    let device = device();
    assert!(!device.can_access_peer(device).unwrap());
    let rank = CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
    let refused = device.peer_attribute(rank, device).unwrap_err();
    assert_eq!(refused.code(), CUresult::CUDA_ERROR_INVALID_DEVICE);
}

#[test]
fn settings_of_a_context_are_reported_again() {
    in_context(|cx| {
        let id = cx.id().unwrap();
        let config = CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED;
        cx.set_cache_config(config).unwrap();
        assert_eq!(cx.cache_config().unwrap(), config);
        cx.set_flags(ContextFlags::YIELD).unwrap();
        assert!(cx.flags().unwrap().contains(ContextFlags::YIELD));
        assert_eq!(cx.id().unwrap(), id);
        assert!(cx.api_version().unwrap() >= 3010);
    });
}

#[test]
fn an_event_marks_all_work_of_a_context() {
    in_context(|cx| {
        let (first, second) = (Stream::new(cx).unwrap(), Stream::new(cx).unwrap());
        let (mark, alone) =
            (Event::new(cx, EventFlags::empty()).unwrap(), Event::new(cx, EventFlags::empty()).unwrap());
        cx.record(&mark).unwrap();
        cx.wait_for(&mark).unwrap();
        alone.record(cx, &second).unwrap();
        second.synchronize(cx).unwrap();
        assert!(alone.is_done().unwrap() && mark.is_done().unwrap());
        first.synchronize(cx).unwrap();
    });
}
