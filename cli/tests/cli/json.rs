//! A JSON reader for tests, as strict as the grammar.

use std::collections::BTreeMap;

/// A value of JSON.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// Reads a whole text.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut reader = Reader(text);
        let value = reader.value()?;
        reader.space();
        if reader.0.is_empty() { Ok(value) } else { Err(format!("after the value: {:?}", reader.here())) }
    }

    /// A member of an object.
    pub(crate) fn get(&self, name: &str) -> &Json {
        match self {
            Self::Object(members) => members.get(name).unwrap_or(&Self::Null),
            _ => &Self::Null,
        }
    }

    pub(crate) fn text(&self) -> &str {
        if let Self::Text(text) = self { text } else { panic!("no text: {self:?}") }
    }

    pub(crate) fn number(&self) -> f64 {
        if let Self::Number(number) = self { *number } else { panic!("no number: {self:?}") }
    }

    pub(crate) fn list(&self) -> &[Json] {
        if let Self::List(list) = self { list } else { panic!("no list: {self:?}") }
    }
}

struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn here(&self) -> String {
        self.0.chars().take(30).collect()
    }

    fn space(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\n', '\r', '\t']);
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let rest = self.0.strip_prefix(token);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn need(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(format!("{token:?} is missing at {:?}", self.here())) }
    }

    fn value(&mut self) -> Result<Json, String> {
        self.space();
        Ok(match self.0.chars().next() {
            Some('{') => self.object()?,
            Some('[') => self.list()?,
            Some('"') => Json::Text(self.text()?),
            _ if self.take("null") => Json::Null,
            _ if self.take("true") => Json::Bool(true),
            _ if self.take("false") => Json::Bool(false),
            _ => {
                let end = self.0.find(|c: char| !"+-.eE0123456789".contains(c)).unwrap_or(self.0.len());
                let (number, rest) = self.0.split_at(end);
                self.0 = rest;
                Json::Number(number.parse().map_err(|_| format!("no value: {:?}", self.here()))?)
            }
        })
    }

    fn object(&mut self) -> Result<Json, String> {
        self.need("{")?;
        let mut members = BTreeMap::new();
        while !self.take("}") {
            if !members.is_empty() {
                self.need(",")?;
            }
            self.space();
            let name = self.text()?;
            self.need(":")?;
            let value = self.value()?;
            if members.insert(name.clone(), value).is_some() {
                return Err(format!("{name} is there twice"));
            }
        }
        Ok(Json::Object(members))
    }

    fn list(&mut self) -> Result<Json, String> {
        self.need("[")?;
        let mut list = Vec::new();
        while !self.take("]") {
            if !list.is_empty() {
                self.need(",")?;
            }
            list.push(self.value()?);
        }
        Ok(Json::List(list))
    }

    fn text(&mut self) -> Result<String, String> {
        self.need("\"")?;
        let (mut text, mut rest) = (String::new(), self.0.chars());
        loop {
            match rest.next().ok_or("a text does not end")? {
                '"' => break,
                '\\' => match rest.next() {
                    Some('u') => {
                        let code: String = rest.by_ref().take(4).collect();
                        let code = u32::from_str_radix(&code, 16).map_err(|_| format!("no code: {code}"))?;
                        text.push(char::from_u32(code).ok_or("half a character")?);
                    }
                    Some('n') => text.push('\n'),
                    Some(same @ ('"' | '\\' | '/')) => text.push(same),
                    other => return Err(format!("{other:?} behind a backslash")),
                },
                control @ '\0'..='\x1f' => return Err(format!("{control:?} in a text")),
                plain => text.push(plain),
            }
        }
        self.0 = rest.as_str();
        Ok(text)
    }
}

#[test]
fn values_are_read_and_others_are_refused() {
    let value = Json::read(" {\"a\": [1, -2.5e1, \"x\\\"\\u0007\"], \"b\": {}, \"c\": true}").unwrap();
    assert_eq!(value.get("a").list()[1].number(), -25.0);
    assert_eq!(value.get("a").list()[2].text(), "x\"\x07");
    assert_eq!((value.get("c"), value.get("d")), (&Json::Bool(true), &Json::Null));
    for wrong in ["", "{", "[1,]", "[1 2]", "{\"a\":1,\"a\":2}", "\"\n\"", "\"\\x\"", "1 2", "{a:1}"] {
        assert!(Json::read(wrong).is_err(), "{wrong}");
    }
}
