//! Files of a crate that name each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::house::House;

/// The files that each file names.
type Uses = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// The knots of a crate: the folder of each, and the paths of its files in there. A re-export does
/// not count, and a name that it hands on leads to the file that defines it. `root` is the crate's
/// `lib.rs`.
pub(crate) fn knots(root: &Path) -> Vec<(PathBuf, Vec<String>)> {
    let uses = uses(root);
    let mut knots: BTreeSet<Vec<&PathBuf>> = BTreeSet::new();
    let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        uses.keys().map(|file| (file, reached_from(file, &uses))).collect();
    for (file, reaches) in &reached {
        let knot: Vec<&PathBuf> =
            reaches.iter().filter(|other| reached[**other].contains(*file)).copied().collect();
        if knot.len() > 1 {
            knots.insert(knot);
        }
    }
    knots.into_iter().map(|knot| in_folder(&knot)).collect()
}

fn uses(root: &Path) -> Uses {
    let house = House::read(root);
    let file = |module: &[String]| house.modules[module].file.clone();
    let mut uses: Uses = house.modules.keys().map(|module| (file(module), BTreeSet::new())).collect();
    for arrow in house.arrows().iter().filter(|arrow| arrow.is_of_item) {
        let (from, to) = (file(&arrow.from), file(&arrow.to));
        if from != to {
            uses.entry(from).or_default().insert(to);
        }
    }
    uses
}

fn reached_from<'a>(file: &'a PathBuf, uses: &'a Uses) -> BTreeSet<&'a PathBuf> {
    let (mut reached, mut left) = (BTreeSet::new(), vec![file]);
    while let Some(file) = left.pop() {
        left.extend(uses[file].iter().filter(|next| reached.insert(*next)));
    }
    reached
}

/// The deepest folder that has all files, and their paths in it.
fn in_folder(files: &[&PathBuf]) -> (PathBuf, Vec<String>) {
    let has_all = |folder: &&Path| files.iter().all(|file| file.starts_with(folder));
    let folder = files[0].ancestors().skip(1).find(has_all).unwrap_or(Path::new("")).to_owned();
    let inside =
        |file: &&PathBuf| file.strip_prefix(&folder).unwrap_or(file).to_string_lossy().replace('\\', "/");
    let files = files.iter().map(inside).collect();
    (folder, files)
}
