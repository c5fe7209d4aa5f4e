//! Finding and opening NVRTC: the places searched, the files refused, and the errors.

use core::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::{fs, ptr};

use cuprum_compile::nvrtc::{FnId, Fns, Library, LoadError, NVRTC_VARIABLE, Refusal, nvrtcResult};
use cuprum_compile::nvrtc_call;
use cuprum_sys::Version;
use cuprum_testing::opened::refused;
use cuprum_testing::processes::{fake, in_child};

/// This crate, for `fake`.
const HERE: (&str, &str) = (env!("CARGO_MANIFEST_DIR"), env!("CARGO_TARGET_TMPDIR"));

fn open_from(path: &Path) -> Result<Library, LoadError> {
    // SAFETY: the tests' own fakes: their initializers may run, and functions with NVRTC's names
    // have its ABI.
    unsafe { Library::open_from(path) }
}

fn refusal(path: &Path) -> (Refusal, String) {
    let error = open_from(path).unwrap_err();
    (refused(path, error.attempts(), &error), error.to_string())
}

/// A child finds the files of its parent, and has no compiler to make them again.
fn in_parent() -> bool {
    std::env::var_os("CUPRUM_TEST_CHILD").is_none()
}

/// A folder of one test, empty at its begin.
fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nvrtc").join(name);
    if !in_parent() {
        return folder;
    }
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The fake, of version 12.4, as a file in a folder below `root`.
fn install(root: &Path, below: &str, file: &str) -> PathBuf {
    let folder = root.join(below);
    if in_parent() {
        fs::create_dir_all(&folder).unwrap();
        let of = root.file_name().unwrap().to_str().unwrap();
        fs::copy(fake(HERE, "nvrtc", "nvrtc-kinds", &format!("{file}.{of}")), folder.join(file)).unwrap();
    }
    folder.join(file)
}

/// An environment in which nothing is found except through `more`.
fn environment<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let names =
        [NVRTC_VARIABLE, "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "HOME"];
    let mut variables: Vec<_> = names.map(|name| (name, "")).into();
    variables.extend([("PATH", ""), ("LD_LIBRARY_PATH", "")]);
    variables.extend(more);
    variables
}

#[test]
fn a_library_that_is_no_nvrtc_is_refused() {
    let (cause, message) = refusal(Path::new("/nowhere/libnvrtc.so.12"));
    assert!(
        matches!(&cause, Refusal::NotLoaded(words) if words.contains("cannot open shared object")),
        "{cause:?}"
    );
    assert!(message.contains("pip install nvidia-cuda-nvrtc"), "{message}");
    let (cause, message) =
        refusal(&fake(HERE, "../../../sys/tests/fakes/not_a_driver", "nvrtc-kinds", "libother.so"));
    assert_eq!(cause, Refusal::NotNvrtc, "{message}");
    let (cause, message) = refusal(&fake(HERE, "nvrtc_without_version", "nvrtc-kinds", "libwithout.so"));
    assert_eq!(cause, Refusal::MissingFunction(FnId::nvrtcVersion));
    assert!(message.contains("does not export nvrtcVersion"), "{message}");
    let (cause, message) = refusal(&fake(HERE, "nvrtc_broken_version", "nvrtc-kinds", "libbroken.so"));
    assert_eq!(
        cause,
        Refusal::NoVersion { result: nvrtcResult::NVRTC_ERROR_INTERNAL_ERROR, version: (0, 0) }
    );
    assert!(message.contains("NVRTC_ERROR_INTERNAL_ERROR"), "{message}");
    assert!(matches!(refusal(Path::new("a\0b")).0, Refusal::NotLoaded(_)));
}

