//! The way from the compiler's message to the answer, for users who put a context and a value that borrows it
//! into one struct: each type of this crate that such a message names says in its documentation how to keep
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The heading to be found in the documentation of a type.
const SECTION: &str = "# Keeping it in a struct";

/// Types that are named in passing: they have nothing to do with the lifetimes.
const IN_PASSING: &[&str] = &["ContextFlags", "Device", "Driver", "Error", "OnceLock", "ContextStack"];

/// The documentation of each public type of the crate.
fn documentation() -> BTreeMap<String, String> {
    let mut types = BTreeMap::new();
    crate::source::each_text("src", |text| {
        let mut docs = String::new();
        for line in text.lines() {
            let line = line.trim();
            if let Some(doc) = line.strip_prefix("///") {
                docs.push_str(doc.strip_prefix(' ').unwrap_or(doc));
                docs.push('\n');
            } else if let Some(item) = line.strip_prefix("pub ") {
                // Types that a macro names have no name here.
                let mut words = item.split(|c: char| !c.is_alphanumeric() && c != '_');
                if let (Some("struct" | "trait"), Some(name)) = (words.next(), words.next()) {
                    if !name.is_empty() {
                        types.insert(name.to_owned(), std::mem::take(&mut docs));
                    }
                }
                docs.clear();
            } else if !line.starts_with("#[") {
                docs.clear();
            }
        }
    });
    types
}

/// The text of each stored message.
fn messages() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let mut messages = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the programs") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.starts_with("naive_struct") && name.ends_with(".stderr") {
            messages.insert(name, fs::read_to_string(path).expect("a message"));
        }
    }
    messages
}

#[test]
fn the_message_of_a_naive_struct_names_types_with_the_answer() {
    let (types, messages) = (documentation(), messages());
    assert!(messages.len() >= 5, "{:?}", messages.keys());
    for (name, message) in &messages {
        let words: BTreeSet<&str> = message.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let named = words.into_iter().filter(|word| !IN_PASSING.contains(word));
        let named: Vec<_> = named.filter_map(|word| Some((word, types.get(word)?))).collect();
        assert!(!named.is_empty(), "{name} names no type of the crate");
        for (ty, docs) in named {
            assert!(docs.contains(SECTION), "{name} names {ty}, whose documentation has no {SECTION:?}");
            assert!(docs.to_lowercase().contains("share"), "{ty} says nothing of what is shared");
        }
    }
}
