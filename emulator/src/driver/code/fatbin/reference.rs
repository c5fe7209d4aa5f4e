//! Compares the decoders with well-maintained ones. Both read the same, and changed input never
//! makes these panic or differ. `CUPRUM_FUZZ_SECONDS` and `CUPRUM_FUZZ_SEED` work as in
//! `tests/fuzz`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Read;

use super::{lz4, zstd};
use cuprum_testing::mutation::changed_bytes;
use cuprum_testing::random::Random;

/// Maximum bytes of a text, and of the output of changed input.
const MOST: usize = 1 << 18;

fn fuzz(mut turn: impl FnMut(&mut Random)) {
    let variable = |name: &str| std::env::var(name).ok().map(|value| value.parse().expect("a number"));
    let seconds = variable("CUPRUM_FUZZ_SECONDS").unwrap_or(1);
    let first = variable("CUPRUM_FUZZ_SEED").unwrap_or(1);
    let start = Instant::now();
    let mut seed: u64 = first;
    while start.elapsed() < Duration::from_secs(seconds) {
        let run = || turn(&mut Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)));
        assert!(catch_unwind(AssertUnwindSafe(run)).is_ok(), "failed with CUPRUM_FUZZ_SEED={seed}");
        seed = seed.wrapping_add(1);
    }
    println!("{} turns from {first} on", seed.wrapping_sub(first));
}

fn text(random: &mut Random) -> Vec<u8> {
    let source = include_bytes!("../../../../../kernels/saxpy.ptx");
    let mut text = Vec::new();
    for _ in 0..random.below(12) {
        let bits = random.below(15);
        let len = 1 + random.below(1 << bits);
        match random.below(4) {
            0 => text.extend((0..len).map(|_| random.next() as u8)),
            1 => text.extend(std::iter::repeat_n(random.next() as u8, len)),
            2 if !text.is_empty() => {
                let start = random.below(text.len());
                let again: Vec<u8> = text[start..].iter().copied().cycle().take(len).collect();
                text.extend(again);
            }
            _ => {
                let start = random.below(source.len());
                text.extend(source[start..].iter().take(len));
            }
        }
    }
    text.truncate(MOST);
    text
}

/// Returns the output of the other decoder for a frame; `None` if it refuses or panics.
fn theirs(frame: &[u8]) -> Option<Vec<u8>> {
    let read = || {
        let mut output = Vec::new();
        let decoder = StreamingDecoder::new(frame).ok()?;
        decoder.take(MOST as u64 + 1).read_to_end(&mut output).ok()?;
        (output.len() <= MOST).then_some(output)
    };
    catch_unwind(AssertUnwindSafe(read)).ok().flatten()
}

#[test]
fn fuzz_zstandard_beside_ruzstd() {
    let mut both = 0;
    fuzz(|random| {
        let text = text(random);
        let frame = compress_to_vec(text.as_slice(), CompressionLevel::Fastest);
        assert!(zstd::decompress(&frame, MOST).as_ref() == Some(&text), "a valid frame");
        assert!(text.is_empty() || zstd::decompress(&frame, text.len() - 1).is_none(), "beyond the limit");
        let changed = changed_bytes(random, &frame);
        let (ours, theirs) = (zstd::decompress(&changed, MOST), theirs(&changed));
        if let (Some(ours), Some(theirs)) = (&ours, &theirs) {
            both += 1;
            assert!(ours == theirs, "the same frame, read differently");
        }
    });
    assert!(both > 0);
}

#[test]
fn fuzz_lz4_beside_lz4_flex() {
    let mut both = 0;
    let mut room = vec![0; MOST];
    fuzz(|random| {
        let text = text(random);
        let block = lz4_flex::block::compress(&text);
        assert!(lz4::decompress(&block, text.len()).as_ref() == Some(&text), "a valid block");
        assert!(text.is_empty() || lz4::decompress(&block, text.len() - 1).is_none(), "beyond the limit");
        let changed = changed_bytes(random, &block);
        let ours = lz4::decompress(&changed, MOST);
        if let (Some(ours), Ok(len)) = (ours, lz4_flex::block::decompress_into(&changed, &mut room)) {
            both += 1;
            assert!(ours == room[..len], "the same block, read differently");
        }
    });
    assert!(both > 0);
}
