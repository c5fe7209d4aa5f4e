//! Every function of the table is called by a method or listed as not wrapped; the lists say what is true.

use std::collections::BTreeSet;

use cuprum::not_wrapped::{NOT_WRAPPED, Why};
use cuprum::sys::FnId;

use crate::source;

/// The driver functions that the sources in a folder call, not counting the list that declares them all.
fn called_in(folder: &str) -> BTreeSet<FnId> {
    let files = source::files(folder).into_iter().filter(|file| !file.path.ends_with("sys/src/fns.rs"));
    files.flat_map(|file| file.calls).collect()
}

fn listed(why: Why) -> impl Iterator<Item = FnId> {
    NOT_WRAPPED.iter().filter(move |group| group.why == why).flat_map(|group| group.functions).copied()
}

#[test]
fn every_function_is_called_or_listed_and_never_both() {
    let called = called_in("src");
    let mut listed = BTreeSet::new();
    for group in NOT_WRAPPED {
        for &function in group.functions {
            assert!(listed.insert(function), "{function} is listed twice");
        }
    }
    let both: Vec<_> = called.intersection(&listed).collect();
    assert!(both.is_empty(), "called by a method, so no longer to be listed: {both:?}");
    let neither: Vec<_> = FnId::ALL
        .iter()
        .filter(|function| !called.contains(function) && !listed.contains(function))
        .collect();
    assert!(neither.is_empty(), "neither called nor listed: {neither:?}");
    assert_eq!(called.len() + listed.len(), FnId::ALL.len());
    assert!(called.len() > 50, "the sources were not read: {called:?}");
}

#[test]
fn what_the_loader_calls_is_what_is_listed_so() {
    assert_eq!(listed(Why::Loader).collect::<BTreeSet<_>>(), called_in("sys/src"));
}

#[test]
fn what_is_superseded_has_a_newer_revision_and_what_has_one_is_superseded() {
    let has_newer = |function: FnId| {
        let this = function.symbol();
        let newer = |other: &FnId| other.symbol().base == this.base && other.symbol().since > this.since;
        FnId::ALL.iter().any(newer)
    };
    let listed_so: BTreeSet<_> = listed(Why::Superseded).collect();
    let loader: BTreeSet<_> = listed(Why::Loader).collect();
    let listed = NOT_WRAPPED.iter().flat_map(|group| group.functions).copied();
    let truly: BTreeSet<_> =
        listed.filter(|&function| has_newer(function) && !loader.contains(&function)).collect();
    assert_eq!(listed_so, truly);
}

#[test]
fn functions_are_in_the_order_of_the_table_and_reasons_in_the_order_of_their_kinds() {
    for group in NOT_WRAPPED {
        assert!(group.functions.is_sorted(), "{}", group.reason);
    }
    assert!(NOT_WRAPPED.is_sorted_by_key(|group| group.why as u8));
    let reasons: BTreeSet<_> = NOT_WRAPPED.iter().map(|group| group.reason).collect();
    assert_eq!(reasons.len(), NOT_WRAPPED.len(), "a reason is given twice");
}
