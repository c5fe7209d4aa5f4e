//! The driver's checks: settings in code and in the environment. Context leaks are always known.

use core::ffi::{CStr, c_void};
use core::ptr::null_mut;

use cuprum_emulator::report::{Fault, FaultKind, Hazard, LeakKind};
use cuprum_emulator::{Message, alive, last_fault, leaks};
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;
use cuprum_testing::processes::{in_child, itself};

/// Launches a kernel of `kernels/NAME.ptx` with two blocks of 64 threads on buffers of 129 equal
/// elements, the last of which is uninitialized. Returns the code of the wait for it.
fn run(file: &str, kernel: &CStr, buffers: &[u32], last: Option<u32>) -> CUresult {
    let path = format!("{}/../kernels/{file}.ptx", env!("CARGO_MANIFEST_DIR"));
    run_text(std::fs::read(path).unwrap(), kernel, buffers, last)
}

fn run_text(ptx: Vec<u8>, kernel: &CStr, buffers: &[u32], last: Option<u32>) -> CUresult {
    let text = std::ffi::CString::new(ptx).unwrap();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    let mut function = CUfunction::null();
    ok!(cuModuleGetFunction(&mut function, module, kernel.as_ptr()));
    let mut addresses: Vec<CUdeviceptr> = buffers
        .iter()
        .map(|value| {
            let buffer = alloc(4 * 129);
            write(buffer, &[*value; 128]);
            buffer
        })
        .collect();
    let mut last = last.unwrap_or_default();
    let mut params: Vec<*mut c_void> =
        addresses.iter_mut().map(|address| (&raw mut *address).cast()).collect();
    params.push((&raw mut last).cast());
    let stream = CUstream::null();
    let (params, no_extra) = (params.as_mut_ptr(), null_mut());
    ok!(cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, stream, params, no_extra));
    code!(cuCtxSynchronize())
}

fn fault() -> Fault {
    last_fault().expect("a kernel went wrong")
}

#[test]
fn each_check_is_off_unless_its_variable_asks_for_it() {
    let failed = CUresult::CUDA_ERROR_LAUNCH_FAILED;
    let cases: [(&str, &CStr, &[u32], u32, FaultKind); 6] = [
        ("INITCHECK", c"uninitialized_global", &[1, 0], 128, FaultKind::UninitializedRead),
        ("INITCHECK", c"uninitialized_shared", &[0], 0, FaultKind::UninitializedRead),
        ("INITCHECK", c"uninitialized_local", &[0], 32, FaultKind::UninitializedRead),
        ("RACECHECK", c"race_waw", &[0], 0, FaultKind::Race(Hazard::WriteAfterWrite)),
        ("RACECHECK", c"race_global", &[0], 0, FaultKind::Race(Hazard::WriteAfterRead)),
        ("SYNCCHECK", c"divergent_barrier", &[0], 0, FaultKind::BarrierDivergence),
    ];
    for check in ["", "INITCHECK", "RACECHECK", "SYNCCHECK"] {
        let variable = format!("CUPRUM_EMULATOR_{check}");
        in_child("checks::each_check_is_off_unless_its_variable_asks_for_it", &[(&variable, "1")], || {
            for (wanted, kernel, buffers, last, kind) in &cases {
                let _context = TestContext::new();
                let expected = if *wanted == check { failed } else { CUresult::CUDA_SUCCESS };
                assert_eq!(run("bugs", kernel, buffers, Some(*last)), expected, "{kernel:?} with {check}");
                if *wanted == check {
                    assert_eq!(fault().kind, *kind, "{kernel:?}");
                }
                let _context = TestContext::new();
                let corrected =
                    std::ffi::CString::new(format!("{}_fixed", kernel.to_str().unwrap())).unwrap();
                assert_eq!(
                    run("bugs", &corrected, buffers, Some(*last)),
                    CUresult::CUDA_SUCCESS,
                    "{corrected:?} with {check}"
                );
            }
        });
    }
}

#[test]
fn endless_kernels_end_with_the_budget_or_the_time() {
    for variable in [("CUPRUM_EMULATOR_BUDGET", "1000000"), ("CUPRUM_EMULATOR_TIME_LIMIT", "0.5")] {
        in_child("checks::endless_kernels_end_with_the_budget_or_the_time", &[variable], || {
            let _context = TestContext::new();
            assert_eq!(run("faults", c"spin", &[1], None), CUresult::CUDA_SUCCESS);
            assert_eq!(run("faults", c"spin", &[0], None), CUresult::CUDA_ERROR_LAUNCH_TIMEOUT);
            let fault = fault();
            assert_eq!(fault.kind, FaultKind::Timeout);
            assert!(fault.related.iter().all(|place| place.ptx_line != 0), "{fault}");
            assert_eq!(fault.related.len(), 2, "two warps: {fault}");
        });
    }
}

