//! Kernels of `kernels/corpus.cu`, which use the most expensive paths: atomics, per-thread arrays,
//! bytes, votes, wide blocks; with the same work in scalar Rust.

use crate::beside::contest::{Arg, Contest, Native, NativeRun, words};
use crate::beside::native::one_by_one;
use std::hint::black_box;
use std::ops::Range;

const WORDS: usize = 1 << 16;
const BINS: usize = 64;

/// Data shared by a kernel and its native work.
struct Shape {
    unit: &'static str,
    work: f64,
    grid: (u32, u32),
    block: (u32, u32),
    rows: usize,
}

/// Returns a contest whose buffer number `index` must contain exactly these words after a launch.
fn exact(
    shape: Shape,
    args: Vec<Arg>,
    (index, wanted): (usize, Vec<u32>),
    native: impl Fn(Range<usize>) -> NativeRun + 'static,
) -> Contest {
    let Shape { unit, work, grid, block, rows } = shape;
    let check = Box::new(move |buffers: &[Vec<u32>]| assert!(buffers[index] == wanted, "wrong results"));
    let native = Native::Rows(rows, Box::new(native));
    Contest { unit, work, grid, block, shared: 0, args, check, native }
}

fn count(input: &[u32], bins: &mut [u32; BINS]) {
    for word in input {
        bins[*word as usize % BINS] += 1;
    }
}

pub(crate) fn histogram() -> Contest {
    let input = words(WORDS, 1);
    let mut bins = [0; BINS];
    count(&input, &mut bins);
    let args = vec![Arg::Buffer(input.clone()), Arg::Buffer(vec![0; BINS]), Arg::Word(WORDS as u32)];
    let shape =
        Shape { unit: "Mword/s", work: WORDS as f64 / 1e6, grid: (16, 1), block: (256, 1), rows: WORDS };
    exact(shape, args, (1, bins.to_vec()), move |rows| {
        let input = input[rows].to_vec();
        let mut bins = [0; BINS];
        Box::new(move || count(black_box(&input), black_box(&mut bins)))
    })
}

fn digest(message: &[u32], out: &mut [u32]) {
    let mut w = [0u32; 64];
    w[..16].copy_from_slice(&message[..16]);
    for t in 16..64 {
        let (a, b) = (w[t - 15], w[t - 2]);
        let low = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
        let high = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
        w[t] = w[t - 16].wrapping_add(w[t - 7]).wrapping_add(low).wrapping_add(high);
    }
    let mut s: [u32; 8] = std::array::from_fn(|k| 0x9e37_79b9u32.wrapping_mul(k as u32 + 1));
    for (t, word) in w.iter().enumerate() {
        let [a, b, c, d, e, f, g, h] = s;
        let mixed = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let chosen = (e & f) ^ (!e & g);
        let up = [mixed, chosen, *word, t as u32].into_iter().fold(h, u32::wrapping_add);
        let down = (a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22))
            .wrapping_add((a & b) ^ (a & c) ^ (b & c));
        s = [up.wrapping_add(down), a, b, c, d.wrapping_add(up), e, f, g];
    }
    out.copy_from_slice(&s);
}

pub(crate) fn digests() -> Contest {
    const MESSAGES: usize = 2048;
    let input = words(16 * MESSAGES, 2);
    let all = |input: &[u32], out: &mut [u32]| {
        input.chunks_exact(16).zip(out.chunks_exact_mut(8)).for_each(|(message, out)| digest(message, out));
    };
    let mut wanted = vec![0; 8 * MESSAGES];
    all(&input, &mut wanted);
    let args =
        vec![Arg::Buffer(input.clone()), Arg::Buffer(vec![0; 8 * MESSAGES]), Arg::Word(MESSAGES as u32)];
    let work = MESSAGES as f64 / 1e6;
    let shape = Shape { unit: "Mmessage/s", work, grid: (8, 1), block: (256, 1), rows: MESSAGES };
    exact(shape, args, (1, wanted), move |rows| {
        let mut out = vec![0; 8 * rows.len()];
        let input = input[16 * rows.start..16 * rows.end].to_vec();
        Box::new(move || all(black_box(&input), black_box(&mut out)))
    })
}

