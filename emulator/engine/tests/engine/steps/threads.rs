//! Parts of the number of a thread, which are the same in all lanes of a warp or the number of the
//! lane, if the shape of the block is regular; and operations on first lanes in arms.

use super::{agreed, runs};
use crate::device::{Args, Device, MODES};
use cuprum_engine::exec::Execution;

/// Words that a thread writes.
const WORDS: usize = 16;

/// Stores parts of the number of the thread in its row and in its block, and the words of a table
/// at them.
const PARTS: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 table)\n{\n\
    .reg .b64 %out, %table, %at, %a<8>, %b<8>;\n\
    .reg .b32 %x, %y, %f, %g, %h, %all, %size, %r<16>, %s<16>, %n<16>; .reg .pred %p<2>;\n\
    ld.param.u64 %out, [out];\nld.param.u64 %table, [table];\n\
    mov.u32 %s0, %ctaid.x;\nmov.u32 %s1, %ntid.x;\nmov.u32 %s2, %tid.x;\nmad.lo.u32 %x, %s0, %s1, %s2;\n\
    mov.u32 %s3, %tid.z;\nmov.u32 %s4, %ntid.y;\nmov.u32 %s5, %tid.y;\nmad.lo.u32 %y, %s3, %s4, %s5;\n\
    mad.lo.u32 %f, %y, %s1, %s2;\nmov.u32 %s6, %ntid.z;\nmul.lo.u32 %all, %s1, %s4;\nmul.lo.u32 %size, %all, %s6;\n\
    mov.u32 %s7, %nctaid.x;\nmov.u32 %s8, %ctaid.y;\nmad.lo.u32 %n0, %s8, %s7, %s0;\nmad.lo.u32 %g, %n0, %size, %f;\n\
    shr.u32 %r0, %x, 5;\nand.b32 %r1, %x, 31;\nand.b32 %r2, 127, %x;\nand.b32 %r3, %f, 0xffffffe0;\nshr.u32 %r4, %f, 6;\n\
    and.b32 %r5, %f, 31;\nadd.s32 %n1, %x, -64;\nshr.s32 %n2, %n1, 31;\nshr.u32 %n3, %n2, 27;\nadd.s32 %n4, %n1, %n3;\n\
    shr.s32 %r6, %n4, 5;\nand.b32 %r7, %x, 12;\nadd.u32 %n5, %x, 7;\nshr.u32 %r8, %n5, 5;\nmad.lo.u32 %h, %s5, 64, %s2;\n\
    shr.u32 %n6, %f, 5;\nmul.wide.u32 %a1, %n6, 4;\nadd.u64 %b1, %table, %a1;\nld.global.u32 %r9, [%b1];\n\
    mul.wide.u32 %a2, %r5, 4;\nadd.u64 %b2, %table, %a2;\nld.global.u32 %r10, [%b2];\n\
    shr.u32 %n7, %x, 5;\nmul.wide.u32 %a3, %n7, 4;\nadd.u64 %b3, %table, %a3;\nld.global.u32 %r12, [%b3];\n\
    and.b32 %n8, %x, 31;\nmul.wide.u32 %a4, %n8, 4;\nadd.u64 %b4, %table, %a4;\nld.global.u32 %r13, [%b4];\n\
    shr.u32 %n9, %h, 5;\nmul.wide.u32 %a5, %n9, 4;\nadd.u64 %b5, %table, %a5;\nld.global.u32 %r14, [%b5];\n\
    and.b32 %n10, %h, 31;\nmul.wide.u32 %a6, %n10, 4;\nadd.u64 %b6, %table, %a6;\nld.global.u32 %r15, [%b6];\n\
    mov.u32 %r11, 0;\nsetp.lt.u32 %p0, %r1, 3;\n@!%p0 bra L;\nadd.u32 %n11, %r9, 5;\nand.b32 %n12, %n11, 31;\nmul.wide.u32 %a7, %n12, 4;\nadd.u64 %b7, %table, %a7;\nld.global.u32 %r11, [%b7];\nL:\n\
    mul.wide.u32 %at, %g, 64;\nadd.u64 %out, %out, %at;\nst.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};\n\
    st.global.v4.u32 [%out+16], {%r4, %r5, %r6, %r7};\nst.global.v4.u32 [%out+32], {%r8, %r9, %r10, %r11};\n\
    st.global.v4.u32 [%out+48], {%r12, %r13, %r14, %r15};\nret;\n}\n";

