//! Kernels of `kernels/corpus/grids.cu`: matrices, pictures and volumes.

use crate::beside::contest::{Arg, Contest, Shape, buffer, close, exact, numbers, word, words, zeros};
use crate::beside::native::{one_by_one, with_fma};
use std::hint::black_box;

/// Returns the shape of blocks of 16x16 threads that cover a square.
fn square(unit: &'static str, work: usize, side: usize) -> Shape {
    let blocks = side.div_ceil(16) as u32;
    Shape { unit, work: work as f64 / 1e6, grid: (blocks, blocks), block: (16, 16) }
}

pub(crate) fn floyd() -> Contest {
    const SIDE: usize = 64;
    let weight = |word: u32| if word & 0x700 == 0 { 1 + (word >> 20) } else { 1 << 30 };
    let graph: Vec<u32> = words(SIDE * SIDE, 31).into_iter().map(weight).collect();
    let shape =
        Shape { unit: "Mstep/s", work: (SIDE * SIDE * SIDE) as f64 / 1e6, grid: (1, 1), block: (32, 32) };
    Contest::new(shape, vec![buffer(&graph), word(SIDE)], exact(0, SIDE * SIDE), move |out: &mut [u32]| {
        out.copy_from_slice(black_box(&graph));
        for k in 0..SIDE {
            let row: [u32; SIDE] = std::array::from_fn(|x| out[k * SIDE + x]);
            for y in 0..SIDE {
                let first = out[y * SIDE + k];
                for (x, second) in row.iter().enumerate() {
                    let old = &mut out[y * SIDE + one_by_one(x)];
                    *old = (*old).min(first + second);
                }
            }
        }
    })
}

with_fma! {
    /// Layer by layer and row by row, so that the faces are found once for each row.
    fn average_cube(input: &[f32], out: &mut [f32], side: usize) {
        let (last, layer) = (side - 1, side * side);
        for z in 0..side {
            for y in 0..side {
                let row = z * layer + y * side;
                let face = z == 0 || y == 0 || z == last || y == last;
                for x in 0..side {
                    let i = row + one_by_one(x);
                    out[i] = if face || x == 0 || x == last {
                        input[i]
                    } else {
                        let two = input[i].mul_add(2.0, input[i - 1]);
                        let row = two + input[i + 1] + input[i - side] + input[i + side];
                        (row + input[i - layer] + input[i + layer]) * 0.125
                    };
                }
            }
        }
    }

    fn filter(input: &[f32], out: &mut [f32], width: usize, height: usize) {
        for (y, row) in out.chunks_exact_mut(width).enumerate() {
            for (x, out) in row.iter_mut().enumerate() {
                let mut sum = 0.0f32;
                for (dy, weights) in WEIGHTS.iter().enumerate() {
                    let line = (y + dy).saturating_sub(2).min(height - 1) * width;
                    for (dx, weight) in weights.iter().enumerate() {
                        let column = (x + dx).saturating_sub(2).min(width - 1);
                        sum = weight.mul_add(input[line + column], sum);
                    }
                }
                *out = sum * (1.0 / 256.0);
            }
        }
    }

    fn multiply(side: usize, a: &[f64], b: &[f64], c: &mut [f64]) {
        for (a, c) in a.chunks_exact(side).zip(c.chunks_exact_mut(side)) {
            for (x, c) in c.iter_mut().enumerate() {
                *c = (0..side).fold(0.0, |sum, k| a[k].mul_add(b[one_by_one(k) * side + x], sum));
            }
        }
    }
}

pub(crate) fn stencil_3d() -> Contest {
    const SIDE: usize = 32;
    const CELLS: usize = SIDE * SIDE * SIDE;
    let input = numbers(CELLS, 32);
    let args = vec![buffer(&input), zeros(CELLS), word(SIDE)];
    Contest::new(square("Mcell/s", CELLS, SIDE), args, exact(1, CELLS), move |out: &mut [f32]| {
        average_cube(black_box(&input), out, SIDE);
    })
}

