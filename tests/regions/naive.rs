//! Each rule of regions is taken away, and the tests of it fail.

use std::process::Command;

/// The test that many clients find their values, which fails without some of the rules alone.
const SERVER: &str = "clients_find_what_they_have_computed_in_all_modes";

/// Rules of `src/region`, and a test that fails without each of them.
const RULES: &[(&str, &str)] = &[
    ("device", SERVER),
    ("host", SERVER),
    ("keep", SERVER),
    ("replay", SERVER),
    ("device", "reuse::memory_that_another_queue_uses_is_not_given_out"),
    ("device", "basics::memory_of_another_context_is_copied_and_kept_for_that"),
    ("host", "reuse::host_memory_of_a_dropped_read_is_not_given_out"),
    ("host", "reuse::host_memory_of_an_upload_is_not_given_out"),
    ("host", "faults::memory_of_reads_is_not_given_out_after_a_fault"),
    ("order", "reuse::another_queue_does_not_overtake_the_old_owner"),
    ("keep", "recordings::a_recording_keeps_what_it_uses"),
    ("replay", "recordings::memory_of_a_replay_dropped_in_flight_is_not_given_out"),
    ("before", "recordings::a_replay_comes_after_the_work_before_the_recording"),
    ("quiet", "recordings::memory_of_a_lane_does_not_enter_a_recording"),
    ("lock", "recordings::work_of_another_thread_is_kept_if_it_is_recorded"),
    ("kernel", "kernels::code_stays_loaded_while_its_kernel_is_queued"),
];

/// Builds this program with `--cfg cuprum_naive`, in a folder of its own. Compiling the device with
/// optimization would take longer than these tests gain from it.
#[test]
#[ignore = "builds the crate and the emulator once more"]
fn each_test_fails_without_its_rule() {
    let run = |rule: &str, test: &str| {
        let mut command = Command::new(env!("CARGO"));
        let package = if test == SERVER { ["cuprum-test-server", "clients"] } else { ["cuprum", "regions"] };
        command.args(["test", "--quiet", "-p", package[0]]);
        for optimized in ["ptx.opt-level=1", "engine.opt-level=0", "emulator.opt-level=0"] {
            command.args(["--config", &format!("profile.dev.package.cuprum-{optimized}")]);
        }
        command.args(["--test", package[1], "--target-dir", "target/naive", "--", "--exact", test]);
        command.env("RUSTFLAGS", "--cfg cuprum_naive").env("CUPRUM_NAIVE", rule).env("CUPRUM_TESTS", "all");
        let output = command.output().expect("cargo");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("running 1 test"), "no such test: {test}\n{said}");
        output.status.success()
    };
    let mut passed = Vec::new();
    for (rule, test) in RULES {
        if !passed.contains(test) {
            assert!(run("", test), "{test} fails by itself");
            passed.push(*test);
        }
        assert!(!run(rule, test), "{test} passes without the rule `{rule}`");
    }
}
