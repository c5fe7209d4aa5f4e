//! Every allowed lint has a reason in its attribute.

use crate::sizes::each_source;

/// The attributes of a source that allow or expect a lint without a reason.
fn without_reason(text: &str) -> Vec<&str> {
    let beginnings = ["#[allow(", "#![allow(", "#[expect(", "#![expect("];
    let attributes = beginnings.iter().flat_map(|beginning| text.match_indices(beginning));
    let whole = attributes.map(|(at, _)| text[at..].split_inclusive(")]").next().unwrap_or_default());
    // After a quotation mark it is text about attributes, as here.
    let code = whole.filter(|attribute| !text.contains(&format!("\"{attribute}")));
    code.filter(|attribute| !attribute.contains("reason = ")).collect()
}

#[test]
fn allowed_lints_have_reasons() {
    assert_eq!(without_reason("#[allow(dead_code)]\nfn f() {}"), ["#[allow(dead_code)]"]);
    assert!(without_reason("#![allow(\n    dead_code,\n    reason = \"a part\"\n)]").is_empty());
    let mut wrong = Vec::new();
    each_source(|path, text| {
        wrong.extend(without_reason(&text).iter().map(|attribute| format!("{path}: {attribute}")));
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
