//! Volatile accesses and accesses with a memory order: in lanes that share places, at faults in the
//! middle of a row, and in loops that wait for other lanes.

use super::{BY_TURNS, fails, kernel, run, runs};
use crate::device::MODES;
use cuprum_engine::exec::Execution;

/// Strong accesses under a mask, at places that lanes share, of all sizes; and at regular places.
#[test]
fn strong_accesses_agree() {
    let orders = [("volatile", "volatile"), ("relaxed.gpu", "relaxed.cta"), ("acquire.sys", "release.gpu")];
    for (ty, bytes, register) in [
        ("u8", 1, "%r1"),
        ("s8", 1, "%w0"),
        ("u16", 2, "%r1"),
        ("s16", 2, "%w0"),
        ("u32", 4, "%r1"),
        ("s32", 4, "%w0"),
        ("v2.u32", 8, "{%r1, %r2}"),
        ("v4.u32", 16, "{%r1, %r2, %r3, %r0}"),
        ("u64", 8, "%w0"),
        ("v2.u64", 16, "{%w0, %w1}"),
    ] {
        for (space, base) in [(".global", "%bins"), (".shared", "%shared"), ("", "%bins")] {
            for (load, store) in orders {
                let place = |word: &str| {
                    let mask = 31 & !(bytes - 1);
                    format!("and.b32 %n, {word}, {mask};\ncvt.u64.u32 %at, %n;\nadd.u64 %at, {base}, %at;\n")
                };
                let (there, back) = (place("%r0"), place("%r2"));
                let stored = ty.replace('s', "u");
                runs(&format!(
                    "mov.b64 %w0, {{%r1, %r2}};\nmov.b64 %w1, {{%r3, %r0}};\nst.shared.v2.u64 [%shared], {{%w0, %w1}};\n\
                     st.shared.v2.u64 [%shared+16], {{0, -1}};\nbar.warp.sync -1;\n\
                     {there}@%p0 st.{store}{space}.{stored} [%at], {register};\nbar.warp.sync -1;\n\
                     {back}@%p1 ld.{load}{space}.{ty} {register}, [%at];\nbar.warp.sync -1;\n\
                     st.{store}{space}.{stored} [{base}+16], {register};\nbar.warp.sync -1;\n\
                     ld.{load}{space}.{ty} {register}, [{base}+16];\n\
                     mov.b64 {{%r0, %n}}, %w0;\nxor.b32 %r3, %r3, %n;\n"
                ));
            }
        }
    }
    for order in ["volatile", "relaxed.sys"] {
        runs(&format!(
            "st.{order}.global.u32 [%out+4], %r0;\n@%p0 membar.gl;\nfence.sc.cta;\n@!%p1 fence.acq_rel.sys;\n\
             ld.{order}.global.u32 %r1, [%out+4];\n\
             mul.wide.u32 %w1, %t, 16;\nld.param.u64 %w2, [out];\nadd.u64 %w1, %w2, %w1;\n\
             @%p0 st.{order}.global.v2.u32 [%w1], {{%r2, %r3}};\n@!%p1 ld.{order}.global.v2.u32 {{%r0, %r2}}, [%w1];\n"
        ));
    }
}

#[test]
fn strong_accesses_that_miss_agree() {
    for (access, kind) in [
        ("ld.volatile.global.u32 %r0, [%w1];", "load"),
        ("st.volatile.global.u32 [%w1], %r0;", "store"),
        ("ld.acquire.gpu.u32 %r0, [%w1];", "load"),
        ("st.relaxed.sys.global.v2.u32 [%w1], {%r0, %r1};", "store"),
        ("atom.global.inc.u32 %r0, [%w1], %r1;", "atomic"),
        ("red.global.add.f32 [%w1], %f0;", "atomic"),
        ("atom.global.cas.b64 %w2, [%w1], %w3, %w4;", "atomic"),
        ("atom.global.min.s64 %w2, [%w1], %w3;", "atomic"),
    ] {
        let wrong = |by: i64| {
            format!(
                "mov.f32 %f0, 0f3f800000;\nmov.u64 %w3, 3;\nmov.u64 %w4, 4;\nmov.u64 %w1, %bins;\nsetp.eq.u32 %p2, %t, 11;\n\
                 @%p2 add.u64 %w1, %w1, {by};\n{access}\n"
            )
        };
        let words = if kind == "atomic" { &["thread (11,0,0)"][..] } else { &[kind, "thread (11,0,0)"] };
        for (by, fault) in [(1 << 20, "out-of-bounds"), (2, "misaligned")] {
            fails(&wrong(by), &[words, &[fault]].concat());
        }
        // Some lanes are in another region, and in the middle of the row one is nowhere.
        let mixed =
            format!("{}add.u64 %w5, %out, 8;\n@%p0 mov.u64 %w1, %w5;\n", wrong(0).replace(access, ""));
        let order = if access.contains("%out") || access.starts_with("ld") { "" } else { BY_TURNS };
        runs(&format!("{order}{mixed}{access}\n"));
        fails(&format!("{mixed}@%p2 mov.u64 %w1, 16;\n{access}\n"), &["null", "thread (11,0,0)"]);
    }
    fails(
        "ld.const.u32 %r1, [fixed];\nmov.u64 %w1, fixed;\ncvta.const.u64 %w1, %w1;\n@%p0 st.volatile.u32 [%w1], %r0;\n",
        &["read-only"],
    );
    // A generic address of shared memory, and of local memory.
    for space in ["shared", "own"] {
        let name = if space == "own" { "local" } else { space };
        runs(&format!(
            "st.{name}.u32 [%{space}], %r1;\nmov.u64 %w2, %{space};\ncvta.{name}.u64 %w2, %w2;\nmov.u64 %w1, %bins;\n\
             bar.warp.sync -1;\n@%p0 mov.u64 %w1, %w2;\nld.relaxed.gpu.u32 %r0, [%w1];\n"
        ));
    }
}

