//! Kernels of `kernels/corpus/parting.cu`, whose lanes part.

use crate::beside::contest::{Arg, Contest, Shape, buffer, exact, word, words, zeros};
use std::hint::black_box;

fn sort_range(words: &mut [u32], low: i32, high: i32) {
    if low >= high {
        return;
    }
    let pivot = words[(low + high) as usize / 2];
    let (mut i, mut j) = (low, high);
    while i <= j {
        while words[i as usize] < pivot {
            i += 1;
        }
        while words[j as usize] > pivot {
            j -= 1;
        }
        if i <= j {
            words.swap(i as usize, j as usize);
            i += 1;
            j -= 1;
        }
    }
    sort_range(words, low, j);
    sort_range(words, i, high);
}

pub(crate) fn quicksort() -> Contest {
    const ROWS: usize = 128;
    const LENGTH: usize = 64;
    let input = words(ROWS * LENGTH, 11);
    let shape = Shape { unit: "Mword/s", work: (ROWS * LENGTH) as f64 / 1e6, grid: (2, 1), block: (64, 1) };
    let args = vec![buffer(&input), zeros(ROWS * LENGTH), word(LENGTH), word(ROWS)];
    Contest::new(shape, args, exact(1, ROWS * LENGTH), move |out: &mut [u32]| {
        out.copy_from_slice(black_box(&input));
        for row in out.chunks_exact_mut(LENGTH) {
            sort_range(row, 0, LENGTH as i32 - 1);
        }
    })
}

fn sum_below(kids: &[[i32; 2]], values: &[u32], node: i32, depth: u32) -> u32 {
    if node < 0 {
        return 0;
    }
    let [left, right] = kids[node as usize].map(|kid| sum_below(kids, values, kid, depth + 1));
    values[node as usize].wrapping_mul(depth).wrapping_add(left).wrapping_add(right)
}

pub(crate) fn tree_sum() -> Contest {
    const NODES: usize = 4096;
    const ROOTS: usize = 256;
    // Each node hangs at the first free place on a way that its number decides.
    let mut kids = vec![[-1i32; 2]; NODES];
    for (node, way) in words(NODES, 12).into_iter().enumerate().skip(1) {
        let (mut at, mut way) = (0, way);
        while kids[at][way as usize & 1] >= 0 {
            at = kids[at][way as usize & 1] as usize;
            way = way.rotate_right(1) ^ 0x5bd1;
        }
        kids[at][way as usize & 1] = node as i32;
    }
    let values = words(NODES, 13);
    let roots: Vec<u32> = (0..ROOTS as u32).map(|i| i * 3 + 16).collect();
    let args = vec![buffer(kids.as_flattened()), buffer(&values), buffer(&roots), zeros(ROOTS), word(ROOTS)];
    let shape = Shape { unit: "Mroot/s", work: ROOTS as f64 / 1e6, grid: (2, 1), block: (128, 1) };
    Contest::new(shape, args, exact(3, ROOTS), move |out: &mut [u32]| {
        for (root, out) in black_box(&roots).iter().zip(out) {
            *out = sum_below(&kids, &values, *root as i32, 1);
        }
    })
}

const STEPS: [fn(u32, u32) -> u32; 8] = [
    |x, y| x.wrapping_mul(5).wrapping_add(y),
    |x, y| x ^ y << 7 ^ x >> 9,
    |x, y| x.wrapping_mul(1_664_525).wrapping_add(y | 1),
    |x, y| x.rotate_left(11).wrapping_add(y),
    |x, y| if x < y.wrapping_mul(77_777) { x.wrapping_add(3) } else { x.wrapping_sub(y) },
    |x, y| x.count_ones().wrapping_mul(0x9e37_79b9).wrapping_add(y),
    |x, y| (x / (y + 3)).wrapping_add(0x7f4a_7c15),
    |x, y| (!x).wrapping_sub(y << 16),
];

pub(crate) fn dispatch() -> Contest {
    const WORDS: usize = 1024;
    const ROUNDS: u32 = 16;
    let input = words(WORDS, 14);
    let args = vec![buffer(&input), zeros(WORDS), Arg::Word(ROUNDS), word(WORDS)];
    let work = WORDS as f64 * f64::from(ROUNDS) / 1e6;
    let shape = Shape { unit: "Mcall/s", work, grid: (4, 1), block: (256, 1) };
    Contest::new(shape, args, exact(1, WORDS), move |out: &mut [u32]| {
        let steps = black_box(&STEPS);
        for (input, out) in input.iter().zip(out) {
            *out = (0..ROUNDS).fold(*input, |x, round| steps[x as usize >> 5 & 7](x, round));
        }
    })
}

