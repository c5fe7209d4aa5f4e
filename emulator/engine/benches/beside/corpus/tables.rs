//! Kernels of `kernels/corpus/tables.cu`: atomics, hashes, checksums, bytes, scattered vectors.

use crate::beside::contest::{Contest, Shape, buffer, close, exact, numbers, word, words, zeros};
use crate::beside::native::one_by_one;
use std::hint::black_box;

/// Returns the shape of blocks of 256 threads.
fn line(unit: &'static str, work: usize, threads: usize) -> Shape {
    Shape { unit, work: work as f64 / 1e6, grid: (threads.div_ceil(256) as u32, 1), block: (256, 1) }
}

pub(crate) fn histogram_private() -> Contest {
    const BYTES: usize = 1 << 16;
    let input: Vec<u8> = words(BYTES, 71).into_iter().map(|word| (word >> 7) as u8).collect();
    let args = vec![buffer(&input), zeros(64), word(BYTES)];
    Contest::new(line("Mbyte/s", BYTES, 16 * 256), args, exact(1, 64), move |bins: &mut [u32]| {
        bins.fill(0);
        for byte in black_box(&input) {
            bins[usize::from(byte / 4)] += 1;
        }
    })
}

pub(crate) fn add_doubles() -> Contest {
    const DOUBLES: usize = 4096;
    // Sums of whole numbers are exact in any order.
    let input: Vec<f64> = words(DOUBLES, 72).into_iter().map(|word| f64::from(word >> 12)).collect();
    let args = vec![buffer(&input), zeros(64), word(DOUBLES)];
    Contest::new(line("Msum/s", DOUBLES, DOUBLES), args, exact(1, 32), move |sums: &mut [f64]| {
        sums.fill(0.0);
        for (i, x) in black_box(&input).iter().enumerate() {
            sums[one_by_one(i) % 32] += x;
        }
    })
}

fn slot_of(key: u32, slots: usize) -> usize {
    let key = (key ^ key >> 16).wrapping_mul(0x85eb_ca6b);
    (key ^ key >> 13) as usize & (slots - 1)
}

pub(crate) fn count_keys() -> Contest {
    const KEYS: usize = 4096;
    const SLOTS: usize = 2048;
    let keys: Vec<u32> = words(KEYS, 73).into_iter().map(|word| 1 + (word >> 5) % 1200 * 77_773).collect();
    let args = vec![buffer(&keys), zeros(2 * SLOTS), zeros(KEYS), word(KEYS), word(SLOTS)];
    let shape = line("Mkey/s", KEYS, 256);
    let mut table = vec![[0u32; 2]; SLOTS];
    Contest::new(shape, args, exact(2, KEYS), move |out: &mut [u32]| {
        table.fill([0; 2]);
        for key in black_box(&keys) {
            let mut slot = slot_of(*key, SLOTS);
            while table[slot][0] != 0 && table[slot][0] != *key {
                slot = (slot + 1) & (SLOTS - 1);
            }
            table[slot] = [*key, table[slot][1] + 1];
        }
        for (key, out) in keys.iter().zip(out) {
            let mut slot = slot_of(*key, SLOTS);
            while table[slot][0] != *key {
                slot = (slot + 1) & (SLOTS - 1);
            }
            *out = table[slot][1];
        }
    })
}

fn root_of(parents: &mut [u32], mut vertex: u32) -> u32 {
    let mut parent = parents[vertex as usize];
    while parent != vertex {
        let next = parents[parent as usize];
        parents[vertex as usize] = next;
        vertex = parent;
        parent = next;
    }
    vertex
}

pub(crate) fn unite() -> Contest {
    const VERTICES: usize = 2048;
    const EDGES: usize = 2048;
    let ends = words(2 * EDGES, 74).into_iter().map(|word| (word >> 3) % VERTICES as u32);
    let edges: Vec<u32> = ends.collect();
    let args = vec![buffer(&edges), zeros(VERTICES), word(VERTICES), word(EDGES)];
    let shape = line("Medge/s", EDGES, 256);
    Contest::new(shape, args, exact(1, VERTICES), move |parents: &mut [u32]| {
        parents.iter_mut().zip(0..).for_each(|(parent, vertex)| *parent = vertex);
        for edge in black_box(&edges).chunks_exact(2) {
            let (a, b) = (root_of(parents, edge[0]), root_of(parents, edge[1]));
            parents[a.max(b) as usize] = a.min(b);
        }
        for vertex in 0..VERTICES {
            let mut root = vertex;
            while parents[root] as usize != root {
                root = parents[root] as usize;
            }
            parents[vertex] = root as u32;
        }
    })
}

