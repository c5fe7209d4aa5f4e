//! The compiled mode is used where it should be.

use crate::control::{kernel, load};
use crate::device::{Args, Device, MODES};
use crate::recorded::Recording;
use cuprum_engine::exec::{Execution, has_machine_code};

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
            assert_eq!(
                has_machine_code(device.kernel(name), Execution::Compiled),
                cfg!(feature = "compile"),
                "{name}"
            );
        }
    }
}

/// Instructions that the plain mode runs do not keep a kernel from machine code.
#[test]
fn recorded_forms_across_lanes_have_machine_code() {
    let parts = ["mbarrier.", "cp.async.bulk", "mapa.", "shfl.", "mma.", "bar."];
    let mut counts = [0; 6];
    for form in &Recording::read().warp_forms {
        let device = Device::load(&form.kernel()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            has_machine_code(device.kernel("form"), Execution::Compiled),
            cfg!(feature = "compile"),
            "{}",
            form.text
        );
        counts.iter_mut().zip(parts).for_each(|(count, part)| *count += u32::from(form.text.contains(part)));
    }
    assert!(counts.iter().all(|count| *count > 5), "{counts:?}");
}

/// By default, rows run kernels of few steps for each access, and of which whole blocks wait in
/// loops.
#[test]
fn the_code_of_a_kernel_decides_its_mode() {
    for (file, name, chosen) in [
        ("corpus", "digest", true),
        ("corpus", "machine", true),
        ("corpus", "search", true),
        ("corpus", "count_global", true),
        ("corpus", "count_shared", true),
        ("corpus", "matmul_int", true),
        ("corpus", "compact", false),
        ("corpus", "relax", false),
        ("saxpy", "saxpy", true),
        ("saxpy", "saxpy_grid_stride", false),
        ("matmul_naive", "matmul_naive", true),
        ("matmul_tiled", "matmul_tiled", true),
        ("reduce_shared", "reduce_shared", false),
        ("reduce_shuffle", "reduce_shuffle", true),
        ("mandelbrot", "mandelbrot", true),
        ("nbody", "nbody", true),
    ] {
        let (device, _) = Device::load_file(file);
        let prefers = has_machine_code(device.kernel(name), Execution::Automatic);
        assert_eq!(prefers, chosen && cfg!(feature = "compile"), "{name}");
    }
}

/// Only large kernels have no code for quads.
#[test]
fn kernels_have_code_for_quads() {
    for (file, names) in [
        ("saxpy", &["saxpy", "saxpy_grid_stride"][..]),
        ("matmul_tiled", &["matmul_tiled"]),
        ("reduce_shuffle", &["reduce_shuffle"]),
        ("nbody", &["nbody"]),
        ("corpus", &["digest", "machine", "search", "count_global", "count_shared", "compact", "relax"]),
        ("corpus/grids", &["floyd", "stencil_3d", "convolve", "life", "levenshtein", "align", "smooth"]),
        ("corpus/numbers", &["xorshift", "philox", "black_scholes", "half_product", "fft", "spheres"]),
        ("corpus/parting", &["queens", "bfs", "collatz", "pick", "quicksort", "tree_sum", "dispatch"]),
        ("corpus/tables", &["add_doubles", "count_keys", "unite", "crc", "unpack", "mix_digest", "gather4"]),
        ("corpus/warps", &["segmented_scan", "block_prefix", "radix_pass", "csr_warp", "tile_sum"]),
        ("clients/triton_matmul_half", &["triton_matmul_half"]),
    ] {
        let (device, _) = Device::load_file(file);
        for name in names {
            let has = has_machine_code(device.kernel(name), Execution::Quads);
            assert_eq!(has, cfg!(all(feature = "compile", target_arch = "x86_64")), "{name}");
        }
    }
}

/// The count of instructions shows which mode ran: machine code counts only instructions of loops.
#[test]
fn a_kernel_is_compiled_after_it_has_run_for_a_while() {
    let body = "mov.u64 %x0, mine; mov.u32 %d, 0;
        L: mul.wide.u32 %x1, %d, 4; add.u64 %x1, %x0, %x1; st.local.u32 [%x1], %t; add.u32 %d, %d, 1;
        setp.lt.u32 %p, %d, 16; @%p bra L; add.u32 %d, %d, %t;";
    let text = kernel(&format!(".local .align 4 .b8 mine[64]; {body}"));
    for (mode, changes) in [
        (Execution::Automatic, cfg!(feature = "compile")),
        (Execution::Vector, false),
        (Execution::Compiled, false),
        (Execution::Quads, false),
        (Execution::Octets, false),
        (Execution::Warps, false),
    ] {
        let mut device = load(&text);
        device.options.mode = mode;
        let launch = |blocks: u32| {
            let out = device.buffer(&[0u32; 32]);
            let stats = device.launch("k", blocks, 32, &Args::default().buffer(&out)).unwrap();
            assert_eq!(out.read::<u32>(), (16..48).collect::<Vec<_>>(), "{mode:?}");
            stats.instructions
        };
        let [first, second] = [launch(1), launch(1)];
        launch(2000);
        let [third, fourth] = [launch(1), launch(1)];
        let changed = (first != second, second != third, third != fourth);
        assert_eq!(changed, (false, changes, false), "{mode:?}");
    }
}

