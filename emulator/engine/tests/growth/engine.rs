//! Costs of growing inputs: no input, nor number of live objects, takes more than linear time.
//!
//! Each test compares n with 8 n, with a margin for noise. A quadratic one takes 64 times as long.

use cuprum_engine::memory::{Memory, Request};
use cuprum_testing::clock::Start;
use cuprum_testing::device::{Args, Device};
use std::fmt::Write;
use std::time::Duration;

/// Ratio of the sizes of the two cases.
const LARGER: usize = 8;
const LONGER: f64 = 24.0;
/// Shorter times than this are ignored.
const NO_MATTER: Duration = Duration::from_millis(250);

/// Compares the times of `run` for `n` and for eight times as much, the best of three each.
fn assert_linear(what: &str, n: usize, run: impl Fn(usize) -> Duration) {
    let best = |n| (0..3).map(|_| run(n)).min().unwrap();
    let (small, large) = (best(n), best(LARGER * n));
    println!("{what}: {small:?} for {n}, {large:?} for {}", LARGER * n);
    let most = small.mul_f64(LONGER).max(NO_MATTER);
    assert!(large <= most, "{what}: {small:?} for {n}, {large:?} for {}", LARGER * n);
}

pub(crate) fn kernel(registers: usize, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .b32 %r<{registers}>;\n.reg .b64 %rd<{registers}>;\n.reg .f32 %f<{registers}>;\n.reg .pred %p<{registers}>;\n\
         mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [out];\n{body}ret;\n}}\n"
    )
}

/// Returns the time of loading, and of the first launch, which translates.
fn first_launch(text: &str) -> Duration {
    let start = Start::now();
    let device = Device::load(text).unwrap_or_else(|error| panic!("{error}"));
    let out = device.buffer(&[0u32; 64]);
    device.launch_with("k", 1, 32, &Args::default().buffer(&out), |_| {}).unwrap();
    start.elapsed()
}

pub(crate) fn body(n: usize, mut part: impl FnMut(&mut String, usize), end: &str) -> String {
    let mut text = String::new();
    (1..n).for_each(|index| part(&mut text, index));
    text + end
}

pub(crate) fn add(text: &mut String, to: usize, from: usize) {
    writeln!(text, "add.u32 %r{to}, %r{from}, %r0;").unwrap();
}

/// Returns kernels of about `n` instructions, hard for simple algorithms to analyze.
fn hard(n: usize) -> Vec<(&'static str, String)> {
    let last = n - 1;
    let store = format!("st.global.u32 [%rd0], %r{last};\n");
    let reads = body(n, |text, i| writeln!(text, "ld.global.u32 %r{i}, [%rd0];").unwrap(), "");
    let end = |condition: &str| format!("{condition}setp.ne.u32 %p0, %r1, %r1;\n@%p0 bra L;\n");
    vec![
        ("a chain of regular registers", body(n, |text, i| add(text, i, i - 1), &store)),
        (
            "a chain against the order of the text",
            "L:\n".to_owned() + &body(n, |text, i| add(text, n - i, n - i - 1), &(end("") + &store)),
        ),
        (
            "predicates against the order of the text",
            "L:\n".to_owned()
                + &body(
                    n,
                    |text, i| {
                        writeln!(text, "and.pred %p{}, %p{}, %p{};", n - i, n - i - 1, n - i - 1).unwrap()
                    },
                    &end(""),
                ),
        ),
        ("loads in one block", reads),
        (
            "addresses of one base",
            body(
                n,
                |text, i| {
                    writeln!(text, "mul.wide.u32 %rd{i}, %r0, 4;\nadd.s64 %rd{i}, %rd0, %rd{i};").unwrap();
                },
                "",
            ) + &body(n, |text, i| writeln!(text, "ld.global.f32 %f0, [%rd{i}];").unwrap(), ""),
        ),
        (
            "branches that part lanes",
            body(
                n,
                |text, i| {
                    writeln!(text, "setp.gt.u32 %p1, %r0, {i};\n@%p1 bra E;\nadd.u32 %r1, %r1, %r0;")
                        .unwrap();
                },
                "E:\n",
            ),
        ),
        (
            "calls of the plain mode among copies",
            body(
                n,
                |text, i| {
                    writeln!(text, "mov.u32 %r{i}, {i};\nvote.sync.all.pred %p1, %p0, -1;").unwrap();
                },
                &store,
            ),
        ),
        (
            "loops in each other",
            body(n / 8, |text, i| writeln!(text, "A{i}:\nadd.u32 %r{i}, %r{i}, 1;").unwrap(), "")
                + &body(
                    n / 8,
                    |text, i| {
                        writeln!(text, "setp.lt.u32 %p1, %r{0}, 1;\n@%p1 bra A{0};", n / 8 - i).unwrap()
                    },
                    "",
                ),
        ),
    ]
}