pub(crate) fn crc() -> Contest {
    const ROWS: usize = 512;
    const LENGTH: usize = 64;
    let input: Vec<u8> = words(ROWS * LENGTH, 75).into_iter().map(|word| (word >> 9) as u8).collect();
    let args = vec![buffer(&input), zeros(ROWS), word(LENGTH), word(ROWS)];
    Contest::new(line("Mbyte/s", ROWS * LENGTH, ROWS), args, exact(1, ROWS), move |out: &mut [u32]| {
        let step = |word: u32| if word & 1 != 0 { word >> 1 ^ 0xedb8_8320 } else { word >> 1 };
        let table: [u32; 256] = std::array::from_fn(|k| (0..8).fold(k as u32, |word, _| step(word)));
        for (row, out) in black_box(&input).chunks_exact(LENGTH).zip(out) {
            *out = !row.iter().fold(u32::MAX, |sum, byte| sum >> 8 ^ table[usize::from(sum as u8 ^ byte)]);
        }
    })
}

/// Marks the places of a word, by the checksum of a window that slides over 16 places.
fn find(text: &[u8], word: &[u8], out: &mut [u32]) {
    let add = |sum: u32, byte: &u8| sum.wrapping_mul(31).wrapping_add(u32::from(*byte));
    for (part, out) in out.chunks_mut(16).enumerate() {
        let text = &text[16 * part..];
        let wanted = word.iter().fold(0, add);
        let mut sum = text[..word.len()].iter().fold(0, add);
        let power = 31u32.wrapping_pow(word.len() as u32);
        for (i, out) in out.iter_mut().enumerate() {
            *out = u32::from(sum == wanted && text[i..].starts_with(word));
            let gone = power.wrapping_mul(u32::from(text[i]));
            sum = add(sum, &text[i + word.len()]).wrapping_sub(gone);
        }
    }
}

pub(crate) fn find_all() -> Contest {
    const PLACES: usize = 1 << 15;
    const LENGTH: usize = 8;
    let letter = |word: u32| b'a' + (word >> 13) as u8 % 2;
    let text: Vec<u8> = words(PLACES + LENGTH, 76).into_iter().map(letter).collect();
    let pattern = text[1000..1000 + LENGTH].to_vec();
    let args = vec![buffer(&text), buffer(&pattern), zeros(PLACES), word(PLACES), word(LENGTH)];
    let shape = line("Mplace/s", PLACES, PLACES / 16);
    Contest::new(shape, args, exact(2, PLACES), move |out: &mut [u32]| {
        find(black_box(&text), black_box(&pattern), out);
    })
}

/// Returns code that `unpack_row` decodes to this number of bytes.
fn pack(length: usize, seed: u32) -> Vec<u8> {
    let mut code = Vec::new();
    let mut at = 0;
    for choice in words(length, seed) {
        let rest = length - at;
        if rest == 0 {
            break;
        }
        let wanted = 4 + (choice >> 4) as usize % 20;
        if choice & 1 == 0 || at < 8 || rest < 4 {
            let plain = wanted.min(rest);
            code.push(plain as u8 - 1);
            code.extend((0..plain as u32).map(|k| (choice >> (k % 24)) as u8));
            at += plain;
        } else {
            let copied = wanted.min(rest);
            code.extend([128 + copied as u8 - 4, 1 + (choice >> 16) as u8 % at.min(200) as u8]);
            at += copied;
        }
    }
    code
}

fn unpack_row(code: &[u8], row: &mut [u8]) {
    let (mut from, mut at) = (0, 0);
    while at < row.len() {
        let (first, second) = (code[from], code[from + 1]);
        if first < 128 {
            for k in 0..usize::from(first) + 1 {
                row[at] = code[one_by_one(from + 1 + k)];
                at += 1;
            }
            from += usize::from(first) + 2;
        } else {
            for _ in 0..(first & 127) + 4 {
                row[at] = row[one_by_one(at - usize::from(second))];
                at += 1;
            }
            from += 2;
        }
    }
}

