//! The texts of errors.

use std::mem::size_of;

use cuprum::driver::DriverError;
use cuprum::launch::LaunchError;
use cuprum::sys::{CUresult, FnId};
use cuprum::{Buffer, Driver, Error, In, InOut, LaunchConfig, Stream};

use cuprum_testing::child::in_children;

use crate::common::{self, driver, in_context, kernels};

#[test]
fn the_systems_driver_is_loaded_or_the_error_lists_the_attempts() {
    match Driver::load() {
        Ok(driver) => assert_eq!(Driver::load().unwrap(), driver),
        Err(error) if common::on_gpu() => panic!("{error}"),
        Err(DriverError::Load(error)) => {
            let name = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
            assert!(error.attempts().iter().any(|attempt| attempt.origin() == name), "{error}");
            assert!(error.to_string().contains(name), "{error}");
        }
        // A driver without a device.
        Err(DriverError::Init(error)) => assert_eq!(error.call(), FnId::cuInit),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn an_error_is_eight_bytes() {
    assert_eq!(size_of::<Error>(), 8);
    assert_eq!(size_of::<Result<(), Error>>(), 8);
}

#[test]
fn an_error_names_call_and_code() {
    let error = driver().device(1 << 20).unwrap_err();
    assert_eq!((error.call(), error.code()), (FnId::cuDeviceGet, CUresult::CUDA_ERROR_INVALID_DEVICE));
    let text = error.to_string();
    assert!(
        text.contains("cuDeviceGet") && text.contains("CUDA_ERROR_INVALID_DEVICE") && text.contains("101"),
        "{text}"
    );
    assert_eq!(driver().device(u32::MAX).unwrap_err().code(), CUresult::CUDA_ERROR_INVALID_DEVICE);
}

#[test]
fn a_code_of_tomorrow_is_kept() {
    let error = Error::new(CUresult(31_337), FnId::cuMemAlloc_v2).expect("not success");
    assert_eq!(error.code(), CUresult(31_337));
    assert_eq!(error.name(), None);
    assert!(error.to_string().contains("31337"), "{error}");
    assert_eq!(Error::new(CUresult::CUDA_SUCCESS, FnId::cuMemAlloc_v2), None);
}

#[test]
fn launch_errors_are_typed() {
    in_context(|cx| {
        let module = kernels!(cx, "saxpy");
        let kernel = module.function("saxpy").unwrap().bind::<(u32, f32, In<f32>, InOut<f32>)>().unwrap();
        let x = Buffer::<f32>::zeroed(cx, 1).unwrap();
        let mut y = Buffer::<f32>::zeroed(cx, 1).unwrap();
        // SAFETY: no element is asked for, so nothing is accessed, if it runs at all.
        let refused = unsafe {
            kernel.launch(cx, &Stream::default_in(cx), LaunchConfig::new(1, 4096), (0u32, 1f32, &x, &mut y))
        };
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("4096x1x1") && text.contains("1024"), "{text}");
        assert!(matches!(refused, Err(LaunchError::Block { .. })));
    });
}

#[test]
fn a_driver_is_initialized_once_and_again() {
    let first = driver();
    assert_eq!(Driver::init(first.library()).unwrap(), first);
    assert!(first.version() >= cuprum::sys::Version::from_raw(2000));
    let device = first.device(0).unwrap();
    assert!(!device.name().unwrap().is_empty());
    assert!(device.total_memory().unwrap() > 0);
    assert!(!first.devices().unwrap().is_empty());
    assert_ne!(device.uuid().unwrap(), [0; 16]);
    let bus = device.pci_bus_id().unwrap();
    assert!(bus.contains(':'), "{bus}");
}

/// A code alone does not tell the version of the driver, and no version is made up.
#[test]
fn an_absent_function_never_has_an_invented_version() {
    let call = FnId::cuMemAllocAsync;
    let bare = Error::new(CUresult::UNRESOLVED, call).unwrap().to_string();
    assert_eq!(bare, "cuMemAllocAsync needs CUDA 11.2, and this driver lacks it: update the driver");
    // This one has the function, so that it is missing for another reason than its age.
    let library = cuprum_emulator::library();
    let known = Error::check(library, (CUresult::UNRESOLVED, call)).unwrap_err().to_string();
    let version = library.version();
    let missing = "is missing from this driver, although it came with CUDA 11.2 and the driver has";
    assert_eq!(known, format!("{call} {missing} {version}"));
}

/// Of two revisions, the error names the one that an older driver may have.
#[test]
fn the_least_update_is_named() {
    let old = [("CUPRUM_DEVICE", "emulator"), ("CUPRUM_EMULATOR_DRIVER_VERSION", "9.0")];
    in_children(concat!(module_path!(), "::the_least_update_is_named"), &[&old], || {
        in_context(|cx| {
            let refused = Stream::new(cx).unwrap().call_host(cx, || 1).unwrap_err().to_string();
            assert!(refused.starts_with("cuLaunchHostFunc needs CUDA 10.0, the driver has 9.0"), "{refused}");
        });
    });
}

/// Errors that users ask about in forums: the text names cause and remedy, and differs between
/// hardware and the software device.
#[test]
fn the_errors_of_forums_explain_themselves() {
    let software = cuprum_emulator::library();
    let cases: [(CUresult, FnId, &str, &str); 8] = [
        (
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            FnId::cuMemAlloc_v2,
            "compute-sanitizer to find the access; the kernel may be one launched long before. The fault lies in work queued before this call.",
            "cuprum_emulator::last_fault(), or its report on standard error, names the kernel, the thread, the line and the allocation. The fault lies in work queued before",
        ),
        (CUresult::CUDA_ERROR_ASSERT, FnId::cuCtxSynchronize, "printed to standard error", "last_fault()"),
        (CUresult::CUDA_ERROR_NOT_INITIALIZED, FnId::cuDeviceGet, "Call cuInit first", "Call cuInit first"),
        (
            CUresult::CUDA_ERROR_INVALID_CONTEXT,
            FnId::cuMemAlloc_v2,
            "current on this thread",
            "each thread has its own",
        ),
        (
            CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
            FnId::cuModuleLoadDataEx,
            "Update the driver",
            "CUPRUM_EMULATOR_DRIVER_VERSION",
        ),
        (
            CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
            FnId::cuModuleLoadDataEx,
            "Compile for this device's compute capability",
            "runs PTX and no machine code",
        ),
        (
            CUresult::CUDA_ERROR_STUB_LIBRARY,
            FnId::cuInit,
            "Install the NVIDIA driver",
            "Install the NVIDIA driver",
        ),
        // The cause here depends on the machine; the software device has no other cause than this.
        (
            CUresult::CUDA_ERROR_NO_DEVICE,
            FnId::cuInit,
            "CUDA_ERROR_NO_DEVICE (100)",
            "CUDA_VISIBLE_DEVICES hides all",
        ),
    ];
    for (code, call, on_hardware, in_software) in cases {
        let hardware = Error::new(code, call).unwrap();
        let error = Error::check(software, (code, call)).unwrap_err();
        assert!(hardware.to_string().contains(on_hardware), "{hardware}");
        assert!(error.to_string().contains(in_software), "{error}");
        assert_eq!(error, hardware, "where it is from makes it no other error");
        assert!(!hardware.to_string().contains("last_fault"), "{hardware}");
    }
}

/// The text includes the machine's diagnosis, if there is one.
#[test]
fn an_error_of_the_machine_includes_its_diagnosis() {
    use cuprum::diagnosis::Machine;

    for code in [CUresult::CUDA_ERROR_NO_DEVICE, CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH] {
        let text = Error::new(code, FnId::cuInit).unwrap().to_string();
        let advice = Machine::look().advice(code).or_else(|| code.advice().map(str::to_owned)).unwrap();
        assert!(text.ends_with(&advice), "{text} ends otherwise than {advice}");
    }
}
