//! Results of an H100 and their inputs: `tests/data/goldens/hopper.txt`, by `tests/gpu/hopper.cpp`.

pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }
}

/// Fills memory with whole numbers from -4 to 4 of a type, or with any bits.
pub fn fill(bytes: &mut [u8], ty: &str, random: &mut Random) {
    let size = match ty {
        "f16" | "bf16" => 2,
        "e4m3" | "e5m2" | "any" => 1,
        _ => 4,
    };
    for element in bytes.chunks_exact_mut(size) {
        let raw = random.next();
        let value = (raw % 9) as i32 - 4;
        let magnitude = value.unsigned_abs() as usize;
        let with_sign = |bits: u32, sign: u32| if value < 0 { bits | 1 << sign } else { bits };
        let bits = match ty {
            "f16" => with_sign([0, 0x3c00, 0x4000, 0x4200, 0x4400][magnitude], 15),
            "bf16" => with_sign([0, 0x3f80, 0x4000, 0x4040, 0x4080][magnitude], 15),
            "e4m3" => with_sign([0, 0x38, 0x40, 0x44, 0x48][magnitude], 7),
            "e5m2" => with_sign([0, 0x3c, 0x40, 0x42, 0x44][magnitude], 7),
            "f32" => (value as f32).to_bits(),
            _ => raw,
        };
        element.copy_from_slice(&bits.to_le_bytes()[..size]);
    }
}

/// Returns the cases that begin with a word, without the word, and the results of each.
pub fn lines(word: &str) -> Vec<(String, String)> {
    lines_of("hopper.txt", word)
}

/// Like `lines`, from another recording.
pub fn lines_of(recording: &str, word: &str) -> Vec<(String, String)> {
    // Searches in the engine's crate and in the folders above it.
    let folders = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut paths = folders.map(|folder| folder.join("tests/data/goldens").join(recording));
    let path = paths.find(|path| path.is_file()).expect("a recording in the repository");
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let pairs = lines.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
    pairs
        .filter_map(|[case, results]| Some((case.strip_prefix(word)?.to_owned(), results.to_owned())))
        .collect()
}

/// Returns a hash of results (FNV-1a), and some of their words.
pub fn fingerprint(results: &[u8], places: &[usize]) -> String {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let mut text = format!("{:016x}", results.iter().fold(0xcbf2_9ce4_8422_2325, step));
    for place in places {
        let bytes = results.get(place * 4..place * 4 + 4).and_then(|bytes| bytes.try_into().ok());
        text += &format!(" {:08x}", bytes.map_or(0, u32::from_le_bytes));
    }
    text
}
