//! Names that a first program needs: those that it imports from cuprum, and those that it reaches
//! by a path.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The most that a first program may need.
const MOST: usize = 8;

/// The first Rust program of a page.
fn first_program(page: &str) -> String {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).expect(page);
    let begin = text.find("```rust").expect("a program");
    let program = text[begin..].split_once('\n').expect("a line").1;
    program.split_once("\n```").expect("its end").0.to_owned()
}

/// Names of cuprum in a program, up to its first launch or call of a kernel.
fn names(program: &str) -> BTreeSet<String> {
    let code: Vec<&str> = program
        .lines()
        .map(|line| line.strip_prefix("# ").unwrap_or(line))
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect();
    let code = code.join("\n");
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("cuprum::") {
        // `cuprum_emulator::` is the software device's.
        let path = &code[at + "cuprum::".len()..];
        let list = match path.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default(),
            None => {
                path.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').next().unwrap_or_default()
            }
        };
        names.extend(list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()));
    }
    names
}

#[test]
fn a_first_program_needs_few_names() {
    for page in ["README.md", "guide/src/first_kernel.md"] {
        let program = first_program(page);
        assert!(program.contains(".launch(") || program.contains(".call("), "{page}: nothing is launched");
        let names = names(&program);
        assert!(names.len() > 3, "{page}: the program was not read: {names:?}");
        assert!(names.len() <= MOST, "{page}: {} names: {names:?}", names.len());
    }
}

#[test]
fn imports_and_paths_are_counted_once_and_comments_are_not() {
    let program = "use cuprum::{In, Module};\n# let a = cuprum::open(0)?; // cuprum::Stream\nlet b = cuprum_emulator::library();\ncuprum::open(1)?;\nuse cuprum::pool::Lease;";
    assert_eq!(names(program).into_iter().collect::<Vec<_>>(), ["In", "Module", "open", "pool::Lease"]);
}
