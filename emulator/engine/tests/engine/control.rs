//! Control flow, calls and cooperation between threads, in hand-written PTX with known results.

use crate::device::{Args, Device, MODES};
use cuprum_engine::report::FaultKind;

const HEADER: &str = ".version 8.6\n.target sm_90\n.address_size 64\n";

pub(crate) fn load(text: &str) -> Device {
    Device::load(&format!("{HEADER}{text}")).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a kernel with one parameter `out` that stores `%d` for each thread of a single block.
pub(crate) fn kernel(body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 out) {{
        .reg .pred %p, %q; .reg .b32 %t, %d, %w<10>; .reg .b64 %o, %x<10>;
        mov.u32 %t, %tid.x; mov.u32 %d, 0;
        {body}
        STORE:
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mul.wide.u32 %x9, %t, 4; add.u64 %o, %o, %x9;
        st.global.u32 [%o], %d; ret; }}"
    )
}

fn run(text: &str, threads: u32) -> Vec<u32> {
    let device = load(text);
    let out = device.buffer(&vec![0xcccc_ccccu32; threads as usize]);
    device.launch("k", 1, threads, &Args::default().buffer(&out)).unwrap_or_else(|fault| panic!("{fault}"));
    out.read()
}

#[test]
fn lanes_that_part_meet_again_at_the_join() {
    // Odd lanes take the longer path, whose blocks follow the join in the text.
    let body = "and.b32 %w0, %t, 1; setp.eq.u32 %p, %w0, 1; @%p bra LONG;
        mov.u32 %w1, 10; bra JOIN;
        JOIN: activemask.b32 %d; add.u32 %d, %d, %w1; bra STORE;
        LONG: mov.u32 %w1, 20; mov.u32 %w2, 0;
        LOOP: add.u32 %w2, %w2, 1; setp.lt.u32 %p, %w2, %t; @%p bra LOOP; bra JOIN;";
    let expected: Vec<u32> =
        (0..32u32).map(|lane| u32::MAX.wrapping_add(if lane % 2 == 1 { 20 } else { 10 })).collect();
    assert_eq!(run(&kernel(body), 32), expected);
}

#[test]
fn loops_of_different_length_end_together() {
    let body = "mov.u32 %w0, 0;
        LOOP: add.u32 %d, %d, %w0; add.u32 %w0, %w0, 1; setp.le.u32 %p, %w0, %t; @%p bra LOOP;
        activemask.b32 %w1; popc.b32 %w1, %w1; mad.lo.u32 %d, %w1, 1000, %d;";
    let expected: Vec<u32> = (0..32).map(|t| 32_000 + t * (t + 1) / 2).collect();
    assert_eq!(run(&kernel(body), 32), expected);
}

#[test]
fn indexed_branches_reach_every_target() {
    let body = "and.b32 %w0, %t, 3;
        TABLE: .branchtargets A, B, C, D;
        brx.idx %w0, TABLE;
        A: mov.u32 %d, 11; bra STORE;
        B: mov.u32 %d, 22; bra STORE;
        C: mov.u32 %d, 33; bra STORE;
        D: mov.u32 %d, 44;";
    let expected: Vec<u32> = (0..40).map(|t| 11 * (t % 4 + 1)).collect();
    assert_eq!(run(&kernel(body), 40), expected);
}

#[test]
fn a_lock_between_lanes_of_one_warp_ends() {
    // Each lane spins for the lock; the lane that has it is in a later block than the spinners.
    let text = ".global .u32 lock; .global .u32 count;".to_owned()
        + &kernel(
            "SPIN: atom.global.cas.b32 %w0, [lock], 0, 1; setp.ne.u32 %p, %w0, 0; @%p bra SPIN;
            ld.volatile.global.u32 %d, [count]; add.u32 %w1, %d, 1; st.volatile.global.u32 [count], %w1;
            membar.gl; atom.global.exch.b32 %w0, [lock], 0;",
        );
    let mut order = run(&text, 64);
    order.sort_unstable();
    assert_eq!(order, (0..64).collect::<Vec<_>>());
}

#[test]
fn functions_call_themselves() {
    let text = ".func (.param .b32 result) fib(.param .b32 n) {
        .reg .pred %p; .reg .b32 %n, %a, %b;
        ld.param.u32 %n, [n]; setp.lt.u32 %p, %n, 2; @%p bra LEAF;
        sub.u32 %a, %n, 1;
        { .param .b32 x; .param .b32 y; st.param.b32 [x], %a; call.uni (y), fib, (x); ld.param.b32 %a, [y]; }
        sub.u32 %b, %n, 2;
        { .param .b32 x; .param .b32 y; st.param.b32 [x], %b; call.uni (y), fib, (x); ld.param.b32 %b, [y]; }
        add.u32 %n, %a, %b;
        LEAF: st.param.b32 [result], %n; ret; }"
        .to_owned()
        + &kernel(
            "rem.u32 %w0, %t, 13;
            { .param .b32 x; .param .b32 y; st.param.b32 [x], %w0; call.uni (y), fib, (x); ld.param.b32 %d, [y]; }
            activemask.b32 %w1; popc.b32 %w1, %w1; mad.lo.u32 %d, %w1, 1000, %d;",
        );
    let fib = |n: u32| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
    let expected: Vec<u32> = (0..32).map(|t| 32_000 + fib(t % 13)).collect();
    assert_eq!(run(&text, 32), expected);
}

