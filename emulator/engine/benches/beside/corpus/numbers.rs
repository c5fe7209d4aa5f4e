//! Kernels of `kernels/corpus/numbers.cu`: arithmetic.

use crate::beside::contest::{Arg, Contest, Shape, buffer, close, exact, numbers, word, words, zeros};
use crate::beside::native::{one_by_one, with_fma};
use std::hint::black_box;

/// Returns the shape of blocks of 256 threads.
fn line(unit: &'static str, work: usize, threads: usize) -> Shape {
    Shape { unit, work: work as f64 / 1e6, grid: (threads.div_ceil(256) as u32, 1), block: (256, 1) }
}

pub(crate) fn xorshift() -> Contest {
    const THREADS: usize = 2048;
    const ROUNDS: usize = 32;
    let args = vec![zeros(THREADS), word(ROUNDS), word(THREADS)];
    let shape = line("Mword/s", THREADS * ROUNDS, THREADS);
    Contest::new(shape, args, exact(0, THREADS), |out: &mut [u32]| {
        for (i, out) in out.iter_mut().enumerate() {
            let mut x = (one_by_one(i) as u32).wrapping_mul(2_654_435_769).wrapping_add(1);
            *out = (0..black_box(ROUNDS)).fold(0u32, |sum, _| {
                x ^= x << 13;
                x ^= x >> 17;
                x ^= x << 5;
                sum.wrapping_add(x)
            });
        }
    })
}

fn random_four(i: u32, key: u32) -> [u32; 4] {
    let (mut c, mut low, mut high) = ([i, 0, 0x0123_4567, 0], key, !key);
    for _ in 0..10 {
        let [a, b] = [u64::from(c[0]) * 0xd251_1f53, u64::from(c[2]) * 0xcd9e_8d57];
        c = [(b >> 32) as u32 ^ c[1] ^ low, b as u32, (a >> 32) as u32 ^ c[3] ^ high, a as u32];
        low = low.wrapping_add(0x9e37_79b9);
        high = high.wrapping_add(0xbb67_ae85);
    }
    c
}

pub(crate) fn philox() -> Contest {
    const THREADS: usize = 8192;
    const KEY: u32 = 0xc0ff_ee11;
    let args = vec![zeros(4 * THREADS), Arg::Word(KEY), word(THREADS)];
    let shape = line("Mword/s", 4 * THREADS, THREADS);
    Contest::new(shape, args, exact(0, 4 * THREADS), |out: &mut [u32]| {
        for (i, out) in out.chunks_exact_mut(4).enumerate() {
            out.copy_from_slice(&random_four(one_by_one(i) as u32, black_box(KEY)));
        }
    })
}

with_fma! {
    fn hits(i: u64, rounds: u32) -> u32 {
        let mut state = i.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
        let mut hits = 0;
        for _ in 0..rounds {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let x = (state >> 40) as u32 as f32 * (1.0 / 16_777_216.0);
            let y = ((state >> 16) as u32 & 0x00ff_ffff) as f32 * (1.0 / 16_777_216.0);
            if x.mul_add(x, y * y) < 1.0 {
                hits += 1;
            }
        }
        hits
    }

    /// The normal distribution, by a polynomial.
    fn below(d: f32) -> f32 {
        let k = 1.0 / 0.231_641_9f32.mul_add(d.abs(), 1.0);
        let series = [1.330_274_4, -1.821_255_9, 1.781_477_9, -0.356_563_8, 0.319_381_54];
        let series = k * series.into_iter().fold(0.0f32, |sum, factor| k.mul_add(sum, factor));
        let tail = 0.398_942_3 * (-0.5 * d * d).exp() * series;
        if d > 0.0 { 1.0 - tail } else { tail }
    }

    fn prices_of(price: f32, strike: f32, time: f32) -> [f32; 2] {
        const RATE: f32 = 0.02;
        const VOLATILITY: f32 = 0.3;
        let deviation = VOLATILITY * time.sqrt();
        let drift = 0.5 * VOLATILITY * VOLATILITY + RATE;
        let d1 = drift.mul_add(time, (price / strike).ln()) / deviation;
        let d2 = d1 - deviation;
        let now = strike * (-RATE * time).exp();
        [price * below(d1) - now * below(d2), now * below(-d2) - price * below(-d1)]
    }

    /// The number of the nearest sphere of a pixel plus half of its shade.
    fn trace(spheres: &[[f32; 4]], side: usize, x: usize, y: usize) -> f32 {
        let [dx, dy] = [x, y].map(|at| (at as f32 + 0.5) / side as f32 - 0.5);
        let scale = 1.0 / (dx.mul_add(dx, dy * dy) + 1.0).sqrt();
        let [dx, dy, dz] = [dx * scale, dy * scale, scale];
        let (mut nearest, mut found) = (1e30, spheres.len() as f32);
        for (k, [x, y, z, radius]) in spheres.iter().enumerate() {
            let along = dz.mul_add(*z, dx.mul_add(*x, dy * y));
            let center = z.mul_add(*z, x.mul_add(*x, y * y));
            let inside = along.mul_add(along, -(-radius).mul_add(*radius, center));
            if inside > 0.0 {
                let distance = along - inside.sqrt();
                if distance > 0.0 && distance < nearest {
                    nearest = distance;
                    found = 0.5f32.mul_add(((z - distance * dz) / radius).max(0.0), k as f32);
                }
            }
        }
        found
    }
}

