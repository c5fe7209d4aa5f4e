//! Calls in all modes: machine code makes them as jumps, the others with frames.

use crate::control::{kernel, load};
use crate::device::{Args, MODES};
use cuprum_engine::exec::{Execution, has_machine_code};

/// A call of a function with one word as parameter and result.
fn call(function: &str, argument: &str, result: &str) -> String {
    format!(
        "{{ .param .b32 x; .param .b32 y; st.param.b32 [x], {argument};
         call (y), {function}, (x); ld.param.b32 {result}, [y]; }}"
    )
}

/// Runs 64 threads in each mode, and returns the results or the text of the fault.
fn run_each(text: &str) -> Vec<Result<Vec<u32>, String>> {
    let mut device = load(text);
    assert_eq!(has_machine_code(device.kernel("k"), Execution::Compiled), cfg!(feature = "compile"));
    let together = has_machine_code(device.kernel("k"), Execution::Octets);
    assert_eq!(together, cfg!(all(feature = "compile", target_arch = "x86_64")));
    let run = |mode| {
        device.options.mode = mode;
        let out = device.buffer(&[0xcccc_ccccu32; 64]);
        let launched = device.launch("k", 1, 64, &Args::default().buffer(&out));
        launched.map(|_| out.read::<u32>()).map_err(|fault| fault.to_string())
    };
    MODES.map(run).into()
}

fn check(text: &str, expected: impl Fn(u32) -> u32) {
    let expected: Vec<u32> = (0..64).map(expected).collect();
    for (result, mode) in run_each(text).into_iter().zip(MODES) {
        assert_eq!(result.as_ref(), Ok(&expected), "{mode:?}");
    }
}

/// Returns the text of the fault, which is the same in all modes.
fn fault(text: &str) -> String {
    let faults: Vec<String> = run_each(text).into_iter().map(|result| result.unwrap_err()).collect();
    faults.iter().for_each(|fault| assert_eq!(*fault, faults[0]));
    faults[0].clone()
}

const FIBONACCI: &str = ".func (.param .b32 result) fib(.param .b32 n) {
    .reg .pred %p; .reg .b32 %n, %a, %b;
    ld.param.u32 %n, [n]; setp.lt.u32 %p, %n, 2; @%p bra LEAF;
    sub.u32 %a, %n, 1;
    { .param .b32 x; .param .b32 y; st.param.b32 [x], %a; call (y), fib, (x); ld.param.b32 %a, [y]; }
    sub.u32 %b, %n, 2;
    { .param .b32 x; .param .b32 y; st.param.b32 [x], %b; call (y), fib, (x); ld.param.b32 %b, [y]; }
    add.u32 %n, %a, %b;
    LEAF: st.param.b32 [result], %n; ret; }";

fn fibonacci(n: u32) -> u32 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

#[test]
fn recursion_of_different_depths() {
    let body = format!("rem.u32 %w0, %t, 13; {}", call("fib", "%w0", "%d"));
    check(&format!("{FIBONACCI} {}", kernel(&body)), |t| fibonacci(t % 13));
}

/// A lane uses up its share of instructions, and goes on from the frames that it then has.
#[test]
fn recursion_longer_than_the_share_of_a_lane() {
    let body = format!("add.u32 %w0, %t, 21; min.u32 %w0, %w0, 23; {}", call("fib", "%w0", "%d"));
    check(&format!("{FIBONACCI} {}", kernel(&body)), |t| fibonacci((t + 21).min(23)));
}

/// All levels have their registers in one row, so the outer levels keep them elsewhere. The
/// deepest level of a lane runs instructions of the plain mode.
#[test]
fn lanes_stop_at_different_depths_of_functions_that_call_each_other() {
    let level = |name: &str, other: &str, weight: u32| {
        format!(
            ".func (.param .b32 result) {name}(.param .b32 n) {{
             .reg .pred %p, %q; .reg .b32 %n, %m, %y, %z; .reg .b64 %wide; .reg .f64 %f;
             .local .align 8 .b8 own[24]; .reg .b64 %a;
             ld.param.u32 %n, [n]; cvt.u64.u32 %wide, %n; cvt.rn.f64.u32 %f, %n; and.b32 %z, %n, 2;
             setp.ne.u32 %q, %z, 0; mov.u64 %a, own; st.local.u32 [%a+16], %n;
             setp.eq.u32 %p, %n, 0; mov.u32 %y, 7; @%p bra DONE;
             sub.u32 %m, %n, 1; {}
             DONE: activemask.b32 %z; @%q add.u32 %y, %y, {weight}; cvt.u32.u64 %z, %wide; add.u32 %y, %y, %z;
             cvt.rzi.u32.f64 %z, %f; mad.lo.u32 %y, %z, 3, %y; ld.local.u32 %z, [%a+16]; mad.lo.u32 %y, %z, 5, %y;
             st.param.b32 [result], %y; ret; }}",
            call(other, "%m", "%y")
        )
    };
    let text = format!(
        ".func (.param .b32 result) odd(.param .b32 n); {} {} {}",
        level("even", "odd", 100),
        level("odd", "even", 10_000),
        kernel(&format!("and.b32 %w0, %t, 15; {}", call("even", "%w0", "%d")))
    );
    check(&text, |t| {
        let n = t % 16;
        let level = |k: u32| {
            let weight = if (n - k) % 2 == 0 { 100 } else { 10_000 };
            9 * k + if k & 2 != 0 { weight } else { 0 }
        };
        7 + (0..=n).map(level).sum::<u32>()
    });
}

