//! American spelling, rates with "per", and paths that exist, in sources, scripts and
//! documentation.
//!
//! The lists are short on purpose: they hold the mistakes found in this repository.

use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders that are read.
const PLACES: &[&str] = &[
    ".ci",
    "Cargo.toml",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "benches",
    "cli",
    "compile",
    "cudarc",
    "derive",
    "dlpack",
    "emulator",
    "examples",
    "guide",
    "kernels",
    "nccl",
    "src",
    "sys",
    "testing",
    "tests",
    "tracer",
];
const EXTENSIONS: &[&str] = &["rs", "md", "toml", "sh", "py", "cu"];
/// Records, which stay as they are.
const NOT_OURS: &[&str] = &["benches/results/20", "tests/data/goldens", "tests/results/sanitizers.md"];
/// The list of words itself.
const THIS: &str = "tests/rules/english.rs";

/// Parts of words that are spelled otherwise in America.
const BRITISH: &str = "\
    artefact behaviour centre characteris colour equalis favour finalis generalis \
    honour initialis judgement labelled labelling linearis localis materialis maximis minimise minimising \
    modelled modelling neighbour normalis optimis organis quantis randomis recognis serialis signalled \
    signalling specialis summaris synchronis travelled utilis vectoris whilst";
const BRITISH_WORDS: &str = "amongst analyse analysed analyses analysing defence grey licence";

/// Words before "a" and after it that make a rate at the end of a clause, as in "one a thread".
const AMOUNTS: &str = "\
    bytes calls elements four instructions iterations nanoseconds numbers once one registers results \
    seconds three twice two";
const UNITS: &str = "\
    block call context core device element iteration kernel lane launch level line method pixel process \
    row second step texel thread turn warp";

/// Our texts, by their path from the root.
fn texts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> = PLACES.iter().map(|place| root.join(place)).collect();
    let mut texts = Vec::new();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path());
            paths.extend(entries.filter(|entry| !entry.ends_with("target")));
            continue;
        }
        let name = path.strip_prefix(root).expect("a path below the root").to_string_lossy().into_owned();
        let known = path.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end == *known));
        if (known || name.starts_with(".ci")) && !NOT_OURS.iter().any(|part| name.contains(part)) {
            texts.push((name, fs::read_to_string(&path).expect("a text")));
        }
    }
    assert!(texts.len() > 400, "only {} texts were found", texts.len());
    texts
}

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Words and parts of words that occur in a text and are spelled otherwise in America. Its lines
/// have no others.
struct British {
    parts: Vec<&'static str>,
    words: Vec<&'static str>,
}

impl British {
    fn of(text: &str) -> Self {
        let text = text.to_lowercase();
        let occurring = |list: &'static str| list.split(' ').filter(|known| text.contains(known)).collect();
        Self { parts: occurring(BRITISH), words: occurring(BRITISH_WORDS) }
    }
}

/// Complaints about one line's spelling and rates. `british` are of its text.
fn complaints(line: &str, british: &British) -> Vec<String> {
    let line = line.to_lowercase();
    let parts =
        british.parts.iter().filter(|part| line.contains(**part)).map(|part| format!("{part}… is British"));
    let is_word = |word: &str| line.split(|c: char| !c.is_alphanumeric()).any(|known| known == word);
    let british = british.words.iter().filter(|word| is_word(word)).map(|word| format!("{word} is British"));
    let has_article = line.contains(" a ") || line.contains(" an ");
    let clauses = has_article.then(|| line.split(['.', ',', ';', ':', '('])).into_iter().flatten();
    let rates = clauses.filter_map(|clause| {
        let words = clause.split_whitespace().map(|word| word.trim_matches(|c| !char::is_alphanumeric(c)));
        let mut words = words.rev().filter(|word| !word.is_empty());
        let (unit, article, amount) = (words.next()?, words.next()?, words.next()?);
        let found = is_in(AMOUNTS, amount) && is_in("a an", article) && is_in(UNITS, unit);
        found.then(|| format!("{amount} per {unit}"))
    });
    let headless = line.trim_start().starts_with("/// whether ").then(|| "True if, or a noun".to_owned());
    parts.chain(british).chain(rates).chain(headless).collect()
}

#[test]
fn spelling_is_american_and_rates_say_per() {
    let mut wrong = Vec::new();
    for (name, text) in texts() {
        if name == THIS {
            continue;
        }
        let british = British::of(&text);
        for (number, line) in (1..).zip(text.lines()) {
            wrong.extend(
                complaints(line, &british).into_iter().map(|what| format!("{name}:{number}: {what}")),
            );
        }
    }
    assert!(wrong.is_empty(), "{} complaints:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn british_words_and_bare_rates_are_found() {
    for (line, expected) in [
        ("FaultKind::UninitialisedRead", "initialis… is British"),
        ("// Analyses the grey one.", "analyses is British"),
        ("| 0, one a core |", "one per core"),
        ("registers a thread", "registers per thread"),
        ("`cuInit` once a process,", "once per process"),
        ("    /// Whether it is on.", "True if, or a noun"),
    ] {
        assert!(complaints(line, &British::of(line)).iter().any(|complaint| complaint == expected), "{line}");
    }
    for line in [
        "one per thread, a thread",
        "that one. A thread",
        "registers a thread may have",
        "available_parallelism",
        "analysis of neighbors",
        "calls a function",
    ] {
        assert_eq!(complaints(line, &British::of(line)), [""; 0], "{line}");
    }
}

/// Paths of Rust sources in backquotes, as in `tests/rules/main.rs`.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter(|text| {
        let plain = text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_/.-".contains(c));
        plain && text.contains('/') && text.ends_with(".rs")
    })
}

#[test]
fn named_sources_exist() {
    let texts = texts();
    let sources: Vec<String> = texts.iter().map(|(name, _)| format!("/{name}")).collect();
    let (mut wrong, mut found) = (Vec::new(), 0);
    for (name, text) in &texts {
        for (number, line) in (1..).zip(text.lines()) {
            for path in paths(line) {
                found += 1;
                // From the root, from a crate, or from a room.
                let end = format!("/{}", path.trim_start_matches("../"));
                if !sources.iter().any(|source| source.ends_with(&end)) {
                    wrong.push(format!("{name}:{number}: there is no {path}"));
                }
            }
        }
    }
    assert!(found > 30, "only {found} paths were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
