//! Loads at addresses that are the same in all lanes, whose results address memory, decide
//! branches, and are changed by the lanes themselves.

use super::{agreed, fails, runs};
use crate::device::{Args, Device, MODES};

/// Spaces of eight words that all threads share, and the register with the address of the first.
const PLACES: [(&str, &str); 5] =
    [(".global", "%base"), ("", "%base"), (".shared", "%room"), (".shared", "%low"), ("", "%far")];

/// Loads of all sizes and signs, one and several at once.
const LOADS: [(&str, &str); 7] = [
    ("u8", "%r4"),
    ("s8", "%r4"),
    ("u16", "%r4"),
    ("s16", "%r4"),
    ("u32", "%r4"),
    ("v2.u32", "{%r4, %r5}"),
    ("v4.u32", "{%r4, %r5, %r6, %r7}"),
];

/// Copies the words to shared memory, and sets its addresses.
const COPY: &str = "mov.u64 %room, room;\ncvta.shared.u64 %far, %room;\ncvt.u32.u64 %low, %room;\nmov.u32 %r8, 0;\nCOPY:\n\
    mul.wide.u32 %at, %r8, 4;\nadd.u64 %w5, %base, %at;\nld.global.u32 %r9, [%w5];\nadd.u64 %w5, %room, %at;\n\
    st.shared.u32 [%w5], %r9;\nadd.u32 %r8, %r8, 1;\nsetp.lt.u32 %p2, %r8, 8;\n@%p2 bra COPY;\nbar.sync 0;\n\
    mov.u32 %r5, 0;\nmov.u32 %r6, 0;\nmov.u32 %r7, 0;\n";

fn body(text: &str) -> String {
    format!(".reg .b32 %low; .reg .b64 %room, %far;\n{COPY}{text}")
}

/// Like `runs` with one warp, which changes words that others would load.
fn runs_alone(body: &str) {
    for seed in 0..4 {
        agreed(body, 32, seed).unwrap_or_else(|fault| panic!("{body}\n{fault}"));
    }
}

/// An address, a limit of a loop and a condition, all from memory.
#[test]
fn loaded_numbers_are_addresses_and_limits() {
    for (space, base) in PLACES {
        for (ty, registers) in LOADS {
            let wide = if base == "%low" { "u32" } else { "u64" };
            let at = if base == "%low" {
                "mov.b32 %n, %r4;\nand.b32 %n, %n, 28;\nadd.u32 %n, %low, %n;\nld.shared.u32 %r9, [%n];\n"
            } else {
                ""
            };
            let through = format!(
                "and.b32 %n, %r4, 28;\ncvt.u64.u32 %at, %n;\nadd.u64 %at, {base}, %at;\nld{space}.u32 %r9, [%at];\n"
            );
            let load = if wide == "u32" { at } else { &through };
            runs(&body(&format!(
                "ld{space}.{ty} {registers}, [{base}+16];\n{load}and.b32 %r10, %r4, 7;\nmov.u32 %r11, 0;\nL:\n\
                 xor.b32 %r0, %r0, %r9;\nadd.u32 %r0, %r0, %t;\nadd.u32 %r11, %r11, 1;\nsetp.lt.u32 %p2, %r11, %r10;\n\
                 @%p2 bra L;\nadd.u32 %r1, %r1, %r4;\nadd.u32 %r2, %r6, %r5;\nxor.b32 %r3, %r3, %r7;\n"
            )));
        }
    }
}

