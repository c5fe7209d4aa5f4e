//! The README and the guide: programs run, messages are real, links lead somewhere.
//!
//! A fenced `text` block shows an output. The comment above it names its source, and who compares
//! it:
//!
//! - `<!-- output: EXAMPLE [VARIABLE=VALUE]… -->`: `tests/examples.rs` runs the example on the
//!   software device.
//! - `<!-- message: PROGRAM -->`: the compiler's, stored in `tests/ui`.
//! - `<!-- file: PATH -->`: the lines are in this file of the repository, which another test runs
//!   or compares. Programs of any language have this mark too.
//! - `<!-- drawing -->`: no program's output.
//!
//! Rust blocks of the guide are documentation tests of the package `cuprum-guide`, which has to
//! name each page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The pages: their paths from the root, and their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pages = vec![PathBuf::from("README.md")];
    let mut folders = vec![PathBuf::from("guide/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("a folder") {
            let entry = entry.expect("an entry");
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    assert!(pages.len() > 20, "only {pages:?}");
    pages.into_iter().map(|path| (path.clone(), read(&root().join(path)))).collect()
}

/// A fenced block: the line before its fence, the text of the fence, its contents and its line.
struct Block<'a> {
    above: &'a str,
    info: &'a str,
    text: String,
    line: usize,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut open): (Vec<Block<'_>>, bool) = (Vec::new(), false);
    let mut above = "";
    for (number, line) in (1..).zip(page.lines()) {
        if let Some(info) = line.strip_prefix("```") {
            if !open {
                blocks.push(Block { above, info, text: String::new(), line: number });
            }
            open = !open;
        } else if let (true, Some(block)) = (open, blocks.last_mut()) {
            block.text.push_str(line);
            block.text.push('\n');
        }
        above = line;
    }
    assert!(!open, "a fence is open at the end");
    blocks
}

/// The text after the word in a comment such as `<!-- output: 02_find_the_fault -->`.
fn mark<'a>(above: &'a str, word: &str) -> Option<&'a str> {
    Some(above.strip_prefix("<!-- ")?.strip_suffix(" -->")?.strip_prefix(word)?.trim())
}

#[test]
fn outputs_are_of_something() {
    let mut wrong = Vec::new();
    for (path, text) in pages() {
        for block in blocks(&text) {
            let place = format!("{}:{}", path.display(), block.line);
            if let Some(program) = mark(block.above, "message:") {
                let stored = read(&root().join(format!("tests/ui/{program}.stderr")));
                if !stored.contains(block.text.trim_end()) {
                    wrong.push(format!("{place}: the compiler says otherwise:\n{stored}"));
                }
            } else if let Some(file) = mark(block.above, "file:") {
                if !read(&root().join(file)).contains(block.text.trim_end()) {
                    wrong.push(format!("{place}: not in {file}: copy its lines"));
                }
            } else if block.info == "text"
                && mark(block.above, "output:").is_none()
                && mark(block.above, "drawing").is_none()
            {
                wrong.push(format!("{place}: no mark names the source of this output"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_program_of_the_readme_is_the_example_that_runs() {
    let example = read(&root().join("examples/18_from_c.rs"));
    let readme = read(&root().join("README.md"));
    let programs: Vec<_> =
        blocks(&readme).into_iter().filter(|block| block.info.starts_with("rust")).collect();
    assert_eq!(programs.len(), 1);
    let from = example.find("use cuprum::").expect("the program");
    assert_eq!(programs[0].text, example[from..], "copy the one to the other");
}

#[test]
fn every_page_is_tested_and_in_the_summary() {
    let (tested, summary) = (read(&root().join("guide/lib.rs")), read(&root().join("guide/src/SUMMARY.md")));
    let mut wrong = Vec::new();
    for (path, text) in pages() {
        let Ok(name) = path.strip_prefix("guide/src") else { continue };
        let name = name.to_string_lossy().replace('\\', "/");
        if name == "SUMMARY.md" {
            continue;
        }
        let rust: Vec<_> = blocks(&text).into_iter().filter(|block| block.info.starts_with("rust")).collect();
        for block in &rust {
            // A block from a file is a program that another test runs.
            if !matches!(block.info, "rust" | "rust,should_panic") && mark(block.above, "file:").is_none() {
                wrong.push(format!(
                    "{}:{}: this block is not run: {}",
                    path.display(),
                    block.line,
                    block.info
                ));
            }
        }
        let runs = rust.iter().any(|block| block.info == "rust");
        if runs && !tested.contains(&format!("\"src/{name}\"")) {
            wrong.push(format!("guide/lib.rs does not name {name}"));
        }
        if !summary.contains(&format!("({name})")) {
            wrong.push(format!("SUMMARY.md does not name {name}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Targets of links and includes that are in the repository.
fn targets(text: &str) -> BTreeSet<&str> {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let includes = text.split("{{#include ").skip(1).filter_map(|rest| rest.split(['}', ':']).next());
    let inside = |target: &&str| !target.contains("://") && !target.starts_with('#') && !target.contains(' ');
    links.chain(includes).map(|target| target.split('#').next().unwrap_or(target)).filter(inside).collect()
}

#[test]
fn links_and_includes_lead_somewhere() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (path, text) in pages() {
        let folder = root().join(&path).parent().expect("a folder").to_owned();
        for target in targets(&text) {
            seen += 1;
            if !folder.join(target).exists() {
                wrong.push(format!("{}: there is no {target}", path.display()));
            }
        }
    }
    assert!(seen > 50, "only {seen} links");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn blocks_links_and_marks_are_found() {
    let page = "Say:\n<!-- output: a B=1 -->\n```text\nx\n```\n[link](a/b.md#c) and [out](https://x)\n{{#include ../d.py:e}}\n";
    let found = blocks(page);
    assert_eq!((found.len(), found[0].text.as_str(), found[0].line), (1, "x\n", 3));
    assert_eq!(mark(found[0].above, "output:"), Some("a B=1"));
    assert_eq!(targets(page).into_iter().collect::<Vec<_>>(), ["../d.py", "a/b.md"]);
}
