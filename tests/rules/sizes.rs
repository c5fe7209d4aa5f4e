//! Files of more than 450 lines and functions of more than 60 are on a list, `tests/data/long.txt`,
//! which only gets shorter.
//!
//! `CUPRUM_SIZES=lower cargo test --test rules sizes` writes down lower numbers ([`ratchet`]). A
//! file that is moved takes its entries along by hand.

use std::fs;
use std::path::Path;

use super::ratchet::{self, Numbers, written};

const LINES_OF_A_FILE: usize = 450;
const LINES_OF_A_FUNCTION: usize = 60;

/// Folders in which sources are looked for.
const FOLDERS: &[&str] = &[
    "benches", "cli", "compile", "cudarc", "derive", "dlpack", "emulator", "examples", "guide", "kernels",
    "nccl", "src", "sys", "testing", "tests", "tracer",
];
/// Lists of facts about the driver API, which are as long as it is; they have no functions.
const FACTS: &[&str] = &["sys/src/enums.rs", "sys/src/fns.rs", "sys/src/structs.rs"];
const LIST: &str = "tests/data/long.txt";

/// A path, or a path and a function, and how many lines it has.
type Sizes = Numbers;

/// The functions of a source with their lines, by the name and by where it begins. It relies on
/// `cargo fmt`.
fn functions(text: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut functions = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let words = ["const", "async", "unsafe", "extern", "\"C\"", "fn"];
        // `pub(in a::b)` is two words.
        let visibility = |word: &str| word == "pub" || word.starts_with("pub(") || word.ends_with(')');
        let mut name =
            code.split(' ').skip_while(|word| *word != "fn" && (words.contains(word) || visibility(word)));
        if name.next() != Some("fn") {
            continue;
        }
        let name = name.next().unwrap_or_default().split(['(', '<']).next().unwrap_or_default();
        let rest = &lines[start..];
        let head = rest.iter().position(|line| line.ends_with(['{', '}', ';'])).unwrap_or(0);
        let closes = |line: &str| line.strip_prefix(indent).is_some_and(|line| line == "}");
        let length = match rest[head].ends_with('{') {
            true => rest.iter().position(|line| closes(line)),
            false => Some(head),
        };
        functions.push((name, length.unwrap_or(rest.len() - 1) + 1));
    }
    functions
}

/// Files and functions that are too long in one source.
fn long(path: &str, text: &str) -> Sizes {
    let mut sizes = Sizes::new();
    let lines = text.lines().count();
    if lines > LINES_OF_A_FILE && !FACTS.contains(&path) {
        sizes.insert(path.to_owned(), lines);
    }
    for (name, lines) in functions(text).into_iter().filter(|(_, lines)| *lines > LINES_OF_A_FUNCTION) {
        let key = format!("{path} {name}");
        let numbers = (2..).map(|number| format!("{key}#{number}"));
        let key = std::iter::once(key.clone()).chain(numbers).find(|key| !sizes.contains_key(key));
        sizes.insert(key.expect("a number that is free"), lines);
    }
    sizes
}

/// Hands over each source of the repository, with its path.
pub(super) fn each_source(take: impl FnMut(String, String)) {
    let files = each_file("rs", take);
    assert!(files > 300, "only {files} sources were found");
}

/// Hands over each file whose name has this extension, with its path, and returns the number of
/// them.
pub(super) fn each_file(extension: &str, mut take: impl FnMut(String, String)) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<_> = FOLDERS.iter().map(|folder| root.join(folder)).collect();
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() && !entry.ends_with("target") {
                folders.push(entry);
            } else if entry.extension().is_some_and(|end| end == extension) {
                let path = entry.strip_prefix(root).expect("a path below the root").to_string_lossy();
                take(path.into_owned(), fs::read_to_string(&entry).expect("a source"));
                files += 1;
            }
        }
    }
    files
}

/// Files and functions that are too long in the repository.
fn measured() -> Sizes {
    let mut sizes = Sizes::new();
    each_source(|path, text| sizes.extend(long(&path, &text)));
    sizes
}

#[test]
fn long_files_and_functions_are_listed_and_do_not_grow() {
    ratchet::check(LIST, "CUPRUM_SIZES", &measured());
}

#[test]
fn functions_and_files_are_measured_as_they_are_written() {
    let body = |lines| "        x();\n".repeat(lines);
    let text = format!(
        "trait T {{\n    fn declared(&self);\n    fn more(\n        x: u8,\n    );\n}}\nimpl A {{\n    pub(in crate::a) const unsafe fn fits(\n        x: u8,\n    ) {{\n{}    }}\n\n    fn one<T>() {{}}\n\n    extern \"C\" fn long() {{\n{}    }}\n}}\nimpl B {{\n    fn long() {{\n{}    }}\n}}\n",
        body(LINES_OF_A_FUNCTION - 4),
        body(LINES_OF_A_FUNCTION - 1),
        body(LINES_OF_A_FUNCTION),
    );
    let found = functions(&text);
    assert_eq!(found, [("declared", 1), ("more", 3), ("fits", 60), ("one", 1), ("long", 61), ("long", 62)]);
    assert_eq!(written(&long("a.rs", &text)), "a.rs long 61\na.rs long#2 62\n");
    assert_eq!(written(&long("b.rs", &"\n".repeat(451))), "b.rs 451\n");
    assert_eq!(long("b.rs", &"\n".repeat(450)), Sizes::new());
    assert_eq!(long(FACTS[0], &"\n".repeat(451)), Sizes::new());
}

/// Columns of a comment.
const COLUMNS: usize = 100;

/// The lines of comments that are too wide, other than code in examples and rows of tables.
fn wide(text: &str) -> Vec<usize> {
    let mut is_code = false;
    let wide = text.lines().enumerate().filter(|(_, line)| {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            is_code = false;
            return false;
        };
        let comment = comment.trim_start_matches(['/', '!']).trim_start();
        is_code ^= comment.starts_with("```");
        line.chars().count() > COLUMNS && !is_code && !comment.starts_with(['|', '`'])
    });
    wide.map(|(number, _)| number + 1).collect()
}

#[test]
fn comments_wrap_at_100_columns() {
    let (words, code) = ("word ".repeat(20), "code ".repeat(20));
    let text = format!("// {words}\n/// ```\n/// {code}\n/// ```\n/// | {words}\nlet code = 0; // {code}\n");
    assert_eq!(wide(&text), [1]);
    let mut found = Vec::new();
    each_source(|path, text| found.extend(wide(&text).iter().map(|line| format!("{path}:{line}"))));
    assert!(found.is_empty(), "{}", found.join("\n"));
}
