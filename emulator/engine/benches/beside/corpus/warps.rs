//! Kernels of `kernels/corpus/warps.cu`, whose warps talk.
//!
//! Native code does their work lane by lane with the same steps: a scan by shuffles is not
//! compared with a loop of one addition per word, which is another algorithm.

use super::parting::sparse;
use crate::beside::contest::{Arg, Contest, Shape, buffer, close, exact, numbers, word, words, zeros};
use crate::beside::native::{one_by_one, with_fma};
use std::hint::black_box;

const WORDS: usize = 1 << 14;

fn shape(unit: &'static str, count: usize, threads: usize) -> Shape {
    Shape { unit, work: count as f64 / 1e6, grid: (threads as u32 / 256, 1), block: (256, 1) }
}

pub(crate) fn segmented_scan() -> Contest {
    let (input, heads) = (words(WORDS, 21), words(WORDS, 22));
    let heads: Vec<u32> = heads.into_iter().map(|word| word & word >> 3 & word >> 7).collect();
    let args = vec![buffer(&input), buffer(&heads), zeros(WORDS), word(WORDS)];
    Contest::new(shape("Mword/s", WORDS, WORDS), args, exact(2, WORDS), move |out: &mut [u32]| {
        let input = black_box(&input).chunks_exact(32);
        for ((input, heads), out) in input.zip(heads.chunks_exact(32)).zip(out.chunks_exact_mut(32)) {
            let mut head: [u32; 32] = std::array::from_fn(|lane| heads[one_by_one(lane)] & 1);
            out.copy_from_slice(input);
            for d in [1, 2, 4, 8, 16] {
                // From the last lane down, so that each finds the old sum of its neighbor.
                for lane in (d..32).rev() {
                    let lane = one_by_one(lane) & 31;
                    if head[lane] == 0 {
                        out[lane] = out[lane].wrapping_add(out[lane - d]);
                        head[lane] = head[lane - d];
                    }
                }
            }
        }
    })
}

pub(crate) fn block_prefix() -> Contest {
    let input = words(WORDS, 23);
    let args = vec![buffer(&input), zeros(WORDS)];
    Contest::new(shape("Mword/s", WORDS, WORDS), args, exact(1, WORDS), move |out: &mut [u32]| {
        for (input, out) in black_box(&input).chunks_exact(256).zip(out.chunks_exact_mut(256)) {
            out.copy_from_slice(input);
            let levels = [1, 2, 4, 8, 16, 32, 64, 128];
            for d in levels {
                for right in (2 * d - 1..256).step_by(2 * d) {
                    out[right] = out[right].wrapping_add(out[right - d]);
                }
            }
            out[255] = 0;
            for d in levels.into_iter().rev() {
                for right in (2 * d - 1..256).step_by(2 * d) {
                    let left = out[right - d];
                    out[right - d] = out[right];
                    out[right] = out[right].wrapping_add(left);
                }
            }
            for (out, own) in out.iter_mut().zip(input) {
                *out = out.wrapping_add(*own);
            }
        }
    })
}

/// Adds to each word the words before it, in five steps as a warp does.
fn scan_lanes(lanes: &mut [u32]) {
    for d in [1, 2, 4, 8, 16] {
        for lane in (d..lanes.len()).rev() {
            let lane = one_by_one(lane);
            lanes[lane] = lanes[lane].wrapping_add(lanes[lane - d]);
        }
    }
}

pub(crate) fn warp_prefix() -> Contest {
    let input = words(WORDS, 24);
    let args = vec![buffer(&input), zeros(WORDS)];
    Contest::new(shape("Mword/s", WORDS, WORDS), args, exact(1, WORDS), move |out: &mut [u32]| {
        out.copy_from_slice(black_box(&input));
        for block in out.chunks_exact_mut(256) {
            let mut sums = [0u32; 8];
            for (warp, sum) in block.chunks_exact_mut(32).zip(&mut sums) {
                scan_lanes(warp);
                *sum = warp[31];
            }
            scan_lanes(&mut sums);
            for (warp, sum) in block.chunks_exact_mut(32).skip(1).zip(sums) {
                for out in warp {
                    *out = out.wrapping_add(sum);
                }
            }
        }
    })
}

/// Sorts 256 words by four bits, with the ballots of eight warps.
fn sort_by_digit(input: &[u32], out: &mut [u32], shift: u32) {
    let mut counts = [0u32; 16 * 8];
    let mut ranks = [0u32; 256];
    let digit = |word: u32| word >> shift & 15;
    for (warp, (input, ranks)) in input.chunks_exact(32).zip(ranks.chunks_exact_mut(32)).enumerate() {
        let ballot = |bit| (0..32).fold(0, |set, lane| set | (digit(input[lane]) >> bit & 1) << lane);
        let set: [u32; 4] = std::array::from_fn(ballot);
        for (lane, rank) in ranks.iter_mut().enumerate() {
            let own = digit(input[lane]);
            let same = set
                .iter()
                .enumerate()
                .fold(u32::MAX, |same, (bit, set)| same & if own >> bit & 1 != 0 { *set } else { !set });
            *rank = (same & ((1 << lane) - 1)).count_ones();
            if *rank == 0 {
                counts[own as usize * 8 + warp] = same.count_ones();
            }
        }
    }
    let mut sums: [u32; 32] = std::array::from_fn(|lane| counts[4 * lane..4 * lane + 4].iter().sum());
    scan_lanes(&mut sums);
    for (lane, four) in counts.chunks_exact_mut(4).enumerate() {
        let mut before = sums[lane] - four.iter().sum::<u32>();
        for count in four {
            before += std::mem::replace(count, before);
        }
    }
    for (i, (word, rank)) in input.iter().zip(ranks).enumerate() {
        out[(counts[digit(*word) as usize * 8 + i / 32] + rank) as usize] = *word;
    }
}

