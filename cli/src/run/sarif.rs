//! Reports in SARIF 2.1.0, which forges show at the source lines.

use std::path::Path;

use super::reports::{KINDS, Reports};
use crate::json::Json;

/// The reports of a run as one log. Paths inside `root`, the folder of the run, are relative to it.
pub(super) fn log(reports: &Reports, root: &Path) -> Json {
    let rules = KINDS.iter().map(|(kind, words, ..)| {
        let description = Json::Object(vec![("text", Json::text(*words))]);
        Json::Object(vec![("id", Json::text(*kind)), ("shortDescription", description)])
    });
    let driver = Json::Object(vec![
        ("name", "cuprum run".into()),
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("rules", Json::list(rules)),
    ]);
    let results = reports
        .all()
        .flat_map(|(kind, text)| parts(kind, text).into_iter().map(move |part| result(kind, &part, root)));
    let run = Json::Object(vec![
        ("tool", Json::Object(vec![("driver", driver)])),
        ("results", Json::list(results)),
    ]);
    Json::Object(vec![("version", "2.1.0".into()), ("runs", Json::List(vec![run]))])
}

/// The text of a report; for a report about several objects, one text each.
fn parts(kind: &str, text: &str) -> Vec<String> {
    if !matches!(kind, "leaks" | "held") {
        return vec![text.to_owned()];
    }
    let mut parts: Vec<String> = Vec::new();
    for line in text.lines().skip(1) {
        match (line.starts_with("   "), parts.last_mut()) {
            (true, Some(part)) => *part += &format!("\n{line}"),
            _ => parts.push(line.trim().to_owned()),
        }
    }
    parts
}

fn result(kind: &str, text: &str, root: &Path) -> Json {
    let is_failure = KINDS.iter().any(|known| known.0 == kind && known.3);
    let level = if is_failure { "error" } else { "note" };
    let mut members = vec![
        ("ruleId", Json::text(kind)),
        ("level", level.into()),
        ("message", Json::Object(vec![("text", Json::text(text))])),
    ];
    if let Some((uri, line)) = place(text, root) {
        let region = Json::Object(vec![("startLine", line.into())]);
        let file = Json::Object(vec![("uri", uri.into())]);
        let place = Json::Object(vec![("artifactLocation", file), ("region", region)]);
        let location = Json::Object(vec![("physicalLocation", place)]);
        members.push(("locations", Json::List(vec![location])));
    }
    Json::Object(members)
}

/// The first line of a report in the folder of the run, otherwise its first line: `at FILE:LINE`.
fn place(text: &str, root: &Path) -> Option<(String, u32)> {
    let found: Vec<(bool, String, u32)> = text
        .lines()
        .flat_map(places_in)
        .map(|(file, line)| {
            let inside = Path::new(file).strip_prefix(root).ok().and_then(Path::to_str);
            let is_own = inside.is_some() || Path::new(file).is_relative();
            (is_own, uri(inside.unwrap_or(file)), line)
        })
        .collect();
    let place = found.iter().find(|place| place.0).or(found.first())?;
    Some((place.1.clone(), place.2))
}

fn places_in(text: &str) -> impl Iterator<Item = (&str, u32)> {
    let after = text.match_indices("at ").filter(|(at, _)| *at == 0 || text[..*at].ends_with(' '));
    after.filter_map(|(at, word)| {
        let rest = &text[at + word.len()..];
        let end = [" in ", " (", ", "].iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        let (file, line) = rest[..end].rsplit_once(':')?;
        Some((file, line.parse().ok().filter(|line| *line > 0)?))
    })
}

/// A path as a URI reference: absolute paths with a scheme, and reserved bytes escaped.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.trim_start_matches("./").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(byte.into())
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_stand_at_the_programs_own_lines() {
        let root = Path::new("/home/me/work");
        let of = |text| place(text, root);
        let misuse =
            "misuse of cuMemFree\n  at /opt/lib/site.py:9 in free\n  at /home/me/work/a b.py:12 in main";
        assert_eq!(of(misuse), Some(("a%20b.py".to_owned(), 12)));
        assert_eq!(of("x\n  at /opt/lib/site.py:9 in f"), Some(("file:///opt/lib/site.py".to_owned(), 9)));
        let unordered = "  first: kernel `put` (operation 3) in stream #1 writes at ./put.cu:21 (PTX line 5)";
        assert_eq!(of(unordered), Some(("put.cu".to_owned(), 21)));
        assert_eq!(of("a store of 4 bytes at 0x75c000000 (global memory)\n  PTX line 7: st"), None);
    }

    #[test]
    fn each_leak_is_a_result() {
        let text = "2 leaks\n  allocation #1, never freed\n    at a.py:1 in f\n    at a.py:9 in g\n  stream #2, never destroyed";
        let parts = parts("leaks", text);
        assert_eq!(
            parts,
            [
                "allocation #1, never freed\n    at a.py:1 in f\n    at a.py:9 in g",
                "stream #2, never destroyed"
            ]
        );
    }
}