/// A loop that follows links until an element refers to itself, and shortens the way, with swaps
/// between lanes whose order does not change the result.
#[test]
fn lanes_unite_what_is_linked() {
    // Each warp has eight words: parents, at first each element itself.
    let body = "and.b32 %n, %t, 7;\nmul.wide.u32 %at, %n, 4;\nadd.u64 %w1, %bins, %at;\nst.volatile.global.u32 [%w1], %n;\n\
                bar.warp.sync -1;\nand.b32 %r4, %r0, 7;\nand.b32 %r5, %r1, 3;\n\
                A:\nmul.wide.u32 %at, %r4, 4;\nadd.u64 %w1, %bins, %at;\nld.volatile.global.u32 %r6, [%w1];\n\
                setp.eq.u32 %p2, %r6, %r4;\n@%p2 bra B;\nmov.u32 %r4, %r6;\nbra.uni A;\n\
                B:\nmul.wide.u32 %at, %r5, 4;\nadd.u64 %w2, %bins, %at;\nld.volatile.global.u32 %r6, [%w2];\n\
                setp.eq.u32 %p2, %r6, %r5;\n@%p2 bra C;\nst.volatile.global.u32 [%w2], %r6;\nmov.u32 %r5, %r6;\nbra.uni B;\n\
                C:\nsetp.eq.u32 %p2, %r4, %r5;\n@%p2 bra D;\nmax.u32 %r7, %r4, %r5;\nmin.u32 %r5, %r4, %r5;\n\
                mul.wide.u32 %at, %r7, 4;\nadd.u64 %w1, %bins, %at;\natom.global.cas.b32 %r8, [%w1], %r7, %r5;\n\
                mov.u32 %r4, %r7;\nsetp.ne.u32 %p2, %r8, %r7;\n@%p2 bra A;\n\
                D:\nbar.warp.sync -1;\nand.b32 %r4, %t, 7;\n\
                E:\nmul.wide.u32 %at, %r4, 4;\nadd.u64 %w1, %bins, %at;\nld.global.u32 %r6, [%w1];\nsetp.ne.u32 %p2, %r6, %r4;\n\
                mov.u32 %r4, %r6;\n@%p2 bra E;\nbar.warp.sync -1;\nand.b32 %n, %t, 7;\nmul.wide.u32 %at, %n, 4;\n\
                add.u64 %w1, %bins, %at;\nst.global.u32 [%w1], %r4;\nmov.u32 %r0, %r4;\n";
    runs(body);
}

/// Warps that wait in a loop until another has stored a value.
#[test]
fn warps_wait_for_a_stored_value() {
    for (load, store) in
        [("volatile", "volatile"), ("acquire.gpu", "release.gpu"), ("relaxed.gpu", "relaxed.gpu")]
    {
        let body = format!(
            "setp.lt.u32 %p2, %t, 64;\n@%p2 bra W;\nst.{store}.global.u32 [%out+4], %r0;\nmembar.gl;\n\
             setp.ne.u32 %p3, %t, 95;\n@%p3 bra D;\nst.{store}.global.u32 [%base], 12345;\nbra.uni D;\n\
             W:\nld.{load}.global.u32 %r1, [%base];\nsetp.ne.u32 %p3, %r1, 12345;\n@%p3 bra W;\n\
             membar.gl;\nD:\nmov.u32 %r2, 7;\n"
        );
        let text = kernel(&body);
        let plain = run(&text, Execution::Plain, 96, 1).unwrap_or_else(|fault| panic!("{fault}"));
        for mode in MODES {
            let other = run(&text, mode, 96, 1).unwrap_or_else(|fault| panic!("{fault}"));
            assert!((plain.0 == other.0) & (plain.1 == other.1), "{mode:?}\n{body}");
        }
    }
}
