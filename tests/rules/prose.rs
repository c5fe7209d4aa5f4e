//! Habits of language that no technical writer has, counted per folder in comments and Markdown. The counts only fall:
//! `tests/data/prose.txt` has them, and `CUPRUM_PROSE=lower cargo test --test rules prose` writes down lower ones.
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

fn count(numbers: &mut Numbers, path: &str, line: &str) {
    for habit in habits(line) {
        *numbers.entry(format!("{} {habit}", folder(path))).or_default() += 1;
    }
}

#[test]
fn habits_of_language_only_fall() {
    let mut numbers = Numbers::new();
    let is_counted = |path: &str| !NOT_COUNTED.iter().any(|part| path.starts_with(part));
    each_source(|path, text| {
        if is_counted(&path) {
            text.lines().filter_map(comment).for_each(|line| count(&mut numbers, &path, line));
        }
    });
    let mut page = |path: String, text: String| {
        if is_counted(&path) {
            markdown(&text).for_each(|line| count(&mut numbers, &path, line));
        }
    };
    each_file("md", &mut page);
    for path in PAGES {
        page(
            (*path).to_owned(),
            fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a page"),
        );
    }
    ratchet::check(LIST, "CUPRUM_PROSE", &numbers);
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
