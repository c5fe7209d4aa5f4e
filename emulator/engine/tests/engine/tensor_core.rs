//! Sums of matrix products on random numbers, compared with an H200's:
//! `tests/data/goldens/tensor_core.txt`, which `tests/gpu/tensor_core.py` recorded.

use crate::device::{Args, Device};
use crate::hopper::fingerprint;

/// As in `tests/gpu/tensor_core.py`: the size of the launch, the words and results of a thread.
const BLOCKS: usize = 8;
const THREADS: usize = 128;
const WORDS: usize = 13;
const RESULTS: usize = 4;

/// Returns the bits of random words that are kept, and bits that are set.
fn kind(name: &str) -> (u32, u32) {
    match name {
        "f16" => (0xbfff_bfff, 0),
        "bf16" => (0x87ff_87ff, 0x3800_3800),
        "tf32" => (0x87ff_e000, 0x3800_0000),
        "e4m3" | "e5m2" => (0xbfbf_bfbf, 0),
        "f32" => (0x87ff_ffff, 0x3800_0000),
        "bits" => (u32::MAX, 0),
        _ => panic!("{name}"),
    }
}

/// Returns the positions of a sparse left factor that random bits choose.
fn positions(name: &str, random: u32) -> u32 {
    let choice: &[u32] = match name {
        "pairs" => &[0x4, 0x8, 0x9, 0xc, 0xd, 0xe],
        "halves" => &[0x4, 0xe],
        "any" => return random,
        _ => panic!("{name}"),
    };
    let chosen = |shift: u32| choice[(random >> shift & 15) as usize % choice.len()] << shift;
    (0..32).step_by(4).map(chosen).sum()
}

fn kernel(instruction: &str) -> String {
    let text = match instruction.starts_with("wgmma") {
        true => format!(
            "setp.lt.u32 %p, %t, 32; mov.u32 %s, image; mad.lo.u32 %n, %t, 4, %s; @%p st.shared.b32 [%n], %b0;
            @%p st.shared.b32 [%n+128], %b1; bar.sync 0; fence.proxy.async; shr.u32 %s, %s, 4; cvt.u64.u32 %x, %s;
            or.b64 %x, %x, 0x800080000; wgmma.fence.sync.aligned; {instruction}
            wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
        ),
        false => instruction.to_owned(),
    };
    let names = ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3", "c0", "c1", "c2", "c3", "e"];
    let load = |(word, name)| format!("ld.global.b32 %{name}, [%q+{}]; ", 4 * word);
    let loads: String = names.iter().enumerate().map(load).collect();
    let stores: String =
        (0..RESULTS).map(|word| format!("st.global.b32 [%q+{}], %c{word}; ", 4 * word)).collect();
    format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{{
        .reg .b32 %t, %n, %s, %e, %a<4>, %b<4>, %c<4>; .reg .b64 %p0, %q, %x; .reg .pred %p;
        .shared .align 128 .b8 image[256]; mov.u32 %t, %tid.x; mov.u32 %n, %ctaid.x;
        mad.lo.u32 %n, %n, {THREADS}, %t; ld.param.u64 %p0, [in]; mad.wide.u32 %q, %n, {}, %p0; {loads}
        ld.param.u64 %p0, [out]; mad.wide.u32 %q, %n, {}, %p0; {text} {stores} ret; }}",
        4 * WORDS,
        4 * RESULTS
    )
}

/// SplitMix64 of a position in the stream of a form.
fn random(seed: u64, index: u64) -> u32 {
    let start = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut z = start.wrapping_add(index.wrapping_mul(0xd1b5_4a32_d192_ed03)).wrapping_add(1);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) >> 32) as u32
}

#[test]
fn sums_are_rounded_as_by_a_tensor_core() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/goldens/tensor_core.txt");
    let recorded = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut forms = 0;
    for (seed, line) in recorded.lines().filter(|line| !line.starts_with('#')).enumerate() {
        let [kinds, instruction, expected] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let [factors, summands, places] = kinds.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let [factors, summands] = [factors, summands].map(kind);
        let word = |index: usize| {
            let word = random(seed as u64, index as u64);
            let (keep, put) = match index % WORDS {
                0..8 => factors,
                8..12 => summands,
                _ => return positions(places, word),
            };
            word & keep | put
        };
        let input: Vec<u32> = (0..BLOCKS * THREADS * WORDS).map(word).collect();
        let device = Device::load_for(&kernel(instruction), 90)
            .unwrap_or_else(|error| panic!("{instruction}: {error}"));
        let (from, out) = (device.buffer(&input), device.buffer(&[0u32; BLOCKS * THREADS * RESULTS]));
        let args = Args::default().buffer(&from).buffer(&out);
        device.launch("k", BLOCKS as u32, THREADS as u32, &args).unwrap();
        let out = out.read::<u8>();
        let blocks = out.chunks_exact(THREADS * RESULTS * size_of::<u32>());
        let digests: Vec<String> = blocks.map(|block| fingerprint(block, &[])).collect();
        assert_eq!(digests.join(" "), expected, "{instruction}");
        forms += 1;
    }
    assert!(forms > 100, "{forms}");
}
