//! Reports of host accesses to device addresses. Each case runs in a child, which the signal ends.

use core::ffi::{c_int, c_void};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread;

use crate::host_virtual::{for_the_host, give_the_host};
use cuprum_testing::driver_calls::*;
use cuprum_testing::processes::itself;

const CHILD: &str = "CUPRUM_TEST_HOST_ACCESS";
const SIGSEGV: c_int = 11;
/// Texts for reads and writes; AArch64 does not distinguish them.
const READ: &str = if cfg!(target_arch = "x86_64") { "the host read 0x" } else { "the host accessed 0x" };
const WROTE: &str =
    if cfg!(target_arch = "x86_64") { "the host wrote to 0x" } else { "the host accessed 0x" };
const SIGABRT: c_int = 6;
const SA_SIGINFO: c_int = 4;

unsafe extern "C" {
    fn signal(signal: c_int, handler: usize) -> usize;
    fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int;
    fn raise(signal: c_int) -> c_int;
    fn fork() -> c_int;
    fn waitpid(child: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

#[repr(C)]
struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

/// The end of a child: its code or signal, and its output.
struct End {
    code: Option<i32>,
    signal: Option<i32>,
    said: String,
}

/// Runs `body` in a child that runs only this test. Returns `None` in the child, if `body` returns.
fn ended(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Option<End> {
    if std::env::var_os(CHILD).is_some() {
        body();
        return None;
    }
    let mut child = itself();
    child.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    child.envs(variables.iter().copied()).stdin(Stdio::null());
    let output = child.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    Some(End { code: output.status.code(), signal: output.status.signal(), said })
}

/// Runs `body` in a child, which must end by a host access and report all of this about it.
#[track_caller]
fn dies_saying(test: &str, parts: &[&str], body: impl FnOnce()) {
    let Some(end) = ended(test, &[], body) else { panic!("it goes on after the access") };
    assert_eq!(end.signal, Some(SIGSEGV), "{}", end.said);
    for part in parts {
        assert!(end.said.contains(part), "`{part}` is not in: {}", end.said);
    }
    assert_eq!(end.said.matches("software CUDA device").count(), 1, "{}", end.said);
}

fn read_by_host(address: u64) -> u8 {
    // SAFETY: not host memory, so the child ends here, as intended.
    unsafe { core::ptr::with_exposed_provenance::<u8>(address as usize).read_volatile() }
}

fn write_by_host(address: u64) {
    // SAFETY: not host memory, so the child ends here, as intended.
    unsafe { core::ptr::with_exposed_provenance_mut::<u8>(address as usize).write_volatile(1) }
}

fn install(handler: usize, flags: c_int) {
    let action = Action { handler, mask: [0; 16], flags, restorer: 0 };
    // SAFETY: a handler of this test, of the type that the flags state.
    assert_eq!(unsafe { sigaction(SIGSEGV, &action, core::ptr::null_mut()) }, 0);
}

#[test]
fn a_read_of_device_memory_is_named() {
    let parts = [
        READ,
        "an address of the device",
        "16 bytes into allocation #1 (4000 bytes of device memory, from cuMemAlloc)",
        "cuMemcpyDtoH",
    ];
    dies_saying("host_access::a_read_of_device_memory_is_named", &parts, || {
        let _context = TestContext::new();
        read_by_host(alloc(4000) + 16);
    });
}

#[test]
fn a_write_past_the_end_on_another_thread_is_named() {
    let parts = [WROTE, "8 bytes past the end of allocation #1 (512 bytes of device memory"];
    dies_saying("host_access::a_write_past_the_end_on_another_thread_is_named", &parts, || {
        let _context = TestContext::new();
        let address = alloc(512);
        thread::spawn(move || write_by_host(address + 520)).join().unwrap();
    });
}

#[test]
fn freed_memory_is_named() {
    let parts = ["right past the end of allocation #2", "managed memory", "until it is freed"];
    // Beyond the page, which is the minimum that the host can get.
    dies_saying("host_access::freed_memory_is_named", &parts, || {
        let _context = TestContext::new();
        let first = alloc(64);
        ok!(cuMemFree_v2(first));
        let mut managed = 0;
        ok!(cuMemAllocManaged(&mut managed, 4096, 1));
        write_by_host(managed + 4095);
        read_by_host(managed + 4096);
    });
}

#[test]
fn page_locked_memory_is_named_after_it_was_freed() {
    let parts =
        ["0 bytes into allocation #1 (64 bytes of pinned host memory", "already freed)", "until it is freed"];
    dies_saying("host_access::page_locked_memory_is_named_after_it_was_freed", &parts, || {
        let _context = TestContext::new();
        let mut host = core::ptr::null_mut::<c_void>();
        ok!(cuMemAllocHost_v2(&mut host, 64));
        write_by_host(host.addr() as u64);
        ok!(cuMemFreeHost(host));
        read_by_host(host.addr() as u64);
    });
}

#[test]
fn mapped_memory_of_the_host_is_reached_as_its_access_says() {
    let parts =
        ["0 bytes into allocation #1 (2097152 bytes of mapped host memory", "given access to the host"];
    let test = "host_access::mapped_memory_of_the_host_is_reached_as_its_access_says";
    dies_saying(test, &parts, || {
        let _context = TestContext::new();
        let address = for_the_host();
        write_by_host(address);
        give_the_host(address, 1);
        assert_eq!(read_by_host(address), 1);
        give_the_host(address, 3);
        write_by_host(address + 1);
        let device = alloc(16);
        ok!(cuMemcpyDtoD_v2(device, address, 4));
        assert_eq!(read::<u8>(device, 2), [1, 1]);
        give_the_host(address, 1);
        write_by_host(address);
    });
}

#[test]
fn the_host_loses_access_to_mapped_memory() {
    dies_saying("host_access::the_host_loses_access_to_mapped_memory", &["mapped host memory"], || {
        let _context = TestContext::new();
        let address = for_the_host();
        write_by_host(address);
        give_the_host(address, 0);
        read_by_host(address);
    });
}

#[test]
fn the_host_loses_memory_that_is_unmapped() {
    dies_saying("host_access::the_host_loses_memory_that_is_unmapped", &["mapped host memory"], || {
        let _context = TestContext::new();
        let address = for_the_host();
        write_by_host(address);
        ok!(cuMemUnmap(address, 2 << 20));
        read_by_host(address);
    });
}

/// The state is locked nearly all the time then.
#[test]
fn it_is_named_while_others_allocate() {
    let parts = [READ, "an address of the device"];
    dies_saying("host_access::it_is_named_while_others_allocate", &parts, || {
        let context = TestContext::new();
        let (address, handle) = (alloc(64), context.0.0.addr());
        for _ in 0..2 {
            thread::spawn(move || {
                let context = cuprum_sys::CUcontext(core::ptr::without_provenance_mut(handle));
                ok!(cuCtxSetCurrent(context));
                loop {
                    let other = alloc(64);
                    ok!(cuMemFree_v2(other));
                }
            });
        }
        thread::sleep(core::time::Duration::from_millis(20));
        read_by_host(address);
    });
}

#[test]
fn other_faults_and_signals_end_as_ever() {
    const NAME: &str = "host_access::other_faults_and_signals_end_as_ever";
    for (case, expected) in [("null", SIGSEGV), ("raised", SIGSEGV), ("overflow", SIGABRT)] {
        let end = ended(NAME, &[("CUPRUM_TEST_CASE", case)], || {
            if std::env::var("CUPRUM_TEST_CASE").as_deref() == Ok("raised") {
                // SAFETY: the default, because Rust's handler continues after sent signals.
                unsafe { signal(SIGSEGV, 0) };
            }
            let _context = TestContext::new();
            alloc(64);
            match std::env::var("CUPRUM_TEST_CASE").as_deref() {
                Ok("null") => _ = read_by_host(8),
                // SAFETY: C's own function.
                Ok("raised") => _ = unsafe { raise(SIGSEGV) },
                _ => _ = overflow(&[0; 4096]),
            }
        });
        let Some(end) = end else { panic!("it goes on") };
        assert_eq!(end.signal, Some(expected), "{case}: {}", end.said);
        assert!(!end.said.contains("software CUDA device"), "{case}: {}", end.said);
        assert_eq!(end.said.contains("has overflowed its stack"), case == "overflow", "{}", end.said);
    }
}

#[expect(unconditional_recursion, reason = "the stack shall overflow")]
fn overflow(bytes: &[u8; 4096]) -> u8 {
    let mut more = *bytes;
    more[overflow(core::hint::black_box(&more)) as usize] = 1;
    overflow(core::hint::black_box(&more))
}

extern "C" fn with_one(signal: c_int) {
    // SAFETY: ends the child immediately.
    unsafe { _exit(40 + signal) }
}

extern "C" fn with_three(_signal: c_int, info: *const [u64; 3], context: *const c_void) {
    // SAFETY: passed by the system; the third word is the address.
    let address = unsafe { (*info)[2] };
    let is_right = address == EXPECTED.load(std::sync::atomic::Ordering::Relaxed) && !context.is_null();
    // SAFETY: as above.
    unsafe { _exit(if is_right { 60 } else { 61 }) }
}

static EXPECTED: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// The previous handlers are called with the arguments that they requested.
#[test]
fn handlers_that_were_there_are_called() {
    const NAME: &str = "host_access::handlers_that_were_there_are_called";
    for (case, code) in [("one", 51), ("three", 60)] {
        let end = ended(NAME, &[("CUPRUM_TEST_CASE", case)], || {
            if std::env::var("CUPRUM_TEST_CASE").as_deref() == Ok("one") {
                install(with_one as extern "C" fn(_) as usize, 0);
            } else {
                install(with_three as extern "C" fn(_, _, _) as usize, SA_SIGINFO);
            }
            let _context = TestContext::new();
            let address = alloc(64);
            EXPECTED.store(address, std::sync::atomic::Ordering::Relaxed);
            read_by_host(address);
        });
        let Some(end) = end else { panic!("it goes on") };
        assert_eq!(end.code, Some(code), "{case}: {:?} {}", end.signal, end.said);
        assert!(end.said.contains("0 bytes into allocation #1"), "{}", end.said);
    }
}

/// An ignored signal stays ignored when it is sent; a fault cannot be ignored.
#[test]
fn an_ignored_signal_stays_ignored() {
    let parts = ["0 bytes into allocation #1"];
    dies_saying("host_access::an_ignored_signal_stays_ignored", &parts, || {
        // SAFETY: ignores it.
        unsafe { signal(SIGSEGV, 1) };
        let _context = TestContext::new();
        let address = alloc(64);
        // SAFETY: C's own function.
        unsafe { raise(SIGSEGV) };
        eprintln!("still there");
        read_by_host(address);
    });
}

/// A later handler that passes the signal on by raising it again, like Python's.
#[test]
fn a_later_handler_may_raise_the_signal_again() {
    static PREVIOUS: std::sync::Mutex<Option<Action>> = std::sync::Mutex::new(None);
    extern "C" fn later(number: c_int) {
        if let Some(previous) = PREVIOUS.lock().unwrap().take() {
            // SAFETY: restores the previous action.
            unsafe { sigaction(number, &previous, core::ptr::null_mut()) };
        }
        // SAFETY: C's own function.
        unsafe { raise(number) };
    }
    const NODEFER: c_int = 0x4000_0000;
    let parts = ["0 bytes into allocation #1"];
    dies_saying("host_access::a_later_handler_may_raise_the_signal_again", &parts, || {
        // SAFETY: restores the default, so that the driver's handler passes the signal on to it.
        unsafe { signal(SIGSEGV, 0) };
        let _context = TestContext::new();
        let address = alloc(64);
        let ours = Action {
            handler: later as extern "C" fn(_) as usize,
            mask: [0; 16],
            flags: NODEFER,
            restorer: 0,
        };
        let mut previous = Action { handler: 0, mask: [0; 16], flags: 0, restorer: 0 };
        // SAFETY: a handler of this test's.
        unsafe { sigaction(SIGSEGV, &ours, &mut previous) };
        *PREVIOUS.lock().unwrap() = Some(previous);
        read_by_host(address);
    });
}

#[test]
fn it_is_named_in_a_forked_child() {
    let parts = ["0 bytes into allocation #1"];
    dies_saying("host_access::it_is_named_in_a_forked_child", &parts, || {
        let _context = TestContext::new();
        let address = alloc(64);
        // SAFETY: the child only performs the access.
        let child = unsafe { fork() };
        if child == 0 {
            read_by_host(address);
        }
        let mut status = 0;
        // SAFETY: a child of this process, and a valid output for its status.
        unsafe { waitpid(child, &mut status, 0) };
        // SAFETY: restores the default, so that this process ends like the child.
        unsafe { signal(SIGSEGV, 0) };
        // SAFETY: C's own function.
        unsafe { raise(status & 0x7f) };
    });
}

#[test]
fn without_reports_nothing_is_said() {
    const NAME: &str = "host_access::without_reports_nothing_is_said";
    let end = ended(NAME, &[("CUPRUM_EMULATOR_REPORTS", "0")], || {
        let _context = TestContext::new();
        read_by_host(alloc(64));
    });
    let Some(end) = end else { panic!("it goes on") };
    assert_eq!(end.signal, Some(SIGSEGV));
    assert!(!end.said.contains("software CUDA device"), "{}", end.said);
}
