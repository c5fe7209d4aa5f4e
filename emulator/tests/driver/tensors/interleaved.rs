//! Copies of interleaved tensors, compared with an H100's: `tests/data/goldens/interleaved.txt`,
//! printed by `tests/gpu/interleaved.cpp`. Each word of the source is its own index, so moved words
//! show their origin.

use super::*;
use cuprum_testing::hopper::lines_of;

const MEMORY_BYTES: usize = 4 << 20;
const BASE: usize = 1 << 20;
/// A value that does not occur in the source.
const EMPTY: u32 = u32::MAX;

/// Returns non-empty 16-byte pieces from `first` on, each with its origin or its words.
fn moved(words: &[u32], first: i64, zero: i64) -> String {
    let mut text = String::new();
    let mut run: Option<(i64, i64, i64)> = None;
    let flush = |text: &mut String, run: &mut Option<(i64, i64, i64)>| {
        if let Some((start, end, from)) = run.take() {
            *text += &format!(" {start}..{end}<-{from}");
        }
    };
    for (index, piece) in words.chunks_exact(4).enumerate() {
        let number = index as i64 - first;
        if number < 0 {
            continue;
        }
        let from = (i64::from(piece[0]) - zero) * 4;
        let follows = (1..4).all(|at| piece[at as usize] == piece[0].wrapping_add(at));
        match (&mut run, piece) {
            (_, [EMPTY, EMPTY, EMPTY, EMPTY]) => flush(&mut text, &mut run),
            (Some((start, end, begin)), _)
                if follows && *end + 1 == number && *begin + (number - *start) * 16 == from =>
            {
                *end = number;
            }
            _ => {
                flush(&mut text, &mut run);
                match piece {
                    _ if follows => run = Some((number, number, from)),
                    [0, 0, 0, 0] => text += &format!(" {number}:0"),
                    [a, b, c, d] => text += &format!(" {number}:{a:x}/{b:x}/{c:x}/{d:x}"),
                    _ => {}
                }
            }
        }
    }
    flush(&mut text, &mut run);
    let beginning = text.get(..60).unwrap_or(&text);
    format!("{}{beginning}", fingerprint(text.as_bytes(), &[]))
}

/// Returns the result of a case in the format of the recording, on this device.
fn run(case: &Case) -> String {
    let (to_global, stores) = (case.operation != "load", case.operation == "store");
    let numbers = |bytes: usize, source: bool| -> Vec<u32> {
        (0..bytes as u32 / 4).map(|word| if source { word } else { EMPTY }).collect()
    };
    let [memory, mut tile, mut out] = [MEMORY_BYTES, TILE_BYTES, TILE_BYTES].map(alloc);
    // A reduction adds to numbers, from an empty tile.
    write(memory, &numbers(MEMORY_BYTES, !stores));
    write(tile, &numbers(TILE_BYTES, stores));
    let mut map = match case.map(memory + BASE as u64) {
        Ok(map) => map,
        Err(code) => return format!("not encoded {}", code.0),
    };
    let done = case.launch(&mut map, &mut tile, &mut out);
    match to_global {
        _ if done != CUresult::CUDA_SUCCESS => format!("failed {}", done.0),
        true => moved(&read::<u32>(memory, MEMORY_BYTES / 4), BASE as i64 / 16, 0),
        false => moved(&read::<u32>(out, TILE_BYTES / 4), 0, BASE as i64 / 4),
    }
}

#[test]
fn copies_of_interleaved_tensors_are_those_of_a_gpu() {
    let cases = lines_of("interleaved.txt", "tensor ");
    assert!(cases.len() >= 100, "{} cases: the recording is cut off", cases.len());
    let mut wrong = Vec::new();
    for (line, wanted) in &cases {
        let mut context = CUcontext::null();
        ok!(cuCtxCreate_v2(&mut context, 0, 0));
        let ours = run(&Case::parse(line));
        // It returns the fault of the context, if any.
        let _ = code!(cuCtxDestroy_v2(context));
        if ours != *wanted {
            wrong.push(format!("{line}\n    {ours}\n    {wanted}, recorded"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
