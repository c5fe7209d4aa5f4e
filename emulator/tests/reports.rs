//! Misuse, findings of checks and leaks are reported once with their line, and end nothing.
//!
//! A separate program, because the hook and the settings belong to the process.

use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use std::cell::RefCell;
use std::sync::{Mutex, Once, PoisonError};

use cuprum_emulator::report::{FaultKind, Misuse};
use cuprum_emulator::{ApiCheck, Message, Settings, last_fault, leaks, set_message_hook};
use cuprum_sys::*;
use cuprum_testing::driver_calls::*;

const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const INVALID_HANDLE: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;

static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());
thread_local! {
    /// Misuse by calls of this thread. Parallel tests misuse the API, too.
    static MISUSES: RefCell<Vec<Misuse>> = const { RefCell::new(Vec::new()) };
}

/// Returns the messages that contain this text. Parallel tests search for their own words.
fn heard(part: &str) -> Vec<String> {
    let heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
    heard.iter().filter(|text| text.contains(part)).cloned().collect()
}

/// Runs calls that misuse the API in this thread and function. Returns the reports about them.
fn misuses_of(calls: impl FnOnce()) -> Vec<Misuse> {
    let before = MISUSES.with_borrow(Vec::len);
    calls();
    MISUSES.with_borrow_mut(|list| list.split_off(before))
}

fn start() {
    static START: Once = Once::new();
    START.call_once(|| {
        let checks = Settings::default().check_races(true).check_init(true).check_leaks(true);
        let settings = checks.check_api(ApiCheck::All).fail_fast(false);
        settings.install().expect("the first use");
        set_message_hook(|message: &Message<'_>| {
            if let Message::Misuse(misuse) = message {
                MISUSES.with_borrow_mut(|list| list.push((*misuse).clone()));
            }
            HEARD.lock().unwrap_or_else(PoisonError::into_inner).push(message.to_string());
        });
    });
}

fn load(ptx: &str, name: &CStr) -> CUfunction {
    let text = std::ffi::CString::new(ptx).unwrap();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    let mut function = CUfunction::null();
    ok!(cuModuleGetFunction(&mut function, module, name.as_ptr()));
    function
}

fn launch(function: CUfunction, threads: u32, stream: CUstream, params: &mut [u64]) -> CUresult {
    let mut params: Vec<*mut c_void> = params.iter_mut().map(|value| (&raw mut *value).cast()).collect();
    code!(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, stream, params.as_mut_ptr(), null_mut()))
}

const EMPTY: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .visible .entry empty()\n.maxntid 64, 1, 1\n{\nret;\n}\n";

/// All threads write their number to one address, and read two uninitialized ones.
const WRONG: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .visible .entry wrong(.param .u64 out)\n{\n.reg .b64 %rd;\n.reg .b32 %r<4>;\n.shared .align 4 .b8 s[8];\n\
    ld.param.u64 %rd, [out];\nmov.u32 %r0, %tid.x;\nst.global.u32 [%rd], %r0;\n\
    ld.shared.u32 %r1, [s];\nld.shared.u32 %r2, [s+4];\nst.global.u32 [%rd+4], 7;\nret;\n}\n";

/// Checks that a call with this code gets one report with these words and the call site. The
/// emulator's tests are compiled without line numbers, so functions are checked instead;
/// `cli/tests/cli/found.rs` checks lines. Not inlined, because the test harness's own functions
/// could be the only ones left.
#[track_caller]
#[inline(never)]
fn assert_misuse(code: CUresult, words: &[&str], call: impl Fn() -> CUresult) {
    let reports = misuses_of(|| assert_eq!(call(), code, "{words:?}"));
    let [report] = &*reports else { panic!("{words:?}: {reports:?}") };
    let text = report.to_string();
    assert!(words.iter().all(|word| text.contains(word)), "{words:?}: {text}");
    let first = report.frames.first().map_or("", |frame| &frame.function);
    assert!(first.starts_with("reports::") || !cfg!(target_os = "linux"), "{text}");
}

