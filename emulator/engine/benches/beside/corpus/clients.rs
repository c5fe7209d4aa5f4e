//! Kernels of `kernels/clients`, as Triton, Numba and Taichi compile them.

use crate::beside::contest::{
    Arg, Contest, Shape, Value, buffer, close, exact, float, linked, numbers, word, zeros,
};
use crate::beside::native::{one_by_one, with_fma};
use std::hint::black_box;

/// Appends the memory that Triton passes for its own use, of which these kernels need none.
fn with_scratch(mut args: Vec<Arg>) -> Vec<Arg> {
    args.extend([Arg::Wide(0), Arg::Wide(0)]);
    args
}

/// Returns the shape of so many blocks of 128 threads, as Triton launches four warps.
fn programs(unit: &'static str, work: usize, grid: (u32, u32)) -> Shape {
    Shape { unit, work: work as f64 / 1e6, grid, block: (128, 1) }
}

pub(crate) fn triton_add() -> Contest {
    const FLOATS: usize = 1 << 17;
    let [x, y] = [91, 92].map(|seed| numbers(FLOATS, seed));
    let args = with_scratch(vec![buffer(&x), buffer(&y), zeros(FLOATS), word(FLOATS)]);
    let shape = programs("Mfloat/s", FLOATS, (FLOATS as u32 / 1024, 1));
    Contest::new(shape, args, exact(2, FLOATS), move |out: &mut [f32]| {
        let (x, y) = (black_box(&x), &y);
        (0..FLOATS).map(one_by_one).for_each(|i| out[i] = x[i] + y[i]);
    })
}

const ROWS: usize = 64;
const COLUMNS: usize = 240;

fn softmax(input: &[f32], out: &mut [f32]) {
    let largest = input.iter().fold(f32::NEG_INFINITY, |largest, x| largest.max(*x));
    let mut sum = 0.0;
    for (x, out) in input.iter().zip(&mut *out) {
        *out = (x - largest).exp();
        sum += *out;
    }
    (0..out.len()).for_each(|i| out[one_by_one(i)] /= sum);
}

pub(crate) fn triton_softmax() -> Contest {
    let input = numbers(ROWS * COLUMNS, 93);
    let args = with_scratch(vec![buffer(&input), zeros(ROWS * COLUMNS), word(COLUMNS)]);
    let shape = programs("Mfloat/s", ROWS * COLUMNS, (ROWS as u32, 1));
    let contest = Contest::new(shape, args, close(1, ROWS * COLUMNS, 1e-5), move |out: &mut [f32]| {
        let rows = black_box(&input).chunks_exact(COLUMNS).zip(out.chunks_exact_mut(COLUMNS));
        rows.for_each(|(input, out)| softmax(input, out));
    });
    Contest { shared: 16, ..contest }
}

with_fma! {
    fn normalize(input: &[f32], gain: &[f32], bias: &[f32], out: &mut [f32]) {
        let count = input.len() as f32;
        let mean = input.iter().sum::<f32>() / count;
        let squares = input.iter().fold(0.0f32, |sum, x| (x - mean).mul_add(x - mean, sum));
        let scale = 1.0 / (squares / count + 1e-5).sqrt();
        for i in (0..out.len()).map(one_by_one) {
            out[i] = ((input[i] - mean) * scale).mul_add(gain[i], bias[i]);
        }
    }

    fn multiply(side: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
        for (a, c) in a.chunks_exact(side).zip(c.chunks_exact_mut(side)) {
            for (x, c) in c.iter_mut().enumerate() {
                *c = (0..side).fold(0.0, |sum, k| a[k].mul_add(b[one_by_one(k) * side + x], sum));
            }
        }
    }

    /// Doubles, as Numba's complex numbers have.
    fn iterate(counts: &mut [i32], side: usize, corner: [f64; 2], step: f64, limit: i32) {
        for (i, count) in counts.iter_mut().enumerate() {
            let c = [corner[0] + (i % side) as f64 * step, corner[1] + (i / side) as f64 * step];
            let (mut z, mut steps) = ([0f64; 2], 0);
            while steps < limit && z[0] * z[0] + z[1] * z[1] <= 4.0 {
                z = [z[0] * z[0] - z[1] * z[1] + c[0], 2.0 * z[0] * z[1] + c[1]];
                steps += 1;
            }
            *count = steps;
        }
    }

    fn diffuse(input: &[f32], out: &mut [f32], side: usize, rate: f32) {
        for y in 0..side {
            for x in (0..side).map(one_by_one) {
                let i = y * side + x;
                out[i] = if x == 0 || y == 0 || x == side - 1 || y == side - 1 {
                    input[i]
                } else {
                    let around = input[i - side] + input[i + side] + input[i - 1] + input[i + 1];
                    rate.mul_add(input[i].mul_add(-4.0, around), input[i])
                };
            }
        }
    }
}

