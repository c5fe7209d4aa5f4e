//! Regular addresses, of which the ones of lanes that do not take part may be anywhere.

use super::{fails, runs};

/// Space, register or name of the first byte, and size in bytes. The second kind of shared memory
/// has addresses of 32 bits.
const PLACES: [(&str, &str, u32); 4] =
    [("global", "%base", 32), ("shared", "room", 1024), ("shared", "%low", 1024), ("local", "%own", 64)];

/// An access by `count` threads, beginning with thread `from`.
#[derive(Clone, Copy)]
struct Case {
    place: (&'static str, &'static str, u32),
    bytes: u32,
    from: u32,
    count: u32,
    /// The place of the first thread, from the first byte.
    start: i32,
    /// True if each thread accesses the element before its predecessor's.
    backward: bool,
    /// True if the others branch over it, and false if it has a guard.
    branch: bool,
}

impl Case {
    fn body(self) -> String {
        let (space, base, _) = self.place;
        let (element, value) = if self.bytes == 8 { ("u64", "%w0") } else { ("u32", "%r0") };
        let narrow = base == "%low";
        let (ty, first, at) = if narrow { ("u32", "%r5", "%n") } else { ("u64", "%w2", "%w3") };
        let distance = if narrow { "%r8" } else { "%w4" };
        let multiply = if narrow { "mul.lo.u32" } else { "mul.wide.u32" };
        let (name, sign) = (if narrow { "room" } else { base }, if self.backward { "sub" } else { "add" });
        let bytes = self.bytes as i32;
        let start = self.start + self.from as i32 * if self.backward { bytes } else { -bytes };
        let (before, guard, after) =
            if self.branch { ("@!%p2 bra OVER;\n", "", "OVER:\n") } else { ("", "@%p2 ", "") };
        format!(
            "mov.b64 %w0, {{%r0, %r1}};\nmov.u32 %r6, 7;\nmov.{ty} {first}, {name};\nadd.{ty} {first}, {first}, {start};\n\
             {multiply} {distance}, %t, {bytes};\n{sign}.{ty} {at}, {first}, {distance};\n\
             sub.u32 %r7, %t, {};\nsetp.lt.u32 %p2, %r7, {};\n{before}{guard}st.{space}.{element} [{at}], {value};\n\
             {guard}ld.{space}.u32 %r6, [{at}];\n{guard}add.u32 %r6, %r6, 3;\n{after}xor.b32 %r2, %r2, %r6;\n",
            self.from, self.count
        )
    }
}

/// Calls `test` for each kind of access that fills its memory.
fn cases(mut test: impl FnMut(Case)) {
    for place in PLACES {
        for bytes in [4, 8] {
            let count = place.2 / bytes;
            for (from, backward, branch) in (0..8).map(|bits| (bits & 1, bits & 2 != 0, bits & 4 != 0)) {
                let start = if backward { place.2 - bytes } else { 0 } as i32;
                test(Case { place, bytes, from: from * 5, count, start, backward, branch });
            }
        }
    }
}

/// The lanes that take part fill the memory; the others would leave it at either end.
#[test]
fn lanes_that_do_not_take_part_may_have_any_regular_address() {
    cases(|case| {
        runs(&case.body());
        runs(&Case { count: case.count / 2 - 1, ..case }.body());
    });
}

/// A lane that leaves it at either end has the same fault in all modes, and a misaligned one.
#[test]
fn lanes_that_take_part_stay_in_the_memory() {
    cases(|case| {
        let Case { place: (space, _, size), bytes, backward, .. } = case;
        let words = ["out-of-bounds", "store", space];
        // The fewest threads reach only one end of the larger memory.
        let is_small = size < 128;
        if !backward {
            fails(&Case { start: case.start - bytes as i32, ..case }.body(), &words);
        } else if is_small {
            fails(&Case { count: case.count + 1, ..case }.body(), &words);
        }
        // More threads have more global memory.
        if space != "global" && (backward || is_small) {
            fails(&Case { start: case.start + bytes as i32, ..case }.body(), &words);
        }
        if is_small {
            fails(&Case { start: case.start + 1, ..case }.body(), &["misaligned", "store"]);
        }
    });
}
