//! Programs whose values machine code for four lanes has to keep apart, or to treat as one.

use super::{fails, runs};

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

/// Generic addresses that lead some lanes to one memory and the others to another, by turns of one
/// lane and of eight: in global, shared and local memory, and in the constants of the module.
#[test]
fn the_lanes_of_a_quad_access_different_memory() {
    let places = [
        "add.u64 %w1, %base, %at;\n",
        "mov.u64 %w1, room;\nadd.u64 %w1, %w1, %at;\ncvta.shared.u64 %w1, %w1;\n",
        "mov.u64 %w1, mine;\ncvta.local.u64 %w1, %w1;\n",
        "mov.u64 %w1, fixed;\ncvta.const.u64 %w1, %w1;\n",
    ];
    let fill = "shr.u32 %n, %t, 5;\nmul.wide.u32 %at, %n, 32;\nst.local.v4.u32 [%own], {%r0, %r1, %r2, %r3};\n\
        st.local.v4.u32 [%own+16], {%r3, %r1, %r2, %r0};\nst.shared.v4.u32 [%shared], {9, 8, 7, 6};\n\
        st.shared.v4.u32 [%shared+16], {5, 4, 3, 2};\nbar.sync 0;\n";
    let loads = "ld.u32 %r4, [%w1];\nld.u32 %r5, [%w1+12];\nld.v2.u32 {%r6, %r7}, [%w1+16];\nld.u8 %r8, [%w1+3];\nld.s16 %r9, [%w1+6];\n\
        ld.v4.u32 {%r8, %r9, %r10, %r11}, [%w1+16];\n@%p0 ld.u32 %r7, [%w1+8];\n@!%p1 ld.u64 %w3, [%w1+8];\ncvt.u32.u64 %n, %w3;\n\
        xor.b32 %r4, %r4, %r8;\nxor.b32 %r5, %r5, %r9;\nxor.b32 %r6, %r6, %r10;\nxor.b32 %r7, %r7, %r11;\n\
        xor.b32 %r0, %r0, %r4;\nadd.u32 %r1, %r1, %r5;\nxor.b32 %r2, %r2, %r6;\nadd.u32 %r3, %r3, %r7;\nadd.u32 %r0, %r0, %n;\n";
    let start = "mov.u64 %w3, 0;\n";
    for (first, second, bit) in [(0, 1, 1), (0, 2, 1), (2, 1, 8), (3, 2, 1), (1, 3, 8)] {
        let (first, second) = (places[first], places[second]);
        let turn = format!("and.b32 %n, %t, {bit};\nsetp.eq.u32 %p2, %n, 0;\n");
        let choose =
            format!("{start}{fill}{first}mov.u64 %w2, %w1;\n{second}{turn}selp.b64 %w1, %w1, %w2, %p2;\n");
        runs(&format!("{choose}{loads}"));
    }
}

/// Stores of each lane to its own words, in memory of its own, and adds to one of them.
#[test]
fn the_lanes_of_a_quad_store_to_different_memory() {
    let choose = "mov.u64 %w1, mine;\ncvta.local.u64 %w1, %w1;\nand.b32 %n, %t, 5;\nsetp.eq.u32 %p2, %n, 0;\nselp.b64 %w1, %w1, %out, %p2;\n";
    for store in [
        "st.u32 [%w1], %r0;\nst.u32 [%w1+12], %r1;\nst.u32 [%w1+4], %t;\n",
        "st.v2.u32 [%w1+8], {%r0, %r2};\nst.u8 [%w1+1], %r3;\nst.u16 [%w1+6], %r3;\n",
        "@%p0 st.u32 [%w1+8], %r0;\n@%p1 st.v4.u32 [%w1], {%r0, %r1, %r2, %r3};\nst.u64 [%w1+8], %w0;\n",
        "st.u32 [%w1+8], 77;\natom.add.u32 %r4, [%w1+8], %r0;\n@%p1 atom.max.u32 %r5, [%w1+8], %r1;\nxor.b32 %r0, %r4, %r0;\n",
    ] {
        let zero = "mov.u32 %r4, 0;\nmov.u32 %r5, 0;\nmov.u64 %w0, 12345678901;\nst.local.v4.u32 [%own], {0, 0, 0, 0};\n";
        let loads = "ld.v4.u32 {%r8, %r9, %r10, %r11}, [%w1];\nxor.b32 %r0, %r0, %r8;\nadd.u32 %r1, %r9, %r5;\nxor.b32 %r2, %r2, %r10;\nadd.u32 %r3, %r3, %r11;\n";
        runs(&format!("{zero}{choose}{store}{loads}"));
    }
}