fn run_machine(code: &[u8], steps: u32, i: u32) -> u32 {
    let mut stack: [u32; 16] = std::array::from_fn(|k| i + k as u32);
    let (mut depth, mut at) = (1u32, i as usize % code.len());
    for step in 0..steps {
        let opcode = code[at];
        at = if at + 1 == code.len() { 0 } else { at + 1 };
        let mut top = stack[depth as usize & 15];
        let below = depth.wrapping_sub(1) as usize & 15;
        let next = stack[below];
        match opcode {
            0..=63 => {
                depth = depth.wrapping_add(1);
                top = u32::from(opcode) * step;
            }
            64 | 65 => {
                depth = depth.wrapping_sub(1);
                top = if opcode == 64 { top.wrapping_add(next) } else { top ^ next };
            }
            66 => top = top.wrapping_mul(1_664_525).wrapping_add(1_013_904_223),
            67 => {
                stack[below] = top;
                top = next;
            }
            _ => top = top.rotate_right(u32::from(opcode) & 31),
        }
        stack[depth as usize & 15] = top;
    }
    stack[depth as usize & 15]
}

pub(crate) fn machine() -> Contest {
    const RUNS: usize = 1024;
    const STEPS: u32 = 64;
    // A rotation by no bits would shift by 32.
    let opcode = |word: u32| {
        let opcode = (word >> 8) as u8 % 80;
        if opcode & 31 == 0 && opcode > 67 { 66 } else { opcode.max(1) }
    };
    let code: Vec<u8> = words(100, 3).into_iter().map(opcode).collect();
    let wanted: Vec<u32> = (0..RUNS as u32).map(|i| run_machine(&code, STEPS, i)).collect();
    let program =
        code.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect();
    let rest = [code.len() as u32, STEPS, RUNS as u32].map(Arg::Word);
    let args = [Arg::Buffer(program), Arg::Buffer(vec![0; RUNS])].into_iter().chain(rest).collect();
    let work = RUNS as f64 * f64::from(STEPS) / 1e6;
    let shape = Shape { unit: "Mstep/s", work, grid: (4, 1), block: (256, 1), rows: RUNS };
    exact(shape, args, (1, wanted), move |rows| {
        let code = code.clone();
        let mut out = vec![0; rows.len()];
        Box::new(move || {
            for (i, out) in rows.clone().zip(&mut out) {
                *out = run_machine(black_box(&code), STEPS, i as u32);
            }
            black_box(&mut out);
        })
    })
}

fn matmul_rows(side: usize, a: &[u32], b: &[u32], c: &mut [u32]) {
    for (row, c) in a.chunks_exact(side).zip(c.chunks_exact_mut(side)) {
        for (column, c) in c.iter_mut().enumerate() {
            *c = 0;
            for (k, a) in row.iter().enumerate() {
                *c = a.wrapping_mul(b[one_by_one(k) * side + column]).wrapping_add(*c);
            }
        }
    }
}

pub(crate) fn matmul() -> Contest {
    const SIDE: usize = 96;
    let (a, b) = (words(SIDE * SIDE, 4), words(SIDE * SIDE, 5));
    let mut wanted = vec![0; SIDE * SIDE];
    matmul_rows(SIDE, &a, &b, &mut wanted);
    let args = [&a, &b].map(|matrix| Arg::Buffer(matrix.clone())).into_iter();
    let args = args.chain([Arg::Buffer(vec![0; SIDE * SIDE]), Arg::Word(SIDE as u32)]).collect();
    let (work, tiles) = ((2 * SIDE * SIDE * SIDE) as f64 / 1e6, SIDE as u32 / 16);
    let shape = Shape { unit: "MOP/s", work, grid: (tiles, tiles), block: (16, 16), rows: SIDE };
    exact(shape, args, (2, wanted), move |rows| {
        let a = a[rows.start * SIDE..rows.end * SIDE].to_vec();
        let (b, mut c) = (b.clone(), vec![0; a.len()]);
        Box::new(move || matmul_rows(SIDE, black_box(&a), black_box(&b), black_box(&mut c)))
    })
}

/// Counts, for each position of the text, the bytes of the pattern that match.
fn search(text: &[u8], pattern: &[u8], out: &mut [u32]) {
    for (text, out) in text.windows(pattern.len()).zip(out) {
        *out = text.iter().zip(pattern).take_while(|(a, b)| a == b).count() as u32;
    }
}