pub(crate) fn triton_layer_norm() -> Contest {
    let input = numbers(ROWS * COLUMNS, 94);
    let [gain, bias] = [95, 96].map(|seed| numbers(COLUMNS, seed));
    let args = vec![buffer(&input), buffer(&gain), buffer(&bias), zeros(ROWS * COLUMNS), word(COLUMNS)];
    let shape = programs("Mfloat/s", ROWS * COLUMNS, (ROWS as u32, 1));
    let output = close(3, ROWS * COLUMNS, 1e-4);
    let contest = Contest::new(shape, with_scratch(args), output, move |out: &mut [f32]| {
        let rows = black_box(&input).chunks_exact(COLUMNS).zip(out.chunks_exact_mut(COLUMNS));
        rows.for_each(|(input, out)| normalize(input, &gain, &bias, out));
    });
    Contest { shared: 16, ..contest }
}

const SIDE: usize = 96;

fn product(a: Vec<f32>, b: Vec<f32>, args: [Arg; 2], shared: u32) -> Contest {
    let args = args.into_iter().chain([zeros(SIDE * SIDE), word(SIDE)]).collect();
    let shape = programs("MFLOP/s", 2 * SIDE * SIDE * SIDE, (SIDE as u32 / 32, SIDE as u32 / 32));
    let output = close(2, SIDE * SIDE, 1e-4);
    let contest = Contest::new(shape, with_scratch(args), output, move |c: &mut [f32]| {
        multiply(SIDE, black_box(&a), black_box(&b), c);
    });
    Contest { shared, ..contest }
}

pub(crate) fn triton_matmul() -> Contest {
    let [a, b] = [97, 98].map(|seed| numbers(SIDE * SIDE, seed));
    let args = [buffer(&a), buffer(&b)];
    product(a, b, args, 16384)
}

/// The native product is of floats: halves only halve the memory of these matrices.
pub(crate) fn triton_matmul_half() -> Contest {
    // Quarters up to one, so that halves hold them.
    let quarters = |seed| numbers(SIDE * SIDE, seed).into_iter().map(|x| (x * 4.0).round() / 4.0).collect();
    let halves = |values: &[f32]| -> Vec<u16> {
        // The exponent of a half is 112 less.
        let narrow =
            |bits: u32| (bits >> 16 & 0x8000 | (bits & 0x7fff_ffff).saturating_sub(112 << 23) >> 13) as u16;
        values.iter().map(|x| narrow(x.to_bits())).collect()
    };
    let [a, b]: [Vec<f32>; 2] = [99, 100].map(quarters);
    let args = [buffer(&halves(&a)), buffer(&halves(&b))];
    product(a, b, args, 8192)
}

/// Appends an array as Numba passes it: no owner, sizes, data, shape, strides.
fn array(args: &mut Vec<Arg>, data: Arg, size: usize, shape: &[usize]) {
    let count: usize = shape.iter().product();
    args.extend([0, 0, count, size].map(|number| Arg::Wide(number as u64)));
    args.push(data);
    let strides = (1..=shape.len()).map(|first| size * shape[first..].iter().product::<usize>());
    args.extend(shape.iter().copied().chain(strides).map(|number| Arg::Wide(number as u64)));
}

