//! Branches, loops, and short pieces of code that some lanes skip.

use super::{Generator, PREDICATES};
use std::fmt::Write;

/// Numbers that one place of a program changes and reads.
const COUNTERS: usize = 8;

/// Returns the beginning of programs with these numbers.
pub(super) fn start() -> String {
    let mut start = format!(".reg .b32 %private<{COUNTERS}>;\n");
    for counter in 0..COUNTERS {
        writeln!(start, "mov.u32 %private{counter}, {counter};").unwrap();
    }
    start
}

impl Generator {
    pub(super) fn conditional(&mut self) {
        let (otherwise, end) = (self.labels, self.labels + 1);
        self.labels += 2;
        self.nesting += 1;
        let p = self.random.below(PREDICATES);
        self.line(&format!("@%p{p} bra L{otherwise};"));
        self.block();
        self.line(&format!("bra L{end};"));
        self.line(&format!("L{otherwise}:"));
        if self.random.below(3) != 0 {
            self.block();
        }
        self.line(&format!("L{end}:"));
        self.nesting -= 1;
    }

    /// Adds a loop that lanes leave at different times.
    pub(super) fn repetition(&mut self) {
        let (start, end) = (self.labels, self.labels + 1);
        self.labels += 2;
        let depth = self.depth;
        self.depth += 1;
        self.nesting += 1;
        let limit = self.register('r');
        let most = [1, 3, 7][self.random.below(3)];
        self.line(&format!("and.b32 %limit{depth}, {limit}, {most};"));
        self.line(&format!("mov.u32 %count{depth}, 0;"));
        self.line(&format!("L{start}:"));
        if self.random.below(2) == 0 {
            self.skipped();
        }
        self.block();
        if self.random.below(2) == 0 {
            let p = self.random.below(PREDICATES);
            self.line(&format!("@%p{p} bra L{end};"));
            self.operation();
        }
        self.line(&format!("add.u32 %count{depth}, %count{depth}, 1;"));
        self.line(&format!("setp.le.u32 %again{depth}, %count{depth}, %limit{depth};"));
        self.line(&format!("@%again{depth} bra L{start};"));
        self.line(&format!("L{end}:"));
        self.depth -= 1;
        self.nesting -= 1;
    }

    /// Adds a few instructions that some lanes skip. Most of them change a number that only this
    /// place changes and reads, before its result changes others.
    pub(super) fn skipped(&mut self) {
        let (end, p) = (self.labels, self.random.below(PREDICATES));
        self.labels += 1;
        self.nesting += 1;
        let negated = self.random.pick(&["", "!"]);
        self.line(&format!("@{negated}%p{p} bra L{end};"));
        if self.counters < COUNTERS {
            let counter = self.counters;
            self.counters += 1;
            let (added, changed) = (self.register('r'), self.register('r'));
            self.line(&format!("add.u32 %private{counter}, %private{counter}, {added};"));
            self.line(&format!("xor.b32 {changed}, {changed}, %private{counter};"));
        }
        for _ in 0..self.random.below(3) {
            let operator = self.random.pick(&["add.u32", "sub.u32", "xor.b32", "mul.lo.u32", "min.s32"]);
            let [out, a, b] = std::array::from_fn(|_| self.register('r'));
            self.line(&format!("{operator} {out}, {a}, {b};"));
        }
        self.line(&format!("L{end}:"));
        self.nesting -= 1;
    }
}
