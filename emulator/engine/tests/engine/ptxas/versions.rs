//! The loader refuses the forms that a version of PTX or an architecture does not have.

use super::assembler::Assembler;
use super::{Ours, originals, ours};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Headers at which some forms begin to exist.
const HEADERS: &[(&str, &str)] = &[
    ("4.0", "sm_50"),
    ("6.0", "sm_70"),
    ("6.3", "sm_75"),
    ("7.0", "sm_80"),
    ("7.8", "sm_80"),
    ("7.8", "sm_90"),
    ("8.1", "sm_90"),
    ("8.4", "sm_89"),
];

/// Returns the kernel of a recorded form without its header, under this name.
fn kernel(text: &str, name: &str) -> String {
    let start = text.find(".visible").unwrap();
    let kernel = text[start..].replacen("form(", &format!("{name}("), 1);
    kernel.replace(".explicitcluster .reqnctapercluster 1", "")
}

#[test]
#[ignore = "fetches NVIDIA's assembler"]
fn forms_begin_with_the_versions_that_the_assembler_names() {
    let assembler = Assembler::fetch();
    let forms: Vec<String> = originals()
        .into_iter()
        .filter(|form| form.text.contains(".entry form("))
        .map(|form| form.text)
        .collect();
    assert!(forms.len() > 2000);
    let mut wrong = Vec::new();
    for (version, target) in HEADERS {
        let header = format!(".version {version}\n.target {target}\n.address_size 64\n");
        let mut all = header.clone();
        let (mut lines, mut first_lines) = (all.lines().count(), Vec::new());
        for (index, form) in forms.iter().enumerate() {
            let kernel = kernel(form, &format!("form_{index}"));
            first_lines.push(lines + 1);
            lines += kernel.lines().count();
            writeln!(all, "{kernel}").unwrap();
        }
        let refused: BTreeSet<usize> = assembler
            .refused_lines(&all, 90)
            .into_iter()
            .map(|line| first_lines.partition_point(|first| *first <= line) - 1)
            .collect();
        assert!(refused.len() > 5, "{version} {target}: hardly anything is newer");
        for (index, form) in forms.iter().enumerate() {
            let (_, ours) = ours(&(header.clone() + &kernel(form, "form")), 90);
            if matches!(ours, Ours::Loads) == refused.contains(&index) {
                let reason = if let Ours::Wrong(why) = ours { why } else { "the loader takes it".into() };
                wrong.push(format!("{version} {target}: {reason}\n{form}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), forms.len() * HEADERS.len(), wrong.join("\n"));
}
