//! Reading JSON, and the table that says what the doctor's has.

use std::collections::BTreeMap;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    #[track_caller]
    pub(super) fn read(text: &str) -> Self {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let value = reader.value();
        reader.blank();
        assert_eq!(reader.at, text.len(), "more than one value: {text}");
        value
    }

    /// A member by its path, as in `driver.cuda` or `devices.0.name`.
    #[track_caller]
    pub(super) fn at(&self, path: &str) -> &Self {
        path.split('.').fold(self, |value, name| match value {
            Self::Object(members) => members.get(name).unwrap_or_else(|| panic!("no {name} of {path}")),
            Self::List(items) => &items[name.parse::<usize>().expect("a number")],
            other => panic!("{other:?} has no {name} of {path}"),
        })
    }

    #[track_caller]
    pub(super) fn text(&self, path: &str) -> &str {
        match self.at(path) {
            Self::Text(text) => text,
            other => panic!("{path} is {other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn list(&self, path: &str) -> &[Self] {
        match self.at(path) {
            Self::List(items) => items,
            other => panic!("{path} is {other:?}"),
        }
    }

    /// All paths in it with the type of each, as the table writes both.
    pub(super) fn members(&self, path: &str, into: &mut Vec<(String, &'static str)>) {
        let kind = match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
            Self::List(_) => "list",
            Self::Object(_) => "object",
        };
        if !path.is_empty() && kind != "list" {
            into.push((path.to_owned(), kind));
        }
        match self {
            Self::List(items) => items.iter().for_each(|item| item.members(&format!("{path}[]"), into)),
            Self::Object(members) => members.iter().for_each(|(name, value)| {
                let dot = if path.is_empty() { "" } else { "." };
                value.members(&format!("{path}{dot}{name}"), into);
            }),
            _ => {}
        }
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn blank(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn next(&mut self) -> u8 {
        let byte = self.text[self.at];
        self.at += 1;
        byte
    }

    fn takes(&mut self, word: &str) -> bool {
        let is = self.text[self.at..].starts_with(word.as_bytes());
        self.at += if is { word.len() } else { 0 };
        is
    }

    fn value(&mut self) -> Json {
        self.blank();
        let first = self.text[self.at];
        match first {
            b'{' => Json::Object(
                self.items(b'}', |reader| {
                    let name = reader.string();
                    reader.blank();
                    assert_eq!(reader.next(), b':');
                    (name, reader.value())
                })
                .into_iter()
                .collect(),
            ),
            b'[' => Json::List(self.items(b']', Self::value)),
            b'"' => Json::Text(self.string()),
            _ if self.takes("null") => Json::Null,
            _ if self.takes("true") => Json::Bool(true),
            _ if self.takes("false") => Json::Bool(false),
            _ => {
                let digits =
                    self.text[self.at..].iter().take_while(|byte| b"+-.eE0123456789".contains(byte)).count();
                let text = std::str::from_utf8(&self.text[self.at..self.at + digits]).expect("ASCII");
                self.at += digits;
                Json::Number(text.parse().expect("a number"))
            }
        }
    }

    fn items<T>(&mut self, close: u8, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut items = Vec::new();
        self.at += 1;
        self.blank();
        if self.text[self.at] == close {
            self.at += 1;
            return items;
        }
        loop {
            self.blank();
            items.push(item(self));
            self.blank();
            match self.next() {
                b',' => {}
                byte if byte == close => return items,
                byte => panic!("{:?} between items", char::from(byte)),
            }
        }
    }

    fn string(&mut self) -> String {
        assert_eq!(self.next(), b'"');
        let mut bytes = Vec::new();
        loop {
            match self.next() {
                b'"' => return String::from_utf8(bytes).expect("UTF-8"),
                b'\\' => match self.next() {
                    b'n' => bytes.push(b'\n'),
                    b'u' => {
                        let digits = std::str::from_utf8(&self.text[self.at..self.at + 4]).expect("ASCII");
                        let code = u32::from_str_radix(digits, 16).expect("four digits");
                        bytes.extend(char::from_u32(code).expect("a character").to_string().bytes());
                        self.at += 4;
                    }
                    byte @ (b'"' | b'\\') => bytes.push(byte),
                    byte => panic!("an escape {:?}", char::from(byte)),
                },
                byte => bytes.push(byte),
            }
        }
    }
}

/// The rows of `SCHEMA.md`: path and type.
pub(super) fn schema() -> BTreeMap<String, String> {
    let text = include_str!("../../src/bin/cuprum/doctor/SCHEMA.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows = rows.filter_map(|row| {
        let (path, rest) = row.split_once("` | ")?;
        Some((path.to_owned(), rest.split(" | ").next()?.to_owned()))
    });
    rows.collect()
}
