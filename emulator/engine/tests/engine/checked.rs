//! The checks of accesses give the same verdicts in all modes, on random programs.
//!
//! `CUPRUM_FUZZ_SEED` (printed) and `CUPRUM_FUZZ_PROGRAMS` select random programs.

mod strong;

use crate::device::{Args, Device, MODES};
use crate::reports::without_addresses;
use cuprum_engine::exec::{ExecOptions, Execution};
use cuprum_engine::report::Fault;
use cuprum_testing::random::Random;
use std::collections::HashMap;
use std::fmt::Write;

/// Threads of a block; the last warp is not full.
const THREADS: u32 = 80;
/// Bytes of each memory: shared, local, and per block in global memory.
const BYTES: usize = 1024;

/// Instructions that compute the index `%i` of a thread.
const INDICES: &[&str] = &[
    "mov.u32 %i, %t;",
    "mov.u32 %i, %t;",
    "xor.b32 %i, %t, 1;",
    "xor.b32 %i, %t, 32;",
    "shr.u32 %i, %t, 1;",
    "and.b32 %i, %t, 31;",
    "and.b32 %i, %t, 7;",
    "add.u32 %i, %t, 1;",
    "sub.u32 %i, 79, %t;",
    "mul.lo.u32 %i, %t, 5; and.b32 %i, %i, 63;",
    "mov.u32 %i, 3;",
    "shr.u32 %i, %t, 4;",
];

/// Instructions after which threads know each other's accesses.
const MEETINGS: &[&str] = &[
    "bar.sync 0;",
    "bar.sync 0;",
    "bar.warp.sync 0xffffffff;",
    "shfl.sync.bfly.b32 %v, %v, 1, 31, 0xffffffff;",
    "membar.gl;",
];

/// Instructions whose results are initialized in some threads or not at all.
const DOUBTFUL: &[&str] = &[
    "@%p mov.u32 %u0, %t;",
    "add.u32 %u1, %u0, 1;",
    "@!%p mov.u32 %u1, 3;",
    "mov.u32 %w, %u1;",
    "selp.u32 %v, %u0, %t, %p;",
    "@%p setp.lt.u32 %k, %t, 20;",
    "setp.lt.u32 %q, %u0, 30;",
    "@%k mov.u32 %v, 1;",
    "mul.wide.u32 %d, %u1, 0;",
    "selp.u32 %v, 1, 2, %k;",
];

struct Generator {
    random: Random,
    text: String,
    labels: usize,
    /// True if all memory is written first, so that only later accesses matter.
    written: bool,
    /// True if some registers are not initialized.
    doubtful: bool,
    /// Number of strong accesses among ten.
    strong: usize,
}

impl Generator {
    fn program(mut self) -> String {
        let begin = ".version 8.0 .target sm_90 .address_size 64\n.visible .entry k(.param .u64 out) {\n\
             .reg .b32 %t, %i, %v, %w, %x, %y, %n; .reg .b64 %a, %g, %o; .reg .b16 %h; .reg .pred %p, %q, %l;\n\
             .reg .b32 %u0, %u1; .reg .b64 %d, %e; .reg .f32 %f; .reg .pred %k;\n\
             .shared .align 16 .b8 s[1024]; .local .align 16 .b8 m[1024];\n\
             ld.param.u64 %g, [out]; mov.u32 %t, %ctaid.x; mul.wide.u32 %o, %t, 1024; add.u64 %g, %g, %o;\n\
             mov.u32 %t, %tid.x; mov.u32 %v, %t; mov.u32 %w, %t; mov.u32 %x, %t; mov.u32 %y, 7;\n\
             mov.u32 %i, %t; cvt.u16.u32 %h, %t; cvt.u64.u32 %e, %t; setp.lt.u32 %p, %t, 40; setp.eq.u32 %q, %t, 70;\n";
        self.text.push_str(begin);
        if self.written {
            self.text.push_str(
                "mul.wide.u32 %a, %t, 8; mov.u64 %o, s; add.u64 %a, %a, %o; st.shared.u64 [%a], %a;\n\
                 st.shared.u32 [s+640], 0; bar.sync 0;\n",
            );
        }
        for _ in 0..4 + self.random.below(8) {
            self.work(true);
        }
        self.text.push_str("ret; }\n");
        self.text
    }

    fn work(&mut self, may_nest: bool) {
        if self.doubtful && self.random.below(3) == 0 {
            let doubtful = self.random.pick(DOUBTFUL);
            writeln!(self.text, "{doubtful}").unwrap();
        }
        match self.random.below(if may_nest { 12 } else { 8 }) {
            0..8 if self.random.below(10) < self.strong => self.strong_access(),
            0..8 => self.access(),
            8..10 => {
                let meeting = self.random.pick(MEETINGS);
                writeln!(self.text, "{meeting}").unwrap();
            }
            10 => self.arm(),
            _ => self.repeat(),
        }
    }

    /// Some threads skip some accesses.
    fn arm(&mut self) {
        let (label, guard) = (self.labels, self.random.pick(&["@%p", "@!%p", "@%q", "@!%q"]));
        self.labels += 1;
        writeln!(self.text, "{guard} bra L{label};").unwrap();
        (0..1 + self.random.below(3)).for_each(|_| self.work(false));
        writeln!(self.text, "L{label}:").unwrap();
    }

    fn repeat(&mut self) {
        let label = self.labels;
        self.labels += 1;
        writeln!(self.text, "mov.u32 %n, 0;\nL{label}:").unwrap();
        (0..1 + self.random.below(3)).for_each(|_| self.work(false));
        if self.random.below(2) == 0 {
            self.text.push_str("bar.sync 0;\n");
        }
        writeln!(self.text, "add.u32 %n, %n, 1; setp.lt.u32 %l, %n, 3; @%l bra L{label};").unwrap();
    }

