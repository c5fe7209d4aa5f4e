//! Builds the exporting library, which cargo does not build for tests.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the library, if it is not current, and returns its path.
///
/// # Panics
/// If it cannot be built.
pub fn library() -> PathBuf {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let target = temporary.parent().expect("cargo's folder for tests lies in the target folder");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "cuprum-libcuda", "--target-dir"]).arg(target);
    // Same packages and features as in `cargo test`, so that cargo does not rebuild the emulator.
    build.args(["--package", "cuprum-sys", "--features", "cuprum-sys/hook"]);
    let output = build.output().expect("cargo starts");
    assert!(output.status.success(), "{build:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    target.join("debug/libcuprum_libcuda.so")
}
