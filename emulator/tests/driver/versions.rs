//! The emulator as a driver of each version has the properties of every real driver.

use cuprum_sys::{CUjitInputType, CUlinkState, CUmodule, CUresult, Library, Version};
use cuprum_testing::checks;
use cuprum_testing::driver_calls::{TestContext, fns, ok};
use cuprum_testing::processes::in_child;
use std::ptr::null_mut;

#[test]
fn of_each_version() {
    for (major, minor) in
        [(6, 5), (9, 1), (10, 1), (11, 4), (12, 2), (12, 4), (12, 5), (12, 9), (13, 0), (13, 5)]
    {
        let posed = Version::new(major, minor);
        in_child(
            "versions::of_each_version",
            &[("CUPRUM_EMULATOR_DRIVER_VERSION", &posed.to_string())],
            || {
                let library = cuprum_emulator::library();
                assert_eq!(library.version(), posed);
                let options = Library::options().per_thread_default_stream(true);
                // SAFETY: the emulator returns functions with the ABI of their names.
                let per_thread =
                    unsafe { options.from_resolver("emulator", cuprum_emulator::resolve) }.unwrap();
                checks::check(library, per_thread, &[], CUresult::CUDA_SUCCESS);
            },
        );
    }
}

/// The PTX parser and the table of drivers end at the same version.
#[test]
fn the_newest_driver_reads_all_that_the_reader_knows() {
    let newest = cuprum_sys::newest_ptx(Version::from_raw(u32::MAX));
    assert_eq!(newest, Some(cuprum_ptx::program::NEWEST_PTX));
}

/// A driver accepts PTX of its toolkit and older ones. All functions return 222 for newer PTX.
#[test]
fn newer_ptx_is_refused() {
    for (posed, newest, newer) in
        [("9.0", "6.0", "6.1"), ("12.2", "8.2", "8.3"), ("12.6", "8.5", "8.6"), ("13.0", "9.0", "9.5")]
    {
        in_child("versions::newer_ptx_is_refused", &[("CUPRUM_EMULATOR_DRIVER_VERSION", posed)], || {
            let fns = fns();
            let _context = TestContext::new();
            for (version, code) in [
                (newest, CUresult::CUDA_SUCCESS),
                (newer, CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION),
                ("9.9", CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION),
            ] {
                let text = format!(
                    ".version {version}\n.target sm_50\n.address_size 64\n.visible .entry k() {{ ret; }}\0"
                );
                let mut module = CUmodule::null();
                // SAFETY: a NUL-terminated text, and a valid output for the module.
                let loaded = unsafe { (fns.cuModuleLoadData)(&mut module, text.as_ptr().cast()) };
                assert_eq!(loaded, code, "PTX {version} on {posed}");
                let mut link = CUlinkState::null();
                ok!(cuLinkCreate_v2(0, null_mut(), null_mut(), &mut link));
                // SAFETY: a text of this length with a name.
                let added = unsafe {
                    (fns.cuLinkAddData_v2)(
                        link,
                        CUjitInputType::CU_JIT_INPUT_PTX,
                        text.as_ptr().cast_mut().cast(),
                        text.len(),
                        c"k".as_ptr(),
                        0,
                        null_mut(),
                        null_mut(),
                    )
                };
                assert_eq!(added, code, "PTX {version} on {posed}, linked");
                ok!(cuLinkDestroy(link));
            }
        });
    }
}
