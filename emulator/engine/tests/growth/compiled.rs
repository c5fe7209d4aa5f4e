//! Machine code takes linear time, or is refused.

use crate::engine::{add, body, kernel};
use cuprum_engine::exec::{Execution, has_machine_code};
use cuprum_testing::clock::Start;
use cuprum_testing::device::Device;
use std::fmt::Write;
use std::time::Duration;

/// Number of instructions of the smaller kernel; the larger one has four times as many.
const SMALL: usize = 400;
/// Four times the size may take this times as long. A quadratic algorithm takes sixteen times as
/// long.
const LONGER: f64 = 12.0;
/// Shorter times than this are ignored.
const NO_MATTER: Duration = Duration::from_millis(100);

/// Returns kernels of about `n` instructions, hard for the code generator.
fn hard(n: usize) -> Vec<(&'static str, String)> {
    let half = |part: &dyn Fn(usize) -> String| (1..n / 2).map(part).collect::<String>();
    let again = "setp.ne.u32 %p0, %r1, %r1;\n@%p0 bra L;\n";
    let sum = |count: usize| body(count, |text, i| add(text, 0, i), "st.global.u32 [%rd0], %r0;\n");
    let loads = |i| format!("ld.global.u32 %r{i}, [%rd0+{}];\n", 4 * i);
    vec![
        ("accesses of one region", half(&loads)),
        ("loaded values that stay live", half(&loads) + &sum(n / 2)),
        ("an unrolled sum", half(&|i| loads(i) + &format!("add.u32 %r0, %r0, %r{i};\n"))),
        (
            "shared memory",
            half(&|i| format!("ld.shared.u32 %r{i}, [%r0+{0}];\nst.shared.u32 [%r0+{0}], %r{i};\n", 4 * i)),
        ),
        ("predicates in a loop", {
            let and = |i: usize| format!("and.pred %p{}, %p{1}, %p{1};\n", n - i, n - i - 1);
            "L:\n".to_owned() + &(1..n).map(and).collect::<String>() + again
        }),
        ("stops in a loop", {
            let part = |i| format!("add.u32 %r{i}, %r{i}, {i};\nvote.sync.all.pred %p1, %p0, -1;\n");
            "L:\n".to_owned() + &half(&part) + again
        }),
        ("loops in each other", {
            let heads = body(n / 3, |text, i| writeln!(text, "A{i}:\nadd.u32 %r{i}, %r{i}, 1;").unwrap(), "");
            let end = |i| format!("setp.lt.u32 %p1, %r{i}, 1;\n@%p1 bra A{i};\n");
            heads + &(1..n / 3).rev().map(end).collect::<String>()
        }),
        ("loops one after the other", {
            let part =
                |i| format!("L{i}: add.u32 %r{i}, %r{i}, 3;\nsetp.lt.u32 %p1, %r{i}, 99;\n@%p1 bra L{i};\n");
            (1..n / 4).map(part).collect::<String>() + &sum(n / 4)
        }),
        ("cases of a switch", {
            let cases: Vec<String> = (1..n / 3).map(|i| format!("C{i}")).collect();
            let part = |i| format!("C{i}:\nadd.u32 %r{i}, %r{i}, %r1; add.u32 %r1, %r1, 1; bra L;\n");
            format!("bra L;\nL: t: .branchtargets {};\nbrx.idx %r1, t;\n", cases.join(", "))
                + &(1..n / 3).map(part).collect::<String>()
        }),
    ]
}

/// Returns the least time to compile a kernel of about `n` instructions.
fn compile_time(index: usize, n: usize, mode: Execution) -> Duration {
    let text = kernel(n + 1, &hard(n)[index].1);
    let once = |_| {
        let device = Device::load(&text).unwrap_or_else(|error| panic!("{error}"));
        let start = Start::now();
        has_machine_code(device.kernel("k"), mode);
        start.elapsed()
    };
    (0..2).map(once).min().unwrap()
}

#[test]
fn machine_code_takes_linear_time() {
    let sizes = [
        (Execution::Compiled, SMALL),
        (Execution::Quads, SMALL / 2),
        (Execution::Octets, SMALL / 4),
        (Execution::Warps, SMALL / 8),
    ];
    for (mode, n) in sizes {
        for index in 0..hard(64).len() {
            let what = hard(64)[index].0;
            let (small, large) = (compile_time(index, n, mode), compile_time(index, 4 * n, mode));
            println!("{mode:?}, {what}: {small:?} for {n}, {large:?} for {}", 4 * n);
            assert!(large <= small.mul_f64(LONGER).max(NO_MATTER), "{what}: {small:?} and {large:?}");
        }
    }
}

/// A limit that refused common kernels would hide the growth.
#[test]
fn large_kernels_have_machine_code() {
    for (index, count) in [(0, 4_000), (2, 4_000), (3, 4_000), (4, 4_000)] {
        let (what, text) = hard(count).swap_remove(index);
        let device = Device::load(&kernel(count + 1, &text)).unwrap_or_else(|error| panic!("{error}"));
        assert!(has_machine_code(device.kernel("k"), Execution::Compiled), "{what}");
    }
}
