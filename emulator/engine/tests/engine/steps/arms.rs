//! Arms in other arms, and arms in which registers turn out to be irregular.

use super::{BY_TURNS, runs};

/// Branches that skip an arm: for one lane of each warp or of all, for whole warps, for the first
/// or the last lanes, and for random ones.
const OUTER: [&str; 6] = [
    "and.b32 %n, %t, 31;\nsetp.ne.u32 %p3, %n, 0;\n@%p3 bra L;\n",
    "setp.ne.u32 %p3, %t, 70;\n@%p3 bra L;\n",
    "and.b32 %n, %t, 32;\nsetp.eq.u32 %p3, %n, 0;\n@%p3 bra L;\n",
    "setp.gt.u32 %p3, %t, 40;\n@%p3 bra L;\n",
    "setp.lt.u32 %p3, %t, 40;\n@%p3 bra L;\n",
    "@%p0 bra L;\n",
];

/// Branches in an arm, to a place in it or to its end.
const INNER: [&str; 5] = [
    "setp.lt.u32 %p4, %t, 32;\n@%p4 bra M;\n",
    "setp.gt.u32 %p4, %t, 35;\n@%p4 bra M;\n",
    "@!%p1 bra M;\n",
    "setp.gt.u32 %p4, %t, 35;\n@%p4 bra L;\n",
    "ld.global.u32 %r6, [%base];\nsetp.lt.u32 %p4, %r6, 0x80000000;\n@%p4 bra M;\n",
];

/// Steps of an arm: they compute a regular address, load one word for all lanes, store, add, or
/// branch once more.
const STEPS: [&str; 5] = [
    "add.u32 %r4, %t, 3;\nmul.wide.u32 %w2, %r4, 4;\nadd.u64 %w2, %w1, %w2;\nld.global.u32 %r5, [%w2];\n",
    "ld.global.u32 %r4, [%base+4];\nand.b32 %r4, %r4, 60;\ncvt.u64.u32 %w2, %r4;\nadd.u64 %w2, %w1, %w2;\nld.global.u32 %r5, [%w2];\n",
    "mul.wide.u32 %w2, %t, 2;\nmov.u64 %w3, room;\nadd.u64 %w3, %w3, %w2;\nst.shared.u16 [%w3], %r0;\nld.shared.u16 %r5, [%w3];\n",
    "atom.global.add.u32 %r4, [%bins], 1;\nmov.u32 %r5, 9;\n",
    "mov.u32 %r5, 4;\n@%p1 bra N;\nadd.u32 %r4, %t, 7;\nmul.lo.u32 %r5, %r4, %r0;\nN:\nadd.u32 %r5, %r5, %r4;\n",
];

/// Returns a body in a loop with other conditions, or after some lanes have ended.
fn around(body: &str, turn: usize) -> String {
    match turn % 3 {
        0 => body.to_owned(),
        1 => format!(
            "mov.u32 %r10, 0;\nAGAIN:\n{body}not.pred %p0, %p0;\nadd.u32 %r10, %r10, 1;\n\
             and.b32 %r11, %r3, 3;\nsetp.le.u32 %p2, %r10, %r11;\n@%p2 bra AGAIN;\n"
        ),
        _ => format!("@%p1 exit;\n{body}"),
    }
}

/// Tiles load their edges so: few lanes do, and not at the edge of everything.
#[test]
fn arms_in_arms_agree() {
    for (turn, outer) in OUTER.into_iter().enumerate() {
        for (number, inner) in INNER.into_iter().enumerate() {
            for steps in [STEPS[(turn + number) % 5], STEPS[(turn + 2 * number + 3) % 5]] {
                let turns = if steps.contains("atom") { BY_TURNS } else { "" };
                let body = format!(
                    "ld.param.u64 %w1, [in];\nmov.u32 %r4, 0;\n{outer}mov.u32 %r5, 1;\n{inner}{steps}M:\nadd.u32 %r1, %r1, %r5;\n\
                     L:\nxor.b32 %r0, %r0, %r1;\n"
                );
                runs(&format!("{turns}{}", around(&body, turn / 2 + number)));
            }
        }
    }
}

/// The number of a thread before some other, which wraps around in lanes that skip the arm: the
/// lanes in the arm go on with registers of their own, also in an arm around it.
#[test]
fn indices_that_wrap_around_outside_of_an_arm_agree() {
    for before in [1, 16, 31, 40] {
        let steps = format!(
            "sub.u32 %r4, %t, {before};\nmul.wide.u32 %w2, %r4, 4;\nadd.u64 %w2, %w1, %w2;\nld.global.u32 %r5, [%w2];\n\
             add.u32 %r2, %r2, %r5;\nadd.u64 %w3, %w2, 8;\nld.global.u32 %r6, [%w3];\nxor.b32 %r2, %r2, %r6;\n"
        );
        let skip = format!("setp.lt.u32 %p4, %t, {before};\n@%p4 bra M;\n");
        let tail = "ld.global.u32 %r7, [%in+4];\nxor.b32 %r0, %r2, %r7;\n";
        for (number, outer) in OUTER.into_iter().chain([""]).enumerate() {
            for turn in 0..3 {
                let body = format!(
                    "ld.param.u64 %w1, [in];\n{outer}add.u32 %r1, %r1, 3;\n{skip}{steps}M:\nadd.u32 %r3, %r3, %r1;\nL:\n{tail}"
                );
                runs(&around(&body, turn + number));
            }
        }
    }
}
