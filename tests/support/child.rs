//! Runs a test in a process of its own, for what ends the process if it goes wrong.

use std::process::Command;

/// Set in the child.
const CHILD: &str = "CUPRUM_TEST_CHILD";

/// Runs `body` in a child, which is this program with the test `name` alone; it must come to its end.
pub(crate) fn in_child(name: &str, body: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        return body();
    }
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", name, "--include-ignored", "--nocapture"])
        .env(CHILD, name)
        .output()
        .expect("a child");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("running 1 test"), "no such test: {name}\n{out}");
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
}
