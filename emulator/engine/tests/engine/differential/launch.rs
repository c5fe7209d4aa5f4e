//! Launches of random programs.

use super::{MOST_BLOCKS, MOST_THREADS, RESULT_BYTES, WORDS};
use crate::committed::Outcome;
use crate::device::{Args, Device};
use cuprum_engine::exec::Execution;
use cuprum_ptx::program::PtxError;

/// A number of blocks, and their size.
pub(super) type Shape = (u32, (u32, u32));

/// Returns the shape of the launch of a program.
pub(super) fn shape(seed: u64) -> Shape {
    let shapes = [
        (1, (32, 1)),
        (2, (256, 1)),
        (1, (16, 16)),
        (3, (77, 1)),
        (1, (320, 1)),
        (2, (20, 3)),
        (2, (8, 12)),
        (1, (64, 5)),
    ];
    shapes[seed as usize % shapes.len()]
}

/// Runs a program without a record of its accesses, which machine code does not keep.
pub(super) fn run_unnoted(
    ptx: &str,
    mode: Execution,
    grid: u32,
    block: (u32, u32),
) -> Result<Vec<Vec<u8>>, String> {
    run_random_on(Device::load, ptx, mode, grid, block).map(|(results, ..)| results)
}

pub(super) fn run_random(ptx: &str, mode: Execution, grid: u32, block: (u32, u32)) -> Outcome {
    run_random_on(Device::load_noting, ptx, mode, grid, block)
}

fn run_random_on(
    load: fn(&str) -> Result<Device, PtxError>,
    ptx: &str,
    mode: Execution,
    grid: u32,
    block: (u32, u32),
) -> Outcome {
    let mut device = load(ptx).map_err(|error| error.to_string())?;
    device.options.mode = mode;
    let threads = MOST_THREADS * MOST_BLOCKS;
    let input: Vec<u32> = (0..2048u32).map(|i| i.wrapping_mul(0x85eb_ca6b) ^ i << 20).collect();
    let out = device.buffer(&vec![0u8; RESULT_BYTES * threads]);
    let space = device.buffer(&vec![0u8; WORDS * 4 * threads]);
    let args = Args::default().buffer(&out).buffer(&device.buffer(&input)).buffer(&space);
    let stats = device.launch("random", grid, block, &args).map_err(|fault| fault.to_string())?;
    Ok((vec![out.read(), space.read()], stats, device.take_noted()))
}