#[test]
fn pointers_to_functions_call_what_they_point_at() {
    let text = ".func (.param .b64 r) double(.param .b64 x) { .reg .b64 %x; ld.param.b64 %x, [x]; add.u64 %x, %x, %x;
            st.param.b64 [r], %x; ret; }
        .func (.param .b64 r) square(.param .b64 x) { .reg .b64 %x; ld.param.b64 %x, [x]; mul.lo.u64 %x, %x, %x;
            st.param.b64 [r], %x; ret; }
        .global .align 8 .u64 table[2] = {double, square};"
        .to_owned()
        + &kernel(
            "and.b32 %w0, %t, 1; mul.wide.u32 %x0, %w0, 8; mov.u64 %x1, table; add.u64 %x1, %x1, %x0;
            ld.global.u64 %x2, [%x1]; cvt.u64.u32 %x3, %t;
            { .param .b64 a; .param .b64 r; st.param.b64 [a], %x3;
              proto: .callprototype (.param .b64 _) _ (.param .b64 _);
              call (r), %x2, (a), proto; ld.param.b64 %x4, [r]; }
            cvt.u32.u64 %d, %x4;",
        );
    let expected: Vec<u32> = (0..48).map(|t| if t % 2 == 0 { 2 * t } else { t * t }).collect();
    assert_eq!(run(&text, 48), expected);
}

#[test]
fn a_pointer_to_nothing_is_refused_at_the_call() {
    let text = kernel("mov.u64 %x0, 4096; proto: .callprototype _ (); call %x0, (), proto;");
    let device = load(&text);
    let out = device.buffer(&[0u32; 32]);
    let fault = device.launch("k", 1, 32, &Args::default().buffer(&out)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::InvalidCode);
}

#[test]
fn local_memory_is_each_threads_own() {
    let text = ".func (.param .b32 r) turn(.param .b32 x) {
            .local .align 4 .b8 depot[16]; .reg .b32 %x, %i; .reg .b64 %a;
            ld.param.u32 %x, [x]; mov.u64 %a, depot; and.b32 %i, %x, 3; mad.wide.u32 %a, %i, 4, %a;
            st.local.u32 [%a], %x; cvta.local.u64 %a, %a; ld.u32 %x, [%a]; st.param.b32 [r], %x; ret; }"
        .to_owned()
        + &kernel(
            ".local .align 4 .b8 mine[64]; mov.u64 %x0, mine; and.b32 %w0, %t, 15; mad.wide.u32 %x0, %w0, 4, %x0;
            st.local.u32 [%x0], %t;
            { .param .b32 a; .param .b32 r; add.u32 %w1, %t, 100; st.param.b32 [a], %w1; call (r), turn, (a);
              ld.param.b32 %w2, [r]; }
            ld.local.u32 %d, [%x0]; mad.lo.u32 %d, %w2, 1000, %d;",
        );
    let expected: Vec<u32> = (0..64).map(|t| (t + 100) * 1000 + t).collect();
    assert_eq!(run(&text, 64), expected);
}

/// Runs in both modes, the plain mode first.
fn run_in_both_modes(text: &str, threads: u32) -> Vec<u32> {
    let mut device = load(text);
    let [plain, others @ ..] = MODES.map(|mode| {
        device.options.mode = mode;
        let out = device.buffer(&vec![0xcccc_ccccu32; threads as usize]);
        let launched = device.launch("k", 1, threads, &Args::default().buffer(&out));
        launched.unwrap_or_else(|fault| panic!("{mode:?}: {fault}"));
        out.read::<u32>()
    });
    others.iter().for_each(|other| assert_eq!(plain, *other));
    plain
}

#[test]
fn alloca_takes_what_each_lane_asks_for() {
    // Writes two arrays of 4 * lane + 4 bytes, one after the other, and sums both.
    let body = "add.u32 %w0, %t, 1; mul.wide.u32 %x0, %w0, 4;
        alloca.u64 %x1, %x0; alloca.u64 %x2, %x0; add.u64 %x3, %x1, %x0;
        setp.lt.u64 %p, %x2, %x3; @%p mov.u32 %d, 1000000; @%p bra STORE;
        mov.u32 %w1, 0; mov.u64 %x3, %x1; mov.u64 %x4, %x2;
        FILL: st.local.u32 [%x3], 1; st.local.u32 [%x4], 100; add.u64 %x3, %x3, 4; add.u64 %x4, %x4, 4;
        add.u32 %w1, %w1, 1; setp.lt.u32 %p, %w1, %w0; @%p bra FILL;
        cvta.local.u64 %x1, %x1; mov.u32 %w1, 0;
        SUM: ld.u32 %w2, [%x1]; ld.local.u32 %w3, [%x2]; add.u32 %d, %d, %w2; add.u32 %d, %d, %w3;
        add.u64 %x1, %x1, 4; add.u64 %x2, %x2, 4;
        add.u32 %w1, %w1, 1; setp.lt.u32 %p, %w1, %w0; @%p bra SUM;";
    let expected: Vec<u32> = (0..64).map(|t| 101 * (t + 1)).collect();
    assert_eq!(run_in_both_modes(&kernel(body), 64), expected);
}

