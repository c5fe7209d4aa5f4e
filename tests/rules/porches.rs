//! A `mod.rs` lists modules and re-exports, and defines nothing: definitions have files of their own names. Files that
//! define more are on a list, `tests/data/porches.txt`, which only gets shorter.
//!
//! `CUPRUM_PORCHES=lower cargo test --test rules porches` writes down lower numbers ([`ratchet`]). Shared code of test
//! programs and benchmarks is in `mod.rs` files by Cargo's convention, and is not checked.

use super::ratchet::{self, Numbers};
use super::sizes::each_source;

const LIST: &str = "tests/data/porches.txt";

/// Number of items that a source defines, without modules in other files and without `use`. It relies on `cargo fmt`.
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
    let mut found = Numbers::new();
    each_source(|path, text| {
        let is_checked = path.ends_with("/mod.rs") && path.split('/').any(|folder| folder == "src");
        let count = if is_checked { definitions(&text) } else { 0 };
        if count > 0 {
            found.insert(path.to_owned(), count);
        }
    });
    ratchet::check(LIST, "CUPRUM_PORCHES", &found);
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
