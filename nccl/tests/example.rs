//! The example runs on the stand-in, with two threads and with two processes.

use std::process::Command;

#[test]
fn the_example_sums_over_two_devices() {
    // Cargo puts examples next to the folder of this program. It builds them before all tests, but not before one.
    let this = std::env::current_exe().expect("this program");
    let program = this.ancestors().nth(2).expect("the folder of builds").join("examples/all_reduce");
    if let (false, Some(cargo)) = (program.exists(), std::env::var_os("CARGO")) {
        let built = Command::new(cargo).args(["build", "--quiet", "--example", "all_reduce"]).status();
        assert!(built.expect("cargo").success());
    }
    for mode in ["async", "deferred"] {
        let output = Command::new(&program)
            .envs([("CUPRUM_DEVICE", "emulator"), ("CUPRUM_EMULATOR_MODE", mode)])
            .output()
            .expect("the example");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && err.is_empty(), "{}\n{out}\n{err}", output.status);
        for words in [
            "NCCL 2.27.99 from the stand-in\n",
            "one process, device 1: 262144 sums, 0 wrong\n",
            "two processes, device 0: 262144 sums, 0 wrong\n",
        ] {
            assert!(out.contains(words), "no {words:?} in:\n{out}");
        }
    }
}