/// A barrier in a function that lanes reach by two calls.
#[test]
fn a_barrier_in_a_function_joins_the_threads_of_a_block() {
    let exchange = ".shared .align 4 .u32 cells[64];
        .func (.param .b32 result) exchange(.param .b32 n) {
        .reg .b32 %n, %t, %a; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; shl.b32 %t, %t, 2; mov.u32 %a, cells;
        add.u32 %t, %t, %a; bar.sync 0; st.shared.u32 [%t], %n; bar.sync 0; sub.u32 %t, %t, %a; sub.u32 %t, 252, %t;
        add.u32 %a, %a, %t; ld.shared.u32 %a, [%a]; st.param.b32 [result], %a; ret; }";
    let twice = format!(
        ".func (.param .b32 result) twice(.param .b32 n) {{ .reg .b32 %n, %m; ld.param.u32 %n, [n]; mov.u32 %m, %n; {}
         shl.b32 %m, %m, 8; {} add.u32 %n, %n, %m; st.param.b32 [result], %n; ret; }}",
        call("exchange", "%n", "%n"),
        call("exchange", "%m", "%m"),
    );
    let text = format!("{exchange} {twice} {}", kernel(&call("twice", "%t", "%d")));
    check(&text, |t| (63 - t) + ((63 - t) << 8));
}

/// Each level passes its parameters on in another order.
#[test]
fn parameters_change_places() {
    let text = ".func (.param .b32 r) turn(.param .b32 a, .param .b32 b, .param .b32 n) {
        .reg .pred %p; .reg .b32 %a, %b, %n;
        ld.param.u32 %a, [a]; ld.param.u32 %b, [b]; ld.param.u32 %n, [n];
        setp.ne.u32 %p, %n, 0; @!%p bra DONE; sub.u32 %n, %n, 1;
        { .param .b32 x; .param .b32 y; .param .b32 z; .param .b32 o;
          st.param.b32 [x], %b; st.param.b32 [y], %a; st.param.b32 [z], %n;
          call (o), turn, (x, y, z); ld.param.b32 %a, [o]; }
        DONE: mad.lo.u32 %a, %a, 3, %b; st.param.b32 [r], %a; ret; }"
        .to_owned()
        + &kernel(
            "and.b32 %w0, %t, 7; mov.u32 %w1, 1000;
            { .param .b32 x; .param .b32 y; .param .b32 z; .param .b32 o;
              st.param.b32 [x], %t; st.param.b32 [y], %w1; st.param.b32 [z], %w0;
              call (o), turn, (x, y, z); ld.param.b32 %d, [o]; }",
        );
    fn turn(a: u32, b: u32, n: u32) -> u32 {
        let a = if n == 0 { a } else { turn(b, a, n - 1) };
        a.wrapping_mul(3).wrapping_add(b)
    }
    check(&text, |t| turn(t, 1000, t % 8));
}

const TABLE: &str = ".func (.param .b32 r) double(.param .b32 x) { .reg .b32 %x; ld.param.b32 %x, [x];
    add.u32 %x, %x, %x; st.param.b32 [r], %x; ret; }
    .func (.param .b32 r) square(.param .b32 x) { .reg .b32 %x; .reg .pred %p; ld.param.b32 %x, [x];
    setp.gt.u32 %p, %x, 40; @%p st.param.b32 [r], 5; @%p ret; mul.lo.u32 %x, %x, %x; st.param.b32 [r], %x; ret; }
    .func (.param .b32 r) mask(.param .b32 x) { .reg .b32 %x; ld.param.b32 %x, [x];
    activemask.b32 %x; st.param.b32 [r], %x; ret; }
    .func (.param .b32 r, .param .b32 s) two(.param .b32 x) { .reg .b32 %x; ld.param.b32 %x, [x];
    st.param.b32 [r], %x; st.param.b32 [s], %x; ret; }";

fn by_pointer(choose: &str) -> String {
    let body = format!(
        "{choose} mul.wide.u32 %x0, %w0, 8; mov.u64 %x1, table; add.u64 %x1, %x1, %x0; ld.global.u64 %x2, [%x1];
         {{ .param .b32 a; .param .b32 r; st.param.b32 [a], %t; proto: .callprototype (.param .b32 _) _ (.param .b32 _);
         call (r), %x2, (a), proto; ld.param.b32 %d, [r]; }}"
    );
    format!("{TABLE} .global .align 8 .u64 table[5] = {{double, square, mask, 0, 77}}; {}", kernel(&body))
}

