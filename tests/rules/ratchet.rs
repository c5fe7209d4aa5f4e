//! Numbers that only fall. A list in `tests/data` has one per line, after its name.
//!
//! The check fails if a number has risen or is new, and if one has fallen and the list does not say
//! so yet. With the check's variable set to `lower`, it writes down the numbers that have fallen,
//! and refuses if any has risen.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Numbers by their names. A number that is not there is 0.
pub(super) type Numbers = BTreeMap<String, usize>;

fn read(list: &str) -> Numbers {
    let entries = list.lines().map(|line| {
        let (name, number) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no entry: {line}"));
        (name.to_owned(), number.parse().unwrap_or_else(|_| panic!("no number: {line}")))
    });
    entries.collect()
}

pub(super) fn written(numbers: &Numbers) -> String {
    numbers.iter().map(|(name, number)| format!("{name} {number}\n")).collect()
}

/// Numbers that are higher than in the list, and numbers that are lower.
fn differences(list: &Numbers, now: &Numbers) -> (Vec<String>, Vec<String>) {
    let names: BTreeSet<&String> = list.keys().chain(now.keys()).collect();
    let (mut higher, mut lower) = (Vec::new(), Vec::new());
    for name in names {
        let (before, after) = (list.get(name).copied().unwrap_or(0), now.get(name).copied().unwrap_or(0));
        let line = format!("{name}: {after}, {before} in the list");
        match after.cmp(&before) {
            Ordering::Greater => higher.push(line),
            Ordering::Less => lower.push(line),
            Ordering::Equal => {}
        }
    }
    (higher, lower)
}

/// Compares numbers with the list of this name. `variable` lowers the list.
pub(super) fn check(list: &str, variable: &str, now: &Numbers) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(list);
    let text = fs::read_to_string(&path).expect("the list");
    let before = read(&text);
    assert_eq!(text, written(&before), "{list} is sorted, with each entry once");
    let (higher, lower) = differences(&before, now);
    assert!(higher.is_empty(), "these only fall:\n{}", higher.join("\n"));
    if std::env::var_os(variable).is_some_and(|value| value == "lower") {
        fs::write(&path, written(now)).expect("the list is written");
    } else {
        let lower = lower.join("\n");
        assert!(lower.is_empty(), "{variable}=lower cargo test --test rules, for:\n{lower}");
    }
}

#[test]
fn numbers_that_rise_and_numbers_that_fall_are_found() {
    let list = read("a.rs 500\na.rs f 70\nb.rs 460\n");
    assert_eq!(differences(&list, &list), (vec![], vec![]));
    let (higher, lower) = differences(&list, &read("a.rs 499\na.rs f 71\nc.rs 451\n"));
    assert_eq!(higher, ["a.rs f: 71, 70 in the list", "c.rs: 451, 0 in the list"]);
    assert_eq!(lower, ["a.rs: 499, 500 in the list", "b.rs: 0, 460 in the list"]);
}