    fn access(&mut self) {
        let space = self.random.pick(&["shared", "shared", "global", "local"]);
        let (kind, bytes) = [
            ("u32", 4),
            ("u32", 4),
            ("u32", 4),
            ("u8", 1),
            ("u16", 2),
            ("u64", 8),
            ("v2.u32", 8),
            ("v4.u32", 16),
        ][self.random.below(8)];
        let base = match space {
            "shared" => "mov.u64 %o, s;",
            "local" => "mov.u64 %o, m;",
            _ => "mov.u64 %o, %g;",
        };
        let bytes = if self.random.below(4) == 0 && bytes < 16 { 2 * bytes } else { bytes };
        let index = self.random.pick(INDICES);
        // At most 80 indices: wide accesses use a part of them, to stay within the memory.
        let narrow = if bytes >= 8 { "and.b32 %i, %i, 31;" } else { "" };
        let guard = self.random.pick(&["", "", "", "@%p", "@%q"]);
        writeln!(self.text, "{index} {narrow} mul.wide.u32 %a, %i, {bytes}; {base} add.u64 %a, %a, %o;")
            .unwrap();
        // Any access may have a generic address.
        let word = if self.random.below(3) == 0 {
            writeln!(self.text, "cvta.{space}.u64 %a, %a;").unwrap();
            String::new()
        } else {
            format!("{space}.")
        };
        let order = if kind == "u32" { self.random.pick(&["", "", "", "", "volatile."]) } else { "" };
        let (value, pair) = (self.random.pick(&["%v", "%w", "%y"]), "{%v, %w}");
        let value = match kind {
            "u64" => "%e",
            "v2.u32" => pair,
            "v4.u32" => "{%v, %w, %x, %y}",
            "u8" | "u16" => "%h",
            _ => value,
        };
        match self.random.below(12) {
            0 if space != "local" && kind == "u32" => {
                writeln!(self.text, "{guard} atom.{word}add.u32 %v, [%a], 1;").unwrap();
            }
            0..6 => writeln!(self.text, "{guard} ld.{order}{word}{kind} {value}, [%a];").unwrap(),
            _ => writeln!(self.text, "{guard} st.{order}{word}{kind} [%a], {value};").unwrap(),
        }
    }
}

/// Runs a program in a mode with a check.
fn run(text: &str, mode: Execution, check: fn(&mut ExecOptions)) -> Result<(), Box<Fault>> {
    let mut device = Device::load_tracked(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    device.options.mode = mode;
    check(&mut device.options);
    // The end of the second block's part is not initialized.
    let out = device.partly_written(&vec![1u8; 2 * BYTES - 700], 2 * BYTES);
    device.launch("k", 2, THREADS, &Args::default().buffer(&out)).map(drop)
}

/// Returns the number in a variable of the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Compares the findings of a check between the modes. Requires that it finds each of these kinds
/// in some programs, and nothing in others.
fn compare(check: fn(&mut ExecOptions), kinds: &[&str]) {
    let first = number("CUPRUM_FUZZ_SEED").unwrap_or(1);
    let count = number("CUPRUM_FUZZ_PROGRAMS").unwrap_or(300);
    let mut verdicts: HashMap<String, usize> = HashMap::new();
    for seed in first..first + count {
        let random = Random::new(seed);
        let (written, doubtful) = (seed % 2 == 0, seed % 3 == 0);
        let text =
            Generator { random, text: String::new(), labels: 0, written, doubtful, strong: 0 }.program();
        let expected = verdict(&text, Execution::Plain, check);
        // Threads that race may read before or after others write.
        let races = verdict(&text, Execution::Plain, |options| options.check_races = true) != "nothing";
        for mode in &MODES[1..] {
            if *mode == Execution::Vector || !races {
                let found = verdict(&text, *mode, check);
                assert_eq!(found, expected, "{mode:?}, CUPRUM_FUZZ_SEED={seed}\n{text}");
            }
        }
        *verdicts.entry(expected.lines().next().unwrap_or_default().to_owned()).or_default() += 1;
    }
    for kind in kinds.iter().chain([&"nothing"]).filter(|_| count >= 100) {
        let found: usize =
            verdicts.iter().filter(|(text, _)| text.contains(kind)).map(|(_, count)| *count).sum();
        assert!(found >= 10, "{kind}: {verdicts:?}");
    }
}

/// Returns the finding of a check without the earlier access, of which there may be several.
fn verdict(text: &str, mode: Execution, check: fn(&mut ExecOptions)) -> String {
    match run(text, mode, check) {
        Ok(()) => "nothing".to_owned(),
        Err(fault) => {
            let report = without_addresses(&fault.to_string());
            report.split("\n  earlier").next().unwrap_or_default().to_owned()
        }
    }
}

const RACES: [&str; 3] = ["write after read", "read after write", "write after write"];

#[test]
fn races_of_random_programs_are_the_same_in_all_modes() {
    compare(|options| options.check_races = true, &RACES);
}

#[test]
fn races_with_atomics_of_random_programs_are_the_same_in_all_modes() {
    compare(|options| (options.check_races, options.check_atomic_reads) = (true, true), &RACES);
}

#[test]
fn uninitialized_reads_of_random_programs_are_the_same_in_all_modes() {
    compare(|options| options.check_init = true, &["uninitialized memory", "use of a register"]);
}