/// Accesses of which some lanes, or all, are outside of the memory: at its end, and before it,
/// alone and after one by the same address.
#[test]
fn faults_name_the_lanes_of_quads() {
    for access in ["ld.global.u32 %r4, [%w1", "st.global.u32 [%w1", "atom.global.add.u32 %r4, [%w1"] {
        let value = if access.starts_with("ld") { "" } else { ", %r0" };
        for (index, offset) in [
            ("mul.wide.u32 %at, %t, 4;\n", "+-20"),
            ("mul.wide.u32 %at, %t, 4;\n", "+16320"),
            ("mul.wide.u32 %at, %t, 8;\n", "+16256"),
            ("mul.wide.u32 %at, %t, 16384;\n", ""),
            ("and.b32 %n, %r0, 15;\nmul.wide.u32 %at, %n, 8192;\n", "+4"),
            ("mul.wide.u32 %at, %t, 4;\n", "+4194304"),
            ("mov.u64 %at, 6;\n", ""),
        ] {
            let at = format!("ld.param.u64 %w1, [in];\n{index}add.u64 %w1, %w1, %at;\n");
            let outside = format!("{access}{offset}]{value};\n");
            fails(&format!("{at}{outside}"), &["in kernel"]);
            fails(&format!("{at}{access}]{value};\n{outside}{access}+8]{value};\n"), &["in kernel"]);
        }
    }
}

/// Accesses by one address, of which the first decides for all: of several sizes, at distances that
/// are aligned or not, after a change of the address, and in loops, in each kind of memory.
#[test]
fn accesses_by_one_address_reach_their_places() {
    for (space, address) in [
        (".global", "mov.u64 %w1, %in;\n"),
        ("", "mov.u64 %w1, %in;\n"),
        (".global", "ld.param.u64 %w1, [in];\nand.b32 %n, %r0, 127;\nmad.wide.u32 %w1, %n, 16, %w1;\n"),
        (".global", "ld.param.u64 %w1, [in];\n"),
        (".shared", "add.u64 %w1, %shared, 0;\n"),
        (
            ".shared",
            "mov.u64 %w1, room;\nand.b32 %n, %r0, 48;\ncvt.u64.u32 %at, %n;\nadd.u64 %w1, %w1, %at;\n",
        ),
        (".local", "mov.u64 %w1, mine;\n"),
        (
            ".local",
            "mov.u64 %w1, mine;\nand.b32 %n, %r0, 16;\ncvt.u64.u32 %at, %n;\nadd.u64 %w1, %w1, %at;\n",
        ),
        ("", "cvta.local.u64 %w1, %own;\n"),
    ] {
        let fill = if space == ".shared" {
            "mov.u64 %w0, room;\nmul.wide.u32 %at, %t, 4;\nadd.u64 %w0, %w0, %at;\nsetp.lt.u32 %p2, %t, 64;\n\
             @%p2 st.shared.u32 [%w0], %t;\nbar.sync 0;\n"
        } else {
            "st.local.v4.u32 [%own], {%r0, %r1, %r2, %r3};\nst.local.v4.u32 [%own+16], {%r1, %r0, %r3, %r2};\n\
             st.local.v4.u32 [%own+32], {%t, %r0, %t, %r2};\nst.local.v4.u32 [%own+48], {0, 9, 8, %r2};\n"
        };
        let ld = format!("ld{space}");
        runs(&format!(
            "{fill}{address}mov.u32 %r11, 0;\nL:\n{ld}.u32 %r4, [%w1+4];\n{ld}.u32 %r5, [%w1];\n{ld}.u32 %r6, [%w1+12];\n\
             {ld}.v2.u32 {{%r7, %r8}}, [%w1+8];\n{ld}.v2.u32 {{%r9, %r10}}, [%w1];\nxor.b32 %r0, %r0, %r4;\nadd.u32 %r1, %r1, %r5;\n\
             xor.b32 %r2, %r2, %r6;\nadd.u32 %r3, %r3, %r7;\nxor.b32 %r0, %r0, %r8;\nadd.u32 %r1, %r1, %r9;\n\
             {ld}.u8 %r4, [%w1+7];\n{ld}.s8 %r5, [%w1+2];\n{ld}.u16 %r6, [%w1+2];\n{ld}.s16 %r7, [%w1+14];\nadd.u64 %w1, %w1, 4;\n\
             {ld}.u32 %r8, [%w1+4];\n{ld}.u32 %r9, [%w1+-4];\nsub.u64 %w1, %w1, 4;\nxor.b32 %r2, %r2, %r10;\nadd.u32 %r3, %r3, %r4;\n\
             xor.b32 %r0, %r0, %r5;\nadd.u32 %r1, %r1, %r6;\nxor.b32 %r2, %r2, %r7;\nadd.u32 %r3, %r3, %r8;\nadd.u32 %r0, %r0, %r9;\n\
             add.u32 %r11, %r11, 1;\nsetp.lt.u32 %p2, %r11, 3;\n@%p2 bra L;\n"
        ));
    }
}

