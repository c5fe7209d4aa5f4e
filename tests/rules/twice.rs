//! Files that a `#[path]` includes in another crate or program. Shared code of tests is in
//! `testing` instead.

use crate::sizes::each_source;

/// Each file with such attributes, and the reason for them.
const INCLUDE: &[(&str, &str)] = &[
    ("emulator/tests/fuzz/main.rs", "compares the safe layer's private reader of PTX with the emulator's"),
    ("sys/tests/declarations/declared.rs", "expands the declarations by macros that list them"),
];

/// The attributes of a source, at the beginnings of lines.
fn attributes(text: &str) -> usize {
    text.lines().filter(|line| line.trim_start().starts_with("#[path")).count()
}

#[test]
fn a_file_is_in_one_crate() {
    assert_eq!(
        attributes("#[path = \"a.rs\"]\nmod a;\n    #[path = \"b.rs\"]\n    mod b;\nlet c = \"#[path\";\n"),
        2
    );
    let mut found = Vec::new();
    each_source(|path, text| {
        if attributes(&text) > 0 {
            found.push(path);
        }
    });
    found.sort();
    assert_eq!(found, INCLUDE.iter().map(|&(path, _)| path).collect::<Vec<_>>());
}
