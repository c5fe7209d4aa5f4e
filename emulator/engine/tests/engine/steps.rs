//! Instructions that the vector mode runs for whole warps, and delegates to the plain mode for some
//! lanes: both modes have the same results, counts and fault texts.

mod arms;
mod barriers;
mod edges;
mod exchanges;
mod parts;
mod progressions;
mod quads;
mod signs;
mod strong;
mod sums;
mod threads;
mod uniform;

use crate::device::{Args, Device, MODES};
use crate::reports::without_addresses;
use cuprum_engine::exec::{Execution, LaunchStats, has_machine_code};

/// Number of random input words; a thread reads four of its own.
const WORDS: usize = 4096;
/// Number of words that a thread writes, and words per 32 threads for atomics.
const RESULTS: usize = 4;
const BINS: usize = 8;

/// The contents of the three buffers after a launch, or the text of its fault.
type Outcome = Result<(Vec<u32>, Vec<u32>, LaunchStats), String>;

/// Returns a kernel. Its body receives four random words in `%r0` to `%r3`, the addresses of its
/// results in `%out`, of its warp's words in `%bins` and `%shared`, and of its 64 bytes of local
/// memory in `%own`. It leaves its results in `%r0` to `%r3`. `%p0` and `%p1` hold in random lanes;
/// code after `prologue` runs in all lanes.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.const .align 8 .b32 fixed[8];\n\
         .visible .entry k(.param .u64 out, .param .u64 in, .param .u64 bins)\n{{\n\
         .reg .b64 %out, %in, %bins, %base, %own, %shared, %at, %w<8>; .reg .b32 %t, %n, %r<12>; .reg .b16 %h<8>;\n\
         .reg .pred %p<8>; .reg .f32 %f<4>; .reg .f64 %g<4>;\n\
         .local .align 16 .b8 mine[64];\n.shared .align 8 .b8 room[1024];\n\
         ld.param.u64 %out, [out];\nld.param.u64 %in, [in];\nld.param.u64 %base, [bins];\n\
         mov.u32 %t, %tid.x;\nmul.wide.u32 %at, %t, 16;\nadd.u64 %in, %in, %at;\nadd.u64 %out, %out, %at;\n\
         shr.u32 %n, %t, 5;\nmul.wide.u32 %at, %n, 32;\nadd.u64 %bins, %base, %at;\nmov.u64 %shared, room;\n\
         add.u64 %shared, %shared, %at;\nmov.u64 %own, mine;\n\
         ld.global.v4.u32 {{%r0, %r1, %r2, %r3}}, [%in];\n\
         and.b32 %n, %r3, 256;\nsetp.ne.u32 %p0, %n, 0;\nand.b32 %n, %r3, 512;\nsetp.ne.u32 %p1, %n, 0;\n\
         {body}\nst.global.v4.u32 [%out], {{%r0, %r1, %r2, %r3}};\nret;\n}}\n"
    )
}

