//! Runs a test in a process of its own, because its failure ends the process or the environment
//! configures it.

pub use crate::itself::itself;

/// Set in the child.
const CHILD: &str = "CUPRUM_TEST_CHILD";

/// Runs `body` in a child, which is this program with the test `name` alone; it must come to its
/// end.
///
/// The name is the test's path from its crate on: `concat!(module_path!(), "::", "function")`.
pub fn in_child(name: &str, body: impl FnOnce()) {
    in_children(name, &[&[]], body);
}

/// As `in_child`, in one child after another, each with variables of its own.
pub fn in_children(name: &str, environments: &[&[(&str, &str)]], body: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        return body();
    }
    let (_, name) = name.split_once("::").expect("a path from the crate on");
    for &environment in environments {
        let output = itself()
            .args(["--exact", name, "--include-ignored", "--nocapture"])
            .env(CHILD, name)
            .envs(environment.iter().copied())
            .output()
            .expect("a child");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(out.contains("running 1 test"), "no such test: {name}\n{out}");
        assert!(output.status.success(), "{environment:?}: {}\n{out}\n{err}", output.status);
    }
}