#[test]
fn pointers_to_functions_of_which_one_stops() {
    let text = by_pointer("rem.u32 %w0, %t, 3;");
    check(&text, |t| match t % 3 {
        0 => 2 * t,
        1 if t > 40 => 5,
        1 => t * t,
        // The lanes of its warp that call it.
        _ if t < 32 => 0x2492_4924,
        _ => 0x4924_9249,
    });
}

#[test]
fn a_pointer_to_no_function_is_a_fault() {
    for choose in ["mov.u32 %w0, 3;", "mov.u32 %w0, 4;", "setp.eq.u32 %p, %t, 37; selp.b32 %w0, 3, 0, %p;"] {
        assert!(fault(&by_pointer(choose)).contains("not code"), "{choose}");
    }
}

#[test]
fn calls_without_an_end_are_a_fault() {
    for frame in ["", ".local .align 4 .b8 own[4000];", ".local .align 4 .b8 own[40];"] {
        let text = format!(
            ".func (.param .b32 result) endless(.param .b32 n) {{ {frame} .reg .b32 %n; ld.param.u32 %n, [n];
             add.u32 %n, %n, 1; {} st.param.b32 [result], %n; ret; }} {}",
            call("endless", "%n", "%n"),
            kernel(&call("endless", "%t", "%d"))
        );
        assert!(fault(&text).contains("stack"), "{frame}");
    }
}

#[test]
fn calls_and_returns_under_guards() {
    let text = format!(
        ".func (.param .b32 result) half(.param .b32 n) {{ .reg .pred %p; .reg .b32 %n, %o; ld.param.u32 %n, [n];
         and.b32 %o, %n, 1; setp.eq.u32 %p, %o, 1; @%p st.param.b32 [result], 99; @%p ret;
         shr.u32 %n, %n, 1; st.param.b32 [result], %n; ret; }} {}",
        kernel(
            "setp.lt.u32 %p, %t, 50; setp.gt.u32 %q, %t, 9; mov.u32 %d, 12345;
            { .param .b32 x; .param .b32 y; st.param.b32 [x], %t; @%p call (y), half, (x); @%p ld.param.b32 %d, [y]; }
            @%q add.u32 %d, %d, 1000;"
        )
    );
    check(&text, |t| {
        let called = if t % 2 == 1 { 99 } else { t / 2 };
        (if t < 50 { called } else { 12345 }) + if t > 9 { 1000 } else { 0 }
    });
}

/// Lanes that run together part at a call that some of them make, and go on together after it. Some
/// of them stop in the function; each has local memory of its own there and in the kernel.
#[test]
fn some_lanes_call_in_a_loop() {
    let text = format!(
        ".func (.param .b32 result) rare(.param .b32 n) {{
         .reg .pred %p; .reg .b32 %n, %m; .local .align 4 .b8 own[8]; .reg .b64 %a;
         ld.param.u32 %n, [n]; mov.u64 %a, own; st.local.u32 [%a+4], %n; and.b32 %m, %n, 4; setp.ne.u32 %p, %m, 0;
         @%p bra STOPS; bra DONE; STOPS: activemask.b32 %m;
         DONE: ld.local.u32 %n, [%a+4]; mad.lo.u32 %n, %n, %n, 1; st.param.b32 [result], %n; ret; }} {}",
        kernel(&format!(
            ".local .align 4 .b8 mine[8]; mov.u64 %x0, mine; mul.lo.u32 %w0, %t, 11; st.local.u32 [%x0+4], %w0; mov.u32 %w1, 0;
             L: add.u32 %w2, %t, %w1; rem.u32 %w3, %w2, 7; setp.ne.u32 %p, %w3, 3; @%p bra NEXT;
             {} add.u32 %d, %d, %w4;
             NEXT: mad.lo.u32 %d, %d, 3, %w2; add.u32 %w1, %w1, 1; setp.lt.u32 %p, %w1, 20; @%p bra L;
             ld.local.u32 %w0, [%x0+4]; add.u32 %d, %d, %w0;",
            call("rare", "%w2", "%w4")
        ))
    );
    check(&text, |t| {
        let round = |sum: u32, n: u32| {
            let called = if n % 7 == 3 { n * n + 1 } else { 0 };
            sum.wrapping_add(called).wrapping_mul(3).wrapping_add(n)
        };
        (t..t + 20).fold(0, round).wrapping_add(11 * t)
    });
}

/// A parameter that arithmetic reads keeps bits that no arithmetic makes.
#[test]
fn a_nan_passes_through_a_parameter_unchanged() {
    let text = format!(
        ".func (.param .b32 result) same(.param .f32 n) {{ .reg .f32 %n, %m; .reg .pred %p; ld.param.f32 %n, [n];
         add.f32 %m, %n, %n; setp.eq.f32 %p, %m, 0f3f800000; @%p mul.f32 %n, %n, %n; st.param.f32 [result], %n; ret; }} {}",
        kernel(&format!("add.u32 %w0, %t, 0x7f812345; {}", call("same", "%w0", "%d")))
    );
    check(&text, |t| 0x7f81_2345 + t);
}