#[test]
fn alloca_aligns_as_asked_and_to_8_bytes_otherwise() {
    // An odd number of bytes precedes each; the low bits of three addresses must be clear. The
    // memory of a variable precedes them all.
    let body = ".local .align 4 .b8 mine[20]; cvt.u64.u32 %x0, %t; add.u64 %x0, %x0, 1;
        alloca.u64 %x1, %x0; alloca.u64 %x2, %x0, 1; alloca.u64 %x3, %x0, 256; alloca.u32 %w1, 3, 32;
        and.b64 %x4, %x1, 7; and.b64 %x5, %x2, 7; or.b64 %x4, %x4, %x5;
        and.b64 %x5, %x3, 255; or.b64 %x4, %x4, %x5; cvt.u32.u64 %d, %x4;
        and.b32 %w2, %w1, 31; or.b32 %d, %d, %w2;
        setp.lt.u64 %p, %x1, 20; @%p or.b32 %d, %d, 4096;";
    assert_eq!(run_in_both_modes(&kernel(body), 64), vec![0; 64]);
}

#[test]
fn a_guarded_alloca_leaves_the_stack_of_other_lanes_alone() {
    let body = "and.b32 %w0, %t, 1; setp.eq.u32 %p, %w0, 1;
        stacksave.u64 %x0; @%p alloca.u64 %x1, 48; stacksave.u64 %x2; sub.u64 %x3, %x2, %x0; cvt.u32.u64 %d, %x3;
        @%p stackrestore.u64 %x0; stacksave.u64 %x4; setp.ne.u64 %q, %x4, %x0; @%q or.b32 %d, %d, 4096;";
    let expected: Vec<u32> = (0..32).map(|t| 48 * (t % 2)).collect();
    assert_eq!(run_in_both_modes(&kernel(body), 32), expected);
}

/// Overwrites its frame and bytes of its stack; returns twice its parameter.
const SCRIBBLE: &str = ".func (.param .b32 r) scribble(.param .b32 x) {
    .local .align 16 .b8 depot[32]; .reg .pred %p; .reg .b32 %x, %i, %y; .reg .b64 %a, %b, %s;
    ld.param.u32 %x, [x]; mov.u64 %a, depot; alloca.u64 %b, 256; st.local.u32 [%b], %x; mov.u32 %i, 0;
    FRAME: st.local.u32 [%a], 0xeeeeeeee; add.u64 %a, %a, 4; add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 8; @%p bra FRAME;
    ld.local.u32 %y, [%b]; add.u64 %s, %b, 4; mov.u32 %i, 1;
    STACK: st.local.u32 [%s], 0xdddddddd; add.u64 %s, %s, 4; add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 64; @%p bra STACK;
    add.u32 %y, %y, %x; st.param.b32 [r], %y; ret; }";

#[test]
fn calls_leave_alone_what_their_callers_took() {
    // Each round allocates a different number of bytes per lane, calls, checks its memory, and
    // frees it. This exceeds local memory by far, but the stack pointer ends unchanged.
    let text = SCRIBBLE.to_owned()
        + &kernel(
            "mov.u32 %w0, 0; stacksave.u64 %x0;
            ROUND: stacksave.u64 %x1; add.u32 %w1, %t, %w0; and.b32 %w1, %w1, 63; mul.wide.u32 %x2, %w1, 64;
            add.u64 %x2, %x2, 4; alloca.u64 %x3, %x2, 16; add.u64 %x4, %x3, %x2;
            add.u32 %w2, %w0, %t; st.local.u32 [%x3], %w2; st.local.u32 [%x4+-4], %w2;
            { .param .b32 a; .param .b32 r; st.param.b32 [a], %w0; call (r), scribble, (a); ld.param.b32 %w3, [r]; }
            ld.local.u32 %w4, [%x3]; ld.local.u32 %w5, [%x4+-4];
            setp.ne.u32 %p, %w4, %w2; @%p or.b32 %d, %d, 0x10000000;
            setp.ne.u32 %p, %w5, %w2; @%p or.b32 %d, %d, 0x20000000;
            add.u32 %d, %d, %w3; stackrestore.u64 %x1;
            add.u32 %w0, %w0, 1; setp.lt.u32 %p, %w0, 300; @%p bra ROUND;
            stacksave.u64 %x5; setp.ne.u64 %p, %x5, %x0; @%p or.b32 %d, %d, 0x40000000;",
        );
    assert_eq!(run_in_both_modes(&text, 64), vec![300 * 299; 64]);
}

#[test]
fn a_function_that_calls_itself_takes_from_the_stack_at_each_level() {
    // The sum of values that each level wrote to its frame; lanes end at different depths.
    let text = ".func (.param .b32 r) descend(.param .b32 n) {
        .reg .pred %p; .reg .b32 %n, %m, %y; .reg .b64 %s, %a;
        ld.param.u32 %n, [n]; mov.u32 %y, 0; setp.eq.u32 %p, %n, 0; @%p bra DONE;
        mul.wide.u32 %s, %n, 12; alloca.u64 %a, %s; st.local.u32 [%a], %n; st.local.u32 [%a+8], %n;
        sub.u32 %m, %n, 1;
        { .param .b32 x; .param .b32 z; st.param.b32 [x], %m; call (z), descend, (x); ld.param.b32 %y, [z]; }
        ld.local.u32 %n, [%a]; add.u32 %y, %y, %n; ld.local.u32 %n, [%a+8]; mad.lo.u32 %y, %n, 1000, %y;
        DONE: st.param.b32 [r], %y; ret; }"
        .to_owned()
        + &kernel(
            "stacksave.u64 %x0;
            { .param .b32 a; .param .b32 r; st.param.b32 [a], %t; call (r), descend, (a); ld.param.b32 %d, [r]; }
            stacksave.u64 %x1; setp.ne.u64 %p, %x0, %x1; @%p mov.u32 %d, 0xbad;",
        );
    let expected: Vec<u32> = (0..32).map(|t| 1001 * (t * (t + 1) / 2)).collect();
    assert_eq!(run_in_both_modes(&text, 32), expected);
}

