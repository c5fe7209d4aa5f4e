//! The reading of arrows itself, on a crate that is written for it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::arrows_between::{Knot, Room, complaints, knots};

const FILES: &[(&str, &str)] = &[
    ("lib.rs", "//! use crate::top::Top;\npub mod low;\nmod middle;\nmod top;\npub use crate::low::Low;\n"),
    (
        "low.rs",
        "pub struct Low;\nconst TEXT: &str = \"crate::top::Top\";\n#[cfg(test)]\nmod tests {\n    use crate::top::Top;\n}\n",
    ),
    (
        "middle/mod.rs",
        "mod inner;\npub(crate) use inner::{Inner, Other as Renamed};\nuse crate::{Low, low::{self}};\n",
    ),
    (
        "middle/inner.rs",
        "use super::super::low::Low;\npub(in crate::middle) struct Inner<'a>(&'a Low);\npub(crate) struct Other;\n",
    ),
    (
        "top.rs",
        "use std::fmt;\n/* use crate::nothing; */\nfn inner() -> char { let _: crate::middle::Renamed; 'x' }\nmacro_rules! of { () => { $crate::Low } }\n",
    ),
];

const ROOMS: &[Room<'static>] = &[
    ("low", &["low"], &[]),
    ("middle", &["middle"], &["low"]),
    ("top", &["top"], &["low", "inner"]),
    ("lib", &["lib"], &["low"]),
];

fn written(name: &str, changed: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("arrows").join(name);
    fs::create_dir_all(folder.join("middle")).expect("a folder");
    for (path, text) in FILES.iter().chain(changed) {
        fs::write(folder.join(path), text).expect("a file");
    }
    folder.join("lib.rs")
}

/// The complaints about a crate, without its folder.
fn said(name: &str, changed: &[(&str, &str)], rooms: &[Room<'_>], knots: &[Knot<'_>]) -> Vec<String> {
    let root = written(name, changed);
    let folder = format!("{}/", root.parent().expect("a folder").display());
    complaints(&root, rooms, knots).into_iter().map(|line| line.replace(&folder, "")).collect()
}

/// The rooms above, with `inner` as a room of its own, to which the re-exports of `middle` lead.
fn rooms() -> Vec<Room<'static>> {
    let mut rooms = ROOMS.to_vec();
    rooms.insert(1, ("inner", &["middle::inner"], &["low"]));
    rooms[2].2 = &["low", "inner"];
    rooms
}

#[test]
fn crates_that_follow_the_table_cause_no_complaint() {
    assert_eq!(said("good", &[], &rooms(), &[]), [""; 0]);
}

#[test]
fn an_arrow_that_is_not_in_the_table_is_reported_with_its_line() {
    let uses = [("low.rs", "pub struct Low;\nfn low() {\n    super::middle::Inner::new()\n}\n")];
    assert_eq!(said("upwards", &uses, &rooms(), &[]), ["low.rs:3: low may not use inner (middle::inner)"]);
    let behind = [(
        "low.rs",
        "pub struct Low;\nmod empty {}\nmod full {\n    fn f() {}\n}\nuse super::middle::Inner;\n",
    )];
    let mut rooms = rooms();
    rooms[0].1 = &["low", "low::empty", "low::full"];
    let wrong = ["low.rs:6: low may not use inner (middle::inner)"];
    assert_eq!(said("behind modules in the file", &behind, &rooms, &[]), wrong);
    assert_eq!(said("knotted", &uses, &self::rooms(), &[("low", "inner", "a reason")]), [""; 0]);
}

#[test]
fn a_row_that_no_line_uses_is_reported() {
    let without = [("top.rs", "macro_rules! of { () => { $crate::Low } }\n")];
    let unused = "top no longer uses inner: take the row out";
    assert_eq!(said("unused", &without, &rooms(), &[]), [unused]);
    let knot = [("low", "middle", "a reason")];
    assert_eq!(said("unused knot", &[], &rooms(), &knot), ["low no longer uses middle: take the row out"]);
}

#[test]
fn modules_without_a_room_and_rooms_without_a_module_are_reported() {
    let missing: Vec<_> = rooms().into_iter().filter(|(name, ..)| *name != "lib").collect();
    assert_eq!(said("missing", &[], &missing, &[]), ["module lib is in no room"]);
    let mut more = rooms();
    more.push(("attic", &["attic"], &[]));
    assert_eq!(said("more", &[], &more, &[]), ["there is no module attic"]);
}

#[test]
fn a_table_whose_rows_go_upwards_is_reported() {
    let mut rooms = rooms();
    rooms[0].2 = &["middle"];
    assert!(
        said("rows", &[], &rooms, &[])
            .contains(&"middle is not below low: a knot, with its reason".to_owned())
    );
    rooms[0].2 = &["cellar"];
    assert!(said("rows", &[], &rooms, &[]).contains(&"low uses cellar, which is no room".to_owned()));
    rooms[0].2 = &[];
    let knots = [("middle", "low", "downwards"), ("low", "middle", "")];
    let wrong = said("rows", &[], &rooms, &knots);
    for (from, to) in [("middle", "low"), ("low", "middle")] {
        let complaint = format!("{from} to {to} is no knot, or gives no reason");
        assert!(wrong.contains(&complaint), "{wrong:?}");
    }
}

#[test]
fn files_that_name_each_other_are_a_knot_and_re_exports_are_none() {
    let root = written("untied", &[]);
    assert_eq!(knots(&root), []);
    let tied = [
        ("low.rs", "pub struct Low;\nfn low() {\n    super::middle::Renamed::new()\n}\n"),
        ("top.rs", "use crate::middle;\npub struct Top;\nfn top() {\n    middle::Inner::new()\n}\n"),
    ];
    let root = written("tied", &tied);
    let folder = root.parent().expect("a folder").to_owned();
    assert_eq!(knots(&root), [(folder, vec!["low.rs".to_owned(), "middle/inner.rs".to_owned()])]);
    // The porch defines something that its files use.
    let porch = [
        ("middle/mod.rs", "mod inner;\nuse inner::Inner;\nstruct Porch(Inner);\n"),
        ("middle/inner.rs", "pub(crate) struct Inner;\nfn inner() -> super::Porch {}\n"),
    ];
    let root = written("porch", &porch);
    let folder = root.parent().expect("a folder").join("middle");
    assert_eq!(knots(&root), [(folder, vec!["inner.rs".to_owned(), "mod.rs".to_owned()])]);
}
