//! Programs whose values machine code for four lanes has to keep apart, or to treat as one.

use super::runs;

/// A counter that only a guarded piece of a loop reads, by other lanes in each iteration.
#[test]
fn a_counter_in_an_arm_counts_its_own_lanes() {
    for mask in [1, 2, 3, 5] {
        runs(&format!(
            "mov.u32 %r4, 0;\nmov.u32 %r5, %t;\nLOOP:\nadd.u32 %r6, %t, %r4;\nand.b32 %r6, %r6, {mask};\nsetp.ne.u32 %p2, %r6, 0;\n\
             @%p2 bra SKIP;\nadd.u32 %r5, %r5, 7;\nxor.b32 %r0, %r0, %r5;\nSKIP:\nadd.u32 %r4, %r4, 1;\n\
             setp.lt.u32 %p3, %r4, 9;\n@%p3 bra LOOP;\n"
        ));
    }
}

/// Registers and predicates that no instruction writes, alone and joined with others.
#[test]
fn registers_without_a_value_are_of_no_shape() {
    let branches = "mov.u32 %n, %ntid.x;\nsetp.gt.u32 %p4, %n, 40;\n";
    for body in [
        "@%p4 bra M;\nadd.u32 %r5, %r11, 1;\nbra N;\nM:\nmov.u32 %r5, 5;\nN:\nadd.u32 %r0, %r0, %r5;\nadd.u32 %r6, %r5, 3;\nxor.b32 %r1, %r1, %r6;\n",
        "mov.u32 %r5, 5;\n@%p6 bra M;\nmov.u32 %r5, 7;\nM:\nadd.u32 %r0, %r0, %r5;\nmul.lo.u32 %r1, %r5, %t;\n",
        "@%p4 mov.u32 %r9, %t;\nadd.u32 %r0, %r9, %r10;\nL:\nadd.u32 %r8, %r8, 1;\nsetp.lt.u32 %p5, %r8, 5;\n@%p5 bra L;\nadd.u32 %r1, %r1, %r8;\n",
        "@%p0 add.s64 %w6, %w7, 9;\nadd.s64 %w5, %w6, 1;\ncvt.u32.u64 %r5, %w5;\nxor.b32 %r2, %r2, %r5;\n",
        "@%p0 add.f32 %f2, %f1, %f3;\nmov.b32 %r5, %f2;\nxor.b32 %r2, %r2, %r5;\n",
    ] {
        runs(&format!("{branches}{body}"));
    }
}

/// Guarded operations whose results are the same in all lanes, but rare ones.
#[test]
fn guarded_operations_on_one_number_have_one_result() {
    let numbers = ["0f7fc00000", "0f40000000", "0f00000001", "0f80000003", "0f7f800000", "0f00000000"];
    let of_two = [
        "min.f32",
        "max.ftz.f32",
        "div.approx.f32",
        "add.ftz.f32",
        "mul.ftz.f32",
        "sub.ftz.sat.f32",
        "add.rz.f32",
    ];
    let of_one = ["ex2.approx.ftz.f32", "lg2.approx.ftz.f32", "sin.approx.f32", "cvt.sat.f32.f32"];
    let operations = of_two.map(|name| format!("{name} %f3, %f1, %f2;")).into_iter();
    let operations = operations.chain(of_one.map(|name| format!("{name} %f3, %f1;")));
    for operation in operations.chain(["fma.rm.f32 %f3, %f1, 0f3f800003, %f2;".to_owned()]) {
        let second = if operation.contains("%f2") { &numbers[..] } else { &numbers[..1] };
        for (a, b) in numbers.iter().flat_map(|a| second.iter().map(move |b| (a, b))) {
            let load = format!("mov.f32 %f1, {a};\nmov.f32 %f2, {b};\nmov.f32 %f3, 0f40000000;\n");
            let store = "mov.b32 %r5, %f3;\nxor.b32 %r0, %r0, %r5;\n";
            runs(&format!("{load}@%p0 {operation}\n{store}"));
            runs(&format!("{load}@%p0 bra A;\n{operation}\nA:\n{store}"));
        }
    }
    for operation in ["add.f64 %g2, %g0, %g1", "neg.f64 %g2, %g0", "min.f64 %g2, %g1, %g0"] {
        for bits in ["0d7FF8000000000001", "0d3FF0000000000000", "0dFFF0000000000000"] {
            let load = format!("mov.f64 %g0, {bits};\nmov.f64 %g1, 0d7FF0000000000000;\nmov.f64 %g2, %g1;\n");
            let store =
                "mov.b64 %w6, %g2;\nshr.u64 %w6, %w6, 32;\ncvt.u32.u64 %r5, %w6;\nxor.b32 %r0, %r0, %r5;\n";
            runs(&format!("{load}@%p0 {operation};\n{store}"));
            runs(&format!("{load}@!%p0 bra A;\n{operation};\nA:\n{store}"));
        }
    }
}

/// Comparisons with the greatest and the least numbers.
#[test]
fn indices_are_compared_with_the_ends_of_their_types() {
    for limit in ["9223372036854775807", "0x8000000000000000"] {
        for relation in ["gt", "ge", "lt", "le"] {
            runs(&format!(
                "mul.wide.u32 %w4, %t, 1;\nsetp.{relation}.s64 %p2, %w4, {limit};\nselp.b32 %r5, 40, 32, %p2;\nadd.u32 %r0, %r0, %r5;\n"
            ));
        }
    }
}