#[test]
fn a_stack_that_is_full_stops_the_lanes_that_asked_for_more() {
    let cases = [
        // Too much; a size that wraps around; a little, endlessly; a pointer never saved.
        "mul.wide.u32 %x0, %t, 131072; alloca.u64 %x1, %x0;",
        "cvt.u64.u32 %x0, %t; sub.u64 %x0, 4, %x0; alloca.u64 %x1, %x0;",
        "setp.lt.u32 %p, %t, 5; @%p bra STORE; MORE: alloca.u64 %x1, 1000; bra MORE;",
        "mul.wide.u32 %x0, %t, 131072; stackrestore.u64 %x0;",
    ];
    for body in cases {
        let mut device = load(&kernel(body));
        for mode in MODES {
            device.options.mode = mode;
            let out = device.buffer(&[0u32; 32]);
            let fault = device.launch("k", 1, 32, &Args::default().buffer(&out)).unwrap_err();
            assert_eq!(fault.kind, FaultKind::StackOverflow, "{body}");
            // The requests of threads 0 to 4 fit.
            assert_eq!((fault.thread, fault.lanes), ([5, 0, 0], 0xffff_ffe0), "{body}");
            assert_eq!(fault.ptx_line, 7, "{body}");
        }
    }
}

#[test]
fn shared_memory_joins_the_warps_of_a_block() {
    let text = ".extern .shared .align 16 .b8 dynamic[];".to_owned()
        + &kernel(
            ".shared .align 4 .u32 fixed[96]; mov.u32 %w0, fixed; mad.lo.u32 %w1, %t, 4, %w0; st.shared.u32 [%w1], %t;
            mov.u64 %x0, dynamic; cvta.shared.u64 %x0, %x0; mad.wide.u32 %x1, %t, 4, %x0; mul.lo.u32 %w2, %t, 100;
            st.u32 [%x1], %w2;
            bar.sync 0;
            mov.u32 %w3, 95; sub.u32 %w3, %w3, %t; mad.lo.u32 %w1, %w3, 4, %w0; ld.shared.u32 %d, [%w1];
            mad.wide.u32 %x1, %w3, 4, %x0; ld.u32 %w4, [%x1]; add.u32 %d, %d, %w4;",
        );
    let device = load(&text);
    let out = device.buffer(&[0u32; 96]);
    let args = Args::default().buffer(&out);
    device.launch_with("k", 1, 96, &args, |launch| launch.dynamic_shared = 384).unwrap();
    let expected: Vec<u32> = (0..96).map(|t| (95 - t) * 101).collect();
    assert_eq!(out.read::<u32>(), expected);

    let fault = device.launch_with("k", 1, 96, &args, |launch| launch.dynamic_shared = 380).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfBounds);
    assert_eq!((fault.thread, fault.access.unwrap().space), ([95, 0, 0], "shared"));
}

#[test]
fn a_barrier_that_half_a_warp_misses_is_reported() {
    // The even lanes wait; the odd ones wait for them at the end of another barrier.
    let text = kernel(
        "and.b32 %w0, %t, 1; setp.eq.u32 %p, %w0, 1; @%p bra ODD;
        barrier.sync 1; bra STORE; ODD: barrier.sync 2;",
    );
    let device = load(&text);
    let out = device.buffer(&[0u32; 64]);
    let fault = device.launch("k", 1, 64, &Args::default().buffer(&out)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::BarrierDivergence);
    let notes: Vec<_> = fault.related.iter().map(|related| related.note.as_str()).collect();
    assert!(notes.iter().any(|note| note.contains("barrier 1")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("barrier 2")), "{notes:?}");
}

#[test]
fn blocks_of_a_cooperative_launch_wait_for_each_other() {
    let text = ".visible .entry k(.param .u64 out, .param .u64 arrived) {
        .reg .pred %p; .reg .b32 %b, %n, %v; .reg .b64 %o, %a, %x;
        ld.param.u64 %a, [arrived]; ld.param.u64 %o, [out]; mov.u32 %b, %ctaid.x; mov.u32 %n, %nctaid.x;
        atom.add.release.gpu.global.u32 %v, [%a], 1;
        WAIT: ld.acquire.gpu.global.u32 %v, [%a]; setp.lt.u32 %p, %v, %n; @%p bra WAIT;
        mul.wide.u32 %x, %b, 4; add.u64 %o, %o, %x; st.global.u32 [%o], %v; ret; }";
    let mut device = load(text);
    for workers in [1, 3] {
        device.options.workers = workers;
        let (out, arrived) = (device.buffer(&[0u32; 20]), device.buffer(&[0u32]));
        let args = Args::default().buffer(&out).buffer(&arrived);
        device.launch_with("k", 20, 1, &args, |launch| launch.cooperative = true).unwrap();
        assert_eq!(out.read::<u32>(), [20; 20]);
    }
}

