//! One error for all: whatever a function of the crate fails with converts into `AnyError`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const PLACE: &str = "src/any_error.rs";

/// Names of the error types in a source: those with `thiserror`'s derive, and those that implement
/// the trait by hand.
fn errors(text: &str) -> Vec<String> {
    let (mut names, mut derived) = (Vec::new(), false);
    for line in text.lines() {
        let by_hand = line.strip_prefix("impl std::error::Error for ");
        let declared = line.strip_prefix("pub enum ").or_else(|| line.strip_prefix("pub struct "));
        if line.starts_with("#[derive(") && line.contains("thiserror::Error") {
            derived = true;
        }
        if let Some(item) = by_hand.or(declared.filter(|_| derived)) {
            names.push(item.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned());
        }
        derived &= declared.is_none();
    }
    names
}

/// Names of the types from which something converts: by `#[from]`, by an `impl`, or by a line of a
/// macro.
fn converted(text: &str) -> BTreeSet<&str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let uses = code.filter(|line| {
        let line = line.trim_start();
        line.contains("#[from]") || line.starts_with("impl") || line.contains(" => ")
    });
    uses.flat_map(|line| line.split(|c: char| !c.is_alphanumeric())).filter(|word| !word.is_empty()).collect()
}

#[test]
fn every_error_converts_into_the_one_for_all() {
    let place = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PLACE)).expect(PLACE);
    let converted = converted(&place);
    let mut found = 0;
    crate::source::each_text("src", |text| {
        for error in errors(text) {
            found += 1;
            assert!(converted.contains(error.as_str()), "`{error}` has no conversion in {PLACE}");
        }
    });
    assert!(found > 15, "only {found} errors were found");
}

#[test]
fn an_error_without_a_conversion_is_noticed() {
    let source = "#[derive(Debug, thiserror::Error)]\n#[non_exhaustive]\npub enum Lost {\n}\nimpl std::error::Error for Found {}\npub enum Other {}";
    assert_eq!(errors(source), ["Lost", "Found"]);
    assert!(!converted("/// Lost\nenum Any { Lost(Found) }\n    Found(#[from] Found),\n").contains("Lost"));
}