fn run(text: &str, mode: Execution, threads: u32, seed: u32) -> Outcome {
    let mut device = Device::load(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    device.options.mode = mode;
    device.options.workers = 1;
    if matches!(mode, Execution::Quads | Execution::Octets | Execution::Warps) && cfg!(target_arch = "x86_64")
    {
        // A code generator that refuses a kernel would otherwise not be noticed.
        let has_code = |mode| has_machine_code(device.kernel("k"), mode);
        assert!(has_code(mode) || !has_code(Execution::Compiled), "no code for {mode:?}:\n{text}");
    }
    let mix = |i: u32| (i ^ seed.wrapping_mul(0x0100_0193)).wrapping_mul(0x9e37_79b9).rotate_left(11);
    let input: Vec<u32> = (0..WORDS as u32).map(|i| mix(mix(i) ^ i)).collect();
    let out = device.buffer(&vec![0u32; RESULTS * threads as usize]);
    let bins = device.buffer(&input[..BINS * threads.div_ceil(32) as usize]);
    let args = Args::default().buffer(&out).buffer(&device.buffer(&input)).buffer(&bins);
    match device.launch("k", 1, threads, &args) {
        Ok(stats) => Ok((out.read(), bins.read(), stats)),
        // Another test may use the preferred addresses when one of two launches reserves its own.
        Err(fault) => Err(without_addresses(&fault.to_string())),
    }
}

/// A remark in bodies whose registers depend on the order in which the lanes of a warp take turns,
/// because they race, or return to a place that they share. The compiled mode has another order
/// than those that run warps in lockstep, so only memory is compared, which does not depend on it.
const BY_TURNS: &str = "// by turns\n";

/// Runs a body in all modes, and returns the common result.
fn agreed(body: &str, threads: u32, seed: u32) -> Outcome {
    let text = kernel(body);
    let plain = run(&text, Execution::Plain, threads, seed);
    let vector = run(&text, Execution::Vector, threads, seed);
    assert!(plain == vector, "{threads} threads, seed {seed}:\n{body}\n{plain:?}\n{vector:?}");
    // Machine code does not count single instructions.
    let depends = body.contains(BY_TURNS);
    let results = |outcome: &Outcome| {
        outcome.clone().map(|(out, bins, _)| (if depends { Vec::new() } else { out }, bins))
    };
    // Code for whole warps takes long to compile, so it runs once, with a warp that is not whole,
    // and all bodies with exchanges, but of others one in three.
    let suits = threads == 77 && (body.contains(".sync.") || body.len() % 3 == 0);
    let runs = |mode: &Execution| *mode != Execution::Warps || suits;
    for mode in MODES.into_iter().filter(runs) {
        let other = run(&text, mode, threads, seed);
        assert!(
            results(&plain) == results(&other),
            "{mode:?}, {threads} threads, seed {seed}:\n{body}\n{plain:?}\n{other:?}"
        );
    }
    plain
}

/// Checks that the body succeeds with the same result in both modes, for whole and partial warps.
fn runs(body: &str) {
    for (seed, threads) in [32, 77, 256, 500].into_iter().enumerate() {
        agreed(body, threads, seed as u32).unwrap_or_else(|fault| panic!("{body}\n{fault}"));
    }
}

/// Checks that the body ends in the same fault in both modes, whose text contains these words.
fn fails(body: &str, words: &[&str]) {
    for threads in [32, 77, 300] {
        let fault = agreed(body, threads, 5).expect_err(body);
        words.iter().for_each(|word| assert!(fault.contains(word), "no {word:?} in:\n{fault}\n{body}"));
    }
}

/// Stores a multiple of `bytes` below 64 in `%at`, from a random word.
fn offset(word: &str, bytes: u32) -> String {
    format!("and.b32 %n, {word}, {};\ncvt.u64.u32 %at, %n;\n", 63 & !(bytes - 1))
}

#[test]
fn local_memory_of_each_lane_is_its_own() {
    for (ty, bytes, register) in [
        ("u8", 1, "%r1"),
        ("s8", 1, "%r1"),
        ("u16", 2, "%r1"),
        ("s16", 2, "%r1"),
        ("u32", 4, "%r1"),
        ("v2.u32", 8, "{%r1, %r2}"),
        ("v4.u32", 16, "{%r1, %r2, %r3, %r0}"),
        ("u64", 8, "%w0"),
        ("v2.u64", 16, "{%w0, %w1}"),
    ] {
        let (there, back) = (offset("%r0", bytes), offset("%r2", bytes));
        let stored = ty.replace('s', "u");
        runs(&format!(
            "mov.b64 %w0, {{%r1, %r2}};\nmov.b64 %w1, {{%r3, %r0}};\nst.local.v2.u64 [%own], {{%w0, %w1}};\n\
             st.local.v2.u64 [%own+48], {{%w1, %w0}};\nst.local.u64 [%own+16], %w0;\nst.local.u64 [%own+40], %w1;\n\
             {there}add.u64 %at, %own, %at;\n@%p0 st.local.{stored} [%at], {register};\n\
             {back}add.u64 %at, %own, %at;\n@%p1 ld.local.{ty} {register}, [%at];\n@!%p1 ld.local.u32 %r2, [%own+60];\n\
             mov.b64 {{%r0, %n}}, %w0;\nxor.b32 %r3, %r3, %n;\n"
        ));
    }
}

/// Equal addresses refer to different bytes in each lane, whether regular or uniform.
#[test]
fn equal_addresses_of_local_memory_are_not_one_place() {
    runs(
        "st.local.u32 [%own+4], %r0;\nst.local.u32 [%own+60], %r1;\nld.local.u32 %r2, [%own+4];\nld.local.u32 %r3, [%own+60];\n",
    );
    runs(
        "mov.u32 %r4, 0;\nL:\nmul.wide.u32 %at, %r4, 4;\nadd.u64 %at, %own, %at;\nadd.u32 %r5, %r0, %r4;\n\
          st.local.u32 [%at], %r5;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 16;\n@%p2 bra L;\nld.local.u32 %r1, [%own+36];\n",
    );
    // A number is also an address of local memory, and is stored only for the first lane.
    runs(
        "mov.u32 %r4, 0;\nL:\nmul.wide.u32 %w5, %r4, 4;\nadd.u32 %r5, %r0, %r4;\nst.local.u32 [%w5], %r5;\n\
         ld.local.u32 %r1, [%w5];\nxor.b32 %r2, %r2, %r1;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 16;\n@%p2 bra L;\n",
    );
}

#[test]
fn local_memory_ends_where_it_ends() {
    let in_lane = |address: &str| format!("setp.eq.u32 %p2, %t, 9;\n@%p2 add.u64 %own, %own, {address};\n");
    for access in
        ["ld.local.u32 %r0, [%own];", "st.local.u32 [%own], %r0;", "st.local.v2.u32 [%own], {%r0, %r1};"]
    {
        let kind = if access.starts_with("ld") { "load" } else { "store" };
        fails(&format!("{}{access}", in_lane("64")), &["out-of-bounds", kind, "thread (9,0,0)", "local"]);
        fails(&format!("{}{access}", in_lane("61")), &["misaligned", kind, "thread (9,0,0)"]);
        fails(&format!("{}{access}", in_lane("-8")), &["out-of-bounds", "thread (9,0,0)"]);
    }
    fails("add.u64 %own, %own, 60;\nld.local.u64 %w0, [%own];", &["misaligned", "of its warp"]);
    // Inactive lanes may have any address; only the lower 32 bits of an address count.
    runs(&format!("{}@!%p2 st.local.u32 [%own], %r0;\n@!%p2 ld.local.u32 %r1, [%own];\n", in_lane("4096")));
    runs("add.u64 %own, %own, 4294967296;\nst.local.u32 [%own+8], %r0;\nld.local.u32 %r1, [%own+8];\n");
}

const INTEGERS: [&str; 4] = ["u32", "s32", "u64", "s64"];

/// Returns the operations with their operands, in registers of a type.
fn atomics() -> Vec<(String, String)> {
    let operands = |bits: u32, more: bool| match (bits, more) {
        (64, true) => "%w1, %w2",
        (64, false) => "%w1",
        (_, true) => "%r1, %r2",
        (_, false) => "%r1",
    };
    let mut all = Vec::new();
    let mut add = |name: &str, ty: &str, bits, more| {
        all.push((format!("{name}.{ty}"), operands(bits, more).to_owned()))
    };
    for ty in INTEGERS {
        for name in ["add", "min", "max"] {
            if (name, ty) != ("add", "s64") {
                add(name, ty, ty[1..].parse().unwrap(), false);
            }
        }
    }
    for bits in [32, 64] {
        for (name, more) in [("and", false), ("or", false), ("xor", false), ("exch", false), ("cas", true)] {
            add(name, &format!("b{bits}"), bits, more);
        }
    }
    add("inc", "u32", 32, false);
    add("dec", "u32", 32, false);
    all.extend([("add.f32".to_owned(), "%f1".to_owned()), ("add.f64".to_owned(), "%g1".to_owned())]);
    all.push(("add.noftz.f16x2".to_owned(), "%r1".to_owned()));
    all.push(("cas.b16".to_owned(), "%h1, %h2".to_owned()));
    all
}

/// Each operation on addresses that lanes share, under a mask, with and without its result.
#[test]
fn atomics_agree() {
    for (operation, operands) in atomics() {
        let result = &operands[..3];
        let result = result.replace('1', "0");
        let bytes = if operation.ends_with("64") { 8 } else { 4 };
        for (space, base) in [("global", "%bins"), ("shared", "%shared"), ("", "%bins")] {
            let dot = if space.is_empty() { "" } else { "." };
            let prepare = format!(
                "and.b32 %r1, %r1, 0x3f803f83;\nmov.b32 %f1, %r1;\nmov.b64 %w1, {{%r1, %r2}};\nand.b64 %w1, %w1, 0x3ff7ffffffffffff;\n\
                 mov.b64 %g1, %w1;\nmov.u64 %w2, 77;\nmov.b32 {{%h1, %h2}}, %r1;\nmov.f32 %f0, 0f00000000;\nmov.f64 %g0, 0d0000000000000000;\n\
                 mov.u64 %w0, 0;\nmov.u16 %h0, 0;\nmov.u32 %r0, %r2;\nst.shared.v2.u32 [%shared], {{%t, %t}};\n\
                 st.shared.v2.u32 [%shared+8], {{%t, %t}};\nst.shared.v2.u32 [%shared+16], {{0, 1}};\nst.shared.v2.u32 [%shared+24], {{%t, 5}};\nbar.warp.sync -1;\n\
                 and.b32 %n, %r3, {};\ncvt.u64.u32 %at, %n;\nadd.u64 %at, {base}, %at;\n",
                31 & !(bytes - 1),
            );
            let collect = "mov.b32 %r4, %f0;\nxor.b32 %r0, %r0, %r4;\nmov.b64 %w3, %g0;\nxor.b64 %w0, %w0, %w3;\nmov.b64 {%r1, %r2}, %w0;\n\
                           cvt.u32.u16 %r4, %h0;\nxor.b32 %r0, %r0, %r4;\nbar.warp.sync -1;\nld.shared.u32 %r3, [%shared+4];\n\
                           ld.shared.u32 %r4, [%shared+24];\nxor.b32 %r3, %r3, %r4;\n";
            runs(&format!(
                "{prepare}@%p0 atom{dot}{space}.{operation} {result}, [%at], {operands};\n{collect}"
            ));
            let reduces = !matches!(operation.split('.').next(), Some("exch" | "cas"));
            if reduces {
                runs(&format!("{prepare}red{dot}{space}.{operation} [%at], {operands};\n{collect}"));
            }
        }
    }
}

/// A loop until a lane has exchanged the value that it read, with contention between lanes.
#[test]
fn lanes_exchange_one_after_the_other() {
    for (space, base) in [("global", "%bins"), ("shared", "%shared")] {
        runs(&format!(
            "mov.u32 %r4, 1;\nst.shared.u32 [%shared], %r4;\nbar.warp.sync -1;\nL:\nld.{space}.u32 %r4, [{base}];\nadd.u32 %r5, %r4, 3;\n\
             atom.{space}.cas.b32 %r6, [{base}], %r4, %r5;\nsetp.ne.u32 %p2, %r6, %r4;\n@%p2 bra L;\nmov.u32 %r0, %r6;\n"
        ));
    }
}

#[test]
fn atomics_that_miss_agree() {
    // Some lanes are elsewhere: in the other region, or in shared memory through a generic address.
    let elsewhere = "and.b32 %n, %r3, 28;\ncvt.u64.u32 %at, %n;\nadd.u64 %w1, %bins, %at;\n@%p0 add.u64 %w1, %out, 8;\n\
                     atom.global.add.u32 %r0, [%w1], 3;\n";
    runs(elsewhere);
    let generic = "st.shared.u32 [%shared], 4;\nbar.warp.sync -1;\nmov.u64 %w2, %shared;\ncvta.shared.u64 %w2, %w2;\nmov.u64 %w1, %bins;\n\
                   @%p0 mov.u64 %w1, %w2;\natom.add.u32 %r0, [%w1], 3;\nbar.warp.sync -1;\n\
                   ld.shared.u32 %r1, [%shared];\n";
    runs(generic);
    for (space, base, past) in [("global", "%bins", 1 << 20), ("shared", "%shared", 4096)] {
        let wrong = |by: i64| {
            format!(
                "mov.u64 %w1, {base};\nsetp.eq.u32 %p2, %t, 11;\n@%p2 add.u64 %w1, %w1, {by};\n\
                 atom.{space}.add.u32 %r0, [%w1], 1;\n"
            )
        };
        fails(&wrong(past), &["out-of-bounds", "thread (11,0,0)", space]);
        fails(&wrong(2), &["misaligned", "thread (11,0,0)"]);
    }
    fails("mov.u64 %w1, 8;\n@!%p0 mov.u64 %w1, %bins;\natom.global.add.u32 %r0, [%w1], 1;\n", &["null"]);
    fails(
        "ld.const.u32 %r0, [fixed];\nmov.u64 %w1, fixed;\ncvta.const.u64 %w1, %w1;\natom.global.add.u32 %r0, [%w1], 1;\n",
        &["read-only"],
    );
}

#[test]
fn comparisons_of_16_bits_agree() {
    for ty in ["u16", "s16"] {
        for relation in ["eq", "ne", "lt", "le", "gt", "ge"] {
            runs(&format!(
                "mov.b32 {{%h0, %h1}}, %r0;\nmov.b32 {{%h2, %h3}}, %r1;\nand.b16 %h4, %h0, 3;\nand.b16 %h5, %h2, 3;\n\
                 setp.{relation}.{ty} %p2|%p3, %h0, %h2;\nsetp.{relation}.and.{ty} %p4, %h4, %h5, %p1;\n\
                 @%p0 setp.{relation}.{ty} %p5, %h1, 100;\n@!%p0 setp.{relation}.{ty} %p5, %h4, %h5;\n\
                 selp.u32 %r0, 1, 2, %p2;\nselp.u32 %r1, 3, 4, %p3;\nselp.u32 %r2, 5, 6, %p4;\nselp.u32 %r3, 7, 8, %p5;\n"
            ));
        }
    }
    // A loaded byte has no bits above it; a wide register has.
    runs(
        "st.local.u32 [%own], %r0;\nld.local.u8 %h0, [%own+3];\nld.local.s8 %h1, [%own+3];\nsetp.lt.s16 %p2, %h1, 0;\n\
          setp.gt.u16 %p3, %h0, 127;\nselp.u32 %r0, 1, 0, %p2;\nselp.u32 %r1, 1, 0, %p3;\n",
    );
}

const COLLECTIVES: [&str; 12] = [
    "vote.sync.all.pred %p2, %p0, {};\nselp.u32 %r0, 1, 2, %p2;",
    "vote.sync.any.pred %p2, %p0, {};\nselp.u32 %r0, 1, 2, %p2;",
    "vote.sync.uni.pred %p2, !%p0, {};\nselp.u32 %r0, 1, 2, %p2;",
    "vote.sync.ballot.b32 %r0, !%p0, {};",
    "and.b32 %r4, %r1, 7;\nmatch.any.sync.b32 %r0, %r4, {};",
    "and.b32 %r4, %r1, 1;\ncvt.u64.u32 %w1, %r4;\nmatch.any.sync.b64 %r0, %w1, {};",
    "and.b32 %r4, %n, 0;\nmatch.all.sync.b32 %r0|%p2, %r4, {};\nselp.u32 %r1, 1, 2, %p2;",
    "redux.sync.add.s32 %r0, %r1, {};",
    "bar.warp.sync {};",
    // Also from the other half of the warp.
    "shfl.sync.bfly.b32 %r0|%p4, %r1, 16, 31, {}; selp.u32 %r2, 1, 0, %p4;",
    "shfl.sync.down.b32 %r0, %r1, 5, 31, {};",
    "shfl.sync.idx.b32 %r0|%p4, %r1, %r2, 0x181f, {}; selp.u32 %r2, 1, 0, %p4;",
];

#[test]
fn collectives_agree() {
    for collective in COLLECTIVES {
        for members in ["-1", "0xffffffff", "%r5"] {
            let line = collective.replace("{}", members);
            runs(&format!("mov.u32 %r5, -1;\n{line}\n"));
            // After some lanes have exited, and with only the participating lanes as members.
            runs(&format!(
                "mov.u32 %r5, -1;\nand.b32 %r4, %t, 5;\nsetp.eq.u32 %p3, %r4, 5;\n@%p3 exit;\n{line}\n"
            ));
        }
        // All lanes take part, but in halves, like tiles of 16 threads.
        let halves = collective.replace("{}", "%r5");
        runs(&format!("and.b32 %r4, %t, 16;\nmov.u32 %r5, 0xffff;\nshl.b32 %r5, %r5, %r4;\n{halves}\n"));
        runs(&format!(
            "mov.u32 %r5, %r1;\nand.b32 %r4, %t, 4;\nsetp.eq.u32 %p3, %r4, 0;\nactivemask.b32 %r2;\n@%p3 bra M;\n\
             activemask.b32 %r5;\n{halves}\nM:\nbar.warp.sync -1;\nactivemask.b32 %r3;\n"
        ));
    }
}

/// Blocks with more warps than run together.
#[test]
fn barriers_of_large_blocks_agree() {
    let exchange = |barrier: &str| {
        format!(
            "mul.wide.u32 %w1, %t, 1;\nmov.u64 %w2, room;\nadd.u64 %w1, %w2, %w1;\nst.shared.u8 [%w1], %r0;\n{barrier}\n\
             xor.b32 %n, %t, 64;\nmul.wide.u32 %w1, %n, 1;\nadd.u64 %w1, %w2, %w1;\nld.shared.u8 %r1, [%w1];\n{barrier}\n"
        )
    };
    for barrier in ["bar.sync 0;", "bar.sync 3;", "barrier.sync 7;", "and.b32 %n, %t, 0;\nbarrier.sync %n;"] {
        for threads in [32, 257, 512, 1000, 1024] {
            agreed(&exchange(barrier), threads, 3).unwrap_or_else(|fault| panic!("{barrier}\n{fault}"));
        }
    }
    // Some warps have ended; others wait in parts, or at their own barriers.
    for threads in [320, 1024] {
        let body = format!("setp.lt.u32 %p3, %t, 64;\n@%p3 exit;\n{}", exchange("bar.sync 0;"));
        agreed(&body, threads, 3).unwrap_or_else(|fault| panic!("{fault}"));
        let parts = "@%p0 barrier.sync 0;\n@!%p0 barrier.sync 0;\nbar.sync 1;\nsetp.lt.u32 %p3, %t, 64;\n@%p3 bar.sync 2, 64;\n";
        agreed(parts, threads, 3).unwrap_or_else(|fault| panic!("{fault}"));
        // Threads that arrive without waiting, and barriers that no thread can pass.
        let arrive = format!(
            "setp.lt.u32 %p3, %t, 288;\n@%p3 bar.arrive 1, {threads};\n@!%p3 bar.sync 1, {threads};\n{}\
             @!%p3 bar.arrive 0, {threads};\n@%p3 bar.sync 0, {threads};\nbar.sync 2;\n",
            exchange("bar.sync 2;")
        );
        agreed(&arrive, threads, 3).unwrap_or_else(|fault| panic!("{fault}"));
        for apart in [
            "shr.u32 %n, %t, 8;\nbar.sync %n;",
            "setp.lt.u32 %p3, %t, 256;\n@%p3 bra M;\nbar.sync 0;\nM:\nbar.sync 0;",
        ] {
            let fault = agreed(&format!("bar.sync 0;\n{apart}\n"), threads, 3).err();
            assert_eq!(fault.is_some(), apart.starts_with("shr"), "{apart}\n{fault:?}");
        }
        for number in ["or.b32 %n, %r0, 16;", "mov.u32 %n, 16;", "mov.u32 %n, 15;\nadd.u32 %n, %n, %n;"] {
            let fault = agreed(&format!("{number}\nbar.sync %n;"), threads, 3).expect_err("a fault");
            assert!(fault.contains("only 0 to 15 exist"), "{fault}");
        }
    }
}

/// Branches over a few steps: pure ones, tests, stores, loads, atomics; in lanes, in whole warps,
/// nested, in loops, with a guard inside, with a label in the middle, and changing the condition.
#[test]
fn short_arms_agree() {
    let stores = "st.global.u32 [%out+4], %r2;\nadd.u64 %w1, %out, 4;\nld.global.u32 %r1, [%w1];\n";
    for condition in ["%p0", "!%p0", "%p3", "%p4"] {
        for arm in [
            "add.u32 %r0, %r0, 1;\nxor.b32 %r1, %r0, %r2;\n",
            "setp.lt.u32 %p1, %r0, %r1;\n@%p1 mov.u32 %r2, 9;\nselp.u32 %r3, %r0, %r1, %p1;\n",
            stores,
            "atom.global.add.u32 %r0, [%bins], 1;\n",
            "// by turns\nst.shared.u32 [%shared], %r0;\nld.shared.u32 %r1, [%shared];\n",
            "mul.wide.u32 %w1, %t, 2;\nmov.u64 %w2, room;\nadd.u64 %w1, %w2, %w1;\nst.shared.u16 [%w1], %r0;\nld.shared.u16 %r1, [%w1];\n",
            "st.local.u32 [%own+8], %r0;\nld.local.u16 %r1, [%own+10];\n",
            "mov.b64 %w1, {%r0, %r1};\nadd.u64 %w1, %w1, %w1;\nmov.b64 {%r0, %r2}, %w1;\n",
            "@%p1 bra N;\nadd.u32 %r0, %r0, 1;\nN:\nadd.u32 %r1, %r1, 1;\n",
            "add.u32 %r0, %r0, 1;\nbra.uni N;\nN:\nmul.lo.u32 %r1, %r1, 3;\n",
            "mul.wide.u32 %at, %t, 16;\nadd.u64 %at, %base, %at;\nadd.u32 %r0, %r0, %t;\n",
            "add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p0, %r0, %r1;\nxor.b32 %r2, %r2, %r0;\n",
            "add.u32 %r0, %r0, 1;\nnot.pred %p4, %p4;\nsetp.lt.u32 %p3|%p5, %r0, %r1;\nxor.b32 %r2, %r2, %r0;\n",
        ] {
            let conditions = "setp.gt.u32 %p3, %t, 40;\nand.b32 %n, %t, 32;\nsetp.eq.u32 %p4, %n, 0;\n";
            runs(&format!("{conditions}@{condition} bra M;\n{arm}M:\nadd.u32 %r3, %r3, %r0;\n"));
            let turns = if arm.starts_with("atom") { BY_TURNS } else { "" };
            runs(&format!(
                "{turns}{conditions}mov.u32 %r4, 0;\nL:\n@{condition} bra M;\n{arm}M:\nadd.u32 %r3, %r3, %r0;\nnot.pred %p0, %p0;\n\
                 add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p5, %r4, %n;\nsetp.lt.and.u32 %p5, %r4, 5, %p5;\n@%p5 bra L;\n"
            ));
        }
    }
    for (a, b) in [("%p0", "%p1"), ("!%p1", "%p0"), ("%p1", "!%p0")] {
        // Entered from another place as well, by lanes for which the condition holds.
        runs(&format!(
            "@{a} bra N;\nadd.u32 %r1, %r1, 7;\n@{b} bra M;\nN:\nadd.u32 %r0, %r0, 1;\nxor.b32 %r2, %r0, %r1;\nM:\nadd.u32 %r3, %r3, %r2;\n"
        ));
        // A register that is free after the arm, but not in lanes that are elsewhere.
        runs(&format!(
            "@{a} bra N;\nadd.u32 %r1, %r1, 7;\nmul.lo.u32 %r3, %r1, %r1;\n@{b} bra M;\nadd.u32 %r2, %r0, 1;\nxor.b32 %r1, %r2, %r1;\nM:\n\
             mov.u32 %r2, 5;\nN:\nadd.u32 %r3, %r3, %r2;\n"
        ));
    }
    fails(
        "setp.ne.u32 %p3, %t, 7;\n@%p3 bra M;\nst.global.u32 [%own], %r0;\nM:\n",
        &["store", "thread (7,0,0)"],
    );
    fails(
        "@%p0 bra M;\nadd.u64 %w1, %out, 2;\nst.global.u32 [%w1], %r0;\nM:\n",
        &["misaligned", "of its warp"],
    );
}
