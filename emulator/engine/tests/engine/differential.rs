//! Compares the modes on random programs.
//!
//! `CUPRUM_FUZZ_SEED` (printed) and `CUPRUM_FUZZ_PROGRAMS` select random programs.

mod agreed;
mod flow;
mod launch;
mod on_hardware;
mod operations;

use cuprum_testing::random::Random;
use operations::OPERATIONS;
use std::fmt::Write;

/// Number of registers of each kind in a random program.
const REGISTERS: usize = 6;
const PREDICATES: usize = 4;
/// Number of words of the buffer that each thread may read and write.
const WORDS: usize = 8;

struct Generator {
    random: Random,
    text: String,
    labels: usize,
    depth: usize,
    nesting: usize,
    /// True if divergence makes otherwise regular registers irregular.
    wild: bool,
    /// Counters that the program has so far.
    counters: usize,
}

/// The first kind of work that only reads regular registers.
const FIRST_READING: usize = 18;

impl Generator {
    fn register(&mut self, kind: char) -> String {
        format!("%{kind}{}", self.random.below(REGISTERS))
    }

    fn source(&mut self, kind: char) -> String {
        if kind == 'r' && self.random.below(8) == 0 {
            let constants = ["0", "1", "31", "-1", "0x80000000", "255", "%k0", "%k1", "%tid.x", "%laneid"];
            let constant = self.random.pick(&constants);
            // Only `mov` accepts special registers.
            return if constant.starts_with("%t") || constant.starts_with("%l") {
                "%k1".into()
            } else {
                constant.into()
            };
        }
        self.register(kind)
    }

