//! The compiled mode is used where it should be.

use crate::device::Device;
use cuprum_engine::exec::has_machine_code;

#[test]
fn kernels_of_the_bench_have_machine_code() {
    for (file, kernels) in [
        ("saxpy", &["saxpy", "saxpy_grid_stride"][..]),
        ("matmul_tiled", &["matmul_tiled"]),
        ("reduce_shuffle", &["reduce_shuffle"]),
        ("nbody", &["nbody"]),
        ("corpus", &["count_global", "count_shared", "digest", "machine", "search", "compact", "relax"]),
    ] {
        let (device, _) = Device::load_file(file);
        for name in kernels {
            assert_eq!(has_machine_code(device.kernel(name)), cfg!(feature = "compile"), "{name}");
        }
    }
}
