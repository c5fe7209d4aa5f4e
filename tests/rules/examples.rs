//! Every public type has an example that runs, in its own documentation.
//!
//! The rule holds for structs, enums, traits and unions. The documentation of a method can refer to
//! the example of a type instead of repeating it. An example runs unless its fence says `ignore`,
//! `no_run`, `text` or `compile_fail`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders, and the parts of them that have no public types or only the types of a C interface.
const PLACES: &[(&str, &[&str])] = &[
    ("src", &["src/raw/"]),
    ("compile/src", &["/nvrtc/fns.rs", "/nvrtc/result.rs", "/nvrtc/handle.rs"]),
    ("dlpack/src", &[]),
    ("nccl/src", &["nccl/src/raw/"]),
    ("tracer/src", &["tracer/src/library/"]),
    ("sys/src", &["sys/src/enums", "sys/src/structs", "sys/src/types", "sys/src/declare"]),
    ("emulator/src", &["/driver/"]),
    ("emulator/ptx/src", &["/semantics/"]),
    ("emulator/engine/src", &[]),
];

/// A public type, as its source shows it.
struct Type {
    name: String,
    /// File and line.
    place: String,
    docs: Vec<String>,
}

/// All that the sources say.
#[derive(Default)]
struct Sources {
    types: Vec<Type>,
    /// Documentation by file.
    pages: BTreeMap<String, Vec<String>>,
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The text without the items whose documentation is hidden, up to the end of their first line or
/// list.
fn without_hidden(text: &str) -> String {
    let mut parts = text.split("#[doc(hidden)]");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(";\n").map_or("", |(_, rest)| rest))
}

/// Names of the types that a `pub use` of these sources makes public, also under another name.
fn handed_on(texts: &[String]) -> BTreeSet<&str> {
    let uses = texts.iter().flat_map(|text| text.split("pub use ").skip(1));
    uses.flat_map(|rest| words(rest.split(';').next().unwrap_or_default())).collect()
}

/// Names of the modules that these sources declare as public, or of which they hand on everything.
fn open_modules(texts: &[String]) -> BTreeSet<&str> {
    let declared = texts.iter().flat_map(|text| text.split("pub mod ").skip(1));
    let declared = declared.filter_map(|rest| Some(rest.split_once(';')?.0));
    let whole = texts.iter().flat_map(|text| text.match_indices("::*;").map(|(end, _)| &text[..end]));
    let whole = whole.filter_map(|path| path.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next());
    declared.chain(whole).collect()
}

impl Sources {
    fn of(folder: &str, left_out: &[&str]) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (mut paths, mut sources) = (Vec::new(), Self::default());
        files(&root.join(folder), &mut paths);
        paths.sort();
        let texts: Vec<(String, String)> = paths
            .iter()
            .map(|path| {
                let name =
                    path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
                (name, fs::read_to_string(path).expect("a source"))
            })
            .collect();
        let shown: Vec<String> = texts.iter().map(|(_, text)| without_hidden(text)).collect();
        let handed_on = handed_on(&shown);
        // A type is public if a module hands it on, or if all modules above it are public.
        let open = open_modules(&shown);
        for (name, text) in &texts {
            if !left_out.iter().any(|part| name.contains(part)) {
                let inside = name.strip_prefix(folder).unwrap_or(name).trim_end_matches(".rs");
                let mut modules = inside.split('/').filter(|part| !matches!(*part, "" | "mod" | "lib"));
                let is_open = modules.all(|name| open.contains(name));
                let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
                sources.read(name, text, &|ty| is_open || handed_on.contains(ty));
            }
        }
        sources
    }

    fn read(&mut self, file: &str, text: &str, is_public: &dyn Fn(&str) -> bool) {
        let (mut docs, mut sealed, mut in_attribute, mut hidden) =
            (Vec::<String>::new(), false, false, false);
        for (at, line) in text.lines().enumerate() {
            let trimmed = line.trim_start();
            if line.starts_with('}') {
                sealed = false;
            } else if !line.starts_with(' ') && line.contains("mod ") && line.ends_with('{') {
                sealed = true;
            }
            if let Some(doc) = trimmed.strip_prefix("///").or_else(|| trimmed.strip_prefix("//!")) {
                let doc = doc.strip_prefix(' ').unwrap_or(doc).to_owned();
                self.pages.entry(file.to_owned()).or_default().push(doc.clone());
                docs.push(doc);
            } else if in_attribute || trimmed.starts_with("#[") {
                hidden |= trimmed == "#[doc(hidden)]";
                // One of several lines ends with its bracket at the indent of its beginning.
                in_attribute = !trimmed.ends_with(']');
            } else {
                let (docs, hidden) = (std::mem::take(&mut docs), std::mem::take(&mut hidden));
                if let Some(name) = type_of(trimmed).filter(|name| !sealed && !hidden && is_public(name)) {
                    let place = format!("{file}:{}", at + 1);
                    self.types.push(Type { name: name.to_owned(), place, docs });
                }
            }
        }
    }
}

