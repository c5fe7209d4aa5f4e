//! Members of the doctor's JSON by their paths, and the table that says which there are.

use std::collections::BTreeMap;

use super::json::Json;

/// A member by its path, as in `driver.cuda` or `devices.0.name`.
pub(super) trait At {
    #[track_caller]
    fn at(&self, path: &str) -> &Json;
}

impl At for Json {
    #[track_caller]
    fn at(&self, path: &str) -> &Json {
        path.split('.').fold(self, |value, name| match value {
            Json::Object(members) => members.get(name).unwrap_or_else(|| panic!("no {name} of {path}")),
            Json::List(items) => &items[name.parse::<usize>().expect("a number")],
            other => panic!("{other:?} has no {name} of {path}"),
        })
    }
}

/// All paths in a value with the type of each, as the table writes both.
pub(super) fn members(value: &Json, path: &str, into: &mut Vec<(String, &'static str)>) {
    let kind = match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "number",
        Json::Text(_) => "string",
        Json::List(_) => "list",
        Json::Object(_) => "object",
    };
    if !path.is_empty() && kind != "list" {
        into.push((path.to_owned(), kind));
    }
    match value {
        Json::List(items) => items.iter().for_each(|item| members(item, &format!("{path}[]"), into)),
        Json::Object(named) => named.iter().for_each(|(name, value)| {
            let dot = if path.is_empty() { "" } else { "." };
            members(value, &format!("{path}{dot}{name}"), into);
        }),
        _ => {}
    }
}

/// The rows of `SCHEMA.md`: path and type.
pub(super) fn schema() -> BTreeMap<String, String> {
    let text = include_str!("../../src/doctor/SCHEMA.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows = rows.filter_map(|row| {
        let (path, rest) = row.split_once("` | ")?;
        Some((path.to_owned(), rest.split(" | ").next()?.to_owned()))
    });
    rows.collect()
}
