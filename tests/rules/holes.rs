//! The table of failures in other layers, `tests/holes.md`: it is whole, and its evidence exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::source;

/// The numbers that the table must have: a letter, and how far it counts from 1.
const NUMBERS: &[(&str, usize)] = &[("C", 23), ("U", 10), ("O", 12), ("P", 19), ("D", 25), ("R", 12)];

/// Words that introduce the tests that still fail.
const UNTIL: &str = "until it passes:";

/// One row of the table.
#[derive(Debug)]
struct Row {
    number: String,
    hole: String,
    kind: String,
    why: String,
    evidence: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rows() -> Vec<Row> {
    read_rows(&fs::read_to_string(root().join("tests/holes.md")).expect("the table"))
}

/// The rows of five cells whose first is a number; the others are headings and the key to the kinds.
fn read_rows(text: &str) -> Vec<Row> {
    let cells = |line: &str| -> Option<[String; 5]> {
        let line = line.strip_prefix('|')?.strip_suffix('|')?;
        line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>().try_into().ok()
    };
    let rows = text.lines().filter_map(cells).map(|[number, hole, kind, why, evidence]| Row {
        number,
        hole,
        kind,
        why,
        evidence,
    });
    rows.filter(|row| row.number.starts_with(|c: char| c.is_ascii_uppercase())).collect()
}

/// Texts between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The test functions of the file or folder of tests with this name, in any place, and whether each is
/// ignored.
pub(super) fn tests_of(name: &str) -> BTreeMap<String, bool> {
    let (package, name) = name.split_once('/').unwrap_or((".", name));
    let (mut tests, mut folders) = (BTreeMap::new(), vec![root().join(package).join("tests")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path == folder.join(name).with_extension("rs")
                || folder.ends_with(name) && path.extension().is_some_and(|e| e == "rs")
            {
                tests.extend(read_tests(&fs::read_to_string(&path).unwrap_or_default()));
            }
        }
    }
    tests
}

pub(super) fn read_tests(text: &str) -> BTreeMap<String, bool> {
    let (mut tests, mut is_test, mut ignored) = (BTreeMap::new(), false, false);
    for line in text.lines().map(str::trim) {
        match line {
            "#[test]" => is_test = true,
            _ if line.starts_with("#[ignore") => ignored = true,
            _ if line.starts_with("#[") || line.starts_with("//") => {}
            _ => {
                let name = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next());
                if let Some(name) = name.filter(|_| is_test) {
                    tests.insert(name.to_owned(), ignored);
                }
                (is_test, ignored) = (false, false);
            }
        }
    }
    tests
}

/// The public types and traits of the crate.
fn public_types() -> BTreeSet<String> {
    let mut types = BTreeSet::new();
    source::each_text("src", |text| {
        for line in text.lines() {
            let Some(item) = line.strip_prefix("pub ") else { continue };
            let item = item.strip_prefix("unsafe ").unwrap_or(item);
            let mut words = item.split(|c: char| !c.is_alphanumeric() && c != '_');
            if matches!(words.next(), Some("struct" | "enum" | "trait")) {
                types.extend(words.next().map(str::to_owned));
            }
        }
    });
    types
}

