//! Shuffles and votes, which whole warps perform in registers, and operations on their results.

use super::runs;

/// Code before an exchange: none, an arm, a loop that lanes leave at different times, one that all
/// leave at once, and one in which lanes of a part of the warps exit.
const BEFORE: [&str; 5] = [
    "",
    "@%p0 bra A;\nadd.u32 %r0, %r0, %t;\nxor.b32 %r1, %r1, %r0;\nA:\n",
    "and.b32 %r7, %r2, 7;\nB:\nadd.u32 %r0, %r0, %r7;\nsub.u32 %r7, %r7, 1;\nsetp.gt.s32 %p3, %r7, 0;\n@%p3 bra B;\n",
    "mov.u32 %r7, 5;\nC:\nmad.lo.u32 %r0, %r0, 3, %r7;\nsub.u32 %r7, %r7, 1;\nsetp.ne.u32 %p3, %r7, 0;\n@%p3 bra C;\n",
    "setp.gt.u32 %p3, %t, 70;\n@%p3 exit;\n",
];

/// Members: all, the lanes of the own group of eight, and all by a register.
const MEMBERS: [(&str, &str); 3] = [
    ("", "-1"),
    ("and.b32 %r8, %t, 24;\nmov.u32 %r9, 255;\nshl.b32 %r9, %r9, %r8;\n", "%r9"),
    ("mov.u32 %r9, -1;\n", "%r9"),
];

/// Segments of 32, 16, 8 and 2 lanes, and ends of segments in their middle.
const CLAMPS: [u32; 7] = [0x1f, 0x101f, 0x181f, 0x1e1f, 0x0, 0x1800, 0x1013];

fn exchange(mode: &str, operand: &str, clamp: u32, members: &str) -> String {
    format!(
        "shfl.sync.{mode}.b32 %r4|%p2, %r0, {operand}, {clamp}, {members};\nxor.b32 %r2, %r2, %r4;\n\
         selp.u32 %r5, 77, %r4, %p2;\nadd.u32 %r3, %r3, %r5;\n"
    )
}

#[test]
fn shuffles_by_known_operands_agree() {
    for (number, mode) in ["up", "down", "bfly", "idx"].into_iter().enumerate() {
        for (turn, clamp) in CLAMPS.into_iter().enumerate() {
            let (named, members) = MEMBERS[(turn + number) % 3];
            // Lanes may read only lanes that they name.
            let (named, members) = if clamp & 0x1800 == 0x1800 { (named, members) } else { MEMBERS[0] };
            let each = [0, 1, 2, 4, 7, 9, 16, 31].map(|n| exchange(mode, &n.to_string(), clamp, members));
            runs(&format!("{}{named}{}", BEFORE[(turn + 2 * number) % 5], each.concat()));
        }
    }
}

#[test]
fn shuffles_by_operands_of_registers_agree() {
    let operands = ["and.b32 %r6, %r1, 31;\n", "ld.global.u32 %r6, [%base];\n", "mov.u32 %r6, %t;\n"];
    for (number, mode) in ["up", "down", "bfly", "idx"].into_iter().enumerate() {
        for (turn, operand) in operands.into_iter().enumerate() {
            for (count, clamp) in CLAMPS.into_iter().enumerate() {
                let before = BEFORE[(count + turn + number) % 5];
                let (named, members) = if clamp & 0x1800 == 0x1800 { MEMBERS[1] } else { MEMBERS[2] };
                runs(&format!("{before}{operand}{named}{}", exchange(mode, "%r6", clamp, members)));
            }
        }
    }
}