/// Returns the words that the kernel `k` writes, which receives the addresses of them and of a
/// table.
fn launched(
    text: &str,
    (mode, seed): (Execution, Option<u64>),
    (grid, block): ((u32, u32), (u32, u32, u32)),
    table: &[u32],
    words: usize,
) -> Vec<u32> {
    let mut device = Device::load(text).unwrap();
    (device.options.mode, device.options.seed) = (mode, seed);
    let out = device.buffer(&vec![0u32; words]);
    let args = Args::default().buffer(&out).buffer(&device.buffer(table));
    device.launch("k", grid, block, &args).unwrap();
    out.read()
}

fn expected(grid: [u32; 2], [x, y, z]: [u32; 3], table: &[u32]) -> Vec<u32> {
    let mut words = Vec::new();
    for block in 0..grid[0] * grid[1] {
        for thread in 0..x * y * z {
            let row = block % grid[0] * x + thread % x;
            let at = |index: u32| table[index as usize];
            let found = if row & 31 < 3 { at(at(thread >> 5).wrapping_add(5) & 31) } else { 0 };
            let before = row as i32 - 64;
            words.extend([row >> 5, row & 31, row & 127, thread & !31, thread >> 6, thread & 31]);
            words.extend([
                (before / 32) as u32,
                row & 12,
                (row + 7) >> 5,
                at(thread >> 5),
                at(thread & 31),
                found,
            ]);
            let tall = thread / x % y * 64 + thread % x;
            words.extend([at(row >> 5), at(row & 31), at(tall >> 5), at(tall & 31)]);
        }
    }
    words
}

#[test]
fn parts_of_numbers_of_threads_are_right_in_blocks_of_any_shape() {
    let table: Vec<u32> = (0..32u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 7).collect();
    for block in
        [[32, 1, 1], [77, 1, 1], [256, 1, 1], [16, 16, 1], [20, 3, 1], [8, 4, 2], [64, 2, 1], [96, 1, 3]]
    {
        let grid = [3, 2];
        let expected = expected(grid, block, &table);
        assert_eq!(expected.len(), (6 * block.iter().product::<u32>()) as usize * WORDS);
        for (mode, seed) in
            MODES.into_iter().flat_map(|mode| [None, Some(1), Some(2)].map(|seed| (mode, seed)))
        {
            let shape = ((grid[0], grid[1]), (block[0], block[1], block[2]));
            let words = launched(PARTS, (mode, seed), shape, &table, expected.len());
            assert_eq!(words, expected, "{mode:?}, seed {seed:?}, block {block:?}");
        }
    }
}