#[test]
fn execution_seed_and_workers_change_how_and_not_what() {
    for variables in [
        [("CUPRUM_EMULATOR_EXECUTION", "plain"), ("CUPRUM_EMULATOR_WORKERS", "1")],
        [("CUPRUM_EMULATOR_SEED", "7"), ("CUPRUM_EMULATOR_WORKERS", "3")],
    ] {
        in_child("checks::execution_seed_and_workers_change_how_and_not_what", &variables, || {
            let _context = TestContext::new();
            assert_eq!(run("bugs", c"race_shared_fixed", &[5, 0], None), CUresult::CUDA_SUCCESS);
        });
    }
}

/// Returns the hook's messages in a child that runs one test with these environment variables.
fn told(test: &str, variables: &[(&str, &str)]) -> String {
    let output = itself()
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env("TOLD_TO", "standard error")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

/// True in the child, whose hook then writes messages to standard error.
fn is_child() -> bool {
    let child = std::env::var_os("TOLD_TO").is_some();
    if child {
        cuprum_emulator::set_message_hook(|message: &Message<'_>| eprintln!("{message}"));
    }
    child
}

#[test]
fn what_contexts_leave_behind_is_known() {
    const THIS: &str = "checks::what_contexts_leave_behind_is_known";
    if !is_child() {
        let ended = "5 leaks\n  \
                     allocation #2 (4000 bytes of device memory, from cuMemAlloc), never freed\n  \
                     allocation #4 (100 bytes of pinned host memory, from cuMemAllocHost), never freed\n  \
                     stream #2 (from cuStreamCreate), never destroyed\n  \
                     event #1 (from cuEventCreate), never destroyed\n  \
                     module #1 (from cuModuleLoadData), never unloaded\n";
        let left = "held until the process ended (caches, or leaks of contexts that it never ended): 2\n  \
                    allocation #6 (8 bytes of device memory, from cuMemAlloc), never freed\n  \
                    graph #1 (from cuGraphCreate), never destroyed\n";
        let said = told(THIS, &[("CUPRUM_EMULATOR_LEAKCHECK", "1")]);
        let is_place = |line: &&str| line.starts_with("    at ");
        let objects: Vec<&str> = said.lines().filter(|line| !is_place(line)).collect();
        assert_eq!(objects.join("\n") + "\n", format!("{ended}{left}"));
        assert!(said.lines().filter(is_place).count() >= 7 || !cfg!(target_os = "linux"), "one each: {said}");
        assert_eq!(told(THIS, &[]), "");
        return;
    }
    let mut context = CUcontext::null();
    ok!(cuInit(0));
    ok!(cuCtxCreate_v2(&mut context, 0, 0));
    let freed = alloc(1);
    alloc(4000);
    ok!(cuMemFree_v2(freed));
    let pitched_and_freed = alloc(64);
    let mut pinned = null_mut();
    ok!(cuMemAllocHost_v2(&mut pinned, 100));
    ok!(cuMemFree_v2(pitched_and_freed));
    ok!(cuStreamDestroy_v2(stream(0)));
    stream(0);
    event(0);
    let ptx = c".version 7.0\n.target sm_50\n.address_size 64\n.visible .global .u32 variable;\n";
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&mut module, ptx.as_ptr().cast()));
    assert_eq!(alive().len(), 6, "the context too: {:?}", alive());
    assert!(leaks().is_empty());
    ok!(cuCtxDestroy_v2(context));
    let kinds: Vec<LeakKind> = leaks().iter().map(|leak| leak.kind).collect();
    assert_eq!(kinds[2..], [LeakKind::Stream, LeakKind::Event, LeakKind::Module]);
    assert!(leaks().iter().all(|leak| leak.context == 1));
    assert!(alive().is_empty());

    // Objects of a primary context, or without a context, are reported at the end of the process.
    ok!(cuDevicePrimaryCtxRetain(&mut context, 0));
    ok!(cuCtxSetCurrent(context));
    alloc(8);
    let mut graph = CUgraph::null();
    ok!(cuGraphCreate(&mut graph, 0));
    assert_eq!(alive().len(), 2);
}

