//! Habits of language that no technical writer has, counted per folder in comments and Markdown.
//! The counts only fall: `tests/data/prose.txt` has them, and `CUPRUM_PROSE=lower cargo test --test
//! rules prose` writes down lower ones. Their rates per 1,000 words have a budget; `cargo test
//! --test rules prose -- --nocapture` prints the rates.
//!
//! | habit | instead |
//! |---|---|
//! | `what`: a clause as a noun ("what the driver does") | a noun |
//! | `that of`: a pronoun with "of", singular or plural | the noun again, or "same as" |
//! | `somebody`: an unnamed person | the caller, another thread, no program |
//! | `told`: also tells, behind, beside, lies, gone | reports, after, besides, is, freed |
//! | `opening`: a comment that begins with a question word | subject, verb, object |

use std::fs;
use std::path::Path;

use super::ratchet::{self, Numbers};
use super::sizes::{each_file, each_source};

const LIST: &str = "tests/data/prose.txt";
/// Pages that are in no folder.
const PAGES: &[&str] = &["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"];

/// Words of the habits that are one word.
const WORDS: &[(&str, &[&str])] = &[
    ("somebody", &["nobody", "somebody", "whoever"]),
    ("told", &["told", "tells", "behind", "beside", "lies", "gone"]),
    ("what", &["what"]),
];
/// The most per 1,000 words of each folder of the repository.
const BUDGET: &[(&str, f64)] =
    &[("opening", 0.0), ("somebody", 0.1), ("that of", 0.2), ("told", 0.5), ("what", 1.0)];
const OPENINGS: &[&str] = &["How", "What", "Where", "Which", "Who"];
/// Records stay as they are, and this file names the words.
const NOT_COUNTED: &[&str] = &["benches/results/", "tests/results/", "tests/data/", "tests/rules/prose.rs"];

/// The habits in one line of prose.
fn habits(line: &str) -> Vec<&'static str> {
    let words: Vec<&str> =
        line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let single = lower.iter().filter_map(|word| {
        WORDS.iter().find(|(_, list)| list.contains(&word.as_str())).map(|(habit, _)| *habit)
    });
    let pairs =
        lower.windows(2).filter(|pair| matches!(pair[0].as_str(), "that" | "those") && pair[1] == "of");
    let opens = words.first().is_some_and(|word| line.starts_with(word) && OPENINGS.contains(word));
    single.chain(pairs.map(|_| "that of")).chain(opens.then_some("opening")).collect()
}

/// The comment of a line of Rust, without its slashes.
fn comment(line: &str) -> Option<&str> {
    let start = line.find("//")?;
    // In `http://x` the slashes are not a comment.
    let is_comment = start == 0 || line[..start].ends_with([' ', '\t']);
    is_comment.then(|| line[start..].trim_start_matches(['/', '!']).trim_start())
}

/// Lines of prose in Markdown: outside of fenced blocks.
fn markdown(text: &str) -> impl Iterator<Item = &str> {
    let mut is_fenced = false;
    text.lines().filter(move |line| {
        let fence = line.starts_with("```");
        is_fenced ^= fence;
        !is_fenced && !fence
    })
}

/// The folder of a path for which habits are counted.
fn folder(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [] | [_] => ".".to_owned(),
        [first @ ("src" | "emulator" | "tests"), room, _, ..] => format!("{first}/{room}"),
        [first, ..] => (*first).to_owned(),
    }
}

/// Calls `visit` with the path and the text of each line of prose.
fn each_line(mut visit: impl FnMut(&str, &str)) {
    let is_counted = |path: &str| !NOT_COUNTED.iter().any(|part| path.starts_with(part));
    each_source(|path, text| {
        if is_counted(&path) {
            text.lines().filter_map(comment).for_each(|line| visit(&path, line));
        }
    });
    let mut page = |path: String, text: String| {
        if is_counted(&path) {
            markdown(&text).for_each(|line| visit(&path, line));
        }
    };
    each_file("md", &mut page);
    for path in PAGES {
        page(
            (*path).to_owned(),
            fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a page"),
        );
    }
}

#[test]
fn habits_of_language_only_fall() {
    let mut numbers = Numbers::new();
    each_line(|path, line| {
        for habit in habits(line) {
            *numbers.entry(format!("{} {habit}", folder(path))).or_default() += 1;
        }
    });
    ratchet::check(LIST, "CUPRUM_PROSE", &numbers);
}

#[test]
fn habits_of_language_are_rare() {
    let mut numbers = Numbers::new();
    each_line(|path, line| {
        let top = path.split_once('/').map_or(".", |(top, _)| top);
        let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
        *numbers.entry(format!("{top} words")).or_default() += words;
        for habit in habits(line) {
            *numbers.entry(format!("{top} {habit}")).or_default() += 1;
        }
    });
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (name, words) in &numbers {
        let Some(top) = name.strip_suffix(" words") else { continue };
        seen += words;
        let rates = BUDGET.iter().map(|(habit, most)| {
            let number = numbers.get(&format!("{top} {habit}")).copied().unwrap_or(0);
            let rate = number as f64 * 1000.0 / *words as f64;
            if rate > *most {
                wrong.push(format!("{top}: {habit} {rate:.2} per 1,000 words, {most} in the budget"));
            }
            format!("{habit} {rate:.2}")
        });
        println!("{top}: {words} words, {}", rates.collect::<Vec<_>>().join(", "));
    }
    assert!(seen > 200_000, "only {seen} words were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn habits_are_found() {
    assert_eq!(
        habits("What it does of what it needs, and those of others"),
        ["what", "what", "that of", "opening"]
    );
    assert_eq!(habits("Nobody is told; the memory is gone"), ["somebody", "told", "told"]);
    assert_eq!(habits("Returns the sum, because somewhat of thatch behinds"), [""; 0]);
    assert_eq!(comment("    let x = 1; // What a number"), Some("What a number"));
    assert_eq!((comment("let x = \"http://a\";"), comment("//! A room")), (None, Some("A room")));
    assert_eq!(markdown("a\n```text\nwhat\n```\nb").collect::<Vec<_>>(), ["a", "b"]);
    for (path, expected) in [
        ("README.md", "."),
        ("src/graph/node.rs", "src/graph"),
        ("src/lib.rs", "src"),
        ("sys/src/a.rs", "sys"),
    ] {
        assert_eq!(folder(path), expected);
    }
}