pub(crate) fn monte_carlo() -> Contest {
    const THREADS: usize = 2048;
    const ROUNDS: usize = 64;
    let args = vec![zeros(THREADS), word(ROUNDS), word(THREADS)];
    let shape = line("Mpoint/s", THREADS * ROUNDS, THREADS);
    Contest::new(shape, args, exact(0, THREADS), |out: &mut [u32]| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = hits(i as u64, black_box(ROUNDS as u32));
        }
    })
}

pub(crate) fn black_scholes() -> Contest {
    const OPTIONS: usize = 8192;
    let [prices, strikes, years] =
        [(51, 20.0, 10.0), (52, 20.0, 10.0), (53, 1.0, 0.9)].map(|(seed, middle, range)| {
            numbers(OPTIONS, seed).into_iter().map(|x| range * x + middle).collect::<Vec<f32>>()
        });
    let args = vec![buffer(&prices), buffer(&strikes), buffer(&years), zeros(2 * OPTIONS), word(OPTIONS)];
    let shape = line("Moption/s", OPTIONS, OPTIONS);
    Contest::new(shape, args, close(3, 2 * OPTIONS, 1e-4), move |out: &mut [f32]| {
        let (calls, puts) = out.split_at_mut(OPTIONS);
        for i in 0..OPTIONS {
            [calls[i], puts[i]] = prices_of(black_box(prices[i]), strikes[i], years[i]);
        }
    })
}

pub(crate) fn spheres() -> Contest {
    const SIDE: usize = 64;
    const SPHERES: usize = 32;
    let place = |four: &[f32]| [four[0] * 3.0, four[1] * 3.0, four[2] * 2.0 + 7.0, four[3].abs() + 0.2];
    let spheres: Vec<[f32; 4]> = numbers(4 * SPHERES, 54).chunks_exact(4).map(place).collect();
    let args = vec![buffer(spheres.as_flattened()), zeros(SIDE * SIDE), word(SIDE), word(SPHERES)];
    let (work, blocks) = ((SIDE * SIDE * SPHERES) as f64 / 1e6, SIDE as u32 / 8);
    let shape = Shape { unit: "Mtest/s", work, grid: (blocks / 4, blocks), block: (32, 8) };
    Contest::new(shape, args, close(1, SIDE * SIDE, 1e-3), move |out: &mut [f32]| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = trace(black_box(&spheres), SIDE, i % SIDE, i / SIDE);
        }
    })
}

/// Centers of the clusters, and the same number of sums of two coordinates and of counts.
const CENTERS: usize = 16;
const SUMS: usize = 3 * CENTERS;