#[test]
fn printf_formats_as_c_does() {
    let format = "%d|%5d|%-5d|%05d|%+d|%u|%x|%#X|%lld|%c|%s|%f|%.2f|%8.3e|%g|%g|%%|%i\\n";
    let bytes: Vec<String> =
        format.replace("\\n", "\n").bytes().chain([0]).map(|byte| byte.to_string()).collect();
    let text: Vec<String> = b"text\0".iter().map(u8::to_string).collect();
    let ints = [-7i64, 42, 42, 42, 42, 3_000_000_000, 255, 255];
    let mut stores = String::new();
    let mut offset = 0;
    for value in ints {
        stores += &format!("mov.b32 %w0, {}; st.local.u32 [args+{offset}], %w0;\n", value as u32);
        offset += 4;
    }
    for (wide, value) in
        [(true, "123456789012345"), (false, "120"), (true, "TEXT"), (true, "0d3FF8000000000000")]
    {
        let size = if wide { 8usize } else { 4 };
        offset = usize::next_multiple_of(offset, size);
        stores += &match value {
            "TEXT" => {
                format!("mov.u64 %x0, text; cvta.global.u64 %x0, %x0; st.local.u64 [args+{offset}], %x0;\n")
            }
            _ if wide => format!("mov.b64 %x0, {value}; st.local.b64 [args+{offset}], %x0;\n"),
            _ => format!("mov.b32 %w0, {value}; st.local.u32 [args+{offset}], %w0;\n"),
        };
        offset += size;
    }
    for value in ["0dC00921FB54442D18", "0d40FE240C9FBE76C9", "0d3FB999999999999A", "0d4202A05F20000000"] {
        stores += &format!("mov.b64 %x0, {value}; st.local.b64 [args+{offset}], %x0;\n");
        offset += 8;
    }
    stores += &format!("mov.b32 %w0, 5; st.local.u32 [args+{offset}], %w0;\n");
    let kernel = kernel(&format!(
        ".local .align 8 .b8 args[256];
        {stores}
        mov.u64 %x1, format; cvta.global.u64 %x1, %x1; mov.u64 %x2, args; cvta.local.u64 %x2, %x2;
        {{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %x1; st.param.b64 [a], %x2;
           call.uni (r), vprintf, (f, a); ld.param.b32 %d, [r]; }}"
    ));
    let device = load(&format!(
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
        .global .align 1 .b8 format[{}] = {{{}}}; .global .align 1 .b8 text[5] = {{{}}};
        {kernel}",
        bytes.len(),
        bytes.join(", "),
        text.join(", ")
    ));
    let out = device.buffer(&[0u32]);
    device.launch("k", 1, 1, &Args::default().buffer(&out)).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(
        *device.output.lock().unwrap(),
        "-7|   42|42   |00042|+42|3000000000|ff|0XFF|123456789012345|x|text|1.500000|-3.14|1.235e+05|0.1|1e+10|%|5\n"
    );
    assert_eq!(out.read::<u32>(), [17]);
}

#[test]
fn parameters_are_taken_at_their_offsets() {
    let text = ".visible .entry k(.param .u8 a, .param .s16 b, .param .align 8 .b8 s[24], .param .f64 d, .param .u64 out) {
        .reg .b32 %a, %b, %s0, %s1; .reg .b64 %o, %w; .reg .f64 %d;
        ld.param.u8 %a, [a]; ld.param.s16 %b, [b]; ld.param.v2.u32 {%s0, %s1}, [s+8]; ld.param.s8 %w, [s+23];
        ld.param.f64 %d, [d]; ld.param.u64 %o, [out];
        st.global.u32 [%o], %a; st.global.u32 [%o+4], %b; st.global.v2.u32 [%o+8], {%s0, %s1};
        st.global.u64 [%o+16], %w; st.global.f64 [%o+24], %d; ret; }";
    let device = load(text);
    let params: Vec<_> = device.kernel("k").params().iter().map(|param| (param.offset, param.size)).collect();
    assert_eq!(params, [(0, 1), (2, 2), (8, 24), (32, 8), (40, 8)]);
    let out = device.buffer(&[0u32; 8]);
    let mut args = Args::default().push(200u8).push(-5i16).push(0u64).push(7u32).push(8u32).push(0u32);
    args = args.push(0u16).push(0u8).push(-2i8).push(2.5f64).buffer(&out);
    device.launch("k", 1, 1, &args).unwrap();
    let bits = 2.5f64.to_bits();
    let expected = [200, -5i32 as u32, 7, 8, -2i32 as u32, u32::MAX, bits as u32, (bits >> 32) as u32];
    assert_eq!(out.read::<u32>(), expected);
}

#[test]
fn atomics_of_many_blocks_on_many_workers_add_up() {
    let text = ".visible .entry k(.param .u64 out) { .reg .b32 %v, %t; .reg .b64 %o;
        ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; atom.global.add.u32 %v, [%o], %t; red.global.max.s32 [%o+4], %t;
        atom.global.inc.u32 %v, [%o+8], 6; ret; }";
    let mut device = load(text);
    device.options.workers = 4;
    let out = device.buffer(&[0u32; 3]);
    device.launch("k", 50, 96, &Args::default().buffer(&out)).unwrap();
    assert_eq!(out.read::<u32>(), [50 * 95 * 96 / 2, 95, 50 * 96 % 7]);
}