/// An index in `%z` made from the numbers of the thread and of its block, in `%t` and `%c`, and
/// from the width of blocks.
type Index = (&'static str, fn(u32, u32, u32) -> u32);

/// Parts of multiples of the number of a thread, with and without bits of other numbers.
const INDICES: [Index; 18] = [
    (
        "shl.b32 %a1, %t, 2;\nand.b32 %a2, %a1, 508;\nshl.b32 %a3, %c, 10;\nor.b32 %a4, %a2, %a3;\nor.b32 %z, %a4, 512;",
        |t, c, _| ((t << 2) & 508) | (c << 10) | 512,
    ),
    ("shl.b32 %a1, %t, 3;\nshr.u32 %z, %a1, 1;", |t, _, _| t << 2),
    ("mul.lo.u32 %a1, %t, 8;\nshr.s32 %z, %a1, 3;", |t, _, _| t),
    ("shl.b32 %a1, %t, 2;\nshr.u32 %z, %a1, 7;", |t, _, _| t >> 5),
    ("shl.b32 %a1, %t, 2;\nshr.u32 %z, %a1, 5;", |t, _, _| t >> 3),
    ("shl.b32 %a1, %t, 2;\nand.b32 %z, %a1, 124;", |t, _, _| (t << 2) & 124),
    ("shl.b32 %a1, %t, 2;\nand.b32 %z, %a1, 0x380;", |t, _, _| (t << 2) & 0x380),
    ("shl.b32 %a1, %t, 2;\nand.b32 %z, %a1, 0x60;", |t, _, _| (t << 2) & 0x60),
    ("shl.b32 %a1, %c, 5;\nor.b32 %z, %t, %a1;", |t, c, _| t | (c << 5)),
    ("shl.b32 %a1, %c, 6;\nor.b32 %z, %a1, %t;", |t, c, _| t | (c << 6)),
    ("or.b32 %z, %t, 1;", |t, _, _| t | 1),
    ("shl.b32 %a1, %c, 8;\nadd.u32 %a2, %a1, %t;\nor.b32 %z, %a2, 1024;", |t, c, _| ((c << 8) + t) | 1024),
    ("mul.lo.u32 %a1, %t, 3;\nand.b32 %z, %a1, 0x3e0;", |t, _, _| (t * 3) & 0x3e0),
    ("shl.b32 %a1, %t, 1;\nor.b32 %a2, %a1, 1;\nshr.u32 %z, %a2, 1;", |t, _, _| t),
    ("shl.b32 %a1, %t, 27;\nshr.u32 %z, %a1, 25;", |t, _, _| (t << 27) >> 25),
    (
        "cvt.u64.u32 %w1, %t;\nshl.b64 %w2, %w1, 4;\nand.b64 %w3, %w2, 1008;\nmul.wide.u32 %w4, %c, 1024;\nor.b64 %w5, %w3, %w4;\n\
         shr.u64 %w6, %w5, 2;\ncvt.u32.u64 %z, %w6;",
        |t, c, _| (((t << 4) & 1008) | (c << 10)) >> 2,
    ),
    ("mov.u32 %a1, %ntid.x;\nor.b32 %z, %t, %a1;", |t, _, x| t | x),
    ("mov.u32 %a1, %ntid.x;\nmul.lo.u32 %a2, %c, %a1;\nor.b32 %z, %a2, %t;", |t, c, x| t | (c * x)),
];

#[test]
fn bits_of_indices_are_taken_apart_and_joined() {
    let table: Vec<u32> = (0..4096u32).map(|i| i.wrapping_mul(0x9e37_79b9) ^ i).collect();
    for (text, index) in INDICES {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 table)\n{{\n\
             .reg .b64 %out, %table, %at, %w<12>; .reg .b32 %t, %c, %z, %g, %r<8>, %a<6>;\nld.param.u64 %out, [out];\n\
             ld.param.u64 %table, [table];\nmov.u32 %t, %tid.x;\nmov.u32 %c, %ctaid.x;\n{text}\nmul.wide.u32 %w10, %z, 4;\n\
             add.u64 %w11, %table, %w10;\nld.global.u32 %r0, [%w11];\nmov.u32 %r1, %tid.y;\nmov.u32 %r2, %ntid.x;\n\
             mov.u32 %r3, %ntid.y;\nmad.lo.u32 %r4, %c, %r3, %r1;\nmad.lo.u32 %g, %r4, %r2, %t;\nmul.wide.u32 %at, %g, 4;\n\
             add.u64 %out, %out, %at;\nst.global.u32 [%out], %r0;\nret;\n}}\n"
        );
        for (x, y) in [(128, 1), (77, 1), (256, 1), (16, 8), (64, 2), (12, 9)] {
            let at = |block, thread| table[index(thread, block, x) as usize];
            let rows = (0..3u32 * y).flat_map(|row| (0..x).map(move |thread| (row / y, thread)));
            let expected: Vec<u32> = rows.map(|(block, thread)| at(block, thread)).collect();
            for mode in MODES {
                let words = launched(&text, (mode, None), ((3, 1), (x, y, 1)), &table, expected.len());
                assert_eq!(words, expected, "{mode:?}, block ({x}, {y})\n{text}");
            }
        }
    }
}

