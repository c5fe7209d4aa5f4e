//! The driver of the machine that the tests run on, or the absence of one.
//!
//! `CUPRUM_DEVICE=gpu` demands a driver with a device.
#![cfg(target_os = "linux")]

use cuprum_testing::checks;

use cuprum_sys::{CUresult, Library};
use cuprum_testing::processes::in_child;

fn gpu_is_demanded() -> bool {
    std::env::var_os("CUPRUM_DEVICE").is_some_and(|device| device == "gpu")
}

fn device_count(library: Library) -> (CUresult, i32) {
    let mut count = -1;
    // SAFETY: the place is ours to write.
    let result = unsafe { (library.fns().cuDeviceGetCount)(&mut count) };
    (result, count)
}

#[test]
fn driver_or_reasons() {
    in_child("driver_or_reasons", &[], || match Library::open() {
        Ok(library) => {
            println!("{library:?}");
            let per_thread = Library::options().per_thread_default_stream(true).open().unwrap();
            // The true answer is not known here; the test checks that it is the same everywhere.
            let init = if gpu_is_demanded() { CUresult::CUDA_SUCCESS } else { init_in_child(library) };
            checks::check(library, per_thread, &[], init);
            let (result, count) = device_count(library);
            if gpu_is_demanded() {
                assert_eq!(result, CUresult::CUDA_SUCCESS);
                assert!(count > 0, "a driver without a device");
            }
            println!("cuInit: {init:?}, devices: {count}");
        }
        Err(error) => {
            assert!(!gpu_is_demanded(), "{error}");
            assert!(!error.attempts().is_empty());
            for attempt in error.attempts() {
                assert_ne!(attempt.cause().to_string(), "", "{error}");
            }
            println!("{error}");
        }
    });
}

/// Result of `cuInit` in a forked child, so that this process stays unchanged.
fn init_in_child(library: Library) -> CUresult {
    let code = cuprum_testing::processes::fork(|| match library.init() {
        CUresult::CUDA_SUCCESS => 0,
        CUresult::CUDA_ERROR_NO_DEVICE => 100,
        _ => 255,
    });
    match code {
        0 => CUresult::CUDA_SUCCESS,
        100 => CUresult::CUDA_ERROR_NO_DEVICE,
        _ => CUresult::CUDA_ERROR_UNKNOWN,
    }
}

/// Hidden devices are no devices: the driver says so in `cuInit`.
#[test]
fn hidden_devices() {
    in_child("hidden_devices", &[("CUDA_VISIBLE_DEVICES", "-1")], || match Library::open() {
        Ok(library) => {
            assert_ne!(library.init(), CUresult::CUDA_SUCCESS);
            assert_eq!(library.init(), library.init());
        }
        Err(error) => assert!(!gpu_is_demanded(), "{error}"),
    });
}

#[test]
fn one_visible_device() {
    in_child("one_visible_device", &[("CUDA_VISIBLE_DEVICES", "0")], || match Library::open() {
        Ok(library) if library.init() == CUresult::CUDA_SUCCESS => {
            assert_eq!(device_count(library), (CUresult::CUDA_SUCCESS, 1));
        }
        Ok(library) => assert!(!gpu_is_demanded(), "cuInit: {:?}", library.init()),
        Err(error) => assert!(!gpu_is_demanded(), "{error}"),
    });
}
