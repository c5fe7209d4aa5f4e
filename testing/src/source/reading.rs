//! The functions of the sources, and the calls that each makes.

use cuprum::sys::FnId;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A function of the crate, as its source shows it.
pub struct Function {
    pub name: String,
    /// The type in whose `impl` it is.
    pub owner: Option<String>,
    /// File and line.
    pub place: String,
    pub visibility: Visibility,
    pub is_unsafe: bool,
    /// The lines of its documentation, without the slashes.
    pub docs: Vec<String>,
    /// Names in its `doc(alias)` attributes.
    pub aliases: BTreeSet<String>,
    /// Driver functions called in its own body.
    pub calls: BTreeSet<FnId>,
    /// Functions of its file that are called in its body, by name.
    callees: BTreeSet<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    Public,
    Crate,
    Private,
}

impl Function {
    /// The method that the macro `close!` of `src/raw/owner.rs` makes of its sentence, driver
    /// function and version.
    fn of_close(written: &str, place: String, owner: Option<String>) -> Self {
        let mut words = written.split('"').step_by(2).map(str::to_owned);
        let mut word = || words.next().unwrap_or_else(|| panic!("{place}: `close!` is on one line"));
        let (does, call, since) = (word(), word(), word());
        Self {
            name: "close".to_owned(),
            owner,
            visibility: Visibility::Public,
            is_unsafe: false,
            docs: vec![does, String::new(), format!("Driver: `{call}`, CUDA {since}+.")],
            aliases: BTreeSet::from([call]),
            calls: BTreeSet::new(),
            callees: BTreeSet::from(["close".to_owned()]),
            place,
        }
    }

    /// The driver functions that its documentation names as called; `None` if it has no such line.
    pub fn named(&self) -> Option<BTreeSet<FnId>> {
        let start = self.docs.iter().position(|line| line.starts_with("Driver: "))?;
        let text = self.docs[start..].join(" ");
        let words: BTreeSet<&str> = text.split('`').skip(1).step_by(2).collect();
        Some(FnId::ALL.iter().filter(|id| words.contains(id.to_string().as_str())).copied().collect())
    }
}

/// The public methods whose documentation names driver functions: `Type::method`, and the
/// functions.
pub fn documented() -> BTreeMap<String, BTreeSet<FnId>> {
    let mut methods = BTreeMap::new();
    for function in files("src").into_iter().flat_map(|file| file.functions) {
        let public = function.visibility == Visibility::Public;
        if let (true, Some(owner), Some(named)) = (public, &function.owner, function.named()) {
            methods.insert(format!("{owner}::{}", function.name), named);
        }
    }
    assert!(methods.len() > 60, "the sources were not read: {methods:?}");
    methods
}

/// One file of sources.
pub struct File {
    /// Its path from the root of the repository.
    pub path: PathBuf,
    pub functions: Vec<Function>,
    /// Driver functions called anywhere in it, but for its tests.
    pub calls: BTreeSet<FnId>,
    /// Names of the types for which it has a `Drop`.
    pub drops: Vec<String>,
}

impl File {
    /// Driver functions called by `function` itself and by the private functions of its file that
    /// it uses.
    pub fn reached_from<'a>(&'a self, function: &'a Function) -> BTreeSet<FnId> {
        let (mut seen, mut todo, mut calls) = (BTreeSet::new(), vec![function], BTreeSet::new());
        while let Some(function) = todo.pop() {
            calls.extend(&function.calls);
            let private = self.functions.iter().filter(|other| other.visibility == Visibility::Private);
            for callee in private.filter(|other| function.callees.contains(&other.name)) {
                if seen.insert(&callee.place) {
                    todo.push(callee);
                }
            }
        }
        calls
    }
}

/// All files under a folder of the repository, such as `src`.
pub fn files(folder: &str) -> Vec<File> {
    let root = root();
    let mut paths = Vec::new();
    collect(&root.join(folder), &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "no sources in {folder}");
    let ids: BTreeMap<String, FnId> = FnId::ALL.iter().map(|id| (id.to_string(), *id)).collect();
    paths.iter().map(|path| read(path, path.strip_prefix(root).unwrap_or(path), &ids)).collect()
}

