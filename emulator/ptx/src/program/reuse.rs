//! Row allocation: registers share rows, so that a register file has the size of live values.
//!
//! Compilers name each value once: a long kernel has tens of thousands of registers, of which some
//! dozens are live at the same time. A row takes 128 bytes per warp. Each register gets one row for
//! its live range, approximated by the part of the code from the first to the last position where
//! it is live, as in a linear scan. Two registers share a row if these ranges do not overlap. This
//! does not change the values that a lane reads: diverged lanes may be at positions where the row
//! belongs to different registers, but each lane has its own cell of the row. The vector mode
//! analyzes the code after this change.
//!
//! Registers that may be read before they are written keep their own row, so that they never
//! contain another register's value and the register check detects them.
//!
//! The vector mode optimizes registers that are written once. Small kernels therefore stay
//! unchanged, and large ones share rows only when the rows without sharing are used up.

use super::blocks::Blocks;
use super::instruction::{Condition, Instruction, Op};
use super::types::Type;
use super::warp_group::GroupOp;
use super::{Kernel, RowKind, effects, rename, sort_constants};
use crate::ordered::sort_by_number;
use crate::semantics::Register;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Maximum number of unshared rows of a kernel or function: 128 KiB per warp.
pub(super) const OWN_ROWS: u32 = 1024;

/// Maximum number of steps from blocks to their predecessors, per instruction. Beyond it, registers
/// that are live in several blocks keep their own rows.
const MOST_STEPS: usize = 64;

pub(super) fn share_rows(kernel: &mut Kernel, own_rows: u32) {
    if kernel.rows <= own_rows {
        return;
    }
    let blocks = Blocks::of(kernel);
    let units = units(kernel);
    let mut new = NewRows { of: vec![u32::MAX; kernel.rows as usize], kinds: Vec::new() };
    for index in 0..kernel.constants.len() {
        new.own(kernel, kernel.constants[index].0.0);
    }
    for function in &kernel.functions {
        let passed = function.params.iter().chain(&function.returns);
        passed.for_each(|register| new.own(kernel, register.0));
    }
    for register in written_late(kernel) {
        new.own(kernel, register.0);
    }
    let pairs = pairs(kernel);
    pairs.iter().for_each(|register| {
        new.own(kernel, register.0);
        new.own(kernel, register.0 + 2);
    });
    let mut steps = kernel.code.len().saturating_mul(MOST_STEPS);
    let mut ranges = Vec::with_capacity(units.len());
    for unit in &units {
        let first = new.kinds.len() as u32;
        let lives = Lives::find(kernel, &blocks, unit.clone(), &mut steps);
        lives.place(kernel, own_rows, &mut new);
        ranges.push(first..new.kinds.len() as u32);
    }
    new.apply(kernel, &ranges);
}

/// Returns the instructions of the kernel, then of each function, in the order of the code.
fn units(kernel: &Kernel) -> Vec<Range<usize>> {
    let mut units = Vec::with_capacity(kernel.functions.len() + 1);
    let mut start = 0;
    for function in &kernel.functions {
        units.push(start..function.entry as usize);
        start = function.entry as usize;
    }
    units.push(start..kernel.code.len());
    units
}

/// Returns the 128-bit registers that an operation uses whole, by their first row of four.
fn pairs(kernel: &Kernel) -> Vec<Register> {
    let mut pairs = Vec::new();
    for instruction in &kernel.code {
        match &instruction.op {
            Op::Atomic(atomic) if atomic.ty == Type::B128 => {
                pairs.extend(atomic.operands.iter().chain(&atomic.out));
            }
            _ => {}
        }
    }
    pairs
}

/// Returns the results of warp group products, which are always written at their wait.
fn written_late(kernel: &Kernel) -> Vec<Register> {
    let mut late = Vec::new();
    for instruction in &kernel.code {
        let Op::WarpGroup(op) = &instruction.op else { continue };
        match &**op {
            GroupOp::Product(product) => late.extend_from_slice(&product.d),
            GroupOp::Commit | GroupOp::Wait { .. } => {}
        }
    }
    late
}

struct NewRows {
    /// `u32::MAX` for rows without a new one.
    of: Vec<u32>,
    kinds: Vec<RowKind>,
}

impl NewRows {
    /// Assigns unshared rows to a register.
    fn own(&mut self, kernel: &Kernel, register: u32) {
        if self.of[register as usize] != u32::MAX {
            return;
        }
        let row = self.add(kernel.row_kinds[register as usize]);
        self.set(register, row);
    }

    fn add(&mut self, kind: RowKind) -> u32 {
        let row = self.kinds.len() as u32;
        match kind {
            RowKind::Single => self.kinds.push(RowKind::Single),
            RowKind::Lower | RowKind::Upper => self.kinds.extend([RowKind::Lower, RowKind::Upper]),
        }
        row
    }