/// Number of solutions with the first two queens in these columns.
fn solutions(side: usize, first: u32, second: u32) -> u32 {
    let [mut columns, mut left, mut right, mut open] = [[0u32; 17]; 4];
    let (all, mut count, mut row) = ((1 << side) - 1, 0, 2);
    (columns[1], left[1], right[1]) = (first, first << 1, first >> 1);
    if (columns[1] | left[1] | right[1]) & second != 0 {
        return 0;
    }
    columns[2] = first | second;
    left[2] = (left[1] | second) << 1;
    right[2] = (right[1] | second) >> 1;
    open[2] = all & !(columns[2] | left[2] | right[2]);
    while row >= 2 {
        let places = open[row];
        if places == 0 {
            row -= 1;
            continue;
        }
        let place = places & places.wrapping_neg();
        open[row] = places ^ place;
        if row + 1 == side {
            count += 1;
            continue;
        }
        columns[row + 1] = columns[row] | place;
        left[row + 1] = (left[row] | place) << 1;
        right[row + 1] = (right[row] | place) >> 1;
        row += 1;
        open[row] = all & !(columns[row] | left[row] | right[row]);
    }
    count
}

pub(crate) fn queens() -> Contest {
    const SIDE: usize = 8;
    let args = vec![zeros(SIDE * SIDE), word(SIDE), word(SIDE * SIDE)];
    let shape = Shape { unit: "Mplace/s", work: (SIDE * SIDE) as f64 / 1e6, grid: (1, 1), block: (64, 1) };
    Contest::new(shape, args, exact(0, SIDE * SIDE), |out: &mut [u32]| {
        let side = black_box(SIDE);
        for (i, out) in out.iter_mut().enumerate() {
            *out = solutions(side, 1 << (i / side), 1 << (i % side));
        }
    })
}

/// Returns the starts of the rows and the columns of a sparse square matrix, or graph.
pub(super) fn sparse(rows: usize, degree: usize, seed: u32) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0];
    let mut columns = Vec::new();
    for (row, size) in words(rows, seed).into_iter().enumerate() {
        let count = size as usize % (2 * degree);
        columns.extend(words(count, size ^ row as u32).into_iter().map(|word| word % rows as u32));
        starts.push(columns.len() as u32);
    }
    (starts, columns)
}

/// Returns the distances from vertex `source`.
fn search(starts: &[u32], targets: &[u32], source: u32, depths: &mut [u32], queue: &mut [u32]) {
    depths.fill(u32::MAX);
    depths[source as usize] = 0;
    queue[0] = source;
    let (mut first, mut last) = (0, 1);
    while first < last {
        let vertex = queue[first] as usize;
        first += 1;
        for target in &targets[starts[vertex] as usize..starts[vertex + 1] as usize] {
            if depths[*target as usize] == u32::MAX {
                depths[*target as usize] = depths[vertex] + 1;
                queue[last] = *target;
                last += 1;
            }
        }
    }
}

pub(crate) fn bfs() -> Contest {
    const VERTICES: usize = 4096;
    let (starts, targets) = sparse(VERTICES, 8, 15);
    let args = [buffer(&starts), buffer(&targets), zeros(VERTICES), zeros(VERTICES), word(1), word(VERTICES)];
    let shape = Shape { unit: "Medge/s", work: targets.len() as f64 / 1e6, grid: (1, 1), block: (256, 1) };
    let mut queue = vec![0; VERTICES];
    Contest::new(shape, args.into(), exact(2, VERTICES), move |out: &mut [u32]| {
        search(black_box(&starts), &targets, 1, out, &mut queue);
    })
}

pub(crate) fn collatz() -> Contest {
    const NUMBERS: usize = 4096;
    const FIRST: u64 = 1_000_001;
    let args = vec![zeros(NUMBERS), word(FIRST as usize), word(NUMBERS)];
    let shape = Shape { unit: "Mnumber/s", work: NUMBERS as f64 / 1e6, grid: (16, 1), block: (256, 1) };
    Contest::new(shape, args, exact(0, NUMBERS), |out: &mut [u32]| {
        for (i, out) in out.iter_mut().enumerate() {
            let (mut x, mut steps) = (black_box(FIRST) + i as u64, 0);
            while x != 1 {
                x = if x & 1 != 0 { 3 * x + 1 } else { x >> 1 };
                steps += 1;
            }
            *out = steps;
        }
    })
}

pub(crate) fn pick() -> Contest {
    const WORDS: usize = 1 << 15;
    let input = words(WORDS, 16);
    let args = vec![buffer(&input), zeros(WORDS), word(WORDS)];
    let shape = Shape { unit: "Mword/s", work: WORDS as f64 / 1e6, grid: (128, 1), block: (256, 1) };
    Contest::new(shape, args, exact(1, WORDS), move |out: &mut [u32]| {
        for (word, out) in black_box(&input).iter().zip(out) {
            if word & 12 != 0 {
                continue;
            }
            *out = if word & 1 != 0 { word.wrapping_mul(69_069).wrapping_add(1) } else { *word };
        }
    })
}
