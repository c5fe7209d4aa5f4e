//! The computation of each kernel in plain Rust.

use super::Bounded;

/// Half a unit in the last place of 1.0_f32: the relative error of one rounding.
const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

/// `a + b`, element by element.
pub fn vector_add(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// `alpha * x + y` with one rounding an element.
pub fn saxpy(alpha: f32, x: &[f32], y: &[f32]) -> Vec<f32> {
    x.iter().zip(y).map(|(x, y)| alpha.mul_add(*x, *y)).collect()
}

/// The elements that one block of a grid-stride loop visits.
fn grid_stride<T: Copy>(input: &[T], grid: usize, block: usize) -> impl Iterator<Item = Vec<T>> {
    (0..grid).map(move |index| {
        input.chunks(block).skip(index).step_by(grid).flatten().copied().collect::<Vec<T>>()
    })
}

/// Sums, one per block, modulo 2^32.
pub fn block_sums_u32(input: &[u32], grid: usize, block: usize) -> Vec<u32> {
    grid_stride(input, grid, block)
        .map(|part| part.iter().fold(0, |sum: u32, value| sum.wrapping_add(*value)))
        .collect()
}

/// Sums, one per block. The tolerance allows for any order in which no element passes more
/// roundings than one thread's share plus ten levels of a tree.
pub fn block_sums_f32(input: &[f32], grid: usize, block: usize) -> Vec<Bounded> {
    let roundings = (input.len().div_ceil(grid * block) + 10) as f64;
    grid_stride(input, grid, block)
        .map(|part| {
            let value = part.iter().map(|value| f64::from(*value)).sum();
            let magnitude: f64 = part.iter().map(|value| f64::from(value.abs())).sum();
            Bounded { value, tolerance: roundings * ROUNDING * magnitude }
        })
        .collect()
}

/// Row-major `a` (`m` x `k`) times `b` (`k` x `n`), accumulated by fused multiply-adds along `k`.
pub fn matmul(a: &[f32], b: &[f32], m: usize, n: usize, k: usize) -> Vec<f32> {
    let mut c = vec![0.0_f32; m * n];
    for row in 0..m {
        for column in 0..n {
            c[row * n + column] = (0..k).fold(0.0, |sum, i| a[row * k + i].mul_add(b[i * n + column], sum));
        }
    }
    c
}

/// Row-major `rows` x `columns` turned into `columns` x `rows`.
pub fn transpose(input: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|column| (0..rows).map(move |row| input[row * columns + column])).collect()
}

/// Number of times that each byte value occurs.
pub fn histogram(input: &[u8]) -> Vec<u32> {
    let mut bins = vec![0; 256];
    for byte in input {
        bins[usize::from(*byte)] += 1;
    }
    bins
}

/// Nine-point stencil, clamped at both ends, accumulated from left to right by fused multiply-adds.
pub fn stencil(coefficients: &[f32; 9], input: &[f32]) -> Vec<f32> {
    let last = input.len() - 1;
    (0..input.len())
        .map(|center| {
            coefficients.iter().enumerate().fold(0.0_f32, |sum, (offset, coefficient)| {
                let neighbor = (center + offset).saturating_sub(4).min(last);
                coefficient.mul_add(input[neighbor], sum)
            })
        })
        .collect()
}

/// The rectangle and the depth of a Mandelbrot picture.
#[derive(Debug, Clone, Copy)]
pub struct Mandelbrot {
    /// Pixels in x.
    pub width: u32,
    /// Pixels in y.
    pub height: u32,
    /// Real part of the first pixel.
    pub left: f32,
    /// Imaginary part of the first pixel.
    pub top: f32,
    /// Distance of two pixels.
    pub step: f32,
    /// Most iterations per pixel.
    pub limit: u32,
}

/// Iteration counts, with the roundings that the kernel's contract spells.
pub fn mandelbrot(picture: &Mandelbrot) -> Vec<u32> {
    let count = |x: u32, y: u32| {
        let c_re = (x as f32).mul_add(picture.step, picture.left);
        let c_im = (y as f32).mul_add(picture.step, picture.top);
        let (mut re, mut im) = (0.0_f32, 0.0_f32);
        (0..picture.limit)
            .find(|_| {
                let im_squared = im * im;
                let outside = re.mul_add(re, im_squared) > 4.0;
                let next_re = re.mul_add(re, -im_squared) + c_re;
                im = (re + re).mul_add(im, c_im);
                re = next_re;
                outside
            })
            .unwrap_or(picture.limit)
    };
    (0..picture.height).flat_map(|y| (0..picture.width).map(move |x| count(x, y))).collect()
}

/// Velocities and positions after one step, four elements a body.
pub fn nbody(positions: &[f32], velocities: &[f32], dt: f32) -> (Vec<Bounded>, Vec<Bounded>) {
    const SOFTENING: f32 = 1e-2;
    let dt = f64::from(dt);
    let bodies: Vec<[f64; 4]> = positions
        .chunks_exact(4)
        .map(|body| [f64::from(body[0]), f64::from(body[1]), f64::from(body[2]), f64::from(body[3])])
        .collect();
    // Every term passes at most one rounding a body, and some twenty on its own way.
    let relative = (bodies.len() as f64 + 20.0) * ROUNDING;
    let (mut new_velocities, mut new_positions) = (Vec::new(), Vec::new());
    for (own, velocity) in bodies.iter().zip(velocities.chunks_exact(4)) {
        for axis in 0..3 {
            let pulls = bodies.iter().map(|other| {
                let squared: f64 = (0..3).map(|i| (other[i] - own[i]).powi(2)).sum();
                other[3] * (other[axis] - own[axis]) / (squared + f64::from(SOFTENING)).powf(1.5)
            });
            let (sum, magnitude) =
                pulls.fold((0.0, 0.0), |(sum, magnitude), pull| (sum + pull, magnitude + pull.abs()));
            let before = f64::from(velocity[axis]);
            let after = before + dt * sum;
            let tolerance = relative * (before.abs() + dt * magnitude);
            new_velocities.push(Bounded { value: after, tolerance });
            new_positions.push(Bounded {
                value: own[axis] + dt * after,
                tolerance: dt * tolerance + 2.0 * ROUNDING * (own[axis].abs() + dt * after.abs()),
            });
        }
        let untouched = |value| Bounded { value, tolerance: 0.0 };
        new_velocities.push(untouched(f64::from(velocity[3])));
        new_positions.push(untouched(own[3]));
    }
    (new_velocities, new_positions)
}
