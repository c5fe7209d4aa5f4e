//! Cooperation of parts of warps, counters, elements shorter than their registers, and generic
//! addresses.

use super::{COLLECTIVES, agreed, fails, runs};

/// Counters at their limits.
#[test]
fn counters_wrap_alike() {
    for (space, base) in [("global", "%bins"), ("shared", "%shared")] {
        for operation in ["inc", "dec"] {
            for operand in ["0", "1", "5", "0x7fffffff", "0xffffffff", "%r1"] {
                for old in ["0", "1", "4", "0x80000000", "0xfffffffe", "0xffffffff"] {
                    let body = format!(
                        "mov.u32 %r4, {old};\nmov.u32 %r5, {operand};\nst.{space}.u32 [{base}], %r4;\nbar.warp.sync -1;\n\
                         @%p0 atom.{space}.{operation}.u32 %r0, [{base}], %r5;\nbar.warp.sync -1;\nld.{space}.u32 %r2, [{base}];\n"
                    );
                    agreed(&body, 77, 2).unwrap_or_else(|fault| panic!("{body}\n{fault}"));
                }
            }
        }
    }
}

/// Elements of up to four bytes in registers of eight, with both signs, in all kinds of memory.
#[test]
fn short_elements_of_wide_registers_agree() {
    for (ty, bytes) in [("u8", 1), ("s8", 1), ("u16", 2), ("s16", 2), ("u32", 4), ("s32", 4)] {
        for (space, base) in [("global", "%bins"), ("shared", "%shared"), ("local", "%own")] {
            let stored = ty.replace('s', "u");
            let mask = 31 & !(bytes - 1);
            let at = |word: &str| {
                format!("and.b32 %n, {word}, {mask};\ncvt.u64.u32 %at, %n;\nadd.u64 %at, {base}, %at;\n")
            };
            runs(&format!(
                "mov.b64 %w0, {{%r1, %r2}};\nmov.b64 %w1, {{%r3, %r0}};\nst.{space}.v2.u64 [{base}], {{%w0, %w1}};\n\
                 st.{space}.v2.u64 [{base}+16], {{%w1, %w0}};\nbar.warp.sync -1;\n\
                 {}@%p0 st.{space}.{stored} [%at], %w1;\nbar.warp.sync -1;\n{}ld.{space}.{ty} %w2, [%at];\n\
                 @%p1 ld.{space}.{ty} %w0, [{base}+4];\nxor.b64 %w2, %w2, %w0;\nmov.b64 {{%r0, %r1}}, %w2;\n",
                at("%r0"),
                at("%r2"),
            ));
        }
        // Neighbors, by index, and pairs.
        runs(&format!(
            "mul.wide.u32 %w1, %t, {bytes};\nld.param.u64 %w2, [in];\nadd.u64 %w1, %w2, %w1;\nld.global.{ty} %w3, [%w1+8];\n\
             mul.wide.u32 %w1, %t, {0};\nadd.u64 %w1, %w2, %w1;\n@%p0 ld.global.v2.{ty} {{%w4, %w5}}, [%w1];\n\
             @!%p0 mov.u64 %w4, 1;\n@!%p0 mov.u64 %w5, 2;\nadd.u64 %w3, %w3, %w4;\nmul.lo.u64 %w3, %w3, 3;\n\
             add.u64 %w3, %w3, %w5;\nmov.b64 {{%r0, %r1}}, %w3;\n",
            2 * bytes
        ));
    }
}

/// Positions of bits, in words with and without any.
#[test]
fn positions_of_bits_agree() {
    for operation in [
        "clz.b32",
        "brev.b32",
        "popc.b32",
        "bfind.u32",
        "bfind.s32",
        "bfind.shiftamt.u32",
        "bfind.shiftamt.s32",
    ] {
        runs(&format!(
            "shr.u32 %n, %r3, 27;\nshr.u32 %r0, %r0, %n;\nshr.s32 %r1, %r1, %n;\nmov.u32 %r4, 0;\nselp.u32 %r2, %r4, %r2, %p0;\n\
             {operation} %r0, %r0;\n@%p1 {operation} %r1, %r1;\n{operation} %r2, %r2;\nselp.b32 %r4, -1, 1, %p1;\n\
             {operation} %r3, %r4;\n"
        ));
    }
}

