//! Initialization, versions, error texts, function lookup, and devices.

use core::ffi::{CStr, c_char, c_void};
use core::ptr::{null, null_mut};

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;
use cuprum_testing::processes::in_child;

const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

fn proc_address(name: &CStr, version: i32, flags: u64) -> (CUresult, *mut c_void, u32) {
    let mut address = NULL;
    let mut status = CUdriverProcAddressQueryResult(9);
    let result = code!(cuGetProcAddress_v2(name.as_ptr(), &mut address, version, flags, &mut status));
    (result, address, status.0)
}

#[test]
fn the_version_is_the_newest_known_and_flags_are_refused() {
    let mut version = 0;
    ok!(cuDriverGetVersion(&mut version));
    assert_eq!(version, CUDA_VERSION as i32);
    assert_eq!(code!(cuInit(1)), INVALID_VALUE);
    ok!(cuInit(0));
}

#[test]
fn errors_have_names_and_texts() {
    let mut text: *const c_char = null();
    ok!(cuGetErrorName(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, &mut text));
    // SAFETY: a static string of the driver.
    assert_eq!(unsafe { CStr::from_ptr(text) }, c"CUDA_ERROR_ILLEGAL_ADDRESS");
    ok!(cuGetErrorString(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, &mut text));
    // SAFETY: as above.
    assert_eq!(unsafe { CStr::from_ptr(text) }, c"an illegal memory access was encountered");
    assert_eq!(code!(cuGetErrorName(CUresult(12345), &mut text)), INVALID_VALUE);
    assert!(text.is_null());
}

#[test]
fn both_ways_to_a_function_give_the_same_address() {
    let library = cuprum_emulator::library();
    for &id in FnId::ALL {
        let symbol = id.symbol();
        let base = std::ffi::CString::new(symbol.base).unwrap();
        let by_name = cuprum_emulator::resolve(&symbol);
        assert!(!by_name.is_null(), "{id}");
        assert!(library.has(id), "{id}");
        let (result, address, status) = proc_address(&base, symbol.since.as_raw() as i32, 0);
        assert_eq!((result, status), (CUresult::CUDA_SUCCESS, 0), "{id}");
        assert_eq!(address.cast_const(), by_name, "{id}");
        if let Some(twin) = id.per_thread_symbol() {
            let (_, address, _) = proc_address(&base, twin.since.as_raw() as i32, 2);
            assert_eq!(address.cast_const(), cuprum_emulator::resolve(&twin), "{id}");
        }
    }
}

#[test]
fn a_search_says_why_it_found_nothing() {
    let found = CUresult::CUDA_SUCCESS;
    assert_eq!(proc_address(c"cuMemAlloc_v2", 13000, 0), (found, NULL, 1));
    assert_eq!(proc_address(c"cuMemAllocAsync", 11010, 0), (found, NULL, 2));
    assert_eq!(proc_address(c"cuMemAlloc", 13000, 4).0, INVALID_VALUE);
    let mut address = NULL;
    let missing = c"cuNothing".as_ptr();
    assert_eq!(code!(cuGetProcAddress(missing, &mut address, 13000, 0)), CUresult::CUDA_ERROR_NOT_FOUND);
    assert_eq!(
        proc_address(c"cuCtxCreate", 11080, 0).1,
        cuprum_emulator::resolve(&FnId::cuCtxCreate_v3.symbol()).cast_mut()
    );
}

#[test]
fn what_is_not_implemented_says_so() {
    assert!(!cuprum_emulator::implements(FnId::cuCoredumpGetAttribute));
}

/// No table exists for any id; `emulator/tests/messages.rs` tests the messages.
#[test]
fn there_are_no_tables_of_undocumented_functions() {
    let mut table = null();
    let id = CUuuid::zeroed();
    assert_eq!(code!(cuGetExportTable(&mut table, &id)), CUresult::CUDA_ERROR_NOT_SUPPORTED);
    assert!(table.is_null());
    assert_eq!(code!(cuGetExportTable(null_mut(), &id)), INVALID_VALUE);
    assert_eq!(code!(cuGetExportTable(&mut table, null())), INVALID_VALUE);
}