/// Arms with operations on first lanes, whose results only the arm needs, or others too.
#[test]
fn arms_compute_addresses() {
    let address = "mul.wide.u32 %w1, %t, 2;\nand.b32 %r4, %t, 0xffffffe0;\nmul.wide.u32 %w2, %r4, 2;\nld.param.u64 %w3, [in];\n\
        add.u64 %w2, %w3, %w2;\nld.global.u32 %r1, [%w2+4];\n";
    for condition in ["@%p0 bra L;", "@!%p1 bra L;"] {
        for (before, arm, after) in [
            (
                "",
                format!(
                    "{address}mov.u64 %w3, room;\nadd.u64 %w1, %w3, %w1;\nst.shared.u16 [%w1], %h0;\nld.shared.u16 %h1, [%w1];\ncvt.u32.u16 %r1, %h1;\n"
                ),
                "",
            ),
            ("", format!("{address}add.u32 %r1, %r1, %r0;\n"), ""),
            // The arm reads the old number, and then changes it.
            ("mov.u32 %r4, 3;\n", format!("add.u32 %r3, %r3, %r4;\n{address}add.u32 %r2, %r2, %r4;\n"), ""),
            // It is needed after the arm, by all lanes.
            ("mov.u32 %r4, 3;\n", format!("{address}add.u32 %r2, %r2, %r1;\n"), "add.u32 %r3, %r3, %r4;\n"),
            (
                "mov.u64 %w1, 3;\n",
                format!("{address}add.u32 %r2, %r2, %r1;\n"),
                "cvt.u32.u64 %r5, %w1;\nadd.u32 %r3, %r3, %r5;\n",
            ),
            // An operation of its own decides nothing, and the arm has nothing else.
            ("", "and.b32 %r4, %t, 31;\nshr.u32 %r5, %t, 5;\n".to_owned(), ""),
        ] {
            let text = format!(
                "cvt.u16.u32 %h0, %r0;\n{before}{condition}\n{arm}L:\n{after}xor.b32 %r0, %r0, %r1;\n"
            );
            runs(&text);
            let looped = format!(
                "mov.u32 %r10, 0;\nM:\n{text}add.u32 %r10, %r10, 1;\nand.b32 %r11, %r3, 7;\nsetp.lt.u32 %p2, %r10, %r11;\n@%p2 bra M;\n"
            );
            runs(&looped);
            runs(&format!("@%p1 exit;\n{text}"));
        }
    }
}

/// All lanes agree, and need a number after the arm that it may have changed.
#[test]
fn arms_of_all_lanes_change_numbers() {
    for guard in ["%p2", "%p3", "!%p2", "!%p3"] {
        runs(&format!(
            "ld.global.u32 %r8, [%base];\nsetp.lt.u32 %p2|%p3, %r8, 0x80000000;\nmov.u32 %r4, 3;\n@{guard} bra L;\n\
             and.b32 %r4, %t, 0xffffffe0;\nadd.u32 %r1, %r1, %r0;\nL:\nmul.wide.u32 %w2, %r4, 2;\nld.param.u64 %w3, [in];\n\
             add.u64 %w4, %w3, %w2;\nld.global.u8 %r6, [%w4+4];\nxor.b32 %r0, %r0, %r6;\n"
        ));
    }
}

/// Other lanes wait in a long loop with the register that an arm changes.
#[test]
fn arms_leave_the_numbers_of_lanes_that_wait() {
    let long = "LONG:\nand.b32 %n, %r4, 28;\ncvt.u64.u32 %at, %n;\nadd.u64 %at, %base, %at;\nld.global.u32 %r6, [%at];\n\
        add.u32 %r0, %r0, %r6;\nadd.u32 %r10, %r10, 1;\nadd.u32 %r11, %t, 9000;\nsetp.lt.u32 %p2, %r10, %r11;\n@%p2 bra LONG;\n";
    let short = "@%p1 bra S;\nand.b32 %r4, %t, 0xffffffe0;\nmul.wide.u32 %w1, %r4, 2;\nld.param.u64 %w3, [in];\n\
        add.u64 %w1, %w3, %w1;\nld.global.u32 %r1, [%w1+4];\nS:\nadd.u32 %r1, %r1, 1;\n";
    for (one, other) in [(long, short), (short, long)] {
        let text = format!(
            "mov.u32 %r4, 8;\nmov.u32 %r10, 0;\n@%p0 bra L;\n{one}bra ON;\nL:\n{other}ON:\nadd.u32 %r2, %r2, %r10;\n"
        );
        for (threads, seed) in [(32, 1), (96, 2), (300, 3)] {
            agreed(&text, threads, seed).unwrap_or_else(|fault| panic!("{text}\n{fault}"));
        }
    }
}