#[test]
fn help_comes_while_the_first_block_still_runs() {
    // Block 0 polls for a while whether block 1, which follows it, has run.
    let text = ".visible .entry k(.param .u64 out, .param .u32 looks) {
        .reg .pred %p; .reg .b32 %n, %b, %v; .reg .b64 %o; ld.param.u64 %o, [out];
        ld.param.u32 %n, [looks]; mov.u32 %b, %ctaid.x; setp.eq.u32 %p, %b, 1; @%p bra SECOND;
        LOOK: ld.relaxed.gpu.global.u32 %v, [%o]; setp.ne.u32 %p, %v, 0; @%p bra SEEN;
        sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra LOOK; ret;
        SEEN: st.global.u32 [%o+4], 1; ret;
        SECOND: st.relaxed.gpu.global.u32 [%o], 1; ret; }";
    let mut device = load(text);
    device.options.workers = 2;
    // The second thread of a busy machine may not run for a second.
    let seen = (0..10).any(|attempt| {
        let out = device.buffer(&[0u32; 2]);
        device.launch("k", 2, 1, &Args::default().buffer(&out).push(15_000u32 << attempt)).unwrap();
        out.read::<u32>() == [1, 1]
    });
    assert!(seen, "block 1 waited for block 0 each time");
}

#[test]
fn asynchronous_copies_land_in_shared_memory() {
    let text = ".visible .entry k(.param .u64 out, .param .u64 in) {
        .reg .pred %p; .reg .b32 %t, %s, %n, %a, %b, %c, %d; .reg .b64 %o, %i, %x;
        .shared .align 16 .b8 tile[1024];
        ld.param.u64 %o, [out]; ld.param.u64 %i, [in]; mov.u32 %t, %tid.x; mov.u32 %s, tile;
        mul.wide.u32 %x, %t, 16; add.u64 %i, %i, %x; add.u64 %o, %o, %x; mad.lo.u32 %s, %t, 16, %s;
        and.b32 %n, %t, 15; setp.eq.u32 %p, %t, 3;
        cp.async.cg.shared.global [%s], [%i], 16;
        cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
        ld.shared.v4.u32 {%a, %b, %c, %d}, [%s]; st.global.v4.u32 [%o], {%a, %b, %c, %d};
        cp.async.cg.shared.global [%s], [%i], 16, %n; cp.async.wait_all;
        ld.shared.v4.u32 {%a, %b, %c, %d}, [%s]; st.global.v4.u32 [%o+1024], {%a, %b, %c, %d};
        cp.async.ca.shared.global [%s], [%i], 16, %p; cp.async.wait_all;
        ld.shared.v4.u32 {%a, %b, %c, %d}, [%s]; st.global.v4.u32 [%o+2048], {%a, %b, %c, %d};
        ret; }";
    let device = load(text);
    let bytes: Vec<u8> = (0..1024u32).map(|i| (i % 251) as u8 + 1).collect();
    let (out, input) = (device.buffer(&[0xffu8; 3072]), device.buffer(&bytes));
    device.launch("k", 1, 64, &Args::default().buffer(&out).buffer(&input)).unwrap();
    let out = out.read::<u8>();
    assert_eq!(out[..1024], bytes);
    for thread in 0..64 {
        for byte in 0..16 {
            let at = 16 * thread + byte;
            assert_eq!(out[1024 + at], if byte < thread % 16 { bytes[at] } else { 0 }, "{thread} {byte}");
            assert_eq!(out[2048 + at], if thread == 3 { 0 } else { bytes[at] }, "{thread} {byte}");
        }
    }
}

#[test]
fn barriers_in_memory_hold_threads_until_all_arrived() {
    // In each round, all threads arrive and wait; then each reads its neighbor in the next warp.
    let text = kernel(
        ".shared .align 8 .b64 barrier; .shared .align 4 .u32 cells[64]; mov.u32 %w0, barrier; mov.u32 %w1, cells;
        setp.eq.u32 %p, %t, 0; @%p mbarrier.init.shared.b64 [%w0], 64; bar.sync 0;
        mad.lo.u32 %w2, %t, 4, %w1; add.u32 %w3, %t, 32; and.b32 %w3, %w3, 63; mad.lo.u32 %w3, %w3, 4, %w1;
        mov.u32 %w4, 0;
        ROUND: mad.lo.u32 %w5, %t, 10, %w4; st.shared.u32 [%w2], %w5;
        mbarrier.arrive.shared::cta.b64 %x0, [%w0];
        WAIT: mbarrier.try_wait.shared::cta.b64 %p, [%w0], %x0; @!%p bra WAIT;
        ld.shared.u32 %w5, [%w3]; add.u32 %d, %d, %w5;
        mbarrier.arrive.shared.b64 _, [%w0];
        AGAIN: mbarrier.test_wait.parity.shared.b64 %p, [%w0], 1; @!%p bra AGAIN;
        add.u32 %w4, %w4, 1; setp.lt.u32 %p, %w4, 3; @%p bra ROUND;",
    );
    let expected: Vec<u32> = (0..64).map(|t| 3 * 10 * ((t + 32) % 64) + 3).collect();
    assert_eq!(run(&text, 64), expected);
}