#[test]
fn misuse_of_memory_is_reported() {
    start();
    let _context = TestContext::new();
    let (memory, freed) = (alloc(4000), alloc(64));
    let mut host = [0u8; 5000];
    let bytes = host.as_mut_ptr().cast::<c_void>();
    ok!(cuMemFree_v2(freed));
    let words = ["misuse of cuMemFree, which answers CUDA_ERROR_INVALID_VALUE", "already freed"];
    assert_misuse(INVALID_VALUE, &words, || code!(cuMemFree_v2(freed)));
    let words = ["8 bytes into allocation #", "does not free"];
    assert_misuse(INVALID_VALUE, &words, || code!(cuMemFree_v2(memory + 8)));
    let words = ["5000 bytes from there reach 1000 bytes past its end", "(4000 bytes of"];
    assert_misuse(INVALID_VALUE, &words, || code!(cuMemcpyHtoD_v2(memory, bytes, 5000)));
    let words = ["reach 1 bytes past its end"];
    assert_misuse(INVALID_VALUE, &words, || code!(cuMemcpyDtoH_v2(bytes, memory + 3991, 10)));
    assert_misuse(INVALID_VALUE, &["already freed"], || code!(cuMemcpyDtoH_v2(bytes, freed, 4)));
    assert_misuse(INVALID_VALUE, &["the address is null"], || code!(cuMemsetD8_v2(0, 1, 4)));
    let half = |address: u64| address & 0xffff_ffff;
    assert!(half(memory) > 1 << 24, "no small number: {memory:#x}");
    let words = ["it was cut to 32 bits", "8 bytes into allocation #"];
    assert_misuse(INVALID_VALUE, &words, || code!(cuMemcpyHtoD_v2(half(memory + 8), bytes, 4)));
    let words = ["it was cut to 32 bits", " is allocation #"];
    assert_misuse(INVALID_VALUE, &words, || code!(cuMemFree_v2(half(memory))));
    let words = ["misuse of cuMemFreeAsync", "already freed"];
    assert_misuse(INVALID_VALUE, &words, || code!(cuMemFreeAsync(freed, CUstream::null())));
}

#[test]
fn impossible_launches_are_reported() {
    start();
    let _context = TestContext::new();
    let function = load(EMPTY, c"empty");
    let one = |grid: u32, block: u32, shared: u32| {
        let (stream, none) = (CUstream::null(), null_mut());
        code!(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, none, none))
    };
    assert_misuse(INVALID_VALUE, &["kernel `empty` in a grid of [0, 1, 1] blocks"], || one(0, 1, 0));
    assert_misuse(INVALID_VALUE, &["kernel `empty` in blocks of [2048, 1, 1] threads"], || one(1, 2048, 0));
    let words = ["in blocks of 128 threads, where it takes at most 64"];
    assert_misuse(INVALID_VALUE, &words, || one(1, 128, 0));
    let words = ["60000 bytes of dynamic shared memory", "MAX_DYNAMIC_SHARED_SIZE_BYTES"];
    assert_misuse(INVALID_VALUE, &words, || one(1, 1, 60_000));
}

#[test]
fn destroyed_handles_and_those_of_other_contexts_are_reported() {
    start();
    let context = TestContext::new();
    let (gone, event_gone) = (stream(0), event(0));
    ok!(cuStreamDestroy_v2(gone));
    ok!(cuEventDestroy_v2(event_gone));
    let words = ["event #", "was destroyed before by cuEventDestroy"];
    let destroyed = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
    assert_misuse(destroyed, &words, || code!(cuEventRecord(event_gone, CUstream::null())));
    let words = ["stream #", "was destroyed before by cuStreamDestroy"];
    let code = code!(cuStreamSynchronize(gone));
    assert_misuse(code, &words, || code!(cuStreamDestroy_v2(gone)));

    let (function, recorded) = (load(EMPTY, c"empty"), event(0));
    let other = TestContext::new();
    let elsewhere = stream(0);
    let words = ["kernel `empty` is of context #", "and the stream of context #"];
    assert_misuse(INVALID_HANDLE, &words, || launch(function, 1, elsewhere, &mut []));
    let words = ["event #", "and the stream of context #"];
    assert_misuse(INVALID_HANDLE, &words, || code!(cuEventRecord(recorded, elsewhere)));
    drop((other, context));
}

