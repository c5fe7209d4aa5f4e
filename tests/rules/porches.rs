//! A `mod.rs` lists modules and re-exports, and defines nothing: definitions have files of their
//! own names.
//!
//! Shared code of test programs and benchmarks is in `mod.rs` files by Cargo's convention, and is
//! not checked.

use super::sizes::each_source;

/// Number of items that a source defines, without modules in other files and without `use`. It
/// relies on `cargo fmt`.
fn definitions(text: &str) -> usize {
    let begins = |line: &&str| line.starts_with(|first: char| first.is_alphabetic());
    let is_listed = |line: &str| {
        let words = line.split(' ').skip_while(|word| word.starts_with("pub") || word.ends_with(')'));
        let mut words = words.skip_while(|word| *word == "unsafe");
        match words.next() {
            Some("use") => true,
            Some("mod") => line.ends_with(';'),
            _ => false,
        }
    };
    text.lines().filter(begins).filter(|line| !is_listed(line)).count()
}

#[test]
fn a_mod_rs_defines_nothing() {
    let mut found = Vec::new();
    each_source(|path, text| {
        let is_checked = path.ends_with("/mod.rs") && path.split('/').any(|folder| folder == "src");
        if is_checked && definitions(&text) > 0 {
            found.push(path.to_owned());
        }
    });
    assert!(found.is_empty(), "these define something: {found:?}");
}

#[test]
fn definitions_are_counted_as_they_are_written() {
    let lists = "//! A room.\n\n#[cfg(test)]\nmod tests;\npub(crate) mod a;\npub(in crate::b) mod c;\n\npub use self::a::{\n    A,\n    B,\n};\n#[doc(hidden)]\npub(in crate::b) use self::c::C;\nuse self::a::d;\n";
    assert_eq!(definitions(lists), 0);
    for item in [
        "mod tests {\n}",
        "pub struct A {\n    a: u8,\n}",
        "impl A {\n    fn a() {}\n}",
        "macro_rules! m {\n}",
        "m! {\n}",
    ] {
        assert_eq!(definitions(&format!("{lists}{item}\n")), 1, "{item}");
    }
}
