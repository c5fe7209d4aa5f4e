//! Opening library files: drivers, and files that are none.
#![cfg(target_os = "linux")]

use std::path::Path;

use cuprum_sys::{CUresult, DRIVER_VARIABLE, FnId, Library, LoadError, Refusal, StreamMode, Version};
use cuprum_testing::opened::{open_from, open_with, refused};
use cuprum_testing::processes::{fake, in_child};

/// This crate, for `fake`.
const HERE: (&str, &str) = (env!("CARGO_MANIFEST_DIR"), env!("CARGO_TARGET_TMPDIR"));

fn refusal(path: &Path) -> (Refusal, String) {
    let error = open_from(path).unwrap_err();
    (refused(path, error.attempts(), &error), error.to_string())
}

fn is_mapped(path: &Path) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.contains(path.canonicalize().unwrap().to_str().unwrap())
}

#[test]
fn absent_file() {
    let (cause, message) = refusal(Path::new("/nowhere/libcuda.so.1"));
    let Refusal::NotLoaded(words) = cause else { panic!("{cause:?}") };
    assert!(words.contains("cannot open shared object file"), "{words}");
    assert!(
        message.starts_with("no CUDA driver could be loaded: /nowhere/libcuda.so.1: cannot "),
        "{message}"
    );
}

#[test]
fn no_library_at_all() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let (cause, _) = refusal(&path);
    let Refusal::NotLoaded(words) = cause else { panic!("{cause:?}") };
    assert!(words.contains("invalid ELF header"), "{words}");
}

#[test]
fn path_with_a_nul() {
    let (cause, _) = refusal(Path::new("a\0b"));
    assert!(matches!(cause, Refusal::NotLoaded(_)), "{cause:?}");
}

#[test]
fn library_of_another_kind() {
    let path = fake(HERE, "not_a_driver", "kinds", "libanswer.so");
    let (cause, message) = refusal(&path);
    assert_eq!(cause, Refusal::NotADriver);
    assert!(message.contains("not a CUDA driver"), "{message}");
    assert!(!is_mapped(&path), "a refused library is closed");
}

#[test]
fn toolkit_stub() {
    let path = fake(HERE, "stub", "kinds", "libstub.so");
    let (cause, message) = refusal(&path);
    assert_eq!(cause, Refusal::ToolkitStub);
    assert!(message.contains("stub"), "{message}");
    assert!(!is_mapped(&path), "a refused library is closed");
}

#[test]
fn driver_without_an_essential_function() {
    let path = fake(HERE, "without_version", "kinds", "libwithout.so");
    let (cause, message) = refusal(&path);
    assert_eq!(cause, Refusal::MissingFunction(FnId::cuDriverGetVersion));
    assert!(message.contains("does not export cuDriverGetVersion"), "{message}");
    assert!(!is_mapped(&path), "a refused library is closed");
}

#[test]
fn driver_without_a_version() {
    let path = fake(HERE, "broken_version", "kinds", "libbroken.so");
    let (cause, message) = refusal(&path);
    assert_eq!(cause, Refusal::NoVersion { result: CUresult::CUDA_ERROR_UNKNOWN, version: 0 });
    assert!(message.contains("CUDA_ERROR_UNKNOWN"), "{message}");
}

#[test]
fn driver() {
    let path = fake(HERE, "driver", "kinds", "libdriver.so");
    let library = open_from(&path).unwrap();
    assert_eq!(library.version(), Version::new(12, 4));
    assert_eq!(library.origin(), path.to_str().unwrap());
    assert_eq!(library.init(), CUresult::CUDA_ERROR_NO_DEVICE);
    assert_eq!(open_from(&path).unwrap(), library, "opening again gives the same");
    assert!(is_mapped(&path), "the second handle was closed, the first was not");

    let per_thread = open_with(Library::options().per_thread_default_stream(true), &path).unwrap();
    assert_eq!(per_thread.stream_mode(), StreamMode::PerThread);
    let call = |library: Library| {
        // SAFETY: the fake looks at none of its arguments.
        unsafe { (library.fns().cuMemcpy)(0, 0, 0) }.0
    };
    assert_eq!(call(library), 1, "the plain symbol");
    assert_eq!(call(per_thread), 2, "its twin");
    assert_ne!(library.address(FnId::cuMemcpy), per_thread.address(FnId::cuMemcpy));
    assert_eq!(library.address(FnId::cuInit), per_thread.address(FnId::cuInit));
    assert!(library.address(FnId::cuMemAlloc_v2).is_null());
}

