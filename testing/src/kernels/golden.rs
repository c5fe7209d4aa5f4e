//! Reads the results that `tests/gpu/record.py` recorded on a real GPU.
//!
//! The file is lines of text. `# key: value` says where it comes from. `case NAME INPUT-HASH
//! OUTPUTS` is followed by one line a buffer that the kernel may write: its bytes after the launch,
//! in hexadecimal.

use std::collections::HashMap;
use std::path::Path;

/// One case as the GPU answered it.
#[derive(Debug)]
pub struct Golden {
    /// Of the inputs that were used.
    pub input_hash: u64,
    /// The buffers' bytes, in the order of the parameters.
    pub outputs: Vec<Vec<u8>>,
}

/// All recorded cases by name.
///
/// # Panics
/// When the file is missing or not in the format above: a golden test without goldens must fail.
pub fn read(path: &Path) -> HashMap<String, Golden> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut goldens = HashMap::new();
    while let Some(line) = lines.next() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let ["case", name, input_hash, count] = fields[..] else { panic!("not a case: {line}") };
        let input_hash = u64::from_str_radix(input_hash, 16).expect("the hash is hexadecimal");
        let count: usize = count.parse().expect("the number of outputs is decimal");
        let outputs = lines.by_ref().take(count).map(from_hex).collect();
        goldens.insert(name.to_owned(), Golden { input_hash, outputs });
    }
    goldens
}

fn from_hex(line: &str) -> Vec<u8> {
    assert!(line.len() % 2 == 0, "half a byte at the end of {line}");
    (0..line.len() / 2)
        .map(|index| u8::from_str_radix(&line[2 * index..2 * index + 2], 16).expect("hexadecimal digits"))
        .collect()
}