#[test]
fn the_first_launch_takes_linear_time() {
    for index in 0..hard(16).len() {
        let what = hard(16)[index].0;
        assert_linear(what, 2000, |n| first_launch(&kernel(n + 1, &hard(n)[index].1)));
    }
}

#[test]
fn volatile_loads_in_a_loop_take_linear_time() {
    let load = |text: &mut String, i| writeln!(text, "ld.volatile.global.u32 %r{i}, [%rd0];").unwrap();
    let again = "setp.ne.u32 %p0, %r1, %r1;\n@%p0 bra L;\n";
    let text = |n| kernel(n + 1, &("L:\n".to_owned() + &body(n, load, again)));
    assert_linear("volatile loads", 2000, |n| first_launch(&text(n)));
}

/// Modules that expand to much more than their text: 1000 times 10 000 of something.
#[test]
fn what_a_module_becomes_is_limited() {
    let header = ".version 8.0\n.target sm_90\n.address_size 64\n";
    let many = |count: usize, what: &dyn Fn(usize) -> String| (0..count).map(what).collect::<String>();
    let registers = |i| format!(".visible .entry k{i}()\n{{\n.reg .b32 %r<1000000>;\nret;\n}}\n");
    let branches = ".visible .entry k()\n{\n.reg .b32 %r<2>;\nL:\nt: .branchtargets L".to_owned()
        + &", L".repeat(9_999)
        + ";\n"
        + &"brx.idx %r0, t;\n".repeat(1000)
        + "ret;\n}\n";
    let functions = ".func f()\n{\n.reg .b32 %r<2>;\n".to_owned()
        + &"mov.b32 %r0, %r1;\n".repeat(10_000)
        + "ret;\n}\n"
        + &many(1000, &|i| format!(".visible .entry k{i}()\n{{\ncall f;\nret;\n}}\n"));
    let shared = many(10_000, &|i| format!(".shared .b8 s{i}[4];\n"))
        + &many(1000, &|i| format!(".visible .entry k{i}()\n{{\nret;\n}}\n"));
    for text in [many(1000, &registers), branches, functions, shared] {
        let start = Start::now();
        let error = Device::load(&format!("{header}{text}")).err().expect("a refusal");
        assert!(error.message.contains("the module becomes more than"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    }
}

/// Calls itself as often as its parameter says, and counts.
const RECURSIVE: &str = "
.version 8.0
.target sm_90
.address_size 64
.func (.param .b32 result) deep(.param .b32 depth)
{
.reg .pred %p;
.reg .b32 %r<3>;
ld.param.u32 %r0, [depth];
setp.eq.u32 %p, %r0, 0;
@%p bra END;
sub.u32 %r0, %r0, 1;
{
.param .b32 a;
.param .b32 b;
st.param.b32 [a], %r0;
call (b), deep, (a);
ld.param.b32 %r0, [b];
}
add.u32 %r0, %r0, 1;
END:
st.param.b32 [result], %r0;
ret;
}
.visible .entry k(.param .u64 out, .param .u32 depth)
{
.reg .b32 %r<2>;
.reg .b64 %rd;
.param .b32 a;
.param .b32 b;
ld.param.u64 %rd, [out];
ld.param.u32 %r0, [depth];
st.param.b32 [a], %r0;
call (b), deep, (a);
ld.param.b32 %r0, [b];
st.global.u32 [%rd], %r0;
ret;
}
";

#[test]
fn recursion_takes_linear_time() {
    let device = Device::load(RECURSIVE).unwrap_or_else(|error| panic!("{error}"));
    let out = device.buffer(&[0u32]);
    // Repeated often enough to be measurable.
    let launches = if cfg!(feature = "compile") { 200 } else { 20 };
    assert_linear("recursion", 1200, |depth| {
        let start = Start::now();
        for _ in 0..launches {
            device.launch("k", 1, 1, &Args::default().buffer(&out).push(depth as u32)).unwrap();
        }
        assert_eq!(out.read::<u32>(), [depth as u32]);
        start.elapsed()
    });
}

#[test]
fn registers_that_nobody_names_take_no_memory() {
    let text = kernel(1_000_001, "mov.u32 %r1000000, %r0;\nst.global.u32 [%rd0], %r1000000;\n");
    let device = Device::load(&text).unwrap_or_else(|error| panic!("{error}"));
    assert!(device.kernel("k").registers() < 20, "{}", device.kernel("k").registers());
    let out = device.buffer(&[7u32]);
    device.launch("k", 1, 1, &Args::default().buffer(&out)).unwrap();
    assert_eq!(out.read::<u32>(), [0]);
}

#[test]
fn registers_that_fit_no_thread_are_refused() {
    let n = 200_000;
    let all = body(n, |text, i| writeln!(text, "mov.u32 %r{i}, %r0;").unwrap(), "");
    let error = Device::load(&kernel(n + 1, &all)).err().expect("a refusal");
    assert!(error.message.contains("more than 131072 registers"), "{error}");
}

fn memory() -> Memory {
    Memory::new(1, 64 << 30, false)
}

fn allocate(memory: &Memory, context: u64, count: usize) -> Vec<u64> {
    (0..count).map(|_| memory.alloc(&Request::device(512, context, 0)).unwrap().base).collect()
}

/// Returns the best time of a thousand turns that change nothing in total.
fn thousand(mut turn: impl FnMut()) -> Duration {
    let start = Start::now();
    (0..1000).for_each(|_| turn());
    start.elapsed()
}

/// Compares the time of a turn with few live objects and with ten thousand times as many.
fn assert_same(what: &str, few: Duration, many: Duration) {
    println!("{what}: {few:?} with few alive, {many:?} with many");
    assert!(many <= 32 * few.max(Duration::from_millis(2)), "{what}: {few:?} with few, {many:?} with many");
}

#[test]
fn a_snapshot_costs_the_same_however_much_is_allocated() {
    let time = |alive: usize| {
        let memory = memory();
        let bases = allocate(&memory, 1, alive);
        thousand(|| {
            let region = memory.alloc(&Request::device(512, 1, 0)).unwrap();
            let map = memory.snapshot();
            assert_eq!(map.find(region.base + 5).map(|found| found.id), Some(region.id));
            assert!(map.find(bases[bases.len() / 2]).is_some());
            memory.free(region.base).unwrap();
            let later = memory.snapshot();
            assert!(later.find(region.base).is_none() && map.find(region.base).is_some());
        })
    };
    assert_same("a snapshot", time(10), time(100_000));
}

#[test]
fn an_address_is_found_as_fast_once_all_were_used() {
    let time = |alive: usize| {
        let memory = Memory::new(1, 1 << 41, false);
        let last = *allocate(&memory, 1, alive).last().unwrap();
        // Reserves all remaining addresses, the largest pieces first.
        for bytes in (9..40).rev().map(|shift| 1u64 << shift) {
            while memory.reserve(bytes, 512).is_ok() {}
        }
        memory.free(last).unwrap();
        thousand(|| {
            let region = memory.alloc(&Request::device(512, 1, 0)).unwrap();
            assert_eq!(region.base, last);
            memory.free(region.base).unwrap();
        })
    };
    assert_same("an address", time(10), time(100_000));
}

#[test]
fn a_context_goes_without_a_look_at_the_memory_of_others() {
    let time = |alive: usize| {
        let memory = memory();
        allocate(&memory, 1, alive);
        thousand(|| {
            let mine = allocate(&memory, 2, 3);
            assert_eq!(memory.regions_of(2).iter().map(|region| region.base).collect::<Vec<_>>(), mine);
            assert_eq!(memory.free_context(2), 3);
            assert!(memory.regions_of(2).is_empty());
        })
    };
    assert_same("a context", time(10), time(100_000));
}
