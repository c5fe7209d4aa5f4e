//! The parts of PTX text that the safe layer reads: directives, and the parameters of kernels.
//!
//! Drivers since CUDA 12.4 report a kernel's parameters themselves (`cuFuncGetParamInfo`); for
//! older drivers they are read from the PTX. If a word is unknown, the error of binding the kernel
//! names it.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) parameters: Result<Vec<Parameter>, Unreadable>,
}

/// Location of a parameter in the kernel's parameter block, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

/// The unknown word among a kernel's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) String);

/// The word after a directive such as `.version`, at the start of a line.
pub(crate) fn directive<'a>(ptx: &'a str, name: &str) -> Option<&'a str> {
    ptx.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix(name)?;
        rest.starts_with(char::is_whitespace)
            .then(|| rest.trim_start().split([' ', '\t', ',', '/']).next())?
    })
}

/// True if text that should be PTX is CUDA C++: without a version, but with words of source code.
pub(crate) fn is_cuda_source(text: &str) -> bool {
    let words = ["__global__", "__device__", "#include", "threadIdx"];
    directive(text, ".version").is_none() && words.iter().any(|word| text.contains(word))
}

/// The compute capability of a target such as `sm_90a`, as major times ten plus minor.
pub(crate) fn capability(target: &str) -> Option<u32> {
    let digits = target.strip_prefix("sm_")?;
    digits.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
}

pub(crate) fn entries(ptx: &str) -> Vec<Entry> {
    let text = without_comments_and_strings(ptx);
    let mut words = Words { rest: &text };
    let mut entries = Vec::new();
    while let Some(word) = words.next() {
        if word != ".entry" {
            continue;
        }
        let Some(name) = words.next() else { break };
        let parameters = if words.peek() == Some("(") {
            words.next();
            parameters(&mut words)
        } else {
            Ok(Vec::new())
        };
        entries.push(Entry { name: name.to_owned(), parameters });
    }
    entries
}

/// Reads the text after `(`, such as `.param .u64 .ptr .global .align 4 a, .param .align 8 .b8
/// b[24] )`.
fn parameters(words: &mut Words<'_>) -> Result<Vec<Parameter>, Unreadable> {
    let mut parameters = Vec::new();
    if words.peek() == Some(")") {
        words.next();
        return Ok(parameters);
    }
    let mut end = 0usize;
    loop {
        let (size, align) = parameter(words)?;
        let place =
            end.checked_next_multiple_of(align).and_then(|offset| Some((offset, offset.checked_add(size)?)));
        let (offset, after) = place.ok_or_else(|| words.unreadable("a size"))?;
        parameters.push(Parameter { offset, size });
        end = after;
        match words.next() {
            Some(",") => {}
            Some(")") => return Ok(parameters),
            word => return Err(words.unreadable(word.unwrap_or_default())),
        }
    }
}

/// One parameter: its size and its alignment.
fn parameter(words: &mut Words<'_>) -> Result<(usize, usize), Unreadable> {
    words.expect(".param")?;
    let (mut align, mut width, mut lanes, mut is_pointer) = (None, None, 1, false);
    let name = loop {
        match words.next() {
            Some(".align") => {
                let value = words.number()?;
                // The parameter's own alignment comes before its type; the alignment of the memory
                // that it points to comes after `.ptr`.
                if !is_pointer {
                    align = Some(value);
                }
            }
            Some(".v2") => lanes = 2,
            Some(".v4") => lanes = 4,
            Some(".ptr") => is_pointer = true,
            Some(".global" | ".shared" | ".local" | ".const") if is_pointer => {}
            Some(word) if word.starts_with('.') => {
                width = Some(type_bytes(word).ok_or_else(|| words.unreadable(word))?);
            }
            word => break word.unwrap_or_default(),
        }
    };
    let whole = width.and_then(|width| width.checked_mul(lanes)).ok_or_else(|| words.unreadable(name))?;
    let mut size = whole;
    while words.peek() == Some("[") {
        words.next();
        let count = words.number()?;
        words.expect("]")?;
        size = size.checked_mul(count).ok_or_else(|| words.unreadable("a size"))?;
    }
    match align.unwrap_or(whole) {
        0 => Err(words.unreadable(".align 0")),
        align => Ok((size, align)),
    }
}

fn type_bytes(word: &str) -> Option<usize> {
    match word {
        ".f16x2" | ".bf16x2" => return Some(4),
        ".bf16" => return Some(2),
        _ => {}
    }
    let bits: usize = word.strip_prefix('.')?.strip_prefix(['u', 's', 'b', 'f'])?.parse().ok()?;
    matches!(bits, 8 | 16 | 32 | 64 | 128).then_some(bits / 8)
}

/// The words of PTX: names, directives with their point, numbers, and single characters.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.rest.trim_start();
        let first = text.chars().next()?;
        let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '@');
        let head = first.len_utf8();
        let length = if first == '.' || in_word(first) {
            text[head..].find(|c| !in_word(c)).map_or(text.len(), |end| head + end)
        } else {
            head
        };
        let (word, rest) = text.split_at(length);
        self.rest = rest;
        Some(word)
    }
}

impl<'a> Words<'a> {
    fn peek(&self) -> Option<&'a str> {
        Words { rest: self.rest }.next()
    }

    fn expect(&mut self, word: &str) -> Result<(), Unreadable> {
        match self.next() {
            Some(found) if found == word => Ok(()),
            found => Err(self.unreadable(found.unwrap_or_default())),
        }
    }

    /// A number, or a sum, difference or product from left to right; `a + b * c` is refused.
    fn number(&mut self) -> Result<usize, Unreadable> {
        let mut value = self.literal()?;
        let mut before = None;
        while let Some(sign @ ("+" | "-" | "*")) = self.peek() {
            self.next();
            if before.is_some_and(|before| before != sign && (before == "*" || sign == "*")) {
                return Err(self.unreadable(sign));
            }
            let operand = self.literal()?;
            let result = match sign {
                "+" => value.checked_add(operand),
                "-" => value.checked_sub(operand),
                _ => value.checked_mul(operand),
            };
            value = result.ok_or_else(|| self.unreadable(sign))?;
            before = Some(sign);
        }
        Ok(value)
    }

    /// A number as in C: decimal, `0x`, `0b`, octal after a `0`, with or without a `U` at the end.
    fn literal(&mut self) -> Result<usize, Unreadable> {
        let word = self.next().unwrap_or_default();
        let digits = word.strip_suffix('U').unwrap_or(word);
        let (digits, radix) = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
            [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
            [b'0', _, ..] => (&digits[1..], 8),
            _ => (digits, 10),
        };
        usize::from_str_radix(digits, radix).map_err(|_| self.unreadable(word))
    }

    /// The error with an unknown word and the text after it, as one printable line.
    fn unreadable(&self, word: &str) -> Unreadable {
        let follows = self.rest.lines().next().unwrap_or_default();
        Unreadable(format!("{word}{follows}").chars().take(40).collect())
    }
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
