//! Random programs with atomic operations, volatile accesses, memory orders and fences: the check
//! of races has the same findings, in the same order and words, and the same results, in the vector
//! mode as in the plain mode.

use super::{BYTES, Generator, INDICES, THREADS, number};
use crate::device::{Args, Device};
use crate::reports::without_addresses;
use cuprum_engine::exec::Execution;
use cuprum_testing::amount;
use cuprum_testing::random::Random;
use std::fmt::Write;

/// Operations, with their type and operands.
const OPERATIONS: &[(&str, &str, &str)] = &[
    ("add", "u32", "%t"),
    ("add", "u32", "1"),
    ("min", "s32", "%v"),
    ("max", "u32", "%w"),
    ("and", "b32", "%t"),
    ("or", "b32", "%t"),
    ("xor", "b32", "%v"),
    ("exch", "b32", "%t"),
    ("exch", "b32", "7"),
    ("inc", "u32", "%v"),
    ("dec", "u32", "%w"),
    ("cas", "b32", "0, %t"),
    ("cas", "b32", "%v, 1"),
    ("add", "f32", "%f"),
    ("add", "u64", "%e"),
    ("max", "u64", "%e"),
    ("exch", "b64", "%e"),
    ("cas", "b64", "%e, 1"),
];

/// Orders of atomic operations, of loads and of stores.
const ATOMIC: &[&str] = &[
    "",
    "",
    "relaxed.cta.",
    "relaxed.gpu.",
    "relaxed.sys.",
    "acquire.gpu.",
    "release.cta.",
    "release.gpu.",
    "acq_rel.sys.",
];
const LOAD: &[&str] = &["", "volatile.", "relaxed.cta.", "relaxed.gpu.", "acquire.cta.", "acquire.sys."];
const STORE: &[&str] = &["", "volatile.", "relaxed.cta.", "relaxed.sys.", "release.cta.", "release.gpu."];

const FENCES: &[&str] =
    &["fence.acq_rel.cta;", "fence.acq_rel.gpu;", "fence.sc.sys;", "membar.cta;", "membar.gl;"];

const GUARDS: &[&str] = &["", "", "", "@%p", "@%q"];

impl Generator {
    /// An access that is mostly strong, to bytes that others access in other ways, or a fence.
    pub(super) fn strong_access(&mut self) {
        match self.random.below(8) {
            0 => {
                let fence = self.random.pick(FENCES);
                writeln!(self.text, "{fence}").unwrap();
            }
            1..4 => self.ordered_access(),
            _ => self.atomic(),
        }
    }

    /// Computes an address of this many bytes in `%a`. Returns the space of the access.
    fn address(&mut self, bytes: u32) -> String {
        // The memory of the block, or the memory of all blocks.
        let (base, space) = self.random.pick(&[
            ("mov.u64 %o, s;", "shared"),
            ("mov.u64 %o, s;", "shared"),
            ("mov.u64 %o, %g;", "global"),
            ("mov.u64 %o, %g;", "global"),
            ("ld.param.u64 %o, [out];", "global"),
        ]);
        let index = self.random.pick(INDICES);
        let narrow = if bytes == 8 { "and.b32 %i, %i, 31;" } else { "" };
        let odd = if self.random.once_in(200) { "add.u64 %a, %a, 2;" } else { "" };
        writeln!(
            self.text,
            "{index} {narrow} mul.wide.u32 %a, %i, {bytes}; {base} add.u64 %a, %a, %o; {odd}"
        )
        .unwrap();
        if self.random.once_in(4) {
            writeln!(self.text, "cvta.{space}.u64 %a, %a;").unwrap();
            return String::new();
        }
        format!("{space}.")
    }

