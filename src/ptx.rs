//! The little of PTX text that the safe layer reads: directives, and the parameters of kernels.
//!
//! Drivers since CUDA 12.4 tell a kernel's parameters themselves (`cuFuncGetParamInfo`); for older ones they
//! are read here. What cannot be read is left out, and binding such a kernel says so.

/// A kernel and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
}

/// Where a parameter lies in the kernel's parameter block, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

/// The word after a directive such as `.version`, at the start of a line.
pub(crate) fn directive<'a>(ptx: &'a str, name: &str) -> Option<&'a str> {
    ptx.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix(name)?;
        rest.starts_with(char::is_whitespace)
            .then(|| rest.trim_start().split([' ', '\t', ',', '/']).next())?
    })
}

/// The compute capability of a target such as `sm_90a`, as major times ten plus minor.
pub(crate) fn capability(target: &str) -> Option<u32> {
    let digits = target.strip_prefix("sm_")?;
    digits.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
}

/// All kernels of the text whose parameters could be read.
pub(crate) fn entries(ptx: &str) -> Vec<Entry> {
    let text = without_comments_and_strings(ptx);
    let mut words = words(&text).peekable();
    let mut entries = Vec::new();
    while let Some(word) = words.next() {
        if word != ".entry" {
            continue;
        }
        let Some(name) = words.next() else { break };
        let parameters = if words.peek() == Some(&"(") {
            words.next();
            parameters(&mut words)
        } else {
            Some(Vec::new())
        };
        entries.extend(parameters.map(|parameters| Entry { name: name.to_owned(), parameters }));
    }
    entries
}

/// Reads `.param .u64 a, .param .align 8 .b8 b[24] )`.
fn parameters<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Vec<Parameter>> {
    let mut parameters = Vec::new();
    let mut end = 0usize;
    let (mut bytes, mut align, mut count, mut empty) = (None, None, 1usize, true);
    loop {
        match words.next()? {
            ")" if empty => return Some(parameters),
            word @ ("," | ")") => {
                // One of a type that is not known here, such as a texture, leaves out the kernel.
                let bytes = bytes.take()?;
                let align: usize = align.take().unwrap_or(bytes);
                let offset = end.checked_next_multiple_of(align)?;
                let size = bytes.checked_mul(count)?;
                parameters.push(Parameter { offset, size });
                end = offset.checked_add(size)?;
                count = 1;
                if word == ")" {
                    return Some(parameters);
                }
            }
            ".param" => empty = false,
            // The alignment of the parameter itself comes before its type; that of what it points at after `.ptr`.
            ".align" => {
                let value = words.next()?.parse().ok()?;
                if bytes.is_none() {
                    align = Some(value);
                }
            }
            "[" => count = count.checked_mul(words.next()?.parse().ok()?)?,
            word => {
                if let Some(width) = type_bytes(word) {
                    bytes = Some(width);
                }
            }
        }
    }
}

/// Bytes of a fundamental type such as `.u64`.
fn type_bytes(word: &str) -> Option<usize> {
    let bits: usize = word.strip_prefix(['.'])?.strip_prefix(['u', 's', 'b', 'f'])?.parse().ok()?;
    matches!(bits, 8 | 16 | 32 | 64 | 128).then_some(bits / 8)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let punctuation = |c: char| matches!(c, '(' | ')' | '[' | ']' | ',' | ';' | '{' | '}');
    text.split_whitespace().flat_map(move |chunk| chunk.split_inclusive(punctuation)).flat_map(move |piece| {
        let (word, mark) = piece.split_at(piece.trim_end_matches(punctuation).len());
        [word, mark].into_iter().filter(|part| !part.is_empty())
    })
}

fn without_comments_and_strings(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        rest = if let Some(string) = from.strip_prefix('"') {
            string.split_once('"').map_or("", |(_, after)| after)
        } else if from.starts_with("//") {
            from.find('\n').map_or("", |end| &from[end..])
        } else if let Some(comment) = from.strip_prefix("/*") {
            out.push(' ');
            comment.find("*/").map_or("", |end| &comment[end + 2..])
        } else {
            out.push('/');
            &from[1..]
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str) -> Vec<(usize, usize)> {
        entries(text).iter().flat_map(|entry| &entry.parameters).map(|p| (p.offset, p.size)).collect()
    }

    #[test]
    fn reads_scalars_at_their_own_alignment() {
        let text = ".visible .entry k(\n\t.param .u32 k_0, // count\n\t.param .f64 k_1,\n .param .u8 k_2,.param .u16 k_3\n)\n{ ret; }";
        assert_eq!(layout(text), [(0, 4), (8, 8), (16, 1), (18, 2)]);
    }

    #[test]
    fn reads_structs_and_the_attributes_of_pointers() {
        let text = ".entry k ( .param .u64 .ptr .global .align 4 a, .param .align 16 .b8 b[24], /* , .param .u64 x */ .param .b32 c )";
        assert_eq!(layout(text), [(0, 8), (16, 24), (40, 4)]);
    }

    #[test]
    fn finds_every_kernel_and_no_function() {
        let text = ".func (.param .b32 r) f(.param .b32 a) { ret; }\n.entry one() { ret; }\n.entry two\n{ ret; }\n.entry three(.param .u32 a) .maxntid 32 { ret; }";
        let found: Vec<_> =
            entries(text).into_iter().map(|entry| (entry.name, entry.parameters.len())).collect();
        assert_eq!(found, [("one".into(), 0), ("two".into(), 0), ("three".into(), 1)]);
    }

    #[test]
    fn leaves_out_what_it_cannot_read() {
        assert_eq!(entries(".entry cut(.param .u64 a"), []);
        assert_eq!(entries(".entry"), []);
        assert_eq!(entries(".entry k(.param .align 8 .b8 a[99999999999999999999])"), []);
        assert_eq!(entries(".entry k(.param .align 0 .b8 a[4])"), []);
        assert_eq!(entries(".entry k(.param .u32 a, .param .f16x2 b)"), []);
        assert_eq!(entries(".entry k(.param .texref a)"), []);
    }

    #[test]
    fn reads_no_strings_and_all_dimensions() {
        let text =
            ".file 1 \" .entry k(.param .u8 a) // \"\n.entry k(.param .b8 a[4][3], .param .u64 b) { ret; }";
        assert_eq!(layout(text), [(0, 12), (16, 8)]);
    }

    #[test]
    fn finds_directives() {
        let text = "//\n// .version 1.0\n.version 8.3\n.target sm_75, debug\n";
        assert_eq!(directive(text, ".version"), Some("8.3"));
        assert_eq!(directive(text, ".target"), Some("sm_75"));
        assert_eq!(directive(text, ".address_size"), None);
        assert_eq!(
            ["sm_75", "sm_90a", "sm_103f", "unknown"].map(capability),
            [Some(75), Some(90), Some(103), None]
        );
    }
}