with_fma! {
    fn nearest(points: &[[f32; 2]], centers: &[[f32; 2]], out: &mut [i32]) {
        let (sums, nearest) = out.split_at_mut(SUMS);
        sums.fill(0);
        for (point, nearest) in points.iter().zip(nearest) {
            let (mut least, mut best) = (1e30f32, 0);
            for (k, center) in centers.iter().enumerate() {
                let [dx, dy] = [point[0] - center[0], point[1] - center[1]];
                let distance = dx.mul_add(dx, dy * dy);
                if distance < least {
                    (least, best) = (distance, k);
                }
            }
            *nearest = best as i32;
            sums[2 * best] += (point[0] * 1024.0).round_ties_even() as i32;
            sums[2 * best + 1] += (point[1] * 1024.0).round_ties_even() as i32;
            sums[2 * CENTERS + best] += 1;
        }
    }

    /// Particles are place, speed, mass and number of turns.
    fn step(particles: &mut [f32], rounds: usize) {
        for p in particles.chunks_exact_mut(8) {
            for _ in 0..rounds {
                let step = 0.015_625 / p[6];
                for axis in 0..3 {
                    p[axis] = p[axis + 3].mul_add(step, p[axis]);
                    if p[axis].abs() > 1.0 {
                        p[axis + 3] = -p[axis + 3];
                        p[7] += 1.0;
                    }
                }
            }
        }
    }

    /// Each sum is rounded to a half after each step.
    fn multiply_halves(a: &[u16], b: &[u16], c: &mut [u16], side: usize) {
        for (a, c) in a.chunks_exact(2 * side).zip(c.chunks_exact_mut(side)) {
            for (x, c) in c.iter_mut().enumerate() {
                let step = |sum, k| {
                    let k = one_by_one(k);
                    round_to_half(widen(a[2 * k]).mul_add(widen(b[k * side + x]), sum))
                };
                *c = narrow((0..side).fold(0.0, step));
            }
        }
    }

    fn transform(points: &mut [[f32; 2]]) {
        let mut half = 1;
        while half < points.len() {
            for t in 0..points.len() / 2 {
                let k = t & (half - 1);
                let low = 2 * t - k;
                let (sine, cosine) = (-(k as f32) / half as f32 * std::f32::consts::PI).sin_cos();
                let ([x, y], [u, v]) = (points[low], points[low + half]);
                let (re, im) = (u.mul_add(cosine, -(v * sine)), u.mul_add(sine, v * cosine));
                points[low] = [x + re, y + im];
                points[low + half] = [x - re, y - im];
            }
            half *= 2;
        }
    }

    fn softmax(input: &[f32], out: &mut [f32]) {
        let largest = input.iter().fold(-1e30f32, |largest, x| largest.max(*x));
        let mut sum = 0.0;
        for (x, out) in input.iter().zip(&mut *out) {
            *out = (x - largest).exp();
            sum += *out;
        }
        let scale = 1.0 / sum;
        (0..out.len()).for_each(|i| out[one_by_one(i)] *= scale);
    }

    fn normalize(input: &[f32], gain: &[f32], bias: &[f32], out: &mut [f32]) {
        let count = input.len() as f32;
        let mean = input.iter().sum::<f32>() / count;
        let squares = input.iter().fold(0.0f32, |sum, x| (x - mean).mul_add(x - mean, sum));
        let scale = 1.0 / (squares / count + 1e-5).sqrt();
        for i in 0..out.len() {
            let i = one_by_one(i);
            out[i] = ((input[i] - mean) * scale).mul_add(gain[i], bias[i]);
        }
    }
}

pub(crate) fn means_step() -> Contest {
    const POINTS: usize = 8192;
    let [points, centers] = [(POINTS, 55), (CENTERS, 56)].map(|(count, seed)| -> Vec<[f32; 2]> {
        numbers(2 * count, seed).chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
    });
    let flat = |points: &[[f32; 2]]| buffer(points.as_flattened());
    let args = vec![flat(&points), flat(&centers), zeros(SUMS + POINTS), word(POINTS)];
    let shape = line("Mpoint/s", POINTS, POINTS);
    Contest::new(shape, args, exact(2, SUMS + POINTS), move |out: &mut [i32]| {
        nearest(black_box(&points), &centers, out);
    })
}

pub(crate) fn particles() -> Contest {
    const COUNT: usize = 2048;
    const ROUNDS: usize = 8;
    let mut input = numbers(8 * COUNT, 57);
    input
        .chunks_exact_mut(8)
        .for_each(|particle| (particle[6], particle[7]) = (particle[6].abs() + 0.1, 0.0));
    let args = vec![buffer(&input), zeros(8 * COUNT), word(COUNT), word(ROUNDS)];
    let shape = line("Mstep/s", COUNT * ROUNDS, COUNT);
    Contest::new(shape, args, close(1, 8 * COUNT, 1e-5), move |out: &mut [f32]| {
        out.copy_from_slice(black_box(&input));
        step(out, ROUNDS);
    })
}

/// Returns a normal half, or zero, as a float.
#[inline(always)]
fn widen(half: u16) -> f32 {
    let magnitude = f32::from_bits(u32::from(half & 0x7fff) << 13) * f32::from_bits(239 << 23);
    f32::from_bits(magnitude.to_bits() | u32::from(half & 0x8000) << 16)
}

