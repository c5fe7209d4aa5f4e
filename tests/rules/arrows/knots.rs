//! Knots: files of a crate that name each other in a circle. Two files that do are one object in
//! two files, and no harm; of more, none can be read without all others.
//!
//! Those that are left are on a list with their reasons, and only become smaller.

use std::collections::BTreeMap;
use std::path::Path;

use crate::arrows_between::knots;

const ROOTS: &[&str] = &[
    "cli/src/main.rs",
    "compile/src/lib.rs",
    "dlpack/src/lib.rs",
    "emulator/cudart/src/lib.rs",
    "emulator/engine/src/lib.rs",
    "emulator/ptx/src/lib.rs",
    "emulator/src/lib.rs",
    "nccl/src/lib.rs",
    "src/lib.rs",
    "sys/src/lib.rs",
    "testing/src/lib.rs",
    "tracer/src/lib.rs",
];

/// The knots that are left: their folder, the number of their files, and the reason.
const LEFT: &[(&str, usize, &str)] = &[(
    "emulator/engine/src/exec/compiled",
    4,
    "a generator of machine code is one object, in a file for each subject",
)];

#[test]
fn files_name_each_other_only_in_knots_that_are_listed() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for root in ROOTS {
        for (folder, files) in knots(&top.join(root)).into_iter().filter(|(_, files)| files.len() > 2) {
            let folder = folder.strip_prefix(top).expect("a folder of the repository");
            let folder = folder.to_string_lossy().replace('\\', "/");
            found.entry(folder).or_default().push(files);
        }
    }
    let mut wrong = Vec::new();
    for (folder, knots) in &found {
        let most = LEFT.iter().find(|(left, ..)| left == folder).map_or(0, |(_, most, _)| *most);
        let files: usize = knots.iter().map(Vec::len).sum();
        match files {
            files if files > most => {
                wrong.push(format!("{folder}: {files} files name each other: {knots:?}"))
            }
            files if files < most => {
                wrong.push(format!("{folder}: only {files} files name each other: lower it"))
            }
            _ => {}
        }
    }
    let gone = LEFT.iter().filter(|(folder, ..)| !found.contains_key(*folder));
    wrong.extend(gone.map(|(folder, ..)| format!("{folder}: no files name each other: take the row out")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
