//! Atomic additions of floating-point numbers.

use super::agreed;

/// Changes of two random words, which make them NaN, infinite, subnormal, near 2^-100, below which
/// sums may depend on subnormal numbers, or opposite.
const SHAPES: [&str; 6] = [
    "",
    "or.b32 %r1, %r1, 0x7f800000;\nand.b32 %r2, %r2, 0xff800000;\n",
    "and.b32 %r0, %r0, 0x81ffffff;\nand.b32 %r1, %r1, 0x80ffffff;\nand.b32 %r2, %r2, 0x801fffff;\n",
    "and.b32 %r0, %r0, 0x807fffff;\nor.b32 %r0, %r0, 0x0d800000;\nand.b32 %r1, %r1, 0x807fffff;\nor.b32 %r1, %r1, 0x0d000000;\n",
    "xor.b32 %r1, %r0, 0x80000000;\nxor.b32 %r2, %r3, 0x80000000;\n",
    "mov.u32 %r0, 0x80000000;\nand.b32 %r1, %r1, 0x80000000;\nmov.u32 %r2, 0;\n",
];

/// Each thread adds to a number of its own in global and in shared memory, always or with a guard,
/// and takes the old number or not.
#[test]
fn sums_of_floats_agree() {
    let adds = |number: &str, ty: &str| {
        let number = format!("%{number}0");
        ["global", "shared"].map(|space| {
            let at = if space == "global" { "%out" } else { "%w1" };
            [
                format!("red.{space}.add.{ty} [{at}], {number};\n"),
                format!("@%p0 atom.{space}.add.{ty} {number}, [{at}], {number};\n"),
                format!("@%p1 bra M;\natom.{space}.add.{ty} {number}, [{at}], {number};\nadd.u32 %r4, %r4, 1;\nM:\n"),
            ]
        })
    };
    let place = "and.b32 %r5, %t, 127;\nmul.wide.u32 %w1, %r5, 8;\nmov.u64 %w0, room;\nadd.u64 %w1, %w1, %w0;\nmov.u32 %r4, 0;\n";
    for shape in SHAPES {
        for add in adds("f", "f32").concat() {
            agree(&format!(
                "{place}{shape}st.global.u32 [%out], %r0;\nst.shared.u32 [%w1], %r0;\nmov.b32 %f0, %r1;\n{add}\
                 mov.b32 %r1, %f0;\nld.global.u32 %r2, [%out];\nld.shared.u32 %r3, [%w1];\nadd.u32 %r0, %r0, %r4;\n"
            ));
        }
        for add in adds("g", "f64").concat() {
            agree(&format!(
                "{place}{shape}mov.b64 %w2, {{%r3, %r0}};\nst.global.u64 [%out], %w2;\nst.shared.u64 [%w1], %w2;\n\
                 mov.b64 %g0, {{%r2, %r1}};\n{add}mov.b64 %w3, %g0;\nld.global.u64 %w4, [%out];\nld.shared.u64 %w5, [%w1];\n\
                 xor.b64 %w4, %w4, %w5;\nmov.b64 {{%r0, %r1}}, %w3;\nmov.b64 {{%r2, %r3}}, %w4;\nadd.u32 %r0, %r0, %r4;\n"
            ));
        }
    }
}

/// Checks that all modes agree in blocks whose threads have places of their own.
fn agree(body: &str) {
    for threads in [77, 128] {
        agreed(body, threads, threads).unwrap_or_else(|fault| panic!("{body}\n{fault}"));
    }
}