/// Returns the bits of a half that is normal or zero.
fn narrow(half: f32) -> u16 {
    let scaled = (half * f32::from_bits(15 << 23)).to_bits();
    (scaled >> 13 & 0x7fff | scaled >> 16 & 0x8000) as u16
}

/// Rounds to the 11 bits of a half, by a difference of large numbers.
#[inline(always)]
fn round_to_half(x: f32) -> f32 {
    let scaled = x * 8193.0;
    scaled - (scaled - x)
}

pub(crate) fn half_product() -> Contest {
    const SIDE: usize = 64;
    // Sums of these are multiples of a sixteenth below 64, so none is rounded.
    let halves =
        |seed| words(SIDE * SIDE, seed).into_iter().map(|word| narrow((word % 9) as f32 * 0.25 - 1.0));
    let twice: Vec<u16> = halves(58).flat_map(|half| [half; 2]).collect();
    let b: Vec<u16> = halves(59).collect();
    let args = vec![buffer(&twice), buffer(&b), zeros(SIDE * SIDE / 2), word(SIDE)];
    let work = (2 * SIDE * SIDE * SIDE) as f64 / 1e6;
    let shape = Shape { unit: "MFLOP/s", work, grid: (1, 8), block: (32, 8) };
    Contest::new(shape, args, exact(2, SIDE * SIDE), move |c: &mut [u16]| {
        multiply_halves(black_box(&twice), &b, c, SIDE);
    })
}

pub(crate) fn fft() -> Contest {
    const BLOCKS: usize = 16;
    const POINTS: usize = 256;
    let input = numbers(2 * POINTS * BLOCKS, 60);
    let args = vec![buffer(&input), zeros(2 * POINTS * BLOCKS)];
    let work = (BLOCKS * POINTS) as f64 / 1e6;
    let shape = Shape { unit: "Mpoint/s", work, grid: (BLOCKS as u32, 1), block: (128, 1) };
    Contest::new(shape, args, close(1, 2 * POINTS * BLOCKS, 1e-4), move |out: &mut [f32]| {
        let input = black_box(&input);
        for (input, out) in input.chunks_exact(2 * POINTS).zip(out.chunks_exact_mut(2 * POINTS)) {
            let mut points = [[0f32; 2]; POINTS];
            for (i, pair) in input.chunks_exact(2).enumerate() {
                points[(i as u8).reverse_bits() as usize] = [pair[0], pair[1]];
            }
            transform(&mut points);
            out.copy_from_slice(points.as_flattened());
        }
    })
}

pub(crate) fn softmax_rows() -> Contest {
    const ROWS: usize = 64;
    const COLUMNS: usize = 256;
    let input = numbers(ROWS * COLUMNS, 61);
    let args = vec![buffer(&input), zeros(ROWS * COLUMNS), word(COLUMNS)];
    let work = (ROWS * COLUMNS) as f64 / 1e6;
    let shape = Shape { unit: "Mfloat/s", work, grid: (ROWS as u32, 1), block: (128, 1) };
    Contest::new(shape, args, close(1, ROWS * COLUMNS, 1e-5), move |out: &mut [f32]| {
        let rows = black_box(&input).chunks_exact(COLUMNS).zip(out.chunks_exact_mut(COLUMNS));
        rows.for_each(|(input, out)| softmax(input, out));
    })
}

pub(crate) fn layer_norm() -> Contest {
    const ROWS: usize = 64;
    const COLUMNS: usize = 256;
    let input = numbers(ROWS * COLUMNS, 62);
    let [gain, bias] = [63, 64].map(|seed| numbers(COLUMNS, seed));
    let args = vec![buffer(&input), buffer(&gain), buffer(&bias), zeros(ROWS * COLUMNS), word(COLUMNS)];
    let work = (ROWS * COLUMNS) as f64 / 1e6;
    let shape = Shape { unit: "Mfloat/s", work, grid: (ROWS as u32 / 4, 1), block: (128, 1) };
    Contest::new(shape, args, close(3, ROWS * COLUMNS, 1e-4), move |out: &mut [f32]| {
        let rows = black_box(&input).chunks_exact(COLUMNS).zip(out.chunks_exact_mut(COLUMNS));
        rows.for_each(|(input, out)| normalize(input, &gain, &bias, out));
    })
}