/// Reductions, votes and matches of all lanes, and of parts that name themselves in loops that
/// lanes leave one by one.
#[test]
fn parts_of_warps_agree() {
    let mut collectives: Vec<String> = COLLECTIVES.iter().map(|line| (*line).to_owned()).collect();
    for operation in ["add.u32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"] {
        collectives.push(format!("redux.sync.{operation} %r0, %r1, {{}};"));
    }
    collectives
        .push("mov.b64 %w1, {%r1, %r1};\n@%p0 mov.u64 %w1, 5;\nmatch.any.sync.b64 %r0, %w1, {};".into());
    collectives.push("mov.u32 %r4, 5;\n@%p1 mov.u32 %r4, 6;\nmatch.all.sync.b32 %r0|%p2, %r4, {};".into());
    collectives.push("elect.sync %r0|%p2, {};\nselp.u32 %r1, 1, 2, %p2;".into());
    for collective in collectives {
        for members in ["-1", "%r5"] {
            let line = collective.replace("{}", members);
            runs(&format!("mov.u32 %r5, -1;\n{line}\n"));
        }
        // Lanes with an equal number name each other, and all take part.
        let line = collective.replace("{}", "%r5");
        runs(&format!("and.b32 %r4, %r2, 3;\nmatch.any.sync.b32 %r5, %r4, -1;\n{line}\n"));
        runs(&format!(
            "and.b32 %r6, %r3, 3;\nmov.u32 %r7, 0;\nL:\nactivemask.b32 %r5;\n{line}\nadd.u32 %r7, %r7, %r0;\n\
             sub.u32 %r6, %r6, 1;\nsetp.lt.s32 %p3, %r6, 0;\n@!%p3 bra L;\nbar.warp.sync -1;\nxor.b32 %r0, %r0, %r7;\n"
        ));
    }
}

/// Generic addresses of shared memory, again and again by one instruction, and of other memory in
/// between.
#[test]
fn generic_addresses_of_shared_memory_agree() {
    let generic = "mov.u64 %w2, %shared;\ncvta.shared.u64 %w2, %w2;\nmov.u64 %w3, room;\ncvta.shared.u64 %w3, %w3;\n\
                   st.shared.v2.u32 [%shared], {%n, 5};\nbar.warp.sync -1;\nmov.u32 %r4, 0;\n";
    let again = "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 5;\n@%p2 bra L;\nbar.warp.sync -1;\nld.shared.v2.u32 {%r0, %r1}, [%shared];\n";
    for (operation, operand) in [
        ("add.u32", "%r3"),
        ("xor.b32", "%r3"),
        ("max.u32", "%r3"),
        ("inc.u32", "0x7fffffff"),
        ("add.f32", "%f0"),
    ] {
        runs(&format!(
            "{generic}mov.f32 %f0, 0f40490fdb;\nmov.u64 %w1, %w2;\n@%p0 mov.u64 %w1, %bins;\nL:\n\
             red.{operation} [%w1], {operand};\n{again}"
        ));
    }
    for (ty, shift, value) in [("u16", 1, "%h0"), ("u8", 0, "%r4")] {
        runs(&format!(
            "{generic}bar.sync 0;\nshl.b32 %n, %t, {shift};\ncvt.u64.u32 %at, %n;\nadd.u64 %w3, %w3, %at;\nmov.u64 %w1, %w3;\n\
             L:\ncvt.u16.u32 %h0, %r4;\nst.{ty} [%w1], {value};\nld.{ty} %r5, [%w3];\nadd.u32 %r2, %r2, %r5;\n\
             mul.lo.u32 %r2, %r2, 7;\n@%p1 add.u64 %w1, %out, 4;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 5;\n@%p2 bra L;\n"
        ));
    }
    for (by, words) in [(1024, "out-of-bounds"), (2, "misaligned"), (0x0100_0000, "block")] {
        for access in ["atom.add.u32 %r0, [%w3], 1;", "ld.volatile.u32 %r0, [%w3];", "st.u32 [%w3], %r0;"] {
            fails(
                &format!(
                    "{generic}L:\nsetp.eq.u32 %p3, %r4, 3;\nsetp.eq.and.u32 %p3, %t, 9, %p3;\n@%p3 add.u64 %w3, %w3, {by};\n{access}\n{again}"
                ),
                &[words, "thread (9,0,0)"],
            );
        }
    }
}
