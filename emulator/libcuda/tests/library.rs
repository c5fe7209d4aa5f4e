//! The built library as programs load it: the file, its symbols, and the environment.
#![cfg(target_os = "linux")]

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;

use cuprum_sys::{
    CUdriverProcAddress_flags, CUdriverProcAddressQueryResult, CUresult, CUuuid, FnId, Library, StreamMode,
    Version,
};
use cuprum_testing::libcuda;
use cuprum_testing::opened::{open_from, open_with};
use cuprum_testing::processes::in_child;

fn file() -> &'static Path {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| libcuda::library(env!("CARGO_TARGET_TMPDIR")))
}

fn library() -> Library {
    open_from(file()).expect("it is a driver")
}

#[track_caller]
fn ok(code: CUresult) {
    assert_eq!(code, CUresult::CUDA_SUCCESS);
}

/// Returns the address that `cuGetProcAddress` finds, and its status.
fn search(
    library: Library,
    base: &str,
    version: Version,
    mode: StreamMode,
) -> (*const c_void, CUdriverProcAddressQueryResult) {
    let base = CString::new(base).unwrap();
    let flags = match mode {
        StreamMode::Legacy => CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_LEGACY_STREAM,
        StreamMode::PerThread => CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
    };
    let (version, flags) = (version.as_raw() as i32, u64::from(flags.0));
    let mut found = ptr::null_mut();
    let mut status = CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    // SAFETY: a NUL-terminated name, and valid outputs.
    ok(unsafe {
        (library.fns().cuGetProcAddress_v2)(base.as_ptr(), &mut found, version, flags, &mut status)
    });
    (found, status)
}

#[test]
fn it_has_the_name_that_programs_ask_for() {
    let dynamic =
        cuprum_testing::processes::run(std::process::Command::new("readelf").arg("--dynamic").arg(file()));
    assert!(dynamic.contains("soname: [libcuda.so.1]"), "{dynamic}");
}

/// `dlsym` and `cuGetProcAddress` find every name of every function at the same address.
#[test]
fn both_ways_to_find_a_function_lead_to_the_file() {
    for mode in [StreamMode::Legacy, StreamMode::PerThread] {
        let per_thread = mode == StreamMode::PerThread;
        let library = open_with(Library::options().per_thread_default_stream(per_thread), file()).unwrap();
        for &function in FnId::ALL {
            let symbol = function.symbol_in(mode);
            let exported = library.address(function);
            assert!(!exported.is_null(), "{:?} is not exported", symbol.name);

            let (found, status) = search(library, symbol.base, symbol.since, symbol.mode);
            assert_eq!(status, CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS, "{symbol:?}");
            assert_eq!(found, exported, "{symbol:?}");
        }
    }
}

#[test]
fn it_says_that_it_is_no_hardware() {
    assert!(library().is_software_device());
}

/// Printed messages are also appended to a file, for programs that count them.
#[test]
fn reports_are_written_down() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("written reports");
    let _ = std::fs::remove_file(&file);
    let variables = [("CUPRUM_REPORT_FILE", file.to_str().unwrap()), ("CUPRUM_EMULATOR_MODE", "lazy")];
    in_child("reports_are_written_down", &variables, || {
        // SAFETY: takes no pointer.
        assert_ne!(unsafe { (library().fns().cuInit)(0) }, CUresult::CUDA_SUCCESS);
        let text = std::fs::read_to_string(std::env::var_os("CUPRUM_REPORT_FILE").unwrap()).unwrap();
        assert!(text.starts_with("use\nsettings\n\tCUPRUM_EMULATOR_MODE=lazy: expected "), "{text}");
        assert_eq!(text.lines().count(), 3, "{text}");
    });
}

#[test]
fn twins_are_functions_of_their_own() {
    let options = Library::options().per_thread_default_stream(true);
    let (legacy, per_thread) = (library(), open_with(options, file()).unwrap());
    for &function in FnId::ALL {
        let differ = legacy.address(function) != per_thread.address(function);
        assert_eq!(differ, function.per_thread_symbol().is_some(), "{function:?}");
    }
}

