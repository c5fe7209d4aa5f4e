//! The software device as `libcuda.so.1`, a library that cargo does not build for tests.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the library, if it is not current, and returns its path. `temporary` is the test's
/// `CARGO_TARGET_TMPDIR`.
///
/// # Panics
/// If it cannot be built.
pub fn library(temporary: &str) -> PathBuf {
    let target = Path::new(temporary).parent().expect("cargo's folder for tests lies in the target folder");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "cuprum-libcuda", "--target-dir"]).arg(target);
    // Same packages and features as in `cargo test`, so that cargo does not rebuild the emulator.
    build.args(["--package", "cuprum-sys", "--features", "cuprum-sys/hook"]);
    let output = build.output().expect("cargo starts");
    assert!(output.status.success(), "{build:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    target.join("debug/libcuprum_libcuda.so")
}
