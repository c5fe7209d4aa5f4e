//! Every function of the table is called by a method or listed as not wrapped; the lists are true.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cuprum::not_wrapped::{NOT_WRAPPED, Why};
use cuprum::sys::FnId;

use crate::source::{self, Visibility};

/// The driver functions that the sources in a folder call, not counting the list that declares them
/// all.
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
fn functions_listed_as_the_loaders_are_called_by_it() {
    assert_eq!(listed(Why::Loader).collect::<BTreeSet<_>>(), called_in("sys/src"));
}

#[test]
fn functions_are_superseded_exactly_if_they_have_a_newer_revision() {
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

/// `examples/11_own_wrapper.rs` shows the way to a function that has no method: it has to be one.
#[test]
fn the_example_of_an_own_wrapper_wraps_a_function_without_a_method() {
    let example = source::files("examples").into_iter().find(|file| file.path.ends_with("11_own_wrapper.rs"));
    let calls = example.expect("the example").calls;
    let listed: BTreeSet<_> = NOT_WRAPPED.iter().flat_map(|group| group.functions).copied().collect();
    assert!(calls.iter().any(|call| listed.contains(call)), "all of {calls:?} have methods by now");
}

/// Coverage of the table: functions with methods, and the reasons for the rest.
#[derive(Debug)]
struct Coverage {
    all: usize,
    /// Named by the documentation of a safe method.
    safe: BTreeSet<FnId>,
    /// Named only by the documentation of an `unsafe` method.
    unsafe_alone: BTreeSet<FnId>,
    listed: Vec<(Why, usize)>,
}

impl Coverage {
    fn of_the_sources() -> Self {
        let (mut safe, mut with_unsafe) = (BTreeSet::new(), BTreeSet::new());
        for function in source::files("src").into_iter().flat_map(|file| file.functions) {
            if function.visibility == Visibility::Public {
                // Two that the loader calls have methods as well.
                let named = &function.named().unwrap_or_default() - &listed(Why::Loader).collect();
                if function.is_unsafe { &mut with_unsafe } else { &mut safe }.extend(named);
            }
        }
        let kinds = [Why::Loader, Why::Superseded, Why::Deprecated, Why::Unneeded, Why::OutOfScope];
        let listed = kinds.map(|why| (why, listed(why).count())).into();
        let unsafe_alone = &with_unsafe - &safe;
        Self { all: FnId::ALL.len(), safe, unsafe_alone, listed }
    }

    fn table(&self) -> String {
        let rows = [("safe methods", self.safe.len()), ("unsafe methods alone", self.unsafe_alone.len())];
        let reasons = self.listed.iter().map(|(why, count)| format!("{count:4} not called: {why:?}\n"));
        let called = rows.map(|(by, count)| format!("{count:4} called by {by}\n")).concat();
        let functions: Vec<String> = self.unsafe_alone.iter().map(FnId::to_string).collect();
        let total = format!("{:4} in all\n", self.all);
        format!(
            "{called}{}{total}\nby unsafe methods alone: {}",
            reasons.collect::<String>(),
            functions.join(" ")
        )
    }

    /// The sentence of the README.
    fn sentence(&self) -> String {
        let (safe, alone) = (self.safe.len(), self.unsafe_alone.len());
        let [loader, superseded, deprecated, unneeded, out_of_scope] =
            self.listed.iter().map(|(_, count)| *count).collect::<Vec<_>>().try_into().expect("five reasons");
        format!(
            "The driver API has {} functions. cuprum wraps {} of them: {safe} in safe methods, and {alone} in `unsafe` \
             methods only. [`not_wrapped`](src/not_wrapped/mod.rs) lists the others with the reason: {superseded} are \
             older revisions of wrapped functions, {deprecated} are deprecated, {unneeded} are covered by other methods, \
             {out_of_scope} are out of scope, and {loader} are called by the loader only.",
            self.all,
            safe + alone,
        )
    }
}

#[test]
fn the_readme_says_how_much_of_the_table_is_covered() {
    let coverage = Coverage::of_the_sources();
    println!("{}", coverage.table());
    let listed: usize = coverage.listed.iter().map(|(_, count)| count).sum();
    let count = NOT_WRAPPED.iter().map(|group| group.functions.len()).sum();
    assert_eq!(listed, count, "a kind of reason is missing here");
    let named = &coverage.safe | &coverage.unsafe_alone;
    let differing: Vec<_> = named.symmetric_difference(&called_in("src")).copied().collect();
    assert!(differing.is_empty(), "methods name them or call them, and not both: {differing:?}");
    assert_eq!(named.len() + listed, coverage.all);
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let words = |text: &str| text.split_whitespace().map(|word| format!("{word} ")).collect::<String>();
    let readme = words(&fs::read_to_string(readme).expect("the README"));
    let sentence = coverage.sentence();
    assert!(readme.contains(&words(&sentence)), "the README is to say:\n{sentence}");
}
