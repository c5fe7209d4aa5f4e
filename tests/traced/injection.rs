//! Each driver call of a program that uses every method fails in turn: with several codes, done and
//! not done, once and from then on; in a sample each call in one of these ways. Then each pair of
//! calls that are near each other. Nothing may panic or abort, no handle may be used wrongly, no
//! call may meet another context than the one it is meant for, and each error names the call that
//! failed.
//!
//! Child processes make the runs once; each test checks their findings.

use std::collections::BTreeSet;

use cuprum::Driver;
use cuprum::sys::{CUresult, FnId};

use crate::child::in_child;
use crate::sweep::{Finding, Run};
use crate::tracer::{Backing, Build, failing};
use crate::{amount, program, source, sweep};

/// Fails with those findings of some kinds that `counts` picks.
fn assert_none(kinds: &[&str], counts: impl Fn(&Run, &Finding) -> bool) {
    let report = sweep::report();
    let least = if amount::all() { 60_000 } else { 6_000 };
    assert!(report.plan.len() > least, "hardly anything was tried: {}", report.plan.len());
    let of_kind = |finding: &Finding| kinds.contains(&finding.kind.as_str());
    let found: Vec<String> = report
        .findings
        .iter()
        .filter(|(run, finding)| of_kind(finding) && counts(run, finding))
        .map(|(run, finding)| format!("{run}: {}, {}: {}", finding.kind, finding.step, finding.text))
        .collect();
    let some = found.iter().step_by((found.len() / 20).max(1)).cloned().collect::<Vec<_>>();
    assert!(found.is_empty(), "{} findings, some of them:\n{}", found.len(), some.join("\n"));
}

/// True if a finding is about a token that was forgotten: calls that restore the stack have no step
/// of their own.
fn in_a_repair(finding: &Finding) -> bool {
    finding.step == program::AFTER_FORGOTTEN
}

#[test]
fn nothing_panics() {
    assert_none(&["Panic"], |_, _| true);
}

#[test]
#[cfg(unix)]
fn the_program_uses_every_documented_method() {
    let steps = sweep::steps_without_failures();
    assert_eq!(program::unused_methods(&steps), [""; 0]);
}

/// Functions for older and for newer drivers included. Functions that exchange descriptors are for
/// Unix.
#[test]
#[cfg(unix)]
fn every_function_that_the_safe_layer_calls_fails_in_some_run() {
    let called: BTreeSet<FnId> = source::files("src").into_iter().flat_map(|file| file.calls).collect();
    let tried = sweep::report().plan.functions();
    let untried: Vec<_> = called.difference(&tried).filter(|&&function| function != FnId::cuInit).collect();
    assert!(called.len() > 50 && untried.is_empty(), "{untried:?}");
}

#[test]
fn nothing_remains_after_a_call_that_was_not_done() {
    assert_none(&["Leak"], |_, _| true);
}

#[test]
fn nothing_aborts() {
    assert_none(&["Abort", "AbortInFlight"], |_, _| true);
}

#[test]
fn handles_are_used_while_they_live_and_freed_once() {
    assert_none(&["Unknown", "UsedAfterFree", "FreedTwice", "Unwatched"], |_, _| true);
}

#[test]
fn memory_freed_by_a_failing_call_is_not_freed_again() {
    assert_none(&["AfterFailedFree"], |_, _| true);
}

#[test]
fn calls_meet_their_context_after_any_failure() {
    assert_none(&["OtherContext"], |_, _| true);
}

#[test]
fn host_memory_is_not_in_flight_after_a_scope_after_any_failure() {
    assert_none(&["HostInFlight"], |_, _| true);
}

#[test]
fn errors_name_the_call_that_failed() {
    assert_none(&["Misnamed"], |_, _| true);
}

#[test]
fn a_failure_is_returned_or_counted_as_swallowed() {
    assert_none(&["Silent"], |_, finding| !in_a_repair(finding));
}

#[test]
fn all_goes_on_after_one_failure() {
    assert_none(&["NotRecovered"], |run, _| !run.injection.lasting && run.second.is_none());
}

/// Not part of the runs, and in a process of its own: the answer of `cuInit` is kept for good.
#[test]
fn a_failing_init_is_named() {
    in_child(concat!(module_path!(), "::a_failing_init_is_named"), || {
        let library = Build::of(Backing::OtherNothing).library().unwrap();
        let code = CUresult::CUDA_ERROR_NO_DEVICE;
        for _ in 0..2 {
            let error = failing(FnId::cuInit, code, || Driver::init(library)).unwrap_err();
            assert_eq!((error.call(), error.code()), (FnId::cuInit, code));
        }
    });
}
