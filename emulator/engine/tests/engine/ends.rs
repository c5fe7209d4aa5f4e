//! Accesses of neighboring lanes at the ends of memory, which all modes allow and refuse alike.

use crate::device::{Args, Device, MODES};
use crate::reports::without_addresses;
use cuprum_engine::exec::Execution;

/// A block of 32 threads.
const THREADS: u32 = 32;

/// Returns a kernel that loads a word at `%a`, an address that `body` computes from the thread
/// `%t`, the number `%n` of thread 0 in memory plus the thread, and `%b`, an address that is a
/// parameter or, if the second is named, in memory.
fn kernel(from: &str, body: &str, access: &str) -> String {
    let load = if from == "kept" { "ld.global.u64 %b, [%b];" } else { "" };
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 kept, .param .u64 numbers, .param .u64 out)\n\
         {{\n.reg .b32 %t, %n, %v;\n.reg .b64 %a, %b, %c, %d, %v64;\nmov.u32 %t, %tid.x;\nld.param.u64 %b, [{from}];\n{load}\n\
         ld.param.u64 %c, [numbers];\nmul.wide.u32 %d, %t, 4;\nadd.u64 %c, %c, %d;\nld.global.u32 %n, [%c];\n\
         {body}\n{access}\nld.param.u64 %c, [out];\nadd.u64 %c, %c, %d;\nst.global.u32 [%c], %v;\nret;\n}}\n"
    )
}

