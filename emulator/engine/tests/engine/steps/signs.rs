//! Signs of indices and numbers selected by comparisons of indices, which lanes mostly agree about.

use super::runs;

/// Loads the input at the index in `%r8`, or at its low bits.
const LOAD: &str = "mul.wide.s32 %w1, %r8, 4;\nld.param.u64 %w2, [in];\nadd.u64 %w3, %w2, %w1;\nld.global.u32 %r9, [%w3];\n\
    xor.b32 %r0, %r0, %r9;\n";

/// Indices before the beginning count from the end, by a mask made from their sign. Lanes of one
/// warp disagree at some distances.
#[test]
fn a_sign_is_a_mask() {
    for distance in [0, 1, 5, 16, 32, 40, 256, 600] {
        runs(&format!(
            "sub.s32 %r4, %t, {distance};\nshr.s32 %r5, %r4, 31;\nand.b32 %r6, %r5, 700;\nadd.s32 %r8, %r4, %r6;\n{LOAD}"
        ));
        runs(&format!(
            "mul.wide.u32 %w4, %t, 1;\nsub.s64 %w5, %w4, {distance};\nshr.s64 %w6, %w5, 63;\nand.b64 %w7, %w6, 700;\n\
             add.s64 %w1, %w5, %w7;\nshl.b64 %w3, %w1, 2;\nld.param.u64 %w2, [in];\nadd.u64 %w0, %w2, %w3;\n\
             ld.global.u32 %r9, [%w0];\nxor.b32 %r0, %r0, %r9;\n"
        ));
    }
}

/// The number changes its sign between lanes because it wraps around, once or in each lane.
#[test]
fn numbers_wrap_around() {
    for factor in ["0x04000000", "0x40000001", "0x7fffffff", "0x80000000", "-1", "-3"] {
        for first in ["0", "0x7ffffff0", "0x80000000", "-8"] {
            runs(&format!(
                "mad.lo.s32 %r4, %t, {factor}, {first};\nshr.s32 %r5, %r4, 31;\nand.b32 %r8, %r5, 5;\n{LOAD}"
            ));
            runs(&format!(
                "mul.wide.u32 %w4, %t, 1;\nmul.lo.s64 %w4, %w4, {factor}00000000;\nadd.s64 %w5, %w4, {first};\nshr.s64 %w6, %w5, 63;\n\
                 cvt.u32.u64 %r5, %w6;\nand.b32 %r8, %r5, 5;\n{LOAD}",
                factor = factor.replace("-1", "0xffffffff").replace("-3", "0xfffffffd"),
            ));
        }
    }
}

/// Indices that wrap around between neighboring lanes when they are extended, some with a guard
/// that is the same for all lanes.
#[test]
fn extended_indices_wrap_around() {
    for (step, first) in [(1, "0x7ffffffd"), (3, "0xfffffffa"), (65536, "0x7ffe0000"), (1, "5")] {
        for extended in [
            "cvt.s64.s32 %e, %i;",
            "cvt.u64.u32 %e, %i;",
            "cvt.s64.s32 %e, %t;\n@%g cvt.s64.s32 %e, %i;",
            "cvt.s64.s32 %e, %t;\n@!%g mul.wide.u32 %e, %i, 1;",
        ] {
            runs(&format!(
                "{{ .reg .b32 %i, %n;\n.reg .b64 %e;\n.reg .pred %g;\nmov.u32 %n, %ntid.x;\nsetp.gt.u32 %g, %n, 40;\nmad.lo.s32 %i, %t, {step}, {first};\n\
                 {extended}\nshr.u64 %w6, %e, 32;\ncvt.u32.u64 %r5, %w6;\nadd.u32 %r1, %r1, %r5;\n\
                 cvt.u32.u64 %r5, %e;\nadd.u32 %r1, %r1, %r5; }}\n"
            ));
        }
    }
}

