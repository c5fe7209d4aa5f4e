//! Every public type is shown in an example that runs.
//!
//! The rule, which the test below enforces for `src` and for the parts of `emulator/src` and its engine that
//! programs use (the engine's execution is no API for programs): the page of a public struct, enum or trait
//! has a Rust example that runs, in its own documentation or in the documentation of one of its methods. A
//! type that makes sense only together with another may share its example. Its documentation says so in a
//! line of its own,
//!
//! - ``Example: see [`Stream`].``, and that example writes the type's name; or
//! - ``Example: see [`Scope`], `lend`.`` where programs never write the name: the example calls that function, whose
//!   declaration names the type.
//!
//! An example runs unless its fence says `ignore`, `no_run`, `text` or `compile_fail`. [`CANNOT_RUN`] has the types whose
//! example only compiles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders, and the parts of them that are not for programs.
const PLACES: &[(&str, &[&str])] = &[
    ("src", &["src/raw/", "src/not_wrapped/"]),
    ("compile/src", &["/nvrtc/"]),
    ("emulator/src", &["/driver/"]),
    ("emulator/engine/src", &["/exec/", "/memory/"]),
];

/// Types whose example needs a feature that no machine of the tests has, with the reason.
const CANNOT_RUN: &[(&str, &str)] = &[];

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
    /// Documentation by the names that links use: types, `Type::method`, and files for modules.
    pages: BTreeMap<String, Vec<String>>,
    /// Declarations of functions by their names, with the types that they belong to.
    declared: BTreeMap<String, String>,
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
        // A type is public if its module is, or if a module hands it on.
        let handed_on: BTreeSet<&str> = texts
            .iter()
            .flat_map(|(_, text)| text.split("pub use ").skip(1))
            .flat_map(|rest| words(rest.split(';').next().unwrap_or_default()))
            .collect();
        for (name, text) in &texts {
            if !left_out.iter().any(|part| name.contains(part)) {
                sources.read(name, text.split("#[cfg(test)]\nmod ").next().unwrap_or_default(), &handed_on);
            }
        }
        sources
    }

    fn read(&mut self, file: &str, text: &str, handed_on: &BTreeSet<&str>) {
        let (mut docs, mut owner): (Vec<String>, Option<String>) = (Vec::new(), None);
        let (mut sealed, mut in_attribute) = (false, false);
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let trimmed = line.trim_start();
            if line.starts_with('}') {
                (owner, sealed) = (None, false);
            } else if line.starts_with("impl") {
                owner = crate::source::owner_of(line);
            } else if !line.starts_with(' ') && line.contains("mod ") && line.ends_with('{') {
                sealed = true;
            }
            if let Some(doc) = trimmed.strip_prefix("//!") {
                self.pages.entry(file.to_owned()).or_default().push(doc.trim_start().to_owned());
            } else if let Some(doc) = trimmed.strip_prefix("///") {
                docs.push(doc.strip_prefix(' ').unwrap_or(doc).to_owned());
            } else if in_attribute || trimmed.starts_with("#[") {
                // One of several lines ends with its bracket at the indent of its beginning.
                in_attribute = !trimmed.ends_with(']');
            } else {
                let docs = std::mem::take(&mut docs);
                if !sealed {
                    self.item(file, &lines[at..], at, docs, owner.as_deref(), handed_on);
                }
            }
        }
    }

    /// The item that begins here, if one does.
    fn item(
        &mut self,
        file: &str,
        lines: &[&str],
        at: usize,
        docs: Vec<String>,
        owner: Option<&str>,
        handed_on: &BTreeSet<&str>,
    ) {
        let Some(item) = lines[0].trim_start().strip_prefix("pub ") else { return };
        let mut rest =
            words(item).skip_while(|word| matches!(*word, "unsafe" | "const" | "async")).peekable();
        // In `pub const NAME`, the word for the kind was skipped.
        let kind = rest.next_if(|word| matches!(*word, "struct" | "enum" | "trait" | "fn"));
        let Some(name) = rest.next() else { return };
        match kind {
            Some("fn") => {
                let mut text: String = owner.unwrap_or_default().to_owned();
                for line in lines {
                    text.push(' ');
                    text.push_str(line.split("//").next().unwrap_or_default());
                    if line.contains('{') || line.trim_end().ends_with(';') {
                        break;
                    }
                }
                self.declared.entry(name.to_owned()).or_default().push_str(&text);
                if let Some(owner) = owner {
                    self.pages.entry(owner.to_owned()).or_default().extend(docs.iter().cloned());
                    self.pages.entry(format!("{owner}::{name}")).or_default().extend(docs);
                } else {
                    self.pages.entry(name.to_owned()).or_default().extend(docs);
                }
            }
            Some(_) => {
                self.pages.entry(name.to_owned()).or_default().extend(docs.iter().cloned());
                if handed_on.contains(name) || file.ends_with("/mod.rs") {
                    self.types.push(Type {
                        name: name.to_owned(),
                        place: format!("{file}:{}", at + 1),
                        docs,
                    });
                }
            }
            None => {}
        }
    }

    /// The missing part of this type's example; `None` if there is an example.
    fn missing(&self, ty: &Type) -> Option<String> {
        let page = self.pages.get(&ty.name).map(Vec::as_slice).unwrap_or_default();
        if !examples(page).is_empty() {
            return None;
        }
        let Some(line) = ty.docs.iter().find_map(|line| line.strip_prefix("Example: see ")) else {
            return Some("no example, and no line `Example: see [`…`].`".to_owned());
        };
        let mut quoted = line.split('`').skip(1).step_by(2);
        let of_module = line.starts_with("the [module]");
        let target = if of_module { "module" } else { quoted.next().unwrap_or_default() };
        let file = ty.place.split(':').next().unwrap_or_default();
        let module = format!("{}/mod.rs", file.rsplit_once('/').map_or("", |(folder, _)| folder));
        let page = if of_module {
            [file, &module].into_iter().filter_map(|file| self.pages.get(file)).flatten().cloned().collect()
        } else {
            self.pages.get(target).cloned().unwrap_or_default()
        };
        let shown = examples(&page).join("\n");
        if shown.is_empty() {
            return Some(format!("{target:?} has no example"));
        }
        let stands_for = quoted.next();
        let looked_for = stands_for.unwrap_or(&ty.name);
        if !words(&shown).any(|word| word == looked_for) {
            return Some(format!("the example of {target:?} does not say {looked_for}"));
        }
        let declared = self.declared.get(looked_for).map(String::as_str).unwrap_or_default();
        let stands = stands_for.is_none() || words(declared).any(|word| word == ty.name);
        (!stands).then(|| format!("the declaration of {looked_for} does not say {}", ty.name))
    }
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
fn every_public_type_is_shown_in_an_example_that_runs() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (folder, left_out) in PLACES {
        let sources = Sources::of(folder, left_out);
        for ty in sources.types.iter().filter(|ty| !CANNOT_RUN.iter().any(|(name, _)| *name == ty.name)) {
            seen += 1;
            wrong.extend(sources.missing(ty).map(|what| format!("{} {}: {what}", ty.place, ty.name)));
        }
    }
    assert!(seen > 200, "only {seen} types were found");
    assert!(wrong.is_empty(), "{} of {seen} types:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn examples_include_no_files_by_relative_paths() {
    // One that does cannot be compiled, and then rustdoc compiles each example by itself: 180 programs instead of one.
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