/// One piece of evidence.
#[derive(Debug, PartialEq, Eq)]
enum Evidence<'a> {
    /// A program of `tests/ui`.
    Ui(&'a str),
    /// A test function of a program.
    Test(&'a str, &'a str),
    /// A driver function.
    Function(&'a str),
    /// A folder or file.
    Path(&'a str),
    /// A type of the crate.
    Type(&'a str),
}

fn evidence(text: &str) -> Evidence<'_> {
    if let Some((program, name)) = text.split_once("::") {
        Evidence::Test(program, name)
    } else if let Some(program) = text.strip_prefix("ui/") {
        Evidence::Ui(program)
    } else if text.contains('/') {
        Evidence::Path(text)
    } else if text.starts_with("cu") {
        Evidence::Function(text)
    } else {
        Evidence::Type(text)
    }
}

/// Complaint about one piece of evidence of a row, if any.
fn wrong_with(piece: &Evidence<'_>, types: &BTreeSet<String>) -> Option<String> {
    let ui = |name: &str| {
        let exists = |extension| Path::new("tests/ui").join(name).with_extension(extension);
        [exists("rs"), exists("stderr")].into_iter().find(|path| !root().join(path).is_file())
    };
    match *piece {
        Evidence::Ui(name) => ui(name).map(|path| format!("no {}", path.display())),
        Evidence::Test(program, name) => match tests_of(program).get(name) {
            None => Some(format!("no test {name} in {program}")),
            Some(true) => Some(format!("{program}::{name} is ignored: name it after \"{UNTIL}\"")),
            Some(false) => None,
        },
        Evidence::Function(_) | Evidence::Path(_) => {
            Some("functions and paths are evidence of nothing".to_owned())
        }
        Evidence::Type(name) => (!types.contains(name)).then(|| format!("no public type {name}")),
    }
}

/// True if the pieces are such as the kind asks for.
fn suits(kind: &str, pieces: &[Evidence<'_>]) -> bool {
    let any = |wanted: fn(&Evidence<'_>) -> bool| pieces.iter().any(wanted);
    match kind {
        "not expressible" => any(|piece| matches!(piece, Evidence::Type(_))),
        "compile error" => any(|piece| matches!(piece, Evidence::Ui(_))),
        "typed error" | "works" => any(|piece| matches!(piece, Evidence::Test(..))),
        _ => false,
    }
}

/// Complaints about a row.
fn complaints(row: &Row, types: &BTreeSet<String>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (cell, text) in [("hole", &row.hole), ("reason", &row.why)] {
        if text.split_whitespace().count() < 4 {
            wrong.push(format!("says nothing of the {cell}"));
        }
    }
    let pieces: Vec<_> = quoted(&row.evidence).map(evidence).collect();
    if !suits(&row.kind, &pieces) {
        wrong.push(format!("{:?} is no kind, or has no evidence of its kind: {pieces:?}", row.kind));
    }
    wrong.extend(pieces.iter().filter_map(|piece| wrong_with(piece, types)));
    let (why, until) = row.why.split_once(UNTIL).unwrap_or((&row.why, ""));
    let in_passing = quoted(why).map(evidence).filter(|piece| matches!(piece, Evidence::Test(..)));
    wrong.extend(in_passing.filter_map(|piece| wrong_with(&piece, types)));
    for name in quoted(until) {
        match evidence(name) {
            Evidence::Test(program, test) if tests_of(program).get(test) == Some(&true) => {}
            _ => wrong.push(format!("{name} is no ignored test: if it passes, it is evidence")),
        }
    }
    wrong
}

#[test]
fn every_number_is_there_once_and_in_order() {
    let found: Vec<String> = rows().into_iter().map(|row| row.number).collect();
    let wanted = NUMBERS.iter().flat_map(|(letter, last)| (1..=*last).map(move |n| format!("{letter}{n}")));
    assert_eq!(found, wanted.collect::<Vec<_>>());
}

#[test]
fn every_row_says_something_and_its_evidence_exists() {
    let types = public_types();
    assert!(types.contains("Buffer") && types.contains("DeviceData"), "the sources were not read: {types:?}");
    let wrong: Vec<String> = rows()
        .iter()
        .flat_map(|row| complaints(row, &types).into_iter().map(|what| format!("{}: {what}", row.number)))
        .collect();
    assert!(wrong.is_empty(), "{} complaints:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn mistakes_in_a_row_are_seen() {
    let types = BTreeSet::from(["Buffer".to_owned()]);
    let complaints = |kind: &str, why: &str, evidence: &str| {
        let text = format!("| C1 | four words of it | {kind} | {why} | {evidence} |");
        let [row] = read_rows(&text).try_into().expect("one row");
        self::complaints(&row, &types).join("; ")
    };
    let why = "because it is so";
    assert_eq!(complaints("compile error", why, "`ui/double_free`"), "");
    assert_eq!(complaints("works", why, "`memory::data_goes_there_and_back`"), "");
    assert_eq!(complaints("not expressible", why, "`Buffer`"), "");
    assert!(complaints("compile error", why, "`ui/no_such_program`").contains("no_such_program.rs"));
    assert!(complaints("works", why, "`memory::no_such_test`").contains("no test no_such_test"));
    assert!(complaints("works", why, "`no_such_program::test`").contains("no test"));
    assert!(complaints("not expressible", why, "`Vec`").contains("no public type Vec"));
    assert!(complaints("works", why, "`cuMemAlloc_v2`").contains("evidence of nothing"));
    assert!(complaints("works", why, "`src/memory`").contains("evidence of nothing"));
    assert!(complaints("hole", why, "`ui/double_free`").contains("is no kind"));
    assert!(complaints("works", why, "`ui/double_free`").contains("no evidence of its kind"));
    assert!(complaints("compile error", "", "`ui/double_free`").contains("says nothing of the reason"));
    let ignored = "`holes::is_no_evidence`";
    assert!(complaints("works", why, ignored).contains("is ignored"));
    let until = format!("{why}; {UNTIL} `memory::data_goes_there_and_back`");
    assert!(complaints("works", &until, "`memory::data_goes_there_and_back`").contains("no ignored test"));
}

/// Serves the test above, which wants a test that is ignored.
#[test]
#[ignore = "an ignored test is no evidence for a row: this one is there to show it"]
fn is_no_evidence() {
    panic!("never run");
}

#[test]
fn tests_are_read_as_they_are_written() {
    let text = "#[test]\nfn one() {}\n\nfn helper() {}\n#[test]\n#[ignore = \"why\"]\nfn two() {\n}\n";
    assert_eq!(read_tests(text), BTreeMap::from([("one".to_owned(), false), ("two".to_owned(), true)]));
}