/// Selections by a comparison of indices, of numbers and of indices.
#[test]
fn lanes_select_by_their_index() {
    for limit in [-3, 0, 1, 7, 33, 600] {
        for (relation, unsigned) in [("lt.s32", false), ("gt.u32", true), ("eq.s32", false)] {
            let value = if unsigned { "%t" } else { "%r4" };
            let compare = format!("sub.s32 %r4, %t, 32;\nsetp.{relation} %p2, {value}, {limit};\n");
            let numbers = format!("selp.b32 %r5, 40, 32, %p2;\nadd.s32 %r8, %r4, %r5;\n{LOAD}");
            let indices =
                format!("add.s32 %r5, %t, 3;\nadd.s32 %r6, %t, 90;\nselp.b32 %r8, %r5, %r6, %p2;\n{LOAD}");
            let wide = "mov.u64 %w4, 80;\nmov.u64 %w5, 160;\nselp.b64 %w6, %w4, %w5, %p2;\nld.param.u64 %w2, [in];\nadd.u64 %w1, %w2, %w6;\n\
                 ld.global.u32 %r9, [%w1];\nadd.u32 %r1, %r1, %r9;\n";
            for body in [&numbers[..], &indices, wide] {
                runs(&format!("{compare}{body}"));
                runs(&format!("@%p0 exit;\n{compare}{body}"));
                // Only lanes that agree select, in an arm and in a long branch.
                runs(&format!("{compare}@%p2 bra L;\n{body}L:\nadd.u32 %r1, %r1, 1;\n"));
                runs(&format!(
                    "{compare}@!%p2 bra L;\n{body}{}L:\nadd.u32 %r1, %r1, 1;\n",
                    "mul.lo.u32 %r1, %r1, 77;\n".repeat(14)
                ));
                // Another instruction sets the condition too.
                runs(&format!("{compare}@%p1 setp.ne.s32 %p2, %r0, %r1;\n{body}"));
                runs(&format!("{compare}@%p1 setp.ne.s32 %p2, %t, 5;\n{body}"));
            }
        }
    }
}

/// The limit of a loop, selected in each iteration, and a number that lanes on other ways need.
#[test]
fn loops_select() {
    for limit in [5, 32, 40] {
        runs(&format!(
            "mov.u32 %r4, 0;\nmov.u32 %r10, 0;\nL:\nadd.s32 %r5, %t, %r4;\nsetp.lt.s32 %p2, %r5, {limit};\nselp.b32 %r6, 9, 4, %p2;\n\
             mul.lo.s32 %r8, %r6, %r4;\n{LOAD}add.u32 %r4, %r4, 1;\nsetp.lt.s32 %p3, %r4, %r6;\n@%p3 bra L;\nadd.u32 %r1, %r1, %r4;\n"
        ));
        runs(&format!(
            "mov.u32 %r6, 2;\n@%p0 bra M;\nsetp.lt.s32 %p2, %t, {limit};\nselp.b32 %r6, 9, 4, %p2;\nmov.u32 %r8, %r6;\n{LOAD}M:\n\
             add.u32 %r8, %r6, 5;\n{LOAD}"
        ));
    }
}

/// A test for negative indices whose index wraps around between neighboring lanes.
#[test]
fn tested_indices_wrap_around() {
    for (step, first) in
        [(1, "0x7ffffffd"), (1, "0x7fffffff"), (3, "0x7ffffff8"), (65536, "0x7ffe0000"), (1, "-2")]
    {
        for limit in [-65536, -5, -1, 0, 1] {
            for relation in ["lt", "ge", "gt", "le"] {
                runs(&format!(
                    "mad.lo.s32 %r4, %t, {step}, {first};\nsetp.{relation}.s32 %p2, %r4, {limit};\nselp.b32 %r5, 40, 32, %p2;\n\
                     xor.b32 %r0, %r0, %r5;\nmul.wide.u32 %w4, %t, {step};\nadd.s64 %w5, %w4, {first}00000000;\n\
                     setp.{relation}.s64 %p3, %w5, {limit};\nselp.b32 %r5, 1024, 64, %p3;\nadd.u32 %r1, %r1, %r5;\n",
                ).replace("-200000000", "-2"));
            }
        }
    }
}

/// An index that wraps around in a piece of code that no lane skips: warps change to the code
/// without scalars there, and count all instructions.
#[test]
fn instructions_count_where_regular_values_end() {
    for (written, used) in [
        ("", ""),
        ("setp.gt.u32 %p2, %r0, -1;\n", "add.u32 %r0, %r0, %r5;\n"),
        ("setp.gt.u32 %p2, %r0, -1;\n", ""),
    ] {
        runs(&format!(
            "{written}mov.u32 %r8, %tid.y;\nadd.u32 %r11, %r8, %t;\n@%p2 bra A1;\nsub.u32 %r5, %r11, 2;\nmul.wide.u32 %w1, %r5, 4;\n\
             ld.param.u64 %w2, [in];\nadd.u64 %w1, %w1, %w2;\nA1:\n{used}"
        ));
    }
}
