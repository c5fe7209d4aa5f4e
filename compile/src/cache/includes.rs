//! Dependencies of code on files, which a cache does not track.

use std::ffi::OsString;

use crate::Source;

/// The first file that a source reads, by its text. `None` if it reads nothing, or has a
/// fingerprint.
///
/// In doubt, returns a name: an unnecessary compilation is harmless.
pub(super) fn from_files(source: &Source<'_>, arguments: &[OsString]) -> Option<String> {
    if source.fingerprint.is_some() {
        return None;
    }
    let names_a_file = |one: &&OsString| {
        let text = one.to_string_lossy();
        let folder = text.starts_with("-I") || text.starts_with("--include-path");
        text.starts_with("@")
            || ["pch", "file", "include", "optf", "imacros"].iter().any(|word| text.contains(word)) && !folder
    };
    if let Some(option) = arguments.iter().find(names_a_file) {
        return Some(format!("files by the option {}", option.to_string_lossy()));
    }
    let texts = source.headers.iter().map(|(_, text)| *text).chain([source.text]);
    texts.into_iter().find_map(|text| in_text(&String::from_utf8_lossy(text), source))
}

/// The first word that may read a file, such as `include`, unless it names a header in memory.
fn in_text(text: &str, source: &Source<'_>) -> Option<String> {
    // A backslash at the end of a line continues the line, even within a word.
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    // Comments cannot be recognized reliably in the presence of raw strings and digit separators.
    let code =
        if joined.contains("R\"") || joined.contains('\'') { joined } else { without_comments(&joined) };
    ["include", "embed", "import"].iter().find_map(|word| {
        code.match_indices(word).find_map(|(at, word)| {
            let rest = code[at + word.len()..].trim_start();
            let name = quoted(rest, '"', '"').or_else(|| quoted(rest, '<', '>'));
            let in_memory = name.is_some_and(|name| source.headers.iter().any(|(known, _)| *known == name));
            (!in_memory).then(|| match name {
                Some(name) => format!("the file `{name}`"),
                None => format!("a file, maybe, by the word `{word}`"),
            })
        })
    })
}

fn quoted(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.split_once(close).map(|(name, _)| name).filter(|name| !name.contains('\n'))
}

fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        let (before, from) = rest.split_at(at);
        code.push_str(before);
        let kept = if from.starts_with("//") {
            rest = from.find('\n').map_or("", |end| &from[end..]);
            " "
        } else if let Some(comment) = from.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
            " "
        } else {
            let (literal, after) = from.split_at(literal_len(from));
            rest = after;
            literal
        };
        code.push_str(kept);
    }
    code.push_str(rest);
    code
}

/// Length of the literal, or of a single character, at the start of a text. A quote that is not
/// closed on its line is a single character, as in `1'000`.
fn literal_len(text: &str) -> usize {
    let quote = if text.starts_with('"') { b'"' } else { b'\'' };
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'\n' => break,
            byte if byte == quote && text.as_bytes()[0] == quote => return at + 1,
            _ => {}
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(text: &str) -> Option<String> {
        from_files(&Source::new(text).header("mine.h", "int y;"), &[])
    }

    #[test]
    fn headers_in_memory_are_no_files() {
        assert_eq!(reads("#include \"mine.h\"\n # include <mine.h>\n"), None);
        assert_eq!(reads("int x; // include this\n/* and\n embed that */ char *s = \"// \\\" /*\";"), None);
        let nested = Source::new("#include \"a.h\"").header("a.h", "#include <b.h>");
        assert_eq!(from_files(&nested, &[]).as_deref(), Some("the file `b.h`"));
    }

    #[test]
    fn whatever_may_be_a_file_is_noticed() {
        assert_eq!(reads("#include <cuda_fp16.h>").as_deref(), Some("the file `cuda_fp16.h`"));
        for text in [
            "/* */ #include \"other.h\"",
            "#inc\\\nlude \"other.h\"",
            "#include HEADER",
            "#include/**/<other.h>",
            "%:include <other.h>",
            "#include_next <mine.h>",
            "#embed \"mine.bin\"",
            "char c = '\"'; /*\"*/\n#include <other.h>\n",
            "int n = 1'000; // '\n#include <other.h>\n",
            "char *s = R\"(/*)\";\n#include <other.h>\n// */",
            "char *s = \"a\\\"/*\";\n#include <other.h>\n/**/",
        ] {
            assert!(reads(text).is_some(), "{text}");
        }
    }

    #[test]
    fn options_that_name_files_are_noticed() {
        let with = |option: &str| from_files(&Source::new(""), &[option.into()]).is_some();
        for option in ["--pre-include=a.h", "-include=a.h", "--use-pch=a", "--options-file=a", "@file"] {
            assert!(with(option), "{option}");
        }
        for option in ["-I/usr/include", "--include-path=/x", "-DN=4", "--use_fast_math"] {
            assert!(!with(option), "{option}");
        }
        assert!(from_files(&Source::new("#include <x>").fingerprint("1"), &["-include=a".into()]).is_none());
    }
}