    fn set(&mut self, register: u32, row: u32) {
        self.of[register as usize] = row;
    }

    /// Replaces the old rows by the new ones.
    fn apply(self, kernel: &mut Kernel, ranges: &[Range<u32>]) {
        let Self { of, mut kinds } = self;
        if kinds.is_empty() {
            kinds.push(RowKind::Single);
        }
        let mut change = |register: &mut Register| {
            let row = of.get(register.0 as usize).copied();
            *register = Register(row.filter(|row| *row != u32::MAX).unwrap_or(0));
        };
        for instruction in &mut kernel.code {
            rename::registers(instruction, &mut change);
        }
        kernel.constants.iter_mut().for_each(|(register, ..)| change(register));
        sort_constants(&mut kernel.constants);
        for (function, range) in kernel.functions.iter_mut().zip(&ranges[1..]) {
            function.params.iter_mut().chain(&mut function.returns).for_each(&mut change);
            let passed = function.params.iter().chain(&function.returns);
            function.rows = passed.map(|register| register.0..register.0 + 1).collect();
            function.rows.push(range.clone());
        }
        kernel.rows = kinds.len() as u32;
        kernel.row_kinds = kinds;
    }
}

#[derive(Clone, Copy)]
struct Life {
    first: u32,
    last: u32,
    register: u32,
    /// True if no other register may share its rows.
    is_alone: bool,
}

struct Lives(Vec<Life>);

/// Position of an instruction that names a register.
#[derive(Clone, Copy)]
struct Mention {
    register: u32,
    pc: u32,
    writes: bool,
    /// True for a write in all active lanes.
    replaces: bool,
}

impl Lives {
    fn find(kernel: &Kernel, blocks: &Blocks, unit: Range<usize>, steps: &mut usize) -> Lives {
        if unit.is_empty() {
            return Lives(Vec::new());
        }
        let range = blocks.at(unit.start as u32)..blocks.at(unit.end as u32 - 1) + 1;
        let mut before = vec![Vec::new(); range.len()];
        for block in range.clone() {
            for next in blocks.successors(block).iter().filter(|next| range.contains(next)) {
                before[next - range.start].push(block - range.start);
            }
        }
        let mut walk = Walk {
            blocks,
            first_block: range.start,
            before,
            alive_at_start: vec![u32::MAX; range.len()],
            replaced_in: vec![u32::MAX; range.len()],
        };
        let mentions = mentions(kernel, unit);
        let of_register = mentions.chunk_by(|a, b| a.register == b.register);
        let mut lives: Vec<Life> = of_register.map(|mentions| walk.life(mentions, steps)).collect();
        sort_by_number(&mut lives, |life| u64::from(life.first) << 32 | u64::from(life.last));
        Lives(lives)
    }

    /// Assigns rows to each register, in the order of the code.
    fn place(self, kernel: &Kernel, own_rows: u32, new: &mut NewRows) {
        // Free rows, single and double ones.
        let mut free: [Vec<u32>; 2] = Default::default();
        let mut used = BinaryHeap::new();
        for life in self.0 {
            let kind = kernel.row_kinds[life.register as usize];
            if new.of[life.register as usize] != u32::MAX {
                continue;
            }
            if life.is_alone {
                new.own(kernel, life.register);
                continue;
            }
            while let Some(Reverse((last, row, double))) = used.peek().copied() {
                if last >= life.first {
                    break;
                }
                used.pop();
                free[usize::from(double)].push(row);
            }
            let double = kind != RowKind::Single;
            let may_share = new.kinds.len() >= own_rows as usize;
            let shared = if may_share { free[usize::from(double)].pop() } else { None };
            let row = shared.unwrap_or_else(|| new.add(kind));
            new.set(life.register, row);
            used.push(Reverse((life.last, row, double)));
        }
    }
}

/// Returns all mentions of registers in a part of the code, by register, then by position.
fn mentions(kernel: &Kernel, unit: Range<usize>) -> Vec<Mention> {
    let mut mentions = Vec::new();
    for pc in unit {
        let instruction: &Instruction = &kernel.code[pc];
        let pc = pc as u32;
        effects::reads(instruction, &mut |register| {
            mentions.push(Mention { register: register.0, pc, writes: false, replaces: false });
        });
        let replaces = instruction.guard == Condition::ALWAYS;
        effects::writes(instruction, &mut |register, _| {
            mentions.push(Mention { register: register.0, pc, writes: true, replaces });
        });
    }
    // At one position, reads come before writes.
    sort_by_number(&mut mentions, |mention| u64::from(mention.register) << 32 | u64::from(mention.pc));
    mentions
}