#[test]
fn pairs_of_16_bits_are_worked_on_half_by_half() {
    // Upper and lower halves do not affect each other, even if they carry or saturate.
    let cases = [
        ("add.u16x2", 0xffff_0001u32, 0x0001_0002u32, 0x0000_0003u32),
        ("add.sat.s16x2", 0x7fff_8000, 0x0001_ffff, 0x7fff_8000),
        ("min.s16x2", 0x8000_0005, 0x0001_fffe, 0x8000_fffe),
        ("min.u16x2", 0x8000_0005, 0x0001_fffe, 0x0001_0005),
        ("max.relu.s16x2", 0xfff0_0005, 0xfff1_0007, 0x0000_0007),
        ("max.u16x2", 0xfff0_0005, 0xfff1_0003, 0xfff1_0005),
    ];
    for (opcode, a, b, expected) in cases {
        let body = format!("mov.b32 %w0, {a}; mov.b32 %w1, {b}; {opcode} %d, %w0, %w1;");
        assert_eq!(run(&kernel(&body), 1), [expected], "{opcode}");
    }
}

#[test]
fn a_seed_changes_the_order_of_blocks_and_warps_and_nothing_else_does() {
    // Each warp draws a ticket and stores its number at that position.
    let text = ".visible .entry k(.param .u64 out, .param .u64 ticket) {
        .reg .pred %p; .reg .b32 %l, %v, %t; .reg .b64 %o, %x;
        mov.u32 %l, %laneid; setp.ne.u32 %p, %l, 0; @%p ret;
        ld.param.u64 %o, [ticket]; atom.global.add.u32 %t, [%o], 1; ld.param.u64 %o, [out];
        mul.wide.u32 %x, %t, 4; add.u64 %o, %o, %x; mov.u32 %v, %ctaid.x; mov.u32 %t, %warpid; mad.lo.u32 %v, %v, 4, %t;
        st.global.u32 [%o], %v; ret; }";
    let mut device = load(text);
    let mut order = |seed| {
        device.options.seed = seed;
        let (out, ticket) = (device.buffer(&[u32::MAX; 64]), device.buffer(&[0u32]));
        device.launch("k", 16, 128, &Args::default().buffer(&out).buffer(&ticket)).unwrap();
        out.read::<u32>()
    };
    let all: Vec<u32> = (0..64).collect();
    assert_eq!(order(None), all);
    let orders: Vec<_> = (0..10).map(|seed| order(Some(seed))).collect();
    for (seed, drawn) in orders.iter().enumerate() {
        assert_eq!(order(Some(seed as u64)), *drawn);
        let mut sorted = drawn.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, all);
    }
    let blocks = |drawn: &Vec<u32>| drawn.iter().step_by(4).map(|warp| warp / 4).collect::<Vec<_>>();
    let warps = |drawn: &Vec<u32>| drawn[..4].iter().map(|warp| warp % 4).collect::<Vec<_>>();
    assert!(orders.iter().any(|drawn| blocks(drawn) != blocks(&all)));
    assert!(orders.iter().any(|drawn| warps(drawn) != warps(&all)));
}

#[test]
fn the_address_of_a_functions_parameter_is_that_of_its_own_copy() {
    let body = "{ .param .align 4 .b8 a[8]; .param .b32 r;
        st.param.b32 [a], %t; st.param.b32 [a+4], 1000; call (r), f, (a); ld.param.b32 %d, [r]; }";
    let function = ".func (.param .b32 r) f(.param .align 4 .b8 p[8]) {
        .reg .b32 %a, %b; .reg .b64 %x, %y;
        mov.b64 %x, p; ld.local.u32 %a, [%x+4]; cvta.local.u64 %y, %x; ld.u32 %b, [%y]; ld.param.u32 %a, [%x+4];
        st.local.u32 [%x], 5; ld.param.u32 %b, [p]; add.u32 %a, %a, %b; st.param.b32 [r], %a; ret; }\n";
    // The name and the address are one place on an H100, too.
    assert_eq!(run(&(function.to_owned() + &kernel(body)), 40), vec![1005; 40]);
}

#[test]
fn generic_addresses_reach_a_kernels_parameters_and_constants() {
    let text = ".const .b32 c[2] = {7, 8};
        .visible .entry k(.param .u64 out, .param .align 4 .b8 s[8]) {
        .reg .pred %p, %q; .reg .b32 %a, %b; .reg .b64 %o, %x, %y;
        cvta.param.u64 %x, s; ld.u32 %a, [%x+4]; cvta.const.u64 %y, c; ld.u32 %b, [%y+4]; add.u32 %a, %a, %b;
        isspacep.param %p, %x; isspacep.const %q, %y; selp.b32 %b, 100, 0, %p; add.u32 %a, %a, %b;
        selp.b32 %b, 200, 0, %q; add.u32 %a, %a, %b;
        isspacep.const %p, %x; isspacep.param %q, %y; or.pred %p, %p, %q; selp.b32 %b, 1000, 0, %p; add.u32 %a, %a, %b;
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; st.global.u32 [%o], %a; ret; }";
    let device = load(text);
    let out = device.buffer(&[0u32]);
    let args = Args::default().buffer(&out).push(11u32).push(22u32);
    device.launch("k", 1, 1, &args).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(out.read::<u32>(), [22 + 8 + 100 + 200]);
}