pub(crate) fn searches() -> Contest {
    const PATTERN: usize = 16;
    let letters = |count, seed| words(count, seed).into_iter().map(|word| (word >> 9) as u8 & 1);
    let text: Vec<u8> = letters(WORDS + PATTERN, 6).collect();
    let pattern: Vec<u8> = letters(PATTERN, 7).collect();
    let mut wanted = vec![0; WORDS];
    search(&text, &pattern, &mut wanted);
    let packed = |bytes: &[u8]| {
        let of_four = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        Arg::Buffer(bytes.chunks_exact(4).map(of_four).collect())
    };
    let lengths = [WORDS as u32, PATTERN as u32].map(Arg::Word);
    let args = [packed(&text), packed(&pattern), Arg::Buffer(vec![0; WORDS])];
    let args = args.into_iter().chain(lengths).collect();
    let shape =
        Shape { unit: "Mplace/s", work: WORDS as f64 / 1e6, grid: (64, 1), block: (256, 1), rows: WORDS };
    exact(shape, args, (2, wanted), move |rows| {
        let text = text[rows.start..rows.end + PATTERN].to_vec();
        let (pattern, mut out) = (pattern.clone(), vec![0; rows.len()]);
        Box::new(move || search(black_box(&text), black_box(&pattern), black_box(&mut out)))
    })
}

/// Copies odd words to the front of `out` and returns their number.
fn compact(input: &[u32], out: &mut [u32]) -> usize {
    let mut count = 0;
    for word in input {
        if word & 1 != 0 {
            out[count] = *word;
            count += 1;
        }
    }
    count
}

pub(crate) fn compaction() -> Contest {
    let input = words(WORDS, 8);
    let mut wanted = vec![0; WORDS];
    let found = compact(&input, &mut wanted);
    wanted.truncate(found);
    wanted.sort_unstable();
    let zeros = [WORDS, 1].map(|count| Arg::Buffer(vec![0; count]));
    let args = std::iter::once(Arg::Buffer(input.clone())).chain(zeros).chain([Arg::Word(WORDS as u32)]);
    Contest {
        unit: "Mword/s",
        work: WORDS as f64 / 1e6,
        grid: (WORDS as u32 / 256, 1),
        block: (256, 1),
        args: args.collect(),
        check: Box::new(move |buffers| {
            assert_eq!(buffers[2], [found as u32]);
            let mut odd = buffers[1][..found].to_vec();
            odd.sort_unstable();
            assert!(odd == wanted, "wrong words");
        }),
        shared: 0,
        native: Native::Rows(
            WORDS,
            Box::new(move |rows| {
                let mut out = vec![0; rows.len()];
                let input = input[rows].to_vec();
                Box::new(move || {
                    black_box(compact(black_box(&input), black_box(&mut out)));
                })
            }),
        ),
    }
}

const ROUNDS: u32 = 32;

/// Runs the rounds of one block of 1024 words.
fn relax(own: &mut [u32], next: &mut [u32]) {
    let last = own.len() - 1;
    for _ in 0..ROUNDS {
        for (t, next) in next.iter_mut().enumerate() {
            let t = one_by_one(t);
            let beside = own[t.saturating_sub(1)].min(own[(t + 1).min(last)]);
            *next = own[t].min(beside + 1);
        }
        own.copy_from_slice(next);
    }
}

pub(crate) fn relaxation() -> Contest {
    const BLOCKS: usize = 8;
    let input: Vec<u32> = words(1024 * BLOCKS, 9).into_iter().map(|word| word >> 8).collect();
    let mut wanted = input.clone();
    wanted.chunks_exact_mut(1024).for_each(|block| relax(block, &mut [0; 1024]));
    let args = vec![Arg::Buffer(input.clone()), Arg::Buffer(vec![0; 1024 * BLOCKS]), Arg::Word(ROUNDS)];
    let work = (1024 * BLOCKS) as f64 * f64::from(ROUNDS) / 1e6;
    let shape =
        Shape { unit: "Mword/s", work, grid: (BLOCKS as u32, 1), block: (1024, 1), rows: 1024 * BLOCKS };
    exact(shape, args, (1, wanted), move |rows| {
        let (mut own, mut next) = (input[rows].to_vec(), vec![0; 1024]);
        Box::new(move || {
            own.chunks_exact_mut(1024).for_each(|block| relax(black_box(block), &mut next));
        })
    })
}