/// The launch changes to machine code after 2 ms, so it counts fewer instructions than on rows.
#[test]
fn a_long_first_launch_changes_to_machine_code() {
    let body = "mov.u64 %x0, mine; mov.u32 %d, 0;
        L: mul.wide.u32 %x1, %d, 4; add.u64 %x1, %x0, %x1; st.local.u32 [%x1], %t; add.u32 %d, %d, 1;
        setp.lt.u32 %p, %d, 16; @%p bra L; add.u32 %d, %d, %t;";
    let text = kernel(&format!(".local .align 4 .b8 mine[64]; {body}"));
    let blocks = 60_000;
    let launch = |mode| {
        let mut device = load(&text);
        device.options.mode = mode;
        let out = device.buffer(&[0u32; 32]);
        let stats = device.launch("k", blocks, 32, &Args::default().buffer(&out)).unwrap();
        assert_eq!(out.read::<u32>(), (16..48).collect::<Vec<_>>(), "{mode:?}");
        stats
    };
    let (rows, changing) = (launch(Execution::Vector), launch(Execution::Automatic));
    assert_eq!((rows.blocks, changing.blocks), (u64::from(blocks), u64::from(blocks)));
    assert_eq!(changing.instructions < rows.instructions, cfg!(feature = "compile"));
}

/// Large kernels would take long to compile.
#[test]
fn a_kernel_of_more_than_20_000_instructions_stays_on_rows() {
    for (count, compiled) in [(2_000, true), (20_001, false)] {
        let device = load(&kernel(&"add.u32 %d, %d, %t;".repeat(count)));
        assert_eq!(
            has_machine_code(device.kernel("k"), Execution::Compiled),
            compiled && cfg!(feature = "compile"),
            "{count}"
        );
    }
}

/// Functions have machine code too.
#[test]
fn functions_have_machine_code() {
    let function = ".func (.param .b32 r) f(.param .b32 x) { .reg .b32 %x; ld.param.u32 %x, [x];
        add.u32 %x, %x, 1; st.param.b32 [r], %x; ret; }";
    let body =
        "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %t; call (r), f, (a); ld.param.b32 %d, [r]; }";
    let mut device = load(&format!("{function} {}", kernel(body)));
    assert_eq!(has_machine_code(device.kernel("k"), Execution::Compiled), cfg!(feature = "compile"));
    for mode in MODES {
        device.options.mode = mode;
        let out = device.buffer(&[0u32; 32]);
        device.launch("k", 1, 32, &Args::default().buffer(&out)).unwrap();
        assert_eq!(out.read::<u32>(), (1..33).collect::<Vec<_>>(), "{mode:?}");
    }
}

/// Lanes poll for a lane of their warp whose code comes later, or earlier, with an instruction in
/// the loop that the compiled mode leaves to the plain mode, or with none.
#[test]
fn lanes_that_poll_let_another_of_their_warp_run() {
    let poll =
        "POLL: ld.relaxed.gpu.global.u32 %d, [flag]; {} setp.eq.u32 %p, %d, 0; @%p bra POLL; bra STORE;";
    let tell = "TELL: activemask.b32 %w1; st.relaxed.gpu.global.u32 [flag], 7; mov.u32 %d, 7; bra STORE;";
    for inside in [
        "",
        "activemask.b32 %w1;",
        "mov.u32 %w1, %clock; add.u32 %w2, %w2, %w1;",
        "vote.sync.any.pred %q, %p, %w3;",
    ] {
        for order in [[poll, tell], [tell, poll]] {
            let begin = "setp.eq.u32 %p, %t, 9; mov.u32 %w3, 0xfffffdff; @%p bra TELL; bra POLL;";
            let body = format!("{begin} {}", order.concat().replace("{}", inside));
            let text = format!(".global .u32 flag; {}", kernel(&body));
            for mode in MODES {
                let mut device = load(&text);
                device.options.mode = mode;
                device.options.budget = Some(10_000_000);
                let out = device.buffer(&[0u32; 32]);
                let launched = device.launch("k", 1, 32, &Args::default().buffer(&out));
                launched.unwrap_or_else(|fault| panic!("{mode:?}, {inside}: {fault}"));
                assert_eq!(out.read::<u32>(), [7; 32], "{mode:?}, {inside}");
            }
        }
    }
}