/// Hands over the text of each file under a folder of the repository.
pub fn each_text(folder: &str, mut take: impl FnMut(&str)) {
    let mut paths = Vec::new();
    collect(&root().join(folder), &mut paths);
    for path in paths {
        take(&fs::read_to_string(path).expect("a source file"));
    }
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();

        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

fn read(path: &Path, shown: &Path, ids: &BTreeMap<String, FnId>) -> File {
    let text = fs::read_to_string(path).expect("a source file");
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code = without_comments_and_literals(text);
    let code_lines: Vec<&str> = code.lines().collect();
    let (mut functions, mut docs, mut aliases) = (Vec::new(), Vec::new(), BTreeSet::new());
    let (mut owner, mut in_aliases) = (None, false);
    for (at, line) in text.lines().enumerate() {
        // Only a line that starts with `impl` or `}` opens or closes an `impl`.
        match code_lines.get(at) {
            Some(line) if line.starts_with("impl") => owner = owner_of(line),
            Some(line) if line.starts_with('}') => owner = None,
            _ => {}
        }
        let line = line.trim();
        if let Some(doc) = line.strip_prefix("///") {
            docs.push(doc.trim().to_owned());
        } else if in_aliases || line.starts_with("#[doc(alias") {
            aliases.extend(line.split('"').skip(1).step_by(2).map(str::to_owned));
            in_aliases = !line.ends_with(']');
        } else if let Some((visibility, name)) = function_of(code_lines.get(at).copied().unwrap_or_default())
        {
            let body = body_of(&code_lines[at..]);
            functions.push(Function {
                place: format!("{}:{}", shown.display(), at + 1),
                calls: calls_in(&body, ids),
                callees: called_names(&body).map(str::to_owned).collect(),
                docs: std::mem::take(&mut docs),
                aliases: std::mem::take(&mut aliases),
                owner: owner.clone(),
                is_unsafe: code_lines[at].split("fn ").next().is_some_and(|words| words.contains("unsafe")),
                visibility,
                name,
            });
        } else if let Some((_, written)) = line.split_once("close!(\"") {
            functions.push(Function::of_close(
                written,
                format!("{}:{}", shown.display(), at + 1),
                owner.clone(),
            ));
        } else if !line.starts_with("#[") {
            docs.clear();
            aliases.clear();
        }
    }
    let drops =
        code.lines().map(str::trim).filter(|line| line.starts_with("impl") && line.contains(" Drop for "));
    let drops = drops.filter_map(owner_of).collect();
    File { path: shown.to_owned(), functions, calls: calls_in(&code, ids), drops }
}

/// The type that an `impl` is for: `Buffer` in `impl<T: DeviceData> Drop for Buffer<'_, T> {`.
pub fn owner_of(line: &str) -> Option<String> {
    let mut depth = 0;
    let outside = line.chars().filter(|c| {
        depth += i32::from(*c == '<') - i32::from(*c == '>');
        depth == 0 && *c != '>'
    });
    let outside: String = outside.collect();
    let header = outside.strip_prefix("impl")?.split('{').next()?;
    let ty = header.split(" for ").last()?.split_whitespace().next()?;
    ty.rsplit("::").next().map(str::to_owned)
}

/// Visibility and name of the function that this line begins.
fn function_of(line: &str) -> Option<(Visibility, String)> {
    let (before, after) = line.split_once("fn ")?;
    let (mut visibility, mut words) = (Visibility::Private, before.split_whitespace());
    if !words.all(|word| match word {
        "pub" => {
            visibility = Visibility::Public;
            true
        }
        _ if word.starts_with("pub(") => {
            visibility = Visibility::Crate;
            true
        }
        _ => matches!(word, "const" | "unsafe" | "async" | "extern"),
    }) {
        return None;
    }
    let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some((visibility, name))
}

/// The text from a function's first line to the brace that closes it, or to the `;` of one without
/// a body.
fn body_of(lines: &[&str]) -> String {
    let (mut body, mut braces, mut others) = (String::new(), 0, 0);
    for c in lines.iter().flat_map(|line| line.chars().chain(['\n'])) {
        body.push(c);
        match c {
            '{' => braces += 1,
            '(' | '[' => others += 1,
            ')' | ']' => others -= 1,
            '}' => braces -= 1,
            _ => {}
        }
        if (c == '}' || c == ';') && braces == 0 && others == 0 {
            break;
        }
    }
    body
}

/// Driver functions that are given arguments: `cuInit(..)` in a macro of ours, or
/// `(fns.cuInit)(..)`.
fn calls_in(code: &str, ids: &BTreeMap<String, FnId>) -> BTreeSet<FnId> {
    called_names(code).filter_map(|name| ids.get(name).copied()).collect()
}

/// Words that are followed by `(` or `)(`.
fn called_names(code: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices('(').filter_map(move |(at, _)| {
        let before = code[..at].trim_end_matches(')');
        before.rsplit(|c| !is_word(c)).next().filter(|name| !name.is_empty())
    })
}

/// The same lines with comments and the insides of strings and characters left out.
fn without_comments_and_literals(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut in_string = false;
    while let Some(c) = rest.next() {
        match (in_string, c) {
            (true, '\\') => {
                // An escaped line end is still a line.
                code.extend(rest.next().filter(|c| *c == '\n'));
            }
            (true, '"') => in_string = false,
            (true, _) => code.extend(Some(c).filter(|c| *c == '\n')),
            (false, '"') => in_string = true,
            (false, '/') if rest.peek() == Some(&'/') => while rest.next_if(|c| *c != '\n').is_some() {},
            (false, '\'') => {
                let mut ahead = rest.clone();
                let first = ahead.next();
                if first == Some('\\') {
                    ahead.next();
                }
                if ahead.next() == Some('\'') {
                    rest = ahead;
                }
            }
            (false, c) => code.push(c),
        }
    }
    code
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository")
}