#[test]
fn votes_agree() {
    let votes = "vote.sync.all.pred %p2, %p0, -1;\nvote.sync.any.pred %p4, !%p0, -1;\n\
        vote.sync.uni.pred %p5, %p1, -1;\nvote.sync.ballot.b32 %r4, %p0, -1;\nvote.sync.ballot.b32 %r5, !%p1, -1;\n\
        activemask.b32 %r6;\nxor.b32 %r2, %r4, %r5;\nadd.u32 %r3, %r3, %r6;\nbar.warp.sync -1;\n\
        @%p2 add.u32 %r0, %r0, 1;\n@%p4 add.u32 %r0, %r0, 2;\n@%p5 add.u32 %r0, %r0, 4;\n";
    let conditions = [
        "",
        "setp.lt.u32 %p0, %t, 1000;\nsetp.gt.u32 %p1, %t, 1000;\n",
        "setp.lt.u32 %p0, %t, 32;\nsetp.ne.u32 %p1, %t, 33;\n",
    ];
    for (turn, before) in BEFORE.into_iter().enumerate() {
        // Lanes that parted may not be back together yet.
        let votes = if [1, 2].contains(&turn) {
            &votes.replace("activemask.b32 %r6;", "mov.u32 %r6, 3;")
        } else {
            votes
        };
        for condition in conditions {
            runs(&format!("{before}{condition}{votes}"));
        }
    }
}

/// Sums of whole warps, after which all lanes have the same numbers, in loops with other code.
#[test]
fn sums_of_warps_agree() {
    let step = |n: u32| {
        format!(
            "shfl.sync.bfly.b32 %r4, %r0, {n}, 31, -1;\nadd.u32 %r0, %r0, %r4;\nand.b32 %r0, %r0, 0xfffff;\n"
        )
    };
    let sum: String = [16, 8, 4, 2, 1].map(step).concat();
    for (turn, before) in BEFORE.into_iter().enumerate() {
        for inside in ["", "@%p1 bra I;\nadd.u32 %r1, %r1, %r0;\nxor.b32 %r0, %r0, %r2;\nI:\n"] {
            runs(&format!(
                "{before}mov.u32 %r10, 0;\nL:\nadd.u32 %r0, %r0, %r2;\n{sum}{inside}shfl.sync.idx.b32 %r5, %r1, {turn}, 31, -1;\n\
                 add.u32 %r3, %r3, %r5;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p2, %r10, 4;\n@%p2 bra L;\n"
            ));
        }
    }
}

/// Costly operations on numbers that all lanes have, and on numbers of which one lane has another.
#[test]
fn operations_on_the_same_numbers_of_all_lanes_agree() {
    let operations = [
        "cvt.rn.f32.u32 %f0, %r4;\nmul.f32 %f0, %f0, 0f2f800000;\nex2.approx.ftz.f32 %f1, %f0;\nmov.b32 %r5, %f1;\n",
        "or.b32 %r5, %r4, 3;\ndiv.u32 %r5, %r0, %r5;\n",
        "or.b32 %r5, %r4, 3;\nrem.s32 %r5, %r4, %r5;\n",
        "cvt.rn.f64.u32 %g0, %r4;\ndiv.rz.f64 %g1, %g0, 0d4008000000000000;\nmov.b64 {%r5, %r6}, %g1;\n",
        "mov.b64 %w5, {%r4, %r4};\nor.b64 %w6, %w5, 7;\ndiv.u64 %w6, %w5, %w6;\nmov.b64 {%r5, %r6}, %w6;\n",
        "cvt.rn.f32.u32 %f0, %r4;\nsin.approx.f32 %f1, %f0;\nmov.b32 %r5, %f1;\n",
    ];
    let changes =
        ["", "setp.eq.u32 %p2, %t, 31;\n@%p2 add.u32 %r4, %r4, 1;\n", "@%p0 xor.b32 %r4, %r4, %r1;\n"];
    for operation in operations {
        for change in changes {
            runs(&format!(
                "ld.global.u32 %r4, [%base+4];\nshfl.sync.idx.b32 %r4, %r0, 3, 31, -1;\n{change}{operation}xor.b32 %r2, %r2, %r5;\n"
            ));
        }
    }
}