    fn guard(&mut self) -> String {
        match self.random.below(4) {
            0 => format!("@%p{} ", self.random.below(PREDICATES)),
            1 if self.random.below(2) == 0 => format!("@!%p{} ", self.random.below(PREDICATES)),
            _ => String::new(),
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn operation(&mut self) {
        let guard = self.guard();
        let (opcode, kinds) = OPERATIONS[self.random.below(OPERATIONS.len())];
        // Positions and lengths of bit fields are numbers up to 255, or registers.
        let of_field = if matches!(&opcode[..3], "bfe" | "bfi") { kinds.len() - 2 } else { kinds.len() };
        let mut operands = String::new();
        for (index, kind) in kinds.chars().enumerate() {
            let operand =
                if index == 0 || index >= of_field { self.register(kind) } else { self.source(kind) };
            write!(operands, "{}{operand}", if index == 0 { "" } else { ", " }).unwrap();
        }
        self.line(&format!("{guard}{opcode} {operands};"));
    }

    fn comparison(&mut self) {
        let guard = self.guard();
        let out = self.random.below(PREDICATES);
        let (kind, types): (char, &[&str]) =
            [('r', &["u32", "s32"][..]), ('l', &["u64", "s64"]), ('f', &["f32", "ftz.f32"]), ('g', &["f64"])]
                [self.random.below(4)];
        let ty = self.random.pick(types);
        let operator = self.random.pick(&["eq", "ne", "lt", "le", "gt", "ge"]);
        let (a, b) = (self.source(kind), self.register(kind));
        match self.random.below(4) {
            0 => {
                let (inverse, other) = ((out + 1) % PREDICATES, self.random.below(PREDICATES));
                let logic = self.random.pick(&["and", "or", "xor"]);
                self.line(&format!(
                    "{guard}setp.{operator}.{logic}.{ty} %p{out}|%p{inverse}, {a}, {b}, %p{other};"
                ));
            }
            1 => {
                let (x, y) = (self.random.below(PREDICATES), self.random.below(PREDICATES));
                let logic = self.random.pick(&["and", "or", "xor"]);
                self.line(&format!("{guard}{logic}.pred %p{out}, %p{x}, %p{y};"));
            }
            _ => self.line(&format!("{guard}setp.{operator}.{ty} %p{out}, {a}, {b};")),
        }
    }

    fn selection(&mut self) {
        let guard = self.guard();
        let (kind, ty) = [('r', "b32"), ('l', "b64"), ('f', "f32"), ('g', "f64")][self.random.below(4)];
        let (d, a, b) = (self.register(kind), self.register(kind), self.register(kind));
        let condition = self.random.below(PREDICATES);
        self.line(&format!("{guard}selp.{ty} {d}, {a}, {b}, %p{condition};"));
    }

    /// Adds a load or store of this thread's words, or a load of words that no thread writes.
    fn memory(&mut self) {
        let guard = self.guard();
        let index = self.register('r');
        let is_own = self.random.below(2) == 0;
        let (space, base) = if is_own {
            [("global", "%own"), ("shared", "%ownshared")][self.random.below(2)]
        } else {
            ("global", "%input")
        };
        let (kind, ty, bytes) = [
            ('r', "u32", 4),
            ('r', "s16", 2),
            ('r', "u8", 1),
            ('f', "f32", 4),
            ('l', "u64", 8),
            ('g', "f64", 8),
        ][self.random.below(6)];
        let count = WORDS * 4 / bytes;
        let mask = if is_own { count - 1 } else { 64 / bytes - 1 };
        // For input, the index often starts at the thread's number: neighboring words.
        let how = if is_own { self.random.below(2) } else { self.random.below(4) };
        match how {
            0 => self.line(&format!("and.b32 %i, {index}, {mask};")),
            1 => self.line(&format!("mov.u32 %i, {};", mask / 2)),
            2 => self.line(&format!("add.s32 %i, %k1, {};", mask / 2)),
            _ => self.line("shr.u32 %i, %k1, 4;"),
        }
        if self.random.below(2) == 0 {
            self.line(&format!("mul.wide.u32 %a, %i, {bytes};"));
        } else {
            self.line(&format!("mul.wide.s32 %a, %i, {bytes};"));
        }
        self.line(&format!("add.s64 %a, {base}, %a;"));
        let register = self.register(kind);
        let (second, third, fourth) = (self.register(kind), self.register(kind), self.register(kind));
        let distinct = [&register, &second, &third, &fourth];
        let all_distinct = (0..4).all(|i| (0..i).all(|j| distinct[i] != distinct[j]));
        let whole = ty == "f32" && how == 1;
        let stores = is_own && self.random.below(2) == 0;
        let (vector, list) = if whole && all_distinct {
            self.line("and.b64 %a, %a, -16;");
            (".v4", format!("{{{register}, {second}, {third}, {fourth}}}"))
        } else {
            ("", register)
        };
        let line = if stores {
            format!("{guard}st.{space}{vector}.{ty} [%a], {list};")
        } else {
            format!("{guard}ld.{space}{vector}.{ty} {list}, [%a];")
        };
        self.line(&line);
    }

    /// Adds work on registers whose lanes differ regularly: `%c1` is the same in all threads of a
    /// block, `%c0` grows with x, `%c2` with y, `%c3` with both; `%d2` is the same in all threads,
    /// `%d0` and `%d1` grow with x. Divergence can make them irregular.
    fn regular(&mut self) {
        let guard = if self.wild && self.random.below(4) == 0 { self.guard() } else { String::new() };
        let number = self.random.below(50);
        // After a divergence, most programs only read these registers.
        let first = if self.nesting > 0 && !self.wild { FIRST_READING } else { 0 };
        let line = match first + self.random.below(25 - first) {
            0 => format!("add.u32 %c0, %c0, {number};"),
            1 => "add.s32 %c0, %c0, %c1;".to_owned(),
            2 => format!("mad.lo.s32 %c0, %x, 1, {number};"),
            3 => "sub.s32 %c0, %c0, %k0;".to_owned(),
            4 => format!("add.u32 %c1, %c1, {number};"),
            5 => "mul.lo.u32 %c1, %c1, 3;".to_owned(),
            6 => format!("xor.b32 %c1, %c1, {number};"),
            7 => "popc.b32 %c1, %c1;".to_owned(),
            8 => "mov.u32 %c1, %k0;".to_owned(),
            9 => "mad.lo.u32 %c2, %y, %k2, %c1;".to_owned(),
            10 => "add.u32 %c2, %c2, %c1;".to_owned(),
            11 => "mad.lo.s32 %c3, %c0, 4, %c2;".to_owned(),
            12 => "shl.b32 %t0, %c0, 2; add.u32 %c3, %t0, %c2;".to_owned(),
            13 => "neg.s32 %t1, %c3; sub.u32 %c3, %c1, %t1;".to_owned(),
            // Products that wrap around in some lanes and are then extended: no longer regular.
            14 => "mul.lo.u32 %t2, %x, 0x6000001; cvt.s64.s32 %d0, %t2;".to_owned(),
            15 => "mul.lo.u32 %t3, %x, 0xa000001; mul.wide.u32 %d1, %t3, 5;".to_owned(),
            16 => "add.s64 %d0, %d0, %d2; cvt.u32.u64 %r0, %d0;".to_owned(),
            17 => format!("sub.s64 %d1, %d1, {number};"),
            18 => {
                let operator = self.random.pick(&["eq", "ne", "lt", "le", "gt", "ge"]);
                let ty = self.random.pick(&["u64", "s64"]);
                let (a, b) = (self.random.below(3), self.random.below(3));
                format!("setp.{operator}.{ty} %p{}, %d{a}, %d{b};", self.random.below(PREDICATES))
            }
            19 => format!("mov.u64 %l{}, %d{};", self.random.below(REGISTERS), self.random.below(3)),
            20 => format!("mov.u32 %r{}, %c{};", self.random.below(REGISTERS), self.random.below(4)),
            _ => {
                let (a, b) = (self.random.below(4), self.random.below(4));
                let operator = self.random.pick(&["eq", "ne", "lt", "le", "gt", "ge"]);
                let ty = self.random.pick(&["u32", "s32"]);
                let b = if self.random.below(2) == 0 { format!("%c{b}") } else { number.to_string() };
                format!("setp.{operator}.{ty} %p{}, %c{a}, {b};", self.random.below(PREDICATES))
            }
        };
        line.split_inclusive("; ").for_each(|line| self.line(&format!("{guard}{line}")));
    }

    /// Adds a load or store whose address grows with the coordinates of the thread.
    fn regular_memory(&mut self) {
        let guard = self.guard();
        let (kind, ty, bytes) =
            [('r', "u32", 4), ('r', "s8", 1), ('f', "f32", 4), ('l', "u64", 8)][self.random.below(4)];
        let register = self.register(kind);
        let uniform = if self.depth > 0 { format!("%count{}", self.depth - 1) } else { "%k0".to_owned() };
        match self.random.below(5) {
            // Words of this thread, which are not consecutive within a warp.
            0 => {
                self.line(&format!("mul.wide.u32 %a, {uniform}, 4;"));
                self.line("and.b64 %a, %a, 24;");
                self.line("add.s64 %a, %own, %a;");
                let opcode = self.random.pick(&["st", "ld"]);
                let (first, second) = if opcode == "st" {
                    ("[%a]".to_owned(), register)
                } else {
                    (register, "[%a]".to_owned())
                };
                return self.line(&format!("{guard}{opcode}.global.{ty} {first}, {second};"));
            }
            1 => self.line(&format!("mad.lo.u32 %i, %y, 16, {uniform};")),
            2 => self.line(&format!("add.u32 %i, %x, {uniform};")),
            3 => self.line(&format!("mad.lo.u32 %i, %y, %k0, %x; add.u32 %i, %i, {uniform};")),
            _ => self.line(&format!("mad.lo.u32 %i, %x, 2, {uniform};")),
        }
        self.line(&format!("mul.wide.u32 %a, %i, {bytes};"));
        self.line("add.s64 %a, %input, %a;");
        self.line(&format!("{guard}ld.global.{ty} {register}, [%a];"));
    }

    fn collective(&mut self) {
        let (d, a, b) = (self.register('r'), self.register('r'), self.register('r'));
        let p = self.random.below(PREDICATES);
        let q = self.random.below(PREDICATES);
        let line = match self.random.below(6) {
            0 => format!("shfl.sync.bfly.b32 {d}|%p{p}, {a}, {}, 31, -1;", self.random.below(32)),
            1 => format!("shfl.sync.down.b32 {d}|%p{p}, {a}, {}, 31, -1;", self.random.below(32)),
            2 => format!("shfl.sync.up.b32 {d}, {a}, {}, 0, -1;", self.random.below(32)),
            3 => format!("shfl.sync.idx.b32 {d}|%p{p}, {a}, {b}, 0x181f, -1;"),
            4 => format!("vote.sync.ballot.b32 {d}, %p{p}, -1;"),
            _ => format!("vote.sync.any.pred %p{q}, %p{p}, -1;"),
        };
        self.line(&line);
    }

    fn block(&mut self) {
        for _ in 0..=self.random.below(6) {
            match self.random.below(24) {
                16..=20 => self.regular(),
                21..=23 => self.regular_memory(),
                0..=7 => self.operation(),
                8 | 9 => self.comparison(),
                10 => self.selection(),
                11 | 12 => self.memory(),
                13 if self.depth < 3 && self.labels < 24 => self.conditional(),
                14 if self.depth < 2 && self.labels < 24 => self.repetition(),
                15 if self.labels < 24 => self.skipped(),
                _ => self.operation(),
            }
        }
    }

    fn new(seed: u64) -> Generator {
        Generator {
            random: Random::new(seed),
            text: String::new(),
            labels: 0,
            depth: 0,
            nesting: 0,
            wild: false,
            counters: 0,
        }
    }

    fn program(seed: u64) -> String {
        let mut generator = Generator::new(seed);
        generator.wild = generator.random.below(3) == 0;
        for _ in 0..12 {
            match generator.random.below(7) {
                5 | 6 => (0..4).for_each(|_| generator.regular()),
                0 => generator.collective(),
                1 => generator.line("bar.sync 0;"),
                2 => generator.conditional(),
                3 => generator.repetition(),
                _ => generator.block(),
            }
        }
        let mut stores = String::new();
        let mut at = 0;
        for (kind, ty, bytes) in [('r', "u32", 4), ('l', "u64", 8), ('f', "f32", 4), ('g', "f64", 8)] {
            for register in 0..REGISTERS {
                at = usize::next_multiple_of(at, bytes);
                writeln!(stores, "st.global.{ty} [%result+{at}], %{kind}{register};").unwrap();
                at += bytes;
            }
        }
        for register in 0..4 {
            writeln!(stores, "st.global.u32 [%result+{at}], %c{register};").unwrap();
            at += 4;
        }
        for register in 0..3 {
            writeln!(stores, "st.global.u64 [%result+{at}], %d{register};").unwrap();
            at += 8;
        }
        assert!(at <= RESULT_BYTES);
        let mut start = flow::start();
        for register in 0..REGISTERS {
            writeln!(
                start,
                "mad.lo.u32 %r{register}, %k1, {}, {register};",
                [1, 3, 0x9e37_79b9u32][register % 3]
            )
            .unwrap();
            writeln!(start, "cvt.u64.u32 %l{register}, %r{};", (register + 1) % REGISTERS).unwrap();
            writeln!(start, "cvt.rn.f32.s32 %f{register}, %r{register};").unwrap();
            writeln!(start, "cvt.rn.f64.u32 %g{register}, %r{register};").unwrap();
        }
        for predicate in 0..PREDICATES {
            writeln!(
                start,
                "setp.lt.u32 %p{predicate}, %r{}, {};",
                predicate + 1,
                [7, 100, 0x8000_0000u32, 40][predicate]
            )
            .unwrap();
        }
        let body = generator.text;
        format!(
            ".version 8.0
.target sm_90
.address_size 64
.visible .entry random(.param .u64 out, .param .u64 in, .param .u64 space)
{{
.reg .b32 %r<{REGISTERS}>;
.reg .b64 %l<{REGISTERS}>;
.reg .f32 %f<{REGISTERS}>;
.reg .f64 %g<{REGISTERS}>;
.reg .pred %p<{PREDICATES}>;
.reg .pred %again<4>;
.reg .b32 %k<4>, %c<4>, %t<4>, %x, %y, %i, %count<4>, %limit<4>;
.reg .b64 %a, %d<3>, %own, %ownshared, %input, %result, %wide;
.shared .align 16 .b8 scratch[{shared}];
ld.param.u64 %result, [out];
ld.param.u64 %input, [in];
ld.param.u64 %own, [space];
mov.u32 %k0, %ctaid.x;
mov.u32 %k1, %tid.x;
mov.u32 %k2, %ntid.x;
mov.u32 %k3, %tid.y;
mov.u32 %x, %tid.x;
mov.u32 %y, %tid.y;
add.u32 %c0, %x, 5;
mul.wide.s32 %d0, %c0, 0x6000001;
mul.wide.u32 %d1, %c0, 0x32000005;
mov.u32 %c1, 7;
cvt.s64.s32 %d2, %c1;
mad.lo.u32 %c2, %y, %k2, 1;
mad.lo.u32 %c3, %c0, 4, %c2;
mad.lo.u32 %k1, %k3, %k2, %k1;
mov.u64 %ownshared, scratch;
mul.wide.u32 %wide, %k1, {own};
add.s64 %ownshared, %ownshared, %wide;
mov.u32 %k3, %ntid.y;
mul.lo.u32 %k2, %k2, %k3;
mad.lo.u32 %i, %k0, %k2, %k1;
mul.wide.u32 %wide, %i, {own};
add.s64 %own, %own, %wide;
mul.wide.u32 %wide, %i, {RESULT_BYTES};
add.s64 %result, %result, %wide;
{zero}{start}{body}{stores}ret;
}}
",
            own = WORDS * 4,
            shared = WORDS * 4 * MOST_THREADS,
            zero = (0..WORDS / 2)
                .map(|word| format!("st.shared.u64 [%ownshared+{}], 0;\n", 8 * word))
                .collect::<String>(),
        )
    }
}

const RESULT_BYTES: usize = 184;
const MOST_THREADS: usize = 320;
const MOST_BLOCKS: usize = 3;
