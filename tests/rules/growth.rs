//! Types that can grow are `#[non_exhaustive]`: public enums, and public structs whose fields are all public.
//!
//! In a type without the attribute, a new field or variant breaks programs that name all. The types of
//! [`COMPLETE`] cannot get one, for the reason stated there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders with public interfaces of programs, and the parts of them that are none: `sys` has the driver's own types, which
/// are as long as it says.
const PLACES: &[(&str, &[&str])] = &[
    ("src", &[]),
    ("compile/src", &[]),
    ("dlpack/src", &[]),
    ("emulator/src", &["/driver/"]),
    ("emulator/engine/src", &["/exec/", "/memory/"]),
];

/// Types that have all that they ever will, and why.
const COMPLETE: &[(&str, &str)] = &[
    ("AccessPolicy", "the driver's structure, which has no room for more"),
    ("ArrayInterface", "version 3 of its specification"),
    ("CheckpointProcess", "a driver and the id of a process"),
    ("ComputeCapability", "major and minor"),
    ("CopyAttributes", "written as a change of another, which goes on compiling with a new field"),
    ("DLDataType", "the layout of DLPack"),
    ("DLDevice", "the layout of DLPack"),
    ("DLManagedTensor", "the layout of DLPack"),
    ("DLManagedTensorVersioned", "the layout of DLPack"),
    ("DLPackVersion", "the layout of DLPack"),
    ("DLTensor", "the layout of DLPack"),
    ("DeviceAddress", "a number"),
    ("Dim3", "three dimensions"),
    ("ExportError", "an error with what it gives back, and why"),
    ("Extent", "three dimensions"),
    ("Half", "its bits"),
    ("HostIn", "one reference"),
    ("HostInOut", "one reference"),
    ("HostOut", "one reference"),
    ("ImportError", "an error with what it gives back"),
    ("Pattern", "the sizes that the driver fills with"),
    ("Peer", "one place"),
    ("Plain", "one value"),
    ("Plane", "a region with two strides"),
    ("LaunchAttributes", "written as a change of another, which goes on compiling with a new field"),
    ("LaunchConfig", "the geometry of any launch"),
    ("LoadOptions", "written as a change of another, which goes on compiling with a new field"),
    ("PoolOptions", "written as a change of another, which goes on compiling with a new field"),
    ("RegisterError", "an error with what it gives back"),
    ("RequestError", "an error with what it gives back"),
    ("ResourceView", "written as a change of another, which goes on compiling with a new field"),
    ("Sampler", "written as a change of another, which goes on compiling with a new field"),
    ("TensorLayout", "written as a change of another, which goes on compiling with a new field"),
    ("Visibility", "the two variables that decide it"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// The public enums of a source and its public structs with public fields, and true for each that may grow.
fn types(text: &str) -> Vec<(&str, bool)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut types = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((kind, rest)) = line.strip_prefix("pub ").and_then(|item| item.split_once(' ')) else {
            continue;
        };
        let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let open = match kind {
            "enum" => true,
            "struct" if line.ends_with(';') => rest.contains("(pub "),
            "struct" if line.ends_with('{') => {
                let mut fields = lines[at + 1..].iter().take_while(|line| !line.starts_with('}'));
                let field =
                    |line: &&str| line.starts_with("    ") && line.contains(": ") && !line.contains("//");
                fields.clone().any(|line| line.starts_with("    pub ") && field(line))
                    && !fields.any(|line| field(line) && !line.starts_with("    pub "))
            }
            _ => false,
        };
        if open {
            let above =
                lines[..at].iter().rev().take_while(|line| !line.is_empty() && !line.starts_with('}'));
            types.push((name, above.clone().any(|line| line.contains("non_exhaustive"))));
        }
    }
    types
}

#[test]
fn types_that_can_grow_are_non_exhaustive() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut closed, mut growing, mut wrong) = (BTreeSet::new(), 0, Vec::new());
    for (folder, left_out) in PLACES {
        let mut paths = Vec::new();
        sources(&root.join(folder), &mut paths);
        for path in paths {
            let shown = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
            if left_out.iter().any(|part| shown.contains(part)) {
                continue;
            }
            let text = fs::read_to_string(&path).expect("a source");
            for (name, grows) in types(&text) {
                let listed = COMPLETE.iter().any(|(complete, _)| *complete == name);
                match (grows, listed) {
                    (true, false) => growing += 1,
                    (false, true) => drop(closed.insert(name.to_owned())),
                    (false, false) => {
                        wrong.push(format!("{shown}: {name} is not #[non_exhaustive], and not on the list"))
                    }
                    (true, true) => {
                        wrong.push(format!("{shown}: {name} is on the list, and #[non_exhaustive]"))
                    }
                }
            }
        }
    }
    let gone = COMPLETE.iter().filter(|(name, _)| !closed.contains(*name));
    wrong.extend(gone.map(|(name, _)| format!("{name} is on the list, and nowhere else")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(growing > 60, "only {growing} types were found");
}

#[test]
fn types_are_found_with_their_documentation() {
    let text = "\
#[non_exhaustive]
#[derive(Debug)]
pub enum Grows {
    One,
}

/// Words.
pub struct Closed {
    /// A field: one.
    pub field: u32,
}
pub struct Opaque {
    pub field: u32,
    other: u32,
}
pub struct Tuple(pub u32);
pub struct Hidden(u32);
pub(crate) enum Ours {}
";
    assert_eq!(types(text), [("Grows", true), ("Closed", false), ("Tuple", false)]);
}