/// Follows the control flow from the uses of a register back to its definitions.
struct Walk<'b> {
    blocks: &'b Blocks,
    first_block: usize,
    before: Vec<Vec<usize>>,
    /// The register last found live at the start of each block and the register last written in it.
    alive_at_start: Vec<u32>,
    replaced_in: Vec<u32>,
}

impl Walk<'_> {
    /// Returns the live range of a register, from all of its mentions.
    fn life(&mut self, mentions: &[Mention], steps: &mut usize) -> Life {
        let register = mentions[0].register;
        let (mut first, mut last) = (mentions[0].pc, mentions[mentions.len() - 1].pc);
        let mut todo = Vec::new();
        let block_of = |mention: &Mention| self.blocks.at(mention.pc) - self.first_block;
        for mentions in mentions.chunk_by(|a, b| block_of(a) == block_of(b)) {
            let block = block_of(&mentions[0]);
            let replaced = mentions.iter().position(|mention| mention.replaces);
            if replaced.is_some() {
                self.replaced_in[block] = register;
            }
            if mentions[..replaced.unwrap_or(mentions.len())].iter().any(|mention| !mention.writes) {
                self.alive_at_start[block] = register;
                todo.push(block);
            }
        }
        let mut is_alone = false;
        while let Some(block) = todo.pop() {
            let Some(left) = steps.checked_sub(1 + self.before[block].len()) else {
                is_alone = true;
                break;
            };
            *steps = left;
            first = first.min(self.blocks.range(block + self.first_block).start as u32);
            // It is uninitialized at the start of the unit.
            is_alone |= block == 0;
            for before in &self.before[block] {
                last = last.max(self.blocks.range(before + self.first_block).end as u32 - 1);
                if self.replaced_in[*before] != register && self.alive_at_start[*before] != register {
                    self.alive_at_start[*before] = register;
                    todo.push(*before);
                }
            }
        }
        Life { first, last, register, is_alone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{LoadOptions, Program};
    use std::fmt::Write;

    /// Returns the number of rows of a kernel with a body that names this many registers.
    fn rows(registers: usize, body: &str) -> u32 {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n\
             .reg .b32 %r<{registers}>;\n.reg .b64 %rd<{registers}>;\n.reg .pred %p;\nmov.u32 %r0, %tid.x;\n\
             ld.param.u64 %rd0, [out];\n{body}ret;\n}}\n"
        );
        let program = Program::load(&text, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        program.kernels[0].rows
    }

    fn each(count: usize, mut part: impl FnMut(&mut String, usize)) -> String {
        let mut text = String::new();
        (1..count).for_each(|index| part(&mut text, index));
        text
    }

    #[test]
    fn rows_are_as_many_as_values_that_are_alive() {
        for n in [2000, 20_000] {
            let chain = each(n, |text, i| writeln!(text, "add.u32 %r{i}, %r{}, %r0;", i - 1).unwrap());
            let wide = each(n, |text, i| {
                writeln!(text, "mul.wide.u32 %rd{i}, %r0, 4;\nst.global.u64 [%rd0], %rd{i};").unwrap();
            });
            let branches = each(n, |text, i| {
                let last = i - 1;
                writeln!(text, "setp.eq.u32 %p, %r{last}, 7;\nmov.u32 %r{i}, %r0;\n@%p bra L{i};").unwrap();
                writeln!(text, "add.u32 %r{i}, %r{last}, %r0;\nL{i}:").unwrap();
            });
            let inside = format!("LOOP:\n{branches}setp.ne.u32 %p, %r{}, 0;\n@%p bra LOOP;\n", n - 1);
            for (what, body) in [("chain", chain), ("wide", wide), ("branches", branches), ("loop", inside)] {
                let rows = rows(n, &body);
                assert!(rows <= OWN_ROWS + 16, "{rows} rows for {n} registers in the {what}");
            }
        }
    }

    /// All of them are read at the end.
    #[test]
    fn values_that_are_alive_at_once_have_rows_of_their_own() {
        let n = 3000;
        let writes = each(n, |text, i| writeln!(text, "add.u32 %r{i}, %r0, %r0;").unwrap());
        let reads = each(n, |text, i| writeln!(text, "st.global.u32 [%rd0], %r{i};").unwrap());
        assert!(rows(n, &(writes + &reads)) > 3000);
    }

    #[test]
    fn small_kernels_stay_as_they_are() {
        let n = 500;
        let chain = each(n, |text, i| writeln!(text, "add.u32 %r{i}, %r{}, %r0;", i - 1).unwrap());
        assert!(rows(n, &chain) >= 500);
    }
}
