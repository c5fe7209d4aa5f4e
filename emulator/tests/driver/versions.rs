//! The emulator posing as a driver of each version: what holds of every real driver holds of it.
#[path = "../../../sys/tests/common/checks.rs"]
mod checks;

use crate::processes::{self as common, in_child};
use cuprum_sys::{CUresult, Library, Version};

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
                // SAFETY: the emulator gives functions with the ABI of their names.
                let per_thread =
                    unsafe { options.from_resolver("emulator", cuprum_emulator::resolve) }.unwrap();
                checks::check(library, per_thread, &[], CUresult::CUDA_SUCCESS);
            },
        );
    }
}
