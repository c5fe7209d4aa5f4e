//! The modules of a crate and the names that each of them uses.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::reader::Reader;

/// A module by the names from the root to it; the root is empty.
pub(super) type ModulePath = Vec<String>;

/// One path that a module names.
pub(super) struct Arrow {
    pub(super) from: ModulePath,
    pub(super) to: ModulePath,
    /// File and line.
    pub(super) place: String,
    /// False for a re-export, for a `use` of a module as such, and for a module that only lists and
    /// re-exports.
    pub(super) is_of_item: bool,
}

/// A path as it is written, or one of a `use` with the name that it binds.
pub(super) struct Named {
    pub(super) segments: Vec<String>,
    pub(super) binds: Option<String>,
    pub(super) place: String,
    pub(super) is_export: bool,
}

#[derive(Default)]
pub(super) struct Module {
    pub(super) named: Vec<Named>,
    pub(super) file: PathBuf,
    /// True if it has items of its own, other than modules.
    pub(super) defines: bool,
}

/// The modules of a crate, those for tests left out.
#[derive(Default)]
pub(super) struct House {
    pub(super) modules: BTreeMap<ModulePath, Module>,
}

impl House {
    pub(super) fn read(root: &Path) -> Self {
        let mut house = Self::default();
        house.read_file(root, root.parent().expect("a folder of sources"), Vec::new());
        house
    }

    /// Reads the file of a module and those that it declares. `folder` is where its children are.
    fn read_file(&mut self, file: &Path, folder: &Path, module: ModulePath) {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for child in Reader::read(file, &text, &module, &mut self.modules) {
            let mut path = module.clone();
            path.push(child.clone());
            let (alone, inside) = (folder.join(format!("{child}.rs")), folder.join(&child));
            let file = if alone.is_file() { alone } else { inside.join("mod.rs") };
            self.read_file(&file, &inside, path);
        }
    }

    /// Every path that was read and leads to a module of this crate.
    pub(super) fn arrows(&self) -> Vec<Arrow> {
        let mut arrows = Vec::new();
        for (from, module) in &self.modules {
            for named in &module.named {
                if let Some((to, is_item)) = self.resolve(from, &named.segments, 8) {
                    let is_of_item =
                        !named.is_export && (is_item || named.binds.is_none()) && self.modules[&to].defines;
                    arrows.push(Arrow { from: from.clone(), to, place: named.place.clone(), is_of_item });
                }
            }
        }
        arrows
    }

    /// The module that a path written in `module` leads to, and whether the path names an item of
    /// it; `None` if it leads out of the crate.
    fn resolve(&self, module: &[String], segments: &[String], depth: u32) -> Option<(ModulePath, bool)> {
        let (mut here, mut rest) = match segments.first()?.as_str() {
            "crate" => (Vec::new(), &segments[1..]),
            "self" | "super" => (module.to_vec(), segments),
            first if self.has(module, first) || self.binding(module, first).is_some() => {
                (module.to_vec(), segments)
            }
            _ => return None,
        };
        while let Some((segment, after)) = rest.split_first() {
            match segment.as_str() {
                "self" => {}
                "super" => drop(here.pop()),
                name if self.has(&here, name) => here.push(name.to_owned()),
                name => {
                    let Some(named) = self.binding(&here, name) else { break };
                    if named.segments == [name] {
                        // An item of this module, a macro for example, that is handed on.
                        break;
                    }
                    let whole: Vec<String> = named.segments.iter().chain(after).cloned().collect();
                    // If a crate has the same name as an item that is used from it, the lookup
                    // finds the crate again without end.
                    return self.resolve(&here, &whole, depth.checked_sub(1)?);
                }
            }
            rest = after;
        }
        // An item may have the name of its module, and is then re-exported from the module around
        // it.
        let is_item = !rest.is_empty()
            || here.split_last().is_some_and(|(name, around)| self.binding(around, name).is_some());
        Some((here, is_item))
    }

    fn has(&self, module: &[String], child: &str) -> bool {
        let mut path = module.to_vec();
        path.push(child.to_owned());
        self.modules.contains_key(&path)
    }

    /// The `use` that brings a name into a module.
    fn binding(&self, module: &[String], name: &str) -> Option<&Named> {
        self.modules.get(module)?.named.iter().find(|named| named.binds.as_deref() == Some(name))
    }
}
