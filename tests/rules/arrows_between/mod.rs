//! The arrows between the rooms of a crate: modules that name other modules, checked against a
//! table.
//!
//! A room is a set of modules. The table lists the rooms from the bottom to the top, and the rooms
//! below that each may use; an arrow upwards is a knot, and needs a reason. An arrow that the table
//! does not have, a row that no line of the sources uses any more, and a module without a room are
//! complaints.
//!
//! Paths are read as the compiler would: `use` lines with their groups, and paths in code that
//! begin with `crate`, `super`, `self` or a module. A name that a module re-exports counts for the
//! module that defines it. Modules under `#[cfg(test)]` may use any room, and so may `#[cfg(doc)]`.
//! Two uses are not detected: macros found by order of text instead of by path, and types that a
//! method returns.
//!
//! One call does it: [`complaints`]. `tests/rules/arrows` holds the tables, one for each crate. The
//! files of a folder need no table: [`circles`] finds the arrows that keep them from having an
//! order, and [`knots`] the files of a crate that name each other.

mod house;
mod knots;
mod reader;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub(crate) use knots::knots;

use house::{House, ModulePath};

/// A room: its name, its modules, and the rooms below it that it may use.
///
/// A module is given by its path without `crate`, and `lib` is the root; it stands for those inside
/// of it that no other row names.
pub(crate) type Room<'a> = (&'a str, &'a [&'a str], &'a [&'a str]);

/// An arrow against the order of the rooms: from, to, and why it is there.
pub(crate) type Knot<'a> = (&'a str, &'a str, &'a str);

/// Compares the sources of a crate with the table. Returns one line for each mistake in either.
/// `root` is the crate's `lib.rs`.
pub(crate) fn complaints(root: &Path, rooms: &[Room<'_>], knots: &[Knot<'_>]) -> Vec<String> {
    let mut wrong = wrong_rows(rooms, knots);
    let house = House::read(root);
    let listed: BTreeSet<&str> = rooms.iter().flat_map(|(_, modules, _)| *modules).copied().collect();
    for module in listed {
        if !house.modules.contains_key(&path_of(module)) {
            wrong.push(format!("there is no module {module}"));
        }
    }
    let mut unused: BTreeSet<(&str, &str)> =
        rooms.iter().flat_map(|(from, _, uses)| uses.iter().map(|to| (*from, *to))).collect();
    unused.extend(knots.iter().map(|(from, to, _)| (*from, *to)));
    let allowed = unused.clone();
    for module in house.modules.keys().filter(|module| room_of(module, rooms).is_none()) {
        wrong.push(format!("module {} is in no room", name_of(module)));
    }
    for arrow in house.arrows() {
        let (Some(from), Some(to)) = (room_of(&arrow.from, rooms), room_of(&arrow.to, rooms)) else {
            continue;
        };
        unused.remove(&(from, to));
        if from != to && !allowed.contains(&(from, to)) {
            wrong.push(format!("{}: {from} may not use {to} ({})", arrow.place, name_of(&arrow.to)));
        }
    }
    wrong.extend(unused.iter().map(|(from, to)| format!("{from} no longer uses {to}: take the row out")));
    wrong
}

/// The arrows that keep the files of a folder from having an order, of all folders but the root,
/// whose order is the table's; none if each file uses only files below it.
pub(crate) fn circles(root: &Path) -> Vec<String> {
    let mut folders: BTreeMap<ModulePath, BTreeSet<(String, String)>> = BTreeMap::new();
    for arrow in House::read(root).arrows() {
        let common = arrow.from.iter().zip(&arrow.to).take_while(|(from, to)| from == to).count();
        // An arrow to or from a folder's own `mod.rs` is between no files of it.
        if let (1.., Some(from), Some(to)) = (common, arrow.from.get(common), arrow.to.get(common)) {
            let arrows = folders.entry(arrow.from[..common].to_vec()).or_default();
            arrows.insert((from.clone(), to.clone()));
        }
    }
    assert!(!folders.is_empty(), "{} has no files that use each other", root.display());
    let circles = folders.into_iter().flat_map(|(folder, arrows)| {
        let folder = name_of(&folder);
        circles_of(arrows).into_iter().map(move |(from, to)| format!("{folder}: {from} uses {to}"))
    });
    circles.collect()
}

fn circles_of(mut left: BTreeSet<(String, String)>) -> BTreeSet<(String, String)> {
    loop {
        // A file that uses none of the files that are left is below them all.
        let users: BTreeSet<String> = left.iter().map(|(from, _)| from.clone()).collect();
        let before = left.len();
        left.retain(|(_, to)| users.contains(to));
        if left.len() == before {
            return left;
        }
    }
}

/// Complaints about the table itself.
fn wrong_rows(rooms: &[Room<'_>], knots: &[Knot<'_>]) -> Vec<String> {
    let mut wrong = Vec::new();
    let place = |name: &str| rooms.iter().position(|(room, ..)| *room == name);
    for (index, (name, _, uses)) in rooms.iter().enumerate() {
        if place(name) != Some(index) {
            wrong.push(format!("room {name} stands twice"));
        }
        for used in *uses {
            match place(used) {
                Some(below) if below < index => {}
                Some(_) => wrong.push(format!("{used} is not below {name}: a knot, with its reason")),
                None => wrong.push(format!("{name} uses {used}, which is no room")),
            }
        }
    }
    for (from, to, why) in knots {
        match (place(from), place(to)) {
            (Some(from), Some(to)) if from < to && !why.is_empty() => {}
            (Some(_), Some(_)) => wrong.push(format!("{from} to {to} is no knot, or gives no reason")),
            _ => wrong.push(format!("a knot from {from} to {to}, of which one is no room")),
        }
    }
    wrong
}

fn path_of(name: &str) -> ModulePath {
    if name == "lib" { Vec::new() } else { name.split("::").map(str::to_owned).collect() }
}

fn name_of(path: &[String]) -> String {
    if path.is_empty() { "lib".to_owned() } else { path.join("::") }
}

/// The room whose row names the module, or else the closest module around it. The root is only
/// itself.
fn room_of<'a>(module: &[String], rooms: &[Room<'a>]) -> Option<&'a str> {
    let named = |path: &[String]| {
        rooms.iter().find(|(_, modules, _)| modules.contains(&name_of(path).as_str())).map(|(room, ..)| *room)
    };
    (1..=module.len())
        .rev()
        .find_map(|length| named(&module[..length]))
        .or_else(|| if module.is_empty() { named(module) } else { None })
}
