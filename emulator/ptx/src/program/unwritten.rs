//! Registers that a kernel may read before they are written.
//!
//! On hardware they contain arbitrary values. Here they are zero in each block, so that the results
//! of a kernel depend neither on the previous block nor on the mode of execution.

use super::blocks::Blocks;
use super::instruction::{Condition, Op};
use super::kernel::Function;
use super::{Kernel, RowKind, effects};
use crate::semantics::{Predicate, Register};

pub use super::kernel::Unwritten;

impl Kernel {
    /// Returns the registers that may be read before they are written.
    #[doc(hidden)]
    #[inline]
    pub fn unwritten(&self) -> &Unwritten {
        self.unwritten.get_or_init(|| Unwritten::find(self))
    }
}

impl Unwritten {
    /// Finds the registers that are live at the start of the kernel, or of one of its functions.
    pub fn find(kernel: &Kernel) -> Unwritten {
        let blocks = Blocks::of(kernel);
        let (reads, writes) = accesses(kernel, &blocks);
        let mut search = Search::new(kernel, &blocks);
        let mut unwritten = Unwritten::default();
        let mut written = writes.chunk_by(|first, next| first.bit == next.bit).peekable();
        for read in reads.chunk_by(|first, next| first.bit == next.bit) {
            let bit = read[0].bit;
            while written.next_if(|writes| writes[0].bit < bit).is_some() {}
            let writes = written.peek().filter(|writes| writes[0].bit == bit);
            let is_ignored = match bit.checked_sub(kernel.rows) {
                None => kernel.row_kinds[bit as usize] == RowKind::Upper || is_constant(kernel, bit),
                Some(predicate) => Predicate(predicate) == Predicate::TRUE,
            };
            if is_ignored || !search.reaches_start(read, writes.copied().unwrap_or_default()) {
                continue;
            }
            match bit.checked_sub(kernel.rows) {
                None => unwritten.registers.push(Register(bit)),
                Some(predicate) => unwritten.predicates.push(Predicate(predicate)),
            }
        }
        unwritten
    }
}

fn is_constant(kernel: &Kernel, row: u32) -> bool {
    // They are sorted by their rows.
    kernel.constants.binary_search_by_key(&row, |(constant, ..)| constant.0).is_ok()
}

/// A block that reads a row or a predicate, or writes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// The number of a row; after all rows, of a predicate.
    bit: u32,
    block: usize,
}

/// Returns the reads that no instruction of their block precedes with a write, and the writes, in
/// order.
fn accesses(kernel: &Kernel, blocks: &Blocks) -> (Vec<Place>, Vec<Place>) {
    /// The last block that read or wrote it.
    #[derive(Clone, Copy)]
    struct Last {
        read: usize,
        written: usize,
    }
    let bits = (kernel.rows + kernel.predicates) as usize;
    let mut last = vec![Last { read: usize::MAX, written: usize::MAX }; bits];
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for number in 0..blocks.count() {
        let place = |bit| Place { bit, block: number };
        for pc in blocks.range(number) {
            let instruction = &kernel.code[pc];
            let mut read = |bit: u32| {
                let last = &mut last[bit as usize];
                if last.read != number && last.written != number {
                    last.read = number;
                    reads.push(place(bit));
                }
            };
            effects::reads(instruction, &mut |register| read(register.0));
            effects::conditions(instruction, &mut |predicate| read(kernel.rows + predicate.0));
            if matches!(instruction.op, Op::Return) {
                let of_function = kernel.functions.iter().filter(|function| function.entry as usize <= pc);
                let function = of_function.max_by_key(|function| function.entry);
                function.iter().flat_map(|function| &function.returns).for_each(|register| read(register.0));
            }
            if instruction.guard == Condition::ALWAYS {
                let mut write = |bit: u32| {
                    if std::mem::replace(&mut last[bit as usize].written, number) != number {
                        writes.push(place(bit));
                    }
                };
                effects::writes(instruction, &mut |register, _| write(register.0));
                effects::predicates(instruction, &mut |predicate| write(kernel.rows + predicate.0));
            }
        }
    }
    reads.sort_unstable();
    writes.sort_unstable();
    (reads, writes)
}

/// Searches backward from the reads of one row after the other.
struct Search<'k> {
    kernel: &'k Kernel,
    predecessors: Vec<Vec<usize>>,
    /// The functions that begin at a block, in the order of blocks.
    entries: Vec<(usize, usize)>,
    /// The row for which a block was visited last, or needs no visit because it writes the row.
    seen: Vec<u32>,
    open: Vec<usize>,
}

impl<'k> Search<'k> {
    fn new(kernel: &'k Kernel, blocks: &Blocks) -> Self {
        let entry = |(index, function): (usize, &Function)| (blocks.at(function.entry), index);
        let mut entries: Vec<_> = kernel.functions.iter().enumerate().map(entry).collect();
        entries.sort_unstable();
        let (predecessors, seen) = (blocks.predecessors(), vec![u32::MAX; blocks.count()]);
        Self { kernel, predecessors, entries, seen, open: Vec::new() }
    }