/// Several elements of a lane, which lie in one or more words: the lanes follow each other, leave
/// gaps, or read anywhere, in each kind of memory.
#[test]
fn elements_of_all_sizes_are_loaded() {
    let zero = "mov.u32 %r4, 0;\nmov.u32 %r5, 0;\nmov.u32 %r6, 0;\nmov.u32 %r7, 0;\nmov.u64 %w4, 0;\nmov.u64 %w5, 0;\n";
    let fill = "and.b32 %n, %t, 31;\nmul.wide.u32 %at, %n, 32;\nmov.u64 %w0, room;\nadd.u64 %w0, %w0, %at;\n\
        setp.lt.u32 %p2, %t, 32;\n@%p2 st.shared.v4.u32 [%w0], {%r0, %r1, %r2, %r3};\n\
        @%p2 st.shared.v4.u32 [%w0+16], {%r1, %r3, %r2, %r0};\nbar.sync 0;\n";
    let add =
        "xor.b32 %r0, %r0, %r4;\nadd.u32 %r1, %r1, %r5;\nxor.b32 %r2, %r2, %r6;\nadd.u32 %r3, %r3, %r7;\n";
    let indices = [
        "mov.u32 %n, %t",
        "shl.b32 %n, %t, 1",
        "sub.u32 %n, 511, %t",
        "and.b32 %n, %r0, 1023",
        "shr.u32 %n, %t, 4",
    ];
    for (turn, (bits, elements)) in
        [(8, 2), (8, 4), (16, 2), (16, 4), (32, 2), (32, 4), (64, 2)].into_iter().enumerate()
    {
        let total = bits / 8 * elements;
        let (registers, results) = if bits == 64 {
            ("%w4, %w5", "shr.u64 %w4, %w4, 7;\ncvt.u32.u64 %r4, %w4;\ncvt.u32.u64 %r5, %w5;\n")
        } else {
            (if elements == 2 { "%r4, %r5" } else { "%r4, %r5, %r6, %r7" }, "")
        };
        for (number, index) in indices.into_iter().enumerate() {
            for (space, memory, last) in [
                (".global", "ld.param.u64 %w1, [in]", u32::MAX),
                (".shared", "mov.u64 %w1, room", 1024 / total - 1),
                ("", "ld.param.u64 %w1, [in]", u32::MAX),
            ] {
                let sign = if (turn + number) % 2 == 0 { "u" } else { "s" };
                let guard = if (turn / 2 + number) % 3 == 0 { "@%p0 " } else { "" };
                // Without a limit, the numbers of neighbors are regular.
                let limit =
                    if last == u32::MAX { String::new() } else { format!("and.b32 %n, %n, {last};\n") };
                runs(&format!(
                    "{zero}{fill}{memory};\n{index};\n{limit}mad.wide.u32 %w1, %n, {total}, %w1;\n\
                     {guard}ld{space}.v{elements}.{sign}{bits} {{{registers}}}, [%w1];\n{results}{add}"
                ));
            }
        }
    }
}

