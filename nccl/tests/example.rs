//! The examples run on the stand-in: with two threads, and `all_reduce` with two processes too.

use std::process::Command;

/// Runs an example in both modes in which the device works after a call has returned, and looks for
/// `lines` in its output.
fn runs(example: &str, arguments: &[&str], lines: &[&str]) {
    // Cargo puts examples next to the folder of this program. It builds them before all tests, but
    // not before one.
    let this = std::env::current_exe().expect("this program");
    let program = this.ancestors().nth(2).expect("the folder of builds").join("examples").join(example);
    if let (false, Some(cargo)) = (program.exists(), std::env::var_os("CARGO")) {
        let built = Command::new(cargo).args(["build", "--quiet", "--example", example]).status();
        assert!(built.expect("cargo").success());
    }
    let runs_in = |mode: &str| {
        let output = Command::new(&program)
            .args(arguments)
            .envs([("CUPRUM_DEVICE", "emulator"), ("CUPRUM_EMULATOR_MODE", mode)])
            .output()
            .expect("the example");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && err.is_empty(), "{}\n{out}\n{err}", output.status);
        for line in lines {
            assert!(out.contains(line), "no {line:?} in:\n{out}");
        }
    };
    std::thread::scope(|threads| {
        threads.spawn(|| runs_in("async"));
        runs_in("deferred");
    });
}

#[test]
fn the_example_sums_over_two_devices() {
    let lines = [
        "NCCL 2.27.99 from the stand-in\n",
        "one process, device 1: 262144 sums, 0 wrong\n",
        "two processes, device 0: 262144 sums, 0 wrong\n",
    ];
    runs("all_reduce", &[], &lines);
}

#[test]
fn two_devices_train_as_one_does() {
    runs("train", &[], &["loss of one device:  614.391 at first, 9", "100 of 100 losses are equal\n"]);
}

#[test]
fn the_time_of_each_size_is_printed() {
    runs("bandwidth", &["64"], &["8\t", "\n64\t"]);
}
