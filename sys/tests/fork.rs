//! A forked child cannot use a driver that was initialized before the fork.
#![cfg(unix)]

use core::ffi::c_void;
use core::ptr;

use cuprum_sys::{CUresult, Library, Symbol};
use cuprum_testing::processes::{fork, in_child};

unsafe extern "system" fn init(_flags: u32) -> CUresult {
    CUresult::CUDA_ERROR_NO_DEVICE
}

unsafe extern "system" fn version(version: *mut i32) -> CUresult {
    // SAFETY: the loader passes a place of its own.
    unsafe { version.write(12040) };
    CUresult::CUDA_SUCCESS
}

fn library() -> Library {
    let resolve = |symbol: &Symbol| match symbol.base {
        "cuInit" => init as *const c_void,
        "cuDriverGetVersion" => version as *const c_void,
        _ => ptr::null(),
    };
    // SAFETY: the functions have the ABI of their names.
    unsafe { Library::from_resolver("fake", resolve) }.unwrap()
}

#[test]
fn initialized_before_the_fork() {
    in_child("initialized_before_the_fork", &[], || {
        let library = library();
        assert_eq!(library.init(), CUresult::CUDA_ERROR_NO_DEVICE);
        assert!(!library.forked());
        let advice_on_forks =
            || CUresult::CUDA_ERROR_OPERATING_SYSTEM.advice().is_some_and(|advice| advice.contains("fork"));
        assert!(!advice_on_forks(), "advice about forks to a process that was not forked");
        let answer =
            fork(|| u8::from(library.forked() && library.init() == CUresult::FORKED && advice_on_forks()));
        assert_eq!(answer, 1, "the child is told");
        let grandchild = fork(|| fork(|| u8::from(library.forked())));
        assert_eq!(grandchild, 1, "so is the child's child");
        assert!(!library.forked(), "the parent goes on");
        assert_eq!(library.init(), CUresult::CUDA_ERROR_NO_DEVICE);
    });
}

#[test]
fn initialized_after_the_fork() {
    in_child("initialized_after_the_fork", &[], || {
        let library = library();
        let in_child = || {
            let init = library.init();
            u8::from(!library.forked() && init == CUresult::CUDA_ERROR_NO_DEVICE && !library.forked())
        };
        assert_eq!(fork(in_child), 1, "a child may initialize what its parent only loaded");
        assert!(!library.forked());
        assert_eq!(library.init(), CUresult::CUDA_ERROR_NO_DEVICE, "and so may the parent afterwards");
    });
}