/// Runs a kernel on words from an address relative to their first, with numbers that grow from a
/// first one. Returns the results or the report.
fn run(text: &str, mode: Execution, words: usize, offset: u64, first: u32) -> String {
    let mut device = Device::load(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    device.options.mode = mode;
    let values: Vec<u32> = (0..words as u32).map(|word| word * 3 + 1).collect();
    let numbers: Vec<u32> = (0..THREADS).map(|thread| first.wrapping_add(thread)).collect();
    let (from, numbers) = (device.buffer(&values), device.buffer(&numbers));
    let out = device.buffer(&[0u32; THREADS as usize]);
    let address = from.address().wrapping_add(offset);
    let kept = device.buffer(&[address]);
    let args = Args::default().push(address).buffer(&kept).buffer(&numbers).buffer(&out);
    match device.launch("k", 1, THREADS, &args) {
        Ok(_) => format!("{:?}", out.read::<u32>()),
        Err(fault) => without_addresses(&fault.to_string()),
    }
}

/// Compares all modes, of which plain is the first. Returns true if the accesses were allowed.
fn all_agree(text: &str, words: usize, offset: u64, first: u32) -> bool {
    let [expected, others @ ..] = MODES.map(|mode| run(text, mode, words, offset, first));
    for (mode, said) in MODES[1..].iter().zip(others) {
        assert_eq!(said, expected, "{mode:?}, {words} words, offset {offset}, numbers from {first}\n{text}");
    }
    expected.starts_with('[')
}

/// Rows of words, of bytes and of pairs, and regular accesses of other distances.
#[test]
fn lanes_in_a_row_stay_in_their_memory() {
    let word = "ld.global.u32 %v, [%a];";
    let byte = "ld.global.u8 %v, [%a];";
    let pair = "ld.global.u64 %v64, [%a];\ncvt.u32.u64 %v, %v64;";
    // The distance of lanes in bytes, the access, and its bytes.
    let kinds = [(4, word, 4), (8, word, 4), (12, word, 4), (-4, word, 4), (-8, word, 4), (0, word, 4)];
    let others = [(1, byte, 1), (3, byte, 1), (-1, byte, 1), (8, pair, 8), (16, pair, 8), (-8, pair, 8)];
    for (step, access, bytes) in kinds.into_iter().chain(others) {
        let body = format!("mul.wide.s32 %a, %t, {step};\nadd.s64 %a, %a, %b;");
        let texts = ["from", "kept"].map(|from| kernel(from, &body, access));
        let reach = i64::from(THREADS - 1) * i64::abs(step) + bytes;
        let words = (reach as usize).div_ceil(4);
        let start = if step < 0 { i64::from(THREADS - 1) * -step } else { 0 };
        let mut allowed = [0, 0];
        let ends = (words * 4) as i64 - reach;
        for moved in [-16, -8, -4, -3, -1, 0, 1, 2, 3, ends, ends + 1, ends + 4, ends + 8, ends + 16] {
            for text in &texts {
                let good = all_agree(text, words, (start + moved) as u64, 0);
                allowed[usize::from(good)] += 1;
            }
        }
        assert!(allowed.iter().all(|count| *count > 0), "{allowed:?} with a distance of {step}");
    }
}

/// Threads of several warps, of which those from a first one on reach memory that begins and ends
/// with their accesses. The others skip it.
#[test]
fn lanes_of_an_arm_stay_in_their_memory() {
    for (first, count) in [(0, 1), (0, 40), (3, 9), (5, 27), (30, 4), (60, 1), (64, 32), (33, 100)] {
        for step in [4_i64, -4, 8, -20] {
            let text = format!(
                ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 out)\n\
                 {{\n.reg .b32 %t, %n, %v;\n.reg .b64 %a, %b, %c;\n.reg .pred %p;\nmov.u32 %t, %tid.x;\n\
                 ld.param.u64 %b, [from];\nld.param.u64 %c, [out];\nmul.wide.u32 %a, %t, 4;\nadd.u64 %c, %c, %a;\n\
                 mov.u32 %v, 7;\nsub.u32 %n, %t, {first};\nsetp.ge.u32 %p, %n, {count};\n@%p bra SKIP;\n\
                 mul.wide.s32 %a, %t, {step};\nadd.s64 %a, %a, %b;\nld.global.u32 %v, [%a];\nadd.u32 %n, %v, %t;\n\
                 st.global.u32 [%a], %n;\nSKIP:\nst.global.u32 [%c], %v;\nret;\n}}\n"
            );
            let words = ((count - 1) * step.abs() + 4) as u32 / 4;
            let lowest = if step < 0 { first + count - 1 } else { first } * step;
            let said = MODES.map(|mode| {
                let mut device = Device::load(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
                device.options.mode = mode;
                [-4, -2, 0, 2, 4].map(|moved| {
                    let values: Vec<u32> = (0..words).map(|word| word * 3 + 1).collect();
                    let (from, out) = (device.buffer(&values), device.buffer(&[0u32; 160]));
                    let args = Args::default().push(from.address().wrapping_add_signed(moved - lowest));
                    match device.launch("k", 1, 160, &args.buffer(&out)) {
                        Ok(_) => format!("{:?}{:?}", out.read::<u32>(), from.read::<u32>()),
                        Err(fault) => without_addresses(&fault.to_string()),
                    }
                })
            });
            for (mode, other) in MODES.iter().zip(&said) {
                assert_eq!(*other, said[0], "{mode:?}\n{text}");
            }
            let good = said[0].iter().map(|said| said.starts_with('['));
            assert_eq!(good.collect::<Vec<_>>(), [false, false, true, false, false], "{text}");
        }
    }
}

/// Numbers from memory that follow each other, and wrap around in the middle of four lanes: the
/// last lanes are far from the memory.
#[test]
fn numbers_that_wrap_around_are_no_row() {
    let access = "ld.global.u32 %v, [%a];";
    for (extend, last) in [("mul.wide.u32 %a, %n, 4;", u32::MAX), ("mul.wide.s32 %a, %n, 4;", 0x7fff_ffff)] {
        for added in ["add.s64 %a, %a, %b;", "add.s64 %a, %b, %a;\nadd.s64 %a, %a, 4;\nsub.s64 %a, %a, 4;"] {
            let text = kernel("kept", &format!("{extend}\n{added}"), access);
            for fits in [1, 2, 3, 4, 30, 31, 32] {
                let first = (last - fits).wrapping_add(1);
                let offset = (u64::from(first) * 4).wrapping_neg();
                let good = all_agree(&text, 64, offset, first);
                assert_eq!(good, fits == 32, "{fits} lanes fit");
            }
            assert!(all_agree(&text, 64, 0, 3));
            assert!(all_agree(&text, 64, 0, 32));
            assert!(!all_agree(&text, 64, 0, 33));
        }
    }
    let shifted = kernel("kept", "cvt.s64.s32 %a, %n;\nshl.b64 %a, %a, 2;\nadd.s64 %a, %a, %b;", access);
    let scattered =
        kernel("kept", "xor.b32 %n, %n, 2;\nmul.wide.u32 %a, %n, 4;\nadd.s64 %a, %a, %b;", access);
    for text in [shifted, scattered] {
        assert!(all_agree(&text, 40, 0, 8));
        assert!(!all_agree(&text, 40, 0, 9) || !all_agree(&text, 40, 0, 12));
    }
}

/// Local memory, at addresses that name no space: each lane has its own.
#[test]
fn lanes_stay_in_their_local_memory() {
    let setup = ".local .align 16 .b8 own[64];\n.reg .b64 %l;\nmov.u64 %l, own;\ncvta.local.u64 %l, %l;\nst.u32 [%l], %t;\n\
                 st.v2.u32 [%l+8], {%t, %n};\nst.u64 [%l+56], %d;\nsub.u32 %n, %n, %t;\ncvt.s64.s32 %a, %n;\nadd.s64 %a, %l, %a;";
    let (word, pair) = ("ld.u32 %v, [%a];", "ld.u64 %v64, [%a];\ncvt.u32.u64 %v, %v64;");
    let changed = "atom.add.u32 %v, [%a], 5;\nld.u32 %v, [%a];";
    let stored = "st.u32 [%a], %n;\nld.u32 %v, [%l+60];";
    let mut allowed = 0;
    for access in [word, pair, changed, stored] {
        for offset in [0, 8, 56, 60, 61, 64, 72, 128, 2048, 1 << 24, 1 << 28, -4i32, -8] {
            allowed += u32::from(all_agree(&kernel("from", setup, access), 1, 0, offset as u32));
        }
    }
    assert!((15..30).contains(&allowed), "{allowed} accesses were allowed");
}
