//! Changes to PTX, token by token.

use std::collections::BTreeSet;
use std::ops::Range;

use cuprum_testing::random::Random;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// `.f32`, `.global`
    Modifier,
    /// `%r1`
    Register,
    /// Opcodes, labels, symbols.
    Name,
    Number,
    Punctuation,
}

/// Returns the tokens of a part of a text, without comments, strings and blanks.
fn tokens(text: &str, range: Range<usize>) -> Vec<(Kind, Range<usize>)> {
    let bytes = text.as_bytes();
    let word = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b':');
    let mut tokens = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let start = at;
        let c = bytes[at];
        let end_of_word = |mut at: usize| {
            while at < range.end
                && word(bytes[at])
                && !(bytes[at] == b':' && bytes.get(at + 1) != Some(&b':') && bytes[at - 1] != b':')
            {
                at += 1;
            }
            at
        };
        at += 1;
        let kind = match c {
            b' ' | b'\t' | b'\n' | b'\r' => continue,
            b'/' if bytes.get(at) == Some(&b'/') => {
                while at < range.end && bytes[at] != b'\n' {
                    at += 1;
                }
                continue;
            }
            b'"' => {
                while at < range.end && bytes[at] != b'"' {
                    at += 1;
                }
                at += 1;
                continue;
            }
            b'.' => Kind::Modifier,
            b'%' => Kind::Register,
            _ if c.is_ascii_digit() => Kind::Number,
            _ if word(c) => Kind::Name,
            _ => Kind::Punctuation,
        };
        if kind != Kind::Punctuation {
            at = end_of_word(at);
        }
        tokens.push((kind, start..at.min(range.end)));
    }
    tokens
}

/// Replacements for a token: all tokens of the texts.
pub(crate) struct Pools {
    modifiers: Vec<String>,
    types: Vec<String>,
    registers: Vec<String>,
    names: Vec<String>,
}

const TYPES: [&str; 16] = [
    ".b8", ".b16", ".b32", ".b64", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64", ".f16",
    ".f32", ".f64", ".pred",
];

// At most 64 bits: the assembler truncates larger numbers, and the parser refuses them.
const NUMBERS: [&str; 12] = [
    "0",
    "1",
    "-1",
    "32",
    "4096",
    "0xffffffff",
    "0x1ffffffff",
    "18446744073709551615",
    "1.5",
    "0f3F800000",
    "7U",
    "0b102",
];

impl Pools {
    pub(crate) fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Pools {
        let mut sets = [BTreeSet::new(), BTreeSet::new(), BTreeSet::new()];
        for text in texts {
            for (kind, range) in tokens(text, 0..text.len()) {
                let index = match kind {
                    Kind::Modifier => 0,
                    Kind::Register => 1,
                    Kind::Name => 2,
                    Kind::Number | Kind::Punctuation => continue,
                };
                sets[index].insert(text[range].to_owned());
            }
        }
        let [modifiers, registers, names] = sets.map(|set| set.into_iter().collect());
        Pools { modifiers, registers, names, types: TYPES.map(str::to_owned).to_vec() }
    }

    /// Returns a text with one position changed, and the changed statement.
    pub(crate) fn mutate(&self, text: &str, range: Range<usize>, random: &mut Random) -> (String, String) {
        let tokens = tokens(text, range);
        let index = random.below(tokens.len());
        let (kind, place) = tokens[index].clone();
        let old = &text[place.clone()];
        let same_kind: Vec<&Range<usize>> =
            tokens.iter().filter(|(other, _)| *other == kind).map(|(_, range)| range).collect();
        let neighbor = &text[same_kind[random.below(same_kind.len())].clone()];
        let new = match (random.below(8), kind) {
            (0, _) => String::new(),
            (1, _) => format!("{old} {old}"),
            (2, _) => match tokens.get(index + 1) {
                // Swaps it with the next one.
                Some((_, next)) => {
                    let swapped = format!("{}{}{old}", &text[next.clone()], &text[place.end..next.start]);
                    return changed(text, place.start..next.end, &swapped);
                }
                None => String::new(),
            },
            // Another name from the same text, so that it is declared.
            (3 | 4, _) => neighbor.to_owned(),
            (_, Kind::Modifier) if TYPES.contains(&old) => random.pick(&self.types),
            (_, Kind::Modifier) => random.pick(&self.modifiers),
            (5, Kind::Register) => format!("{old}9"),
            (_, Kind::Register) => random.pick(&self.registers),
            (_, Kind::Name) => random.pick(&self.names),
            (_, Kind::Number) => NUMBERS[random.below(NUMBERS.len())].to_owned(),
            (_, Kind::Punctuation) => {
                [";", ",", ".", "{", "}", "[", "]", "|", "!", "@"][random.below(10)].to_owned()
            }
        };
        changed(text, place, &new)
    }
}

/// Returns the text with this replacement, and the statement around it.
fn changed(text: &str, place: Range<usize>, new: &str) -> (String, String) {
    let result = format!("{}{new}{}", &text[..place.start], &text[place.end..]);
    let edge = |c: char| matches!(c, ';' | '\n');
    let start = result[..place.start].rfind(edge).map_or(0, |at| at + 1);
    let end = (place.start + new.len()).min(result.len());
    let end = result[end..].find(edge).map_or(result.len(), |at| end + at + 1);
    let shown = result[start..end].trim().to_owned();
    (result, shown)
}