#[test]
fn a_place_is_reported_once() {
    start();
    let _context = TestContext::new();
    let freed = alloc(64);
    ok!(cuMemFree_v2(freed));
    let reports = misuses_of(|| {
        for _ in 0..core::hint::black_box(5) {
            free_in_vain(freed);
        }
        assert_eq!(code!(cuMemFree_v2(freed)), INVALID_VALUE);
    });
    let wanted = if cfg!(target_os = "linux") { 2 } else { 1 };
    assert!((1..=wanted).contains(&reports.len()), "at most two places: {reports:?}");
    let first = reports[0].frames.first().map(|frame| frame.function.as_str());
    assert!(first == Some("reports::free_in_vain") || !cfg!(target_os = "linux"), "{reports:?}");
}

#[inline(never)]
fn free_in_vain(address: u64) {
    assert_eq!(code!(cuMemFree_v2(address)), INVALID_VALUE);
}

/// Programs make queries that return errors, and clean up after their context has ended.
#[test]
fn questions_and_late_cleaning_are_no_misuse() {
    start();
    let reports = misuses_of(|| {
        let context = TestContext::new();
        let (memory, mut kind, mut count) = (alloc(64), 0u32, 0);
        let host = &raw mut kind;
        let kind_of = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        assert_eq!(code!(cuPointerGetAttribute(host.cast(), kind_of, host.addr() as u64)), INVALID_VALUE);
        ok!(cuMemFree_v2(0));
        let mut function = CUfunction::null();
        let mut module = CUmodule::null();
        ok!(cuModuleLoadData(&mut module, std::ffi::CString::new(EMPTY).unwrap().as_ptr().cast()));
        let absent = CUresult::CUDA_ERROR_NOT_FOUND;
        assert_eq!(code!(cuModuleGetFunction(&mut function, module, c"absent".as_ptr())), absent);
        assert_ne!(code!(cuMemHostUnregister(host.cast())), CUresult::CUDA_SUCCESS);
        assert_eq!(code!(cuMemFreeHost(host.cast())), INVALID_VALUE);
        assert_ne!(code!(cuDeviceGet(&mut count, 99)), CUresult::CUDA_SUCCESS);
        let (made, recorded) = (stream(0), event(0));
        ok!(cuCtxDestroy_v2(context.0));
        core::mem::forget(context);
        let _next = TestContext::new();
        assert_ne!(code!(cuMemFree_v2(memory)), CUresult::CUDA_SUCCESS);
        assert_ne!(code!(cuStreamDestroy_v2(made)), CUresult::CUDA_SUCCESS);
        assert_ne!(code!(cuEventDestroy_v2(recorded)), CUresult::CUDA_SUCCESS);
        assert_ne!(code!(cuModuleUnload(module)), CUresult::CUDA_SUCCESS);
    });
    assert_eq!(reports, []);
}

#[test]
fn a_launch_goes_on_with_its_findings_and_each_line_is_told_once() {
    start();
    let _context = TestContext::new();
    let out = alloc(8);
    let function = load(&WRONG.replace("wrong", "goes_on"), c"goes_on");
    for _ in 0..3 {
        assert_eq!(launch(function, 64, CUstream::null(), &mut [out]), CUresult::CUDA_SUCCESS);
        ok!(cuCtxSynchronize());
    }
    assert_eq!(read::<u32>(out, 2)[1], 7, "what comes after the findings ran");
    let told = heard("in kernel `goes_on`");
    let lines: Vec<&str> = told.iter().map(|text| text.lines().next().unwrap()).collect();
    let expected = ["write after write", "read of uninitialized memory", "read of uninitialized memory"];
    assert_eq!(lines.len(), expected.len(), "{told:?}");
    assert!(lines.iter().zip(expected).all(|(line, words)| line.contains(words)), "{lines:?}");
    assert!(told[0].contains("earlier store: block (0,0,0), thread (0,0,0), PTX line 11"), "{}", told[0]);
    assert!(told[1].contains("load of 4 bytes at 0x0 (shared memory)"), "{}", told[1]);
}

