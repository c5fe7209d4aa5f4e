//! Random changes of texts and bytes.

use crate::random::Random;

/// Boundary values.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "31",
    "32",
    "33",
    "63",
    "64",
    "255",
    "1023",
    "1024",
    "4096",
    "65535",
    "0x7fffffff",
    "0x80000000",
    "0xffffffff",
    "4294967296",
    "0x7fffffffffffffff",
    "0xffffffffffffffff",
    "0f7FC00000",
    "0f00000000",
    "0fFF800000",
    "0d7FF0000000000000",
    "1.5",
    "99999999999999999999",
];

/// Words of the grammar that are rare in the texts.
const WORDS: &[&str] = &[
    ".b128",
    ".v8",
    ".volatile",
    ".shared::cta",
    ".param",
    ".reg",
    ".local",
    ".align",
    ".pragma",
    ".extern",
    ".weak",
    ".callprototype",
    ".branchtargets",
    "brx.idx",
    "call",
    "ret",
    "exit",
    "trap",
    "bar.sync",
    "barrier.cta.arrive",
    "vote.sync.ballot.b32",
    "shfl.sync.idx.b32",
    "%tid.x",
    "%laneid",
    "%clock64",
    "WARP_SZ",
    "_",
    "@%p1",
    "@!%p1",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "|",
    "?",
    "-",
    "~",
    "!",
    "/*",
    "*/",
    "//",
    "\"",
    "%",
    ".",
];

/// Splits a text into words, numbers, punctuation and blanks.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '%');
        let end = if is_word(first) {
            let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            rest[1..word].find('.').map_or(word, |dot| dot + 1)
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn is_number(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns a text with some tokens or lines changed; new ones come from `other`.
pub fn changed_text(random: &mut Random, text: &str, other: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let foreign: Vec<&str> = other.lines().collect();
    for _ in 0..1 + random.below(4) {
        if lines.is_empty() {
            break;
        }
        let at = random.below(lines.len());
        match random.below(12) {
            0 => drop(lines.remove(at)),
            1 => {
                let to = random.below(lines.len());
                let line = lines[at].clone();
                lines.insert(to, line);
            }
            2 => {
                let to = random.below(lines.len());
                lines.swap(at, to);
            }
            3 if !foreign.is_empty() => lines.insert(at, random.pick(&foreign).to_owned()),
            4 if random.below(8) == 0 => lines.truncate(at),
            _ => lines[at] = changed_line(random, &lines[at], random_line(&foreign, at)),
        }
    }
    lines.join("\n")
}

fn random_line<'t>(lines: &[&'t str], at: usize) -> &'t str {
    lines.get(at % lines.len().max(1)).copied().unwrap_or("")
}

fn changed_line(random: &mut Random, line: &str, other: &str) -> String {
    let mut tokens = tokens(line);
    let others = self::tokens(other);
    if tokens.is_empty() {
        return other.to_owned();
    }
    let at = random.below(tokens.len());
    let numbers: Vec<usize> = (0..tokens.len()).filter(|at| is_number(tokens[*at])).collect();
    match random.below(6) {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, random.pick(WORDS)),
        2 if !others.is_empty() => tokens[at] = random.pick(&others),
        3 => {
            let to = random.below(tokens.len());
            tokens.swap(at, to);
        }
        _ if !numbers.is_empty() => tokens[numbers[random.below(numbers.len())]] = random.pick(NUMBERS),
        _ => tokens[at] = random.pick(WORDS),
    }
    tokens.concat()
}

/// Returns bytes, some of them changed, moved, or cut off.
pub fn changed_bytes(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + random.below(6) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(8) {
            0 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            1 => {
                let len = random.below(9).min(bytes.len() - at);
                let value =
                    [0, u64::MAX, 1 << 32, 1 << 63, bytes.len() as u64][random.below(5)].to_le_bytes();
                bytes[at..at + len].copy_from_slice(&value[..len]);
            }
            2 if random.below(4) == 0 => bytes.truncate(at),
            3 => drop(bytes.remove(at)),
            4 => bytes.insert(at, random.next() as u8),
            5 => {
                let from = random.below(bytes.len());
                let len = random.below(32).min(bytes.len() - at.max(from));
                bytes.copy_within(from..from + len, at);
            }
            _ => bytes[at] ^= 1 << random.below(8),
        }
    }
    bytes
}