    /// True if a path without a write leads from a start to one of the reads.
    fn reaches_start(&mut self, reads: &[Place], writes: &[Place]) -> bool {
        self.open.clear();
        for read in reads {
            self.seen[read.block] = read.bit;
            self.open.push(read.block);
        }
        for write in writes {
            self.seen[write.block] = write.bit;
        }
        let bit = reads[0].bit;
        while let Some(block) = self.open.pop() {
            if self.starts_without(block, bit) {
                return true;
            }
            for &before in &self.predecessors[block] {
                if std::mem::replace(&mut self.seen[before], bit) != bit {
                    self.open.push(before);
                }
            }
        }
        false
    }

    /// True if the kernel begins here, or a function that does not receive the row.
    fn starts_without(&self, block: usize, bit: u32) -> bool {
        let first = self.entries.partition_point(|(entry, _)| *entry < block);
        let mut here = self.entries[first..].iter().take_while(|(entry, _)| *entry == block);
        let receives =
            |function: usize| self.kernel.functions[function].params.iter().any(|param| param.0 == bit);
        block == 0 || here.any(|(_, function)| !receives(*function))
    }
}

#[cfg(test)]
mod tests {
    use crate::program::{LoadOptions, Program};
    use std::fmt::Write as _;

    /// Returns the numbers of rows and predicates that count as unwritten.
    fn unwritten(functions: &str, body: &str) -> (usize, usize) {
        let text = format!(
            ".version 8.0 .target sm_90 .address_size 64 {functions}
            .visible .entry k(.param .u64 out) {{
                .reg .b32 %r<20000>; .reg .b64 %x; .reg .pred %p<20000>;
                ld.param.u64 %x, [out]; mov.u32 %r0, %tid.x; {body}
                st.global.u32 [%x], %r0; ret;
            }}"
        );
        let program = Program::load(&text, &LoadOptions::default()).unwrap();
        let unwritten = program.kernels()[0].unwritten();
        (unwritten.registers.len(), unwritten.predicates.len())
    }

    #[test]
    fn registers_count_if_some_path_reads_them_first() {
        for (body, expected) in [
            ("mov.u32 %r1, 1; add.u32 %r0, %r0, %r1;", (0, 0)),
            ("add.u32 %r0, %r0, %r1; mov.u32 %r1, 1;", (1, 0)),
            ("setp.gt.u32 %p1, %r0, 7; @%p1 bra A; mov.u32 %r1, 1; A: add.u32 %r0, %r0, %r1;", (1, 0)),
            ("setp.gt.u32 %p1, %r0, 7; @%p1 mov.u32 %r1, 1; add.u32 %r0, %r0, %r1;", (1, 0)),
            (
                "setp.gt.u32 %p1, %r0, 7; @%p1 bra A; mov.u32 %r1, 1; bra B;
                A: mov.u32 %r1, 2; B: add.u32 %r0, %r0, %r1;",
                (0, 0),
            ),
            ("mov.u32 %r1, 0; A: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra A;", (0, 0)),
            ("A: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra A;", (1, 0)),
            ("@%p2 add.u32 %r0, %r0, 1;", (0, 1)),
        ] {
            assert_eq!(unwritten("", body), expected, "{body}");
        }
    }

    #[test]
    fn functions_receive_their_parameters_and_nothing_else() {
        let call = ".reg .b32 %a; { .param .b32 p, q; st.param.b32 [p], %r0; call (q), f, (p); ld.param.b32 %r0, [q]; }";
        let function = |body| {
            format!(
                ".func (.reg .b32 q) f(.reg .b32 p) {{ .reg .b32 %s; .reg .pred %p; setp.gt.u32 %p, p, 7; {body} ret; }}"
            )
        };
        assert_eq!(unwritten(&function("add.u32 q, p, 1;"), call), (0, 0));
        assert_eq!(unwritten(&function("add.u32 q, p, %s;"), call), (1, 0));
        assert_eq!(unwritten(&function("@%p add.u32 q, p, 1;"), call), (1, 0));
    }

    /// Whose sets of registers at all branches would need more than 20 MiB.
    #[test]
    fn huge_kernels_are_analyzed_too() {
        let mut body = String::new();
        for number in 1..16_000 {
            let part = "setp.gt.u32 %p, %r0, 7; @%p bra A; mov.u32 %r, 1; add.u32 %r0, %r0, %r; A:";
            let part = part.replace("%p", &format!("%p{number}")).replace("%r,", &format!("%r{number},"));
            writeln!(
                body,
                "{}",
                part.replace("%r;", &format!("%r{number};")).replace("A", &format!("A{number}"))
            )
            .unwrap();
        }
        assert_eq!(unwritten("", &body), (0, 0));
    }
}