#[test]
fn absent_functions_are_errors_with_their_version() {
    let path = fake(HERE, "nvrtc", "nvrtc-kinds", "libnvrtc.so.12");
    let library = open_from(&path).unwrap();
    assert_eq!(library.version(), Version::new(12, 4));
    assert_eq!(library.origin().to_string(), path.to_str().unwrap());
    assert_eq!(library.file().as_deref(), Some(path.as_path()));
    assert_eq!(open_from(&path).unwrap(), library, "opening again gives the same");
    library.require_fn(FnId::nvrtcVersion).unwrap();
    let newer = library.require_fn(FnId::nvrtcSetFlowCallback).unwrap_err();
    assert_eq!(newer.to_string(), "nvrtcSetFlowCallback needs NVRTC 12.8, this is 12.4");
    let absent = library.require_fn(FnId::nvrtcGetPTX).unwrap_err();
    assert_eq!(absent.to_string(), "nvrtcGetPTX came with NVRTC 7.0, but this one of version 12.4 lacks it");
    assert!(library.address(FnId::nvrtcGetPTX).is_null() && !library.address(FnId::nvrtcVersion).is_null());
    let mut count = 7;
    // SAFETY: the function is absent: a stub.
    let called = unsafe { nvrtc_call!(library.fns(), nvrtcGetNumSupportedArchs(&mut count)) };
    assert_eq!((called, count), ((nvrtcResult::UNRESOLVED, FnId::nvrtcGetNumSupportedArchs), 7));
}

unsafe extern "system" fn version_11_7(major: *mut c_int, minor: *mut c_int) -> nvrtcResult {
    // SAFETY: the loader passes places of its own.
    unsafe { major.write(11) };
    // SAFETY: likewise.
    unsafe { minor.write(7) };
    nvrtcResult::NVRTC_SUCCESS
}

#[test]
fn any_source_fills_the_table() {
    let resolve = |function| match function {
        FnId::nvrtcVersion => version_11_7 as *const c_void,
        _ => ptr::null(),
    };
    // SAFETY: the function has the ABI of its name.
    let library = unsafe { Library::from_resolver("fake", resolve) }.unwrap();
    assert_eq!((library.version(), library.origin().to_string()), (Version::new(11, 7), "fake".to_owned()));
    // SAFETY: null means absent.
    let refused = unsafe { Library::from_resolver("empty", |_| ptr::null()) }.unwrap_err();
    assert_eq!(refused.attempts()[0].cause(), &Refusal::NotNvrtc);
}

#[test]
fn names_and_versions_agree_with_the_lines() {
    assert_eq!(FnId::nvrtcGetLTOIR.to_string(), "nvrtcGetLTOIR");
    assert_eq!(FnId::nvrtcGetLTOIR.name(), c"nvrtcGetLTOIR");
    assert_eq!(FnId::nvrtcGetLTOIR.since(), Version::new(12, 0));
    assert_eq!(size_of::<Fns>(), FnId::ALL.len() * size_of::<usize>());
}

