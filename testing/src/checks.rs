//! Properties of every driver, real or in software.

use std::ffi::{CStr, CString, c_void};
use std::ptr;

use cuprum_sys::{CUresult, FnId, Library, StreamMode, Symbol, Version};

use crate::processes::fork;

/// Every check that needs nothing but the library, in both stream modes; `init` is the answer to
/// expect of `cuInit`, which is called last.
///
/// `late` are functions that this driver lacks although its version has them.
pub fn check(library: Library, per_thread: Library, late: &[FnId], init: CUresult) {
    for library in [library, per_thread] {
        check_versions(library, late);
        check_queries(library);
    }
    check_missing_function(library);
    check_error_names(library);
    check_fork_before_init(library, init);
    check_init(library, per_thread, init);
    check_fork_after_init(library);
}

/// The driver has every function that its version has, and no other.
fn check_versions(library: Library, late: &[FnId]) {
    let expected = |function: &FnId| {
        function.symbol_in(library.stream_mode()).since <= library.version() && !late.contains(function)
    };
    let lacks = |function: &&FnId| expected(function) && !library.has(**function);
    let has_too = |function: &&FnId| !expected(function) && library.has(**function);
    let (lacks, has_too): (Vec<_>, Vec<_>) =
        (FnId::ALL.iter().filter(lacks).collect(), FnId::ALL.iter().filter(has_too).collect());
    assert!(lacks.is_empty() && has_too.is_empty(), "{library:?} lacks {lacks:?} and has {has_too:?}");
    let present = FnId::ALL.iter().filter(|function| library.has(**function)).count();
    println!("{library:?}: {present} of {} functions, as its version says", FnId::ALL.len());
}

/// `cuGetProcAddress` returns the addresses in the table, each queried with its own version.
fn check_queries(library: Library) {
    if library.version() < Version::new(11, 3) {
        assert!(!library.has(FnId::cuGetProcAddress));
        return;
    }
    let mut same = 0;
    for &function in FnId::ALL.iter().filter(|function| library.has(**function)) {
        let symbol = function.symbol_in(library.stream_mode());
        assert_eq!(query(library, &symbol), library.address(function), "{:?}", symbol.name);
        same += 1;
    }
    println!("cuGetProcAddress and the table agree on {same} functions");
}

/// The driver's address of a symbol by base name and version.
fn query(library: Library, symbol: &Symbol) -> *const c_void {
    let base = CString::new(symbol.base).unwrap();
    let flags = match symbol.mode {
        StreamMode::Legacy => 1,
        StreamMode::PerThread => 2,
    };
    let since = i32::try_from(symbol.since.as_raw()).unwrap();
    let mut address = ptr::null_mut();
    // SAFETY: the name is a C string and the address is ours to write.
    let result = unsafe { (library.fns().cuGetProcAddress)(base.as_ptr(), &mut address, since, flags) };
    assert_eq!(result, CUresult::CUDA_SUCCESS, "{symbol:?}");
    address
}

/// A function newer than the driver is a typed error, and calling it all the same is harmless.
fn check_missing_function(library: Library) {
    let (driver, function) = (library.version(), FnId::cuTensorMapSetAllocationClass);
    if driver >= Version::new(13, 5) {
        assert_eq!(library.require_fn(function), Ok(()));
        return;
    }
    let missing = library.require_fn(function).unwrap_err();
    assert_eq!((missing.function, missing.since, missing.driver), (function, Version::new(13, 5), driver));
    assert_eq!(
        missing.to_string(),
        format!("cuTensorMapSetAllocationClass needs CUDA 13.5, the driver has {driver}: update the driver")
    );
    // SAFETY: an absent function is a stub, which looks at no argument.
    let result = unsafe {
        (library.fns().cuTensorMapSetAllocationClass)(
            ptr::null_mut(),
            cuprum_sys::CUtensorMapAllocClass(0),
            ptr::null_mut(),
        )
    };
    assert_eq!(result, CUresult::UNRESOLVED);
}

/// The driver's names of its result codes are ours, and it has none of our own.
fn check_error_names(library: Library) {
    let name = |code: CUresult| {
        let mut name = ptr::dangling();
        // SAFETY: the place is ours to write.
        let result = unsafe { (library.fns().cuGetErrorName)(code, &mut name) };
        assert_eq!(name.is_null(), result != CUresult::CUDA_SUCCESS, "{code:?}");
        // SAFETY: not null, so the driver's own string.
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_str().unwrap().to_owned())
    };
    for ours in [CUresult::UNRESOLVED, CUresult::FORKED] {
        assert_eq!(name(ours), None, "{ours:?} is no code of a driver");
    }
    let mut known = 0;
    for code in (0..2000).map(CUresult) {
        if let Some(theirs) = name(code) {
            assert_eq!(code.name(), Some(theirs.as_str()), "code {}", code.0);
            known += 1;
        }
    }
    assert!(known >= 48, "the driver knows {known} codes");
    println!("{known} result codes have the driver's name");
}

fn check_fork_before_init(library: Library, init: CUresult) {
    let answer = fork(|| u8::from(library.init() == init && !library.forked()));
    assert_eq!(answer, 1, "a child may initialize what its parent only loaded");
}

/// The true answer, once: further calls make no driver call and open nothing.
fn check_init(library: Library, per_thread: Library, init: CUresult) {
    assert_eq!(library.init(), init);
    let files = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let open = files();
    for _ in 0..10 {
        assert_eq!(library.init(), init);
        assert_eq!(per_thread.init(), init, "one driver, one answer");
    }
    assert_eq!(files(), open, "cuInit was called again");
}

/// In 550 and 555 a child's own `cuInit` fails oddly; no driver lets a child use its parent's
/// setup.
fn check_fork_after_init(library: Library) {
    let answer = fork(|| u8::from(library.forked() && library.init() == CUresult::FORKED));
    assert_eq!(answer, 1, "the child is told");
}
