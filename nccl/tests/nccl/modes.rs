//! The same collectives with work that runs at once, later, late, and in any order.

use crate::support::{Failure, rerun};

/// Tests that are run in each mode.
const TESTS: [&str; 7] = [
    "collectives::is_in_the_order_of_the_stream",
    "collectives::sends_around_a_ring_in_a_group",
    "collectives::one_thread_serves_two_members",
    "queues::regions_are_summed_and_may_be_dropped_at_once",
    "queues::collectives_are_recorded_and_replayed",
    "captures::a_captured_collective_runs_in_each_replay",
    "captures::groups_and_lanes_are_captured",
];

fn all_pass(mode: &str) -> Result<(), Failure> {
    for test in TESTS {
        let output = rerun(test, &[("CUPRUM_EMULATOR_MODE", mode)])?.wait_with_output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{mode}: {test}: {text}");
    }
    Ok(())
}

#[test]
fn eager() -> Result<(), Failure> {
    all_pass("eager")
}

#[test]
fn deferred() -> Result<(), Failure> {
    all_pass("deferred")
}

#[test]
fn shuffled() -> Result<(), Failure> {
    all_pass("shuffled:5")
}