/// The version that the library reports, and the functions of this version.
#[test]
fn the_version_is_a_setting() {
    const NAME: &str = "the_version_is_a_setting";
    in_child(NAME, &[], || assert_eq!(library().version(), Version::new(13, 5)));
    in_child(NAME, &[("CUPRUM_EMULATOR_DRIVER_VERSION", "12.2")], || {
        let library = library();
        assert_eq!(library.version(), Version::new(12, 2));
        assert!(!library.has(FnId::cuGreenCtxCreate) && library.has(FnId::cuMulticastCreate));
        let (found, status) = search(library, "cuGreenCtxCreate", Version::new(12, 4), StreamMode::Legacy);
        assert!(found.is_null());
        assert_eq!(status, CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    });
}

/// Returns the last byte of each visible device's UUID (its number on the machine), or the error.
fn visible() -> Result<Vec<u8>, CUresult> {
    let fns = library().fns();
    // SAFETY: takes no pointer.
    match unsafe { (fns.cuInit)(0) } {
        CUresult::CUDA_SUCCESS => {}
        code => return Err(code),
    }
    let mut count = 0;
    // SAFETY: a valid output.
    ok(unsafe { (fns.cuDeviceGetCount)(&mut count) });
    let numbers = (0..count).map(|device| {
        let mut uuid = CUuuid { bytes: [0; 16] };
        // SAFETY: a valid output.
        ok(unsafe { (fns.cuDeviceGetUuid_v2)(&mut uuid, device) });
        uuid.bytes[15]
    });
    Ok(numbers.collect())
}

#[test]
fn visible_devices_are_obeyed() {
    const THIRD: &str = "GPU-63757072-756d-2d73-6f66-747761726502";
    // Other tests cover the parsing of lists.
    let lists: &[(&str, &[u8])] = &[
        ("0,1,2,3", &[0, 1, 2, 3]),
        ("3,1", &[3, 1]),
        ("2", &[2]),
        (THIRD, &[2]),
        ("1,-1,2", &[1]),
        ("-1", &[]),
        ("", &[]),
    ];
    for &(list, expected) in lists {
        let variables = [("CUPRUM_EMULATOR_DEVICES", "4"), ("CUDA_VISIBLE_DEVICES", list)];
        in_child("visible_devices_are_obeyed", &variables, || {
            let expected = match expected {
                [] => Err(CUresult::CUDA_ERROR_NO_DEVICE),
                some => Ok(some.to_vec()),
            };
            assert_eq!(visible(), expected);
        });
    }
}

/// An invalid setting stays invalid when devices are selected.
#[test]
fn a_wrong_setting_fails_at_init() {
    let variables = [("CUPRUM_EMULATOR_DEVICES", "many"), ("CUDA_VISIBLE_DEVICES", "0")];
    in_child("a_wrong_setting_fails_at_init", &variables, || {
        assert_eq!(visible(), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
    });
}

/// If it is loaded in place of NVIDIA's driver, it is still recognized as software.
#[test]
fn it_is_announced_as_software_wherever_it_is_found() {
    let variables = [("CUPRUM_DRIVER", file().to_str().unwrap())];
    in_child("it_is_announced_as_software_wherever_it_is_found", &variables, || {
        let (library, choice) = cuprum_emulator::open_driver_or_emulator().unwrap();
        assert!(library.is_software_device());
        assert_eq!(choice.to_string(), format!("software driver {}, 1 device(s)", library.origin()));
    });
    let demanded = [variables[0], ("CUPRUM_DEVICE", "gpu")];
    in_child("it_is_announced_as_software_wherever_it_is_found", &demanded, || {
        let error = cuprum_emulator::open_driver_or_emulator().unwrap_err().to_string();
        assert!(
            error.contains("demands a GPU, but ") && error.contains("is a driver in software"),
            "{error}"
        );
    });
}