/// The same for stores, of which others are loaded back.
#[test]
fn elements_of_all_sizes_are_stored() {
    for (bits, elements) in [(8, 1), (8, 2), (8, 4), (16, 1), (16, 2), (16, 4), (32, 2), (32, 4), (64, 2)] {
        let total = bits / 8 * elements;
        let kind = if elements == 1 { String::new() } else { format!(".v{elements}") };
        let list = |names: &[&str]| names[..elements].join(", ");
        let values = if bits == 64 { list(&["%w4", "%w5"]) } else { list(&["%r0", "%r4", "%r2", "%t"]) };
        for (space, most) in [(".shared", 1024 / total - 1), (".global", 511)] {
            for index in ["mov.u32 %n, %t;\n", "sub.u32 %n, %r5, %t;\n", "xor.b32 %n, %t, 5;\n"] {
                for guard in ["", "@%p0 "] {
                    let base = if space == ".shared" {
                        "mov.u64 %w1, room;\n"
                    } else {
                        "ld.param.u64 %w1, [out];\n"
                    };
                    // Within the words of these threads, and each at a place of its own.
                    let inside =
                        format!("setp.lt.u32 %p3, %n, %r6;\nsetp.le.and.u32 %p3, %n, {most}, %p3;\n");
                    let store = format!("{guard}st{space}{kind}.b{bits} [%w2], {{{values}}};\n");
                    let store = if elements == 1 { store.replace(['{', '}'], "") } else { store };
                    runs(&format!(
                        "mov.u32 %r6, %ntid.x;\nsub.u32 %r5, %r6, 1;\nxor.b32 %r4, %r1, %t;\ncvt.s64.s32 %w4, %r1;\nmul.wide.u32 %w5, %r2, %r3;\n\
                         {base}mul.wide.u32 %w2, %t, 16;\nadd.u64 %w2, %w1, %w2;\nsetp.lt.u32 %p3, %t, 64;\n\
                         @%p3 st{space}.v4.u32 [%w2], {{1, 2, 3, 4}};\n{index}{inside}mad.wide.u32 %w2, %n, {total}, %w1;\nbar.sync 0;\n\
                         @!%p3 bra L;\n{store}L:\nbar.sync 0;\n\
                         and.b32 %n, %t, 31;\nmad.wide.u32 %w2, %n, 4, %w1;\nld{space}.u32 %r7, [%w2];\nxor.b32 %r0, %r0, %r7;\nbar.sync 0;\n"
                    ));
                }
            }
        }
    }
}

/// Products by powers of two and of parts of words, with registers and with constants.
#[test]
fn products_of_parts_agree() {
    for (a, b) in [("%r1", "%r2"), ("%r1", "0x81ff7f01"), ("0x80fe0102", "%r2"), ("%r1", "3")] {
        for (first, second) in [("u32", "u32"), ("u32", "s32"), ("s32", "u32"), ("s32", "s32")] {
            let signs = format!("{first}.{second}");
            runs(&format!(
                "dp4a.{signs} %r4, {a}, {b}, %r3;\ndp2a.lo.{signs} %r5, {a}, {b}, %r3;\ndp2a.hi.{signs} %r6, {a}, {b}, %r0;\n\
                 xor.b32 %r0, %r0, %r4;\nadd.u32 %r1, %r1, %r5;\nxor.b32 %r2, %r2, %r6;\n"
            ));
        }
    }
    for factor in ["1", "2", "128", "0x8000", "3"] {
        runs(&format!(
            "cvt.u16.u32 %h0, %r0;\nmul.wide.u16 %r4, %h0, {factor};\nmul.wide.s16 %r5, %h0, {factor};\nmul.lo.u16 %h1, %h0, {factor};\n\
             mul.lo.u32 %r6, %r1, {factor};\nmul.lo.u32 %r7, {factor}, %r2;\nmul.wide.u32 %w1, %r3, {factor};\nmul.lo.u64 %w2, %w1, {factor};\n\
             cvt.u32.u16 %r8, %h1;\nshr.u64 %w3, %w2, 31;\ncvt.u32.u64 %r9, %w3;\nxor.b32 %r0, %r4, %r8;\nadd.u32 %r1, %r5, %r9;\nxor.b32 %r2, %r6, %r7;\n"
        ));
    }
}
