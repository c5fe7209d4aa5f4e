//! The compiled mode is used where it should be.

use crate::device::Device;
use crate::recorded::Recording;
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

/// What the plain mode runs does not keep a kernel from machine code.
#[test]
fn recorded_forms_across_lanes_have_machine_code() {
    let parts = ["mbarrier.", "cp.async.bulk", "mapa.", "shfl.", "mma.", "bar."];
    let mut counts = [0; 6];
    for form in &Recording::read().warp_forms {
        let device = Device::load(&form.kernel()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(has_machine_code(device.kernel("form")), cfg!(feature = "compile"), "{}", form.text);
        counts.iter_mut().zip(parts).for_each(|(count, part)| *count += u32::from(form.text.contains(part)));
    }
    assert!(counts.iter().all(|count| *count > 5), "{counts:?}");
}