#[test]
fn opened_by_many_threads_at_once() {
    let path = fake(HERE, "driver", "kinds", "libthreads.so");
    let open = || {
        let library = open_from(&path).unwrap();
        (library, library.init())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(open)).collect();
        let expected = open();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), expected);
        }
    });
}

#[test]
fn driver_that_must_be_asked() {
    let library = open_from(fake(HERE, "query_only", "kinds", "libquery.so")).unwrap();
    assert!(library.has(FnId::cuMemAlloc_v2), "exported nowhere, but known to cuGetProcAddress");
    // SAFETY: the fake looks at none of its arguments.
    assert_eq!(unsafe { (library.fns().cuMemAlloc_v2)(std::ptr::null_mut(), 0) }.0, 7);
    assert!(library.has(FnId::cuCtxCreate_v3));
    assert!(!library.has(FnId::cuCtxCreate_v4), "an older revision is no answer");
}

/// `open` in a child whose linker looks into `folder` first.
fn open_in(test: &str, folder: &Path, body: impl FnOnce(Result<Library, LoadError>)) {
    let variables = [("LD_LIBRARY_PATH", folder.to_str().unwrap()), (DRIVER_VARIABLE, "")];
    in_child(test, &variables, || body(Library::open()));
}

#[test]
fn open_takes_the_versioned_name_first() {
    let path = fake(HERE, "driver", "first", "libcuda.so.1");
    fake(HERE, "not_a_driver", "first", "libcuda.so");
    open_in("open_takes_the_versioned_name_first", path.parent().unwrap(), |opened| {
        assert_eq!(opened.unwrap().origin(), "libcuda.so.1");
    });
}

#[test]
fn open_lists_every_attempt() {
    let path = fake(HERE, "stub", "stubs", "libcuda.so.1");
    fake(HERE, "not_a_driver", "stubs", "libcuda.so");
    open_in("open_lists_every_attempt", path.parent().unwrap(), |opened| {
        let error = opened.unwrap_err();
        let attempts: Vec<_> = error.attempts().iter().map(|attempt| attempt.origin()).collect();
        assert_eq!(attempts, ["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "libcuda.so"]);
        assert_eq!(*error.attempts()[0].cause(), Refusal::ToolkitStub);
        assert!(matches!(error.attempts()[1].cause(), Refusal::NotLoaded(_)));
        assert_eq!(*error.attempts()[2].cause(), Refusal::NotADriver);
        for attempt in error.attempts() {
            assert!(error.to_string().contains(&attempt.to_string()), "{error}");
        }
    });
}

#[test]
fn the_variable_names_the_only_driver() {
    let path = fake(HERE, "driver", "variable", "libcuda.so.1");
    let test = "the_variable_names_the_only_driver";
    in_child(test, &[(DRIVER_VARIABLE, path.to_str().unwrap())], || {
        assert_eq!(Library::open().unwrap().origin(), path.to_str().unwrap());
    });
}

#[test]
fn a_wrong_variable_is_an_error() {
    in_child("a_wrong_variable_is_an_error", &[(DRIVER_VARIABLE, "/nowhere/driver.so")], || {
        let error = Library::open().unwrap_err();
        assert_eq!(error.attempts().len(), 1, "{error}");
        assert!(error.to_string().contains("/nowhere/driver.so"), "{error}");
    });
}
