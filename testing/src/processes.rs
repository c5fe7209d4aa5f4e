//! Child processes of tests, programs that they run, and files that they fetch or build.

use std::path::{Path, PathBuf};
use std::process::Command;

pub use crate::itself::itself;

/// Set in a child process that runs one test's body.
const CHILD: &str = "CUPRUM_TEST_CHILD";

/// Line that a child prints when it has run the body to its end.
const DONE: &str = "the child is done";

/// Runs `body` in a process of its own with `variables` set: this test binary again, with a filter
/// for `test` only.
///
/// A test may do so several times, with different variables.
///
/// # Panics
/// If the child fails; its output comes along.
#[track_caller]
pub fn in_child(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    let this = format!("{test} {variables:?}");
    if let Some(child) = std::env::var_os(CHILD) {
        if child == *this {
            body();
            println!("{DONE}");
        }
        return;
    }
    let output = itself()
        .args(["--exact", test, "--include-ignored", "--nocapture", "--test-threads=1"])
        .env(CHILD, this)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    print!("{stdout}");
    let passed = output.status.success() && stdout.contains(DONE);
    assert!(
        passed,
        "{test} in a child process: {}\n{stdout}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The repository's folder for files that tests fetch; git ignores it.
pub fn cache() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cache")
}

/// Runs a program and returns its output.
///
/// # Panics
/// If it fails.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

// Functions of the C library that `fork` needs.
#[cfg(unix)]
unsafe extern "C" {
    #[link_name = "fork"]
    fn c_fork() -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
    fn alarm(seconds: u32) -> u32;
}

/// Forks, runs `body` in the child, and returns its result. A child that hangs is killed.
///
/// # Panics
/// If the child ends otherwise than by answering.
#[cfg(unix)]
#[track_caller]
pub fn fork(body: impl FnOnce() -> u8) -> u8 {
    // SAFETY: the child only runs `body`, which does nothing that is forbidden in a forked child of
    // this test.
    match unsafe { c_fork() } {
        0 => {
            // SAFETY: no precondition; ends a hanging child by a signal.
            unsafe { alarm(20) };
            let answer = body();
            // SAFETY: no precondition; ends the child without the parent's handlers.
            unsafe { _exit(i32::from(answer)) }
        }
        child if child > 0 => {
            let mut status = 0;
            // SAFETY: the status is ours to write.
            let waited = unsafe { waitpid(child, &mut status, 0) };
            assert_eq!(waited, child);
            assert_eq!(status & 0x7f, 0, "the child was ended by signal {}", status & 0x7f);
            u8::try_from(status >> 8 & 0xff).unwrap()
        }
        failed => panic!("fork: {failed}"),
    }
}

/// Builds `tests/fakes/NAME.c` of a crate as a shared library `FOLDER/FILE`, and returns its path.
/// `of` is the crate's folder and its folder for temporary files of tests:
/// `(env!("CARGO_MANIFEST_DIR"), env!("CARGO_TARGET_TMPDIR"))`.
///
/// # Panics
/// If there is no C compiler, or it fails.
#[track_caller]
pub fn fake(of: (&str, &str), name: &str, folder: &str, file: &str) -> PathBuf {
    let source = Path::new(of.0).join("tests/fakes").join(name).with_extension("c");
    let folder = Path::new(of.1).join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let library = folder.join(file);
    let built = folder.join(format!("{file}.{}", std::process::id()));
    run(Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&built).arg(source));
    std::fs::rename(&built, &library).unwrap();
    library
}