pub(crate) fn numba_sum() -> Contest {
    const FLOATS: usize = 1 << 16;
    const BLOCKS: usize = 16;
    let input = numbers(FLOATS, 101);
    let mut args = Vec::new();
    array(&mut args, buffer(&input), 4, &[FLOATS]);
    array(&mut args, zeros(BLOCKS), 4, &[BLOCKS]);
    let work = FLOATS as f64 / 1e6;
    let shape = Shape { unit: "Mfloat/s", work, grid: (BLOCKS as u32, 1), block: (256, 1) };
    Contest::new(shape, args, close(1, BLOCKS, 1e-4), move |out: &mut [f32]| {
        out.fill(0.0);
        for (i, part) in black_box(&input).chunks_exact(256).enumerate() {
            let sum = &mut out[i % BLOCKS];
            (0..256).map(one_by_one).for_each(|k| *sum += part[k]);
        }
    })
}

pub(crate) fn numba_mandelbrot() -> Contest {
    const PIXELS: usize = 64;
    const LIMIT: i32 = 64;
    let (corner, step) = ([-2.0, -1.25], 2.5 / PIXELS as f64);
    let mut args = Vec::new();
    array(&mut args, zeros(PIXELS * PIXELS), 4, &[PIXELS, PIXELS]);
    args.extend([corner[0], corner[1], step].map(|x: f64| Arg::Wide(x.to_bits())));
    args.push(Arg::Word(LIMIT as u32));
    let work = (PIXELS * PIXELS) as f64 / 1e6;
    let shape = Shape { unit: "Mpixel/s", work, grid: (4, 4), block: (16, 16) };
    Contest::new(shape, args, exact(0, PIXELS * PIXELS), move |counts: &mut [i32]| {
        iterate(counts, PIXELS, black_box(corner), step, LIMIT);
    })
}

const CELLS: usize = 128;

pub(crate) fn numba_diffuse() -> Contest {
    let input = numbers(CELLS * CELLS, 102);
    let mut args = Vec::new();
    array(&mut args, buffer(&input), 4, &[CELLS, CELLS]);
    array(&mut args, zeros(CELLS * CELLS), 4, &[CELLS, CELLS]);
    args.push(float(0.1));
    let work = (CELLS * CELLS) as f64 / 1e6;
    let shape = Shape { unit: "Mcell/s", work, grid: (8, 8), block: (16, 16) };
    Contest::new(shape, args, close(1, CELLS * CELLS, 1e-6), move |out: &mut [f32]| {
        diffuse(black_box(&input), out, CELLS, 0.1);
    })
}

/// The one parameter of Taichi's kernels is a structure: the addresses of the arguments and of the
/// run time, and two more. The run time contains, at a distance that depends on the version, the
/// address of the results of an earlier task: here the number of cells, columns and rows.
pub(crate) fn taichi_diffuse() -> Contest {
    const TEMPORARIES: usize = 32_872;
    let input = numbers(CELLS * CELLS, 103);
    let mut arguments = vec![CELLS as u32; 10];
    arguments[8] = 0.1f32.to_bits();
    let sizes: [u32; 3] = [CELLS * CELLS, CELLS, CELLS].map(|size| size as u32);
    let args = vec![
        Arg::Apart(f32::to_words(&input)),
        Arg::Apart(vec![0; CELLS * CELLS]),
        Arg::Apart(sizes.to_vec()),
        linked(arguments, &[(2, 0), (6, 1)]),
        linked(vec![0; TEMPORARIES / 4 + 2], &[(TEMPORARIES / 4, 2)]),
        Arg::Wide(0),
        Arg::Wide(0),
    ];
    let work = (CELLS * CELLS) as f64 / 1e6;
    let shape = Shape { unit: "Mcell/s", work, grid: (64, 1), block: (128, 1) };
    Contest::new(shape, args, close(1, CELLS * CELLS, 1e-6), move |out: &mut [f32]| {
        diffuse(black_box(&input), out, CELLS, 0.1);
    })
}
