//! Programs in C, compiled and run, and the libraries that they load.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program, which must succeed, and returns its two outputs.
///
/// # Panics
/// If it fails.
#[track_caller]
pub fn outputs(command: &mut Command) -> (String, String) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (said, complaints) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{said}{complaints}", output.status);
    (said.into_owned(), complaints.into_owned())
}

/// Same for a program that must not write to standard error.
///
/// # Panics
/// If it does.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let (said, complaints) = outputs(command);
    assert!(complaints.is_empty(), "{command:?}: {complaints}");
    said
}

/// A folder for the files of a test, in `temporary`, its `CARGO_TARGET_TMPDIR`.
///
/// # Panics
/// If it cannot be made.
pub fn folder(temporary: &str, test: &str) -> PathBuf {
    let folder = Path::new(temporary).join(test);
    std::fs::create_dir_all(&folder).expect("cargo's folder for tests can be written");
    folder
}

/// The library of the package under test, which cargo has built in the folder of the test.
///
/// # Panics
/// If there is none.
pub fn library(file: &str) -> PathBuf {
    let path = std::env::current_exe().expect("this program").with_file_name(file);
    assert!(path.exists(), "cargo has not built {}", path.display());
    path
}

/// Compiles a C program, with all warnings as errors.
///
/// # Panics
/// If there are any.
pub fn compile(source: &Path, program: &Path, more: &[&str]) {
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L"]);
    run(cc.arg(source).arg("-o").arg(program).args(more));
}

/// A path as text.
///
/// # Panics
/// If it is none.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}