/// An address that lost its upper half ends the context, as on hardware, and is reported.
#[test]
fn a_kernel_that_gets_half_of_an_address_is_told_so() {
    start();
    let context = TestContext::new();
    let out = alloc(4096);
    let function = load(&WRONG.replace("wrong", "half"), c"half");
    let half = [(out + 512) & 0xffff_ffff];
    assert_eq!(launch(function, 1, CUstream::null(), &mut half.clone()), CUresult::CUDA_SUCCESS);
    assert_eq!(code!(cuCtxSynchronize()), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    let told = heard("in kernel `half`");
    assert_eq!(told.len(), 1);
    let words = format!("access at the lower half of the address {:#x}, cut to 32 bits", out + 512);
    assert!(told[0].contains(&words) && told[0].contains("512 bytes into allocation #"), "{}", told[0]);
    assert_eq!(last_fault().unwrap().kind, FaultKind::TruncatedAddress(out + 512));
    drop(context);
}

#[cfg(target_os = "linux")]
#[test]
fn leaks_name_the_place_of_their_allocation() {
    start();
    let context = TestContext::new();
    assert_ne!(alloc_here(4321), 0);
    stream(0);
    drop(context);
    let all = leaks();
    let leak = all.iter().find(|leak| leak.bytes == Some(4321)).expect("a leak");
    assert!(leak.frames.iter().any(|frame| frame.function == "reports::alloc_here"), "{leak}");
    assert!(all.iter().filter(|leak| leak.context > 0).all(|leak| !leak.frames.is_empty()), "{all:?}");
    let told = heard("(4321 bytes of device memory, from cuMemAlloc), never freed\n    at ");
    assert_eq!(told.len(), 1);
}

#[inline(never)]
fn alloc_here(bytes: usize) -> u64 {
    core::hint::black_box(alloc(bytes))
}

/// Runs in a child, whose last output is read.
#[test]
fn what_is_too_much_is_counted() {
    const THIS: &str = "what_is_too_much_is_counted";
    const KERNELS: usize = 1007;
    if std::env::var_os("TOO_MUCH").is_none() {
        let mut child = cuprum_testing::processes::itself();
        let output = child.args(["--exact", THIS, "--nocapture"]).env("TOO_MUCH", "1").output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
        assert_eq!(told.matches("read of uninitialized memory in kernel").count(), 1000);
        assert!(
            told.ends_with("7 more findings of checks were not reported: the first 1000 were\n"),
            "{told}"
        );
        return;
    }
    Settings::default().check_init(true).fail_fast(false).install().unwrap();
    set_message_hook(|message: &Message<'_>| eprintln!("{message}"));
    let _context = TestContext::new();
    let mut ptx = ".version 8.0\n.target sm_90\n.address_size 64\n".to_owned();
    for kernel in 0..KERNELS {
        ptx += &format!(
            ".visible .entry k{kernel}()\n{{\n.reg .b32 %r;\n.shared .align 4 .b8 s{kernel}[4];\nld.shared.u32 %r, [s{kernel}];\nret;\n}}\n"
        );
    }
    let text = std::ffi::CString::new(ptx).unwrap();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    for kernel in 0..KERNELS {
        let name = std::ffi::CString::new(format!("k{kernel}")).unwrap();
        let mut function = CUfunction::null();
        ok!(cuModuleGetFunction(&mut function, module, name.as_ptr()));
        assert_eq!(launch(function, 1, CUstream::null(), &mut []), CUresult::CUDA_SUCCESS);
    }
    ok!(cuCtxSynchronize());
}