const WEIGHTS: [[f32; 5]; 5] = [
    [1.0, 4.0, 6.0, 4.0, 1.0],
    [4.0, 16.0, 24.0, 16.0, 4.0],
    [6.0, 24.0, 36.0, 24.0, 6.0],
    [4.0, 16.0, 24.0, 16.0, 4.0],
    [1.0, 4.0, 6.0, 4.0, 1.0],
];

pub(crate) fn convolve() -> Contest {
    const SIDE: usize = 96;
    let input = numbers(SIDE * SIDE, 33);
    let args = vec![buffer(&input), zeros(SIDE * SIDE), word(SIDE), word(SIDE)];
    let shape = square("Mpixel/s", SIDE * SIDE, SIDE);
    Contest::new(shape, args, exact(1, SIDE * SIDE), move |out: &mut [f32]| {
        filter(black_box(&input), out, SIDE, SIDE);
    })
}

fn generation(input: &[u8], out: &mut [u8], side: usize) {
    for y in 0..side {
        let above = if y == 0 { side - 1 } else { y - 1 } * side;
        let (own, below) = (y * side, if y + 1 == side { 0 } else { y + 1 } * side);
        for x in 0..side {
            let x = one_by_one(x);
            let left = if x == 0 { side - 1 } else { x - 1 };
            let right = if x + 1 == side { 0 } else { x + 1 };
            let count = input[above + left]
                + input[above + x]
                + input[above + right]
                + input[own + left]
                + input[own + right]
                + input[below + left]
                + input[below + x]
                + input[below + right];
            out[own + x] = u8::from(count == 3 || (count == 2 && input[own + x] != 0));
        }
    }
}

pub(crate) fn life() -> Contest {
    const SIDE: usize = 160;
    let input: Vec<u8> = words(SIDE * SIDE, 34).into_iter().map(|word| u8::from(word & 0x300 == 0)).collect();
    let args = vec![buffer(&input), zeros(SIDE * SIDE / 4), word(SIDE)];
    let shape = square("Mcell/s", SIDE * SIDE, SIDE);
    Contest::new(shape, args, exact(1, SIDE * SIDE), move |out: &mut [u8]| {
        generation(black_box(&input), out, SIDE);
    })
}

fn letters(count: usize, seed: u32) -> Vec<u8> {
    words(count, seed).into_iter().map(|word| b'a' + (word >> 11) as u8 % 4).collect()
}

/// Returns the number of letters to change, add or remove between the words. `row` is one longer.
fn distance(a: &[u8], b: &[u8], row: &mut [u32]) -> u32 {
    row.iter_mut().zip(0..).for_each(|(cell, k)| *cell = k);
    for (y, b) in b.iter().enumerate() {
        let (mut diagonal, mut left) = (y as u32, y as u32 + 1);
        row[0] = left;
        for (a, cell) in a.iter().zip(&mut row[1..]) {
            let change = diagonal + u32::from(a != b);
            diagonal = *cell;
            left = (diagonal.min(left) + 1).min(change);
            *cell = left;
        }
    }
    row[a.len()]
}

pub(crate) fn levenshtein() -> Contest {
    const LENGTH: usize = 24;
    const PAIRS: usize = 512;
    let text = letters(LENGTH * (PAIRS + 1), 35);
    let args = vec![buffer(&text), zeros(PAIRS), word(LENGTH), word(PAIRS)];
    let work = (LENGTH * LENGTH * PAIRS) as f64 / 1e6;
    let shape = Shape { unit: "Mcell/s", work, grid: (4, 1), block: (128, 1) };
    Contest::new(shape, args, exact(1, PAIRS), move |out: &mut [u32]| {
        let text = black_box(&text);
        for (i, out) in out.iter_mut().enumerate() {
            let (a, b) = text[i * LENGTH..].split_at(LENGTH);
            *out = distance(a, &b[..LENGTH], &mut [0; LENGTH + 1]);
        }
    })
}