/// The name of the public type that this line declares.
fn type_of(line: &str) -> Option<&str> {
    let item = line.strip_prefix("pub ")?;
    let item = item.strip_prefix("unsafe ").unwrap_or(item);
    let kinds = ["struct ", "enum ", "trait ", "union "];
    let named = kinds.iter().find_map(|kind| item.strip_prefix(kind))?;
    words(named).next().filter(|_| !named.starts_with('$'))
}

/// The Rust examples of some documentation that are run.
fn examples(docs: &[String]) -> Vec<String> {
    let (mut all, mut open): (Vec<String>, Option<(bool, String)>) = (Vec::new(), None);
    for line in docs {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                let runs = info.split(',').all(|word| matches!(word, "" | "rust" | "should_panic"));
                open = Some((runs, String::new()));
            }
            (Some(_), Some(_)) => all.extend(open.take().filter(|(runs, _)| *runs).map(|(_, text)| text)),
            (None, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    all
}

#[test]
fn every_public_type_has_an_example_of_its_own() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (folder, left_out) in PLACES {
        for ty in Sources::of(folder, left_out).types {
            seen += 1;
            if examples(&ty.docs).is_empty() {
                wrong.push(format!("{} {}: no example that runs", ty.place, ty.name));
            }
        }
    }
    assert!(seen > 300, "only {seen} types were found");
    assert!(wrong.is_empty(), "{} of {seen} types:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn declarations_of_public_types_are_found() {
    for (line, name) in [
        ("pub struct Half<T>(T);", Some("Half")),
        ("pub unsafe trait Element {", Some("Element")),
        ("pub union Value {", Some("Value")),
        ("pub(crate) struct Inner;", None),
        ("pub struct $name;", None),
        ("pub fn structure() {}", None),
    ] {
        assert_eq!(type_of(line), name, "{line}");
    }
    let mut sources = Sources::default();
    sources.read(
        "a.rs",
        "/// Adds.\n#[derive(\n    Debug\n)]\npub struct Add;\npub enum Hidden {}\n",
        &|ty| ty == "Add",
    );
    assert_eq!(
        sources.types.iter().map(|ty| (&*ty.name, &*ty.docs)).collect::<Vec<_>>(),
        [("Add", &["Adds.".to_owned()][..])]
    );
}

#[test]
fn examples_include_no_files_by_relative_paths() {
    // One that does cannot be compiled, and then rustdoc compiles each example by itself: 180
    // programs instead of one.
    let mut wrong = Vec::new();
    for (folder, left_out) in PLACES {
        for (page, docs) in Sources::of(folder, left_out).pages {
            let includes = examples(&docs).iter().any(|example| example.contains("include_str!(\".."));
            wrong.extend(includes.then(|| format!("{page}: read the file at run time")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn examples_that_do_not_run_do_not_count() {
    let docs = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(examples(&docs("It adds.\n\n```\nadd();\n```\nMore.")), ["add();\n"]);
    for info in ["text", "ignore", "no_run", "rust,ignore", "compile_fail"] {
        assert_eq!(examples(&docs(&format!("```{info}\nadd();\n```"))), [""; 0], "{info}");
    }
}