#[test]
fn a_primary_context_leaks_when_its_last_user_leaves_it_or_resets_it() {
    in_child("checks::a_primary_context_leaks_when_its_last_user_leaves_it_or_resets_it", &[], || {
        let mut context = CUcontext::null();
        ok!(cuInit(0));
        for ends in 0..2usize {
            ok!(cuDevicePrimaryCtxRetain(&mut context, 0));
            ok!(cuDevicePrimaryCtxRetain(&mut context, 0));
            ok!(cuCtxSetCurrent(context));
            alloc(16);
            ok!(cuDevicePrimaryCtxRelease_v2(0));
            assert_eq!(leaks().len(), ends, "somebody still uses the context");
            match ends {
                0 => ok!(cuDevicePrimaryCtxRelease_v2(0)),
                _ => ok!(cuDevicePrimaryCtxReset_v2(0)),
            }
            assert_eq!(leaks().len(), ends + 1);
        }
    });
}

#[test]
fn a_context_with_a_fault_is_not_blamed_for_what_it_can_no_longer_free() {
    in_child("checks::a_context_with_a_fault_is_not_blamed_for_what_it_can_no_longer_free", &[], || {
        let context = TestContext::new();
        assert_eq!(run("faults", c"null_write", &[], None), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        alive();
        drop(context);
        assert!(leaks().is_empty());
    });
}

#[test]
fn faults_are_told_once_unless_the_settings_say_no() {
    const THIS: &str = "checks::faults_are_told_once_unless_the_settings_say_no";
    if !is_child() {
        let report = told(THIS, &[]);
        assert_eq!(report.matches("null pointer access in kernel `null_write`").count(), 1, "{report}");
        assert_eq!(told(THIS, &[("CUPRUM_EMULATOR_REPORTS", "0")]), "");
        return;
    }
    let _context = TestContext::new();
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_eq!(run("faults", c"null_write", &[], None), code);
    assert_eq!(code!(cuCtxSynchronize()), code);
    assert_eq!(fault().kind, FaultKind::NullPointer);
}

#[test]
fn a_report_names_the_call_that_allocated() {
    in_child("checks::a_report_names_the_call_that_allocated", &[], || {
        let _context = TestContext::new();
        let code = run("faults", c"misaligned_write", &[0], None);
        assert_eq!(code, CUresult::CUDA_ERROR_MISALIGNED_ADDRESS);
        let text = fault().to_string();
        assert!(text.ends_with(" (516 bytes of device memory, from cuMemAlloc)"), "{text}");
    });
}

#[test]
fn a_nan_that_a_kernel_makes_and_stores_is_found_if_its_variable_asks_for_it() {
    let ptx = ".version 8.0\n.target sm_90\n.address_size 64\n\
        .visible .entry root(.param .u64 x)\n{\n.reg .b64 %rd;\n.reg .f32 %f;\nld.param.u64 %rd, [x];\n\
        ld.global.f32 %f, [%rd];\nsqrt.rn.f32 %f, %f;\nst.global.f32 [%rd], %f;\nret;\n}\n";
    let root = |x: f32| {
        let _context = TestContext::new();
        run_text(ptx.into(), c"root", &[x.to_bits()], None)
    };
    for (value, expected) in [("0", CUresult::CUDA_SUCCESS), ("1", CUresult::CUDA_ERROR_LAUNCH_FAILED)] {
        let test = "checks::a_nan_that_a_kernel_makes_and_stores_is_found_if_its_variable_asks_for_it";
        in_child(test, &[("CUPRUM_EMULATOR_NANCHECK", value)], || {
            assert_eq!(root(2.0), CUresult::CUDA_SUCCESS);
            assert_eq!(root(f32::NAN), CUresult::CUDA_SUCCESS, "not made here");
            assert_eq!(root(-2.0), expected);
            if value == "1" {
                assert_eq!(fault().kind, FaultKind::NanMade);
                assert_eq!(fault().related[0].note, "made of -2.0");
                assert_eq!(fault().related[0].ptx_line, 10);
            }
        });
    }
}

#[test]
fn grids_that_wait_for_each_other_pass_every_check() {
    let all = [
        ("CUPRUM_EMULATOR_INITCHECK", "1"),
        ("CUPRUM_EMULATOR_RACECHECK", "1"),
        ("CUPRUM_EMULATOR_SYNCCHECK", "1"),
        ("CUPRUM_EMULATOR_NANCHECK", "1"),
    ];
    in_child("checks::grids_that_wait_for_each_other_pass_every_check", &all, || {
        let _context = TestContext::new();
        for kernel in [c"race_last_block_fixed", c"race_lock_fixed", c"race_message_fixed"] {
            let ones_or_zeros: &[u32] =
                if kernel == c"race_last_block_fixed" { &[1, 0, 0, 0] } else { &[0, 0, 0] };
            assert_eq!(run("bugs", kernel, ones_or_zeros, None), CUresult::CUDA_SUCCESS, "{kernel:?}");
        }
    });
}