pub(crate) fn align() -> Contest {
    const LENGTH: usize = 256;
    let (a, b) = (letters(LENGTH, 36), letters(LENGTH, 37));
    let args = vec![buffer(&a), buffer(&b), zeros(1), word(LENGTH)];
    let work = (LENGTH * LENGTH) as f64 / 1e6;
    let shape = Shape { unit: "Mcell/s", work, grid: (1, 1), block: (LENGTH as u32, 1) };
    Contest::new(shape, args, exact(2, 1), move |out: &mut [u32]| {
        out[0] = distance(black_box(&a), black_box(&b), &mut [0; LENGTH + 1]);
    })
}

pub(crate) fn transpose_padded() -> Contest {
    const SIDE: usize = 192;
    let input = numbers(SIDE * SIDE, 38);
    let args = vec![buffer(&input), zeros(SIDE * SIDE), word(SIDE)];
    let (work, tiles) = ((SIDE * SIDE) as f64 / 1e6, SIDE as u32 / 32);
    let shape = Shape { unit: "Mfloat/s", work, grid: (tiles, tiles), block: (32, 8) };
    Contest::new(shape, args, exact(1, SIDE * SIDE), move |out: &mut [f32]| {
        let input = black_box(&input);
        for (y, row) in out.chunks_exact_mut(SIDE).enumerate() {
            for (x, out) in row.iter_mut().enumerate() {
                *out = input[one_by_one(x) * SIDE + y];
            }
        }
    })
}

pub(crate) fn matmul_double() -> Contest {
    const SIDE: usize = 96;
    let [a, b] =
        [39, 40].map(|seed| numbers(SIDE * SIDE, seed).into_iter().map(f64::from).collect::<Vec<_>>());
    let args = vec![buffer(&a), buffer(&b), zeros(2 * SIDE * SIDE), word(SIDE)];
    let shape = square("MFLOP/s", 2 * SIDE * SIDE * SIDE, SIDE);
    Contest::new(shape, args, exact(2, SIDE * SIDE), move |c: &mut [f64]| {
        multiply(SIDE, black_box(&a), black_box(&b), c);
    })
}

pub(crate) fn index_64() -> Contest {
    let [rows, columns, pitch] = [120usize, 250, 256];
    let input = numbers(rows * pitch, 41);
    let numbers = [rows, columns, pitch].map(|number| Arg::Wide(number as u64));
    let args = [buffer(&input), zeros(rows * columns)].into_iter().chain(numbers).collect();
    let work = (rows * columns) as f64 / 1e6;
    let shape = Shape { unit: "Mfloat/s", work, grid: (32, 1), block: (256, 1) };
    Contest::new(shape, args, exact(1, rows * columns), move |out: &mut [f32]| {
        let [rows, columns, pitch] = black_box([rows, columns, pitch]);
        for i in 0..rows * columns {
            let (row, column) = (i / columns, i % columns);
            out[column * rows + row] = input[row * pitch + column] * 2.0;
        }
    })
}

pub(crate) fn smooth() -> Contest {
    const SIZE: usize = 512;
    const BLOCKS: usize = 8;
    const ROUNDS: usize = 16;
    let input = numbers(SIZE * BLOCKS, 42);
    let args = vec![buffer(&input), zeros(SIZE * BLOCKS), word(SIZE), word(ROUNDS)];
    let work = (SIZE * BLOCKS * ROUNDS) as f64 / 1e6;
    let shape = Shape { unit: "Mfloat/s", work, grid: (BLOCKS as u32, 1), block: (SIZE as u32, 1) };
    Contest::new(shape, args, close(1, SIZE * BLOCKS, 1e-6), move |out: &mut [f32]| {
        out.copy_from_slice(black_box(&input));
        let mut old = [0f32; SIZE];
        for block in out.chunks_exact_mut(SIZE) {
            for _ in 0..ROUNDS {
                old.copy_from_slice(block);
                for (t, out) in block.iter_mut().enumerate() {
                    let t = one_by_one(t);
                    let (left, right) = (old[(t + SIZE - 1) % SIZE], old[(t + 1) % SIZE]);
                    *out = (left + old[t] + right) * (1.0 / 3.0);
                }
            }
        }
    })
}
