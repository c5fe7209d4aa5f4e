//! The exporting library, which cargo builds for no test by itself.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the library, if it is not current, and gives its path.
///
/// # Panics
/// If it cannot be built.
pub fn library() -> PathBuf {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let target = temporary.parent().expect("cargo's folder for tests lies in the target folder");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "cuprum-libcuda", "--target-dir"]).arg(target);
    // As `cargo test` has built the emulator for nearly every test already: with another choice cargo would build it again.
    build.args(["--package", "cuprum-sys", "--features", "cuprum-sys/hook"]);
    let output = build.output().expect("cargo starts");
    assert!(output.status.success(), "{build:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    target.join("debug/libcuprum_libcuda.so")
}