pub(crate) fn unpack() -> Contest {
    const ROWS: usize = 256;
    const LENGTH: usize = 256;
    let (mut code, mut starts) = (Vec::new(), Vec::new());
    for row in 0..ROWS as u32 {
        starts.push(code.len() as u32);
        code.extend(pack(LENGTH, 1000 + row));
    }
    let args = vec![buffer(&code), buffer(&starts), zeros(ROWS * LENGTH / 4), word(LENGTH), word(ROWS)];
    let shape = line("Mbyte/s", ROWS * LENGTH, ROWS);
    Contest::new(shape, args, exact(2, ROWS * LENGTH), move |out: &mut [u8]| {
        for (start, row) in black_box(&starts).iter().zip(out.chunks_exact_mut(LENGTH)) {
            unpack_row(&code[*start as usize..], row);
        }
    })
}

fn quarter(x: &mut [u32; 16], [a, b, c, d]: [usize; 4]) {
    for (sum, rotated, other, by) in [(a, d, b, 16), (c, b, d, 12), (a, d, b, 8), (c, b, d, 7)] {
        x[sum] = x[sum].wrapping_add(x[other]);
        x[rotated] = (x[rotated] ^ x[sum]).rotate_left(by);
    }
}

pub(crate) fn mix_digest() -> Contest {
    const MESSAGES: usize = 1024;
    const FOURS: [[usize; 4]; 8] = [
        [0, 4, 8, 12],
        [1, 5, 9, 13],
        [2, 6, 10, 14],
        [3, 7, 11, 15],
        [0, 5, 10, 15],
        [1, 6, 11, 12],
        [2, 7, 8, 13],
        [3, 4, 9, 14],
    ];
    let input = words(16 * MESSAGES, 77);
    let args = vec![buffer(&input), zeros(16 * MESSAGES), word(MESSAGES)];
    let shape = line("Mmessage/s", MESSAGES, MESSAGES);
    Contest::new(shape, args, exact(1, 16 * MESSAGES), move |out: &mut [u32]| {
        for (input, out) in black_box(&input).chunks_exact(16).zip(out.chunks_exact_mut(16)) {
            let mut x: [u32; 16] = std::array::from_fn(|k| input[k]);
            (0..20).for_each(|_| FOURS.iter().for_each(|four| quarter(&mut x, *four)));
            (0..16).for_each(|k| out[k] = x[k].wrapping_add(input[k]));
        }
    })
}

pub(crate) fn gather4() -> Contest {
    const VECTORS: usize = 1 << 13;
    let input = numbers(4 * VECTORS, 78);
    // Each place once: the numbers in the order of random words.
    let mut places: Vec<u32> = (0..VECTORS as u32).collect();
    let order = words(VECTORS, 79);
    places.sort_by_key(|place| order[*place as usize]);
    let args = vec![buffer(&input), buffer(&places), zeros(4 * VECTORS), word(VECTORS)];
    let shape = line("Mvector/s", VECTORS, VECTORS);
    Contest::new(shape, args, close(2, 4 * VECTORS, 1e-6), move |out: &mut [f32]| {
        let input = black_box(&input);
        for (own, place) in input.chunks_exact(4).zip(&places) {
            let first = 4 * *place as usize;
            for k in 0..4 {
                let k = one_by_one(k);
                out[first + k] = own[k] * 2.0 + input[first + k];
            }
        }
    })
}

/// Adds the values of 32 lanes lane by lane, as a warp does: each finds the lanes with its key and
/// adds up their values, and the first of them adds the sum.
fn add_warp(keys: &[u32], values: &[u32], sums: &mut [u32]) {
    for (lane, key) in keys.iter().enumerate() {
        let same =
            keys.iter().zip(0..).fold(0u32, |same, (other, bit)| same | u32::from(other == key) << bit);
        let (mut rest, mut sum) = (same, 0u32);
        while rest != 0 {
            sum = sum.wrapping_add(values[rest.trailing_zeros() as usize]);
            rest &= rest - 1;
        }
        if same.trailing_zeros() as usize == lane {
            let total = &mut sums[*key as usize % 256];
            *total = total.wrapping_add(sum);
        }
    }
}

pub(crate) fn sum_by_key() -> Contest {
    const WORDS: usize = 1 << 13;
    // Few keys in each warp.
    let keys: Vec<u32> =
        words(WORDS, 80).into_iter().zip(0..).map(|(word, i)| word % 4 + i / 64 * 3).collect();
    let values = words(WORDS, 81);
    let args = vec![buffer(&keys), buffer(&values), zeros(256), word(WORDS)];
    Contest::new(line("Mword/s", WORDS, WORDS), args, exact(2, 256), move |sums: &mut [u32]| {
        sums.fill(0);
        for (keys, values) in black_box(&keys).chunks_exact(32).zip(values.chunks_exact(32)) {
            add_warp(keys, values, sums);
        }
    })
}
