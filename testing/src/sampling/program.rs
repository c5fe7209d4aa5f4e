//! Kernels of one instruction that reads or writes a texture, and their results.

use cuprum::launch::{Argument, Parameter};
use cuprum::texture::{SurfaceObject, TextureObject};
use cuprum::{Buffer, Current, In, InOut, LaunchConfig, Module, Stream};

/// Words of coordinates of each thread.
pub const WORDS: usize = 12;

/// A kernel around an instruction, which finds the object in `%t`, words in `%c0` to `%c11`, and
/// leaves results in `%d0` to `%d3`.
fn ptx(instruction: &str) -> String {
    let text = include_str!("../../../tests/data/texture_kernel.ptx");
    let header = ".version 7.7\n.target sm_75\n.address_size 64\n";
    header.to_owned() + &text.replace("NAME", "one").replace("INSTRUCTION", instruction)
}

/// Runs an instruction with one thread for each row of words; returns the four results of each.
fn run<P: Parameter, A: Argument<P>>(
    cx: &Current<'_, '_>,
    object: A,
    instruction: &str,
    rows: &[Vec<u32>],
) -> Vec<[u32; 4]> {
    let mut words = vec![0; rows.len() * WORDS];
    for (to, row) in words.chunks_mut(WORDS).zip(rows) {
        to[..row.len()].copy_from_slice(row);
    }
    let module =
        Module::load_ptx(cx, &ptx(instruction)).unwrap_or_else(|error| panic!("{instruction}: {error}"));
    let kernel = module.function("one").unwrap().bind::<(P, In<u32>, InOut<u32>, u32)>().unwrap();
    let stream = Stream::new(cx).unwrap();
    let from = Buffer::from_slice(cx, &words).unwrap();
    let mut to = Buffer::<u32>::zeroed(cx, rows.len() * 4).unwrap();
    let config = LaunchConfig::for_elements(rows.len(), 128);
    let count = rows.len() as u32;
    // SAFETY: the kernel reads and writes that many rows, and the object lives until the copy below
    // is done.
    unsafe { kernel.launch(cx, &stream, config, (object, &from, &mut to, count)) }.unwrap();
    let results = to.to_vec(cx).unwrap();
    results.chunks(4).map(|row| [row[0], row[1], row[2], row[3]]).collect()
}

/// Reads a texture by an instruction; the words of each thread are coordinates.
pub fn sample(
    cx: &Current<'_, '_>,
    texture: impl Argument<TextureObject>,
    instruction: &str,
    coordinates: &[Vec<f32>],
) -> Vec<[f32; 4]> {
    sample_bits(cx, texture, instruction, coordinates)
        .into_iter()
        .map(|row| row.map(f32::from_bits))
        .collect()
}

/// As [`sample`], of integers.
pub fn sample_bits(
    cx: &Current<'_, '_>,
    texture: impl Argument<TextureObject>,
    instruction: &str,
    coordinates: &[Vec<f32>],
) -> Vec<[u32; 4]> {
    let rows: Vec<Vec<u32>> =
        coordinates.iter().map(|row| row.iter().map(|number| number.to_bits()).collect()).collect();
    run::<TextureObject, _>(cx, texture, instruction, &rows)
}

/// Reads a texture by an instruction with integers for coordinates.
pub fn fetch(
    cx: &Current<'_, '_>,
    texture: impl Argument<TextureObject>,
    instruction: &str,
    rows: &[Vec<u32>],
) -> Vec<[u32; 4]> {
    run::<TextureObject, _>(cx, texture, instruction, rows)
}

/// Reads or writes a surface by an instruction.
pub fn access(
    cx: &Current<'_, '_>,
    surface: impl Argument<SurfaceObject>,
    instruction: &str,
    rows: &[Vec<u32>],
) -> Vec<[u32; 4]> {
    run::<SurfaceObject, _>(cx, surface, instruction, rows)
}

/// The first channel of each sample.
pub fn first_channels(samples: &[[f32; 4]]) -> Vec<f32> {
    samples.iter().map(|sample| sample[0]).collect()
}
