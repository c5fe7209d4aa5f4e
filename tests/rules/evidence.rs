//! The evidence that two tables name exists: `tests/holes.md`, the failures of other layers, and
//! `tests/pycuda.md`, the counterparts of PyCUDA's tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::source;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The rows of a table in Markdown, in cells.
fn rows(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let line = line.strip_prefix('|')?.strip_suffix('|')?;
        Some(line.split('|').map(|cell| cell.trim().to_owned()).collect())
    };
    text.lines().filter_map(cells).collect()
}

/// The tests that are run, in the file or folder of tests with this name, in any place.
fn tests_of(name: &str) -> BTreeSet<String> {
    let (package, name) = name.split_once('/').unwrap_or((".", name));
    let (mut tests, mut folders) = (BTreeSet::new(), vec![root().join(package).join("tests")]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path == folder.join(name).with_extension("rs")
                || folder.ends_with(name) && path.extension().is_some_and(|end| end == "rs")
            {
                tests.extend(read_tests(&fs::read_to_string(&path).unwrap_or_default()));
            }
        }
    }
    tests
}

fn read_tests(text: &str) -> BTreeSet<String> {
    let (mut tests, mut is_test) = (BTreeSet::new(), false);
    for line in text.lines().map(str::trim) {
        match line {
            "#[test]" => is_test = true,
            _ if line.starts_with("#[ignore") => is_test = false,
            _ if line.starts_with("#[") || line.starts_with("//") => {}
            _ => {
                let name = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next());
                tests.extend(name.filter(|_| is_test).map(str::to_owned));
                is_test = false;
            }
        }
    }
    tests
}

/// The public types and traits of the crate.
fn public_types() -> BTreeSet<String> {
    let mut types = BTreeSet::new();
    source::each_text("src", |text| {
        for item in text.lines().filter_map(|line| line.strip_prefix("pub ")) {
            let item = item.strip_prefix("unsafe ").unwrap_or(item);
            let mut words = item.split(|c: char| !c.is_alphanumeric() && c != '_');
            if matches!(words.next(), Some("struct" | "enum" | "trait")) {
                types.extend(words.next().map(str::to_owned));
            }
        }
    });
    types
}

/// True if there is a program that must not compile with its message, a test that is run, or a
/// public type.
fn exists(evidence: &str, types: &BTreeSet<String>) -> bool {
    match (evidence.split_once("::"), evidence.strip_prefix("ui/")) {
        (Some((program, test)), _) => tests_of(program).contains(test),
        (_, Some(program)) => {
            let program = root().join("tests/ui").join(program);
            ["rs", "stderr"].iter().all(|end| program.with_extension(end).is_file())
        }
        _ => types.contains(evidence),
    }
}

#[test]
fn holes_are_closed_by_what_exists() {
    let (text, types) =
        (fs::read_to_string(root().join("tests/holes.md")).expect("the table"), public_types());
    let mut missing = Vec::new();
    let mut holes = 0;
    for row in rows(&text).iter().filter(|row| row.len() == 5).skip(2) {
        let mut evidence = row[4].split('`').skip(1).step_by(2).peekable();
        holes += usize::from(evidence.peek().is_some());
        missing
            .extend(evidence.filter(|name| !exists(name, &types)).map(|name| format!("{}: {name}", row[0])));
    }
    assert!(missing.is_empty(), "{missing:?}");
    assert!(holes > 90, "only {holes} holes have evidence");
}

#[test]
fn counterparts_of_pycudas_tests_exist() {
    let text = fs::read_to_string(root().join("tests/pycuda.md")).expect("the table");
    let rows = rows(&text);
    let rows: Vec<_> = rows.iter().filter(|row| row.len() == 4 && row[2] == "test").collect();
    assert!(rows.len() > 25, "only {} counterparts", rows.len());
    let missing = rows.iter().filter(|row| !tests_of(row[3].trim_matches('`')).contains(&row[0]));
    let missing: Vec<&String> = missing.map(|row| &row[0]).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_is_missing_or_ignored_is_no_evidence() {
    let types = public_types();
    for name in ["memory::data_goes_there_and_back", "ui/double_free", "Buffer", "DeviceData"] {
        assert!(exists(name, &types), "{name}");
    }
    for name in ["memory::no_such", "no_such::test", "ui/no_such", "Vec", "cuMemAlloc_v2", "src/memory"] {
        assert!(!exists(name, &types), "{name}");
    }
    let text = "#[test]\nfn one() {}\n\nfn helper() {}\n#[test]\n#[ignore = \"why\"]\nfn two() {\n}\n";
    assert_eq!(read_tests(text), BTreeSet::from(["one".to_owned()]));
}
