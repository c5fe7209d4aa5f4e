//! Calls as text, and texts as JSON.

use std::fmt::{self, Write};

use crate::read::{Call, Recording};

/// A call with its arguments and its result, as `cuMemAlloc_v2(dptr: 0x7ffc…, bytesize: 4096) ->
/// 0x7f20…`.
pub(crate) fn call(recording: &Recording, call: &Call) -> String {
    let mut text = format!("{}(", call.function);
    for (number, (name, value)) in arguments(recording, call).into_iter().enumerate() {
        let _ = write!(text, "{}{name}: {value}", if number == 0 { "" } else { ", " });
    }
    text.push(')');
    if let Some(answer) = answer(call) {
        let _ = write!(text, " -> {answer}");
    }
    text
}

/// Names and values of a call's arguments, C strings as they read.
pub(crate) fn arguments(recording: &Recording, call: &Call) -> Vec<(&'static str, String)> {
    let parameters = call.function.parameters().iter().zip(recording.arguments(call)).enumerate();
    let value = |(number, (parameter, &word)): (usize, (&cuprum_sys::hook::Parameter, &u64))| {
        let text = recording.text(call, number).map(|text| format!("{text:?}"));
        (parameter.name(), text.unwrap_or_else(|| parameter.text(word)))
    };
    parameters.map(value).collect()
}

/// The value that a call returned, or the code if it failed, or that it never returned.
pub(crate) fn answer(call: &Call) -> Option<String> {
    let Some(result) = call.result else { return Some("never returned".to_owned()) };
    if !call.succeeded() {
        return Some(result.name().map_or_else(|| result.0.to_string(), str::to_owned));
    }
    Some(call.function.parameters().first()?.given_text(call.gave?))
}

/// Nanoseconds as microseconds with three digits.
pub(crate) struct Micros(pub(crate) u64);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 1000 {
            0 => write!(f, "{}", self.0 / 1000),
            rest => write!(f, "{}.{rest:03}", self.0 / 1000),
        }
    }
}

/// Nanoseconds as people read them.
pub(crate) fn time(nanoseconds: u64) -> String {
    let number = nanoseconds as f64;
    match nanoseconds {
        0..1_000 => format!("{nanoseconds} ns"),
        1_000..1_000_000 => format!("{:.1} µs", number / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", number / 1e6),
        _ => format!("{:.2} s", number / 1e9),
    }
}

/// A number of things.
pub(crate) fn count(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// A string of JSON, which is also safe in a script of a page.
pub(crate) struct Json<'a>(pub(crate) &'a str);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                // A browser ends a script at `</script`, in any place.
                '\0'..='\x1f' | '<' => write!(f, "\\u{:04x}", u32::from(character))?,
                _ => f.write_char(character)?,
            }
        }
        f.write_char('"')
    }
}

/// Text of a page, outside of scripts.
pub(crate) struct Html<'a>(pub(crate) &'a str);

impl fmt::Display for Html<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '<' => f.write_str("&lt;")?,
                '&' => f.write_str("&amp;")?,
                _ => f.write_char(character)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_nothing_around_them() {
        assert_eq!(Json("a\"\\\n</script>").to_string(), r#""a\"\\\u000a\u003c/script>""#);
        assert_eq!(Html("<b>&").to_string(), "&lt;b>&amp;");
    }

    #[test]
    fn times_are_short() {
        assert_eq!([999, 1500, 2_500_000, 3_000_000_000].map(time), ["999 ns", "1.5 µs", "2.5 ms", "3.00 s"]);
        assert_eq!([0, 5, 1234, 2000].map(|time| Micros(time).to_string()), ["0", "0.005", "1.234", "2"]);
    }
}
