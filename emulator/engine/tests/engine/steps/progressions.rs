//! Operations on numbers that grow from lane to lane, whose results machine code for eight lanes
//! expects to be the same, or to grow too: lanes in one row of a matrix, or on one side of a limit.

use super::runs;

/// Numbers that grow: by a step from the first lane on, over the ends of their types too.
const PROGRESSIONS: [(i64, u64); 7] =
    [(1, 0), (1, 5), (3, 1000), (-1, 40), (1, 0x7fff_fff3), (-3, 20), (2, 0xffff_ffff_ffff_ffe6)];

/// Returns a body with one progression in `%r5` and `%w5`, and a number that the code generator
/// does not know in `%r6` and `%w6`, for several operations in blocks of their own. Each has
/// registers and predicates of its own, whose names end in `#`: the results `%a#` and `%b#` count.
fn body((step, first): (i64, u64), number: i64, operations: &[String]) -> String {
    let mut text = format!(
        ".reg .b32 %m, %a<40>;\n.reg .b64 %b<40>;\n.reg .pred %c<40>, %d<40>, %e<40>;\n\
         mad.lo.u32 %r5, %t, {}, {};\ncvt.u64.u32 %w5, %t;\nmad.lo.u64 %w5, %w5, {step}, {first};\n\
         mov.u32 %m, %ntid.x;\nand.b32 %m, %m, 0;\nadd.u32 %r6, %m, {};\ncvt.u64.u32 %w6, %m;\nadd.u64 %w6, %w6, {number};\n",
        step as i32, first as i32, number as i32
    );
    for (index, operation) in operations.iter().enumerate() {
        text += "bra A#;\nA#:\n";
        text += operation;
        text += "bra B#;\nB#:\n";
        if operation.contains("%a#") {
            text += "mad.lo.u32 %r0, %r0, 31, %a#;\n";
        }
        if operation.contains("%b#") {
            text += "cvt.u32.u64 %r8, %b#;\nshr.u64 %w7, %b#, 32;\ncvt.u32.u64 %r9, %w7;\n\
                     xor.b32 %r1, %r1, %r8;\nmad.lo.u32 %r2, %r2, 17, %r9;\nadd.u32 %r1, %r1, %r2;\n";
        }
        text = text.replace('#', &index.to_string());
    }
    text
}

#[test]
fn progressions_are_divided() {
    for progression in PROGRESSIONS {
        for divisor in [0, 1, 3, 8, 64, -1, -8, i64::from(i32::MIN), i64::MAX] {
            let operations = ["div.u", "rem.u", "div.s", "rem.s"].into_iter().flat_map(|name| {
                [format!("{name}32 %a#, %r5, %r6;\n"), format!("{name}64 %b#, %w5, %w6;\n")]
            });
            runs(&body(progression, divisor, &operations.collect::<Vec<_>>()));
        }
    }
}

#[test]
fn upper_and_lower_bits_of_progressions_are_taken() {
    for progression in PROGRESSIONS {
        for bits in [0, 2, 3, 4, 5, 31, 32, 40, 63, 64] {
            let mask = 1_u64.checked_shl(bits).unwrap_or(0).wrapping_sub(1);
            let operations = [
                format!("shr.u32 %a#, %r5, {bits};\nshr.u64 %b#, %w5, {bits};\n"),
                format!("shr.s32 %a#, %r5, {bits};\n"),
                format!("shr.s64 %b#, %w5, {bits};\n"),
                format!("and.b32 %a#, %r5, {};\n", mask as u32),
                format!("and.b64 %b#, %w5, {};\n", mask as i64),
                format!("and.b32 %a#, {}, %r5;\n", !mask as u32),
                format!("and.b64 %b#, {}, %w5;\n", !mask as i64),
                format!("and.b32 %a#, %r5, {};\n", mask as u32 / 3),
                "not.b32 %a#, %r5;\nnot.b64 %b#, %w5;\n".to_owned(),
            ];
            runs(&body(progression, 0, &operations));
        }
    }
}

#[test]
fn progressions_are_clamped() {
    for progression in PROGRESSIONS {
        let last = progression.1.wrapping_add((progression.0 * 15) as u64) as i64;
        for limit in [2, last, -8, 0x7fff_fffc] {
            let operations = ["u", "s"].into_iter().flat_map(|sign| {
                [
                    format!("min.{sign}32 %a#, %r5, %r6;\n"),
                    format!("min.{sign}64 %b#, %w6, %w5;\n"),
                    format!("max.{sign}32 %a#, %r5, 0;\n"),
                    format!("max.{sign}64 %b#, %w5, 1;\n"),
                    format!("max.{sign}32 %a#, %r6, %r5;\n"),
                ]
            });
            runs(&body(progression, limit, &operations.collect::<Vec<_>>()));
        }
    }
}

/// Branches over code that is no arm, alone and by two comparisons. Each relation has a kernel of
/// its own, because the translation merges comparisons of the same numbers.
#[test]
fn progressions_are_compared_before_branches() {
    let rest = "rem.u32 %r8, %r0, 5;\nadd.u32 %r1, %r1, %r8;\nadd.u32 %r0, %r0, 1;\n";
    for (progression, relation) in PROGRESSIONS[3..].iter().flat_map(|progression| {
        ["lt.u", "le.s", "gt.s", "ge.u", "eq.u", "ne.s"].map(|name| (*progression, name))
    }) {
        let last = progression.1.wrapping_add((progression.0 * 15) as u64) as i64;
        for limit in [2, last, i64::from(i32::MIN) + 2, i64::MIN + 2] {
            runs(&body(
                progression,
                limit,
                &[
                    format!("setp.{relation}32 %c#, %r5, %r6;\n@%c# bra D#;\n{rest}D#:\n"),
                    format!("setp.{relation}32 %c#, %r6, %r5;\n@!%c# bra D#;\n{rest}D#:\n"),
                    format!("setp.{relation}64 %c#, %w5, %w6;\n@%c# bra D#;\n{rest}D#:\n"),
                    format!(
                        "setp.{relation}64 %c#, %w6, %w5;\nsetp.lt.u32 %d#, %r5, 9;\n\
                         or.pred %e#, %c#, %d#;\n@%e# bra D#;\n{rest}D#:\n"
                    ),
                ],
            ));
        }
    }
}