#[test]
fn who_waits_at_a_clusters_barrier_waits_for_all_that_have_not_exited() {
    // Half a warp arrives and leaves; the other half writes and arrives; then all others read.
    let body = ".shared .b32 s[96]; mov.u32 %w1, s; shl.b32 %w0, %t, 2; add.u32 %w0, %w0, %w1;
        setp.lt.u32 %p, %t, 16; @%p barrier.cluster.arrive; @%p bra STORE;
        st.shared.u32 [%w0], %t; barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
        ld.shared.u32 %d, [s+380]; barrier.cluster.arrive; barrier.cluster.wait;";
    let expected: Vec<u32> = (0..96).map(|thread| if thread < 16 { 0 } else { 95 }).collect();
    assert_eq!(run(&kernel(body), 96), expected);
}

#[test]
fn atomics_of_128_bits_take_and_give_both_halves() {
    // Constant halves, and old values that are used afterwards.
    let text = ".visible .entry k(.param .u64 out) { .reg .b128 %q, %old; .reg .b64 %o, %lo, %hi, %a, %b;
        ld.param.u64 %o, [out]; mov.b64 %lo, 5; mov.b64 %hi, 7; mov.b128 %q, {%lo, %hi};
        atom.global.exch.b128 %old, [%o], %q; mov.b128 {%a, %b}, %old; add.u64 %b, %b, %a; st.global.u64 [%o+16], %b;
        ret; }";
    let device = load(text);
    let out = device.buffer(&[100u64, 11, 0]);
    device.launch("k", 1, 1, &Args::default().buffer(&out)).unwrap();
    assert_eq!(out.read::<u64>(), [5, 7, 111]);
}

#[test]
fn an_extern_shared_array_with_a_size_has_that_size() {
    // As LLVM writes them; the assembler ignores `.extern` then. Unsized arrays follow all others.
    let text = ".extern .shared .align 8 .b8 s[260]; .extern .shared .align 4 .b8 unused[1000];
        .extern .shared .align 16 .b8 dynamic[]; .extern .shared .align 4 .u32 one;"
        .to_owned()
        + &kernel(
            "mov.u32 %w0, s; mov.u32 %w1, dynamic; mov.u32 %w2, one;
            mad.lo.u32 %w0, %t, 4, %w0; st.shared.u32 [%w0], %t; bar.sync 0;
            sub.u32 %w3, 64, %t; shl.b32 %w3, %w3, 2; mov.u32 %w4, s; add.u32 %w3, %w3, %w4;
            ld.shared.u32 %d, [%w3]; st.shared.u32 [%w2], %w1; ld.shared.u32 %w5, [%w2]; add.u32 %d, %d, %w5;",
        );
    let device = load(&text);
    // 260 bytes and 4, and the start of the following memory, aligned to 16.
    assert_eq!(device.kernel("k").static_shared(), 264);
    let expected: Vec<u32> = (0..65).map(|t| 64 - t + 272).collect();
    assert_eq!(run(&text, 65), expected);
}

/// Registers and predicates are zero before their first write, in every block and launch.
#[test]
fn what_nobody_has_written_is_zero_in_both_modes() {
    let pieces = [
        // Never written at all.
        ("mov.u32 %d, %w0; mov.u64 %x0, %x1; cvt.u32.u64 %w1, %x0; add.u32 %d, %d, %w1;", 0),
        // Written later with an apparent constant, in a loop and after it.
        ("add.u32 %d, %w0, 0; mov.u32 %w0, 5;", 0),
        (
            "mov.u32 %w1, 0; L: mad.lo.u32 %d, %w0, %t, %d; mov.u32 %w0, 1; add.u32 %w1, %w1, 1;
             setp.lt.u32 %p, %w1, 3; @%p bra L; sub.u32 %d, %d, %t; sub.u32 %d, %d, %t;",
            0,
        ),
        // Written only in some lanes, or under a guard.
        ("setp.lt.u32 %p, %t, 7; @%p mov.u32 %w0, %t; and.b32 %d, %w0, 0xfffffff8; mov.u32 %w0, 9;", 0),
        ("setp.lt.u32 %p, %t, 7; @%p bra L; mov.u32 %w0, 8; L: shr.u32 %d, %w0, 4; mov.u32 %w0, 99;", 0),
        // Predicates and the carry flag.
        ("selp.u32 %d, 1, 0, %q; setp.eq.u32 %q, %t, %t;", 0),
        ("addc.u32 %d, 3, 4; mov.u32 %w0, -1; add.cc.u32 %w0, %w0, 1;", 7),
        // From a lane that has exited without writing.
        (
            "setp.eq.u32 %p, %t, 3; @%p exit; mov.u32 %w0, 0; shfl.sync.idx.b32 %d, %w0, 3, 31, 0xfffffff7;
             mov.u32 %w0, 77;",
            0,
        ),
        // In a function.
        ("{ .param .b32 y; call.uni (y), f; ld.param.b32 %d, [y]; } mov.u32 %w0, %d;", 0),
    ];
    let function = ".func (.param .b32 r) f() { .reg .b32 %a; st.param.b32 [r], %a; mov.u32 %a, 3; ret; }";
    for (body, expected) in pieces {
        let mut device = load(&format!("{function}{}", kernel(body)));
        for mode in MODES {
            device.options.mode = mode;
            for _ in 0..2 {
                let out = device.buffer(&[expected; 96]);
                device.launch("k", 3, 96, &Args::default().buffer(&out)).unwrap();
                assert_eq!(out.read::<u32>(), [expected; 96], "{mode:?} {body}");
            }
        }
    }
}