/// Some lanes load, by a guard, in an arm, in a long branch, and after others have left for good.
#[test]
fn some_lanes_load() {
    for (space, base) in PLACES {
        let load = format!("ld{space}.u32 %r4, [{base}+4];");
        let more = "add.u32 %r4, %r4, 9;\nmul.lo.u32 %r4, %r4, 5;\n".repeat(8);
        for text in [
            format!("mov.u32 %r4, 1;\n@%p0 {load}\nadd.u32 %r4, %r4, 1;\nadd.u32 %r0, %r0, %r4;\n"),
            format!(
                "mov.u32 %r4, 1;\n@%p0 bra L;\n{load}\nadd.u32 %r4, %r4, 1;\nL:\nadd.u32 %r0, %r0, %r4;\n"
            ),
            format!("mov.u32 %r4, 1;\n@%p0 bra L;\n{load}\n{more}L:\nadd.u32 %r0, %r0, %r4;\n"),
            format!(
                "@%p0 bra L;\n{load}\n{more}add.u32 %r0, %r0, %r4;\nbra M;\nL:\n{load}\nadd.u32 %r1, %r1, %r4;\nM:\n"
            ),
            format!("@%p0 exit;\n{load}\n{more}setp.gt.s32 %p2, %r4, 0;\n@%p2 add.u32 %r0, %r0, %r4;\n"),
            format!(
                "mov.u32 %r10, 0;\nL:\n{load}\n{more}add.u32 %r0, %r0, %r4;\nadd.u32 %r10, %r10, 1;\nand.b32 %r11, %r3, 3;\nsetp.lt.u32 %p2, %r10, %r11;\n@%p2 bra L;\nadd.u32 %r1, %r1, %r4;\n"
            ),
        ] {
            runs(&body(&text));
        }
    }
}

/// The first lane of each warp has left, so its row has no value.
#[test]
fn the_first_lane_need_not_load() {
    for (space, base) in PLACES.into_iter().filter(|(_, base)| *base != "%low") {
        runs(&body(&format!(
            "and.b32 %n, %t, 31;\nsetp.eq.u32 %p2, %n, 0;\n@%p2 exit;\nld{space}.u32 %r4, [{base}+4];\nand.b32 %r5, %r4, 28;\n\
             cvt.u64.u32 %at, %r5;\nadd.u64 %at, {base}, %at;\nld{space}.u32 %r6, [%at];\nadd.u32 %r0, %r0, %r6;\n"
        )));
    }
}

/// Lanes wait in a loop that takes longer than their share, with a register that others load
/// meanwhile.
#[test]
fn lanes_that_wait_keep_their_numbers() {
    let through =
        "and.b32 %n, %r4, 28;\ncvt.u64.u32 %at, %n;\nadd.u64 %at, %base, %at;\nld.global.u32 %r6, [%at];\n";
    let long = format!(
        "LONG:\n{through}add.u32 %r0, %r0, %r6;\nadd.u32 %r10, %r10, 1;\nadd.u32 %r11, %t, 9000;\n\
         setp.lt.u32 %p2, %r10, %r11;\n@%p2 bra LONG;\n"
    );
    let short = format!("ld.global.u32 %r4, [%base+8];\n{through}add.u32 %r1, %r1, %r6;\n");
    // Either way may be the one that runs first.
    for (one, other) in [(&long, &short), (&short, &long)] {
        runs(&body(&format!(
            "ld.global.u32 %r4, [%base+4];\nmov.u32 %r10, 0;\n@%p0 bra L;\n{one}bra ON;\nL:\n{other}ON:\nadd.u32 %r2, %r2, %r10;\n"
        )));
    }
}

/// Each iteration changes the word that the next one loads.
#[test]
fn a_loaded_word_changes() {
    for (space, base) in PLACES {
        runs_alone(&body(&format!(
            "mov.u32 %r10, 0;\nL:\nld{space}.u32 %r4, [{base}+12];\nadd.u32 %r5, %r4, 0x1234567;\nbar.warp.sync -1;\n\
             st{space}.u32 [{base}+12], %r5;\nbar.warp.sync -1;\nxor.b32 %r0, %r0, %r4;\nadd.u32 %r10, %r10, 1;\n\
             and.b32 %r11, %r5, 1;\nadd.u32 %r11, %r11, 6;\nsetp.lt.u32 %p2, %r10, %r11;\n@%p2 bra L;\n"
        )));
    }
}