#[test]
fn the_device_says_that_it_is_software() {
    let mut device = -1;
    ok!(cuDeviceGet(&mut device, 0));
    let mut name = [1 as c_char; 64];
    ok!(cuDeviceGetName(name.as_mut_ptr(), 64, device));
    // SAFETY: the driver has written a NUL-terminated string.
    assert_eq!(unsafe { CStr::from_ptr(name.as_ptr()) }, c"Software CUDA device");
    ok!(cuDeviceGetName(name.as_mut_ptr(), 5, device));
    // SAFETY: as above, cut off after four bytes.
    assert_eq!(unsafe { CStr::from_ptr(name.as_ptr()) }, c"Soft");
    assert_eq!(code!(cuDeviceGet(&mut device, 1)), CUresult::CUDA_ERROR_INVALID_DEVICE);
    assert_eq!(code!(cuDeviceGet(null_mut(), 0)), INVALID_VALUE);
    assert_eq!(code!(cuDeviceGetName(name.as_mut_ptr(), 0, device)), INVALID_VALUE);

    let attribute = |which| {
        let mut value = -1;
        ok!(cuDeviceGetAttribute(&mut value, which, 0));
        value
    };
    use CUdevice_attribute as A;
    assert_eq!(attribute(A::CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
    assert_eq!(attribute(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_eq!(attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 9);
    assert_eq!(attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 227 << 10);
    assert!(attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) >= 1);
    let mut value = 0;
    for unknown in [0, A::CU_DEVICE_ATTRIBUTE_MAX.0, 9999] {
        assert_eq!(code!(cuDeviceGetAttribute(&mut value, CUdevice_attribute(unknown), 0)), INVALID_VALUE);
    }
    for &(number, name) in A::NAMES {
        let known = number != A::CU_DEVICE_ATTRIBUTE_MAX.0;
        let result = code!(cuDeviceGetAttribute(&mut value, CUdevice_attribute(number), 0));
        assert_eq!(result == CUresult::CUDA_SUCCESS, known, "{name}");
    }
}

/// The attributes from 120 on, as an H200 with driver 580 (CUDA 13.0) reports them, except for
/// hardware that does not exist here: arrays mapped later (121), other drivers that import memory
/// (124), links to other nodes (128), and one address for a function on all devices (129).
#[test]
fn newer_attributes_are_those_of_an_h200() {
    let attribute = |number: u32| {
        let mut value = -7;
        let code = code!(cuDeviceGetAttribute(&mut value, CUdevice_attribute(number), 0));
        (code == CUresult::CUDA_SUCCESS).then_some(value)
    };
    in_child(
        "init::newer_attributes_are_those_of_an_h200",
        &[("CUPRUM_EMULATOR_DRIVER_VERSION", "13.0")],
        || {
            fns();
            let expected: [i32; 19] = [1, 0, 1, 1, 0, 1, 4, 1, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0];
            assert_eq!((120..139).map(attribute).collect::<Vec<_>>(), expected.map(Some));
            assert_eq!(
                (141..149).map(attribute).collect::<Vec<_>>(),
                [1, 1, 0, 1, 1, 0, 0].map(Some).into_iter().chain([None]).collect::<Vec<_>>()
            );
        },
    );
    in_child(
        "init::newer_attributes_are_those_of_an_h200",
        &[("CUPRUM_EMULATOR_DRIVER_VERSION", "12.2")],
        || {
            fns();
            assert_eq!([127, 128, 134, 144].map(attribute), [Some(1), None, Some(0), None]);
        },
    );
}

#[test]
fn a_device_is_found_by_its_bus() {
    let mut text = [0 as c_char; 16];
    ok!(cuDeviceGetPCIBusId(text.as_mut_ptr(), 16, 0));
    let mut device = -1;
    ok!(cuDeviceGetByPCIBusId(&mut device, text.as_ptr()));
    assert_eq!(device, 0);
    for nonsense in [c"", c"0", c"here"] {
        let refused = code!(cuDeviceGetByPCIBusId(&mut device, nonsense.as_ptr()));
        assert_eq!(refused, CUresult::CUDA_ERROR_INVALID_VALUE, "{nonsense:?}");
    }
    let absent = c"0000:77:00.0".as_ptr();
    assert_eq!(code!(cuDeviceGetByPCIBusId(&mut device, absent)), CUresult::CUDA_ERROR_INVALID_DEVICE);
}
