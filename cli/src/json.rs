//! Writes JSON: members in insertion order, two spaces per level.

use std::fmt::{self, Write};

use crate::terminal;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Integer(i128),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn list<T: Into<Self>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u32> for Json {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Self {
        Self::Integer(number.into())
    }
}

impl From<usize> for Json {
    fn from(number: usize) -> Self {
        Self::from(number as u64)
    }
}

impl From<i32> for Json {
    fn from(number: i32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Self>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(f, self, 0)
    }
}

fn write_value(f: &mut fmt::Formatter<'_>, value: &Json, level: usize) -> fmt::Result {
    match value {
        Json::Null => f.write_str("null"),
        Json::Bool(value) => write!(f, "{value}"),
        // JSON has no form for it.
        Json::Number(number) if !number.is_finite() => f.write_str("null"),
        Json::Number(number) => write!(f, "{number}"),
        Json::Integer(number) => write!(f, "{number}"),
        Json::Text(text) => write_text(f, text),
        Json::List(items) => {
            write_items(f, ['[', ']'], items, level, |f, item| write_value(f, item, level + 1))
        }
        Json::Object(members) => write_items(f, ['{', '}'], members, level, |f, (name, value)| {
            write_text(f, name)?;
            f.write_str(": ")?;
            write_value(f, value, level + 1)
        }),
    }
}

fn write_items<T>(
    f: &mut fmt::Formatter<'_>,
    [open, close]: [char; 2],
    items: &[T],
    level: usize,
    write: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_char(open)?;
    for (at, item) in items.iter().enumerate() {
        write!(f, "{}\n{:width$}", if at == 0 { "" } else { "," }, "", width = 2 * (level + 1))?;
        write(f, item)?;
    }
    if !items.is_empty() {
        write!(f, "\n{:width$}", "", width = 2 * level)?;
    }
    f.write_char(close)
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(f, "\\{character}")?,
            '\n' => f.write_str("\\n")?,
            // Not required by JSON, but reports are also read on terminals.
            _ if terminal::acts(character) => write!(f, "\\u{:04x}", u32::from(character))?,
            _ => f.write_char(character)?,
        }
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_a_parser_reads_them() {
        let value = Json::Object(vec![
            ("text", "a \"b\"\\\n\u{1}ü\u{9b}".into()),
            ("none", Json::from(None::<u32>)),
            ("list", Json::List(vec![1u32.into(), 2.5.into(), f64::NAN.into(), true.into()])),
            ("empty", Json::Object(vec![])),
            ("large", u64::MAX.into()),
        ]);
        let written = "{\n  \"text\": \"a \\\"b\\\"\\\\\\n\\u0001ü\\u009b\",\n  \"none\": null,\n  \"list\": [\n    1,\n    2.5,\n    \
                       null,\n    true\n  ],\n  \"empty\": {},\n  \"large\": 18446744073709551615\n}";
        assert_eq!(value.to_string(), written);
    }
}