/// Pointers in memory: to memory, to shared memory, and, in memory that lanes share, to the local
/// memory of each of them.
#[test]
fn loaded_pointers_lead_anywhere() {
    let follow = "ld.u64 %w1, [%base];\nld.u32 %r4, [%w1];\nadd.u32 %r4, %r4, 5;\nand.b32 %r5, %r4, 4;\n\
        cvt.u64.u32 %at, %r5;\nadd.u64 %w2, %w1, %at;\nld.u32 %r6, [%w2];\nxor.b32 %r0, %r4, %r6;\nld.v2.u32 {%r1, %r2}, [%w1];\n\
        setp.lt.u32 %p2, %r1, 0x80000000;\n@%p2 bra ON;\nadd.u32 %r3, %r3, %r1;\nmul.lo.u32 %r3, %r3, %r2;\nON:\n";
    for pointer in [
        "add.u64 %w0, %base, 16;\n",
        "cvta.shared.u64 %w0, %shared;\n",
        "st.local.u32 [%own], %r0;\nst.local.u32 [%own+4], %r1;\ncvta.local.u64 %w0, %own;\n",
    ] {
        runs_alone(&body(&format!(
            "{pointer}st.global.u64 [%base], %w0;\nbar.warp.sync -1;\n{follow}bar.warp.sync -1;\n\
             mov.u64 %w0, 7;\nst.global.u64 [%base], %w0;\n"
        )));
    }
}

/// The address of local memory comes from the host, and no instruction makes one.
#[test]
fn a_number_is_an_address_of_local_memory() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n\
        .reg .b64 %out, %in, %own, %w<4>; .reg .b32 %t, %r<8>; .reg .pred %p0;\n.local .align 16 .b8 mine[64];\n\
        ld.param.u64 %out, [out];\nld.param.u64 %in, [in];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %w0, %t, 4;\n\
        add.u64 %out, %out, %w0;\nmov.u64 %own, mine;\nmad.lo.u32 %r0, %t, 77, 5;\nst.local.u32 [%own+4], %r0;\n\
        ld.global.u64 %w1, [%in];\nadd.u64 %w1, %w1, %own;\nld.u32 %r1, [%w1+4];\nmul.lo.u32 %r2, %r1, %r1;\n\
        setp.gt.u32 %p0, %r2, 9999;\n@%p0 bra L;\nadd.u32 %r2, %r2, 1;\nxor.b32 %r2, %r2, %r1;\nL:\n\
        st.global.u32 [%out], %r2;\nret;\n}\n";
    for (mode, threads) in MODES.into_iter().flat_map(|mode| [32, 300].map(|threads| (mode, threads))) {
        let mut device = Device::load(text).unwrap();
        device.options.mode = mode;
        let out = device.buffer(&vec![0u32; threads as usize]);
        let pointer = device.buffer(&[device.memory.windows().local]);
        device.launch("k", 1, threads, &Args::default().buffer(&out).buffer(&pointer)).unwrap();
        let expected = (0..threads).map(|thread| {
            let own = thread * 77 + 5;
            let square = own * own;
            if square > 9999 { square } else { (square + 1) ^ own }
        });
        assert_eq!(out.read::<u32>(), expected.collect::<Vec<_>>(), "{mode:?}");
    }
}

/// Faults are the same in all modes.
#[test]
fn loads_outside_of_memory_fail_alike() {
    fails(
        &body(
            "add.u64 %w0, %base, 4194304;\nld.global.u32 %r4, [%w0];\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 7;\n@%p2 add.u32 %r0, %r0, %r4;\n",
        ),
        &["out-of-bounds"],
    );
    fails(
        &body(
            "ld.global.u32 %r4, [%base];\nand.b32 %r4, %r4, 255;\nadd.u32 %r4, %r4, 1;\nmul.wide.u32 %at, %r4, 4096;\nadd.u64 %at, %base, %at;\nld.global.u32 %r5, [%at];\nmul.wide.u32 %at, %r5, 4096;\nld.global.u32 %r6, [%at];\nadd.u32 %r0, %r0, %r6;\n",
        ),
        &["out-of-bounds"],
    );
    fails(
        &body(
            "ld.global.u32 %r4, [%base+2];\nmul.wide.u32 %at, %r4, 4;\nadd.u64 %at, %base, %at;\nld.global.u32 %r5, [%at];\nadd.u32 %r0, %r0, %r5;\n",
        ),
        &["misaligned"],
    );
}
