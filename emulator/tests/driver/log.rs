//! The error log: messages by the driver's own functions.

use core::ffi::{CStr, c_char, c_void};
use core::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use cuprum_sys::*;
use cuprum_testing::driver_calls::*;
use cuprum_testing::processes::in_child;

static TOLD: Mutex<Vec<(usize, CUlogLevel, String)>> = Mutex::new(Vec::new());

unsafe extern "C" fn told(data: *mut c_void, level: CUlogLevel, message: *mut c_char, length: usize) {
    // SAFETY: the driver passes a NUL-terminated text.
    let text = unsafe { CStr::from_ptr(message) }.to_str().unwrap().to_owned();
    assert_eq!(text.len(), length);
    // The driver refuses calls within a callback.
    let mut count = 0;
    assert_eq!(code!(cuDeviceGetCount(&mut count)), CUresult::CUDA_ERROR_NOT_PERMITTED);
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).push((data.addr(), level, text));
}

/// Loads a module that is refused, which creates a message.
fn refuse() {
    let mut module = CUmodule::null();
    let image = c".version 8.0\n.target sm_90\nnonsense";
    assert_eq!(code!(cuModuleLoadData(&mut module, image.as_ptr().cast())), CUresult::CUDA_ERROR_INVALID_PTX);
}

fn place() -> CUlogIterator {
    let mut place = u32::MAX;
    ok!(cuLogsCurrent(&mut place, 0));
    place
}

fn dump(place: &mut CUlogIterator, room: usize) -> String {
    let (mut buffer, mut size) = (vec![0u8; room], room);
    ok!(cuLogsDumpToMemory(place, buffer.as_mut_ptr().cast(), &mut size, 0));
    buffer.truncate(size);
    String::from_utf8(buffer).unwrap()
}

#[test]
fn messages_are_kept_told_and_dumped_once() {
    // The log belongs to the process.
    in_child("log::messages_are_kept_told_and_dumped_once", &[], keep_messages);
}

fn keep_messages() {
    let _context = TestContext::new();
    let mut callback = CUlogsCallbackHandle::null();
    ok!(cuLogsRegisterCallback(Some(told), core::ptr::without_provenance_mut(77), &mut callback));
    let mut begin = place();
    refuse();
    refuse();
    // The reason, and the code of the call.
    assert_eq!(place(), begin + 4);
    {
        let told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
        let [(data, level, text), (_, _, answer), _, _] = &told[..] else { panic!("{told:?}") };
        assert_eq!((*data, *level), (77, CUlogLevel::CU_LOG_LEVEL_ERROR));
        assert!(text.contains("CUDA_ERROR_INVALID_PTX"), "{text}");
        assert_eq!(answer, "Returning 218 (CUDA_ERROR_INVALID_PTX) from cuModuleLoadData");
    }
    let (mut again, mut short) = (begin, begin);
    let text = dump(&mut begin, 25600);
    assert_eq!(text.matches("CUDA_ERROR_INVALID_PTX").count(), 4, "{text}");
    assert_eq!((begin, dump(&mut begin, 25600)), (place(), String::new()));
    // If the buffer is too small, it receives the last messages.
    let newest = dump(&mut short, text.len() - 1);
    assert_eq!(newest.matches("CUDA_ERROR_INVALID_PTX").count(), 3, "{newest}");
    assert!(text.ends_with(&newest));

    let path = std::env::temp_dir().join(format!("cuprum-log-{}", std::process::id()));
    let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    ok!(cuLogsDumpToFile(&mut again, name.as_ptr(), 0));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    std::fs::remove_file(&path).unwrap();

    ok!(cuLogsUnregisterCallback(callback));
    refuse();
    assert_eq!(TOLD.lock().unwrap_or_else(PoisonError::into_inner).len(), 4);
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    assert_eq!(code!(cuLogsUnregisterCallback(callback)), invalid);
    assert_eq!(code!(cuLogsRegisterCallback(None, null_mut(), &mut callback)), invalid);

    // The oldest are dropped, and this is reported.
    for _ in 0..200 {
        refuse();
    }
    let text = dump(&mut again, 1 << 20);
    assert!(text.contains("older messages are gone"), "{text}");
    assert_eq!(text.matches("CUDA_ERROR_INVALID_PTX").count(), 100);
}

#[test]
fn a_device_tells_what_it_does_atomically_on_memory_of_others() {
    let _context = TestContext::new();
    let operations = [
        CUatomicOperation::CU_ATOMIC_OPERATION_INTEGER_ADD,
        CUatomicOperation::CU_ATOMIC_OPERATION_CAS,
        CUatomicOperation::CU_ATOMIC_OPERATION_FLOAT_MIN,
    ];
    let mut found = [7; 3];
    ok!(cuDeviceGetHostAtomicCapabilities(found.as_mut_ptr(), operations.as_ptr(), 3, 0));
    let wide = CUatomicOperationCapability::CU_ATOMIC_CAPABILITY_SCALAR_64.0;
    let reduces = CUatomicOperationCapability::CU_ATOMIC_CAPABILITY_REDUCTION.0;
    assert_eq!(found.map(|found| found & (wide | reduces)), [wide | reduces, wide, 0]);
    let nothing = code!(cuDeviceGetHostAtomicCapabilities(found.as_mut_ptr(), operations.as_ptr(), 0, 0));
    assert_eq!(nothing, CUresult::CUDA_ERROR_INVALID_VALUE);
    let own = code!(cuDeviceGetP2PAtomicCapabilities(found.as_mut_ptr(), operations.as_ptr(), 3, 0, 0));
    assert_eq!(own, CUresult::CUDA_ERROR_INVALID_DEVICE);
}
