//! The words and marks of Rust sources.

/// Tokens that a path is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Mark(char),
}

/// The words and marks of a source with their lines; comments, strings, characters and lifetimes
/// left out.
pub(super) fn tokens(text: &str) -> Vec<(Token, usize)> {
    let characters: Vec<char> = text.chars().collect();
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    while let Some(&character) = characters.get(at) {
        let end = match character {
            '/' if characters.get(at + 1) == Some(&'/') => line_end(&characters, at),
            '/' if characters.get(at + 1) == Some(&'*') => comment_end(&characters, at),
            '"' => string_end(&characters, at),
            '\'' => quote_end(&characters, at),
            _ if character.is_alphanumeric() || character == '_' => {
                let word = characters[at..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
                match raw_string_end(&characters, at, word) {
                    Some(end) => end,
                    None => {
                        tokens.push((Token::Word(characters[at..at + word].iter().collect()), line));
                        at + word
                    }
                }
            }
            _ => {
                if !character.is_whitespace() {
                    tokens.push((Token::Mark(character), line));
                }
                at + 1
            }
        };
        let end = end.min(characters.len());
        line += characters[at..end].iter().filter(|c| **c == '\n').count();
        at = end;
    }
    tokens
}

fn line_end(text: &[char], start: usize) -> usize {
    text[start..].iter().position(|c| *c == '\n').map_or(text.len(), |length| start + length)
}

fn comment_end(text: &[char], start: usize) -> usize {
    let (mut depth, mut at) = (0, start);
    while at < text.len() {
        match (text[at], text.get(at + 1)) {
            ('/', Some('*')) => depth += 1,
            ('*', Some('/')) if depth == 1 => return at + 2,
            ('*', Some('/')) => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
    }
    at
}

fn string_end(text: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < text.len() && text[at] != '"' {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The end of a raw string whose prefix is the word at `start`; `None` if that word is none.
fn raw_string_end(text: &[char], start: usize, word: usize) -> Option<usize> {
    let prefix: String = text[start..start + word].iter().collect();
    if !matches!(prefix.as_str(), "r" | "br" | "cr") {
        return None;
    }
    let hashes = text[start + word..].iter().take_while(|c| **c == '#').count();
    let quote = start + word + hashes;
    if text.get(quote) != Some(&'"') {
        return None;
    }
    let closes = |at: &usize| {
        text[*at] == '"' && text[at + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    Some((quote + 1..text.len()).find(closes).map_or(text.len(), |at| at + 1 + hashes))
}

/// The end of a character, or of the quote of a lifetime.
fn quote_end(text: &[char], start: usize) -> usize {
    match (text.get(start + 1), text.get(start + 2)) {
        (Some('\\'), _) => {
            text[start + 3..].iter().position(|c| *c == '\'').map_or(text.len(), |length| start + 4 + length)
        }
        (Some(_), Some('\'')) => start + 3,
        _ => start + 1,
    }
}