    fn ordered_access(&mut self) {
        let kinds = [("u32", "%v", 4), ("u32", "%w", 4), ("u8", "%h", 1), ("u64", "%e", 8)];
        let (kind, register, bytes) = self.random.pick(&kinds);
        let (space, guard) = (self.address(bytes), self.random.pick(GUARDS));
        if self.random.once_in(2) {
            let order = self.random.pick(LOAD);
            writeln!(self.text, "{guard} ld.{order}{space}{kind} {register}, [%a];").unwrap();
        } else {
            let order = self.random.pick(STORE);
            writeln!(self.text, "{guard} st.{order}{space}{kind} [%a], {register};").unwrap();
        }
    }

    fn atomic(&mut self) {
        let (name, ty, operands) = self.random.pick(OPERATIONS);
        let wide = ty.ends_with("64");
        let (space, guard) = (self.address(if wide { 8 } else { 4 }), self.random.pick(GUARDS));
        let order = self.random.pick(ATOMIC);
        if self.random.once_in(3) && !matches!(name, "exch" | "cas") {
            let order = if order.starts_with("acq") { "" } else { order };
            writeln!(self.text, "{guard} red.{order}{space}{name}.{ty} [%a], {operands};").unwrap();
        } else {
            let out = if ty == "f32" { "%f" } else { ["%v", "%e"][usize::from(wide)] };
            writeln!(self.text, "{guard} atom.{order}{space}{name}.{ty} {out}, [%a], {operands};").unwrap();
        }
    }
}

/// Findings that a launch reports and continues after, its fault, and the memory after it.
type Outcome = (Vec<String>, String, Vec<u8>);

/// Runs a program in a mode, with checks that depend on the seed.
fn outcome(text: &str, mode: Execution, seed: u64) -> Outcome {
    let mut device = Device::load_tracked(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    device.options.mode = mode;
    device.options.check_races = true;
    device.options.check_atomic_reads = seed % 3 == 0;
    device.options.check_init = seed % 4 == 0;
    device.findings = (seed % 2 == 0).then(Default::default);
    // A part is not initialized.
    let out = device.partly_written(&vec![1u8; 3 * BYTES - 700], 3 * BYTES);
    let result = device.launch("k", 3, THREADS, &Args::default().buffer(&out));
    let fault = result.err().map_or(String::new(), |fault| without_addresses(&fault.to_string()));
    let findings = device.findings.take().map(|list| list.into_inner().unwrap()).unwrap_or_default();
    let findings = findings.iter().map(|text| without_addresses(text)).collect();
    (findings, fault, out.read())
}

#[test]
fn findings_of_strong_accesses_are_the_same_word_for_word() {
    let first = number("CUPRUM_FUZZ_SEED").unwrap_or(1);
    let count = number("CUPRUM_FUZZ_PROGRAMS").unwrap_or(if amount::all() { 4000 } else { 400 });
    let (mut findings, mut silent) = (0, 0);
    for seed in first..first + count {
        let (random, written) = (Random::new(seed), seed % 7 != 0);
        let strong = [0, 4, 10][seed as usize % 3];
        let text =
            Generator { random, text: String::new(), labels: 0, written, doubtful: false, strong }.program();
        let [expected, found] = [Execution::Plain, Execution::Vector].map(|mode| outcome(&text, mode, seed));
        assert_eq!(found.0, expected.0, "CUPRUM_FUZZ_SEED={seed}\n{text}");
        assert_eq!(found.1, expected.1, "CUPRUM_FUZZ_SEED={seed}\n{text}");
        // A fault ends the launch, and other blocks may have run before.
        let compared = expected.1.is_empty();
        assert!(!compared || found.2 == expected.2, "other results, CUPRUM_FUZZ_SEED={seed}\n{text}");
        findings += expected.0.len() + usize::from(!expected.1.is_empty());
        silent += usize::from(expected.0.is_empty() && expected.1.is_empty());
    }
    assert!(
        count < 100 || findings as u64 > count / 4 && silent as u64 > count / 20,
        "{findings} findings, {silent} without"
    );
}
