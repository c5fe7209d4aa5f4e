//! Atomic operations of whole warps: the same verdict as in the plain mode, in the same words.

use super::{buffers, launch, program};
use cuprum_engine::exec::Execution;
use cuprum_engine::report::{FaultKind, Hazard};

/// Returns the race that a body with two blocks of 64 threads has in both modes.
fn verdict(name: &str, body: &str) -> Option<Hazard> {
    let [plain, vector] = [Execution::Plain, Execution::Vector].map(|mode| {
        let mut device = program(body);
        device.options.mode = mode;
        let (_buffers, args) = buffers(&device, &[0]);
        launch(&device, "k", 2, &args).err()
    });
    let texts = [&plain, &vector].map(|fault| {
        // Addresses differ between devices.
        let text = fault.as_ref().map_or(String::new(), |fault| fault.to_string());
        let lines = text.lines().filter(|line| !line.contains(" at 0x"));
        lines.collect::<Vec<_>>().join("\n")
    });
    assert_eq!(texts[1], texts[0], "{name}\n{body}");
    plain.map(|fault| match fault.kind {
        FaultKind::Race(hazard) => hazard,
        _ => panic!("{name}: {fault}"),
    })
}

/// The threads of block 0 store to a cell each, run `order`, and add to a counter by `add`. The
/// threads of block 1 wait for all of them by `wait`, and load the cells.
fn across_blocks(order: &str, add: &str, wait: &str) -> String {
    format!(
        "mul.wide.u32 %rd1, %tid, 4;\nadd.u64 %rd1, %rd1, %rd0;\nsetp.eq.u32 %p0, %block, 0;\n\
         @!%p0 bra WAIT;\nst.global.u32 [%rd1+8], 1;\n{order}\nred.{add}.global.add.u32 [%rd0], 1;\nbra DONE;\n\
         WAIT:\natom.{wait}.global.or.b32 %r1, [%rd0], 0;\nsetp.lt.u32 %p1, %r1, 64;\n@%p1 bra WAIT;\n\
         ld.global.u32 %r2, [%rd1+8];\nDONE:\n"
    )
}

/// The same from the first warp of a block to the second, in shared memory.
fn across_warps(order: &str, add: &str, wait: &str) -> String {
    format!(
        "mov.u64 %rd2, cells;\nand.b32 %r0, %tid, 31;\nmul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd1, %rd2;\n\
         setp.eq.u32 %p0, %tid, 0;\n@%p0 st.shared.u32 [cells], 0;\nbar.sync 0;\nsetp.lt.u32 %p0, %tid, 32;\n\
         @!%p0 bra WAIT;\nst.shared.u32 [%rd1+8], 1;\n{order}\nred.{add}.shared.add.u32 [cells], 1;\nbra DONE;\n\
         WAIT:\natom.{wait}.shared.or.b32 %r1, [cells], 0;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bra WAIT;\n\
         ld.shared.u32 %r2, [%rd1+8];\nDONE:\n"
    )
}

#[test]
fn messages_by_atomics_of_whole_warps_need_a_release() {
    const RACE: Option<Hazard> = Some(Hazard::ReadAfterWrite);
    const OTHER_SCOPE: Option<Hazard> = Some(Hazard::WriteAfterWrite);
    for (name, order, add, wait, block, warp) in [
        ("no order", "", "relaxed.gpu", "relaxed.gpu", RACE, RACE),
        ("fence", "membar.gl;", "relaxed.gpu", "relaxed.gpu", None, None),
        ("fence, then others", "membar.gl;\nbar.warp.sync -1;", "relaxed.gpu", "relaxed.gpu", None, None),
        ("the warp alone", "bar.warp.sync -1;", "relaxed.gpu", "relaxed.gpu", RACE, RACE),
        ("fence of the block", "membar.cta;", "relaxed.gpu", "relaxed.gpu", RACE, None),
        ("the same, then others", "membar.cta;\nbar.warp.sync -1;", "relaxed.gpu", "relaxed.gpu", RACE, None),
        ("release", "", "release.gpu", "relaxed.gpu", None, None),
        ("release and acquire", "", "release.sys", "acquire.sys", None, None),
        ("release in the block", "", "release.cta", "acquire.cta", OTHER_SCOPE, None),
        ("relaxed in the block", "", "relaxed.cta", "relaxed.cta", OTHER_SCOPE, RACE),
    ] {
        let (blocks, warps) = (across_blocks(order, add, wait), across_warps(order, add, wait));
        assert_eq!(verdict(name, &blocks), block, "{name}, other block");
        assert_eq!(verdict(name, &warps), warp, "{name}, other warp");
    }
}

#[test]
fn atomics_race_with_accesses_to_a_part_of_their_bytes() {
    const RACE: Option<Hazard> = Some(Hazard::WriteAfterWrite);
    let cell = "mov.u64 %rd1, cells;\nand.b32 %r1, %tid, 7;\nmul.wide.u32 %rd2, %r1, 8;\nadd.u64 %rd1, %rd1, %rd2;\n\
                setp.eq.u32 %p0, %tid, 40;\nsetp.eq.u32 %p1, %r1, 3;\n";
    let wide = "atom.shared.add.u64 %rd3, [%rd1], 1;";
    for (name, body, expected) in [
        ("the same cell", format!("{wide}\natom.shared.max.u64 %rd3, [%rd1], 3;"), None),
        ("its upper half", format!("{wide}\natom.shared.add.u32 %r2, [%rd1+4], 1;"), None),
        ("a byte", format!("{wide}\n@%p0 st.shared.u8 [%rd1+5], 9;"), RACE),
        ("a volatile byte", format!("{wide}\n@%p0 st.volatile.shared.u8 [%rd1+5], 9;"), None),
        ("a byte after a barrier", format!("{wide}\nbar.sync 0;\n@%p0 st.shared.u8 [%rd1+5], 9;"), None),
        ("some lanes", format!("@%p1 {wide}\n@%p1 st.shared.u8 [%rd1], %tid;"), RACE),
        (
            "other lanes",
            format!("@!%p1 {wide}\n@%p0 mov.u32 %r1, 1;\n@%p1 st.shared.u8 [cells+24], 1;"),
            None,
        ),
        ("a store before", format!("@%p0 st.shared.u32 [%rd1], 1;\n{wide}"), RACE),
        ("a load before", format!("@%p0 ld.shared.u32 %r2, [%rd1];\n{wide}"), None),
    ] {
        assert_eq!(verdict(name, &format!("{cell}{body}")), expected, "{name}");
    }
}