pub(crate) fn radix_pass() -> Contest {
    let input = words(WORDS, 25);
    let args = vec![buffer(&input), zeros(WORDS), Arg::Word(12)];
    Contest::new(shape("Mword/s", WORDS, WORDS), args, exact(1, WORDS), move |out: &mut [u32]| {
        for (input, out) in black_box(&input).chunks_exact(256).zip(out.chunks_exact_mut(256)) {
            sort_by_digit(input, out, black_box(12));
        }
    })
}

/// A sparse matrix and the vector to multiply it with.
#[derive(Clone)]
struct Sparse {
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f32>,
    x: Vec<f32>,
}

impl Sparse {
    fn new(rows: usize, degree: usize) -> Sparse {
        let (starts, columns) = sparse(rows, degree, 26);
        let values = numbers(columns.len(), 27);
        Sparse { starts, columns, values, x: numbers(rows, 28) }
    }

    /// Returns the contest of a kernel that multiplies with so many threads for each row.
    fn contest(self, threads: usize, work: fn(&Sparse, &mut [f32])) -> Contest {
        let rows = self.x.len();
        let args = [buffer(&self.starts), buffer(&self.columns), buffer(&self.values), buffer(&self.x)];
        let args = args.into_iter().chain([zeros(rows), word(rows)]).collect();
        let shape = shape("Mentry/s", self.values.len(), rows * threads);
        Contest::new(shape, args, exact(4, rows), move |y: &mut [f32]| work(black_box(&self), y))
    }
}

with_fma! {
    fn multiply_rows(a: &Sparse, y: &mut [f32]) {
        for (y, ends) in y.iter_mut().zip(a.starts.windows(2)) {
            let row = ends[0] as usize..ends[1] as usize;
            let entries = a.columns[row.clone()].iter().zip(&a.values[row]);
            *y = entries.fold(0.0, |sum, (column, value)| value.mul_add(a.x[*column as usize], sum));
        }
    }

    /// Lane by lane, then in five steps.
    fn multiply_by_warps(a: &Sparse, y: &mut [f32]) {
        for (y, ends) in y.iter_mut().zip(a.starts.windows(2)) {
            let row = ends[0] as usize..ends[1] as usize;
            let mut sums = [0f32; 32];
            let entries = a.columns[row.clone()].iter().zip(&a.values[row]);
            for (i, (column, value)) in entries.enumerate() {
                let sum = &mut sums[i & 31];
                *sum = value.mul_add(a.x[*column as usize], *sum);
            }
            for d in [16, 8, 4, 2, 1] {
                for lane in 0..d {
                    let lane = one_by_one(lane) & 31;
                    sums[lane] += sums[(lane + d) & 31];
                }
            }
            *y = sums[0];
        }
    }
}

pub(crate) fn csr_row() -> Contest {
    Sparse::new(2048, 16).contest(1, multiply_rows)
}

pub(crate) fn csr_warp() -> Contest {
    Sparse::new(512, 64).contest(32, multiply_by_warps)
}

pub(crate) fn bitonic() -> Contest {
    let input = words(WORDS, 29);
    let args = vec![buffer(&input), zeros(WORDS)];
    Contest::new(shape("Mword/s", WORDS, WORDS / 2), args, exact(1, WORDS), move |out: &mut [u32]| {
        out.copy_from_slice(black_box(&input));
        for block in out.chunks_exact_mut(512) {
            for size in (1..10).map(|bit| 1 << bit) {
                for d in (0..9).rev().map(|bit| 1 << bit).filter(|d| *d < size) {
                    for t in 0..256 {
                        let low = 2 * t - (t & (d - 1));
                        let (a, b) = (block[low], block[low + d]);
                        if (a > b) == (low & size == 0) {
                            block.swap(low, low + d);
                        }
                    }
                }
            }
        }
    })
}

pub(crate) fn tile_sum() -> Contest {
    const BLOCKS: usize = 32;
    const FLOATS: usize = 1 << 17;
    let input = numbers(FLOATS, 30);
    let args = vec![buffer(&input), zeros(BLOCKS), word(FLOATS)];
    let shape = shape("Mfloat/s", FLOATS, 256 * BLOCKS);
    Contest::new(shape, args, close(1, BLOCKS, 1e-4), move |out: &mut [f32]| {
        out.fill(0.0);
        for round in black_box(&input).chunks_exact(256 * BLOCKS) {
            for (block, out) in round.chunks_exact(256).zip(&mut *out) {
                for i in 0..256 {
                    *out += block[one_by_one(i) & 255];
                }
            }
        }
    })
}