#[test]
fn without_nvrtc_the_error_lists_the_attempts_and_the_way_to_get_it() {
    let root = empty_folder("none");
    let root = root.to_str().unwrap();
    let variables = environment(&[("CUDA_HOME", root), ("VIRTUAL_ENV", root), ("HOME", root)]);
    in_child("loading::without_nvrtc_the_error_lists_the_attempts_and_the_way_to_get_it", &variables, || {
        let error = Library::open().unwrap_err();
        let tried: Vec<_> = error.attempts().iter().map(|one| one.origin().to_str().unwrap()).collect();
        assert_eq!(tried[..4], ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"]);
        assert!(tried.iter().any(|path| *path == format!("{root}/lib64")), "{tried:?}");
        assert!(tried.contains(&"/usr/local/cuda/lib64"), "{tried:?}");
        for attempt in error.attempts() {
            assert!(!attempt.cause().to_string().is_empty(), "{error}");
        }
        let text = error.to_string();
        assert!(text.contains("libnvrtc.so.13: cannot open shared object file"), "{text}");
        for advice in ["pip install nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12", "toolkit", NVRTC_VARIABLE] {
            assert!(text.contains(advice), "{text}");
        }
    });
}

#[test]
fn the_variable_of_ours_is_before_all_and_alone() {
    let test = "loading::the_variable_of_ours_is_before_all_and_alone";
    let root = empty_folder("ours");
    let (named, other) = (install(&root, "a", "named.so"), install(&root, "b", "libnvrtc.so.13"));
    let folder = other.parent().unwrap().to_str().unwrap().to_owned();
    let variables = environment(&[(NVRTC_VARIABLE, named.to_str().unwrap()), ("LD_LIBRARY_PATH", &folder)]);
    in_child(test, &variables, || {
        assert_eq!(Library::open().unwrap().origin().to_string(), named.to_str().unwrap());
    });
    let variables = environment(&[(NVRTC_VARIABLE, "/nowhere/nvrtc"), ("LD_LIBRARY_PATH", &folder)]);
    in_child(test, &variables, || {
        let error = Library::open().unwrap_err();
        assert_eq!(error.attempts().len(), 1, "{error}");
    });
}

/// Opens with a variable set and expects the file `file` below its folder.
fn found_by(test: &str, variable: &str, below: &str, file: &str) {
    let root = empty_folder(&format!("by-{variable}-{}", below.len()));
    let expected = install(&root, below, file);
    let variables = environment(&[(variable, root.to_str().unwrap())]);
    in_child(test, &variables, || {
        let library = Library::open().unwrap();
        assert_eq!(library.file().as_deref(), Some(expected.as_path()), "{variable}");
    });
}

#[test]
fn found_in_the_system_path_toolkits_and_wheels() {
    let test = "loading::found_in_the_system_path_toolkits_and_wheels";
    found_by(test, "LD_LIBRARY_PATH", "", "libnvrtc.so.12");
    found_by(test, "CUDA_HOME", "lib64", "libnvrtc.so.12");
    found_by(test, "CUDA_PATH", "targets/x86_64-linux/lib", "libnvrtc.so.12.4.127");
    found_by(test, "CONDA_PREFIX", "lib", "libnvrtc.so.14");
    found_by(test, "VIRTUAL_ENV", "lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib", "libnvrtc.so.12");
    found_by(test, "VIRTUAL_ENV", "lib/python3.9/site-packages/nvidia/cu13/lib", "libnvrtc.so.13");
    found_by(test, "PYTHONPATH", "nvidia/cu13/lib", "libnvrtc.so.13");
    found_by(test, "HOME", ".local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib", "libnvrtc.so.11.2");
}

#[test]
fn found_next_to_the_python_in_the_path() {
    let root = empty_folder("python");
    let expected = install(&root, "lib/python3.10/site-packages/nvidia/cu13/lib", "libnvrtc.so.13");
    fs::create_dir_all(root.join("bin")).unwrap();
    fs::write(root.join("bin/python3"), "").unwrap();
    let folder = root.join("bin");
    in_child(
        "loading::found_next_to_the_python_in_the_path",
        &environment(&[("PATH", folder.to_str().unwrap())]),
        || {
            assert_eq!(Library::open().unwrap().file().as_deref(), Some(expected.as_path()));
        },
    );
}

#[test]
fn the_newest_of_a_folder_comes_first_unless_the_driver_is_older() {
    let root = empty_folder("several");
    let newest = install(&root, "lib64", "libnvrtc.so.13");
    let older = install(&root, "lib64", "libnvrtc.so.12");
    install(&root, "lib64", "libnvrtc.so.9.2");
    // Two files of one content are two libraries to the linker.
    let variables = environment(&[("CUDA_HOME", root.to_str().unwrap())]);
    in_child("loading::the_newest_of_a_folder_comes_first_unless_the_driver_is_older", &variables, || {
        assert_eq!(Library::open().unwrap().file(), Some(newest));
        let for_driver = Library::options().for_driver(Version::new(12, 2)).open().unwrap();
        assert_eq!(for_driver.file(), Some(older));
    });
}
