//! Knots: files of a crate that name each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::house::House;

/// The files that each file of a crate names. A re-export does not count, and leads to the file that defines the name.
pub(crate) fn files(root: &Path) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let house = House::read(root);
    let file = |module: &[String]| house.modules[module].file.clone();
    let mut uses: BTreeMap<PathBuf, BTreeSet<PathBuf>> =
        house.modules.values().map(|module| (module.file.clone(), BTreeSet::new())).collect();
    for arrow in house.arrows().iter().filter(|arrow| arrow.is_of_item) {
        let (from, to) = (file(&arrow.from), file(&arrow.to));
        if from != to {
            uses.entry(from).or_default().insert(to);
        }
    }
    uses
}

/// The strongly connected sets of two files or more.
pub(crate) fn knots(uses: &BTreeMap<PathBuf, BTreeSet<PathBuf>>) -> Vec<Vec<PathBuf>> {
    let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        uses.keys().map(|file| (file, reached_from(file, uses))).collect();
    let mut knots: BTreeSet<Vec<PathBuf>> = BTreeSet::new();
    for (file, reaches) in &reached {
        let knot: Vec<PathBuf> = reaches
            .iter()
            .filter(|other| reached[**other].contains(*file))
            .map(|file| file.to_path_buf())
            .collect();
        if knot.len() > 1 {
            knots.insert(knot);
        }
    }
    knots.into_iter().collect()
}

fn reached_from<'a>(
    file: &'a PathBuf,
    uses: &'a BTreeMap<PathBuf, BTreeSet<PathBuf>>,
) -> BTreeSet<&'a PathBuf> {
    let (mut reached, mut left) = (BTreeSet::new(), vec![file]);
    while let Some(file) = left.pop() {
        for next in &uses[file] {
            if reached.insert(next) {
                left.push(next);
            }
        }
    }
    reached
}
