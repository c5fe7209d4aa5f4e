//! Properties of devices and contexts, and their settings.

use cuprum::Stream;
use cuprum::context::ContextFlags;
use cuprum::stream::{Event, EventFlags};
use cuprum::sys::{CUarray_format, CUdevice_P2PAttribute, CUexecAffinityType, CUresult};

use crate::common::{device, in_context};

#[test]
fn a_device_reports_its_features() {
    let device = device();
    assert!(device.pci_bus_id().unwrap().contains(':'));
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
        cx.set_flags(ContextFlags::YIELD).unwrap();
        assert!(cx.flags().unwrap().contains(ContextFlags::YIELD));
        assert_eq!(cx.id().unwrap(), id);
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
