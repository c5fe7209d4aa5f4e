//! Tables filled from a resolver instead of a driver file.

use core::ffi::c_void;
use core::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use cuprum_sys::{CUresult, FnId, Library, Refusal, StreamMode, Symbol, Version, call};

static INITS: AtomicU32 = AtomicU32::new(0);

unsafe extern "system" fn init(_flags: u32) -> CUresult {
    INITS.fetch_add(1, Ordering::Relaxed);
    CUresult::CUDA_ERROR_NO_DEVICE
}

unsafe extern "system" fn version_12_4(version: *mut i32) -> CUresult {
    // SAFETY: the loader passes a place of its own.
    unsafe { version.write(12040) };
    CUresult::CUDA_SUCCESS
}

unsafe extern "system" fn stub_version(_version: *mut i32) -> CUresult {
    CUresult::CUDA_ERROR_STUB_LIBRARY
}

fn minimal(symbol: &Symbol) -> *const c_void {
    match symbol.base {
        "cuInit" => init as *const c_void,
        "cuDriverGetVersion" => version_12_4 as *const c_void,
        _ => ptr::null(),
    }
}

#[test]
fn one_verb_requires_a_version_a_function_or_a_list() {
    // SAFETY: the functions have the ABI of their names.
    let library = unsafe { Library::from_resolver("fake", minimal) }.unwrap();
    assert_eq!(library.require(Version::new(12, 4)), Ok(()));
    assert_eq!(library.require(FnId::cuInit), Ok(()));
    let missing = library.require(FnId::cuCtxCreate_v4).unwrap_err();
    assert_eq!(library.require_fn(FnId::cuCtxCreate_v4), Err(missing));
    let list = vec![FnId::cuInit, FnId::cuCtxCreate_v4];
    assert_eq!(library.require(list.as_slice()).unwrap_err().functions, [missing]);
    assert!(!library.is_software_device());
}

#[test]
fn minimal_driver() {
    // SAFETY: the functions have the ABI of their names.
    let library = unsafe { Library::from_resolver("fake", minimal) }.unwrap();
    assert_eq!(library.version(), Version::new(12, 4));
    assert_eq!(library.origin(), "fake");
    assert!(library.has(FnId::cuInit));
    assert!(!library.has(FnId::cuMemAlloc_v2));
    let missing = library.require_fn(FnId::cuCtxCreate_v4).unwrap_err();
    assert_eq!(missing.to_string(), "cuCtxCreate_v4 needs CUDA 12.5, the driver has 12.4: update the driver");
    let absent = library.require_fn(FnId::cuMemAlloc_v2).unwrap_err();
    assert!(absent.to_string().contains("this driver of CUDA 12.4 lacks it"), "{absent}");
    let all = [
        FnId::cuInit,
        FnId::cuMemAlloc_v2,
        FnId::cuCtxCreate_v4,
        FnId::cuStreamGetDevResource,
        FnId::cuCtxCreate_v4,
    ];
    let missing = library.require(&all).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "the driver has CUDA 12.4 and lacks cuMemAlloc_v2 (CUDA 3.2), cuCtxCreate_v4 (CUDA 12.5), \
         cuStreamGetDevResource (CUDA 13.1) and cuCtxCreate_v4 (CUDA 12.5): a driver of CUDA 13.1 or newer has all"
    );
    assert_eq!(missing.functions.len(), 4);
    let absent = library.require(&all[..2]).unwrap_err();
    assert_eq!(
        absent.to_string(),
        "the driver has CUDA 12.4 and lacks cuMemAlloc_v2 (CUDA 3.2), which its version should have"
    );
    assert_eq!(library.require(&[FnId::cuInit, FnId::cuDriverGetVersion]), Ok(()));
    let old = library.require(Version::new(13, 0)).unwrap_err();
    assert_eq!(old.to_string(), "needs CUDA 13.0, the driver has 12.4: update the driver");
    library.require(Version::new(12, 4)).unwrap();

    let mut pointer = 0;
    // SAFETY: the function is absent: a stub.
    let called = unsafe { call!(library.fns(), cuMemAlloc_v2(&mut pointer, 16)) };
    assert_eq!(called, (CUresult::UNRESOLVED, FnId::cuMemAlloc_v2));

    for _ in 0..3 {
        assert_eq!(library.init(), CUresult::CUDA_ERROR_NO_DEVICE);
    }
    // SAFETY: as above.
    let again = unsafe { Library::from_resolver("again", minimal) }.unwrap();
    assert_eq!(again, library);
    assert_eq!(again.init(), CUresult::CUDA_ERROR_NO_DEVICE);
    // SAFETY: as above.
    let twin = unsafe { Library::options().per_thread_default_stream(true).from_resolver("twin", minimal) };
    let twin = twin.unwrap();
    assert_ne!(twin, library);
    assert_eq!(twin.stream_mode(), StreamMode::PerThread);
    assert_eq!(twin.init(), CUresult::CUDA_ERROR_NO_DEVICE);
    assert_eq!(INITS.load(Ordering::Relaxed), 1, "cuInit is called once for a driver");
    assert!(!library.forked());
}

#[test]
fn refused() {
    let refusal = |resolve: fn(&Symbol) -> *const c_void| {
        // SAFETY: the functions have the ABI of their names.
        let error = unsafe { Library::from_resolver("fake", resolve) }.unwrap_err();
        error.attempts()[0].cause().clone()
    };
    assert_eq!(refusal(|_| ptr::null()), Refusal::NotADriver);
    assert_eq!(
        refusal(|symbol| if symbol.base == "cuInit" { minimal(symbol) } else { ptr::null() }),
        Refusal::MissingFunction(FnId::cuDriverGetVersion),
    );
    assert_eq!(
        refusal(|symbol| if symbol.base == "cuInit" { ptr::null() } else { minimal(symbol) }),
        Refusal::MissingFunction(FnId::cuInit),
    );
    let stub = refusal(|symbol| match symbol.base {
        "cuDriverGetVersion" => stub_version as *const c_void,
        _ => minimal(symbol),
    });
    assert_eq!(stub, Refusal::ToolkitStub);
}
